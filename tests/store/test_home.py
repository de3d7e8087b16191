"""What is kept is for its owner alone."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from tablewright.services import Services
from tablewright.settings import Settings
from tablewright.store.database import make_home


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def test_a_new_home_and_its_files_are_private(tmp_path: Path) -> None:
    home = tmp_path / "deep" / "home"
    async with Services.open(Settings(home=str(home))) as services:
        await services.store.users.add("ann", "viewer")
        await services.jobs.schedules()
        kept = {each.name: mode(each) for each in home.iterdir()}
    assert mode(home) == 0o700
    assert {"tablewright.db", "tablewright.db-wal", "tablewright.db-shm", "jobs.db"} <= set(kept)
    assert set(kept.values()) == {0o600}


async def test_an_older_home_is_made_private_when_it_is_opened(tmp_path: Path) -> None:
    async with Services.open(Settings(home=str(tmp_path))):
        pass
    tmp_path.chmod(0o755)
    for name in ("tablewright.db", "tablewright.db-wal", "tablewright.db-shm", "jobs.db", "jobs.db-wal"):
        (tmp_path / name).touch()
        (tmp_path / name).chmod(0o644)
    (tmp_path / "uploads").mkdir(mode=0o755)
    (tmp_path / "notes.txt").write_text("not ours")
    (tmp_path / "notes.txt").chmod(0o644)
    make_home(tmp_path)
    assert mode(tmp_path) == 0o700
    assert mode(tmp_path / "uploads") == 0o700
    assert {mode(each) for each in tmp_path.glob("*.db*")} == {0o600}
    assert mode(tmp_path / "notes.txt") == 0o644


@pytest.mark.parametrize("rights", [0o1777, 0o755])
def test_a_folder_that_is_shared_or_full_of_other_things_stays_as_it_is(tmp_path: Path, rights: int) -> None:
    (tmp_path / "other.txt").write_text("not ours")
    tmp_path.chmod(rights)
    make_home(tmp_path)
    assert mode(tmp_path) == rights
