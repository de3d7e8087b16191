"""Advice in the words of the door that gives it."""

from __future__ import annotations

import pytest

from tablewright.interfaces.wording import MCP, REST, reword_advice


@pytest.mark.parametrize(
    ("advice", "rest", "mcp"),
    [
        (
            "`tablewright tables list` shows the tables.",
            "GET /tables shows the tables.",
            "list_all(tables) shows the tables.",
        ),
        ("Add some: `tablewright docs add PATH`.", "Add some: POST /documents.", "Add some: add_documents."),
        (
            "Say which with --key-field COLUMN.",
            "Say which with `key_field` COLUMN.",
            "Say which with `key_field` COLUMN.",
        ),
        ("Try again. `tablewright worker` helps.", "Try again.", "Try again."),
        ("Start it with --public-host NAME.", "Start it with --public-host NAME.", "Start it with --public-host NAME."),
        ("Set TABLEWRIGHT_MODEL, or say --model; `tablewright models list` shows some.", "GET /models shows some.", ""),
        (
            "Run `pip install 'tablewright[openai]'`.",
            "The administrator of the server can install it.",
            "The administrator of the server can install it.",
        ),
        ("", "", ""),
    ],
)
def test_a_door_names_its_own_way_to_what_a_command_does(advice: str, rest: str, mcp: str) -> None:
    assert reword_advice(REST, advice) == rest
    assert reword_advice(MCP, advice) == mcp
