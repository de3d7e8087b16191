"""The pages of a PDF as lines and tables, in the order in which a person reads them."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from typing import Literal, TypeAlias

import pypdfium2
import pypdfium2.raw as pdfium

from tablewright.extraction.layout.draft import TextDraft, write_layout
from tablewright.extraction.layout.placed import Word, has_columns, laid_out, large_lines
from tablewright.text import lines

MAX_WORDS_LAID_OUT = 5_000
"""On one page; a page with more is a drawing or an attack, and its text is taken as it comes."""
SHORT_TEXT = 20
"""Characters; a page of images with no more than a page number in its text layer was scanned."""
PASSWORD_NEEDED = 4
"""PDFium's code for a document that is encrypted."""
_HYPHEN = "\ufffe"
_DIVIDED = re.compile(rf"\S{{0,80}}{_HYPHEN}(?:\r\n)?\S{{0,80}}")
_WORD = re.compile(r"\S+")
_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_TEXT_FIELDS = (pdfium.FPDF_FORMFIELD_TEXTFIELD, pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX)
_TICKED_FIELDS = (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON)

PageGap: TypeAlias = Literal["images", "broken", ""]
"""Why nothing was read of a page: it has only images, or it cannot be opened at all."""


def open_pdf(content: bytes) -> pypdfium2.PdfDocument:
    document = pypdfium2.PdfDocument(content)
    if document.get_formtype() in (pdfium.FORMTYPE_ACRO_FORM, pdfium.FORMTYPE_XFA_FOREGROUND):
        document.init_forms()
    return document


def write_pdf_page(
    draft: TextDraft,
    document: pypdfium2.PdfDocument,
    number: int,
    scan: Callable[[pypdfium2.PdfPage], Sequence[Word]] = lambda _: (),
) -> PageGap:
    """`scan` reads the words of a page of images."""
    draft.page()
    with ExitStack() as opened:
        try:
            page = opened.enter_context(closing(document[number]))
            text_page = opened.enter_context(closing(page.get_textpage()))
        except pypdfium2.PdfiumError:
            return "broken"
        text, words = _words(text_page, page.get_height())
        if len(text) < SHORT_TEXT and _has_images(page):
            scanned = scan(page)
            write_layout(draft, laid_out(scanned or words))
            return "" if scanned or text else "images"
        fields = list(_fields(page, document.formenv)) if document.formenv else []
        upright = page.get_rotation() == 0
    headings = large_lines(words)
    if upright and _is_laid_out_by_place(text, words) and (fields or has_columns(words)):
        write_layout(draft, laid_out([*words, *fields]), headings)
    else:
        write_layout(draft, [*lines(text).split("\n"), *(field.text for field in fields)], headings)
    return ""


def _is_laid_out_by_place(text: str, words: Sequence[Word]) -> bool:
    """Not what is written from right to left, nor a font that does not say how large its characters are."""
    if len(words) > MAX_WORDS_LAID_OUT or len(_RIGHT_TO_LEFT.findall(text)) * 5 > len(text):
        return False
    return all(word.bottom > word.top and word.right > word.left for word in words)


def _words(text_page: pypdfium2.PdfTextPage, height: float) -> tuple[str, list[Word]]:
    """The text in the order of the file, and its words where they stand."""
    raw = text_page.raw
    count = pdfium.FPDFText_CountChars(raw)
    if count <= 0:
        return "", []
    buffer = (ctypes.c_ushort * (count + 1))()
    written = pdfium.FPDFText_GetText(raw, 0, count, buffer)
    units = bytes(memoryview(buffer)[: max(0, written - 1)])
    text = units.decode("utf-16-le", "replace")
    if len(text) != count:  # places are by character of the page, and these are not those
        text = "".join(_character(pdfium.FPDFText_GetUnicode(raw, at)) for at in range(count))
    box = pdfium.FS_RECTF()
    place = ctypes.byref(box)
    read_box = pdfium.FPDFText_GetLooseCharBox
    words = []
    for match in _WORD.finditer(text):
        word = match[0]
        last = match.end() - 1
        if _HYPHEN in word:  # the rest stands at the beginning of the next line
            last = match.start() + max(0, word.index(_HYPHEN) - 1)
            word = made_whole(word)
        read_box(raw, match.start(), place)
        left, top, right, bottom = box.left, box.top, box.right, box.bottom
        read_box(raw, last, place)
        words.append(
            Word(
                word,
                min(left, box.left),
                height - max(top, box.top),
                max(right, box.right),
                height - min(bottom, box.bottom),
            )
        )
    return _DIVIDED.sub(lambda match: made_whole(match[0]), text) if _HYPHEN in text else text, words


def made_whole(divided: str) -> str:
    """A word that was divided at the end of a line, without the hyphen unless it is spelled with one: "IO-470"."""
    parts = "".join(divided.split()).split(_HYPHEN)
    whole = parts[0]
    for part in parts[1:]:
        plain = whole[-1:].islower() and part[:1].islower() and "-" not in part
        whole += part if plain or not part or not whole else f"-{part}"
    return whole


def _character(code: int) -> str:
    return chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else " "


def _has_images(page: pypdfium2.PdfPage) -> bool:
    return next(iter(page.get_objects(filter=(pdfium.FPDF_PAGEOBJ_IMAGE,), max_depth=3)), None) is not None


def _fields(page: pypdfium2.PdfPage, form: pypdfium2.PdfFormEnv) -> Iterator[Word]:
    """What is filled into a form, where it is shown: beside its printed label."""
    height = page.get_height()
    for at in range(pdfium.FPDFPage_GetAnnotCount(page.raw)):
        annotation = pdfium.FPDFPage_GetAnnot(page.raw, at)
        if not annotation:
            continue
        try:
            value = _value(form, annotation)
            box = pdfium.FS_RECTF()
            if value and pdfium.FPDFAnnot_GetRect(annotation, ctypes.byref(box)):
                top, bottom = height - max(box.top, box.bottom), height - min(box.top, box.bottom)
                yield Word(value, min(box.left, box.right), top, max(box.left, box.right), bottom)
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)


def _value(form: pypdfium2.PdfFormEnv, annotation: object) -> str:
    kind = pdfium.FPDFAnnot_GetFormFieldType(form.raw, annotation)
    if kind in _TICKED_FIELDS:
        return "[x]" if pdfium.FPDFAnnot_IsChecked(form.raw, annotation) else ""
    if kind not in _TEXT_FIELDS:
        return ""
    size = pdfium.FPDFAnnot_GetFormFieldValue(form.raw, annotation, None, 0)
    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    pdfium.FPDFAnnot_GetFormFieldValue(form.raw, annotation, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    with suppress(UnicodeDecodeError):
        return " ".join(buffer.raw[: size - 2].decode("utf-16-le").split())
    return ""
