"""What requests may say, and how much of it: the types of parameters and of texts in bodies."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable, Coroutine
from http import HTTPStatus
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.routing import APIRoute
from pydantic import AfterValidator, BaseModel, ConfigDict, StringConstraints
from pydantic import Field as Value
from starlette.exceptions import HTTPException

from tablewright.formats.tables.json_stream import DuplicateKey, read_object

MOST_ROWS = 2**31 - 1
UNWRITABLE = re.compile("[\0\ud800-\udfff]")
SOME = 100
"""How many a page of a list has, unless asked otherwise."""


class Body(BaseModel):
    """A request: what it does not know is refused, so that a misspelt option is not silently without effect."""

    model_config = ConfigDict(extra="forbid")


def writable(text: str) -> str:
    """What every database takes."""
    if UNWRITABLE.search(text):
        raise ValueError("There is a NUL, or half a character, in it.")
    return text


def an_id(of: str) -> Any:
    return Path(max_length=200, pattern=r"^[^\x00/]+$", description=f"The id of the {of}.")


Name = Annotated[str, StringConstraints(max_length=300), AfterValidator(writable)]
Text = Annotated[str, StringConstraints(max_length=20_000), AfterValidator(writable)]
Question = Annotated[str, StringConstraints(min_length=1, max_length=4_000), AfterValidator(writable)]

Days = Annotated[
    int | None,
    Value(ge=0, le=36_500, description="Days until the token expires; 0: never. Default: the setting `token_days`."),
]

TableId = Annotated[str, an_id("table")]
RunId = Annotated[str, an_id("run")]
UserName = Annotated[str, Path(max_length=80, pattern=r"^[^\x00/]+$", description="The user's name.")]

Limit = Annotated[int, Query(ge=1, le=1_000, description="The most entries to return.")]
After = Annotated[
    str, Query(max_length=400, pattern=r"^[^\x00]*$", description="Start after this: the `next` of the previous page.")
]
AfterRow = Annotated[int, Query(ge=0, le=MOST_ROWS, description="Start after the row with this number.")]


# ── bodies ──────────────────────────────────────────────────────────────────────────────────────────────────────────
# Bodies of requests, read so that nothing in them is lost and nobody waits for them.


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
