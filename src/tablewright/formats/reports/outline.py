"""Outline a tidy report as a sequence of plain blocks, shared by Markdown, DOCX and PDF. Pure functions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, TypeAlias

from tablewright.domain.model import Evidence, Struct
from tablewright.domain.research import (
    CheckedClaim,
    Reference,
    Report,
    ReportCell,
    ReportTable,
    SeenSource,
    Sentence,
    UnfoundTopic,
)
from tablewright.formats.reports import wording
from tablewright.formats.reports.tidy import found_nothing
from tablewright.formats.reports.wording import PARTS, ReportWords


class TextRun(Struct, frozen=True):
    """A stretch of text of one look. `link` is safe to follow; `cites` is a reference's number, 0 for none."""

    text: str
    look: Literal["", "bold", "italic"] = ""
    link: str = ""
    cites: int = 0


Runs: TypeAlias = tuple[TextRun, ...]


class Heading(Struct, frozen=True):
    text: str
    level: int = 2


class Paragraph(Struct, frozen=True):
    runs: Runs


class Item(Struct, frozen=True):
    """A list item. `number` is that of a reference, else 0; `quotes` follow below it."""

    runs: Runs
    quotes: tuple[Runs, ...] = ()
    number: int = 0


class OutlineTable(Struct, frozen=True):
    header: tuple[str, ...]
    rows: tuple[tuple[Runs, ...], ...]


Block: TypeAlias = Heading | Paragraph | Item | OutlineTable


def outline_report(report: Report) -> Iterator[Block]:
    """Yield the blocks of a tidy report in order; empty parts are left out."""
    words = ReportWords(report.language, report.words)
    yield Heading(text=report.title, level=1)
    if report.question:
        yield Paragraph(runs=(TextRun(text=f"{words('Question')}:", look="bold"), TextRun(text=report.question)))
    if byline := words.byline(report):
        yield Paragraph(runs=(TextRun(text=byline, look="italic"),))
    if found_nothing(report):
        yield Paragraph(runs=(TextRun(text=words.nothing(report), look="bold"),))
    if report.answer or report.summary:
        yield Heading(text=words("In short"))
    if report.answer:
        answer, *numbers = _outline_sentence(report.answer, words)
        yield Paragraph(runs=(TextRun(text=answer.text, look="bold"), *numbers))
    if report.summary:
        yield _outline_sentences(report.summary, words)
    yield from _outline_points(words("Please note"), report.notes)
    if report.table:
        yield from _outline_table(report.table, words)
    for section in report.sections:
        yield Heading(text=section.heading or words("Findings"))
        if report.written_by:
            yield _outline_sentences(section.sentences, words)
        else:
            yield from (Item(runs=tuple(_outline_sentence(sentence, words))) for sentence in section.sentences)
    if report.disagreements:
        yield Heading(text=words("Where sources disagree"))
        yield from (Item(runs=tuple(_outline_sentence(sentence, words))) for sentence in report.disagreements)
    if report.claims:
        yield Heading(text=words("Claims checked"))
        yield from (_outline_claim(checked, words) for checked in report.claims)
    if report.unfound:
        yield Heading(text=words("What we could not find, and where we looked"))
        for each in report.unfound:
            yield Item(runs=tuple(_outline_unfound(each)))
    yield from _outline_points(words("Next steps"), report.next_steps)
    if report.completeness:
        yield Heading(text=words("Is the list complete?"))
        yield Paragraph(runs=(TextRun(text=report.completeness),))
    if report.references:
        yield Heading(text=words("References"))
        yield from (_outline_reference(each, words) for each in report.references)
    if report.sources:
        yield Heading(text=words("Every source seen"))
        yield Paragraph(runs=(TextRun(text=f"{words.source_counts(report.sources)}."),))
        header = words("Source"), words("Status"), words("Detail")
        yield OutlineTable(header=header, rows=tuple(_outline_source(each, words) for each in report.sources))
    if report.rounds:
        yield Heading(text=words("How the research went"))
        for each_round, parts in words.happened(report.rounds):
            yield Heading(text=words.round_name(each_round), level=3)
            for key, texts in parts.items():
                yield Item(
                    runs=(
                        TextRun(text=f"{words(PARTS[key])}:", look="bold"),
                        TextRun(text="; ".join(filter(None, texts))),
                    )
                )
    if cost := words.cost(report.usage):
        yield Heading(text=words("What it cost"))
        yield Paragraph(runs=(TextRun(text=cost),))


def _outline_sentences(sentences: tuple[Sentence, ...], words: ReportWords) -> Paragraph:
    return Paragraph(runs=tuple(run for sentence in sentences for run in _outline_sentence(sentence, words)))


def _outline_sentence(sentence: Sentence, words: ReportWords) -> Iterator[TextRun]:
    yield TextRun(text=sentence.text)
    yield from _outline_citations(sentence.citations)
    if sentence.calculation:
        yield TextRun(text=words.calculated(sentence.calculation), look="italic")


def _outline_citations(numbers: tuple[int, ...]) -> Iterator[TextRun]:
    for number in numbers:
        yield TextRun(text=f"[{number}]", cites=number)


def _outline_points(heading: str, texts: tuple[str, ...], level: int = 2) -> Iterator[Block]:
    if texts:
        yield Heading(text=heading, level=level)
        yield from (Item(runs=(TextRun(text=text),)) for text in texts)


def _outline_table(table: ReportTable, words: ReportWords) -> Iterator[Block]:
    if table.rows:
        yield Heading(text=words("At a glance"))
        yield Paragraph(runs=(TextRun(text=words.marks(table), look="italic"),))
        yield OutlineTable(
            header=table.columns, rows=tuple(tuple(_outline_cell(cell, words) for cell in row) for row in table.rows)
        )
    yield from _outline_points(words("Also considered"), table.others, level=3 if table.rows else 2)


def _outline_cell(cell: ReportCell, words: ReportWords) -> Runs:
    if not cell.text:
        return (
            TextRun(text=f"({cell.note or words('not found')})", look="italic"),
            *_outline_citations(cell.citations),
        )
    note = (TextRun(text=cell.note, look="italic"),) if cell.note else ()
    sure = cell.citations and cell.confidence != "none"
    mark = (TextRun(text=f"({words.mark(cell.confidence)})", look="italic"),) if sure else ()
    return (
        _link_run(wording.short_address(cell.text) or cell.text, cell.text),
        *_outline_citations(cell.citations),
        *mark,
        *note,
    )


def _outline_unfound(unfound: UnfoundTopic) -> Iterator[TextRun]:
    if unfound.what:
        yield TextRun(text=unfound.what, look="bold")
    if unfound.where:
        yield TextRun(text=f"— {unfound.where}" if unfound.what else unfound.where)


def _outline_claim(checked: CheckedClaim, words: ReportWords) -> Item:
    claim = checked.claim
    said = (
        TextRun(text=f"— {words('claimed by')}"),
        _link_run(wording.site_of_link(claim.source_url) or claim.source_url, claim.source_url),
    )
    said_of = words.rests_on(checked)
    reason = ((TextRun(text=said_of, look="italic"),),) if said_of else ()
    return Item(
        runs=(
            TextRun(text=f"{words.mark(checked.verdict)}:", look="bold"),
            TextRun(text=claim.claim_text),
            *(said if claim.source_url else ()),
        ),
        quotes=(*reason, *(_outline_evidence(each, words) for each in checked.evidence)),
    )


def _outline_evidence(evidence: Evidence, words: ReportWords) -> Runs:
    return (
        TextRun(text=f"{words.mark(evidence.stance)}:", look="bold"),
        *((TextRun(text=words.quoted(evidence.quote)),) if evidence.quote else ()),
        _link_run(words.evidence_source(evidence), evidence.origin),
    )


def _link_run(text: str, url: str) -> TextRun:
    return TextRun(text=text, link=wording.safe_link(url))


def _outline_reference(reference: Reference, words: ReportWords) -> Item:
    title = words.reference_title(reference)
    details = words.reference_details(reference)
    address = reference.url if reference.url != title else ""
    return Item(
        number=reference.number,
        runs=tuple(
            run
            for run in (
                TextRun(text=title, look="bold", link=wording.safe_link(reference.url) if not address else ""),
                TextRun(text=f"— {details}" if details else ""),
                TextRun(text=address, link=wording.safe_link(address)),
            )
            if run.text
        ),
        quotes=tuple((TextRun(text=words.quoted(quote)),) for quote in reference.quotes),
    )


def _outline_source(source: SeenSource, words: ReportWords) -> tuple[Runs, ...]:
    site = (TextRun(text=source.domain),) if source.domain and source.title else ()
    return (
        (_link_run(wording.title_of_source(source), source.url), *site),
        (TextRun(text=words.status(source.status)),),
        (TextRun(text=source.detail),) if source.detail else (),
    )
