"""What a run tells, as server-sent events.

However many watch a run, it is read from the database once: those who watch it take from the last events that are in
memory, and whoever begins earlier, or falls behind, reads what is missing from the database by itself.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Annotated

from fastapi import Header, Query, Request
from fastapi.responses import StreamingResponse

from tablewright.domain.run import Event
from tablewright.doors.api.answers import encoded
from tablewright.doors.api.inputs import MOST_ROWS, RunId, resource
from tablewright.doors.server.context import Visit, Visiting
from tablewright.errors import TablewrightError
from tablewright.operations.runs import RunRequest, find_run, get_run
from tablewright.services import Services

router = resource("runs")

KEPT = 2_000
"""Events of a run in memory, while somebody watches it."""
HEARTBEAT = 15.0
ALIVE = b": still here\n\n"
GOES_ON = ("running", "stopping")


def written(event: Event) -> bytes:
    return b"id: %d\nevent: progress\ndata: %s\n\n" % (event.number, encoded(event))


class Tail:
    """The newest events of one run, for all who watch it; read as long as somebody does."""

    def __init__(self, services: Services, run_id: str, after: int) -> None:
        self.before = after
        """The number of the last event that is no longer, or never was, in memory."""
        self.ended = False
        self.readers = 0
        self._events: deque[tuple[int, bytes]] = deque()
        self._news = asyncio.Event()
        self._task = asyncio.create_task(self._read(services, run_id))

    async def _read(self, services: Services, run_id: str) -> None:
        try:
            with suppress(TablewrightError):  # who watches sees the stream end, and asks again
                async for event in services.jobs.watch(run_id, after=self.before):
                    self._events.append((event.number, written(event)))
                    if len(self._events) > KEPT:
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
        """Whether there is news within the time of a heartbeat."""
        try:
            await asyncio.wait_for(self._news.wait(), HEARTBEAT)
        except TimeoutError:
            return False
        return True

    def close(self) -> None:
        self._task.cancel()


class Tails:
    """Of all runs that are watched."""

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


def tails_of(request: Request) -> Tails:
    """One for the application."""
    state = request.app.state
    if not hasattr(state, "tails"):
        state.tails = Tails()
    tails: Tails = state.tails
    return tails


@router.get(
    "/runs/{run_id}/events",
    response_class=StreamingResponse,
    responses={
        200: {
            "description": "`progress` events, each with its number as `id`; at the end one event `end`, with the run "
            "as `/runs/{run_id}` has it. Its status is `interrupted` where nobody works on the run any more. Comments "
            "in between show that the connection is alive.",
            "content": {"text/event-stream": {}},  # OpenAPI 3.1 cannot describe the events of a stream
        }
    },
)
async def watch_run(
    visit: Visiting,
    request: Request,
    run_id: RunId,
    after: Annotated[int, Query(ge=0, le=MOST_ROWS, description="Only what comes after the event of this number.")] = 0,
    last_event_id: Annotated[
        str | None, Header(alias="Last-Event-ID", max_length=20, description="The same, as browsers send it.")
    ] = None,
) -> StreamingResponse:
    """Streams the events of a run, from an offset, until it ends or no process works on it any more. After a lost
    connection, continue with `Last-Event-ID`."""
    run = await find_run(visit.services, run_id)
    if last_event_id and last_event_id.isdecimal():
        after = max(after, min(int(last_event_id), MOST_ROWS))
    patient = Visit(visit.person, visit.server)  # it stays open while the database is away
    stream = event_stream(patient, tails_of(request), run.id, after)
    headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return StreamingResponse(stream, media_type="text/event-stream", headers=headers)


async def event_stream(visit: Visit, tails: Tails, run_id: str, after: int) -> AsyncIterator[bytes]:
    services = visit.services
    run = await services.jobs.get(run_id)
    if run.status != "running":
        async for event in services.jobs.watch(run_id, after=after):
            yield written(event)
        yield await the_end(visit, run_id)
        return
    yield ALIVE
    quiet = True
    async with tails.of(services, run_id, run.last_event) as tail:
        while True:
            if after < tail.before:
                upto = tail.before
                async for event in services.jobs.watch(run_id, after=after):
                    yield written(event)
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
    yield await the_end(visit, run_id)


async def the_end(visit: Visit, run_id: str) -> bytes:
    """Nothing where the run goes on: who watches asks again."""
    run = await get_run(visit.services, RunRequest(run_id=run_id))
    return b"" if run.status in GOES_ON else b"event: end\ndata: %s\n\n" % encoded(run)
