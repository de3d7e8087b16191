"""A PostgreSQL server that goes away in the middle, and comes back or does not."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence

import pytest
from sqlalchemy import Connection, create_engine, make_url

from tablewright.domain.fieldspec import parse_field
from tablewright.domain.model import Cell, Evidence, Field, Finding, Row, make_given_cell
from tablewright.domain.run import Progress
from tablewright.engine.fill import FillRun
from tablewright.engine.policy import FillPlan
from tablewright.errors import StoreError
from tablewright.store.store import Store
from tablewright.strategies.strategy import Answer, Strategy, Task, Tell, Tools
from tests.patience import PATIENCE
from tests.store.outage import Outage, When

FIELDS = (Field(name="Name"), Field(name="Value", type="number"))
ROWS = [(make_given_cell(f"row {number}"), make_given_cell(number)) for number in range(1, 121)]


@pytest.fixture
def outage(postgres_url: str) -> Iterator[Outage]:
    with Outage(postgres_url) as proxy:
        yield proxy


@pytest.fixture
async def store(outage: Outage) -> AsyncIterator[Store]:
    async with await Store.open(outage.url, patience=2 * PATIENCE) as opened:
        yield opened


def add_one(connection: Connection) -> None:
    connection.exec_driver_sql("UPDATE counter SET count = count + 1")


def count(connection: Connection) -> object:
    return connection.exec_driver_sql("SELECT count FROM counter").scalar()


@pytest.fixture
async def counted(store: Store) -> Store:
    """With a table in which a work that is done twice shows."""

    def make(connection: Connection) -> None:
        connection.exec_driver_sql("CREATE TABLE counter AS SELECT 0 AS count")

    await store.database.write(make)
    return store


async def test_reads_and_writes_wait_until_the_server_is_back(counted: Store, outage: Outage) -> None:
    database = counted.database
    began = time.monotonic()
    outage.cut()
    asyncio.get_running_loop().call_later(0.7, outage.mend)
    await asyncio.gather(
        database.read(count), database.read_record(count), *(database.write(add_one) for _ in range(20))
    )
    assert time.monotonic() >= began + 0.7
    assert await database.read(count) == 20


async def test_a_connection_that_is_lost_in_the_middle_of_the_work_begins_it_again(
    counted: Store, outage: Outage
) -> None:
    begun = 0

    def work(connection: Connection) -> None:
        nonlocal begun
        begun += 1
        add_one(connection)
        if begun == 1:
            outage.cut()
            outage.mend()
        add_one(connection)

    await counted.database.write(work)
    assert begun == 2
    assert await counted.database.read(count) == 2


async def test_a_server_that_ends_its_sessions_is_asked_again(counted: Store, postgres_url: str) -> None:
    begun = 0

    def work(connection: Connection) -> object:
        nonlocal begun
        begun += 1
        if begun == 1:
            end_sessions(postgres_url)
        return count(connection)

    assert await counted.database.read(work) == 0
    assert begun == 2


def end_sessions(url: str) -> None:
    engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.exec_driver_sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        ).all()
    engine.dispose()


async def test_an_outage_longer_than_the_patience_is_told_with_its_length(counted: Store, outage: Outage) -> None:
    counted.database.patience = 0.6
    outage.cut()
    began = time.monotonic()
    with pytest.raises(StoreError, match=r"did not come back in \d+\.\d s .*Nothing of the unfinished change"):
        await counted.database.write(add_one)
    assert time.monotonic() >= began + 0.6
    counted.database.patience = PATIENCE
    outage.mend()
    await counted.database.write(add_one)
    assert await counted.database.read(count) == 1, "the pool has fresh connections"


async def test_without_patience_nobody_waits(counted: Store, outage: Outage) -> None:
    counted.database.patience = 0
    outage.cut()
    with pytest.raises(StoreError, match="cannot be reached"):
        await counted.database.read(count)


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_commit_in_doubt_counts_once_whether_it_was_done_or_not(
    counted: Store, outage: Outage, when: When
) -> None:
    outage.cut_at_commit(when)
    await counted.database.write(add_one)
    assert await counted.database.read(count) == 1


@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_commit_in_doubt_is_said_where_nobody_waits_for_the_server(
    counted: Store, outage: Outage, when: When
) -> None:
    counted.database.patience = 0
    outage.cut_at_commit(when)
    with pytest.raises(StoreError, match="may have been written or not"):
        await counted.database.write(add_one)


@pytest.mark.parametrize(("when", "done"), [("before", 1), ("after", 2)])
async def test_a_commit_in_doubt_is_repeated_where_that_is_harmless(
    counted: Store, outage: Outage, when: When, done: int
) -> None:
    """It was said to be, of something that shows how often it was done."""
    outage.cut_at_commit(when)
    await counted.database.write(add_one, repeatable=True)
    assert await counted.database.read(count) == done


async def test_a_commit_stays_in_doubt_when_the_server_does_not_come_back(counted: Store, outage: Outage) -> None:
    counted.database.patience = 0.3
    begun = 0

    def work(connection: Connection) -> None:
        nonlocal begun
        begun += 1
        add_one(connection)
        if begun == 2:
            outage.cut()
            add_one(connection)

    outage.cut_at_commit("after")
    with pytest.raises(StoreError, match="may have been written or not"):
        await counted.database.write(work, repeatable=True)


async def test_a_refusal_is_told_at_once(store: Store, postgres_url: str) -> None:
    nowhere = make_url(postgres_url).set(database="nowhere").render_as_string(hide_password=False)
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(StoreError, match="does not exist"):
            await Store.open(nowhere, patience=2 * PATIENCE)
        with pytest.raises(StoreError, match="The database refused"):
            await store.database.read(lambda connection: connection.exec_driver_sql("SELECT nonsense"))


async def test_a_store_can_be_opened_before_its_server_is_up(outage: Outage) -> None:
    outage.cut()
    asyncio.get_running_loop().call_later(0.5, outage.mend)
    async with await Store.open(outage.url, patience=PATIENCE) as store:
        assert await store.tables.all() == []


async def test_closing_does_not_wait_for_the_server(store: Store, outage: Outage) -> None:
    table = await store.tables.create("t", FIELDS, ROWS)
    outage.cut()
    await store.cache.put("model", "k", b"bought")
    waiting = [asyncio.create_task(store.tables.load(table.id)) for _ in range(3)]
    await asyncio.sleep(0.2)
    async with asyncio.timeout(PATIENCE):
        await store.close()
    results = await asyncio.gather(*waiting, return_exceptions=True)
    assert all(isinstance(result, StoreError) for result in results)


async def test_an_answer_that_was_bought_during_the_outage_is_kept(
    store: Store, outage: Outage, postgres_url: str
) -> None:
    outage.cut()
    await store.cache.put("model", "k", b"bought")
    asyncio.get_running_loop().call_later(0.5, outage.mend)
    await store.cache.settle()
    async with await Store.open(postgres_url) as other:
        assert await other.cache.get("model", "k") == b"bought"


async def test_rows_that_come_from_a_file_are_not_asked_for_twice(store: Store, outage: Outage) -> None:
    """What was read of it before the connection was lost would be missing the second time."""

    def rows(cut_at: int) -> Iterator[Sequence[Cell]]:
        for number, row in enumerate(ROWS):
            if number == cut_at:
                outage.cut()
                outage.mend()
            yield row

    with pytest.raises(StoreError, match="Nothing of the unfinished change was written"):
        await store.tables.create("t", FIELDS, rows(60))
    assert await store.tables.all() == []
    outage.cut()
    asyncio.get_running_loop().call_later(0.5, outage.mend)
    table = await store.tables.create("t", FIELDS, rows(-1))
    assert await store.tables.count(table.id) == len(ROWS), "who has not begun yet waits as all do"


async def test_rows_that_were_handed_on_are_not_handed_on_twice(store: Store, outage: Outage) -> None:
    table = await store.tables.create("t", FIELDS, ROWS)
    taken: list[Row] = []

    def take(rows: Sequence[Row]) -> None:
        taken.extend(rows)
        outage.cut()
        outage.mend()

    with pytest.raises(StoreError, match="was lost"):
        await store.tables.stream(table.id, take)
    assert len(taken) == len(ROWS)


class Paced(Strategy):
    """Answers a few rows at a time, and counts how often it was asked for each."""

    name, display_name, concurrency = "paced", "Paced", 4

    def __init__(self) -> None:
        self.asked: list[int] = []

    def prepare(self, task: Task, tools: Tools) -> Answer:
        async def answer(row: Row, tell: Tell) -> Sequence[Finding]:
            self.asked.append(row.id)
            await asyncio.sleep(0.01)
            quote = (Evidence(origin="https://a.example", quote=f"it is {row.id}"),)
            return [Finding(field="X", value=str(row.id), confidence=0.9, evidence=quote)]

        return answer


def at(done: int, then: Callable[[], object]) -> Callable[[Progress], None]:
    waiting = [then]

    def watch(news: Progress) -> None:
        if news.done >= done and waiting:
            waiting.pop()()

    return watch


async def test_a_run_goes_on_when_the_server_is_back_and_nothing_is_lost_or_doubled(
    store: Store, outage: Outage
) -> None:
    table = await store.tables.create("t", FIELDS, ROWS, key_field="Name")
    strategy = Paced()

    def go_away() -> None:
        outage.cut()
        asyncio.get_running_loop().call_later(0.7, outage.mend)

    filled = await FillRun(store, FillPlan(table, [parse_field("X=?")], strategy), watch=at(40, go_away)).run()
    assert (filled.status, filled.rows, filled.found) == ("done", 120, 120)
    assert sorted(strategy.asked) == list(range(1, 121)), "each was asked for once"
    operations = await store.proposals.operations(filled.proposal_id)
    assert [(each.row_id, each.cell.value) for each in operations] == [(id, str(id)) for id in range(1, 121)]
    assert (await store.proposals.get(filled.proposal_id)).status == "open"
    assert (await store.runs.get(filled.run_id)).status == "done"
    assert (await store.proposals.apply(filled.proposal_id)).cells == 120
    assert await store.log.problems(table.id) == []
