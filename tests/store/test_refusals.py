"""A disk that is full, a file that cannot be written, read or understood: said clearly, and nothing is damaged."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection, event

from tablewright.domain.edits import SetCell
from tablewright.domain.fieldspec import parse_field
from tablewright.domain.model import Cell, Field
from tablewright.domain.model import make_given_cell as given_cell
from tablewright.engine.fill import FillRun
from tablewright.engine.policy import FillPlan
from tablewright.engine.write_buffer import MAX_BUFFERED_CELLS
from tablewright.errors import StoreError
from tablewright.store.store import Store
from tablewright.strategies.computation import ComputationStrategy

FIELDS = (Field(name="Name"), Field(name="Value", type="number"))
DOUBLE = parse_field("Double:number={Value} * 2")
EDIT = SetCell(row_id=1, field="Value", cell=given_cell(2))
NOBODY = 65_534


def rows(count: int) -> list[Sequence[Cell]]:
    return [(given_cell(f"row {number}"), given_cell(number)) for number in range(1, count + 1)]


async def made(path: Path, count: int = 3) -> str:
    url = f"sqlite:///{path}"
    async with await Store.open(url) as store:
        await store.tables.create("t", FIELDS, rows(count), key_field="Name")
    return url


class Disk:
    """SQLite itself refuses to let its file grow, on every connection of the store."""

    def __init__(self, store: Store) -> None:
        self._pages = 0
        event.listen(store.database.engine, "begin", self._limit)

    async def fill(self, store: Store, left: int) -> None:
        pages = await store.database.read(lambda c: c.exec_driver_sql("PRAGMA page_count").scalar_one())
        self._pages = pages + left

    def free(self) -> None:
        self._pages = 2**30

    def _limit(self, connection: Connection) -> None:
        if self._pages:
            connection.exec_driver_sql(f"PRAGMA max_page_count = {self._pages}")


async def test_a_disk_that_fills_in_the_middle_of_a_run_costs_only_what_was_not_written(tmp_path: Path) -> None:
    count = 4 * MAX_BUFFERED_CELLS
    url = await made(tmp_path / "tablewright.db", count)
    async with await Store.open(url) as store:
        table, disk = await store.tables.find("t"), Disk(store)
        await disk.fill(store, left=200)
        with pytest.raises(StoreError, match=r"The disk is full. Nothing of the unfinished change"):
            await FillRun(store, FillPlan(table, [DOUBLE], ComputationStrategy())).run()
        (proposal,) = await store.proposals.all()
        written = proposal.counts["with_value"]
        assert 0 < written < count

        disk.free()
        applied = await store.proposals.apply(proposal.id, force=True)
        assert applied.cells == written
        filled = await FillRun(store, FillPlan(await store.tables.find("t"), [DOUBLE], ComputationStrategy())).run()
        assert (filled.status, filled.found, filled.skipped) == ("done", count - written, written)
        assert (await store.proposals.apply(filled.proposal_id)).cells == count - written
        assert await store.log.problems("t") == []
        values = [row.cell("Double").value for row in (await store.tables.load("t")).rows]
        assert values == [2 * number for number in range(1, count + 1)]
    assert sqlite3.connect(tmp_path / "tablewright.db").execute("PRAGMA integrity_check").fetchone() == ("ok",)


async def test_a_server_with_a_full_disk_is_told_from_one_with_another_trouble(postgres_url: str) -> None:
    refuse = "DO $$ BEGIN RAISE EXCEPTION 'plein' USING ERRCODE = '53100'; END $$"
    async with await Store.open(postgres_url, patience=20) as store:
        with pytest.raises(StoreError, match=r"The disk of the database server is full. Nothing of the unfinished"):
            await store.database.write(lambda connection: connection.exec_driver_sql(refuse))


@pytest.fixture
def folder() -> Iterator[Path]:
    """One that everybody may enter, which pytest's own are not."""
    made = Path(tempfile.mkdtemp(prefix="tablewright-"))
    made.chmod(0o755)
    yield made
    made.chmod(0o755)
    shutil.rmtree(made)


@contextmanager
def only_reading(*places: Path) -> Iterator[None]:
    """For who owns them by their permissions, and as somebody else for root, whom these do not bind."""
    before = {place: place.stat().st_mode for place in places}
    for place in places:
        place.chmod(0o555 if place.is_dir() else 0o444)
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)
        for place, mode in before.items():
            place.chmod(mode)


async def test_a_file_that_is_read_only_can_be_read_and_says_so_to_who_writes(folder: Path) -> None:
    path = folder / "tablewright.db"
    url = await made(path)
    folder.chmod(0o777)
    content = path.read_bytes()
    with only_reading(path):
        async with await Store.open(url) as store:
            assert await store.tables.count("t") == 3
            with pytest.raises(StoreError, match=r"is read-only. Nothing of the unfinished change"):
                await store.log.commit("t", [EDIT])
    assert path.read_bytes() == content
    async with await Store.open(url) as store:
        assert await store.log.commit("t", [EDIT]) is not None
        assert await store.tables.count("t") == 3


async def test_a_folder_that_is_read_only_is_said_and_its_file_is_left_alone(folder: Path) -> None:
    path = folder / "tablewright.db"
    url = await made(path)
    content = path.read_bytes()
    with only_reading(path, folder), pytest.raises(StoreError, match=r"read-only|cannot be opened"):
        await Store.open(url)
    assert path.read_bytes() == content
    async with await Store.open(url) as store:
        assert await store.tables.count("t") == 3


async def test_a_new_file_in_a_folder_that_is_read_only_is_not_made(folder: Path) -> None:
    await made(folder / "other.db")
    with only_reading(folder), pytest.raises(StoreError, match=r"cannot be opened.*its folder"):
        await Store.open(f"sqlite:///{folder / 'tablewright.db'}")


async def test_a_file_of_a_newer_version_keeps_every_byte(tmp_path: Path) -> None:
    path = tmp_path / "tablewright.db"
    url = await made(path)
    with sqlite3.connect(path) as newer:
        newer.execute("CREATE TABLE of_the_future (x)")
        newer.execute("INSERT INTO schema_version VALUES (99)")
    newer.close()
    content = path.read_bytes()
    with pytest.raises(StoreError, match=r"schema version 99.*Nothing was changed.*Upgrade"):
        await Store.open(url)
    assert path.read_bytes() == content


@pytest.mark.parametrize("damage", ["overwritten", "cut short"])
async def test_a_damaged_file_is_said_and_a_backup_takes_its_place(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "tablewright.db"
    url = await made(path, 5_000)
    backup = path.read_bytes()
    half = len(backup) // 2
    path.write_bytes(backup[:half] + (b"\xff" * half if damage == "overwritten" else b""))
    with pytest.raises(StoreError, match=r"is damaged.*Restore it from a backup"):
        async with await Store.open(url) as store:
            await store.tables.load("t")
    path.write_bytes(backup)
    async with await Store.open(url) as store:
        assert await store.tables.count("t") == 5_000
        assert await store.log.problems("t") == []
