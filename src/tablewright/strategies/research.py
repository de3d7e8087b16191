"""The `research` strategy: answer one question at a time by searching, reading, searching again and comparing.

Exploratory stops at the first good answer. Comprehensive uses several queries, compares pages of different sites, and
rates at the end how well the question is covered.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from tablewright.domain.model import Field, Finding
from tablewright.llm.tasks.answer_with_tools import COMPREHENSIVE_INSTRUCTIONS, EXPLORATORY_INSTRUCTIONS
from tablewright.llm.tasks.judge_values import WEAK_CONFIDENCE
from tablewright.messages.catalogue import PageText
from tablewright.strategies.effort import Expected
from tablewright.strategies.exploration import Exploration, ExplorationLimits
from tablewright.strategies.investigation import SURE_SCORE, RowInvestigation
from tablewright.strategies.row_answers import PerFieldAnswers
from tablewright.strategies.strategy import Answer, Feedback, Need, Parameter, Strategy, Task, Tools

if TYPE_CHECKING:
    from tablewright.llm.model import LanguageModel
    from tablewright.strategies.agent import Explorer

THOROUGH = "comprehensive"
INSTRUCTIONS = {"exploratory": EXPLORATORY_INSTRUCTIONS, THOROUGH: COMPREHENSIVE_INSTRUCTIONS}
# Comprehensive compares three pages of three queries before it answers; with more texts to quote, its answers are
# longer.
LIMITS = {
    "exploratory": ExplorationLimits(steps=5, searches=3, pages=3, approaches=2, cross=1, turns=7),
    THOROUGH: ExplorationLimits(steps=12, searches=6, pages=6, approaches=3, angles=3, cross=3, turns=12, tokens=2048),
}


class ResearchStrategy(Strategy):
    name = "research"
    display_name: PageText[str] = "Deep Research"
    summary: PageText[str] = "Searches step by step until a row is answered. Thorough and expensive."
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
            help="searches and pages a cell in each attempt, at most; 5, or 12 if comprehensive",
            least=1,
            most=15,
        ),
    )

    def needs(self, task: Task) -> Collection[Need]:
        return ("web", "model")

    def calls_at_once(self, task: Task) -> int:
        # Each of its rows keeps the model and the search busy for long.
        return 2 if task.params["thoroughness"] == THOROUGH else self.concurrency

    def expected(self, task: Task, tools: Tools) -> Expected:
        from tablewright.strategies import estimates

        depth = task.params["thoroughness"]
        return estimates.estimate_research_path(task, tools, depth, INSTRUCTIONS[depth])

    def prepare(self, task: Task, tools: Tools) -> Answer:
        return ResearchAnswers(task, tools)


class ResearchAnswers(PerFieldAnswers):
    def __init__(self, task: Task, tools: Tools) -> None:
        super().__init__(task, tools)
        self._is_thorough = task.params["thoroughness"] == THOROUGH
        self._limits = make_exploration_limits(task)
        self.least_queries = self._limits.angles
        self._explorer = make_explorer(tools.model, INSTRUCTIONS[task.params["thoroughness"]])

    async def answer_field(
        self, field: Field, investigation: RowInvestigation, queries: Sequence[str], feedback: Feedback
    ) -> Finding:
        explorer, cascade = self._explorer, self.tools.cascade
        if queries:
            await investigation.search(queries[0])
        if explorer is None or cascade:
            await explore_without_model(investigation, field, queries, self._limits)
        if explorer is not None and not (cascade and investigation.score(field) >= SURE_SCORE):
            exploration = Exploration(investigation, field, queries[1:], self._limits, feedback.avoid_queries)
            problem = await explorer.explore(exploration)
            if problem and not investigation.has(field) and not investigation.over_budget:
                # The model cannot be asked.
                if investigation.is_degraded(field):
                    await explore_without_model(investigation, field, queries, self._limits)
                else:
                    # It ran out of turns.
                    await investigation.read((field,), tuple(investigation.pages.values()))
        if explorer is None and not investigation.has(field):
            await investigation.read((field,), investigation.snippets())
        finding = await investigation.finding(field)
        if self._is_thorough:
            coverage = await investigation.rate([finding], ask=True)
            if coverage.rating == "low" and finding.value is not None:
                said = " ".join(filter(None, (finding.error, "It was judged to answer the question hardly or not.")))
                sure = min(finding.confidence, WEAK_CONFIDENCE)
                finding = msgspec.structs.replace(finding, confidence=sure, error=said)
        return finding


def make_exploration_limits(task: Task) -> ExplorationLimits:
    """Return the limits of the chosen thoroughness; `max_steps` replaces its limits of searches and pages."""
    limits = LIMITS[task.params["thoroughness"]]
    if not (steps := int(task.params.get("max_steps", 0))):
        return limits
    # Two turns more than steps: one for the answer, one for an answer that is sent back.
    return replace(limits, steps=steps, searches=steps, pages=steps, turns=steps + 2)


def make_explorer(model: LanguageModel | None, instructions: str) -> Explorer | None:
    """Return the agent, or None without a model, which saves an import of a second and a half."""
    if model is None:
        return None
    from tablewright.strategies.agent import Explorer

    return Explorer(model, instructions)


async def explore_without_model(
    investigation: RowInvestigation, field: Field, queries: Sequence[str], limits: ExplorationLimits
) -> None:
    """Research without a model: read the likeliest pages of each query until the field is found, and compared if the
    limits require it."""
    # One step is kept, so that the last search can still be followed by a page.
    last_step, last_page = investigation.steps + limits.steps - 1, investigation.opened + limits.pages
    for query in queries:
        if investigation.steps >= last_step or _is_done(investigation, field, limits):
            return
        if query not in investigation.queries:
            await investigation.search(query)
        # The likeliest two pages of each query: without a model to choose, the next ones may be about something else.
        room = min(2, last_step - investigation.steps, last_page - investigation.opened)
        pages = await investigation.open(investigation.likely((field,), max(0, room)))
        await investigation.read((field,), pages, ask=False)


def _is_done(investigation: RowInvestigation, field: Field, limits: ExplorationLimits) -> bool:
    asked = len(investigation.queries) >= limits.angles and len(investigation.pages) >= limits.cross
    return investigation.has(field) and asked
