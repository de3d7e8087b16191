"""A proposal with a value that a model concluded from quotes, as a strategy returns one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tablewright.app import FileOptions, Fill, Filled, Tablewright
from tablewright.strategies.strategy import Answer, Strategy, Task, Tell
from tablewright.strategies.tools import Tools
from tablewright.table.fieldspec import parse_field
from tablewright.table.model import Evidence, Finding, Row

SEGMENT = "Segment:select(B2B, B2C)=Whom does {Company} sell to?"
QUOTES = (
    Evidence(
        origin="https://acme.example/trade",
        title="Acme for the trade",
        domain="acme.example",
        quote="Our pumps are delivered to breweries and dairies.",
    ),
    Evidence(
        origin="https://press.example/acme",
        title="Acme wins a contract",
        domain="press.example",
        quote="Acme supplies the food industry.",
    ),
)


class Judging(Strategy):
    """Answers every row with the same judged value."""

    name, display_name = "judging", "Judging"

    def prepare(self, task: Task, tools: Tools) -> Answer:
        async def answer(row: Row, tell: Tell) -> Sequence[Finding]:
            return [
                Finding(field=field.name, value="B2B", confidence=0.7, basis="judged", evidence=QUOTES)
                for field in task.fields
            ]

        return answer


async def judged_table(tablewright: Tablewright, folder: Path, name: str = "Judged") -> tuple[str, Filled]:
    path = folder / "firms.csv"
    path.write_text("Company\nAcme\n", encoding="utf-8")
    table = (await tablewright.import_file(path, FileOptions(name=name))).table
    filled = await Fill(tablewright._store, table, [parse_field(SEGMENT)], Judging()).run()
    return table.id, filled
