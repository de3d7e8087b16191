"""What is shown of a table in a narrow terminal."""

from __future__ import annotations

import pytest
from rich.console import Console

from tablewright.doors.cli import output
from tablewright.table.model import Field, Row, Table, given


def test_the_columns_of_this_run_are_shown_before_those_of_others(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(output, "stdout", lambda: Console(width=40))
    names = ("Company", "Founded long ago", "Pet of the CEO")
    fields = tuple(Field(name=name, question="Which?" if number else "") for number, name in enumerate(names))
    row = Row(id=1, cells={name: given("x") for name in names})
    table = Table(id="t", name="t", fields=fields, rows=(row,), key_field="Company")
    output.print_rows("t", table, table.rows, first=("Pet of the CEO",))
    shown = capsys.readouterr().out
    assert "Pet of the CEO" in shown
    assert "Founded" not in shown
