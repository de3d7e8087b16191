"""How a delimited file is written: its separator and its quote character, found out from the first records.

Each candidate reads the sample; the one whose records agree best on a number of columns, beginning with the header, and
whose values hold no other candidate's separator, wins. (csv.Sniffer guesses letters as separators and fails on decimal
commas.)
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from dataclasses import dataclass
from itertools import islice

from tablewright.errors import BadFile
from tablewright.table.files.limits import MAX_FIELD_CHARS
from tablewright.table.files.text_column import NUMBER_STYLES

SAMPLE_RECORDS = 200
QUOTE_SAMPLE_CHARS = 64 * 1024
# Where two score alike, the character that is rarer inside values comes first.
DELIMITERS = ("\t", "|", ";", ",")
_SEP_LINE = re.compile(r"(?i)sep=(.)(?:\r\n|\r|\n|\Z)")
_LONE_QUOTES = re.compile(r"'(?:[^']|'')*'")


@dataclass(frozen=True, kw_only=True)
class Dialect:
    """`skip_lines` is 1 where Excel's `sep=;` line comes first; `padded` where a space stands before each quote."""

    delimiter: str = ","
    quote: str = '"'
    padded: bool = False
    skip_lines: int = 0

    def reader_options(self) -> dict[str, str | bool]:
        return {"delimiter": self.delimiter, "quotechar": self.quote, "skipinitialspace": self.padded}


def sniff(sample: str, *, whole: bool, delimiter: str | None = None, tabs: bool = False) -> Dialect:
    if delimiter is not None and (len(delimiter) != 1 or delimiter in "\r\n\"'\0"):
        raise BadFile(
            f"{delimiter!r} cannot separate columns.", advice="Use one character, such as , or ; or | or a tab."
        )
    skip = 0
    if match := _SEP_LINE.match(sample):
        delimiter = delimiter or match[1]
        sample, skip = sample[match.end() :], 1
    lines = list(io.StringIO(sample, newline=""))
    if not whole and len(lines) > 1:
        lines.pop()  # it may be cut
    candidates = [delimiter] if delimiter else [*DELIMITERS]
    dialects = [
        Dialect(delimiter=candidate, quote=_quote(sample, candidate), padded=padded, skip_lines=skip)
        for candidate in candidates
        for padded in (False, True)
        if not padded or f'{candidate} "' in sample
    ]
    if tabs and delimiter is None:
        dialects.sort(key=lambda dialect: dialect.delimiter != "\t")
    scores = [_score(lines, dialect, whole=whole, asked=delimiter is not None) for dialect in dialects]
    best = max(scores, default=0.0)
    if best <= 0:
        return Dialect(delimiter=delimiter or ("\t" if tabs else ","), skip_lines=skip)
    return dialects[scores.index(best)]


def _score(lines: list[str], dialect: Dialect, *, whole: bool, asked: bool) -> float:
    """0 (not this one) to 1 (every record has as many values as the header, none with a stray separator in it)."""
    records = _records(lines, dialect, whole=whole)
    if not records:
        return 0.0
    counts = [len(record) for record in records]
    header = counts[0]
    usual, times = Counter(counts).most_common(1)[0]
    if usual < 2 and header < 2:
        return 0.1 if asked else 0.0
    if header < 2 and _is_prose(records):
        return 0.0
    agreement = times / len(records) if usual >= 2 else counts.count(header) / len(records)
    return agreement * (1.0 if header == usual else 0.6) * (0.5 + 0.5 * _cleanness(records, dialect.delimiter))


def _records(lines: list[str], dialect: Dialect, *, whole: bool) -> list[list[str]]:
    csv.field_size_limit(MAX_FIELD_CHARS)
    reader = csv.reader(iter(lines), **dialect.reader_options())  # type: ignore[arg-type]
    try:
        records = list(islice(reader, SAMPLE_RECORDS))
    except csv.Error:
        return []
    if not whole and reader.line_num >= len(lines) and len(records) > 1:
        records.pop()
    return [record for record in records if any(map(str.strip, record))]


def _is_prose(records: list[list[str]]) -> bool:
    """One column of text: the header has no separator, and below it one always comes before a space ("Smith, John"),
    or comes here and there."""
    with_it = [record for record in records if len(record) > 1]
    if len(with_it) * 2 < len(records) - 1:
        return True
    return all(value[:1] == " " for record in with_it for value in record[1:])


def _cleanness(records: list[list[str]], delimiter: str) -> float:
    """The share of values that hold no other separator, or are numbers all the same ("12,50")."""
    others = re.compile("[" + "".join(other for other in DELIMITERS if other != delimiter) + "]")
    values = [value for record in records for value in record if value]
    if not values:
        return 1.0
    clean = sum(1 for value in values if not others.search(value) or _is_number(value))
    return clean / len(values)


def _is_number(value: str) -> bool:
    return any(style.fullmatch(value) for style in NUMBER_STYLES.values())


def _quote(sample: str, delimiter: str) -> str:
    """The apostrophe only where it encloses: each value that begins with one ends with one, none has real quotes."""
    if len(sample) > QUOTE_SAMPLE_CHARS:
        sample = sample[: sample.rfind("\n", 0, QUOTE_SAMPLE_CHARS)]
    if "'" not in sample:
        return '"'
    between = re.escape(delimiter)
    if re.search(rf'(?:^|{between}|[\r\n])\s*"', sample):
        return '"'
    begins = len(re.findall(rf"(?:(?<={between})|(?<=[\r\n])|\A)'", sample))
    encloses = len(
        re.findall(rf"(?:(?<={between})|(?<=[\r\n])|\A){_LONE_QUOTES.pattern}(?={between}|[\r\n]|\Z)", sample)
    )
    return "'" if begins and begins == encloses else '"'
