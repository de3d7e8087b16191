"""Homes whose database has our tables already: a copy of one is made faster than they are."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from tablewright.interfaces.library.verbs import run_in_thread
from tablewright.store.store import Store

DATABASE = "tablewright.db"


def migrate(url: str) -> None:
    """Also for a test that runs in a loop of its own."""

    async def open_and_close() -> None:
        async with await Store.open(url):
            pass

    run_in_thread(open_and_close())


@cache
def template() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="tablewright-home-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    migrate(f"sqlite:///{folder / DATABASE}")
    return folder / DATABASE


def new_home(home: Path) -> Path:
    """As somebody leaves it who has opened Tablewright once."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    if not (home / DATABASE).exists():
        shutil.copyfile(template(), home / DATABASE)
        (home / DATABASE).chmod(0o600)
    return home
