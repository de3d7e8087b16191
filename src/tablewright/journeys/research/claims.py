"""Claims: what independent sites say about the statements that the answer most depends on.

A search that fails, or pages that do not speak of it, leave a claim "not checked": that is not "refuted".
"""

from __future__ import annotations

from collections.abc import Sequence

from tablewright.decisions.check_claim import CheckClaim, ClaimToJudge, JudgedClaim
from tablewright.decisions.decision import Tell, decide
from tablewright.models.concern import concerning
from tablewright.strategies.tools import Tools
from tablewright.table.evidence import copies, independent
from tablewright.table.research import Brief, Claim
from tablewright.table.retrieved import Retrieved, is_document
from tablewright.table.text import plural

MOST_PAGES = 6


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
