"""Send requests to a search provider and turn its response into hits, for our providers and those of plugins.

Results are untrusted: only plain text and web addresses pass. Keys never get into a message.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from typing import Any, ClassVar, NamedTuple
from urllib.parse import SplitResult, urlsplit

import httpx2
import msgspec

from tablewright.errors import BadSetting, KeyWithheld, SearchError
from tablewright.keys import PROVIDER_ADDRESSES, Key, bind_key, guard_client
from tablewright.retry_after import read_retry_after
from tablewright.text import SMALL_WORDS, clean_one_line
from tablewright.web.source import Hit, Query

# Seconds; providers that query other engines take up to twenty.
TIMEOUT = 30.0
# A hundred results with whole pages; more is not a search result.
MAX_ANSWER_BYTES = 5_000_000


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    provider: str
    """The name for messages."""
    url: str
    client: httpx2.AsyncClient
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    key: Key = field(default_factory=Key, repr=False)
    """The key in one of the headers."""
    advice_when_refused: str = ""
    wait_asked: Callable[[Mapping[str, str]], float | None] = read_retry_after
    timeout: float = TIMEOUT

    def __post_init__(self) -> None:
        guard_client(self.client, self.key)

    async def ask(
        self, method: str, *, params: Mapping[str, Any] | None = None, body: Mapping[str, Any] | None = None
    ) -> Mapping[str, object]:
        """Return the JSON object of the response. Raise `SearchError` for everything else."""
        try:
            async with (
                asyncio.timeout(self.timeout),
                self.client.stream(
                    method,
                    self.url,
                    params=params,
                    json=body,
                    headers=self.headers,
                    # The timeout above is for the whole response.
                    timeout=None,
                    # The key is for this address only.
                    follow_redirects=False,
                ) as response,
            ):
                content = await self._read(response)
        except KeyWithheld as error:
            raise SearchError(error.what, kept=error.kept, advice=error.advice) from None
        except TimeoutError:
            raise SearchError(
                f"{self.provider} did not answer within {self.timeout:g} seconds.", retryable=True
            ) from None
        except httpx2.TransportError as error:
            raise SearchError(
                f"{self.provider} cannot be reached: {str(error) or type(error).__name__}.",
                advice="Check the network and the address in TABLEWRIGHT_SEARCH.",
                retryable=True,
            ) from None
        except httpx2.RequestError as error:
            raise self.nonsense(f"its answer cannot be decoded ({error})") from None
        if response.status_code != 200:
            raise self._refusal(response, content)
        return self._decoded(content)

    def listed(self, results: object) -> list[Mapping[str, object]]:
        """Return the results, without entries of a wrong type. Raise `SearchError` if they are not a list."""
        if not isinstance(results, list):
            raise self.nonsense("its answer has no list of results")
        return [result for result in results if isinstance(result, dict)]

    def nonsense(self, what: str) -> SearchError:
        return SearchError(
            f"{self.provider} was not understood: {what}.",
            advice="If you set its address in TABLEWRIGHT_SEARCH, check that it is the provider's API.",
        )

    async def _read(self, response: httpx2.Response) -> bytes:
        content = bytearray()
        async for chunk in response.aiter_bytes():
            content += chunk
            if len(content) > MAX_ANSWER_BYTES:
                raise self.nonsense(f"its answer is larger than {MAX_ANSWER_BYTES // 1_000_000} MB")
        return bytes(content)

    def _decoded(self, content: bytes) -> Mapping[str, object]:
        try:
            answer = json.loads(content)
        except (ValueError, RecursionError):
            raise self.nonsense("its answer is not JSON") from None
        if not isinstance(answer, dict):
            raise self.nonsense("its answer is not a JSON object")
        return answer

    def _refusal(self, response: httpx2.Response, content: bytes) -> SearchError:
        status, said = response.status_code, self._said(content)
        reason = f"{status}: {said}" if said else str(status)
        if status == 429:
            return SearchError(
                f"{self.provider} was asked too often ({reason}).",
                advice="Wait a little, or work on fewer rows at once.",
                retryable=True,
                retry_after=self.wait_asked(response.headers),
            )
        if status == 408 or status >= 500:
            return SearchError(
                f"{self.provider} failed ({reason}).", retryable=True, retry_after=self.wait_asked(response.headers)
            )
        # Payment required, and Tavily's own codes for a used-up plan or pay-as-you-go limit.
        if status in {402, 432, 433}:
            return SearchError(
                f"{self.provider} refused ({reason}).", advice="The account of this key has used up its credit or plan."
            )
        if 300 <= status < 400:
            place = clean_result_text(response.headers.get("location"), longest=200)
            return SearchError(
                f"{self.provider} moved ({reason} to {place or 'nowhere'}).",
                advice="Set TABLEWRIGHT_SEARCH to its new address if you trust it.",
            )
        # Some providers answer 400 or 422 to a wrong key.
        about_the_key = status in (401, 403) or re.search(
            r"\b(?:api[ _-]?key|token|unauthori[sz]ed)\b", said, re.IGNORECASE
        )
        return SearchError(
            f"{self.provider} refused ({reason}).", advice=self.advice_when_refused if about_the_key else ""
        )

    def _said(self, content: bytes) -> str:
        """Return the provider's error message, in whatever form it comes, without a repeated key."""
        try:
            said = clean_result_text(_find_error_message(json.loads(content)), longest=200)
        except (ValueError, RecursionError):
            return ""
        for value in self.headers.values():
            secret = value.removeprefix("Bearer ")
            said = said.replace(secret, "…") if len(secret) >= 8 else said
        return said.rstrip(".")


def _find_error_message(error: object) -> object:
    """Return the message of `{"message": "…"}`, `{"error": {"detail": "…"}}`, `{"detail": {"error": "…"}}` etc."""
    while isinstance(error, dict):
        error = next((error[key] for key in ("error", "detail", "message") if error.get(key)), None)
    return error


class QueryKeys(NamedTuple):
    """A provider's names for the parts of a query. A part without a name is not sent; a site without one becomes an
    operator in the text."""

    text: str
    limit: str = ""
    site: str = ""
    since: str = ""
    language: str = ""


class JsonSearch:
    """A provider that answers each query with one JSON list of results. A new one states the data below, and overrides
    what differs in more than names."""

    name: ClassVar[str]
    shown_name: ClassVar[str]
    path: ClassVar[str] = "/search"
    method: ClassVar[str] = "POST"
    key_header: ClassVar[str] = ""
    """The header of the key, and the text before the key: "Authorization: Bearer "; empty if there is no key."""
    most_results: ClassVar[int] = 20
    query_keys: ClassVar[QueryKeys]
    since_form: ClassVar[str] = "{0}"
    """The form of "day", "week", "month" or "year"; "{0[0]}" is the first letter."""
    always_sent: ClassVar[Mapping[str, Any]] = {}
    result_keys: ClassVar[tuple[str, str, str, str]]
    """The provider's names for the address, the title, the snippet and the date of a result."""
    advice_when_refused: ClassVar[str] = "Set TABLEWRIGHT_SEARCH_API_KEY to a valid key for this provider."

    def __init__(self, argument: str, api_key: str, client: httpx2.AsyncClient, *, timeout: float = TIMEOUT) -> None:
        base = provider_address(self.name, argument)
        header, _, before = self.key_header.partition(": ")
        key = require_search_key(self.name, base, api_key) if header else Key()
        self._endpoint = Endpoint(
            provider=self.shown_name,
            url=base.removesuffix(self.path) + self.path,
            client=client,
            headers={"Accept": "application/json"} | ({header: f"{before}{key}"} if header else {}),
            key=key,
            advice_when_refused=self.advice_when_refused,
            wait_asked=self.wait_asked,
            timeout=timeout,
        )

    async def search(self, query: Query) -> tuple[Hit, ...]:
        asked = self.request(query)
        as_params = self.method == "GET"
        answer = await self._endpoint.ask(
            self.method, params=asked if as_params else None, body=None if as_params else asked
        )
        found = self._endpoint.listed(self.results(answer))
        self.check_answer(query, answer, found)
        return clean_hits(query, map(self.raw_result, found))

    def request(self, query: Query) -> dict[str, Any]:
        """Return the parameters or the JSON body."""
        parts = (
            format_query(query, with_site=not self.query_keys.site),
            max(1, min(query.limit, self.most_results)),
            [site_domain(query.site)] if query.site else None,
            query.since and self.since_form.format(query.since),
            query.language,
        )
        sent = {key: part for key, part in zip(self.query_keys, parts, strict=True) if key and part}
        return {**self.always_sent, **sent}

    def results(self, answer: Mapping[str, object]) -> object:
        return answer.get("results")

    def check_answer(self, query: Query, answer: Mapping[str, object], found: Sequence[Mapping[str, object]]) -> None:
        """Raise `SearchError` for an answer from which nothing follows."""

    def raw_result(self, result: Mapping[str, object]) -> RawResult:
        return RawResult(*(result.get(key) for key in self.result_keys))

    def wait_asked(self, headers: Mapping[str, str]) -> float | None:
        return read_retry_after(headers)


def provider_address(provider: str, argument: str) -> str:
    """Return the base address without a final slash: the argument of the setting, or the provider's own."""
    default = PROVIDER_ADDRESSES["search_api_key"].get(provider, "")
    base = (argument or default).rstrip("/")
    example = f"for example {provider}:{default or 'http://localhost:8888'}"
    if not base:
        raise BadSetting(
            f"The search provider {provider} needs the address of a server.",
            advice=f"Set TABLEWRIGHT_SEARCH to {provider}:URL, {example}.",
        )
    parts = parse_web_address(base)
    if parts is None or parts.query or parts.fragment:
        raise BadSetting(
            f"The address of the search provider {provider} cannot be used.",
            advice=f"Set TABLEWRIGHT_SEARCH to {provider}: and an http or https address, {example}.",
        )
    return base


def require_search_key(provider: str, address: str, api_key: str) -> Key:
    key = bind_key(api_key, "search_api_key", {"search": f"{provider}:{address}"})
    if not key:
        raise BadSetting(
            f"The search provider {provider} needs a key.",
            advice="Set TABLEWRIGHT_SEARCH_API_KEY, or TABLEWRIGHT_SEARCH to a provider without a key: "
            "ddgs or searxng:URL.",
        )
    if not re.fullmatch(r"[!-~]+", key):
        raise BadSetting(
            f"The key for the search provider {provider} has characters that no key has.",
            advice="Set TABLEWRIGHT_SEARCH_API_KEY to the key alone.",
        )
    key.check(address)
    return key


# ── results and queries ──────────────────────────────────────────────────────────────────────────────────────────────

# Hits go into prompts and traces, so a stranger must not fill them.
MAX_URL_CHARACTERS, MAX_TITLE_CHARACTERS, MAX_SNIPPET_CHARACTERS, MAX_DATE_CHARACTERS = 2_048, 300, 1_000, 60


class RawResult(NamedTuple):
    """A result as a provider gives it: any of these may be missing or of the wrong type."""

    url: object
    title: object = None
    snippet: object = None
    published: object = None


def clean_hits(query: Query, found: Iterable[RawResult]) -> tuple[Hit, ...]:
    """Return at most `query.limit` different pages in the provider's order, only of `query.site` if that is set."""
    hits: dict[tuple[str, str, str], Hit] = {}
    for result in found:
        if len(hits) >= query.limit:
            break
        url = result.url.strip() if isinstance(result.url, str) else ""
        parts = parse_web_address(url)
        if parts is None or "@" in parts.netloc or not _is_on_site(query.site, parts):
            # Https://bank.example@evil.example.
            continue
        hit = Hit(
            origin=url,
            title=clean_result_text(result.title, longest=MAX_TITLE_CHARACTERS),
            snippet=clean_result_text(result.snippet, longest=MAX_SNIPPET_CHARACTERS),
            published=clean_result_text(result.published, longest=MAX_DATE_CHARACTERS),
        )
        hits.setdefault((parts.netloc.lower(), parts.path.rstrip("/"), parts.query), hit)
    return tuple(hits.values())


def clean_result_text(text: object, *, longest: int) -> str:
    """Return the text on one line without markup, entities and invisible characters, cut at a word if too long."""
    if not isinstance(text, str):
        return ""
    # Tags inside a word leave no space: "<b>micro</b>scope".
    shown = re.sub(
        r"<(?:script|style)\b[^<>]*>[^<]*|<[a-z/!?][^<>]*>",
        " ",
        re.sub(
            r"</?(?:a|b|em|i|mark|span|strong|u|wbr)(?:\s[^<>]*)?/?>",
            "",
            unescape(text[: longest * 10]),
            flags=re.IGNORECASE,
        ),
        flags=re.IGNORECASE,
    )
    shown = clean_one_line(shown)
    if len(shown) <= longest:
        return shown
    head = shown[: longest - 1]
    return (head.rpartition(" ")[0] or head) + "…"


def parse_web_address(url: str) -> SplitResult | None:
    """Return the parts of an http or https address that can be requested, else None."""
    if len(url) > MAX_URL_CHARACTERS or " " in url or not url.isprintable():
        return None
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if usable else None


def _is_on_site(site: str, parts: SplitResult) -> bool:
    """Return True if the page is on the site; checked here, because not every engine obeys `site:`."""
    required, host = site_domain(site), (parts.hostname or "").rstrip(".")
    return not required or host == required or host.endswith(f".{required}")


# The limits of Brave (words and characters) and Tavily (characters); no engine answers longer queries better.
MAX_QUERY_WORDS, MAX_QUERY_CHARACTERS = 50, 400

_QUOTES = re.compile(r"[\"“”„«»]")
# Operators of search engines, which narrow a query.
_OPERATOR = re.compile(
    r"(?<!\S)(?:-\S+|\(?(?:site|filetype|ext|intitle|allintitle|inurl|intext|before|after):\S+|OR|AND|\|)(?!\S)"
)


def format_query(query: Query, *, with_site: bool = False) -> str:
    """Return the text of a query, on one line and short enough for engines.

    `with_site` adds the site, for engines that only know it as an operator."""
    operator = [f"site:{site_domain(query.site)}"] if with_site and query.site else []
    words = query.text.split()[: MAX_QUERY_WORDS - len(operator)]
    while len(text := " ".join([*words, *operator])) > MAX_QUERY_CHARACTERS and words:
        words.pop()
    if not text:
        raise SearchError("There is nothing to search for: the query is empty or one endless word.")
    return text


def query_for_trace(query: Query) -> str:
    """Return the query as a trace shows it."""
    site = f" site:{site_domain(query.site)}" if query.site else ""
    since = f" (last {query.since})" if query.since else ""
    return f"{' '.join(query.text.split())}{site}{since}".strip()


def site_domain(site: str) -> str:
    """Return `example.com` for "example.com", "www.example.com" and "https://www.example.com/about"."""
    host = re.sub(r"^[a-z]+://", "", site.strip().lower())
    return re.split(r"[/?#:\s]", host, maxsplit=1)[0].removeprefix("www.").strip(".")


def is_narrow_query(query: Query) -> bool:
    """Return True for a query that may well have no results: an exact phrase, one site, the last days."""
    return bool(query.site or query.since or _QUOTES.search(query.text) or _OPERATOR.search(query.text))


def broaden_query(query: Query) -> Query | None:
    """Return a query that finds more, or None.

    It drops what narrows most: quotes, operators, site and time. A query without these loses the small words of every
    question ("what", "is", "the") or, if it has none, its second half, since people name the thing first and the
    details after it.
    """
    words = _QUOTES.sub(" ", _OPERATOR.sub(" ", query.text)).split()
    if not is_narrow_query(query):
        specific = [word for word in words if word.strip("?!.,;:()").casefold() not in SMALL_WORDS]
        words = specific if len(specific) < len(words) else words[: max(2, len(words) // 2)]
    wider = msgspec.structs.replace(query, text=" ".join(words).rstrip("?"), site="", since="")
    return wider if wider.text and query_for_trace(wider) != query_for_trace(query) else None


class SearXNG(JsonSearch):
    """The user's own SearXNG server: `searxng:URL`, no key. It queries many engines and merges their results."""

    name, shown_name = "searxng", "SearXNG"
    method = "GET"
    query_keys = QueryKeys(text="q", since="time_range", language="language")
    always_sent: ClassVar = {"format": "json", "pageno": "1"}
    result_keys = ("url", "title", "content", "publishedDate")
    advice_when_refused = (
        "Allow JSON in the server's settings.yml: under `search:` write `formats: [html, json]`, and restart it. Most "
        "public servers do not allow it; run one of your own."
    )

    def request(self, query: Query) -> dict[str, Any]:
        asked = super().request(query)
        # SearXNG reads words that start like this as commands: "!images", "!!g" (a redirect to Google), ":de", "<3".
        return asked | {"q": re.sub(r"(?<!\S)[!:<?]+", "", asked["q"])}

    def check_answer(self, query: Query, answer: Mapping[str, object], found: Sequence[Mapping[str, object]]) -> None:
        # With blocked engines, no results prove nothing. A narrow query may still have none; its broader form follows.
        silent = _format_silent_engines(answer.get("unresponsive_engines"))
        if silent and not found and not is_narrow_query(query):
            raise SearchError(
                f"SearXNG found nothing, and some of its engines did not answer: {silent}.",
                advice="Look at the engines in the server's settings.yml, or wait until they answer again.",
                retryable=True,
            )


def _format_silent_engines(engines: object) -> str:
    """Return `[["google", "CAPTCHA"], …]` as text."""
    pairs = engines if isinstance(engines, list) else []
    named = [": ".join(map(str, pair)) if isinstance(pair, list) else str(pair) for pair in pairs]
    return clean_result_text(", ".join(named), longest=200)
