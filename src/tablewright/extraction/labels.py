"""Reads "Label: value" pairs and tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import structs

from tablewright.extraction.about import Subject, about
from tablewright.extraction.found import Found
from tablewright.extraction.kinds import option_in, options_in, typed
from tablewright.extraction.menus import is_no_value, states_another
from tablewright.extraction.passages import Grid, Pair
from tablewright.extraction.spans import Span
from tablewright.extraction.wanted import Wanted
from tablewright.table.choices import read_boolean
from tablewright.table.measures import stature_at
from tablewright.text.words import stems

LONGEST_LABEL_WORDS = 7
LESSER = 0.6
LONGEST_NAME_BELOW = 60
INLINE = 0.95
UNMARKED = 0.97  # a line above another is less surely its label than one with a colon
NAMED_SURELY = 0.8  # how well a line must be named by its label to speak of the line below it


def from_pairs(want: Wanted, pairs: Sequence[Pair]) -> Iterator[Found]:
    answered = ""
    fits: dict[str, float] = {}
    for pair in pairs:
        if "/" in pair.label and (want.kind in _MEASURED or want.relation.formed):
            pair = _own_part(want, pair)
        if (fit := fits.get(pair.label, -1.0)) < 0:
            fit = fits[pair.label] = label_fit(want, pair.label)
        if fit <= 0 or (pair.apart and (pair.label == answered or not _speaks_below(want, pair, fit))):
            continue
        if states_another(want, pair.value) or (not pair.marked and is_no_value(want, pair)):
            continue
        answered = pair.value if pair.apart else ""
        if (span := answer_in(want, pair.value, pair.label)) is not None:
            sort = INLINE if pair.inline else 1.0 if pair.marked else UNMARKED
            score = fit * sort * (0.7 + 0.3 * span.sure)
            yield Found(value=span.value, start=pair.start, end=pair.end, score=score)


_MEASURED = ("measure", "count", "number", "money")
_PARTS = re.compile(r"\s*/\s*|,\s+")


def _own_part(want: Wanted, pair: Pair) -> Pair:
    """Of "Ht/Wt: 6-8 / 240" the half that the field asks for."""
    labels, values = pair.label.split("/"), _PARTS.split(pair.value)
    fits = [label_fit(want, label) for label in labels]
    if len(labels) != len(values) or len(labels) < 2 or sum(1 for fit in fits if fit) != 1:
        return pair
    place = fits.index(max(fits))
    return structs.replace(pair, label=labels[place], value=values[place])


def _speaks_below(want: Wanted, pair: Pair, fit: float) -> bool:
    """Whether a line is surely the label of its neighbour, and no heading of something longer or of more labels."""
    if fit < NAMED_SURELY or label_fit(want, pair.value) >= fit:
        return False
    return want.kind not in _NAMES or len(pair.value) <= LONGEST_NAME_BELOW


def label_fit(want: Wanted, label: str) -> float:
    """How surely a label is the name of the field: 1 for the very name, less for one with more words."""
    words = stems(label)
    joined = "".join(words)
    if joined == want.joined_name:
        return 1.0
    if want.label_words.isdisjoint(words) and joined not in want.joined_labels:
        return 0.0
    if len(words) > LONGEST_LABEL_WORDS or _is_unlike(want, label):
        return 0.0
    best = 1.0 if joined in want.joined_labels else _partial_fit(want, words)
    if want.relation.lesser and re.search(want.relation.lesser, label, re.IGNORECASE):
        best *= LESSER
    return best if best > 0.3 else 0.0


def _partial_fit(want: Wanted, words: tuple[str, ...]) -> float:
    best = 0.66 if words == (want.head,) else 0.0
    told = sum(1 for word in words if word not in _SMALL_WORDS)
    for known in want.label_stems:
        if _within(known, words) and len("".join(known)) > 1:
            best = max(best, 0.92 - 0.12 * max(1, told - len(known)))
        elif len(words) > 1 and len("".join(words)) > 5 and _within(words, known):
            best = max(best, 0.75)
    return best


_SMALL_WORDS = frozenset(("of", "the", "in", "for", "and", "a"))


def _is_unlike(want: Wanted, label: str) -> bool:
    return bool(want.relation.unlike and re.search(want.relation.unlike, label, re.IGNORECASE))


def _within(part: Sequence[str], whole: Sequence[str]) -> bool:
    width = len(part)
    return any(whole[place : place + width] == part for place in range(len(whole) - width + 1))


_NAMES = ("text", "name", "organisation", "title", "person", "place")
_LONGEST_NAME = 9  # words


def answer_in(want: Wanted, value: str, label: str) -> Span | None:
    """The answer that a value text holds: of the wanted kind, or the text itself where any will do."""
    if not any(character.isalnum() for character in value):
        return None
    if want.kind == "yesno":
        verdict, _, _ = read_boolean(value)
        return None if verdict is None else Span(value="yes" if verdict is True else "no", start=0, end=len(value))
    if want.kind == "option":
        return _option(want, value, label)
    if want.relation.formed:
        return _formed(want, value)
    if want.relation.stature and _DASHED.match(value):
        return _dashed_height(want, value)
    if want.kind in _NAMES:
        whole = value.split(" | ")[0].strip(" .;")
        if not 0 < len(whole) <= 200 or (want.kind == "person" and _is_no_name(whole)):
            return None
        return Span(value=whole, start=0, end=len(whole))
    return _surest(typed(want, value))


def _surest(found: Sequence[Span]) -> Span | None:
    return max(found, key=lambda span: (span.sure, -span.start)) if found else None


_DASHED = re.compile(r"\s*\d\s?[-–]\s?\d")


def _dashed_height(want: Wanted, value: str) -> Span | None:
    """ "6-8" is feet and inches in a text, and no number; a number needs a unit beside it: "6-8 (203 cm)"."""
    if want.field.type == "text" and not want.unit and (stature := stature_at(value)):
        return Span(value=value[: stature[2]].strip(), start=0, end=stature[2], sure=0.9)
    return _surest([span for span in typed(want, value) if span.sure > 0.5])


_SOME_DIGITS = re.compile(r"(?:\d\D{0,3}){5}|@")


def _formed(want: Wanted, value: str) -> Span | None:
    """The telephone number alone, without "(toll free)"; one of a form we do not know with all of its line."""
    if found := re.search(want.relation.pattern, value):
        return Span(value=found[1].strip(), start=found.start(1), end=found.end(1))
    whole = value.split(" | ")[0].strip(" .;")
    return Span(value=whole, start=0, end=len(whole)) if _SOME_DIGITS.search(whole) and len(whole) <= 60 else None


def _option(want: Wanted, value: str, label: str) -> Span | None:
    """The option; where the field is free text, with what the value says more: "Private, non-profit"."""
    option = option_in(want, value)
    if want.otherwise and "".join(stems(label)) == want.joined_name and not options_in(want, value):
        other = answer_in(structs.replace(want, kind=want.otherwise), value, label)
        return structs.replace(other, sure=0.5 * other.sure) if other else None
    if option is None or want.field.options or len(value) > LONGEST_NAME_BELOW:
        return option
    return Span(value=value.strip(" .;"), start=0, end=len(value))


def _is_no_name(value: str) -> bool:
    first = re.split(r"[,;/&]| and ", value)[0]
    return len(first.split()) > _LONGEST_NAME or not any(character.isupper() for character in first)


# ── tables ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def from_grid(subject: Subject, want: Wanted, grid: Grid, fit: float) -> Iterator[Found]:
    """Column header × row label, either way round; or, on the subject's own page, rows of label and value."""
    header = grid.rows[0]
    columns = [(place, score) for place, (cell, _) in enumerate(header) if (score := label_fit(want, cell)) > 0.5]
    if columns:
        yield from _down(subject, want, grid, columns)
    labelled = [(row, score) for row in grid.rows if (score := label_fit(want, row[0][0])) > 0.5]
    if not labelled:
        return
    own = [place for place, (cell, _) in enumerate(header) if place and _names_subject(subject, cell)]
    for row, score in labelled:
        for place in own:
            if row is not header:
                yield from _cell(want, row, place, 0.95 * score, row[0][0])
        if fit and not own and not columns:
            yield from _cell(want, row, 1, fit * 0.9 * score, row[0][0])


def _down(subject: Subject, want: Wanted, grid: Grid, columns: list[tuple[int, float]]) -> Iterator[Found]:
    """The rows that name the subject, at the columns that are named like the field."""
    for row in grid.rows[1:]:
        if any(_names_subject(subject, cell) for cell, _ in row[:3]):
            for place, score in columns:
                yield from _cell(want, row, place, 0.95 * score, grid.rows[0][place][0])


def _cell(want: Wanted, row: tuple[tuple[str, int], ...], place: int, score: float, label: str) -> Iterator[Found]:
    if place < len(row) and (span := answer_in(want, row[place][0], label)) is not None:
        text, start = row[-1] if place != 1 else row[place]
        yield Found(value=span.value, start=row[0][1], end=start + len(text), score=score)


def _names_subject(subject: Subject, cell: str) -> bool:
    return bool(cell and subject.name) and about(Subject(name=subject.name), cell, "") >= 0.75
