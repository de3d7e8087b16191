"""The REST API, one small module for each resource; the server puts it under `/api/v1`.

The guard has looked at the token before any route is reached; here it is only described.
"""

from __future__ import annotations

from fastapi import APIRouter, Depends
from fastapi.security import HTTPBearer

from tablewright.doors.api import (
    asking,
    auditing,
    cells,
    documents,
    events,
    fields,
    finding,
    health,
    history,
    proposals,
    refresh,
    research,
    retrieval,
    rows,
    runs,
    shortlists,
    tables,
    tokens,
    users,
    visible,
)
from tablewright.doors.api.answers import ERRORS

TOKEN = HTTPBearer(auto_error=False, scheme_name="token", description="A user's token, or the owner's.")

router = APIRouter(responses=ERRORS)
router.include_router(health.open_to_all)
for resource in (
    health,
    tables,
    fields,
    rows,
    cells,
    history,
    runs,
    events,
    refresh,
    proposals,
    documents,
    asking,
    retrieval,
    finding,
    research,
    shortlists,
    visible,
    users,
    tokens,
    auditing,
):
    router.include_router(resource.router, dependencies=[Depends(TOKEN)])
