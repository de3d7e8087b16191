"""Proposals: what a run would change, and the decision about it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import msgspec

from tablewright.domain.model import Cell, Struct
from tablewright.domain.proposal import ApplyOutcome, CellAt, ProposalHead, ProposedCell, Review, Selection
from tablewright.operations.operation import (
    USUAL_LIMIT,
    After,
    FieldName,
    FieldNames,
    Limit,
    ListRequest,
    Name,
    Page,
    Request,
    RowNumber,
    RowNumbers,
    copy_fields,
    operation,
)
from tablewright.operations.paging import format_cell_position, page_newest_first, read_cell_position
from tablewright.operations.rows import TypedValue

if TYPE_CHECKING:
    from tablewright.services import Services

ProposalId = Annotated[str, msgspec.Meta(min_length=1, max_length=300, description="The proposal's id.")]
Confidence = Annotated[float, msgspec.Meta(ge=0, le=1)]
Force = Annotated[
    bool, msgspec.Meta(description="Also overwrite what was changed since; also apply an unfinished run.")
]


async def sort_unsure_first(services: Services, proposal_id: str, cells: Iterable[CellAt]) -> list[CellAt]:
    """Return first what is disputed or can be read in two ways, then the least sure, and empty cells last. The cells of
    a row stay together, at the place of the one that comes first."""
    keys: dict[CellAt, tuple[bool, bool, float]] = {}
    after: CellAt = (0, "")
    while page := await services.store.proposals.operations(proposal_id, after=after):
        for each in page:
            is_sure = not each.cell.conflict
            keys[(each.row_id, each.field)] = (each.cell.value is None, is_sure, each.cell.confidence or 0.0)
        after = (page[-1].row_id, page[-1].field)
    # A cell that another person has decided on since has no key.
    in_order = sorted(cells, key=lambda at: (keys.get(at, (True, True, 0.0)), at))
    places = {row_id: place for place, (row_id, _) in reversed([*enumerate(in_order)])}
    return sorted(in_order, key=lambda at: places[at[0]])


class ProposalPage(Page, frozen=True):
    proposals: tuple[ProposalHead, ...]


class OperationPage(Page, frozen=True):
    """The proposed cells, in the order of rows."""

    operations: tuple[ProposedCell, ...]


class Decided(Struct, frozen=True):
    """The change that was written, and the proposal afterwards: `counts` has the cells that are still open."""

    proposal: ProposalHead
    applied: ApplyOutcome


class Rejected(Struct, frozen=True):
    proposal: ProposalHead
    refused: int


class ListProposals(ListRequest, frozen=True):
    table: Annotated[Name, msgspec.Meta(description="Only those of this table, by its id or name.")] = ""
    all: Annotated[bool, msgspec.Meta(description="Include decided proposals.")] = False


@operation("read")
async def list_proposals(services: Services, request: ListProposals) -> ProposalPage:
    """The proposals that wait for a decision, newest first; with `all`, also those that were decided."""
    table_id = (await services.table(request.table)).id if request.table else None
    found = await services.store.proposals.all(table_id, only_open=not request.all)
    some, more = page_newest_first(found, request.after, request.limit, lambda head: (head.created_at, head.id))
    return ProposalPage(proposals=tuple(some), next=more)


class GetProposal(Request, frozen=True):
    proposal_id: ProposalId


@operation("read")
async def get_proposal(services: Services, request: GetProposal) -> ProposalHead:
    """A proposal, and how many of its cells are decided."""
    return await services.store.proposals.get(request.proposal_id)


class ListOperations(GetProposal, frozen=True):
    failed: Annotated[bool | None, msgspec.Meta(description="Only cells that stayed empty, or only the others.")] = None
    limit: Limit = USUAL_LIMIT
    after: After = ""


@operation("read")
async def list_operations(services: Services, request: ListOperations) -> OperationPage:
    """The proposed cells with their evidence and steps."""
    head = await services.store.proposals.get(request.proposal_id, counted=False)
    found = await services.store.proposals.operations(
        # One more than asked tells if there is a next page.
        head.id,
        after=read_cell_position(request.after),
        limit=request.limit + 1,
        failed=request.failed,
    )
    some = found[: request.limit]
    more = format_cell_position(some[-1].row_id, some[-1].field) if len(found) > request.limit else None
    return OperationPage(operations=tuple(some), next=more)


class ChosenCells(GetProposal, frozen=True):
    """All cells that are open, unless narrowed."""

    rows: RowNumbers = ()
    fields: FieldNames = ()
    min_confidence: Annotated[
        Confidence | None, msgspec.Meta(description="Only values with at least this confidence.")
    ] = None
    below: Annotated[Confidence | None, msgspec.Meta(description="Only values with a lower confidence than this.")] = (
        None
    )

    def selection(self) -> Selection:
        return copy_fields(Selection, self)


class ApplyProposal(ChosenCells, frozen=True):
    force: Force = False


@operation("write")
async def apply_proposal(services: Services, request: ApplyProposal) -> Decided:
    """Apply a proposal to its table: all of it, some rows or columns, or values of at least some confidence.

    A cell for which nothing was found keeps the value that it has (`kept`); `decide` with `emptied` takes it away."""
    applied = await services.changes.apply(request.proposal_id, request.selection(), force=request.force)
    return Decided(proposal=await services.store.proposals.get(request.proposal_id), applied=applied)


@operation("write")
async def reject_proposal(services: Services, request: ChosenCells) -> Rejected:
    """Reject a proposal, or part of it. The table is not changed."""
    refused = await services.changes.reject(request.proposal_id, request.selection())
    return Rejected(proposal=await services.store.proposals.get(request.proposal_id), refused=refused)


class CellPlace(Request, frozen=True):
    row_id: RowNumber
    field: FieldName


class OwnCell(CellPlace, frozen=True):
    value: Annotated[
        TypedValue, msgspec.Meta(min_length=1, description="Your own value, in place of the proposed one.")
    ]


class DecideProposal(GetProposal, frozen=True):
    """Cell by cell. What is not named stays open; all is written as one change."""

    accepted: Annotated[
        tuple[CellPlace, ...],
        msgspec.Meta(max_length=100_000, examples=[[{"row_id": 1, "field": "Founded"}]]),
    ] = ()
    refused: Annotated[
        tuple[CellPlace, ...],
        msgspec.Meta(max_length=100_000, examples=[[{"row_id": 2, "field": "Founded"}]]),
    ] = ()
    edited: Annotated[
        tuple[OwnCell, ...],
        msgspec.Meta(max_length=10_000, examples=[[{"row_id": 3, "field": "Founded", "value": "1987"}]]),
    ] = ()
    emptied: Annotated[
        tuple[CellPlace, ...],
        msgspec.Meta(
            max_length=100_000,
            description="Cells for which nothing was found and whose present value shall go; accepted ones keep it.",
        ),
    ] = ()
    force: Force = False


@operation("write")
async def decide_proposal(services: Services, request: DecideProposal) -> Decided:
    """Accept, reject and edit cell by cell."""
    head = await services.store.proposals.get(request.proposal_id)
    edited = {}
    for each in request.edited:
        # Read before anything is written: one wrong value refuses the whole request.
        proposed = await services.store.proposals.operation(head.id, each.row_id, each.field)
        edited[each.row_id, proposed.field] = await read_own_value(services, head, proposed, each.value)
    review = Review(
        accepted=to_cell_positions(request.accepted),
        refused=to_cell_positions(request.refused),
        emptied=to_cell_positions(request.emptied),
        edited=edited,
    )
    applied = await services.changes.decide(head.id, review, force=request.force)
    return Decided(proposal=await services.store.proposals.get(head.id), applied=applied)


def to_cell_positions(cells: Iterable[CellPlace]) -> tuple[CellAt, ...]:
    return tuple((each.row_id, each.field) for each in cells)


async def read_own_value(services: Services, head: ProposalHead, proposed: ProposedCell, text: str) -> Cell:
    """Return the cell that a person's own value makes in place of a proposed one; raise UsageError if it is not of the
    type that the column will have when the proposal is applied."""
    # The run's own column first: its type may have changed in the table since.
    field = next((each for each in head.fields if each.name == proposed.field), None)
    if field is None:
        field = (await services.table(head.table_id)).require_field(proposed.field)
    return services.changes.own_value(text, field, run_id=head.run_id, attempt=proposed.cell.attempt)
