"""Discovery and gap-filling: searching, reading, and reflecting on what the notes answer and leave open."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tablewright.decisions.decision import decide
from tablewright.decisions.reflect import Reflect, Reflection, RoundToReflect, site_of
from tablewright.domain.research import (
    MOST_CANDIDATES,
    Angle,
    Brief,
    CatalogCandidate,
    Contradiction,
    Gap,
    Memo,
    ResearchTask,
    Round,
    SourceNote,
)
from tablewright.domain.text import count_noun, new_queries, normalize_whitespace
from tablewright.errors import ModelError, RunError
from tablewright.journeys.research.catalog import Catalog, CatalogFound, candidates
from tablewright.journeys.research.library import failures
from tablewright.journeys.research.memo import GAPS_SHOWN, carried_over, written
from tablewright.journeys.research.notes import numbered, read_pages
from tablewright.journeys.research.progress import ResearchProgress

URGENT, LOWEST = 1, 3
"""Priorities of gaps: without which there is no answer, and of any."""


class ResearchGatherer:
    def __init__(self, underway: ResearchProgress, catalog: Catalog | None) -> None:
        """`catalog` is the table of a list of things."""
        self._underway = underway
        self._catalog = catalog
        self._extent = underway.limits.extent
        self._words = underway.limits.words

    async def discover(self) -> Round:
        if self._catalog is not None:
            return await self._list_things(self._catalog)
        brief, left = self._underway.brief, self._underway.searches_left
        queries = brief.queries or (brief.question,)
        tasks = [
            ResearchTask(id=f"r1_{number}", kind="discover", search_query=query)
            for number, query in enumerate(queries[: min(self._extent.first_searches, left)], start=1)
        ]
        return await self._search_and_reflect(tasks, {})

    async def _list_things(self, catalog: Catalog) -> Round:
        """The things are found and filled as a table; what is known of them is the notes of this round."""
        underway, brief = self._underway, self._underway.brief
        underway.tell("round", detail=brief.things or brief.question)
        found = await catalog.find(underway.research.table_id, underway.limits)
        await underway.library.reopen(underway.store, [found.result])
        notes, different = found.notes_beside(())
        shown = candidates(found.table, brief)
        reflection = await self._reflect(notes, found.tasks, shown, different)
        failed = found.rows.failed_queries.items()
        remarks = [self._words("The search for “{query}” failed: {why}", query=query, why=why) for query, why in failed]
        return Round(
            index=1,
            tasks=found.tasks,
            notes=(found.result,),
            memo=self._catalog_memo(underway.new_memo(reflection, notes, len(found.tasks)), shown),
            source_notes=notes,
            remarks=(*([found.rows.said] if found.rows.said else []), *remarks),
            stopped=underway.limits.spent,
        )

    async def fill_gaps(self) -> Round:
        """A search for each gap that has one, the most important first; once that was done, only for gaps without which
        the question cannot be answered."""
        underway = self._underway
        before = underway.research.rounds[-1]
        lowest = URGENT if before.kind == "fill" else LOWEST
        gaps = to_search(before.memo.gaps, underway.queries, lowest)
        tasks = [
            ResearchTask(
                id=f"r{underway.round}_{number}",
                kind="fill",
                search_query=gap.suggested_query,
                target_gap=gap.description,
            )
            for number, gap in enumerate(gaps[: self._searches_for_gaps()], start=1)
        ]
        if tasks:
            return await self._search_and_reflect(tasks, {task.id: gap for task, gap in zip(tasks, gaps, strict=False)})
        return Round(
            index=underway.round,
            tasks=(),
            notes=(),
            memo=msgspec.structs.replace(before.memo, round_index=underway.round),
            ended=self._ended(before.memo, (), lowest),
        )

    def _searches_for_gaps(self, made: int = 0) -> int:
        """That are left beside those kept for claims, after a round that has made so many."""
        left = self._underway.searches_left - made - self._extent.kept_searches
        return max(left, 0) if self._extent.rounds > 1 else 0

    def _ended(self, memo: Memo, tasks: Sequence[ResearchTask], lowest: int) -> str:
        """Why no further round of gap-filling follows one that made these searches; "" where one does."""
        queries = [*self._underway.queries, *(task.search_query for task in tasks)]
        if not memo.gaps:
            return self._words(
                "no gap was left" if self._underway.tools.model else "a model is needed to see what is missing"
            )
        if not any(gap.priority <= lowest for gap in memo.gaps):
            return self._words("the answer does not depend on what is still open")
        if not self._searches_for_gaps(len(tasks)):
            return self._words("no search was left")
        return (
            "" if to_search(memo.gaps, queries, lowest) else self._words("no other search would fill what is missing")
        )

    async def _search_and_reflect(self, tasks: Sequence[ResearchTask], gaps: dict[str, Gap]) -> Round:
        """`gaps` are what the tasks are for, by their ids. What a list lacks is read into its cells, the rest noted."""
        underway = self._underway
        known = set(underway.library.pages)
        results = await underway.search(tasks)
        filled, into_cells = await self._fill_cells(gaps, known)
        to_note = underway.library.read_by([task.id for task in tasks if task.id not in into_cells])
        new = [page for page in to_note if page.origin not in known]
        underway.tell("reading", detail=f"{count_noun(len(new), 'page')}", total=len(new))
        shown = candidates(filled.table, underway.brief) if filled else ()
        brief = by_thing(underway.brief, shown) if filled else underway.brief
        read = await read_pages(underway.tools, brief, new, underway.limits, underway.note)
        listed, different = filled.notes_beside(underway.notes) if filled else ((), ())
        notes = (*listed, *numbered(read.taken, len(underway.notes) + len(listed) + 1))
        reflection = await self._reflect(notes, tasks, shown, different)
        memo = underway.new_memo(reflection, notes, len(tasks))
        stopped = underway.limits.spent
        sources = {note.number: site_of(note) for note in (*underway.notes, *notes)}
        return Round(
            index=underway.round,
            tasks=tuple(tasks),
            notes=tuple(results),
            memo=self._catalog_memo(memo, shown) if filled else memo,
            source_notes=notes,
            remarks=(*failures(results, self._words), *read.remarks),
            closed=tuple(
                self._words("{gap} ({source})", gap=gap.description, source=sources[number])
                for gap, number in reflection.closed
            ),
            stopped=stopped,
            ended=self._ended(memo, tasks, URGENT) if gaps and not stopped else "",
        )

    async def _fill_cells(self, gaps: dict[str, Gap], known: set[str]) -> tuple[CatalogFound | None, set[str]]:
        """The table of a catalog after it, and the tasks whose pages were read for cells."""
        underway = self._underway
        if self._catalog is None or not gaps:
            return None, set()
        read = {task: [page.origin for page in underway.library.read_by([task])] for task in gaps}
        pages = {task: [origin for origin in origins if origin not in known] for task, origins in read.items()}
        table_id = underway.research.table_id
        wanted = [(gap, pages[task]) for task, gap in gaps.items()]
        filled = []
        if not underway.limits.spent:
            try:
                filled = await underway.limits.in_time(self._catalog.fill(table_id, wanted)) or []
            except RunError as error:
                raise RunError(error.what, **underway.kept()) from error
        return await self._catalog.found(table_id), {task for task, gap in gaps.items() if gap in filled}

    def _catalog_memo(self, memo: Memo, shown: Sequence[CatalogCandidate]) -> Memo:
        brief = self._underway.brief
        return msgspec.structs.replace(
            memo,
            target_items=brief.target_items,
            candidates=tuple(shown[:MOST_CANDIDATES]),
            required_fields=tuple(each.field.name for each in brief.columns if each.field.required),
        )

    async def _reflect(
        self,
        new: Sequence[SourceNote],
        tasks: Sequence[ResearchTask],
        shown: Sequence[CatalogCandidate],
        different: Sequence[Contradiction],
    ) -> Reflection:
        """On all notes; a later round that brought no new one leaves everything as it was, unless an urgent gap could
        be searched for in other words. Values of a list that are `different` contradict each other only where no model
        can say whether they do."""
        underway, before = self._underway, self._underway.memo
        carried = Reflection() if before is None else carried_over(before)
        left = self._searches_for_gaps(len(tasks))
        could_search = left and any(gap.priority <= URGENT for gap in carried.gaps)
        if underway.limits.spent or (before is not None and not new and not could_search):
            return with_contradictions(carried, different)
        asked = RoundToReflect(
            brief=underway.brief,
            round_index=underway.round,
            notes=(*underway.notes, *new),
            gaps=carried.gaps,
            memo_text=written(before, self._extent.memo_tokens) if before else "",
            gaps_in_memo=GAPS_SHOWN,
            claims=carried.claims,
            candidates=tuple(shown),
            searched=(*underway.queries, *(task.search_query for task in tasks)),
            searches_left=left,
            new_notes=len(new),
            extent=self._extent,
            room=underway.tools.model.text_room if underway.tools.model else 1,
        )
        outcome = await underway.limits.in_time(decide(Reflect(), asked, underway.tools.model, underway.note))
        if outcome is None or outcome.over_budget:
            return with_contradictions(carried, different)
        if outcome.degraded:
            raise ModelError(f"Round {underway.round} could not be judged: {outcome.degraded}")
        unjudged = different if underway.tools.model is None else ()
        return with_contradictions(outcome.decided, (*carried.contradictions, *unjudged))


def with_contradictions(reflection: Reflection, further: Sequence[Contradiction]) -> Reflection:
    seen = dict.fromkeys((*further, *reflection.contradictions))
    return msgspec.structs.replace(reflection, contradictions=tuple(seen))


def to_search(gaps: Sequence[Gap], made: Sequence[str], lowest: int) -> list[Gap]:
    """Those with a query that was not made yet, one of a query, as far as that priority."""
    wanted = {normalize_whitespace(gap.suggested_query): gap for gap in reversed(gaps)}
    return [wanted[query] for query in new_queries(reversed(wanted), made) if wanted[query].priority <= lowest]


def by_thing(brief: Brief, shown: Sequence[CatalogCandidate]) -> Brief:
    """What is read for a list is noted under the thing that it is about."""
    return msgspec.structs.replace(brief, angles=tuple(Angle(name=each.name, question="") for each in shown))
