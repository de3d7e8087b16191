"""Questions that take two steps, over a web of all their pages: what deep research answers.

    python evals/multihop.py [--data DIR] [--packweb PATH] [--model MODEL] [--base-url URL] [--questions N [--seed N]]
        [--show] [--json] [--record]

"Who left the band with the single Church of Noise?": one page says whose single it is, another who left. `tasks` are
searches a question. Without a model no question is answered: a report of excerpts claims nothing.

An answer is right if it is the known one, or one holds the other. `pages` is the share of the questions for which a
page that has the answer was read. Exits 1 where a figure has fallen more than 0.03 under the recorded baseline, 2 where
the data or the web is missing.
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
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from baseline import settle
from models import add_model_options, column, model_settings
from reading import judge
from tablewright.operations.research import ResumeResearch, StartResearch, create_research, run_to_report
from tablewright.services import Services
from tablewright.settings import Settings
from webs import served

ROOT = Path(__file__).resolve().parent.parent
DATA = "multihop_hybridqa.jsonl.gz"
TOLERANCE = 0.03


@dataclass(kw_only=True)
class Case:
    question: str
    answer: str
    titles: frozenset[str]
    """Of the pages that have the answer, without the one that has only the link."""


@dataclass(kw_only=True)
class Reply:
    answer: str
    read: frozenset[str]
    """The titles of the pages that were read."""
    tasks: int = 1


async def research(app: Services, question: str) -> Reply:
    created = await create_research(app, StartResearch(question=question, report_type="answer"))
    found = await run_to_report(app, ResumeResearch(research=created.id))
    report = found.report
    assert report is not None
    return Reply(
        answer=report.answer.text if report.answer else "",
        read=frozenset(source.title for source in report.sources if source.status == "read"),
        tasks=sum(len(round.tasks) for round in found.rounds),
    )


# ── measuring ────────────────────────────────────────────────────────────────────────────────────────────────────────


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    default = os.environ.get("TABLEWRIGHT_EVAL_DATA") or ROOT / "evals" / "data"
    parser.add_argument("--data", type=Path, default=Path(default), help=f"folder with {DATA}")
    parser.add_argument("--packweb", type=Path, help="the program that serves the pages; else ../tools/packweb")
    add_model_options(parser)
    parser.add_argument("--questions", type=int, help="so many, spread over all")
    parser.add_argument("--seed", type=int, help="draw them at random instead")
    parser.add_argument("--show", action="store_true", help="print every question with its answers")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON alone")
    parser.add_argument("--record", action="store_true", help="write the result as the new baseline")
    args = parser.parse_args()
    packweb = args.packweb or args.data.parent / "tools" / "packweb"
    for needed in (args.data / DATA, packweb):
        if not needed.is_file():
            print(f"{needed} is missing. Say where it is with --data and --packweb.", file=sys.stderr)
            return 2
    cases = list(cases_of(args.data / DATA))
    if args.questions and args.seed is not None:
        cases = random.Random(args.seed).sample(cases, args.questions)
    elif args.questions:
        cases = cases[:: max(1, len(cases) // args.questions)][: args.questions]
    with served(packweb, args.data / DATA) as address:
        measured = asyncio.run(measure(cases, address, args))
    if args.json:
        print(json.dumps(measured, indent=2))
        return 0
    for group, figures in measured.items():
        print(f"{group:16}", "  ".join(f"{what} {value:.3f}" for what, value in figures.items()))
    kept = {group: {"right": row["right"], "not wrong": 1 - row["wrong"]} for group, row in measured.items()}
    name = "multihop" if args.model == "builtin" else f"multihop_{column(args)}"
    return 0 if args.questions and not args.record else settle(name, kept, record=args.record, tolerance=TOLERANCE)


def cases_of(path: Path) -> Iterator[Case]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            titles = {page["url"]: page["title"] for page in entry["pages"]}
            for asked in entry["questions"]:
                # The last evidence is the page of the table, where the question was made from.
                answering = frozenset(titles[url] for url in asked["evidence_urls"][:-1] if url in titles)
                yield Case(question=asked["question"], answer=asked["answer"], titles=answering)


async def measure(cases: Sequence[Case], address: str, args: argparse.Namespace) -> dict[str, dict[str, float]]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    async with opened(address, args) as app:
        started = time.monotonic()
        for case in cases:
            reply = await research(app, case.question)
            verdict = judged(reply.answer, case.answer)
            was_read = bool(reply.read & case.titles)
            counts["research"].update(("asked", verdict, *(["pages"] if was_read else [])))
            counts["research"]["tasks"] += reply.tasks
            if args.show:
                print(verdict, case.question, case.answer, reply.answer, sep=" | ", flush=True)
        print(f"{time.monotonic() - started:.0f} s", file=sys.stderr)
    shown = ("right", "exact", "wrong", "none", "pages", "tasks")
    return {
        group: {what: round(row[what] / row["asked"], 4) for what in shown} | {"asked": float(row["asked"])}
        for group, row in sorted((group, merged(row)) for group, row in counts.items())
    }


def judged(answer: str, known: str) -> str:
    if not answer:
        return "none"
    return {"right": "exact", "lenient": "near", "wrong": "wrong"}[judge(answer, [known])]


def merged(row: Counter[str]) -> Counter[str]:
    return row | Counter(right=row["exact"] + row["near"])


@asynccontextmanager
async def opened(address: str, args: argparse.Namespace) -> AsyncIterator[Services]:
    with tempfile.TemporaryDirectory(prefix="tablewright-eval-") as folder:
        settings = Settings(
            home=folder,
            search=f"searxng:http://{address}",
            fetch_allow=address,
            fetch_delay="0",
            **model_settings(args),
        )
        async with Services.open(settings) as app:
            yield app


if __name__ == "__main__":
    sys.exit(main())
