"""Requests to a search provider, and what it answers as hits. Strangers wrote the results: only plain text and web
addresses pass. Keys never get into a message.
"""

from __future__ import annotations

import asyncio
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from html import unescape
from typing import Any, ClassVar, NamedTuple
from urllib.parse import SplitResult, urlsplit

import httpx2
import msgspec

from tablewright.errors import BadSetting, KeyWithheld, SearchError
from tablewright.keys import OWN_ADDRESSES, Key, as_key, guard_client
from tablewright.sources.fetch.guard import read_retry_after
from tablewright.sources.source import Hit, Query
from tablewright.text import SMALL_WORDS, one_line

TIMEOUT = 30.0
LARGEST_ANSWER = 5_000_000

_OUT_OF_CREDIT = {402, 432, 433}
"""Payment required; and Tavily's own two for a plan and a pay-as-you-go limit that is used up."""
_ABOUT_THE_KEY = re.compile(r"\b(?:api[ _-]?key|token|unauthori[sz]ed)\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    provider: str
    """As people call it, for messages."""
    url: str
    client: httpx2.AsyncClient
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    key: Key = field(default_factory=Key, repr=False)
    """The one among the headers."""
    advice_when_refused: str = "Set TABLEWRIGHT_SEARCH_API_KEY to a valid key for this provider."
    wait_asked: Callable[[Mapping[str, str]], float | None] = read_retry_after
    timeout: float = TIMEOUT

    def __post_init__(self) -> None:
        guard_client(self.client, self.key)

    async def ask(
        self, method: str, *, params: Mapping[str, str] | None = None, body: Mapping[str, Any] | None = None
    ) -> Mapping[str, object]:
        """The JSON object that is answered; everything else is a SearchError."""
        try:
            async with (
                asyncio.timeout(self.timeout),
                self.client.stream(
                    method,
                    self.url,
                    params=params,
                    json=body,
                    headers=self.headers,
                    timeout=None,  # ours, above, is for the whole answer
                    follow_redirects=False,  # the key is for this address only
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
        """The results among what should be a list of them."""
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
            if len(content) > LARGEST_ANSWER:
                raise self.nonsense(f"its answer is larger than {LARGEST_ANSWER // 1_000_000} MB")
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
        if status in _OUT_OF_CREDIT:
            return SearchError(
                f"{self.provider} refused ({reason}).", advice="The account of this key has used up its credit or plan."
            )
        if 300 <= status < 400:
            place = plain_text(response.headers.get("location"), longest=200)
            return SearchError(
                f"{self.provider} moved ({reason} to {place or 'nowhere'}).",
                advice="Set TABLEWRIGHT_SEARCH to its new address if you trust it.",
            )
        about_the_key = status in (401, 403) or _ABOUT_THE_KEY.search(said)
        return SearchError(
            f"{self.provider} refused ({reason}).", advice=self.advice_when_refused if about_the_key else ""
        )

    def _said(self, content: bytes) -> str:
        """Return what the provider says of an error, in whatever form it says it, without the key if that is
        repeated."""
        try:
            said = plain_text(_message(json.loads(content)), longest=200)
        except (ValueError, RecursionError):
            return ""
        for value in self.headers.values():
            secret = value.removeprefix("Bearer ")
            said = said.replace(secret, "…") if len(secret) >= 8 else said
        return said.rstrip(".")


def _message(error: object) -> object:
    """`{"message": "…"}`, `{"error": {"detail": "…"}}`, `{"detail": {"error": "…"}}` and the like."""
    while isinstance(error, dict):
        error = next((error[key] for key in ("error", "detail", "message") if error.get(key)), None)
    return error


class JsonSearch(ABC):
    """A provider with a key that answers each query with one JSON list of results."""

    name: ClassVar[str]
    shown_name: ClassVar[str]
    path: ClassVar[str] = "/search"
    method: ClassVar[str] = "POST"
    most_results: ClassVar[int] = 20
    key_header: ClassVar[str]
    """The header that the key stands in, and what stands before it: "Authorization: Bearer "."""
    result_keys: ClassVar[tuple[str, str, str, str]]
    """What the provider calls the address, the title, the snippet and the date of a result."""

    def __init__(self, argument: str, api_key: str, client: httpx2.AsyncClient, *, timeout: float = TIMEOUT) -> None:
        base = address(self.name, argument)
        key = required_key(self.name, base, api_key)
        header, _, before = self.key_header.partition(": ")
        self._endpoint = Endpoint(
            provider=self.shown_name,
            url=f"{base}{self.path}",
            client=client,
            headers={"Accept": "application/json", header: f"{before}{key}"},
            key=key,
            wait_asked=self.wait_asked,
            timeout=timeout,
        )

    async def search(self, query: Query) -> tuple[Hit, ...]:
        asked = self.request(query, max(1, min(query.limit, self.most_results)))
        as_params = self.method == "GET"
        answer = await self._endpoint.ask(
            self.method, params=asked if as_params else None, body=None if as_params else asked
        )
        results = self._endpoint.listed(self.results(answer))
        return clean_hits(query, map(self.raw_result, results))

    @abstractmethod
    def request(self, query: Query, count: int) -> dict[str, Any]:
        """Return the parameters or the JSON body that asks for so many results."""

    def results(self, answer: Mapping[str, object]) -> object:
        return answer.get("results")

    def raw_result(self, result: Mapping[str, object]) -> RawResult:
        return RawResult(*(result.get(key) for key in self.result_keys))

    def wait_asked(self, headers: Mapping[str, str]) -> float | None:
        return read_retry_after(headers)


def address(provider: str, argument: str) -> str:
    """The base address: the argument of the setting, else the provider's own; without a slash at its end."""
    default = OWN_ADDRESSES["search_api_key"].get(provider, "")
    base = (argument or default).rstrip("/")
    example = f"for example {provider}:{default or 'http://localhost:8888'}"
    if not base:
        raise BadSetting(
            f"The search provider {provider} needs the address of a server.",
            advice=f"Set TABLEWRIGHT_SEARCH to {provider}:URL, {example}.",
        )
    parts = web_address(base)
    if parts is None or parts.query or parts.fragment:
        raise BadSetting(
            f"The address of the search provider {provider} cannot be used.",
            advice=f"Set TABLEWRIGHT_SEARCH to {provider}: and an http or https address, {example}.",
        )
    return base


def required_key(provider: str, address: str, api_key: str) -> Key:
    key = as_key(api_key, "search_api_key", {"search": f"{provider}:{address}"})
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

LONGEST_URL = 2_048
LONGEST_TITLE = 300
LONGEST_SNIPPET = 1_000
LONGEST_DATE = 60

_WITHIN_A_WORD = re.compile(r"</?(?:a|b|em|i|mark|span|strong|u|wbr)(?:\s[^<>]*)?/?>", re.IGNORECASE)
_TAG = re.compile(r"<(?:script|style)\b[^<>]*>[^<]*|<[a-z/!?][^<>]*>", re.IGNORECASE)


class RawResult(NamedTuple):
    """A result as a provider gives it: any of these may be missing or of the wrong type."""

    url: object
    title: object = None
    snippet: object = None
    published: object = None


def clean_hits(query: Query, found: Iterable[RawResult]) -> tuple[Hit, ...]:
    """At most `query.limit` different pages, in the provider's order; of `query.site` alone where that is asked."""
    hits: dict[tuple[str, str, str], Hit] = {}
    for result in found:
        if len(hits) >= query.limit:
            break
        url = result.url.strip() if isinstance(result.url, str) else ""
        parts = web_address(url)
        if parts is None or "@" in parts.netloc or not _is_of(query.site, parts):  # https://bank.example@evil.example
            continue
        hit = Hit(
            origin=url,
            title=plain_text(result.title, longest=LONGEST_TITLE),
            snippet=plain_text(result.snippet, longest=LONGEST_SNIPPET),
            published=plain_text(result.published, longest=LONGEST_DATE),
        )
        hits.setdefault((parts.netloc.lower(), parts.path.rstrip("/"), parts.query), hit)
    return tuple(hits.values())


def plain_text(text: object, *, longest: int) -> str:
    """Without markup, entities and characters nobody sees, on one line, cut at a word where it is too long."""
    if not isinstance(text, str):
        return ""
    shown = _TAG.sub(" ", _WITHIN_A_WORD.sub("", unescape(text[: longest * 10])))
    shown = one_line(shown)
    if len(shown) <= longest:
        return shown
    head = shown[: longest - 1]
    return (head.rpartition(" ")[0] or head) + "…"


def web_address(url: str) -> SplitResult | None:
    """Its parts if it is an http or https address that can be asked for."""
    if len(url) > LONGEST_URL or " " in url or not url.isprintable():
        return None
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return None
    return parts if usable else None


def _is_of(site: str, parts: SplitResult) -> bool:
    """Not every engine keeps to `site:`, so we look ourselves."""
    wanted, host = domain(site), (parts.hostname or "").rstrip(".")
    return not wanted or host == wanted or host.endswith(f".{wanted}")


LONGEST_QUERY = 400
MOST_WORDS = 50
"""What Brave and Tavily take (Brave: 50 words, both: 400 characters); no engine answers longer ones better."""

_QUOTES = re.compile(r"[\"“”„«»]")
_OPERATOR = re.compile(
    r"(?<!\S)(?:-\S+|\(?(?:site|filetype|ext|intitle|allintitle|inurl|intext|before|after):\S+|OR|AND|\|)(?!\S)"
)


def query_text(query: Query, *, with_site: bool = False) -> str:
    """On one line and of a length that engines take; `with_site` for those that know a site only as an operator."""
    operator = [f"site:{domain(query.site)}"] if with_site and query.site else []
    words = query.text.split()[: MOST_WORDS - len(operator)]
    while len(text := " ".join([*words, *operator])) > LONGEST_QUERY and words:
        words.pop()
    if not text:
        raise SearchError("There is nothing to search for: the query is empty or one endless word.")
    return text


def shown_query(query: Query) -> str:
    """The query as a trace shows it."""
    site = f" site:{domain(query.site)}" if query.site else ""
    since = f" (last {query.since})" if query.since else ""
    return f"{' '.join(query.text.split())}{site}{since}".strip()


def domain(site: str) -> str:
    """`example.com` for "example.com", "www.example.com" and "https://www.example.com/about"."""
    host = re.sub(r"^[a-z]+://", "", site.strip().lower())
    return re.split(r"[/?#:\s]", host, maxsplit=1)[0].removeprefix("www.").strip(".")


def is_narrow(query: Query) -> bool:
    """Asks for something that may well not exist: an exact phrase, one site, the last days."""
    return bool(query.site or query.since or _QUOTES.search(query.text) or _OPERATOR.search(query.text))


def broader(query: Query) -> Query | None:
    """A query that finds more, or None where there is none.

    What narrows most goes first: quotes, operators, site and time. A query without these loses the words that tell
    least: those that every question has ("what", "is", "the"), or, where it has none of them, its second half, since
    people name what they look for first and the details after.
    """
    words = _QUOTES.sub(" ", _OPERATOR.sub(" ", query.text)).split()
    if not is_narrow(query):
        telling = [word for word in words if word.strip("?!.,;:()").casefold() not in SMALL_WORDS]
        words = telling if len(telling) < len(words) else words[: max(2, len(words) // 2)]
    wider = msgspec.structs.replace(query, text=" ".join(words).rstrip("?"), site="", since="")
    return wider if wider.text and shown_query(wider) != shown_query(query) else None
