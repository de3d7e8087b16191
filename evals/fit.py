"""Fit the scores of the built-in reader: how likely an answer is right, from what speaks for it.

    python evals/fit.py [--data DIR] [--write]

Every answer that the reader looks at on the packs below is judged by the pack's gold. The answers of a page compete
with each other and with "none of these" (a multinomial logit). How sure it is on a kind of page that was not fitted
on is measured by leaving each pack out once. `--write` puts the weights into `extraction/weights.json`. The tables of
`tablefill` are left out: they are what the fit is checked on (`evals/reading.py`, `evals/web.py`).

    companies  the founding year and the city of the headquarters, each asked in several words
    swde       attributes on 48 sites, each asked in several words
    lists      the columns of real lists, read on the pages of their members
    tables     the columns of tables in articles, read on the pages that their cells name
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from reading import NAMED_BY, ROOT, calibration, judge, present, rows, words
from tablewright.domain.model import Field
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.text import normalize_words
from tablewright.extraction import scoring
from tablewright.extraction.meaning import content_words
from tablewright.extraction.reader import MIN_SURE, find_matches
from tablewright.extraction.scoring import Match
from tablewright.extraction.sentences import is_agent_noun
from tablewright.extraction.spans import find_spans
from tablewright.extraction.subject import SUBJECT_SCORES, Subject, score_sources, score_subject_match
from tablewright.strategies.findings import Weights
from tablewright.web.read.reader import read_bytes as read_page

PENALTY = 3.0
ROUNDS, PACE = 600, 0.05
MOST_ROWS = 12
# Of the rows of a column, those whose page must state it, for what the others state to be no accident.
SPOKEN_OF = 0.5
# Of the values of a column, those that must be of a kind for the column to be asked so.
MOSTLY = 0.8
# Answers of a page that are looked at.
MOST = 60

# The answers to one cell, page by page, and the gold: none where the texts do not say it.
Cell = tuple[list[list[Match]], list[str]]

SWDE = {
    "swde products": ("auto", "camera"),
    "swde works": ("book", "movie"),
    "swde people": ("nbaplayer", "job"),
    "swde places": ("restaurant", "university"),
}
COMPANIES = {
    "founded_year": (
        Field(name="Founded", type="number", question="What year was {Company} founded?"),
        Field(name="Started", type="number", question="In which year did {Company} begin?"),
        Field(name="Since", question="When was {Company} set up?", description="the year the business was created"),
        Field(name="Year of establishment", type="number"),
    ),
    "headquarters_city": (
        Field(name="Headquarters city", question="In which city is {Company} headquartered?"),
        Field(name="Main office", question="Where does {Company} have its main office?"),
        Field(name="Based in", question="Which town is {Company} based in?"),
        Field(name="Head office"),
    ),
}
REWORDED = {
    "engine": ("Motor", "Which engine does the {Name} have?"),
    "fuel_economy": ("Consumption", "How much fuel does the {Name} use?"),
    "price": ("Cost", "How much does the {Name} cost?"),
    "author": ("Written by", "Who wrote {Name}?"),
    "isbn_13": ("ISBN", "What is the ISBN of {Name}?"),
    "publication_date": ("Published", "When was {Name} published?"),
    "publisher": ("Publishing house", "Which house published {Name}?"),
    "manufacturer": ("Maker", "Who makes the {Name}?"),
    "company": ("Employer", "Which firm is hiring a {Name}?"),
    "location": ("Place of work", "Where is the job?"),
    "date_posted": ("Posted", "When was the job of {Name} advertised?"),
    "director": ("Directed by", "Who directed {Name}?"),
    "genre": ("Kind of film", "Which genre is {Name}?"),
    "mpaa_rating": ("Rating", "How is {Name} rated?"),
    "height": ("How tall", "How tall is {Name}?"),
    "team": ("Club", "Which team does {Name} play for?"),
    "weight": ("Weighs", "How heavy is {Name}?"),
    "address": ("Street", "What is the address of {Name}?"),
    "cuisine": ("Food", "Which cuisine does {Name} serve?"),
    "phone": ("Telephone", "What is the phone number of {Name}?"),
    "type": ("Public or private", "What type of school is {Name}?"),
    "website": ("Web address", "What is the website of {Name}?"),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    default = os.environ.get("TABLEWRIGHT_EVAL_DATA") or ROOT / "evals" / "data"
    parser.add_argument("--data", type=Path, default=Path(default))
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    cells = {
        "companies": list(companies(args.data)),
        **{name: list(swde(args.data, verticals)) for name, verticals in SWDE.items()},
        "lists": list(lists(args.data)),
        "tables": list(tables(args.data)),
    }
    answers = Answers(cells)
    weights = fit(answers)
    said = leave_one_out(cells, answers, weights)
    weights |= fit_lines(said)
    report_left_out(said)
    for name, weight in weights.items():
        print(f"{name:30} {weight:6.2f}")
    for name, pack in cells.items():
        report(name, pack, weights)
    if args.write:
        path = Path(scoring.__file__).with_name("weights.json")
        rounded = {name: round(weight, 3) for name, weight in weights.items()}
        path.write_text(json.dumps(rounded, indent=2) + "\n", encoding="utf-8")
    return 0


# ── the packs ────────────────────────────────────────────────────────────────────────────────────────────────────────


def looked(subject: Subject, field: Field, sources: Sequence[Retrieved]) -> list[list[Match]]:
    return [
        list(find_matches(subject, field, source, fit))
        for source, fit in zip(sources, score_sources(subject, sources), strict=True)
    ]


def companies(data: Path) -> Iterator[Cell]:
    for row in rows(data / "companies_sp500_fill.jsonl"):
        subject = Subject(name=row["company"], context={"Sector": row["sector"]}, column="Company")
        page = Retrieved(origin=row["page"]["url"], title=row["page"]["title"], text=row["page"]["text"])
        for key, fields in COMPANIES.items():
            gold = row["gold"][key]
            for field in fields if gold is not None else ():
                yield looked(subject, field, [page]), [str(gold)]


def swde(data: Path, verticals: Sequence[str]) -> Iterator[Cell]:
    for row in rows(data / "swde_pages.jsonl.xz"):
        if row["vertical"] not in verticals:
            continue
        gold = {name: present(values) for name, values in row["gold"].items()}
        names = gold.pop(NAMED_BY[row["vertical"]], [])
        if not names:
            continue
        page = read_page(row["html"].encode(), content_type="text/html", charset="utf-8", url=row["url"])
        source = Retrieved(origin=row["url"], title=page.title, text=page.text)
        for name, values in gold.items():
            plain, (header, question) = name.replace("_", " ").capitalize(), REWORDED[name]
            for field in (Field(name=plain), Field(name=header, question=question)):
                yield looked(Subject(name=names[0]), field, [source]), values


def lists(data: Path) -> Iterator[Cell]:
    """The columns of lists, read on the pages of their members."""
    checked = checked_on(data)
    for entry in zipped(data / "wide_lists.jsonl.gz"):
        own = [page for page in entry["pages"] if page["title"] != entry["title"]]
        yield from thinned(filled(entry["key"], entry["columns"], entry["rows"], usable(own, checked)))


def tables(data: Path) -> Iterator[Cell]:
    """The tables of articles: a row is known by each cell that has a page of its own."""
    checked = checked_on(data)
    for entry in zipped(data / "multihop_hybridqa.jsonl.gz"):
        pages = usable(entry["pages"][1:], checked)
        titles = {normalize_words(page.title) for page in pages}
        lines = [line for line in entry["pages"][0]["text"].split("\n") if line.startswith("|")]
        if len(lines) < 3:
            continue
        columns, *rest = (
            [cell.strip() for cell in line.strip("| ").split(" | ")] for line in lines if "---" not in line
        )
        known = [dict(zip(columns, cells, strict=True)) for cells in rest if len(cells) == len(columns)]
        for key in columns:
            mine = [row for row in known if normalize_words(row[key]) in titles]
            if len(mine) >= 0.3 * len(known):
                yield from thinned(filled(key, [name for name in columns if name != key], mine[:MOST_ROWS], pages))


def filled(
    key: str, columns: Sequence[str], known: Sequence[dict[str, str]], pages: Sequence[Retrieved]
) -> Iterator[Cell]:
    """The columns that most pages speak of, as headers and as questions. What a row's own page does not say is absent;
    of columns that few pages speak of, only the absent are read."""
    own: dict[int, list[Retrieved]] = {}
    for number, row in enumerate(known):
        subject = Subject(name=row[key], context={name: row[name] for name in columns}, column=key)
        fits = sorted(
            ((score_subject_match(subject, page.title, page.text), page) for page in pages), key=lambda each: -each[0]
        )
        own[number] = [page for fit, page in fits[:3] if fit >= SUBJECT_SCORES.about or page is fits[0][1]]
    for name in columns:
        if not any(map(str.isalpha, name)):
            continue
        golds = [row[name] for row in known]
        stated = [bool(own[number]) and is_in(gold, own[number][0].text) for number, gold in enumerate(golds)]
        spoken_of = sum(stated) >= SPOKEN_OF * sum(bool(words(gold)) for gold in golds)
        for number, row in enumerate(known):
            if words(row[name]) and (spoken_of or not stated[number]):
                context = {other: value for other, value in row.items() if value and other not in (name, key)}
                subject = Subject(name=row[key], context=context, column=key)
                for field in asked(name, key, golds):
                    yield looked(subject, field, own[number]), [row[name]] if stated[number] else []


def thinned(cells: Iterable[Cell]) -> Iterator[Cell]:
    """With no more absent cells than others: asked is mostly what a page may say."""
    known = list(cells)
    some, none = ([cell for cell in known if bool(cell[1]) == stated] for stated in (True, False))
    yield from some
    yield from none[:: max(1, math.ceil(len(none) / max(1, len(some))))]


def asked(name: str, key: str, golds: Sequence[str]) -> Iterator[Field]:
    """The header alone and, where the values show of which kind they are, with a type or a question."""
    yield Field(name=name)
    filled = [gold for gold in golds if words(gold)]
    for kind in ("year", "date", "count", "person"):
        fits = [span for gold in filled for span in find_spans(kind, gold) if len(span.value) >= len(gold) - 1]
        if len(fits) < MOSTLY * len(filled):
            continue
        if kind == "person":
            if is_agent_noun(content_words(name)):
                yield Field(name=name, question=f"Who is the {name.lower()} of {{{key}}}?")
        else:
            yield Field(name=name, type="date" if kind == "date" else "number")
        return


def is_in(value: str, text: str) -> bool:
    return bool(words(value)) and f" {words(value)} " in f" {words(text)} "


def usable(pages: Sequence[dict[str, str]], checked: set[str]) -> list[Retrieved]:
    return [
        Retrieved(origin=page["url"], title=page["title"], text=page["text"])
        for page in pages
        if page["url"] not in checked
    ]


def checked_on(data: Path) -> set[str]:
    return {page["url"] for table in rows(data / "tablefill_hybridqa.jsonl") for page in table["pages"]}


def zipped(path: Path) -> Iterator[dict[str, Any]]:
    with gzip.open(path, "rt") as file:
        for line in file:
            yield json.loads(line)


# ── the fit ──────────────────────────────────────────────────────────────────────────────────────────────────────────


class Answers:
    """Every answer of the pages of some packs, as a line of what speaks for it."""

    def __init__(self, packs: Mapping[str, Sequence[Cell]]) -> None:
        found = [
            (name, complete(page), gold) for name, pack in packs.items() for places, gold in pack for page in places
        ]
        pages = [each for each in found if each[1]]
        self.names = sorted({name for _, seen, _ in pages for each in seen for name in each.features})
        of = {name: place for place, name in enumerate(self.names)}
        self.many = np.array([len(seen) for _, seen, _ in pages])
        self.pack = np.array([name for name, _, _ in pages])
        self.table = np.zeros((int(self.many.sum()), len(self.names)), dtype=np.float32)
        for line, each in enumerate(each for _, seen, _ in pages for each in seen):
            for name, value in each.features.items():
                self.table[line, of[name]] = value
        self.right = np.array(
            [bool(gold) and judge(each.value, gold) != "wrong" for _, seen, gold in pages for each in seen]
        )


def fit(
    answers: Answers, *, without: str = "", start: Mapping[str, float] | None = None, rounds: int = ROUNDS
) -> dict[str, float]:
    """By gradient ascent (Adam) on the likelihood of the right answers of each page, or of "none" where it has none."""
    kept = answers.pack != without
    lines = np.repeat(kept, answers.many)
    table, right, many = answers.table[lines], answers.right[lines], answers.many[kept]
    starts, page = np.cumsum([0, *many])[:-1], np.repeat(np.arange(len(many)), many)
    answered = np.add.reduceat(right.astype(float), starts) > 0
    print(
        f"{len(many)} pages, {answered.mean():.3f} with a right answer; {len(right)} answers, {right.mean():.3f} right",
        flush=True,
    )
    weights = np.array([(start or {}).get(name, 0.0) for name in answers.names], dtype=np.float32)
    speed, force = np.zeros_like(weights), np.zeros_like(weights)
    for turn in range(1, rounds + 1):
        odds = np.exp(np.clip(table @ weights, -30, 30))
        likely = odds / (1 + np.add.reduceat(odds, starts))[page]
        best = np.where(right, likely, 0)
        share = np.where(answered[page], best / np.maximum(np.add.reduceat(best, starts), 1e-12)[page], 0)
        slope = (share - likely) @ table - PENALTY * weights
        speed, force = 0.9 * speed + 0.1 * slope, 0.99 * force + 0.01 * slope**2
        weights += PACE * (speed / (1 - 0.9**turn)) / (np.sqrt(force / (1 - 0.99**turn)) + 1e-8)
    return dict(zip(answers.names, weights.tolist(), strict=True))


class Said(NamedTuple):
    """The best answer of a cell on a pack that was left out of the fit; `share` is the cell's part of its pack."""

    pack: str
    way: str
    odds: float
    right: bool
    share: float


def leave_one_out(packs: Mapping[str, Sequence[Cell]], answers: Answers, fitted: Mapping[str, float]) -> list[Said]:
    """What the reader says of each pack with weights that were not fitted on it. Each pack counts the same, however
    many cells it has: the next kind of page is like one of them."""
    said: list[Said] = []
    for left_out, cells in packs.items():
        weights = fit(answers, without=left_out, start=fitted, rounds=ROUNDS // 3)
        best = []
        for places, gold in cells:
            scored = [each for found in places for each in scoring.score_matches(complete(found), weights)]
            if scored:
                best.append((*max(scored, key=lambda each: each[0]), gold))
        for likely, seen, gold in best:
            way = "sentence" if seen.how == "sentence" else "label"
            right = bool(gold) and judge(seen.value, gold) != "wrong"
            said.append(Said(left_out, way, math.log(likely / (1 - likely)), right, 1 / len(best)))
    return said


def fit_lines(said: Iterable[Said]) -> dict[str, float]:
    """How much too sure the weights are on packs they were not fitted on: the odds that were said beside those that
    came true, by a line for each way of answering (Platt)."""
    found: dict[str, float] = {}
    known = list(said)
    for way in ("label", "sentence"):
        odds, right, counts = np.array(
            [(each.odds, each.right, each.share) for each in known if each.way == way], dtype=float
        ).T
        odds, counts = np.clip(odds, -8, 8), counts / counts.sum()
        slope, shift = 1.0, 0.0
        for _ in range(5000):
            off = counts * (right - 1 / (1 + np.exp(-(slope * odds + shift))))
            slope, shift = slope + 0.05 * float((off * odds).sum()), shift + 0.05 * float(off.sum())
        found |= {f"{way} slope": slope, f"{way} shift": shift}
    return found


def report_left_out(said: Sequence[Said]) -> None:
    """How often an answer is right by how sure the reader says it is, where neither the weights nor the lines saw the
    pack. `Weights.MIN_PROPOSED` and `Weights.MIN_HIGH` are read off it."""
    sure: list[tuple[float, Said]] = []
    for pack in dict.fromkeys(each.pack for each in said):
        lines = fit_lines(each for each in said if each.pack != pack)
        for each in said:
            if each.pack == pack:
                odds = lines[f"{each.way} slope"] * each.odds + lines[f"{each.way} shift"]
                sure.append((1 / (1 + math.exp(-odds)), each))
    print("Packs left out, one at a time:")
    for low, high in (
        (0.5, 0.6),
        (0.6, Weights.MIN_PROPOSED),
        (Weights.MIN_PROPOSED, Weights.MIN_HIGH),
        (Weights.MIN_HIGH, 1.0),
    ):
        inside = [each for said_sure, each in sure if low <= said_sure < high]
        right = sum(each.share for each in inside if each.right) / max(1e-9, sum(each.share for each in inside))
        print(f"    {low:.2f} to {high:.2f}: {len(inside):4} cells, right {right:.2f}")


def complete(found: Sequence[Match]) -> list[Match]:
    return [seen for seen in found if seen.whole][:MOST]


def report(name: str, cells: Sequence[Cell], weights: dict[str, float]) -> None:
    """The best answer of each cell: how sure, beside how often right."""
    said: list[tuple[float, bool]] = []
    counts: Counter[str] = Counter()
    for places, gold in cells:
        scored = [each for found in places for each in scoring.score_matches(complete(found), weights)]
        best = max(scored, key=lambda each: each[0], default=None)
        if best is None or best[0] < MIN_SURE:
            counts["empty" if gold else "rightly empty"] += 1
            continue
        right = bool(gold) and judge(best[1].value, gold) != "wrong"
        counts["right" if right else "wrong" if gold else "filled"] += 1
        said.append((best[0], right))
    print(name, dict(counts))
    calibration(said)


if __name__ == "__main__":
    sys.exit(main())
