"""A quote that does not settle a value never makes it sure, whoever has read it; one that does, does."""

from __future__ import annotations

import pytest

from tablewright.domain.model import Cell, Field
from tablewright.domain.retrieved import Retrieved
from tablewright.engine.retry import preview_cell
from tablewright.extraction import reader
from tablewright.extraction.subject import Subject
from tablewright.llm.tasks.cell_answer import CellAnswer, Quoted
from tablewright.strategies.findings import check_candidates, find_ambiguity, resolve_value
from tablewright.values.coerce import coerce_value
from tests.proving import prove_or_fault

FOUNDED = Field(name="Founded", type="number", question="What year was {Company} founded?")
STAFF = Field(name="Staff", type="number", question="How many employees does {Company} have?")
HEIGHT = Field(name="Height", type="number", unit="cm", question="How tall is it?")
OPENED = Field(name="Opened", type="date", question="When did it open?")
PRICE = Field(name="Price", type="money", question="What does it cost?")


def page(text: str, domain: str = "acme.example") -> Retrieved:
    return Retrieved(origin=f"https://{domain}/about", title="Acme", text=text, kind="page", domain=domain)


def answered_by_model(field: Field, value: str, *sources: Retrieved) -> Cell:
    quotes = [Quoted(text=number, quote=source.text) for number, source in enumerate(sources, 1)]
    answer = CellAnswer(value=value, basis="stated", quotes=quotes, calculation="")
    candidates, problem = prove_or_fault(field, answer, sources, {})
    assert not problem
    finding = resolve_value(field, check_candidates(field, candidates, sources))
    assert finding is not None
    return preview_cell(field, finding)


@pytest.mark.parametrize(
    ("field", "value", "quote", "reason"),
    [
        (FOUNDED, "39", "Acme was founded 39 years ago.", "“39” is given in yr"),
        (FOUNDED, "1987", "Acme was founded in 1987 or 1989.", "the quote also has 1989"),
        (FOUNDED, "1987", "Acme (1987–1995)", "may also be 1995"),
        (STAFF, "500", "It had 500 employees in 2019 and 600 in 2020.", "the quote also has 600"),
        (STAFF, "50", "Acme has 50–100 employees.", "may also be 100"),
        (STAFF, "39", "Acme weighs 39 kg.", "“39” is given in kg"),
        (HEIGHT, "30 cm", "It is 30 cm or 40 cm tall.", "the quote also has 40"),
        (OPENED, "2021-05-03", "It opened on 03/05/2021.", "may also be 2021-03-05"),
        (OPENED, "2021-05-03", "It opened on 3 May 2021 or 4 May 2021.", "the quote also has 2021-05-04"),
        (PRICE, "$5", "It costs $5 (was $8).", "the quote also has 8 USD"),
        (PRICE, "£5", "It costs £5–£10.", "may also be 10 GBP"),
    ],
)
def test_a_value_with_a_rival_in_its_quote_is_not_sure(field: Field, value: str, quote: str, reason: str) -> None:
    cell = answered_by_model(field, value, page(quote))
    assert cell.value == coerce_value(value, field).value
    assert (cell.confidence or 0) < 0.8
    assert reason in (cell.error or "")


@pytest.mark.parametrize(
    ("field", "value", "quote"),
    [
        (FOUNDED, "1987", "Founded in 1987 in Oslo"),
        (FOUNDED, "1987", "Founded: 1987"),
        (FOUNDED, "1987", "Founded | 1987 | Staff | 500"),
        (FOUNDED, "1987", "Acme was founded 39 years ago, in 1987."),
        (FOUNDED, "1987", "Acme was founded in 1987 and rebuilt in 1995."),
        (FOUNDED, "2019", "12 March 2019"),
        (STAFF, "500", "Acme has 500 employees in 30 countries."),
        (STAFF, "500", "Acme | 1987 | 500"),
        (HEIGHT, "119 cm", "3 ft 11 in (119 cm)"),
        (HEIGHT, "30 cm", "Height 30 cm, width 40 cm"),
        (OPENED, "2019-03-12", "12 March 2019"),
        (OPENED, "2021-05-03", "It opened on 3 May 2021 and closed on 4 June 2022."),
        (PRICE, "£38.50", "Price: £38.50, delivery £5"),
    ],
)
def test_an_ordinary_quote_stays_sure(field: Field, value: str, quote: str) -> None:
    cell = answered_by_model(field, value, page(quote))
    assert (cell.confidence or 0) >= 0.8
    assert not cell.error


def test_many_quotes_that_do_not_settle_a_value_do_not_settle_it_together() -> None:
    vague = [page("Acme was founded in 1987 or 1989.", "a.example"), page("Founded 1987, or in 1990?", "b.example")]
    assert (answered_by_model(FOUNDED, "1987", *vague).confidence or 0) < 0.8
    clear = page("Acme, of Oslo, was founded in 1987.", "c.example")
    settled = answered_by_model(FOUNDED, "1987", *vague, clear)
    assert (settled.confidence or 0) >= 0.8
    assert not settled.error


@pytest.mark.parametrize(
    ("text", "is_sure"),
    [("Acme was founded in 1987 in Oslo.", True), ("Acme was founded in 1987 or 1989.", False)],
)
def test_the_reader_without_a_model_is_held_to_the_same(text: str, is_sure: bool) -> None:
    source = page(text)
    found = reader.read_candidates(Subject(name="Acme", column="Company"), [FOUNDED], [source])["Founded"]
    finding = resolve_value(FOUNDED, check_candidates(FOUNDED, found, [source]))
    assert finding is not None
    assert (finding.confidence >= 0.8) == is_sure


def test_a_raw_value_with_two_candidates_is_not_sure() -> None:
    for field, text in ((FOUNDED, "As of 2023, 500"), (FOUNDED, "1987 or 1989"), (OPENED, "1987, 1989")):
        assert coerce_value(text, field).label in ("medium", "low")


def test_a_quote_without_the_figure_says_nothing_of_it() -> None:
    assert find_ambiguity(FOUNDED, 1987, "It opened last year.") == ""
    assert find_ambiguity(Field(name="Remark"), "1987", "1987 or 1989") == ""
