"""How well the built-in reader reads, without a model and without a network.

    python evals/reading.py [--data DIR] [--only NAME] [--record]

    companies  the founding year and the city of the headquarters, from each company's own article
    tablefill  one missing column of 100 tables of many subjects, each row with the three best of its table's pages;
               some rows have no page that answers them
    receipts   the total and the date of scanned receipts, each asked about itself
    swde       attributes of products, jobs, films, people and places on 48 sites, from their HTML

`right` is the share of known values that were found, `precision` the share of filled cells that are right, `empty` the
share of unanswerable cells that were left alone. Strict means the same words; lenient, that one holds the other.
`medium right` and `high right` are of the cells that are called so. What is not proposed counts as empty.
Exits 1 where a figure has fallen more than 0.02 under the recorded baseline, 2 where the data is missing.
"""

from __future__ import annotations

import argparse
import json
import lzma
import os
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from baseline import settle
from tablewright.domain.model import Field
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.rowkey import fold_text, split_folded_words
from tablewright.extraction import reader
from tablewright.extraction.subject import Subject, score_subject_match
from tablewright.strategies.findings import Weights
from tablewright.values.coerce import coerce_value
from tablewright.values.dates import read_date
from tablewright.web.read.reader import read_bytes as read_page

ROOT = Path(__file__).resolve().parent.parent
TOLERANCE = 0.02
REWORDED = "tablefill_reworded.jsonl"
PAGES_READ = 3
NAMED_BY = {
    **{"auto": "model", "book": "title", "camera": "model", "job": "title"},
    **{"movie": "title", "nbaplayer": "name", "restaurant": "name", "university": "name"},
}

Figures = dict[str, dict[str, float]]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    default = os.environ.get("TABLEWRIGHT_EVAL_DATA") or ROOT / "evals" / "data"
    parser.add_argument("--data", type=Path, default=Path(default), help="folder with the data files")
    parser.add_argument("--only", choices=list(PARTS), help="measure this part alone")
    parser.add_argument("--record", action="store_true", help="write the result as the new baseline")
    args = parser.parse_args()
    parts = {name: part for name, part in PARTS.items() if args.only in (None, name)}
    missing = [args.data / file for file, _ in parts.values() if not (args.data / file).is_file()]
    if missing:
        names = ", ".join(str(path) for path in missing)
        print(f"No data: {names}. Give its folder with --data or TABLEWRIGHT_EVAL_DATA.", file=sys.stderr)
        return 2
    measured: Figures = {}
    for file, measure in parts.values():
        measured |= measure(args.data / file)
    for group, figures in measured.items():
        print(f"{group:24}", "  ".join(f"{what} {value:.3f}" for what, value in figures.items()))
    return settle("reading", measured, record=args.record, tolerance=TOLERANCE)


# ── what counts as right ─────────────────────────────────────────────────────────────────────────────────────────────


def words(text: object) -> str:
    return " ".join(word for word in split_folded_words(fold_text(str(text))) if word not in ("the", "a", "an"))


def holds(one: str, other: str) -> bool:
    return bool(one and other) and (f" {one} " in f" {other} " or f" {other} " in f" {one} ")


def judge(value: str, golds: Sequence[str]) -> str:
    """ "right", "lenient" or "wrong"."""
    plain, known = words(value), [words(gold) for gold in golds]
    date = read_date(value)
    if plain in known or (date and any((gold := read_date(text)) and gold.iso == date.iso for text in golds)):
        return "right"
    return "lenient" if any(holds(plain, gold) for gold in known) else "wrong"


# A value and how sure the reader is of it; of a cell that stays empty, None.
Read = tuple[str | None, float]
# How sure the reader was of the cells that it filled, beside whether they are right.
Sureness = list[tuple[float, bool]]


def answer(subject: Subject, fields: Sequence[Field], sources: Sequence[Retrieved]) -> dict[str, Read]:
    """What the reader would propose for the cells: its best candidates, where it is sure enough."""
    found = reader.read_candidates(subject, fields, sources)
    return {
        name: (best[0].value, best[0].score) if best and best[0].score >= Weights.MIN_PROPOSED else (None, 0.0)
        for name, best in found.items()
    }


def bands(sureness: Sureness) -> dict[str, float]:
    figures = {}
    for name, low, high in (("medium", Weights.MIN_PROPOSED, Weights.MIN_HIGH), ("high", Weights.MIN_HIGH, 1.01)):
        inside = [right for said, right in sureness if low <= said < high]
        figures |= {name: len(inside) / max(1, len(sureness))}
        figures |= {f"{name} right": sum(inside) / len(inside)} if inside else {}
    return {what: round(value, 4) for what, value in figures.items()}


def shares(verdicts: Counter[str], sureness: Sureness, *, lenient: bool = False) -> dict[str, float]:
    right, near = verdicts["right"], verdicts["lenient"]
    known = right + near + verdicts["wrong"] + verdicts["missed"]
    filled = right + near + verdicts["wrong"] + verdicts["invented"]
    unanswerable = verdicts["invented"] + verdicts["left empty"]
    figures = {"right": right / max(1, known), "precision": right / max(1, filled)}
    if lenient:
        figures |= {
            "right lenient": (right + near) / max(1, known),
            "precision lenient": (right + near) / max(1, filled),
        }
    if unanswerable:
        figures["empty"] = verdicts["left empty"] / unanswerable
    return {what: round(value, 4) for what, value in figures.items()} | bands(sureness)


# ── the data ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def companies(path: Path) -> Figures:
    founded = Field(name="Founded", type="number", question="What year was {Company} founded?")
    city = Field(name="Headquarters city", question="In which city is {Company} headquartered?")
    verdicts: dict[str, Counter[str]] = defaultdict(Counter)
    sureness: dict[str, Sureness] = defaultdict(list)
    for row in rows(path):
        subject = Subject(name=row["company"], context={"Symbol": row["symbol"], "Sector": row["sector"]})
        page = Retrieved(origin=row["page"]["url"], title=row["page"]["title"], text=row["page"]["text"])
        got = answer(subject, [founded, city], [page])
        for field, key in ((founded, "founded_year"), (city, "headquarters_city")):
            gold, (value, sure) = row["gold"][key], got[field.name]
            if gold is not None:
                verdict = "missed" if value is None else "right" if words(value) == words(gold) else "wrong"
                verdicts[field.name][verdict] += 1
                sureness[field.name] += [] if value is None else [(sure, verdict == "right")]
    return {f"companies {name.lower()}": shares(counts, sureness[name]) for name, counts in verdicts.items()}


def tablefill(path: Path, *, reworded: bool = False) -> Figures:
    """`reworded`: the same columns, asked in other words."""
    verdicts: dict[str, Counter[str]] = defaultdict(Counter)
    sureness: Sureness = []
    asked = {entry["id"]: entry for entry in rows(path.with_name(REWORDED))} if reworded else {}
    for table in rows(path):
        field, key = Field(name=table["target_column"]), table["key_column"]
        if reworded:
            field = Field(name=asked[table["id"]]["header"], question=asked[table["id"]]["question"])
        pages = [Retrieved(origin=page["url"], title=page["title"], text=page["text"]) for page in table["pages"]]
        for row in table["rows"]:
            context = {column: cell for column, cell in row["cells"].items() if cell and column != key}
            subject = Subject(name=row["cells"][key] or "", context=context, column=key)
            best = sorted(pages, key=lambda page: -score_subject_match(subject, page.title, page.text))[:PAGES_READ]
            value, sure = answer(subject, [field], best)[field.name]
            if row["expect"] == "value":
                verdict = "missed" if value is None else judge(value, [row["gold"], *row["gold_aliases"]])
            else:
                verdict = "left empty" if value is None else "invented"
            verdicts["all"][verdict] += 1
            if value is not None:
                sureness.append((sure, verdict in ("right", "lenient")))
    name = "tablefill reworded" if reworded else "tablefill"
    return {name: shares(verdicts["all"], sureness, lenient=True)}


def calibration(sureness: Sureness) -> None:
    """What was said beside what was so."""
    for low in (0.5, 0.6, 0.7, 0.8, 0.9):
        inside = [(said, right) for said, right in sureness if low <= said < low + 0.1 + (low == 0.9)]
        if inside:
            said, right = (sum(each) / len(inside) for each in zip(*inside, strict=True))
            print(f"    {low:.1f}: {len(inside):4} cells, said {said:.2f}, right {right:.2f}")


def receipts(path: Path) -> Figures:
    total, date = Field(name="Total", type="number"), Field(name="Date", type="date")
    verdicts: dict[str, Counter[str]] = defaultdict(Counter)
    sureness: dict[str, Sureness] = defaultdict(list)
    for row in rows(path):
        got = answer(Subject(name=""), [total, date], [Retrieved(origin=row["id"], text=row["text"])])
        for field, key in ((total, "total_number"), (date, "date_iso")):
            gold, (value, sure) = row["gold_norm"].get(key), got[field.name]
            if gold is not None:
                read = coerce_value(value, field).value if value is not None else None
                verdicts[field.name]["missed" if value is None else "right" if read == gold else "wrong"] += 1
                sureness[field.name] += [] if value is None else [(sure, read == gold)]
    return {f"receipts {name.lower()}": shares(counts, sureness[name]) for name, counts in verdicts.items()}


def swde(path: Path) -> Figures:
    """A gold value is the text of one node of the page, so containing it, or being part of it, is right."""
    verdicts: dict[str, Counter[str]] = defaultdict(Counter)
    sureness: dict[str, Sureness] = defaultdict(list)
    for row in rows(path):
        vertical, gold = row["vertical"], {name: present(values) for name, values in row["gold"].items()}
        if not (names := gold.pop(NAMED_BY[vertical], [])):
            continue
        page = read_page(row["html"].encode(), content_type="text/html", charset="utf-8", url=row["url"])
        fields = {name: Field(name=name.replace("_", " ").capitalize()) for name in gold}
        source = Retrieved(origin=row["url"], title=page.title, text=page.text)
        got = answer(Subject(name=names[0]), list(fields.values()), [source])
        for name, field in fields.items():
            value, sure = got[field.name]
            if not gold[name]:
                verdict = "left empty" if value is None else "invented"
            else:
                verdict = "missed" if value is None else judge(value, gold[name]).replace("lenient", "right")
            for group in (vertical, "all"):
                verdicts[group][verdict] += 1
                sureness[group] += [] if value is None else [(sure, verdict == "right")]
    return {f"swde {group}": shares(verdicts[group], sureness[group]) for group in sorted(verdicts)}


def present(values: Sequence[str]) -> list[str]:
    plain = (value.replace("\xa0", " ").strip(" |\t\n") for value in values)
    return [value for value in plain if value]


def rows(path: Path) -> Iterator[dict[str, Any]]:
    with lzma.open(path) if path.suffix == ".xz" else path.open("rb") as lines:
        for line in lines:
            yield json.loads(line)


PARTS: dict[str, tuple[str, Callable[[Path], Figures]]] = {
    "companies": ("companies_sp500_fill.jsonl", companies),
    "tablefill": ("tablefill_hybridqa.jsonl", tablefill),
    "reworded": ("tablefill_hybridqa.jsonl", partial(tablefill, reworded=True)),
    "receipts": ("receipts_sroie.jsonl", receipts),
    "swde": ("swde_pages.jsonl.xz", swde),
}


if __name__ == "__main__":
    sys.exit(main())
