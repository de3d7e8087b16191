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
from dataclasses import dataclass, replace
from itertools import islice

from tablewright.errors import BadFile
from tablewright.formats.tables.limits import MAX_FIELD_CHARS
from tablewright.formats.tables.text_column import NUMBER_STYLES

SAMPLE_RECORDS = 200
TSV_BONUS = 1.5  # for tabs, where the file's name promises them
QUOTE_SAMPLE_CHARS = 64 * 1024
# Where two score alike, the character that is rarer inside values comes first.
DELIMITERS = ("\t", "|", ";", ",")
ONE_COLUMN = "\x1f"  # a separator for files that have none: our own exports quote a value that holds it
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
    candidates = [delimiter] if delimiter else [*DELIMITERS]
    dialects = [
        Dialect(delimiter=candidate, quote=_quote(sample, candidate), padded=padded, skip_lines=skip)
        for candidate in candidates
        for padded in (False, True)
        if not padded or f'{candidate} "' in sample
    ]
    scores = [
        _score(sample, dialect, whole=whole) * (TSV_BONUS if tabs and dialect.delimiter == "\t" else 1.0)
        for dialect in dialects
    ]
    best = max(scores)
    if best <= 0:
        return replace(dialects[0], delimiter=delimiter or ONE_COLUMN)
    return dialects[scores.index(best)]


def _score(sample: str, dialect: Dialect, *, whole: bool) -> float:
    """0 (not this one) to 1 (every record has as many values as the header, none with a stray separator in it)."""
    records = _records(sample, dialect, whole=whole)
    if not records:
        return 0.01  # all of the file is this separator and space
    counts = [len(record) for record in records]
    header = counts[0]
    usual, times = Counter(counts).most_common(1)[0]
    if usual < 2 and header < 2:
        return 0.0
    if header < 2 and _is_prose(records):
        return 0.0
    agreement = times / len(records) if usual >= 2 else counts.count(header) / len(records)
    return agreement * (1.0 if header == usual else 0.6) * (0.5 + 0.5 * _cleanness(records, dialect))


def _records(sample: str, dialect: Dialect, *, whole: bool) -> list[list[str]]:
    """The first records, each properly quoted value as a plain Q: what is in it says nothing about the dialect."""
    plain = _quoted_value(dialect).sub(r"\1Q", sample)
    lines = list(islice(io.StringIO(plain, newline=""), SAMPLE_RECORDS + 1))
    if len(lines) > 1 and not (whole and len(lines) <= SAMPLE_RECORDS):
        lines.pop()  # it may be cut
    csv.field_size_limit(MAX_FIELD_CHARS)
    records = csv.reader(lines, **dialect.reader_options())  # type: ignore[arg-type]
    return [record for record in records if any(map(str.strip, record))]


def _quoted_value(dialect: Dialect) -> re.Pattern[str]:
    between, quote, space = re.escape(dialect.delimiter), dialect.quote, " *" if dialect.padded else ""
    return re.compile(
        rf"(\A|[\r\n]|{between}){space}{quote}(?:[^{quote}]|{quote}{quote})*+{quote}(?={between}|[\r\n]|\Z)"
    )


def _is_prose(records: list[list[str]]) -> bool:
    """One column of text: the header has no separator, and below it one always comes before a space ("Smith, John"),
    or comes here and there."""
    with_it = [record for record in records if len(record) > 1]
    if len(with_it) * 2 < len(records) - 1:
        return True
    return all(value[:1] == " " for record in with_it for value in record[1:])


def _cleanness(records: list[list[str]], dialect: Dialect) -> float:
    """The share of values that hold no stray quote and no other separator, save in numbers ("12,50") and before a
    space, as in prose."""
    others = "|".join(rf"{re.escape(other)}(?! )" for other in DELIMITERS if other != dialect.delimiter)
    unclean = re.compile(rf'"|{others}')
    values = [value for record in records for value in record if value]
    if not values:
        return 1.0
    clean = sum(1 for value in values if not unclean.search(value) or _is_number(value))
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
    if re.search(rf'(?:^|{between}|[\r\n]) *"', sample):
        return '"'
    begins = len(re.findall(rf"(?:(?<={between})|(?<=[\r\n])|\A)'", sample))
    encloses = len(
        re.findall(rf"(?:(?<={between})|(?<=[\r\n])|\A){_LONE_QUOTES.pattern}(?={between}|[\r\n]|\Z)", sample)
    )
    return "'" if begins and begins == encloses else '"'
