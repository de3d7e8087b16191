"""Open a file as text: detect its encoding, check the whole file, then stream it. Reads the file, writes nothing."""

from __future__ import annotations

import codecs
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from charset_normalizer import from_bytes

from tablewright.errors import BadFile
from tablewright.formats.tables.limits import TABLE_LIMITS
from tablewright.text import detect_unmarked_utf16, find_byte_order_mark

# Lines of ASCII say nothing of an encoding, and would water down the detector's statistics.
_NON_ASCII_LINE = re.compile(rb"(?<![^\r\n])[^\r\n]*[\x80-\xff][^\r\n]*[\r\n]*")


@dataclass(frozen=True, kw_only=True)
class TextFile:
    """A file all of whose bytes decode in `encoding`, after `skip` bytes of byte-order mark; it holds no NULs."""

    path: Path
    encoding: str
    skip: int = 0
    warnings: tuple[str, ...] = ()

    @contextmanager
    def open(self) -> Iterator[TextIO]:
        """Open the text; `newline=""` keeps line ends as they are, for the csv module."""
        with self.path.open("rb") as raw:
            raw.seek(self.skip)
            with io.TextIOWrapper(raw, encoding=self.encoding, newline="") as text:
                yield text


def open_text(path: Path, encoding: str | None = None, *, long_lines: bool = False) -> TextFile:
    """Return the file as text. Raise BadFile unless all of it is text; `long_lines` allows lines too long for a reader
    of lines."""
    with path.open("rb") as raw:
        head = raw.read(TABLE_LIMITS.encoding_bytes)
    mark, marked = find_byte_order_mark(head)
    if encoding is not None:
        encoding = _normalize_encoding(encoding)
        is_marked = marked.startswith(encoding.removesuffix("-sig"))
        text = TextFile(path=path, encoding=encoding, skip=len(mark) if is_marked else 0)
    # A byte-order mark is the file's own word, so it goes before every guess.
    elif marked:
        text = TextFile(path=path, encoding=marked, skip=len(mark))
    elif wide := detect_unmarked_utf16(head):
        text = TextFile(path=path, encoding=wide)
    else:
        text = TextFile(path=path, encoding="utf-8")
        bad = _find_bad_byte(text)
        if bad is not None:
            text = _open_legacy_text(path, bad)
    _check_text(text, long_lines=long_lines)
    return text


def _normalize_encoding(encoding: str) -> str:
    try:
        "".encode(encoding)
    except (LookupError, ValueError):  # `undefined` is a codec that refuses everything; a name may not hold a NUL
        raise BadFile(
            f"There is no text encoding called {encoding[:60]!r}.",
            advice="Common ones are utf-8, cp1252, shift_jis and gbk.",
        ) from None
    return codecs.lookup(encoding).name


def _find_bad_byte(text: TextFile) -> int | None:
    try:
        for _ in _decode_chunks(text):
            pass
    except UndecodableText as error:
        return error.position
    return None


def _open_legacy_text(path: Path, bad: int) -> TextFile:
    """Open a file that is not UTF-8 in its likeliest encoding, judged by the lines with characters beyond ASCII."""
    with path.open("rb") as raw:
        start = raw.read(TABLE_LIMITS.decoded_bytes)
        # The start of a file can be pure ASCII, so a second sample surrounds the first byte that is not UTF-8, with
        # some lines before it for context.
        raw.seek(max(TABLE_LIMITS.decoded_bytes, bad - 1000))
        around = raw.read(TABLE_LIMITS.decoded_bytes)
    lines = b"".join(_NON_ASCII_LINE.findall(start)[:2000])[: TABLE_LIMITS.encoding_bytes // 2]
    lines += b"".join(_NON_ASCII_LINE.findall(around)[:2000])[: TABLE_LIMITS.encoding_bytes // 2]
    readable = lines.decode("utf-8", "replace")
    broken = readable.count("\ufffd")
    whole = sum(1 for char in readable if char > "\x7f") - broken
    # Mostly valid UTF-8 with a few broken bytes is a damaged file: reading it as cp1252 would garble every other
    # letter.
    damaged = whole > 2 * broken or (broken == 1 and whole)
    encoding = None if damaged else _guess_encoding(lines)
    if encoding is None:
        raise BadFile(
            f"{path.name} is not valid UTF-8 text: byte {bad:,} cannot be read.",
            advice="Save it as UTF-8, or name its encoding with --encoding.",
        )
    # Names that the menus of spreadsheets use, for encodings that are common enough to be named to a user.
    named = {
        "cp1252": "Windows-1252 (Western European)",
        "cp932": "Shift-JIS",
        "gb18030": "GBK",
        "cp1251": "Windows-1251",
    }
    label = named.get(encoding, encoding)
    warning = f"{path.name} is not UTF-8; it was read as {label}. Name its encoding if letters look wrong."
    return TextFile(path=path, encoding=encoding, warnings=(warning,))


def _guess_encoding(lines: bytes) -> str | None:
    beyond_ascii = sum(1 for byte in lines if byte > 127)
    # In the order of preference where the detector finds several equally likely. Fewer bytes beyond ASCII fit any
    # encoding: then it is Western European, or damage.
    candidates = "cp1252 cp932 gb18030 big5 euc_kr euc_jp cp1251 cp1250 cp1253 cp1254".split()
    candidates += "cp1255 cp1256 koi8_r cp437 cp850 mac_roman".split()
    candidates = candidates if beyond_ascii >= 6 else candidates[:1]
    # C1 control characters, or a ÿ (byte FF) that ends no syllable: bytes of something else than text.
    matches = [
        match
        for match in from_bytes(lines, cp_isolation=candidates)
        if not re.search(r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]|(?<![^\W\d_])ÿ", str(match))
    ]
    if not matches:
        return None
    # Equal results are common among relatives such as cp1252 and cp1250; the order of `candidates` breaks the tie.
    best = min((match.chaos, -match.coherence) for match in matches)
    alike = {str(match) for match in matches if (match.chaos, -match.coherence) == best}
    for encoding in candidates:
        try:
            if lines.decode(encoding) in alike:
                return encoding
        except UnicodeDecodeError:
            continue
    return None


def _check_text(text: TextFile, *, long_lines: bool) -> None:
    unbroken = 0
    try:
        for position, chunk in _decode_chunks(text):
            nul = chunk.find("\0")
            if nul >= 0:
                at = position + len(chunk[:nul].encode(text.encoding))
                raise BadFile(f"{text.path.name} holds a NUL character at byte {at:,}; a text table has none.")
            # Lines are measured across chunks without holding them: an endless line would fill the memory of the csv
            # module.
            first = re.search(r"[\r\n]", chunk)
            unbroken += first.start() if first else len(chunk)
            if unbroken > TABLE_LIMITS.line_characters and not long_lines:
                size = TABLE_LIMITS.line_characters // 1024**2
                raise BadFile(f"{text.path.name} has a line of more than {size} million characters; it is no table.")
            if first:
                unbroken = len(chunk) - max(chunk.rfind("\n"), chunk.rfind("\r")) - 1
    except UndecodableText as error:
        what = "ends in the middle of a character" if error.cut else "holds a character that cannot be read"
        raise BadFile(
            f"{text.path.name} {what}: byte {error.position:,} is not valid {text.encoding.upper()}.",
            advice="The file may be damaged or cut short; save it again, or name its encoding with --encoding.",
        ) from None


class UndecodableText(Exception):
    def __init__(self, position: int, *, cut: bool) -> None:
        self.position = position
        self.cut = cut


def _decode_chunks(text: TextFile) -> Iterator[tuple[int, str]]:
    """Yield the whole text in pieces, each with its byte position."""
    decoder = codecs.getincrementaldecoder(text.encoding)()
    with text.path.open("rb") as raw:
        position = raw.seek(text.skip)
        while True:
            data = raw.read(TABLE_LIMITS.decoded_bytes)
            # Bytes of a character that began in the last chunk count as read, but not yet as decoded.
            waiting = len(decoder.getstate()[0])
            try:
                chunk = decoder.decode(data, final=not data)
            except UnicodeDecodeError as error:
                raise UndecodableText(position - waiting + error.start, cut=not data) from None
            except UnicodeError:  # "utf-16" asked for, and no mark that says which of its two
                raise UndecodableText(position - waiting, cut=False) from None
            if not data:
                return
            yield position - waiting, chunk
            position += len(data)
