"""Answers made to keep their reader busy are read as fast as others of their length."""

from __future__ import annotations

from time import thread_time

import pytest

from tablewright.table.coerce import coerce
from tablewright.table.model import Field, FieldType

SHORT, LONG = 250, 2_000
FIELDS: tuple[FieldType, ...] = ("text", "number", "boolean", "date", "url", "list", "money")
PUMPS = (
    *("``` ", "```\n", "<answer> ", "**a", "\"'", "so, ", "n/a (", "not a ", "as an ai i ", "no a ", "a and ", "- "),
    *("1", "1,", "1.111,", "2001-", "5 kg ", "twenty ", "12:", "€1", "a", "a.", "http://a.", "[", "(", " ", "\n"),
)
MOST_GROWTH = 24.0
"""At eight times the length; what reads a text once takes eight times as long."""
NOTICEABLE = 0.02


@pytest.mark.parametrize("type", FIELDS)
@pytest.mark.parametrize("lead", ["", "```", "<answer>", "**"])
def test_an_answer_is_read_in_proportion_to_its_length(type: FieldType, lead: str) -> None:
    field = Field(name="Price", type=type)
    for pump in PUMPS:
        short, long = (f"{lead}{pump * (length // len(pump))}x" for length in (SHORT, LONG))
        took = seconds(long, field)
        assert took < NOTICEABLE or took / min(seconds(short, field) for _ in range(3)) < MOST_GROWTH, (lead, pump)


def seconds(text: str, field: Field) -> float:
    started = thread_time()
    coerce(text, field)
    return thread_time() - started
