"""Render a tidy report as a PDF (the extra `pdf`), with bookmarks, linked citations and linked addresses.

Every text is escaped, so nothing retrieved is markup. Reads the fonts of this computer, and nothing else.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from functools import lru_cache
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

from reportlab.lib.pagesizes import A4, landscape
from reportlab.lib.styles import ParagraphStyle
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfbase.ttfonts import TTFError, TTFont
from reportlab.platypus import LongTable, SimpleDocTemplate
from reportlab.platypus import Paragraph as Flowable

from tablewright.domain.research import Report
from tablewright.domain.text import shorten_text
from tablewright.formats.reports.outline import (
    Block,
    Heading,
    Item,
    OutlineTable,
    Paragraph,
    Runs,
    TextRun,
    outline_report,
)
from tablewright.formats.reports.wording import ReportWords

# In points: 2 cm, and the baseline of the page number.
_MARGIN, _FOOT = 56, 30
# The longest text of a column decides its width, between these numbers of characters.
_MIN_WIDTH_CHARACTERS, _MAX_WIDTH_CHARACTERS = 9, 42
_INK, _SOFT, _LINK, _LINE, _SHADE = "#1c2430", "#4a525c", "#0b57b0", "#c3c9d1", "#eef1f5"


def render_pdf_report(report: Report) -> bytes:
    """Return the document; the same report gives the same bytes if the same fonts are installed."""
    columns = len(report.table.columns) if report.table and report.table.rows else 0
    # As in the Word document: more columns than this leave about one word per line in a cell.
    size = landscape(A4) if columns > 4 else A4
    stream = io.BytesIO()
    document = SimpleDocTemplate(
        stream,
        pagesize=size,
        leftMargin=_MARGIN,
        rightMargin=_MARGIN,
        topMargin=_MARGIN,
        bottomMargin=_MARGIN,
        title=report.title,
        author="Tablewright",
        lang=ReportWords(report.language, report.words).code,
        # No time of creation and no random id, so that the same report gives the same bytes.
        invariant=1,
    )
    pages = PdfPages(report, size[0] - 2 * _MARGIN)
    flowables = [flowable for block in outline_report(report) for flowable in pages.outline_block(block)]
    document.build(flowables, onFirstPage=pages.foot, onLaterPages=pages.foot)
    return stream.getvalue()


class PdfPages:
    def __init__(self, report: Report, width: float) -> None:
        self._report = report
        self._width = width
        self._styles = _make_styles()
        self._anchored: set[int] = set()

    def foot(self, canvas: Any, document: Any) -> None:
        canvas.saveState()
        canvas.setFillColor(_SOFT)
        canvas.setFont("Helvetica", 8)
        canvas.drawRightString(document.pagesize[0] - _MARGIN, _FOOT, str(document.page))
        line = canvas.beginText(_MARGIN, _FOOT)
        for font, words in split_by_font(shorten_text(self._report.title, 90)):
            line.setFont(font, 8)
            line.textOut(words)
        canvas.drawText(line)
        canvas.restoreState()

    def outline_block(self, block: Block) -> list[Any]:
        match block:
            case Heading():
                return [_add_bookmark(block, self._paragraph(self._text(block.text, "bold"), f"heading {block.level}"))]
            case Paragraph():
                return [self._paragraph(self._inline(block.runs))]
            case Item():
                return self._item(block)
            case OutlineTable():
                return [self._table(block), self._paragraph("")]

    def _item(self, item: Item) -> list[Any]:
        style, mark, anchor = "item", "•", ""
        if item.number:
            style, mark = "reference", f"[{item.number}]"
            if item.number not in self._anchored:  # an anchor must be unique in a document
                self._anchored.add(item.number)
                anchor = f'<a name="{_reference_anchor(item.number)}"/>'
        first = self._paragraph(f"{anchor}{self._inline(item.runs)}", style, mark)
        return [first, *(self._paragraph(self._inline(quote), "quote") for quote in item.quotes)]

    def _table(self, grid: OutlineTable) -> Any:
        header = [self._paragraph(self._text(name, "bold"), "cell") for name in grid.header]
        rows = [[self._paragraph(self._inline(cell), "cell") for cell in row] for row in grid.rows]
        style = [
            ("BACKGROUND", (0, 0), (-1, 0), _SHADE),
            ("GRID", (0, 0), (-1, -1), 0.5, _LINE),
            ("VALIGN", (0, 0), (-1, -1), "TOP"),
            ("TOPPADDING", (0, 0), (-1, -1), 3),
            ("BOTTOMPADDING", (0, 0), (-1, -1), 4),
        ]
        widths = [self._width * share for share in _share_width(grid)]
        return LongTable([header, *rows], colWidths=widths, repeatRows=1, splitInRow=1, style=style)

    def _paragraph(self, markup: str, style: str = "text", mark: str | None = None) -> Any:
        return Flowable(markup, self._styles[style], bulletText=mark)

    def _inline(self, runs: Runs) -> str:
        return " ".join(self._run(run) for run in runs if run.text)

    def _run(self, run: TextRun) -> str:
        text = self._text(run.text, run.look)
        if run.cites:
            return f'<a href="#{_reference_anchor(run.cites)}" color="{_LINK}">{text}</a>'
        return f'<a href="{escape(run.link)}" color="{_LINK}">{text}</a>' if run.link else text

    def _text(self, text: str, look: str = "") -> str:
        marked = "".join(
            escape(words) if font == "Helvetica" else f'<font name="{font}">{escape(words)}</font>'
            for font, words in split_by_font(text)
        )
        tag = {"bold": "b", "italic": "i"}.get(look)
        return f"<{tag}>{marked}</{tag}>" if tag else marked


def _reference_anchor(number: int) -> str:
    return f"reference-{number}"


def _share_width(grid: OutlineTable) -> list[float]:
    """Return the share of the width for each column, by its longest text within bounds."""
    longest = [len(name) for name in grid.header]
    for row in grid.rows:
        lengths = [len(" ".join(run.text for run in cell)) for cell in row]
        longest = [max(pair) for pair in zip(longest, lengths, strict=True)]
    bounded = [min(max(length, _MIN_WIDTH_CHARACTERS), _MAX_WIDTH_CHARACTERS) for length in longest]
    return [length / sum(bounded) for length in bounded]


def _add_bookmark(heading: Heading, paragraph: Any) -> Any:
    """Let the heading appear in the outline that viewers show next to the pages."""
    draw = paragraph.draw

    def drawn() -> None:
        canvas = paragraph.canv
        key = f"heading-{canvas.getPageNumber()}-{canvas.absolutePosition(0, 0)[1]:.0f}"
        canvas.bookmarkHorizontal(key, 0, paragraph.height)
        canvas.addOutlineEntry(heading.text, key, max(heading.level - 2, 0), closed=heading.level > 1)
        draw()

    paragraph.draw = drawn
    return paragraph


def _make_styles() -> dict[str, Any]:
    text = ParagraphStyle(
        "text", fontName="Helvetica", fontSize=10, leading=14, spaceAfter=6, textColor=_INK, splitLongWords=1
    )

    def heading(level: int, size: int, before: int, colour: str = "#1f3a5f") -> Any:
        return ParagraphStyle(
            f"heading {level}",
            text,
            fontSize=size,
            leading=size * 1.25,
            spaceBefore=before,
            spaceAfter=5,
            textColor=colour,
            keepWithNext=1,
        )

    styles: Sequence[Any] = (
        text,
        heading(1, 20, 0, _INK),
        heading(2, 14, 14),
        heading(3, 11, 8),
        ParagraphStyle("item", text, leftIndent=14, bulletIndent=3, spaceAfter=3),
        ParagraphStyle("reference", text, leftIndent=28, bulletIndent=0, spaceBefore=4, spaceAfter=2),
        ParagraphStyle("quote", text, leftIndent=40, fontSize=9, leading=12, textColor=_SOFT, spaceAfter=3),
        ParagraphStyle("cell", text, fontSize=8, leading=10.5, spaceAfter=0),
    )
    return {each.name: each for each in styles}


def split_by_font(text: str) -> list[tuple[str, str]]:
    """Return the text in stretches, each with the name of its font.

    Helvetica, which every viewer has, covers western Europe. Other words use an installed font with their characters,
    and Chinese, Japanese and Korean one that viewers provide. A character that no font has becomes a question mark."""
    words = map(choose_font, re.findall(r"\S+|\s+", text))
    return [(font, "".join(word for _, word in group)) for font, group in groupby(words, key=lambda each: each[0])]


@lru_cache(maxsize=1 << 12)
def choose_font(word: str) -> tuple[str, str]:
    if is_western(word):
        # One of the 14 fonts that every PDF viewer has, so it need not be embedded.
        return "Helvetica", word
    points = frozenset(map(ord, word))
    fonts = find_installed_fonts()
    if name := next((name for name, glyphs in fonts if points <= glyphs), ""):
        return name, word
    # Fonts that viewers bring, each for words with one of these characters.
    brought = {
        "HeiseiKakuGo-W5": re.search(r"[\u3040-\u30ff]", word),
        "HYGothic-Medium": re.search(r"[\u1100-\u11ff\uac00-\ud7af]", word),
        "STSong-Light": re.search(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]", word),
    }
    if name := next((name for name, found in brought.items() if found), ""):
        pdfmetrics.registerFont(UnicodeCIDFont(name))
        return name, word
    # No font has all of the word: the one with most of its characters, and a question mark for the others.
    name, glyphs = max(fonts, key=lambda each: len(points & each[1]))
    return name, "".join(character if ord(character) in glyphs else "?" for character in word)


def is_western(text: str) -> bool:
    try:
        text.encode("cp1252")
    except UnicodeEncodeError:
        return False
    return True


@lru_cache(maxsize=1)
def find_installed_fonts() -> tuple[tuple[str, frozenset[int]], ...]:
    """Return the installed fonts with their characters, searched on first use. The last one comes with reportlab, so
    there is always one."""
    import reportlab

    # Where Linux, macOS and Windows keep fonts.
    folders = [
        Path(folder).expanduser()
        for folder in (
            "/usr/share/fonts",
            "/usr/local/share/fonts",
            "~/.local/share/fonts",
            "/Library/Fonts",
            "/System/Library/Fonts/Supplemental",
            "C:/Windows/Fonts",
        )
    ]
    folders = [*filter(Path.is_dir, folders), Path(reportlab.__file__).parent / "fonts"]
    # Free fonts with many scripts first; Vera, which comes with reportlab, last, so that one is always found.
    files = ("DejaVuSans.ttf", "NotoSans-Regular.ttf", "Arial Unicode.ttf", "arial.ttf", "Arial.ttf", "Vera.ttf")
    paths = (next((path for folder in folders for path in sorted(folder.rglob(file))), None) for file in files)
    return tuple(font for path in paths if path is not None and (font := register_font(path)))


def register_font(path: Path) -> tuple[str, frozenset[int]] | None:
    try:
        font: Any = TTFont(path.stem, str(path))
    except (TTFError, OSError):
        return None
    pdfmetrics.registerFont(font)
    return path.stem, frozenset(font.face.charToGlyph)
