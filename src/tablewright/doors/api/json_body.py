"""Bodies of requests, read so that nothing in them is lost and nobody waits for them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from tablewright.formats.tables.json_stream import DuplicateKey, read_object

AT_ONCE = 16 * 1024
"""Bytes that are read right away; a thread reads more, and lets others go on after each object."""


class JsonRequest(Request):
    async def json(self) -> Any:
        if not hasattr(self, "_json"):
            body = await self.body()
            self._json = read_body(body) if len(body) <= AT_ONCE else await asyncio.to_thread(read_body, body)
        return self._json


def read_body(body: bytes) -> Any:
    try:
        return json.loads(body, object_pairs_hook=read_object)
    except DuplicateKey as error:
        raise HTTPException(HTTPStatus.UNPROCESSABLE_ENTITY, f"In the body, {error}") from None


class JsonRoute(APIRoute):
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def read_json(request: Request) -> Response:
            return await handle(JsonRequest(request.scope, request.receive))

        return read_json


def resource(tag: str, prefix: str = "") -> APIRouter:
    """The routes of one resource."""
    return APIRouter(prefix=prefix, tags=[tag], route_class=JsonRoute)
