"""A model's answer for a cell, and what code proves of it.

Every quote stands in its text; the value follows from the quotes by a rule (citations/evidence.py), by a calculation
that code repeats, or, where the column allows it, by the model's judgement. What cannot be proved says why.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Literal

from pydantic import BaseModel, ConfigDict
from pydantic import Field as Key

from tablewright.citations.evidence import (
    FROM_STATEMENT,
    basis_of,
    conversion,
    follows,
    in_source_precision,
    is_address_of,
    stands_in,
)
from tablewright.citations.figures import calculate, find_unproved_figures, prove_figures
from tablewright.citations.quotes import Unproved, find_quote, prove_each
from tablewright.domain.model import Basis, Field, FieldType, Money
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.text import shortened, show_float
from tablewright.extraction.reader import Candidate, SameRow, SourceSpan
from tablewright.text import page_pieces
from tablewright.values.choices import exact_option
from tablewright.values.coerce import coerce, is_not_found
from tablewright.values.money import read_amounts
from tablewright.values.numbers import read_number, read_numbers
from tablewright.values.same_value import same_value

SCORES: dict[Basis, float] = {"stated": 0.94, "converted": 0.9, "computed": 0.9, "judged": 0.7}
"""How likely an answer is right that a model gave and code has checked, by its basis."""
UNCLEAR = 0.65
"""At most, where the text may be about something else than the row."""
WORDS_ALONE = frozenset({"option", "words", FROM_STATEMENT})
"""Rules by which a value's words stand in a quote that may mean something else by them: "a small team" does not make a
firm small. They prove what a model says is stated, and not what it says it concluded."""
JUDGED_TYPES: frozenset[FieldType] = frozenset({"text", "select", "boolean", "list"})
ABSENT_TYPES: frozenset[FieldType] = frozenset({"text", "number", "list"})
NONE = "none"
"""The answer that a text says there is no such thing, where it has a quote."""
COMPUTED_TYPES: frozenset[FieldType] = frozenset({"number", "money", "date", "text"})
NEAR = 400
"""Characters around a quote in which the name may stand that the quote speaks of."""
MOST_QUOTES = 8
"""Of an answer; a summary may stand on several pages."""


# No lengths here: a schema with them is one that providers do not enforce.


class Quoted(BaseModel):
    text: int
    quote: str


class CellAnswer(BaseModel):
    model_config = ConfigDict(extra="ignore")
    value: str
    basis: Literal["stated", "computed", "judged"]
    quotes: list[Quoted] = Key(max_length=MOST_QUOTES)
    calculation: str


class TextVerdict(BaseModel):
    text: int
    same_row: Literal["same", "other", "unclear"]
    reason: str


def prove_answer(
    field: Field,
    answer: CellAnswer,
    sources: Sequence[Retrieved],
    verdicts: Mapping[int, TextVerdict],
    *,
    strict: bool = False,
    today: str = "",
    is_whole: bool = True,
) -> list[Candidate]:
    """Return the answer as candidates, one for each text that it was proved from; none for an answer that says nothing.
    Raises Unproved for any other. `is_whole`: the texts were shown whole."""
    calculation = with_date(answer.calculation, today)
    value = in_column_unit(value_of(answer, field, calculation, today), field)

    def find(quoted: Quoted) -> SourceSpan:
        return find_span(quoted, value, field, sources, verdicts)

    if value.casefold() == NONE and field.type in ABSENT_TYPES and not field.options:
        quoted_spans, _ = prove_each(answer.quotes, find)
        return [candidate(field, NONE, quoted_spans, "judged", verdicts)] if quoted_spans else []
    if not value or (is_not_found(value) and exact_option(value, field.options) is None):
        return []
    if problem := wrong_form(value, field):
        raise Unproved(problem)
    quotes = [quoted for quoted in answer.quotes if quoted.quote.strip()]
    if not quotes:
        raise Unproved(f"{value!r} has no quote. Quote the passage that shows it, or give no answer.")
    found, failed = prove_each(quotes, find)
    if not found:
        raise Unproved(failed[0][1])
    spans = [proof(value, span, field, sources[span.source]) for span in found]
    concluded = WORDS_ALONE if answer.basis == "judged" and not strict else frozenset()
    proved = [(span, rule) for span, rule in spans if rule and rule not in concluded]
    if not proved:
        whole = " … ".join(sources[span.source].words_at(span.start, span.end) for span, _ in spans)
        if (rule := follows(value, whole, field)) and rule not in concluded:  # the parts of a list, each with its quote
            proved = [(spans[0][0], rule)]
    if proved:
        first = first_of_each_source(proved)
        apart = {span.source for span, _ in first[1:]}  # the first has also what shows it in other words elsewhere
        return [
            candidate(
                field,
                in_source_precision(value, sources[span.source].text[span.start : span.end], field),
                [span, *(other for other, _ in spans if other.source == span.source)]
                + [other for other, _ in spans if place == 0 and other.source not in apart],
                rule,
                verdicts,
            )
            for place, (span, rule) in enumerate(first)
        ]
    if calculation and field.type in COMPUTED_TYPES and (field.type != "text" or read_numbers(value)):
        if "+" in calculation and field.type != "date" and not is_whole:
            raise Unproved(f"the texts are shown in part, so the sum {calculation!r} may lack something.")
        texts = [today, *(sources[span.source].words_at(span.start, span.end) for span, _ in spans)]
        prove_result(value, calculation, field, texts)
        return [candidate(field, value, [span for span, _ in spans], "computed", verdicts, calculation)]
    texts = [text for span, _ in spans for text in passage(sources[span.source], span)]
    prove_judgeable(value, field, answer.quotes[0].quote, texts, strict=strict)
    return [candidate(field, value, [span for span, _ in spans], "judged", verdicts)]


def in_column_unit(value: str, field: Field) -> str:
    """With the column's unit, where it is a bare number: a reader is asked to answer in that unit."""
    number = read_number(value) if field.type == "number" and field.unit else None
    if number is None or (number.start, number.end) != (0, len(value)) or value.endswith(field.unit):
        return value
    measured = f"{value} {field.unit}"
    return measured if coerce(measured, field).value == coerce(value, field).value else value


def wrong_form(value: str, field: Field) -> str:
    if field.options and exact_option(value, field.options) is None:
        return f"{value!r} is not one of: {', '.join(field.options)}."
    read = coerce(value, field)
    if read.value is None:
        return f"{value!r} is not a {field.type}{f' ({read.note})' if read.note else ''}."
    return ""


def find_span(
    quoted: Quoted, value: str, field: Field, sources: Sequence[Retrieved], verdicts: Mapping[int, TextVerdict]
) -> SourceSpan:
    """Return where the quote is. Raises Unproved for one that is no evidence. A miscopied quote counts as the sentence
    that was meant, if the value follows from that sentence."""
    found = find_quote(
        quoted.quote, sources, quoted.text, proves=lambda sentence: bool(follows(value, sentence, field))
    )
    verdict = verdicts.get(found.source)
    if verdict is not None and verdict.same_row == "other":
        raise Unproved(f"text {found.source + 1} is about something else, as you say; it cannot fill this row.")
    if found.fault:
        raise Unproved(found.fault)
    return SourceSpan(found.source, found.start, found.end)


def proof(value: str, span: SourceSpan, field: Field, source: Retrieved) -> tuple[SourceSpan, str]:
    """The passage that the value follows from, and by which rule: the quote, the sentence or line around it, or, for a
    name that the quote only refers to, from the name to the quote; for an address, the one that the quote was retrieved
    from. "" where code cannot see that it follows."""
    text = source.text
    if (rule := follows(value, source.words_at(span.start, span.end), field)) or span.start > len(text):
        return span, rule
    around = next(((s, e) for s, e in page_pieces(text) if s <= span.start and span.end <= e), None)
    if around is not None and (rule := follows(value, text[slice(*around)], field)):
        return SourceSpan(source=span.source, start=around[0], end=around[1]), rule
    if field.type == "url" and is_address_of(value, source.origin):
        return span, "address"
    if field.type == "text" and not field.options and not read_numbers(value):
        near = max(0, span.start - NEAR)
        place = text.casefold().find(value.casefold(), near, span.end + NEAR)
        if place >= 0 and stands_in(value, text[near : span.end + NEAR]):
            start, end = min(place, span.start), max(place + len(value), span.end)
            return SourceSpan(source=span.source, start=start, end=end), "verbatim"
    return span, ""


def first_of_each_source(proved: Sequence[tuple[SourceSpan, str]]) -> list[tuple[SourceSpan, str]]:
    first: dict[int, tuple[SourceSpan, str]] = {}
    for span, rule in proved:
        first.setdefault(span.source, (span, rule))
    return list(first.values())


def with_date(calculation: str, today: str) -> str:
    """With the current year and date in place of their names."""
    return " ".join(calculation.split()).replace("this_year", today[:4]).replace("today", today)


def value_of(answer: CellAnswer, field: Field, calculation: str, today: str) -> str:
    """Return the value that was answered, with the result that code works out where it follows from the current date,
    which a model does not know."""
    value = answer.value.strip()
    is_dated = with_date(answer.calculation, "") != calculation
    if not is_dated or answer.basis != "computed" or field.type not in COMPUTED_TYPES:
        return value
    result = work_out(calculation, field, [today, *(quoted.quote for quoted in answer.quotes)])
    if isinstance(result, str):
        return value or result if field.type == "text" else result
    shown = show_float(round(result, 2) if abs(result) >= 1 else float(f"{result:.4g}"))
    match read_numbers(value):
        case []:
            return shown
        case [number]:
            return f"{value[: number.start]}{shown}{value[number.end :]}"
        case _:
            return value


def work_out(calculation: str, field: Field, texts: Sequence[str]) -> float | str:
    """Return the day of a date column, a number for numbers and money, either for a text."""
    result = calculate(calculation, texts)
    if field.type != "text" and isinstance(result, str) is not (field.type == "date"):
        what = "a date, such as '2026-03-04 + 30 days'" if field.type == "date" else "a number"
        raise Unproved(f"the calculation {calculation!r} does not give {what}.")
    return result


def prove_result(value: str, calculation: str, field: Field, texts: Sequence[str]) -> None:
    """Raise Unproved unless the value follows from figures of the texts by the calculation."""
    result = work_out(calculation, field, texts)
    wanted = coerce(value, field).value
    wrong = ""
    if field.type == "text":
        numbers, days = ([], [result]) if isinstance(result, str) else ([result], [])
        wrong = "".join(map(repr, find_unproved_figures(value, [*texts, *days], numbers)[:1]))
    elif isinstance(result, str):
        wrong = repr(value) if wanted != result else ""
    else:
        amount = wanted.amount if isinstance(wanted, Money) else wanted
        is_same = isinstance(amount, int | float) and same_value(result, amount, "converting")
        wrong = "" if is_same else repr(value)
    if wrong:
        shown = result if isinstance(result, str) else f"{result:g}"
        raise Unproved(f"the calculation {calculation!r} gives {shown}, not {wrong}.")
    named = {each.money.currency for text in texts for each in read_amounts(text, field.unit)} - {""}
    if isinstance(wanted, Money) and wanted.currency and named and named != {wanted.currency}:
        raise Unproved(f"{value!r} is computed from amounts in {', '.join(sorted(named))}.")


def prove_judgeable(value: str, field: Field, quote: str, texts: Sequence[str], *, strict: bool) -> None:
    """Raise Unproved where a value that no quote states cannot be taken as a judgement either."""
    quote = shortened(quote, 120)
    if field.type not in JUDGED_TYPES:
        raise Unproved(
            f"{value!r} is not in the quote “{quote}”. A {field.type} must be stated or computed: quote the words that "
            "state it, or every figure of its calculation."
        )
    if strict:
        raise Unproved(f"{value!r} is not in the quote “{quote}”, and only what is stated may be given.")
    prove_figures(value, [" ".join(texts)], where="the quotes")


def passage(source: Retrieved, span: SourceSpan) -> Iterator[str]:
    """A quote, with what says what its figures are: the title of the page, and the head of a table that it is a row of,
    "Model | 1 l in | Noise"."""
    yield source.words_at(span.start, span.end)
    yield source.title
    lines = source.text[: span.start].split("\n")[:-1]
    rows = list(takewhile(lambda line: "|" in line, reversed(lines)))
    yield rows[-1] if rows else ""


def candidate(
    field: Field,
    value: str,
    spans: Sequence[SourceSpan],
    rule: str,
    verdicts: Mapping[int, TextVerdict],
    calculation: str = "",
) -> Candidate:
    first, *more = dict.fromkeys(spans)
    basis: Basis = "computed" if calculation else "judged" if rule == "judged" else basis_of(rule)
    verdict = verdicts.get(first.source)
    same: SameRow = "same" if verdict is None or verdict.same_row == "same" else "unclear"
    return Candidate(
        field=field.name,
        value=value,
        source=first.source,
        start=first.start,
        end=first.end,
        score=SCORES[basis] if same == "same" else min(SCORES[basis], UNCLEAR),
        how=f"model, {rule}",
        basis=basis,
        converted_by=conversion(rule) if basis == "converted" else calculation,
        more=tuple(more),
        same_row=same,
        doubt=verdict.reason if verdict is not None and same == "unclear" else "",
    )
