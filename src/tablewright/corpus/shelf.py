"""The properties of each document, ordered by which asked label they answer best."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from tablewright.corpus.labels import Match
from tablewright.corpus.needs import Need
from tablewright.store.properties import PropertyAt
from tablewright.table.corpus import Typed


class Pick:
    """The best properties of one thing for one label; several where they score the same."""

    __slots__ = ("at", "match")

    def __init__(self, match: Match, at: PropertyAt) -> None:
        self.match = match
        self.at = [at]

    def offer(self, match: Match, at: PropertyAt) -> None:
        if match.score > self.match.score:
            self.match, self.at = match, [at]
        elif match.score == self.match.score:
            self.at.append(at)


Picks: TypeAlias = dict[str, Pick]
"""By asked label."""


class Shelf:
    """The picks of one document: those of its facts, and those of each row of its tables."""

    __slots__ = ("cells", "facts", "rows")

    def __init__(self) -> None:
        self.facts: Picks = {}
        self.rows: dict[int, Picks] = {}
        self.cells: dict[int, list[PropertyAt]] = {}
        """All that was read of each row."""


def shelve(
    properties: Iterable[PropertyAt], matches: Mapping[str, Sequence[Match]], needs: Mapping[str, Need]
) -> dict[str, Shelf]:
    wanted: dict[tuple[str, str, str], list[tuple[str, Need, Match]]] = {}
    for asked, found in matches.items():
        for match in found:
            wanted.setdefault((match.label, match.context, match.base), []).append((asked, needs[asked], match))
    shelves: dict[str, Shelf] = {}
    for at in properties:
        shelf = shelves.get(at.document_id)
        if shelf is None:
            shelf = shelves[at.document_id] = Shelf()
        row = at.annotation_id if at.shape == "row" else 0
        if row:
            shelf.cells.setdefault(row, []).append(at)
        prop = at.property
        for asked, need, match in wanted.get((prop.label, prop.context, prop.value.base), ()):
            if not _usable(prop.value, need):
                continue
            picks = shelf.rows.setdefault(row, {}) if row else shelf.facts
            pick = picks.get(asked)
            if pick is None:
                picks[asked] = Pick(match, at)
            else:
                pick.offer(match, at)
    return shelves


def _usable(value: Typed, need: Need) -> bool:
    if need.sort == "number":
        return value.number is not None and not (value.date and not need.base)
    return bool(value.date) or need.sort != "date"
