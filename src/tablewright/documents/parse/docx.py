"""Parse a Word document: paragraphs, headings and tables in their order, then notes. The file is untrusted."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator

from lxml import etree
from lxml.etree import _Element

from tablewright.errors import Unreadable
from tablewright.extraction.layout.draft import Parsed, TextDraft, write_table
from tablewright.text import remove_invisible

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"


def parse_docx(content: bytes, name: str) -> Parsed:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return _Package(archive, name).parsed()
    except (zipfile.BadZipFile, KeyError, EOFError, OSError, NotImplementedError, etree.XMLSyntaxError):
        raise Unreadable(
            f"{name} is a damaged Word document.", advice="Open it in a word processor and save it again."
        ) from None
    except RuntimeError:
        # What `zipfile` raises for an encrypted member.
        raise Unreadable(
            f"{name} is protected by a password.", advice="Save it without the password and add it again."
        ) from None


class _Package:
    def __init__(self, archive: zipfile.ZipFile, name: str) -> None:
        self._archive = archive
        self._name = name
        self._members = set(archive.namelist()[:10_000])
        self._draft = TextDraft()
        self._heading_styles: set[str] = set()

    def parsed(self) -> Parsed:
        self._heading_styles = self._styles()
        self._write_around("header")
        self._write(self._part("word/document.xml"))
        for notes in ("word/footnotes.xml", "word/endnotes.xml"):
            if notes in self._members:
                self._write(self._part(notes))
        self._write_around("footer")
        return self._draft.finish("docx", title=self._title())

    def _part(self, member: str) -> _Element:
        """Return a member's XML. Raise `Unreadable` if it is too large, or declares entities, as no Word file does."""
        # A part that unpacks to more is a zip bomb; the longest novels have a tenth.
        most = 100 * 1024**2
        with self._archive.open(member) as file:
            # No more than that, whatever size it declares.
            xml = file.read(most + 1)
        if len(xml) > most:
            raise Unreadable(
                f"{self._name} unpacks to more than {most // 1024**2} MB of text, as only a zip bomb does.",
                advice="If it is a real document, save it as PDF or divide it.",
            )
        if b"<!DOCTYPE" in xml[:4096] or b"<!ENTITY" in xml:
            raise Unreadable(f"{self._name} declares entities, as no Word document does; it was not opened.")
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
        root = etree.fromstring(xml, parser)
        # Word writes text boxes twice: for itself, and as a fallback for others.
        for fallback in list(root.iter("{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback")):
            if (parent := fallback.getparent()) is not None:
                parent.remove(fallback)
        return root

    def _styles(self) -> set[str]:
        if "word/styles.xml" not in self._members:
            return set()
        found = set()
        for style in self._part("word/styles.xml").iter(f"{_W}style"):
            name = style.find(f"{_W}name")
            outline = style.find(f"{_W}pPr/{_W}outlineLvl")
            # The built-in styles keep these names in every language of Word.
            if outline is not None or (
                name is not None and re.fullmatch(r"heading \d|title|subtitle", name.get(f"{_W}val", ""), re.IGNORECASE)
            ):
                found.add(style.get(f"{_W}styleId", ""))
        return found

    def _title(self) -> str:
        if "docProps/core.xml" not in self._members:
            return ""
        return self._part("docProps/core.xml").findtext("{http://purl.org/dc/elements/1.1/}title") or ""

    def _write_around(self, what: str) -> None:
        """Write the headers or the footers, each text once: most documents have three of the same."""
        written: set[str] = set()
        for member in sorted(self._members):
            if (match := re.fullmatch(r"word/(header|footer)\d*\.xml", member)) and match[1] == what:
                for paragraph in self._part(member).iter(f"{_W}p"):
                    for line in _paragraph_lines(paragraph):
                        if line not in written:
                            written.add(line)
                            self._draft.add_line(line)

    def _write(self, root: _Element) -> None:
        for block in _iter_blocks(root):
            if self._draft.is_full:
                return
            if block.tag == f"{_W}tbl":
                write_table(self._draft, _table_rows(block))
                continue
            style = block.find(f"{_W}pPr/{_W}pStyle")
            own = block.find(f"{_W}pPr/{_W}outlineLvl")
            if own is not None or (style is not None and style.get(f"{_W}val", "") in self._heading_styles):
                self._draft.add_heading(" ".join(_paragraph_lines(block)))
            else:
                for line in _paragraph_lines(block):
                    self._draft.add_line(line)


def _iter_blocks(root: _Element) -> Iterator[_Element]:
    """Yield paragraphs and tables in their order, at any depth."""
    stack = [root]
    while stack:
        element = stack.pop()
        if element.tag in (f"{_W}p", f"{_W}tbl"):
            yield element
        else:
            stack.extend(reversed(element))


def _paragraph_lines(paragraph: _Element) -> list[str]:
    pieces = []
    written = {f"{_W}tab": " ", f"{_W}noBreakHyphen": "-", f"{_W}br": "\n", f"{_W}cr": "\n"}
    for node in paragraph.iter(f"{_W}t", *written):
        pieces.append(written.get(str(node.tag)) or node.text or "")
    lines = (" ".join(line.split()) for line in remove_invisible("".join(pieces)).split("\n"))
    return [line for line in lines if line]


def _table_rows(table: _Element) -> list[list[str]]:
    rows = []
    for row in table.iterfind(f"{_W}tr"):
        cells: list[str] = []
        for cell in row.iterfind(f"{_W}tc"):
            paragraphs = [line for paragraph in cell.iter(f"{_W}p") for line in _paragraph_lines(paragraph)]
            cells.append(" ".join(paragraphs))
            span = cell.find(f"{_W}tcPr/{_W}gridSpan")
            if span is not None and (across := span.get(f"{_W}val", "")).isdecimal():
                cells += [""] * (min(int(across), 100) - 1)
        rows.append(cells)
    width = max(map(len, rows), default=0)
    return [row + [""] * (width - len(row)) for row in rows]
