"""For tests of questions to documents: a model that plans and composes as it is told, and what was sent to it."""

from __future__ import annotations

import json
import re
import sqlite3
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.llm.endpoint import Asked, Endpoint, answer
from tests.llm.endpoint import Reply as Sent
from tests.workflows.conftest import Library

RECEIPTS = "all receipts that contain tires"
CAPTAIN_OF = "Who was the captain of the schooner Marigold?"
BLED = "How is the pump P9 bled?"
UNANSWERED = "Who won the world cup final of 1966?"


def sent_to(asked: Asked) -> str:
    return "\n".join(json.dumps(message["content"], ensure_ascii=False) for message in asked.body["messages"])


def prompts(endpoint: Endpoint) -> list[str]:
    return [sent_to(asked).replace("\\n", "\n") for asked in endpoint.asked]


def outside_blocks(prompt: str) -> str:
    left = re.sub(r"<<TEXT (\d+) (\w+)[^>]*>>.*?<<END TEXT \1 \2>>", "", prompt, flags=re.DOTALL)
    return re.sub(r"<<QUESTION (\w+)>>.*?<<END QUESTION \1>>", "", left, flags=re.DOTALL)


def blocks(prompt: str) -> list[tuple[int, str]]:
    found = re.findall(r"<<TEXT (\d+) (\w+)[^>]*>>(.*?)<<END TEXT \1 \2>>", prompt, flags=re.DOTALL)
    return [(int(number), held) for number, _, held in found]


CLASSIFYING, PLANNING = "You sort a user's documents", "You plan how a question"
READING, COMPOSING, GROUPING = "You fill cells of a table", "You answer a question from passages", "You compare values"
CONCLUDING, TRANSLATING = "You answer a question from tables", "You translate lines"


def plan(question: str, **values: Any) -> dict[str, Any]:
    empty: dict[str, Any] = {"say": "", "path": "", "queries": [], "of": [], "columns": [], "conditions": []}
    empty |= {
        "aggregate": "",
        "aggregate_column": "",
        "group_by": "",
        "period": "",
        "order_by": "",
        "descending": False,
    }
    return {
        "question": question,
        "language": "en",
        "action": "text",
        **empty,
        "limit": 0,
        "unit_column": "",
        "sentence": "",
        "sentence_one": "",
        "sentence_none": "",
        "compare": False,
        **values,
    }


def column(name: str, type: str, question: str) -> dict[str, str]:
    return {"name": name, "type": type, "question": question, "unit": ""}


def condition(name: str, operator: str, *values: str) -> dict[str, Any]:
    return {"column": name, "operator": operator, "values": list(values)}


def reader(
    plans: dict[str, dict[str, Any]], composed: Callable[[str], Any] = lambda prompt: nothing()
) -> Callable[[Asked], Sent]:
    """Plans and composes as told; classifies and reads receipts as one would."""

    def reply(asked: Asked) -> Sent:
        prompt = sent_to(asked).replace("\\n", "\n")
        if CLASSIFYING in prompt:
            kinds = [{"number": n, "kind": "receipt" if "RECEIPT" in text else "note"} for n, text in blocks(prompt)]
            return answer({"kinds": kinds})
        if PLANNING in prompt:
            asks = re.findall(r"<<QUESTION (\w+)>>(.*?)<<END QUESTION \1>>", prompt, flags=re.DOTALL)[-1][1].strip()
            return answer(plans.get(asks) or plan(asks, queries=[asks]))
        if READING in prompt:
            return answer(read_rows(prompt))
        if GROUPING in prompt:
            return answer({"groups": [{"name": name, "numbers": []} for name in names_asked(prompt)]})
        return answer(composed(prompt))

    return reply


def names_asked(prompt: str) -> list[str]:
    found = re.search(r"Names asked about: (.*)", prompt)
    return found[1].split(" · ") if found else []


def read_rows(prompt: str) -> dict[str, Any]:
    """The cells of each receipt, alone or several at once."""
    names = re.findall(r"^- ([^(\n]+) \(", prompt, flags=re.MULTILINE)
    rows = [cells_of(text, names) for _, text in blocks(prompt) if "Corner Garage" in text]
    return {f"row {n}": row for n, row in enumerate(rows, start=1)} if "=== ROW 1" in prompt else rows[0]


PATTERNS = {"Total": r"Total: EUR ([\d.]+)", "Date": r"Date: ([\d-]+)", "Item": r"1 x (.+?)   "}


def cells_of(text: str, names: list[str]) -> dict[str, Any]:
    cells: dict[str, Any] = {}
    for name in names:
        found = re.search(PATTERNS[name], text)
        value = f"{found[1]} EUR" if found and name == "Total" else found[1] if found else ""
        said = {
            "value": value,
            "basis": "stated",
            "quotes": [found[0].strip()] if found else [],
            "calculation": "",
            "alternatives": [],
        }
        cells[name] = [said] if found else []
    return cells


def nothing() -> dict[str, Any]:
    return {
        "statements": [],
        "answered": "no",
        "missing": "it is not told",
        "queries": [],
        "ask": "Which ship is meant?",
    }


def stating(statement: str, quote: str, calculation: str = "") -> Callable[[str], Any]:
    def composed(prompt: str) -> Any:
        held = [number for number, text in blocks(prompt) if quote in text and number]
        if not held:
            return nothing()
        quotes = [{"passage": held[0], "quote": quote}]
        said = [
            {
                "statement": statement,
                "quotes": quotes,
                "calculations": [calculation] if calculation else [],
                "contradiction": False,
            }
        ]
        return {"statements": said, "answered": "yes", "missing": "", "queries": [], "ask": ""}

    return composed


who_the_captain_was = stating("Ottoline Brask was the captain.", "Marigold was Ottoline Brask")
ITEM = column("Item", "text", "What was bought?")
TOTAL = column("Total", "money", "What is the total?")
DATE = column("Date", "date", "When was it paid?")
TIRES_PLAN = plan(
    "Which receipts are for tires?",
    action="table",
    of=["receipt"],
    columns=[ITEM, TOTAL],
    conditions=[condition("Item", "contains", "tire")],
)
SPENT = "What did we spend on tires in 2024?"
SPENT_PLAN = plan(
    SPENT,
    action="table",
    of=["receipt"],
    columns=[ITEM, TOTAL, DATE],
    conditions=[condition("Item", "contains", "tire"), condition("Date", "=", "2024")],
    aggregate="sum",
    aggregate_column="Total",
)


def dump(library: Library) -> str:
    """All text that the database holds."""
    with sqlite3.connect(Path(library.settings.home) / "tablewright.db") as connection:
        text = "\n".join(connection.iterdump())
    connection.close()
    return text


def answers_kept(library: Library) -> str:
    """What the cache of answers holds."""
    with sqlite3.connect(Path(library.settings.home) / "tablewright.db") as connection:
        values = [value for (value,) in connection.execute("SELECT value FROM cache")]
    connection.close()
    return "\n".join(zlib.decompress(value).decode() for value in values)
