"""Webhooks: a message about each run that ends while the server is up."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tablewright.domain.run import Run
from tablewright.errors import TablewrightError
from tablewright.operations.runs import show_run
from tablewright.settings import Settings
from tablewright.store.records import now

if TYPE_CHECKING:
    from tablewright.services import Services

log = logging.getLogger(__name__)

EVERY = 2.0
"""Seconds between two looks for runs that have ended."""
PAUSES = (5.0, 30.0, 120.0)
"""Seconds before a message that was refused is sent again."""
NEWEST = 100


async def send_test_message(settings: Settings) -> None:
    """Send a message that says it is a test. Raise Unreachable if it is refused."""
    await send(settings, {"event": "test", "at": now()})


async def notify(services: Services, stop: asyncio.Event) -> None:
    """Send messages until `stop` is set. One that is refused again and again is logged."""
    since, seen, sending = now(), set[str](), set[asyncio.Task[None]]()
    while not stop.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), EVERY)
        if not services.settings.webhook_url:
            since = now()
            continue
        with suppress(TablewrightError):  # the database is away; they are found later
            for run in await services.jobs.all(limit=NEWEST):
                if run.finished_at and run.finished_at >= since and run.id not in seen:
                    seen.add(run.id)
                    task = asyncio.create_task(_send_about(services, run))
                    sending.add(task)
                    task.add_done_callback(sending.discard)
    for task in sending:
        task.cancel()


async def _send_about(services: Services, run: Run) -> None:
    message = await _message(services, run)
    for pause in (*PAUSES, None):
        try:
            await send(services.settings, message)
        except TablewrightError as error:
            if pause is None:
                log.warning("The webhook does not know that run %s has ended: %s", run.id, error.what)
                return
            await asyncio.sleep(pause)
        else:
            return


async def _message(services: Services, run: Run) -> dict[str, Any]:
    shown = await show_run(services, run)
    kept = ("run_id", "kind", "table_id", "proposal_id", "status", "done", "total", "found", "error")
    times = ("started_at", "finished_at")
    cost = {"cost_usd": shown.usage.cost_usd}
    return {"event": "run.finished", **{name: getattr(shown, name) for name in (*kept, *times)}, **cost}


async def send(settings: Settings, message: dict[str, Any]) -> None:
    from tablewright.sources.webhook import post_signed  # most servers have no webhook

    await post_signed(settings.webhook_url, settings.webhook_secret, message, allow=settings.fetch_allow)
