"""The memo: all that one round hands to the next beside the notes themselves, and what a person reads of a round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from tablewright.citations.untrusted import clean, looks_like_prompt_injection
from tablewright.decisions.reflect import Reflection, describe_lacks
from tablewright.domain.research import (
    MEMO_TOKENS,
    MOST_OF_A_DOMAIN,
    MOST_SOURCES,
    Brief,
    Memo,
    SourceEntry,
    SourceNote,
)
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.text import shortened
from tablewright.models.tokens import estimate_tokens

GAPS_SHOWN = 5
CANDIDATES_SHOWN = 10
LONGEST_QUERY = 400


def build_memo(
    brief: Brief,
    round_index: int,
    reflection: Reflection,
    notes: Sequence[SourceNote],
    pages: Mapping[str, Retrieved],
    *,
    tasks_completed: int,
    tasks_remaining: int,
) -> Memo:
    return Memo(
        query=brief.question,
        report_type=brief.report_type,
        round_index=round_index,
        tasks_completed=tasks_completed,
        tasks_remaining=tasks_remaining,
        unique_citations=len({note.evidence.origin for note in notes}),
        unique_domains=len({note.evidence.domain or note.evidence.origin for note in notes}),
        pages_extracted=len(pages),
        themes_covered=reflection.themes,
        sources_summary=sources(pages, notes),
        gaps=reflection.gaps,
        claims_to_verify=reflection.claims,
        contradictions=reflection.contradictions,
        answered=reflection.answered,
    )


def carried_over(memo: Memo) -> Reflection:
    """What the next round takes over where nobody reflects again."""
    return Reflection(
        answered=memo.answered,
        themes=memo.themes_covered,
        gaps=memo.gaps,
        contradictions=memo.contradictions,
        claims=memo.claims_to_verify,
    )


def sources(pages: Mapping[str, Retrieved], notes: Sequence[SourceNote]) -> tuple[SourceEntry, ...]:
    """Those that notes were taken from first, and only a few of a site."""
    topics: dict[str, Counter[str]] = {}
    for note in notes:
        topics.setdefault(note.evidence.origin, Counter())[note.topic] += 1
    kept: list[SourceEntry] = []
    for page in sorted(pages.values(), key=lambda page: page.origin not in topics):
        of_domain = sum(each.domain == page.domain for each in kept if page.domain)
        if len(kept) < MOST_SOURCES and of_domain < MOST_OF_A_DOMAIN:
            told = topics.get(page.origin)
            kept.append(
                SourceEntry(
                    url=page.origin,
                    domain=page.domain,
                    title=page.title,
                    has_evidence=told is not None,
                    relevance=told.most_common(1)[0][0] if told else "",
                )
            )
    return tuple(kept)


def written(memo: Memo, most_tokens: int = MEMO_TOKENS) -> str:
    """As text, the most important first; what does not fit is left out from the end."""
    lines = list(_lines(memo))
    while lines and estimate_tokens("\n".join(lines)) > most_tokens:
        lines.pop()
    return "\n".join(lines)


def _lines(memo: Memo) -> Iterable[str]:
    yield f"# Research memo, round {memo.round_index}"
    yield f"Query: {shortened(memo.query, LONGEST_QUERY)}"
    yield f"Report type: {memo.report_type}. Answered: {memo.answered}."
    yield f"Searches: {memo.tasks_completed} made, {memo.tasks_remaining} left."
    yield f"Pages read: {memo.pages_extracted}; noted from: {memo.unique_citations}, of {memo.unique_domains} sites."
    yield from _section("Gaps", [_gap(n, memo) for n in range(min(GAPS_SHOWN, len(memo.gaps)))])
    yield from _section(
        "Claims to verify",
        [
            f"- {each.claim_text} (note {each.note}). Verify with: {each.verification_query}"
            for each in memo.claims_to_verify
        ],
    )
    yield from _section(
        "Contradictions",
        [
            f"- {each.about}: notes {', '.join(map(str, each.notes))} against {', '.join(map(str, each.against))}"
            for each in memo.contradictions
        ],
    )
    yield from _section("Themes covered", [f"- {theme}" for theme in memo.themes_covered])
    yield from _section("Candidates", [_candidate(n, memo) for n in range(min(CANDIDATES_SHOWN, len(memo.candidates)))])
    titles = [f"- {each.title or each.url} ({each.domain})" for each in memo.sources_summary]
    yield from _section("Sources", [title for title in titles if not looks_like_prompt_injection(title)])


def _section(heading: str, items: Sequence[str]) -> Iterable[str]:
    if items:
        yield f"\n## {heading}"
        yield from (" ".join(clean(item).split()) for item in items)


def _gap(place: int, memo: Memo) -> str:
    gap = memo.gaps[place]
    query = f" Suggested: {gap.suggested_query}" if gap.suggested_query else ""
    return f"{place + 1}. [{gap.priority}] {gap.description}.{query}"


def _candidate(place: int, memo: Memo) -> str:
    return f"- {memo.candidates[place].name}: {describe_lacks(memo.candidates[place])}"
