"""The memo as text: what a planner and a person read of a round, never longer than a planner can take.

Most of it comes from pages, so every piece is cleaned and cut; what matters least is left out first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import structs

from tablewright.models.tokens import estimate_tokens
from tablewright.table.model import Noun
from tablewright.table.research import (
    MOST_CANDIDATES,
    MOST_CLAIMS,
    MOST_GAPS,
    MOST_OF_A_DOMAIN,
    MOST_SOURCES,
    MOST_THEMES,
    CatalogCandidate,
    Claim,
    FieldStatus,
    Gap,
    Memo,
    SourceEntry,
)
from tablewright.table.text import shortened
from tablewright.table.untrusted import LEFT_OUT, clean, gives_orders

LONG, MIDDLING, SHORT = 240, 140, 80


class _Part(Noun, frozen=True):
    """A section; its items are left out from the last to the first."""

    heading: str
    items: tuple[str, ...]


def bounded(memo: Memo) -> Memo:
    """Within the memo's caps, the most telling entries kept and first."""
    return structs.replace(
        memo,
        themes_covered=tuple(dict.fromkeys(memo.themes_covered))[:MOST_THEMES],
        sources_summary=_diverse(memo.sources_summary),
        gaps=tuple(sorted(memo.gaps, key=lambda gap: gap.priority))[:MOST_GAPS],
        claims_to_verify=memo.claims_to_verify[:MOST_CLAIMS],
        candidates=tuple(sorted(memo.candidates, key=lambda each: -_fullness(each, memo.required_fields)))[
            :MOST_CANDIDATES
        ],
    )


def written(memo: Memo, most_tokens: int = 2_000) -> str:
    """The query and the progress always stay; then gaps, claims, candidates, themes and sources, as far as they fit."""
    memo = bounded(memo)
    top = _head(memo, LONG)
    if estimate_tokens(top) > most_tokens:
        return _fitting_head(memo, most_tokens)
    themes, gaps, candidates, claims, sources = parts = _parts(memo)
    kept: dict[str, list[str]] = {}
    left = most_tokens - estimate_tokens(top)
    for part in (gaps, claims, candidates, themes, sources):
        left -= estimate_tokens(f"\n\n{part.heading}") if part.items else 0
        for item in part.items:
            left -= estimate_tokens(f"\n{item}")
            if left < 0:
                break
            kept.setdefault(part.heading, []).append(item)
    least_first = [part.heading for part in (sources, themes, candidates, claims, gaps)]
    while estimate_tokens(text := _joined(top, parts, kept)) > most_tokens and kept:
        heading = next(heading for heading in least_first if heading in kept)
        kept[heading].pop()
        if not kept[heading]:
            del kept[heading]
    return text if estimate_tokens(text) <= most_tokens else _fitting_head(memo, most_tokens)


def _joined(top: str, parts: Iterable[_Part], kept: dict[str, list[str]]) -> str:
    sections = ("\n".join((part.heading, *kept[part.heading])) for part in parts if part.heading in kept)
    return "\n\n".join((top, *sections))


# ── the parts ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _head(memo: Memo, query: int) -> str:
    lines = (
        f"# Research memo, round {memo.round_index}",
        f"Query: {said(memo.query, query, own=True)}",
        f"Report type: {memo.report_type}",
        "",
        "## Progress",
        f"- Tasks: {memo.tasks_completed} done, {memo.tasks_remaining} left",
        f"- Citations: {memo.unique_citations} from {memo.unique_domains} domains",
        f"- Pages read: {memo.pages_extracted}",
    )
    return "\n".join(lines)


def _fitting_head(memo: Memo, most_tokens: int) -> str:
    """For a very small budget or a very dense query: the query is cut, at last the whole."""
    for length in (LONG // 2, LONG // 4, LONG // 8, 10):
        if estimate_tokens(text := _head(memo, length)) <= most_tokens:
            return text
    while text and estimate_tokens(text) > most_tokens:
        text = text[: len(text) * 3 // 4]
    return text


def _parts(memo: Memo) -> tuple[_Part, _Part, _Part, _Part, _Part]:
    wanted = f" ({len(memo.candidates)} of {2 * memo.target_items} wanted)" if memo.target_items else ""
    return (
        _Part(heading="## Themes covered", items=tuple(f"- {said(theme, MIDDLING)}" for theme in memo.themes_covered)),
        _Part(heading="## Gaps", items=tuple(_gap(number, gap) for number, gap in enumerate(memo.gaps, 1))),
        _Part(
            heading=f"## Candidates{wanted}",
            items=tuple(_candidate(each, memo.required_fields) for each in memo.candidates),
        ),
        _Part(
            heading="## Claims to verify",
            items=tuple(_claim(number, claim) for number, claim in enumerate(memo.claims_to_verify, 1)),
        ),
        _Part(heading="## Sources", items=tuple(map(_source, memo.sources_summary))),
    )


def _gap(number: int, gap: Gap) -> str:
    line = f"{number}. [priority {gap.priority}] {said(gap.description, MIDDLING)}"
    return f"{line}\n   Search: {said(gap.suggested_query, MIDDLING)}" if gap.suggested_query else line


def _candidate(candidate: CatalogCandidate, required: Sequence[str]) -> str:
    names = required or tuple(candidate.fields)
    open_fields = [f"{name} is {status}" for name in names if (status := _status(candidate, name)) != "found"]
    state = ", ".join(said(name, SHORT) for name in open_fields[:8]) or "complete"
    return f"- {said(candidate.name, SHORT)}: {shortened(state, MIDDLING)}"


def _claim(number: int, claim: Claim) -> str:
    lines = [f"{number}. {said(claim.claim_text, LONG)}", f"   Source: {said(claim.source_url, MIDDLING)}"]
    if claim.verification_query:
        lines.append(f"   Search: {said(claim.verification_query, MIDDLING)}")
    return "\n".join(lines)


def _source(source: SourceEntry) -> str:
    title = said(source.title, SHORT)
    evidence = "evidence" if source.has_evidence else "no evidence"
    return f"- {said(source.domain or source.url, SHORT)}: {title or 'no title'} ({source.relevance}, {evidence})"


def said(text: str, most: int, *, own: bool = False) -> str:
    """On one line, without what cannot be seen, cut. Text that is not the user's `own` may not speak to machines."""
    text = text[: 8 * most].encode("utf-8", "ignore").decode()
    text = _CONTROL.sub(" ", clean(text))
    return LEFT_OUT if not own and gives_orders(text) else shortened(text, most)


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


# ── what is kept ─────────────────────────────────────────────────────────────────────────────────────────────────────


def _diverse(sources: Sequence[SourceEntry]) -> tuple[SourceEntry, ...]:
    """Each address once, at most three of a domain; those with evidence first, and of these one of each domain before
    the second of any."""
    by_url = {source.url: source for source in sorted(sources, key=lambda source: source.has_evidence)}
    seen: Counter[str] = Counter()
    ranked = []
    for source in sorted(by_url.values(), key=lambda source: not source.has_evidence):
        domain = (source.domain or source.url).casefold()
        if seen[domain] < MOST_OF_A_DOMAIN:
            ranked.append((not source.has_evidence, seen[domain], source))
            seen[domain] += 1
    return tuple(source for _, _, source in sorted(ranked, key=lambda entry: entry[:2]))[:MOST_SOURCES]


def _fullness(candidate: CatalogCandidate, required: Sequence[str]) -> int:
    names = required or tuple(candidate.fields)
    return sum({"found": 2, "partial": 1, "missing": 0}[_status(candidate, name)] for name in names)


def _status(candidate: CatalogCandidate, name: str) -> FieldStatus:
    """As it is kept; what the candidate itself says needs no entry: its name, and its address."""
    itself = name.casefold() == "name" or (candidate.provider_url and _ADDRESS.search(name))
    return candidate.fields.get(name, "found" if itself else "missing")


_ADDRESS = re.compile(r"\b(?:url|website|site|homepage)$", re.IGNORECASE)
