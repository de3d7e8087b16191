"""The composition root and the library's front door: reads the settings, chooses the parts, joins them.

async with Tablewright.open() as tablewright:
    imported = await tablewright.import_file(Path("sales.csv"))
"""

from __future__ import annotations

import getpass
import os
import platform
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from tablewright.assembly import open_tools
from tablewright.engine.changes import Changes
from tablewright.engine.fill import Fill, Filled
from tablewright.engine.progress import Watch, ignore
from tablewright.errors import StoreError, TablewrightError
from tablewright.journeys import enrich
from tablewright.journeys.files import FileOptions, Imported, export_file, import_file
from tablewright.settings import Settings, load_settings
from tablewright.store.log import CellVersion, Change
from tablewright.store.proposals import Applied, Operation, ProposalHead, Selection
from tablewright.store.rollback import Rollback
from tablewright.store.store import Store
from tablewright.store.tables import TableSummary
from tablewright.strategies.strategy import all_strategies, find_strategy
from tablewright.strategies.tools import NO_TOOLS, Tools
from tablewright.table.model import Field, Noun, Row, RowId, Table

__all__ = [
    "Applied",
    "CellVersion",
    "Change",
    "Check",
    "FileOptions",
    "Fill",
    "Filled",
    "Operation",
    "ProposalHead",
    "Rollback",
    "Selection",
    "TableSummary",
    "Tablewright",
    "doctor",
]

DEFAULT_OPTIONS = FileOptions()
EXTRAS = {"parquet": "pyarrow", "local": "xllamacpp", "ocr": "rapidocr"}


class Check(Noun, frozen=True):
    """One line of `doctor`."""

    name: str
    ok: bool
    detail: str
    advice: str = ""


class Tablewright:
    def __init__(self, settings: Settings, store: Store, actor: str, stack: AsyncExitStack) -> None:
        self.settings = settings
        self._stack = stack
        self._tools: Tools | None = None
        self.changes = Changes(store, actor)
        self._store = store
        self._actor = actor

    @classmethod
    @asynccontextmanager
    async def open(cls, settings: Settings | None = None, actor: str = "") -> AsyncIterator[Tablewright]:
        settings = settings or load_settings()
        if not settings.database_url:
            make_home(settings.home_folder)
        async with await Store.open(settings.database) as store, AsyncExitStack() as stack:
            yield cls(settings, store, actor or whoami(), stack)

    async def import_file(
        self,
        path: Path,
        options: FileOptions = DEFAULT_OPTIONS,
        progress: Callable[[int, int], None] | None = None,
    ) -> Imported:
        return await import_file(self._store, path, options, actor=self._actor, progress=progress)

    async def export_file(
        self, table_id: str, path: Path, *, evidence: bool = False, progress: Callable[[int], None] | None = None
    ) -> int:
        return await export_file(self._store, table_id, path, evidence=evidence, progress=progress)

    async def tables(self) -> list[TableSummary]:
        return await self._store.tables.all()

    async def table(self, name_or_id: str) -> Table:
        """Without its rows."""
        return await self._store.tables.find(name_or_id)

    async def load(self, name_or_id: str) -> Table:
        """With all its rows, in memory."""
        return await self._store.tables.load((await self.table(name_or_id)).id)

    async def rows(self, table_id: str, *, after: RowId = 0, limit: int = 100) -> Sequence[Row]:
        return (await self._store.tables.window(table_id, after=after, limit=limit)).rows

    async def rows_by_id(self, table_id: str, row_ids: Sequence[RowId]) -> dict[RowId, Row]:
        return {row.id: row for row in (await self._store.tables.rows(table_id, row_ids)).rows}

    async def count(self, table_id: str) -> int:
        return await self._store.tables.count(table_id)

    async def remove_table(self, table_id: str) -> None:
        await self._store.tables.remove(table_id)

    async def history(self, table_id: str, limit: int = 50) -> list[Change]:
        return await self._store.log.changes(table_id, limit)

    async def cell_history(self, table_id: str, row_id: RowId, field: str) -> list[CellVersion]:
        return await self._store.log.cell_history(table_id, row_id, field)

    async def plan_enrich(
        self,
        table_id: str,
        fields: Sequence[Field],
        strategy: str,
        *,
        row_ids: Sequence[RowId] | None = None,
        max_rows: int | None = None,
        watch: Watch = ignore,
    ) -> Fill:
        """A run that is ready: `await fill.run()` starts it, `fill.cancel()` stops it and keeps what was found."""
        tools = await self._open_tools() if find_strategy(strategy).needs_tools else NO_TOOLS
        return await enrich.plan(
            self._store, table_id, fields, strategy, tools=tools, row_ids=row_ids, max_rows=max_rows, watch=watch
        )

    async def _open_tools(self) -> Tools:
        """The web and the model, opened when first needed and closed with the app."""
        if self._tools is None:
            self._tools = await self._stack.enter_async_context(open_tools(self.settings, self._store))
        return self._tools

    async def stored_text(self, content_hash: str) -> str | None:
        """The text that a cell's evidence points to, as it was retrieved."""
        return await self._store.pages.text(content_hash)

    async def enrich_report(self, filled: Filled) -> dict[str, Any]:
        """The run as one JSON document."""
        return await enrich.run_report(self._store, filled)

    async def proposals(self, table_id: str | None = None, *, only_open: bool = False) -> list[ProposalHead]:
        return await self._store.proposals.all(table_id, only_open=only_open)

    async def proposal(self, proposal_id: str) -> ProposalHead:
        return await self._store.proposals.get(proposal_id)

    async def proposal_report(self, proposal_id: str) -> dict[str, Any]:
        """The proposal as one JSON document: reasoning, operations, research log."""
        return await enrich.proposal_report(self._store, proposal_id)

    async def operations(
        self, proposal_id: str, *, after: tuple[RowId, str] = (0, ""), limit: int = 2_000, failed: bool | None = None
    ) -> list[Operation]:
        return await self._store.proposals.operations(proposal_id, after=after, limit=limit, failed=failed)

    async def problems(self) -> list[str]:
        """What is wrong with the kept tables; empty when all are sound."""
        return [problem for table in await self.tables() for problem in await self._store.log.problems(table.id)]


async def doctor(settings: Settings) -> list[Check]:
    """What is configured and what works; never raises."""
    checks = [
        Check(name="Tablewright", ok=True, detail=f"{version('tablewright')} on Python {platform.python_version()}"),
        check_home(settings),
        await check_database(settings),
        Check(name="Strategies", ok=True, detail=", ".join(sorted(all_strategies()))),
    ]
    for extra, module in EXTRAS.items():
        installed = find_spec(module) is not None
        detail = "installed" if installed else f"not installed; optional: pip install 'tablewright[{extra}]'"
        checks.append(Check(name=f"Extra {extra}", ok=True, detail=detail))
    return checks


def check_home(settings: Settings) -> Check:
    folder = settings.home_folder
    if settings.database_url and not folder.exists():
        return Check(name="Home", ok=True, detail=f"{folder} (not needed: the data is in PostgreSQL)")
    try:
        make_home(folder)
    except TablewrightError as error:
        return Check(name="Home", ok=False, detail=error.what, advice=error.advice)
    free = shutil.disk_usage(folder).free
    enough = free > 100 * 1024**2
    advice = "" if enough else "Free some space before you start a long run."
    return Check(name="Home", ok=enough, detail=f"{folder}, {free / 1024**3:.1f} GB free", advice=advice)


async def check_database(settings: Settings) -> Check:
    try:
        async with Tablewright.open(settings) as tablewright:
            location = tablewright._store.database.location
            tables = len(await tablewright.tables())
            problems = await tablewright.problems()
    except TablewrightError as error:
        return Check(name="Database", ok=False, detail=error.what, advice=error.advice)
    if problems:
        return Check(name="Database", ok=False, detail="; ".join(problems), advice="Restore it from a backup.")
    return Check(name="Database", ok=True, detail=f"{location}, tables: {tables}, all sound")


def make_home(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"The folder {folder} cannot be made: {error.strerror}.",
            advice="Set TABLEWRIGHT_HOME to a folder that you can write to.",
        ) from None
    if not os.access(folder, os.W_OK):
        raise StoreError(f"The folder {folder} is read-only.", advice="Set TABLEWRIGHT_HOME to another folder.")


def whoami() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "somebody"
