"""Deep research: a plan, a run, a report, and questions to it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from tablewright.application.base import AnyPath, Application
from tablewright.domain.model import Step
from tablewright.domain.research import (
    AnsweredFollowUp,
    Brief,
    Research,
    ResearchEstimate,
    ResearchEvent,
    ResearchRequest,
)
from tablewright.domain.run import Run
from tablewright.domain.wording import within_bounds
from tablewright.errors import NotFound
from tablewright.policies import research_extent, terms_of

if TYPE_CHECKING:
    from tablewright.journeys.research.research import Researcher


class ResearchVerbs(Application):
    async def plan_research(
        self,
        request: ResearchRequest,
        *,
        max_tasks: int | None = None,
        before: Brief | None = None,
        change: str = "",
    ) -> Brief:
        """What a question asks for, as a plan that its user can still change in words; nothing is searched or kept."""
        researcher = await self._researcher()
        request = msgspec.structs.replace(request, question=within_bounds(request.question))
        async with self.spending():
            return await researcher.brief(request, max_tasks=max_tasks, before=before, change=change)

    async def estimate_research(self, brief: Brief, *, max_tasks: int | None = None) -> ResearchEstimate:
        from tablewright.journeys.research.research import estimate_research

        extent = research_extent(self.settings)
        return estimate_research(brief, await self.open_tools(("web", "model")), max_tasks or extent.searches, extent)

    async def begin_research(
        self, asked: ResearchRequest | str, *, brief: Brief | None = None, max_tasks: int | None = None
    ) -> Research:
        """Planned, with a table of its own; `run_research` does it. `brief` is a plan that was made before."""
        request = ResearchRequest(question=asked) if isinstance(asked, str) else asked
        if brief is None:
            brief = await self.plan_research(request, max_tasks=max_tasks)
        researcher = await self._researcher()
        async with self.spending():
            return await researcher.begin(brief, max_tasks=max_tasks)

    async def run_research(
        self, research_id: str, *, minutes: float | None = None, watch: Callable[[ResearchEvent], None] = lambda _: None
    ) -> Research:
        """To the end, or on from where it was cut off; what a finished one came to is returned as it is."""
        research = await self.store.researches.get(research_id)
        found: Research = await self.jobs.perform("research", research.table_id, run_of(research, minutes), watch)
        return found

    async def start_research(self, research_id: str, *, minutes: float | None = None) -> str:
        """As `run_research`, but does not wait for it; the id of its run."""
        research = await self.store.researches.get(research_id)
        return await self.jobs.begin("research", research.table_id, run_of(research, minutes))

    async def refine_research(
        self, research_id: str, question: str, *, tell: Callable[[Step], None] = lambda _: None
    ) -> AnsweredFollowUp:
        """A follow-up question: from what is stored or, where that does not say, from a search."""
        from tablewright.journeys.research.refine import refine

        research = await self.store.researches.get(research_id)
        tools = await self.open_tools(("web", "model"))
        async with self.spending():
            return await refine(self.store, tools, research, within_bounds(question), tell)

    async def research(self, research_id: str) -> Research:
        return await self.store.researches.get(research_id)

    async def researches(self) -> list[Research]:
        """Without their rounds, the newest first."""
        return await self.store.researches.all()

    async def research_run(self, research: Research) -> Run | None:
        """The newest run that worked on it; None where it was done without one, or its table is gone."""
        try:
            runs = await self.jobs.all(research.table_id)
        except NotFound:
            return None
        return next((run for run in runs if run.spec.get("research") == research.id), None)

    async def research_report(self, research_id: str) -> dict[str, Any]:
        """All of it as one JSON document."""
        from tablewright.journeys.research.report import research_report

        return research_report(await self.research(research_id))

    async def write_report(self, research_id: str, path: AnyPath) -> None:
        """As .md, .html, .docx, .pdf or .json."""
        from tablewright.journeys.research.report import write_report

        path = Path(path)
        await write_report(await self.research(research_id), path)
        await self.store.audit.note("export", f"research {research_id}", f"its report as {path.suffix}")

    async def remove_research(self, research_id: str) -> None:
        """Its table stays."""
        await self.store.researches.remove(research_id)

    async def _researcher(
        self, *, minutes: float | None = None, watch: Callable[[ResearchEvent], None] = lambda _: None
    ) -> Researcher:
        from tablewright.journeys.research.research import Researcher

        return Researcher(
            self.store,
            await self.open_tools(("web", "model")),
            actor=self.actor,
            minutes=minutes,
            extent=research_extent(self.settings),
            terms=terms_of(self.settings),
            watch=watch,
        )


def run_of(research: Research, minutes: float | None) -> dict[str, Any]:
    """Return the request of a run that does this research."""
    return {"research": research.id, "minutes": minutes, "question": research.brief.question}
