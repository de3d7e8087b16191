"""What the page reader keeps of real pages, beside plain trafilatura in the same run.

    python evals/pages.py [--data DIR] [--record]

`web_extraction_wcxb.jsonl.gz`: the share of the sentences that belong to a page (`with`) that are kept, of those that
do not (`without`) that are left out, and the F1 of its words against the main text, by type of page.
`swde_pages.jsonl.xz`: the share of the true attribute values that are present in the text, by vertical.

Facts are what we read pages for: what is kept comes first, what is left out second. Exits 1 where a figure has fallen
more than 0.02 under the recorded baseline, 2 where the data is missing.
"""

from __future__ import annotations

import argparse
import gzip
import html
import json
import lzma
import os
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any

import trafilatura

from baseline import settle
from tablewright.web.read import UnreadablePage, read_bytes

ROOT = Path(__file__).resolve().parent.parent
TOLERANCE = 0.02
TYPES = "web_extraction_wcxb.jsonl.gz"
VALUES = "swde_pages.jsonl.xz"

Reader = Callable[[bytes, str], str]
Figures = dict[str, dict[str, float]]


@dataclass(kw_only=True)
class Kept:
    """Outcomes of one group of pages."""

    wanted: list[bool] = field(default_factory=list)
    unwanted: list[bool] = field(default_factory=list)
    f1: list[float] = field(default_factory=list)

    def figures(self) -> dict[str, float]:
        return {"with": mean(self.wanted), "without": mean(self.unwanted), "f1": mean(self.f1)}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    default = os.environ.get("TABLEWRIGHT_EVAL_DATA") or ROOT / "evals" / "data"
    parser.add_argument("--data", type=Path, default=Path(default), help=f"folder with {TYPES} and {VALUES}")
    parser.add_argument("--record", action="store_true", help="write the result as the new baseline")
    args = parser.parse_args()
    missing = [name for name in (TYPES, VALUES) if not (args.data / name).is_file()]
    if missing:
        print(f"No data: {', '.join(missing)} not in {args.data}. See --data, TABLEWRIGHT_EVAL_DATA.", file=sys.stderr)
        return 2
    typed = list(lines(args.data / TYPES))
    valued = list(lines(args.data / VALUES))
    measured = {**by_type(typed, ours), **by_vertical(valued, ours)}
    plain = {**by_type(typed, theirs), **by_vertical(valued, theirs)}
    show(measured, plain)
    for name, reader in (("tablewright", ours), ("trafilatura", theirs)):
        print(
            f"{name}: {speed(typed, reader):.0f} pages a CPU second ({TYPES}), {speed(valued, reader):.0f} ({VALUES})"
        )
    return settle("pages", measured, record=args.record, tolerance=TOLERANCE)


def ours(body: bytes, url: str) -> str:
    try:
        return read_bytes(body, content_type="text/html", charset="utf-8", url=url).text
    except UnreadablePage:
        return ""


def theirs(body: bytes, url: str) -> str:
    return trafilatura.extract(body) or ""


def by_type(pages: list[dict[str, Any]], reader: Reader) -> Figures:
    groups: dict[str, Kept] = defaultdict(Kept)
    for number, page in enumerate(pages):
        text, gold = reader(page["html"].encode(), page["url"]), page["gold"]
        words = wording(text)
        for name in (page["page_type"], "all", half(number)):
            group = groups[f"pages {name}"]
            group.wanted += [wording(sentence) in words for sentence in gold["with"]]
            group.unwanted += [wording(sentence) not in words for sentence in gold["without"]]
            group.f1.append(word_f1(text, gold["main_content"]))
    return {name: groups[name].figures() for name in sorted(groups)}


def by_vertical(pages: list[dict[str, Any]], reader: Reader) -> Figures:
    groups: dict[str, list[bool]] = defaultdict(list)
    for number, page in enumerate(pages):
        text = spaced(reader(page["html"].encode(), page["url"]))
        for values in page["gold"].values():
            for name in (page["vertical"], "all", half(number)):
                groups[f"values {name}"] += [spaced(value) in text for value in values]
    return {name: {"present": mean(groups[name])} for name in sorted(groups)}


def speed(pages: list[dict[str, Any]], reader: Reader) -> float:
    start = time.process_time()
    for page in pages:
        reader(page["html"].encode(), page["url"])
    return len(pages) / (time.process_time() - start)


def half(number: int) -> str:
    """The rules were checked on both halves; a rule that helps only one of them is made for single pages."""
    return "odd half" if number % 2 else "even half"


def wording(text: str) -> str:
    """Its words in order: bullets, kinds of quotes and spaces are no difference. A sentence may be cut in a word."""
    return " " + " ".join(re.findall(r"\w+", html.unescape(text).casefold()))


def spaced(text: str) -> str:
    return " ".join(html.unescape(text).split()).casefold()


def word_f1(text: str, gold: str) -> float:
    found, true = (Counter(re.findall(r"\w+", each.casefold())) for each in (text, gold))
    shared = (found & true).total()
    return 2 * shared / (found.total() + true.total()) if shared else 0.0


def lines(path: Path) -> Iterator[dict[str, Any]]:
    opener = lzma.open if path.suffix == ".xz" else gzip.open
    with opener(path, "rt", encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def show(measured: Figures, plain: Figures) -> None:
    for table in (("with", "without", "f1"), ("present",)):
        print(f"{'':22}" + "".join(f"{what:>9}{'trafil.':>9}" for what in table))
        for group, row in measured.items():
            if table[0] in row:
                print(f"{group:22}" + "".join(f"{row[what]:9.3f}{plain[group][what]:9.3f}" for what in table))
        print()


if __name__ == "__main__":
    sys.exit(main())
