"""Claims: what independent sites say about the statements that the answer most depends on.

A search that fails, or pages that do not speak of it, leave a claim "not checked": that is not "refuted".
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from tablewright.decisions.check_claim import CheckClaim, ClaimToJudge, JudgedClaim
from tablewright.decisions.decision import Tell, decide
from tablewright.journeys.research.limits import Limits
from tablewright.journeys.research.worker import Library
from tablewright.models.concern import concerning
from tablewright.strategies.tools import Tools
from tablewright.table.evidence import copies, independent
from tablewright.table.research import Brief, Claim, Note, ResearchTask, SourceNote
from tablewright.table.retrieved import Retrieved, is_document
from tablewright.table.text import plural

MOST_PAGES = 6


class Verification:
    """The claims of one piece of research, judged side by side. `told` is called as each is judged."""

    def __init__(
        self,
        tools: Tools,
        brief: Brief,
        library: Library,
        limits: Limits,
        notes: Sequence[SourceNote],
        tell: Tell,
        told: Callable[[Claim, JudgedClaim], None],
    ) -> None:
        self._tools = tools
        self._brief = brief
        self._library = library
        self._limits = limits
        self._notes = {note.number: note for note in notes}
        self._tell = tell
        self._told = told

    async def judge(
        self, claims: Sequence[Claim], tasks: Sequence[ResearchTask], results: Sequence[Note]
    ) -> list[JudgedClaim]:
        """`tasks` are the searches that were made for them, and `results` what these brought."""
        failed = "; ".join(dict.fromkeys(result.error for result in results if result.error))

        async def one(claim: Claim) -> JudgedClaim:
            if self._limits.spent:
                return JudgedClaim(reason=self._limits.spent)
            own = self._library.pages.get(claim.source_url)
            pages = self._pages(claim, tasks)
            judged = await judge(self._tools, self._brief, claim, own, pages, self._tell, failed)
            self._told(claim, judged)
            return judged

        return list(await asyncio.gather(*map(one, claims)))

    def _pages(self, claim: Claim, tasks: Sequence[ResearchTask]) -> list[Retrieved]:
        """What its own search found, then earlier pages on the same part of the question, then what the other searches
        found; as many as there is room for are judged."""
        topic = self._notes[claim.note].topic if claim.note in self._notes else ""
        related = {note.evidence.origin for note in self._notes.values() if note.topic == topic}
        found = self._library.read_by([task.id for task in tasks if task.target_gap == claim.claim_text])
        noted = [page for origin, page in self._library.pages.items() if origin in related]
        others = self._library.read_by([task.id for task in tasks])
        return list({page.origin: page for page in (*found, *noted, *others)}.values())


async def judge(
    tools: Tools, brief: Brief, claim: Claim, own: Retrieved | None, pages: Sequence[Retrieved], tell: Tell, failed: str
) -> JudgedClaim:
    """`own` is the page that makes the claim, `failed` why others were not looked for."""
    others = independent_of(own, pages)
    if not others or tools.model is None:
        return JudgedClaim(reason=failed or "no independent source was found")
    asked = ClaimToJudge(
        brief=brief,
        claim=claim.claim_text,
        made_by=own.domain or own.title if own else claim.source_url,
        pages=tuple(others),
        room=tools.model.text_room,
    )
    with concerning([page.origin for page in others if is_document(page.origin)]):
        outcome = await decide(CheckClaim(), asked, tools.model, tell)
    if outcome.degraded:
        return JudgedClaim(reason=outcome.degraded)
    judged: JudgedClaim = outcome.decided
    if judged.verdict == "not checked":
        read = f"{len(others)} independent {plural('page', len(others))} read; none speaks of it"
        return JudgedClaim(reason=judged.reason or read)
    return judged


def independent_of(own: Retrieved | None, pages: Sequence[Retrieved]) -> list[Retrieved]:
    """Of other sites, none a copy of the page that makes the claim or of another."""
    chosen: list[Retrieved] = []
    for page in pages:
        if (own is None or independent(own, page)) and not any(copies(page.text, each.text) for each in chosen):
            chosen.append(page)
    return chosen[:MOST_PAGES]
