"""Whoever set a webhook is told of each run that ends while the server is up."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import Any

from tablewright.application.base import Application
from tablewright.errors import TablewrightError
from tablewright.settings import Settings
from tablewright.store.records import now
from tablewright.store.runs import Run

log = logging.getLogger(__name__)

EVERY = 2.0
"""Seconds between two looks at which runs have ended."""
PAUSES = (5.0, 30.0, 120.0)
"""Seconds before a message that nobody took is sent again."""
NEWEST = 100


class WebhookVerbs(Application):
    async def test_webhook(self, settings: Settings) -> None:
        """Sends a message that says that it is a test. Raises Unreachable where nobody takes it."""
        await send(settings, {"event": "test", "at": now()})

    async def notify(self, stop: asyncio.Event) -> None:
        """Sends what is to be sent until `stop` is set; what nobody takes after some tries stands in the log."""
        since, told, sending = now(), set[str](), set[asyncio.Task[None]]()
        while not stop.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), EVERY)
            if not self.settings.webhook_url:
                since = now()
                continue
            with suppress(TablewrightError):  # the database is away; they are found later
                for run in await self.jobs.all(limit=NEWEST):
                    if run.finished_at and run.finished_at >= since and run.id not in told:
                        told.add(run.id)
                        task = asyncio.create_task(self._tell(run))
                        sending.add(task)
                        task.add_done_callback(sending.discard)
        for task in sending:
            task.cancel()

    async def _tell(self, run: Run) -> None:
        message = await self._message(run)
        for pause in (*PAUSES, None):
            try:
                await send(self.settings, message)
            except TablewrightError as error:
                if pause is None:
                    log.warning("The webhook was not told that run %s has ended: %s", run.id, error.what)
                    return
                await asyncio.sleep(pause)
            else:
                return

    async def _message(self, run: Run) -> dict[str, Any]:
        report = await self.jobs.report(run)
        kept = ("run_id", "kind", "table_id", "proposal_id", "status", "done", "total", "found", "error")
        times = ("started_at", "finished_at")
        cost = {"cost_usd": report["usage"]["cost_usd"]}
        return {"event": "run.finished", **{name: report[name] for name in (*kept, *times)}, **cost}


async def send(settings: Settings, message: dict[str, Any]) -> None:
    from tablewright.sources.webhook import post_signed  # most servers have no webhook

    await post_signed(settings.webhook_url, settings.webhook_secret, message, allow=settings.fetch_allow)
