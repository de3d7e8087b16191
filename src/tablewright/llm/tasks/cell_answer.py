"""Check a model's answer for a cell against the texts it was read from.

Every quote must be in its text. The value must follow from the quotes by a rule (citations/evidence.py), by a
calculation that code repeats, or, if the column allows it, by the model's judgement. Otherwise the error says why.
Shared by all tasks that read cells; pure functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Literal

from msgspec import structs
from pydantic import BaseModel, ConfigDict
from pydantic import Field as Key

from tablewright.citations.evidence import (
    basis_for_rule,
    contains_words,
    conversion_rule,
    find_proving_rule,
    is_address_of,
    limit_to_source_precision,
    states_labelled_boolean,
)
from tablewright.citations.figures import find_unproved_figures, list_sizes, prove_figures, repeat_calculation
from tablewright.citations.quotes import Unproved, find_quote, find_table_header, prove_items
from tablewright.domain.model import Basis, Field, FieldType, Money
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.text import format_float, shorten_text
from tablewright.extraction.reader import Candidate, SameRow, SourceSpan
from tablewright.text import page_pieces
from tablewright.values.choices import find_exact_option
from tablewright.values.coerce import coerce_value, is_not_found
from tablewright.values.measures import convert_measure, read_measures
from tablewright.values.money import read_amounts
from tablewright.values.numbers import read_first_number, read_numbers
from tablewright.values.same_value import same_value
from tablewright.values.units import find_column_unit, parse_unit

# The score of a checked answer by its basis. Judged answers are checked by the model a second time (judge_values.py).
BASIS_SCORES: dict[Basis, float] = {"stated": 0.94, "converted": 0.9, "computed": 0.9, "judged": 0.7}
# The highest score of an answer whose text may be about something other than the row: below what is accepted unseen.
MAX_UNCLEAR_SCORE = 0.65
# A number, date or amount is a fact that a text states or that follows by a calculation, never a conclusion.
JUDGED_TYPES: frozenset[FieldType] = frozenset({"text", "select", "boolean", "list"})
# The answer for "a text says there is none"; it needs a quote.
ABSENT_VALUE = "none"
# A text may say a computed figure in words ("39 years old").
COMPUTED_TYPES: frozenset[FieldType] = frozenset({"number", "money", "date", "text"})
# A summary may be based on several pages.
MAX_QUOTES = 8


# No lengths here: a schema with them is one that providers do not enforce.


class Quoted(BaseModel):
    text: int
    quote: str


class CellAnswer(BaseModel):
    model_config = ConfigDict(extra="ignore")
    value: str
    basis: Literal["stated", "computed", "judged"]
    quotes: list[Quoted] = Key(max_length=MAX_QUOTES)
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
    """Return the answer as candidates, one for each text that proves it, and none if the answer is empty.

    Raise Unproved if nothing proves it. `is_whole` says that the texts were shown whole.
    """
    calculation = insert_date(answer.calculation, today)
    value = add_column_unit(answered_value(answer, field, calculation, today), field)

    def find(quoted: Quoted) -> SourceSpan:
        return find_quoted_span(quoted, value, field, sources, verdicts)

    # In other types "none" is not a value, and among options it is one of them or wrong.
    if value.casefold() == ABSENT_VALUE and field.type in ("text", "number", "list") and not field.options:
        quoted_spans, _ = prove_items(answer.quotes, find)
        return [build_candidate(field, ABSENT_VALUE, quoted_spans, "judged", verdicts)] if quoted_spans else []
    # "None" or "unknown" may be one of the options, and then it is an answer.
    if not value or (is_not_found(value) and find_exact_option(value, field.options) is None):
        return []
    if problem := find_form_problem(value, field):
        raise Unproved(problem)
    quotes = [quoted for quoted in answer.quotes if quoted.quote.strip()]
    if not quotes:
        raise Unproved(f"{value!r} has no quote. Quote the passage that shows it, or give no answer.")
    found, failed = prove_items(quotes, find)
    if not found:
        raise Unproved(failed[0][1])
    measured = expect_unit(value, field)
    spans = [find_proof(value, span, measured, sources[span.source]) for span in found]

    def judged() -> list[Candidate]:
        texts = [text for span, _ in spans for text in quote_context(sources[span.source], span)]
        require_judgeable(value, field, answer.quotes[0].quote, texts, strict=strict)
        return [build_candidate(field, value, [span for span, _ in spans], "judged", verdicts)]

    def computed() -> list[Candidate]:
        # What is left out of a text may be one of the figures to add up.
        if "+" in calculation and field.type != "date" and not is_whole:
            raise Unproved(f"the texts are shown in part, so the sum {calculation!r} may lack something.")
        return [
            build_candidate(field, value, each, "computed", verdicts, calculation)
            for each in split_computed_spans(value, calculation, field, spans, sources, today)
        ]

    # The words of a conclusion may be in a quote and mean something else: "a small team" does not make a firm small.
    # The column's own label with a yes or no means nothing else.
    is_labelled = any(
        rule and states_labelled_boolean(sources[span.source].words_at(span.start, span.end), field)
        for span, rule in spans
    )
    if answer.basis == "judged" and field.type in JUDGED_TYPES and not is_labelled:
        return judged()
    can_compute = field.type in COMPUTED_TYPES and (field.type != "text" or bool(read_numbers(value)))
    if answer.basis == "computed" and can_compute and has_operation(calculation):
        return computed()
    proved = [(span, rule) for span, rule in spans if rule]
    if not proved:
        whole = " … ".join(sources[span.source].words_at(span.start, span.end) for span, _ in spans)
        # The parts of a list, each with its quote.
        if rule := find_proving_rule(value, whole, measured):
            proved = [(spans[0][0], rule)]
    if proved:
        first = first_of_each_source(proved)
        # The first candidate also has the quotes of other texts that show the value in other words.
        apart = {span.source for span, _ in first[1:]}
        return [
            build_candidate(
                field,
                limit_to_source_precision(value, sources[span.source].text[span.start : span.end], field),
                [span, *(other for other, _ in spans if other.source == span.source)]
                + [other for other, _ in spans if place == 0 and other.source not in apart],
                rule,
                verdicts,
            )
            for place, (span, rule) in enumerate(first)
        ]
    if calculation and can_compute:
        return computed()
    if problem := find_unit_problem(
        value, measured, [sources[span.source].words_at(span.start, span.end) for span in found]
    ):
        raise Unproved(problem)
    return judged()


def expect_unit(value: str, field: Field) -> Field:
    """Return the field by which a bare number is proved: also a text column may say its unit in its name."""
    if field.type != "text" or field.options or not (unit := find_column_unit(field)):
        return field
    number = read_first_number(value)
    is_bare = number is not None and (number.start, number.end) == (0, len(value))
    return structs.replace(field, type="number", unit=unit) if is_bare else field


def find_unit_problem(value: str, field: Field, quotes: Sequence[str]) -> str:
    """Return the problem if a quote has the number in another unit than the column, else ""."""
    number = coerce_value(value, field).value if field.type == "number" and field.unit else None
    if not isinstance(number, int | float):
        return ""
    for quote in quotes:
        for measure in read_measures(quote, field.unit):
            is_other = measure.unit and parse_unit(measure.unit) != parse_unit(field.unit)
            if (
                is_other
                and convert_measure(measure, field.unit) is not None
                and any(same_value(size, number, "proving") for size in list_sizes(measure))
            ):
                written = quote[measure.start : measure.end]
                return (
                    f"{value!r} is not in the quote “{shorten_text(quote, 120)}”. It says “{written}”, and the column "
                    f"is in {field.unit}: convert it."
                )
    return ""


def has_operation(calculation: str) -> bool:
    """Return True for "4.20 / 1.5" and "2026-03-04 + 30 days", but not for a number or date alone."""
    return bool(re.search(r"\d[\s)]*[-+*/]", re.sub(r"\d{4}-\d\d-\d\d", "0", calculation)))


def split_computed_spans(
    value: str,
    calculation: str,
    field: Field,
    spans: Sequence[tuple[SourceSpan, str]],
    sources: Sequence[Retrieved],
    today: str,
) -> list[list[SourceSpan]]:
    """Return the passages of each source that alone states the value or gives all its figures, else all passages
    together. Raise Unproved if the value does not follow from all of them."""

    def prove(chosen: Iterable[SourceSpan]) -> None:
        texts = [today, *(sources[span.source].words_at(span.start, span.end) for span in chosen)]
        prove_result(value, calculation, field, texts)

    prove(span for span, _ in spans)
    alone, rest = list[list[SourceSpan]](), list[SourceSpan]()
    for number in dict.fromkeys(span.source for span, _ in spans):
        own = [span for span, _ in spans if span.source == number]
        is_stated = any(rule for span, rule in spans if span.source == number)
        if is_stated or not prove_items([own], prove)[1]:
            alone.append(own)
        else:
            rest += own
    return [[*alone[0], *rest], *alone[1:]] if alone else [rest]


def add_column_unit(value: str, field: Field) -> str:
    """Return the value with the column's unit if it is a bare number, since the prompt asks for that unit."""
    number = read_first_number(value) if field.type == "number" and field.unit else None
    if number is None or (number.start, number.end) != (0, len(value)) or value.endswith(field.unit):
        return value
    measured = f"{value} {field.unit}"
    return measured if coerce_value(measured, field).value == coerce_value(value, field).value else value


def find_form_problem(value: str, field: Field) -> str:
    if field.options and find_exact_option(value, field.options) is None:
        return f"{value!r} is not one of: {', '.join(field.options)}."
    read = coerce_value(value, field)
    if read.value is None:
        return f"{value!r} is not a {field.type}{f' ({read.note})' if read.note else ''}."
    return ""


def find_quoted_span(
    quoted: Quoted, value: str, field: Field, sources: Sequence[Retrieved], verdicts: Mapping[int, TextVerdict]
) -> SourceSpan:
    """Return the place of the quote. Raise Unproved if it is no evidence.

    A miscopied quote counts as the similar sentence in the text, if the value follows from that sentence.
    """
    found = find_quote(
        quoted.quote, sources, quoted.text, proves=lambda sentence: bool(find_proving_rule(value, sentence, field))
    )
    verdict = verdicts.get(found.source)
    if verdict is not None and verdict.same_row == "other":
        raise Unproved(f"text {found.source + 1} is about something else, as you say; it cannot fill this row.")
    if found.fault:
        raise Unproved(found.fault)
    return SourceSpan(found.source, found.start, found.end)


def find_proof(value: str, span: SourceSpan, field: Field, source: Retrieved) -> tuple[SourceSpan, str]:
    """Return the passage that proves the value and the name of the rule, or "" if no rule does.

    The passage is the quote, the sentence or line around it, or, for a name that the quote only refers to, the text
    from the name to the quote. An address is proved by a quote from that address.
    """
    text = source.text
    # Beyond the text is its title, which has no sentence around it.
    if (rule := find_proving_rule(value, source.words_at(span.start, span.end), field)) or span.start > len(text):
        return span, rule
    around = next(((s, e) for s, e in page_pieces(text) if s <= span.start and span.end <= e), None)
    if around is not None and (rule := find_proving_rule(value, text[slice(*around)], field)):
        return SourceSpan(source=span.source, start=around[0], end=around[1]), rule
    if field.type == "url" and is_address_of(value, source.origin):
        return span, "address"
    if field.type == "text" and not field.options and not read_numbers(value):
        # A few sentences back, where a name is mentioned that "it" or "the firm" in the quote refers to.
        distance = 400
        near = max(0, span.start - distance)
        place = text.casefold().find(value.casefold(), near, span.end + distance)
        if place >= 0 and contains_words(value, text[near : span.end + distance]):
            start, end = min(place, span.start), max(place + len(value), span.end)
            return SourceSpan(source=span.source, start=start, end=end), "verbatim"
    return span, ""


def first_of_each_source(proved: Sequence[tuple[SourceSpan, str]]) -> list[tuple[SourceSpan, str]]:
    first: dict[int, tuple[SourceSpan, str]] = {}
    for span, rule in proved:
        first.setdefault(span.source, (span, rule))
    return list(first.values())


def insert_date(calculation: str, today: str) -> str:
    """Return the calculation with the current year and date in place of `this_year` and `today`."""
    return " ".join(calculation.split()).replace("this_year", today[:4]).replace("today", today)


def answered_value(answer: CellAnswer, field: Field, calculation: str, today: str) -> str:
    """Return the answered value. If it depends on the current date, which a model does not know, code calculates it."""
    value = answer.value.strip()
    is_dated = insert_date(answer.calculation, "") != calculation
    if not is_dated or answer.basis != "computed" or field.type not in COMPUTED_TYPES:
        return value
    result = run_calculation(calculation, field, [today, *(quoted.quote for quoted in answer.quotes)])
    if isinstance(result, str):
        return value or result if field.type == "text" else result
    # Two decimals for what people read; four digits where two decimals would leave nothing.
    shown = format_float(round(result, 2) if abs(result) >= 1 else float(f"{result:.4g}"))
    # The model's own figure is replaced only where it is clear which one it is.
    match read_numbers(value):
        case []:
            return shown
        case [number]:
            return f"{value[: number.start]}{shown}{value[number.end :]}"
        case _:
            return value


def run_calculation(calculation: str, field: Field, texts: Sequence[str]) -> float | str:
    """Return the result: a date for a date column, a number for numbers and money, either for a text."""
    result = repeat_calculation(calculation, texts)
    if field.type != "text" and isinstance(result, str) is not (field.type == "date"):
        what = "a date, such as '2026-03-04 + 30 days'" if field.type == "date" else "a number"
        raise Unproved(f"the calculation {calculation!r} does not give {what}.")
    return result


def prove_result(value: str, calculation: str, field: Field, texts: Sequence[str]) -> None:
    """Raise Unproved unless the value follows from figures of the texts by the calculation."""
    result = run_calculation(calculation, field, texts)
    wanted = coerce_value(value, field).value
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
    # The sum of amounts in several currencies has none of them.
    named = {each.money.currency for text in texts for each in read_amounts(text, field.unit)} - {""}
    if isinstance(wanted, Money) and wanted.currency and named and named != {wanted.currency}:
        raise Unproved(f"{value!r} is computed from amounts in {', '.join(sorted(named))}.")


def require_judgeable(value: str, field: Field, quote: str, texts: Sequence[str], *, strict: bool) -> None:
    """Raise Unproved if a value that no quote states cannot count as a judgement either."""
    quote = shorten_text(quote, 120)
    if field.type not in JUDGED_TYPES:
        raise Unproved(
            f"{value!r} is not in the quote “{quote}”. A {field.type} must be stated or computed: quote the words that "
            "state it, or every figure of its calculation."
        )
    if strict:
        raise Unproved(f"{value!r} is not in the quote “{quote}”, and only what is stated may be given.")
    prove_figures(value, [" ".join(texts)], where="the quotes")


def quote_context(source: Retrieved, span: SourceSpan) -> Iterator[str]:
    """Yield the quote and what explains its figures: the page title, and the header of a table that it is a row of."""
    yield source.words_at(span.start, span.end)
    yield source.title
    yield find_table_header(source.text, span.start)


def build_candidate(
    field: Field,
    value: str,
    spans: Sequence[SourceSpan],
    rule: str,
    verdicts: Mapping[int, TextVerdict],
    calculation: str = "",
) -> Candidate:
    first, *more = dict.fromkeys(spans)
    basis: Basis = "computed" if calculation else "judged" if rule == "judged" else basis_for_rule(rule)
    verdict = verdicts.get(first.source)
    same: SameRow = "same" if verdict is None or verdict.same_row == "same" else "unclear"
    return Candidate(
        field=field.name,
        value=value,
        source=first.source,
        start=first.start,
        end=first.end,
        score=BASIS_SCORES[basis] if same == "same" else min(BASIS_SCORES[basis], MAX_UNCLEAR_SCORE),
        how=f"model, {rule}",
        basis=basis,
        converted_by=conversion_rule(rule) if basis == "converted" else calculation,
        more=tuple(more),
        same_row=same,
        doubt=verdict.reason if verdict is not None and same == "unclear" else "",
    )
