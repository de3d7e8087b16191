"""Every setting, declared once: its name, type, limits, default and help text.

Help texts, the settings page, docs/settings.md and every error come from these declarations. A value is checked when it
is set, wherever it comes from, so the code that reads it gets a number, a truth value or a choice. `settings_sources`
decides where settings come from.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias, TypeVar, get_args, get_origin, get_type_hints

import msgspec

from tablewright.domain.access import Role
from tablewright.errors import BadSetting
from tablewright.keys import KEY_TARGETS, Key, issue_key, trusted_origins
from tablewright.secrets import MASK, find_secrets, mask_secrets

JOBS_FILE = "jobs.db"
# A hundred years: dates beyond the year 9999 cannot be represented.
MAX_TOKEN_DAYS = 36_500
# Rows that most strategies work on at once, unless the settings say otherwise.
DEFAULT_ROWS_AT_ONCE = 8
# The key that is sent to an address, by the setting of the address.
KEY_OF_ADDRESS = {where.address: name for name, where in KEY_TARGETS.items()}
# The last is a file of its own with the address inside it, so it has no setting for one.
KEY_SETTINGS = (*KEY_TARGETS, "google_sheets_key")
# Tables that came with Tablewright are about a fictional world, so only its web has their facts.
SAMPLE_WEB_SETTINGS: dict[str, Any] = {"search": "sample", "sources": "web"}

Default = TypeVar("Default")
Evidence: TypeAlias = Literal["judged", "strict"]
Sources: TypeAlias = Literal["web", "docs", "web,docs", "docs,web"]
Unit: TypeAlias = Literal["seconds", "days", "megabytes"]
# How a duration or a size may be written: `5 min`; without a unit it is the first one.
UNIT_FACTORS: dict[Unit, dict[str, float]] = {
    "seconds": {"s": 1, "min": 60, "h": 3_600},
    "days": {"d": 1, "weeks": 7, "years": 365},
    "megabytes": {"MB": 1, "GB": 1_000, "TB": 1_000_000},
}


def declare_setting(
    default: Default,
    help: str,
    *,
    label: str = "",
    unit: Unit | None = None,
    own: bool = False,
    secret: bool = False,
    **limits: Any,
) -> Default:
    """Declare a setting. `label` is its name on the settings page, where an admin can save it. `own` ones belong to a
    process, which shares them with no other. A `secret` is never shown, and own."""
    about = {"label": label, "unit": unit, "is_own": own or secret, "is_secret": secret}
    declared: Any = field(default=default, metadata=about | {"limits": msgspec.Meta(description=help, **limits)})
    # A dataclass takes the field; to a type checker it is the default.
    return declared  # type: ignore[no-any-return]


@dataclass(frozen=True, kw_only=True, repr=False)
class Settings:
    home: str = declare_setting(
        "",
        "The folder for everything Tablewright keeps. Default: ~/.local/share/tablewright (or $XDG_DATA_HOME).",
        own=True,
    )
    database_url: str = declare_setting(
        "",
        "PostgreSQL (postgresql://user:password@host/name) instead of the SQLite file in the home folder.",
        secret=True,
    )
    model: str = declare_setting(
        "builtin",
        "The language model: builtin (rules only, no model), openai:NAME, anthropic:NAME, google:NAME, "
        "ollama:NAME, local:FILE.gguf, or the name of a pulled model as local:NAME.",
        label="Language model",
    )
    model_strong: str = declare_setting(
        "", "A stronger model, asked on the last attempt for cells that are still weak; written like `model`."
    )
    model_base_url: str = declare_setting(
        "", "An OpenAI-compatible endpoint to use instead of the provider's own.", label="Address"
    )
    model_api_key: str = declare_setting(
        "",
        "The key for the model. Default: the provider's own variable, e.g. OPENAI_API_KEY.",
        label="Key",
        secret=True,
    )
    model_fallback: str = declare_setting("", "A second model, asked when the first cannot be reached.")
    model_requests_per_minute: float | None = declare_setting(
        None, "The most model calls per minute and provider, across all workers on one PostgreSQL.", gt=0
    )
    model_tokens_per_minute: float | None = declare_setting(
        None, "The most tokens per minute and provider, across all workers on one PostgreSQL.", gt=0
    )
    model_concurrency: int | None = declare_setting(
        None, "The most calls in flight at once to the same model, across all workers.", ge=1
    )
    model_window: int | None = declare_setting(
        None,
        "The model's context window in tokens, question and answer together. Default: what is known of it, else "
        "16000; `tablewright doctor` shows it.",
        ge=1,
    )
    model_timeout: float | None = declare_setting(
        None,
        "How long to wait for a model's answer. Default: 120 s, for a model on this machine 30 min.",
        unit="seconds",
        gt=0,
    )
    search: str = declare_setting(
        "ddgs",
        "Where to search: searxng:URL, brave, tavily, serper, exa, ddgs, or sample (a small fictional web that "
        "comes with Tablewright).",
        label="Search with",
    )
    sources: Sources = declare_setting(
        "web", "Where evidence is looked for: the web, docs (your documents), or both, the preferred one first."
    )
    search_api_key: str = declare_setting("", "The key for brave, tavily, serper or exa.", label="Key", secret=True)
    search_language: str = declare_setting(
        "",
        "The language of search results, as a code such as de, where the engine takes one (searxng, brave, serper).",
        label="Language of results (optional), e.g. de",
    )
    search_price: float = declare_setting(
        0.0, "What one search costs you, in dollars; it counts for costs and the budget.", ge=0
    )
    search_requests_per_second: float | None = declare_setting(
        None, "The most searches per second, across all workers on one PostgreSQL.", gt=0
    )
    embedder: str = declare_setting(
        "wordllama",
        "What turns the texts of documents into vectors: wordllama (on this machine) or openai:NAME.",
        label="Embeddings",
    )
    embedder_base_url: str = declare_setting(
        "", "An OpenAI-compatible embeddings endpoint.", label="Address (leave empty for OpenAI)"
    )
    embedder_api_key: str = declare_setting("", "The key for the embeddings endpoint.", label="Key", secret=True)
    fetch_allow: tuple[str, ...] = declare_setting(
        (), "Hosts with private addresses that may be fetched, e.g. 127.0.0.1."
    )
    fetch_delay: float = declare_setting(
        0.5, "Pause between two requests to one domain (private hosts allowed above: none).", unit="seconds", ge=0
    )
    fetch_robots: bool = declare_setting(True, "Obey robots.txt.")
    evidence: Evidence = declare_setting(
        "judged",
        "Which values count: judged (also what a model concludes from quotes; marked as such) or strict (only what "
        "a source states, or what follows from it by a rule).",
        label="Which values count",
    )
    cascade: bool = declare_setting(False, "Ask a model only where the built-in reader is not sure.")
    attempts: int = declare_setting(
        3, "How often a row is tried while some of its cells are weak or empty.", ge=1, le=10
    )
    threshold: float = declare_setting(0.6, "The confidence below which a cell is weak and tried again.", ge=0, le=1)
    require_improvement: bool = declare_setting(True, "Stop trying a column when an attempt improved nothing.")
    documents_unasked: int = declare_setting(
        60, "How many documents a question may read without asking you first; 0: always ask.", ge=0, le=1_000_000
    )
    answer_rows: int = declare_setting(
        50,
        "How many rows an answer shows at once; all of them are kept for “show the rest” and for export.",
        ge=1,
        le=1_000,
    )
    answer_passages: int = declare_setting(8, "How many passages an answer shows that no model worded.", ge=1, le=100)
    shortlist_products: int = declare_setting(30, "How many products a shortlist looks for.", ge=1, le=50)
    shortlist_queries: int = declare_setting(
        12, "How many searches a shortlist makes for products, 10 to 15 per round.", ge=1, le=15
    )
    shortlist_seconds: float = declare_setting(
        300.0, "Time after which a shortlist shows what it has; the rest can follow.", unit="seconds", ge=1, le=86_400
    )
    shortlist_search_seconds: float = declare_setting(
        30.0, "How long a shortlist waits for a search.", unit="seconds", ge=1, le=600
    )
    shortlist_retries: int = declare_setting(
        2, "How often a shortlist looks for a product's empty cells again.", ge=0, le=2
    )
    research_searches: int = declare_setting(
        15, "How many searches research makes in all rounds together.", ge=1, le=200
    )
    research_first_searches: int = declare_setting(
        5, "How many searches the first round of research makes.", ge=1, le=20
    )
    research_checking_searches: int = declare_setting(
        2, "How many searches research reserves for checking claims.", ge=0, le=10
    )
    research_pages: int = declare_setting(5, "How many pages research opens per search, on average.", ge=1, le=20)
    research_rounds: int = declare_setting(
        3, "The most rounds of research: 1 fills no gaps, 2 checks no claims.", ge=1, le=3
    )
    research_claims: int = declare_setting(3, "How many claims research checks on independent sites.", ge=0, le=10)
    research_sites: int = declare_setting(
        3,
        "How many sites a report should draw on; with fewer, research looks for more and the report says so.",
        ge=1,
        le=20,
    )
    research_memo_tokens: int = declare_setting(
        2_000, "The length in tokens of the memo that one round of research hands to the next.", ge=500, le=20_000
    )
    research_items: int = declare_setting(
        5, "How many things a report lists if the question does not say.", ge=1, le=100
    )
    rates: str = declare_setting(
        "",
        "A CSV file with exchange rates for prices in several currencies: `date,YYYY-MM-DD`, then `GBP,0.84` for "
        "one euro. Default: a bundled table, which says its date.",
    )
    offline: bool = declare_setting(False, "Make no requests; replay earlier runs from the cache.")
    pause_after: int = declare_setting(
        5,
        "A run pauses after the search or the model failed for this many rows in a row, or pages on this many sites.",
        ge=1,
    )
    budget: float | None = declare_setting(
        None,
        "The most dollars a run may spend on models and searches; what it has by then is kept.",
        label="Spending limit per run, in dollars",
        ge=0,
    )
    budget_tokens: int | None = declare_setting(
        None,
        "The most tokens a run may use, in and out together; what it has by then is kept.",
        label="Token limit per run",
        ge=0,
    )
    log_format: Literal["text", "json"] = declare_setting(
        "text", "How a server or a worker logs: a line of text for people, or json.", own=True
    )
    log_level: Literal["debug", "info", "warning", "error"] = declare_setting(
        "info", "The lowest level that is logged.", own=True
    )
    telemetry: Literal["", "prometheus", "otlp", "prometheus,otlp", "otlp,prometheus"] = declare_setting(
        "",
        "Metrics and traces of servers and workers: prometheus (read at /metrics), otlp (sent to where "
        "OTEL_EXPORTER_OTLP_ENDPOINT says), or both with a comma. It needs the extra `telemetry`.",
        own=True,
    )
    quota_uploads: float | None = declare_setting(None, "Files a person may upload per month.", unit="megabytes", ge=0)
    quota_rows: float | None = declare_setting(None, "Rows a person may add to tables per month.", ge=0)
    quota_disk: float | None = declare_setting(
        None, "What may be stored of what a person owns.", unit="megabytes", ge=0
    )
    quota_dollars: float | None = declare_setting(
        None, "Dollars a person may spend on models and searches per month.", ge=0
    )
    token: str = declare_setting(
        "", "The owner's token for the server; needed to bind to any address but this machine's own.", secret=True
    )
    token_days: int = declare_setting(
        90,
        "Time after which a new token of a user expires, unless asked otherwise; 0: never.",
        unit="days",
        own=True,
        ge=0,
        le=MAX_TOKEN_DAYS,
    )
    webhook_url: str = declare_setting(
        "",
        "Where a server reports each run that has ended, as JSON. A private host has to be in fetch_allow.",
        label="Address",
        own=True,
    )
    webhook_secret: str = declare_setting(
        "", "The secret with which these reports are signed (HMAC-SHA256).", label="Signing secret", secret=True
    )
    google_sheets_key: str = declare_setting(
        "",
        "For exports to Google Sheets: the JSON key of a service account, or the path of its file. Not from a folder.",
        label="JSON key",
        secret=True,
    )
    language: Literal["en", "de"] = declare_setting(
        "en", "The language of the page, as far as it is translated.", label="Language of the page", own=True
    )
    oidc_issuer: str = declare_setting(
        "", "The address of an OpenID Connect provider with which people sign in at the server.", own=True
    )
    oidc_client_id: str = declare_setting("", "The client id that the provider gave this server.", own=True)
    oidc_client_secret: str = declare_setting(
        "", "The secret that the provider gave this server; empty where it gave none.", secret=True
    )
    oidc_name: str = declare_setting("", "What the login calls the provider. Default: its host name.", own=True)
    oidc_scopes: str = declare_setting(
        "profile email", "The scopes to request besides openid, separated by spaces.", own=True
    )
    oidc_accounts: Literal["match", "create"] = declare_setting(
        "match",
        "Who gets in: match (only users who were added here, by their user name or e-mail address at the provider) "
        "or create (everyone the provider signs in; their account is created at the first login).",
        own=True,
    )
    oidc_role: Role = declare_setting("viewer", "The role of accounts created at the first login.", own=True)
    oidc_roles: str = declare_setting(
        "",
        "Roles by the provider's claims, as claim=value:role separated by commas, e.g. groups=it:admin; applied at "
        "each login.",
        own=True,
    )
    trusted_hosts: str = declare_setting(
        "",
        "Hosts that any of your keys may be sent to, wherever the address comes from, separated by commas. Not "
        "read from the `tablewright.toml` of a folder.",
        own=True,
    )
    trusted_folders: str = declare_setting(
        "",
        "Folders whose `tablewright.toml` may say where data is kept (home, database_url) while your keys come "
        "from outside them, separated like those of PATH. Not read from that file.",
        own=True,
    )
    plugins: str = declare_setting(
        "",
        "Folders with files of your own that add strategies, search providers, models or parsers, separated like "
        "those of PATH. Only from the environment.",
        own=True,
    )
    concurrency: int | None = declare_setting(
        None,
        "Model calls in flight at once; 1 works on row after row. Default: what the strategy says, e.g. 3 for lookup.",
        ge=1,
        le=1_000,
    )

    def __post_init__(self) -> None:
        """Read each value as its declared type; programs may also give texts."""
        # Frozen like all that is shared between threads, hence `object.__setattr__`.
        values = {name: read_setting(name, getattr(self, name)) for name in DECLARED}
        for name in KEY_SETTINGS:
            # Given by a program, which is one source.
            if values[name] and not isinstance(values[name], Key):
                key = issue_key(name, values[name], values, environ=os.environ)
                values[name] = key.also_for(trusted_origins(values["trusted_hosts"]))
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def home_folder(self) -> Path:
        if self.home:
            return Path(self.home).expanduser()
        return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "tablewright"

    def token_expiry(self, days: int | None = None) -> str:
        """Return when a token that is made now expires; "" for never."""
        given = self.token_days if days is None else days
        # Bounded here too: a program may ask for more days than the setting allows.
        at = datetime.now(UTC) + timedelta(days=min(given, MAX_TOKEN_DAYS))
        return at.isoformat(timespec="seconds").replace("+00:00", "Z") if given else ""

    @property
    def slices_everywhere(self) -> int | None:
        """Return `model_concurrency` in slices; each makes a few calls at once."""
        most = self.model_concurrency
        return None if most is None else max(1, most // (self.concurrency or DEFAULT_ROWS_AT_ONCE))

    @property
    def database(self) -> str:
        return self.database_url or f"sqlite:///{self.home_folder / 'tablewright.db'}"

    @property
    def jobs_database(self) -> str:
        """Return the database of the queue of durable runs."""
        return self.database_url or f"sqlite:///{self.home_folder / JOBS_FILE}"

    @property
    def texts(self) -> dict[str, str]:
        """Return all values as they would be written in the environment."""
        return {name: write_setting(getattr(self, name)) for name in DECLARED}

    def part(self, prefix: str) -> dict[str, Any]:
        """Return the settings with this prefix, by the rest of their names."""
        return {name.removeprefix(prefix): getattr(self, name) for name in DECLARED if name.startswith(prefix)}

    @property
    def shown(self) -> dict[str, str]:
        """Return what people may see: for a secret only that it is set, and no credentials inside an address."""
        return {
            name: mask_secrets(text) if name not in SECRET_SETTINGS else "set, not shown" if text else ""
            for name, text in self.texts.items()
        }

    @property
    def secrets(self) -> list[str]:
        """Return what must not be logged, longest first; also the logins of proxies."""
        texts = self.texts
        # Read from the environment by the HTTP libraries, so no setting has them.
        proxies = [
            os.environ.get(name) or os.environ.get(name.upper(), "")
            for name in ("http_proxy", "https_proxy", "all_proxy")
        ]
        inside = [secret for text in (*texts.values(), *proxies) for secret in find_secrets(text)]
        found = {*inside, *(texts[name] for name in SECRET_SETTINGS)}
        # Shorter ones are not searched for in other texts: they would hide half of every text.
        return sorted((each for each in found if len(each) >= 4), key=len, reverse=True)

    def __repr__(self) -> str:
        shown = self.shown
        changed = [name for name, declared in DECLARED.items() if getattr(self, name) != declared.default]
        return f"Settings({', '.join(f'{name}={shown[name]!r}' for name in changed)})"

    @property
    def shared(self) -> dict[str, str]:
        """Return what a worker needs to execute a run as it was requested. Keys, places and credentials inside
        addresses stay out of the record of a run."""
        # A process that continues the run has its own keys, and may keep its data elsewhere.
        return {name: mask_secrets(text) for name, text in self.texts.items() if not DECLARED[name].is_own}

    def with_shared(self, recorded: Mapping[str, str]) -> Settings:
        """Return these settings with those of the record of a run. Raise BadSetting if its address had credentials that
        this process does not have."""
        own, changed = self.shared, dict[str, Any]()
        for name, text in recorded.items():
            if name not in own or text == own[name]:
                continue
            # Credentials inside the address were masked when the run was recorded.
            if name in KEY_OF_ADDRESS and MASK in text:
                raise BadSetting(
                    f"The run asks for {name} {text}, and this process does not have the login or key that belongs "
                    "there.",
                    advice=f"Start it with TABLEWRIGHT_{name.upper()} set to the whole address.",
                )
            changed[name] = read_setting(name, text, f"{name} in the record of the run")
        return replace(self, **changed)


# ── reading and writing a value ──────────────────────────────────────────────────────────────────────────────────────


class DeclaredSetting(NamedTuple):
    """A setting as `Settings` declares it. `kind` is its type, with its limits and without None."""

    kind: Any
    base: Any
    default: Any
    limits: msgspec.Meta
    label: str
    unit: Unit | None
    is_own: bool
    is_secret: bool

    @property
    def help(self) -> str:
        return self.limits.description or ""

    @property
    def choices(self) -> tuple[str, ...]:
        return get_args(self.base) if get_origin(self.base) is Literal else ()

    @property
    def accepted(self) -> str:
        """Return a description of the accepted values."""
        if self.choices:
            *others, last = filter(None, self.choices)
            return f"{'one of ' if len(others) > 1 else ''}{', '.join(others)} or {last}"
        # The types that have no limits.
        if named := {bool: "yes or no", str: "a text", tuple: "texts with commas between them"}.get(self.base):
            return named
        noun = f"a {'whole ' if self.base is int else ''}number{f' of {self.unit}' if self.unit else ''}"
        if self.limits.gt is not None:
            return f"{noun} above {self.limits.gt}"
        return f"{noun} from {self.limits.ge} {'up' if self.limits.le is None else f'to {self.limits.le:,}'}"


def collect_declarations() -> dict[str, DeclaredSetting]:
    hints, found = get_type_hints(Settings), {}
    for each in fields(Settings):
        whole, limits = hints[each.name], each.metadata["limits"]
        kind = next(part for part in get_args(whole) if part is not NoneType) if NoneType in get_args(whole) else whole
        base = tuple if get_origin(kind) is tuple else kind
        found[each.name] = DeclaredSetting(
            kind=Annotated[kind, limits], base=base, default=each.default, **each.metadata
        )
    return found


def read_setting(name: str, value: object, written_as: str = "") -> Any:
    """Return a value as the type of its setting; nothing is the default. Raise BadSetting, with the name that the user
    wrote, if it does not fit."""
    declared = DECLARED[name]
    # A key was checked where it was bound, and would lose its origins as a text.
    if value is declared.default or isinstance(value, Key):
        return value
    text = (
        write_setting(value).strip()
        if value is None or isinstance(value, str | bool | int | float | os.PathLike)
        else ""
    )
    # A variable that is set to nothing means the default.
    if not text and not isinstance(value, list | tuple | dict):
        return declared.default
    try:
        return msgspec.convert(parse_setting_text(declared, text) if text else value, declared.kind, strict=False)
    except (msgspec.ValidationError, ValueError):
        advice = f"Units: {', '.join(UNIT_FACTORS[declared.unit])}." if declared.unit else ""
        raise BadSetting(f"{written_as or name} must be {declared.accepted}, not {value!r}.", advice=advice) from None


def parse_setting_text(declared: DeclaredSetting, text: str) -> Any:
    """Convert a text as far as its type requires. Raise ValueError if it cannot be read."""
    if declared.base is bool:
        if text.lower() not in ("yes", "true", "1", "no", "false", "0"):
            raise ValueError(text)
        return text.lower() in ("yes", "true", "1")
    if declared.base is tuple:
        return tuple(filter(None, map(str.strip, text.split(","))))
    if declared.choices:
        # A choice may be two words with a comma, written with a space.
        return ",".join(map(str.strip, text.split(",")))
    if declared.base is str:
        return text
    factor = 1.0
    # Letters at the very end, after a digit, a point or a space.
    if declared.unit and (found := re.search(r"(?<![A-Za-z])[A-Za-z]+\Z", text)) and found.start():
        factor = {unit.lower(): each for unit, each in UNIT_FACTORS[declared.unit].items()}.get(found[0].lower(), 0.0)
        text = text[: found.start()]
    number = float(text) * factor
    # "nan" and "inf" are numbers to Python; no limit can compare them.
    if not math.isfinite(number) or not factor:
        raise ValueError(text)
    return number


def write_setting(value: object) -> str:
    """Return a value as it would be written in the environment."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, tuple):
        return ",".join(value)
    # A key stays bound to its addresses.
    return value if isinstance(value, str) else str(value)


# At the end, when `Settings` and all that reads a value are defined.
DECLARED = collect_declarations()
# Settings that are never shown.
SECRET_SETTINGS = frozenset(name for name, declared in DECLARED.items() if declared.is_secret)
# Settings that can be saved on the settings page. The rest are set by the user who starts the process.
SAVABLE_SETTINGS = frozenset(name for name, declared in DECLARED.items() if declared.label)
