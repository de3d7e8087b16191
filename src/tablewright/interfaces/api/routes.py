"""List the routes of the REST API with their operations; the server mounts them under `/api/v1`.

The guard has checked the token before any route is reached; here it is only described.
"""

from __future__ import annotations

from inspect import signature
from typing import Any, Literal

from fastapi import APIRouter, Depends
from fastapi.responses import StreamingResponse
from fastapi.security import HTTPBearer

from tablewright.domain.model import Struct
from tablewright.interfaces.api import events
from tablewright.interfaces.api.adapter import add_route
from tablewright.interfaces.api.answers import ERRORS, Json
from tablewright.interfaces.api.inputs import JsonRoute
from tablewright.interfaces.api.schemas import reply_model
from tablewright.operations import (
    ask,
    documents,
    fill,
    find,
    health,
    research,
    retrieval,
    review,
    rows,
    runs,
    schedules,
    settings,
    sharing,
    shortlist,
    tables,
    users,
)
from tablewright.operations.operation import Operation

# Not enforced here (auto_error): the guard has checked the token; this only tells the OpenAPI document.
TOKEN = HTTPBearer(auto_error=False, scheme_name="token", description="A user's token, or the owner's.")

TABLE, ROW = "/tables/{table}", "/tables/{table}/rows/{row_id}"
DOCUMENT, PROPOSAL = "/documents/{document}", "/proposals/{proposal_id}"
RUN, RESEARCH, SHORTLIST = "/runs/{run_id}", "/research/{research}", "/shortlists/{shortlist}"
USER, THING = "/users/{user}", "/shares/{kind}/{id}"

# Methods, paths and operations; 201 where something is created, 202 where the answer comes before a run has ended.
OPERATIONS: dict[str, dict[str, Operation[Any, Any]]] = {
    "tables": {
        "GET /tables": tables.list_tables,
        "POST /tables 201": tables.create_table,
        "POST /tables/import 201": tables.import_table,
        f"GET {TABLE}": tables.get_table,
        f"PATCH {TABLE}": tables.rename_table,
        f"DELETE {TABLE}": tables.remove_table,
        f"PUT {TABLE}/tags": tables.tag_table,
        f"GET {TABLE}/export": tables.export_table,
        f"POST {TABLE}/sheets": tables.send_to_sheets,
    },
    "fields": {
        f"POST {TABLE}/fields 201": rows.add_field,
        f"PUT {TABLE}/fields/{{field:path}}": rows.change_field,
        f"DELETE {TABLE}/fields/{{field:path}}": rows.remove_field,
    },
    "rows": {
        f"GET {TABLE}/rows": rows.list_rows,
        f"GET {ROW}": rows.get_row,
        f"POST {TABLE}/rows 201": rows.add_rows,
        f"DELETE {ROW}": rows.remove_row,
    },
    "cells": {
        f"GET {ROW}/cells/{{field:path}}": rows.get_cell,
        f"PUT {ROW}/cells/{{field:path}}": rows.set_cell,
        f"POST {ROW}/flags/{{field:path}}": rows.flag_cell,
        f"GET {ROW}/history/{{field:path}}": rows.get_cell_history,
        f"GET {TABLE}/stale": rows.list_stale_cells,
    },
    "history": {
        f"GET {TABLE}/history": tables.list_changes,
        f"POST {TABLE}/undo": tables.undo,
    },
    "runs": {
        f"POST {TABLE}/estimate": fill.estimate_fill,
        f"POST {TABLE}/runs 202": fill.start_fill,
        f"POST {TABLE}/fields/plan": fill.plan_columns,
        "GET /runs": runs.list_runs,
        f"GET {RUN}": runs.get_run,
        f"POST {RUN}/cancel 202": runs.cancel_run,
        f"POST {RUN}/pause 202": runs.pause_run,
        f"POST {RUN}/resume 202": runs.resume_run,
        f"GET {RUN}/attempts": runs.list_attempts,
    },
    "upkeep": {
        f"POST {TABLE}/recheck 202": fill.start_recheck,
        f"POST {TABLE}/refresh 202": fill.start_refresh,
        f"POST {TABLE}/refresh/estimate": fill.estimate_refresh,
        "GET /schedules": schedules.list_schedules,
        f"GET {TABLE}/schedules": schedules.list_schedules,
        f"PUT {TABLE}/schedules": schedules.set_schedule,
        f"DELETE {TABLE}/schedules": schedules.remove_schedules,
    },
    "proposals": {
        "GET /proposals": review.list_proposals,
        f"GET {PROPOSAL}": review.get_proposal,
        f"GET {PROPOSAL}/operations": review.list_operations,
        f"POST {PROPOSAL}/apply": review.apply_proposal,
        f"POST {PROPOSAL}/reject": review.reject_proposal,
        f"POST {PROPOSAL}/decide": review.decide_proposal,
    },
    "documents": {
        "GET /documents": documents.list_documents,
        "POST /documents 201": documents.add_documents,
        "POST /documents/table 201": documents.create_document_table,
        "GET /documents/tables": documents.list_document_tables,
        f"GET {DOCUMENT}": documents.get_document,
        f"GET {DOCUMENT}/facts": documents.list_facts,
        f"GET {DOCUMENT}/text": documents.get_document_text,
        f"PUT {DOCUMENT}/kind": documents.set_kind,
        f"DELETE {DOCUMENT}": documents.remove_documents,
    },
    "ask": {
        "POST /ask": ask.ask_documents,
        "GET /conversations": ask.list_conversations,
        "GET /conversations/{conversation}": ask.get_conversation,
        "DELETE /conversations/{conversation}": ask.remove_conversation,
        "GET /results/{result}/export": ask.export_result,
    },
    "retrieval": {
        "GET /retrieval/search_text": retrieval.search_text,
        "GET /retrieval/search_vector": retrieval.search_vector,
        "GET /retrieval/annotations_search": retrieval.annotations_search,
        "GET /retrieval/annotations_aggregate": retrieval.annotations_aggregate,
        "GET /retrieval/export_annotations_csv": retrieval.export_annotations_csv,
    },
    "research": {
        "GET /research": research.list_research,
        "POST /research 202": research.start_research,
        "POST /research/plan": research.plan_research,
        f"GET {RESEARCH}": research.get_research,
        f"DELETE {RESEARCH}": research.remove_research,
        f"POST {RESEARCH}/resume 202": research.resume_research,
        f"GET {RESEARCH}/report": research.export_report,
        f"POST {RESEARCH}/questions": research.ask_follow_up,
    },
    "shortlist": {
        "GET /shortlists": shortlist.list_shortlists,
        "POST /shortlists 201": shortlist.start_shortlist,
        f"GET {SHORTLIST}": shortlist.get_shortlist,
        f"DELETE {SHORTLIST}": shortlist.remove_shortlist,
        f"GET {SHORTLIST}/ranking": shortlist.rank_shortlist,
        f"POST {SHORTLIST}/turns": shortlist.take_turn,
        f"GET {SHORTLIST}/files/{{file}}": shortlist.get_shortlist_file,
    },
    "find": {
        "POST /find 202": find.start_find,
        "POST /find/plan 201": find.plan_find,
        f"GET {TABLE}/found": find.get_found,
        f"POST {TABLE}/found 202": find.find_more,
        f"GET {TABLE}/found/estimate": find.estimate_find,
    },
    "sharing": {
        f"GET {THING}": sharing.get_sharing,
        f"PUT {THING}": sharing.share,
        f"POST {THING}/links 201": sharing.create_view_link,
    },
    "users": {
        "GET /users": users.list_users,
        "POST /users 201": users.add_user,
        f"PUT {USER}": users.change_role,
        f"DELETE {USER}": users.remove_user,
        f"POST {USER}/token": users.renew_token,
        "GET /quotas": users.list_quotas,
        f"PUT {USER}/quotas": users.set_quotas,
    },
    "tokens": {
        "GET /tokens": users.list_tokens,
        "POST /tokens 201": users.add_token,
        "DELETE /tokens/{token}": users.remove_token,
    },
    "audit": {"GET /audit": users.list_audit},
    "health": {
        "GET /version": health.get_version,
        "GET /doctor": health.run_doctor,
        "GET /settings": settings.list_settings,
        "GET /strategies": health.list_strategies,
        "GET /models": health.list_models,
    },
}
# One flat router: FastAPI searches nested ones again at each level.
router = APIRouter(route_class=JsonRoute, responses=ERRORS)


class Alive(Struct, frozen=True):
    status: Literal["ok"]


@router.get("/health", response_model=reply_model(Alive), tags=["health"])
async def get_health() -> Json:
    """Return "ok" if the process is alive. Needs no token and does not use the database; `/ready`, outside the API,
    checks it."""
    return Json(Alive(status="ok"))


router.add_api_route(
    f"{RUN}/events",
    events.watch_run,
    methods=["GET"],
    tags=["runs"],
    response_class=StreamingResponse,
    responses=events.STREAM,
    dependencies=[Depends(TOKEN)],
)
for tag, routes in OPERATIONS.items():
    for route, operation in routes.items():
        add_route(
            router,
            route,
            operation,
            once=operation.effect == "run" and not route.startswith("GET "),
            files="paths" if operation is documents.add_documents else "",
            file="path" if operation is tables.import_table else "",
            # An operation that writes a file takes its path; the file is the answer.
            download="path" in signature(operation.function).parameters,
            # What is put replaces what was there.
            fixed={"only": True, "without": ()} if operation is sharing.share else {},
            tags=[tag],
            dependencies=[Depends(TOKEN)],
        )
