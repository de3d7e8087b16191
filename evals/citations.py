"""Whether a page bears a claim: the verdicts beside those of people.

    python evals/citations.py [--data DIR] [--model MODEL] [--base-url URL] [--questions N] [--json] [--fit] [--record]

306 claims of an encyclopedia with the page that each cites, labelled supported, partially supported or not supported.
Where the middle belongs is a matter of reading, so the balanced accuracy is given for three:

    borne      supported, or not: what a report needs, where a sentence counts only if all of it is borne
    spoken of  supported at least in part, or not
    clear      supported or not supported, leaving out the claims that are so in part

--fit prints the weights of the rule, with what they reach on claims they were not fitted to. Exits 1 where a figure has
fallen more than 0.02 under the recorded baseline, 2 where the data is missing.
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
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from baseline import settle
from models import add_model_options, column, model_settings
from tablewright.decisions.decision import decide
from tablewright.decisions.entailment.alignment import Alignment, Text
from tablewright.decisions.entailment.parts import parts
from tablewright.decisions.entailment.weighing import Measures, measures
from tablewright.decisions.judge_claim import SOMETHING, SUPPORTED, ClaimPassage, Judge, JudgeClaim
from tablewright.models.build import build
from tablewright.settings import Settings
from tablewright.table.model import Noun, Step
from tablewright.table.research import Verdict

ROOT = Path(__file__).resolve().parent.parent
FILE = "citation_wice.jsonl.gz"
TOLERANCE = 0.02
LABELS = ("supported", "partially_supported", "not_supported")
VERDICTS: tuple[Verdict, ...] = ("supported", "qualified", "contradicted", "not checked")
SPLIT = 7
META, TITLE = "(meta data) ", "TITLE:"

Table: TypeAlias = NDArray[np.float64]


class Case(Noun, frozen=True):
    label: str
    asked: JudgeClaim
    half: str


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    default = os.environ.get("TABLEWRIGHT_EVAL_DATA") or ROOT / "evals" / "data"
    parser.add_argument("--data", type=Path, default=Path(default), help="folder with the data files")
    add_model_options(parser)
    parser.add_argument("--questions", type=int, help="so many claims, drawn at random")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    parser.add_argument("--fit", action="store_true", help="fit the weights of the rule, and print them")
    parser.add_argument("--record", action="store_true", help="write the result as the new baseline")
    args = parser.parse_args()
    if not (args.data / FILE).is_file():
        told = f"No data: {args.data / FILE}. Give its folder with --data or TABLEWRIGHT_EVAL_DATA."
        print(told, file=sys.stderr)
        return 2
    cases = read(args.data / FILE)
    if args.fit:
        fit_all(cases)
        return 0
    if args.questions:
        cases = random.Random(SPLIT).sample(cases, min(args.questions, len(cases)))
    group = f"{len(cases)} claims {column(args)}"
    started = time.perf_counter()
    verdicts = asyncio.run(judge(cases, args))
    took = (time.perf_counter() - started) / len(cases)
    measured = {
        group: figures(cases, verdicts),
        **{f"{group}, half {half}": figures(cases, verdicts, half) for half in ("A", "B")},
    }
    if args.json:
        print(json.dumps({**measured, "seconds a claim": round(took, 4), "verdicts": counts(cases, verdicts)}))
    else:
        report(cases, verdicts, measured, took)
    kept = {} if args.model != "builtin" else {group: measured[group]}
    return settle("citations", kept, record=args.record, tolerance=TOLERANCE) if kept else 0


def read(file: Path) -> list[Case]:
    with gzip.open(file, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    order = list(range(len(rows)))
    random.Random(SPLIT).shuffle(order)
    first = set(order[: len(rows) // 2])
    return [
        Case(
            label=row["label"],
            half="A" if number in first else "B",
            asked=JudgeClaim(
                claim=row["claim"],
                about=row["claim_title"],
                context=row["claim_context"],
                passages=(passage(row["evidence_sentences"]),),
            ),
        )
        for number, row in enumerate(rows)
    ]


def passage(sentences: Sequence[str]) -> ClaimPassage:
    lines = [sentence.removeprefix(META) for sentence in sentences]
    title = next((line.removeprefix(TITLE).strip() for line in lines if line.startswith(TITLE)), "")
    return ClaimPassage(text="\n".join(lines), title=title)


async def judge(cases: Sequence[Case], args: argparse.Namespace) -> list[Verdict]:
    if args.model == "builtin":
        return [Judge().fallback(case.asked).verdict for case in cases]
    found: list[Verdict] = []
    steps: list[Step] = []
    with tempfile.TemporaryDirectory(prefix="tablewright-eval-") as home:
        model = build(Settings(home=home, **model_settings(args)))
        assert model is not None, "a name of a model builds one"
        async with model:
            for number, case in enumerate(cases, 1):
                found.append((await decide(Judge(), case.asked, model, steps.append)).decided.verdict)
                alone = Judge().fallback(case.asked).verdict
                print(f"{number} {case.label}: {found[-1]} (rule: {alone})", file=sys.stderr, flush=True)
    print(f"{len(steps)} answers could not be used", file=sys.stderr)
    return found


# ── figures ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def figures(cases: Sequence[Case], verdicts: Sequence[Verdict], half: str = "") -> dict[str, float]:
    pairs = [(case.label, verdict) for case, verdict in zip(cases, verdicts, strict=True) if half in ("", case.half)]
    spoken: tuple[Verdict, ...] = ("supported", "qualified")
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
    print(f"{1000 * took:.1f} ms a claim\n\n{'':20}", "".join(f"{verdict:>14}" for verdict in VERDICTS))
    for label, row in counts(cases, verdicts).items():
        print(f"{label:20}", "".join(f"{row[verdict]:14}" for verdict in VERDICTS))


# ── the weights ──────────────────────────────────────────────────────────────────────────────────────────────────────

PENALTY = 3.0
FOLDS, TIMES = 5, 10


def fit_all(cases: Sequence[Case]) -> None:
    table = np.array([list(measured(case.asked)) for case in cases])
    half = np.array([case.half for case in cases])
    names = {"BEARS_ALL": ("supported",), "BEARS_SOME": ("supported", "partially_supported")}
    for (name, labels), least in zip(names.items(), (SUPPORTED, SOMETHING), strict=True):
        true = np.array([case.label in labels for case in cases])
        weights = fit(table, true)
        print(f"{name} = {{")
        for what, weight in zip((*Measures.__struct_fields__, "always"), weights, strict=True):
            print(f'    "{what}": {weight:.3f},')
        print("}")
        for one, other in (("A", "B"), ("B", "A")):
            likely = likelihoods(table[half == other], fit(table[half == one], true[half == one]))
            right = accuracy(true[half == other], likely >= least)
            print(f"fitted to half {one}, measured on half {other}: {right:.3f}")
        each = [accuracy(true, held_out(table, true, seed) >= least) for seed in range(TIMES)]
        print(f"cross-validated: {np.mean(each):.3f} ± {np.std(each):.3f}\n")


def measured(asked: JudgeClaim) -> Iterable[float]:
    texts = [Text(text=each.text, title=each.title) for each in asked.passages]
    found = measures(Alignment(asked.claim, parts(asked.claim, asked.about), asked.about, texts))
    return (getattr(found, name) for name in Measures.__struct_fields__)


def fit(table: Table, true: NDArray[np.bool_]) -> Table:
    """A logistic regression in which both answers count alike; the last weight is what is always added."""
    middle, spread = table.mean(axis=0), table.std(axis=0) + 1e-9
    known = np.c_[(table - middle) / spread, np.ones(len(table))]
    counted = np.where(true, 0.5 / true.mean(), 0.5 / (1 - true.mean()))
    penalty = np.diag([PENALTY] * table.shape[1] + [1e-6])
    weights = np.zeros(known.shape[1])
    for _ in range(30):
        likely = 1 / (1 + np.exp(-known @ weights))
        slope = known.T @ (counted * (likely - true)) + penalty @ weights
        bend = (known * (counted * likely * (1 - likely))[:, None]).T @ known + penalty
        weights -= np.linalg.solve(bend, slope)
    own = weights[:-1] / spread
    return np.array([*own, weights[-1] - own @ middle])


def likelihoods(table: Table, weights: Table) -> Table:
    found: Table = 1 / (1 + np.exp(-(table @ weights[:-1] + weights[-1])))
    return found


def held_out(table: Table, true: NDArray[np.bool_], seed: int) -> Table:
    order = np.random.default_rng(seed).permutation(len(true))
    found = np.zeros(len(true))
    for fold in range(FOLDS):
        out = np.isin(np.arange(len(true)), order[fold::FOLDS])
        found[out] = likelihoods(table[out], fit(table[~out], true[~out]))
    return found


def accuracy(true: NDArray[np.bool_], said: NDArray[np.bool_]) -> float:
    return balanced(zip(true.tolist(), said.tolist(), strict=True))


if __name__ == "__main__":
    sys.exit(main())
