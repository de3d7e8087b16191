"""Read the pages of a PDF as lines and tables, in reading order, with PDFium. Documents and the web reader share it."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from typing import Literal, TypeAlias

import pypdfium2
import pypdfium2.raw as pdfium

from tablewright.extraction.layout.draft import TextDraft, write_layout
from tablewright.extraction.layout.page_layout import PlacedWord, find_large_lines, has_columns, lay_out_page
from tablewright.text import normalize_lines

# PDFium's code for an encrypted document.
PASSWORD_NEEDED = 4
# PDFium's character for a hyphen that divides a word at the end of a line.
_HYPHEN = "\ufffe"

# The reason why a page has no text: it has only images, or it cannot be opened at all.
PageGap: TypeAlias = Literal["images", "broken", ""]


def open_pdf(content: bytes) -> pypdfium2.PdfDocument:
    document = pypdfium2.PdfDocument(content)
    if document.get_formtype() in (pdfium.FORMTYPE_ACRO_FORM, pdfium.FORMTYPE_XFA_FOREGROUND):
        document.init_forms()
    return document


def write_pdf_page(
    draft: TextDraft,
    document: pypdfium2.PdfDocument,
    number: int,
    scan: Callable[[pypdfium2.PdfPage], Sequence[PlacedWord]] = lambda _: (),
) -> PageGap:
    """Write a page and return why it has no text, if so; `scan` reads the words of a page of images."""
    draft.start_page()
    with ExitStack() as opened:
        try:
            page = opened.enter_context(closing(document[number]))
            text_page = opened.enter_context(closing(page.get_textpage()))
        except pypdfium2.PdfiumError:
            return "broken"
        text, words = _read_words(text_page, page.get_height())
        # A page of images with no more than a page number in its text layer was scanned.
        if len(text) < 20 and _has_images(page):
            scanned = scan(page)
            write_layout(draft, lay_out_page(scanned or words))
            return "" if scanned or text else "images"
        fields = list(_read_form_fields(page, document.formenv)) if document.formenv else []
        upright = page.get_rotation() == 0
    headings = find_large_lines(words)
    if upright and _has_usable_positions(text, words) and (fields or has_columns(words)):
        write_layout(draft, lay_out_page([*words, *fields]), headings)
    else:
        write_layout(draft, [*normalize_lines(text).split("\n"), *(field.text for field in fields)], headings)
    return ""


def _has_usable_positions(text: str, words: Sequence[PlacedWord]) -> bool:
    """Return False for text from right to left and for fonts without character sizes."""
    # A page with more words is a drawing or an attack; its text is taken in the order of the file.
    # Hebrew, Arabic and their presentation forms.
    if len(words) > 5_000 or len(re.findall("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]", text)) * 5 > len(text):
        return False
    return all(word.bottom > word.top and word.right > word.left for word in words)


def _read_words(text_page: pypdfium2.PdfTextPage, height: float) -> tuple[str, list[PlacedWord]]:
    """Return the text in the order of the file, and its words with their positions."""
    raw = text_page.raw
    count = pdfium.FPDFText_CountChars(raw)
    if count <= 0:
        return "", []
    buffer = (ctypes.c_ushort * (count + 1))()
    written = pdfium.FPDFText_GetText(raw, 0, count, buffer)
    units = bytes(memoryview(buffer)[: max(0, written - 1)])
    text = units.decode("utf-16-le", "replace")
    # Boxes are numbered by the page's characters, which these are not.
    if len(text) != count:
        text = "".join(_decode_code_point(pdfium.FPDFText_GetUnicode(raw, at)) for at in range(count))
    box = pdfium.FS_RECTF()
    place = ctypes.byref(box)
    read_box = pdfium.FPDFText_GetLooseCharBox
    words = []
    for match in re.finditer(r"\S+", text):
        word = match[0]
        last = match.end() - 1
        # The rest is at the beginning of the next line.
        if _HYPHEN in word:
            last = match.start() + max(0, word.index(_HYPHEN) - 1)
            word = rejoin_hyphenated(word)
        read_box(raw, match.start(), place)
        left, top, right, bottom = box.left, box.top, box.right, box.bottom
        read_box(raw, last, place)
        words.append(
            PlacedWord(
                word,
                min(left, box.left),
                height - max(top, box.top),
                max(right, box.right),
                height - min(bottom, box.bottom),
            )
        )
    return re.sub(
        rf"\S{{0,80}}{_HYPHEN}(?:\r\n)?\S{{0,80}}", lambda match: rejoin_hyphenated(match[0]), text
    ) if _HYPHEN in text else text, words


def rejoin_hyphenated(divided: str) -> str:
    """Return a word that was divided at a line's end, without the hyphen unless it is spelled with one: "IO-470"."""
    parts = "".join(divided.split()).split(_HYPHEN)
    whole = parts[0]
    for part in parts[1:]:
        plain = whole[-1:].islower() and part[:1].islower() and "-" not in part
        whole += part if plain or not part or not whole else f"-{part}"
    return whole


def _decode_code_point(code: int) -> str:
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else " "


def _has_images(page: pypdfium2.PdfPage) -> bool:
    return next(iter(page.get_objects(filter=(pdfium.FPDF_PAGEOBJ_IMAGE,), max_depth=3)), None) is not None


def _read_form_fields(page: pypdfium2.PdfPage, form: pypdfium2.PdfFormEnv) -> Iterator[PlacedWord]:
    """Yield the values filled into a form, at their positions next to the printed labels."""
    height = page.get_height()
    for at in range(pdfium.FPDFPage_GetAnnotCount(page.raw)):
        annotation = pdfium.FPDFPage_GetAnnot(page.raw, at)
        if not annotation:
            continue
        try:
            value = _read_field_value(form, annotation)
            box = pdfium.FS_RECTF()
            if value and pdfium.FPDFAnnot_GetRect(annotation, ctypes.byref(box)):
                top, bottom = height - max(box.top, box.bottom), height - min(box.top, box.bottom)
                yield PlacedWord(value, min(box.left, box.right), top, max(box.left, box.right), bottom)
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)


def _read_field_value(form: pypdfium2.PdfFormEnv, annotation: object) -> str:
    kind = pdfium.FPDFAnnot_GetFormFieldType(form.raw, annotation)
    if kind in (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON):
        return "[x]" if pdfium.FPDFAnnot_IsChecked(form.raw, annotation) else ""
    if kind not in (pdfium.FPDF_FORMFIELD_TEXTFIELD, pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX):
        return ""
    size = pdfium.FPDFAnnot_GetFormFieldValue(form.raw, annotation, None, 0)
    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    pdfium.FPDFAnnot_GetFormFieldValue(form.raw, annotation, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    with suppress(UnicodeDecodeError):
        return " ".join(buffer.raw[: size - 2].decode("utf-16-le").split())
    return ""
