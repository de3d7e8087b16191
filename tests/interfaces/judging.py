"""Proposals with a value that a model concluded from quotes, and with one that a rule converts from its quote."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tablewright.domain.fieldspec import parse_field
from tablewright.domain.files import FileOptions
from tablewright.domain.model import Evidence, Finding, Row
from tablewright.domain.retrieved import Retrieved
from tablewright.engine.fill import FillRun
from tablewright.engine.outcome import RunResult
from tablewright.engine.policy import FillPlan
from tablewright.extraction.reader import Candidate
from tablewright.operations.files import import_table_file
from tablewright.services import Services
from tablewright.strategies.findings import check_candidates, resolve_value
from tablewright.strategies.strategy import Answer, Strategy, Task, Tell, Tools

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


COUNTRY = "Country=In which country is {Company} at home?"
ABOUT = Retrieved(
    origin="https://acme.example/", domain="acme.example", title="Acme", text="Acme is a Danish maker of pumps."
)


class Converting(Strategy):
    """Answers every row with Denmark, as read from a page that says Danish."""

    name, display_name = "converting", "Converting"

    def prepare(self, task: Task, tools: Tools) -> Answer:
        async def answer(row: Row, tell: Tell) -> Sequence[Finding]:
            (field,) = task.fields
            read = Candidate(field=field.name, value="Denmark", source=0, start=0, end=32, score=0.9, how="model")
            found = resolve_value(field, check_candidates(field, [read], [ABOUT]))
            return [found] if found is not None else []

        return answer


async def judged_table(services: Services, folder: Path, name: str = "Judged") -> tuple[str, RunResult]:
    return await filled_table(services, folder, name, SEGMENT, Judging())


async def converted_table(services: Services, folder: Path, name: str = "Converted") -> tuple[str, RunResult]:
    return await filled_table(services, folder, name, COUNTRY, Converting())


async def filled_table(
    services: Services, folder: Path, name: str, asked: str, strategy: Strategy
) -> tuple[str, RunResult]:
    path = folder / "firms.csv"
    path.write_text("Company\nAcme\n", encoding="utf-8")
    table = (await import_table_file(services, path, FileOptions(name=name))).table
    filled = await FillRun(services.store, FillPlan(table, [parse_field(asked)], strategy)).run()
    return table.id, filled
