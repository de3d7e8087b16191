"""Our own words in the language of a question."""

from __future__ import annotations

from string import Formatter

import pytest

from tablewright.messages.messages import CATALOGUE, figure, learn, message


@pytest.mark.parametrize("language", sorted(CATALOGUE))
def test_every_language_says_every_message_with_the_same_values(language: str) -> None:
    def values(text: str) -> set[str | None]:
        return {name for _, name, _, _ in Formatter().parse(text)} - {None}

    english = CATALOGUE["en"]
    assert CATALOGUE[language].keys() == english.keys()
    for key, text in CATALOGUE[language].items():
        assert values(text) == values(english[key]), key
        assert text.count("|") == english[key].count("|"), key


def test_a_language_without_a_catalogue_gets_english() -> None:
    assert message("not said", "fi") == message("not said") == "The documents do not say."
    assert message("not said", "de-AT") == message("not said", "German") == "Die Dokumente sagen es nicht."


def test_figures_and_counts_are_written_as_the_language_writes_them() -> None:
    assert message("exported", "de", count=1200, where="") == "1.200 Zeilen können exportiert werden."
    assert message("exported", count=1, where="") == "1 row can be exported."
    assert figure("1,577.20", "de") == "1.577,20"


def test_lines_of_another_language_are_learnt_and_those_of_ours_are_not_overwritten() -> None:
    try:
        learn("qq", {"not said": "QQ"})
        assert message("not said", "qq_QQ") == message("not said", "qq-QQ") == "QQ"
        assert message("that was all", "qq") == "That was all.", "what is not translated stays English"
        learn("de", {"not said": "QQ"})
        assert message("not said", "de") == "Die Dokumente sagen es nicht."
    finally:
        CATALOGUE.pop("qq", None)


@pytest.mark.parametrize(
    ("key", "one", "several"),
    [
        ("searches", "1 Suche", "2 Suchen"),
        ("pages", "1 Seite", "2 Seiten"),
        ("model calls", "etwa 1 Modellaufruf", "etwa 2 Modellaufrufe"),
    ],
)
def test_an_effort_is_said_of_one_and_of_several(key: str, one: str, several: str) -> None:
    assert [message(f"shortlist: {key}", "de", count=count) for count in (1, 2)] == [one, several]
