"""What is shown of a table in a narrow terminal."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from rich.console import Console

from tablewright.domain.model import Field, Row, Table, make_given_cell
from tablewright.domain.run import Run, Usage
from tablewright.errors import RunError
from tablewright.interfaces.cli import output
from tablewright.interfaces.wording import format_cost
from tablewright.operations.runs import show_run
from tablewright.services import Services
from tablewright.settings import Settings


def test_the_columns_of_this_run_are_shown_before_those_of_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "stdout", lambda: Console(width=40))
    names = ("Company", "Founded long ago", "Pet of the CEO")
    fields = tuple(Field(name=name, question="Which?" if number else "") for number, name in enumerate(names))
    row = Row(id=1, cells={name: make_given_cell("x") for name in names})
    table = Table(id="t", name="t", fields=fields, rows=(row,), key_field="Company")
    output.print_rows("t", table, table.rows, first=("Pet of the CEO",))
    shown = capsys.readouterr().out
    assert "Pet of the CEO" in shown
    assert "Founded" not in shown


def test_a_name_that_people_type_stays_in_one_piece() -> None:
    name, words = "a-model-with-a-long-name-q4", "A small general model, for a machine with two cores."
    console = Console(width=60, file=io.StringIO())
    console.print(output.build_grid("", ["Name", "Licence", "About"], [[name, "Apache-2.0", words]]))
    assert name in console.file.getvalue()  # type: ignore[attr-defined]


def test_messages_in_a_terminal_break_between_words_and_elsewhere_not_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    error = RunError(
        "The search failed five times in a row, and nothing that was asked for could be looked up anywhere.",
        kept="What was found before is kept in the proposal pfryx3kzuc.",
        advice="Go on with `tablewright runs resume r74sez5ycw`, or with the same command, when the network is back.",
    )
    for terminal in (True, False):
        written = io.StringIO()
        console = Console(file=written, width=80, force_terminal=terminal, color_system=None)
        monkeypatch.setattr(output, "stderr", lambda console=console: console)
        output.print_error(error)
        output.print_warnings([error.advice])
        output.print_note(error.what)
        lines = written.getvalue().splitlines()
        assert all(len(line) <= 80 for line in lines) == terminal
        assert " ".join(written.getvalue().split()) == f"Error: {error} Note: {error.advice} {error.what}"
        assert len(lines) == (9 if terminal else 5)


@pytest.mark.parametrize(
    ("used", "spec", "shown"),
    [
        (Usage(input_tokens=900), {}, "price not known"),
        (Usage(input_tokens=900), {"settings": {"model": "ollama:qwen3"}}, "$0.00"),
        (Usage(), {}, "$0.00"),
        (Usage(input_tokens=900, cost_usd=0.25), {}, "$0.25"),
    ],
)
async def test_an_unknown_price_is_never_shown_as_nothing(
    used: Usage, spec: dict[str, Any], shown: str, tmp_path: Path
) -> None:
    async with Services.open(Settings(home=str(tmp_path), model="openai:in-house")) as services:
        run = Run(
            "r1",
            "",
            "enrich",
            "done",
            spec,
            "2026-01-01T00:00:00+00:00",
            finished_at="2026-01-01T00:00:00+00:00",
            usage=used,
        )
        reply = await show_run(services, run)
    assert format_cost(reply.cost_usd) == shown


def test_columns_get_narrow_before_one_is_left_out() -> None:
    assert output.fit_column_widths({"Company": 23, "Known for": 40, "CEO": 17, "Founded": 7}, 80) == {
        "Company": 23,
        "Known for": 21,
        "CEO": 17,
        "Founded": 7,
    }
    assert output.fit_column_widths({"Company": 23, "Known for": 40, "CEO": 17}, 36) == {"Company": 19, "Known for": 11}
    assert output.fit_column_widths({"Company": 23}, 5) == {"Company": 11}


async def test_a_streamed_document_is_printed_as_one_in_memory(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"name": f"Row {number}", "cells": {"A": [], "B": {"value": "two\nlines"}}} for number in range(3)]

    async def entries() -> AsyncIterator[bytes]:
        for row in rows:
            yield msgspec.json.encode(row)

    async def none() -> AsyncIterator[bytes]:
        for row in rows[:0]:
            yield msgspec.json.encode(row)

    head = {"id": "t", "count": 3, "empty": {}, "texts": ["a\u202e", 0.5, None]}
    await output.stream_json({**head, "rows": entries(), "runs": [{"rows": none()}, {}]})
    streamed = capsys.readouterr().out
    output.print_json({**head, "rows": rows, "runs": [{"rows": []}, {}]})
    assert streamed == capsys.readouterr().out


async def test_with_lines_each_entry_is_a_line_and_the_rest_the_last(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def entries() -> AsyncIterator[bytes]:
        for number in range(2):
            yield msgspec.json.encode({"row_id": number, "text": "a\u202e"})

    monkeypatch.setattr(sys, "argv", ["tablewright", "enrich", "--json=lines"])
    await output.stream_json({"id": "t", "rows": entries(), "runs": [{"run_id": "r", "rows": entries()}]})
    lines = capsys.readouterr().out.splitlines()
    assert [json.loads(line).get("row_id") for line in lines] == [0, 1, 0, 1, None]
    assert "\u202e" not in "".join(lines)
    assert json.loads(lines[-1]) == {"id": "t", "runs": [{"run_id": "r"}]}


def test_rows_that_a_grid_would_have_to_break_words_for_are_printed_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = ("Product", "Variable temperature", "Official page")
    row = ("Degree 15", "yes", "https://www.example.org/kettles/degree-15")

    def printed(width: int) -> str:
        console = Console(width=width, file=io.StringIO())
        monkeypatch.setattr(output, "stdout", lambda: console)
        output.print_grid_or_records(columns, [row, ("Swift 17", "", "https://example.org/17")])
        return console.file.getvalue()  # type: ignore[attr-defined,no-any-return]

    assert "┃ Product" in printed(80)
    narrow = [line.rstrip() for line in printed(60).splitlines()]
    assert narrow[0] == "Degree 15"
    assert narrow[1] == "   Variable temperature: yes; Official page:"
    assert narrow[2] == "   https://www.example.org/kettles/degree-15"
    assert narrow[3:] == ["Swift 17", "   Official page: https://example.org/17"]
