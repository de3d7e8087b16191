"""Answers made to keep their reader busy are read as fast as others of their length."""

from __future__ import annotations

from functools import partial

import pytest

from tablewright.domain.model import Field, FieldType
from tablewright.values.coerce import coerce_value
from tests.growth import grows_in_proportion

TYPES: tuple[FieldType, ...] = ("text", "number", "boolean", "date", "url", "list", "money")
PUMPS = (
    *("``` ", "```\n", "<answer> ", "**a", "\"'", "so, ", "n/a (", "not a ", "as an ai i ", "no a ", "a and ", "- "),
    *("1", "1,", "1.111,", "2001-", "5 kg ", "twenty ", "12:", "€1", "a", "a.", "http://a.", "[", "(", " ", "\n"),
)


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("lead", ["", "```", "<answer>", "**"])
def test_an_answer_is_read_in_proportion_to_its_length(type: FieldType, lead: str) -> None:
    field = Field(name="Price", type=type)

    def read_repeated(pump: str, size: int) -> None:
        coerce_value(f"{lead}{pump * (size // len(pump))}x", field)

    for pump in PUMPS:
        assert grows_in_proportion(partial(read_repeated, pump), 2_000), pump
