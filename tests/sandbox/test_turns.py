"""However many sandboxes there are, only so many workers do the same kind of work at once."""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

import pytest

from tablewright.sandbox import sandbox
from tablewright.sandbox.sandbox import Sandbox

ROOT = Path(__file__).parents[2]
ASKING = 3
LOOKS = 20


def others_at_work(folder: str) -> int:
    """How many are seen at work, this one with them; it looks for all who ask, a while."""
    mark = Path(folder) / str(os.getpid())
    mark.touch()
    seen = 0
    for _ in range(LOOKS):
        seen = max(seen, len([*Path(folder).iterdir()]))
        if seen == ASKING:
            break
        time.sleep(0.02)
    mark.unlink()
    return seen


async def test_those_who_ask_at_the_same_time_wait_for_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(sandbox, "MAX_CALLS_AT_ONCE", 1)

    async def ask() -> int:
        async with Sandbox(workers=1) as own:
            return await own.run("it", others_at_work, str(tmp_path))

    assert await asyncio.gather(*(ask() for _ in range(ASKING))) == [1] * ASKING


async def test_one_person_leaves_a_place_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(sandbox, "MAX_CALLS_AT_ONCE", 2)

    async def ask(person: str) -> int:
        async with Sandbox(workers=1, person=person) as own:
            return await own.run("it", others_at_work, str(tmp_path))

    assert await asyncio.gather(*(ask("kim") for _ in range(ASKING))) == [1] * ASKING
    turns = sandbox._WorkLimiter()
    assert [turns._take("it", name) for name in ("kim", "kim", "lee", "ada")] == [True, False, True, False]


async def test_who_is_cancelled_leaves_the_turn_to_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setattr(sandbox, "MAX_CALLS_AT_ONCE", 1)
    async with Sandbox(workers=2) as own:
        first, second = (asyncio.create_task(own.run("it", others_at_work, str(tmp_path))) for _ in range(2))
        await asyncio.sleep(0)
        for task in (first, second):
            task.cancel()
        await asyncio.gather(first, second, return_exceptions=True)
        for left in tmp_path.iterdir():
            left.unlink()
        assert await own.run("it", others_at_work, str(tmp_path)) == 1
