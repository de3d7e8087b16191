"""The session of one call of a verb: services on a home folder, the caller's rows, a progress bar."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import msgspec

from tablewright.domain.files import FileOptions, ImportOutcome
from tablewright.domain.model import RowId
from tablewright.domain.retrieved import is_document_id
from tablewright.errors import BadFile, BadSetting, NotFound, TablewrightError, did_you_mean
from tablewright.interfaces.library.data import Data, read_input_rows
from tablewright.interfaces.library.progress import CallProgress, Progress, is_watched
from tablewright.interfaces.library.results import CompactReport, TableResult, name_files
from tablewright.interfaces.wording import options_as_arguments
from tablewright.operations.files import copy_table, import_table_file, import_table_rows
from tablewright.services import Services
from tablewright.settings import DECLARED, Settings
from tablewright.settings_sources import load_settings

if TYPE_CHECKING:
    from pydantic_ai.models import Model

    from tablewright.documents.parse.parser import Parser
    from tablewright.web.search.provider import SearchFunction, SearchProvider


class Options(TypedDict, total=False):
    """Options of every verb. Without `home` or `settings` nothing is kept: the call has a temporary folder. All others
    are settings, as in docs/settings.md; those not given here are taken from the environment."""

    model: str | Model
    search: str | SearchProvider | SearchFunction
    parsers: Mapping[str, Parser]
    home: str | os.PathLike[str]
    settings: Settings
    progress: bool | Callable[[Progress], object]
    model_strong: str
    model_fallback: str
    model_base_url: str
    model_api_key: str
    model_window: int
    model_timeout: float
    model_requests_per_minute: float
    model_tokens_per_minute: float
    search_api_key: str
    search_language: str
    search_price: float
    search_requests_per_second: float
    sources: str
    evidence: str
    cascade: bool
    attempts: int
    threshold: float
    budget: float
    budget_tokens: int
    concurrency: int
    offline: bool
    fetch_allow: str | Sequence[str]
    fetch_delay: float
    fetch_robots: bool
    embedder: str
    embedder_base_url: str
    embedder_api_key: str
    require_improvement: bool
    pause_after: int
    rates: str
    research_searches: int
    research_first_searches: int
    research_checking_searches: int
    research_pages: int
    research_rounds: int
    research_claims: int
    research_sites: int
    research_memo_tokens: int
    research_items: int


class Session:
    def __init__(self, services: Services, bar: CallProgress, *, keeps: bool) -> None:
        """`keeps`: the home outlives the call, so data that comes again updates its table."""
        self.services = services
        self.bar = bar
        self.keeps = keeps
        self.notes: list[str] = []
        """Notes on what was unclear in the data, or could not be kept."""

    async def import_data(self, data: Data | TableResult, key_field: str) -> ImportOutcome:
        """Make a table of a file or of data in memory, or find one of the home by its name."""
        options = FileOptions(key_field=key_field)
        if isinstance(data, TableResult):
            imported = await copy_table(self.services, data.table, update=self.keeps)
        elif not isinstance(data, str | os.PathLike):
            imported = await import_table_rows(self.services, read_input_rows(data), options, update=self.keeps)
        elif Path(data).is_file():
            imported = await import_table_file(self.services, data, options, update=self.keeps)
        elif Path(data).suffix or os.sep in str(data) or Path(data).is_dir():
            raise BadFile(f"There is no file {data}.")
        else:
            imported = await self._find_table(str(data))
        self.notes += map(options_as_arguments, imported.warnings)
        return imported

    async def _find_table(self, name: str) -> ImportOutcome:
        try:
            return ImportOutcome(table=await self.services.table(name), rows=0)
        except NotFound as error:
            raise BadFile(f"There is no file {name}, and no table of that name in the home.") from error

    async def result(
        self, table_id: str, row_ids: Sequence[RowId] | None = None, *, report: Any = None, **more: Any
    ) -> TableResult:
        """Load a table, or these rows of it. Evidence names the file of a document: its id means nothing outside."""
        table = await self.services.load(table_id)
        if row_ids is not None:
            by_id = {row.id: row for row in table.rows}
            table = msgspec.structs.replace(table, rows=tuple(by_id[row_id] for row_id in row_ids))
        cited = {each.origin for row in table.rows for cell in row.cells.values() for each in cell.evidence}
        documents = await self.services.store.documents.all() if any(map(is_document_id, cited)) else ()
        paths = {each.id: each.path for each in documents}
        compact = await CompactReport.build(report or {}, paths)
        return TableResult(table=name_files(table, paths), compact_report=compact, **more)


@asynccontextmanager
async def open_session(options: Options, verb: Callable[..., Any]) -> AsyncIterator[Session]:
    check_options(options, verb)
    model, search = options.get("model"), options.get("search")
    with ExitStack() as stack:
        settings = settings_from(options, stack)
        async with Services.open(
            settings,
            search=None if isinstance(search, str) else search,
            model=None if isinstance(model, str) else model,
            parsers=options.get("parsers"),
        ) as services:
            try:
                yield Session(services, CallProgress(options.get("progress", is_watched())), keeps=keeps_home(options))
            except TablewrightError as error:
                error.advice = options_as_arguments(error.advice)
                raise


def check_options(options: Options, verb: Callable[..., Any]) -> None:
    """Raise BadSetting for an option that the verb does not take, with the nearest one that it does."""
    known = [*DECLARED, "settings", "progress", "parsers"]
    for name in options:
        if name not in known:
            near = did_you_mean(name, [*signature(verb).parameters, *Options.__annotations__, *known])
            raise BadSetting(f"There is no option {name!r}.", advice=near.rstrip())
    progress = options.get("progress", False)
    if not isinstance(progress, bool) and not callable(progress):
        raise BadSetting(
            f"`progress` is {progress!r}.", advice="Give True, False, or a function to call with progress."
        )
    model = options.get("model")
    if model is not None and not isinstance(model, str) and not hasattr(model, "model_name"):
        raise BadSetting(
            f"{model!r} is not a model.", advice='Give a name such as "openai:NAME", or a pydantic-ai model.'
        )
    parsers = options.get("parsers", {})
    if not isinstance(parsers, Mapping) or not all(callable(each) for each in parsers.values()):
        raise BadSetting(
            "`parsers` must be functions by the endings of their files.", advice='For example: {"log": parse_log}.'
        )


def keeps_home(options: Options) -> bool:
    """Return True if the home outlives the call."""
    return "home" in options or options.get("settings") is not None


def settings_from(options: Options, stack: ExitStack) -> Settings:
    said: dict[str, Any] = {
        name: value
        for name, value in options.items()
        if name in DECLARED and name != "home" and isinstance(value, str | int | float | os.PathLike | tuple | list)
    }
    given = options.get("settings")
    if given is not None and not isinstance(given, Settings):
        raise BadSetting(f"`settings` is a {type(given).__name__}.", advice="Give a `Settings` object.")
    settings = (
        replace(given, **said) if given is not None else load_settings(said, folder_may_place="home" not in options)
    )
    if "home" in options:
        return replace(settings, home=os.fspath(options["home"]), database_url="")
    if given is not None:
        return settings
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tablewright-", ignore_cleanup_errors=True)))
    with suppress(OSError):  # models that were pulled are found, as far as the system has links
        (folder / "models").symlink_to(settings.home_folder / "models", target_is_directory=True)
    return replace(settings, home=str(folder), database_url="")
