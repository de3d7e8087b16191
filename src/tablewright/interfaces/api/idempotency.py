"""Answer a repeated request with the first reply: same `Idempotency-Key`, same body.

A server that works on a request renews its key every minute, so a key whose server died is free ten minutes later.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Annotated

from fastapi import Depends, Header, Request
from fastapi.responses import Response

from tablewright.errors import EditConflict, TablewrightError
from tablewright.interfaces.api.answers import Json
from tablewright.interfaces.server.context import Visiting

# A tenth of the time after which an unrenewed key is free.
RENEW_SECONDS = 60.0

Key = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        max_length=200,
        pattern=r"^[\x21-\x7e]+$",
        description="A text of your own choice, e.g. a UUID. A repeated request with it is answered as the first was, "
        "and nothing is spent twice; kept for two days.",
    ),
]


class Idempotency:
    """A request that may repeat an earlier one."""

    def __init__(self, visit: Visiting, request: Request, key: Key = None) -> None:
        self._users = visit.services.store.users
        self._actor = visit.person.id
        self._request = request
        self._key = key

    async def answer(self, work: Callable[[], Awaitable[Json]]) -> Response:
        if self._key is None:
            return await work()
        asked = self._request
        body = hashlib.sha256(await asked.body()).hexdigest()
        known = await self._users.begin_request(self._actor, self._key, f"{asked.method} {asked.url.path} {body}")
        if known is None:
            return await self._first(self._key, work)
        if not known:
            raise EditConflict(
                "A request with this idempotency key is still being answered.",
                kept="Nothing is done twice.",
                advice="Ask again a little later, with the same key.",
            )
        status, _, text = known.partition(" ")
        headers = {"Idempotency-Replayed": "true"}
        return Response(text, status_code=int(status), media_type="application/json", headers=headers)

    async def _first(self, key: str, work: Callable[[], Awaitable[Json]]) -> Response:
        answer: str | None = None
        renewing = asyncio.create_task(self._renew(key))
        try:
            done = await work()
            answer = f"{done.status_code} {bytes(done.body).decode()}"
            return done
        finally:
            renewing.cancel()
            await self._users.answer_request(self._actor, key, answer)

    async def _renew(self, key: str) -> None:
        while True:
            await asyncio.sleep(RENEW_SECONDS)
            with suppress(TablewrightError):  # the next may succeed
                await self._users.renew_request(self._actor, key)


OnlyOnce = Annotated[Idempotency, Depends(Idempotency)]
