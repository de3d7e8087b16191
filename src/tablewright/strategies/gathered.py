"""Gathered: a row answered from pages that are already there. It searches nothing and opens nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

from tablewright.extraction.about import Subject
from tablewright.strategies.notebook import Notebook
from tablewright.strategies.strategy import Answer, Strategy, Task, Tell
from tablewright.strategies.subject import one_line, web_of
from tablewright.strategies.tools import Need, Tools
from tablewright.table.model import Finding, Noun, Row, RowId, Step
from tablewright.table.retrieved import Retrieved
from tablewright.table.text import cell_text


class Lead(Noun, frozen=True):
    """What was gathered for a row: pages, and how they were found."""

    pages: tuple[Retrieved, ...] = ()
    steps: tuple[Step, ...] = ()


Leads: TypeAlias = Mapping[RowId, Lead]


class Gathered(Strategy):
    name = "gathered"
    display_name = "Pages at hand"
    concurrency = 4

    def __init__(self, leads: Leads) -> None:
        self._leads = leads

    def needs(self, task: Task) -> Collection[Need]:
        return ("web", "model")

    def prepare(self, task: Task, tools: Tools) -> Answer:
        web = web_of(tools)

        async def answer(row: Row, tell: Tell) -> Sequence[Finding]:
            lead = self._leads.get(row.id, Lead())
            for step in lead.steps:
                tell(step)
            fields = tuple(field for field in task.fields if row.cell(field.name).needs_work)
            column = task.table.key_field
            notebook = Notebook(
                Subject(name=one_line(cell_text(row.cell(column))), column=column), fields, tools, web, tell
            )
            notebook.take_over(lead.pages)
            if fields:
                await notebook.read(fields, lead.pages)
            return [await notebook.finding(field) for field in fields]

        return answer
