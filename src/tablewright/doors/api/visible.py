"""What a person may see: the store shows each their own and what is shared with them; all else is not there. Tables are
known by their id."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tablewright.app import ProposalHead, Run
from tablewright.domain.model import Table
from tablewright.domain.research import Research
from tablewright.domain.shortlist import ShortlistState
from tablewright.doors.server.context import Visit
from tablewright.errors import NotFound

if TYPE_CHECKING:
    from tablewright.app import DocumentReport


async def seen_table(visit: Visit, table_id: str) -> Table:
    if not visit.person.sees(table_id):  # before the name is looked up: others' tables may be called the same
        raise NotFound(f"There is no table {table_id!r}.")
    return await visit.table(table_id)


async def seen_run(visit: Visit, run_id: str) -> Run:
    """Work that is about no table, such as reading documents, is seen by whoever began it."""
    with not_there(f"run {run_id!r}"):
        return await visit.tablewright.jobs.get(run_id)


async def seen_proposal(visit: Visit, proposal_id: str) -> ProposalHead:
    with not_there(f"proposal {proposal_id!r}"):
        return await visit.tablewright.proposal(proposal_id)


async def seen_research(visit: Visit, research_id: str) -> Research:
    with not_there(f"research {research_id!r}"):
        return await visit.tablewright.research(research_id)


async def seen_shortlist(visit: Visit, shortlist_id: str) -> ShortlistState:
    with not_there(f"shortlist {shortlist_id!r}"):
        return await visit.tablewright.shortlist(shortlist_id)


async def seen_document(visit: Visit, document_id: str) -> DocumentReport:
    """By its id only: whoever names one of several of the same name would be told where they lie on the server."""
    with not_there(f"document {document_id!r}"):
        report = await visit.tablewright.document(document_id)
        if report.document.id != document_id:
            raise NotFound("")
        return report


@contextmanager
def not_there(what: str) -> Iterator[None]:
    """In the words of the API, and the same for what is somebody else's as for what never was."""
    try:
        yield
    except NotFound:
        raise NotFound(f"There is no {what}.") from None
