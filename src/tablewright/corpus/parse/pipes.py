"""Tables that are written as lines of cells between bars: "a | b | c", or "| a | b |" as in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from tablewright.corpus.parse.draft import Place, TextDraft, names_columns

_RULE = re.compile(r"\s*+(?:\|\s*+)?:?-{2,}+:?\s*+(?:\|\s*+:?-{2,}+:?\s*+)*+\|?\s*+")
_BAR = re.compile(r"(?<!\\)\|")
_FENCE = re.compile(r"\s*(?:```|~~~)")


def write_lines(draft: TextDraft, lines: Sequence[str]) -> None:
    """Writes the lines as they are; those that form a table become a grid too."""
    fenced = False
    table: list[tuple[tuple[Place, ...], list[str]]] = []
    ruled = False
    for line in lines:
        fence = bool(_FENCE.match(line))
        fenced ^= fence
        start, end = draft.line(line)
        if not fenced and not fence and "|" in line and end - start == len(line):
            if _RULE.fullmatch(line):
                ruled = ruled or len(table) == 1
                continue
            places = tuple(_cells(line, start))
            if len(places) > 1 and (not table or abs(len(table[-1][0]) - len(places)) <= (1 if ruled else 0)):
                table.append((places, [line[a - start : b - start] for a, b in places]))
                continue
        _end(draft, table, ruled=ruled)
        table, ruled = [], False
    _end(draft, table, ruled=ruled)


def _end(draft: TextDraft, table: list[tuple[tuple[Place, ...], list[str]]], *, ruled: bool) -> None:
    if len(table) > 1:
        draft.grid([places for places, _ in table], head=ruled or names_columns([cells for _, cells in table]))


def _cells(line: str, start: int) -> Iterator[Place]:
    bars = [bar.start() for bar in _BAR.finditer(line)]
    inner = [at for at in bars if line[:at].strip() and line[at + 1 :].strip()]
    left = next((at + 1 for at in bars if not line[:at].strip()), 0)
    right = next((at for at in reversed(bars) if not line[at + 1 :].strip()), len(line))
    edges = [left - 1, *(at for at in inner if left <= at < right), right]
    for before, after in pairwise(edges):
        cell = line[before + 1 : after]
        at = start + before + 1 + (len(cell) - len(cell.lstrip()) if cell.strip() else 0)
        yield at, at + len(cell.strip())
