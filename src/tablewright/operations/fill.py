"""Fill: columns of a table, planned, estimated, started; rechecked and refreshed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tablewright.journeys import enrich

if TYPE_CHECKING:
    from tablewright.engine.outcome import Filled
    from tablewright.services import Services


async def report_fill(services: Services, filled: Filled) -> dict[str, Any]:
    """Return a run with every asked cell, its evidence and its trace, as one JSON document."""
    return await enrich.run_report(services.store, filled)
