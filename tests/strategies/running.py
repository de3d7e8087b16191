"""A run over a small table, from the file to the proposal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tablewright.domain.fieldspec import parse_field
from tablewright.domain.model import Cell
from tablewright.domain.proposal import ProposedCell
from tablewright.operations.files import import_table_file
from tablewright.operations.fill import FillOptions, plan_fill
from tablewright.services import Services
from tablewright.settings import Settings


async def fill(
    settings: Settings, folder: Path, table: str, *fields: str, strategy: str = "pipeline", **params: str
) -> tuple[dict[str, Cell], list[ProposedCell], Any]:
    """The cells of the first row by field, the operations of all rows, the usage. What could not be asked has none."""
    (folder / "table.csv").write_text(table, encoding="utf-8")
    async with Services.open(settings) as services:
        imported = await import_table_file(services, folder / "table.csv")
        asked = [parse_field(text) for text in fields]
        run = await plan_fill(services, imported.table.id, asked, strategy, how=FillOptions(params=params or {}))
        filled = await run.run()
        operations = await services.store.proposals.operations(filled.proposal_id)
        first = min((operation.row_id for operation in operations), default=0)
        return (
            {operation.field: operation.cell for operation in operations if operation.row_id == first},
            operations,
            filled.usage,
        )


def notes(operation: ProposedCell, kind: str) -> list[str]:
    return [step.detail for step in operation.steps if step.type == kind]
