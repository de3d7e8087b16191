"""`tablewright demo`: the main job on the bundled world, in a folder of its own that is removed afterwards."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from tablewright.domain.text import cell_text
from tablewright.interfaces.cli import output, views
from tablewright.interfaces.cli.root import Json, app

if TYPE_CHECKING:
    from pathlib import Path

    from tablewright.domain.model import Cell, RowId
    from tablewright.domain.proposal import ProposedCell
    from tablewright.services import Services

JUDGED = (
    "Customers:select(businesses, consumers, both)=Whom does {Company} sell to?",
    "Known for=What is {Company} known for?",
)
# The rows that a model fills. Their prompts must be the same each time, for its answers are recorded.
SHOWN = ("Kestrelworks", "Marlow Instruments")


@app.command("demo")
def demo_command(json: Json = False) -> None:
    """See it work: fill a table of companies from a small web, with the evidence of every cell. No key, no internet."""
    import tempfile
    from pathlib import Path

    with tempfile.TemporaryDirectory(prefix="tablewright-demo-") as folder:
        report = asyncio.run(run_demo(Path(folder), quiet=json))
    if json:
        output.print_json(report)


async def run_demo(folder: Path, *, quiet: bool) -> dict[str, Any]:
    from importlib.resources import as_file, files

    from tablewright.domain.fieldspec import parse_field
    from tablewright.operations.files import import_table_file
    from tablewright.operations.fill import plan_fill
    from tablewright.sample.model import RecordedModel
    from tablewright.sample.site import COLUMNS
    from tablewright.services import Services
    from tablewright.settings import Settings

    def headline(text: str) -> None:
        if not quiet:
            output.stdout().print(f"\n[bold cyan]{text}[/]")

    async with Services.open(Settings(home=str(folder), search="sample")) as services:
        with as_file(files("tablewright.sample") / "companies.csv") as path:
            imported = await import_table_file(services, path)
        table_id = imported.table.id
        headline("1. A list of companies comes in. Four columns are asked for")
        if not quiet:
            await print_table(services, table_id)
        headline("2. It is searched, opened, read and checked, over HTTP, on a small web that comes with Tablewright")
        with output.Bar("Filling") as bar:
            run = await plan_fill(
                services, table_id, [parse_field(text) for text in COLUMNS], "pipeline", watch=bar.follow_fill
            )
            filled = await services.jobs.run(run)
        from tablewright.operations.fill import load_fill_report

        report = await load_fill_report(services, filled)
        await services.changes.apply_unseen(filled.proposal_id)
        if not quiet:
            await print_table(services, table_id)
            used = filled.usage
            output.print_note(
                f"{used.searches} searches, {used.fetches} pages fetched, {used.cache_hits} taken from the store, "
                f"{used.llm_calls} model calls, {used.seconds:.1f} s."
            )
            operations = await services.store.proposals.operations(filled.proposal_id)
            headline("3. Every value has its quote, found in a page that was fetched")
            await print_evidence(services, table_id, operations)
            headline("4. Two firms share a name: the row's other columns distinguish them")
            await print_namesake(services, table_id, operations)
            headline("5. A cell whose value is not found stays empty, and says why")
            await print_empty(services, table_id, operations)
    headline("6. With a model, also what no page states literally (answers of a large language model, recorded)")
    with RecordedModel() as model:
        report["judged"], cells = await fill_judged_columns(folder / "judged", model.url)
    if not quiet:
        for title, cell in cells.items():
            views.print_cell(title, cell)
        async with Services.open(Settings(home=str(folder), search="sample")) as services:
            headline("7. The history knows who did what; a run is undone with one command")
            views.print_history((await services.table(table_id)).name, await services.store.log.changes(table_id, 50))
        output.print_note("Try it on a file of your own: tablewright enrich FILE.csv --field 'NAME:TYPE=QUESTION'")
    return report


async def fill_judged_columns(home: Path, model_url: str) -> tuple[dict[str, Any], dict[str, Cell]]:
    """Fill two columns that no page states literally. Return the report of the run, and the cells by row and column."""
    from importlib.resources import as_file, files

    from tablewright.domain.fieldspec import parse_field
    from tablewright.operations.files import import_table_file
    from tablewright.operations.fill import FillOptions, plan_fill
    from tablewright.sample.model import NAME
    from tablewright.services import Services
    from tablewright.settings import Settings

    settings = Settings(
        home=str(home),
        search="sample",
        model=f"openai:{NAME}",
        model_base_url=model_url,
        model_window=128_000,
        model_timeout=1800.0,
        concurrency=1,
        attempts=1,
    )
    async with Services.open(settings) as services:
        with as_file(files("tablewright.sample") / "companies.csv") as path:
            table = await services.load((await import_table_file(services, path)).table.id)
        names = {row.id: cell_text(row.cell(table.key_field)) for row in table.rows}
        rows = [row_id for row_id, name in names.items() if name in SHOWN]
        fields = [parse_field(text) for text in JUDGED]
        how = FillOptions(rows=tuple(rows), params={"rows_a_call": "1"})
        run = await plan_fill(services, table.id, fields, "pipeline", how=how)
        filled = await services.jobs.run(run)
        operations = await services.store.proposals.operations(filled.proposal_id)
        cells = {f"{names[each.row_id]} / {each.field}": each.cell for each in operations}
        from tablewright.operations.fill import load_fill_report

        return await load_fill_report(services, filled), cells


async def print_namesake(services: Services, table_id: str, operations: list[ProposedCell]) -> None:
    table = await services.table(table_id)
    rows = await services.rows_by_id(table_id, [operation.row_id for operation in operations])
    # Pages about the other firm may have been read for another column of the row.
    others: dict[RowId, list[str]] = {}
    for operation in operations:
        said = [step.detail for step in operation.steps if step.data.get("same_row") == "other"]
        others.setdefault(operation.row_id, []).extend(said)
    for operation in operations:
        if others[operation.row_id] and operation.cell.value is not None:
            row = rows[operation.row_id]
            views.print_cell(f"{cell_text(row.cell(table.key_field))} / {operation.field}", row.cell(operation.field))
            for line in dict.fromkeys(others[operation.row_id]):
                output.print_note(line)
            return


async def print_table(services: Services, table_id: str) -> None:
    table = await services.load(table_id)
    output.print_rows(table.name, table, table.rows)


async def print_evidence(services: Services, table_id: str, operations: list[ProposedCell]) -> None:
    """Print a cell on which two sources agree, one on which they disagree, and how many quotes are found again."""
    table = await services.table(table_id)
    rows = await services.rows_by_id(table_id, [operation.row_id for operation in operations])
    agreed = [each for each in operations if len(each.cell.evidence) > 1 and not each.cell.conflict]
    disputed = [each for each in operations if each.cell.conflict]
    for operation in (*agreed[:1], *disputed[:1]):
        row = rows[operation.row_id]
        views.print_cell(f"{cell_text(row.cell(table.key_field))} / {operation.field}", row.cell(operation.field))
    quotes = [evidence for operation in operations for evidence in operation.cell.evidence]
    found = 0
    for evidence in quotes:
        text = await services.stored_text(evidence.content_hash)
        stored = evidence.title if evidence.is_title else (text or "")[evidence.start : evidence.end]
        found += text is not None and evidence.quote in stored
    output.print_note(
        f"{found} of {len(quotes)} quotes are found, word for word, where the evidence says, in the stored pages."
    )


async def print_empty(services: Services, table_id: str, operations: list[ProposedCell]) -> None:
    table = await services.table(table_id)
    rows = await services.rows_by_id(table_id, [operation.row_id for operation in operations])
    empty: dict[tuple[str, str], list[str]] = {}
    for operation in operations:
        if operation.cell.value is None:
            name = cell_text(rows[operation.row_id].cell(table.key_field))
            why = f"{(operation.cell.reason or '').replace('_', ' ').capitalize()}. {operation.cell.error or ''}"
            empty.setdefault((name, why), []).append(operation.field)
    lines = [
        (f"{name}: {', '.join(columns)}", output.harmless_text(why, 400)) for (name, why), columns in empty.items()
    ]
    output.stdout().print(output.build_grid("", ["Empty", "Why, and where it was searched"], lines))
