"""Two things of one name: the row's cells, and what pages say of themselves, tell them apart."""

from __future__ import annotations

import pytest

from tablewright.domain.model import Field
from tablewright.domain.retrieved import Retrieved
from tablewright.extraction import reader
from tablewright.extraction.subject import SUBJECT_SCORES, Subject, score_sources

HIGH = 0.8
ORGANS = Retrieved(
    origin="https://wiki.example/Harrow_Works_(organs)",
    title="Harrow Works (organs)",
    text="Harrow Works (organs)\nIndustry: Church organs\nFounded: 1904\nWebsite: www.harrowworks.example\n"
    "Harrow Works is a British organ builder.",
)
BICYCLES = Retrieved(
    origin="https://wiki.example/Harrow_Works_(bicycles)",
    title="Harrow Works (bicycles)",
    text="Harrow Works (bicycles)\nIndustry: Bicycles\nFounded: 1988\nWebsite: www.harrowbikes.example\n"
    "Harrow Works is a Canadian maker of bicycles.",
)
ORGAN_SITE = Retrieved(
    origin="https://www.harrowworks.example/about",
    title="About Harrow Works",
    text="About Harrow Works\nHarrow Works has 35 employees. The managing director is Ann Lee.",
)
BICYCLE_SITE = Retrieved(
    origin="https://www.harrowbikes.example/about",
    title="Who we are – Harrow Works",
    text="Who we are\nHarrow Works has 80 employees. The managing director is Bo Ek.",
)
PAGES = [ORGANS, BICYCLES, ORGAN_SITE, BICYCLE_SITE]
FOUNDED = Field(name="Founded", type="number")
EMPLOYEES = Field(name="Employees", type="number", question="How many employees does {Company} have?")


def subject(**cells: str) -> Subject:
    return Subject(name="Harrow Works", context=cells, column="Company")


@pytest.mark.parametrize(
    ("cells", "founded", "employees"),
    [
        ({"Country": "Canada"}, "1988", "80"),
        ({"Country": "United Kingdom"}, "1904", "35"),
        ({"Industry": "Bicycles"}, "1988", "80"),
        ({"Industry": "Church organs"}, "1904", "35"),
        ({"Country": "Canada", "Industry": "Bicycles"}, "1988", "80"),
        ({"Website": "https://www.harrowbikes.example"}, "1988", "80"),
    ],
)
def test_any_cell_of_the_row_tells_it_from_its_namesake(cells: dict[str, str], founded: str, employees: str) -> None:
    found = reader.read_candidates(subject(**cells), [FOUNDED, EMPLOYEES], PAGES)
    sure = {name: {each.value for each in answers if each.score >= reader.MIN_SURE} for name, answers in found.items()}
    assert sure["Founded"] == {founded}
    assert sure["Employees"] <= {employees}


def test_without_a_cell_that_tells_them_apart_nothing_is_sure() -> None:
    found = reader.read_candidates(subject(), [FOUNDED, EMPLOYEES], PAGES)
    assert all(each.score < HIGH for answers in found.values() for each in answers)


def test_the_site_that_a_namesake_calls_its_own_is_the_namesake_s() -> None:
    organs, bicycles, organ_site, bicycle_site = score_sources(subject(Country="Canada"), PAGES)
    assert max(organs, organ_site) < SUBJECT_SCORES.about <= min(bicycles, bicycle_site)


def test_a_page_that_names_another_country_is_never_sure() -> None:
    (fit,) = score_sources(subject(Country="Canada"), [ORGANS])
    assert fit < HIGH


def test_one_page_alone_is_as_sure_as_its_title() -> None:
    (fit,) = score_sources(subject(Country="Canada"), [BICYCLE_SITE])
    assert fit >= HIGH
