"""Verification: what independent sources say about the claims that most depends on.

Sought with words that do not repeat the claim's own figure, so that who says otherwise is found too. A search that
fails, or pages that do not speak of it, leave a claim "not checked": that is not "refuted".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from tablewright.decisions.decision import Tell, decide, fall_back
from tablewright.decisions.judge_claim import ClaimPassage, Judge, JudgeClaim, Judged
from tablewright.models.concern import concerning
from tablewright.table.evidence import evidence_for, independent
from tablewright.table.model import Evidence, Stance
from tablewright.table.research import CheckedClaim, Claim, Verdict
from tablewright.table.retrieved import Retrieved, is_document
from tablewright.table.text import plural

if TYPE_CHECKING:
    from tablewright.models.model import LanguageModel

STANCE: dict[Verdict, Stance] = {"supported": "supports", "contradicted": "contradicts", "qualified": "qualifies"}

SAYS: dict[Stance, str] = {"supports": "so says", "contradicts": "otherwise says", "qualifies": "in part says"}


async def verify(
    claim: Claim,
    about: str,
    own: Retrieved | None,
    pages: Sequence[Retrieved],
    model: LanguageModel | None,
    tell: Tell,
    *,
    failed: str = "",
) -> CheckedClaim:
    """`about` is what the claim speaks of, `own` the page that makes it, `failed` why others were not looked for."""
    others = [page for page in pages if own is None or independent(own, page)]
    evidence: list[Evidence] = []
    for page in others:
        judged = await _judged(claim, about, page, model, tell)
        if judged.verdict != "not checked" and judged.passage is not None:
            said = evidence_for(page, judged.start, judged.end)
            evidence.append(msgspec.structs.replace(said, stance=STANCE[judged.verdict]))
    verdict = overall(evidence)
    reason = failed if failed and not others else reason_for(verdict, evidence, len(others))
    return CheckedClaim(claim=claim, verdict=verdict, reason=reason, evidence=tuple(evidence))


async def _judged(claim: Claim, about: str, page: Retrieved, model: LanguageModel | None, tell: Tell) -> Judged:
    passage = ClaimPassage(text=page.text, title=page.title, origin=page.origin)
    asked = JudgeClaim(claim=claim.claim_text, about=about, passages=(passage,))
    ruled = await fall_back(Judge(), asked)
    if model is None or ruled.verdict == "not checked":
        return ruled
    with concerning([page.origin] if is_document(page.origin) else []):
        judged: Judged = (await decide(Judge(), asked, model, tell)).decided
    return judged


def overall(evidence: Sequence[Evidence]) -> Verdict:
    """Who says so and who says otherwise together qualify a claim."""
    stances = {each.stance for each in evidence}
    if not stances:
        return "not checked"
    if stances == {"supports"}:
        return "supported"
    return "contradicted" if stances == {"contradicts"} else "qualified"


def reason_for(verdict: Verdict, evidence: Sequence[Evidence], read: int) -> str:
    if verdict == "not checked":
        if not read:
            return "no independent source was found"
        return f"{read} independent {plural('page', read)} read; none speaks of it"
    said: dict[Stance, list[str]] = {}
    for each in evidence:
        said.setdefault(each.stance, []).append(each.domain or each.title)
    return "; ".join(f"{SAYS[stance]} {' and '.join(dict.fromkeys(who))}" for stance, who in said.items())
