"""An e-mail: who wrote it to whom, when and about what, and its text."""

from __future__ import annotations

from email import policy
from email.message import EmailMessage
from email.parser import BytesParser

from tablewright.corpus.parse.text import text_lines
from tablewright.extraction.layout.draft import Parsed, TextDraft, write_lines
from tablewright.sources.read.html import read_html
from tablewright.sources.read.reader import decode
from tablewright.sources.read.reading import UnreadablePage as NothingToRead
from tablewright.text import one_line

_SHOWN = ("From", "To", "Cc", "Date", "Subject")
MAX_ATTACHMENTS_NAMED = 20


def parse(content: bytes, name: str) -> Parsed:
    message = BytesParser(EmailMessage, policy=policy.default).parsebytes(content)
    draft = TextDraft()
    for header in _SHOWN:
        if value := _header(message, header):
            draft.line(f"{header}: {value}")
    draft.line("")
    write_lines(draft, _body(message))
    _note_attachments(draft, message)
    return draft.done("eml", title=_header(message, "Subject"))


def _header(message: EmailMessage, header: str) -> str:
    try:
        return one_line(str(message.get(header, "")))
    except (ValueError, IndexError, AttributeError, TypeError):  # the standard library over malformed addresses
        return ""


def _body(message: EmailMessage) -> list[str]:
    part = message.get_body(preferencelist=("plain", "html"))
    if part is None:
        return []
    payload = part.get_payload(decode=True)
    body = payload if isinstance(payload, bytes) else b""
    text = decode(body, part.get_content_charset() or "")
    if part.get_content_subtype() != "html":
        return text_lines(text.encode("utf-8", "replace"))
    try:
        return read_html(text, "").text.split("\n")
    except NothingToRead:
        return []


def _note_attachments(draft: TextDraft, message: EmailMessage) -> None:
    names = [one_line(part.get_filename() or part.get_content_type()) for part in message.iter_attachments()]
    if names:
        listed = ", ".join(names[:MAX_ATTACHMENTS_NAMED]) + (", …" if len(names) > MAX_ATTACHMENTS_NAMED else "")
        draft.notes.append(f"Attached and not read: {listed}. Save what you need and add it by itself.")
