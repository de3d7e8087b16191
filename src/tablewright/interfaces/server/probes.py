"""Probes for load balancers and process supervisors (`/health`: the process is up, `/ready`: it can work), and metrics.

The probes need neither a token nor a known host name; `/health` does not need the database.
"""

from __future__ import annotations

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response

from tablewright.errors import NotFound, StoreError, Unreachable
from tablewright.interfaces.server.context import Visiting
from tablewright.services import Services
from tablewright.telemetry import Telemetry

# Asked by load balancers every few seconds, without a token.
PROBE_PATHS = frozenset({"/health", "/ready", "/api/v1/health"})


def probe_routes(services: Services) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.get("/health")
    async def health() -> JSONResponse:
        return JSONResponse({"status": "ok"})

    @router.get("/ready")
    async def ready() -> JSONResponse:
        await require_database(services)
        return JSONResponse({"status": "ready"})

    return router


async def require_database(services: Services, *, away_for: float = -1.0) -> None:
    """Raise Unreachable if the database does not answer; unlike `check_ready` it does not reveal where that is."""
    try:
        await services.check_ready(away_for=away_for)
    except StoreError:
        raise Unreachable(
            "The database cannot be reached.",
            kept="What was written before is kept.",
            advice="Try again soon: work in progress continues by itself when the database is back.",
        ) from None


# ── metrics ─────────────────────────────────────────────────────────────────────────────────────────────────────────
# Only an admin may read them: they show the requests and costs of all users together.

router = APIRouter(include_in_schema=False)


@router.get("/metrics")
async def metrics_for_prometheus(request: Request, visit: Visiting) -> Response:
    visit.must_administer()
    found: Telemetry | None = request.app.state.telemetry
    if found is None or not found.is_read:
        raise NotFound(
            "This server keeps no metrics for Prometheus.", advice="Start it with TABLEWRIGHT_TELEMETRY=prometheus."
        )
    text, kind = found.exposition()
    return Response(text, headers={"Content-Type": kind})
