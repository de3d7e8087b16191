"""What Prometheus reads. Only an admin: it tells what everybody together asks for and spends."""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import Response

from tablewright.doors.server.context import Visiting
from tablewright.errors import NotFound
from tablewright.telemetry import Telemetry

METRICS = "/metrics"

router = APIRouter(include_in_schema=False)


@router.get(METRICS)
async def metrics(request: Request, visit: Visiting) -> Response:
    visit.must_administer()
    found: Telemetry | None = request.app.state.telemetry
    if found is None or not found.is_read:
        raise NotFound(
            "This server keeps no metrics for Prometheus.", advice="Start it with TABLEWRIGHT_TELEMETRY=prometheus."
        )
    text, kind = found.exposition()
    return Response(text, headers={"Content-Type": kind})
