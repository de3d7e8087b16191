"""Whether a page bears a claim: a model's verdicts (`llm/tasks/check_claim.py`) beside those of people.

    python evals/citations.py --model MODEL [--base-url URL] [--data DIR] [--questions N [--seed N]] [--json]

306 claims of an encyclopedia with the page that each cites, labelled supported, partially supported or not supported.
Where the middle belongs is a matter of reading, so the balanced accuracy is given for three:

    borne      supported, or not
    spoken of  supported at least in part, or not
    clear      supported or not supported, leaving out the claims that are so in part

Exits 2 where the data or the model is missing: without a model no claim is judged.
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
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from models import add_model_options, column, model_settings
from tablewright.domain.model import Step, Struct
from tablewright.domain.research import Brief, Verdict
from tablewright.domain.retrieved import Retrieved
from tablewright.llm.build import build_model
from tablewright.llm.tasks.check_claim import CheckClaim, ClaimToJudge
from tablewright.llm.tasks.decision import decide
from tablewright.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
FILE = "citation_wice.jsonl.gz"
LABELS = ("supported", "partially_supported", "not_supported")
VERDICTS: tuple[Verdict, ...] = ("supported", "partly supported", "qualified", "contradicted", "not checked")
AT_ONCE = 8
SPLIT = 7
# Characters before a claim: as many as the label of a block holds, so that the nearest are not cut off.
CONTEXT = 150
META, TITLE = "(meta data) ", "TITLE:"


class Case(Struct, frozen=True):
    label: str
    asked: ClaimToJudge


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    default = os.environ.get("TABLEWRIGHT_EVAL_DATA") or ROOT / "evals" / "data"
    parser.add_argument("--data", type=Path, default=Path(default), help="folder with the data files")
    add_model_options(parser)
    parser.add_argument("--questions", type=int, help="so many claims, drawn at random")
    parser.add_argument("--seed", type=int, default=SPLIT, help="of that draw")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    args = parser.parse_args()
    if not (args.data / FILE).is_file():
        told = f"No data: {args.data / FILE}. Give its folder with --data or TABLEWRIGHT_EVAL_DATA."
        print(told, file=sys.stderr)
        return 2
    if args.model == "builtin":
        print("Say which model judges, with --model: without one no claim is judged.", file=sys.stderr)
        return 2
    cases = read(args.data / FILE)
    if args.questions:
        cases = random.Random(args.seed).sample(cases, min(args.questions, len(cases)))
    group = f"{len(cases)} claims {column(args)}"
    started = time.perf_counter()
    verdicts = asyncio.run(judge(cases, args))
    took = (time.perf_counter() - started) / len(cases)
    measured = figures(cases, verdicts)
    if args.json:
        print(json.dumps({group: measured, "seconds a claim": round(took, 4), "verdicts": counts(cases, verdicts)}))
    else:
        report(cases, verdicts, {group: measured}, took)
    return 0


def read(file: Path) -> list[Case]:
    with gzip.open(file, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    return [
        Case(
            label=row["label"],
            asked=ClaimToJudge(
                brief=Brief(question=f"What is known about {row['claim_title']}?", report_type="narrative"),
                claim=row["claim"],
                made_by=f"an encyclopedia, after: {row['claim_context'][-CONTEXT:]}",
                pages=(page(row["evidence_sentences"]),),
            ),
        )
        for row in rows
    ]


def page(sentences: Sequence[str]) -> Retrieved:
    lines = [sentence.removeprefix(META) for sentence in sentences]
    title = next((line.removeprefix(TITLE).strip() for line in lines if line.startswith(TITLE)), "")
    return Retrieved(origin="http://cited.example/", text="\n".join(lines), title=title)


async def judge(cases: Sequence[Case], args: argparse.Namespace) -> list[Verdict]:
    steps: list[Step] = []
    turns = asyncio.Semaphore(AT_ONCE)

    async def one(number: int, case: Case) -> Verdict:
        async with turns:
            verdict: Verdict = (await decide(CheckClaim(), case.asked, model, steps.append)).decided.verdict
        print(f"{number} {case.label}: {verdict}", file=sys.stderr, flush=True)
        return verdict

    with tempfile.TemporaryDirectory(prefix="tablewright-eval-") as home:
        model = build_model(Settings(home=home, **model_settings(args)))
        assert model is not None, "a name of a model builds one"
        async with model:
            found = await asyncio.gather(*(one(number, case) for number, case in enumerate(cases, 1)))
    print(f"{len(steps)} answers could not be used", file=sys.stderr)
    return found


# ── figures ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def figures(cases: Sequence[Case], verdicts: Sequence[Verdict]) -> dict[str, float]:
    pairs = [(case.label, verdict) for case, verdict in zip(cases, verdicts, strict=True)]
    spoken: tuple[Verdict, ...] = ("supported", "partly supported", "qualified")
    borne = [(label == "supported", verdict == "supported") for label, verdict in pairs]
    called = [true for true, said in borne if said]
    return {
        "borne": balanced(borne),
        "spoken of": balanced((label != "not_supported", verdict in spoken) for label, verdict in pairs),
        "clear": balanced(
            (label == "supported", verdict == "supported") for label, verdict in pairs if label in LABELS[::2]
        ),
        "precision of supported": sum(called) / max(1, len(called)),
    }


def balanced(pairs: Iterable[tuple[bool, bool]]) -> float:
    """The mean of the shares of the true and of the false that were recognised."""
    seen = Counter(pairs)
    true, false = seen[True, True] + seen[True, False], seen[False, True] + seen[False, False]
    return (seen[True, True] / max(1, true) + seen[False, False] / max(1, false)) / 2


def counts(cases: Sequence[Case], verdicts: Sequence[Verdict]) -> dict[str, dict[str, int]]:
    seen = Counter((case.label, verdict) for case, verdict in zip(cases, verdicts, strict=True))
    return {label: {verdict: seen[label, verdict] for verdict in VERDICTS} for label in LABELS}


def report(
    cases: Sequence[Case], verdicts: Sequence[Verdict], measured: Mapping[str, Mapping[str, float]], took: float
) -> None:
    for name, row in measured.items():
        print(f"{name:28}", "  ".join(f"{what} {value:.3f}" for what, value in row.items()))
    print(f"{1000 * took:.1f} ms a claim\n\n{'':20}", "".join(f"{verdict:>18}" for verdict in VERDICTS))
    for label, row in counts(cases, verdicts).items():
        print(f"{label:20}", "".join(f"{row[verdict]:18}" for verdict in VERDICTS))


if __name__ == "__main__":
    sys.exit(main())
