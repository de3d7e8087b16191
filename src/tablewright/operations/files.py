"""Import files and rows in memory into tables, and export tables.

Plain functions, for the operations of tables and for what only the page or a program does, such as previewing a file.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from importlib.resources import as_file
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any, TypeAlias

from tablewright.domain.fieldspec import parse_field
from tablewright.domain.files import ExportOutcome, FileOptions, ImportOutcome, ImportPreview, SheetsExport
from tablewright.domain.model import Field, RowId, Table
from tablewright.domain.text import count_noun
from tablewright.engine import planning
from tablewright.engine.policy import FillPlan, RunPolicy
from tablewright.errors import BadField
from tablewright.services import Services
from tablewright.settings import SAMPLE_WEB_SETTINGS, Settings
from tablewright.store.table_details import SAMPLE_PATH_PREFIX
from tablewright.workflows import files
from tablewright.workflows.files import KnownFile, check_column_names, qualify_path

AnyPath: TypeAlias = str | os.PathLike[str]
# Frozen, so one object can be the default of several functions.
DEFAULT_OPTIONS = FileOptions()


# ── in ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


async def import_table_file(
    services: Services,
    path: AnyPath,
    options: FileOptions = DEFAULT_OPTIONS,
    progress: Callable[[int, int], None] | None = None,
    *,
    update: bool = False,
) -> ImportOutcome:
    """Make a table of a file; with `update`, write it into the table that it became before."""
    path = Path(path)
    await services.charge_files([path])
    return await files.create_table_from_file(
        services.store, path, options, actor=services.actor, update=update, progress=progress
    )


async def import_table_rows(
    services: Services,
    rows: Iterable[Mapping[str, Any]],
    options: FileOptions = DEFAULT_OPTIONS,
    *,
    update: bool = False,
) -> ImportOutcome:
    """Make a table of what a program has in memory; the types of its columns are inferred as for a JSON file."""
    return await files.create_table_from_rows(services.store, rows, options, actor=services.actor, update=update)


async def copy_table(services: Services, table: Table, *, update: bool = False) -> ImportOutcome:
    """Make a copy of a table in memory, with its evidence as it is stated there."""
    return await files.create_table_from_copy(services.store, table, actor=services.actor, update=update)


async def preview_file(services: Services, path: Path, options: FileOptions = DEFAULT_OPTIONS) -> ImportPreview:
    """Return what a file would become. Nothing is imported."""
    return await files.read_preview(path, options, actor=services.actor)


async def recognise_file(services: Services, path: Path, options: FileOptions = DEFAULT_OPTIONS) -> KnownFile | None:
    """Return the table that the file became when it was imported before, if any."""
    return await files.find_known_file(services.store, path, options)


async def add_new_file_rows(services: Services, known: KnownFile) -> None:
    """Add the rows that are new in a file since it was imported; what is in its table stays as it is."""
    await files.append_new_rows(services.store, known, actor=services.actor)


async def is_source(services: Services, path: Path) -> bool:
    """Return True if a table was imported from that file."""
    return await services.store.imports.find(qualify_path(path)) is not None


async def create_empty_table(services: Services, name: str, fields: Sequence[Field]) -> Table:
    """Create a table without rows; its first column names the rows."""
    if not name.strip():
        raise BadField("The table needs a name.")
    check_column_names([field.name for field in fields])
    return await services.store.tables.create(
        name.strip(), fields, key_field=fields[0].name, actor=services.actor, note="created"
    )


async def add_sample(services: Services) -> Table:
    """Create the sample table. Its columns are read from the sample web by the built-in reader: no key, no internet, no
    cost."""
    from tablewright.llm.spec import BUILTIN
    from tablewright.sample.site import COLUMNS
    from tablewright.strategies.toolbox import Toolbox

    with as_file(package_files("tablewright.sample") / "companies.csv") as path:
        options = FileOptions(name="Sample companies", origin=f"{SAMPLE_PATH_PREFIX}companies")
        table = (await files.create_table_from_file(services.store, path, options, actor=services.actor)).table
    settings = replace(services.settings, **SAMPLE_WEB_SETTINGS, model=BUILTIN, model_fallback="", model_strong="")
    async with AsyncExitStack() as stack:
        columns = [parse_field(text) for text in COLUMNS]
        filling = FillPlan(table, columns, "pipeline", policy=RunPolicy.from_settings(settings))
        fill = await planning.prepare_fill(services.store, filling, Toolbox(settings, services.store, stack).open)
        filled = await fill.run()
    await services.changes.apply_unseen(filled.proposal_id)
    return table


# ── out ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


async def export_table_file(
    services: Services,
    table_id: str,
    path: AnyPath,
    *,
    evidence: bool = False,
    cost: bool = False,
    row_ids: Sequence[RowId] | None = None,
    progress: Callable[[int], None] | None = None,
) -> ExportOutcome:
    """Write all rows, or those of `row_ids`, in their order."""
    table, path = await services.table(table_id), Path(path)
    written = await files.write_table_file(
        services.store, table.id, path, evidence=evidence, cost=cost, row_ids=row_ids, progress=progress
    )
    what = f"{count_noun(written.row_count, 'row')} as {path.suffix or 'text'}"
    await services.store.audit.note("export", f"table {table.id}", what)
    return written


async def write_to_sheets(
    services: Services,
    table_id: str,
    to: str,
    *,
    row_ids: Sequence[RowId] | None = None,
    progress: Callable[[int], None] | None = None,
) -> SheetsExport:
    """Write all rows, or those of `row_ids`, to new sheets of a Google spreadsheet: `to` is its link or id, or the
    e-mail address of the owner of a new one."""
    from tablewright.workflows.google_sheets import send_table_to_sheets  # few tables go there

    table = await services.table(table_id)
    key = services.settings.google_sheets_key
    sent = await send_table_to_sheets(services.store, table, key, to, row_ids=row_ids, progress=progress)
    what = f"{count_noun(sent.row_count, 'row')} to Google Sheets, {sent.link}"
    await services.store.audit.note("export", f"table {table.id}", what)
    return sent


def read_sheets_account(settings: Settings) -> str:
    """Return the address with which a spreadsheet has to be shared. Raise BadSetting if no key is set."""
    from tablewright.web.google_sheets import read_service_key

    return read_service_key(settings.google_sheets_key).email


async def test_google_sheets(settings: Settings) -> str:
    """Ask Google for access with the key; return the address of its account. Raise RunError in Google's words."""
    from tablewright.web.google_sheets import GoogleSheets, read_service_key

    async with GoogleSheets(read_service_key(settings.google_sheets_key)):
        return read_sheets_account(settings)
