"""Which rows are about the same thing: `row_key` says so exactly, `same` judges two names, `Names` finds among many."""

from __future__ import annotations

import heapq
import re
from collections import Counter, defaultdict

from tablewright.domain.model import Row
from tablewright.domain.rowkey import row_key
from tablewright.domain.text import cell_text
from tablewright.values.likeness import NameParts, likeness, read
from tablewright.values.name_words import FILLER

__all__ = ["Names", "key_of", "row_key", "same"]


def key_of(row: Row, key_field: str) -> str:
    """The key of the name that the row has now; what it was called when it came is in `row.key`."""
    return row_key(cell_text(row.cell(key_field))) if key_field else row.key


def same(a: str, b: str) -> bool:
    """Whether two names with different keys are still the same row. When unsure, no."""
    return likeness(read(a), read(b)) > 0


class Names:
    """The names of a table, to ask whether a candidate is there already."""

    def __init__(self) -> None:
        self._by_key: dict[str, int] = {}
        self._names: list[tuple[int, str]] = []
        self._by_clue: defaultdict[str, list[int]] = defaultdict(list)

    def add(self, row_id: int, name: str) -> None:
        key = row_key(name)
        if not key or key in self._by_key:
            return
        self._by_key[key] = row_id
        for clue in _clues(read(name)):
            self._by_clue[clue].append(len(self._names))
        self._names.append((row_id, name))

    def find(self, name: str) -> int | None:
        """The row that `name` would double: by equal key, else the likest that is the `same`."""
        found = self._by_key.get(row_key(name))
        if found is not None:
            return found
        reading = read(name)
        best, best_row = 0.0, None
        for position in self._candidates(reading):
            row_id, other = self._names[position]
            score = likeness(reading, read(other))
            if score > best:
                best, best_row = score, row_id
        return best_row

    def _candidates(self, reading: NameParts) -> list[int]:
        """Those that share most of the rarest clues. A clue that everybody has says nothing and would cost the most."""
        postings = sorted((self._by_clue[clue] for clue in _clues(reading) if clue in self._by_clue), key=len)
        votes: Counter[int] = Counter()
        looked_at = 0
        for posting in postings:
            looked_at += len(posting)
            if looked_at > MAX_LOOKED_AT and votes:
                break
            votes.update(posting[:MAX_LOOKED_AT])
        return heapq.nsmallest(MAX_CANDIDATES, votes, key=lambda position: (-votes[position], position))


MAX_LOOKED_AT = 2000
MAX_CANDIDATES = 16


def _clues(reading: NameParts) -> set[str]:
    """Two names of the same row share at least one: a model, its number, a rare word, an end of a misspelt word."""
    clues = {f"={model}" for model in reading.models}
    # A model may carry a maker's letters in front or a colour's behind; its number stays.
    clues.update(f"#{number}" for model in reading.models for number in re.findall(r"\d{3,}", model))
    clues.add(f"~{reading.compact[:6]}")
    for word in reading.words:
        if word.isdigit() and len(word) >= 3:
            clues.add(f"#{word}")
        if word in FILLER or len(word) < 3:
            continue
        clues.add(word)
        if len(word) >= 6:
            clues.add(f"^{word[:4]}")
            clues.add(f"${word[-4:]}")
    return clues
