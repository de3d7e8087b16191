"""Every setting, declared once: its name, its default, what it does. Data only; `app` builds things from it.

A setting is taken from a flag, else from the environment (TABLEWRIGHT_HOME), else from `tablewright.toml` in the
current folder (home = "…"), else from the user's own file, else from what was saved on the settings page, else it has
its default. The folder may be somebody else's, so neither its file nor a home that it names can send a key of the user
to an address of its own (keys.py), and it names a home only with the user's consent (trusted_folders.py).
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tablewright.errors import BadSetting, did_you_mean
from tablewright.keys import (
    SENT_TO,
    Key,
    address_in,
    issue_key,
    origin_of,
    provider_in,
    shown_origin,
    trusted_origins,
    variable_key,
)
from tablewright.saved_settings import FILE as SAVED_FILE
from tablewright.saved_settings import SAVED, read_saved
from tablewright.secrets import HIDDEN, LEAST, masked, secrets_in
from tablewright.trusted_folders import check_folder

PREFIX = "TABLEWRIGHT_"
FILE = Path("tablewright.toml")
PAGE = Path("The settings page")
JOBS_FILE = "jobs.db"
LONGEST_DAYS = 36_500
ROWS_AT_ONCE = 8
"""What most strategies do, unless told otherwise."""
SECRET = frozenset(
    {
        "database_url",
        "model_api_key",
        "search_api_key",
        "embedder_api_key",
        "webhook_secret",
        "google_sheets_key",
        "token",
        "oidc_client_secret",
    }
)
"""Settings that are never shown."""
OIDC = frozenset(
    {"oidc_issuer", "oidc_client_id", "oidc_name", "oidc_scopes", "oidc_accounts", "oidc_role", "oidc_roles"}
)
OWN = (
    SECRET
    | OIDC
    | {
        "home",
        "plugins",
        "trusted_hosts",
        "trusted_folders",
        "token_days",
        "log_format",
        "log_level",
        "telemetry",
        "language",
        "webhook_url",
    }
)
"""Settings of a process that it shares with no other."""
KEY_OF = {where.address: name for name, where in SENT_TO.items()}
"""By the setting that holds an address, the key that is sent there."""
OUTSIDE_KEYS = (*SENT_TO, "google_sheets_key")
NOT_IN_A_FOLDER = {
    "trusted_hosts": "a folder cannot vouch for itself",
    "trusted_folders": "a folder cannot vouch for itself",
    "plugins": "a folder cannot have its own code run",
    "webhook_url": "a folder cannot have your runs reported",
    "google_sheets_key": "a folder cannot have your tables sent to an account of its own",
}
"""Settings that the file of a folder cannot have, and why."""
KEYS_OF = {"anthropic": ("ANTHROPIC_API_KEY",), "google": ("GOOGLE_API_KEY", "GEMINI_API_KEY")}
"""Providers' own variables that are used where `model_api_key` is not set."""
KEY_VARIABLES = ("OPENAI_API_KEY", *(each for variables in KEYS_OF.values() for each in variables), "OLLAMA_API_KEY")
PLACES = ("home", "database_url")
"""Settings that say where data is kept."""
SAMPLE_WEB = {"search": "sample", "sources": "web"}
"""For tables that came with Tablewright, wherever else is searched."""
PROXIES = ("http_proxy", "https_proxy", "all_proxy")


def setting(default: str, help: str) -> Any:
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True, kw_only=True, repr=False)
class Settings:
    home: str = setting(
        "", "The folder for everything Tablewright keeps. Default: ~/.local/share/tablewright (or $XDG_DATA_HOME)."
    )
    database_url: str = setting(
        "", "PostgreSQL (postgresql://user:password@host/name) instead of the SQLite file in the home folder."
    )
    model: str = setting(
        "builtin",
        "The language model: builtin (rules only, no model), openai:NAME, anthropic:NAME, google:NAME, ollama:NAME, "
        "local:FILE.gguf, or the name of a pulled model as local:NAME.",
    )
    model_strong: str = setting(
        "", "A stronger model, asked on the last attempt for cells that are still weak; written like `model`."
    )
    model_base_url: str = setting("", "An OpenAI-compatible endpoint to use instead of the provider's own.")
    model_api_key: str = setting(
        "", "The key for the model. Default: the provider's own variable, e.g. OPENAI_API_KEY."
    )
    model_fallback: str = setting("", "A second model, asked when the first cannot be reached.")
    model_requests_per_minute: str = setting(
        "", "The most model calls per minute and provider, across all workers on one PostgreSQL."
    )
    model_tokens_per_minute: str = setting(
        "", "The most tokens per minute and provider, across all workers on one PostgreSQL."
    )
    model_concurrency: str = setting(
        "", "The most rows in progress at once that use the same model, across all workers. Default: no limit."
    )
    model_window: str = setting(
        "",
        "The model's context window in tokens, question and answer together. Default: what is known of it, else "
        "16000; `tablewright doctor` shows it.",
    )
    model_timeout: str = setting(
        "", "Seconds to wait for a model's answer. Default: 120, for a model on this machine 1800."
    )
    search: str = setting(
        "ddgs",
        "Where to search: searxng:URL, brave, tavily, serper, exa, ddgs, or sample (a small fictional web that comes "
        "with Tablewright).",
    )
    sources: str = setting(
        "web",
        "Where evidence is looked for: web, docs (your documents), or both, the preferred one first: docs,web.",
    )
    search_api_key: str = setting("", "The key for brave, tavily, serper or exa.")
    search_language: str = setting(
        "", "The language of search results, as a code such as de, where the engine takes one (searxng, brave, serper)."
    )
    search_price: str = setting("", "What one search costs you, in dollars; it counts for costs and the budget.")
    search_requests_per_second: str = setting(
        "", "The most searches per second, across all workers on one PostgreSQL. Default: no limit."
    )
    embedder: str = setting(
        "wordllama",
        "What turns the texts of documents into vectors: wordllama (on this machine) or openai:NAME.",
    )
    embedder_base_url: str = setting("", "An OpenAI-compatible embeddings endpoint.")
    embedder_api_key: str = setting("", "The key for the embeddings endpoint.")
    fetch_allow: str = setting(
        "", "Hosts with private addresses that may be fetched, separated by commas, e.g. 127.0.0.1."
    )
    fetch_delay: str = setting("0.5", "Seconds between two requests to one domain (private hosts allowed above: none).")
    fetch_robots: str = setting("yes", "Whether robots.txt is obeyed: yes or no.")
    evidence: str = setting(
        "judged",
        "Which values count: judged (also what a model concludes from quotes; marked as such) or strict (only what a "
        "source states, or what follows from it by a rule).",
    )
    cascade: str = setting("no", "Whether a model is asked only where the built-in reader is not sure: yes or no.")
    attempts: str = setting("3", "How often a row is tried while some of its cells are weak or empty; 1: only once.")
    threshold: str = setting("0.6", "The confidence below which a cell is weak and tried again.")
    require_improvement: str = setting("yes", "Whether to stop when an attempt improved nothing: yes or no.")
    documents_unasked: str = setting(
        "60", "How many documents a question may read without asking you first; 0: always ask."
    )
    shortlist_products: str = setting("30", "How many products a shortlist looks for, at most 50.")
    shortlist_queries: str = setting("12", "How many searches a shortlist makes for products, 10 to 15 per round.")
    shortlist_seconds: str = setting("300", "Seconds after which a shortlist shows what it has; the rest can follow.")
    shortlist_search_seconds: str = setting("30", "How many seconds a shortlist waits for a search.")
    shortlist_retries: str = setting("0", "How often a shortlist looks for a product's empty cells again, at most 2.")
    research_searches: str = setting("15", "How many searches research makes in all rounds together.")
    research_first_searches: str = setting("5", "How many searches the first round of research makes.")
    research_checking_searches: str = setting("2", "How many searches research reserves for checking claims.")
    research_pages: str = setting("5", "How many pages research opens per search, on average.")
    research_rounds: str = setting("3", "The most rounds of research: 1 fills no gaps, 2 checks no claims.")
    research_claims: str = setting("3", "How many claims research checks on independent sites.")
    research_sites: str = setting(
        "3", "How many sites a report should draw on; with fewer, research looks for more and the report says so."
    )
    research_memo_tokens: str = setting(
        "2000", "The length in tokens of the memo that one round of research hands to the next."
    )
    research_items: str = setting("5", "How many things a report lists if the question does not say.")
    rates: str = setting(
        "",
        "A CSV file with exchange rates for prices in several currencies: `date,YYYY-MM-DD`, then `GBP,0.84` for "
        "one euro. Default: a bundled table, which says its date.",
    )
    offline: str = setting("no", "yes: make no requests; replay earlier runs from the cache.")
    pause_after: str = setting(
        "5",
        "A run pauses after the search or the model failed for this many rows in a row, or pages on this many sites.",
    )
    budget: str = setting("", "The most dollars a run may spend on models and searches; what it has by then is kept.")
    budget_tokens: str = setting("", "The most tokens a run may use, in and out together; what it has by then is kept.")
    log_format: str = setting("text", "How a server or a worker logs: text (a line for people) or json.")
    log_level: str = setting("info", "The lowest level that is logged: debug, info, warning or error.")
    telemetry: str = setting(
        "",
        "Metrics and traces of servers and workers: prometheus (read at /metrics), otlp (sent to where "
        "OTEL_EXPORTER_OTLP_ENDPOINT says), or both with a comma. It needs the extra `telemetry`.",
    )
    quota_uploads: str = setting("", "Megabytes of files a person may upload per month. Default: no limit.")
    quota_rows: str = setting("", "Rows a person may add to tables per month. Default: no limit.")
    quota_disk: str = setting("", "Megabytes that may be stored of what a person owns. Default: no limit.")
    quota_dollars: str = setting("", "Dollars a person may spend on models and searches per month. Default: no limit.")
    token: str = setting("", "The owner's token for the server; needed to bind to any address but this machine's own.")
    token_days: str = setting("90", "Days after which a new token of a user expires, unless asked otherwise; 0: never.")
    webhook_url: str = setting(
        "", "Where a server reports each run that has ended, as JSON. A private host has to be in fetch_allow."
    )
    webhook_secret: str = setting("", "The secret with which these reports are signed (HMAC-SHA256).")
    google_sheets_key: str = setting(
        "",
        "For exports to Google Sheets: the JSON key of a service account, or the path of its file. Not from a folder.",
    )
    language: str = setting("en", "The language of the page: en or de, as far as it is translated.")
    oidc_issuer: str = setting("", "The address of an OpenID Connect provider with which people sign in at the server.")
    oidc_client_id: str = setting("", "The client id that the provider gave this server.")
    oidc_client_secret: str = setting("", "The secret that the provider gave this server; empty where it gave none.")
    oidc_name: str = setting("", "What the login calls the provider. Default: its host name.")
    oidc_scopes: str = setting("profile email", "The scopes to request besides openid, separated by spaces.")
    oidc_accounts: str = setting(
        "match",
        "Who gets in: match (only users who were added here, by their user name or e-mail address at the provider) or "
        "create (everyone the provider signs in; their account is created at the first login).",
    )
    oidc_role: str = setting("viewer", "The role of accounts created at the first login: viewer, editor or admin.")
    oidc_roles: str = setting(
        "",
        "Roles by the provider's claims, as claim=value:role separated by commas, e.g. groups=it:admin; "
        "applied at each login.",
    )
    trusted_hosts: str = setting(
        "",
        "Hosts that any of your keys may be sent to, wherever the address comes from, separated by commas. Not read "
        "from the `tablewright.toml` of a folder.",
    )
    trusted_folders: str = setting(
        "",
        "Folders whose `tablewright.toml` may say where data is kept (home, database_url) while your keys come from "
        "outside them, separated like those of PATH. Not read from that file.",
    )
    plugins: str = setting(
        "",
        "Folders with files of your own that add strategies, search providers, models or parsers, separated like those "
        "of PATH. Only from the environment.",
    )
    concurrency: str = setting("", "Rows worked on at once. Default: what the strategy says, e.g. 3 for lookup.")

    def __post_init__(self) -> None:
        """Programs may give numbers, yes or no as a truth value, and paths."""
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, int | float | os.PathLike):
                object.__setattr__(self, each.name, plain(value))
            elif not isinstance(value, str):
                raise BadSetting(f"{each.name} must be a text, a number, True or False, not {value!r}.")
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        for name in OUTSIDE_KEYS:
            if values[name] and not isinstance(values[name], Key):  # from a program, which is one source
                key = issue_key(name, values[name], values, environ=os.environ)
                object.__setattr__(self, name, key.also_for(trusted_origins(self.trusted_hosts)))

    @property
    def home_folder(self) -> Path:
        if self.home:
            return Path(self.home).expanduser()
        return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "tablewright"

    def token_expiry(self, days: int | None = None) -> str:
        """When a token that is made now expires; empty: never."""
        given = number(self.token_days, "token_days") if days is None else days
        at = datetime.now(UTC) + timedelta(days=min(given or 0, LONGEST_DAYS))
        return at.isoformat(timespec="seconds").replace("+00:00", "Z") if given else ""

    @property
    def rows_at_once(self) -> int | None:
        if not self.concurrency.strip():
            return None
        if not (self.concurrency.strip().isdecimal() and 1 <= int(self.concurrency) <= 1_000):
            raise BadSetting(f"concurrency must be a whole number from 1 to 1000, not {self.concurrency!r}.")
        return int(self.concurrency)

    @property
    def slices_everywhere(self) -> int | None:
        """What `model_concurrency` comes to, in slices; each works on a few rows at once."""
        most = self.rows_everywhere
        return None if most is None else max(1, most // (self.rows_at_once or ROWS_AT_ONCE))

    @property
    def rows_everywhere(self) -> int | None:
        most = number(self.model_concurrency, "model_concurrency")
        return None if most is None else max(1, int(most))

    @property
    def database(self) -> str:
        return self.database_url or f"sqlite:///{self.home_folder / 'tablewright.db'}"

    @property
    def jobs_database(self) -> str:
        """Where the queue of durable runs is kept."""
        return self.database_url or f"sqlite:///{self.home_folder / JOBS_FILE}"

    @property
    def shown(self) -> dict[str, str]:
        """For people: of a secret only whether it is there, and no credentials inside an address."""
        values = {each.name: getattr(self, each.name) for each in fields(self)}
        return {
            name: masked(value) if name not in SECRET else "set, not shown" if value else ""
            for name, value in values.items()
        }

    @property
    def secrets(self) -> list[str]:
        """What must not get into a log, the longest first; also the logins of proxies."""
        values = [getattr(self, each.name) for each in fields(self)]
        proxies = [os.environ.get(name) or os.environ.get(name.upper(), "") for name in PROXIES]
        inside = [secret for value in (*values, *proxies) for secret in secrets_in(value)]
        found = {*inside, *(getattr(self, name) for name in SECRET)}
        return sorted((each for each in found if len(each) >= LEAST), key=len, reverse=True)

    def __repr__(self) -> str:
        changed = [each.name for each in fields(self) if getattr(self, each.name) != each.default]
        shown = self.shown
        return f"Settings({', '.join(f'{name}={shown[name]!r}' for name in changed)})"

    @property
    def shared(self) -> dict[str, str]:
        """What a worker must know to do a run as it was asked for. Keys and places are its own, and so are credentials
        inside an address: the record of a run has none."""
        return {each.name: masked(getattr(self, each.name)) for each in fields(self) if each.name not in OWN}

    def with_shared(self, recorded: Mapping[str, str]) -> Settings:
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in OWN}
        for name, value in recorded.items():
            if name not in values or value == masked(values[name]):
                continue
            if name in KEY_OF and HIDDEN in value:
                raise BadSetting(
                    f"The run asks for {name} {value}, and this process does not have the login or key that belongs "
                    "there.",
                    advice=f"Start it with TABLEWRIGHT_{name.upper()} set to the whole address.",
                )
            values[name] = value
        return replace(self, **values)


def load_settings(
    flags: Mapping[str, str] | None = None,
    environ: Mapping[str, str] | None = None,
    file: Path = FILE,
    *,
    folder_may_place: bool = True,
) -> Settings:
    """Raises UntrustedFolder where the folder's file says where data is kept, keys come from outside the folder, and
    the user has not confirmed it. Without `folder_may_place` the caller keeps data elsewhere, and the file does not
    count for that."""
    environ = os.environ if environ is None else environ
    names = [declared.name for declared in fields(Settings)]
    folder, user = read_file(file, names), read_file(user_file(environ), names, is_users=True)
    own = {name: environ[PREFIX + name.upper()] for name in names if environ.get(PREFIX + name.upper())}
    own |= {name: value for name, value in (flags or {}).items() if value}
    if not folder_may_place:
        folder = {name: value for name, value in folder.items() if name not in PLACES}
    yours = user | own
    places = {name: folder[name] for name in PLACES if folder.get(name) and name not in own}
    outside = [name for name in OUTSIDE_KEYS if yours.get(name)]
    outside += [variable for variable in KEY_VARIABLES if environ.get(variable)]
    if "database_url" in places and environ.get("PGPASSWORD"):
        outside.append("PGPASSWORD")
    if places and outside:
        check_folder(file, places, outside, yours.get("trusted_folders", ""), user_file(environ).parent)
    home = Settings(**(user | folder | own)).home_folder
    saved = read_saved(home)
    if "home" in places:
        check_saved(saved, yours, home, file)
    merged = saved | user | folder | own
    merged |= bind_keys(merged, own, user, folder, saved, environ)
    settings = Settings(**merged)
    check_addresses(settings, saved, user | folder | own, environ, PAGE)
    check_addresses(settings, folder, own, environ, file)
    return settings


def bind_keys(
    merged: Mapping[str, str],
    own: Mapping[str, str],
    user: Mapping[str, str],
    folder: Mapping[str, str],
    saved: Mapping[str, str],
    environ: Mapping[str, str],
) -> dict[str, Key]:
    """Return the keys in use, each bound to the address that its own source gives.

    The user's own file is written by the user alone, so an address in it also counts for keys of the environment. Not
    the other way round: what fills an environment may belong to a folder.
    """
    yours = {**user, **own}
    sources: list[tuple[Mapping[str, str], Mapping[str, str], Mapping[str, str]]] = [
        (own, yours, environ),
        (user, user, {}),
        (folder, folder, {}),
        (saved, saved, {}),
    ]
    bound: dict[str, Key] = {}
    for name in OUTSIDE_KEYS:
        for layer, beside, variables in sources:
            if not merged.get(name) or layer.get(name) != merged[name]:
                continue
            text = layer[name]
            key = text if isinstance(text, Key) else issue_key(name, text, beside, environ=variables)
            bound[name] = bound[name].also_for(key.origins) if name in bound else key
    trusted = trusted_origins(yours.get("trusted_hosts", ""))
    return {name: key.also_for(trusted) for name, key in bound.items()}


def check_saved(saved: Mapping[str, str], yours: Collection[str], home: Path, file: Path) -> None:
    """Raise BadSetting for what the file of a folder may not set, and the home that it names has saved."""
    for name in NOT_IN_A_FOLDER.keys() & saved.keys() - set(yours):
        raise BadSetting(
            f"{name} cannot stand in {home / SAVED_FILE}, in the home that {file} names: {NOT_IN_A_FOLDER[name]}.",
            kept="Nothing was sent.",
            advice=f"Set {PREFIX}{name.upper()} in the environment; or set {PREFIX}HOME there, if the home is yours.",
        )


def with_changes(
    settings: Settings, changes: Mapping[str, str], environ: Mapping[str, str] | None = None, file: Path = FILE
) -> tuple[Settings, dict[str, str]]:
    """The settings of a running process with these changes saved, and what is to be saved; an empty value is the
    default again. A saved key is for one provider at one address: it is dropped where these change without a new key.
    Raises BadSetting for what is set elsewhere, and where a key from elsewhere would go to a saved address."""
    environ = os.environ if environ is None else environ
    elsewhere = set_elsewhere(environ, file)
    usual = Settings()
    wanted = {name: value or getattr(usual, name) for name, value in changes.items()}
    for name, value in wanted.items():
        if name in elsewhere and value != getattr(settings, name):
            raise BadSetting(f"{name} is set by {elsewhere[name]}.", advice="Change it there and restart the server.")
    changes = {name: value for name, value in changes.items() if name not in elsewhere}
    if elsewhere.get("home") == str(file):
        check_saved({name: value for name, value in changes.items() if value}, elsewhere, settings.home_folder, file)
    changed = replace(settings, **{name: value for name, value in wanted.items() if name not in elsewhere})
    for key in SECRET & SAVED - elsewhere.keys():
        if not changes.get(key) and key_is_for(changed, key) != key_is_for(settings, key):
            changes[key] = ""
            changed = replace(changed, **{key: ""})
        elif text := changes.get(key):
            values = {each.name: getattr(changed, each.name) for each in fields(changed)}
            changes[key] = bound = issue_key(key, text, values)
            changed = replace(changed, **{key: bound.also_for(trusted_origins(settings.trusted_hosts))})
    saved = {name: getattr(changed, name) for name in SAVED if name not in elsewhere and getattr(changed, name)}
    try:
        check_addresses(changed, saved, elsewhere, environ, PAGE)
    except BadSetting as error:
        advice = "Type the key for this address here, or set the address where its key is set."
        raise BadSetting(error.what, kept=error.kept, advice=advice) from None
    return changed, changes


def key_is_for(settings: Settings, key: str) -> tuple[str, str]:
    """The provider and the address that a key is sent to."""
    if key not in SENT_TO:
        return "", ""
    values = {name: getattr(settings, name) for name in SENT_TO[key] if name}
    return values.get(SENT_TO[key].provider, "").partition(":")[0], values[SENT_TO[key].address]


def set_elsewhere(environ: Mapping[str, str] | None = None, file: Path = FILE) -> dict[str, str]:
    """By name, what sets a setting so that it cannot be changed on the page: a variable, or a file of settings."""
    environ = os.environ if environ is None else environ
    names = [declared.name for declared in fields(Settings)]
    own = user_file(environ)
    found = dict.fromkeys(read_file(own, names, is_users=True), str(own)) | dict.fromkeys(
        read_file(file, names), str(file)
    )
    return found | {name: PREFIX + name.upper() for name in names if environ.get(PREFIX + name.upper())}


def check_addresses(
    settings: Settings,
    layer: Mapping[str, str],
    above: Collection[str],
    environ: Mapping[str, str],
    file: Path,
) -> None:
    """For the addresses of a layer that nothing above it sets."""
    for name in KEY_OF:
        if name in layer and name not in above:
            check_address(name, settings, layer, environ, file)


def check_address(
    name: str, settings: Settings, layer: Mapping[str, str], environ: Mapping[str, str], file: Path
) -> None:
    """Raises BadSetting where a layer would have a key that is not its own sent to an address of its own. The client
    that carries the key would refuse it; this says it before anything runs, and which file it is."""
    key_name = KEY_OF[name]
    values = {each: getattr(settings, each) for each in SENT_TO[key_name] if each} | {name: layer[name]}
    address = address_in(key_name, values)
    keys: list[Key] = [getattr(settings, key_name)] if getattr(settings, key_name) else []
    if name == "model_base_url" and not keys:
        provider = provider_in(key_name, values)
        keys = [variable_key(provider, each, environ, settings.trusted_hosts) for each in KEYS_OF.get(provider, ())]
    if "://" not in address or not any(keys) or any(key.allows(address) for key in keys):
        return
    host = shown_origin(origin_of(address)).partition("://")[2]
    raise BadSetting(
        f"{file} sets {name} to {layer[name]}: your {key_name.removesuffix('_api_key')} key would be sent there, and "
        "it is set elsewhere.",
        kept="Nothing was sent.",
        advice=f"If you trust that address, set {PREFIX}TRUSTED_HOSTS to {host} in the environment; else remove {name} "
        f"from {file}.",
    )


def user_file(environ: Mapping[str, str]) -> Path:
    """Where a user keeps settings for all folders."""
    home = environ.get("XDG_CONFIG_HOME") or Path(environ.get("HOME", "/nonexistent")) / ".config"
    return Path(home) / "tablewright" / "config.toml"


def read_file(file: Path, names: list[str], *, is_users: bool = False) -> dict[str, str]:
    """Numbers and yes or no may stand in it as such."""
    if not file.is_file():
        return {}
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSetting(f"{file} cannot be read: {error}.") from None
    for name, value in values.items():
        if name not in names:
            near = did_you_mean(name, names).strip()
            raise BadSetting(f"{file} has an unknown setting {name!r}.", advice=near or f"Known: {', '.join(names)}.")
        if name == "plugins" or (name in NOT_IN_A_FOLDER and not is_users):
            raise BadSetting(
                f"{name} cannot stand in {file}: {NOT_IN_A_FOLDER[name]}.",
                advice=f"Set {PREFIX}{name.upper()} in the environment.",
            )
        if not isinstance(value, str | int | float):
            raise BadSetting(f"{name} in {file} must be a text in quotes, a number, true or false.")
    return {name: plain(value) for name, value in values.items()}


def plain(value: str | float | os.PathLike[str]) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)


def number(text: str, setting: str) -> float | None:
    if not text.strip():
        return None
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < float("inf"):
        raise BadSetting(f"{setting} must be a number from 0 up, not {text!r}.")
    return value


def yes_or_no(text: str, setting: str) -> bool:
    word = text.strip().lower()
    if word not in ("yes", "no", "true", "false", "1", "0"):
        raise BadSetting(f"{setting} must be yes or no, not {text!r}.")
    return word in ("yes", "true", "1")
