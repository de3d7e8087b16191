"""Whether the process lives, and whether it can do its work: for load balancers and whoever restarts it.

Neither needs a token, a known host name or, for `/health`, the database.
"""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import JSONResponse

from tablewright.app import Tablewright
from tablewright.errors import StoreError

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
        try:
            await tablewright.check_ready()
        except StoreError:  # which says where the database is: nothing for everybody
            raise StoreError(
                "The database cannot be reached.",
                kept="What was written before is kept.",
                advice="Try again; work that was under way goes on when the database is back.",
            ) from None
        return JSONResponse({"status": "ready"})

    return router
