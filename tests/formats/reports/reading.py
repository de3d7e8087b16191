"""Reports read back the way their readers see them."""

from __future__ import annotations

import io
import re
import zipfile
from contextlib import closing
from typing import Any

import pypdfium2
from lxml import etree
from lxml import html as lxml_html
from markdown_it import MarkdownIt

from tablewright.domain.research import ReportFormat

W = {"w": "http://schemas.openxmlformats.org/wordprocessingml/2006/main"}
_W = f"{{{W['w']}}}"
PDF_FOOT = 50
_MARKDOWN = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def shown_text(content: bytes, format: ReportFormat) -> str:
    """All the words that a person can see, on one line."""
    if format == "docx":
        return docx_text(content)
    if format == "pdf":
        return pdf_text(content)
    page = html_of(content).find("body") if format == "html" else markdown_html(content)
    return " ".join(html_text(page).split())


def shown_numbers(content: bytes, format: ReportFormat) -> set[int]:
    """The numbers of the citations, told from hostile text that looks like one by where they lead."""
    if format == "html":
        targets = html_of(content).xpath("//span[@class='cite']/a/@href")
        return {int(target.removeprefix("#reference-")) for target in targets}
    if format == "docx":
        anchors = docx_part(content, "word/document.xml").xpath("//w:hyperlink/@w:anchor", namespaces=W)
        return {int(anchor.removeprefix("reference_")) for anchor in anchors}
    text = content.decode().replace("\\[", "").replace("\\]", "")
    return {int(piece.partition("]")[0]) for piece in text.split("[")[1:] if piece.partition("]")[0].isdecimal()}


def html_of(content: bytes) -> Any:
    return lxml_html.document_fromstring(content, parser=lxml_html.HTMLParser(encoding="utf-8"))


def markdown_html(content: bytes) -> Any:
    return lxml_html.fragment_fromstring(_MARKDOWN.render(content.decode()), create_parent="div")


def html_text(element: Any) -> str:
    return " ".join(str(text) for text in element.itertext())


def docx_part(content: bytes, name: str) -> Any:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return etree.fromstring(archive.read(name))


def docx_text(content: bytes) -> str:
    paragraphs = docx_part(content, "word/document.xml").iter(f"{_W}p")
    return " ".join("".join(text.text or "" for text in paragraph.iter(f"{_W}t")) for paragraph in paragraphs)


def docx_hyperlinks(content: bytes) -> list[str]:
    """The addresses that links lead to; each link in the text must be declared."""
    relations = docx_part(content, "word/_rels/document.xml.rels")
    declared = {each.get("Id"): each.get("Target") for each in relations if each.get("TargetMode") == "External"}
    relation = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
    used = [link.get(relation) for link in docx_part(content, "word/document.xml").iter(f"{_W}hyperlink")]
    assert {name for name in used if name} == set(declared)
    return list(declared.values())


def pdf_text(content: bytes) -> str:
    """Of all pages, without their last line, which has the title and the number of the page."""
    with closing(pypdfium2.PdfDocument(content)) as document:
        pages = [page.get_textpage().get_text_bounded(bottom=PDF_FOOT) for page in document]
    return " ".join(" ".join(pages).split())


def pdf_outline(content: bytes) -> list[str]:
    with closing(pypdfium2.PdfDocument(content)) as document:
        return [bookmark.get_title() for bookmark in document.get_toc()]


def pdf_links(content: bytes) -> tuple[set[str], set[str]]:
    """The addresses that links lead to, and the places in the document."""
    addresses = {found.decode() for found in re.findall(rb"/URI \((.*?)\)", content)}
    return addresses, {found.decode() for found in re.findall(rb"/Dest (\[.*?\]) /Rect", content)}


def contrast(one: str, other: str) -> float:
    """The ratio of the Web Content Accessibility Guidelines."""
    lighter, darker = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    digits = colour.lstrip("#")
    digits = digits if len(digits) == 6 else "".join(digit * 2 for digit in digits)
    channels = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
