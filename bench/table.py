"""Import, export and computation at size, as ratios to what the csv module needs to read and write the same file.

    python bench/table.py [--rows 100000] [--database URL] [--json]

All times are of one run on one machine. Each step runs in a process of its own, so that its peak memory is its own.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import gc
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from operator import itemgetter
from pathlib import Path

from tablewright.domain.fieldspec import parse_field
from tablewright.operations.files import export_table_file, import_table_file
from tablewright.operations.fill import plan_fill
from tablewright.services import Services
from tablewright.settings import Settings

STEPS = ("csv", "import", "export", "export_xlsx", "compute")
HOLD = {"import": 15.0, "export": 5.0}
HOLD_MEMORY_MB = 500
HOLD_CELLS_A_SECOND = 20_000
FORMULA = "round({Price} * {Quantity}, 2)"


def make_file(path: Path, rows: int) -> None:
    """Ten columns of the kinds people have: names, numbers, prices, dates, flags, links and free text."""
    chance = random.Random(1)
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(
            ["Company", "Country", "Employees", "Price", "Quantity", "Founded", "Active", "Website", "Note", "Code"]
        )
        for number in range(rows):
            writer.writerow(
                [
                    f"Company {number} GmbH",
                    chance.choice(["Germany", "Côte d'Ivoire", "日本", "Chile"]),
                    chance.randrange(1, 50_000),
                    f"{chance.uniform(1, 500):.2f}",
                    chance.randrange(1, 100),
                    f"{chance.randrange(1900, 2026)}-{chance.randrange(1, 13):02}-{chance.randrange(1, 29):02}",
                    chance.choice(["true", "false"]),
                    f"https://company-{number}.example/about",
                    "A note, with a comma and a “quote”" if number % 3 else "",
                    f"{number:08}",
                ]
            )


async def do(step: str, file: Path, settings: Settings) -> dict[str, float]:
    started = time.perf_counter()
    if step == "csv":
        return {"read": read_with_csv(file), "write": write_with_csv(file)}
    async with Services.open(settings) as services:
        opened = time.perf_counter()
        if step == "import":
            await import_table_file(services, file)
        elif step == "export":
            await export_table_file(services, "bench", file.with_name("out.csv"))
        elif step == "export_xlsx":
            await export_table_file(services, "bench", file.with_name("out.xlsx"))
        elif step == "compute":
            return min([await compute(services) for _ in range(3)], key=itemgetter("seconds"))
        return {"seconds": time.perf_counter() - opened, "opening": opened - started}


async def compute(services: Services) -> dict[str, float]:
    """A new column, computed, proposed, applied and committed; then undone, for the next round."""
    started = time.perf_counter()
    run = await plan_fill(services, "bench", [parse_field(f"Total:number={FORMULA}")], "computation")
    filled = await run.run()
    applied = await services.changes.apply(filled.proposal_id)
    seconds = time.perf_counter() - started
    await services.changes.undo_run("bench", filled.run_id)
    return {"seconds": seconds, "cells": applied.cells, "cells_a_second": applied.cells / seconds}


def read_with_csv(file: Path) -> float:
    started = time.perf_counter()
    with file.open(newline="", encoding="utf-8") as stream:
        for _ in csv.reader(stream):
            pass
    return time.perf_counter() - started


def write_with_csv(file: Path) -> float:
    with file.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.reader(stream))
    started = time.perf_counter()
    with file.with_name("copy.csv").open("w", newline="", encoding="utf-8") as stream:
        csv.writer(stream).writerows(rows)
    return time.perf_counter() - started


def run_step(step: str, file: Path, settings: Settings) -> dict[str, float]:
    command = [sys.executable, __file__, "--step", step, str(file), settings.home, settings.database_url]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument(
        "--database", default="", help="PostgreSQL instead of SQLite; it must not hold a table 'bench'."
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--step", nargs=4, metavar=("STEP", "FILE", "HOME", "URL"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        step, file, home, url = options.step
        gc.freeze()  # as the command line does
        result = asyncio.run(do(step, Path(file), Settings(home=home, database_url=url)))
        result["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(json.dumps(result))
        return
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "bench.csv"
        make_file(file, options.rows)
        settings = Settings(home=str(Path(folder) / "home"), database_url=options.database)
        results = {step: run_step(step, file, settings) for step in STEPS}
        results["size"] = {"rows": options.rows, "cells": options.rows * 10, "megabytes": file.stat().st_size / 1e6}
    if options.json:
        print(json.dumps(results, indent=2))
        return
    report(results)


def report(results: dict[str, dict[str, float]]) -> None:
    base = results["csv"]
    print(f"{results['size']['rows']:,} rows × 10 columns, {results['size']['megabytes']:.1f} MB of CSV")
    print(f"{'step':12} {'seconds':>8} {'× csv module':>13} {'peak MB':>8}   hold")
    for step, against in (("import", "read"), ("export", "write"), ("export_xlsx", "write")):
        result = results[step]
        ratio = result["seconds"] / base[against]
        hold = f"≤ {HOLD[step]:.0f} s, ≤ {HOLD_MEMORY_MB} MB" if step in HOLD else ""
        print(f"{step:12} {result['seconds']:8.2f} {ratio:13.1f} {result['peak_mb']:8.0f}   {hold}")
    compute = results["compute"]
    ratio = compute["seconds"] / (base["read"] + base["write"])
    print(
        f"{'compute':12} {compute['seconds']:8.2f} {ratio:13.1f} {compute['peak_mb']:8.0f}   "
        f"{compute['cells_a_second']:,.0f} committed cells a second, best of 3 (hold ≥ {HOLD_CELLS_A_SECOND:,})"
    )


if __name__ == "__main__":
    main()
