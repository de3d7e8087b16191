"""Whether the process lives, and whether it can do its work."""

from __future__ import annotations

import asyncio
from pathlib import Path

import msgspec
import pytest
from fastapi import FastAPI, WebSocket
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from tablewright.domain.access import ActingUser
from tablewright.errors import Unreachable
from tablewright.store.database import READER_THREADS
from tablewright.store.store import Store
from tests.interfaces.server.serving import TOKEN, UNHURRIED, error_of, served
from tests.patience import PATIENCE
from tests.store.outage import Outage

HASTY = msgspec.structs.replace(UNHURRIED, database_seconds=0.0)
HASTY_AND_STRICT = msgspec.structs.replace(HASTY, check_again=0.0)
AWAY = ("The database cannot be reached.", "The connection to the database was lost.")


def test_health_and_readiness_need_no_token_and_no_known_host(tmp_path: Path) -> None:
    with served(tmp_path, token=TOKEN) as server, server.client(Host="10.1.2.3:8000") as probe:
        assert probe.get("/health").json() == {"status": "ok"}
        assert probe.get("/api/v1/health").json() == {"status": "ok"}
        assert probe.get("/ready").json() == {"status": "ready"}
        assert probe.get("/api/v1/version").status_code == 421


def test_head_is_answered_wherever_get_is(tmp_path: Path) -> None:
    with served(tmp_path, token=TOKEN) as server, server.client(TOKEN) as program:
        for path in ("/health", "/ready", "/docs", "/api/v1/tables", "/api/v1/openapi.json"):
            answer = program.head(path)
            assert (answer.status_code, answer.content) == (200, b""), path


def test_while_the_database_is_away_requests_are_told_so_and_afterwards_all_works(
    tmp_path: Path, postgres_url: str
) -> None:
    with (
        Outage(postgres_url) as line,
        served(tmp_path, token=TOKEN, limits=HASTY, database_url=line.url) as server,
        server.client(TOKEN) as program,
        server.client(TOKEN, Accept="text/html") as page,
    ):
        assert program.post("/api/v1/tables", json={"name": "kept", "rows": [{"a": 1}]}).status_code == 201
        line.cut()
        for _ in range(2):  # whoever is the first to find out, and whoever comes when it is known
            for answer in (program.get("/api/v1/tables"), program.post("/api/v1/tables", json={"name": "lost"})):
                assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
                assert error_of(answer)["message"] in AWAY
                assert "127.0.0.1" not in answer.text
        shown = page.get("/tables/kept")
        assert (shown.status_code, shown.headers["content-type"]) == (503, "text/html; charset=utf-8")
        assert "The database cannot be reached" in shown.text
        ready = program.get("/ready")
        assert (ready.status_code, error_of(ready)["message"]) == (503, "The database cannot be reached.")
        assert [program.get(path).json() for path in ("/health", "/api/v1/health")] == [{"status": "ok"}] * 2
        line.mend()
        assert program.get("/ready").json() == {"status": "ready"}
        assert [table["name"] for table in program.get("/api/v1/tables").json()["tables"]] == ["kept"]


def with_echo(app: FastAPI) -> None:
    @app.websocket("/talk")
    async def talk(socket: WebSocket) -> None:
        await socket.accept()
        while True:
            await socket.send_text(await socket.receive_text())


def test_an_open_page_stays_open_while_the_database_is_away_and_closes_with_its_user_afterwards(
    tmp_path: Path, postgres_url: str
) -> None:
    """Before each message it is looked up whether the person is still one, which cannot be found out meanwhile."""
    with (
        Outage(postgres_url) as line,
        served(tmp_path, limits=HASTY_AND_STRICT, more=with_echo, database_url=line.url) as server,
    ):
        header = {"Authorization": f"Bearer {server.add_user('ann', 'editor')}"}
        with connect(
            f"ws://127.0.0.1:{server.port}/talk", additional_headers=header, proxy=None, open_timeout=PATIENCE
        ) as talk:

            def says(text: str) -> bool:
                talk.send(text)
                return talk.recv(timeout=PATIENCE) == text

            assert says("before")
            line.cut()
            assert all(says(f"meanwhile {number}") for number in range(10))
            line.mend()
            assert says("afterwards")
            server.do(lambda services: services.store.users.remove("ann"))
            talk.send("gone")
            with pytest.raises(ConnectionClosed):
                talk.recv(timeout=PATIENCE)


async def test_who_waits_for_the_database_keeps_nobody_from_seeing_that_it_is_away(postgres_url: str) -> None:
    with Outage(postgres_url) as line:
        async with await Store.open(line.url, patience=2 * PATIENCE) as store:
            hasty = store.seen_by(ActingUser(), 0.0)
            line.cut()
            waiting = [asyncio.create_task(store.tables.all()) for _ in range(4 * READER_THREADS)]
            while not store.database.away_for:  # noqa: ASYNC110  # until they have found out
                await asyncio.sleep(0.01)
            async with asyncio.timeout(PATIENCE):
                with pytest.raises(Unreachable):
                    await hasty.tables.all()
            assert not any(task.done() for task in waiting)
            line.mend()
            assert await asyncio.gather(*waiting) == [[]] * len(waiting)
            assert not store.database.away_for
