"""One reader of labels, values and tables: what is a fact of a document is also read on a page."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablewright.documents.annotate.annotate import annotate_parsed
from tablewright.documents.parse import text_formats
from tablewright.domain.model import Field
from tablewright.domain.retrieved import Retrieved
from tablewright.extraction import reader
from tablewright.extraction.layout.pairs import find_barred_tables, find_pairs, find_possible_pairs, parse_lines
from tablewright.extraction.subject import Subject

LINES = (
    "Rated power: 290 W|Rated power ....... 290 W|Rated power    290 W|Rated power\t290 W|- Rated power: 290 W"
    "|Owner:|Ann|Price|£38.50|240|Employees|(IATA: BWU, ICAO: YSBK)|Ht: 1.8 m Wt: 80 kg Age: 26"
    "|FORM NO : K77  DATE: 24/05/2019"
    "|It opened at 12:30 (and closed: late).|INVOICE|. . .|:|\u00a0"
).split("|")


def possible(text: str) -> list[tuple[str, str]]:
    return [(each.label, each.value.text) for each in find_possible_pairs(text, list(parse_lines(text, 0, len(text))))]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(LINES), max_size=8).map("\n".join))
def test_a_pair_of_a_document_is_a_pair_of_a_page(text: str) -> None:
    lines = list(parse_lines(text, 0, len(text)))
    certain = {(each.label, each.value, each.start) for each in find_pairs(text, lines)}
    found = find_possible_pairs(text, lines)
    assert certain <= {(each.label, each.value, each.start) for each in found}
    for each in found:
        assert text[each.value.start : each.value.end] == each.value.text


@pytest.mark.parametrize(
    "text", ["Mast height: 14 m", "Mast height ..... 14 m", "Mast height    14 m", "Mast height:\n14 m"]
)
def test_pages_and_documents_read_the_same_value(text: str) -> None:
    (fact,) = annotate_parsed(text_formats.parse_plain_text(text.encode(), "a.txt"))
    source = Retrieved(origin="https://boats.example", text=text)
    candidates = reader.read_candidates(Subject(name=""), [Field(name="Mast height")], [source])["Mast height"]
    assert fact.properties[0].value.raw == candidates[0].value == "14 m"


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("Bower Field (IATA: BWU, ICAO: YSBK) is an airport.", ("ICAO", "YSBK")),
        ("Price\n£38.50", ("Price", "£38.50")),
        ("240\nEmployees", ("Employees", "240")),
        ("Mast height | 14 m", ("Mast height", "14 m")),
    ],
)
def test_what_may_be_a_pair_is_left_to_whoever_knows_what_is_asked(text: str, pair: tuple[str, str]) -> None:
    assert pair in possible(text)
    assert annotate_parsed(text_formats.parse_plain_text(text.encode(), "a.txt")) == ()


def test_several_pairs_of_a_line_are_read_from_behind_each_other() -> None:
    assert ("Wt", "80 kg") in possible("Ht: 1.8 m Wt: 80 kg Age: 26")


def test_a_label_that_ends_inside_brackets_is_no_label() -> None:
    text = "Bower Field (IATA: BWU, ICAO: YSBK) is an airport."
    assert [label for label, _ in possible(text)] == ["IATA", "ICAO"]


def test_the_frame_and_the_rule_of_a_table_are_no_cells() -> None:
    text = "| Maker | Town |\n|---|---|\n| Otto Sails | Emden |"
    (table,) = find_barred_tables(list(parse_lines(text, 0, len(text))))
    assert [[cell.text for cell in row] for row in table] == [["Maker", "Town"], ["Otto Sails", "Emden"]]
    source = Retrieved(origin="https://lists.example/a", title="Makers", text=text)
    found = reader.read_candidates(Subject(name="Otto Sails"), [Field(name="Town")], [source])["Town"]
    assert [each.value for each in found][:1] == ["Emden"]


def test_a_bar_at_one_end_of_a_row_has_an_empty_cell_beside_it() -> None:
    text = "Mill | Town | Floors\nOld Kate | Sandby | 4\nDe Kraai | Sandby |\n| Sandby | 2"
    (table,) = find_barred_tables(list(parse_lines(text, 0, len(text))))
    assert [[cell.text for cell in row] for row in table[2:]] == [["De Kraai", "Sandby", ""], ["", "Sandby", "2"]]
    (grid,) = text_formats.parse_plain_text(text.encode(), "a.txt").grids
    assert [[text[start:end] for start, end in row] for row in grid.rows] == [
        [each.text for each in row] for row in table
    ]
