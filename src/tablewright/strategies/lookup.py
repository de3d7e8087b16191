"""Lookup: a fact from search results alone. At most two searches, no page is opened; the snippet is the source."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tablewright.decisions.answer_from_snippets import FromSnippets
from tablewright.decisions.answer_with_tools import LOOKUP
from tablewright.strategies import expected
from tablewright.strategies.exploration import Exploration, Limits
from tablewright.strategies.notebook import SURE_ENOUGH, Notebook
from tablewright.strategies.questions import explorer_with, one_by_one
from tablewright.strategies.strategy import Answer, Expected, Strategy, Task
from tablewright.strategies.subject import web_of
from tablewright.strategies.tools import Need, Tools
from tablewright.table.model import Field, Finding

LIMITS = Limits(steps=2, searches=2, pages=0, approaches=2, turns=3)


class LookupStrategy(Strategy):
    name = "lookup"
    display_name = "Quick Lookup"
    max_steps = 2
    concurrency = 3

    def needs(self, task: Task) -> Collection[Need]:
        return ("web", "model")

    def expected(self, task: Task, tools: Tools) -> Expected:
        return expected.one_by_one(task, tools, "lookup", LOOKUP, opens_pages=False)

    def prepare(self, task: Task, tools: Tools) -> Answer:
        web = web_of(tools)
        explorer = explorer_with(tools.model, LOOKUP, opens_pages=False)

        async def look_up(field: Field, notebook: Notebook, queries: Sequence[str]) -> Finding:
            await read_snippets(notebook, field, queries[0])
            sure = notebook.score(field) >= SURE_ENOUGH
            asked = False
            if explorer and notebook.likely((field,), 1) and not (tools.cascade and sure):
                asked = await explorer.explore(Exploration(notebook, field, queries[1:], LIMITS))
                await notebook.read(FromSnippets(), (field,), notebook.snippets(), ask=False)
            if not asked and not notebook.has(field) and len(notebook.queries) < LIMITS.searches and queries[1:]:
                await read_snippets(notebook, field, queries[1])
            return await notebook.finding(field)

        return one_by_one(task, tools, web, look_up)


async def read_snippets(notebook: Notebook, field: Field, query: str) -> None:
    await notebook.search(query)
    await notebook.read(FromSnippets(), (field,), notebook.snippets(), ask=False)
