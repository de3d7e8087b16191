"""Lines of a text, and label and value in them: "Label: value", "Label ..... value", "Label    value", and forms with
the value below.

What is certainly a pair is a fact of a document. A reader that knows what it looks for, and weighs each place, is also
given what is only possibly one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest

from msgspec import structs

from tablewright.domain.model import Noun
from tablewright.text import BAR, SMALL_WORDS
from tablewright.values.currencies import SYMBOLS, currency_of
from tablewright.values.typed import typed


class LineCell(Noun, frozen=True):
    """A piece of a line: `text` stands at `start`, without space around it."""

    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


class TextLine(Noun, frozen=True):
    """`text` stands at `start`, stripped. `wraps`: it was written as if the next line went on with it."""

    text: str
    start: int
    cells: tuple[LineCell, ...]
    wraps: bool = False
    is_heading: bool = False

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def is_row(self) -> bool:
        return is_row(self.text)


_GAP = re.compile(r"[ \u00a0\t]{2,}|\t")
_BAR = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r"\s*+(?:\|\s*+)?:?-{2,}+:?\s*+(?:\|\s*+:?-{2,}+:?\s*+)*+\|?\s*+")
WIDE = 70  # characters; prose that is so wide has been broken to fit the page


def lines_in(text: str, start: int, end: int, headings: Sequence[tuple[int, int]] = ()) -> Iterator[TextLine]:
    """The lines of `text[start:end]`; an empty one is told too, for it parts what stands above and below."""
    marked = frozenset(place for place, _ in headings)
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        line = cell_at(text, start, stop)
        at = line.start if line.text else start
        wraps = bool(line.text) and (text[stop - 1] == " " or len(line.text) >= WIDE)
        heading = bool(marked) and (at in marked or start in marked)
        yield TextLine(text=line.text, start=at, cells=cells_in(line.text, at), wraps=wraps, is_heading=heading)
        start = stop + 1


def cells_in(line: str, start: int) -> tuple[LineCell, ...]:
    """The parts of a line that stand apart by a tab or by two spaces and more."""
    if "  " not in line and "\t" not in line and "\u00a0" not in line:
        return (LineCell(text=line, start=start),) if line else ()
    return tuple(cell for cell in _parts(_GAP, line, start, 0, len(line)) if cell.text)


def cells_between_bars(line: str, start: int) -> tuple[LineCell, ...]:
    """The cells of a row. Bars at both ends are its frame; a bar at one end has an empty cell beside it."""
    first, last = len(line) - len(line.lstrip()), len(line.rstrip())
    if last - first > 2 and line[first] == line[last - 1] == "|" and line[last - 2] != "\\":
        first, last = first + 1, last - 1
    return tuple(_parts(_BAR, line, start, first, last))


def _parts(mark: re.Pattern[str], line: str, start: int, first: int, last: int) -> Iterator[LineCell]:
    for found in mark.finditer(line, first, last):
        yield cell_at(line, first, found.start(), start)
        first = found.end()
    yield cell_at(line, first, last, start)


def cell_at(text: str, start: int, end: int, moved: int = 0) -> LineCell:
    """The same place without the space around it; `moved` is where the text itself stands."""
    raw = text[start:end]
    return LineCell(text=raw.strip(), start=moved + start + len(raw) - len(raw.lstrip()))


def is_row(line: str) -> bool:
    """Return True if it has cells between bars: "a | b" or, as in Markdown, "|a|b|"."""
    line = line.strip()
    return BAR in f" {line} " or (len(line) > 2 and line[0] == line[-1] == "|")


def is_rule(line: str) -> bool:
    """Return True if it is what Markdown puts below the header of a table: "|---|---|"."""
    return "|" in line and bool(_RULE.fullmatch(line))


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def barred_tables(lines: Sequence[TextLine]) -> list[tuple[tuple[LineCell, ...], ...]]:
    """The rows of each run of lines with cells between bars."""
    runs = (run for is_row, run in groupby(lines, key=lambda line: line.is_row) if is_row)
    found = (tuple(cells_between_bars(line.text, line.start) for line in run if not is_rule(line.text)) for run in runs)
    return [rows for rows in found if rows]


def aligned_tables(lines: Sequence[TextLine]) -> Iterator[tuple[int, int, list[list[LineCell]]]]:
    """Runs of lines with three cells and more under a line of names: from, to (exclusive), and the rows."""
    number = 0
    while number < len(lines) - 1:
        head = lines[number]
        after = number + 1
        if len(head.cells) >= 3 and _names_columns(head):
            while after < len(lines) and len(lines[after].cells) >= 2:
                after += 1
            if after > number + 1:
                yield number, after, [list(head.cells), *(_placed(line, head) for line in lines[number + 1 : after])]
        number = after


def _names_columns(line: TextLine) -> bool:
    return ":" not in line.text and all(len(cell.text) <= 40 and not cell.text[0].isdecimal() for cell in line.cells)


def _placed(line: TextLine, head: TextLine) -> list[LineCell]:
    """The cells of a line under the names of the columns: in order, or where they stand where some are missing."""
    if len(line.cells) == len(head.cells):
        return list(line.cells)
    row = [LineCell(text="", start=line.start) for _ in head.cells]
    centres = [cell.start - head.start + len(cell.text) / 2 for cell in head.cells]
    for cell in line.cells:
        centre = cell.start - line.start + len(cell.text) / 2
        nearest = min(range(len(centres)), key=lambda place: abs(centres[place] - centre))
        if not row[nearest].text:
            row[nearest] = cell
    return row


LONGEST_LABEL = 60
MOST_LABEL_WORDS = 8
LONGEST_PROSE = 160
MOST_LINES_BELOW = 8
COLONS = ":："


class LabelPair(Noun, frozen=True):
    """`start:end` is the passage, `heading` what stands above the block."""

    label: str
    value: LineCell
    start: int
    end: int
    heading: str = ""
    is_inline: bool = False
    """Inside a sentence, as in "(IATA: BWU, ICAO: YSBK)"."""
    is_apart: bool = False
    """The value stands on another line than its label."""
    is_marked: bool = True
    """The label ends in a colon, or what sets it apart is no line break."""


def pairs_in(text: str, lines: Sequence[TextLine]) -> list[LabelPair]:
    return _scan(text, lines)[0]


def blanks_in(text: str, lines: Sequence[TextLine]) -> list[LabelPair]:
    """The labels that have no value: what a form leaves blank."""
    return _scan(text, lines)[1]


def _scan(text: str, lines: Sequence[TextLine]) -> tuple[list[LabelPair], list[LabelPair]]:
    found: list[LabelPair] = []
    blank: list[LabelPair] = []
    taken: set[int] = set()
    usual = _values_stand_below(lines)
    heading = ""
    number = 0
    while number < len(lines):
        line = lines[number]
        if not line.text:
            number += 1
            continue
        here = [] if number and _breaks_off(lines[number - 1]) and number - 1 not in taken else list(_in_line(line))
        open_label = _open_label(line)
        if open_label:
            pair, used = _with_value_below(text, lines, number, open_label, usual=usual)
            if pair:
                here.append(pair)
            else:
                nothing = LineCell(text="", start=line.end)
                blank.append(
                    LabelPair(label=open_label, value=nothing, start=line.start, end=line.end, heading=heading)
                )
            taken.add(number)
            taken.update(range(number + 1, number + 1 + used))
            number += used
        if here:
            taken.add(number)
            found.extend(structs.replace(each, heading=heading) for each in here)
        elif not open_label and _is_heading(lines, number):
            heading = line.text
            taken.add(number)
        elif not open_label and len(line.text) > LONGEST_PROSE:
            heading = ""
        number += 1
    return found, blank


def _breaks_off(line: TextLine) -> bool:
    """Return True if a sentence goes on in the next line, where a colon then makes no label."""
    return len(line.text) >= WIDE and len(line.cells) == 1 and line.text[-1].isalnum()


# ── inside a line ────────────────────────────────────────────────────────────────────────────────────────────────────

_LEADER = re.compile(
    r"(?P<label>[^.…_]{1,60}(?:\.[^.…_]{1,40}){0,2}?)\s?(?:\.{3,}+|…++|(?:\s\.){3,}+|_{4,}+)[\s:]*+(?P<value>\S.*)$"
)
_COLON = re.compile(r"[:：](?![/\\])(?!(?<=\d:)\d)")
_SECOND = re.compile(r"(?<=\S)\s(?P<label>[A-Z][A-Za-z]{2,30}\.?(?:\s(?:No|NO|ID|#)\.?)?)\s?:(?=\s?\S)(?!//)")
_BULLET = re.compile(r"^(?:[-•*·▪►>]\s+|\(?[a-z0-9]{1,2}[.)]\s+)")


def _in_line(line: TextLine) -> Iterator[LabelPair]:
    if (leader := _LEADER.match(line.text)) and is_label(leader["label"]):
        value = LineCell(text=leader["value"], start=line.start + leader.start("value"))
        yield LabelPair(label=leader["label"], value=value, start=line.start, end=line.end)
    elif ":" in line.text or "：" in line.text:
        yield from _by_colons(line)
    elif len(line.cells) == 2 or (len(line.cells) == 3 and _is_mark(line.cells[1].text)):
        yield from _by_gap(line)


def _by_colons(line: TextLine) -> Iterator[LabelPair]:
    cells = _rejoined(line)
    number = 0
    while number < len(cells):
        cell = cells[number]
        label, value = split_at_colon(cell)
        if label and not value.text and number + 1 < len(cells) and not split_at_colon(cells[number + 1])[0]:
            number += 1
            value = cells[number]
        if number + 1 < len(cells) and _is_mark(value.text) and cells[number + 1].text[0].isdecimal():
            number += 1
            value = _over(line, value, cells[number])
        number += 1
        if label and value.text:
            yield from _several(label, value, cell.start, line)


def _is_mark(text: str) -> bool:
    """A currency that stands apart from its amount: "Fee  EUR  53.60"."""
    return len(text) <= 4 and bool(text) and currency_of(text) != ""


def _over(line: TextLine, first: LineCell, last: LineCell) -> LineCell:
    return LineCell(text=line.text[first.start - line.start : last.end - line.start], start=first.start)


def _rejoined(line: TextLine) -> list[LineCell]:
    """The cells of a line, each label with its colon: "DATE", ": 25/12/2018" are one."""
    cells: list[LineCell] = []
    for cell in line.cells:
        if cells and cell.text[0] in ":：" and not split_at_colon(cells[-1])[0]:
            cells[-1] = _over(line, cells[-1], cell)
        else:
            cells.append(cell)
    return cells


def split_at_colon(cell: LineCell) -> tuple[str, LineCell]:
    """The label before the first colon and the value behind it; no label where the colon is something else."""
    colon = _COLON.search(cell.text)
    nothing = LineCell(text="", start=cell.end)
    if colon is None:
        return "", nothing
    label = _BULLET.sub("", cell.text[: colon.start()].rstrip())
    if not is_label(label):
        return "", nothing
    return label, cell_at(cell.text, colon.end(), len(cell.text), cell.start)


def _several(label: str, value: LineCell, start: int, line: TextLine) -> Iterator[LabelPair]:
    """Further pairs may stand in the value behind one space: "A0422 Date: 25/12/2017"."""
    place = 0
    for second in _SECOND.finditer(value.text):
        part = cell_at(value.text, place, second.start(), value.start)
        if part.text and len(part.text) <= 40:
            yield LabelPair(label=label, value=part, start=start, end=line.end)
            label, place = second["label"], second.end()
    rest = _first_sentence(cell_at(value.text, place, len(value.text), value.start))
    if rest.text:
        yield LabelPair(label=label, value=rest, start=start, end=max(rest.end, start))


_SENTENCE_END = re.compile(r"(?<!\b[^\W\d_])(?<!\b[^\W\d_]{2})(?<!\b[^\W\d_]{3})\.\s{1,9}(?=[^\W\d_])")


def _first_sentence(value: LineCell) -> LineCell:
    """Of a paragraph that begins with a label only what the label is of: "Product: X 200. This lamp has …"."""
    if len(value.text) <= LONGEST_PROSE:
        return value
    end = _SENTENCE_END.search(value.text)
    return LineCell(text=value.text[: end.start()], start=value.start) if end else value


def _by_gap(line: TextLine) -> Iterator[LabelPair]:
    label, value = line.cells[0], _over(line, line.cells[1], line.cells[-1])
    if not is_label(label.text) or len(value.text) > 80 or len(label.text) > 45:
        return
    read = typed(value.text, label.text)
    is_value = read.number is not None or read.date or read.truth is not None
    if is_value or (label.text[:1].isupper() and len(label.text.split()) <= 5 and len(value.text.split()) <= 8):
        yield LabelPair(label=label.text, value=value, start=line.start, end=line.end)


# ── what a label looks like ──────────────────────────────────────────────────────────────────────────────────────────

_LABEL = re.compile(r"(?:\d{1,2}[.)]?\s)?[^\W\d_][^\n!?\"“”]*+$")
_THREE_DIGITS = re.compile(r"\d{3}")


def is_label(text: str) -> bool:
    """A few words that name something, no sentence, no address, no number."""
    text = text.strip(" .:*-")
    if not 1 < len(text) <= LONGEST_LABEL or not _LABEL.match(text):
        return False
    said = text.casefold().split()
    if len(said) == 1 and _THREE_DIGITS.search(text):
        return False
    if text.count("(") != text.count(")"):  # what follows belongs into the brackets
        return False
    small = sum(word in SMALL_WORDS for word in said)
    reads_on = len(said) > 2 and (said[-1] in SMALL_WORDS or 2 * small > len(said))
    return len(said) <= MOST_LABEL_WORDS and not reads_on and ". " not in text and "; " not in text


# ── the value on the line below ──────────────────────────────────────────────────────────────────────────────────────


def _open_label(line: TextLine) -> str:
    """The label of a line that ends with it; the last one, where pairs stand before it."""
    if not line.cells or line.text[-1] not in COLONS:
        return ""
    last = _rejoined(line)[-1]
    label = last.text[:-1].rstrip()
    if _COLON.search(label):
        return ""
    return label if is_label(label) else ""


def _with_value_below(
    text: str, lines: Sequence[TextLine], number: int, label: str, *, usual: bool
) -> tuple[LabelPair | None, int]:
    """The pair, and how many lines below the label it takes. A label with another one below it is a blank field."""
    below = number + 1
    if below >= len(lines) or not _may_be_value(lines, below, usual=usual):
        return None, 0
    last = below
    while last + 1 < len(lines) and last - below < MOST_LINES_BELOW and _goes_on(lines, last):
        last += 1
    start, end = lines[below].start, lines[last].end
    value = LineCell(text=text[start:end], start=start)
    return LabelPair(label=label, value=value, start=lines[number].start, end=end, is_apart=True), last - number


def _may_be_value(lines: Sequence[TextLine], number: int, *, usual: bool) -> bool:
    """`usual`: values stand below their labels here. Where they do not, words below one may be a heading."""
    line = lines[number]
    if len(line.cells) != 1 or line.is_heading or starts_label(line):
        return False
    return any(character.isalnum() if usual else character.isdecimal() for character in line.text)


def _values_stand_below(lines: Sequence[TextLine]) -> bool:
    """Return True if more labels stand alone than with a value in their line."""
    alone = sum(1 for line in lines if _open_label(line))
    return alone > sum(1 for line in lines if ":" in line.text and next(_by_colons(line), None) is not None)


def starts_label(line: TextLine) -> bool:
    """Return True if a line begins with a label of its own; "Part 7: Rules" is a value."""
    if not line.cells:
        return False
    if _open_label(line):
        return True
    label, _ = split_at_colon(_rejoined(line)[0])
    return bool(label) and not label[-1].isdecimal()


def _goes_on(lines: Sequence[TextLine], number: int) -> bool:
    """Return True if the next line goes on with this one: it was broken to fit, and no label begins there."""
    if not lines[number].wraps or number + 1 >= len(lines):
        return False
    following = lines[number + 1]
    return bool(following.text) and not (following.is_heading or starts_label(following))


def _is_heading(lines: Sequence[TextLine], number: int) -> bool:
    """A short line without a value right above a line that has one, or what the format marks as a heading."""
    line = lines[number]
    if line.is_heading:
        return True
    if len(line.text) > 90 or line.text[-1] in ".,;" or not line.text[0].isalpha() or line.text[0].islower():
        return False
    if len(line.cells) > 1 or number + 1 >= len(lines) or ": " in line.text:
        return False
    following = lines[number + 1]
    return bool(following.text) and (bool(_open_label(following)) or next(_in_line(following), None) is not None)


# ── what may be a pair ───────────────────────────────────────────────────────────────────────────────────────────────

LONGEST_LINE = 400
LONGEST_STACKED = 120
_BRACKETED = re.compile(r"(?<=[(,;\[])\s*(?P<label>[A-Z][\w /.&-]{1,30}?):\s*(?P<value>[^,;()\[\]:]{1,80})")
_CAPITALISED = re.compile(r"(?:(?<=\s)|^)(?P<label>[A-Z][\w./-]{1,20}(?: [A-Z][\w./-]{0,20})?):\s+(?=\S)")
_ENDS = re.compile(r"[.!?…;,]['\"”’)\]]*$")
_BARE_VALUE = re.compile(rf"(?:[{SYMBOLS}]|[A-Z]{{3}}\s)?\s?\d[\d.,\s]{{0,15}}%?\*?")


def possible_pairs(text: str, lines: Sequence[TextLine]) -> list[LabelPair]:
    """The pairs, and what may be one: in brackets, in the rows of a table, on two lines without a colon."""
    free = [structs.replace(line, text="", cells=()) if line.is_row else line for line in lines]
    found = dict.fromkeys(pairs_in(text, free))
    for line in lines:
        found.update(dict.fromkeys(_in_row(line) if line.is_row else _in_sentence(line)))
    passages = {(each.start, each.end) for each in found}
    stacked = (each for each in _stacked_pairs(lines) if (each.start, each.end) not in passages)
    return sorted((*found, *stacked), key=lambda each: each.start)


def _in_row(line: TextLine) -> Iterator[LabelPair]:
    """A row that is a label and its value, or whose cells are "Label: value" themselves."""
    cells = cells_between_bars(line.text, line.start)
    if len(cells) == 2 and all(cell.text for cell in cells):
        yield LabelPair(label=cells[0].text.rstrip(COLONS), value=cells[1], start=line.start, end=line.end)
    for cell in cells:
        if ":" in cell.text and len(cell.text) <= LONGEST_LINE:
            inner = TextLine(text=cell.text, start=cell.start, cells=cells_in(cell.text, cell.start))
            yield from _by_colons(inner)
            yield from _capitalised(inner)


def _in_sentence(line: TextLine) -> Iterator[LabelPair]:
    if ":" in line.text and len(line.text) <= LONGEST_LINE:
        yield from _capitalised(line)
    for match in _BRACKETED.finditer(line.text) if "(" in line.text or "[" in line.text else ():
        value = cell_at(line.text, *match.span("value"), line.start)
        start = line.start + match.start("label")
        yield LabelPair(label=match["label"].strip(), value=value, start=start, end=value.end, is_inline=True)


def _capitalised(line: TextLine) -> Iterator[LabelPair]:
    """Several pairs behind each other: "Ht: 6' 7\" Wt: 205 Age: 26"."""
    labels = list(_CAPITALISED.finditer(line.text))
    for label, following in zip_longest(labels, labels[1:]) if len(labels) > 1 else ():
        value = cell_at(line.text, label.end(), following.start() if following else len(line.text), line.start)
        if value.text:
            yield LabelPair(label=label["label"], value=value, start=line.start + label.start(), end=value.end)


def _stacked_pairs(lines: Sequence[TextLine]) -> Iterator[LabelPair]:
    """Pairs of lines: "Price" with "£38.50" below it; or above it, where a run of such lines begins with a value."""
    last: TextLine | None = None
    last_is_value = values_first = False
    filled = [line for line in lines if line.text]
    for line, following in zip_longest(filled, filled[1:]):
        is_short = len(line.text) <= LONGEST_LABEL and not line.is_row and not _ENDS.search(line.text)
        is_short = is_short and len(line.cells) == 1 and next(_in_line(line), None) is None
        is_value = is_short and bool(_BARE_VALUE.fullmatch(line.text))
        numbered = any(map(str.isdigit, line.text))
        is_label = is_short and not is_value and len(line.text.split()) <= (3 if numbered else MOST_LABEL_WORDS - 2)
        if last is None or last_is_value == is_value:
            values_first = is_value
        if last and values_first and is_label and last_is_value:
            # with a value above and below, no one can tell which
            if following is None or not _BARE_VALUE.fullmatch(following.text):
                yield _stacked(line, last)
        elif last and not values_first and not last_is_value and _may_stand_below(line):
            yield _stacked(last, line)
        last = line if is_value or is_label else None
        last_is_value = is_value


def _may_stand_below(line: TextLine) -> bool:
    short = len(line.text) <= LONGEST_STACKED and not line.is_row
    return short and line.text[-1] not in COLONS and not starts_label(line)


def _stacked(label: TextLine, value: TextLine) -> LabelPair:
    return LabelPair(
        label=label.text.rstrip(" :"),
        value=LineCell(text=value.text, start=value.start),
        start=min(label.start, value.start),
        end=max(label.end, value.end),
        is_apart=True,
        is_marked=label.text[-1] in COLONS,
    )
