"""Answers of the kind that a field wants, in a text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from tablewright.extraction.spans import Span, spans
from tablewright.extraction.wanted import Wanted
from tablewright.table.measures import in_unit, read_measures
from tablewright.table.text import show
from tablewright.text.words import normal


def typed(want: Wanted, text: str) -> Sequence[Span]:
    if want.kind == "option":
        option = option_in(want, text)
        return (option,) if option else ()
    if want.kind in ("yesno", "text"):
        return ()
    found = spans(want.kind, text, want.unit, want.relation.unit)
    if want.kind == "date" and not found:
        return tuple(Span(value=span.value, start=span.start, end=span.end, sure=0.5) for span in spans("year", text))
    if want.bare:
        return tuple(_bare(span, want.unit) for span in found if span.sure > 0.5)
    return found


_DENIED = re.compile(r" (?:not|non|never|no longer|former|formerly|previously)(?: an?| the)? $")


def options_in(want: Wanted, text: str) -> list[str]:
    """Those that the text names and does not deny: "not for profit" is not "for profit"."""
    words = f" {normal(text)} "
    return [option for option in want.options if normal(option) and _names(words, f" {normal(option)} ")]


def _names(words: str, option: str) -> bool:
    place = words.find(option)
    while place >= 0:
        if not _DENIED.search(words, 0, place + 1):
            return True
        place = words.find(option, place + 1)
    return False


def option_in(want: Wanted, text: str) -> Span | None:
    """The one option that the text names; with several it is unsure. As the text writes it, where any text will do."""
    named = options_in(want, text)
    longest = [
        option for option in named if not any(normal(option) in normal(other) and option != other for other in named)
    ]
    if len(longest) != 1:
        return None
    written = re.search(r"[\W_]+".join(map(re.escape, normal(longest[0]).split())), text, re.IGNORECASE)
    start, end = written.span() if written else (0, len(text))
    own = want.field.options or not written
    return Span(value=longest[0] if own else text[start:end], start=start, end=end)


def _bare(span: Span, unit: str) -> Span:
    """The number alone, in the unit that the field's name gives."""
    measure = next(iter(read_measures(span.value, unit)), None)
    fit = in_unit(measure, unit) if measure else None
    return span if fit is None else Span(value=show(fit.value), start=span.start, end=span.end, sure=span.sure)
