"""Deep research on a web that fails and lies: are all citations of things that were really read?

    python evals/research.py [--data DIR] [--packweb PATH] [--fault PERCENT] [--runs N] [--model MODEL]
        [--base-url URL] [--show]

Half of the runs are about the multihop pack's pages, of which `--fault` percent answer 403, 429, 500, an empty body or
a cut connection; the others are catalogs and narratives on the sample world, with its hostile and refusing pages. A
recorder stands between the product and the web and notes what was really fetched. For every report: each cited
address was fetched, each quote stands in the stored text, each number in a sentence or a cell is that of a
reference. Exits 1 where anything is cited that was not, 2 where the data is missing.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from models import add_model_options, model_settings
from multihop import DATA, Case, cases_of
from tablewright.domain.research import Report
from tablewright.domain.retrieved import Refusal
from tablewright.errors import RunError
from tablewright.operations.research import ResearchShown, ResumeResearch, StartResearch, create_research, run_to_report
from tablewright.services import Services
from tablewright.settings import Settings
from tablewright.web.fetch.fetcher import Fetched, Fetcher
from webs import served

ROOT = Path(__file__).resolve().parent.parent
SAMPLE = (
    "Identify 5 AI business models with pricing and case studies",
    "Find 3 electric kettles under £60 with price and capacity",
    "List 6 companies with founded year and headquarters",
    "Find 4 kettle makers with website and headquarters",
    "Identify 3 AI consultancies with pricing",
    "What are the history and the products of Brightwater Foods?",
    "When was Lanternwick Lighting founded?",
    "How many people does Zwaluwmolen Papier employ?",
    "Who is the CEO of Casa Ferrolino?",
    "How many people does Sable & Finch employ?",
    "When was Halden & Rourke founded?",
    "What are the challenges of growing lemons on Mars?",
    "What does the Lagoon plan of Parrotfish Cloud cost?",
    "Compare Lumenforge and Tallgrass Inference on price and customers",
    "How does Brightwater Foods reduce waste?",
)


@dataclass(kw_only=True)
class Tally:
    runs: int = 0
    found: int = 0
    failed: int = 0
    references: int = 0
    quotes: int = 0
    cited: int = 0
    problems: list[str] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)


class Recorder:
    """Notes what every fetch of this process really brought."""

    def __init__(self) -> None:
        self.fetched: set[str] = set()
        original = Fetcher.fetch

        async def fetch(fetcher: Fetcher, url: str, *, etag: str = "", last_modified: str = "") -> Fetched | Refusal:
            answer = await original(fetcher, url, etag=etag, last_modified=last_modified)
            if isinstance(answer, Fetched):
                self.fetched |= {answer.url, answer.final_url}
            return answer

        Fetcher.fetch = fetch  # type: ignore[method-assign]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    default = os.environ.get("TABLEWRIGHT_EVAL_DATA") or ROOT / "evals" / "data"
    parser.add_argument("--data", type=Path, default=Path(default), help=f"folder with {DATA}")
    parser.add_argument("--packweb", type=Path, help="the program that serves the pages; else ../tools/packweb")
    parser.add_argument("--fault", type=float, default=20.0, help="percent of the pages' answers that fail")
    parser.add_argument("--runs", type=int, default=30)
    add_model_options(parser)
    parser.add_argument("--show", action="store_true", help="print what each run came to")
    args = parser.parse_args()
    packweb = args.packweb or args.data.parent / "tools" / "packweb"
    for needed in (args.data / DATA, packweb):
        if not needed.is_file():
            print(f"{needed} is missing. Say where it is with --data and --packweb.", file=sys.stderr)
            return 2
    half = args.runs // 2
    questions = asked_of(list(cases_of(args.data / DATA)), half)
    recorder, tally = Recorder(), Tally()
    with served(packweb, args.data / DATA, fault=args.fault) as address, tempfile.TemporaryDirectory() as folder:
        failing = Settings(
            home=f"{folder}/failing",
            search=f"searxng:http://{address}",
            fetch_allow=address,
            fetch_delay="0",
            **model_settings(args),
        )
        sample = Settings(home=f"{folder}/sample", search="sample", fetch_delay="0", **model_settings(args))
        asyncio.run(run_all(failing, questions, recorder, tally, show=args.show))
        again = [SAMPLE[number % len(SAMPLE)] for number in range(args.runs - len(questions))]
        asyncio.run(run_all(sample, again, recorder, tally, show=args.show))
    print(f"{tally.runs} runs, {tally.found} with findings, {tally.failed} failed")
    print(f"{tally.cited} citations of {tally.references} sources")
    print(f"with {tally.quotes} quotes; sources seen: {dict(tally.statuses)}; verdicts: {dict(tally.verdicts)}")
    print(f"{len(tally.problems)} citations of what was not read")
    for problem in tally.problems:
        print(f"  {problem}", file=sys.stderr)
    return 1 if tally.problems or not tally.cited else 0


def asked_of(cases: Sequence[Case], most: int) -> list[str]:
    """Questions of the pack, and the history of things that it has pages about, in turn."""
    spread = cases[:: max(1, len(cases) // most)][:most]
    about = [next(iter(sorted(case.titles)), case.answer) for case in spread]
    told = [f"What are the history and the significance of {title}?" for title in about]
    return [told[number] if number % 3 else case.question for number, case in enumerate(spread)]


async def run_all(
    settings: Settings, questions: Sequence[str], recorder: Recorder, tally: Tally, *, show: bool
) -> None:
    async with Services.open(settings) as app:
        for question in questions:
            created = await create_research(app, StartResearch(question=question))
            try:
                found = await run_to_report(app, ResumeResearch(research=created.id))
            except RunError as error:  # every search failed, or no page could be opened: said as that, not as nothing
                tally.failed += 1
                print(question, error.what, sep=" | ", file=sys.stderr)
                continue
            assert found.report is not None
            await audit(app, found, found.report, recorder, tally)
            if show:
                answer = found.report.answer.text if found.report.answer else f"{len(found.report.sections)} sections"
                print(found.status, question, answer, len(found.report.references), sep=" | ", flush=True)


async def audit(app: Services, found: ResearchShown, report: Report, recorder: Recorder, tally: Tally) -> None:
    tally.runs += 1
    tally.found += found.status == "done"
    tally.statuses.update(source.status for source in report.sources)
    tally.verdicts.update(checked.verdict for checked in report.claims)
    tally.references += len(report.references)
    numbers = {reference.number for reference in report.references}
    for reference in report.references:
        if reference.url not in recorder.fetched:
            tally.problems.append(f"{found.brief.question}: {reference.url} was not fetched")
        text = await app.stored_text(reference.content_hash) or ""
        tally.quotes += len(reference.quotes)
        for quote in reference.quotes:
            if quote not in text:
                tally.problems.append(f"{found.brief.question}: not on {reference.url}: {quote!r}")
    cells = [cell for row in report.table.rows for cell in row[1:] if cell.text] if report.table else []
    sentences = [each for section in report.sections for each in section.sentences]
    answer = [report.answer] if report.answer else []
    for each in (*cells, *sentences, *answer, *report.summary, *report.disagreements):
        tally.cited += len(each.citations)
        if not each.citations or not set(each.citations) <= numbers:
            tally.problems.append(f"{found.brief.question}: without a source: {each.text!r}")
    for checked in report.claims:
        for evidence in checked.evidence:
            if evidence.origin not in recorder.fetched:
                tally.problems.append(f"{found.brief.question}: {evidence.origin} was not fetched")


if __name__ == "__main__":
    sys.exit(main())
