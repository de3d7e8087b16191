"""Reading a row: what code makes of the units and the calculations in a model's answers."""

from __future__ import annotations

import pytest
from msgspec import structs

from tablewright.citations.quotes import cite_span
from tablewright.domain.model import Field, confidence_label
from tablewright.domain.retrieved import Retrieved
from tablewright.extraction.reader import Candidate, OtherReading, SourceSpan
from tablewright.llm.tasks.cell_answer import CellAnswer, Quoted
from tablewright.strategies.findings import check_candidates, resolve_value
from tablewright.values.coerce import coerce_value
from tests.proving import prove_or_fault

SPEED = Field(name="Speed", type="number", unit="km/h")


def answered(value: str, quote: str) -> tuple[list[str], str]:
    """The values that were proved, and what is wrong with the answer."""
    source = Retrieved(origin="https://ships.example/maren", title="Maren", text=f"The Maren. {quote}")
    answer = CellAnswer(value=value, basis="stated", quotes=[Quoted(text=1, quote=quote)], calculation="")
    candidates, problem = prove_or_fault(SPEED, answer, [source], {})
    return [candidate.value for candidate in candidates], problem


@pytest.mark.parametrize("quote", ["Max speed 42.6 km/h.", "Max speed 23 kn.", "Vitesse : 23 nœuds."])
def test_a_bare_number_is_in_the_unit_of_its_column_and_as_sure_as_one_with_it(quote: str) -> None:
    values, problem = answered("42.6", quote)
    assert (values, problem) == (["42.6 km/h"], "")
    assert coerce_value(values[0], SPEED).label == "high"


def test_a_figure_in_another_unit_than_the_quote_gives_is_refused_and_says_so() -> None:
    values, problem = answered("23", "Max speed 23 kn.")
    assert values == []
    assert problem.startswith("'23 km/h' is not in the quote “Max speed 23 kn.”.")


def test_a_unit_that_was_answered_is_not_added_again() -> None:
    share = Field(name="Share", type="number", unit="%")
    answer = CellAnswer(value="45 %", basis="stated", quotes=[Quoted(text=1, quote="45 % of them")], calculation="")
    (found,), _ = prove_or_fault(
        share, answer, [Retrieved(origin="https://acme.example", text="45 % of them are new.")], {}
    )
    assert found.value == "45 %"


@pytest.mark.parametrize(
    ("quote", "basis"),
    [
        ("Dimmable: Yes", "stated"),
        ("Dimmable | Yes", "stated"),
        ("Works with a dimmer: Yes", "judged"),
        ("Dimmable with app: Yes", "judged"),
        ("Dimmability index: Yes", "judged"),
        ("Dimmability: Yes", "judged"),
        ("A lamp for dimmable sockets, yes", "judged"),
    ],
)
def test_a_yes_under_the_label_of_the_column_is_stated_whatever_it_was_called(quote: str, basis: str) -> None:
    answer = CellAnswer(value="yes", basis="judged", quotes=[Quoted(text=1, quote=quote)], calculation="")
    source = Retrieved(origin="https://lamps.example", title="Lamp", text=f"The lamp.\n{quote}\nMade of steel.")
    (found,), _ = prove_or_fault(Field(name="Dimmable", type="boolean"), answer, [source], {})
    assert found.basis == basis


def computed(field: Field, value: str, calculation: str, *quotes: str, is_whole: bool = True) -> tuple[str, str, str]:
    """The value, its calculation as the cell shows it, and what is wrong with the answer."""
    source = Retrieved(origin="https://acme.example", title="Acme", text=f"Acme. {' '.join(quotes)} Turbines.")
    quoted = [Quoted(text=1, quote=quote) for quote in quotes]
    answer = CellAnswer(value=value, basis="computed", quotes=quoted, calculation=calculation)
    found, problem = prove_or_fault(field, answer, [source], {}, today="2026-11-18", is_whole=is_whole)
    if not found:
        return "", "", problem
    (candidate,) = found
    assert candidate.basis == "computed"
    return candidate.value, candidate.converted_by, problem


AGE = Field(name="Age", type="number", question="How many years has {Company} existed?")
A_LITRE = Field(name="Price a litre", type="money", unit="EUR")


def test_an_age_follows_from_a_year_and_the_current_one_which_code_knows() -> None:
    assert computed(AGE, "38", "this_year - 1987", "Founded in 1987.") == ("39", "2026 - 1987", "")
    assert computed(AGE, "", "this_year - 1987", "Founded in 1987.") == ("39", "2026 - 1987", "")


def test_days_since_a_date_are_counted_by_code() -> None:
    assert computed(AGE, "", "today - 2026-11-01", "Opened on 1 November 2026.")[0] == "17"


def test_a_calculation_with_a_figure_that_no_quote_has_is_refused() -> None:
    value, _, problem = computed(AGE, "", "this_year - 1955", "Founded in 1987.")
    assert value == ""
    assert "1955 is not in the quoted texts" in problem


def test_a_result_that_the_calculation_does_not_give_is_refused() -> None:
    assert computed(A_LITRE, "2.80 EUR", "4.20 / 1.5", "1.5 l for €4.20.") == ("2.80 EUR", "4.20 / 1.5", "")
    _, _, problem = computed(A_LITRE, "3.10 EUR", "4.20 / 1.5", "1.5 l for €4.20.")
    assert problem == "the calculation '4.20 / 1.5' gives 2.8, not '3.10 EUR'."


def test_a_sum_over_a_text_that_was_shown_in_part_is_refused() -> None:
    parts = Field(name="Staff", type="number")
    assert computed(parts, "30", "10 + 20", "10 in Ost, 20 in West.")[0] == "30"
    value, _, problem = computed(parts, "30", "10 + 20", "10 in Ost, 20 in West.", is_whole=False)
    assert value == ""
    assert "shown in part" in problem


def test_a_result_with_the_current_year_keeps_its_digits_and_its_currency() -> None:
    a_year = Field(name="Revenue a year", type="money")
    found = computed(a_year, "£5.4 million", "212000000 / (this_year - 1987)", "Founded in 1987.", "£212 million.")
    assert found == ("£5435897.44", "212000000 / (2026 - 1987)", "")
    tiny = Field(name="Fires", type="number")
    assert computed(tiny, "", "3 / 100 / (this_year - 1987)", "Founded in 1987.", "3 fires.")[0] == "0.0007692"


def test_a_text_column_takes_a_computed_figure_and_no_other() -> None:
    age = Field(name="Age", type="text", question="How old is {Company}?")
    assert computed(age, "38 years", "this_year - 1987", "Founded in 1987.") == ("39 years", "2026 - 1987", "")
    assert computed(age, "39 years, since 1987", "this_year - 1987", "Founded in 1987.")[0] == "39 years, since 1987"
    value, _, problem = computed(age, "38 years, since 1987", "this_year - 1987", "Founded in 1987.")
    assert (value, problem) == ("", "the calculation '2026 - 1987' gives 39, not '38'.")


def test_a_text_column_takes_a_computed_day_and_no_other() -> None:
    due, quote = Field(name="Payable", type="text"), "Dated 4 March 2026, payable within 30 days."
    found = computed(due, "by 3 April 2026", "2026-03-04 + 30 days", quote)
    assert found == ("by 3 April 2026", "2026-03-04 + 30 days", "")
    assert computed(due, "by 9 April 2026", "2026-03-04 + 30 days", quote)[2] == (
        "the calculation '2026-03-04 + 30 days' gives 2026-04-03, not '9'."
    )


def test_a_calculation_beside_a_stated_or_judged_answer_does_not_replace_it() -> None:
    source = Retrieved(origin="https://acme.example", title="Acme", text="Acme was founded in 1987.")
    quotes = [Quoted(text=1, quote="founded in 1987")]
    stated = CellAnswer(value="1987", basis="stated", quotes=quotes, calculation="this_year - 1987")
    (founded,), _ = prove_or_fault(Field(name="Founded", type="number"), stated, [source], {}, today="2026-11-18")
    judged = CellAnswer(value="yes", basis="judged", quotes=quotes, calculation="this_year - 1987")
    (old,), _ = prove_or_fault(Field(name="Over 30", type="boolean"), judged, [source], {}, today="2026-11-18")
    assert [(each.value, each.basis) for each in (founded, old)] == [("1987", "stated"), ("yes", "judged")]


def test_a_date_and_a_period_give_a_date_also_where_a_text_was_shown_in_part() -> None:
    until = Field(name="Until", type="date")
    text = "Bought on 2026-03-01, guaranteed for 24 months."
    assert computed(until, "2028-03-01", "2026-03-01 + 24 months", text, is_whole=False)[0] == "2028-03-01"
    assert computed(until, "", "today + 24 months", text)[:2] == ("2028-11-18", "2026-11-18 + 24 months")


def test_a_value_that_stands_only_in_the_title_of_a_page_is_proved_by_it() -> None:
    name = Field(name="Product")
    answer = CellAnswer(
        value="Maren 40", basis="stated", quotes=[Quoted(text=1, quote="Maren 40 rowing boat")], calculation=""
    )
    page = Retrieved(origin="https://ships.example/40", title="Maren 40 rowing boat | Ships", text="Add to basket.")
    (found,), problem = prove_or_fault(name, answer, [page], {})
    assert (found.value, found.basis, problem) == ("Maren 40", "stated", "")
    evidence = cite_span(page, found.start, found.end)
    assert evidence.is_title
    assert evidence.quote == "Maren 40 rowing boat"
    snippet = Retrieved(origin=page.origin, title=page.title, text=page.text, kind="snippet")  # its title is not stored
    assert "is not in text 1" in prove_or_fault(name, answer, [snippet], {})[1]


def test_a_source_that_shows_the_value_in_another_language_is_cited_too() -> None:
    """Only the forum has the words; the maker says the same, and nobody may say that the forum alone does."""
    material = Field(name="Material", type="text")
    sources = [
        Retrieved(origin="https://maker.example", text="Material: Glas, mundgeblasen", domain="maker.example"),
        Retrieved(origin="https://forum.example", text="It is hand-blown glass, they say.", domain="forum.example"),
    ]
    quotes = [Quoted(text=1, quote="Glas, mundgeblasen"), Quoted(text=2, quote="hand-blown glass")]
    answer = CellAnswer(value="hand-blown glass", basis="stated", quotes=quotes, calculation="")
    (found,), problem = prove_or_fault(material, answer, sources, {})
    assert (found.value, found.source, found.basis, problem) == ("hand-blown glass", 1, "stated", "")
    assert [span.source for span in found.more] == [0]


@pytest.mark.parametrize(("written", "is_right"), [("0.13", True), ("0.128", True), ("0.12", False), ("0.1", False)])
def test_a_result_may_be_rounded_to_two_digits(written: str, is_right: bool) -> None:
    speed = Field(name="Speed", type="number", unit="l/s")
    value, _, problem = computed(speed, written, "18 / 141", "18 l take 141 s")
    assert (bool(value), not problem) == (is_right, is_right)


def test_none_with_its_quote_is_an_option_where_there_is_one_and_else_an_absence() -> None:
    text = "Filter: None. Weight: 900 g."
    sources = [Retrieved(origin="https://maker.example", text=text)]
    answer = CellAnswer(value="None", basis="stated", quotes=[Quoted(text=1, quote="Filter: None")], calculation="")
    chosen = Field(name="Filter", type="select", options=("fixed", "removable", "none"))
    for field in (chosen, Field(name="Filter"), Field(name="Filters", type="number")):
        (found,), problem = prove_or_fault(field, answer, sources, {})
        assert (found.value.casefold(), problem) == ("none", "")
    unquoted = answer.model_copy(update={"quotes": []})
    assert prove_or_fault(Field(name="Filter"), unquoted, sources, {}) == ([], "")


def test_figures_of_a_summary_may_stand_in_the_title_or_in_the_head_of_the_table() -> None:
    text = "Six kettles.\nModel | 3 l in | Noise\nZorb 1 | 8 s | 71 dB\nZorb 2 | 12 s | 75 dB\nThat is all."
    sources = [Retrieved(origin="https://test.example", title="Kettles of 2026", text=text)]
    quotes = [Quoted(text=1, quote="Zorb 2 | 12 s | 75 dB")]

    def said(value: str) -> tuple[list[str], str]:
        answer = CellAnswer(value=value, basis="judged", quotes=quotes, calculation="")
        found, problem = prove_or_fault(Field(name="Test findings"), answer, sources, {})
        return [each.value for each in found], problem

    right = "In the test of 2026 it took 12 s for 3 l."
    assert said(right) == ([right], "")
    assert said("It took 8 s for 3 l in 2025.")[1].startswith("the figures 8, 2025 are not in the quotes.")


PLAIN, RIVAL = (
    Retrieved(origin=f"https://{site}.example", title=site, text=text, domain=f"{site}.example")
    for site, text in (("north", "Built in 1987, says North."), ("south", "South has it: a house of 1987. It is new."))
)


def test_two_sources_that_give_the_figures_of_a_calculation_both_count() -> None:
    quotes = [Quoted(text=1, quote="Built in 1987"), Quoted(text=2, quote="a house of 1987")]
    answer = CellAnswer(value="39", basis="computed", quotes=quotes, calculation="this_year - 1987")
    found, _ = prove_or_fault(AGE, answer, [PLAIN, RIVAL], {}, today="2026-11-18")
    assert [(each.source, each.basis, each.more) for each in found] == [(0, "computed", ()), (1, "computed", ())]
    finding = resolve_value(AGE, check_candidates(AGE, found, [PLAIN, RIVAL]))
    assert finding is not None
    assert (finding.basis, finding.converted_by) == ("computed", "2026 - 1987")
    (alone,) = prove_or_fault(AGE, answer.model_copy(update={"quotes": quotes[:1]}), [PLAIN], {}, today="2026-11-18")[0]
    (single,) = check_candidates(AGE, [alone], [PLAIN])
    assert finding.confidence > resolve_value(AGE, [single]).confidence  # type: ignore[union-attr]


def test_figures_of_several_sources_together_count_as_one() -> None:
    quotes = [Quoted(text=1, quote="Built in 1987"), Quoted(text=2, quote="sold in 2003")]
    sold = Retrieved(origin="https://south.example", title="South", text="It was sold in 2003.", domain="south.example")
    answer = CellAnswer(value="16", basis="computed", quotes=quotes, calculation="2003 - 1987")
    (found,), _ = prove_or_fault(AGE, answer, [PLAIN, sold], {}, today="2026-11-18")
    assert [found.source, *(span.source for span in found.more)] == [0, 1]


@pytest.mark.parametrize("field", [Field(name="Arm", type="number", unit="mm"), Field(name="Arm mm")])
def test_a_figure_in_another_unit_than_the_columns_is_converted_or_refused(field: Field) -> None:
    source = Retrieved(origin="https://lamps.example", title="Lamp", text="Its arm is 45 cm long.")

    def said(value: str) -> tuple[list[tuple[str, str]], str]:
        quotes = [Quoted(text=1, quote="arm is 45 cm long")]
        answer = CellAnswer(value=value, basis="stated", quotes=quotes, calculation="")
        found, problem = prove_or_fault(field, answer, [source], {})
        return [(each.value.removesuffix(" mm"), each.converted_by) for each in found], problem

    assert said("450") == ([("450", "unit, cm to mm")], "")
    found, problem = said("45")
    assert found == []
    assert problem.endswith("It says “45 cm”, and the column is in mm: convert it.")


def test_a_reading_beside_an_answer_makes_it_a_conflict_at_medium() -> None:
    field = Field(name="Founded", type="number")
    source = Retrieved(
        origin="https://club.example", title="Club", text="Founded in 1978. It joined the league in 2001."
    )
    place = source.text.index("joined")
    other = OtherReading(value="2001", reason="when it joined", spans=(SourceSpan(0, place, len(source.text)),))
    candidate = Candidate(
        field="Founded", value="1978", source=0, start=0, end=16, score=0.94, how="model", basis="stated",
        alternatives=(other,),
    )  # fmt: skip
    finding = resolve_value(field, check_candidates(field, [candidate], [source]))
    assert finding is not None
    assert confidence_label(finding.confidence) == "medium"
    assert [(each.value, each.reason, each.evidence[0].quote) for each in finding.conflict] == [
        (2001, "when it joined", "joined the league in 2001.")
    ]
    unproved = structs.replace(candidate, alternatives=(structs.replace(other, spans=()),))
    finding = resolve_value(field, check_candidates(field, [unproved], [source]))
    assert finding is not None
    assert (finding.conflict, confidence_label(finding.confidence)) == ((), "medium")
    assert finding.error == "It may be read another way, which no quote shows: when it joined"
    same = structs.replace(candidate, alternatives=(structs.replace(other, value="1978"),))
    finding = resolve_value(field, check_candidates(field, [same], [source]))
    assert finding is not None
    assert (finding.conflict, finding.confidence) == ((), 0.94)
