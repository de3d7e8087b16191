"""Whatever the text, the reader answers or abstains; it never fails, and what it quotes is in the text."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tablewright.domain.model import Field
from tablewright.domain.retrieved import Retrieved
from tablewright.extraction import reader
from tablewright.extraction.reader import Candidate
from tablewright.extraction.subject import Subject
from tests.growth import grows_in_proportion

FIELDS = [
    *(Field(name=name) for name in ("Founded", "CEO", "Headquarters city", "County", "Author", "Phone", "Address")),
    *(Field(name=name) for name in ("Capacity (MW)", "Original title", "IATA code", "Country", "Colour", "Vendor")),
    Field(name="Total", type="money"),
    Field(name="Date", type="date"),
    Field(name="Website", type="url"),
    Field(name="Vegan", type="boolean"),
    Field(name="Size", type="select", options=("small", "large", "")),
    Field(name="", question="How many employees does {Company} have?", type="number"),
]
PIECES = (
    "Founded: 1987|It was founded in 1987 by Marta Oyelaran in Lisbon, Portugal.|Total|TOTAL  RM 50.00|CASH 60.00"
    "|CHANGE 10.00|SUBTOTAL 49.98|ROUNDING 0.02|12/05/2019 18:22|Invoice date: 3 May 2020| | | Weight | 4 kg|a | b | c"
    "|Price|£38.50|by Imre Halász|(555) 010-7777|12 Weaver Street|www.brindle.example|Vegan: yes|Size: large|:|::||\x00"
    "|(IATA: BRW)|ISBN-13: 9781234567897|Ht: 1.8 m Wt: 80 kg|Brindle Works|INVOICE|Tax summary|1,2,3|½|٣٤٥|مرحبا: 12"
).split("|")
TEXTS = st.one_of(
    st.text(max_size=400),
    st.lists(st.sampled_from(PIECES), max_size=14).map("\n".join),
    st.lists(st.sampled_from(PIECES), max_size=14).map(" | ".join),
    st.lists(st.sampled_from(PIECES), max_size=14).map("  ".join),
)


def read(text: str, *, name: str = "", title: str = "") -> list[Candidate]:
    page = Retrieved(origin="https://pages.example", title=title, text=text)
    found = reader.read_candidates(Subject(name=name, context={"Town": "Lisbon"}), FIELDS, [page])
    return [candidate for candidates in found.values() for candidate in candidates]


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    text=TEXTS, name=st.sampled_from(["", "Brindle Works", "?", "1987"]), title=st.sampled_from(["", "Brindle Works"])
)
def test_every_candidate_is_quoted_from_the_text(text: str, name: str, title: str) -> None:
    for candidate in read(text, name=name, title=title):
        assert 0 <= candidate.start < candidate.end <= len(text)
        assert 0 <= candidate.score <= 1
        assert candidate.value.strip()
        quote = plain(text[candidate.start : candidate.end])
        if candidate.field not in CONVERTED:
            assert plain(candidate.value) in quote


CONVERTED = {"Capacity (MW)", "Country", "Vegan", "Vendor"}


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).casefold().strip()


@pytest.mark.parametrize("text", ["", " ", "\n\n\n", "\x00\x01\x02\xff" * 50, "|" * 500, " | " * 200, ":" * 500])
def test_nothing_is_read_from_nothing(text: str) -> None:
    assert [candidate for candidate in read(text) if candidate.score >= reader.MIN_SURE] == []


@pytest.mark.parametrize(
    "text",
    [
        "Founded in " + "word " * 12_000,
        "A" * 60_000,
        "A. " * 20_000,
        "Total " + "1.00  " * 10_000,
        "1" * 60_000,
        " " * 60_000 + "x",
        "a: b " * 12_000,
        "St. " * 15_000,
        "(" * 60_000,
        "TOTAL 1.00 TAX CASH " + " " * 11_000,
        "12 A B C D E " * 5_000,
    ],
    ids=lambda text: text[:12].strip() or "spaces",
)
def test_a_huge_line_is_read_in_reasonable_time(text: str) -> None:
    assert grows_in_proportion(lambda size: read(text[:size], name="Brindle Works", title="Brindle Works"), len(text))
