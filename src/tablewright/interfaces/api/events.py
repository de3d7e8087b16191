"""Stream the events of a run as server-sent events.

However many clients watch a run, it is read from the database once: they share the newest events, which are in memory.
A client that starts earlier, or falls behind, reads the missing events from the database.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Annotated, Any

from fastapi import Header, Query, Request
from fastapi.responses import StreamingResponse

from tablewright.domain.complete_json import encode_complete
from tablewright.domain.run import Event
from tablewright.errors import TablewrightError
from tablewright.interfaces.api.inputs import RunId
from tablewright.interfaces.server.context import Visit, Visiting
from tablewright.operations.operation import MAX_NUMBER
from tablewright.operations.runs import RunRequest, find_run, get_run
from tablewright.services import Services

# Proxies close a connection that is silent for much longer.
HEARTBEAT_SECONDS = 15.0
# A line that begins with a colon is a comment of the event stream, which browsers skip.
ALIVE = b": still here\n\n"


def encode_event(event: Event) -> bytes:
    return b"id: %d\nevent: progress\ndata: %s\n\n" % (event.number, encode_complete(event))


class Tail:
    """The newest events of one run, shared by its clients and read while there are any."""

    def __init__(self, services: Services, run_id: str, after: int) -> None:
        self.before = after
        """The number of the last event that is not in memory."""
        self.ended = False
        self.readers = 0
        self._events: deque[tuple[int, bytes]] = deque()
        self._news = asyncio.Event()
        self._task = asyncio.create_task(self._read(services, run_id))

    async def _read(self, services: Services, run_id: str) -> None:
        try:
            with suppress(TablewrightError):  # the stream ends, and its clients ask again
                async for event in services.jobs.watch(run_id, after=self.before):
                    self._events.append((event.number, encode_event(event)))
                    # Events of a watched run that stay in memory: enough for a client that is a few seconds behind.
                    if len(self._events) > 2_000:
                        self.before = self._events.popleft()[0]
                    self._tell()
        finally:
            self.ended = True
            self._tell()

    def _tell(self) -> None:
        self._news.set()
        self._news = asyncio.Event()

    def after(self, number: int) -> list[tuple[int, bytes]]:
        return [event for event in self._events if event[0] > number]

    async def wait(self) -> bool:
        """Return True if there is news within the time of a heartbeat."""
        try:
            await asyncio.wait_for(self._news.wait(), HEARTBEAT_SECONDS)
        except TimeoutError:
            return False
        return True

    def close(self) -> None:
        self._task.cancel()


class Tails:
    """The tails of all watched runs."""

    def __init__(self) -> None:
        self._open: dict[str, Tail] = {}

    @asynccontextmanager
    async def of(self, services: Services, run_id: str, last_event: int) -> AsyncIterator[Tail]:
        tail = self._open.get(run_id)
        if tail is None or tail.ended:
            tail = self._open[run_id] = Tail(services, run_id, last_event)
        tail.readers += 1
        try:
            yield tail
        finally:
            tail.readers -= 1
            if not tail.readers:
                tail.close()
                if self._open.get(run_id) is tail:
                    del self._open[run_id]


def get_tails(request: Request) -> Tails:
    """Return the tails of the application."""
    state = request.app.state
    if not hasattr(state, "tails"):
        state.tails = Tails()
    tails: Tails = state.tails
    return tails


# The description of the route for OpenAPI 3.1, which cannot describe the events of a stream.
STREAM: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "`progress` events, each with its number as `id`; at the end one event `end`, with the run "
        "as `/runs/{run_id}` has it. Its status is `interrupted` if no process works on the run any more. Comments "
        "in between show that the connection is alive.",
        "content": {"text/event-stream": {}},
    }
}


async def watch_run(
    visit: Visiting,
    request: Request,
    run_id: RunId,
    after: Annotated[int, Query(ge=0, le=MAX_NUMBER, description="Only events after the one of this number.")] = 0,
    last_event_id: Annotated[
        str | None, Header(alias="Last-Event-ID", max_length=20, description="The same, as browsers send it.")
    ] = None,
) -> StreamingResponse:
    """Stream the events of a run, from an offset, until it ends or no process works on it any more. After a lost
    connection, continue with `Last-Event-ID`."""
    run = await find_run(visit.services, run_id)
    if last_event_id and last_event_id.isdecimal():
        after = max(after, min(int(last_event_id), MAX_NUMBER))
    patient = Visit(visit.person, visit.server)  # the stream stays open while the database is away
    stream = stream_events(patient, get_tails(request), run.id, after)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(stream, media_type="text/event-stream", headers=headers)


async def stream_events(visit: Visit, tails: Tails, run_id: str, after: int) -> AsyncIterator[bytes]:
    services = visit.services
    run = await services.jobs.get(run_id)
    if run.status != "running":
        async for event in services.jobs.watch(run_id, after=after):
            yield encode_event(event)
        yield await encode_end(visit, run_id)
        return
    yield ALIVE
    quiet = True
    async with tails.of(services, run_id, run.last_event) as tail:
        while True:
            if after < tail.before:
                upto = tail.before
                async for event in services.jobs.watch(run_id, after=after):
                    yield encode_event(event)
                    after = event.number
                    if after >= upto:
                        break
                else:
                    break
            elif news := tail.after(after):
                for number, line in news:
                    yield line
                    after = number
            elif tail.ended or (quiet and await services.jobs.is_interrupted(await services.jobs.get(run_id))):
                break
            else:
                quiet = not await tail.wait()
                if quiet:
                    yield ALIVE
    yield await encode_end(visit, run_id)


async def encode_end(visit: Visit, run_id: str) -> bytes:
    """Return the last event, or b"" if the run continues: then the client asks again."""
    run = await get_run(visit.services, RunRequest(run_id=run_id))
    return b"" if run.status in ("running", "stopping") else b"event: end\ndata: %s\n\n" % encode_complete(run)
