"""Every text that the pages translate is in the catalogue, and the catalogue has no others."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import tablewright.doors.web as web
from tablewright.doors.web import frame, run_banner, settings_form, start_page, start_table, tables_page
from tablewright.doors.web.words import GERMAN

PLACEHOLDER = re.compile(r"\{\w+\}")
NAMES = {"Anthropic", "Google Gemini", "OpenAI", "Brave Search", "Exa", "Serper (Google results)", "Tavily"}
"""The same in every language."""


def said_directly() -> set[str]:
    """What is written inside `t(…)`."""
    found: set[str] = set()
    for path in Path(*web.__path__).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "t":
                found |= {node.args[0].value} if isinstance(node.args[0], ast.Constant) else set()
    return found


def said_by_name() -> set[str]:
    """Constants that go through `t`."""
    choices = (settings_form.PROVIDERS, settings_form.ENGINES, settings_form.EVIDENCE, settings_form.EMBEDDERS)
    tables = (
        *choices,
        start_table.SEPARATORS,
        start_page.STEPS,
        start_page.WHY,
        run_banner.FAILURES,
        run_banner.REASONS,
    )
    found = {text for table in tables for text in table.values()}
    found |= {part.title for part in settings_form.PARTS.values()} | {name for name, _, _ in frame.PLACES}
    found |= {frame.IN_SETTINGS, tables_page.ABOUT_SAMPLE, settings_form.WITHOUT_A_MODEL, settings_form.KEY_SAVED}
    return found | {run_banner.REMEDY, run_banner.OVER_BUDGET, run_banner.SAMPLE}


def test_the_german_catalogue_is_whole() -> None:
    assert said_directly() | said_by_name() - NAMES == GERMAN.keys()
    for english, german in GERMAN.items():
        assert english.count("|") == german.count("|"), english
        assert set(PLACEHOLDER.findall(english)) == set(PLACEHOLDER.findall(german)), english
