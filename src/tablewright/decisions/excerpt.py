"""A page cut to the passages that matter for some fields, so that a prompt stays short whatever the page."""

from __future__ import annotations

from collections.abc import Sequence

from tablewright.extraction.passages import passages
from tablewright.extraction.relations import normal
from tablewright.extraction.wanted import wanted
from tablewright.table.model import Field

HEAD = 500
SKIPPED = " … "


def excerpt(text: str, fields: Sequence[Field], limit: int) -> str:
    """The beginning, then the sentences and lines that speak of the fields, in order, within `limit` characters."""
    if len(text) <= limit:
        return text
    words = {
        word[:6]
        for field in fields
        for label in (*wanted(field).labels, *wanted(field).words)
        for word in label.split()
    }
    head = min(HEAD, limit // 3)
    scored = sorted(
        ((_hits(text[start:end], words), start, end) for start, end in passages(text).pieces if start >= head),
        key=lambda piece: (-piece[0], piece[1]),
    )
    chosen, used = [(0, _word_end(text, head))], head
    for hits, start, end in scored:
        if not hits or used >= limit:
            break
        end = min(end, start + 600)
        if used + end - start <= limit:
            chosen.append((start, end))
            used += end - start + len(SKIPPED)
    return SKIPPED.join(text[start:end] for start, end in sorted(chosen))


def _hits(piece: str, words: set[str]) -> int:
    return sum(1 for word in set(normal(piece).split()) if word[:6] in words)


def _word_end(text: str, place: int) -> int:
    end = text.find(" ", place)
    return end if 0 <= end < place + 40 else place
