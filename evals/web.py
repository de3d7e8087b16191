"""The whole path on labelled tables: search, choose, open, read, check, over HTTP, against a SearXNG-shaped web.

    python evals/web.py companies|tablefill|reworded --web URL [--data DIR] [--model MODEL] [--base-url URL]
        [--strategy NAME] [--rows N] [--show KINDS] [--record]

The web must serve the pages of the same pack. `--rows N` takes N rows at random, seeded. Exits 1 where a figure has
fallen more than 0.03 under the recorded baseline, 2 where the data or the web is missing.
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
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from baseline import settle
from models import add_model_options, column, model_settings
from tablewright.domain.files import FileOptions
from tablewright.domain.model import Field
from tablewright.domain.proposal import ProposedCell
from tablewright.domain.rowkey import fold_text, split_folded_words
from tablewright.operations.files import import_table_file
from tablewright.operations.fill import FillOptions, plan_fill
from tablewright.services import Services
from tablewright.settings import Settings
from tablewright.values.dates import read_date

if TYPE_CHECKING:
    from tablewright.domain.run import Estimate
    from tablewright.engine.fill import FillRun

ROOT = Path(__file__).resolve().parent.parent
TOLERANCE = 0.03


@dataclass(kw_only=True)
class Case:
    """A table to fill: its rows, and for each row and field the values that count as right (none: must stay empty)."""

    name: str
    key: str
    fields: tuple[Field, ...]
    rows: list[dict[str, str]]
    gold: list[dict[str, list[str] | None]] = field(default_factory=list)


def companies(path: Path) -> Iterator[Case]:
    fields = (
        Field(name="Founded", type="number", question="What year was {Company} founded?"),
        Field(name="Headquarters city", question="In which city is {Company} headquartered?"),
    )
    case = Case(name="companies", key="Company", fields=fields, rows=[])
    for entry in records(path / "companies_sp500_fill.jsonl"):
        case.rows.append({"Company": entry["company"], "Symbol": entry["symbol"], "Sector": entry["sector"]})
        known = {"Founded": entry["gold"]["founded_year"], "Headquarters city": entry["gold"]["headquarters_city"]}
        case.gold.append({name: [str(value)] for name, value in known.items() if value is not None})
    yield case


def tablefill(path: Path, *, reworded: bool = False) -> Iterator[Case]:
    """`reworded`: the same columns, asked in other words."""
    asked = {entry["id"]: entry for entry in records(path / "tablefill_reworded.jsonl")} if reworded else {}
    for entry in records(path / "tablefill_hybridqa.jsonl"):
        target, key = entry["target_column"], entry["key_column"]
        field = Field(name=target)
        if reworded:
            other = asked[entry["id"]]
            field = Field(name=other["header"], question=other["question"])
        case = Case(name=entry["id"], key=key, fields=(field,), rows=[])
        for row in entry["rows"]:
            case.rows.append({name: text or "" for name, text in row["cells"].items() if name != target})
            case.gold.append({field.name: [row["gold"], *row["gold_aliases"]] if row["expect"] == "value" else None})
        yield case


PACKS = {"companies": companies, "tablefill": tablefill, "reworded": partial(tablefill, reworded=True)}


def main_arguments(described: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=described.split("\n", maxsplit=1)[0])
    default = os.environ.get("TABLEWRIGHT_EVAL_DATA") or ROOT / "evals" / "data"
    parser.add_argument("--data", type=Path, default=Path(default))
    parser.add_argument("--web", default="", help="the address of the web of the pack; without it, the sample web")
    add_model_options(parser)
    parser.add_argument("--concurrency", type=int, help="rows at once, instead of the strategy's own")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--show", default="", help="print the cells of these kinds: wrong,empty,near,filled")
    return parser


def cases_of(args: argparse.Namespace, packs: Mapping[str, Callable[[Path], Iterator[Case]]]) -> list[Case]:
    """Of the asked pack, or as many rows of it as were asked for; ends the program where the data is missing."""
    try:
        cases = list(packs[args.pack](args.data))
    except OSError as error:
        print(f"No data: {error}. Give its folder with --data or TABLEWRIGHT_EVAL_DATA.", file=sys.stderr)
        sys.exit(2)
    return sample(cases, args.rows) if args.rows else cases


def main() -> int:
    parser = main_arguments(__doc__ or "")
    parser.add_argument("pack", choices=sorted(PACKS))
    parser.add_argument("--strategy", default="pipeline", help="pipeline, lookup, research")
    parser.add_argument("--thoroughness", default="", help="of research: exploratory, comprehensive")
    parser.add_argument("--record", action="store_true")
    args = parser.parse_args()
    cases = cases_of(args, PACKS)
    started = time.monotonic()
    counts, sureness, usage = asyncio.run(run(cases, args, params=params_of(args)))
    if not usage.fetches:
        print("No page came, so nothing was measured. Is the web of the pack running?", file=sys.stderr)
        return 2
    calibration(sureness)
    figures = report(counts)
    print(f"{usage}, {time.monotonic() - started:.0f} s")
    return settle("web", {name_of(args): figures}, record=args.record, tolerance=TOLERANCE)


def params_of(args: argparse.Namespace) -> dict[str, str]:
    return {"thoroughness": args.thoroughness} if args.thoroughness else {}


def name_of(args: argparse.Namespace) -> str:
    """Under which the figures are recorded: what was run, and with which kind of model."""
    how = [args.strategy, args.thoroughness] if args.strategy != "pipeline" else []
    return " ".join([args.pack, column(args), *(word for word in how if word)])


def sample(cases: list[Case], rows: int) -> list[Case]:
    places = [(case, place) for case in cases for place in range(len(case.rows))]
    chosen = random.Random(1).sample(places, min(rows, len(places)))
    kept = []
    for case in cases:
        mine = sorted(place for other, place in chosen if other is case)
        if mine:
            kept.append(
                Case(
                    name=case.name,
                    key=case.key,
                    fields=case.fields,
                    rows=[case.rows[place] for place in mine],
                    gold=[case.gold[place] for place in mine],
                )
            )
    return kept


async def run(
    cases: list[Case],
    args: argparse.Namespace,
    *,
    params: Mapping[str, str] | None = None,
    field_by_field: bool = False,
    estimates: list[Estimate] | None = None,
    **settings: str,
) -> tuple[Counter[tuple[str, str]], list[tuple[float, bool]], Any]:
    """How many cells got each verdict, each value's confidence and whether it was right or near, and the usage."""
    counts: Counter[tuple[str, str]] = Counter()
    sureness: list[tuple[float, bool]] = []
    with tempfile.TemporaryDirectory(prefix="tablewright-eval-") as folder:
        local = Settings(
            home=folder,
            search=f"searxng:{args.web}" if args.web else "sample",
            fetch_allow=urlsplit(args.web).netloc if args.web else "",
            **model_settings(args),
        )
        usage = None
        asked = [(case, fields) for case in cases for fields in parts(case, field_by_field=field_by_field)]
        async with Services.open(replace(local, **settings)) as services:
            for number, (case, fields) in enumerate(asked):
                write(path := Path(folder) / f"{number}.csv", case)
                run = await planned(services, path, case, fields, args, params)
                if estimates is not None:
                    estimates.append(await run.estimate())
                filled = await run.run()
                usage = filled.usage if usage is None else usage + filled.usage
                for operation in await services.store.proposals.operations(filled.proposal_id):
                    gold = case.gold[operation.row_id - 1]
                    if operation.field in gold:
                        verdict = judge(operation.cell.value, gold[operation.field])
                        counts[operation.field if args.pack == "companies" else "all", verdict] += 1
                        if operation.cell.value is not None:
                            sureness.append((operation.cell.confidence or 0.0, verdict in ("right", "near")))
                        if verdict in args.show.split(","):
                            row = case.rows[operation.row_id - 1]
                            told = (verdict, case.name, operation.field, row[case.key], gold[operation.field])
                            print(*told, *seen(operation), sep=" | ", flush=True)
    return counts, sureness, usage


async def planned(
    services: Services,
    path: Path,
    case: Case,
    fields: Sequence[Field],
    args: argparse.Namespace,
    params: Mapping[str, str] | None = None,
) -> FillRun:
    """A run over the table that was written to `path`."""
    imported = await import_table_file(services, path, FileOptions(key_field=case.key, header=True))
    return await plan_fill(
        services,
        imported.table.id,
        fields,
        args.strategy,
        how=FillOptions(params=params or {}, concurrency=args.concurrency),
    )


def parts(case: Case, *, field_by_field: bool) -> list[tuple[Field, ...]]:
    return [(each,) for each in case.fields] if field_by_field else [case.fields]


def seen(operation: ProposedCell) -> tuple[object, ...]:
    cell = operation.cell
    return cell.value, cell.confidence, cell.error, cell.evidence[0].quote[:160] if cell.evidence else ""


def write(path: Path, case: Case) -> None:
    columns = list(dict.fromkeys(name for row in case.rows for name in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(case.rows)


def judge(value: object, golds: list[str] | None) -> str:
    """right: the same words, number or date; near: one contains the other."""
    if golds is None:
        return "rightly empty" if value is None else "filled"
    if value is None:
        return "empty"
    said = words(str(value))
    for gold in map(words, golds):
        if said == gold:
            return "right"
    if any(same_number(value, gold) for gold in golds):
        return "right"
    date = read_date(str(value))
    if date and any((other := read_date(gold)) and other.iso == date.iso for gold in golds):
        return "right"
    near = any(f" {gold} " in f" {said} " or f" {said} " in f" {gold} " for gold in map(words, golds))
    return "near" if near else "wrong"


def same_number(value: object, gold: str) -> bool:
    """1.0 and 1; 0.8618 and 0.86, for a measure that was converted is rounded; years are as they are."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        wanted = float(gold)
    except ValueError:
        return False
    exact = float(value).is_integer() and wanted.is_integer()
    return value == wanted if exact else abs(value - wanted) <= 0.01 * abs(wanted)


def words(text: str) -> str:
    return " ".join(word for word in split_folded_words(fold_text(text)) if word not in ("the", "a", "an"))


def calibration(sureness: list[tuple[float, bool]]) -> None:
    """What was said beside what was so."""
    print(f"{'confidence':>12} {'cells':>6} {'said':>6} {'right or near':>14}")
    for low, high in ((0.0, 0.6), (0.6, 0.8), (0.8, 0.85), (0.85, 0.9), (0.9, 0.95), (0.95, 1.01)):
        inside = [(said, right) for said, right in sureness if low <= said < high]
        if inside:
            said = sum(said for said, _ in inside) / len(inside)
            right = sum(right for _, right in inside) / len(inside)
            print(f"{low:5.2f} – {min(high, 1.0):4.2f} {len(inside):6} {said:6.2f} {right:14.2f}")


def report(counts: Counter[tuple[str, str]]) -> dict[str, float]:
    figures = {}
    for name in sorted({name for name, _ in counts}):
        of = {
            verdict: counts[name, verdict] for verdict in ("right", "near", "wrong", "empty", "filled", "rightly empty")
        }
        wanted = of["right"] + of["near"] + of["wrong"] + of["empty"]
        given = wanted - of["empty"] + of["filled"]
        absent = of["filled"] + of["rightly empty"]
        figures[f"{name} right"] = of["right"] / max(1, wanted)
        figures[f"{name} right or near"] = (of["right"] + of["near"]) / max(1, wanted)
        figures[f"{name} precision"] = of["right"] / max(1, given)
        figures[f"{name} precision with near"] = (of["right"] + of["near"]) / max(1, given)
        if absent:
            figures[f"{name} absent left empty"] = of["rightly empty"] / absent
        print(f"{name}: {of}")
    for figure, value in figures.items():
        print(f"{figure:40} {value:.3f}")
    return {figure: round(value, 4) for figure, value in figures.items()}


def records(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


if __name__ == "__main__":
    sys.exit(main())
