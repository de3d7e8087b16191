"""The texts of the page in the language that is set; `messages/catalogue.py` has their translations.

    from tablewright.doors.web.words import t

    ui.button(t("Save"))
    t("{count} row|{count} rows", count=12)

`tests/doors/web/test_words.py` sees to it that every text of the page goes through `t`.
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
from tablewright.domain.text import BASES, plural
from tablewright.messages.catalogue import LANGUAGES, PageText, catalogue, translate

T = TypeVar("T")

SCRIPTS = Path(__file__).with_name("files")
_SAID = re.compile(r'\bt\("((?:[^"\\]|\\.)*)"')
MARKS: PageText[set[str]] = {
    "high confidence",
    "medium confidence",
    "low confidence",
    "looked up, not found",
    "flagged",
    "empty",
}
"""What the signs in the grid mean."""
CONFIDENCE = {label: f"{label} confidence" for label in ("high", "medium", "low")} | {"none": "low confidence"}
EMPTY: PageText[dict[str, str]] = {
    "not_found": "not found",
    "blocked": "blocked",
    "not_applicable": "not applicable",
    "conflicting": "conflicting",
    "over_budget": "over budget",
    "error": "error",
}
"""Why a cell has no value."""
TYPES: PageText[dict[FieldType, str]] = {
    "text": "text",
    "number": "number",
    "money": "money",
    "date": "date",
    "boolean": "yes or no",
    "select": "one of several options",
    "url": "link",
    "list": "list",
}
"""The types of columns, as people call them."""
STAGES: PageText[dict[str, str]] = {
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
"""What a run is doing, followed by the name of a row."""
TRACE: PageText[tuple[str, ...]] = (
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
"""The lines of a trace, which is kept in English; more particular ones first."""

ELSEWHERE: PageText[tuple[str, ...]] = (
    *("running", "queued", "done", "failed", "interrupted", "cancelled", "stopping", "over budget", "paused"),
    *("supports", "supports in part", "contradicts", "qualifies"),
    *("long", "short", "data-heavy", "text-heavy"),
    *("Home", "Database", "Strategies", "Model", "Search"),
)
"""Statuses, stances, kinds and checks that other modules define."""


def language() -> str:
    """Of the pages of this process; English where it serves none."""
    server: FastAPI | None = getattr(pages.state, "server", None)
    chosen = server.state.services.settings.language if server else ""
    return chosen if chosen in LANGUAGES else "en"


def t(english: str, /, **values: Any) -> str:
    """In the language of the page. Of "one|many" the `count` says which; whole numbers are written with their marks."""
    return translate("page", english, language(), **values)


def many(count: int, noun: str) -> str:
    """ "1 row", "12 rows": the catalogue has each noun with its plural."""
    return t(f"{{count}} {noun}|{{count}} {plural(noun, 2)}", count=count)


def all_rows(count: int) -> str:
    """ "1 row", "All 12 rows"."""
    return many(1, "row") if count == 1 else t("All {count} rows", count=count)


def reason_text(reason: str | None) -> str:
    """Why a cell has no value, in a word or two."""
    return t(EMPTY[reason or "error"])


def stage_text(news: Progress) -> str:
    """Name the stage of a run, or return "" if it has no name for people."""
    return t(STAGES[news.stage]) if news.stage in STAGES else ""


def type_text(field: Field) -> str:
    """With its unit, if it has one."""
    return ", ".join(filter(None, (t(TYPES[field.type]), field.unit)))


def confidence_text(label: str) -> str:
    return t(CONFIDENCE[label])


def basis_text(cell: Cell) -> str:
    """How the value relates to its evidence, in words; "" where that is not known."""
    basis = t(BASES[cell.shown_basis]) if cell.shown_basis else ""
    return f"{basis}: {cell.converted_by}" if basis and cell.converted_by else basis


def trace_text(line: str) -> str:
    """A line of a trace in the language of the page, known by its form; any other stays as it is."""
    for form in TRACE if language() != "en" else ():
        if values := values_in(line, form):
            return t(form, **values)
    return line


def values_in(line: str, form: str) -> dict[str, str] | None:
    """What stands in the line where the form has its placeholders; None where it has another form."""
    start, *parts = re.split(r"\{(\w+)\}", form)
    values: dict[str, str] = {}
    rest = line.removeprefix(start)
    for name, after in zip(parts[::2], parts[1::2], strict=True):
        is_last = len(values) == len(parts) // 2 - 1
        values[name], found, rest = (rest.removesuffix(after), after, "") if is_last else rest.partition(after)
        if not found and after:
            return None
    return values if form.format(**values) == line else None


def script_words() -> str:
    """For the scripts of the page: their texts in its language, as JSON that can stand in a page."""
    lines = catalogue(language()).lines
    texts = {text: lines["page", text] for text in script_texts() if ("page", text) in lines}
    return json.dumps(texts).replace("<", "\\u003c")


@cache
def script_texts() -> frozenset[str]:
    """The texts that the scripts hand to their own `t`, and those that the grid looks up by a mark."""
    files = (path.read_text(encoding="utf-8") for path in SCRIPTS.glob("*.js"))
    return frozenset(MARKS | {json.loads(f'"{text}"') for file in files for text in _SAID.findall(file)})


def translated(choices: Mapping[T, str]) -> dict[T, str]:
    return {name: t(label) for name, label in choices.items()}
