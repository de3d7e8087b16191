"""What a run came to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from tablewright.domain.model import Cell, Field, Noun
from tablewright.domain.run import TALLY, RunStatus, RunTally, SkippedRow
from tablewright.domain.text import count_noun, plural
from tablewright.domain.usage import Usage


class Filled(Noun, frozen=True):
    run_id: str
    proposal_id: str
    status: RunStatus
    rows: int
    found: int
    empty: int
    skipped: int
    usage: Usage
    left: int = 0
    """Cells that were not worked on, or not to the end, because the money was spent."""
    cap: str = ""
    """The cap that was reached, in words."""
    unasked: int = 0
    """Cells that could not be asked for, because somebody did not answer: they stay as they are."""
    degraded: int = 0
    """Decisions that were made without the model although there is one."""
    incomplete: int = 0
    """Of the skipped rows, those that lack what the question needs."""
    skipped_rows: tuple[SkippedRow, ...] = ()
    """The first of them."""
    cause: str = ""
    """Why cells could not be asked for, of the first of them."""
    problem: str = ""
    """Why it was paused."""

    @property
    def notes(self) -> list[str]:
        """What a person should know of it beside what it found, in whole sentences."""
        said = notes(self)
        if self.unasked:
            cells = f"{count_noun(self.unasked, 'cell')}"
            why = f" ({self.cause.rstrip('.')})" if self.cause else ""
            said.append(f"{cells} could not be looked for{why}; the next run looks again")
        return [f"{each[0].upper()}{each[1:]}." for each in said]


def filled(
    run_id: str, proposal_id: str, status: RunStatus, tally: RunTally, usage: Usage, cap: str, problem: str = ""
) -> Filled:
    return Filled(
        run_id=run_id,
        proposal_id=proposal_id,
        status=status,
        rows=tally.rows,
        found=tally.found,
        empty=tally.empty,
        skipped=tally.skipped,
        usage=usage,
        left=tally.left,
        cap=cap if tally.left else "",
        unasked=tally.unasked,
        degraded=tally.degraded,
        incomplete=tally.incomplete,
        skipped_rows=tally.skipped_rows,
        cause=tally.cause,
        problem=problem if status == "paused" else "",
    )


def summarize_run(strategy: str, fields: Sequence[Field], tally: RunTally, status: RunStatus, cap: str = "") -> str:
    """Return what a run found, and why it stopped early if it did, in a sentence that opens with its strategy."""
    names = ", ".join(field.name for field in fields)
    unit = "rows" if len(fields) == 1 else f"cells in {tally.rows} rows"
    said = [f"found {tally.found} of {tally.found + tally.empty} {unit}", *notes(tally)]
    if cap and tally.left:
        said.append(f"stopped at the cap of {cap}: {cells_left(tally.left)}")
    if tally.unasked:
        why = f": {tally.cause.rstrip('.')}" if tally.cause else ""
        said.append(f"{tally.unasked:,} could not be asked{why}")
    if status == "cancelled":
        said.append("cancelled before the end")
    if status == "paused":
        said.append("paused before the end")
    return f"{strategy}: {names} — {', '.join(said)}"


def notes(tally: RunTally | Filled) -> list[str]:
    """What the door says of a run beside what it found."""
    said = []
    if tally.degraded:
        came = "answer came" if tally.degraded == 1 else "answers came"
        said.append(f"{tally.degraded:,} {came} without the model (degraded)")
    if tally.incomplete:
        rows = [f"row {each.row_id} ({each.why})" for each in tally.skipped_rows]
        more = tally.incomplete - len(rows)
        named = f"{', '.join(rows)} and {more:,} more" if more else ", ".join(rows)
        said.append(f"skipped {plural('row', tally.incomplete)}: {named}")
    return said


def bought(tally: RunTally) -> dict[str, Any]:
    """Of a run's spec: the rows and cells that tell what such a run takes, and all that it counted."""
    return {"rows": tally.bought_rows, "cells": tally.bought_cells, TALLY: tally}


def brief(cell: Cell) -> Cell:
    """Without its evidence, which is kept with the proposal."""
    return msgspec.structs.replace(cell, evidence=(), conflict=())


def cells_left(count: int) -> str:
    return "1 cell left" if count == 1 else f"{count:,} cells left"
