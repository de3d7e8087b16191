"""Texts of the page in the chosen language; `messages/catalogue.py` has their translations.

    from tablewright.interfaces.page.words import t

    ui.button(t("Save"))
    t("{count} row|{count} rows", count=12)

`tests/interfaces/page/test_words.py` checks that every text of the page goes through `t`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from fastapi import FastAPI
from nicegui import app as pages

from tablewright.domain.model import Cell, Field, FieldType
from tablewright.domain.run import Progress
from tablewright.domain.text import BASIS_TEXTS, hint_text, pluralize_noun, shorten_text
from tablewright.messages.catalogue import LANGUAGES, PageText, load_catalogue, translate

T = TypeVar("T")

SCRIPT_FOLDER = Path(__file__).with_name("files")
# The meanings of the signs in the grid; the script has the signs.
GRID_MARKS: PageText[set[str]] = {
    "high confidence",
    "medium confidence",
    "low confidence",
    "looked up, not found",
    "flagged",
    "empty",
}
# Names of the types of columns.
TYPE_NAMES: PageText[dict[FieldType, str]] = {
    "text": "text",
    "number": "number",
    "money": "money",
    "date": "date",
    "boolean": "yes or no",
    "select": "one of several options",
    "url": "link",
    "list": "list",
}

# Statuses, stances, kinds and checks that other modules define.
TEXTS_OF_OTHER_PACKAGES: PageText[tuple[str, ...]] = (
    *("running", "queued", "done", "failed", "interrupted", "cancelled", "stopping", "over budget", "paused"),
    *("supports", "supports in part", "contradicts", "qualifies"),
    *("long", "short", "data-heavy", "text-heavy"),
    *("Home", "Database", "Strategies", "Embedder", "Documents", "Model", "Search"),
)


def page_language() -> str:
    """Return the language of this process's pages; English if it serves none."""
    server: FastAPI | None = getattr(pages.state, "server", None)
    chosen = server.state.services.settings.language if server else ""
    return chosen if chosen in LANGUAGES else "en"


def t(english: str, /, **values: Any) -> str:
    """Translate into the language of the page. `count` chooses between the forms of "one|many"; whole numbers get their
    separators."""
    return translate("page", english, page_language(), **values)


def counted_text(count: int, noun: str) -> str:
    """Return "1 row" or "12 rows"; the catalogue has each noun with its plural."""
    return t(f"{{count}} {noun}|{{count}} {pluralize_noun(noun, 2)}", count=count)


def all_rows_text(count: int) -> str:
    """Return "1 row" or "All 12 rows"."""
    return counted_text(1, "row") if count == 1 else t("All {count} rows", count=count)


def dispute_text(cell: Cell) -> str:
    """Return the mark of a cell whose sources disagree, or that can be read in more than one way."""
    is_reading = all(other.reason for other in cell.conflict)
    return t("≠ Can be read in two ways") if is_reading else t("≠ Sources disagree")


def reason_text(reason: str | None) -> str:
    """Name the reason why a cell has no value."""
    names: PageText[dict[str, str]] = {
        "not_found": "not found",
        "blocked": "blocked",
        "not_applicable": "not applicable",
        "conflicting": "conflicting",
        "over_budget": "over budget",
        "error": "error",
    }
    return t(names[reason or "error"])


def empty_text(cell: Cell) -> str:
    """Return the value that an empty cell may have, or why it has none."""
    hint = shorten_text(hint_text(cell), 60)
    return t("perhaps {value}", value=hint) if hint else reason_text(cell.reason)


def stage_text(news: Progress) -> str:
    """Name the stage of a run, or return "" if it has no name for people. The name of a row follows."""
    names: PageText[dict[str, str]] = {
        "starting": "Starting",
        "searching": "Searching for",
        "fetching": "Reading about",
        "computing": "Computing",
        "row_done": "Done:",
        "row_skipped": "Skipped:",
        "complete": "Finished",
        "cancelled": "Stopped",
        "paused": "Paused:",
    }
    return t(names[news.stage]) if news.stage in names else ""


def type_text(field: Field) -> str:
    """Name the type of a column, with its unit if it has one."""
    return ", ".join(filter(None, (t(TYPE_NAMES[field.type]), field.unit)))


def confidence_text(label: str) -> str:
    # A value without confidence is to be checked like one of low confidence.
    return t(f"{'low' if label == 'none' else label} confidence")


def translated_basis(cell: Cell) -> str:
    """Describe how the value relates to its evidence, or return "" if that is unknown."""
    basis = t(BASIS_TEXTS[cell.shown_basis]) if cell.shown_basis else ""
    return f"{basis}: {cell.converted_by}" if basis and cell.converted_by else basis


def trace_text(line: str) -> str:
    """Translate a line of a trace if it has a known form; return any other as it is."""
    # Traces are stored in English. More specific forms come first, since the first match wins.
    forms: PageText[tuple[str, ...]] = (
        "Searched “{query}”: nothing found.",
        "Searched “{query}”: 1 result.",
        "Searched “{query}”: {results} results.",
        "Search for “{query}” failed: {reason}",
        "Read “{title}” ({domain}).",
        "Read “{title}”.",
        "Could not read {url}: {reason}",
        "{where} (search result) says {value}: “{quote}”",
        "{where} says {value}: “{quote}”",
        "“{title}” ({domain}) is about another {name}: {reason}",
        "{where} is about something else: {reason}",
        "The quotes support {value}: {verdict}. {reason}",
        "Attempt {attempt}, for {columns} only. {why}",
        "{problem} Read without the model.",
        "{judgement}: {problem} Decided without the model.",
        "{judgement}: not verified and left out: {problem}",
        "{rating}: {answered} of {all} answered; weak or missing: {weak}; sources disagree on {disputed}",
        "{rating}: {answered} of {all} answered; weak or missing: {weak}",
        "{rating}: {answered} of {all} answered; sources disagree on {disputed}",
        "{rating}: {answered} of {all} answered",
        "{answer}; also from {domains}; {domain} says {value}",
        "{answer}; also from {domains}",
        "{answer}; {domain} says {value}",
    )
    for form in forms if page_language() != "en" else ():
        if values := match_form_values(line, form):
            return t(form, **values)
    return line


def match_form_values(line: str, form: str) -> dict[str, str] | None:
    """Return the parts of the line at the form's placeholders, or None if the line has another form."""
    start, *parts = re.split(r"\{(\w+)\}", form)
    values: dict[str, str] = {}
    rest = line.removeprefix(start)
    for name, after in zip(parts[::2], parts[1::2], strict=True):
        # The last value may contain the text that follows it in the form, so it takes the whole rest.
        is_last = len(values) == len(parts) // 2 - 1
        values[name], found, rest = (rest.removesuffix(after), after, "") if is_last else rest.partition(after)
        if not found and after:
            return None
    return values if form.format(**values) == line else None


def script_texts_json() -> str:
    """Return the translated texts of the page's scripts as JSON, escaped for a script element."""
    lines = load_catalogue(page_language()).lines
    texts = {text: lines["page", text] for text in script_texts() if ("page", text) in lines}
    # A text with "</script>" must not end the element around it.
    return json.dumps(texts).replace("<", "\\u003c")


@cache
def script_texts() -> frozenset[str]:
    """Return the texts that the scripts pass to their own `t`, and those that the grid looks up by a mark."""
    files = (path.read_text(encoding="utf-8") for path in SCRIPT_FOLDER.glob("*.js"))
    return frozenset(
        GRID_MARKS
        | {json.loads(f'"{text}"') for file in files for text in re.compile(r'\bt\("((?:[^"\\]|\\.)*)"').findall(file)}
    )


def translate_choices(choices: Mapping[T, str]) -> dict[T, str]:
    return {name: t(label) for name, label in choices.items()}
