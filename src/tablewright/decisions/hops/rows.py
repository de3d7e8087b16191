"""The tables of a text as rows under their headings, and which row a question speaks of.

A row is meant as far as it holds words of the question that other rows of its table do not have. What pages say of a
cell counts too: "the team located 8.8 km from Dublin" is the row with the suburb whose own page says so.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from tablewright.decisions.hops.asking import telling
from tablewright.extraction.passages import passages
from tablewright.table.model import Noun
from tablewright.table.numbers import read_numbers
from tablewright.table.rowkey import fold

MOST_ROWS = 3_000


class Cell(Noun, frozen=True):
    heading: str
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


class TableRow(Noun, frozen=True):
    cells: tuple[Cell, ...]

    @property
    def start(self) -> int:
        return self.cells[0].start

    @property
    def end(self) -> int:
        return self.cells[-1].end


class Meant(Noun, frozen=True):
    """A row that a question speaks of; `worth` is the share of the question that it and its table hold, `sure` how much
    more than the other rows do."""

    row: TableRow
    worth: float
    sure: float


_RULE = re.compile(r"[|\s:–-]*")


@lru_cache(maxsize=64)
def tables(text: str) -> tuple[tuple[TableRow, ...], ...]:
    """Each table of a text whose first line names its columns, also where a line of dashes follows that."""
    found = []
    held: list[list[tuple[str, int]]] = []
    end = 0
    for grid in passages(text).grids:
        lines = [[_bare(*cell) for cell in line] for line in grid.rows]
        if held and not (len(held) == 1 and _RULE.fullmatch(text, end, grid.rows[0][0][1])):
            found.append(held)
            held = []
        held = [*held, *(line for line in lines if any(not _RULE.fullmatch(cell) for cell, _ in line))]
        end = grid.rows[-1][-1][1] + len(grid.rows[-1][-1][0])
    found.append(held)
    return tuple(
        tuple(_row([cell for cell, _ in lines[0]], line) for line in lines[1:MOST_ROWS])
        for lines in found
        if len(lines) > 1
    )


def _bare(cell: str, start: int) -> tuple[str, int]:
    """Without the bars that open and end a line."""
    inner = cell.lstrip("| ")
    return inner.rstrip("| "), start + len(cell) - len(inner)


def _row(headings: Sequence[str], line: Sequence[tuple[str, int]]) -> TableRow:
    named = [*headings, *[""] * len(line)]
    return TableRow(cells=tuple(Cell(heading=named[n], text=text, start=start) for n, (text, start) in enumerate(line)))


# ── the row that is meant ────────────────────────────────────────────────────────────────────────────────────────────

PHRASE = 0.5
"""How much more the words of a cell count that stands whole in the question."""
CONTEXT = 0.35
"""How much a word counts that only the title or a heading of the table has."""
SAID_OF = 0.8
"""How much what a page says of a cell counts, against what the row says itself."""
RANKS = frozenset("rank no position pos place number # nr standing".split())


def meant(
    question: str,
    title: str,
    table: Sequence[TableRow],
    weights: Mapping[str, float],
    said: Mapping[str, frozenset[str]],
) -> list[Meant]:
    """The rows that hold most of the question, the best first. `weights` of its words; `said` are those of them that a
    page named like a cell says in one place."""
    asked = frozenset(weights)
    own = [frozenset(telling(" ".join(cell.text for cell in row.cells))) & asked for row in table]
    common = Counter(word for words in own for word in words)
    heads = frozenset(telling(" ".join([title, *(cell.heading for cell in table[0].cells)]))) & asked
    whole = sum(weights.values()) or 1.0
    spaced = f" {' '.join(telling(question))} "
    extreme = _extreme(question, table)
    ranked = []
    for number, row in enumerate(table):
        told = _told(row, said) - own[number]
        held = sum(weights[word] * _rare(common[word], len(table)) for word in own[number])
        held += sum(weights[word] for word in told) * SAID_OF
        held += PHRASE * sum(
            _phrase(cell, question, spaced, weights) * _rare_cell(cell, common, len(table)) for cell in row.cells
        )
        if number == extreme or _ranked(question, row):
            held += 0.3 * whole
        context = CONTEXT * sum(weights[word] for word in heads - own[number] - told)
        ranked.append(((held + context * (held > 0)) / whole, held / whole, row))
    ranked.sort(key=lambda entry: -entry[0])
    return list(_surest(ranked))


def _surest(ranked: Sequence[tuple[float, float, TableRow]]) -> Iterator[Meant]:
    if not ranked or ranked[0][1] <= 0:
        return
    best = ranked[0][0]
    alike = sum(1 for worth, _, _ in ranked if worth > 0.97 * best)
    following = next((worth for worth, _, _ in ranked if worth <= 0.97 * best), 0.0)
    for worth, held, row in ranked[:3]:
        if held <= 0 or worth < 0.8 * best:
            return
        sure = (1.0 / alike) * min(1.0, 0.5 + 2 * (best - following) / best) if worth > 0.97 * best else 0.3
        yield Meant(row=row, worth=round(worth, 4), sure=round(sure, 4))


def _rare(count: int, rows: int) -> float:
    """1 for a word of one row alone, little for one that stands in all."""
    return max(0.05, 1.0 - math.log(max(1, count)) / math.log(max(2, rows)))


def _rare_cell(cell: Cell, common: Mapping[str, int], rows: int) -> float:
    return max((_rare(common[word], rows) for word in telling(cell.text) if word in common), default=0.0)


def _phrase(cell: Cell, question: str, spaced: str, weights: Mapping[str, float]) -> float:
    """What a cell is worth that stands whole in the question, as it is written: "Get" is not "get"."""
    words = telling(cell.text)
    first = _FIRST.match(cell.text)
    if first and first[0] not in question:
        return 0.0
    return sum(weights[word] for word in words) if words and f" {' '.join(words)} " in spaced else 0.0


_FIRST = re.compile(r"\w+")


def _told(row: TableRow, said: Mapping[str, frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*(said.get(called(cell.text), frozenset()) for cell in row.cells))


def called(name: str) -> str:
    """As titles and cells are compared: without notes in brackets, marks, case and accents."""
    return " ".join(re.findall(r"\w+", fold(re.sub(r"\([^)]*\)|\[[^\]]*\]", " ", name))))


_MOST = re.compile(
    r"\b(?P<most>most|highest|largest|biggest|tallest|longest|greatest|latest|newest|youngest|last|maximum)\b|"
    r"\b(?P<least>fewest|least|lowest|smallest|shortest|earliest|oldest|minimum)\b",
    re.IGNORECASE,
)


def _extreme(question: str, table: Sequence[TableRow]) -> int | None:
    """The row with the most, or least, of a column that the question names behind "most" or "highest"."""
    found = _MOST.search(question)
    if found is None:
        return None
    near = telling(question[found.end() : found.end() + 40])[:3]
    for column, cell in enumerate(table[0].cells):
        heading = telling(cell.heading)
        if heading and set(heading) & set(near):
            sizes = [(_size(row.cells[column].text), n) for n, row in enumerate(table) if column < len(row.cells)]
            known = [(size, n) for size, n in sizes if size is not None]
            if len(known) > len(table) // 2:
                return (max(known, key=lambda each: each[0]) if found["most"] else min(known))[1]
    return None


def _size(text: str) -> float | None:
    numbers = read_numbers(text)
    return float(numbers[0].value) if numbers else None


_NTH = re.compile(
    r"\b(?:\d+(?:st|nd|rd|th)|first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth)\b", re.IGNORECASE
)


def _ranked(question: str, row: TableRow) -> bool:
    """ "the sixth highest grossing film" is the row with 6 under Rank."""
    wanted = {word for nth in _NTH.findall(question) for word in telling(nth)}
    return any(fold(cell.heading).strip(" .") in RANKS and cell.text.rstrip(".") in wanted for cell in row.cells)
