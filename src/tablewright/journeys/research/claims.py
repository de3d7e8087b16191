"""Claims: what independent sites say about the statements that the answer most depends on.

A search that fails, or pages that do not speak of it, leave a claim "not checked": that is not "refuted".
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence

from tablewright.citations.evidence import copies, independent
from tablewright.decisions.check_claim import CheckClaim, ClaimToJudge, JudgedClaim
from tablewright.decisions.decision import decide
from tablewright.decisions.write_report import disputes_of, notes_against
from tablewright.domain.model import Evidence
from tablewright.domain.research import CheckedClaim, Claim, Note, ResearchTask, Round, SourceNote
from tablewright.domain.retrieved import Retrieved
from tablewright.journeys.research.library import failures
from tablewright.journeys.research.memo import carried_over
from tablewright.journeys.research.notes import numbered
from tablewright.journeys.research.progress import ResearchProgress
from tablewright.models.document_scope import concerning
from tablewright.store.text_index import word_rarity
from tablewright.text.words import roots

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
        tasks = [
            ResearchTask(
                id=f"v_{number}", kind="verify", search_query=claim.verification_query, target_gap=claim.claim_text
            )
            for number, claim in enumerate(searched, start=1)
        ]
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

        async def one(claim: Claim) -> JudgedClaim:
            if underway.limits.spent:
                return JudgedClaim(reason=underway.limits.spent)
            own = underway.library.pages.get(claim.source_url)
            pages = self._pages(claim, own, tasks)
            work = judge(underway, claim, own, pages, failed)
            judged = await underway.limits.in_time(work) or JudgedClaim(reason=underway.limits.spent)
            underway.tell("claim", detail=f"{judged.verdict}: {claim.claim_text}")
            return judged

        return list(await asyncio.gather(*map(one, claims)))

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


async def judge(
    underway: ResearchProgress, claim: Claim, own: Retrieved | None, pages: Sequence[Retrieved], failed: str
) -> JudgedClaim:
    """`own` is the page that makes the claim, `failed` why others were not looked for."""
    others, words, tools = independent_of(own, pages), underway.limits.words, underway.tools
    if not others or tools.model is None:
        return JudgedClaim(reason=failed or words("no independent source was found"))
    asked = ClaimToJudge(
        brief=underway.brief,
        claim=claim.claim_text,
        made_by=own.domain or own.title if own else claim.source_url,
        pages=tuple(others),
        room=tools.model.text_room,
    )
    with concerning([page.origin for page in others]):
        outcome = await decide(CheckClaim(), asked, tools.model, underway.note)
    if outcome.degraded:
        return JudgedClaim(reason=outcome.degraded)
    judged: JudgedClaim = outcome.decided
    if judged.verdict == "not checked":
        read = words(
            "{count} independent page read; none speaks of it|{count} independent pages read; none speaks of it",
            count=len(others),
        )
        return JudgedClaim(reason=judged.reason or read)
    return judged


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
