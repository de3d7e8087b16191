"""The rounds of research: discovery and gap-filling (search, read, reflect), then verification of the claims that the
answer most depends on, by independent sites.

A claim stays "not checked" if its search fails or no page mentions it: that is not "refuted". The rounds are returned;
`research.py` saves them.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

import msgspec

from tablewright.citations.evidence import are_independent, is_copy
from tablewright.domain.model import Evidence
from tablewright.domain.research import (
    Angle,
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
from tablewright.domain.retrieved import Retrieved, track_documents
from tablewright.domain.text import count_noun, drop_tried_queries, normalize_whitespace
from tablewright.errors import ModelError, RunError
from tablewright.llm.tasks.check_claim import CheckClaim, ClaimToJudge, JudgedClaim
from tablewright.llm.tasks.decision import decide
from tablewright.llm.tasks.reflect import Reflection, ReflectOnRound, RoundToReflect, note_site
from tablewright.llm.tasks.write_report import collect_disputes, index_disputes
from tablewright.store.search_index import compute_word_rarity
from tablewright.text import word_roots
from tablewright.workflows.research.catalog import Catalog, CatalogFound, list_candidates
from tablewright.workflows.research.library import describe_failed_searches, number_tasks
from tablewright.workflows.research.notes import number_notes, read_pages
from tablewright.workflows.research.progress import MAX_MEMO_GAPS, ResearchProgress, carry_over, format_memo

# The priority of gaps without which there is no answer; that of the least important is 3.
URGENT = 1


class ResearchRounds:
    """Discovery and gap-filling."""

    def __init__(self, underway: ResearchProgress, catalog: Catalog | None) -> None:
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
        """Find and fill the rows of a catalog; its cells are the notes of this round."""
        underway, brief = self._underway, self._underway.brief
        underway.tell("round", detail=brief.things or brief.question)
        found = await catalog.find(underway.research.table_id, underway.limits)
        await underway.library.reopen(underway.store, [found.result])
        notes, different = found.new_notes(())
        shown = list_candidates(found.table, brief)
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
        """Search for the gaps, the most important first. After the first such round, search only for gaps without which
        the question cannot be answered."""
        underway = self._underway
        before = underway.research.rounds[-1]
        # Later rounds cost as much as the first and add less.
        lowest = URGENT if before.kind == "fill" else 3
        gaps = select_gaps(before.memo.gaps, underway.queries, lowest)[: self._searches_for_gaps()]
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
        """Return the searches left after `made` more, without those reserved for claims."""
        left = self._underway.searches_left - made - self._extent.kept_searches
        # Searches for claims are reserved first, since an unchecked claim is worse than an unfilled gap.
        return max(left, 0) if self._extent.rounds > 1 else 0

    def _ended(self, memo: Memo, tasks: Sequence[ResearchTask], lowest: int) -> str:
        """Return why no further gap-filling follows a round with these tasks, or "" if it does."""
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
            "" if select_gaps(memo.gaps, queries, lowest) else self._words("no other search would fill what is missing")
        )

    async def _search_and_reflect(self, tasks: Sequence[ResearchTask], gaps: dict[str, Gap]) -> Round:
        """Run a round of tasks; `gaps` are the gaps they are for, by task id. Pages for missing cells of a catalog are
        read into the cells, the others into notes."""
        underway = self._underway
        known = set(underway.library.pages)
        results = await underway.search(tasks)
        filled, into_cells = await self._fill_cells(gaps, known)
        to_note = underway.library.read_by([task.id for task in tasks if task.id not in into_cells])
        new = [page for page in to_note if page.origin not in known]
        underway.tell("reading", detail=f"{count_noun(len(new), 'page')}", total=len(new))
        shown = list_candidates(filled.table, underway.brief) if filled else ()
        brief = underway.brief
        # With the candidates as topics, notes on a list are filed under their item.
        if filled:
            brief = msgspec.structs.replace(brief, angles=tuple(Angle(name=each.name, question="") for each in shown))
        read = await read_pages(underway.tools, brief, new, underway.limits, underway.note)
        listed, different = filled.new_notes(underway.notes) if filled else ((), ())
        notes = (*listed, *number_notes(read.taken, len(underway.notes) + len(listed) + 1))
        reflection = await self._reflect(notes, tasks, shown, different)
        memo = underway.new_memo(reflection, notes, len(tasks), shown if filled else None)
        stopped = underway.limits.spent
        sources = {note.number: note_site(note) for note in (*underway.notes, *notes)}
        return Round(
            index=underway.round,
            tasks=tuple(tasks),
            notes=tuple(results),
            memo=memo,
            source_notes=notes,
            remarks=(*describe_failed_searches(results, self._words), *read.remarks),
            closed=tuple(
                self._words("{gap} ({source})", gap=gap.description, source=sources[number])
                for gap, number in reflection.closed
            ),
            stopped=stopped,
            ended=self._ended(memo, tasks, URGENT) if gaps and not stopped else "",
        )

    async def _fill_cells(self, gaps: dict[str, Gap], known: set[str]) -> tuple[CatalogFound | None, set[str]]:
        """Fill cells of the catalog; return its table and the tasks whose pages were read for cells."""
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
        """Judge all notes. Without new notes, keep the last judgement unless an urgent gap could be searched for in
        other words. `different` values of a list count as contradictions only if no model can judge them."""
        underway, before = self._underway, self._underway.memo
        carried = Reflection() if before is None else carry_over(before)
        left = self._searches_for_gaps(len(tasks))
        could_search = left and any(gap.priority <= URGENT for gap in carried.gaps)
        if underway.limits.spent or (before is not None and not new and not could_search):
            return add_contradictions(carried, different)
        asked = RoundToReflect(
            brief=underway.brief,
            round_index=underway.round,
            notes=(*underway.notes, *new),
            gaps=carried.gaps,
            memo_text=format_memo(before, self._extent.memo_tokens) if before else "",
            gaps_in_memo=MAX_MEMO_GAPS,
            claims=carried.claims,
            candidates=tuple(shown),
            searched=(*underway.queries, *(task.search_query for task in tasks)),
            searches_left=left,
            new_notes=len(new),
            extent=self._extent,
            room=underway.tools.model.text_room if underway.tools.model else 1,
        )
        outcome = await underway.limits.in_time(decide(ReflectOnRound(), asked, underway.tools.model, underway.note))
        if outcome is None or outcome.over_budget:
            return add_contradictions(carried, different)
        if outcome.degraded:
            raise ModelError(f"Round {underway.round} could not be judged: {outcome.degraded}")
        # With a model the reflection has seen the differing values and decided which of them contradict.
        unjudged = different if underway.tools.model is None else ()
        return add_contradictions(outcome.decided, (*carried.contradictions, *unjudged))


def add_contradictions(reflection: Reflection, further: Sequence[Contradiction]) -> Reflection:
    # New ones first: a later memo may cut the list.
    seen = dict.fromkeys((*further, *reflection.contradictions))
    return msgspec.structs.replace(reflection, contradictions=tuple(seen))


def select_gaps(gaps: Sequence[Gap], made: Sequence[str], lowest: int) -> list[Gap]:
    """Return the gaps up to this priority whose query is new, one gap per query."""
    # Reversed, so that the first, most important gap of a query wins.
    wanted = {normalize_whitespace(gap.suggested_query): gap for gap in reversed(gaps)}
    return [wanted[query] for query in drop_tried_queries(reversed(wanted), made) if wanted[query].priority <= lowest]


# ── claims ───────────────────────────────────────────────────────────────────────────────────────────────────────────

# Pages that judge one claim: each is read in full, for every claim.
MAX_PAGES_PER_CLAIM = 8


class Verification:
    """Judges the claims of a research run concurrently."""

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
                notes=tuple(find_note_number(each.evidence, known) for each in one.findings),
            )
            for claim, one in zip(claims, judged, strict=True)
        )
        words = underway.limits.words
        none = words("there was no claim to verify" if underway.tools.model else "a model is needed to check claims")
        return Round(
            index=underway.round,
            tasks=tuple(tasks),
            notes=tuple(results),
            memo=underway.new_memo(carry_over(before), notes, len(tasks)),
            source_notes=notes,
            remarks=tuple(describe_failed_searches(results, words)),
            checked=checked,
            stopped=underway.limits.spent,
            ended="" if claims else none,
        )

    async def _judge(
        self, claims: Sequence[Claim], tasks: Sequence[ResearchTask], results: Sequence[Note]
    ) -> list[JudgedClaim]:
        """Judge each claim; `tasks` are the searches made for them, `results` their notes."""
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
        """Judge one claim; `failed` says why no independent pages were searched."""
        underway, words, model = self._underway, self._underway.limits.words, self._underway.tools.model
        own = underway.library.pages.get(claim.source_url)
        others = keep_independent(own, self._pages(claim, own, tasks))
        if not others or model is None:
            return JudgedClaim(reason=failed or words("no independent source was found"))
        asked = ClaimToJudge(
            brief=underway.brief,
            claim=claim.claim_text,
            made_by=own.domain or own.title if own else claim.source_url,
            pages=tuple(others),
            room=model.text_room,
        )
        with track_documents([page.origin for page in others]):
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
        """Return pages on the claim: new ones of its own search, those whose notes contradict it, others about it, and
        then the rest of its search. The caller judges as many as fit."""
        underway, library = self._underway, self._underway.library
        before = {source.url for result in underway.results for source in result.sources}
        found = library.read_by([task.id for task in tasks if task.target_gap == claim.claim_text])
        new = [page for page in found if page.origin not in before]
        disputes = collect_disputes((), underway.memo.contradictions if underway.memo else ())
        against = index_disputes(disputes).get(claim.note, set())
        rivals = {note.evidence.origin for note in underway.notes if note.number in against}
        others = [page for page in library.pages.values() if own is None or are_independent(own, page)]
        contradicting = [page for page in others if page.origin in rivals]
        # Order matters: only the first MAX_PAGES_PER_CLAIM independent ones are judged.
        pages = (*new, *contradicting, *rank_pages_by_claim(claim.claim_text, others), *found)
        return list({page.origin: page for page in pages}.values())

    def _findings(self, judged: Sequence[JudgedClaim]) -> tuple[SourceNote, ...]:
        """Return the findings as notes, without those already noted."""
        notes = self._underway.notes
        taken = {
            (each.evidence.origin, each.evidence.quote): each
            for one in judged
            for each in one.findings
            if not find_note_number(each.evidence, notes)
        }
        return number_notes(list(taken.values()), len(notes) + 1)


def find_note_number(evidence: Evidence, notes: Sequence[SourceNote]) -> int:
    """Return the number of the first note whose quote contains this one, or 0."""
    of_page = (note for note in notes if note.evidence.origin == evidence.origin)
    return next((note.number for note in of_page if evidence.quote in note.evidence.quote), 0)


def rank_pages_by_claim(claim: str, pages: Sequence[Retrieved]) -> list[Retrieved]:
    """Return the pages with words of the claim, those with the most and rarest first.

    A page with less than half the score of the best one is about something else."""
    words = set(word_roots(claim, telling=True))
    shared = [words & set(word_roots(f"{page.title} {page.text}", telling=True)) for page in pages]
    often = Counter(word for found in shared for word in found)
    worth = [sum(compute_word_rarity(often[word], len(pages)) for word in found) for found in shared]
    ranked = sorted(zip(worth, pages, strict=True), key=lambda each: -each[0])
    # Half the best score: rarer words weigh more, so a page that shares only common words falls below.
    return [page for each, page in ranked if each and each >= ranked[0][0] / 2]


def keep_independent(own: Retrieved | None, pages: Sequence[Retrieved]) -> list[Retrieved]:
    """Return pages of other sites that copy neither the claim's page nor each other."""
    chosen: list[Retrieved] = []
    for page in pages:
        if (own is None or are_independent(own, page)) and not any(is_copy(page.text, each.text) for each in chosen):
            chosen.append(page)
    return chosen[:MAX_PAGES_PER_CLAIM]
