"""A report as one HTML file that loads nothing and runs nothing: it can be mailed, printed, and opened in ten years.

Every text goes through `escape`, every address through `wording.link`; beside that, a policy in the file itself forbids
scripts and requests. A citation's quote is shown at the foot of the window while the citation is pointed at.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from tablewright.table.reports import html_research, wording
from tablewright.table.reports.html_marks import Citations, anchor, confidence, grid
from tablewright.table.reports.style import STYLE
from tablewright.table.reports.tidy import found_nothing
from tablewright.table.research import Report, ReportCell, ReportTable, Section, Sentence

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
_FEWEST_FOR_CONTENTS = 4


def to_html(report: Report) -> str:
    """The report must be tidy."""
    parts = _parts(report)
    contents = "".join(f'<li><a href="#{part}">{escape(title)}</a></li>' for part, title, _ in parts)
    shows_contents = len(parts) >= _FEWEST_FOR_CONTENTS
    return "\n".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="referrer" content="no-referrer">\n<meta name="color-scheme" content="light dark">',
            f"<title>{escape(report.title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n<main>",
            _header(report),
            f'<nav aria-label="Contents"><ol>{contents}</ol></nav>' if shows_contents else "",
            *(_section(part, title, body) for part, title, body in parts),
            "</main>\n</body>\n</html>\n",
        ]
    )


def _header(report: Report) -> str:
    citations = Citations(report.references)
    lines = [f'<header>\n<h1 dir="auto">{escape(report.title)}</h1>']
    if report.question:
        lines.append(
            f'<p class="question" dir="auto"><span class="label">Question</span> {escape(report.question)}</p>'
        )
    if byline := wording.byline(report):
        lines.append(f'<p class="byline">{escape(byline)}</p>')
    if found_nothing(report):
        lines.append(f'<p class="answer">{wording.nothing(report)}</p>')
    if report.answer or report.summary:
        answer = f'<p dir="auto"><b>{_sentence(report.answer, citations)}</b></p>' if report.answer else ""
        summary = f'<p dir="auto">{_sentences(report.summary, citations)}</p>' if report.summary else ""
        lines.append(f'<div class="answer"><h2>{wording.ANSWER}</h2>{answer}{summary}</div>')
    if report.notes:
        lines.append(f'<div class="notes"><h2>{wording.NOTES}</h2>{_list(report.notes)}</div>')
    return "\n".join([*lines, "</header>"])


def _parts(report: Report) -> list[tuple[str, str, str]]:
    """Anchor, heading and body of each part that is not empty, in their order."""
    citations = Citations(report.references)
    parts = [
        ("table", wording.TABLE, _table(report.table, citations) if report.table and report.table.rows else ""),
        ("others", wording.OTHERS, _list(report.table.others) if report.table else ""),
        *(_prose(place, section, citations) for place, section in enumerate(report.sections, 1)),
        ("disagreements", wording.DISAGREEMENTS, _cited_list(report.disagreements, citations)),
        ("claims", wording.CLAIMS, html_research.claims(report.claims)),
        ("unfound", wording.UNFOUND, html_research.unfound(report.unfound)),
        ("next-steps", wording.NEXT_STEPS, _list(report.next_steps)),
        ("completeness", wording.COMPLETENESS, _paragraph(report.completeness)),
        ("references", wording.REFERENCES, html_research.references(report.references)),
        ("sources", wording.SOURCES, html_research.sources(report.sources)),
        ("rounds", wording.ROUNDS, html_research.rounds(report.rounds)),
        ("cost", wording.COST, _paragraph(wording.cost(report.usage))),
    ]
    return [part for part in parts if part[2]]


def _section(part: str, title: str, body: str) -> str:
    heading = f'<h2 id="{part}-title" dir="auto">{escape(title)}</h2>'
    return f'<section id="{part}" aria-labelledby="{part}-title">\n{heading}\n{body}\n</section>'


def _prose(place: int, section: Section, citations: Citations) -> tuple[str, str, str]:
    body = f'<p dir="auto">{_sentences(section.sentences, citations)}</p>'
    return f"section-{place}", section.heading or "Findings", body


def _sentences(sentences: Iterable[Sentence], citations: Citations) -> str:
    return " ".join(_sentence(sentence, citations) for sentence in sentences)


def _cited_list(sentences: Iterable[Sentence], citations: Citations) -> str:
    points = "".join(f'<li dir="auto">{_sentence(sentence, citations)}</li>' for sentence in sentences)
    return f"<ul>{points}</ul>" if points else ""


def _sentence(sentence: Sentence, citations: Citations) -> str:
    worked = f" <i>{escape(wording.calculated(sentence.calculation))}</i>" if sentence.calculation else ""
    return escape(sentence.text) + citations.marks(sentence.citations, sentence.text) + worked


def _paragraph(text: str) -> str:
    return f'<p dir="auto">{escape(text)}</p>' if text else ""


def _list(texts: Iterable[str]) -> str:
    points = "".join(f'<li dir="auto">{escape(text)}</li>' for text in texts)
    return f"<ul>{points}</ul>" if points else ""


def _table(table: ReportTable, citations: Citations) -> str:
    rows = [[_cell(cell, citations) for cell in row] for row in table.rows]
    return f'<p class="hint">{wording.TABLE_MARKS}</p>\n{grid("table", table.columns, rows)}'


def _cell(cell: ReportCell, citations: Citations) -> str:
    marks = citations.marks(cell.citations, cell.text)
    if not cell.text:
        return f'<span class="missing">{escape(cell.note or wording.NOT_FOUND)}{marks}</span>'
    value = anchor(cell.text, wording.address(cell.text)) if wording.link(cell.text) else escape(cell.text)
    note = f'<span class="note">{escape(cell.note)}</span>' if cell.note else ""
    sure = confidence(cell.confidence) if cell.citations and cell.confidence != "none" else ""
    return f'<span class="value">{value}{marks}</span>{sure}{note}'
