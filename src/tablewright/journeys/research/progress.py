"""One piece of research under way: what it has come to, what it may still spend, and what it tells."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import msgspec

from tablewright.decisions.reflect import Reflection
from tablewright.domain.model import Step
from tablewright.domain.research import (
    Brief,
    Gap,
    Memo,
    Note,
    Research,
    ResearchEvent,
    ResearchTask,
    Round,
    SourceNote,
    Stage,
    TaskKind,
)
from tablewright.domain.text import count_noun, plural
from tablewright.errors import RunError
from tablewright.journeys.research.library import Library
from tablewright.journeys.research.limits import ResearchLimits
from tablewright.journeys.research.memo import build_memo
from tablewright.store.store import Store
from tablewright.strategies.tools import Tools

Watch: TypeAlias = Callable[[ResearchEvent], None]


class ResearchProgress:
    def __init__(
        self, store: Store, tools: Tools, limits: ResearchLimits, research: Research, *, actor: str, watch: Watch
    ) -> None:
        self.store = store
        self.tools = tools
        self.limits = limits
        self.research = research
        self.actor = actor
        self.watch = watch
        self.round = 0
        self.kind: TaskKind | None = None
        self.library = Library(tools, research.brief, limits, searched=self._searched, tell=self.note)

    @property
    def brief(self) -> Brief:
        return self.research.brief

    @property
    def results(self) -> list[Note]:
        return [result for each in self.research.rounds for result in each.notes]

    @property
    def notes(self) -> list[SourceNote]:
        return [note for each in self.research.rounds for note in each.source_notes]

    @property
    def memo(self) -> Memo | None:
        """Of the last whole round."""
        return self.research.rounds[-1].memo if self.research.rounds else None

    @property
    def queries(self) -> list[str]:
        """All that was searched for."""
        return [task.search_query for each in self.research.rounds for task in each.tasks]

    @property
    def searches_left(self) -> int:
        return max(0, self.research.max_tasks - len(self.queries))

    def add(self, done: Round) -> None:
        self.research = msgspec.structs.replace(self.research, rounds=(*self.research.rounds, done))

    async def search(self, tasks: Sequence[ResearchTask]) -> list[Note]:
        """Raises where every search failed, or nothing that was found could be opened: that is not "not found"."""
        self.tell("round", detail=f"{count_noun(len(tasks), 'search')}", total=len(tasks))
        results = await self.library.search_for(tasks)
        if self.limits.spent or not tasks or tasks[0].kind == "verify":
            return results
        errors = [result.error for result in results if result.error]
        if len(errors) == len(tasks):
            raise RunError(f"Every search of round {self.round} failed: {errors[0]}", **self.kept())
        refused = [source for result in results for source in result.sources if source.status != "read"]
        if refused and not self.library.pages:
            raise RunError(
                f"{count_noun(len(refused), 'page')} were found and none could be read: "
                f"{refused[0].url}: {refused[0].detail or refused[0].status}.",
                **self.kept(),
            )
        return results

    def new_memo(self, reflection: Reflection, notes: Sequence[SourceNote], searches: int) -> Memo:
        """After a round that brought `notes` with so many searches."""
        completed = self.research.max_tasks - self.searches_left + searches
        memo = build_memo(
            self.brief,
            self.round,
            reflection,
            [*self.notes, *notes],
            self.library.pages,
            tasks_completed=completed,
            tasks_remaining=max(0, self.research.max_tasks - completed),
        )
        if self.memo is None:
            return memo
        return msgspec.structs.replace(
            memo,
            target_items=self.memo.target_items,
            candidates=self.memo.candidates,
            required_fields=self.memo.required_fields,
        )

    def kept(self) -> dict[str, str]:
        """What a failure says of what was kept, and what to do next."""
        rounds = len(self.research.rounds)
        kept = f"{rounds} whole {plural('round', rounds)}" if rounds else "The plan"
        return {
            "kept": f"{kept} and everything bought are kept.",
            "advice": f"`tablewright research --resume {self.research.id}` continues from there.",
        }

    # ── telling ──────────────────────────────────────────────────────────────────────────────────────────────────────

    def tell(
        self,
        stage: Stage,
        *,
        detail: str = "",
        done: int = 0,
        total: int = 0,
        gaps: tuple[Gap, ...] = (),
        closed: tuple[str, ...] = (),
    ) -> None:
        self.watch(
            ResearchEvent(
                stage=stage,
                round_index=self.round,
                kind=self.kind,
                detail=detail,
                done=done,
                total=total,
                gaps=gaps,
                closed=closed,
            )
        )

    def note(self, step: Step) -> None:
        self.tell("reading", detail=step.detail)

    def _searched(self, task: ResearchTask) -> None:
        self.tell("task", detail=task.search_query)
