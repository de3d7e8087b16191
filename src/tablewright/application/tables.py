"""Tables: in and out of files, read, shared, renamed and removed, and their history."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from importlib.resources import as_file, files
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from tablewright.application.base import AnyPath, Application
from tablewright.domain.access import OWNER, Person, Shareable, Shared
from tablewright.domain.fieldspec import parse_field
from tablewright.domain.history import CellVersion, Change, TableSummary
from tablewright.domain.model import Cell, Field, Row, RowId, Table
from tablewright.domain.text import count_noun
from tablewright.engine.fill import FillPlan
from tablewright.engine.rows import read_windows
from tablewright.errors import BadField, Forbidden, NotFound, UsageError
from tablewright.journeys import enrich
from tablewright.journeys.files import (
    Exported,
    FileOptions,
    Imported,
    KnownFile,
    Preview,
    SentToSheets,
    add_new_rows,
    check_names,
    export_file,
    import_file,
    import_rows,
    import_table,
    known_as,
    preview,
    recognise,
)
from tablewright.policies import terms_of
from tablewright.settings import SAMPLE_WEB
from tablewright.store.table_details import SAMPLE
from tablewright.store.tables import TableActivity

if TYPE_CHECKING:
    from tablewright.settings import Settings

DEFAULT_OPTIONS = FileOptions()
"""Rows that are read at once."""
MOST_TAGS, LONGEST_TAG = 12, 40


class TableVerbs(Application):
    async def import_file(
        self,
        path: AnyPath,
        options: FileOptions = DEFAULT_OPTIONS,
        progress: Callable[[int, int], None] | None = None,
        *,
        update: bool = False,
    ) -> Imported:
        """Make a table of a file; with `update`, write it into the table that it became before."""
        path = Path(path)
        await self.charge_files([path])
        return await import_file(self.store, path, options, actor=self.actor, update=update, progress=progress)

    async def import_rows(
        self, rows: Iterable[Mapping[str, Any]], options: FileOptions = DEFAULT_OPTIONS, *, update: bool = False
    ) -> Imported:
        """Make a table of what a program has in memory; the types of its columns are inferred as for a JSON file."""
        return await import_rows(self.store, rows, options, actor=self.actor, update=update)

    async def import_table(self, table: Table, *, update: bool = False) -> Imported:
        """Make a copy of a table in memory, with its evidence as it is stated there."""
        return await import_table(self.store, table, actor=self.actor, update=update)

    async def preview_file(self, path: Path, options: FileOptions = DEFAULT_OPTIONS) -> Preview:
        """What a file would become. Nothing is imported."""
        return await preview(path, options, actor=self.actor)

    async def create_table(self, name: str, fields: Sequence[Field]) -> Table:
        """Without rows; the first column says what a row is about."""
        if not name.strip():
            raise BadField("The table needs a name.")
        check_names([field.name for field in fields])
        return await self.store.tables.create(
            name.strip(), fields, key_field=fields[0].name, actor=self.actor, note="created"
        )

    async def add_sample(self) -> Table:
        """The sample's companies, with columns that are read, now, from the sample web by the built-in reader: no key,
        no internet, nothing to pay."""
        from tablewright.assembly import BUILTIN, Toolbox
        from tablewright.sample import COLUMNS

        with as_file(files("tablewright.sample") / "companies.csv") as path:
            options = FileOptions(name="Sample companies", origin=f"{SAMPLE}companies")
            table = (await import_file(self.store, path, options, actor=self.actor)).table
        settings = replace(self.settings, **SAMPLE_WEB, model=BUILTIN, model_fallback="", model_strong="")
        async with AsyncExitStack() as stack:
            columns = [parse_field(text) for text in COLUMNS]
            filling = FillPlan(table, columns, "pipeline", terms=terms_of(settings))
            fill = await enrich.plan(self.store, filling, Toolbox(settings, self.store, stack).open)
            filled = await fill.run()
        await self.changes.apply_unseen(filled.proposal_id)
        return table

    async def recognise_file(self, path: Path, options: FileOptions = DEFAULT_OPTIONS) -> KnownFile | None:
        """The table that the file became when it was imported before, if any."""
        return await recognise(self.store, path, options)

    async def is_source(self, path: Path) -> bool:
        """Whether a table was imported from that file."""
        return await self.store.imports.find(known_as(path)) is not None

    async def add_new_rows(self, known: KnownFile) -> None:
        """Of a file that has changed since it was imported; what is in its table stays as it is."""
        await add_new_rows(self.store, known, actor=self.actor)

    async def export_file(
        self,
        table_id: str,
        path: AnyPath,
        *,
        evidence: bool = False,
        cost: bool = False,
        row_ids: Sequence[RowId] | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Exported:
        """All rows, or those of `row_ids`, in their order."""
        table, path = await self.table(table_id), Path(path)
        written = await export_file(
            self.store, table.id, path, evidence=evidence, cost=cost, row_ids=row_ids, progress=progress
        )
        count = written.rows
        await self.store.audit.note(
            "export", f"table {table.id}", f"{count_noun(count, 'row')} as {path.suffix or 'text'}"
        )
        return written

    async def send_to_sheets(
        self,
        table_id: str,
        to: str,
        *,
        row_ids: Sequence[RowId] | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> SentToSheets:
        """To new sheets of a Google spreadsheet: `to` is its link or id, or the e-mail address of whoever gets a new
        one. All rows, or those of `row_ids`, in their order."""
        from tablewright.journeys.google_sheets import send_to_sheets  # few tables go there

        table = await self.table(table_id)
        key = self.settings.google_sheets_key
        sent = await send_to_sheets(self.store, table, key, to, row_ids=row_ids, progress=progress)
        what = f"{count_noun(sent.rows, 'row')} to Google Sheets, {sent.link}"
        await self.store.audit.note("export", f"table {table.id}", what)
        return sent

    async def test_google_sheets(self, settings: Settings) -> str:
        """Whether Google accepts the key; the address of its account. Raises RunError in Google's words."""
        from tablewright.sources.google_sheets import GoogleSheets, read_key

        key = read_key(settings.google_sheets_key)
        async with GoogleSheets(key):
            return key.email

    def sheets_account(self) -> str:
        """The address with which a spreadsheet has to be shared; raises BadSetting where no key is set."""
        from tablewright.sources.google_sheets import read_key

        return read_key(self.settings.google_sheets_key).email

    async def tables(self) -> list[TableSummary]:
        return await self.store.tables.all()

    async def load(self, name_or_id: str) -> Table:
        """With all its rows, in memory."""
        return await self.store.tables.load((await self.table(name_or_id)).id)

    async def rows(self, table_id: str) -> AsyncIterator[Row]:
        """All of them, in their order, however many: `async for row in services.rows(table_id)`."""
        async for window in read_windows(self.store, table_id):
            for row in window.rows:
                yield row

    async def page(self, table_id: str, *, after: RowId = 0, limit: int = 100) -> Sequence[Row]:
        """The rows that come after one of them, at most so many; fewer where they are long, and none at the end."""
        return (await self.store.tables.window(table_id, after=after, limit=limit)).rows

    async def rows_by_id(self, table_id: str, row_ids: Sequence[RowId]) -> dict[RowId, Row]:
        return {row.id: row for row in (await self.store.tables.rows(table_id, row_ids)).rows}

    async def row(self, table_id: str, row_id: RowId) -> Row:
        """Raises NotFound where the table has no such row."""
        found = await self.rows_by_id(table_id, [row_id])
        if row_id not in found:
            raise NotFound(f"Table {table_id} has no row {row_id}.")
        return found[row_id]

    def row_windows(self, table_id: str, row_ids: Sequence[RowId]) -> AsyncIterator[list[Row]]:
        """Yield those of the rows that are there, in the given order: as many at a time as fit into the memory of one
        request."""
        return self.store.tables.windows_of(table_id, row_ids)

    async def cost(self, table_id: str) -> float:
        """The dollars that all runs of the table have spent."""
        return await self.store.runs.cost(table_id)

    async def count(self, table_id: str) -> int:
        return await self.store.tables.count(table_id)

    async def row_ids(self, table_id: str, keep: Callable[[Row], bool] | None = None) -> list[RowId]:
        """Of its rows, in their order; with `keep`, which is asked in a reader's thread, only of those it keeps."""
        if keep is None:
            return await self.store.tables.row_ids(table_id)
        kept: list[RowId] = []
        await self.store.tables.stream(table_id, lambda rows: kept.extend(row.id for row in rows if keep(row)))
        return kept

    async def column(self, table_id: str, field: str, take: Callable[[RowId, Cell], None]) -> None:
        """Hands the cells of a column to `take`, in the order of the rows, in a reader's thread."""
        (await self.table(table_id)).require_field(field)

        def each(rows: Sequence[Row]) -> None:
            for row in rows:
                take(row.id, row.cell(field))

        await self.store.tables.stream(table_id, each, field=field)

    async def rename_table(self, table_id: str, name: str) -> None:
        """Its id stays."""
        await self.store.tables.rename(table_id, name)

    async def tag_table(self, table_id: str, tags: Iterable[str]) -> tuple[str, ...]:
        """In place of those it had: words under which people find it. Returns them as they are kept."""
        kept = dict.fromkeys(" ".join(tag.split()) for tag in tags)
        wanted = tuple(tag for tag in kept if tag)
        if len(wanted) > MOST_TAGS or any(len(tag) > LONGEST_TAG for tag in wanted):
            raise UsageError(f"A table has at most {MOST_TAGS} tags of {LONGEST_TAG} characters.")
        await self.store.tables.set_tags((await self.table(table_id)).id, wanted)
        return wanted

    async def remove_table(self, table_id: str) -> None:
        """For good, with its runs and schedules and the researches and shortlists that are about it."""
        table = await self.table(table_id)
        if await self.store.tables.remove(table.id):
            await self.jobs.unschedule(table.id)

    async def share(
        self,
        kind: Shareable,
        name_or_id: str,
        people: Sequence[str] = (),
        *,
        everyone: bool = False,
        only: bool = False,
    ) -> Shared:
        """Lets these people see it too, by name, or everyone; with `only`, nobody but them and its owner. The table of
        a research or a shortlist is shared with it."""
        id = await self._id_of(kind, name_or_id)
        return await self.store.sharing.share(kind, id, people, everyone=everyone, only=only)

    async def viewer_link(self, kind: Shareable, name_or_id: str) -> tuple[Person, str]:
        """Return a viewer of this thing alone, and the token that lets in whoever has it. It ends like other tokens,
        with its user, and once its author is no longer an admin."""
        author = self.store.database.acting.person
        if author is not None and not author.may_administer:
            raise Forbidden("Only an admin makes share links.", advice="Share it with people by name.")
        shared = await self.shared(kind, name_or_id)
        name = f"link-{shared.id[:30]}-{token_hex(3)}"
        by, expiry = OWNER.id if author is None else author.id, self.settings.token_expiry()
        person, token = await self.store.users.add_link(name, by, expires_at=expiry)
        await self.share(kind, shared.id, [person.name])
        return person, token

    async def unshare(self, kind: Shareable, name_or_id: str, people: Sequence[str]) -> Shared:
        return await self.store.sharing.unshare(kind, await self._id_of(kind, name_or_id), people)

    async def shared(self, kind: Shareable, name_or_id: str) -> Shared:
        """Who may see it."""
        return await self.store.sharing.of(kind, await self._id_of(kind, name_or_id))

    async def _id_of(self, kind: Shareable, name_or_id: str) -> str:
        if kind == "table":
            return (await self.table(name_or_id)).id
        if kind == "document":
            return (await self.store.documents.get(name_or_id)).id
        return name_or_id

    async def activity(self, table_id: str) -> TableActivity:
        """What tells that something has happened to a table; cheap enough to be asked for several times a second."""
        return await self.store.tables.activity(table_id)

    async def history(self, table_id: str, limit: int = 50) -> list[Change]:
        return await self.store.log.changes(table_id, limit)

    async def cell_history(self, table_id: str, row_id: RowId, field: str) -> list[CellVersion]:
        return await self.store.log.cell_history(table_id, row_id, field)
