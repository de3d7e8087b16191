"""Every text of the page goes through `t`. `tests/messages` checks that the catalogue has it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import tablewright.interfaces.page as web
from tablewright.domain.fieldspec import parse_field
from tablewright.interfaces.page import words
from tablewright.operations.files import import_table_file
from tablewright.operations.fill import plan_fill
from tablewright.services import Services
from tests.stage import Stage

# The same in every language.
NAMES = {
    *("Anthropic", "Google Gemini", "OpenAI", "Brave Search", "Exa", "Serper (Google results)", "Tavily"),
    *("CSV", "JSON", "Tablewright"),
}
# By function: which of its arguments people see.
SHOWN = {
    **dict.fromkeys(
        "show_heading text show_remark show_notice show_chip page_card titled_card build_dialog open_window "
        "show_web_link empty_state titled_page page_frame inline_text show_paragraph show_busy small_button UsageError "
        "BadField NotFound show_chart".split(),
        (0,),
    ),
    **dict.fromkeys("icon_button progress_bar add_field".split(), (1,)),
    **dict.fromkeys("message_form ask_confirmation add_question".split(), (0, 1)),
    **dict.fromkeys(
        "button label input textarea checkbox link menu_item tooltip expansion number compact_button set_text".split(),
        (0,),
    ),
}


def modules() -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(Path(*web.__path__).rglob("*.py")):
        yield path.name, ast.parse(path.read_text(encoding="utf-8"))


def calls(tree: ast.AST) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            function = node.func
            yield getattr(function, "attr", getattr(function, "id", "")), node


def test_the_signs_of_the_grid_have_their_meaning_in_the_catalogue() -> None:
    signs = re.search(
        r"const MARKS = \{(.*?)\};", (words.SCRIPT_FOLDER / "grid.js").read_text(encoding="utf-8"), re.DOTALL
    )
    assert signs is not None
    assert set(re.findall(r'\["[^"]*", "([^"]+)"\]', signs[1])) == words.GRID_MARKS


def test_every_text_of_the_page_goes_through_the_catalogue() -> None:
    plain = []
    for module, tree in modules():
        for name, call in calls(tree) if module != "pages.py" else ():
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
    monkeypatch.setattr(words, "page_language", lambda: "de")
    stage = Stage("", tmp_path)
    (tmp_path / "table.csv").write_text("Company\nMarlow Instruments\nZwaluwmolen Papier\n", encoding="utf-8")
    async with Services.open(stage.settings(model="", model_base_url="", fetch_delay="0")) as services:
        table = (await import_table_file(services, tmp_path / "table.csv")).table
        run = await plan_fill(services, table.id, [parse_field("Staff:number=How many people work at {Company}?")])
        filled = await run.run()
        steps = [step for each in await services.store.proposals.operations(filled.proposal_id) for step in each.steps]
    told = {step.detail: words.trace_text(step.detail) for step in steps if step.type != "answer"}
    assert {"search", "fetch", "error", "thinking"} <= {step.type for step in steps}
    assert [english for english, german in told.items() if english == german] == []
    assert any(german.startswith("Gesucht: „") for german in told.values())


def test_a_line_is_known_by_its_form() -> None:
    searched = "Searched “a “b”: c”: 12 results."
    assert words.match_form_values(searched, "Searched “{query}”: {results} results.") == {
        "query": "a “b",
        "results": "c”: 12",
    }
    assert words.match_form_values(searched, "Read “{title}”.") is None
