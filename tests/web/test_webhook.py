"""Messages to a webhook: signed, never to a private host that nobody allowed, and refused where nobody takes them."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
from pathlib import Path

import pytest

from tablewright.domain.fieldspec import parse_field
from tablewright.domain.files import FileOptions
from tablewright.errors import Unreachable
from tablewright.operations import webhooks
from tablewright.operations.files import import_table_file
from tablewright.operations.fill import plan_fill
from tablewright.services import Services
from tablewright.settings import Settings
from tablewright.web.webhook import post_signed
from tests.llm.endpoint import Asked, Reply, running_endpoint
from tests.patience import PATIENCE


async def test_a_message_is_signed_and_a_private_host_has_to_be_allowed() -> None:
    async with running_endpoint() as hook:
        hook.otherwise = Reply(204)
        with pytest.raises(Unreachable, match="Nothing was sent"):
            await post_signed(f"{hook.url}/hook", "s3cret", {"event": "test"})
        assert hook.asked == []
        await post_signed(f"{hook.url}/hook", "s3cret", {"event": "test"}, allow=["127.0.0.1"])
        (asked,) = hook.asked
        signed = asked.headers["x-tablewright-timestamp"] + '.{"event": "test"}'
        expected = hmac.new(b"s3cret", signed.encode(), hashlib.sha256).hexdigest()
        assert asked.headers["x-tablewright-signature"] == f"sha256={expected}"
        hook.otherwise = Reply(302, headers={"location": "http://elsewhere.example/"})
        with pytest.raises(Unreachable, match="answered 302"):
            await post_signed(f"{hook.url}/hook", "", {"event": "test"}, allow=["127.0.0.1"])
        assert "x-tablewright-signature" not in hook.asked[-1].headers
        assert len(hook.asked) == 2, "a redirect is not followed"


TOLD = {"run_id", "kind", "table_id", "proposal_id", "status", "done", "total", "found", "error", "cost_usd"}


async def test_a_run_that_ends_is_reported_until_somebody_takes_it_and_then_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks, "POLL_SECONDS", 0.02)
    monkeypatch.setattr(webhooks, "RETRY_SECONDS", (0.01, 0.02, 0.03))
    async with running_endpoint() as hook:
        hook.replies = [Reply(500), Reply(503), Reply(302, headers={"location": f"{hook.url}/other"})]
        taken = asyncio.Event()

        def take(_: Asked) -> Reply:
            taken.set()
            return Reply(200)

        hook.otherwise = take
        settings = Settings(home=str(tmp_path / "home"), webhook_url=f"{hook.url}/hook", fetch_allow="127.0.0.1")
        async with Services.open(settings) as services:
            stop = asyncio.Event()
            watching = asyncio.create_task(webhooks.notify_ended_runs(services, stop))
            path = tmp_path / "rows.csv"
            path.write_text("Name,Price\nTea,2\n", encoding="utf-8")
            table = (await import_table_file(services, path, FileOptions(name="Teas"))).table
            await (await plan_fill(services, table.id, [parse_field("Double={Price} * 2")])).run()
            async with asyncio.timeout(PATIENCE):
                await taken.wait()
            await asyncio.sleep(10 * webhooks.POLL_SECONDS)
            stop.set()
            await watching
    assert len(hook.asked) == 4
    assert len({str(asked.body) for asked in hook.asked}) == 1
    told = hook.asked[-1].body
    assert told.keys() == {"event", "started_at", "finished_at"} | TOLD
    assert (told["event"], told["status"], told["table_id"]) == ("run.finished", "done", table.id)
