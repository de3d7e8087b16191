"""Read request bodies, and name the parameters of routes that are no operations."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import Path, Request, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import Scope

from tablewright.formats.tables.json_stream import DuplicateKey, reject_duplicate_keys

RunId = Annotated[str, Path(max_length=200, pattern=r"^[^\x00/]+$", description="The id of the run.")]


class JsonRequest(Request):
    async def json(self) -> Any:
        if not hasattr(self, "_json"):
            body = await self.body()
            # A longer body is parsed in a thread, which lets other requests continue after each object.
            is_short = len(body) <= 16 * 1024
            self._json = parse_json_body(body) if is_short else await asyncio.to_thread(parse_json_body, body)
        return self._json


def parse_json_body(body: bytes) -> Any:
    """Return the parsed body; raise an HTTP 422 if a key appears twice."""
    try:
        return json.loads(body, object_pairs_hook=reject_duplicate_keys)
    except DuplicateKey as error:
        raise HTTPException(HTTPStatus.UNPROCESSABLE_ENTITY, f"In the body, {error}") from None


class JsonRoute(APIRoute):
    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        # Most routes differ in the method already; `UnknownApiPath` answers what no route takes.
        if scope["type"] != "http" or scope["method"] not in (self.methods or ()):
            return Match.NONE, {}
        return super().matches(scope)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def read_json(request: Request) -> Response:
            return await handle(JsonRequest(request.scope, request.receive))

        return read_json
