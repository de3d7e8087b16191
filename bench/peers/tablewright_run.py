"""Ours: import, plan and run as a user does, with a small strategy of the bench that asks one question a row."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from pydantic import BaseModel
from task import QUESTION, Job, Measured

from tablewright.citations.evidence import find_proving_rule
from tablewright.citations.quotes import cite_span, locate_quote
from tablewright.domain.fieldspec import parse_field
from tablewright.domain.model import Finding, Row, Step
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.text import cell_text
from tablewright.operations.files import import_table_file
from tablewright.operations.fill import FillOptions, plan_fill
from tablewright.services import Services
from tablewright.settings import Settings
from tablewright.strategies.strategy import Answer, Need, Strategy, Task, Tell, Tools

INSTRUCTIONS = "Answer the question from the text alone. Quote the words of the text that the answer stands in."


class Founded(BaseModel):
    value: str
    quote: str


def prompt(question: str, text: str) -> str:
    return f"Question: {question}\n\nText:\n{text}"


class FromText(Strategy):
    """One question to the model a row, about the text in the row; the evidence rule holds as everywhere."""

    name, display_name = "bench-from-text", "From the row's text"

    def needs(self, task: Task) -> Collection[Need]:
        return ("model",)

    def columns(self, task: Task) -> Collection[str]:
        return ("Company", "About")

    def prepare(self, task: Task, tools: Tools) -> Answer:
        (field,), model = task.fields, tools.model
        assert model is not None

        async def answer(row: Row, tell: Tell) -> Sequence[Finding]:
            source = Retrieved(origin=f"row:{row.id}", text=cell_text(row.cell("About")), kind="document")
            tell(Step(type="fetch", detail="the row's text"))
            said = await model.ask(
                instructions=INSTRUCTIONS, prompt=prompt(task.question(field, row), source.text), output=Founded
            )
            place = locate_quote(said.quote, source.text)
            if place is None or not find_proving_rule(said.value, source.text[slice(*place)], field):
                return [Finding(field=field.name, reason="not_found", error="the quote does not say so")]
            return [Finding(field=field.name, value=said.value, confidence=0.9, evidence=(cite_span(source, *place),))]

        return answer


def settings_for(job: Job) -> Settings:
    return Settings(
        home=str(job.folder / "home"), model="openai:bench", model_base_url=f"{job.base_url}/v1", model_api_key="x"
    )


def install_strategy(folder: Path) -> None:
    """As a package of its own would: an entry point, found on the path."""
    package = folder / "bench_from_text-0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: bench-from-text\nVersion: 0\n")
    (package / "entry_points.txt").write_text(f"[tablewright.strategies]\n{FromText.name} = {__name__}:FromText\n")
    sys.path.append(str(folder))


async def main(job: Job) -> None:
    install_strategy(job.folder)
    measured = Measured()
    async with Services.open(settings_for(job)) as services:
        for file in job.files():
            table = (await import_table_file(services, file)).table
            field = parse_field(f"Founded:number={QUESTION}")
            fill = await plan_fill(
                services, table.id, [field], FromText.name, how=FillOptions(concurrency=job.concurrency)
            )
            gc.collect()
            gc.freeze()  # as the command line does
            with measured.timed():
                filled = await fill.run()
        operations = await services.store.proposals.operations(filled.proposal_id, limit=job.rows + 1)
        names = {row.id: cell_text(row.cell("Company")) for row in await services.page(table.id, limit=job.rows)}
    measured.report(job, {names[one.row_id]: one.cell.value for one in operations if one.cell.evidence})


if __name__ == "__main__":
    asyncio.run(main(Job.from_arguments()))
