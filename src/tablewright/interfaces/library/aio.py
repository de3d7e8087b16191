"""The verbs, for programs that are asynchronous themselves: `await tablewright.aio.enrich(…)`.

Those at the root of the package, `tablewright.enrich(…)`, are the same functions and wait for the result.
"""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import ValidationError, convert, structs
from typing_extensions import Unpack

from tablewright.domain.documents import Aggregate
from tablewright.domain.files import ImportOutcome
from tablewright.domain.listing import DEFAULT_ROWS
from tablewright.domain.model import Field
from tablewright.domain.reply import Reply
from tablewright.domain.research import Length, ReportType
from tablewright.domain.text import to_json_document
from tablewright.errors import Paused, RunError, UsageError
from tablewright.interfaces.library.data import Data, PandasFrame, PolarsFrame
from tablewright.interfaces.library.fields import Fields, read_field_specs
from tablewright.interfaces.library.results import AskResult, ResearchResult, TableResult
from tablewright.interfaces.library.session import Options, Session, open_session
from tablewright.operations.ask import AskDocuments, ask_documents
from tablewright.operations.documents import AddDocuments, add_documents, make_document_table
from tablewright.operations.fill import FillOptions, plan_fill, report_fill
from tablewright.operations.find import FindMore, PlanFind, find_rows, plan_find
from tablewright.operations.research import (
    ResumeResearch,
    StartResearch,
    create_research,
    run_to_report,
    write_report,
)
from tablewright.operations.rows import spec_field
from tablewright.settings import write_setting

if TYPE_CHECKING:
    from tablewright.strategies.strategy import RowFunction, Strategy

__all__ = ["ask", "enrich", "extract", "find", "research", "transform"]

AnyPath: TypeAlias = "str | os.PathLike[str]"
Paths: TypeAlias = "AnyPath | Iterable[AnyPath]"


async def enrich(
    data: Data | TableResult,
    fields: Fields,
    *,
    strategy: str | Strategy | RowFunction = "",
    params: Mapping[str, str | float] | None = None,
    documents: Paths = (),
    key_field: str = "",
    max_rows: int | None = None,
    **options: Unpack[Options],
) -> TableResult:
    """Fill columns from the web, from documents, with a formula, or with a strategy of your own.

        table = tw.enrich(df, {"Founded:number": "What year was {Company} founded?"}, search="sample")
        table.to_pandas(), table.evidence()

    data: a path, a DataFrame, an Arrow table, a list of dictionaries, or the result of another verb.
    fields: "NAME:TYPE=QUESTION or FORMULA", {name: question}, `Field`s, a list of these, or a pydantic class.
    strategy: a name such as "lookup" or "research", a `Strategy`, or a function that takes a row as a dictionary.
    params: parameters of the strategy by name.
    documents: files or folders to read instead of the web (`sources="docs,web"` reads both).
    key_field: the column that identifies a row; by default the first text column.
    max_rows: fill only the first so many rows.
    options: settings by name, such as `model`, `search`, `budget`, `evidence`, `attempts`, `concurrency`; `home` keeps
        everything in a folder; `progress=False` hides the progress bar. `tw.aio.Options` lists them all.
    """
    async with open_session(prefer_documents(options, documents), enrich) as session:
        await read_documents(session, documents)
        imported = await session.import_data(data, key_field)
        return await fill_imported(
            session, imported, read_field_specs(fields), data, strategy, params=params, max_rows=max_rows
        )


async def transform(
    data: Data | TableResult, fields: Fields, *, key_field: str = "", **options: Unpack[Options]
) -> TableResult:
    """Write columns from the other cells of their row, without searching: translate, classify, summarise, split.

        tw.transform(rows, {"English": "Translate {Title} into English"}, model="openai:NAME")

    A formula is computed; anything else needs a model. Takes the same data, fields and options as `enrich`.
    """
    async with open_session(options, transform) as session:
        imported = await session.import_data(data, key_field)
        return await fill_imported(session, imported, read_field_specs(fields), data, usual="transform")


async def extract(documents: Paths, fields: Fields, **options: Unpack[Options]) -> TableResult:
    """Make a table with a row for each document. Every value comes with its page and quote.

        tw.extract("contracts/", ["Tenant", "Rent:money(EUR)", "End:date"])

    documents: files or folders. Takes the same fields and options as `enrich`. Without a model, only labelled values
        are read.
    """
    paths = list_paths(documents)
    async with open_session(prefer_documents(options, paths), extract) as session:
        await read_documents(session, paths)
        imported = await make_document_table(session.services, "Documents", within=paths, update=session.keeps)
        unread = await session.services.store.documents.all(readable=False)
        notes = [each.problem if each.name in each.problem else f"{each.name}: {each.problem}" for each in unread]
        return await fill_imported(session, imported, read_field_specs(fields), None, "documents", notes=notes)


async def find(
    question: str,
    fields: Fields = (),
    *,
    where: str = "",
    rows: int = DEFAULT_ROWS,
    fill: bool = True,
    **options: Unpack[Options],
) -> TableResult:
    """Find things that match a description on the web, as the rows of a new table.

        tw.find("Nordic fintechs with more than 100 staff", ["Name", "Country", "Staff:number"], model="openai:NAME")

    fields: the columns; the first one names the things.
    where: a condition that every row must meet, such as "Price < 60 GBP".
    rows: the most rows to find.
    fill: search for cells that the lists leave empty.
    Takes the same options as `enrich`. Without a model, only tables whose headers match `fields` are read.
    """
    async with open_session(options, find) as session:
        asked = tuple(map(spec_field, read_field_specs(fields)))
        planned = await plan_find(session.services, PlanFind(question=question, fields=asked, where=where, rows=rows))
        with session.bar.drawn("Finding"):
            request = FindMore(table=planned.table_id, fill=fill)
            found = await find_rows(session.services, request, watch=session.bar.watch)
        if found.status == "failed":
            raise RunError(found.problem or "Nothing could be searched.")
        notes = tuple(each for each in (found.problem, found.completeness, found.said) if each)
        warn_caller(notes if not found.rows else filter(None, [found.problem]))
        columns = tuple(found.columns)
        return await session.result(
            found.table_id, asked=columns, status=found.status, notes=notes, report=to_json_document(found)
        )


class Lookup(Options, total=False):
    """Arguments of `ask` instead of a question, besides the options of every verb."""

    where: str
    figure: Aggregate
    of: str
    by: str
    show: Sequence[str]
    sort: str
    unit: str
    limit: int


# What only a lookup takes goes into its request, the other options into the session.
LOOKUP_NAMES = frozenset(Lookup.__annotations__) - frozenset(Options.__annotations__)


async def ask(documents: Paths, question: str = "", *, kind: str = "", **options: Unpack[Lookup]) -> AskResult:
    """Answer a question from documents, with citations, and say how complete the answer is.

        print(tw.ask("contracts/", "Which leases end before 2027?", kind="lease", model="openai:NAME"))
        print(tw.ask("receipts/", where="Total > 50 EUR", figure="sum", of="Total"))

    documents: files or folders. Takes the same options as `enrich`.
    kind: what all of these documents are, such as "receipt"; without it, a model says so, or it is guessed from titles.
    where: conditions instead of a question; no model is asked. `figure`, `of`, `by`, `show`, `sort`, `unit` and `limit`
        go with it, as in `tablewright ask`.
    """
    looked_up = {name: value for name, value in options.items() if name in LOOKUP_NAMES}
    try:
        request = convert(looked_up | {"question": question, "agreed": True}, AskDocuments)
    except ValidationError as wrong:
        raise UsageError(f"{wrong}.") from None
    usual: Any = {name: value for name, value in options.items() if name not in LOOKUP_NAMES}
    async with open_session(usual, ask) as session:
        await read_documents(session, documents, kind)
        with session.bar.drawn("Answering"):
            return AskResult(reply=await fetch_all_rows(session, await ask_documents(session.services, request)))


async def fetch_all_rows(session: Session, reply: Reply) -> Reply:
    """Return the reply with all rows: a conversation shows a long list page by page, a program gets all of it."""
    while reply.more:
        page = await ask_documents(session.services, AskDocuments(rest=True, conversation=reply.conversation))
        last = max((each.number for each in reply.citations), default=0)
        rows = [structs.replace(each, source=each.source and each.source + last) for each in page.rows]
        cited = [structs.replace(each, number=each.number + last) for each in page.citations]
        reply = structs.replace(
            reply, rows=(*reply.rows, *rows), citations=(*reply.citations, *cited), more=page.more if rows else 0
        )
    return reply


async def research(
    question: str,
    *,
    report_type: ReportType | None = None,
    items: int | None = None,
    fields: Sequence[str] = (),
    sections: Sequence[str] = (),
    language: str = "",
    length: Length | None = None,
    max_searches: int | None = None,
    minutes: float | None = None,
    **options: Unpack[Options],
) -> ResearchResult:
    """Research a question on the web and write a report, with claims that are checked against independent sites.

        print(tw.research("How do small breweries price their beer?", model="openai:NAME").markdown)

    report_type: "narrative", "comparison", "answer" or "catalog"; by default the plan says.
    items, fields: how many things a catalog lists, and the details wanted of each.
    sections, language, length: of the report; length is "short", "standard" or "long".
    max_searches: the most searches. minutes: the longest it may take; then the report is partial.
    Takes the same options as `enrich`. Without a model, the report consists of excerpts.
    """
    request = StartResearch(
        question=question,
        report_type=report_type,
        items=items,
        fields=tuple(fields),
        sections=tuple(sections),
        language=language,
        length=length,
        max_searches=max_searches,
    )
    async with open_session(options, research) as session:
        services = session.services
        created = await create_research(services, request)
        with session.bar.drawn("Researching"):
            resume = ResumeResearch(research=created.id, minutes=minutes)
            done = await run_to_report(services, resume, watch=session.bar.watch)
        if done.report is None:
            raise RunError(f"The research ended as {done.status}, without a report.")
        with tempfile.TemporaryDirectory(prefix="tablewright-") as folder:
            path = Path(folder) / "report.md"
            await write_report(services, done.research_id, path)
            markdown = path.read_text(encoding="utf-8")
        found = await session.result(done.table_id, status=done.status)
        return ResearchResult(research=done, markdown=markdown, found=found)


async def fill_imported(
    session: Session,
    imported: ImportOutcome,
    fields: Sequence[Field],
    data: Any,
    strategy: str | Strategy | RowFunction = "",
    *,
    usual: str = "",
    params: Mapping[str, str | float] | None = None,
    max_rows: int | None = None,
    notes: Sequence[str] = (),
) -> TableResult:
    services = session.services
    texts = {name: write_setting(value) for name, value in (params or {}).items()}
    with session.bar.drawn("Filling"):
        run = await plan_fill(
            services,
            imported.table.id,
            fields,
            strategy,
            how=FillOptions(params=texts, rows=imported.row_ids and tuple(imported.row_ids), max_rows=max_rows),
            usual=usual,
            # A kept home fills again what has changed since; a temporary one has nothing to compare with.
            redo="outdated" if session.keeps else "",
            watch=session.bar.watch,
        )
        filled = await services.jobs.run(run)
    await services.changes.apply_unseen(filled.proposal_id)
    proposal = await services.store.proposals.get(filled.proposal_id)
    result = await session.result(
        imported.table.id,
        imported.row_ids,
        asked=tuple(field.name for field in proposal.fields),
        status=filled.status,
        report=await report_fill(services, filled),
        source=data if isinstance(data, PandasFrame | PolarsFrame) else None,
    )
    warned = (*services.warnings, *session.notes)
    stopped = () if filled.status in ("done", "paused") else (f"Stopped at the cap of {filled.cap}.",)
    nothing = nothing_filled(result, session.keeps) if not proposal.counts and not stopped else ()
    result = replace(result, notes=(*warned, *filled.notes, *notes, *note_failures(result), *stopped, *nothing))
    if filled.status == "paused":
        raise Stopped(filled.problem, result)
    warn_caller(result.notes)
    return result


def nothing_filled(result: TableResult, is_kept: bool) -> tuple[str, ...]:
    """Return a note for a run that had nothing to do, unless a kept table simply has every value already."""
    if is_kept and all(row.cell(name).value is not None for row in result.table.rows for name in result.asked):
        return ()
    return ("Nothing was filled: these columns have no cells left to fill.",)


def note_failures(result: TableResult) -> list[str]:
    """Return a note for each column whose cells failed with an error, with the first cause; "not found" is no error."""
    said = []
    for name in result.asked:
        causes = [cell.error for row in result.table.rows if (cell := row.cell(name)).reason == "error"]
        if causes:
            said.append(f"{name}: {len(causes):,} of {len(result):,} cells failed, the first with: {causes[0]}")
    return said


def warn_caller(notes: Iterable[str]) -> None:
    """Issue the notes as warnings at the line of the program that called the verb."""
    # Skip the frames of this package and of asyncio, which the caller cannot change.
    frame, level = sys._getframe(), 1
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in ("tablewright", "asyncio"):
        frame, level = frame.f_back, level + 1
    for note in notes:
        warnings.warn(note, TablewrightWarning, stacklevel=level)


class TablewrightWarning(UserWarning):
    """A note on a result; also in the result's `notes`."""


class Stopped(Paused):
    """A service did not answer repeatedly. `result` has what was found by then."""

    def __init__(self, problem: str, result: TableResult) -> None:
        super().__init__(problem, kept="What was found is in the error's `result`.")
        self.result = result


def list_paths(documents: Paths) -> list[AnyPath]:
    return [documents] if isinstance(documents, str | os.PathLike) else list(documents)


async def read_documents(session: Session, documents: Paths, kind: str = "") -> None:
    paths = list_paths(documents)
    if not paths:
        return
    missing = [str(path) for path in paths if not Path(path).exists()]
    if missing:
        raise UsageError(f"There is no file or folder {missing[0]}.")
    with session.bar.drawn("Reading documents"):
        request = AddDocuments(paths=tuple(map(str, paths)), kind=kind)
        await add_documents(session.services, request, watch=session.bar.watch)


def prefer_documents(options: Options, documents: Paths) -> Options:
    """Return the options with documents as the only source, unless sources are given."""
    if documents and "sources" not in options:
        return {**options, "sources": "docs"}
    return options
