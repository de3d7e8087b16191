"""A PostgreSQL server that turns read-only or hands over to another, and every other failure that it can name."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager

import psycopg.errors
import pytest
from sqlalchemy import Connection, make_url

from tablewright.domain.model import Field
from tablewright.errors import DiskFull, StoreError, Unreachable
from tablewright.store.database import MAX_ROLLBACK_RETRIES, Database
from tablewright.store.database_errors import SQLSTATES, UNKNOWN_SQLSTATE, Treatment, judge_sqlstate
from tablewright.store.store import Store
from tests.conftest import run_sql
from tests.patience import PATIENCE
from tests.store.outage import Outage, raising
from tests.store.standby import Pair, failover_pair

# All that PostgreSQL documents.
STATES = sorted(state for state in psycopg.errors._sqlcodes if len(state) == 5)
# One of each class, and each that is decided by itself.
ONE_OF_EACH = sorted({next(state for state in STATES if state.startswith(known)) for known in SQLSTATES})
REPEATED = (Treatment.WAIT, Treatment.REPEAT)
FIELDS = (Field(name="Name"),)


@pytest.fixture
def outage(postgres_url: str) -> Iterator[Outage]:
    with Outage(postgres_url) as proxy:
        yield proxy


@pytest.fixture
async def store(outage: Outage) -> AsyncIterator[Store]:
    async with await Store.open(outage.url, patience=2 * PATIENCE) as opened:
        await opened.database.write(
            lambda connection: connection.exec_driver_sql("CREATE TABLE counter AS SELECT 0 AS count"), repeatable=True
        )
        yield opened


def add_one(connection: Connection) -> None:
    connection.exec_driver_sql("UPDATE counter SET count = count + 1")


def count(connection: Connection) -> int:
    return int(connection.exec_driver_sql("SELECT count FROM counter").scalar_one())


def failing(
    state: str, times: int, work: Callable[[Connection], object]
) -> tuple[Callable[[Connection], None], list[int]]:
    """Work in the middle of which the server raises that state, so many times; and when it was begun."""
    begun: list[int] = []

    def attempt(connection: Connection) -> None:
        begun.append(len(begun))
        work(connection)
        if len(begun) <= times:
            connection.exec_driver_sql(raising(state))

    return attempt, begun


def test_every_sqlstate_is_decided() -> None:
    assert len(STATES) > 250
    assert [state for state in STATES if judge_sqlstate(state) is UNKNOWN_SQLSTATE] == []
    assert [known for known in SQLSTATES if not any(state.startswith(known) for state in STATES)] == []


@pytest.mark.parametrize("how", ["read", "write", "repeatable"])
async def test_whatever_fails_in_the_middle_is_repeated_or_told_and_never_done_twice(store: Store, how: str) -> None:
    database = store.database
    expected = 0
    for state in STATES:
        treatment = judge_sqlstate(state).treatment
        work, begun = failing(state, 1, count if how == "read" else add_one)
        doing = database.read(work) if how == "read" else database.write(work, repeatable=how == "repeatable")
        if treatment in REPEATED:
            await doing
            assert begun == [0, 1], state
            expected += how != "read"
        else:
            with pytest.raises(StoreError, match="Nothing of the unfinished change was written") as told:
                await doing
            assert (begun, type(told.value)) == ([0], DiskFull if state == "53100" else StoreError), state
        assert await database.read(count) == expected, state


async def test_whatever_fails_at_the_commit_is_repeated_or_told_and_never_done_twice(
    store: Store, outage: Outage
) -> None:
    expected = 0
    for state in ONE_OF_EACH:
        outage.fail_commits({1: state})
        if judge_sqlstate(state).treatment in REPEATED:
            await store.database.write(add_one)
            expected += 1
        else:
            with pytest.raises(StoreError, match="Nothing of the unfinished change was written"):
                await store.database.write(add_one)
        assert not outage.faults_left, state
        assert await store.database.read(count) == expected, state


async def test_a_transaction_that_others_always_win_against_ends_with_an_error(store: Store) -> None:
    work, begun = failing("40001", 10 * MAX_ROLLBACK_RETRIES, add_one)
    with pytest.raises(StoreError, match="injected"):
        await store.database.write(work)
    assert len(begun) == MAX_ROLLBACK_RETRIES
    assert await store.database.read(count) == 0


async def test_of_two_that_wait_for_each_other_both_succeed(store: Store) -> None:
    await store.database.write(
        lambda connection: connection.exec_driver_sql(
            "CREATE TABLE pair AS SELECT n, 0 AS count FROM generate_series(1, 2) n"
        )
    )

    def touch(first: int) -> Callable[[Connection], None]:
        def work(connection: Connection) -> None:
            connection.exec_driver_sql("SET LOCAL deadlock_timeout = '10ms'")
            for number in (first, 3 - first):
                connection.exec_driver_sql(f"UPDATE pair SET count = count + 1 WHERE n = {number}")
                connection.exec_driver_sql("SELECT pg_sleep(0.05)")

        return work

    await asyncio.gather(*(store.database.write(touch(1 + number % 2)) for number in range(8)))
    counts = await store.database.read(lambda connection: connection.exec_driver_sql("SELECT count FROM pair").all())
    assert [tuple(each) for each in counts] == [(8,), (8,)]


@pytest.mark.parametrize(("when", "done"), [("before", 0), ("after", 1)])
async def test_what_uses_up_its_input_learns_whether_it_was_committed(
    store: Store, outage: Outage, when: str, done: int
) -> None:
    outage.fail_commits({1: when})
    if done:
        await store.database.write(add_one, once=True)
    else:
        with pytest.raises(StoreError, match="Nothing of the unfinished change was written"):
            await store.database.write(add_one, once=True)
    assert await store.database.read(count) == done


@contextmanager
def read_only(url: str) -> Iterator[None]:
    """New sessions of the database cannot write, as on a standby."""
    name = make_url(url).database
    run_sql(url, f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    try:
        yield
    finally:
        run_sql(url, "SET default_transaction_read_only = off", f"ALTER DATABASE {name} RESET ALL")


async def until_away(database: Database) -> None:
    async with asyncio.timeout(PATIENCE):
        while not database.away_for:  # noqa: ASYNC110 - it is set in the thread of a transaction
            await asyncio.sleep(0.01)


async def test_a_server_that_turns_read_only_is_waited_for(store: Store, postgres_url: str) -> None:
    database, begun = store.database, []
    await asyncio.gather(*(database.write(add_one) for _ in range(8)))  # so that there are several connections

    def demoted(connection: Connection) -> None:
        begun.append(True)
        if len(begun) == 1:
            connection.exec_driver_sql("SET TRANSACTION READ ONLY")
        add_one(connection)

    with read_only(postgres_url):
        waiting = [asyncio.create_task(database.write(demoted))]
        await until_away(database)
        waiting += [asyncio.create_task(database.write(add_one)) for _ in range(3)]
        await asyncio.sleep(0)
        assert not any(task.done() for task in waiting)
    await asyncio.gather(*waiting)
    assert await database.read(count) == 12
    assert not database.away_for


async def test_a_server_that_stays_read_only_is_said(outage: Outage, postgres_url: str) -> None:
    async with await Store.open(outage.url, patience=0.5) as store:
        with read_only(postgres_url):
            outage.cut()
            outage.mend()
            with pytest.raises(Unreachable, match=r"is read-only and did not come back.*Nothing of the unf") as told:
                await store.tables.create("t", FIELDS)
        assert told.value.public == "The database is read-only."


@pytest.fixture(scope="module")
def pair() -> Iterator[Pair]:
    with failover_pair() as made:
        yield made


async def test_after_a_failover_no_connection_to_the_old_server_is_used(pair: Pair) -> None:
    """The old server goes on living and answers what it is asked; only new connections reach the new one."""
    with Outage(pair.primary_url) as line:
        async with await Store.open(line.url, patience=2 * PATIENCE) as store:
            database = store.database
            await database.write(
                lambda connection: connection.exec_driver_sql("CREATE TABLE counter AS SELECT 0 AS count")
            )
            await asyncio.gather(
                *(database.write(add_one) for _ in range(20)), *(database.read(count) for _ in range(20))
            )
            line.lead_to(pair.standby_url)
            # Until it is promoted the standby is all that new connections reach, and it refuses to write.
            run_sql(
                pair.primary_url,
                "ALTER SYSTEM SET synchronous_standby_names = ''",
                "ALTER SYSTEM SET default_transaction_read_only = on",
                "SELECT pg_reload_conf()",
            )
            # A connection learns of it with an answer, and the first may still come from before the reload.
            readings = []
            async with asyncio.timeout(PATIENCE):
                while not database.away_for:
                    readings.append(asyncio.create_task(database.read(count)))
                    await asyncio.wait(readings[-1:], timeout=0.05)
            waiting = [reading for reading in readings if not reading.done()]
            waiting += [asyncio.create_task(database.write(add_one)) for _ in range(10)]
            await asyncio.sleep(0.3)
            assert not any(task.done() for task in waiting)
            pair.promote()
            await asyncio.gather(*waiting)
            counts = await asyncio.gather(*(database.read(count) for _ in range(50)))
            assert set(counts) == {30}, "nothing is read from the old server"
    async with await Store.open(pair.standby_url) as store:
        assert await store.database.read(count) == 30
