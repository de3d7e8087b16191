"""The three rounds of research: discovery, gap-filling, verification; then the report.

Workers search and open pages, a model notes what they say, reflects, and judges the claims that matter. A round is kept
when it is whole. What was cut off is done again from the last whole round: what it had bought is in the cache, so
nothing is paid for twice, and the report is the same.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import msgspec

from tablewright.decisions.check_claim import JudgedClaim
from tablewright.decisions.decision import decide
from tablewright.decisions.reflect import Reflect, Reflection, RoundToReflect
from tablewright.decisions.take_notes import Taken
from tablewright.engine.fill import Terms
from tablewright.errors import ModelError, RunError
from tablewright.journeys.find.account import account
from tablewright.journeys.research.catalog import Catalog, CatalogFound, candidates
from tablewright.journeys.research.claims import Verification
from tablewright.journeys.research.limits import Limits
from tablewright.journeys.research.memo import build_memo, written
from tablewright.journeys.research.notes import add_to_table, read_pages
from tablewright.journeys.research.report import ReportWriter
from tablewright.journeys.research.worker import Library, Workers
from tablewright.store.store import Store
from tablewright.strategies.tools import Tools
from tablewright.table.model import Evidence, Step
from tablewright.table.research import (
    MOST_CANDIDATES,
    CheckedClaim,
    Claim,
    Contradiction,
    Gap,
    Memo,
    Note,
    Research,
    ResearchEvent,
    ResearchStatus,
    ResearchTask,
    Round,
    SourceNote,
    Stage,
)
from tablewright.table.text import plural
from tablewright.table.usage import Meter, Usage, metered

FIRST_ROUND = 5
VERIFICATION = 2
"""Searches of the first round, and those that are kept for verification."""

Watch = Callable[[ResearchEvent], None]


class Rounds:
    """One piece of research under way."""

    def __init__(
        self,
        store: Store,
        tools: Tools,
        limits: Limits,
        research: Research,
        actor: str,
        terms: Terms,
        watch: Watch,
    ) -> None:
        self._store = store
        self._tools = tools
        self._limits = limits
        self._research = research
        self._brief = research.brief
        self._actor = actor
        self._watch = watch
        self._round = 0
        self._library = Library()
        self._catalog = Catalog(store, tools, actor, terms, watch) if research.brief.report_type == "catalog" else None
        self._workers = Workers(tools, self._brief, self._library, limits, searched=self._task_done, tell=self._note)

    async def run(self) -> Research:
        if not self._limits.spent:
            self._research = msgspec.structs.replace(self._research, rounds=whole(self._research.rounds))
        await self._library.reopen(self._store, self._tools, self._results())
        self._tell("brief", detail=self._brief.asked or self._brief.reason)
        for index, work in ((1, self._discover), (2, self._fill_gaps), (3, self._verify)):
            if index > len(self._research.rounds) and not self._limits.spent:
                self._round = index
                meter, started = Meter(), time.monotonic()
                with metered(meter):
                    done = await work()
                usage = meter.usage + Usage(seconds=round(time.monotonic() - started, 3))
                await self._keep(msgspec.structs.replace(done, usage=usage))
        return await self._finish()

    async def _keep(self, done: Round) -> None:
        if self._catalog is None:
            by_model = self._tools.model is not None
            await add_to_table(
                self._store, self._research.table_id, done.source_notes, by_model=by_model, actor=self._actor
            )
        await self._store.researches.keep_round(self._research.id, done)
        self._research = msgspec.structs.replace(self._research, rounds=(*self._research.rounds, done))
        self._tell("memo", detail=done.stopped, gaps=done.memo.gaps, closed=done.closed)

    # ── searching and reading ────────────────────────────────────────────────────────────────────────────────────────

    async def _discover(self) -> Round:
        if self._catalog is not None:
            return await self._list_things(self._catalog)
        queries = self._brief.queries or (self._brief.question,)
        tasks = [
            ResearchTask(id=f"r1_{number}", kind="discover", search_query=query)
            for number, query in enumerate(queries[: min(FIRST_ROUND, self._tasks_left)], start=1)
        ]
        return await self._search_and_reflect(tasks)

    async def _list_things(self, catalog: Catalog) -> Round:
        """The things are found and filled as a table; what is known of them is the notes of this round."""
        self._tell("round", detail=self._brief.things or self._brief.question)
        found = await catalog.find(self._research.table_id, self._limits)
        await self._library.reopen(self._store, self._tools, [found.result])
        notes = numbered(found.taken)
        reflection = await self._reflect(notes, found.tasks)
        known = [
            Contradiction(about=notes[one].statement, notes=(notes[one].number,), against=(notes[other].number,))
            for one, other in found.rivals
        ]
        reflection = msgspec.structs.replace(reflection, contradictions=(*known, *reflection.contradictions))
        remarks = [f"The search for “{query}” failed: {why}" for query, why in found.rows.failed_queries.items()]
        memo = msgspec.structs.replace(
            self._memo(reflection, notes, len(found.tasks)),
            target_items=self._brief.target_items,
            candidates=candidates(found.table, self._brief)[:MOST_CANDIDATES],
            required_fields=tuple(each.field.name for each in self._brief.columns if each.field.required),
        )
        return Round(
            index=1,
            tasks=found.tasks,
            notes=(found.result,),
            memo=memo,
            source_notes=notes,
            remarks=(*([found.rows.said] if found.rows.said else []), *remarks),
            stopped=self._limits.spent,
        )

    async def _fill_gaps(self) -> Round:
        """A search for each gap that has one, the most important first."""
        before = self._research.rounds[-1].memo
        tried = {query.casefold() for query in self._searched()}
        wanted = {gap.suggested_query: gap for gap in reversed(before.gaps) if gap.suggested_query.strip()}
        gaps = [gap for gap in reversed(wanted.values()) if gap.suggested_query.casefold() not in tried]
        tasks = [
            ResearchTask(id=f"r2_{number}", kind="fill", search_query=gap.suggested_query, target_gap=gap.description)
            for number, gap in enumerate(gaps[: max(self._tasks_left - VERIFICATION, 0)], start=1)
        ]
        if tasks:
            return await self._search_and_reflect(tasks)
        stopped = "no gap was left" if self._tools.model else "it takes a model to see what is missing"
        if before.gaps:
            none_left = self._tasks_left <= VERIFICATION
            stopped = "no search was left" if none_left else "no other search would fill what is missing"
        return Round(index=2, tasks=(), notes=(), memo=msgspec.structs.replace(before, round_index=2), stopped=stopped)

    async def _search_and_reflect(self, tasks: Sequence[ResearchTask]) -> Round:
        known = set(self._library.pages)
        results = await self._search(tasks)
        new = [page for origin, page in self._library.pages.items() if origin not in known]
        self._tell("reading", detail=f"{len(new)} {plural('page', len(new))}", total=len(new))
        read = await read_pages(self._tools, self._brief, new, self._limits, self._note)
        notes = numbered(read.taken, len(self._notes()) + 1)
        reflection = await self._reflect(notes, tasks)
        return Round(
            index=self._round,
            tasks=tuple(tasks),
            notes=tuple(results),
            memo=self._memo(reflection, notes, len(tasks)),
            source_notes=notes,
            remarks=(*failures(results), *read.remarks),
            closed=tuple(f"{gap.description} (note {number})" for gap, number in reflection.closed),
            stopped=self._limits.spent,
        )

    async def _search(self, tasks: Sequence[ResearchTask]) -> list[Note]:
        """Raises where every search failed, or nothing that was found could be opened: that is not "not found"."""
        self._tell("round", detail=f"{len(tasks)} {plural('search', len(tasks))}", total=len(tasks))
        results = await self._workers.run(tasks)
        if self._limits.spent or not tasks or tasks[0].kind == "verify":
            return results
        errors = [result.error for result in results if result.error]
        if len(errors) == len(tasks):
            raise RunError(f"Every search of round {self._round} failed: {errors[0]}", **self._kept())
        refused = [source for result in results for source in result.sources if source.status != "read"]
        if refused and not self._library.pages:
            raise RunError(
                f"{len(refused)} {plural('page', len(refused))} were found and none could be read: "
                f"{refused[0].url}: {refused[0].detail or refused[0].status}.",
                **self._kept(),
            )
        return results

    async def _reflect(self, new: Sequence[SourceNote], tasks: Sequence[ResearchTask]) -> Reflection:
        """On all notes; a later round that brought no new one leaves everything as it was."""
        before = self._research.rounds[-1].memo if self._research.rounds else None
        carried = Reflection() if before is None else carried_over(before)
        if self._limits.spent or (before is not None and not new):
            return carried
        asked = RoundToReflect(
            brief=self._brief,
            round_index=self._round,
            notes=(*self._notes(), *new),
            gaps=carried.gaps,
            memo_text=written(before) if before else "",
            searched=(*self._searched(), *(task.search_query for task in tasks)),
            searches_left=max(self._tasks_left - len(tasks) - VERIFICATION, 0) if self._round == 1 else 0,
            room=self._tools.model.text_room if self._tools.model else 1,
        )
        outcome = await decide(Reflect(), asked, self._tools.model, self._note)
        if outcome.over_budget:
            return carried
        if outcome.degraded:
            raise ModelError(f"Round {self._round} could not be judged: {outcome.degraded}", **self._kept())
        seen = dict.fromkeys((*carried.contradictions, *outcome.decided.contradictions))
        return msgspec.structs.replace(outcome.decided, contradictions=tuple(seen))

    def _memo(self, reflection: Reflection, notes: Sequence[SourceNote], tasks: int) -> Memo:
        completed = self._research.max_tasks - self._tasks_left + tasks
        memo = build_memo(
            self._brief,
            self._round,
            reflection,
            [*self._notes(), *notes],
            self._library.pages,
            tasks_completed=completed,
            tasks_remaining=max(0, self._research.max_tasks - completed),
        )
        if not self._research.rounds:
            return memo
        before = self._research.rounds[-1].memo
        return msgspec.structs.replace(
            memo,
            target_items=before.target_items,
            candidates=before.candidates,
            required_fields=before.required_fields,
        )

    # ── verification ─────────────────────────────────────────────────────────────────────────────────────────────────

    async def _verify(self) -> Round:
        before = self._research.rounds[-1].memo
        claims = before.claims_to_verify
        searched = [claim for claim in claims if claim.verification_query][: min(VERIFICATION, self._tasks_left)]
        tasks = [
            ResearchTask(
                id=f"v_{number}", kind="verify", search_query=claim.verification_query, target_gap=claim.claim_text
            )
            for number, claim in enumerate(searched, start=1)
        ]
        results = await self._search(tasks) if tasks else []
        verification = Verification(
            self._tools, self._brief, self._library, self._limits, self._notes(), self._note, self._judged
        )
        judged = await verification.judge(claims, tasks, results)
        notes = self._findings(judged)
        numbers = {key(note.evidence): note.number for note in (*notes, *self._notes())}
        checked = tuple(
            CheckedClaim(
                claim=claim,
                verdict=one.verdict,
                reason=one.reason,
                evidence=tuple(each.evidence for each in one.findings),
                notes=tuple(numbers[key(each.evidence)] for each in one.findings),
            )
            for claim, one in zip(claims, judged, strict=True)
        )
        return Round(
            index=3,
            tasks=tuple(tasks),
            notes=tuple(results),
            memo=self._memo(carried_over(before), notes, len(tasks)),
            source_notes=notes,
            remarks=tuple(failures(results)),
            checked=checked,
            stopped=self._limits.spent or ("" if claims else self._no_claim),
        )

    def _findings(self, judged: Sequence[JudgedClaim]) -> tuple[SourceNote, ...]:
        """As notes; words that were noted before are not noted again."""
        known = {key(note.evidence) for note in self._notes()}
        taken = {
            key(each.evidence): Taken(statement=each.statement, evidence=each.evidence)
            for one in judged
            for each in one.findings
            if key(each.evidence) not in known
        }
        return numbered(list(taken.values()), len(self._notes()) + 1)

    @property
    def _no_claim(self) -> str:
        return "there was no claim to verify" if self._tools.model else "it takes a model to check claims"

    # ── the end ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _finish(self) -> Research:
        self._tell("writing")
        writer = ReportWriter(self._store, self._tools.model, self._limits, self._note)
        meter, started = Meter(), time.monotonic()
        with metered(meter):
            try:
                report = await writer.write(self._research, await self._listed())
            except ModelError as error:
                raise ModelError(error.what, **self._kept()) from error
        took = Usage(seconds=round(time.monotonic() - started, 3))
        usage = sum((each.usage for each in self._research.rounds), self._brief.usage)
        report = msgspec.structs.replace(report, usage=usage + meter.usage + took)
        status: ResearchStatus = "partial" if writer.limit else "done" if self._notes() else "nothing"
        await self._store.researches.finish(self._research.id, status, report)
        self._tell("done", detail=status)
        return await self._store.researches.get(self._research.id)

    async def _listed(self) -> CatalogFound | None:
        """The table of a catalog as it is now."""
        if self._catalog is None:
            return None
        listing = await self._store.listings.get(self._research.table_id)
        return await self._catalog.found(await account(self._store, listing))

    # ── what is there ────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def _tasks_left(self) -> int:
        return max(0, self._research.max_tasks - len(self._searched()))

    def _searched(self) -> list[str]:
        return [task.search_query for each in self._research.rounds for task in each.tasks]

    def _results(self) -> list[Note]:
        return [result for each in self._research.rounds for result in each.notes]

    def _notes(self) -> list[SourceNote]:
        return [note for each in self._research.rounds for note in each.source_notes]

    def _kept(self) -> dict[str, str]:
        """What a failure says of what was kept, and what to do next."""
        rounds = len(self._research.rounds)
        kept = f"{rounds} whole {plural('round', rounds)}" if rounds else "The plan"
        return {
            "kept": f"{kept} and everything bought are kept.",
            "advice": f"`tablewright research --resume {self._research.id}` goes on from there.",
        }

    def _task_done(self, task: ResearchTask) -> None:
        self._tell("task", detail=task.search_query)

    def _judged(self, claim: Claim, judged: JudgedClaim) -> None:
        self._tell("claim", detail=f"{judged.verdict}: {claim.claim_text}")

    def _note(self, step: Step) -> None:
        self._tell("reading", detail=step.detail)

    def _tell(
        self,
        stage: Stage,
        *,
        detail: str = "",
        done: int = 0,
        total: int = 0,
        gaps: tuple[Gap, ...] = (),
        closed: tuple[str, ...] = (),
    ) -> None:
        self._watch(
            ResearchEvent(
                stage=stage, round_index=self._round, detail=detail, done=done, total=total, gaps=gaps, closed=closed
            )
        )


def whole(rounds: Sequence[Round]) -> tuple[Round, ...]:
    """Without one in which a limit was reached, and those after it: with more time or money they are done again."""
    kept: list[Round] = []
    for each in rounds:
        if each.tasks and each.stopped:
            break
        kept.append(each)
    return tuple(kept)


def numbered(taken: Sequence[Taken], first: int = 1) -> tuple[SourceNote, ...]:
    return tuple(
        SourceNote(number=number, statement=each.statement, evidence=each.evidence, topic=each.topic)
        for number, each in enumerate(taken, start=first)
    )


def key(evidence: Evidence) -> tuple[str, str]:
    return evidence.origin, evidence.quote


def carried_over(memo: Memo) -> Reflection:
    return Reflection(
        answered=memo.answered,
        themes=memo.themes_covered,
        gaps=memo.gaps,
        contradictions=memo.contradictions,
        claims=memo.claims_to_verify,
    )


def failures(results: Sequence[Note]) -> list[str]:
    failed = [f"The search for “{each.task.search_query}” failed: {each.error}" for each in results if each.error]
    return list(dict.fromkeys(failed))
