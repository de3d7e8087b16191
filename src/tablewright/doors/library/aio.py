"""The verbs, for programs that are asynchronous themselves: `await tablewright.aio.enrich(…)`.

Those at the root of the package, `tablewright.enrich(…)`, are the same functions and wait for the result.
"""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from typing_extensions import Unpack

from tablewright.doors.library.data import Data, PandasFrame, PolarsFrame
from tablewright.doors.library.fields import Fields, fields_from
from tablewright.doors.library.results import AskResult, ResearchResult, TableResult
from tablewright.doors.library.session import Options, Session, opened
from tablewright.errors import Paused, RunError, UsageError
from tablewright.table.document import document
from tablewright.table.form import parse_where
from tablewright.table.listing import DEFAULT_ROWS
from tablewright.table.model import Field
from tablewright.table.research import ResearchRequest

if TYPE_CHECKING:
    from tablewright.app import RowFunction, Strategy

__all__ = ["ask", "enrich", "extract", "find", "research", "transform"]

AnyPath: TypeAlias = "str | os.PathLike[str]"
Paths: TypeAlias = "AnyPath | Iterable[AnyPath]"


async def enrich(
    data: Data | TableResult,
    fields: Fields,
    *,
    strategy: str | Strategy | RowFunction = "",
    params: Mapping[str, str] | None = None,
    documents: Paths = (),
    key: str = "",
    max_rows: int | None = None,
    **options: Unpack[Options],
) -> TableResult:
    """Fills columns of rows from the web, from `documents`, by a formula, or by a strategy or function of your own.

    `data` is a path, a DataFrame, an Arrow table, a list of dictionaries, or what another verb returned. `key` names
    the column that says what a row is about; without it the first text column does.
    """
    async with opened(documents_first(options, documents)) as session:
        await read_documents(session, documents)
        table_id = await session.bring_in(data, key)
        return await fill(session, table_id, fields_from(fields), data, strategy, params=params, max_rows=max_rows)


async def transform(
    data: Data | TableResult, fields: Fields, *, key: str = "", **options: Unpack[Options]
) -> TableResult:
    """Writes columns from the other cells of their row: translate, classify, summarise, split; a formula is computed.
    Nothing is searched. Whatever is not a formula takes a model."""
    async with opened(options) as session:
        table_id = await session.bring_in(data, key)
        return await fill(session, table_id, fields_from(fields), data, usual="transform")


async def extract(documents: Paths, fields: Fields, **options: Unpack[Options]) -> TableResult:
    """A table with a row for each document, and these columns read from it, each value with its page and its quote."""
    async with opened(documents_first(options, documents)) as session:
        await read_documents(session, documents)
        table = (await session.tablewright.table_of_documents("Documents")).table
        result = await fill(session, table.id, fields_from(fields), None, "documents")
        unread = await session.tablewright.documents(readable=False)
        said = tuple(f"{Path(each.path).name} could not be read: {each.problem}" for each in unread)
        return replace(result, notes=(*result.notes, *said))


async def find(
    question: str,
    fields: Fields = (),
    *,
    where: str = "",
    rows: int = DEFAULT_ROWS,
    fill: bool = True,
    **options: Unpack[Options],
) -> TableResult:
    """A table of the things that a question describes, found on the web. `fields` are its columns, the first of which
    names the things; `where` is demanded of every row: "Price < 60 GBP"."""
    async with opened(options) as session:
        asked = fields_from(fields)
        listing = await session.tablewright.begin_find(
            question, fields=asked, conditions=parse_where(where)[2] if where else (), rows=rows
        )
        with session.bar.drawn("Finding"):
            found = await session.tablewright.find_rows(listing.table_id, fill=fill, watch=session.bar.watch)
        if found.status == "failed":
            raise RunError(found.problem or "Nothing could be searched.")
        notes = tuple(each for each in (found.problem, found.completeness, found.said) if each)
        columns = tuple(found.columns)
        return await session.result(
            listing.table_id, asked=columns, status=found.status, notes=notes, report=document(found)
        )


async def ask(documents: Paths, question: str, **options: Unpack[Options]) -> AskResult:
    """An answer from documents, with citations, and how complete it is."""
    async with opened(options) as session:
        await read_documents(session, documents)
        with session.bar.drawn("Answering"):
            return AskResult(reply=await session.tablewright.ask(question, agreed=True))


async def research(
    question: str, *, max_tasks: int | None = None, minutes: float | None = None, **options: Unpack[Options]
) -> ResearchResult:
    """A report on a question, from the web: what sources say, claims that were checked, what was not found."""
    async with opened(options) as session:
        tablewright = session.tablewright
        begun = await tablewright.begin_research(ResearchRequest(question=question), max_tasks=max_tasks)
        with session.bar.drawn("Researching"):
            done = await tablewright.run_research(begun.id, minutes=minutes, watch=session.bar.watch)
        if done.report is None:
            raise RunError(f"The research ended as {done.status}, without a report.")
        with tempfile.TemporaryDirectory(prefix="tablewright-") as folder:
            path = Path(folder) / "report.md"
            await tablewright.write_report(done.id, path)
            markdown = path.read_text(encoding="utf-8")
        found = await session.result(done.table_id, status=done.status)
        return ResearchResult(
            research=done, report=await tablewright.research_report(done.id), markdown=markdown, found=found
        )


async def fill(
    session: Session,
    table_id: str,
    fields: Sequence[Field],
    data: Any,
    strategy: str | Strategy | RowFunction = "",
    *,
    usual: str = "",
    params: Mapping[str, str] | None = None,
    max_rows: int | None = None,
) -> TableResult:
    tablewright = session.tablewright
    with session.bar.drawn("Filling"):
        run = await tablewright.plan_enrich(
            table_id, fields, strategy, usual=usual, params=params, max_rows=max_rows, watch=session.bar.watch
        )
        filled = await run.run()
    await tablewright.changes.apply_unseen(filled.proposal_id)
    notes = (*tablewright.warnings, *filled.notes)
    proposal = await tablewright.proposal(filled.proposal_id)
    result = await session.result(
        table_id,
        asked=tuple(field.name for field in proposal.fields),
        status=filled.status,
        notes=notes,
        report=await tablewright.enrich_report(filled),
        source=data if isinstance(data, PandasFrame | PolarsFrame) else None,
    )
    if filled.status == "paused":
        raise Stopped(filled.problem, result)
    for note in notes if filled.status == "done" else (*notes, f"Stopped at the cap of {filled.cap}."):
        warnings.warn(note, stacklevel=2)
    return result


class Stopped(Paused):
    """Somebody did not answer, again and again. `result` has what was found by then."""

    def __init__(self, problem: str, result: TableResult) -> None:
        super().__init__(problem, kept="What was found is in the error's `result`.")
        self.result = result


async def read_documents(session: Session, documents: Paths) -> None:
    paths = [documents] if isinstance(documents, str | os.PathLike) else list(documents)
    if not paths:
        return
    missing = [str(path) for path in paths if not Path(path).exists()]
    if missing:
        raise UsageError(f"There is no file or folder {missing[0]}.")
    with session.bar.drawn("Reading documents"):
        await session.tablewright.add_documents(paths, watch=session.bar.watch)


def documents_first(options: Options, documents: Paths) -> Options:
    """Whoever hands documents over means them, unless they say where to look."""
    if documents and "sources" not in options:
        return {**options, "sources": "docs"}
    return options
