"""Pages that list things of the kind: tables, items under a heading, numbered headings."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tablewright.decisions.candidates.kind import (
    ORGANISATION,
    PUBLISHER,
    Kind,
    about_topic,
    akin,
    heads_a_list,
    names_all,
    singulars,
)
from tablewright.decisions.candidates.names import LONGEST_ITEM, first_name, fits, is_numbered, is_some_name, unmarked
from tablewright.decisions.candidates.seen import LONGEST_QUOTE, Seen
from tablewright.table.model import Noun
from tablewright.table.retrieved import Retrieved
from tablewright.table.rowkey import words
from tablewright.table.untrusted import gives_orders

IN_COLUMN = 0.85
IN_TABLE = 0.7
IN_LIST = 0.65
NUMBERED = 0.75
LEAST_ITEMS = 2
LONGEST_LINE = 3_000
HALF = 0.5
FAINT = 0.6
"""What is left of the score where neither the list nor the row has a word that tells the kind apart."""

_NAME_COLUMNS = words("name title item product model entry offer call")
_OTHERS = re.compile(
    r"\b(?:customers?|clients?|partners?|team|staff|people|sponsors?|authors?|contributors?|trusted by|most read|"
    r"newsletter|related|see also|references|sources|tags|categories|share|menu|navigation|case stud\w+)\b",
    re.IGNORECASE,
)
_RULE = re.compile(r"^[\s|:+-]*-{2,}[\s|:+-]*$")
_LABELLED = re.compile(r"^[^|:]{1,40}:\s+\S")
_FIGURE = re.compile(
    r"^\W*[\d.,:]+\s*\S{0,4}$|^\W*$|^\W*(?:1[5-9]|20)\d\d\b|"
    r"^(?:\d{1,2}\s+)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+\d",
    re.IGNORECASE,
)


class _Line(Noun, frozen=True):
    start: int
    text: str

    @property
    def cells(self) -> tuple[str, ...]:
        inner = self.text.strip()
        if inner.startswith("|") and inner.endswith("|") and len(inner) > 1:
            inner = inner[1:-1]
        return tuple(cell.strip() for cell in re.split(r"(?<!\\)\|", inner))

    @property
    def is_row(self) -> bool:
        stripped = self.text.strip()
        return " | " in stripped or (stripped.startswith("|") and stripped.endswith("|") and len(stripped) > 2)


def listed(kind: Kind, source: Retrieved, place: int, title: str) -> Iterator[Seen]:
    """`title` is that of the page without the name of its site."""
    found = re.finditer(r"[^\n]+", source.text)
    lines = [_Line(start=match.start(), text=match[0]) for match in found if len(match[0]) <= LONGEST_LINE]
    at, above = 0, ""
    while at < len(lines):
        if lines[at].is_row:
            until = at
            while until < len(lines) and lines[until].is_row:
                until += 1
            yield from _in_table(kind, lines[at:until], (title, _first(lines), above), place)
            at = until
        else:
            at += 1
            above = lines[at - 1].text if _is_heading(lines[at - 1].text) else above
    yield from _in_items(kind, lines, title, place)


def _first(lines: list[_Line]) -> str:
    return lines[0].text if lines and not lines[0].is_row else ""


def _is_heading(text: str) -> bool:
    return text.startswith("#") or text.rstrip().endswith(":") or (len(text.split()) <= 14 and text[-1:] not in ".!?;")


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _in_table(kind: Kind, lines: list[_Line], headings: tuple[str, ...], place: int) -> Iterator[Seen]:
    rows = [line for line in lines if not _RULE.match(line.text)]
    ruled = len(rows) < len(lines)
    if not rows or len(rows[0].cells) < 2 or (_OTHERS.search(headings[-1]) and not ruled):
        return
    head = rows[0].cells if ruled or _looks_like_header(kind, rows) else ()
    body = rows[1:] if head else rows
    heading = " \n ".join(text for text in headings if not gives_orders(text))
    announced = any(heads_a_list(text, kind) for text in headings)
    column, score = _column(kind, head, body, announced=announced)
    if column < 0 or (len(body) < LEAST_ITEMS and not head):
        return
    for row in body:
        cells = row.cells
        told = f"{heading} {' '.join(head)} {row.text}"
        if column >= len(cells) or gives_orders(row.text) or not names_all(told, kind):
            continue
        if kind.organisation and about_topic(told, kind) < HALF:
            continue
        name = unmarked(cells[column][:LONGEST_ITEM])
        name = name if score == IN_COLUMN else first_name(name)[0]
        good = is_some_name(name, kind) if score == IN_COLUMN else fits(name, kind)
        if good and (where := row.text.find(name)) >= 0:
            yield _quoted(name, row, where, place, score * _telling(kind, told))


def _looks_like_header(kind: Kind, rows: list[_Line]) -> bool:
    first = rows[0].cells
    if any(re.fullmatch(r"\W*\d[\d.,:%]*\W*", cell) for cell in first):
        return False
    if any(_names_kind(cell, kind) or _NAME_COLUMNS.intersection(singulars(cell)) for cell in first):
        return True
    figures = [column for column, cell in enumerate(first) if not re.search(r"\d", cell)]
    return len(figures) == len(first) and any(
        re.search(r"\d", row.cells[column]) for row in rows[1:] for column in figures if column < len(row.cells)
    )


def _column(kind: Kind, head: tuple[str, ...], body: list[_Line], *, announced: bool) -> tuple[int, float]:
    """The column of the names, and how sure it is: headed with the noun; or the first one with names in it, in a table
    that is announced as a list of them."""
    named = [column for column, cell in enumerate(head) if _names_kind(cell, kind)]
    if named:
        exact = [column for column in named if singulars(head[column]) == (kind.head,)]
        return (exact or named)[0], IN_COLUMN
    if not announced or (not head and max((len(row.cells) for row in body), default=0) < 3):
        return -1, 0.0
    width = max((len(row.cells) for row in body), default=0)
    titled = [column for column, cell in enumerate(head) if _NAME_COLUMNS.intersection(singulars(cell))]
    for column in (*titled, *range(width)):
        cells = [row.cells[column] for row in body if column < len(row.cells)]
        if sum(1 for cell in cells if not _FIGURE.match(cell) and fits(first_name(cell)[0], kind)) > HALF * len(cells):
            return column, IN_TABLE
    return -1, 0.0


def _names_kind(cell: str, kind: Kind) -> bool:
    before, _, after = cell.partition(" of ")
    said = singulars(after if _NAME_COLUMNS.intersection(singulars(before)) and after else before)
    if not said or len(said) > 4:
        return False
    if any(akin(word, kind.head) for word in said):
        return True
    return kind.organisation and any(word in ORGANISATION - PUBLISHER for word in said)


def _quoted(name: str, line: _Line, where: int, place: int, score: float) -> Seen:
    start, end = line.start, line.start + len(line.text.rstrip())
    if end - start > LONGEST_QUOTE:
        start = max(line.start, line.start + where - 20)
        end = min(end, start + LONGEST_QUOTE)
        end = max(end, line.start + where + len(name))
    start += len(line.text[start - line.start :]) - len(line.text[start - line.start :].lstrip())
    return Seen(name=name, source=place, start=start, end=end, score=score)


# ── items ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _in_items(kind: Kind, lines: list[_Line], title: str, place: int) -> Iterator[Seen]:
    """Runs of lines that each begin with a name, under a heading that announces the things."""
    page_lists = heads_a_list(title, kind) and _fits_topic(kind, title)
    under, at = title, 0
    while at < len(lines):
        run = _run(kind, lines, at)
        announces = heads_a_list(under, kind) and _fits_topic(kind, f"{title} {under}")
        if len(run) >= LEAST_ITEMS and not _OTHERS.search(under) and (announces or (page_lists and len(run) > 2)):
            for line, name, where in run:
                if names_all(f"{title} {under} {line.text}", kind):
                    score = (NUMBERED if is_numbered(line.text) else IN_LIST) * _telling(
                        kind, f"{title} {under} {line.text}"
                    )
                    yield _quoted(name, line, where, place, score)
            at += len(run)
            continue
        line = lines[at]
        if (not line.is_row and _is_heading(line.text)) or line.text.rstrip().endswith(":"):
            under = line.text
            if page_lists and is_numbered(line.text):
                name, where = first_name(line.text)
                if fits(name, kind) and not gives_orders(line.text) and names_all(f"{title} {line.text}", kind):
                    yield _quoted(name, line, where, place, NUMBERED)
        at += 1


def _run(kind: Kind, lines: list[_Line], at: int) -> list[tuple[_Line, str, int]]:
    run: list[tuple[_Line, str, int]] = []
    for line in lines[at:]:
        name, where = first_name(line.text)
        if line.is_row or gives_orders(line.text) or not fits(name, kind) or _is_prose(line.text, name):
            break
        if heads_a_list(line.text, kind) and not run:
            break
        run.append((line, name, line.text.find(name, where)))
    return [item for item in run if item[2] >= 0]


def _is_prose(line: str, name: str) -> bool:
    """A sentence, or a label with its value, is no item, unless it is marked as one."""
    if is_numbered(line):
        return False
    rest = line.strip()[len(name) :]
    if re.match(r":\s+\(", rest) or re.match(r"\s*\(", rest):
        return False
    return (rest.strip() == "" and line.rstrip().endswith((".", "!", "?"))) or rest[:1] in (".", ":", ";", " ")


def _telling(kind: Kind, told: str) -> float:
    """1 where it says which ones are meant ("gooseneck"), less on a list of all of them."""
    return FAINT + (1 - FAINT) * about_topic(told, kind)


def _fits_topic(kind: Kind, text: str) -> bool:
    return not kind.organisation or about_topic(text, kind) >= HALF
