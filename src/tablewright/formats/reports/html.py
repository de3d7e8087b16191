"""A report as one HTML file that loads nothing and runs nothing: it can be mailed, printed, and opened in ten years.

Every text goes through `escape`, every address through `wording.link`; beside that, a policy in the file itself forbids
scripts and requests. A citation's quote is shown at the foot of the window while the citation is pointed at.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from tablewright.domain.research import Report, ReportCell, ReportTable, Section, Sentence
from tablewright.formats.reports import html_research, wording
from tablewright.formats.reports.html_marks import Citations, anchor, confidence, grid
from tablewright.formats.reports.style import STYLE
from tablewright.formats.reports.tidy import found_nothing
from tablewright.formats.reports.wording import Words

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
        ("claims", words("Claims checked"), html_research.claims(report.claims, words)),
        (
            "unfound",
            words("What we could not find, and where we looked"),
            html_research.unfound(report.unfound),
        ),
        ("next-steps", words("Next steps"), _list(report.next_steps)),
        ("completeness", words("Is the list complete?"), _paragraph(report.completeness)),
        ("references", words("References"), html_research.references(report.references, words)),
        ("sources", words("Every source seen"), html_research.sources(report.sources, words)),
        ("rounds", words("How the research went"), html_research.rounds(report.rounds, words)),
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
