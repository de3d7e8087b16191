"""A PostgreSQL server that goes away and comes back, or fails: a proxy on loopback, in a thread of its own.

with Outage(url) as outage:
    …  # use outage.url
    outage.cut()
    outage.mend()
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Coroutine, Mapping
from types import TracebackType
from typing import Any, Literal

from sqlalchemy import make_url

PATIENCE = 600.0
# The message that asks for it.
COMMIT = b"Q\x00\x00\x00\x0bCOMMIT\x00"
# How the last message of an answer begins; one more byte follows.
READY = b"Z\x00\x00\x00\x05"

When = Literal["before", "after"]


class Outage:
    def __init__(self, url: str) -> None:
        """`url` is the address of the real server, on a Unix socket or a port."""
        self._server = make_url(url)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="outage", daemon=True)
        self._kept = bound(0)  # not listening: while it is cut nobody else gets its port, and who connects is refused
        self._port: int = self._kept.getsockname()[1]
        self._listening: asyncio.Server | None = None
        self._lines: set[asyncio.Task[None]] = set()
        self.commits = 0
        """That were asked for so far."""
        self._faults: dict[int, str] = {}

    @property
    def url(self) -> str:
        """Of the proxy; without encryption, which would hide the commits from it."""
        through = self._server.set(host="127.0.0.1", port=self._port, query={"sslmode": "disable"})
        return through.render_as_string(hide_password=False)

    def cut(self) -> None:
        """All connections break, and new ones are refused, as when the server has been stopped."""
        self._call(self._cut())

    def mend(self) -> None:
        self._call(self._mend())

    def cut_at_commit(self, when: When) -> None:
        """Breaks one connection at the next commit: before the server has it, or after it is done but nobody was told.
        To the client both look the same."""
        self.fail_commits({1: when})

    def fail_commits(self, faults: Mapping[int, str]) -> None:
        """Fails the commits of these numbers from now on: as `cut_at_commit`, or with an SQLSTATE."""
        self._faults = {self.commits + number: fault for number, fault in faults.items()}

    @property
    def faults_left(self) -> int:
        return len(self._faults)

    def lead_to(self, url: str) -> None:
        """New connections reach that server; those that are open stay with the old one."""
        self._server = make_url(url)

    def __enter__(self) -> Outage:
        self._thread.start()
        self.mend()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.cut()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._kept.close()

    def _call(self, doing: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(doing, self._loop).result(PATIENCE)

    async def _mend(self) -> None:
        if self._listening is None:
            self._listening = await asyncio.start_server(self._connected, sock=bound(self._port))

    async def _cut(self) -> None:
        if self._listening is not None:
            self._listening.close()
            self._listening = None
        for line in self._lines:
            line.cancel()
        await asyncio.gather(*self._lines, return_exceptions=True)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = self._loop.create_task(self._carry(reader, writer))
        self._lines.add(line)
        line.add_done_callback(self._lines.discard)

    async def _carry(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, until an end of it closes or it is cut."""
        ends = [writer]
        told_nothing, injected = asyncio.Event(), asyncio.Event()
        try:
            from_server, to_server = await self._connect()
            ends.append(to_server)
            async with asyncio.TaskGroup() as both:
                both.create_task(self._ask(reader, to_server, told_nothing, injected))
                both.create_task(answer(from_server, writer, told_nothing, injected))
        except (OSError, ExceptionGroup):
            pass
        finally:
            for each in ends:
                each.transport.abort()

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        host = str(self._server.query.get("host") or self._server.host or "127.0.0.1")
        port = self._server.port or 5432
        if host.startswith("/"):
            return await asyncio.open_unix_connection(f"{host}/.s.PGSQL.{port}")
        return await asyncio.open_connection(host, port)

    async def _ask(
        self,
        client: asyncio.StreamReader,
        server: asyncio.StreamWriter,
        told_nothing: asyncio.Event,
        injected: asyncio.Event,
    ) -> None:
        while data := await client.read(65_536):
            if data.endswith(COMMIT):
                self.commits += 1
                fault = self._faults.pop(self.commits, "")
                if fault == "before":
                    break
                if fault == "after":
                    told_nothing.set()
                elif fault:
                    injected.set()
                    data = data.removesuffix(COMMIT) + simple_query(fail_at_commit(fault)) + COMMIT
            server.write(data)
            await server.drain()
        raise ConnectionError("the client is gone, or cut off")


async def answer(
    server: asyncio.StreamReader, client: asyncio.StreamWriter, told_nothing: asyncio.Event, injected: asyncio.Event
) -> None:
    """Passes on what the server says, but for its answer to what the client has not asked."""
    kept = b""
    while (data := await server.read(65_536)) and not told_nothing.is_set():
        if injected.is_set():
            kept += data
            _, found, data = kept.partition(READY)
            if not found or not data:
                continue
            kept, data = b"", data[1:]
            injected.clear()
        client.write(data)
        await client.drain()
    raise ConnectionError("the server is gone, or not to be heard")


def bound(port: int) -> socket.socket:
    made = socket.socket()
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.bind(("127.0.0.1", port))
    return made


def raising(state: str) -> str:
    """A statement that fails with that SQLSTATE."""
    return f"DO $$ BEGIN RAISE EXCEPTION 'injected' USING ERRCODE = '{state}'; END $$"


def fail_at_commit(state: str) -> str:
    """Statements after which the COMMIT of their transaction fails with that SQLSTATE."""
    return f"""CREATE TEMPORARY TABLE injected (x INTEGER) ON COMMIT DROP;
        CREATE FUNCTION pg_temp.fail() RETURNS trigger LANGUAGE plpgsql
            AS $f$ BEGIN RAISE EXCEPTION 'injected' USING ERRCODE = '{state}'; END $f$;
        CREATE CONSTRAINT TRIGGER fails AFTER INSERT ON injected DEFERRABLE INITIALLY DEFERRED
            FOR EACH ROW EXECUTE FUNCTION pg_temp.fail();
        INSERT INTO injected VALUES (1)"""


def simple_query(statement: str) -> bytes:
    text = statement.encode() + b"\x00"
    return b"Q" + (len(text) + 4).to_bytes(4) + text
