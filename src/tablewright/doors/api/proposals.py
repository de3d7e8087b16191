"""Proposals: what a run would change, and the decision about it."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query
from pydantic import ConfigDict
from pydantic import Field as Value

from tablewright.domain.model import Cell, Field, Noun
from tablewright.doors.api.answers import Json, Page, large, newest_first, place, place_text
from tablewright.doors.api.inputs import MOST_ROWS, SOME, After, Body, Limit, Name, OfTable, ProposalId, Typed, resource
from tablewright.doors.api.schemas import described
from tablewright.doors.api.visible import seen_proposal, seen_table
from tablewright.doors.server.context import Visit, Visiting
from tablewright.services import Applied, Operation, ProposalHead, Review, Selection

router = resource("proposals")


class ProposalPage(Page, frozen=True):
    proposals: tuple[ProposalHead, ...]


class OperationPage(Page, frozen=True):
    """The proposed cells, in the order of rows."""

    operations: tuple[Operation, ...]


class Decided(Noun, frozen=True):
    """What was written, and how the proposal stands now: `counts` has the cells that are still open."""

    proposal: ProposalHead
    applied: Applied


class Rejected(Noun, frozen=True):
    proposal: ProposalHead
    refused: int


class Chosen(Body):
    """Which cells are meant: all that are open, unless narrowed."""

    rows: list[Annotated[int, Value(ge=1, le=MOST_ROWS)]] = Value([], max_length=100_000)
    fields: list[Name] = Value([], max_length=1_000)
    min_confidence: float | None = Value(None, ge=0, le=1, description="Only values with at least this confidence.")
    below: float | None = Value(None, ge=0, le=1, description="Only values with a lower confidence than this.")

    def selection(self) -> Selection:
        return Selection(
            rows=tuple(self.rows),
            fields=tuple(self.fields),
            min_confidence=self.min_confidence,
            below=self.below,
        )


class Applying(Chosen):
    force: bool = Value(False, description="Also overwrite what was changed since; also apply an unfinished run.")

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [{"min_confidence": 0.8}]})


class Place(Body):
    row_id: int = Value(ge=1, le=MOST_ROWS)
    field: Name


class OwnCell(Place):
    value: Typed = Value(min_length=1, description="Your own value, in place of the proposed one.")


class Deciding(Body):
    """Cell by cell. What is not named stays open; all is written as one change."""

    accepted: list[Place] = Value([], max_length=100_000)
    refused: list[Place] = Value([], max_length=100_000)
    edited: list[OwnCell] = Value([], max_length=10_000)
    emptied: list[Place] = Value(
        [],
        max_length=100_000,
        description="Cells for which nothing was found and whose present value shall go; accepted ones keep it.",
    )
    force: bool = Value(False, description="Also overwrite what was changed since; also apply an unfinished run.")

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "accepted": [{"row_id": 1, "field": "Founded"}],
                    "refused": [{"row_id": 2, "field": "Founded"}],
                    "edited": [{"row_id": 3, "field": "Founded", "value": "1987"}],
                }
            ]
        },
    )


@router.get("/proposals", response_model=described(ProposalPage))
async def list_proposals(
    visit: Visiting,
    limit: Limit = SOME,
    after: After = "",
    table: OfTable = "",
    only_open: Annotated[bool, Query(description="Only those that wait for a decision.")] = False,
) -> Json:
    """Proposals, newest first."""
    table_id = (await seen_table(visit, table)).id if table else None
    heads = await visit.services.proposals(table_id, only_open=only_open)
    found = [head for head in heads if visit.person.sees(head.table_id)]
    some, more = newest_first(found, after, limit, lambda head: (head.created_at, head.id))
    return Json(ProposalPage(proposals=tuple(some), next=more))


@router.get("/proposals/{proposal_id}", response_model=described(ProposalHead))
async def get_proposal(visit: Visiting, proposal_id: ProposalId) -> Json:
    """A proposal, and how many of its cells are decided."""
    return Json(await seen_proposal(visit, proposal_id))


@router.get("/proposals/{proposal_id}/operations", response_model=described(OperationPage))
async def list_operations(
    visit: Visiting,
    proposal_id: ProposalId,
    limit: Limit = SOME,
    after: After = "",
    failed: Annotated[bool | None, Query(description="Only cells that stayed empty, or only the others.")] = None,
) -> Json:
    """The proposed cells with their evidence and steps."""
    head = await seen_proposal(visit, proposal_id)
    found = await visit.services.operations(head.id, after=place(after), limit=limit + 1, failed=failed)
    some = found[:limit]
    more = place_text(some[-1].row_id, some[-1].field) if len(found) > limit else None
    return await large(lambda: OperationPage(operations=tuple(some), next=more))


@router.post("/proposals/{proposal_id}/apply", response_model=described(Decided))
async def apply_proposal(visit: Visiting, proposal_id: ProposalId, asked: Applying) -> Json:
    """Applies a proposal to its table: all of it, some rows or columns, or values of at least some confidence.

    A cell for which nothing was found keeps the value that it has (`kept`); `decide` with `emptied` takes it away."""
    visit.must_change()
    head = await seen_proposal(visit, proposal_id)
    applied = await visit.services.changes.apply(head.id, asked.selection(), force=asked.force)
    return Json(Decided(proposal=await visit.services.proposal(head.id), applied=applied))


@router.post("/proposals/{proposal_id}/reject", response_model=described(Rejected))
async def reject_proposal(visit: Visiting, proposal_id: ProposalId, asked: Chosen) -> Json:
    """Rejects a proposal, or part of it. The table is not changed."""
    visit.must_change()
    head = await seen_proposal(visit, proposal_id)
    refused = await visit.services.changes.reject(head.id, asked.selection())
    return Json(Rejected(proposal=await visit.services.proposal(head.id), refused=refused))


@router.post("/proposals/{proposal_id}/decide", response_model=described(Decided))
async def decide_proposal(visit: Visiting, proposal_id: ProposalId, asked: Deciding) -> Json:
    """Accepts, rejects and edits cell by cell."""
    visit.must_change()
    head = await seen_proposal(visit, proposal_id)
    review = Review(
        accepted=tuple((each.row_id, each.field) for each in asked.accepted),
        refused=tuple((each.row_id, each.field) for each in asked.refused),
        emptied=tuple((each.row_id, each.field) for each in asked.emptied),
        edited={(each.row_id, each.field): await own_cell(visit, head, each) for each in asked.edited},
    )
    applied = await visit.services.changes.decide(head.id, review, force=asked.force)
    return Json(Decided(proposal=await visit.services.proposal(head.id), applied=applied))


async def own_cell(visit: Visit, head: ProposalHead, asked: OwnCell) -> Cell:
    operation = await visit.services.operation(head.id, asked.row_id, asked.field)
    field = await definition(visit, head, operation.field)
    return visit.services.changes.own_value(asked.value, field, run_id=head.run_id, attempt=operation.cell.attempt)


async def definition(visit: Visit, head: ProposalHead, name: str) -> Field:
    """The field as it will be when the proposal is applied."""
    proposed = {each.name: each for each in head.fields}
    if name in proposed:
        return proposed[name]
    return (await visit.services.table(head.table_id)).require_field(name)
