"""What recurs in an HTML report: citations with their quotes, links, marks of confidence, tables."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from tablewright.domain.model import Label
from tablewright.domain.research import Reference
from tablewright.domain.text import shortened
from tablewright.formats.reports import wording
from tablewright.formats.reports.wording import Words

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
