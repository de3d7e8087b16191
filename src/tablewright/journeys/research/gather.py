"""Rounds one and two: searching, reading, and reflecting on what the notes answer and leave open."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tablewright.decisions.decision import decide
from tablewright.decisions.reflect import Reflect, Reflection, RoundToReflect, site_of
from tablewright.errors import ModelError
from tablewright.journeys.research.catalog import Catalog, CatalogFound, candidates
from tablewright.journeys.research.memo import GAPS_SHOWN, carried_over, written
from tablewright.journeys.research.notes import numbered, read_pages
from tablewright.journeys.research.progress import ResearchProgress
from tablewright.journeys.research.worker import failures
from tablewright.table.reports.wording import Words
from tablewright.table.research import (
    MOST_CANDIDATES,
    Angle,
    Brief,
    CatalogCandidate,
    Gap,
    Memo,
    ResearchTask,
    Round,
    SourceNote,
)
from tablewright.table.text import plural


class ResearchGatherer:
    def __init__(self, underway: ResearchProgress, catalog: Catalog | None) -> None:
        """`catalog` is the table of a list of things."""
        self._underway = underway
        self._catalog = catalog
        self._extent = underway.limits.extent
        self._words = Words(underway.brief.language)

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
        await underway.library.reopen(underway.store, underway.tools, [found.result])
        notes, known = found.notes_beside(())
        shown = candidates(found.table, brief)
        reflection = await self._reflect(notes, found.tasks, shown)
        reflection = msgspec.structs.replace(reflection, contradictions=(*known, *reflection.contradictions))
        failed = found.rows.failed_queries.items()
        remarks = [self._words("search failed", query=query, why=why) for query, why in failed]
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
        """A search for each gap that has one, the most important first."""
        underway = self._underway
        before = underway.research.rounds[-1].memo
        tried = {query.casefold() for query in underway.queries}
        wanted = {gap.suggested_query: gap for gap in reversed(before.gaps) if gap.suggested_query.strip()}
        gaps = [gap for gap in reversed(wanted.values()) if gap.suggested_query.casefold() not in tried]
        room = max(underway.searches_left - self._extent.kept_searches, 0)
        tasks = [
            ResearchTask(id=f"r2_{number}", kind="fill", search_query=gap.suggested_query, target_gap=gap.description)
            for number, gap in enumerate(gaps[:room], start=1)
        ]
        if tasks:
            return await self._search_and_reflect(tasks, {task.id: gap for task, gap in zip(tasks, gaps, strict=False)})
        stopped = self._words("no gap left" if underway.tools.model else "takes a model")
        if before.gaps:
            stopped = self._words("no search left" if not room else "no search fills")
        return Round(index=2, tasks=(), notes=(), memo=msgspec.structs.replace(before, round_index=2), stopped=stopped)

    async def _search_and_reflect(self, tasks: Sequence[ResearchTask], gaps: dict[str, Gap]) -> Round:
        """`gaps` are what the tasks are for, by their ids. What a list lacks is read into its cells, the rest noted."""
        underway = self._underway
        known = set(underway.library.pages)
        results = await underway.search(tasks)
        filled, into_cells = await self._fill_cells(gaps, known)
        to_note = underway.library.read_by([task.id for task in tasks if task.id not in into_cells])
        new = [page for page in to_note if page.origin not in known]
        underway.tell("reading", detail=f"{len(new)} {plural('page', len(new))}", total=len(new))
        shown = candidates(filled.table, underway.brief) if filled else ()
        brief = by_thing(underway.brief, shown) if filled else underway.brief
        read = await read_pages(underway.tools, brief, new, underway.limits, underway.note)
        listed, disputed = filled.notes_beside(underway.notes) if filled else ((), ())
        notes = (*listed, *numbered(read.taken, len(underway.notes) + len(listed) + 1))
        reflection = await self._reflect(notes, tasks, shown)
        reflection = msgspec.structs.replace(
            reflection, contradictions=tuple(dict.fromkeys((*reflection.contradictions, *disputed)))
        )
        memo = underway.new_memo(reflection, notes, len(tasks))
        sources = {note.number: site_of(note) for note in (*underway.notes, *notes)}
        return Round(
            index=underway.round,
            tasks=tuple(tasks),
            notes=tuple(results),
            memo=self._catalog_memo(memo, shown) if filled else memo,
            source_notes=notes,
            remarks=(*failures(results, self._words), *read.remarks),
            closed=tuple(
                self._words("filled by", gap=gap.description, source=sources[number])
                for gap, number in reflection.closed
            ),
            stopped=underway.limits.spent,
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
            filled = await underway.limits.in_time(self._catalog.fill(table_id, wanted)) or []
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
        self, new: Sequence[SourceNote], tasks: Sequence[ResearchTask], shown: Sequence[CatalogCandidate]
    ) -> Reflection:
        """On all notes; a later round that brought no new one leaves everything as it was."""
        underway, before = self._underway, self._underway.memo
        carried = Reflection() if before is None else carried_over(before)
        if underway.limits.spent or (before is not None and not new):
            return carried
        left = underway.searches_left - len(tasks) - self._extent.kept_searches
        asked = RoundToReflect(
            brief=underway.brief,
            round_index=underway.round,
            notes=(*underway.notes, *new),
            gaps=carried.gaps,
            memo_text=written(before, self._extent.memo_tokens) if before else "",
            gaps_in_memo=GAPS_SHOWN,
            candidates=tuple(shown),
            searched=(*underway.queries, *(task.search_query for task in tasks)),
            searches_left=max(left, 0) if underway.round == 1 else 0,
            extent=self._extent,
            room=underway.tools.model.text_room if underway.tools.model else 1,
        )
        outcome = await underway.limits.in_time(decide(Reflect(), asked, underway.tools.model, underway.note))
        if outcome is None or outcome.over_budget:
            return carried
        if outcome.degraded:
            raise ModelError(f"Round {underway.round} could not be judged: {outcome.degraded}")
        seen = dict.fromkeys((*carried.contradictions, *outcome.decided.contradictions))
        return msgspec.structs.replace(outcome.decided, contradictions=tuple(seen))


def by_thing(brief: Brief, shown: Sequence[CatalogCandidate]) -> Brief:
    """What is read for a list is noted under the thing that it is about."""
    return msgspec.structs.replace(brief, angles=tuple(Angle(name=each.name, question="") for each in shown))
