"""Name lookups that hang keep nothing else waiting. They are made to hang at the lowest place, `socket.getaddrinfo`."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tablewright.threads import NameLookups, run_in_model_thread, use_own_lookup_threads
from tablewright.web.fetch.guard import resolve_by_system
from tests.interfaces.server.serving import served
from tests.patience import PATIENCE

MORE_THAN_ANY_POOL = 3 * 32 + (os.cpu_count() or 1)
FOUND = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.7", 80))]


class NameServer:
    """Is silent about hosts of `example` until it is told to go on."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.was_asked = threading.Event()
        self.goes_on = threading.Event()
        self._really_look_up = socket.getaddrinfo

    def look_up(self, host: str, *more: Any, **named: Any) -> list[Any]:
        if not str(host).endswith(".example"):
            return list(self._really_look_up(host, *more, **named))
        self.asked[host] += 1
        self.was_asked.set()
        self.goes_on.wait(4 * PATIENCE)
        return FOUND


@pytest.fixture
def name_server(monkeypatch: pytest.MonkeyPatch) -> Iterator[NameServer]:
    server = NameServer()
    monkeypatch.setattr(socket, "getaddrinfo", server.look_up)
    yield server
    server.goes_on.set()


async def test_a_silent_name_server_takes_no_thread_from_files_and_models(name_server: NameServer) -> None:
    use_own_lookup_threads()
    hanging = [
        asyncio.create_task(asyncio.open_connection(f"host{number}.example", 80))
        for number in range(MORE_THAN_ANY_POOL)
    ]
    await asyncio.to_thread(name_server.was_asked.wait, PATIENCE)
    async with asyncio.timeout(PATIENCE):
        assert await asyncio.to_thread(lambda: "a file") == "a file"
        assert await run_in_model_thread(lambda: "a model") == "a model"
    assert not any(task.done() and not task.exception() for task in hanging)
    assert len(name_server.asked) <= 32
    for task in hanging:
        task.cancel()
    await asyncio.gather(*hanging, return_exceptions=True)


async def test_a_lookup_has_a_deadline_and_says_so(name_server: NameServer) -> None:
    with pytest.raises(socket.gaierror, match="did not answer"):
        await NameLookups(0.1).look_up("silent.example", 80)


async def test_those_who_ask_for_one_name_share_one_lookup_and_its_answer(name_server: NameServer) -> None:
    lookups = NameLookups(PATIENCE)
    asking = [asyncio.create_task(lookups.look_up("silent.example", 80)) for _ in range(50)]
    await asyncio.to_thread(name_server.was_asked.wait, PATIENCE)
    name_server.goes_on.set()
    assert await asyncio.gather(*asking) == [FOUND] * 50
    assert await lookups.look_up("silent.example", 80) == FOUND
    assert name_server.asked == {"silent.example": 1}


async def test_an_older_answer_serves_while_the_name_server_is_silent(name_server: NameServer) -> None:
    lookups = NameLookups(0.1, kept_seconds=0)
    name_server.goes_on.set()
    assert await lookups.look_up("silent.example", 80) == FOUND
    name_server.goes_on.clear()
    assert await lookups.look_up("silent.example", 80) == FOUND
    assert name_server.asked == {"silent.example": 2}


async def test_a_lookup_that_was_given_up_by_one_still_answers_the_others(name_server: NameServer) -> None:
    lookups = NameLookups(PATIENCE)
    given_up, other = (asyncio.create_task(lookups.look_up("silent.example", 80)) for _ in range(2))
    await asyncio.to_thread(name_server.was_asked.wait, PATIENCE)
    given_up.cancel()
    await asyncio.gather(given_up, return_exceptions=True)
    name_server.goes_on.set()
    assert await other == FOUND


async def test_addresses_are_not_looked_up() -> None:
    found = await NameLookups(PATIENCE).look_up("127.0.0.1", 80, type=socket.SOCK_STREAM)
    assert [sockaddr for *_, sockaddr in found] == [("127.0.0.1", 80)]


def test_a_server_answers_while_the_name_server_is_silent(tmp_path: Path, name_server: NameServer) -> None:
    with served(tmp_path) as server, server.client() as client:
        brought = client.post("/api/v1/tables", json={"name": "t", "rows": [{"A": "x"}]}).raise_for_status()
        asked: list[asyncio.Task[list[str]]] = []

        async def hang(_: object) -> None:
            asked.extend(
                asyncio.create_task(resolve_by_system(f"host{number}.example", 80))
                for number in range(MORE_THAN_ANY_POOL)
            )

        server.do(hang)
        assert name_server.was_asked.wait(PATIENCE)
        table_id = brought.json()["table_id"]
        assert client.get(f"/api/v1/tables/{table_id}/rows").json()["rows"][0]["cells"]["A"]["value"] == "x"
        assert client.get("/health").status_code == 200
        assert not name_server.goes_on.is_set()
        name_server.goes_on.set()

        async def answers(_: object) -> list[Any]:
            return await asyncio.gather(*asked, return_exceptions=True)

        server.do(answers)
