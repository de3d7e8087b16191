"""Detect gaps: what a round left open, how much it matters, and what to search for next."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.decisions.brief.phrases import as_query, same_words, short_query
from tablewright.decisions.decision import Prompt, Unusable
from tablewright.decisions.memo_text import said
from tablewright.table.model import Noun
from tablewright.table.research import MOST_GAPS, Angle, Brief, CatalogCandidate, FieldStatus, Gap, GapType, Wanted
from tablewright.table.text import plural
from tablewright.table.untrusted import LEFT_OUT, WARNING, block, gives_orders, question_block

DIVERSE = "diverse_sources"
MOST_ADDED = 5
MOST_FINDINGS = 12
_NAME_LENGTH = 80

INSTRUCTIONS = (
    "You read what research has found so far and say what is still missing for a good answer: at most 5 gaps, each a "
    "specific thing that the findings do not say or say weakly. description: what is missing, in one short sentence. "
    "priority: 1 (the answer is wrong or empty without it), 2 or 3 (nice to have). suggested_query: a short search "
    "query "
    "for it, without question marks. Do not repeat the gaps that are known. If nothing is missing, give none. "
    + WARNING
)


# ── catalogs: fields of candidates ───────────────────────────────────────────────────────────────────────────────────


def catalog_gaps(
    things: str, candidates: Sequence[CatalogCandidate], wanted: Sequence[Wanted], target: int
) -> tuple[Gap, ...]:
    """The required fields that candidates lack or that rest on weak evidence, and candidates themselves: twice as many
    as are asked for, so that there is a choice."""
    required = [each for each in wanted if each.field.required and each.kind != "name"]
    gaps = [gap for candidate in candidates for gap in _of_candidate(candidate, required)]
    gaps.sort(key=lambda gap: gap.priority)
    if len(candidates) >= 2 * target:
        return tuple(gaps[:MOST_GAPS])
    more = Gap(
        gap_type="missing_candidates",
        description=f"Need more candidates: have {len(candidates)}, want {2 * target}",
        priority=1,
        suggested_query=short_query(f"{things} list examples"),
    )
    urgent = [gap for gap in gaps if gap.priority == 1][: MOST_GAPS - 1]
    return (*urgent, more, *(gap for gap in gaps if gap.priority > 1))[:MOST_GAPS]


def _of_candidate(candidate: CatalogCandidate, required: Sequence[Wanted]) -> list[Gap]:
    name = plain_name(candidate.name)
    missing = [each for each in required if _status(candidate, each) == "missing"]
    weak = tuple(each.field.name for each in required if _status(candidate, each) == "partial")
    gaps = []
    if missing:
        fields = tuple(each.field.name for each in missing)
        gaps.append(
            Gap(
                gap_type="missing_field",
                description=f"{name}: missing {', '.join(fields)}",
                priority=1 if any(each.kind == "price" for each in missing) else 2,
                candidate_name=candidate.name,
                missing_fields=fields,
                suggested_query=field_query(name, missing),
            )
        )
    if weak:
        gaps.append(
            Gap(
                gap_type="weak_evidence",
                description=f"{name}: weak evidence for {', '.join(weak)}",
                priority=2,
                candidate_name=candidate.name,
                missing_fields=weak,
                suggested_query=short_query(f'"{name}" reviews independent analysis'),
            )
        )
    return gaps


def _status(candidate: CatalogCandidate, wanted: Wanted) -> FieldStatus:
    otherwise: FieldStatus = "found" if wanted.kind == "site" and candidate.provider_url else "missing"
    return candidate.fields.get(wanted.field.name, otherwise)


def field_query(name: str, missing: Sequence[Wanted]) -> str:
    """What to search for a candidate's missing fields: the words of the pages that state the most wanted of them."""
    kinds = {each.kind for each in missing}
    if "price" in kinds:
        words = "pricing cost plans"
    elif "proof" in kinds:
        words = "case study customer testimonial review"
    else:
        words = " ".join("official website" if each.kind == "site" else each.field.name for each in missing)
    return short_query(f'"{name}" {words}')


def plain_name(name: str) -> str:
    """A candidate's name as it can stand in a query and in a line: it was read in a page."""
    text = said(name, _NAME_LENGTH).replace('"', "").strip()
    return "a candidate" if text == LEFT_OUT or not text else text


# ── narratives: angles of the question ───────────────────────────────────────────────────────────────────────────────


class AngleState(Noun, frozen=True):
    """What has been found for an angle: passages, from how many domains, and whether they disagree."""

    passages: int = 0
    domains: int = 0
    contradicts: bool = False


def narrative_gaps(
    brief: Brief, covered: Mapping[str, AngleState], domains: int, least_domains: int, round_index: int
) -> tuple[Gap, ...]:
    """`covered` is keyed by the angles' names. Each round suggests other words, as those of the last one were tried."""
    gaps = []
    for angle in brief.angles:
        state = covered.get(angle.name, AngleState())
        query = _other_words(angle, round_index)
        name = said(angle.name, 120)
        if not state.passages:
            gaps.append(_topic("missing_topic", f"Missing coverage: {name}", 1 if brief.is_fact else 2, angle, query))
        elif state.contradicts:
            query = short_query(f"{_about(angle)} comparison of sources review")
            gaps.append(_topic("weak_evidence", f"{name}: the sources contradict each other", 2, angle, query))
        elif state.domains < 2:
            gaps.append(_topic("weak_evidence", f"{name}: all of it comes from one domain", 3, angle, query))
    if domains < least_domains:
        description = f"Need more diverse sources: have {domains} {plural('domain', domains)}, want {least_domains}"
        gaps.append(Gap(gap_type="missing_topic", description=description, priority=2, missing_topic=DIVERSE))
    return tuple(sorted(gaps, key=lambda gap: gap.priority)[:MOST_GAPS])


def _topic(kind: GapType, description: str, priority: int, angle: Angle, query: str) -> Gap:
    return Gap(
        gap_type=kind, description=description, priority=priority, missing_topic=angle.name, suggested_query=query
    )


def _about(angle: Angle) -> str:
    return angle.query or as_query(angle.question)


def _other_words(angle: Angle, round_index: int) -> str:
    ways = (f"{_about(angle)} explained", f"{_about(angle)} report analysis", as_query(angle.question))
    return short_query(ways[(round_index - 1) % len(ways)])


# ── what a model adds ────────────────────────────────────────────────────────────────────────────────────────────────


class DetectGaps(Noun, frozen=True):
    """`findings` are passages that were found; `rule_gaps` those that the code counted."""

    brief: Brief
    memo_text: str = ""
    findings: tuple[str, ...] = ()
    rule_gaps: tuple[Gap, ...] = ()


class Missing(BaseModel):
    description: str = Key(max_length=300)
    priority: int = 2
    suggested_query: str = Key(default="", max_length=200)


class Missings(BaseModel):
    gaps: list[Missing] = Key(max_length=10)


class Detect:
    name = "detect gaps"

    def prompt(self, asked: DetectGaps) -> Prompt:
        findings = "\n".join(f"- {said(finding, 300)}" for finding in asked.findings[:MOST_FINDINGS]) or "nothing"
        known = "\n".join(f"- {gap.description}" for gap in asked.rule_gaps) or "none"
        parts = [question_block(asked.brief.question)]
        if asked.memo_text:
            parts.append(f"Memo:\n{block(1, asked.memo_text)}")
        parts += [f"Findings:\n{block(2, findings)}", f"Known gaps:\n{block(3, known)}"]
        return Prompt(instructions=INSTRUCTIONS, text="\n\n".join(parts), reply=Missings, max_tokens=400)

    def check(self, asked: DetectGaps, reply: Any) -> tuple[Gap, ...]:
        """Its gaps beside ours. A catalog's gaps are counted, so nothing is added to them."""
        if asked.brief.report_type == "catalog":
            return asked.rule_gaps
        added = [gap for missing in reply.gaps[:MOST_ADDED] if (gap := _believed(missing))]
        if reply.gaps and not added:
            raise Unusable("a gap is a short sentence that says what is missing.", usable=self.fallback(asked))
        return merged(asked.rule_gaps, added)

    def fallback(self, asked: DetectGaps) -> tuple[Gap, ...]:
        return merged(asked.rule_gaps, ())


def _believed(missing: Missing) -> Gap | None:
    description = said(missing.description, 200)
    query = short_query(missing.suggested_query) or as_query(description)
    if not re.search(r"[^\W\d_]{2}", description) or description == LEFT_OUT or gives_orders(query):
        return None
    return Gap(
        gap_type="missing_topic",
        description=description,
        priority=max(1, min(missing.priority, 3)),
        missing_topic=said(description, 80),
        suggested_query=query,
    )


def merged(own: Sequence[Gap], added: Sequence[Gap]) -> tuple[Gap, ...]:
    """Each once, by priority; of the same priority ours first, so that none of our urgent ones is pushed out."""
    kept: list[Gap] = []
    seen: list[frozenset[str]] = []
    queries: set[frozenset[str]] = set()
    for gap in (*own, *added):
        words = same_words(gap.description)
        query = same_words(gap.suggested_query)
        if any(words == other for other in seen) or (gap in added and query and query in queries):
            continue
        kept.append(gap)
        seen.append(words)
        queries.add(query)
    return tuple(sorted(kept, key=lambda gap: gap.priority)[:MOST_GAPS])
