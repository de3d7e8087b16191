"""What a person may see. Tables are known by their id; what belongs to a table is seen by who sees the table, and to
everybody else it is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tablewright.app import ProposalHead, Run
from tablewright.doors.server.context import Visit
from tablewright.errors import NotFound
from tablewright.table.model import Field, Row, RowId, Table
from tablewright.table.research import Research
from tablewright.table.shortlist import ShortlistState

if TYPE_CHECKING:
    from tablewright.app import DocumentReport


async def seen_table(visit: Visit, table_id: str) -> Table:
    if not visit.person.sees(table_id):  # before the name is looked up: others' tables may be called the same
        raise NotFound(f"There is no table {table_id!r}.")
    return await visit.table(table_id)


async def seen_row(visit: Visit, table: Table, row_id: RowId) -> Row:
    row = (await visit.tablewright.rows_by_id(table.id, [row_id])).get(row_id)
    if row is None:
        raise NotFound(f"Table {table.id} has no row {row_id}.")
    return row


def seen_field(table: Table, name: str) -> Field:
    field = table.field(name)
    if field is None:
        known = ", ".join(each.name for each in table.fields[:50])
        raise NotFound(f"Table {table.id} has no column {name!r}.", advice=f"It has: {known or 'none'}.")
    return field


async def seen_run(visit: Visit, run_id: str) -> Run:
    """Work that is about no table, such as reading documents, is seen by all."""
    run = await visit.tablewright.jobs.get(run_id)
    if run.table_id and not visit.person.sees(run.table_id):
        raise NotFound(f"There is no run {run_id!r}.")
    return run


async def seen_proposal(visit: Visit, proposal_id: str) -> ProposalHead:
    head = await visit.tablewright.proposal(proposal_id)
    if not visit.person.sees(head.table_id):
        raise NotFound(f"There is no proposal {proposal_id!r}.")
    return head


async def seen_research(visit: Visit, research_id: str) -> Research:
    research = await visit.tablewright.research(research_id)
    if not visit.person.sees(research.table_id):
        raise NotFound(f"There is no research {research_id!r}.")
    return research


async def seen_shortlist(visit: Visit, shortlist_id: str) -> ShortlistState:
    """One that has no table yet is listed for nobody but admins: who has its id goes on with it."""
    state = await visit.tablewright.shortlist(shortlist_id)
    if state.table_id and not visit.person.sees(state.table_id):
        raise NotFound(f"There is no shortlist {shortlist_id!r}.")
    return state


async def seen_document(visit: Visit, document_id: str) -> DocumentReport:
    """By its id only: whoever names one of several of the same name would be told where they lie on the server."""
    unknown = NotFound(f"There is no document {document_id!r}.")
    try:
        report = await visit.tablewright.document(document_id)
    except NotFound:
        raise unknown from None
    if report.document.id != document_id:
        raise unknown
    return report
