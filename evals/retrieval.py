"""Does a search of the user's documents find what answers a question? Words alone, meaning alone, and both.

    python evals/retrieval.py [--data DIR] [--record]

`cranfield`: nDCG@10 over 1,400 abstracts (binary grades). `manuals`: questions to a manual whose section is among the
first 5. `squad`: questions whose paragraph is among the first 5. Each section or paragraph is a document of its own.
Exits 1 where a figure has fallen more than 0.01 under the recorded baseline, 2 where the data is missing.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import gzip
import json
import math
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from baseline import settle
from tablewright.documents.search import CorpusSearch, SearchHits
from tablewright.documents.segment import split_into_segments
from tablewright.domain.documents import Document
from tablewright.extraction.layout.draft import Parsed
from tablewright.llm.embedder import Embedder, WordLlamaEmbedder
from tablewright.store.documents import IngestedDocument
from tablewright.store.store import Store

ROOT = Path(__file__).resolve().parent.parent
TOLERANCE = 0.01
# Hits that are asked for, to have 10 documents.
SEGMENTS = 50
ARMS = ("words", "meaning", "both")
HOLD = {("cranfield", "both"): 0.40, ("manuals", "both"): 0.75}


@dataclass(frozen=True, kw_only=True)
class Asked:
    question: str
    gold: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class Pack:
    name: str
    texts: Sequence[dict[str, Any]]
    asked: Sequence[Asked]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    default = os.environ.get("TABLEWRIGHT_EVAL_DATA") or ROOT / "evals" / "data"
    parser.add_argument("--data", type=Path, default=Path(default), help="folder with ir_cranfield, manuals_emqa, …")
    parser.add_argument("--record", action="store_true", help="write the result as the new baseline")
    args = parser.parse_args()
    if not (args.data / "ir_cranfield").is_dir():
        print(f"No data in {args.data}. Give its folder with --data or TABLEWRIGHT_EVAL_DATA.", file=sys.stderr)
        return 2
    measured = asyncio.run(measure(args.data))
    print(f"{'pack':10} {'measure':14} {'words':>7} {'meaning':>8} {'both':>6}   hold")
    for name, row in measured.items():
        hold = HOLD.get((name, "both"))
        figures = f"{row['words']:7.3f} {row['meaning']:8.3f} {row['both']:6.3f}"
        print(f"{name:10} {measure_of(name):14} {figures}   {f'≥ {hold:.2f}' if hold else ''}")
    return settle("retrieval", measured, record=args.record, tolerance=TOLERANCE)


async def measure(data: Path) -> dict[str, dict[str, float]]:
    embedder = WordLlamaEmbedder()
    measured = {}
    for pack in (cranfield(data), manuals(data), squad(data)):
        with tempfile.TemporaryDirectory() as folder:
            async with await Store.open(f"sqlite:///{Path(folder) / 'eval.db'}") as store:
                await store.documents.add_many([await read(text, embedder) for text in pack.texts])
                search = CorpusSearch(store.documents, embedder)
                measured[pack.name] = {arm: await score(pack, search, arm) for arm in ARMS}
    await embedder.close()
    return measured


async def read(text: dict[str, Any], embedder: Embedder) -> IngestedDocument:
    """As a file of its own, with its title above."""
    title = text.get("title", "")
    body = f"{title}\n\n{text['text']}" if title else text["text"]
    parsed = Parsed(text=body, media="txt", title=title, headings=((0, len(title)),) if title else ())
    segments = split_into_segments(parsed)
    vectors = await embedder.embed([f"{segment.heading}\n{segment.text}".strip() for segment in segments])
    return IngestedDocument(
        document=Document(id=text["_id"], path=text["_id"], name=text["_id"], title=title),
        text=body,
        segments=segments,
        vectors={"segment": np.asarray(vectors, dtype=np.float16)},
        embedder=embedder.name,
    )


async def score(pack: Pack, search: CorpusSearch, arm: str) -> float:
    total = 0.0
    for asked in pack.asked:
        found = list(dict.fromkeys(hit.document.id for hit in (await look(search, asked.question, arm)).hits))
        total += ndcg(found, asked.gold) if pack.name == "cranfield" else bool(asked.gold & set(found[:5]))
    return total / len(pack.asked)


async def look(search: CorpusSearch, question: str, arm: str) -> SearchHits:
    if arm == "words":
        return await search.search_text(question, SEGMENTS)
    if arm == "meaning":
        return await search.search_vector(question, SEGMENTS)
    return await search.hybrid(question, SEGMENTS)


def ndcg(found: Sequence[str], gold: frozenset[str]) -> float:
    gained = sum(1 / math.log2(place + 2) for place, id in enumerate(found[:10]) if id in gold)
    ideal = sum(1 / math.log2(place + 2) for place in range(min(10, len(gold))))
    return gained / ideal if ideal else 0.0


def measure_of(name: str) -> str:
    return "nDCG@10" if name == "cranfield" else "in the first 5"


def cranfield(data: Path) -> Pack:
    folder = data / "ir_cranfield"
    gold: dict[str, set[str]] = {}
    with (folder / "qrels.tsv").open(encoding="utf-8") as stream:
        for row in csv.DictReader(stream, delimiter="\t"):
            if int(row["grade"]) > 0:
                gold.setdefault(row["query_id"], set()).add(row["doc_id"])
    queries = lines(folder / "queries.jsonl")
    asked = [Asked(question=row["text"], gold=frozenset(gold.get(row["_id"], ()))) for row in queries]
    return Pack(name="cranfield", texts=list(lines(folder / "corpus.jsonl.gz")), asked=asked)


def manuals(data: Path) -> Pack:
    folder = data / "manuals_emqa"
    asked = [
        Asked(question=row["question"], gold=frozenset({row["gold_section"]}))
        for row in lines(folder / "questions.jsonl")
        if row.get("gold_section")
    ]
    return Pack(name="manuals", texts=list(lines(folder / "corpus_tv.jsonl")), asked=asked)


def squad(data: Path) -> Pack:
    asked = [
        Asked(question=row["question"], gold=frozenset({row["context_id"]}))
        for row in lines(data / "reading_squad2.jsonl")
    ]
    return Pack(name="squad", texts=list(lines(data / "reading_squad2.corpus.jsonl")), asked=asked)


def lines(path: Path) -> Iterator[dict[str, Any]]:
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    yield from map(json.loads, content.splitlines())


if __name__ == "__main__":
    sys.exit(main())
