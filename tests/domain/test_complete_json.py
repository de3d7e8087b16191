"""JSON in which every key is present."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import msgspec
import pytest

from tablewright import operations
from tablewright.domain.complete_json import complete_type, encode_complete
from tablewright.domain.model import Cell, Conflict, Evidence, Money, Step
from tablewright.domain.run import Event, Progress
from tablewright.domain.text import to_json_document
from tablewright.operations.operation import OPERATIONS
from tablewright.operations.rows import RowShown

QUOTE = Evidence(origin="https://example.org", quote="Founded in 1987", start=3, end=18)
FULL = Cell(
    value=Money(amount=5),
    raw_value="5",
    status="ENRICHED",
    confidence=0.9,
    basis="stated",
    evidence=(QUOTE, QUOTE),
    conflict=(Conflict(value=("a", "b"), evidence=(QUOTE,)), Conflict(value=Money(amount=1.5, currency="EUR"))),
    run_id="r1",
)


@pytest.mark.parametrize(
    "struct",
    [
        Cell(),
        Cell(value="x", status="ENRICHED", confidence=1.0),
        FULL,
        RowShown(row_id=1, key="k", cells={"A": FULL, "B": Cell(value=True), "C": Cell(value=None, reason="blocked")}),
        Event(number=1, at="2026-01-01T00:00:00Z", progress=Progress(stage="row_done", done=1, total=3)),
        Step(type="search", detail="words", data={"query": "words", "found": 3, "late": None}),
    ],
)
def test_it_is_the_document_of_the_struct(struct: msgspec.Struct) -> None:
    document = to_json_document(struct)
    assert msgspec.json.decode(encode_complete(struct)) == msgspec.json.decode(msgspec.json.encode(document))
    assert list(msgspec.json.decode(encode_complete(struct))) == list(document)
    assert encode_complete({"some": [struct]}) == msgspec.json.encode({"some": [document]})


def test_a_text_that_is_not_unicode_is_still_json() -> None:
    assert msgspec.json.decode(encode_complete(Cell(value="half \ud800")))["value"] == "half ?"


def replies() -> list[Any]:
    for module in iter_modules(operations.__path__):
        import_module(f"{operations.__name__}.{module.name}")
    return [each.reply for each in OPERATIONS.values()]


@pytest.mark.parametrize("reply", replies(), ids=lambda reply: str(reply.__name__))
def test_every_reply_has_a_complete_copy(reply: type[msgspec.Struct]) -> None:
    msgspec.inspect.type_info(complete_type(reply))
