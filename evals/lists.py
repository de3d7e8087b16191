"""Finding whole lists: are all rows found, only those, and are their cells right?

    python evals/lists.py [--data DIR] [--packweb PATH] [--only PART OF AN ID] [--lists N [--seed N]] [--no-fill]
        [--show] [--model MODEL] [--base-url URL]

Each list of the pack is asked for by its title, the section that is meant and its columns, in a new store, over a web
on loopback that holds the list's own page, pages of its members, and pages of other things. A row is right where its
key column is; an item is right where the row is and the cell says the same. Without a model it measures how far tables
go whose headers are named as the columns. Exits 2 where the data is missing.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from models import add_model_options, model_settings
from tablewright.domain.listing import FoundRows
from tablewright.domain.model import Row
from tablewright.domain.rowkey import row_key
from tablewright.domain.text import cell_text
from tablewright.operations.find import FindMore, PlanFind, find_rows, plan_find
from tablewright.services import Services
from tablewright.settings import Settings
from webs import served

ROOT = Path(__file__).resolve().parent.parent
DATA = "wide_lists.jsonl.gz"
ROWS = 200


@dataclass(kw_only=True)
class Score:
    gold: int = 0
    found: int = 0
    matched: int = 0
    items: int = 0
    right: int = 0

    def __add__(self, other: Score) -> Score:
        return Score(**{name: getattr(self, name) + getattr(other, name) for name in vars(self)})

    def __str__(self) -> str:
        recall, precision = self.matched / max(1, self.gold), self.matched / max(1, self.found)
        items = self.right / max(1, self.items)
        return (
            f"recall {recall:.3f} ({self.matched} of {self.gold}), precision {precision:.3f} ({self.found} found), "
            f"items {items:.3f} ({self.right} of {self.items})"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    default = os.environ.get("TABLEWRIGHT_EVAL_DATA") or ROOT / "evals" / "data"
    parser.add_argument("--data", type=Path, default=Path(default), help=f"folder with {DATA}")
    parser.add_argument("--packweb", type=Path, help="the program that serves the pages; else ../tools/packweb")
    parser.add_argument("--only", default="", help="only lists whose id has this in it")
    parser.add_argument("--lists", type=int, help="so many, the first ones")
    parser.add_argument("--seed", type=int, help="draw them at random instead")
    parser.add_argument("--no-fill", action="store_true", help="do not look for cells that the lists leave empty")
    parser.add_argument("--port", type=int, default=0, help="of the web, so that recorded answers fit again")
    parser.add_argument("--show", action="store_true", help="print missed and wrong rows")
    add_model_options(parser)
    args = parser.parse_args()
    packweb = args.packweb or args.data.parent / "tools" / "packweb"
    for needed in (args.data / DATA, packweb):
        if not needed.is_file():
            print(f"{needed} is missing. Say where it is with --data and --packweb.", file=sys.stderr)
            return 2
    lists = [each for each in lists_of(args.data / DATA) if args.only in each["id"]]
    if args.lists:
        lists = lists[: args.lists] if args.seed is None else random.Random(args.seed).sample(lists, args.lists)
    total, calls, tokens = Score(), 0, 0
    with served(packweb, args.data / DATA, port=args.port) as address:
        for each in lists:
            started = time.monotonic()
            found, rows = asyncio.run(searched(each, address, args))
            score, wrong = scored(each, rows)
            total += score
            calls, tokens = calls + found.usage.llm_calls, tokens + found.usage.input_tokens
            took = f"{found.usage.llm_calls} calls, {found.usage.input_tokens:,} tokens in"
            print(f"{each['title']}: {score}; {took}, {time.monotonic() - started:.0f} s", flush=True)
            print(f"  {found.completeness}")
            for line in wrong if args.show else ():
                print(f"  {line}")
    print(f"{len(lists)} lists: {total}; {calls} calls, {tokens:,} tokens in")
    return 0


def lists_of(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt") as file:
        for line in file:
            yield json.loads(line)


def question_of(each: dict[str, Any]) -> str:
    return f"{each['title']}: {each['section']}" if each["section"] else each["title"]


async def searched(each: dict[str, Any], address: str, args: argparse.Namespace) -> tuple[FoundRows, list[Row]]:
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            home=folder,
            search=f"searxng:http://{address}",
            fetch_allow=address,
            fetch_delay="0",
            attempts="1",
            **model_settings(args),
        )
        async with Services.open(settings) as app:
            request = PlanFind(question=question_of(each), fields=(each["key"], *each["columns"]), rows=ROWS)
            planned = await plan_find(app, request)
            found = await find_rows(app, FindMore(table=planned.table_id, fill=not args.no_fill))
            return found, list((await app.load(planned.table_id)).rows)


def scored(each: dict[str, Any], rows: list[Row]) -> tuple[Score, list[str]]:
    """Each found row counts for one row of gold, the one whose cells it has most of."""
    key, columns = each["key"], each["columns"]
    left = list(rows)
    score = Score(gold=len(each["rows"]), found=len(rows))
    wrong = []
    for gold in each["rows"]:
        score.items += sum(bool(gold[name].strip()) for name in columns)
        same = [row for row in left if row_key(cell_text(row.cell(key))) == row_key(gold[key])]
        if not same:
            wrong.append(f"missed: {gold[key]}")
            continue
        best = max(same, key=lambda row: sum(equal(cell_text(row.cell(name)), gold[name]) for name in columns))
        left.remove(best)
        score.matched += 1
        for name in columns:
            said = cell_text(best.cell(name))
            if gold[name].strip() and equal(said, gold[name]):
                score.right += 1
            elif gold[name].strip():
                wrong.append(f"{gold[key]}, {name}: {said!r} instead of {gold[name]!r}")
    return score, wrong + [f"not in the list: {cell_text(row.cell(key))}" for row in left]


def equal(one: str, other: str) -> bool:
    return row_key(one) == row_key(other)


if __name__ == "__main__":
    sys.exit(main())
