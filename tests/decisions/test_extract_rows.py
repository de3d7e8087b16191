"""What a row may keep of an answer that it shared with others."""

from __future__ import annotations

from tablewright.decisions.extract import Extract, reply_for
from tablewright.decisions.extract_rows import accepted
from tablewright.extraction.about import Subject
from tablewright.table.model import Field
from tablewright.table.retrieved import Retrieved

FIELDS = (Field(name="Founded"), Field(name="Headquarters city"))
TEXT = "Acme Works is based in Port Merrin. The company was founded in 1951."
ASKED = Extract(
    subject=Subject(name="Acme Works", column="Company"),
    fields=FIELDS,
    sources=(Retrieved(origin="https://acme.example/", title="Acme Works", text=TEXT),),
)
NEIGHBOUR = "Borealis Works is based in Eastport. It was founded in 1960."


def said(founded: tuple[str, str], city: tuple[str, str]) -> object:
    names = tuple(field.name for field in FIELDS)
    answers = {
        name: {"value": value, "quote": quote} for name, (value, quote) in zip(names, (founded, city), strict=True)
    }
    return reply_for(names).model_validate(answers)


def kept(reply: object, neighbour: str = NEIGHBOUR) -> dict[str, str] | None:
    found = accepted(ASKED, reply, [neighbour])
    return None if found is None else {name: each[0].value for name, each in found.items() if each}


def test_a_value_that_only_its_own_text_has_needs_no_exact_quote() -> None:
    reply = said(("1951", "Acme was founded in 1951"), ("Port Merrin", ""))
    assert kept(reply) == {"Founded": "1951", "Headquarters city": "Port Merrin"}


def test_a_value_that_a_neighbour_has_too_needs_a_quote_of_its_own_text() -> None:
    neighbour = "Borealis Works was founded in 1951."
    assert kept(said(("1951", ""), ("Port Merrin", "based in Port Merrin")), neighbour) is None
    quoted = said(("1951", "The company was founded in 1951"), ("Port Merrin", "based in Port Merrin"))
    assert kept(quoted, neighbour) == {"Founded": "1951", "Headquarters city": "Port Merrin"}


def test_a_neighbour_s_value_means_that_the_rows_were_mixed_up() -> None:
    assert kept(said(("1951", "founded in 1951"), ("Eastport", "based in Eastport"))) is None


def test_a_made_up_value_is_left_out_and_the_others_stay() -> None:
    assert kept(said(("1903", "founded in 1903"), ("Port Merrin", "based in Port Merrin"))) == {
        "Headquarters city": "Port Merrin"
    }


def test_nothing_of_use_is_no_answer() -> None:
    assert kept(said(("1903", ""), ("", ""))) is None
