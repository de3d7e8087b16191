"""A report as a sequence of plain blocks, for the formats that are read from top to bottom: Markdown and DOCX."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from tablewright.table.model import Evidence, Noun
from tablewright.table.reports import wording
from tablewright.table.reports.tidy import found_nothing
from tablewright.table.research import (
    CheckedClaim,
    Reference,
    Report,
    ReportCell,
    ReportTable,
    RoundSummary,
    SeenSource,
    Sentence,
    Unfound,
)


class Run(Noun, frozen=True):
    """A stretch of text of one look. `link` is safe to follow; `cites` is a reference's number, 0 for none."""

    text: str
    look: Literal["", "bold", "italic"] = ""
    link: str = ""
    cites: int = 0


Runs: TypeAlias = tuple[Run, ...]


class Heading(Noun, frozen=True):
    text: str
    level: int = 2


class Paragraph(Noun, frozen=True):
    runs: Runs


class Item(Noun, frozen=True):
    """A point of a list. `number` is a reference's, 0 where it is none; `quotes` stand below it."""

    runs: Runs
    quotes: tuple[Runs, ...] = ()
    number: int = 0


class Grid(Noun, frozen=True):
    header: tuple[str, ...]
    rows: tuple[tuple[Runs, ...], ...]


Block: TypeAlias = Heading | Paragraph | Item | Grid


def outline(report: Report) -> Iterator[Block]:
    """The parts in their order, each left out where it is empty. The report must be tidy."""
    yield Heading(text=report.title, level=1)
    if report.question:
        yield Paragraph(runs=(Run(text="Question:", look="bold"), Run(text=report.question)))
    if byline := wording.byline(report):
        yield Paragraph(runs=(Run(text=byline, look="italic"),))
    if found_nothing(report):
        yield Paragraph(runs=(Run(text=wording.nothing(report), look="bold"),))
    if report.answer or report.summary:
        yield Heading(text=wording.ANSWER)
    if report.answer:
        answer, *numbers = _sentence(report.answer)
        yield Paragraph(runs=(Run(text=answer.text, look="bold"), *numbers))
    if report.summary:
        yield _paragraph(report.summary)
    yield from _points(wording.NOTES, report.notes)
    if report.table:
        yield from _table(report.table)
    for section in report.sections:
        yield Heading(text=section.heading or "Findings")
        yield _paragraph(section.sentences)
    if report.disagreements:
        yield Heading(text=wording.DISAGREEMENTS)
        yield from (Item(runs=tuple(_sentence(sentence))) for sentence in report.disagreements)
    if report.claims:
        yield Heading(text=wording.CLAIMS)
        yield from map(_claim, report.claims)
    if report.unfound:
        yield Heading(text=wording.UNFOUND)
        for each in report.unfound:
            yield Item(runs=tuple(_unfound(each)))
    yield from _points(wording.NEXT_STEPS, report.next_steps)
    if report.completeness:
        yield Heading(text=wording.COMPLETENESS)
        yield Paragraph(runs=(Run(text=report.completeness),))
    if report.references:
        yield Heading(text=wording.REFERENCES)
        yield from map(_reference, report.references)
    if report.sources:
        yield Heading(text=wording.SOURCES)
        yield Paragraph(runs=(Run(text=f"{wording.source_counts(report.sources)}."),))
        yield Grid(header=("Source", "Status", "Detail"), rows=tuple(map(_source, report.sources)))
    if report.rounds:
        yield Heading(text=wording.ROUNDS)
        for each_round in report.rounds:
            yield from _round(each_round)
    if cost := wording.cost(report.usage):
        yield Heading(text=wording.COST)
        yield Paragraph(runs=(Run(text=cost),))


def _paragraph(sentences: tuple[Sentence, ...]) -> Paragraph:
    return Paragraph(runs=tuple(run for sentence in sentences for run in _sentence(sentence)))


def _sentence(sentence: Sentence) -> Iterator[Run]:
    yield Run(text=sentence.text)
    yield from _citations(sentence.citations)
    if sentence.calculation:
        yield Run(text=wording.calculated(sentence.calculation), look="italic")


def _citations(numbers: tuple[int, ...]) -> Iterator[Run]:
    for number in numbers:
        yield Run(text=f"[{number}]", cites=number)


def _points(heading: str, texts: tuple[str, ...], level: int = 2) -> Iterator[Block]:
    if texts:
        yield Heading(text=heading, level=level)
        yield from (Item(runs=(Run(text=text),)) for text in texts)


def _table(table: ReportTable) -> Iterator[Block]:
    if table.rows:
        yield Heading(text=wording.TABLE)
        yield Paragraph(runs=(Run(text=wording.TABLE_MARKS, look="italic"),))
        yield Grid(header=table.columns, rows=tuple(tuple(map(_cell, row)) for row in table.rows))
    yield from _points(wording.OTHERS, table.others, level=3 if table.rows else 2)


def _cell(cell: ReportCell) -> Runs:
    if not cell.text:
        return (Run(text=f"({cell.note or wording.NOT_FOUND})", look="italic"), *_citations(cell.citations))
    note = (Run(text=cell.note, look="italic"),) if cell.note else ()
    sure = cell.citations and cell.confidence != "none"
    mark = (Run(text=f"({wording.CONFIDENCE[cell.confidence]})", look="italic"),) if sure else ()
    return (_named(wording.address(cell.text) or cell.text, cell.text), *_citations(cell.citations), *mark, *note)


def _unfound(unfound: Unfound) -> Iterator[Run]:
    if unfound.what:
        yield Run(text=unfound.what, look="bold")
    if unfound.where:
        yield Run(text=f"— {unfound.where}" if unfound.what else unfound.where)


def _claim(checked: CheckedClaim) -> Item:
    claim = checked.claim
    said = (Run(text="— claimed by"), _named(wording.host(claim.source_url) or claim.source_url, claim.source_url))
    said_of = wording.rests_on(checked)
    reason = ((Run(text=said_of, look="italic"),),) if said_of else ()
    return Item(
        runs=(
            Run(text=f"{wording.VERDICT[checked.verdict]}:", look="bold"),
            Run(text=claim.claim_text),
            *(said if claim.source_url else ()),
        ),
        quotes=(*reason, *map(_evidence, checked.evidence)),
    )


def _evidence(evidence: Evidence) -> Runs:
    return (
        Run(text=f"{wording.STANCE[evidence.stance]}:", look="bold"),
        *((Run(text=f"“{evidence.quote}”"),) if evidence.quote else ()),
        _named(wording.evidence_source(evidence), evidence.origin),
    )


def _named(text: str, url: str) -> Run:
    return Run(text=text, link=wording.link(url))


def _reference(reference: Reference) -> Item:
    title = wording.reference_title(reference)
    details = wording.reference_details(reference)
    address = reference.url if reference.url != title else ""
    return Item(
        number=reference.number,
        runs=tuple(
            run
            for run in (
                Run(text=title, look="bold", link=wording.link(reference.url) if not address else ""),
                Run(text=f"— {details}" if details else ""),
                Run(text=address, link=wording.link(address)),
            )
            if run.text
        ),
        quotes=tuple((Run(text=f"“{quote}”"),) for quote in reference.quotes),
    )


def _source(source: SeenSource) -> tuple[Runs, ...]:
    site = (Run(text=source.domain),) if source.domain and source.title else ()
    return (
        (_named(wording.source_title(source), source.url), *site),
        (Run(text=wording.STATUS[source.status]),),
        (Run(text=source.detail),) if source.detail else (),
    )


def _round(summary: RoundSummary) -> Iterator[Block]:
    yield Heading(text=f"Round {summary.index}: {summary.name}" if summary.name else f"Round {summary.index}", level=3)
    for said, texts in (("Tasks", summary.tasks), ("Gaps closed", summary.closed), ("Still open", summary.open)):
        if any(texts):
            yield Item(runs=(Run(text=f"{said}:", look="bold"), Run(text="; ".join(filter(None, texts)))))
    if summary.stopped:
        yield Item(runs=(Run(text="Why it stopped:", look="bold"), Run(text=summary.stopped)))
