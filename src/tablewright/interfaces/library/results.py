"""The results of the verbs: a table whose cells carry their evidence, an answer, a report."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import warnings
import zlib
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from tablewright.domain.files import ExportOutcome
from tablewright.domain.model import Cell, Evidence, Field, Row, Table, Value
from tablewright.domain.reply import Citation, Reply
from tablewright.domain.research import CheckedClaim, SourceNote
from tablewright.domain.text import cell_text, count_noun, to_json_document
from tablewright.errors import NotFound
from tablewright.formats.tables.write import open_writer, target_format
from tablewright.interfaces.library import frames
from tablewright.interfaces.library.fields import allowed_values
from tablewright.operations.research import ResearchShown

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    from pydantic import BaseModel
    from pydantic_core import ErrorDetails

ModelT = TypeVar("ModelT", bound="BaseModel")


@dataclass(frozen=True)
class Instance(Generic[ModelT]):
    """A row as an object of the caller's class; None where it cannot be one, and `problem` says why."""

    value: ModelT | None
    evidence: Mapping[str, tuple[Evidence, ...]]
    problem: str = ""


class CompactReport:
    """A JSON document whose rows, which repeat the table with all steps, are compressed until they are asked for."""

    # Small enough to be built quickly, large enough to compress well.
    CHUNK_BYTES = 1024 * 1024

    def __init__(self) -> None:
        self._head: dict[str, Any] = {}
        self._chunks: list[bytes] = []

    @classmethod
    async def build(cls, report: Mapping[str, Any], paths: Mapping[str, str]) -> CompactReport:
        """`report` may have rows that are an asynchronous iterator of JSON; `paths` replace document ids."""
        compact = cls()
        listed = report.get("rows")
        if not isinstance(listed, AsyncIterator):
            compact._head = name_files(dict(report), paths)
            return compact
        compact._head = name_files({name: value for name, value in report.items() if name != "rows"}, paths)
        rows: list[bytes] = []
        size = 0
        async for row in listed:
            rows.append(msgspec.json.encode(with_paths(msgspec.json.decode(row), paths)) if paths else row)
            size += len(rows[-1])
            if size > cls.CHUNK_BYTES:
                compact._chunks.append(await asyncio.to_thread(zlib.compress, b",".join(rows), 1))
                rows, size = [], 0
        compact._chunks.append(zlib.compress(b",".join(rows), 1))
        return compact

    def load(self) -> dict[str, Any]:
        if not self._chunks:
            return self._head
        chunks = (msgspec.json.decode(b"[%s]" % zlib.decompress(each)) for each in self._chunks)
        return {**self._head, "rows": [row for chunk in chunks for row in chunk]}


ThingT = TypeVar("ThingT")


def name_files(thing: ThingT, paths: Mapping[str, str]) -> ThingT:
    """Return a table or a part of a report with the path of each document in place of its id."""
    return msgspec.convert(with_paths(msgspec.to_builtins(thing), paths), type(thing)) if paths else thing


def with_paths(thing: Any, paths: Mapping[str, str]) -> Any:
    if isinstance(thing, dict):
        return {key: with_paths(value, paths) for key, value in thing.items()}
    if isinstance(thing, list | tuple):
        return [with_paths(each, paths) for each in thing]
    return paths.get(thing, thing) if isinstance(thing, str) else thing


@dataclass(frozen=True, kw_only=True, repr=False)
class TableResult:
    """A table in memory. `table` has every cell whole."""

    table: Table
    asked: tuple[str, ...] = ()
    """The columns that were filled."""
    status: str = "done"
    notes: tuple[str, ...] = ()
    """Notes on the values, in whole sentences."""
    compact_report: CompactReport = field(default_factory=CompactReport)
    source: Any = None
    """The DataFrame that it was made from, if any: `to_pandas` and `to_polars` add their columns to it."""

    def __len__(self) -> int:
        return len(self.table.rows)

    def __iter__(self) -> Iterator[dict[str, Value]]:
        columns = self.columns
        return ({name: row.cell(name).value for name in columns} for row in self.table.rows)

    @cached_property
    def report(self) -> Mapping[str, Any]:
        """The run as a JSON document, with every cell that was asked for, its evidence and its trace."""
        return self.compact_report.load()

    @property
    def columns(self) -> list[str]:
        return [each.name for each in self.table.shown_fields]

    @property
    def rows(self) -> list[dict[str, Value]]:
        """The values alone, by column."""
        return list(self)

    def cell(self, row: int, column: str) -> Cell:
        """Return a cell with all that is known of it; rows are numbered from 0."""
        return self.table.rows[row].cell(self._field(column).name)

    def column(self, name: str) -> list[Value]:
        wanted = self._field(name).name
        return [row.cell(wanted).value for row in self.table.rows]

    def evidence(self) -> list[dict[str, Any]]:
        """Return a row for each source of each value that was filled; `source` is an address or the path of a document.
        A cell that stayed empty has one, too, whose `reason` and `note` say why."""
        return [
            source
            for position, row in enumerate(self.table.rows)
            for name in (self.asked or self.columns)
            for source in self._sources(position, row, name)
        ]

    def to_dict(self) -> dict[str, Any]:
        """The table with its rows, as `tables show --json` prints it and REST returns its parts."""
        from tablewright.operations.rows import show_row

        return {
            "table_id": self.table.id,
            "name": self.table.name,
            "key_field": self.table.key_field,
            "row_count": len(self),
            "fields": to_json_document(self.table.fields),
            "rows": [to_json_document(show_row(self.table, row)) for row in self.table.rows],
        }

    def to_pandas(self) -> pandas.DataFrame:
        return frames.to_pandas(self.table, self.asked, self.source)

    def to_polars(self) -> polars.DataFrame:
        return frames.to_polars(self.table, self.asked, self.source)

    def to_arrow(self) -> pyarrow.Table:
        return frames.to_arrow(self.table)

    def save(self, path: str | os.PathLike[str], *, evidence: bool = False) -> None:
        """Write a file in the format of its ending: CSV, TSV, XLSX, JSON, JSON Lines, Markdown or Parquet. With
        `evidence` each filled column is followed by the sources and the confidence of its values."""
        target = Path(path)
        format = target_format(target)
        with tempfile.TemporaryFile() as content:
            writer = open_writer(content, format, self.table, evidence=evidence)
            writer.write(self.table.rows)
            writer.close()
            content.seek(0)
            # Only now: a value that cannot be written must not destroy the file that was there.
            with target.open("wb") as file:
                shutil.copyfileobj(content, file)
        cells = [cell for row in self.table.rows for cell in row.cells.values()]
        flagged = sum(cell.status == "FLAGGED" for cell in cells)
        for note in ExportOutcome(
            row_count=len(self), stale=sum(cell.stale for cell in cells), flagged=flagged
        ).warnings:
            warnings.warn(note, stacklevel=2)

    def instances(self, model: type[ModelT]) -> list[Instance[ModelT]]:
        """Return each row as an object of a pydantic class, with the evidence of its fields."""
        return [self._instance(model, row) for row in self.table.rows]

    def _repr_html_(self) -> str:
        return table_html(self.table, self.notes)

    def __repr__(self) -> str:
        rows = f"{count_noun(len(self), 'row')}"
        return f"<{type(self).__name__}: {rows}, {', '.join(self.columns)}, {self.status}>"

    def _field(self, name: str) -> Field:
        found = self.table.field(name)
        if found is None:
            raise NotFound(f"There is no column {name!r}.", advice=f"The columns are: {', '.join(self.columns)}.")
        return found

    def _sources(self, position: int, row: Row, name: str) -> Iterator[dict[str, Any]]:
        cell = row.cell(name)
        about = {
            "row": position,
            "key": cell_text(row.cell(self.table.key_field)),
            "column": name,
            "value": to_json_document(cell.value),
            "status": cell.status,
            "reason": cell.reason,
            "note": cell.error or "",
            "basis": cell.shown_basis,
            "confidence": cell.confidence,
        }
        for each in cell.evidence or (Evidence(origin=""),):
            yield about | {
                "source": each.origin,
                "title": each.title,
                "page": each.page,
                "quote": each.quote,
                "stance": each.stance if each.origin else "",
                "retrieved_at": each.retrieved_at,
            }

    def _instance(self, model: type[ModelT], row: Row) -> Instance[ModelT]:
        columns = {name: self._field(info.alias or name).name for name, info in model.model_fields.items()}
        cells = {name: row.cell(column) for name, column in columns.items()}
        values = {
            name: allowed_values(model.model_fields[name].annotation).get(str(cell.value), to_json_document(cell.value))
            for name, cell in cells.items()
            if cell.value is not None
        }
        # A row whose cells do not fit still has its evidence.
        proof = {name: cell.evidence for name, cell in cells.items()}
        from pydantic import ValidationError  # the caller has loaded it to define the class

        try:
            return Instance(model.model_validate(values, by_alias=False, by_name=True), proof)
        except ValidationError as error:
            return Instance(None, proof, "; ".join(explain_refusal(each, cells) for each in error.errors()))


def explain_refusal(refusal: ErrorDetails, cells: Mapping[str, Cell]) -> str:
    """Return why a class refuses a row: a required cell is empty, or has a value that the class does not take."""
    if not refusal["loc"]:
        return refusal["msg"]
    name = str(refusal["loc"][0])
    cell = cells[name]
    return (
        f"{name}: {cell.reason or 'empty'}" if cell.value is None else f"{name}: {refusal['msg']} ({cell_text(cell)})"
    )


@dataclass(frozen=True, kw_only=True, repr=False)
class AskResult:
    """An answer from documents. `reply` has all of it: how complete it is, why, and what was tried."""

    reply: Reply

    @property
    def answer(self) -> str:
        """The answer, and below it how complete it is if it is not known to be exact."""
        is_exact = self.reply.completeness == "exact"
        return "\n".join(filter(None, (self.reply.answer, "" if is_exact else self.reply.completeness_text())))

    @property
    def citations(self) -> Sequence[Citation]:
        return self.reply.citations

    @property
    def rows(self) -> list[dict[str, str]]:
        """The rows of a list, each with the name of its document."""
        return [dict(zip(self._columns, (row.title, *row.values), strict=False)) for row in self.reply.rows]

    @property
    def _columns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(("Document", *self.reply.columns))) if self.reply.columns else ()

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as `tablewright ask --json` prints it."""
        return dict(to_json_document(self.reply))

    def evidence(self) -> list[dict[str, Any]]:
        """Return a row for each citation."""
        return [
            {"number": each.number, "title": each.title, "source": each.path, "page": each.page, "quote": each.quote}
            for each in self.citations
        ]

    def to_pandas(self) -> pandas.DataFrame:
        return frames.import_pandas().DataFrame(self.rows, columns=list(self._columns))

    def to_polars(self) -> polars.DataFrame:
        made: polars.DataFrame = frames.import_polars().DataFrame(self.rows, schema=dict.fromkeys(self._columns, str))
        return made

    def to_arrow(self) -> pyarrow.Table:
        arrow = frames.import_arrow()
        return arrow.Table.from_pylist(self.rows, arrow.schema([(name, arrow.string()) for name in self._columns]))

    def __str__(self) -> str:
        return self.answer

    def __repr__(self) -> str:
        return f"<AskResult: {self.reply.completeness}, {len(self.citations)} citations>"

    def _repr_html_(self) -> str:
        return reply_html(self.reply)


@dataclass(frozen=True, kw_only=True, repr=False)
class ResearchResult:
    """A report with references. `found` is the table of its notes, or of its items."""

    research: ResearchShown
    markdown: str
    found: TableResult

    @property
    def report(self) -> dict[str, Any]:
        """The whole research as a JSON document."""
        return dict(to_json_document(self.research))

    @property
    def claims(self) -> Sequence[CheckedClaim]:
        """The claims that were checked against independent sources, each with its verdict."""
        return self.research.report.claims if self.research.report else ()

    @property
    def source_notes(self) -> list[SourceNote]:
        """The statements of the sources, each with the words that state it."""
        return [note for each in self.research.rounds for note in each.source_notes]

    def evidence(self) -> list[dict[str, Any]]:
        """Return a row for each reference that the report cites."""
        references = self.research.report.references if self.research.report else ()
        return [
            {"number": each.number, "title": each.title, "source": each.url, "page": each.page, "quote": quote}
            for each in references
            for quote in each.quotes or ("",)
        ]

    def to_pandas(self) -> pandas.DataFrame:
        return self.found.to_pandas()

    def to_polars(self) -> polars.DataFrame:
        return self.found.to_polars()

    def to_arrow(self) -> pyarrow.Table:
        return self.found.to_arrow()

    def __str__(self) -> str:
        return self.markdown

    def __repr__(self) -> str:
        return f"<ResearchResult: {self.research.status}, {len(self.evidence())} quotes, {len(self.claims)} claims>"

    def _repr_markdown_(self) -> str:
        return self.markdown


# ── in a notebook ───────────────────────────────────────────────────────────────────────────────────────────────────
# Values are coloured by confidence, with their quotes on hover. Everything that was retrieved is escaped.


def table_html(table: Table, notes: Sequence[str] = ()) -> str:
    fields = table.shown_fields
    head = "".join(f"<th>{escape(field.name)}</th>" for field in fields)
    # A notebook stays readable and small; `to_pandas` has all rows.
    rows = [f"<tr>{''.join(cell_html(row.cell(field.name)) for field in fields)}</tr>" for row in table.rows[:50]]
    more = len(table.rows) - len(rows)
    below = [f"{more:,} more rows"] if more > 0 else []
    said = "".join(f"<p>{escape(each)}</p>" for each in (*below, *notes))
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>{said}"


def cell_html(cell: Cell) -> str:
    # A value of the owner, or without confidence, has the notebook's own colour.
    colours = {} if cell.is_given else {"high": "#1b7f3b", "medium": "#9a6700", "low": "#b42318"}
    colour = colours.get(cell.confidence_label, "inherit")
    marks = [word for word, applies in (("flagged", cell.status == "FLAGGED"), ("stale", cell.stale)) if applies]
    shown = escape(cell_text(cell)) + "".join(f" <small>({mark})</small>" for mark in marks)
    return f'<td style="color: {colour}" title="{escape(explain_cell(cell))}">{shown}</td>'


def explain_cell(cell: Cell) -> str:
    """Return the text that is shown on hover."""
    if cell.is_given:
        return ""
    if cell.value is None:
        return " ".join(filter(None, (cell.reason and cell.reason.replace("_", " "), cell.error)))
    sure = f"{cell.confidence_label} ({cell.confidence or 0:.2f}), {cell.shown_basis or 'no basis'}"
    quotes = [f"“{each.quote}” {each.title or each.origin}" for each in cell.evidence]
    return "\n".join([sure, *quotes])


def reply_html(reply: Reply) -> str:
    sources = "".join(
        f"<li value={each.number}>{escape(each.title)}{f', page {each.page}' if each.page else ''}: "
        f"<q>{escape(each.quote)}</q></li>"
        for each in reply.citations
    )
    rows = "".join(f"<tr>{''.join(f'<td>{escape(value)}</td>' for value in row.values)}</tr>" for row in reply.rows)
    head = "".join(f"<th>{escape(name)}</th>" for name in reply.columns)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>" if rows else ""
    trust = escape(": ".join(filter(None, (reply.completeness, reply.reason))))
    answer = escape(reply.answer).replace("\n", "<br>")
    return f"<p>{answer}</p>{table}<p><em>{trust}</em></p><ol>{sources}</ol>"
