"""Questions that take two steps, over a web of all their pages: what one lookup answers, and what deep research does.

    python evals/multihop.py [--data DIR] [--packweb PATH] [--model MODEL] [--base-url URL] [--questions N]
        [--show] [--json] [--record]

"Who left the band with the single Church of Noise?": one page says whose single it is, another who left. Both ways have
the same questions and the same search. `single` searches the question once, opens up to 5 pages and answers from them;
`research` is the product's deep research: it looks for the thing that the question only describes, searches for it,
and answers from its pages. `tasks` are searches a question.

An answer is right if it is the known one, or one holds the other. `pages` is the share of the questions for which a
page that has the answer was read. The even page sets were looked at while the rules were written, the odd were not.
Exits 1 where a figure has fallen more than 0.03 under the recorded baseline, 2 where the data or the web is missing.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from baseline import settle
from models import add_model_options, column, model_settings
from reading import judge
from tablewright.app import Tablewright
from tablewright.decisions.answer_question import Answerer, AnswerQuestion
from tablewright.decisions.decision import decide
from tablewright.settings import Settings
from tablewright.sources.source import Query
from tablewright.table.retrieved import Retrieved
from tablewright.table.text import cell_text
from webs import served

ROOT = Path(__file__).resolve().parent.parent
DATA = "multihop_hybridqa.jsonl.gz"
TOLERANCE = 0.03
PAGES = 5
"""Opened by the single lookup."""


@dataclass(kw_only=True)
class Case:
    question: str
    answer: str
    half: str
    titles: frozenset[str]
    """Of the pages that have the answer, without the one that has only the link."""


@dataclass(kw_only=True)
class Reply:
    answer: str
    read: frozenset[str]
    """The titles of the pages that were read."""
    by_way_of: str = ""
    tasks: int = 1


# ── the two ways ─────────────────────────────────────────────────────────────────────────────────────────────────────


async def single(app: Tablewright, question: str) -> Reply:
    tools = await app._open_tools(("web", "model"))
    assert tools.web is not None
    found = await tools.web.search(Query(text=question))
    opened = await asyncio.gather(*(tools.web.open(hit.origin) for hit in found.hits[:PAGES]))
    pages = tuple(page for page in opened if isinstance(page, Retrieved))
    asked = AnswerQuestion(question=question, sources=pages)
    answers = (await decide(Answerer(), asked, tools.model, lambda _: None)).decided
    return Reply(answer=answers[0].text if answers else "", read=frozenset(page.title for page in pages))


async def research(app: Tablewright, question: str) -> Reply:
    begun = await app.begin_research(question, report_type="narrative")
    found = await app.run_research(begun.id)
    report = found.report
    assert report is not None
    table = await app.load(found.table_id)
    answer = report.answer.text if report.answer else ""
    by = [cell_text(row.cell("Angle")) for row in table.rows[1:] if answer and cell_text(row.cell("Answer")) == answer]
    return Reply(
        answer=answer,
        read=frozenset(source.title for source in report.sources if source.status == "read"),
        by_way_of=", ".join(by),
        tasks=sum(len(round.tasks) for round in found.rounds),
    )


WAYS: dict[str, Callable[[Tablewright, str], Awaitable[Reply]]] = {"single": single, "research": research}


# ── measuring ────────────────────────────────────────────────────────────────────────────────────────────────────────


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    default = os.environ.get("TABLEWRIGHT_EVAL_DATA") or ROOT / "evals" / "data"
    parser.add_argument("--data", type=Path, default=Path(default), help=f"folder with {DATA}")
    parser.add_argument("--packweb", type=Path, help="the program that serves the pages; else ../tools/packweb")
    add_model_options(parser)
    parser.add_argument("--questions", type=int, help="so many, spread over all")
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
    if args.questions:
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
        for number, line in enumerate(lines):
            entry = json.loads(line)
            titles = {page["url"]: page["title"] for page in entry["pages"]}
            for asked in entry["questions"]:
                # The last evidence is the page of the table, where the question was made from.
                answering = frozenset(titles[url] for url in asked["evidence_urls"][:-1] if url in titles)
                half = "odd" if number % 2 else "even"
                yield Case(question=asked["question"], answer=asked["answer"], half=half, titles=answering)


async def measure(cases: Sequence[Case], address: str, args: argparse.Namespace) -> dict[str, dict[str, float]]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    async with opened(address, args) as app:
        for name, way in WAYS.items():
            started = time.monotonic()
            for case in cases:
                reply = await way(app, case.question)
                verdict = judged(reply.answer, case.answer)
                was_read = bool(reply.read & case.titles)
                for group in (f"{name} {case.half}", f"{name} all"):
                    counts[group].update(("asked", verdict, *(["pages"] if was_read else [])))
                    counts[group]["tasks"] += reply.tasks
                if args.show:
                    print(
                        name, verdict, case.question, case.answer, reply.answer, reply.by_way_of, sep=" | ", flush=True
                    )
            print(f"{name}: {time.monotonic() - started:.0f} s", file=sys.stderr)
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
async def opened(address: str, args: argparse.Namespace) -> AsyncIterator[Tablewright]:
    with tempfile.TemporaryDirectory(prefix="tablewright-eval-") as folder:
        settings = Settings(
            home=folder,
            search=f"searxng:http://{address}",
            fetch_allow=address,
            fetch_delay="0",
            **model_settings(args),
        )
        async with Tablewright.open(settings) as app:
            yield app


if __name__ == "__main__":
    sys.exit(main())
