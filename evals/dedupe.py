"""Precision and recall of deduplication on labelled pairs of names (`er_pairs.jsonl`).

    python evals/dedupe.py [--data DIR] [--record]

The rules were developed on the `dev` half only; the `held` half is what to believe. Exits 1 where precision or recall
has fallen more than 0.01 under the recorded baseline, 2 where the data is missing.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from baseline import settle
from tablewright.domain.rowkey import row_key
from tablewright.values.row_names import RowNameIndex

ROOT = Path(__file__).resolve().parent.parent
TOLERANCE = 0.01


@dataclass(frozen=True, kw_only=True)
class Pair:
    id: str
    dataset: str
    a: str
    b: str
    match: bool

    @property
    def half(self) -> str:
        return "held" if hashlib.sha256(self.id.encode()).digest()[0] % 2 else "dev"


@dataclass(frozen=True, kw_only=True)
class Score:
    pairs: int
    merged: int
    right: int
    matches: int

    @property
    def precision(self) -> float:
        return self.right / self.merged if self.merged else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.matches if self.matches else 1.0

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    default = os.environ.get("TABLEWRIGHT_EVAL_DATA") or ROOT / "evals" / "data"
    parser.add_argument("--data", type=Path, default=Path(default), help="folder with er_pairs.jsonl")
    parser.add_argument("--record", action="store_true", help="write the result as the new baseline")
    args = parser.parse_args()
    path = args.data / "er_pairs.jsonl"
    if not path.is_file():
        print(f"No data: {path} does not exist. Give its folder with --data or TABLEWRIGHT_EVAL_DATA.", file=sys.stderr)
        return 2
    judged = [(pair, judge(pair)) for pair in read(path)]
    scores = dict(groups(judged))
    print(f"{'half':5} {'dataset':16} {'pairs':>5} {'precision':>9} {'recall':>7} {'f1':>6}")
    for (half, dataset), score in scores.items():
        print(f"{half:5} {dataset:16} {score.pairs:5} {score.precision:9.3f} {score.recall:7.3f} {score.f1:6.3f}")
    overall = {half: scores[half, "overall"] for half in ("dev", "held", "all")}
    measured = {
        half: {"precision": round(score.precision, 4), "recall": round(score.recall, 4)}
        for half, score in overall.items()
    }
    return settle("dedupe", measured, record=args.record, tolerance=TOLERANCE)


def judge(pair: Pair) -> bool:
    names = RowNameIndex()
    names.add(1, pair.a)
    return row_key(pair.a) == row_key(pair.b) or names.find(pair.b) == 1


def groups(judged: list[tuple[Pair, bool]]) -> Iterator[tuple[tuple[str, str], Score]]:
    datasets = sorted({pair.dataset for pair, _ in judged})
    for half in ("dev", "held", "all"):
        part = [(pair, merged) for pair, merged in judged if half in ("all", pair.half)]
        for dataset in datasets:
            yield (half, dataset), count((pair, merged) for pair, merged in part if pair.dataset == dataset)
        yield (half, "overall"), count(part)


def count(judged: Iterable[tuple[Pair, bool]]) -> Score:
    rows = list(judged)
    return Score(
        pairs=len(rows),
        merged=sum(merged for _, merged in rows),
        right=sum(merged and pair.match for pair, merged in rows),
        matches=sum(pair.match for pair, _ in rows),
    )


def read(path: Path) -> Iterator[Pair]:
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield Pair(id=row["id"], dataset=row["dataset"], a=name(row["a"]), b=name(row["b"]), match=row["match"])


def name(row: dict[str, str]) -> str:
    """The name as a person would have typed it: without the escapes, language tags and quotes of these data sets."""
    text = row.get("name") or row.get("title") or ""
    text = re.sub(r"\s*\\\s*'\s*|\s+'(?=s\b)", "'", text)
    text = re.sub(r'"@[A-Za-z-]+', " ", text)
    text = re.sub(r"\"?\bNull\b\"?", " ", text)
    text = re.sub(r"^\s*[`\"']\s*|\s*[`\"']\s*$|(?<!\d)\"|`", " ", text)
    return " ".join(text.split())


if __name__ == "__main__":
    sys.exit(main())
