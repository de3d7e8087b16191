"""Texts as a prompt shows them: whole where they fit, otherwise cut to the passages that speak of the row and the
columns."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from tablewright.domain.model import Field
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.rowkey import fold, tokenize
from tablewright.text.passages import passages

HEAD = 0.3
"""Of the room for a text, the share that its beginning takes: what it is about."""
LONGEST_PIECE = 600
SKIPPED = " … "
STEM = 6
"""Letters by which two forms of a word are taken for one."""


def fitted(sources: Sequence[Retrieved], fields: Sequence[Field], room: int, name: str = "") -> list[str]:
    """Each text whole, or cut to its share: what short texts leave over is shared out among the long ones. `name` is
    the row's."""
    shares: dict[int, int] = {}
    left = room
    for waiting, place in zip(
        range(len(sources), 0, -1), sorted(range(len(sources)), key=lambda n: len(sources[n].text)), strict=True
    ):
        shares[place] = min(len(sources[place].text), left // waiting)
        left -= shares[place]
    return [excerpt(source.text, fields, shares[place], name) for place, source in enumerate(sources)]


def excerpt(text: str, fields: Sequence[Field], limit: int, name: str = "") -> str:
    """The beginning, then the sentences and lines that share the most with the row's name and the columns, in their
    order. A word counts by how rare it is in the text: in a long list that is the name, on a page about the row it is
    what the columns ask. What stands there twice is shown once."""
    if len(text) <= limit:
        return text
    asked = " ".join(f"{field.name} {field.question} {field.description}" for field in fields)
    words = _stems(asked) | _stems(name, shortest=2)
    head = _word_end(text, int(limit * HEAD))
    places = {text[start:end]: (start, end) for start, end in reversed(passages(text).pieces) if start >= head}
    shared = {place: _stems(piece, shortest=2) & words for piece, place in places.items()}
    counts = Counter(stem for stems in shared.values() for stem in stems)
    rarity = {stem: math.log(len(places) / count) for stem, count in counts.items()}
    scores = {place: math.fsum(map(rarity.__getitem__, stems)) for place, stems in shared.items()}
    chosen, used = [(0, head)], head
    for start, end in sorted(scores, key=lambda place: (-scores[place], place)):
        if not shared[start, end] or used >= limit:
            break
        shown = min(end, start + LONGEST_PIECE)
        if used + shown - start <= limit:
            chosen.append((start, shown))
            used += shown - start + len(SKIPPED)
    return SKIPPED.join(text[start:end] for start, end in sorted(chosen))


def _stems(text: str, shortest: int = 3) -> set[str]:
    return {word[:STEM] for word in tokenize(fold(text)) if len(word) >= shortest}


def _word_end(text: str, place: int) -> int:
    end = text.find(" ", place)
    return end if 0 <= end < place + 40 else place
