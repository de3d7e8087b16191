"""Small databases as released versions made them, one for each version and kind of database.

They were made with the commands of that version: a formula computed and applied, a cell flagged, a column filled from
the sample web and kept for review, a document read and asked about, a research, a user with access to a table.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

from sqlalchemy.engine import make_url

from tablewright.store.database import make_engine

RELEASES = Path(__file__).parent / "releases"
VERSIONS = ("0.1.0", "0.2.0", "0.3.0", "0.3.1")


def load_release(url: str, version: str, *statements: str) -> None:
    """Fill an empty database as `version` left it, and then by more statements in the SQL of that version."""
    kind = make_url(url).get_backend_name()
    script = "\n".join([(RELEASES / f"{version}.{kind}.sql").read_text(encoding="utf-8"), *statements])
    if kind == "sqlite":
        file = sqlite3.connect(str(make_url(url).database))
        file.executescript(script)
        file.close()
        return
    engine = make_engine(url)
    with engine.begin() as connection:
        driver: Any = connection.connection.driver_connection
        driver.execute(script)
        driver.execute("RESET search_path")
    engine.dispose()
