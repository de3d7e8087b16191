"""When the reader gives no answer, several, or always the same."""

from __future__ import annotations

import pytest

from tablewright.domain.model import Field
from tablewright.domain.retrieved import Retrieved
from tablewright.extraction import reader
from tablewright.extraction.subject import Subject
from tests.extraction.asking import answer, candidates

FOUNDED = Field(name="Founded", type="number")
OWN_PAGE = {"name": "Brindle Works", "title": "Brindle Works"}


def test_a_text_that_does_not_say_leaves_the_field_empty() -> None:
    assert answer(FOUNDED, "Brindle Works makes chairs. It sold 4,000 of them in 2019.", **OWN_PAGE) is None


def test_a_sentence_about_another_thing_counts_less() -> None:
    field = Field(name="Released")
    text = "Brindle Works is a film about a mill. A television remake was released in 2004."
    found = candidates(field, text, **OWN_PAGE)
    assert [candidate.value for candidate in found] == ["2004"]
    plain = candidates(field, "Brindle Works is a film about a mill. It was released in 2004.", **OWN_PAGE)
    assert found[0].score < plain[0].score


def test_a_far_cue_does_not_reach_its_number() -> None:
    text = (
        "Founded by people who loved wood and had little money but many friends in the valley and beyond it, with "
        "great plans for all of the years to come, it had by 1999 grown."
    )
    assert answer(FOUNDED, text, **OWN_PAGE) is None


def test_the_name_of_the_row_is_no_answer_about_it() -> None:
    assert answer(Field(name="Manufacturer"), "Manufacturer: Brindle Works", **OWN_PAGE) is None


def test_several_candidates_are_ranked_with_their_scores() -> None:
    text = "Brindle Works was founded in 1987. The firm dates back to 1954.\nFounded: 1986"
    found = candidates(FOUNDED, text, **OWN_PAGE)
    assert {candidate.value for candidate in found} >= {"1987", "1986"}
    scores = [candidate.score for candidate in found]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 for score in scores)


def test_each_source_keeps_its_own_candidate() -> None:
    pages = [
        Retrieved(origin="https://one.example", title="Brindle Works", text="It was founded in 1987."),
        Retrieved(origin="https://two.example", title="Brindle Works", text="Founded: 1987\nIt was founded in 1987."),
    ]
    found = reader.read_candidates(Subject(name="Brindle Works"), [FOUNDED], pages)["Founded"]
    assert sorted((candidate.source, candidate.value) for candidate in found) == [(0, "1987"), (1, "1987")]


def test_every_field_has_an_entry_even_without_sources() -> None:
    assert reader.read_candidates(Subject(name="Brindle Works"), [FOUNDED, Field(name="CEO")], []) == {
        "Founded": [],
        "CEO": [],
    }


def test_the_same_text_is_read_the_same_way_twice() -> None:
    text = "Brindle Works was founded in 1987 in Lisbon. It employs 40 people.\nPrice: £3.00"
    page = Retrieved(origin="https://one.example", title="Brindle Works", text=text)
    fields = [FOUNDED, Field(name="Employees"), Field(name="Price"), Field(name="Headquarters city")]
    first, second = (reader.read_candidates(Subject(name="Brindle Works"), fields, [page]) for _ in range(2))
    assert first == second
    assert first["Founded"]
    assert first["Price"]


FOUNDER = "Founder's birthday"


@pytest.mark.parametrize(
    ("field", "text"),
    [
        (Field(name=FOUNDER), "Brindle Works was founded in 1987."),
        (Field(name=FOUNDER, type="date"), "Founded: 1987"),
        (
            Field(name=FOUNDER, question="When was the founder of {Company} born?"),
            "Brindle Works was founded in 1987 by Ann Lee.",
        ),
        (Field(name="Name of the CEO's pet"), "Ann Lee is the chief executive (CEO) of Brindle Works."),
        (
            Field(name="Pet", question="What is the name of the CEO's pet?"),
            "Brindle Works is led by its CEO, Ann Lee.",
        ),
        (Field(name="Offices", question="How many offices does {Company} have?"), "Its office is at 4 Tannery Row."),
    ],
)
def test_a_place_that_says_only_a_part_of_what_is_asked_gives_no_answer(field: Field, text: str) -> None:
    assert answer(field, text, **OWN_PAGE) is None


def test_whoever_stands_after_in_is_no_person() -> None:
    field = Field(name="CEO", question="Who is the chief executive of {Company}?")
    assert answer(field, "Brindle Works is headquartered in Port Merrin.", **OWN_PAGE) is None


def test_an_answer_of_any_kind_in_a_sentence_is_never_called_high() -> None:
    found = candidates(Field(name="Owner"), "Brindle Works is owned by Halden Group.", **OWN_PAGE)
    assert found[0].value == "Halden Group"
    assert found[0].score < 0.8


@pytest.mark.parametrize("where", ["7 Mill Lane, Orsett, Denmark", "Orsett, Denmark"])
def test_where_something_is_does_not_say_who_leads_it_nor_how_many_there_are(where: str) -> None:
    page = f"Head office: {where}"
    assert answer(Field(name="Head office", question="Where is the head office?"), page, **OWN_PAGE) == where
    assert not candidates(Field(name="Head", question="Who is in charge at {Company}?"), page, **OWN_PAGE)
    assert not candidates(Field(name="Offices", type="number", question="How many offices?"), page, **OWN_PAGE)


def test_since_when_is_not_how_many() -> None:
    field = Field(name="Offices", type="number", question="How many offices does it have?")
    assert answer(field, "Other offices: Orsett (since 2018)", **OWN_PAGE) is None
    assert answer(field, "Other offices: 3", **OWN_PAGE) == "3"


def test_a_bare_number_of_a_sentence_is_no_amount_of_money() -> None:
    field = Field(name="Sales", type="money", question="How much did it sell last year?")
    assert not candidates(field, "Brindle Works will sell 25 chairs for their wood.", **OWN_PAGE)
    assert answer(field, "Sales last year: 25000", **OWN_PAGE) == "25000"


def test_a_person_may_stand_after_a_year() -> None:
    field = Field(name="Founder", question="Who founded {Company}?")
    assert answer(field, "Brindle Works: in 1994 Jane Hart founded Brindle Works.", **OWN_PAGE) == "Jane Hart"
