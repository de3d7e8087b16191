"""A run as people and programs ask about it: how far it is, what it cost, what failed and why, how long it takes."""

from __future__ import annotations

from typing import Any

import msgspec

from tablewright.domain.document import document
from tablewright.domain.feed import Progress
from tablewright.errors import NotFound
from tablewright.store.records import now
from tablewright.store.runs import TALLY, Run, RunTally, seconds_between
from tablewright.store.store import Store

FEW = 20
"""Rows after which the pace of a run tells how long it will take."""


async def run_report(store: Store, run: Run, *, interrupted: bool, reasons: bool = False) -> dict[str, Any]:
    """With `reasons` also why cells stayed empty."""
    try:
        proposal_id = await store.proposals.of_run(run.id)
    except NotFound:
        proposal_id = ""
    empty = await store.proposals.reasons(proposal_id) if reasons and proposal_id else {}
    tally = await tally_of(store, run)
    total = run.total or tally.rows  # what is computed at once has no slices that count its rows
    done = run.done if run.total else tally.rows
    return {
        "run_id": run.id,
        "kind": run.kind,
        "table_id": run.table_id,
        "proposal_id": proposal_id,
        "status": "interrupted" if interrupted else "stopping" if run.stopping else run.status,
        "done": done,
        "total": total,
        "fraction": Progress(stage="complete" if run.finished_at else "working", done=done, total=total).fraction,
        "found": empty.pop("", 0) if reasons else tally.found,
        "empty": empty,
        "unasked": tally.unasked,
        "cause": tally.cause,
        "degraded": tally.degraded,
        "incomplete": tally.incomplete,
        "skipped_rows": document(tally.skipped_rows),
        "seconds_left": None if interrupted else seconds_left(run),
        "usage": document(run.usage),
        "error": run.error,
        "owner": run.owner,
        "started_at": run.started_at,
        "finished_at": run.finished_at,
        "last_event": run.last_event,
        "spec": {name: value for name, value in run.spec.items() if name not in ("settings", TALLY)},
    }


async def tally_of(store: Store, run: Run) -> RunTally:
    """What it has counted so far."""
    if run.status != "running" and TALLY in run.spec:
        return msgspec.convert(run.spec[TALLY], RunTally)
    return (await store.slices.totals(run.id)).tally


def seconds_left(run: Run) -> float | None:
    """At the pace since somebody last began to work on it; None while that says little, or where nothing is left."""
    done, left = run.done - run.since.done, run.total - run.done
    if run.status != "running" or left <= 0 or done < min(FEW, run.total - run.since.done):
        return None
    return round(seconds_between(run.since.at, now()) / done * left, 1)
