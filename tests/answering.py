"""A model's answers to the decisions of the strategies, made by looking at the form that is asked for."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tests.llm.endpoint import Asked, Reply, answer

ROW = re.compile(r"=== ROW \d+ ===\n")
OFFERED = re.compile(r"^\[(\d+)\] ", re.MULTILINE)

Cells: TypeAlias = Mapping[str, Sequence[Mapping[str, Any]]]
# From the text of a prompt to the answers of each column that has any.
ReadText: TypeAlias = Callable[[str], Cells]


def said(value: str, *quotes: str, text: int = 1, basis: str = "stated") -> dict[str, Any]:
    """An answer of a cell, with quotes of the text of that number."""
    quoted = [{"text": text, "quote": quote} for quote in quotes]
    return {"value": value, "basis": basis, "quotes": quoted, "calculation": "", "alternatives": []}


def call(name: str, **arguments: Any) -> Reply:
    """A turn of a model that works with tools."""
    return answer({"name": name, "arguments": arguments})


def answers(*given: Mapping[str, Any], same_row: str = "same", reason: str = "its own page") -> Reply:
    """The last turn of a model that works with tools."""
    return call("answer", answers=list(given), same_row=same_row, reason=reason)


def offered(asked: Asked) -> list[str]:
    """The tools that a model may use in its turn, the answer among them; none where it is asked for a decision."""
    parts = schema(asked).get("anyOf", [schema(asked)])
    return [part["properties"]["name"]["const"] for part in parts if "const" in part["properties"].get("name", {})]


def form(asked: Asked) -> dict[str, Any]:
    """The properties of the reply that is asked for."""
    found: dict[str, Any] = schema(asked).get("properties", {})
    return found


def schema(asked: Asked) -> dict[str, Any]:
    found: dict[str, Any] = asked.body["response_format"]["json_schema"]["schema"]
    return found


def columns(asked: Asked) -> list[str]:
    """The columns that a reading asks for; none for another decision."""
    whole = schema(asked)
    part = resolved(whole, form(asked)["row 1"]) if is_packed(asked) else whole
    cells = part["properties"].get("cells")
    return list(resolved(whole, cells)["properties"]) if cells else []


def resolved(whole: Mapping[str, Any], part: Mapping[str, Any]) -> Mapping[str, Any]:
    name = part.get("$ref", "").rpartition("/")[2]
    return whole["$defs"][name] if name else part


def is_packed(asked: Asked) -> bool:
    return "row 1" in form(asked)


def text_of(asked: Asked) -> str:
    """What was asked last."""
    return str(asked.body["messages"][-1]["content"])


def row_texts(asked: Asked) -> list[str]:
    """What was asked last, of each row by itself."""
    return ROW.split(text_of(asked))[1:] if is_packed(asked) else [text_of(asked)]


def sent(asked: Asked) -> str:
    """All that was sent, the instructions too."""
    return "\n".join(str(message["content"]) for message in asked.body["messages"])


@dataclass
class Answering:
    """Opens every result, reads what `read` finds in a text, and calls everything supported by its quotes."""

    read: ReadText
    patterns: Sequence[str] = ("%entity",)
    numbers: Sequence[int] | None = None
    verdict: str = "yes"
    relation: str = "contradict"
    same_row: str = "same"
    reason: str = "as it says itself"

    def __call__(self, asked: Asked) -> Reply:
        return answer(self.reply(asked))

    def reply(self, asked: Asked) -> dict[str, Any]:
        if not is_packed(asked):
            return self.alone(form(asked), text_of(asked), columns(asked))
        whole = schema(asked)
        wanted = resolved(whole, form(asked)["row 1"])["properties"]
        texts = ROW.split(text_of(asked))[1:]
        return {f"row {place}": self.alone(wanted, text, columns(asked)) for place, text in enumerate(texts, start=1)}

    def alone(self, wanted: Mapping[str, Any], text: str, names: Sequence[str]) -> dict[str, Any]:
        if "patterns" in wanted:
            return {"patterns": list(self.patterns)} | ({"name": ""} if "name" in wanted else {})
        if "numbers" in wanted:
            offered = [int(number) for number in OFFERED.findall(text)]
            return {"numbers": offered if self.numbers is None else list(self.numbers)}
        if "checked" in wanted:
            values = len(re.findall(r"^\d+\. <<QUESTION", text, re.MULTILINE))
            return {"checked": [{"number": n, "verdict": self.verdict, "reason": "so"} for n in range(1, values + 1)]}
        if "compared" in wanted:
            pairs = len(re.findall(r"^\d+\. <<QUESTION", text, re.MULTILINE))
            return {"compared": [{"number": n, "relation": self.relation, "reason": "so"} for n in range(1, pairs + 1)]}
        if "rating" in wanted:
            return {"rating": "medium", "weak": []}
        if "cells" not in wanted:
            raise AssertionError(f"Nobody said what to answer to the form {sorted(wanted)}.")
        numbers = [int(number) for number in re.findall(r"<<TEXT ([1-9]\d*) ", text)]
        found = self.read(text)
        return {
            "texts": [{"text": number, "same_row": self.same_row, "reason": self.reason} for number in numbers],
            "cells": {name: list(found.get(name, ())) for name in names},
        }
