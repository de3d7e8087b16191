"""What a run came to."""

from __future__ import annotations

import msgspec

from tablewright.store.runs import RunStatus
from tablewright.store.slices import Tally
from tablewright.table.model import Cell, Noun
from tablewright.table.usage import Usage


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
    """Cells of `only` that could not be asked for: nothing is proposed for them, so they stay as they are."""


def filled(run_id: str, proposal_id: str, status: RunStatus, tally: Tally, usage: Usage, cap: str) -> Filled:
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
    )


def bought(tally: Tally) -> dict[str, int]:
    """Of a run's spec: the rows and cells that tell what such a run takes."""
    return {"rows": tally.bought_rows, "cells": tally.bought_cells}


def brief(cell: Cell) -> Cell:
    """Without its evidence, which is kept with the proposal."""
    return msgspec.structs.replace(cell, evidence=(), conflict=())


def cells_left(count: int) -> str:
    return "1 cell left" if count == 1 else f"{count:,} cells left"
