"""Send a webhook message about each run that ends while the server is up."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from tablewright.domain.run import Run
from tablewright.errors import TablewrightError
from tablewright.operations.runs import show_run
from tablewright.settings import Settings
from tablewright.store.records import utc_now

if TYPE_CHECKING:
    from tablewright.services import Services

log = logging.getLogger(__name__)

# Time between two checks for runs that have ended.
POLL_SECONDS = 2.0
# Time before each further attempt at a message that was refused.
RETRY_SECONDS = (5.0, 30.0, 120.0)


async def send_test_message(settings: Settings) -> None:
    """Send a message that says it is a test. Raise Unreachable if it is refused."""
    await send_webhook(settings, {"event": "test", "at": utc_now()})


async def notify_ended_runs(services: Services, stop: asyncio.Event) -> None:
    """Send messages until `stop` is set. One that is refused again and again is logged."""
    since, seen, sending = utc_now(), set[str](), set[asyncio.Task[None]]()
    while not stop.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), POLL_SECONDS)
        if not services.settings.webhook_url:
            # A webhook that is set up later hears only of runs that end from then on.
            since = utc_now()
            continue
        with suppress(TablewrightError):  # the database is unavailable; the runs are found later
            # More runs do not end between two checks.
            for run in await services.jobs.all(limit=100):
                if run.finished_at and run.finished_at >= since and run.id not in seen:
                    seen.add(run.id)
                    task = asyncio.create_task(_send_about(services, run))
                    sending.add(task)
                    task.add_done_callback(sending.discard)
    for task in sending:
        task.cancel()


async def _send_about(services: Services, run: Run) -> None:
    shown = await show_run(services, run)
    kept = ("run_id", "kind", "table_id", "proposal_id", "status", "done", "total", "found", "error")
    message: dict[str, Any] = {name: getattr(shown, name) for name in (*kept, "started_at", "finished_at")}
    message |= {"event": "run.finished", "cost_usd": shown.usage.cost_usd}
    # None marks the last attempt.
    for pause in (*RETRY_SECONDS, None):
        try:
            await send_webhook(services.settings, message)
        except TablewrightError as error:
            if pause is None:
                log.warning("The webhook does not know that run %s has ended: %s", run.id, error.what)
                return
            await asyncio.sleep(pause)
        else:
            return


async def send_webhook(settings: Settings, message: dict[str, Any]) -> None:
    from tablewright.web.webhook import post_signed  # most servers have no webhook

    await post_signed(settings.webhook_url, settings.webhook_secret, message, allow=settings.fetch_allow)
