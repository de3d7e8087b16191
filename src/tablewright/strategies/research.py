"""Research: one question at a time, on its own path: search, read pages, search again, compare, answer.

Exploratory stops at the first good answer. Comprehensive asks from several angles, compares pages of different sites,
and in the end rates how well the question is covered.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from tablewright.decisions.answer_from_snippets import FromSnippets
from tablewright.decisions.answer_with_tools import COMPREHENSIVE, EXPLORATORY
from tablewright.decisions.extract import ExtractFields
from tablewright.strategies import expected
from tablewright.strategies.exploration import Exploration, Limits
from tablewright.strategies.notebook import SURE_ENOUGH, Notebook
from tablewright.strategies.questions import explorer_with, one_by_one
from tablewright.strategies.strategy import Answer, Expected, Parameter, Strategy, Task
from tablewright.strategies.subject import web_of
from tablewright.strategies.tools import Need, Tools
from tablewright.table.model import Field, Finding

THOROUGH = "comprehensive"
INSTRUCTIONS = {"exploratory": EXPLORATORY, THOROUGH: COMPREHENSIVE}
LIMITS = {
    "exploratory": Limits(steps=5, searches=3, pages=3, approaches=2, cross=1, turns=6),
    THOROUGH: Limits(steps=12, searches=6, pages=6, approaches=3, angles=3, cross=3, turns=9, tokens=600),
}
PAGES_A_SEARCH = 2


class ResearchStrategy(Strategy):
    name = "research"
    display_name = "Deep Research"
    max_steps = 5
    concurrency = 3
    parameters = (
        Parameter(
            name="thoroughness",
            help="exploratory stops at the first good answer; comprehensive compares several sources",
            default="exploratory",
            choices=tuple(LIMITS),
        ),
        Parameter(
            name="max_steps",
            help="searches and pages a cell, at most; 5, or 12 if comprehensive",
            least=1,
            most=15,
        ),
    )

    def needs(self, task: Task) -> Collection[Need]:
        return ("web", "model")

    def rows_at_once(self, task: Task) -> int:
        return 2 if task.params["thoroughness"] == THOROUGH else self.concurrency

    def expected(self, task: Task, tools: Tools) -> Expected:
        depth = task.params["thoroughness"]
        return expected.one_by_one(task, tools, depth, INSTRUCTIONS[depth], opens_pages=True)

    def prepare(self, task: Task, tools: Tools) -> Answer:
        web = web_of(tools)
        thoroughness = task.params["thoroughness"]
        limits = LIMITS[thoroughness]
        if steps := task.params.get("max_steps"):
            limits = replace(limits, steps=int(steps))
        explorer = explorer_with(tools.model, INSTRUCTIONS[thoroughness], opens_pages=True)

        async def research(field: Field, notebook: Notebook, queries: Sequence[str]) -> Finding:
            await notebook.search(queries[0])
            if explorer is None or tools.cascade:
                await explore(notebook, field, queries, limits)
            if explorer and not (tools.cascade and notebook.score(field) >= SURE_ENOUGH):
                to_read = notebook.likely((field,), 1) or notebook.pages or not notebook.hits
                if not to_read or not await explorer.explore(Exploration(notebook, field, queries[1:], limits)):
                    await explore(notebook, field, queries, limits)
            if not notebook.has(field):
                await notebook.read(FromSnippets(), (field,), notebook.snippets(), ask=False)
            notebook.leave_out_namesakes()
            finding = await notebook.finding(field)
            if thoroughness == THOROUGH:
                await notebook.rate([finding], ask=True)
            return finding

        return one_by_one(task, tools, web, research)


async def explore(notebook: Notebook, field: Field, queries: Sequence[str], limits: Limits) -> None:
    """The path without a model: from each angle the likeliest pages, until it is found, and compared if asked for."""
    for query in queries:
        if notebook.steps >= limits.steps or _is_done(notebook, field, limits):
            return
        if query not in notebook.queries:
            await notebook.search(query)
        room = min(PAGES_A_SEARCH, limits.steps - notebook.steps, limits.pages - notebook.opened)
        pages = await notebook.open(notebook.likely((field,), max(0, room)))
        await notebook.read(ExtractFields(), (field,), pages, ask=False)


def _is_done(notebook: Notebook, field: Field, limits: Limits) -> bool:
    asked = len(notebook.queries) >= limits.angles and len(notebook.pages) >= limits.cross
    return notebook.has(field) and asked
