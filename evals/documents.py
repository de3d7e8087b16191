"""The whole path over the user's documents: files are added, questions asked, tables filled, answers checked.

    python evals/documents.py [--data DIR] [--model MODEL] [--base-url URL] [--only NAME,…] [--questions N]
        [--show wrong] [--record]

    receipts  counts, sums, sets and extremes over 220 receipts
    solar     exact sets over 408 data sheets of four layouts
    ntsb      23 columns from 12 accident reports (PDF); `blank` is the share of what the report leaves blank
    invoices  up to 7 columns from 11 invoices (PDF)
    kleister  party, jurisdiction, effective date and term of 60 agreements
    squad     questions to 11 articles, of which 30 % have no answer and must be refused
    manuals   questions to a manual of 259 sections
    finance   questions to the 1,644 pages of 9 filings

Without a model most questions are not answered: their passages are shown, and what is measured is whether the answer
stands in one of them. "exact but wrong" is the share of lists and figures that claim to be exact and are not right.

Every citation of every answer is checked: it must stand where it says. Exits 1 where one does not, or where a figure is
more than 0.02 worse than the recorded baseline; 2 where the data is missing.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import gzip
import json
import os
import random
import re
import sys
import tempfile
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from baseline import settle
from models import add_model_options, column, model_settings
from tablewright.domain.model import Field, Value
from tablewright.domain.proposal import ProposedCell
from tablewright.domain.reply import Citation, Reply
from tablewright.operations.ask import AskDocuments, ExportResult, ask_documents, export_result
from tablewright.operations.documents import AddDocuments, add_documents, make_document_table
from tablewright.operations.fill import plan_fill
from tablewright.services import Services
from tablewright.settings import Settings
from tablewright.store.store import Store
from tablewright.values.dates import read_date
from tablewright.values.numbers import read_numbers
from web import judge, words

ROOT = Path(__file__).resolve().parent.parent
TOLERANCE = 0.02
QUESTIONS = 200
# Of the questions to articles.
UNANSWERABLE = 0.3
YEARS = range(1990, 2031)

# A name with its folder, and what is in it.
File: TypeAlias = tuple[str, str | bytes]


@dataclass(kw_only=True)
class Bench:
    """What the parts have in common, and what they found wrong."""

    data: Path
    model: Mapping[str, str]
    """Its settings."""
    column: str
    questions: int
    show: bool
    exceptions: list[str] = field(default_factory=list)
    citations: int = 0

    @asynccontextmanager
    async def library(self, files: Iterable[File]) -> AsyncIterator[Library]:
        with tempfile.TemporaryDirectory(prefix="tablewright-eval-") as name:
            folder = Path(name)
            paths = [write(folder / "files" / file, content) for file, content in files]
            settings = Settings(home=str(folder / "home"), sources="docs", **self.model)
            async with Services.open(settings) as services:
                added = await add_documents(services, AddDocuments(paths=tuple(map(str, paths))))
                print(
                    f"{added.added} documents, {added.pages} pages, {added.segments} segments, {added.facts} facts "
                    f"in {added.seconds:.0f} s; {len(added.unreadable)} not readable",
                    flush=True,
                )
                names = {document.id: Path(document.path).stem for document in await services.store.documents.all()}
                yield Library(bench=self, services=services, settings=settings, names=names)

    def wrong(self, *told: object) -> None:
        if self.show:
            print("  wrong", *told, sep=" | ", flush=True)


@dataclass(kw_only=True)
class Library:
    """The documents of one part; `names` are their file names without the ending."""

    bench: Bench
    services: Services
    settings: Settings
    names: Mapping[str, str]

    async def ask(self, question: str) -> Reply:
        reply = await ask_documents(self.services, AskDocuments(question=question, agreed=True))
        await self._check(reply)
        return reply

    async def _check(self, reply: Reply) -> None:
        bench = self.bench
        bench.citations += len(reply.citations)
        sources = {cited.number: f"{cited.title}\n{cited.quote}" for cited in reply.citations}
        cited_in_text = {int(number) for number in re.findall(r"\[source (\d+)\]", reply.answer)}
        problems = [f"[source {number}] is not there" for number in sorted(cited_in_text - sources.keys())]
        problems += [f"[source {row.source}] of a row is not there" for row in reply.rows if row.source not in sources]
        for cited in reply.citations:
            text = await self.services.stored_text(cited.content_hash) or ""
            if not stands_there(cited, text):
                problems.append(f"[source {cited.number}] does not stand at {cited.start}:{cited.end}")
        for problem in problems:
            bench.exceptions.append(f"{reply.question[:80]} | {problem}")

    async def all_rows(self, reply: Reply) -> set[str]:
        """The names of the documents of the whole result, of which a reply shows a part."""
        if not reply.result_id:
            return set()
        path = self.settings.home_folder / "result.csv"
        await export_result(self.services, ExportResult(result=reply.result_id), path=path)
        with path.open(newline="", encoding="utf-8-sig") as file:
            return {self.names[row["id"]] for row in csv.DictReader(file)}

    def cited(self, reply: Reply) -> set[str]:
        return {self.names[cited.document_id] for cited in reply.citations}

    def cited_pages(self, reply: Reply) -> set[str]:
        return {f"{self.names[cited.document_id]} page {cited.page}" for cited in reply.citations}

    async def read_pages(self, reply: Reply) -> set[str]:
        """The pages that were found for the answer."""
        async with await Store.open(self.settings.database) as store:
            turn = (await store.conversations.get(reply.conversation)).turns[-1]
            found = await store.documents.segments(turn.segments)
            return {f"{self.names[each.document_id]} page {each.segment.page}" for each in found}

    async def passages(self, name: str, openings: Mapping[str, str]) -> Passages:
        identity = next(id for id, known in self.names.items() if known == name)
        document = await self.services.store.documents.get(identity)
        return Passages(await self.services.stored_text(document.text_hash) or "", openings)

    async def fill(self, fields: Sequence[Field]) -> dict[tuple[str, str], ProposedCell]:
        """A table of the documents, filled: the proposed cells by name of the document and field."""
        table = (await make_document_table(self.services, "documents")).table
        fill = await plan_fill(self.services, table.id, fields, "documents")
        filled = await fill.run()
        rows = {row.id: Path(str(row.cell("File").value)).stem for row in (await self.services.load(table.id)).rows}
        operations = await self.services.store.proposals.operations(filled.proposal_id, limit=100_000)
        return {(rows[each.row_id], each.field): each for each in operations}


def stands_there(cited: Citation, text: str) -> bool:
    """A long quote is its telling lines, with " … " between them."""
    passage = text[cited.start : cited.end]
    return bool(passage) and (passage == cited.quote or all(part in passage for part in cited.quote.split(" … ")))


# ── sets and sums ────────────────────────────────────────────────────────────────────────────────────────────────────


async def receipts(bench: Bench) -> Figures:
    files = [(f"{row['id']}.txt", row["text"]) for row in lines(bench.data / "receipts_sroie.jsonl")]
    verdicts = Verdicts()
    async with bench.library(files) as library:
        for row in lines(bench.data / "receipts_sroie_questions.jsonl"):
            reply = await library.ask(row["question"])
            right, said = await judged(row, reply, library)
            verdicts.add(reply, right=right)
            if not right:
                bench.wrong(row["question"], f"gold {shortened(row['answer'])}", said, told(reply))
    return {"receipts": verdicts.figures}


@dataclass
class Verdicts:
    """Of questions whose answer is a set or a figure."""

    right: Counter[bool] = field(default_factory=Counter)
    exact_but_wrong: Counter[bool] = field(default_factory=Counter)
    looked_up: Counter[bool] = field(default_factory=Counter)

    def add(self, reply: Reply, *, right: bool) -> None:
        self.right[right] += 1
        self.exact_but_wrong[reply.completeness == "exact" and not right] += 1
        self.looked_up[reply.ledger is not None] += 1

    @property
    def figures(self) -> dict[str, float]:
        return {
            "right": share(self.right),
            "looked up": share(self.looked_up),
            "not exact but wrong": 1 - share(self.exact_but_wrong),
        }


async def judged(row: Mapping[str, Any], reply: Reply, library: Library) -> tuple[bool, str]:
    """Whether it is right, and what it says."""
    gold = row["answer"]
    if row["kind"] in ("count", "count_zero"):
        return reply.count == gold, f"count {reply.count}"
    if row["kind"] == "sum":
        numbers = [number.value for number in read_numbers(reply.answer)]
        return any(abs(value - gold) <= row["tolerance"] for value in numbers), reply.answer[:120]
    if row["kind"] == "set":
        found = await library.all_rows(reply)
        return found == set(gold), difference(found, set(gold))
    wanted = set(gold.get("ids") or [gold["id"]])
    found = await library.all_rows(reply)
    values = [value for key, value in gold.items() if key not in ("id", "ids")]
    return found == wanted and all(says(reply.answer, value) for value in values), reply.answer[:160]


async def solar(bench: Bench) -> Figures:
    sheets = lines(bench.data / "solar_datasheets.jsonl")
    files = [(f"{row['id']}.{'md' if row['layout'] == 2 else 'txt'}", row["text"]) for row in sheets]
    verdicts = Verdicts()
    async with bench.library(files) as library:
        for row in lines(bench.data / "solar_questions.jsonl"):
            reply = await library.ask(row["question"])
            found, gold = await library.all_rows(reply), set(row["gold_ids"])
            verdicts.add(reply, right=found == gold)
            if found != gold:
                bench.wrong(row["question"], difference(found, gold), told(reply))
    return {"solar": verdicts.figures}


# ── columns ──────────────────────────────────────────────────────────────────────────────────────────────────────────

NTSB = {
    "accident_number": Field(name="Accident number"),
    "location": Field(name="Location"),
    "city": Field(name="City"),
    "state_or_country": Field(name="State or country"),
    "date": Field(name="Date", type="date"),
    "registration": Field(name="Registration"),
    "aircraft_make": Field(name="Aircraft make"),
    "aircraft_model": Field(name="Aircraft model"),
    "aircraft_damage": Field(name="Aircraft damage"),
    "injuries": Field(name="Injuries"),
    "pilot_age": Field(name="Pilot age", type="number"),
    "pilot_certificate": Field(name="Pilot certificate"),
    "pilot_total_hours": Field(name="Pilot total hours", type="number"),
    "serial_number": Field(name="Serial number"),
    "landing_gear": Field(name="Landing gear"),
    "seats": Field(name="Seats", type="number"),
    "max_gross_weight_lb": Field(name="Max gross weight", type="number", unit="lb"),
    "engine_manufacturer": Field(name="Engine manufacturer"),
    "engine_model": Field(name="Engine model"),
    "rated_power": Field(name="Rated power"),
    "year_of_manufacture": Field(name="Year of manufacture", type="number"),
    "amateur_built": Field(name="Amateur built"),
    "probable_cause": Field(name="Probable cause"),
}
INVOICE = {
    "issuer": Field(name="Issuer"),
    "invoice_number": Field(name="Invoice number"),
    "date": Field(name="Date", type="date"),
    "amount": Field(name="Amount", type="number"),
    "amount_untaxed": Field(name="Amount untaxed", type="number"),
    "currency": Field(name="Currency"),
    "vat": Field(name="VAT number"),
}
AGREEMENT = {
    "party": Field(name="Party", type="list"),
    "jurisdiction": Field(name="Jurisdiction"),
    "effective_date": Field(name="Effective date", type="date"),
    "term": Field(name="Term"),
}


async def ntsb(bench: Bench) -> Figures:
    return {"ntsb": await columns(bench, "pdf_ntsb.gold.jsonl", NTSB, blanks=True)}


async def invoices(bench: Bench) -> Figures:
    return {"invoices": await columns(bench, "pdf_invoices.gold.jsonl", INVOICE, blanks=False)}


async def kleister(bench: Bench) -> Figures:
    records = list(lines(bench.data / "contracts_kleister_nda.jsonl.gz"))
    verdicts: Counter[str] = Counter()
    async with bench.library((f"{row['id']}.txt", row["text"]) for row in records) as library:
        cells = await library.fill(list(AGREEMENT.values()))
        for row in records:
            for key, asked in AGREEMENT.items():
                operation = cells[row["id"], asked.name]
                verdict = judge_listed(operation.cell.value, row["gold"][key])
                note(bench, verdicts, verdict, key, row["id"], row["gold"][key], operation)
    return {"kleister": of_columns(verdicts)}


async def columns(bench: Bench, file: str, fields: Mapping[str, Field], *, blanks: bool) -> dict[str, float]:
    """What is right of what the gold states; with `blanks`, what the gold has as null must stay empty."""
    records = list(lines(bench.data / file))
    verdicts: Counter[str] = Counter()
    async with bench.library((row["pdf"], (bench.data / row["pdf"]).read_bytes()) for row in records) as library:
        cells = await library.fill(list(fields.values()))
        for row in records:
            for key, asked in fields.items():
                gold = row["gold"].get(key)
                if gold is None and not (blanks and key in row["gold"]):
                    continue
                operation = cells[row["id"], asked.name]
                verdict = judge(operation.cell.value, None if gold is None else [str(gold)])
                note(bench, verdicts, verdict, key, row["id"], gold, operation)
    return of_columns(verdicts)


def judge_listed(value: Value, golds: Sequence[str]) -> str:
    """The gold may have several: all of them and no other is right, some of them near."""
    if not golds or value is None:
        return judge(value, None if not golds else list(golds))
    verdicts = [judge(each, list(golds)) for each in (value if isinstance(value, tuple) else (value,))]
    if len(verdicts) == len(golds) and set(verdicts) == {"right"}:
        return "right"
    return "near" if {"right", "near"} & set(verdicts) else "wrong"


def note(
    bench: Bench, verdicts: Counter[str], verdict: str, key: str, name: str, gold: object, operation: ProposedCell
) -> None:
    verdicts[verdict] += 1
    verdicts[f"{verdict} {key}"] += 1
    if verdict in ("wrong", "near", "empty", "filled"):
        cell = operation.cell
        quote = " ".join(cell.evidence[0].quote.split())[:120] if cell.evidence else cell.error
        bench.wrong(verdict, key, name, f"gold {shortened(gold)}", shortened(cell.value), cell.confidence, quote)


def of_columns(verdicts: Counter[str]) -> dict[str, float]:
    print({verdict: count for verdict, count in verdicts.items() if " " not in verdict or verdict == "rightly empty"})
    known = verdicts["right"] + verdicts["near"] + verdicts["wrong"] + verdicts["empty"]
    given = known - verdicts["empty"] + verdicts["filled"]
    absent = verdicts["filled"] + verdicts["rightly empty"]
    figures = {
        "right": verdicts["right"] / max(1, known),
        "right or near": (verdicts["right"] + verdicts["near"]) / max(1, known),
        "precision": verdicts["right"] / max(1, given),
    }
    return figures | ({"blank": verdicts["rightly empty"] / absent} if absent else {})


# ── texts ────────────────────────────────────────────────────────────────────────────────────────────────────────────


async def squad(bench: Bench) -> Figures:
    """An article is a file of paragraphs."""
    articles: dict[str, dict[str, str]] = {}
    for row in lines(bench.data / "reading_squad2.corpus.jsonl"):
        articles.setdefault(row["title"], {})[row["_id"]] = row["text"]
    asked = list(lines(bench.data / "reading_squad2.jsonl"))
    unanswerable = round(bench.questions * UNANSWERABLE)
    answered: Counter[bool] = Counter()
    silent: Counter[bool] = Counter()
    refused: Counter[bool] = Counter()
    cites: Counter[bool] = Counter()
    files = [(f"{plain_name(title)}.txt", "\n\n".join([title, *texts.values()])) for title, texts in articles.items()]
    async with bench.library(files) as library:
        passages = {
            plain_name(title): await library.passages(plain_name(title), {id: text[:60] for id, text in texts.items()})
            for title, texts in articles.items()
        }

        def passages_of(cited: Citation) -> set[str]:
            return passages[library.names[cited.document_id]].of(cited)

        for row in drawn([row for row in asked if row["answerable"]], bench.questions - unanswerable):
            reply = await library.ask(row["question"])
            right = any(says(said(reply), answer) for answer in row["answers"])
            answered[right] += 1
            silent[not reply.citations] += 1
            if reply.citations:
                cites[any(row["context_id"] in passages_of(each) for each in reply.citations)] += 1
            if not right:
                bench.wrong(row["question"], f"gold {row['answers'][0]}", reply.answer[:240], told(reply))
        for row in drawn(
            [row for row in asked if not row["answerable"]], unanswerable if bench.column != "builtin" else 0
        ):
            reply = await library.ask(row["question"])
            refused[not reply.citations] += 1
            if reply.citations:
                bench.wrong("should be refused", row["question"], reply.answer[:240], told(reply))
    figures = {
        ("answered" if bench.column != "builtin" else "in a passage"): share(answered),
        "paragraph cited": share(cites),
    }
    if bench.column != "builtin":
        figures |= {"refused": share(refused), "not refused": 1 - share(silent)}
    return {f"squad {bench.questions}": figures}


async def manuals(bench: Bench) -> Figures:
    """One Markdown file with a heading for each section."""
    sections = {row["_id"]: row for row in lines(bench.data / "manuals_emqa" / "corpus_tv.jsonl")}
    whole = "\n\n".join(f"# {row['title']}\n\n{row['text']}" for row in sections.values())
    asked = drawn(list(lines(bench.data / "manuals_emqa" / "questions.jsonl")), bench.questions)
    cites: Counter[bool] = Counter()
    overlap = 0.0
    async with bench.library([("tv.md", whole)]) as library:
        passages = await library.passages("tv", {id: f"# {row['title']}\n" for id, row in sections.items()})
        for row in asked:
            reply = await library.ask(row["question"])
            there = any(row["gold_section"] in passages.of(cited) for cited in reply.citations)
            cites[there] += 1
            overlap += shared_words(said(reply), row["gold_answer"]) / len(asked)
            if not there:
                title = sections[row["gold_section"]]["title"]
                bench.wrong(row["question"], f"gold {title}", reply.answer[:240], told(reply))
    return {f"manuals {len(asked)}": {"section cited": share(cites), "words of the answer": overlap}}


async def finance(bench: Bench) -> Figures:
    """Each filing is one file of many pages."""
    pages = list(lines(bench.data / "financebench_pages.jsonl.gz"))
    filings = {row["doc_name"] for row in pages}
    asked = [row for row in lines(bench.data / "financebench.jsonl") if row["doc_name"] in filings]
    asked = drawn(asked, bench.questions)
    cites: Counter[bool] = Counter()
    reads: Counter[bool] = Counter()
    numbers: Counter[bool] = Counter()
    texts: dict[str, list[str]] = {}
    for row in sorted(pages, key=lambda each: (each["doc_name"], each["page_zero_indexed"])):
        texts.setdefault(row["doc_name"], []).append(row["text"].replace("\f", "\n"))
    files = ((f"{name}.txt", "\f".join(each)) for name, each in texts.items())
    async with bench.library(files) as library:
        for row in asked:
            reply = await library.ask(row["question"])
            gold = {page_name(evidence) for evidence in row["evidence"]}
            there = bool(gold & library.cited_pages(reply))
            cites[there] += 1
            reads[bool(gold & await library.read_pages(reply))] += 1
            if wanted := stated_numbers(row["answer"]):
                numbers[any(says(said(reply), number) for number in wanted)] += 1
            if not there:
                bench.wrong(row["question"], f"gold {sorted(gold)}", reply.answer[:240], told(reply))
    figures = {"page cited": share(cites), "page read": share(reads), "number said": share(numbers)}
    return {f"finance {len(asked)}": figures}


def page_name(row: Mapping[str, Any]) -> str:
    return f"{row['doc_name']} page {row['page_zero_indexed'] + 1}"


def stated_numbers(text: str) -> list[float]:
    """The numbers of an answer that are no years."""
    values = [number.value for number in read_numbers(text)]
    return [value for value in values if value not in YEARS]


class Passages:
    """Which passage a place in a text belongs to. They stand in this order, and each begins as it is known to."""

    def __init__(self, text: str, openings: Mapping[str, str]) -> None:
        self._text = text
        self._ids = list(openings)
        self._starts: list[int] = []
        at = 0
        for opening in openings.values():
            at = max(at, text.find(opening, at))
            self._starts.append(at)

    def of(self, cited: Citation) -> set[str]:
        """Of all parts of the quote, from the passage that each begins in to that in which it ends."""
        found: set[str] = set()
        for part in cited.quote.split(" … "):
            place = self._text.find(part, cited.start, cited.end)
            if place >= 0:
                first, last = (max(0, bisect_right(self._starts, at) - 1) for at in (place, place + len(part) - 1))
                found.update(self._ids[first : last + 1])
        return found


def shared_words(answer: str, gold: str) -> float:
    """The share of the words of the gold answer that the answer says too."""
    wanted = set(words(gold).split())
    return len(wanted & set(words(answer).split())) / max(1, len(wanted))


def said(reply: Reply) -> str:
    """What is answered; without a model what the passages say."""
    return "\n".join(cited.quote for cited in reply.citations) if reply.route == "passages" else reply.answer


def says(answer: str, gold: object) -> bool:
    """The same words, the same number or the same date stand in it."""
    if isinstance(gold, int | float):
        return any(abs(number.value - gold) <= 0.005 * max(1.0, abs(gold)) for number in read_numbers(answer))
    if f" {words(str(gold))} " in f" {words(answer)} ":
        return True
    date = read_date(str(gold))
    return date is not None and date.iso in answer


# ── the data and the figures ─────────────────────────────────────────────────────────────────────────────────────────

Figures: TypeAlias = dict[str, dict[str, float]]

PARTS: dict[str, tuple[str, Callable[[Bench], Awaitable[Figures]]]] = {
    "receipts": ("receipts_sroie_questions.jsonl", receipts),
    "solar": ("solar_questions.jsonl", solar),
    "ntsb": ("pdf_ntsb.gold.jsonl", ntsb),
    "invoices": ("pdf_invoices.gold.jsonl", invoices),
    "kleister": ("contracts_kleister_nda.jsonl.gz", kleister),
    "squad": ("reading_squad2.jsonl", squad),
    "manuals": ("manuals_emqa/questions.jsonl", manuals),
    "finance": ("financebench.jsonl", finance),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    default = os.environ.get("TABLEWRIGHT_EVAL_DATA") or ROOT / "evals" / "data"
    parser.add_argument("--data", type=Path, default=Path(default), help="folder with the data files")
    add_model_options(parser)
    parser.add_argument("--only", default=",".join(PARTS), help=f"some of {', '.join(PARTS)}")
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="to squad, manuals and finance, each, at most")
    parser.add_argument("--show", default="", choices=["", "wrong"], help="print what is wrong")
    parser.add_argument("--record", action="store_true", help="write the result as the new baseline")
    args = parser.parse_args()
    chosen = args.only.split(",")
    if unknown := [name for name in chosen if name not in PARTS]:
        parser.error(f"there is no part {', '.join(unknown)}")
    if missing := [str(args.data / PARTS[name][0]) for name in chosen if not (args.data / PARTS[name][0]).is_file()]:
        print(f"No data: {', '.join(missing)}. Give its folder with --data or TABLEWRIGHT_EVAL_DATA.", file=sys.stderr)
        return 2
    bench = Bench(
        data=args.data,
        model=model_settings(args),
        column=column(args),
        questions=args.questions,
        show=args.show == "wrong",
    )
    measured = asyncio.run(measure(bench, chosen))
    print(f"{bench.citations} citations, {len(bench.exceptions)} exceptions")
    for exception in bench.exceptions:
        print(f"EXCEPTION {exception}", file=sys.stderr)
    fallen = settle("documents", measured, record=args.record, tolerance=TOLERANCE)
    return 1 if bench.exceptions else fallen


async def measure(bench: Bench, chosen: Sequence[str]) -> Figures:
    measured: Figures = {}
    for name in chosen:
        started = time.monotonic()
        figures = {f"{group} {bench.column}": of for group, of in (await PARTS[name][1](bench)).items()}
        for group, of in figures.items():
            said = "  ".join(f"{what} {value:.3f}" for what, value in of.items())
            print(f"{group:24} {said}  ({time.monotonic() - started:.0f} s)", flush=True)
        measured |= figures
    return measured


def share(counts: Counter[bool]) -> float:
    return counts[True] / max(1, counts.total())


def drawn(rows: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    return random.Random(1).sample(rows, min(count, len(rows)))


def difference(found: set[str], gold: set[str]) -> str:
    return f"missing {sorted(gold - found)[:8]}, too many {sorted(found - gold)[:8]}"


def told(reply: Reply) -> str:
    return f"{reply.route}, {reply.completeness}, {reply.ledger or reply.reason}"


def shortened(value: object) -> str:
    text = str(value)
    return text if len(text) <= 100 else f"{text[:100]}…"


def plain_name(title: str) -> str:
    return re.sub(r"[^\w -]+", "_", title)


def write(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def lines(path: Path) -> Iterator[dict[str, Any]]:
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    yield from map(json.loads, content.splitlines())


if __name__ == "__main__":
    sys.exit(main())
