"""How many PDF text pages a second a core reads: parsed, cut, summarised, annotated, indexed, embedded and written.

    python bench/ingest.py [--files 40] [--pages 25] [--folder FOLDER] [--workers 1]

The files are made here, of pages of prose with a few labelled values, or are those of a folder. A core is a second of
CPU of all processes together, so that what else the machine does counts little; imports and starts are in it. Parsing
alone is the physical limit beside it: the same files in the same workers with nothing done to their text.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import resource
import tempfile
import time
from pathlib import Path

from tablewright.documents.parse.pool import parse_files
from tablewright.extraction.layout.draft import Parsed
from tablewright.operations.documents import AddDocuments, add_documents
from tablewright.sample.pdf import write_pdf
from tablewright.services import Services
from tablewright.settings import Settings

HOLD = 100
WORDS = (
    "the of and to in a is that for it as was with be by on not he this are at from but have an they which one you "
    "were all her she there would their we him been has when who will no more if out so up said what its about than "
    "into them can only other time new some could these two may first then do any like my now over such our man me "
    "even most made after also did many off before must well back through years much where your way down should "
    "because long each just state those people too mr how little good world make very year still see own work men day"
).split()
LABELS = ("Width", "Weight", "Rated power", "Serial number", "Inspected on", "Location", "Supply voltage", "Price")
VALUES = ("951 mm", "18.4 kg", "280 W", "61-0163-083", "2024-05-17", "Elyria, OH", "230 V", "£48.20")


def cpu() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def make_files(folder: Path, files: int, pages: int) -> None:
    chance = random.Random(7)
    for number in range(files):
        content = []
        for _ in range(pages):
            lines = [" ".join(chance.choices(WORDS, k=13)) + "." for _ in range(34)]
            lines += [f"{label}: {value}" for label, value in zip(LABELS, VALUES, strict=True)]
            content.append(lines)
        (folder / f"report-{number}.pdf").write_bytes(write_pdf(f"Report {number}", content))


async def parse_only(folder: Path, workers: int) -> tuple[int, float, float]:
    started, used, pages = time.monotonic(), cpu(), 0
    async for _, parsed in parse_files(sorted(folder.rglob("*.pdf")), workers=workers):
        pages += len(parsed.page_starts) if isinstance(parsed, Parsed) else 0
    return pages, cpu() - used, time.monotonic() - started


async def ingest(folder: Path, home: Path, workers: int) -> tuple[int, float, float]:
    started, used = time.monotonic(), cpu()
    async with Services.open(Settings(home=str(home))) as services:
        done = await add_documents(services, AddDocuments(paths=(str(folder),)), workers=workers)
    return done.pages, cpu() - used, time.monotonic() - started


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--files", type=int, default=40)
    parser.add_argument("--pages", type=int, default=25)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--workers", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary) / "files"
        if options.folder is None:
            folder.mkdir()
            make_files(folder, options.files, options.pages)
        print(f"{'':24} {'pages':>7} {'pages / CPU s':>14} {'seconds':>8}")
        alone = asyncio.run(parse_only(folder, options.workers))
        whole = asyncio.run(ingest(folder, Path(temporary) / "home", options.workers))
    for name, (pages, used, seconds) in (("parsed only", alone), ("added", whole)):
        print(f"{name:24} {pages:7} {pages / used:14.0f} {seconds:8.1f}")
    rate = whole[0] / whole[1]
    print(f"  {'holds' if rate >= HOLD else 'DOES NOT HOLD'}: at least {HOLD} pages a second a core")
    return 0 if rate >= HOLD else 1


if __name__ == "__main__":
    raise SystemExit(main())
