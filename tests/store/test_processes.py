"""What several processes, and processes that die, do to a database."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import make_url

from tablewright.domain.edits import SetCell
from tablewright.domain.model import Field
from tablewright.domain.model import make_given_cell as given_cell
from tablewright.errors import StoreError
from tablewright.store.store import Store
from tests.patience import PATIENCE

FIELDS = (Field(name="Name"), Field(name="Value", type="number"))
ROOT = Path(__file__).parents[2]


def start_writer(url: str, table_id: str, mode: str, name: str, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.store.writer", url, table_id, mode, name, str(count)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


async def test_two_processes_writing_to_one_table_lose_nothing(store: Store, database_url: str) -> None:
    table_id = (await store.tables.create("t", FIELDS, [])).id
    writers = [start_writer(database_url, table_id, "share", name, 30) for name in ("a", "b")]
    for writer in writers:
        output, _ = writer.communicate(timeout=PATIENCE)
        assert (writer.returncode, output.split()[-1]) == (0, "30")
    table = await store.tables.load(table_id)
    names = sorted(str(row.cell("Name").value) for row in table.rows)
    assert names == sorted(f"{name} {number}" for name in ("a", "b") for number in range(1, 31))
    assert [row.id for row in table.rows] == list(range(1, 61))
    assert len(await store.log.changes(table_id, limit=1_000)) == 61
    assert await store.log.problems(table_id) == []


async def test_a_process_killed_in_the_middle_of_a_commit_leaves_a_consistent_database(
    store: Store, database_url: str
) -> None:
    rows = [(given_cell(f"row {number}"), given_cell(None)) for number in range(200)]
    table_id = (await store.tables.create("t", FIELDS, rows)).id
    chance = random.Random(7)
    for _ in range(3):
        writer = start_writer(database_url, table_id, "all", "w", 1_000_000)
        assert writer.stdout is not None
        first = writer.stdout.readline()
        await asyncio.sleep(chance.uniform(0, 0.05))
        os.kill(writer.pid, signal.SIGKILL)
        seen = int([first, *writer.communicate()[0].split()][-1])
        values = [row.cell("Value").value for row in (await store.tables.load(table_id)).rows]
        assert len(set(values)) == 1, "a commit was written by half"
        assert values[0] >= seen, "a commit that was reported done is gone"  # type: ignore[operator]
        assert await store.log.problems(table_id) == []
    await store.log.commit(table_id, [SetCell(row_id=1, field="Value", cell=given_cell(-1))])
    path = make_url(database_url).database or ""
    if database_url.startswith("sqlite"):
        assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)


async def test_a_store_does_not_block_the_event_loop(tmp_path: Path) -> None:
    """While another process holds the writer's lock, reading and everything else goes on."""
    path = tmp_path / "tablewright.db"
    async with await Store.open(f"sqlite:///{path}") as store:
        table_id = (await store.tables.create("t", FIELDS, [(given_cell("a"), given_cell(1))])).id
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        edit = SetCell(row_id=1, field="Value", cell=given_cell(2))
        waiting = asyncio.create_task(store.log.commit(table_id, [edit]))
        await asyncio.sleep(0.05)
        assert (await store.tables.load(table_id)).rows[0].cell("Value").value == 1
        assert not waiting.done()
        other.execute("COMMIT")
        assert await asyncio.wait_for(waiting, PATIENCE) is not None
        other.close()


async def test_a_database_of_a_newer_version_is_left_alone(database_url: str) -> None:
    async with await Store.open(database_url) as store:
        await store.database.write(lambda c: c.exec_driver_sql("INSERT INTO schema_version VALUES (99)"))
    with pytest.raises(StoreError, match="schema version 99"):
        await Store.open(database_url)


async def test_tables_of_one_name_made_at_once_get_different_ids(store: Store) -> None:
    made = await asyncio.gather(*(store.tables.create("same", FIELDS, []) for _ in range(6)))
    ids = {table.id for table in made}
    assert (len(ids), "same" in ids) == (6, True)


async def test_a_file_name_that_is_no_text_still_names_a_table(store: Store) -> None:
    table = await store.tables.create("caf\udce9\0", FIELDS, [], note="imported caf\udce9.csv")
    assert (await store.tables.find(table.id)).name == "caf?\ufffd"


async def test_two_processes_that_start_together_migrate_once(tmp_path: Path, empty_postgres_url: str) -> None:
    for url in (*(f"sqlite:///{tmp_path / f'new{number}.db'}" for number in range(10)), empty_postgres_url):
        stores = await asyncio.gather(*(Store.open(url) for _ in range(6)))
        for store in stores:
            assert await store.tables.all() == []
            await store.close()


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(b"this is a diary, not a database. " * 40, "is not a Tablewright database")],
)
async def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path, content: bytes, sentence: str) -> None:
    path = tmp_path / "tablewright.db"
    path.write_bytes(content)
    with pytest.raises(StoreError, match=sentence):
        await Store.open(f"sqlite:///{path}")
    assert path.read_bytes() == content


async def test_an_unreachable_server_is_said_without_its_password() -> None:
    with pytest.raises(StoreError) as caught:
        await Store.open("postgresql://ann:s3cret@127.0.0.1:1/nothing")
    assert "cannot be reached" in str(caught.value)
    assert "s3cret" not in str(caught.value)


async def test_a_full_disk_is_said_and_nothing_is_half_written(tmp_path: Path) -> None:
    async with await Store.open(f"sqlite:///{tmp_path / 'tablewright.db'}") as store:
        table_id = (await store.tables.create("t", FIELDS, [(given_cell("a"), given_cell(1))])).id
        pages = await store.database.read(lambda c: c.exec_driver_sql("PRAGMA page_count").scalar())
        large = [(given_cell("x" * 2_000), given_cell(1))] * 500

        def limit(connection: object) -> None:
            connection.exec_driver_sql(f"PRAGMA max_page_count = {pages + 20}")  # type: ignore[attr-defined]

        await store.database.write(limit)
        with pytest.raises(StoreError, match="The disk is full"):
            await store.tables.create("large", FIELDS, large)
        assert [table.id for table in await store.tables.all()] == [table_id]
