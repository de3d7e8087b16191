"""Our own words: English in the code, the languages of the .po files, and what a model translates."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tablewright.interfaces.page.words import script_texts
from tablewright.messages import catalogue as messages
from tablewright.messages.catalogue import (
    CATALOGUES,
    LANGUAGES,
    add_translations,
    list_context_texts,
    load_catalogue,
    localize_figure,
    primary_language_code,
    translate,
    translate_count,
)

ROOT = Path(__file__).parents[2]
FILES = sorted(Path(messages.__file__).parent.glob("*.po"))
ROWS = "{count} row can be exported{where}.|{count} rows can be exported{where}."
SILENT = "The documents do not say."


def places(text: str) -> set[str]:
    """Of all its forms: that for one may do without the count."""
    return set(re.findall(r"\{\w+\}", text))


def test_every_language_but_english_has_its_file() -> None:
    assert {path.stem for path in FILES} == LANGUAGES.keys() - {"en"}


def test_every_text_of_the_code_is_in_the_files_and_they_have_no_others() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/texts.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout}: run scripts/texts.py and translate what is new"


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_text_is_translated_with_the_same_places_for_values(path: Path) -> None:
    from babel.messages.pofile import read_po

    with path.open("rb") as file:
        read = [each for each in read_po(file) if each.id]
    assert [each.id for each in read if not each.string or each.fuzzy] == []
    for english, translated in load_catalogue(path.stem).lines.items():
        assert places(translated) == places(english[1]), english


def test_the_scripts_of_the_page_have_all_their_texts_in_german() -> None:
    assert {("page", text) for text in script_texts()} <= load_catalogue("de").lines.keys()


def test_a_text_in_another_language_keeps_its_values_and_takes_the_form_of_the_count() -> None:
    assert translate("ask", SILENT, "de-AT") == translate("ask", SILENT, "German") == "Die Dokumente sagen es nicht."
    assert translate("ask", ROWS, "de", count=1200, where="") == "1.200 Zeilen können exportiert werden."
    assert translate("ask", ROWS, count=1, where="") == "1 row can be exported."
    assert translate("ask", ROWS, "de", count=1, where="") == "1 Zeile kann exportiert werden."
    assert localize_figure("1,577.20", "de") == "1.577,20"


def test_the_same_text_may_be_translated_differently_in_another_context() -> None:
    assert translate("report", "not found", "de") == "nicht gefunden"
    assert translate("shortlist", "known", "de") == "bekannt"
    assert translate("page", "known", "de") == "known"


def test_a_count_of_nothing_is_not_told() -> None:
    assert translate_count("ask", ROWS, 0, "de", where="") == ""
    assert translate_count("ask", ROWS, 2, where="") == "2 rows can be exported."


def test_a_language_without_a_catalogue_gets_english_with_its_own_figures() -> None:
    assert translate("ask", SILENT, "fi") == translate("ask", SILENT) == SILENT
    assert translate("ask", ROWS, "fi", count=1200, where="") == "1\xa0200 rows can be exported."


@pytest.mark.parametrize(
    ("language", "code"), [("es_MX", "es"), ("Spanish", "es"), ("French (Canada)", "fr"), ("Klingonese", "klingonese")]
)
def test_a_language_is_known_by_its_code_and_by_its_name(language: str, code: str) -> None:
    assert primary_language_code(language) == code


def test_languages_that_nobody_translated_are_not_kept() -> None:
    translate("ask", SILENT, "qx")
    assert "qx" not in CATALOGUES


def test_lines_of_another_language_are_learnt_and_those_of_ours_are_not_overwritten() -> None:
    try:
        add_translations("qq", {("ask", SILENT): "QQ"})
        assert translate("ask", SILENT, "qq_QQ") == translate("ask", SILENT, "qq-QQ") == "QQ"
        assert translate("ask", "That was all.", "qq") == "That was all.", "what is not translated stays English"
        add_translations("de", {("ask", SILENT): "QQ"})
        assert translate("ask", SILENT, "de") == "Die Dokumente sagen es nicht."
    finally:
        CATALOGUES.pop("qq", None)


def test_the_texts_of_a_context_keep_their_order_and_their_doubles() -> None:
    """They are what a model is asked to translate."""
    texts = list_context_texts("shortlist")
    assert texts[0] == ("shortlist", "Confirm Requirements")
    assert [context for context, text in texts if text == "none"] == ["shortlist", "shortlist: sources"]


@pytest.mark.parametrize(
    ("text", "one", "several"),
    [
        ("{count} search|{count} searches", "1 Suche", "2 Suchen"),
        ("{count} page|{count} pages", "1 Seite", "2 Seiten"),
        ("about {count} model call|about {count} model calls", "etwa 1 Modellaufruf", "etwa 2 Modellaufrufe"),
    ],
)
def test_an_effort_is_said_of_one_and_of_several(text: str, one: str, several: str) -> None:
    assert [translate("shortlist", text, "de", count=count) for count in (1, 2)] == [one, several]
