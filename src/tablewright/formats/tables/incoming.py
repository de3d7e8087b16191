"""A table file that was read through once: its columns, types and size are known, its rows can be streamed.

Files of lines and columns (CSV, workbook) are surveyed first: header, ragged lines, empty columns, types. Column names
are cleaned, never empty, never two that differ only in their spelling.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any, Protocol

from tablewright.domain.model import Cell, Field, FieldType, Struct, column_key
from tablewright.domain.text import count_noun
from tablewright.errors import BadFile
from tablewright.formats.tables.columns import NativeColumn, format_header, is_empty_value
from tablewright.formats.tables.limits import TABLE_LIMITS

CellBatches = Iterator[Iterable[tuple[Cell, ...]]]


class TableOutline(Struct, frozen=True):
    """The columns and size of a table file; `warnings` are sentences for the user."""

    name: str
    fields: tuple[Field, ...]
    row_count: int
    key_field: str = ""
    warnings: tuple[str, ...] = ()


class Incoming(TableOutline, frozen=True, kw_only=True):
    """The table of a file. Everything that could be wrong with the file was looked for before this object existed, so
    `rows()` can be imported without stopping half-way."""

    batches: Callable[[], CellBatches]

    def rows(self) -> Iterator[tuple[Cell, ...]]:
        """The cells of each row, aligned with `fields`; can be called again."""
        for batch in self.batches():
            yield from batch


@dataclass(frozen=True, kw_only=True)
class Batch:
    """Some records of a file and the line each begins in. Records without any value are left out; `without_value` are
    the lines of those that their owner may miss: an object of nothing but nulls, but not an empty line."""

    records: list[Sequence[Any]]
    lines: list[int]
    without_value: Sequence[int] = ()


def batch_records(
    numbered: Iterable[tuple[int, Sequence[Any]]],
    width: int,
    is_missed: Callable[[Sequence[Any]], bool] = lambda record: True,
) -> Iterator[Batch]:
    """Yield records of so many columns in batches. `is_missed` says which of those without a value are reported."""
    # A batch is bounded in cells, not rows: a wide table has fewer rows in memory.
    size = max(1, TABLE_LIMITS.batch_cells // max(1, width))
    records: list[Sequence[Any]] = []
    lines: list[int] = []
    without_value: list[int] = []
    for line, record in numbered:
        if all(map(is_empty_value, record)):
            if is_missed(record):
                without_value.append(line)
            continue
        records.append(record)
        lines.append(line)
        if len(records) >= size:
            yield Batch(records=records, lines=lines)
            records, lines = [], []
    yield Batch(records=records, lines=lines, without_value=without_value)


class Column(Protocol):
    """A column that learns its type from its values in the first pass and makes their cells in the second. `infinite`
    are the values that are left empty because they are no finite numbers, `mended` the texts that lose characters."""

    infinite: int
    mended: int

    @property
    def filled(self) -> bool: ...
    @property
    def type(self) -> FieldType: ...
    def see(self, values: Sequence[Any]) -> None: ...
    def same_kind(self, header: Any) -> bool: ...
    def other_kind(self, header: Any) -> bool: ...
    def cells(self, values: Sequence[Any]) -> list[Cell]: ...


@dataclass(frozen=True, kw_only=True)
class Grid:
    """A file as records. `line` is what the format calls one ("line", "row"); `empty` stands for a value that is not
    there; `named` says that the first record holds names for certain, because the format has them apart. What is not
    said is that of values that have types."""

    file: str
    name: str
    batches: Callable[[], Iterator[Batch]]
    column: Callable[[], Column] = NativeColumn
    header_text: Callable[[Any], str] = format_header
    is_empty: Callable[[Any], bool] = is_empty_value
    empty: Any = None
    line: str = "row"
    named: bool = False


def survey_grid(grid: Grid, *, header: bool, warnings: Sequence[str] = ()) -> Incoming:
    """Read the whole file once, a batch at a time, and return its table."""
    found = GridSurvey(grid=grid, header=header)
    for batch in grid.batches():
        found.see(batch)
    if not found.started:
        raise BadFile(f"{grid.file} is empty: it has no {grid.line} with a value in it.")
    return found.incoming(warnings)


@dataclass
class GridSurvey:
    grid: Grid
    header: bool
    headers: list[Any] = field(default_factory=list)
    columns: list[Column] = field(default_factory=list)
    width: int = 0
    row_count: int = 0
    surplus_rows: int = 0
    surplus_line: int = 0
    without_value: int = 0
    without_value_line: int = 0
    started: bool = False

    def see(self, batch: Batch) -> None:
        records, lines = batch.records, batch.lines
        if batch.without_value:
            self.without_value_line = self.without_value_line or batch.without_value[0]
            self.without_value += len(batch.without_value)
        if not self.started and records:
            self.started = True
            self.width = len(records[0])
            self._check_width(records[0], lines[0])
            self._widen(self.width)
            if self.header:
                self.headers = list(records[0])
                records, lines = records[1:], lines[1:]
        if not records:
            return
        self.row_count += len(records)
        if max(map(len, records)) > self.width:
            for record, line in zip(records, lines, strict=True):
                if len(record) > self.width:
                    self._see_surplus(record, line)
        for column, values in zip(self.columns, zip_longest(*records, fillvalue=self.grid.empty), strict=False):
            column.see(values)

    def _see_surplus(self, record: Sequence[Any], line: int) -> None:
        used = max((at for at in range(len(record)) if not self.grid.is_empty(record[at])), default=-1) + 1
        if used > self.width:
            self.surplus_rows += 1
            self.surplus_line = self.surplus_line or line
            self._check_width(record[:used], line)
            self._widen(used)

    def _check_width(self, record: Sequence[Any], line: int) -> None:
        if len(record) > TABLE_LIMITS.columns:
            raise BadFile(
                f"{self.grid.file} has {len(record):,} columns in {self.grid.line} {line}; "
                f"a table can have at most {TABLE_LIMITS.columns:,}."
            )

    def _widen(self, width: int) -> None:
        while len(self.columns) < width:
            self.columns.append(self.grid.column())

    def incoming(self, warnings: Sequence[str]) -> Incoming:
        grid = self.grid
        if self.header and not grid.named:
            self._refuse_a_header_of_values()
        headers = [grid.header_text(header) for header in self.headers]
        headers += [""] * (len(self.columns) - len(headers))
        # A column without name and value is what a trailing separator leaves. Without a header every column keeps its
        # place, so that "Column 3" is the third of the file.
        kept = [at for at, column in enumerate(self.columns) if column.filled or headers[at].strip() or not self.header]
        all_names, name_warnings = make_column_names(headers)
        names = [all_names[at] for at in kept]
        columns = [self.columns[at] for at in kept]
        return Incoming(
            name=grid.name,
            fields=tuple(Field(name=name, type=column.type) for name, column in zip(names, columns, strict=True)),
            row_count=self.row_count,
            batches=lambda: self._cells(kept),
            warnings=(*warnings, *name_warnings, *self._surplus_warning(all_names), *self._loss_warnings(all_names)),
        )

    def _refuse_a_header_of_values(self) -> None:
        pairs = list(zip(self.columns, self.headers, strict=False))
        # One header that cannot be a value ("Price" above numbers) proves that the line is a header.
        if any(column.other_kind(value) for column, value in pairs):
            return
        like = next((value for column, value in pairs if column.same_kind(value)), None)
        if like is not None:
            raise BadFile(
                f"{self.grid.file} seems to have no header: its first {self.grid.line} holds values "
                f"like those below it ({self.grid.header_text(like).strip()[:60]}).",
                advice="Say --no-header to name the columns Column 1, Column 2, …, or add a line with the names.",
            )

    def _surplus_warning(self, names: Sequence[str]) -> list[str]:
        if not self.surplus_rows:
            return []
        added = names[self.width :]
        kept_in = f"'{added[0]}'" if len(added) == 1 else f"'{added[0]}' to '{added[-1]}'"
        have = f"{self.surplus_rows:,} rows have" if self.surplus_rows > 1 else "1 row has"
        than = "header" if self.header else f"first {self.grid.line}"
        where = f"the first in {self.grid.line} {self.surplus_line}"
        return [f"{have} more values than the {than} ({where}); the surplus is kept in {kept_in}."]

    def _loss_warnings(self, names: Sequence[str]) -> list[str]:
        """Return what the table will not have of the file."""
        said = []
        if count := self.without_value:
            first = f"the first is {self.grid.line} {self.without_value_line:,}"
            said.append(f"Left out: {count_noun(count, self.grid.line)} without a value; {first}.")
        infinite = {name: column.infinite for name, column in zip(names, self.columns, strict=True) if column.infinite}
        if count := sum(infinite.values()):
            said.append(f"Left empty: {count_noun(count, 'number')} (NaN, Infinity) {_list_names(infinite)}.")
        mended = {name: column.mended for name, column in zip(names, self.columns, strict=True) if column.mended}
        if count := sum(mended.values()):
            said.append(
                f"Replaced by \ufffd: NULs or invalid Unicode in {count_noun(count, 'value')} {_list_names(mended)}."
            )
        return said

    def _cells(self, kept: Sequence[int]) -> CellBatches:
        width = len(self.columns)
        skip = 1 if self.header else 0
        for batch in self.grid.batches():
            records = batch.records[skip:]
            skip = 0
            if not records:
                continue
            wide = [*records, [self.grid.empty] * width]  # so that the block has every column, even a never-filled one
            block = list(zip_longest(*wide, fillvalue=self.grid.empty))
            yield zip(*[self.columns[at].cells(block[at][:-1]) for at in kept], strict=True)


def _list_names(columns: Iterable[str]) -> str:
    names = [f"'{name[:60]}'" for name in columns]
    # Five are enough to recognise the columns, and short enough for one sentence.
    more = f" and {len(names) - 5:,} more columns" if len(names) > 5 else ""
    return f"of {', '.join(names[:5])}{more}"


def make_column_names(headers: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the column names for these headers, and a sentence for each name that differs from its header."""
    warnings: list[str] = []
    cleaned = [_clean_header(header, warnings) for header in headers]
    # All given names first, so that an invented "Column 2" never takes the name of a later column.
    taken = {column_key(name) for name in cleaned if name}
    seen: dict[str, int] = {}
    names: list[str] = []
    for position, name in enumerate(cleaned, start=1):
        if not name:
            name = find_free_name(f"Column {position}", taken)
        elif column_key(name) in seen:
            seen[column_key(name)] += 1
            name = find_free_name(name, taken, start=seen[column_key(name)])
        else:
            seen[column_key(name)] = 1
        taken.add(column_key(name))
        names.append(name)
    warnings += _describe_duplicates(cleaned, names)
    return tuple(names), tuple(warnings)


def _clean_header(header: str, warnings: list[str]) -> str:
    spaced = re.sub(r"[\t\n\r\x0b\x0c\x85\u2028\u2029]+", " ", header).strip("\ufeff ")
    # Control characters, zero-width spaces and byte-order marks: two names that differ only in them look the same.
    name = re.sub(r"[\x00-\x1f\x7f-\x9f\u200b\u2060\ufeff]", "", spaced).strip()
    if name and name != spaced.strip():
        warnings.append(f"The name of the column {_quote_name(name)} had invisible characters; they are left out.")
    if "{" in name or "}" in name:
        plain = name.replace("{", "(").replace("}", ")")
        warnings.append(
            f"The column {_quote_name(name)} is now {_quote_name(plain)}: braces mark columns in questions."
        )
        name = plain
    if len(name) > TABLE_LIMITS.name_characters:
        warnings.append(
            f"The name of the column {_quote_name(name)} was cut to {TABLE_LIMITS.name_characters} characters."
        )
        name = name[: TABLE_LIMITS.name_characters].rstrip()
    return name


def find_free_name(name: str, taken: set[str], start: int = 1) -> str:
    """Return `name`, or the first of `name 2`, `name 3`, … that no other column has."""
    number = start
    candidate = name if start == 1 else _append_number(name, start)
    while column_key(candidate) in taken:
        number += 1
        candidate = _append_number(name, number)
    return candidate


def _append_number(name: str, number: int) -> str:
    ending = f" {number}"
    return name[: TABLE_LIMITS.name_characters - len(ending)] + ending


def _describe_duplicates(cleaned: Sequence[str], names: Sequence[str]) -> list[str]:
    groups: dict[str, list[int]] = {}
    for index, name in enumerate(cleaned):
        if name:
            groups.setdefault(column_key(name), []).append(index)
    sentences = []
    for indices in groups.values():
        if len(indices) == 2:
            called, now = _quote_name(cleaned[indices[0]]), _quote_name(names[indices[1]])
            sentences.append(f"2 columns are called {called}; the second is now {now}.")
        elif len(indices) > 2:
            first, last = _quote_name(names[indices[1]]), _quote_name(names[indices[-1]])
            called = _quote_name(cleaned[indices[0]])
            sentences.append(f"{len(indices)} columns are called {called}; the others are now {first} to {last}.")
    return sentences


def _quote_name(name: str) -> str:
    return f"'{name}'" if len(name) <= 60 else f"'{name[:57]}…'"
