"""Whether the process lives, and whether it can do its work: for load balancers and whoever restarts it.

Neither needs a token, a known host name or, for `/health`, the database.
"""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from tablewright.doors.server.context import Visiting
from tablewright.errors import NotFound, StoreError, Unreachable
from tablewright.services import Services
from tablewright.telemetry import Telemetry

HEALTH = "/health"
READY = "/ready"
PROBES = frozenset({HEALTH, READY, "/api/v1/health"})


def probe_routes(services: Services) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.get(HEALTH)
    async def health() -> JSONResponse:
        return JSONResponse({"status": "ok"})

    @router.get(READY)
    async def ready() -> JSONResponse:
        await check_database(services)
        return JSONResponse({"status": "ready"})

    return router


async def check_database(services: Services, *, away_for: float = -1.0) -> None:
    """As `check_ready`, in words for everybody: not where the database is."""
    try:
        await services.check_ready(away_for=away_for)
    except StoreError:
        raise Unreachable(
            "The database cannot be reached.",
            kept="What was written before is kept.",
            advice="Try again soon: work in progress continues by itself when the database is back.",
        ) from None


# ── metrics ─────────────────────────────────────────────────────────────────────────────────────────────────────────
# What Prometheus reads. Only an admin: it tells what everybody together asks for and spends.


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
