"""`tablewright demo`: the whole path on a bundled file, in a folder of its own that is removed afterwards."""

from __future__ import annotations

import asyncio

from tablewright.doors.cli.root import Json, app


@app.command()
def demo(json: Json = False) -> None:
    """See it work: import, compute two columns, review, apply, look at the history, undo, export."""
    import tempfile
    from importlib.resources import as_file, files
    from pathlib import Path

    from tablewright.app import Tablewright
    from tablewright.doors.cli import output, views
    from tablewright.settings import Settings
    from tablewright.table.fieldspec import parse_field

    formulas = (
        "Total:number=round({Price} * {Quantity} * (1 - {Discount}), 2)",
        "Contact={First name} + ' ' + {Last name}",
    )

    def headline(text: str) -> None:
        if not json:
            output.stdout().print(f"\n[bold cyan]{text}[/]")

    async def work(folder: Path) -> dict[str, object]:
        async with Tablewright.open(Settings(home=str(folder))) as tablewright:
            with as_file(files("tablewright.sample") / "sales.csv") as path:
                imported = await tablewright.import_file(path)
            table_id = imported.table.id
            headline("1. A spreadsheet comes in")
            if not json:
                await print_table(tablewright, table_id)
            headline("2. Two columns are computed. Nothing is written yet: this is a proposal")
            run = await tablewright.plan_enrich(table_id, [parse_field(text) for text in formulas], "computation")
            filled = await run.run()
            proposal = await tablewright.proposal(filled.proposal_id)
            if not json:
                await views.print_proposal(
                    tablewright, proposal, await tablewright.operations(proposal.id, limit=8), steps=True
                )
            headline("3. It is accepted. What could not be computed is empty, with the reason")
            await tablewright.changes.apply(proposal.id)
            if not json:
                await print_table(tablewright, table_id)
            report = await tablewright.enrich_report(filled)
            headline("4. The history knows who did what; the run is undone and brought back")
            undone = await tablewright.changes.undo_run(table_id, filled.run_id)
            assert undone.change is not None
            await tablewright.changes.undo_change(table_id, undone.change.number)
            if not json:
                views.print_history(await tablewright.table(table_id), await tablewright.history(table_id))
            headline("5. The table goes out as CSV, Excel and Markdown")
            for name in ("sales.csv", "sales.xlsx", "sales.md"):
                await tablewright.export_file(table_id, folder / name, evidence=name == "sales.xlsx")
            if not json:
                output.stdout().print(
                    (folder / "sales.csv").read_text(encoding="utf-8"), markup=False, highlight=False, soft_wrap=True
                )
                output.say("Try it on a file of your own: tablewright enrich FILE.csv --field 'NAME:TYPE=FORMULA'")
            return report

    async def print_table(tablewright: Tablewright, table_id: str) -> None:
        table = await tablewright.load(table_id)
        output.print_rows(table.name, table, table.rows)

    with tempfile.TemporaryDirectory(prefix="tablewright-demo-") as folder:
        report = asyncio.run(work(Path(folder)))
    if json:
        output.print_json(report)
