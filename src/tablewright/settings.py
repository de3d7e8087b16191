"""Every setting, declared once: its name, its default, what it does. Data only; `app` builds things from it.

A setting is taken from a flag, else from the environment (TABLEWRIGHT_HOME), else from `tablewright.toml` in the
current folder (home = "…"), else it has its default.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from tablewright.errors import BadSetting

PREFIX = "TABLEWRIGHT_"
FILE = Path("tablewright.toml")
ROWS_AT_ONCE = 8
"""What most strategies do, unless told otherwise."""
OWN = frozenset({"home", "database_url", "model_api_key", "search_api_key", "embedder_api_key", "token"})
"""Settings of a process that it shares with no other."""


def setting(default: str, help: str) -> Any:
    return field(default=default, metadata={"help": help})


@dataclass(frozen=True, kw_only=True)
class Settings:
    home: str = setting(
        "", "The folder for everything Tablewright keeps. Default: ~/.local/share/tablewright (or $XDG_DATA_HOME)."
    )
    database_url: str = setting(
        "", "PostgreSQL (postgresql://user:password@host/name) instead of the SQLite file in the home folder."
    )
    model: str = setting(
        "builtin",
        "Who thinks: builtin (rules only, no model), openai:NAME, anthropic:NAME, google:NAME, ollama:NAME, "
        "local:FILE.gguf, or the name of a pulled model as local:NAME.",
    )
    model_strong: str = setting(
        "", "A stronger model, asked on the last attempt for the cells that are still weak; written as the model is."
    )
    model_base_url: str = setting("", "An OpenAI-compatible endpoint to use instead of the provider's own.")
    model_api_key: str = setting(
        "", "The key for the model. Default: the provider's own variable, e.g. OPENAI_API_KEY."
    )
    model_fallback: str = setting("", "A second model, asked when the first cannot be reached.")
    model_requests_per_minute: str = setting(
        "", "At most so many model calls a minute, for each provider; over all workers on one PostgreSQL."
    )
    model_tokens_per_minute: str = setting(
        "", "At most so many tokens a minute, for each provider; over all workers on one PostgreSQL."
    )
    model_concurrency: str = setting(
        "", "At most so many rows that ask one model are worked on at once, over all workers. Default: no limit."
    )
    model_window: str = setting(
        "",
        "Tokens that the model can take in at once, question and answer together. Default: what is known of it, else "
        "16000; `tablewright doctor` shows it.",
    )
    model_timeout: str = setting("", "Seconds to wait for a model's answer; unset 120, for one on this machine 1800.")
    search: str = setting(
        "ddgs",
        "Where to search: searxng:URL, brave, tavily, serper, exa, ddgs, or sample (a small fictional web that comes "
        "with Tablewright).",
    )
    sources: str = setting(
        "web",
        "Where evidence is looked for: web, docs (your documents), or both, the one that is believed first: docs,web.",
    )
    search_api_key: str = setting("", "The key for brave, tavily, serper or exa.")
    search_price: str = setting("", "What one search costs you, in dollars; it counts for costs and the budget.")
    search_requests_per_second: str = setting(
        "", "At most so many searches a second, over all workers on one PostgreSQL. Default: no limit."
    )
    embedder: str = setting(
        "wordllama",
        "What turns the texts of documents into vectors: wordllama (on this machine) or openai:NAME.",
    )
    embedder_base_url: str = setting("", "An OpenAI-compatible embeddings endpoint.")
    embedder_api_key: str = setting("", "The key for the embeddings endpoint.")
    fetch_allow: str = setting(
        "", "Hosts that may be fetched although their address is private, separated by commas, e.g. 127.0.0.1."
    )
    fetch_delay: str = setting("0.5", "Seconds between two requests to one domain (private hosts allowed above: none).")
    fetch_robots: str = setting("yes", "Whether robots.txt is obeyed: yes or no.")
    evidence: str = setting(
        "judged",
        "Which values count: judged (also what a model concludes from quotes, and marked so) or strict (only what a "
        "source states, or what follows from it by a rule).",
    )
    cascade: str = setting("no", "Whether a model is asked only where the built-in reader is not sure: yes or no.")
    attempts: str = setting("3", "How often a row is tried while cells of it are weak or empty; 1: only once.")
    threshold: str = setting("0.6", "The confidence under which a cell is weak and tried again.")
    require_improvement: str = setting("yes", "Whether to stop trying when an attempt made nothing better: yes or no.")
    offline: str = setting(
        "no", "yes: nothing is searched, fetched or asked anew; what earlier runs bought is played again."
    )
    pause_after: str = setting(
        "5", "A run pauses when the search or the model fails for so many rows in a row, or pages on so many sites."
    )
    budget: str = setting("", "The most dollars a run may spend on models and searches; what it has by then is kept.")
    budget_tokens: str = setting("", "The most tokens a run may use, in and out together; what it has by then is kept.")
    token: str = setting("", "The owner's token for the server; needed to bind to any address but this machine's own.")
    concurrency: str = setting("", "Rows worked on at once. Default: what the strategy says, e.g. 3 for lookup.")

    @property
    def home_folder(self) -> Path:
        if self.home:
            return Path(self.home).expanduser()
        return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "tablewright"

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
        return self.database_url or f"sqlite:///{self.home_folder / 'jobs.db'}"

    @property
    def shared(self) -> dict[str, str]:
        """What a worker must know to do a run as it was asked for. Keys and places are its own."""
        return {each.name: getattr(self, each.name) for each in fields(self) if each.name not in OWN}

    def with_shared(self, recorded: Mapping[str, str]) -> Settings:
        known = {each.name for each in fields(self)} - OWN
        return replace(self, **{name: value for name, value in recorded.items() if name in known})


def load_settings(
    flags: Mapping[str, str] | None = None, environ: Mapping[str, str] | None = None, file: Path = FILE
) -> Settings:
    environ = os.environ if environ is None else environ
    names = [declared.name for declared in fields(Settings)]
    values = read_file(file, names)
    values |= {name: environ[PREFIX + name.upper()] for name in names if environ.get(PREFIX + name.upper())}
    values |= {name: value for name, value in (flags or {}).items() if value}
    return Settings(**values)


def read_file(file: Path, names: list[str]) -> dict[str, str]:
    if not file.is_file():
        return {}
    try:
        values = tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSetting(f"{file} cannot be read: {error}.") from None
    for name, value in values.items():
        if name not in names:
            raise BadSetting(f"{file} has an unknown setting {name!r}.", advice=f"Known: {', '.join(names)}.")
        if not isinstance(value, str):
            raise BadSetting(f"{name} in {file} must be a text in quotes.")
    return values


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
