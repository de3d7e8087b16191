"""The rounds of research: discovery and gap-filling (search, read, reflect on what is answered and what is open), then
what independent sites say about the claims the answer most depends on.

A search that fails, or pages that do not speak of it, leave a claim "not checked": that is not "refuted".
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

import msgspec

from tablewright.citations.evidence import copies, independent
from tablewright.decisions.check_claim import CheckClaim, ClaimToJudge, JudgedClaim
from tablewright.decisions.decision import decide
from tablewright.decisions.reflect import Reflect, Reflection, RoundToReflect, site_of
from tablewright.decisions.write_report import disputes_of, notes_against
from tablewright.domain.model import Evidence
from tablewright.domain.research import (
    Angle,
    Brief,
    CatalogCandidate,
    CheckedClaim,
    Claim,
    Contradiction,
    Gap,
    Memo,
    Note,
    ResearchTask,
    Round,
    SourceNote,
)
from tablewright.domain.retrieved import Retrieved, concerning
from tablewright.domain.text import count_noun, new_queries, normalize_whitespace
from tablewright.errors import ModelError, RunError
from tablewright.journeys.research.catalog import Catalog, CatalogFound, candidates
from tablewright.journeys.research.library import failures, number_tasks
from tablewright.journeys.research.notes import numbered, read_pages
from tablewright.journeys.research.progress import GAPS_SHOWN, ResearchProgress, carried_over, memo_text
from tablewright.store.search_index import word_rarity
from tablewright.text import roots

URGENT, LOWEST = 1, 3
"""Priorities of gaps: without which there is no answer, and of any."""


class Rounds:
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
        tasks = number_tasks("r1", "discover", queries[: min(self._extent.first_searches, left)])
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
            memo=underway.new_memo(reflection, notes, len(found.tasks), shown),
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
        gaps = to_search(before.memo.gaps, underway.queries, lowest)[: self._searches_for_gaps()]
        queries, descriptions = [gap.suggested_query for gap in gaps], [gap.description for gap in gaps]
        if tasks := number_tasks(f"r{underway.round}", "fill", queries, descriptions):
            return await self._search_and_reflect(tasks, {task.id: gap for task, gap in zip(tasks, gaps, strict=True)})
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
        memo = underway.new_memo(reflection, notes, len(tasks), shown if filled else None)
        stopped = underway.limits.spent
        sources = {note.number: site_of(note) for note in (*underway.notes, *notes)}
        return Round(
            index=underway.round,
            tasks=tuple(tasks),
            notes=tuple(results),
            memo=memo,
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
            memo_text=memo_text(before, self._extent.memo_tokens) if before else "",
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


# ── claims ───────────────────────────────────────────────────────────────────────────────────────────────────────────

MOST_PAGES = 8


class Verification:
    """The claims of one piece of research, judged side by side."""

    def __init__(self, underway: ResearchProgress) -> None:
        self._underway = underway

    async def verify(self) -> Round:
        underway = self._underway
        before = underway.research.rounds[-1].memo
        claims = before.claims_to_verify
        most = min(underway.limits.extent.kept_searches, underway.searches_left)
        searched = [claim for claim in claims if claim.verification_query][:most]
        queries, texts = [claim.verification_query for claim in searched], [claim.claim_text for claim in searched]
        tasks = number_tasks("v", "verify", queries, texts)
        results = await underway.search(tasks) if tasks else []
        judged = await self._judge(claims, tasks, results)
        notes = self._findings(judged)
        known = (*underway.notes, *notes)
        checked = tuple(
            CheckedClaim(
                claim=claim,
                verdict=one.verdict,
                reason=one.reason,
                unsaid=one.unsaid,
                evidence=tuple(each.evidence for each in one.findings),
                notes=tuple(noted_as(each.evidence, known) for each in one.findings),
            )
            for claim, one in zip(claims, judged, strict=True)
        )
        words = underway.limits.words
        none = words("there was no claim to verify" if underway.tools.model else "a model is needed to check claims")
        return Round(
            index=underway.round,
            tasks=tuple(tasks),
            notes=tuple(results),
            memo=underway.new_memo(carried_over(before), notes, len(tasks)),
            source_notes=notes,
            remarks=tuple(failures(results, words)),
            checked=checked,
            stopped=underway.limits.spent,
            ended="" if claims else none,
        )

    async def _judge(
        self, claims: Sequence[Claim], tasks: Sequence[ResearchTask], results: Sequence[Note]
    ) -> list[JudgedClaim]:
        """`tasks` are the searches that were made for them, and `results` what these brought."""
        underway = self._underway
        failed = "; ".join(dict.fromkeys(result.error for result in results if result.error))

        async def judge(claim: Claim) -> JudgedClaim:
            if underway.limits.spent:
                return JudgedClaim(reason=underway.limits.spent)
            work = self._judge_claim(claim, tasks, failed)
            judged = await underway.limits.in_time(work) or JudgedClaim(reason=underway.limits.spent)
            underway.tell("claim", detail=f"{judged.verdict}: {claim.claim_text}")
            return judged

        return list(await asyncio.gather(*map(judge, claims)))

    async def _judge_claim(self, claim: Claim, tasks: Sequence[ResearchTask], failed: str) -> JudgedClaim:
        """`failed` says why independent pages were not looked for."""
        underway, words, model = self._underway, self._underway.limits.words, self._underway.tools.model
        own = underway.library.pages.get(claim.source_url)
        others = independent_of(own, self._pages(claim, own, tasks))
        if not others or model is None:
            return JudgedClaim(reason=failed or words("no independent source was found"))
        asked = ClaimToJudge(
            brief=underway.brief,
            claim=claim.claim_text,
            made_by=own.domain or own.title if own else claim.source_url,
            pages=tuple(others),
            room=model.text_room,
        )
        with concerning([page.origin for page in others]):
            outcome = await decide(CheckClaim(), asked, model, underway.note)
        judged = outcome.decided
        if outcome.degraded:
            return JudgedClaim(reason=outcome.degraded)
        if judged.verdict == "not checked":
            read = words(
                "{count} independent page read; none speaks of it|{count} independent pages read; none speaks of it",
                count=len(others),
            )
            return JudgedClaim(reason=judged.reason or read)
        return judged

    def _pages(self, claim: Claim, own: Retrieved | None, tasks: Sequence[ResearchTask]) -> list[Retrieved]:
        """What its own search brought that is new, then the pages whose notes contradict it, then all others that speak
        of the same, and last what else its search found. As many as there is room for are judged."""
        underway, library = self._underway, self._underway.library
        before = {source.url for result in underway.results for source in result.sources}
        found = library.read_by([task.id for task in tasks if task.target_gap == claim.claim_text])
        new = [page for page in found if page.origin not in before]
        disputes = disputes_of((), underway.memo.contradictions if underway.memo else ())
        against = notes_against(disputes).get(claim.note, set())
        rivals = {note.evidence.origin for note in underway.notes if note.number in against}
        others = [page for page in library.pages.values() if own is None or independent(own, page)]
        contradicting = [page for page in others if page.origin in rivals]
        pages = (*new, *contradicting, *speaking_of(claim.claim_text, others), *found)
        return list({page.origin: page for page in pages}.values())

    def _findings(self, judged: Sequence[JudgedClaim]) -> tuple[SourceNote, ...]:
        """As notes; words that were noted before are not noted again."""
        notes = self._underway.notes
        taken = {
            (each.evidence.origin, each.evidence.quote): each
            for one in judged
            for each in one.findings
            if not noted_as(each.evidence, notes)
        }
        return numbered(list(taken.values()), len(notes) + 1)


def noted_as(evidence: Evidence, notes: Sequence[SourceNote]) -> int:
    """The number of the first note that quotes these words, or more around them; 0 where there is none."""
    of_page = (note for note in notes if note.evidence.origin == evidence.origin)
    return next((note.number for note in of_page if evidence.quote in note.evidence.quote), 0)


def speaking_of(claim: str, pages: Sequence[Retrieved]) -> list[Retrieved]:
    """The pages that have the words of a claim, those first that have the most of them and the rarest; what has less
    than half as much of it as the best one is about something else."""
    words = set(roots(claim, telling=True))
    shared = [words & set(roots(f"{page.title} {page.text}", telling=True)) for page in pages]
    often = Counter(word for found in shared for word in found)
    worth = [sum(word_rarity(often[word], len(pages)) for word in found) for found in shared]
    ranked = sorted(zip(worth, pages, strict=True), key=lambda each: -each[0])
    return [page for each, page in ranked if each and each >= ranked[0][0] / 2]


def independent_of(own: Retrieved | None, pages: Sequence[Retrieved]) -> list[Retrieved]:
    """Of other sites, none a copy of the page that makes the claim or of another."""
    chosen: list[Retrieved] = []
    for page in pages:
        if (own is None or independent(own, page)) and not any(copies(page.text, each.text) for each in chosen):
            chosen.append(page)
    return chosen[:MOST_PAGES]
