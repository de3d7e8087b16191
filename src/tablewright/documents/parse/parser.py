"""The interface of parsers, and the choice of a parser for a file.

Built-ins and other packages use the same entry-point group, `tablewright.parsers`: a function of `(content, name)`
under the ending of the files that it reads. It returns the text, or `Parsed` with pages and tables, and raises
`Unreadable` for a file that it cannot read. Parsers run in a worker process and touch only the bytes they get.
"""

from __future__ import annotations

import io
import os
import re
import stat
import zipfile
from functools import cache
from pathlib import Path
from typing import Protocol

from tablewright.errors import TablewrightError, Unreadable
from tablewright.extraction.layout.draft import Parsed
from tablewright.plugins import find_plugins, plugin_names
from tablewright.web.read import UnreadablePage as NothingToRead
from tablewright.web.read.reader import decode_bytes

# Formats with first bytes of their own: without these the name is wrong.
_BINARY_KINDS = frozenset(("pdf", "docx", "xlsx", "xls", "ods", "png", "jpg", "tiff"))


class Parser(Protocol):
    def __call__(self, content: bytes, name: str, /) -> Parsed | str: ...


def parse_document(content: bytes, name: str, parser: Parser | None = None) -> Parsed:
    """Parse with `parser`, or with the one for this kind of file. Raise `Unreadable`, and nothing else, if there is
    no text."""
    if not content.strip(b"\0 \t\r\n"):
        raise Unreadable(f"{name} is empty.", advice="Check that it was saved or downloaded whole.")
    kind = detect_file_kind(content, name) if parser is None else file_ending(name)
    try:
        made = (parser or find_parser(kind))(content, name)
        parsed = Parsed(text=made, media=kind) if isinstance(made, str) else made
    except Unreadable:
        raise
    except NothingToRead as problem:
        raise Unreadable(f"{name} {problem}.") from None
    except TablewrightError as problem:
        raise Unreadable(problem.what, advice=problem.advice) from None
    except MemoryError:
        raise
    except Exception as error:
        # Any exception: a bug of a parser with one file must not stop the others.
        what = f"{name} could not be read ({type(error).__name__}: {str(error)[:200]})."
        raise Unreadable(what, advice="It may be damaged; save it again.") from error
    if not parsed.text.strip():
        raise Unreadable(f"{name} holds no text.", advice=" ".join(parsed.notes))
    return parsed


def detect_file_kind(content: bytes, name: str) -> str:
    """Return the ending of the parser's entry point. Unmistakable bytes decide, whatever the name says."""
    ending = file_ending(name)
    if ending not in known_endings():
        # Endings that name the same format as a parser's.
        same = {"htm": "html", "xhtml": "html", "markdown": "md", "text": "txt", "log": "txt"}
        same |= {"jpeg": "jpg", "tif": "tiff", "tab": "tsv", "xlsm": "xlsx"}
        ending = same.get(ending, ending)
    head = content[:4096]
    # First bytes that no other format has.
    for magic, kind in (
        (b"%PDF-", "pdf"),
        (b"\x89PNG\r\n\x1a\n", "png"),
        (b"\xff\xd8\xff", "jpg"),
        (b"II*\x00", "tiff"),
        (b"MM\x00*", "tiff"),
    ):
        if head.startswith(magic) or (kind == "pdf" and magic in head[:1024]):
            return kind
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _kind_of_archive(content, name, ending)
    # The container of Office files before 2007.
    if head.startswith(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"):
        return _kind_of_old_office(ending, name)
    if ending in _BINARY_KINDS:
        raise Unreadable(
            f"{name} is not of the kind that its name says, or it is damaged.", advice="Save or download it again."
        )
    # Formats that any text can claim to be, so that binary content must be ruled out first.
    if ending in known_endings() - frozenset(("csv", "tsv", "txt", "md", "html", "eml")):
        return ending
    text = decode_bytes(head)
    # Control characters, or what could not be decoded.
    if sum(char < "\t" or "\r" < char < " " or char == "\ufffd" for char in text) * 20 > len(text):
        readable = ", ".join(sorted(known_endings()))
        raise Unreadable(f"{name} is of a kind that cannot be read.", advice=f"These can: {readable}.")
    if ending in known_endings():
        return ending
    # A page may begin with an XML declaration and comments.
    if re.match(
        rb"\s*+(?:<\?xml[^>]*+>\s*+)?(?:<!--(?>.*?-->)\s*+)*+<(?:!doctype\s+html|html|head|body)\b",
        head.removeprefix(b"\xef\xbb\xbf"),
        re.I | re.S,
    ):
        return "html"
    headers = re.finditer(
        rb"^(?:From|Received|Return-Path|Delivered-To|Message-ID|MIME-Version|Date|Subject):[^\n]*\n", head, re.I | re.M
    )
    # Three such headers, the first at the start, make an e-mail.
    starts = [header.start() for header in headers]
    return "eml" if starts[:1] == [0] and len(starts) >= 3 else "txt"


def file_ending(name: str) -> str:
    return name.rpartition(".")[2].lower() if "." in name else ""


def _kind_of_archive(content: bytes, name: str, ending: str) -> str:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            members = archive.namelist()
            if "mimetype" in members and archive.read("mimetype")[:100].endswith(b"opendocument.spreadsheet"):
                return "ods"
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, ValueError):
        raise Unreadable(f"{name} is damaged or cut short.", advice="Save or download it again.") from None
    for folder, kind in (("word/", "docx"), ("xl/", "xlsx")):
        if any(member.startswith(folder) for member in members):
            return kind
    if ending not in _BINARY_KINDS and ending in known_endings():
        return ending
    raise Unreadable(f"{name} is an archive, not a document.", advice="Unpack it and add the files in it.")


def _kind_of_old_office(ending: str, name: str) -> str:
    if ending == "xls":
        return ending
    if ending in ("docx", "xlsx"):
        raise Unreadable(f"{name} is protected by a password.", advice="Save it without the password and add it again.")
    raise Unreadable(f"{name} is of an old Office format.", advice="Save it as DOCX, XLSX or PDF and add it again.")


@cache
def known_endings() -> frozenset[str]:
    """Return the endings of readable files, which are the plugin_names of the parsers' entry points."""
    return frozenset(plugin_names("tablewright.parsers"))


@cache
def find_parser(kind: str) -> Parser:
    found = find_plugins("tablewright.parsers", kind)
    if not found:
        raise Unreadable(f"No parser for {kind} files is installed.")
    entry = found[0]
    try:
        parser: Parser = entry.load()
    except Exception as error:
        # Another package's code may raise anything; other files are not affected.
        problem = f"{type(error).__name__}: {error}"
        raise Unreadable(f"The parser for {kind} files ({entry.value}) cannot be loaded: {problem}.") from error
    return parser


def parse_file(path: str, size: int) -> Parsed:
    """Parse a file of at most `size` bytes; this runs in a worker process."""
    return parse_document(read_bounded_file(Path(path), size), Path(path).name)


def read_bounded_file(path: Path, size: int) -> bytes:
    """Return the whole file. Its type is checked before it is opened: opening a pipe would wait for a writer."""
    try:
        about = path.stat()
        if stat.S_ISDIR(about.st_mode):
            raise Unreadable(f"{path.name} is a folder.", advice="Name the files in it.")
        if not stat.S_ISREG(about.st_mode):
            raise Unreadable(f"{path.name} is no file but a pipe, a socket or a device.")
        if about.st_size > size:
            raise Unreadable(
                f"{path.name} is too large: {about.st_size / 1e6:,.0f} MB of at most {size / 1e6:,.0f} MB.",
                advice="Divide it, or save it without its images.",
            )
        # Without blocking: the file may have become a pipe.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(descriptor, "rb") as file:
            return file.read(size)
    except FileNotFoundError:
        raise Unreadable(f"{path.name} is not there any more.", advice="Check where it was moved.") from None
    except PermissionError:
        raise Unreadable(f"{path.name} may not be read by you.", advice="Change its permissions.") from None
    except OSError as error:
        raise Unreadable(f"{path.name} cannot be read: {error.strerror or error}.") from None
