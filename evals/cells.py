"""Cells beside their truth, with a model or without: what is right, what is refused and why, and what a cell takes.

    python evals/cells.py [--part tablefill|reworded|sample|companies] [--rows N|all] [--model MODEL] [--base-url URL]
        [--data DIR] [--packweb PATH] [--strategy NAME] [--tables N] [--seed N]

    tablefill   60 rows of the pack: 50 with an answer, 10 without
    reworded    30 rows of it (25 and 5), the column asked in other words
    sample      12 companies × 6 columns of the sample web
    companies   10 companies × 2 columns of the pack

Each part runs through `enrich`, over a web on loopback, in a new store: every call counts. Rows are drawn at random,
seeded, and the web has the same address every time, so an endpoint that keeps its answers is asked little twice (rows
that share a call are those that arrive together; with --concurrency 1 every row is asked alone, and nothing is asked
twice). The result is written to evals/out/cells-PART-MODEL.json. Exits 2 where the data is missing.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import os
import random
import sys
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from importlib.resources import files
from pathlib import Path
from typing import Any

from msgspec import convert

from models import add_model_options, column, model_settings
from tablewright.domain.model import Field
from tablewright.domain.proposal import ProposedCell
from tablewright.domain.run import Usage
from tablewright.domain.text import to_json_document
from tablewright.sample.site import read_topic
from tablewright.sample.world import RegisterEntry
from tablewright.services import Services
from tablewright.settings import Settings
from web import ROOT, Case, companies, judge, planned, records, tablefill, write
from webs import served

OUT = ROOT / "evals" / "out"
ROWS = {"tablefill": 60, "reworded": 30, "sample": 12, "companies": 10}
# Of so many rows of a pack, one has no answer on any page.
ABSENT = 6
# Results name the web's address, and so do prompts: it must not change from run to run.
PORT = 8931


# ── the tables ───────────────────────────────────────────────────────────────────────────────────────────────────────


def reworded(path: Path) -> Iterator[Case]:
    asked = {entry["id"]: entry for entry in records(path / "tablefill_reworded.jsonl")}
    for case in tablefill(path):
        other = asked[case.name]
        (field,) = case.fields
        case.gold = [{other["header"]: gold[field.name]} for gold in case.gold]
        case.fields = (Field(name=other["header"], question=other["question"]),)
        yield case


def sample_companies(path: Path) -> Iterator[Case]:
    """The companies that come with Tablewright; what is true of them is the sample world's own word."""
    fields = (
        Field(name="Founded", type="number", question="What year was {Company} founded?"),
        Field(name="Headquarters", question="In which town is {Company} headquartered?"),
        Field(name="CEO", question="Who runs {Company}?"),
        Field(name="Employees", type="number", question="How many people work for {Company}?"),
        Field(name="Website", type="url", question="What is the website of {Company}?"),
        Field(name="Phone", question="What is the phone number of {Company}?"),
    )
    folder = files("tablewright.sample")
    truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))["companies"]
    facts = {(company["name"], company["country"]): company["fields"] for company in truth}
    register = convert(read_topic("register")["entry"], list[RegisterEntry])
    case = Case(name="sample", key="Company", fields=fields, rows=[])
    for row in csv.DictReader((folder / "companies.csv").read_text(encoding="utf-8").splitlines()):
        name, country = row["Company"], row["Country"]
        known = dict(facts[name, country])
        listed = (entry for entry in register if entry.name.startswith(name) and entry.country == country)
        known["phone"] = next((entry.phone for entry in listed), None)
        case.rows.append(row)
        case.gold.append({field.name: golds(known[field.name.lower()]) for field in fields})
    yield case


def golds(value: object) -> list[str] | None:
    """A web address is the same with and without the lock."""
    return None if value is None else [str(value), str(value).replace("http://", "https://")]


PARTS = {"tablefill": tablefill, "reworded": reworded, "sample": sample_companies, "companies": companies}
PACKS = {
    "tablefill": ("tablefill_hybridqa.jsonl", PORT),
    "reworded": ("tablefill_hybridqa.jsonl", PORT),
    "companies": ("companies_sp500_fill.jsonl", PORT + 1),
}


def drawn(cases: list[Case], rows: int, seed: int) -> list[Case]:
    """So many rows, of which one in `ABSENT` has no answer, as far as there are such."""
    places = [(number, place) for number, case in enumerate(cases) for place in range(len(case.rows))]
    random.Random(seed).shuffle(places)
    absent = [at for at in places if all(gold is None for gold in cases[at[0]].gold[at[1]].values())]
    none = absent[: rows // ABSENT] if len(cases) > 1 else []
    some = [at for at in places if at not in absent] if len(cases) > 1 else places
    chosen = sorted(none + some[: rows - len(none)])
    kept = []
    for number, case in enumerate(cases):
        mine = [place for other, place in chosen if other == number]
        rows_of, gold_of = [case.rows[place] for place in mine], [case.gold[place] for place in mine]
        if mine:
            kept.append(Case(name=case.name, key=case.key, fields=case.fields, rows=rows_of, gold=gold_of))
    return kept


# ── measuring ────────────────────────────────────────────────────────────────────────────────────────────────────────


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    default = os.environ.get("TABLEWRIGHT_EVAL_DATA") or ROOT / "evals" / "data"
    parser.add_argument("--data", type=Path, default=Path(default), help="folder with the packs")
    parser.add_argument("--packweb", type=Path, help="the program that serves the pages; else ../tools/packweb")
    parser.add_argument("--part", choices=list(PARTS), action="append", help="this part; can be given again")
    parser.add_argument("--rows", default="", help="so many instead of the usual number, or all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--strategy", default="pipeline")
    parser.add_argument("--tables", type=int, default=4, help="tables filled at once")
    parser.add_argument("--concurrency", type=int, help="rows of a table at once, instead of the strategy's own")
    add_model_options(parser)
    args = parser.parse_args()
    args.packweb = args.packweb or args.data.parent / "tools" / "packweb"
    results = [measured(part, args) for part in args.part or PARTS]
    print_table(results)
    return 0


def measured(part: str, args: argparse.Namespace) -> dict[str, Any]:
    try:
        cases = list(PARTS[part](args.data))
    except OSError as error:
        print(f"No data: {error}. Give its folder with --data or TABLEWRIGHT_EVAL_DATA.", file=sys.stderr)
        sys.exit(2)
    if args.rows != "all":
        cases = drawn(cases, int(args.rows or ROWS[part]), args.seed)
    pack, port = PACKS.get(part, ("", 0))
    with served(args.packweb, args.data / pack, port=port) if pack else nullcontext("") as address:
        cells, usage = asyncio.run(fill(cases, address, args))
    result = {
        "part": part,
        "model": column(args),
        "strategy": args.strategy,
        "seed": args.seed,
        "figures": figures(cells, usage),
        "usage": to_json_document(usage),
        "wrong": [cell for cell in cells if cell["verdict"] in ("wrong", "near", "filled")],
        "empty": [cell for cell in cells if cell["verdict"] == "empty"],
        "refused": refused(cells),
        "cells": cells,
    }
    OUT.mkdir(exist_ok=True)
    file = OUT / f"cells-{part}-{column(args)}.json"
    file.write_text(json.dumps(result, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print_part(result, file)
    return result


async def fill(cases: list[Case], address: str, args: argparse.Namespace) -> tuple[list[dict[str, Any]], Usage]:
    with tempfile.TemporaryDirectory(prefix="tablewright-eval-") as folder:
        settings = Settings(
            home=folder,
            search=f"searxng:http://{address}" if address else "sample",
            fetch_allow=address,
            **model_settings(args),
        )
        at_once = asyncio.Semaphore(args.tables)
        async with Services.open(settings) as services:

            async def table(number: int, case: Case) -> tuple[list[dict[str, Any]], Usage]:
                async with at_once:
                    write(path := Path(folder) / f"{number}.csv", case)
                    run = await planned(services, path, case, case.fields, args)
                    filled = await run.run()
                    operations = await services.store.proposals.operations(filled.proposal_id)
                    print(f"{case.name}: {filled.usage.llm_calls} calls", file=sys.stderr, flush=True)
                    return [seen(case, operation) for operation in operations], filled.usage

            tables = await asyncio.gather(*(table(number, case) for number, case in enumerate(cases)))
    return [cell for cells, _ in tables for cell in cells], sum((usage for _, usage in tables), Usage())


def seen(case: Case, operation: ProposedCell) -> dict[str, Any]:
    cell, place = operation.cell, operation.row_id - 1
    gold = case.gold[place]
    return {
        "table": case.name,
        "row": case.rows[place][case.key],
        "field": operation.field,
        "gold": gold.get(operation.field),
        "value": to_json_document(cell.value),
        "verdict": judge(cell.value, gold[operation.field]) if operation.field in gold else "not scored",
        "confidence": cell.confidence,
        "label": cell.confidence_label,
        "basis": cell.shown_basis,
        "reason": cell.reason,
        "error": cell.error,
        "quotes": [evidence.quote for evidence in cell.evidence],
        "left_out": [step.detail for step in operation.steps if step.data.get("left_out")],
        "degraded": [step.detail for step in operation.steps if step.data.get("degraded")],
    }


def figures(cells: list[dict[str, Any]], usage: Usage) -> dict[str, Any]:
    verdicts = [cell["verdict"] for cell in cells]
    right, near = verdicts.count("right"), verdicts.count("near")
    value_cells = right + near + verdicts.count("wrong") + verdicts.count("empty")
    filled, absent = verdicts.count("filled"), verdicts.count("filled") + verdicts.count("rightly empty")
    given = right + near + verdicts.count("wrong") + filled
    high = [cell["verdict"] in ("right", "near") for cell in cells if is_high(cell)]
    return {
        "cells": len(cells),
        "value cells": value_cells,
        "right": right,
        "right or near": right + near,
        "share right": share(right, value_cells),
        "share right or near": share(right + near, value_cells),
        "precision": share(right, given),
        "precision with near": share(right + near, given),
        "absent": absent,
        "absent filled": filled,
        "high": len(high),
        "high right or near": share(sum(high), len(high)),
        "calls": usage.llm_calls,
        "calls a cell": share(usage.llm_calls, len(cells)),
        "tokens in a cell": round(usage.input_tokens / max(1, len(cells))),
        "tokens out": usage.output_tokens,
        "tokens out a cell": round(usage.output_tokens / max(1, len(cells))),
        "refused": len(refused(cells)),
    }


def is_high(cell: dict[str, Any]) -> bool:
    return cell["label"] == "high" and cell["value"] is not None and cell["verdict"] != "not scored"


def refused(cells: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a model said and code did not accept, or had to do without: once for a row, with its cause."""
    causes: dict[tuple[str, str, str], dict[str, Any]] = {}
    for cell in cells:
        for cause in (*cell["left_out"], *cell["degraded"]):
            told = causes.setdefault(
                (cell["table"], cell["row"], cause), {"row": cell["row"], "cause": cause, "cells": []}
            )
            told["cells"].append({name: cell[name] for name in ("field", "gold", "value", "verdict")})
    return list(causes.values())


def share(part: int, whole: int) -> float:
    return round(part / whole, 3) if whole else 0.0


def print_part(result: dict[str, Any], file: Path) -> None:
    for cell in (*result["wrong"], *result["empty"]):
        why = cell["error"] or cell["reason"] or next(iter(cell["quotes"]), "")[:120]
        print(cell["verdict"], cell["row"], cell["field"], cell["gold"], cell["value"], why, sep=" | ")
    for each in result["refused"]:
        print("refused", each["row"], each["cause"], sep=" | ")
    print(f"{result['part']}: {result['figures']}\nWritten: {file}\n", flush=True)


SHOWN = ("value cells", "right", "right or near", "absent", "absent filled", "cells", "calls")
SHOWN += ("calls a cell", "tokens in a cell", "tokens out", "high", "high right or near", "refused")


def print_table(results: list[dict[str, Any]]) -> None:
    print(f"| {results[0]['model']} | {' | '.join(SHOWN)} |\n|---|{'---:|' * len(SHOWN)}")
    for result in results:
        print(f"| {result['part']} | {' | '.join(str(result['figures'][name]) for name in SHOWN)} |")


if __name__ == "__main__":
    sys.exit(main())
