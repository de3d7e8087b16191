"""What the pipeline saves and what a second look brings, on three kinds of tables.

    python evals/pipeline.py companies|tablefill|kettles [--web URL] [--data DIR] [--model MODEL] [--base-url URL]
        [--rows N] [--only a,b,c,d] [--show KINDS] [--record]

(a) one call per cell: each column in a run of its own, each row alone; (b) the pipeline: all columns of a row, and
short rows together, in one call, one attempt; (c) with up to three attempts; (d) as (c), with the built-in reader
first. The web must serve the pages of the same pack; the kettles are those of the sample web. In tablefill only tables
count in which at least three columns can be read from the pages: all of those are asked. Exits 1 where a recorded
figure fell.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
from collections import Counter
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from baseline import settle
from models import column
from tablewright.domain.model import Field
from web import Case, cases_of, companies, main_arguments, records, run, words

if TYPE_CHECKING:
    from tablewright.domain.run import Estimate

WAYS: dict[str, dict[str, Any]] = {
    "a": {"field_by_field": True, "params": {"rows_a_call": "1"}, "attempts": "1"},
    "b": {"attempts": "1"},
    "c": {"attempts": "3"},
    "d": {"attempts": "3", "cascade": "yes"},
}
COLUMNS = [
    *"right near wrong empty filled calls calls/cell in/cell out/cell".split(),
    "estimated calls / in / out",
    *"searches pages seconds".split(),
]
# Columns that a table must have to be asked for, at least.
MASKED = 3
# The share of its rows whose value must stand in the row's page for a column to be asked for.
READABLE = 0.5
TOLERANCE = 0.03

KETTLES = {
    "capacity_l": Field(name="Capacity", type="number", unit="l", question="What is the capacity of the {Kettle}?"),
    "power_w": Field(name="Power", type="number", unit="W", question="What is the power of the {Kettle}?"),
    "weight_kg": Field(name="Weight", type="number", unit="kg", question="How much does the {Kettle} weigh?"),
    "variable_temperature": Field(
        name="Variable temperature", type="boolean", question="Does the {Kettle} have variable temperature?"
    ),
    "price": Field(name="Price", type="money", question="What does the {Kettle} cost?"),
    "warranty_years": Field(
        name="Warranty", type="number", unit="years", question="How long is the warranty of the {Kettle}?"
    ),
}


def kettles(path: Path) -> Iterator[Case]:
    truth = json.loads(files("tablewright.sample").joinpath("truth.json").read_text(encoding="utf-8"))
    case = Case(name="kettles", key="Kettle", fields=tuple(KETTLES.values()), rows=[])
    for kettle in truth["kettles"]:
        case.rows.append({"Kettle": kettle["name"], "Maker": kettle["maker"]})
        case.gold.append({field.name: told(kettle["fields"].get(name)) for name, field in KETTLES.items()})
    yield case


def told(value: Any) -> list[str] | None:
    if isinstance(value, dict):
        return [f"{value['amount']:g} {value['currency']}", f"{value['amount']:.2f} {value['currency']}"]
    return None if value is None else [str(value)]


def masked(path: Path) -> Iterator[Case]:
    """The tables, every column masked that can be read from the pages; a value that its page lacks is not scored."""
    for entry in records(path / "tablefill_hybridqa.jsonl"):
        key, texts = entry["key_column"], {page["url"]: words(page["text"]) for page in entry["pages"]}
        names = [
            name
            for name in entry["columns"]
            if name == entry["target_column"] or (name != key and is_readable(entry["rows"], name, texts))
        ]
        if len(names) < MASKED:
            continue
        case = Case(name=entry["id"], key=key, fields=tuple(Field(name=name) for name in names), rows=[])
        for row in entry["rows"]:
            case.rows.append({name: text or "" for name, text in row["cells"].items() if name not in names})
            gold = {name: [text] for name, text in row["cells"].items() if name in names and stands(row, name, texts)}
            known = [row["gold"], *row["gold_aliases"]] if row["expect"] == "value" else None
            case.gold.append({**gold, entry["target_column"]: known})
        yield case


def is_readable(rows: list[dict[str, Any]], name: str, texts: dict[str, str]) -> bool:
    sourced = [row for row in rows if row.get("evidence")]
    return bool(sourced) and sum(stands(row, name, texts) for row in sourced) >= READABLE * len(sourced)


def stands(row: dict[str, Any], name: str, texts: dict[str, str]) -> bool:
    """Whether the row's own page has the value; single letters and digits stand everywhere."""
    value = words(row["cells"].get(name) or "")
    text = texts.get((row.get("evidence") or {}).get("url", ""), "")
    return len(value) > 2 and f" {value} " in f" {text} "


PACKS = {"companies": companies, "tablefill": masked, "kettles": kettles}


def main() -> int:
    parser = main_arguments(__doc__ or "")
    parser.add_argument("pack", choices=sorted(PACKS))
    parser.add_argument("--only", default=",".join(WAYS))
    parser.add_argument("--record", action="store_true")
    parser.set_defaults(strategy="pipeline")
    args = parser.parse_args()
    cases = cases_of(args, PACKS)
    print(f"| {args.pack}, {column(args)} | {' | '.join(COLUMNS)} |")
    print(f"|---|{'---:|' * len(COLUMNS)}", flush=True)
    figures: dict[str, float] = {}
    for way in args.only.split(","):
        figures |= line(way, args, cases)
    return settle(
        "pipeline",
        {f"{args.pack} {column(args)} {args.rows or 'all'}": figures},
        record=args.record,
        tolerance=TOLERANCE,
    )


def line(way: str, args: argparse.Namespace, cases: list[Case]) -> dict[str, float]:
    started = time.monotonic()
    estimates: list[Estimate] = []
    counts, _, usage = asyncio.run(run(cases, args, estimates=estimates, **WAYS[way]))
    total = Counter[str]()
    for (_, verdict), count in counts.items():
        total[verdict] += count
    cells = sum(len(case.fields) * len(case.rows) for case in cases)
    wanted = sum(total[verdict] for verdict in ("right", "near", "wrong", "empty"))
    told = [total[verdict] for verdict in ("right", "near", "wrong", "empty")]
    shown = [*told, f"{total['filled']} of {total['filled'] + total['rightly empty']}", usage.llm_calls]
    shown += [
        f"{usage.llm_calls / cells:.2f}",
        f"{usage.input_tokens / cells:.0f}",
        f"{usage.output_tokens / cells:.0f}",
    ]
    shown += [" / ".join(expected(estimates, what) for what in ("calls", "input_tokens", "output_tokens"))]
    shown += [usage.searches, usage.fetches, f"{time.monotonic() - started:.0f}"]
    print(f"| {way} | {' | '.join(map(str, shown))} |", flush=True)
    right = (total["right"] + total["near"]) / max(1, wanted)
    return {f"{way} right or near": round(right, 4), f"{way} not wrong": round(1 - total["wrong"] / max(1, wanted), 4)}


def expected(estimates: list[Estimate], what: str) -> str:
    """What the runs said beforehand that they would take."""
    return f"{sum(getattr(estimate, what).likely for estimate in estimates):.0f}"


if __name__ == "__main__":
    sys.exit(main())
