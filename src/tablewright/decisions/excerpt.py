"""Texts as a prompt shows them: whole where they fit, otherwise cut to the passages that speak of the columns."""

from __future__ import annotations

from collections.abc import Sequence

from tablewright.extraction.passages import passages
from tablewright.table.model import Field
from tablewright.table.retrieved import Retrieved
from tablewright.table.rowkey import fold, tokenize

HEAD = 0.3
"""Of the room for a text, the share that its beginning takes: what it is about."""
LONGEST_PIECE = 600
SKIPPED = " … "
STEM = 6
"""Letters by which two forms of a word are taken for one."""


def fitted(sources: Sequence[Retrieved], fields: Sequence[Field], room: int) -> list[str]:
    """Each text whole, or cut to its share: what short texts leave over is shared out among the long ones."""
    shares: dict[int, int] = {}
    left = room
    for waiting, place in zip(
        range(len(sources), 0, -1), sorted(range(len(sources)), key=lambda n: len(sources[n].text)), strict=True
    ):
        shares[place] = min(len(sources[place].text), left // waiting)
        left -= shares[place]
    return [excerpt(source.text, fields, shares[place]) for place, source in enumerate(sources)]


def excerpt(text: str, fields: Sequence[Field], limit: int) -> str:
    """The beginning, then the sentences and lines that share the most words with the columns, in their order."""
    if len(text) <= limit:
        return text
    asked = " ".join(f"{field.name} {field.question} {field.description}" for field in fields)
    words = {word[:STEM] for word in tokenize(fold(asked)) if len(word) > 2}
    head = _word_end(text, int(limit * HEAD))
    scored = sorted(
        ((_shared(text[start:end], words), start, end) for start, end in passages(text).pieces if start >= head),
        key=lambda piece: (-piece[0], piece[1]),
    )
    chosen, used = [(0, head)], head
    for shared, start, end in scored:
        if not shared or used >= limit:
            break
        end = min(end, start + LONGEST_PIECE)
        if used + end - start <= limit:
            chosen.append((start, end))
            used += end - start + len(SKIPPED)
    return SKIPPED.join(text[start:end] for start, end in sorted(chosen))


def _shared(piece: str, words: set[str]) -> int:
    return len({word[:STEM] for word in tokenize(fold(piece))} & words)


def _word_end(text: str, place: int) -> int:
    end = text.find(" ", place)
    return end if 0 <= end < place + 40 else place
