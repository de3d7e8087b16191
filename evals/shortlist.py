"""The adviser on a fictional shop world: dialogues played, and what they come to compared with the truth.

    python evals/shortlist.py DATA [--dialogue ID ...] [--model MODEL] [--base-url URL] [--products N]

DATA is a folder with `dialogues.jsonl` ({"id", "turns": [{"say", "expect"}]}) and `truth.json`; its web must be served,
with TABLEWRIGHT_SEARCH and TABLEWRIGHT_FETCH_ALLOW set. Code counts what can be counted: the first five (products that
break a requirement, products that are none), candidates that are no such product, official pages, and cells beside the
truth. Whether a turn was understood is for a person to read: the transcript, in evals/out/shortlist-ID-MODEL.json, has
each reply beside what was expected of it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from models import add_model_options, column, model_settings
from tablewright.domain.model import Cell, Money, Row, Table
from tablewright.domain.run import Usage, measure_usage
from tablewright.domain.shortlist import BUTTONS, PAGE_COLUMN, PRODUCT_COLUMN, ChatReply
from tablewright.domain.text import cell_text, to_json_document
from tablewright.operations.shortlist import TakeTurn, take_turn
from tablewright.services import Services
from tablewright.settings import Settings
from tablewright.values.comparable_value import parse_comparable
from tablewright.workflows.shortlist.wording import find_button

OUT = Path(__file__).resolve().parent / "out"
NONE = ("", "0", "none", "no")
# The part by which a number may differ: 1 lb 3 oz is 0.54 kg.
CLOSE = 0.02


@dataclass
class Tally:
    """What code can count of the dialogues."""

    turns: int = 0
    pressed_in_vain: int = 0
    candidates: int = 0
    no_products: list[str] = field(default_factory=list)
    pages: Counter[str] = field(default_factory=Counter)
    broken: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    cells: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--dialogue", action="append", default=[], help="only these; without it all")
    parser.add_argument("--products", default="30")
    add_model_options(parser)
    args = parser.parse_args()
    if not (args.data / "dialogues.jsonl").is_file() or "TABLEWRIGHT_SEARCH" not in os.environ:
        print(__doc__, file=sys.stderr)
        return 2
    truth = json.loads((args.data / "truth.json").read_text(encoding="utf-8"))
    lines = (args.data / "dialogues.jsonl").read_text(encoding="utf-8").splitlines()
    tally, usage = Tally(), Usage()
    for dialogue in map(json.loads, lines):
        if not args.dialogue or dialogue["id"] in args.dialogue:
            usage += asyncio.run(play(dialogue, truth, tally, args))
    report(tally, usage)
    return 0


async def play(dialogue: dict[str, Any], truth: dict[str, Any], tally: Tally, args: argparse.Namespace) -> Usage:
    turns: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as home, measure_usage() as meter:
        settings = Settings(
            home=home,
            search=os.environ["TABLEWRIGHT_SEARCH"],
            fetch_allow=os.environ.get("TABLEWRIGHT_FETCH_ALLOW", ""),
            fetch_delay="0",
            shortlist_products=args.products,
            shortlist_seconds="3600",
            **model_settings(args),
        )
        async with Services.open(settings) as services:
            state = await services.store.shortlists.start()
            for turn in dialogue["turns"]:
                message = turn["say"].strip("[]")
                if message in BUTTONS and message not in map(find_button, state.buttons):
                    tally.pressed_in_vain += 1
                    turns.append({"say": turn["say"], "skipped": "the button is not there"})
                    continue
                turn = TakeTurn(shortlist=state.id, message=message)
                taken = await take_turn(services, turn, exports=Path(home))
                state, reply = taken.shortlist, taken.reply
                tally.turns += 1
                compare_top_five(dialogue["id"], reply, turn["expect"].get("products", []), tally)
                turns.append({"say": turn["say"], "expect": turn["expect"], "reply": to_json_document(reply)})
                print(f"{dialogue['id']} › {turn['say']}\n{reply.text}\n", flush=True)
            if state.table_id:
                compare_table(dialogue["category"], await services.load(state.table_id), truth, tally)
    usage = meter.usage
    OUT.mkdir(exist_ok=True)
    kept = {"id": dialogue["id"], "turns": turns, "state": to_json_document(state), "usage": to_json_document(usage)}
    path = OUT / f"shortlist-{dialogue['id']}-{column(args)}.json"
    path.write_text(json.dumps(kept, ensure_ascii=False, indent=1), encoding="utf-8")
    return usage


# ── what code can compare ────────────────────────────────────────────────────────────────────────────────────────────


def compare_top_five(id: str, reply: ChatReply, expected: list[dict[str, str]], tally: Tally) -> None:
    if not expected or not reply.cards:
        return
    fate = {each["name"].casefold(): each for each in expected}
    names = [card.name.casefold() for card in reply.cards]
    for name in names:
        each = fate.get(name)
        if each is None or each["top_five"] == "must not":
            tally.broken.append(f"{id}: {name} ({each['why'] if each else 'no product of the category'})")
    wanted = [each["name"] for each in expected if each["top_five"] == "must"]
    tally.missing += [f"{id}: {name}" for name in wanted if name.casefold() not in names]


def compare_table(category: str, table: Table, truth: dict[str, Any], tally: Tally) -> None:
    products = {each["name"].casefold(): each for each in truth[category]}
    fields = truth["fields"][category]
    for row in table.rows:
        tally.candidates += 1
        name = cell_text(row.cell(PRODUCT_COLUMN))
        product = products.get(name.casefold())
        if product is None:
            tally.no_products.append(name)
            continue
        page = cell_text(row.cell(PAGE_COLUMN))
        there = page.replace(f":{port()}", "").rstrip("/")
        tally.pages["right" if there == product["official_url"] else "wrong" if page else "empty"] += 1
        compare_row(row, table, product, fields, tally)


def compare_row(row: Row, table: Table, product: dict[str, Any], fields: dict[str, Any], tally: Tally) -> None:
    """The columns whose name is one that the truth knows."""
    called = {name.casefold(): key for key, each in fields.items() for name in (key, *each["called"])}
    for column_ in table.fields:
        key = called.get(column_.name.casefold())
        if key is None:
            continue
        cell, expected = row.cell(column_.name), product["fields"].get(key)
        if cell.value is None:
            verdict = "empty" if expected is not None else "rightly empty"
        elif expected is None:
            verdict = "absent filled"
        else:
            is_right = same(cell, column_.unit, expected, fields[key].get("unit", ""), product)
            verdict = "right" if is_right else "wrong"
        tally.cells[verdict] += 1
        if verdict in ("wrong", "absent filled"):
            tally.wrong.append(f"{product['name']}, {column_.name}: {cell_text(cell)}; true: {expected}")


def same(cell: Cell, unit: str, expected: Any, true_unit: str, product: dict[str, Any]) -> bool:
    if isinstance(cell.value, Money):
        prices = [expected, *(offer["price"] for offer in product.get("offers", []))]
        return any((each["amount"], each["currency"]) == (cell.value.amount, cell.value.currency) for each in prices)
    if isinstance(cell.value, bool) and not isinstance(expected, bool):
        return cell.value == (str(expected).casefold() not in NONE)  # a size, or a kind, of what is there
    if isinstance(expected, bool):
        return bool(cell.value) == expected
    if isinstance(expected, int | float) and isinstance(cell.value, int | float):
        ours, theirs = parse_comparable(f"{cell.value} {unit}"), parse_comparable(f"{expected} {true_unit}")
        one, other = (ours.si, theirs.si) if ours.si is not None and theirs.si is not None else (cell.value, expected)
        return one is not None and other is not None and abs(one - other) <= CLOSE * abs(other)
    said = cell_text(cell).casefold().replace("–", "-")
    return any(str(each).casefold() in said for each in (expected if isinstance(expected, list) else [expected]))


def port() -> str:
    return os.environ["TABLEWRIGHT_SEARCH"].rsplit(":", 1)[-1].strip("/")


def report(tally: Tally, usage: Usage) -> None:
    print(f"turns {tally.turns}, buttons that were not there {tally.pressed_in_vain}")
    print(f"candidates {tally.candidates}, no such product {len(tally.no_products)}: {', '.join(tally.no_products)}")
    print(f"official pages {dict(tally.pages)}")
    print(f"first five: {len(tally.broken)} break a requirement {tally.broken}; missing {tally.missing}")
    print(f"cells {dict(tally.cells)}")
    for line in tally.wrong:
        print(f"  {line}")
    print(f"calls {usage.llm_calls}, tokens {usage.input_tokens:,} in, {usage.output_tokens:,} out")


if __name__ == "__main__":
    sys.exit(main())
