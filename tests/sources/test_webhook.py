"""Messages to a webhook: signed, never to a private host that nobody allowed, and refused where nobody takes them."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tablewright.app import FileOptions, Tablewright
from tablewright.application import notifying
from tablewright.errors import Unreachable
from tablewright.settings import Settings
from tablewright.sources.webhook import SIGNATURE, TIMESTAMP, post_signed, signature
from tablewright.table.fieldspec import parse_field
from tests.models.endpoint import Reply, running_endpoint
from tests.patience import PATIENCE


async def test_a_message_is_signed_and_a_private_host_has_to_be_allowed() -> None:
    async with running_endpoint() as hook:
        hook.otherwise = Reply(204)
        with pytest.raises(Unreachable, match="Nothing was sent"):
            await post_signed(f"{hook.url}/hook", "s3cret", {"event": "test"})
        assert hook.asked == []
        await post_signed(f"{hook.url}/hook", "s3cret", {"event": "test"}, allow=["127.0.0.1"])
        (asked,) = hook.asked
        body = json.dumps({"event": "test"}).encode()
        assert asked.headers[SIGNATURE] == f"sha256={signature('s3cret', asked.headers[TIMESTAMP], body)}"
        hook.otherwise = Reply(302, headers={"location": "http://elsewhere.example/"})
        with pytest.raises(Unreachable, match="answered 302"):
            await post_signed(f"{hook.url}/hook", "", {"event": "test"}, allow=["127.0.0.1"])


async def test_a_run_that_ends_is_reported_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifying, "EVERY", 0.02)
    async with running_endpoint() as hook:
        hook.otherwise = Reply(200)
        settings = Settings(home=str(tmp_path / "home"), webhook_url=f"{hook.url}/hook", fetch_allow="127.0.0.1")
        async with Tablewright.open(settings) as tablewright:
            stop = asyncio.Event()
            watching = asyncio.create_task(tablewright.notify(stop))
            path = tmp_path / "rows.csv"
            path.write_text("Name,Price\nTea,2\n", encoding="utf-8")
            table = (await tablewright.import_file(path, FileOptions(name="Teas"))).table
            await (await tablewright.plan_enrich(table.id, [parse_field("Double={Price} * 2")])).run()
            async with asyncio.timeout(PATIENCE):
                await hook.somebody_waits.wait()
            stop.set()
            await watching
    (asked,) = hook.asked
    assert (asked.body["event"], asked.body["status"], asked.body["table_id"]) == ("run.finished", "done", table.id)
