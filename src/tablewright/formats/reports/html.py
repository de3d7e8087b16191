"""A report as one HTML file that loads nothing and runs nothing: it can be mailed, printed, and opened in ten years.

Every text goes through `escape`, every address through `wording.link`; beside that, a policy in the file itself forbids
scripts and requests. A citation's quote is shown at the foot of the window while the citation is pointed at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from tablewright.domain.model import Evidence, Label
from tablewright.domain.research import (
    CheckedClaim,
    Reference,
    Report,
    ReportCell,
    ReportTable,
    RoundSummary,
    Section,
    SeenSource,
    Sentence,
    Unfound,
)
from tablewright.domain.text import shortened
from tablewright.formats.reports import wording
from tablewright.formats.reports.style import STYLE
from tablewright.formats.reports.tidy import found_nothing
from tablewright.formats.reports.wording import PARTS, Words

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_FEWEST_FOR_CONTENTS = 4


def to_html(report: Report) -> str:
    """The report must be tidy."""
    words = Words(report.language, report.words)
    parts = _parts(report, words)
    contents = "".join(f'<li><a href="#{part}">{escape(title)}</a></li>' for part, title, _ in parts)
    shows_contents = len(parts) >= _FEWEST_FOR_CONTENTS
    return "\n".join(
        [
            f'<!DOCTYPE html>\n<html lang="{words.code}">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="referrer" content="no-referrer">\n<meta name="color-scheme" content="light dark">',
            f"<title>{escape(report.title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>",
            _header(report, words),
            f'<nav aria-label="{words("Contents")}"><ol>{contents}</ol></nav>' if shows_contents else "",
            *(_section(part, title, body) for part, title, body in parts),
            "</main>\n</body>\n</html>\n",
        ]
    )


def _header(report: Report, words: Words) -> str:
    citations = Citations(report.references, words)
    lines = [f'<header>\n<h1 dir="auto">{escape(report.title)}</h1>']
    if report.question:
        label = f'<span class="label">{words("Question")}</span>'
        lines.append(f'<p class="question" dir="auto">{label} {escape(report.question)}</p>')
    if byline := words.byline(report):
        lines.append(f'<p class="byline">{escape(byline)}</p>')
    if found_nothing(report):
        lines.append(f'<p class="answer">{words.nothing(report)}</p>')
    if report.answer or report.summary:
        answer = f'<p dir="auto"><b>{_sentence(report.answer, citations, words)}</b></p>' if report.answer else ""
        summary = f'<p dir="auto">{_sentences(report.summary, citations, words)}</p>' if report.summary else ""
        lines.append(f'<div class="answer"><h2>{words("In short")}</h2>{answer}{summary}</div>')
    if report.notes:
        lines.append(f'<div class="notes"><h2>{words("Please note")}</h2>{_list(report.notes)}</div>')
    return "\n".join([*lines, "</header>"])


def _parts(report: Report, words: Words) -> list[tuple[str, str, str]]:
    """Anchor, heading and body of each part that is not empty, in their order."""
    citations = Citations(report.references, words)
    parts = [
        (
            "table",
            words("At a glance"),
            _table(report.table, citations, words) if report.table and report.table.rows else "",
        ),
        ("others", words("Also considered"), _list(report.table.others) if report.table else ""),
        *(
            (
                f"section-{place}",
                section.heading or words("Findings"),
                _prose(section, report, citations, words),
            )
            for place, section in enumerate(report.sections, 1)
        ),
        (
            "disagreements",
            words("Where sources disagree"),
            _cited_list(report.disagreements, citations, words),
        ),
        ("claims", words("Claims checked"), claims(report.claims, words)),
        (
            "unfound",
            words("What we could not find, and where we looked"),
            unfound(report.unfound),
        ),
        ("next-steps", words("Next steps"), _list(report.next_steps)),
        ("completeness", words("Is the list complete?"), _paragraph(report.completeness)),
        ("references", words("References"), references(report.references, words)),
        ("sources", words("Every source seen"), sources(report.sources, words)),
        ("rounds", words("How the research went"), rounds(report.rounds, words)),
        ("cost", words("What it cost"), _paragraph(words.cost(report.usage))),
    ]
    return [part for part in parts if part[2]]


def _section(part: str, title: str, body: str) -> str:
    heading = f'<h2 id="{part}-title" dir="auto">{escape(title)}</h2>'
    return f'<section id="{part}" aria-labelledby="{part}-title">\n{heading}\n{body}\n</section>'


def _prose(section: Section, report: Report, citations: Citations, words: Words) -> str:
    """A paragraph; excerpts, which nobody has joined, are a list."""
    if not report.written_by:
        return _cited_list(section.sentences, citations, words)
    return f'<p dir="auto">{_sentences(section.sentences, citations, words)}</p>'


def _sentences(sentences: Iterable[Sentence], citations: Citations, words: Words) -> str:
    return " ".join(_sentence(sentence, citations, words) for sentence in sentences)


def _cited_list(sentences: Iterable[Sentence], citations: Citations, words: Words) -> str:
    points = "".join(f'<li dir="auto">{_sentence(sentence, citations, words)}</li>' for sentence in sentences)
    return f"<ul>{points}</ul>" if points else ""


def _sentence(sentence: Sentence, citations: Citations, words: Words) -> str:
    worked = f" <i>{escape(words.calculated(sentence.calculation))}</i>" if sentence.calculation else ""
    return escape(sentence.text) + citations.marks(sentence.citations, sentence.text) + worked


def _paragraph(text: str) -> str:
    return f'<p dir="auto">{escape(text)}</p>' if text else ""


def _list(texts: Iterable[str]) -> str:
    points = "".join(f'<li dir="auto">{escape(text)}</li>' for text in texts)
    return f"<ul>{points}</ul>" if points else ""


def _table(table: ReportTable, citations: Citations, words: Words) -> str:
    rows = [[_cell(cell, citations, words) for cell in row] for row in table.rows]
    return f'<p class="hint">{words.marks(table)}</p>\n{grid("table", table.columns, rows)}'


def _cell(cell: ReportCell, citations: Citations, words: Words) -> str:
    marks = citations.marks(cell.citations, cell.text)
    if not cell.text:
        return f'<span class="missing">{escape(cell.note or words("not found"))}{marks}</span>'
    value = anchor(cell.text, wording.address(cell.text)) if wording.link(cell.text) else escape(cell.text)
    note = f'<span class="note">{escape(cell.note)}</span>' if cell.note else ""
    sure = confidence(cell.confidence, words) if cell.citations and cell.confidence != "none" else ""
    return f'<span class="value">{value}{marks}</span>{sure}{note}'


# ── marks ───────────────────────────────────────────────────────────────────────────────────────────────────────────
# What recurs in an HTML report: citations with their quotes, links, marks of confidence, tables.


_QUOTE_CHARS = 320


class Citations:
    """Citation numbers as links to their references, each with the words that it stands for."""

    def __init__(self, references: Sequence[Reference], words: Words) -> None:
        self._words = words
        self._references = {reference.number: reference for reference in references}

    def marks(self, numbers: Sequence[int], text: str) -> str:
        marks = "".join(self._mark(self._references[number], text) for number in numbers)
        return f'<span class="cites">{marks}</span>' if marks else ""

    def _mark(self, reference: Reference, text: str) -> str:
        quote = shortened(wording.best_quote(reference, text), _QUOTE_CHARS)
        words = f"<q>{escape(quote)}</q>" if quote else ""
        source = f"[{reference.number}] {escape(reference.domain or self._words.reference_title(reference))}"
        label = escape(self._words("Reference {number}", number=reference.number))
        return (
            f'<span class="cite"><a href="#reference-{reference.number}" aria-label="{label}">[{reference.number}]</a>'
            f'<span class="peek" dir="auto">{words}<span class="from">{source}</span></span></span>'
        )


def anchor(url: str, text: str) -> str:
    """A link where the address may be one, else the text alone."""
    if not wording.link(url):
        return escape(text)
    return f'<a href="{escape(url)}" rel="noopener noreferrer nofollow">{escape(text or url)}</a>'


def confidence(label: Label, words: Words) -> str:
    return f'<span class="confidence {label}">{words.mark(label)}</span>'


def grid(part: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are HTML already; the first of a row says what the row is about.

    The roles are said again because a phone shows rows as cards, and a table that is no longer laid out as one would
    lose its meaning for a screen reader.
    """
    header = "".join(f'<th scope="col" role="columnheader">{escape(name)}</th>' for name in columns)
    body = "\n".join(f'<tr role="row">{_row(columns, row)}</tr>' for row in rows)
    return (
        f'<div class="wide" role="region" aria-labelledby="{part}-title" tabindex="0">\n'
        f'<table class="{part}-rows" role="table" aria-labelledby="{part}-title">\n'
        f'<thead role="rowgroup"><tr role="row">{header}</tr></thead>\n<tbody role="rowgroup">\n{body}\n</tbody>\n'
        f"</table>\n</div>"
    )


def _row(columns: Sequence[str], cells: Sequence[str]) -> str:
    first, *others = cells
    return f'<th scope="row" role="rowheader" dir="auto">{first}</th>' + "".join(
        f'<td role="cell" data-column="{escape(column)}" dir="auto">{cell}</td>'
        for column, cell in zip(columns[1:], others, strict=True)
    )


# ── parts of a research report ──────────────────────────────────────────────────────────────────────────────────────
# The parts of an HTML report that show how it came about: claims, gaps, references, sources, rounds.


_SHOWN_OPEN = 12


def claims(checked: Sequence[CheckedClaim], words: Words) -> str:
    return "\n".join(_claim(each, words) for each in checked)


def _claim(checked: CheckedClaim, words: Words) -> str:
    claim = checked.claim
    source = anchor(claim.source_url, wording.host(claim.source_url) or claim.source_url)
    said = f' <span class="from">({words("claimed by")} {source})</span>' if claim.source_url else ""
    rests_on = words.rests_on(checked)
    reason = f'<p class="reason" dir="auto">{escape(rests_on)}</p>' if rests_on else ""
    return (
        f'<article class="claim {checked.verdict.replace(" ", "-")}">'
        f'<p class="verdict">{words.mark(checked.verdict)}</p>'
        f'<p class="claimed" dir="auto">{escape(claim.claim_text)}{said}</p>{reason}'
        f"{''.join(_evidence(each, words) for each in checked.evidence)}</article>"
    )


def _evidence(evidence: Evidence, words: Words) -> str:
    quote = f'<p dir="auto">{escape(words.quoted(evidence.quote))}</p>' if evidence.quote else ""
    source = anchor(evidence.origin, words.evidence_source(evidence))
    return f"<blockquote>{quote}<footer><b>{words.mark(evidence.stance)}:</b> {source}</footer></blockquote>"


def unfound(missing: Sequence[Unfound]) -> str:
    points = "".join(
        f'<li dir="auto">{f"<b>{escape(each.what)}</b>" if each.what else ""}'
        + (f' <span class="from">{escape(each.where)}</span>' if each.where else "")
        + "</li>"
        for each in missing
    )
    return f'<ul class="unfound">{points}</ul>' if points else ""


def references(listed: Sequence[Reference], words: Words) -> str:
    points = "\n".join(_reference(each, words) for each in listed)
    return f'<ol class="references">\n{points}\n</ol>' if points else ""


def _reference(reference: Reference, words: Words) -> str:
    title = anchor(reference.url, words.reference_title(reference))
    details = words.reference_details(reference)
    address = reference.url if reference.url != words.reference_title(reference) else ""
    return (
        f'<li id="reference-{reference.number}"><span class="number">[{reference.number}]</span><div>'
        f'<p class="title" dir="auto">{title}</p>'
        + (f'<p class="from">{escape(details)}</p>' if details else "")
        + (f'<p class="address">{escape(address)}</p>' if address else "")
        + "".join(f'<blockquote dir="auto">{escape(words.quoted(quote))}</blockquote>' for quote in reference.quotes)
        + "</div></li>"
    )


def sources(seen: Sequence[SeenSource], words: Words) -> str:
    """A long list is folded: its sum is what most readers want."""
    if not seen:
        return ""
    counted = f"{words('{count} source|{count} sources', count=len(seen))}: {words.source_counts(tuple(seen))}"
    header = words("Source"), words("Status"), words("Detail")
    return (
        f"<details{' open' if len(seen) <= _SHOWN_OPEN else ''}><summary>{counted}</summary>\n"
        f"{grid('sources', header, [_source(source, words) for source in seen])}</details>"
    )


def _source(source: SeenSource, words: Words) -> tuple[str, str, str]:
    site = f' <span class="from">{escape(source.domain)}</span>' if source.domain and source.title else ""
    return (
        anchor(source.url, wording.source_title(source)) + site,
        f'<span class="status {source.status}">{words.status(source.status)}</span>',
        escape(source.detail),
    )


def rounds(summaries: Sequence[RoundSummary], words: Words) -> str:
    points = "\n".join(_round(each, parts, words) for each, parts in words.happened(summaries))
    return f'<ol class="rounds">\n{points}\n</ol>' if points else ""


def _round(summary: RoundSummary, parts: Mapping[str, Sequence[str]], words: Words) -> str:
    lists = {kind: texts for kind, texts in parts.items() if kind != "stopped"}
    stopped = f'<p class="stopped" dir="auto"><b>{words("Why it stopped")}:</b> {escape(summary.stopped)}</p>'
    return (
        f"<li><h3>{escape(words.round_name(summary))}</h3>"
        + "".join(_what_happened(kind, words(PARTS[kind]), texts) for kind, texts in lists.items())
        + (stopped if summary.stopped else "")
        + "</li>"
    )


def _what_happened(kind: str, said: str, texts: Sequence[str]) -> str:
    points = "".join(f'<li dir="auto">{escape(text)}</li>' for text in texts if text)
    return f'<div class="{kind}"><p class="label">{said}</p><ul>{points}</ul></div>'
