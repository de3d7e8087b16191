"""CSV, TSV and similar files: quoted fields, any line end, a separator that is detected.

Written as RFC 4180 has it: UTF-8 without a byte-order mark, lines end in CRLF. A value that holds a separator that a
reader may try, or that begins or ends oddly, is quoted, so that our reader and others find the right separator even in
a table of one column. Text that a spreadsheet would run as a formula gets a leading apostrophe (`escape_formula`), even
if it already begins with apostrophes, so that `unescape_formula` restores exactly what was written.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, BinaryIO

from tablewright.domain.model import PENDING, Row, make_given_cell
from tablewright.errors import BadFile
from tablewright.formats.tables.columns import NUMBER_STYLES, TextColumn
from tablewright.formats.tables.decode import TextFile
from tablewright.formats.tables.incoming import Batch, Grid, Incoming, survey_grid
from tablewright.formats.tables.limits import TABLE_LIMITS
from tablewright.formats.tables.sheet import ExportColumn

if TYPE_CHECKING:
    from _csv import Reader


# One more line after the last. It comes back as a record of its own unless a quoted field swallowed it, which is how an
# unclosed quote shows: the csv module itself says nothing. No text has NULs (`TextFile` refused them).
END = "\0"


def read_delimited(text: TextFile, *, header: bool, delimiter: str | None) -> Incoming:
    file = Delimited(text, delimiter)
    grid = Grid(
        file=text.path.name,
        name=text.path.stem,
        batches=file.batches,
        # Who writes decimal commas separates with semicolons: between quoted commas, "1,234" is a thousand.
        column=lambda: TextColumn(
            lambda text: make_given_cell(unescape_formula(text)), commas_group=file.dialect.delimiter == ","
        ),
        header_text=unescape_formula,
        is_empty=lambda value: not value.strip(),
        empty="",
        line="line",
    )
    return survey_grid(grid, header=header, warnings=(*text.warnings, *file.loose_quotes()))


def read_records(text: str, *, tabs: bool) -> tuple[Dialect, Reader]:
    """Return the dialect of a text and its records; `tabs` if its name promises them."""
    dialect = sniff_dialect(
        text[: TABLE_LIMITS.dialect_characters], whole=len(text) <= TABLE_LIMITS.dialect_characters, tabs=tabs
    )
    csv.field_size_limit(TABLE_LIMITS.value_characters)
    lines = islice(io.StringIO(text, newline=""), dialect.skip_lines, None)
    return dialect, csv.reader(lines, **dialect.reader_options())  # type: ignore[arg-type]


class Delimited:
    def __init__(self, text: TextFile, delimiter: str | None = None) -> None:
        self.text = text
        with text.open() as lines:
            sample = lines.read(TABLE_LIMITS.dialect_characters)
            whole = not lines.read(1)
        self.dialect = sniff_dialect(
            sample, whole=whole, delimiter=delimiter, tabs=text.path.suffix.lower() in (".tsv", ".tab")
        )

    def batches(self) -> Iterator[Batch]:
        """Yield the records in batches of at most `batch_cells` cells or about `batch_characters` characters."""
        records: list[Sequence[str]] = []
        starts: list[int] = []
        cells = chars = 0
        with self._lines() as lines:
            reader = self._reader(chain(lines, [END]))
            start = 0
            try:
                for record in reader:
                    if any(map(str.strip, record)):
                        # Tested before a record is added, so that one huge record is a batch of its own and never
                        # splits.
                        if cells >= TABLE_LIMITS.batch_cells or chars >= TABLE_LIMITS.batch_characters:
                            yield Batch(records=records, lines=starts)
                            records, starts, cells, chars = [], [], 0, 0
                        records.append(record)
                        starts.append(start + self._first_line)
                        cells += len(record)
                        chars += sum(map(len, record))
                    start = reader.line_num
            except csv.Error:
                raise self._too_long(start) from None
        # The END line came back as the last record, or was swallowed by a quoted field that is never closed.
        last = records.pop()
        if last != [END]:
            raise self._unclosed(_first_line_of_value(last, reader.line_num + self._first_line - 1))
        yield Batch(records=records, lines=starts[:-1])

    def loose_quotes(self) -> list[str]:
        """Return the lines in which text follows a closing quote, as in `"Ada" Lovelace`: the csv module drops the
        quotes and reports nothing, unless it is strict."""
        with self._lines() as lines:
            reader = csv.reader(lines, strict=True, **self.dialect.reader_options())  # type: ignore[arg-type]
            try:
                deque(reader, maxlen=0)
            except csv.Error as error:
                if "expected after" in str(error):
                    line = reader.line_num + self._first_line - 1
                    return [f"Line {line:,} has text after a closing quote; such values are read without their quotes."]
        return []

    @property
    def _first_line(self) -> int:
        return 1 + self.dialect.skip_lines

    @contextmanager
    def _lines(self) -> Iterator[Iterable[str]]:
        with self.text.open() as lines:
            yield islice(lines, self.dialect.skip_lines, None)

    def _reader(self, lines: Iterable[str]) -> Reader:
        csv.field_size_limit(TABLE_LIMITS.value_characters)  # of the whole process; the csv module knows no other way
        return csv.reader(lines, **self.dialect.reader_options())  # type: ignore[arg-type]

    def _unclosed(self, line: int) -> BadFile:
        return BadFile(
            f"{self.text.path.name} has a quote ({self.dialect.quote}) opened in line {line:,} that is never closed.",
            advice="Close it there, or write it twice if it belongs to the text.",
        )

    def _too_long(self, start: int) -> BadFile:
        """Return the error for a field beyond the limit after line `start`, most often an unclosed quote."""
        with self._lines() as lines:
            # An unclosed quote swallows whatever follows, so a hundred lines show it without reading the whole value
            # again.
            first = list(islice(lines, start, start + 100))
            more = next(iter(lines), None) is not None
        line = start + self._first_line
        if more:
            try:
                record = next(self._reader([*first, END]))
            except csv.Error:
                record = []
            if record and record[-1].endswith(END):
                return self._unclosed(_first_line_of_value(record, line + len(first)))
        size = TABLE_LIMITS.value_characters // 1024**2
        return BadFile(f"{self.text.path.name} has a value of more than {size} million characters in line {line:,}.")


def _first_line_of_value(record: Sequence[str], last_line: int) -> int:
    """Return the line in which the last value of a record begins, if the record ends in `last_line`."""
    return last_line - len(re.findall(r"\r\n|\r|\n", record[-1]))


# Where two score alike, the character that is rarer inside values comes first.
DELIMITERS = ("\t", "|", ";", ",")
# A separator for files that have none: our own exports quote a value that holds it.
ONE_COLUMN = "\x1f"


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """`skip_lines` is 1 where Excel's `sep=;` line comes first; `padded` where a space stands before each quote."""

    delimiter: str = ","
    quote: str = '"'
    padded: bool = False
    skip_lines: int = 0

    def reader_options(self) -> dict[str, str | bool]:
        return {"delimiter": self.delimiter, "quotechar": self.quote, "skipinitialspace": self.padded}


def sniff_dialect(sample: str, *, whole: bool, delimiter: str | None = None, tabs: bool = False) -> Dialect:
    """Return how a file is written. Each candidate reads the sample; the one whose records agree best on a number of
    columns, beginning with the header, and whose values hold no other candidate's separator, wins. (csv.Sniffer guesses
    letters as separators and fails on decimal commas.)"""
    # The csv module accepts these and then reads nonsense.
    if delimiter is not None and (len(delimiter) != 1 or delimiter in "\r\n\"'\0"):
        raise BadFile(
            f"{delimiter!r} cannot separate columns.", advice="Use one character, such as , or ; or | or a tab."
        )
    skip = 0
    if (match := re.match(r"(?i)sep=(.)(?:\r\n|\r|\n|\Z)", sample)) and match[1] not in "\r\n\"'\0":
        delimiter = delimiter or match[1]
        sample, skip = sample[match.end() :], 1
    candidates = [delimiter] if delimiter else [*DELIMITERS]
    dialects = [
        Dialect(delimiter=candidate, quote=_detect_quote(sample, candidate), padded=padded, skip_lines=skip)
        for candidate in candidates
        for padded in (False, True)
        # A padded reading differs only if a quote follows a separator and a space; most files have none.
        if not padded or f'{candidate} "' in sample
    ]
    # A file's name that promises tabs outweighs a somewhat better score of another separator.
    scores = [
        _score_dialect(sample, dialect, whole=whole) * (1.5 if tabs and dialect.delimiter == "\t" else 1.0)
        for dialect in dialects
    ]
    best = max(scores)
    if best <= 0:
        return replace(dialects[0], delimiter=delimiter or ONE_COLUMN)
    # The first of equals: DELIMITERS and the unpadded reading are in order of preference.
    return dialects[scores.index(best)]


def _score_dialect(sample: str, dialect: Dialect, *, whole: bool) -> float:
    """Return 0 (wrong dialect) to 1 (all records have as many values as the header, none with a stray separator)."""
    records = _sample_records(sample, dialect, whole=whole)
    if not records:
        return 0.01  # all of the file is this separator and space
    counts = [len(record) for record in records]
    header = counts[0]
    usual, times = Counter(counts).most_common(1)[0]
    if usual < 2 and header < 2:
        return 0.0
    # A single header name above lines with a comma here and there is a column of text.
    if header < 2 and _is_prose(records):
        return 0.0
    agreement = times / len(records) if usual >= 2 else counts.count(header) / len(records)
    # A header with fewer or more columns than the records is likely read with the wrong separator, but real files with
    # a ragged header exist; unclean values halve a score at most, since prose in a true table holds commas as well.
    return agreement * (1.0 if header == usual else 0.6) * (0.5 + 0.5 * _clean_share(records, dialect))


def _sample_records(sample: str, dialect: Dialect, *, whole: bool) -> list[list[str]]:
    """Return the first records with every quoted value as "Q": its content says nothing about the dialect."""
    plain = _quoted_value_pattern(dialect).sub(r"\1Q", sample)
    # Larger: slower for each candidate; smaller: a preamble or a few odd lines would outvote the table.
    most = 200
    lines = list(islice(io.StringIO(plain, newline=""), most + 1))
    # The last line of a sample may be cut in the middle, and would count as a record of the wrong width.
    if len(lines) > 1 and not (whole and len(lines) <= most):
        lines.pop()  # it may be cut
    csv.field_size_limit(TABLE_LIMITS.value_characters)
    records = csv.reader(lines, **dialect.reader_options())  # type: ignore[arg-type]
    return [record for record in records if any(map(str.strip, record))]


def _quoted_value_pattern(dialect: Dialect) -> re.Pattern[str]:
    between, quote, space = re.escape(dialect.delimiter), dialect.quote, " *" if dialect.padded else ""
    return re.compile(
        # The possessive `*+` keeps an unclosed quote linear.
        rf"(\A|[\r\n]|{between}){space}{quote}(?:[^{quote}]|{quote}{quote})*+{quote}(?={between}|[\r\n]|\Z)"
    )


def _is_prose(records: list[list[str]]) -> bool:
    """One column of text: the header has no separator, and below it one always comes before a space ("Smith, John"),
    or comes here and there."""
    with_it = [record for record in records if len(record) > 1]
    # The header is one of the records and has no separator by definition: it has no vote.
    if len(with_it) * 2 < len(records) - 1:
        return True
    return all(value[:1] == " " for record in with_it for value in record[1:])


def _clean_share(records: list[list[str]], dialect: Dialect) -> float:
    """Return the share of values with no stray quote and no other separator, save in numbers ("12,50") and before a
    space, as in prose."""
    others = "|".join(rf"{re.escape(other)}(?! )" for other in DELIMITERS if other != dialect.delimiter)
    unclean = re.compile(rf'"|{others}')
    values = [value for record in records for value in record if value]
    if not values:
        return 1.0
    clean = sum(
        1
        for value in values
        if not unclean.search(value) or any(style.fullmatch(value) for style in NUMBER_STYLES.values())
    )
    return clean / len(values)


def _detect_quote(sample: str, delimiter: str) -> str:
    """Return the quote: the apostrophe only if every value that starts with one ends with one, and none has quotes."""
    # The quote shows in the first lines, and its search reads the sample three times for each separator.
    if len(sample) > 64 * 1024:
        sample = sample[: sample.rfind("\n", 0, 64 * 1024)]
    if "'" not in sample:
        return '"'
    between = re.escape(delimiter)
    if re.search(rf'(?:^|{between}|[\r\n]) *"', sample):
        return '"'
    begins = len(re.findall(rf"(?:(?<={between})|(?<=[\r\n])|\A)'", sample))
    encloses = len(re.findall(rf"(?:(?<={between})|(?<=[\r\n])|\A)'(?:[^']|'')*'(?={between}|[\r\n]|\Z)", sample))
    return "'" if begins and begins == encloses else '"'


_CARE = re.compile(r"""[,;|"\x00-\x1f]|^[\W_]|\s\Z""")


class CsvWriter:
    def __init__(self, stream: BinaryIO, columns: Sequence[ExportColumn], *, delimiter: str = ",") -> None:
        self._stream = stream
        self._columns = [(column.field, column.text) for column in columns]
        self._delimiter = delimiter
        self._put([self._line([column.name for column in columns])])

    def write(self, rows: Iterable[Row]) -> None:
        lines: list[str] = []
        for row in rows:
            cells = row.cells
            lines.append(self._line([text(cells.get(field, PENDING)) for field, text in self._columns]))
            # One write for many lines. Larger: more memory for wide rows, and no gain in speed.
            if len(lines) == 1000:
                self._put(lines)
                lines = []
        self._put(lines)

    def close(self) -> None:
        self._stream.flush()

    def _line(self, texts: list[str]) -> str:
        # A fast first look: most values need neither a quote nor an apostrophe.
        line = self._delimiter.join([_quote_value(text) if _CARE.search(text) else text for text in texts])
        return line or '""'  # a blank line would be no row at all

    def _put(self, lines: list[str]) -> None:
        if lines:
            self._stream.write(("\r\n".join(lines) + "\r\n").encode("utf-8", "replace"))


def _quote_value(text: str) -> str:
    text = escape_formula(text.replace("\0", "\ufffd"))
    return (
        '"' + text.replace('"', '""') + '"'
        if re.search(r"""[,;|"\x00-\x1f\x85\u2028\u2029]|^[\s'\ufeff]|\s\Z""", text)
        else text
    )


_INVISIBLE = r"\s\x00-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff"
# Not a plain number, which may begin with a sign.
_DANGEROUS = re.compile(
    rf"'*+(?:[\t\r](?=\s*\S)|(?![{_INVISIBLE}]*[+-]?(?:[0-9][0-9.,]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*\Z)"
    rf"[{_INVISIBLE}]*[=+\-@＝＋－＠])"
)
_SUSPECT = re.compile(rf"[{_INVISIBLE}'=+\-@＝＋－＠]")


def escape_formula(text: str) -> str:
    return "'" + text if _SUSPECT.match(text) and _DANGEROUS.match(text) else text


def unescape_formula(text: str) -> str:
    return text[1:] if text[:1] == "'" and _DANGEROUS.match(text, 1) else text
