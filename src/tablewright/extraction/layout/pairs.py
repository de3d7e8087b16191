"""Find pairs of label and value in the lines of a text: "Label: value", "Label ..... value", "Label    value", and
forms with the value below the label.

Documents take only certain pairs, as facts (`find_pairs`). The reader of pages, which knows what it looks for and
scores each passage, also takes possible ones (`find_possible_pairs`). Offsets always refer to the whole text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, zip_longest

from msgspec import structs

from tablewright.domain.model import Struct
from tablewright.text import CELL_SEPARATOR, SMALL_WORDS
from tablewright.values.comparable_value import parse_comparable
from tablewright.values.currencies import CURRENCY_SYMBOLS, parse_currency


class LineCell(Struct, frozen=True):
    """A piece of a line without the space around it; `start` is its offset."""

    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


class TextLine(Struct, frozen=True):
    """A stripped line at offset `start`. `wraps`: it was written as if the next line continues it."""

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
        return is_table_row(self.text)


_GAP = re.compile(r"[ \u00a0\t]{2,}|\t")
# Markdown escapes a bar that belongs to the text of a cell.
_BAR = re.compile(r"(?<!\\)\|")


class LineLimits(Struct, frozen=True):
    # A line of this width was probably broken to fit the page.
    wide: int = 70
    # A label is a name, not a sentence.
    label: int = 60
    label_words: int = 8
    # A longer value is a paragraph that begins with a label, and a longer line ends a block under a heading.
    prose: int = 160
    # In a longer line a colon is one of prose.
    with_colon: int = 400


# In characters, unless they say otherwise.
LINE_LIMITS = LineLimits()


def parse_lines(text: str, start: int, end: int, headings: Sequence[tuple[int, int]] = ()) -> Iterator[TextLine]:
    """Yield the lines of `text[start:end]`, also empty ones, which separate what is above from what is below."""
    marked = frozenset(place for place, _ in headings)
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        line = make_cell(text, start, stop)
        at = line.start if line.text else start
        wraps = bool(line.text) and (text[stop - 1] == " " or len(line.text) >= LINE_LIMITS.wide)
        heading = bool(marked) and (at in marked or start in marked)
        yield TextLine(text=line.text, start=at, cells=split_cells(line.text, at), wraps=wraps, is_heading=heading)
        start = stop + 1


def split_cells(line: str, start: int) -> tuple[LineCell, ...]:
    """Return the parts of a line that are separated by a tab or by at least two spaces."""
    if "  " not in line and "\t" not in line and "\u00a0" not in line:
        return (LineCell(text=line, start=start),) if line else ()
    return tuple(cell for cell in _split_by_mark(_GAP, line, start, 0, len(line)) if cell.text)


def split_bar_cells(line: str, start: int) -> tuple[LineCell, ...]:
    """Return the cells of a row. Bars at both ends are its frame; a bar at only one end borders an empty cell."""
    first, last = len(line) - len(line.lstrip()), len(line.rstrip())
    if last - first > 2 and line[first] == line[last - 1] == "|" and line[last - 2] != "\\":
        first, last = first + 1, last - 1
    return tuple(_split_by_mark(_BAR, line, start, first, last))


def _split_by_mark(mark: re.Pattern[str], line: str, start: int, first: int, last: int) -> Iterator[LineCell]:
    for found in mark.finditer(line, first, last):
        yield make_cell(line, first, found.start(), start)
        first = found.end()
    yield make_cell(line, first, last, start)


def make_cell(text: str, start: int, end: int, moved: int = 0) -> LineCell:
    """Return `text[start:end]` as a cell without the space around it; `moved` is the offset of the text itself."""
    raw = text[start:end]
    return LineCell(text=raw.strip(), start=moved + start + len(raw) - len(raw.lstrip()))


def is_table_row(line: str) -> bool:
    """Return True if it has cells between bars: "a | b" or, as in Markdown, "|a|b|"."""
    line = line.strip()
    return CELL_SEPARATOR in f" {line} " or (len(line) > 2 and line[0] == line[-1] == "|")


def is_table_rule(line: str) -> bool:
    """Return True for the rule that Markdown puts below a table's header: "|---|---|"."""
    return "|" in line and bool(re.fullmatch(r"\s*+(?:\|\s*+)?:?-{2,}+:?\s*+(?:\|\s*+:?-{2,}+:?\s*+)*+\|?\s*+", line))


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def find_barred_tables(lines: Sequence[TextLine]) -> list[tuple[tuple[LineCell, ...], ...]]:
    """Return the rows of each run of lines with cells between bars."""
    runs = (run for is_row, run in groupby(lines, key=lambda line: line.is_row) if is_row)
    found = (
        tuple(split_bar_cells(line.text, line.start) for line in run if not is_table_rule(line.text)) for run in runs
    )
    return [rows for rows in found if rows]


def find_aligned_tables(lines: Sequence[TextLine]) -> Iterator[tuple[int, int, list[list[LineCell]]]]:
    """Yield tables without bars as (first line, line after the last, rows): three columns or more under their names."""
    number = 0
    while number < len(lines) - 1:
        head = lines[number]
        after = number + 1
        if len(head.cells) >= 3 and _is_column_header(head):
            while after < len(lines) and len(lines[after].cells) >= 2:
                after += 1
            if after > number + 1:
                yield (
                    number,
                    after,
                    [list(head.cells), *(_align_cells(line, head) for line in lines[number + 1 : after])],
                )
        number = after


def _is_column_header(line: TextLine) -> bool:
    return ":" not in line.text and all(len(cell.text) <= 40 and not cell.text[0].isdecimal() for cell in line.cells)


def _align_cells(line: TextLine, head: TextLine) -> list[LineCell]:
    """Return the cells of a line by column: in order, or by position if some are missing."""
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


# The second is the full-width colon of Chinese and Japanese.
COLONS = ":："


class LabelPair(Struct, frozen=True):
    """A label with its value; `start:end` is the passage, `heading` the line above the block."""

    label: str
    value: LineCell
    start: int
    end: int
    heading: str = ""
    is_inline: bool = False
    """Inside a sentence, as in "(IATA: BWU, ICAO: YSBK)"."""
    is_apart: bool = False
    """The value is on another line than its label."""
    is_marked: bool = True
    """The label ends in a colon, or something other than a line break separates it."""


def find_pairs(text: str, lines: Sequence[TextLine]) -> list[LabelPair]:
    return _scan_pairs(text, lines)[0]


def find_blank_labels(text: str, lines: Sequence[TextLine]) -> list[LabelPair]:
    """Return the labels that a form leaves blank."""
    return _scan_pairs(text, lines)[1]


def _scan_pairs(text: str, lines: Sequence[TextLine]) -> tuple[list[LabelPair], list[LabelPair]]:
    found: list[LabelPair] = []
    blank: list[LabelPair] = []
    taken: set[int] = set()
    usual = _values_are_below(lines)
    heading = ""
    number = 0
    while number < len(lines):
        line = lines[number]
        if not line.text:
            number += 1
            continue
        here = (
            []
            if number and _breaks_mid_sentence(lines[number - 1]) and number - 1 not in taken
            else list(_pairs_in_line(line))
        )
        open_label = _trailing_label(line)
        if open_label:
            pair, used = _pair_with_value_below(text, lines, number, open_label, usual=usual)
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
        elif not open_label and _is_block_heading(lines, number):
            heading = line.text
            taken.add(number)
        elif not open_label and len(line.text) > LINE_LIMITS.prose:
            heading = ""
        number += 1
    return found, blank


def _breaks_mid_sentence(line: TextLine) -> bool:
    """Return True if a sentence continues on the next line, so that a colon there does not end a label."""
    return len(line.text) >= LINE_LIMITS.wide and len(line.cells) == 1 and line.text[-1].isalnum()


# ── inside a line ────────────────────────────────────────────────────────────────────────────────────────────────────

# Not the colon of "https://", of "C:\" or of a time.
_COLON = re.compile(r"[:：](?![/\\])(?!(?<=\d:)\d)")


def _pairs_in_line(line: TextLine) -> Iterator[LabelPair]:
    # "Label ..... value" and "Label ____ value".
    leader = re.match(
        r"(?P<label>[^.…_]{1,60}(?:\.[^.…_]{1,40}){0,2}?)\s?(?:\.{3,}+|…++|(?:\s\.){3,}+|_{4,}+)[\s:]*+(?P<value>\S.*)$",
        line.text,
    )
    if leader and looks_like_label(leader["label"]):
        value = LineCell(text=leader["value"], start=line.start + leader.start("value"))
        yield LabelPair(label=leader["label"], value=value, start=line.start, end=line.end)
    elif ":" in line.text or "：" in line.text:
        yield from _pairs_by_colons(line)
    elif len(line.cells) == 2 or (len(line.cells) == 3 and _is_currency_mark(line.cells[1].text)):
        yield from _pairs_by_gap(line)


def _pairs_by_colons(line: TextLine) -> Iterator[LabelPair]:
    cells = _rejoin_labels(line)
    number = 0
    while number < len(cells):
        cell = cells[number]
        label, value = split_at_colon(cell)
        if label and not value.text and number + 1 < len(cells) and not split_at_colon(cells[number + 1])[0]:
            number += 1
            value = cells[number]
        if number + 1 < len(cells) and _is_currency_mark(value.text) and cells[number + 1].text[0].isdecimal():
            number += 1
            value = _span_cells(line, value, cells[number])
        number += 1
        if label and value.text:
            yield from _split_further_pairs(label, value, cell.start, line)


def _is_currency_mark(text: str) -> bool:
    """Return True for a currency that is separated from its amount: "Fee  EUR  53.60"."""
    return len(text) <= 4 and bool(text) and parse_currency(text) != ""


def _span_cells(line: TextLine, first: LineCell, last: LineCell) -> LineCell:
    return LineCell(text=line.text[first.start - line.start : last.end - line.start], start=first.start)


def _rejoin_labels(line: TextLine) -> list[LineCell]:
    """Return the cells of a line, joining a label with its colon: "DATE" and ": 25/12/2018" are one."""
    cells: list[LineCell] = []
    for cell in line.cells:
        if cells and cell.text[0] in ":：" and not split_at_colon(cells[-1])[0]:
            cells[-1] = _span_cells(line, cells[-1], cell)
        else:
            cells.append(cell)
    return cells


def split_at_colon(cell: LineCell) -> tuple[str, LineCell]:
    """Return the label before the first colon and the value after it; "" if the colon does not end a label."""
    colon = _COLON.search(cell.text)
    nothing = LineCell(text="", start=cell.end)
    if colon is None:
        return "", nothing
    label = re.sub(r"^(?:[-•*·▪►>]\s+|\(?[a-z0-9]{1,2}[.)]\s+)", "", cell.text[: colon.start()].rstrip())
    if not looks_like_label(label):
        return "", nothing
    return label, make_cell(cell.text, colon.end(), len(cell.text), cell.start)


def _split_further_pairs(label: str, value: LineCell, start: int, line: TextLine) -> Iterator[LabelPair]:
    """Yield the pair, and further ones inside the value after a single space: "A0422 Date: 25/12/2017"."""
    place = 0
    # A capitalised word with a colon behind a single space starts another pair: "A0422 Date: 25/12/2017".
    for second in re.finditer(
        r"(?<=\S)\s(?P<label>[A-Z][A-Za-z]{2,30}\.?(?:\s(?:No|NO|ID|#)\.?)?)\s?:(?=\s?\S)(?!//)", value.text
    ):
        part = make_cell(value.text, place, second.start(), value.start)
        if part.text and len(part.text) <= 40:
            yield LabelPair(label=label, value=part, start=start, end=line.end)
            label, place = second["label"], second.end()
    rest = _first_sentence(make_cell(value.text, place, len(value.text), value.start))
    if rest.text:
        yield LabelPair(label=label, value=rest, start=start, end=max(rest.end, start))


def _first_sentence(value: LineCell) -> LineCell:
    """Return the first sentence of a paragraph that begins with a label: "Product: X 200. This lamp has …"."""
    if len(value.text) <= LINE_LIMITS.prose:
        return value
    # A full stop after at least four letters, so that no abbreviation ends a value.
    end = re.search(r"(?<!\b[^\W\d_])(?<!\b[^\W\d_]{2})(?<!\b[^\W\d_]{3})\.\s{1,9}(?=[^\W\d_])", value.text)
    return LineCell(text=value.text[: end.start()], start=value.start) if end else value


def _pairs_by_gap(line: TextLine) -> Iterator[LabelPair]:
    label, value = line.cells[0], _span_cells(line, line.cells[1], line.cells[-1])
    if not looks_like_label(label.text) or len(value.text) > 80 or len(label.text) > 45:
        return
    read = parse_comparable(value.text, label.text)
    is_value = read.number is not None or read.date or read.truth is not None
    if is_value or (label.text[:1].isupper() and len(label.text.split()) <= 5 and len(value.text.split()) <= 8):
        yield LabelPair(label=label.text, value=value, start=line.start, end=line.end)


# ── what a label looks like ──────────────────────────────────────────────────────────────────────────────────────────


def looks_like_label(text: str) -> bool:
    """Return True for a few words that name something: no sentence, no address, no number."""
    text = text.strip(" .:*-")
    # A label begins with a letter, maybe after its number in a form, and asks or quotes nothing.
    if not 1 < len(text) <= LINE_LIMITS.label or not re.match(r"(?:\d{1,2}[.)]?\s)?[^\W\d_][^\n!?\"“”]*+$", text):
        return False
    said = text.casefold().split()
    # A single word with three digits is a code, not a label.
    if len(said) == 1 and re.search(r"\d{3}", text):
        return False
    # The brackets continue after it.
    if text.count("(") != text.count(")"):
        return False
    small = sum(word in SMALL_WORDS for word in said)
    reads_on = len(said) > 2 and (said[-1] in SMALL_WORDS or 2 * small > len(said))
    return len(said) <= LINE_LIMITS.label_words and not reads_on and ". " not in text and "; " not in text


# ── the value on the line below ──────────────────────────────────────────────────────────────────────────────────────


def _trailing_label(line: TextLine) -> str:
    """Return the label that ends a line, also after other pairs, or ""."""
    if not line.cells or line.text[-1] not in COLONS:
        return ""
    last = _rejoin_labels(line)[-1]
    label = last.text[:-1].rstrip()
    if _COLON.search(label):
        return ""
    return label if looks_like_label(label) else ""


def _pair_with_value_below(
    text: str, lines: Sequence[TextLine], number: int, label: str, *, usual: bool
) -> tuple[LabelPair | None, int]:
    """Return the pair and the number of lines that its value takes. A label above another label is a blank field."""
    below = number + 1
    if below >= len(lines) or not _can_be_value(lines, below, usual=usual):
        return None, 0
    last = below
    while last + 1 < len(lines) and last - below < 8 and _continues_below(lines, last):
        last += 1
    start, end = lines[below].start, lines[last].end
    value = LineCell(text=text[start:end], start=start)
    return LabelPair(label=label, value=value, start=lines[number].start, end=end, is_apart=True), last - number


def _can_be_value(lines: Sequence[TextLine], number: int, *, usual: bool) -> bool:
    """Return True if the line can be a value of the label above it.

    `usual` says that values are below their labels in this text; otherwise words below a label may be a heading."""
    line = lines[number]
    if len(line.cells) != 1 or line.is_heading or starts_with_label(line):
        return False
    return any(character.isalnum() if usual else character.isdecimal() for character in line.text)


def _values_are_below(lines: Sequence[TextLine]) -> bool:
    """Return True if more labels are alone on their line than have a value there."""
    alone = sum(1 for line in lines if _trailing_label(line))
    return alone > sum(1 for line in lines if ":" in line.text and next(_pairs_by_colons(line), None) is not None)


def starts_with_label(line: TextLine) -> bool:
    """Return True if a line begins with a label of its own; "Part 7: Rules" is a value."""
    if not line.cells:
        return False
    if _trailing_label(line):
        return True
    label, _ = split_at_colon(_rejoin_labels(line)[0])
    return bool(label) and not label[-1].isdecimal()


def _continues_below(lines: Sequence[TextLine], number: int) -> bool:
    """Return True if the next line continues this one: it was broken to fit, and no label begins there."""
    if not lines[number].wraps or number + 1 >= len(lines):
        return False
    following = lines[number + 1]
    return bool(following.text) and not (following.is_heading or starts_with_label(following))


def _is_block_heading(lines: Sequence[TextLine], number: int) -> bool:
    """Return True for a short line without a value right above a line with one, and for a marked heading."""
    line = lines[number]
    if line.is_heading:
        return True
    if len(line.text) > 90 or line.text[-1] in ".,;" or not line.text[0].isalpha() or line.text[0].islower():
        return False
    if len(line.cells) > 1 or number + 1 >= len(lines) or ": " in line.text:
        return False
    following = lines[number + 1]
    return bool(following.text) and (
        bool(_trailing_label(following)) or next(_pairs_in_line(following), None) is not None
    )


# ── what may be a pair ───────────────────────────────────────────────────────────────────────────────────────────────

# A number alone, with its currency or per cent.
_BARE_VALUE = re.compile(rf"(?:[{CURRENCY_SYMBOLS}]|[A-Z]{{3}}\s)?\s?\d[\d.,\s]{{0,15}}%?\*?")


def find_possible_pairs(text: str, lines: Sequence[TextLine]) -> list[LabelPair]:
    """Return the certain pairs and possible ones: in brackets, in table rows, on two lines without a colon."""
    free = [structs.replace(line, text="", cells=()) if line.is_row else line for line in lines]
    found = dict.fromkeys(find_pairs(text, free))
    for line in lines:
        found.update(dict.fromkeys(_pairs_in_row(line) if line.is_row else _pairs_in_sentence(line)))
    passages = {(each.start, each.end) for each in found}
    stacked = (each for each in _find_stacked_pairs(lines) if (each.start, each.end) not in passages)
    return sorted((*found, *stacked), key=lambda each: each.start)


def _pairs_in_row(line: TextLine) -> Iterator[LabelPair]:
    """Yield the pair of a row with two cells, and those of cells that read "Label: value" themselves."""
    cells = split_bar_cells(line.text, line.start)
    if len(cells) == 2 and all(cell.text for cell in cells):
        yield LabelPair(label=cells[0].text.rstrip(COLONS), value=cells[1], start=line.start, end=line.end)
    for cell in cells:
        if ":" in cell.text and len(cell.text) <= LINE_LIMITS.with_colon:
            inner = TextLine(text=cell.text, start=cell.start, cells=split_cells(cell.text, cell.start))
            yield from _pairs_by_colons(inner)
            yield from _capitalised_pairs(inner)


def _pairs_in_sentence(line: TextLine) -> Iterator[LabelPair]:
    if ":" in line.text and len(line.text) <= LINE_LIMITS.with_colon:
        yield from _capitalised_pairs(line)
    # "(IATA: BWU, ICAO: YSBK)".
    for match in (
        re.finditer(r"(?<=[(,;\[])\s*(?P<label>[A-Z][\w /.&-]{1,30}?):\s*(?P<value>[^,;()\[\]:]{1,80})", line.text)
        if "(" in line.text or "[" in line.text
        else ()
    ):
        value = make_cell(line.text, *match.span("value"), line.start)
        start = line.start + match.start("label")
        yield LabelPair(label=match["label"].strip(), value=value, start=start, end=value.end, is_inline=True)


def _capitalised_pairs(line: TextLine) -> Iterator[LabelPair]:
    """Yield several pairs of one line: "Ht: 6' 7\" Wt: 205 Age: 26"."""
    # "Ht: 6' 7\" Wt: 205".
    labels = list(
        re.finditer(r"(?:(?<=\s)|^)(?P<label>[A-Z][\w./-]{1,20}(?: [A-Z][\w./-]{0,20})?):\s+(?=\S)", line.text)
    )
    for label, following in zip_longest(labels, labels[1:]) if len(labels) > 1 else ():
        value = make_cell(line.text, label.end(), following.start() if following else len(line.text), line.start)
        if value.text:
            yield LabelPair(label=label["label"], value=value, start=line.start + label.start(), end=value.end)


def _find_stacked_pairs(lines: Sequence[TextLine]) -> Iterator[LabelPair]:
    """Yield pairs of lines: "Price" with "£38.50" below it, or above it if a run of such lines begins with a value."""
    last: TextLine | None = None
    last_is_value = values_first = False
    filled = [line for line in lines if line.text]
    for line, following in zip_longest(filled, filled[1:]):
        is_short = len(line.text) <= LINE_LIMITS.label and not line.is_row
        is_short = is_short and not re.search(r"[.!?…;,]['\"”’)\]]*$", line.text)
        is_short = is_short and len(line.cells) == 1 and next(_pairs_in_line(line), None) is None
        is_value = is_short and bool(_BARE_VALUE.fullmatch(line.text))
        numbered = any(map(str.isdigit, line.text))
        is_label = (
            is_short and not is_value and len(line.text.split()) <= (3 if numbered else LINE_LIMITS.label_words - 2)
        )
        if last is None or last_is_value == is_value:
            values_first = is_value
        if last and values_first and is_label and last_is_value:
            # With a value above and below, either may belong to the label.
            if following is None or not _BARE_VALUE.fullmatch(following.text):
                yield _make_stacked_pair(line, last)
        elif last and not values_first and not last_is_value and _can_be_below(line):
            yield _make_stacked_pair(last, line)
        last = line if is_value or is_label else None
        last_is_value = is_value


def _can_be_below(line: TextLine) -> bool:
    short = len(line.text) <= 120 and not line.is_row
    return short and line.text[-1] not in COLONS and not starts_with_label(line)


def _make_stacked_pair(label: TextLine, value: TextLine) -> LabelPair:
    return LabelPair(
        label=label.text.rstrip(" :"),
        value=LineCell(text=value.text, start=value.start),
        start=min(label.start, value.start),
        end=max(label.end, value.end),
        is_apart=True,
        is_marked=label.text[-1] in COLONS,
    )
