from __future__ import annotations

import pytest

from tablewright.web.search.http import broaden_query, is_narrow_query, query_for_trace, site_domain
from tablewright.web.source import Query


@pytest.mark.parametrize(
    ("text", "wider"),
    [
        ('"Acme Ltd" turnover', "Acme Ltd turnover"),
        ("„Müller & Söhne“ Umsatz", "Müller & Söhne Umsatz"),
        ("acme -roadrunner filetype:pdf report", "acme report"),
        ("acme OR ajax turnover", "acme ajax turnover"),
        ("What is the turnover of Acme in 2023?", "turnover Acme 2023"),
        ("Acme turnover 2023 annual report", "Acme turnover"),
        ("Acme turnover report", "Acme turnover"),
    ],
)
def test_what_is_broader(text: str, wider: str) -> None:
    assert broaden_query(Query(text=text)) == Query(text=wider)


@pytest.mark.parametrize("text", ["acme", "Acme turnover", "what is the", "", "site:acme.example", '""'])
def test_what_cannot_be_broader(text: str) -> None:
    assert broaden_query(Query(text=text)) is None


def test_filters_go_before_words() -> None:
    narrow = Query(text="What is the turnover of Acme", site="acme.example", since="week", limit=4)
    assert broaden_query(narrow) == Query(text="What is the turnover of Acme", limit=4)


@pytest.mark.parametrize(
    ("query", "narrow"),
    [
        (Query(text="acme turnover"), False),
        (Query(text="well-known acme's 3-D C++ site: none"), False),
        (Query(text='"acme"'), True),
        (Query(text="acme -ajax"), True),
        (Query(text="acme", site="acme.example"), True),
        (Query(text="acme", since="day"), True),
    ],
)
def test_what_is_narrow(query: Query, narrow: bool) -> None:
    assert is_narrow_query(query) is narrow


@pytest.mark.parametrize(
    "site",
    ["acme.example", "www.acme.example", "https://www.Acme.example/en?x#y", " acme.example:80 ", "acme.example."],
)
def test_the_domain_of_a_site(site: str) -> None:
    assert site_domain(site) == "acme.example"


def test_a_query_is_told_with_its_filters() -> None:
    assert (
        query_for_trace(Query(text=" a\n b ", site="www.acme.example", since="day"))
        == "a b site:acme.example (last day)"
    )
