"""Every text of the page goes through `t` and is in the catalogue, and the catalogue has no others."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import get_args

import pytest

import tablewright.doors.web as web
from tablewright.app import Tablewright
from tablewright.conditions.column_filter import COMPARISONS
from tablewright.domain.corpus import Category
from tablewright.domain.fieldspec import parse_field
from tablewright.domain.model import Stance
from tablewright.domain.text import BASES, plural
from tablewright.doors.web import (
    ask_page,
    charts,
    documents_page,
    evidence_panel,
    find_page,
    frame,
    lookup_page,
    report_view,
    research_page,
    review_page,
    run_banner,
    runs_page,
    settings_form,
    shortlist_page,
    start_page,
    start_table,
    table_columns,
    table_edit,
    table_export,
    table_grid,
    table_run,
    table_schedule,
    table_views,
    tables_page,
    words,
)
from tablewright.strategies.strategy import announced
from tests.stage import Stage

PLACEHOLDER = re.compile(r"\{\w+\}")
NAMES = {
    *("Anthropic", "Google Gemini", "OpenAI", "Brave Search", "Exa", "Serper (Google results)", "Tavily"),
    *("CSV", "JSON", "Tablewright"),
}
"""The same in every language."""
SHOWN = {
    **dict.fromkeys(
        "heading text quiet said say chip card outside empty_state journey frame inline count_input UsageError "
        "BadField NotFound chart".split(),
        (0,),
    ),
    **dict.fromkeys("icon_button bar".split(), (1,)),
    **dict.fromkeys("saying sure".split(), (0, 1)),
    **dict.fromkeys(
        "button label input textarea checkbox link menu_item tooltip expansion number brief_button set_text".split(),
        (0,),
    ),
}
"""By function: which of its arguments people see."""


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(Path(*web.__path__).glob("*.py")):
        yield path.name, ast.parse(path.read_text(encoding="utf-8"))


def calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            yield getattr(function, "attr", getattr(function, "id", "")), node


def said_directly() -> set[str]:
    """What is written inside `t(…)`, and the nouns that are counted."""
    found: set[str] = set()
    for _, tree in modules():
        for name, call in calls(tree):
            for argument in call.args[:1] if name == "t" else call.args[1:2] if name == "many" else ():
                if isinstance(argument, ast.Constant):
                    text = argument.value
                    found.add(text if name == "t" else f"{{count}} {text}|{{count}} {plural(text, 2)}")
                elif isinstance(argument, ast.IfExp):
                    texts = [each.value for each in (argument.body, argument.orelse) if isinstance(each, ast.Constant)]
                    found |= {f"{{count}} {text}|{{count}} {plural(text, 2)}" for text in texts if name == "many"}
    return found


def texts_of(*tables: Iterable[object]) -> set[str]:
    """Of constants: the texts themselves, or those of which tuples and dictionaries are made."""
    found: set[str] = set()
    for table in tables:
        for each in table.values() if isinstance(table, dict) else table:
            found |= {each} if isinstance(each, str) else {str(each[0])}  # type: ignore[index]
    return found


def said_by_name() -> set[str]:
    """Constants that go through `t`."""
    found = texts_of(settings_form.PROVIDERS, settings_form.ENGINES, settings_form.EVIDENCE, settings_form.EMBEDDERS)
    found |= texts_of(start_table.SEPARATORS, start_page.STEPS, start_page.WHY, run_banner.FAILURES, run_banner.REASONS)
    found |= texts_of(table_schedule.ROUTINES, table_schedule.TIMES, table_export.FORMATS, table_run.DOING)
    found |= texts_of(table_run.ENDINGS, table_columns.SURENESS, COMPARISONS, table_views.CHIPS, table_edit.VERDICTS)
    found |= texts_of(ask_page.TRY, charts.KINDS, evidence_panel.REASONS, find_page.STATUS, lookup_page.OPERATORS)
    found |= texts_of(lookup_page.FIGURES, report_view.ROUNDS, research_page.STATUS, research_page.KINDS)
    found |= texts_of(research_page.LENGTHS, research_page.TOLD, review_page.ACTS, review_page.WORDS, review_page.TO_DO)
    found |= texts_of(runs_page.STAGES, shortlist_page.PHASES, shortlist_page.ASKED, shortlist_page.DOING, words.EMPTY)
    found |= {meaning for _, meaning in review_page.KEYS} | {name for name, _, _ in frame.PLACES}
    found |= {status.replace("_", " ") for status in runs_page.LOOKS} | set(shortlist_page.ACTIONS)
    found |= {part.title for part in settings_form.PARTS.values()}
    found |= {frame.IN_SETTINGS, tables_page.ABOUT_SAMPLE, settings_form.WITHOUT_A_MODEL, settings_form.KEY_SAVED}
    found |= {report_view.FURTHER, shortlist_page.OTHER_WORK, *documents_page.CAME_TO, *table_columns.FIGURES}
    found |= set(words.CONFIDENCE.values()) | {documents_page.UNREAD, report_view.OWN_SENTENCES, table_edit.UNCHECKED}
    found |= {table_grid.NO_ROWS, *BASES.values(), *get_args(Stance), *get_args(Category)}
    found |= {text for each in announced().values() for text in (each.display_name, each.summary)}  # type: ignore[union-attr]
    found |= {"Home", "Database", "Strategies", "Model", "Search"}  # names of checks
    found |= set(words.TRACE) | set(words.TYPES.values())
    return found | {run_banner.REMEDY, run_banner.OVER_BUDGET, run_banner.SAMPLE}


def test_the_german_catalogue_is_whole() -> None:
    german = words.catalogue("de")
    assert (said_directly() | said_by_name() | words.script_texts()) - NAMES == german.keys()
    for english, text in german.items():
        assert english.count("|") == text.count("|"), english
        assert set(PLACEHOLDER.findall(english)) == set(PLACEHOLDER.findall(text)), english


def test_the_signs_of_the_grid_have_their_meaning_in_the_catalogue() -> None:
    signs = re.search(r"const MARKS = \{(.*?)\};", (words.SCRIPTS / "grid.js").read_text(encoding="utf-8"), re.DOTALL)
    assert signs is not None
    assert set(re.findall(r'\["[^"]*", "([^"]+)"\]', signs[1])) == words.MARKS


def test_every_text_of_the_page_goes_through_the_catalogue() -> None:
    plain = []
    for module, tree in modules():
        for name, call in calls(tree) if module not in ("page_data.py", "clients.py") else ():
            shown = [call.args[place] for place in SHOWN.get(name, ()) if place < len(call.args)]
            shown += [each.value for each in call.keywords if each.arg in ("label", "placeholder", "advice", "kept")]
            plain += [f"{module}:{each.lineno} {said}" for each in shown if (said := words_in(each))]
        plain += [f"{module}:{each.lineno} {said}" for each in labels(tree) if (said := words_in(each))]
    assert plain == []


def labels(tree: ast.AST) -> Iterator[ast.expr]:
    """What is set as an attribute of an element that people read or hear."""
    for node in ast.walk(tree):
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        if (
            isinstance(node, ast.Assign)
            and isinstance(target, ast.Subscript)
            and isinstance(target.slice, ast.Constant)
        ):
            yield from [node.value] if target.slice.value in ("aria-label", "title", "hint") else ()


def words_in(node: ast.expr) -> str:
    """The English in a text that is not handed to `t`; examples of data and names are none."""
    if isinstance(node, ast.IfExp):
        return words_in(node.body) or words_in(node.orelse)
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    said = " ".join(each.value for each in parts if isinstance(each, ast.Constant) and isinstance(each.value, str))
    is_data = "://" in said or said.strip() in (*NAMES, "text-embedding-3-small", "JSON") or "tw-" in said
    return "" if is_data or not re.search(r"[^\W\d_]{2}", said) else said


async def test_a_trace_is_told_in_the_language_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "language", lambda: "de")
    stage = Stage("", tmp_path)
    (tmp_path / "table.csv").write_text("Company\nMarlow Instruments\nZwaluwmolen Papier\n", encoding="utf-8")
    async with Tablewright.open(stage.settings(model="", model_base_url="", fetch_delay="0")) as tablewright:
        table = (await tablewright.import_file(tmp_path / "table.csv")).table
        run = await tablewright.plan_enrich(table.id, [parse_field("Staff:number=How many people work at {Company}?")])
        filled = await run.run()
        steps = [step for each in await tablewright.operations(filled.proposal_id) for step in each.steps]
    told = {step.detail: words.trace_text(step.detail) for step in steps if step.type != "answer"}
    assert {"search", "fetch", "error", "thinking"} <= {step.type for step in steps}
    assert [english for english, german in told.items() if english == german] == []
    assert any(german.startswith("Gesucht: „") for german in told.values())


def test_a_line_is_known_by_its_form() -> None:
    searched = "Searched “a “b”: c”: 12 results."
    assert words.values_in(searched, "Searched “{query}”: {results} results.") == {"query": "a “b", "results": "c”: 12"}
    assert words.values_in(searched, "Read “{title}”.") is None
