"""Table files made to harm whoever opens them are refused with a sentence, and nothing of them is kept."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from tablewright.domain.files import FileOptions
from tablewright.errors import BadFile
from tablewright.sandbox.limits import SandboxLimits
from tablewright.store.store import Store
from tablewright.workflows import files
from tablewright.workflows.files import create_table_from_file
from tests.hostile import MB, endless_parquet, swelling_parquet, swelling_workbook, unharmed, written


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with await Store.open(f"sqlite:///{tmp_path / 'tablewright.db'}") as opened:
        yield opened


@pytest.mark.parametrize(
    ("name", "made", "sentence"),
    [
        ("shared.xlsx", swelling_workbook, "needs more memory"),
        ("dictionary.parquet", swelling_parquet, "needs more memory"),
        ("endless.parquet", endless_parquet, "took longer than 3 s"),
        ("disguised.csv", swelling_workbook, "needs more memory"),
    ],
)
async def test_a_file_that_swells_costs_itself_only(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, made: Callable[[], bytes], sentence: str
) -> None:
    seconds = 3 if name.startswith("endless") else 120
    monkeypatch.setattr(files, "IMPORT_LIMITS", SandboxLimits(seconds=seconds, memory=1_200 * MB))
    path = written(tmp_path, name, made())
    assert path.stat().st_size < 200_000
    async with unharmed():
        with pytest.raises(BadFile, match=sentence):
            await create_table_from_file(store, path, FileOptions())
    assert await store.tables.all() == []


async def test_rows_that_share_their_text_are_counted_each(store: Store, tmp_path: Path) -> None:
    """Small enough to be opened, and yet thousands of times as much on the disk as in the file."""
    path = written(tmp_path, "shared.xlsx", swelling_workbook(rows=600, length=100_000))
    with pytest.raises(BadFile, match="more than 200 times its size"):
        await create_table_from_file(store, path, FileOptions(header=False))
    assert await store.tables.all() == []


async def test_json_as_deep_as_you_like_is_refused(store: Store, tmp_path: Path) -> None:
    path = written(tmp_path, "deep.json", b'[{"a":' + b"[" * 2_000_000)
    with pytest.raises(BadFile, match="too deep"):
        await create_table_from_file(store, path, FileOptions())
    assert await store.tables.all() == []
