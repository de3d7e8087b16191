"""Check a claim of a report against pages of independent sites: their quotes, and the verdict that follows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import structs
from pydantic import BaseModel

from tablewright.citations.quotes import RETRIEVED_WARNING, clean_line, mark_text, prove_items
from tablewright.domain.model import Stance, Struct
from tablewright.domain.research import Brief, Verdict
from tablewright.domain.retrieved import Retrieved
from tablewright.llm.tasks.decision import Prompt, accept_reply, page_blocks
from tablewright.llm.tasks.take_notes import CitedStatement, describe_research, prove_note
from tablewright.llm.text_budget import TEXT_LIMITS


class ClaimToJudge(Struct, frozen=True, gc=True):
    """A claim with `pages` that are independent of the page that makes it."""

    brief: Brief
    claim: str
    made_by: str
    pages: tuple[Retrieved, ...]
    room: int = TEXT_LIMITS.default_room


class JudgedClaim(Struct, frozen=True):
    """A verdict with its findings, whose evidence has their stances."""

    verdict: Verdict = "not checked"
    reason: str = ""
    unsaid: str = ""
    findings: tuple[CitedStatement, ...] = ()


class PageFinding(BaseModel):
    page: int
    stance: Stance
    statement: str
    quote: str


class ClaimRuling(BaseModel):
    findings: list[PageFinding]
    verdict: Verdict
    reason: str
    unsaid: str


class CheckClaim:
    name = "check claim"
    instructions = """\
You check a claim of a research report against pages of sites other than the one that makes it.

`findings`: one for each page that says something of its own about what is claimed:
- `page`: its number. `quote`: its words that decide, copied exactly from one place.
- `stance`: "supports" if it says all that is claimed; "supports in part" if it says some of it and nothing of the \
rest; "contradicts" if it says that it is otherwise, such as another figure for the same thing at the same time; \
"qualifies" if by its words the claim holds only under conditions, to a lesser degree, or for another time. What a \
page does not mention speaks neither for nor against the claim.
- `statement`: what the page says of it, in a plain sentence that can be understood without the page, with every \
figure as in the quote, in the language of the report.
A page that does not mention it, or is about a namesake, has no finding. Look for what speaks against the claim as \
carefully as for what supports it.

`verdict` over all findings: "supported"; "partly supported" where pages say some of it, and none says otherwise; \
"contradicted"; "qualified", also where a trustworthy page contradicts and another supports it; or "not checked" where \
there is no finding. `reason`: one sentence that says what it is based on. `unsaid`: the part of the claim that no \
page mentions, in a few words; "" if they mention all of it, or nothing. Use the pages alone, not what you know.
"""

    def prompt(self, asked: ClaimToJudge) -> Prompt:
        claim = f"The claim:\n{mark_text(0, asked.claim, f'claim made by {asked.made_by}')}"
        return Prompt(
            instructions=f"{self.instructions}\n{RETRIEVED_WARNING}\n\n{describe_research(asked.brief)}",
            text=f"{page_blocks(asked.pages, asked.claim, asked.room)}\n\n{claim}",
            reply=ClaimRuling,
            # A finding with its quote for each of the pages, and the verdict.
            max_tokens=1_500,
        )

    def check(self, asked: ClaimToJudge, reply: Any) -> JudgedClaim:
        def prove(found: PageFinding) -> CitedStatement:
            proved = prove_note(found.statement, found.quote, found.page, asked.pages)
            return structs.replace(proved, evidence=structs.replace(proved.evidence, stance=found.stance))

        findings, failed = prove_items(reply.findings, prove, lambda found: found.statement)
        problems = [fault for _, fault in failed]
        stances = {finding.evidence.stance for finding in findings}
        # What no page mentions is only a part of the claim if some page speaks of it at all.
        unsaid = clean_line(reply.unsaid) if findings else ""
        judged = JudgedClaim(
            verdict=reply.verdict, reason=clean_line(reply.reason), unsaid=unsaid, findings=tuple(findings)
        )
        # A verdict needs at least one finding with one of its stances.
        needed = {
            "supported": {"supports", "supports in part"},
            "partly supported": {"supports", "supports in part"},
            "contradicted": {"contradicts"},
            "qualified": {"qualifies", "contradicts"},
        }.get(reply.verdict)
        if needed is not None and not needed & stances:
            problems.append(f'the verdict "{reply.verdict}" is backed by no finding of that stance.')
            judged = structs.replace(judged, verdict=verdict_of_stances(stances))
        return accept_reply(judged, problems)

    def fallback(self, asked: ClaimToJudge) -> JudgedClaim:
        return JudgedClaim(reason="it takes a model to check a claim")


def verdict_of_stances(stances: set[Stance] | Sequence[Stance]) -> Verdict:
    """Return the verdict that follows from the proved findings, if the model's own verdict rests on none of them."""
    if not stances:
        return "not checked"
    if set(stances) <= {"supports", "supports in part"}:
        return "supported" if "supports" in stances else "partly supported"
    return "contradicted" if set(stances) == {"contradicts"} else "qualified"
