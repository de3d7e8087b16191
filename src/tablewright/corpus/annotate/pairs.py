"""Label and value in lines: "Label: value", "Label ..... value", "Label    value", and forms with the value below."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tablewright.corpus.annotate.lines import WIDE, LineCell, TextLine, cell_at
from tablewright.domain.model import Noun
from tablewright.text.words import SMALL_WORDS
from tablewright.values.currencies import currency_of
from tablewright.values.typed import typed

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
            found.extend(
                LabelPair(label=each.label, value=each.value, start=each.start, end=each.end, heading=heading)
                for each in here
            )
        elif not open_label and _is_heading(lines, number):
            heading = line.text
            taken.add(number)
        elif not open_label and len(line.text) > LONGEST_PROSE:
            heading = ""
        number += 1
    return found, blank


def _breaks_off(line: TextLine) -> bool:
    """Whether a sentence goes on in the next line, where a colon then makes no label."""
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
    return label, cell_at(cell.text, colon.end(), len(cell.text)).moved(cell.start)


def _several(label: str, value: LineCell, start: int, line: TextLine) -> Iterator[LabelPair]:
    """Further pairs may stand in the value behind one space: "A0422 Date: 25/12/2017"."""
    place = 0
    for second in _SECOND.finditer(value.text):
        part = cell_at(value.text, place, second.start()).moved(value.start)
        if part.text and len(part.text) <= 40:
            yield LabelPair(label=label, value=part, start=start, end=line.end)
            label, place = second["label"], second.end()
    rest = _first_sentence(cell_at(value.text, place, len(value.text)).moved(value.start))
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
    return LabelPair(label=label, value=value, start=lines[number].start, end=end), last - number


def _may_be_value(lines: Sequence[TextLine], number: int, *, usual: bool) -> bool:
    """`usual`: values stand below their labels here. Where they do not, words below one may be a heading."""
    line = lines[number]
    if len(line.cells) != 1 or line.is_heading or starts_label(line):
        return False
    return any(character.isalnum() if usual else character.isdecimal() for character in line.text)


def _values_stand_below(lines: Sequence[TextLine]) -> bool:
    """Whether more labels stand alone than with a value in their line."""
    alone = sum(1 for line in lines if _open_label(line))
    return alone > sum(1 for line in lines if ":" in line.text and next(_by_colons(line), None) is not None)


def starts_label(line: TextLine) -> bool:
    """Whether a line begins with a label of its own; "Part 7: Rules" is a value."""
    if not line.cells:
        return False
    if _open_label(line):
        return True
    label, _ = split_at_colon(_rejoined(line)[0])
    return bool(label) and not label[-1].isdecimal()


def _goes_on(lines: Sequence[TextLine], number: int) -> bool:
    """Whether the next line goes on with this one: it was broken to fit, and no label begins there."""
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
