"""How fast pages are read: HTML to text, and text to candidates, beside what lxml needs to parse the same HTML.

    python bench/reading.py [--json]

On the pages of the sample world, alone and ten of them joined into one long page. One core, CPU seconds, one run.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable

from lxml import html

from tablewright.domain.fieldspec import parse_field
from tablewright.domain.retrieved import Retrieved
from tablewright.extraction import reader
from tablewright.extraction.scoring import index_page_words
from tablewright.extraction.subject import Subject
from tablewright.sample.layouts import render_page
from tablewright.sample.world import sample_pages, sample_world
from tablewright.web.read.reader import read_bytes

FIELDS = [
    parse_field(text)
    for text in (
        "Founded:number=What year was {Company} founded?",
        "Headquarters=In which city is {Company} headquartered?",
        "CEO=Who is the chief executive of {Company}?",
        "Employees:number=How many people does {Company} employ?",
        "Price:money",
        "Capacity:number(l)",
    )
]
# Page-field readings a second a core.
HOLD = 200


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    sites = sample_world()
    bodies = [render_page(sites[page.site], page).encode() for page in sample_pages()]
    texts = [read_bytes(body, content_type="text/html") for body in bodies]
    small = [Retrieved(origin=str(number), title=text.title, text=text.text) for number, text in enumerate(texts)]
    long = [
        Retrieved(
            origin=f"long {start}",
            title=small[start].title,
            text="\n".join(page.text for page in small[start : start + 10]),
        )
        for start in range(0, len(small), 10)
    ]
    parsing = seconds(lambda: [html.document_fromstring(body) for body in bodies])
    reading = seconds(lambda: [read_bytes(body, content_type="text/html") for body in bodies])
    figures = {
        "pages read a second": round(len(bodies) / reading),
        "reading, times lxml's parsing": round(reading / parsing, 1),
        "page-field readings a second, short pages": rate(small),
        "page-field readings a second, long pages": rate(long),
        "characters, short / long": f"{mean(small)} / {mean(long)}",
    }
    if args.json:
        print(json.dumps(figures, indent=2))
    else:
        for name, figure in figures.items():
            print(f"{name:45} {figure}")
    slowest = min(rate(small), rate(long))
    return 0 if slowest >= HOLD else 1


def rate(sources: list[Retrieved]) -> int:
    """Each page is asked about as if its title were the row's name, so that everything on it is looked at."""

    def work() -> None:
        index_page_words.cache_clear()
        for source in sources:
            reader.read_candidates(Subject(name=source.title), FIELDS, [source])

    return round(len(sources) * len(FIELDS) / seconds(work))


def mean(sources: list[Retrieved]) -> int:
    return sum(len(source.text) for source in sources) // len(sources)


def seconds(work: Callable[[], object]) -> float:
    """CPU time of the best of three."""
    times = []
    for _ in range(3):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


if __name__ == "__main__":
    sys.exit(main())
