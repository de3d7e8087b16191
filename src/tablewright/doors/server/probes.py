"""Whether the process lives, and whether it can do its work: for load balancers and whoever restarts it.

Neither needs a token, a known host name or, for `/health`, the database.
"""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from tablewright.app import Tablewright
from tablewright.errors import StoreError, Unreachable

HEALTH = "/health"
READY = "/ready"
PROBES = frozenset({HEALTH, READY, "/api/v1/health"})


def probe_routes(tablewright: Tablewright) -> APIRouter:
    router = APIRouter(include_in_schema=False)

    @router.get(HEALTH)
    async def health() -> JSONResponse:
        return JSONResponse({"status": "ok"})

    @router.get(READY)
    async def ready() -> JSONResponse:
        await check_database(tablewright)
        return JSONResponse({"status": "ready"})

    return router


async def check_database(tablewright: Tablewright, *, away_for: float = -1.0) -> None:
    """As `check_ready`, in words for everybody: not where the database is."""
    try:
        await tablewright.check_ready(away_for=away_for)
    except StoreError:
        raise Unreachable(
            "The database cannot be reached.",
            kept="What was written before is kept.",
            advice="Try again soon: work in progress continues by itself when the database is back.",
        ) from None
