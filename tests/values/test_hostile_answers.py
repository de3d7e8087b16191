"""Answers made to keep their reader busy are read as fast as others of their length."""

from __future__ import annotations

import pytest

from tablewright.domain.model import Field, FieldType
from tablewright.values.coerce import coerce
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
    for pump in PUMPS:
        assert grows_in_proportion(lambda size: coerce(f"{lead}{pump * (size // len(pump))}x", field), 2_000), pump  # noqa: B023
