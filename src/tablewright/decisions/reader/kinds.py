"""Answers of the kind that a field wants, in a text."""

from __future__ import annotations

from collections.abc import Sequence

from tablewright.decisions.reader.relations import normal
from tablewright.decisions.reader.spans import Span, spans
from tablewright.decisions.reader.wanted import Wanted
from tablewright.table.measures import in_unit, read_measures
from tablewright.table.rowkey import fold
from tablewright.table.text import show


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


def option_in(want: Wanted, text: str) -> Span | None:
    """The one option that the text names; with several it is unsure."""
    words = f" {normal(text)} "
    named = [option for option in want.options if normal(option) and f" {normal(option)} " in words]
    longest = [
        option for option in named if not any(normal(option) in normal(other) and option != other for other in named)
    ]
    if len(longest) != 1:
        return None
    place = max(0, fold(text).find(fold(longest[0])))
    return Span(value=longest[0], start=place, end=place + len(longest[0]))


def _bare(span: Span, unit: str) -> Span:
    """The number alone, in the unit that the field's name gives."""
    measure = next(iter(read_measures(span.value, unit)), None)
    fit = in_unit(measure, unit) if measure else None
    return span if fit is None else Span(value=show(fit.value), start=span.start, end=span.end, sure=span.sure)
