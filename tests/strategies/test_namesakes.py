"""Two firms of the sample world have one name. Which of them a row is about is told by its other columns, whichever of
these it has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from tablewright.domain.fieldspec import parse_field
from tablewright.domain.model import Cell
from tablewright.operations.files import import_table_file
from tablewright.operations.fill import plan_fill
from tablewright.services import Services
from tablewright.settings import Settings

ROW = {
    "Country": "United States",
    "Industry": "Musical instruments",
    "Town": "Greyhaven",
    "Website": "http://www.marlowguitars.example",
}
NAMESAKE = {
    "Country": "United Kingdom",
    "Industry": "Laboratory balances",
    "Town": "Thornbeck",
    "Website": "http://www.marlowinstruments.example",
}
ASKED = {
    "Founded": "Founded:number=What year was {Company} founded?",
    "CEO": "CEO=Who is the chief executive of {Company}?",
    "Employees": "Employees:number=How many people work at {Company}?",
    "Headquarters": "Headquarters=In which city is {Company} headquartered?",
}
TRUE = {"Founded": 1978, "CEO": "Dolores Quintrell", "Employees": 64, "Headquarters": "Greyhaven"}
OTHER = {"Founded": 1921, "CEO": "Geoffrey Ames-Holt", "Employees": 180, "Headquarters": "Thornbeck"}


async def filled(folder: Path, rows: Sequence[Mapping[str, str]]) -> list[dict[str, Cell]]:
    """The cells of each row, in a table of its own that has just its columns."""
    fields = [parse_field(asked) for asked in ASKED.values()]
    cells = []
    async with Services.open(Settings(home=str(folder), search="sample")) as services:
        for number, row in enumerate(rows):
            table = folder / f"{number}.csv"
            table.write_text(f"{','.join(['Company', *row])}\n{','.join(['Marlow Instruments', *row.values()])}\n")
            imported = await import_table_file(services, table)
            run = await plan_fill(services, imported.table.id, fields, "pipeline")
            operations = await services.store.proposals.operations((await run.run()).proposal_id)
            cells.append({operation.field: operation.cell for operation in operations})
    return cells


def values(cells: Mapping[str, Cell]) -> dict[str, Any]:
    return {name: cell.value for name, cell in cells.items() if cell.value is not None}


async def test_any_columns_tell_which_of_two_firms_of_one_name_is_meant(tmp_path: Path) -> None:
    combined = [columns for many in range(1, len(ROW) + 1) for columns in combinations(ROW, many)]
    found = await filled(tmp_path, [{column: ROW[column] for column in columns} for columns in combined])
    assert {columns: values(cells) for columns, cells in zip(combined, found, strict=True)} == dict.fromkeys(
        combined, TRUE
    )


async def test_the_same_columns_tell_the_other_firm_apart(tmp_path: Path) -> None:
    found = await filled(tmp_path, [{column: value} for column, value in NAMESAKE.items()])
    for cells in map(values, found):
        assert cells == {name: OTHER[name] for name in cells}
        assert len(cells) >= 3


async def test_where_only_the_name_is_given_nothing_is_called_sure(tmp_path: Path) -> None:
    (cells,) = await filled(tmp_path, [{}])
    for name, cell in cells.items():
        assert cell.value in (None, TRUE[name], OTHER[name])
        assert cell.confidence_label != "high"
