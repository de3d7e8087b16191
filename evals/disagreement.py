"""Where sites really disagree, the cell must say so: both values, each with its source.

    python evals/disagreement.py nba|university --web URL [--data DIR] [--model MODEL] [--base-url URL]
        [--strategy NAME] [--thoroughness WORD] [--show KINDS] [--record]

The packs say what each site states for each attribute of an entity. `seen` is the share of the attributes on which the
sites differ whose cell holds at least two of the stated values, value and conflict together, each with its own source;
`no false alarm` the share of those on which all sites agree that have a value and show no other beside it; `answered`
the share of all attributes that have a value; `majority` the share of the values that are those of most sites.
Exits 1 where a figure is more than 0.03 under the recorded baseline, 2 where the data is missing.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import gzip
import json
import os
import re
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from baseline import settle
from models import add_model_options, column, model_settings
from tablewright.domain.fieldspec import parse_field
from tablewright.domain.files import FileOptions
from tablewright.domain.proposal import ProposedCell
from tablewright.domain.text import format_value
from tablewright.operations.files import import_table_file
from tablewright.operations.fill import FillOptions, plan_fill
from tablewright.services import Services
from tablewright.settings import Settings
from tablewright.values.measures import read_measures

ROOT = Path(__file__).resolve().parent.parent
TOLERANCE = 0.03

FIELDS = {
    "nba": {
        "height": "Height=How tall is {Name}?",
        "weight": "Weight=How much does {Name} weigh?",
        "team": "Team=Which team does {Name} play for?",
    },
    "university": {
        "phone": "Phone=What is the phone number of {Name}?",
        "type": "Type=Is {Name} public or private?",
        "website": "Website:url=What is the website of {Name}?",
    },
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("pack", choices=sorted(FIELDS))
    default = os.environ.get("TABLEWRIGHT_EVAL_DATA") or ROOT / "evals" / "data"
    parser.add_argument("--data", type=Path, default=Path(default))
    parser.add_argument("--web", required=True, help="the address of the web of the pack")
    add_model_options(parser)
    parser.add_argument("--strategy", default="research")
    parser.add_argument("--thoroughness", default="comprehensive")
    parser.add_argument("--show", default="", help="print the cells of these kinds: seen,unseen,agreed,alarm,empty")
    parser.add_argument("--record", action="store_true")
    args = parser.parse_args()
    try:
        with gzip.open(args.data / f"multisource_swde_{args.pack}.jsonl.gz", "rt", encoding="utf-8") as file:
            entities = [json.loads(line) for line in file]
    except OSError as error:
        print(f"No data: {error}. Give its folder with --data or TABLEWRIGHT_EVAL_DATA.", file=sys.stderr)
        return 2
    counts, right = asyncio.run(run(entities, args))
    differ, same = counts["seen"] + counts["unseen"], counts["agreed"] + counts["alarm"] + counts["empty"]
    figures = {
        "seen": round(counts["seen"] / max(1, differ), 4),
        "no false alarm": round(counts["agreed"] / max(1, same), 4),
        "answered": round(1 - counts["empty"] / max(1, counts.total()), 4),
        "majority": round(right["right"] / max(1, right.total()), 4),
    }
    print(dict(counts), dict(right))
    print(f"sites differ on {differ} attributes, the cell says so for {figures['seen']:.3f}")
    print(f"sites agree on {same}, a value and no other is shown for {figures['no false alarm']:.3f}")
    print(f"the value is that of most sites (ties left out) for {figures['majority']:.3f}")
    name = f"{args.pack} {column(args)} {args.strategy} {args.thoroughness}".strip()
    return settle("disagreement", {name: figures}, record=args.record, tolerance=TOLERANCE)


async def run(entities: list[dict[str, Any]], args: argparse.Namespace) -> tuple[Counter[str], Counter[str]]:
    counts: Counter[str] = Counter()
    right: Counter[str] = Counter()
    fields = {name: parse_field(text) for name, text in FIELDS[args.pack].items()}
    with tempfile.TemporaryDirectory(prefix="tablewright-eval-") as folder:
        path = Path(folder) / "entities.csv"
        with path.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file).writerows([["Name"], *([entity["entity"]] for entity in entities)])
        settings = Settings(
            home=folder,
            search=f"searxng:{args.web}",
            fetch_allow=urlsplit(args.web).netloc,
            **model_settings(args),
        )
        async with Services.open(settings) as services:
            imported = await import_table_file(services, path, FileOptions(key_field="Name", header=True))
            params = {"thoroughness": args.thoroughness} if args.strategy == "research" else {}
            run = await plan_fill(
                services, imported.table.id, list(fields.values()), args.strategy, how=FillOptions(params=params or {})
            )
            filled = await run.run()
            operations = await services.store.proposals.operations(filled.proposal_id)
    for operation in operations:
        gold_name = next(name for name, field in fields.items() if field.name == operation.field)
        gold = entities[operation.row_id - 1]["gold"].get(gold_name)
        if gold is None:
            continue
        kind = judge(operation, gold_name, gold)
        counts[kind] += 1
        if not gold["tie"] and operation.cell.value is not None:
            same = normal(gold_name, format_value(operation.cell.value)) == str(gold["majority"])
            right["right" if same else "wrong"] += 1
        if kind in args.show.split(","):
            stated = sorted({str(each["norm"]) for each in gold["per_source"].values()})
            others = [format_value(rival.value) for rival in operation.cell.conflict]
            told = (kind, entities[operation.row_id - 1]["entity"], gold_name, stated, operation.cell.value, others)
            print(*told, sep=" | ")
            if "steps" in args.show:
                print(*(f"      {step.detail}" for step in operation.steps), sep="\n")
    return counts, right


def judge(operation: ProposedCell, name: str, gold: dict[str, Any]) -> str:
    stated = {str(each["norm"]) for each in gold["per_source"].values()}
    cell = operation.cell
    if cell.value is None:
        return "unseen" if len(stated) > 1 else "empty"
    sides = [(cell.value, cell.evidence), *((rival.value, rival.evidence) for rival in cell.conflict)]
    told = {normal(name, format_value(value)) for value, evidence in sides if evidence}
    if len(stated) > 1:
        return "seen" if len(told & stated) > 1 else "unseen"
    return "alarm" if cell.conflict else "agreed"


def normal(name: str, text: str) -> str:
    """The value as the pack writes it: inches, pounds, the last word of a team, digits, a domain, public or private."""
    low = text.casefold().strip()
    if name == "height":
        feet = re.search(r"(\d)\s*(?:-|'|’|ft\.?|feet)\s*(\d{1,2})?", low)
        if feet:
            return str(int(feet[1]) * 12 + int(feet[2] or 0))
        measures = read_measures(text, "in")
        return str(round(measures[0].value)) if measures else low
    if name == "weight":
        number = re.search(r"\d+(?:\.\d+)?", low)
        return str(round(float(number[0]))) if number else low
    if name == "team":
        return low.split()[-1] if low.split() else low
    if name == "phone":
        digits = re.sub(r"\D", "", low)
        return digits[-10:]
    if name == "website":
        return re.sub(r"^(?:https?://)?(?:www\d*\.)?", "", low).split("/")[0]
    return "private" if "private" in low else "public" if "public" in low else low


if __name__ == "__main__":
    sys.exit(main())
