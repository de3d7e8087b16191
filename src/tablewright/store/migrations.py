"""Ordered migrations. An entry is never changed once released: a new one is added below it.

The statements are the SQL that SQLite and PostgreSQL share; `{serial}`, `{clustered}` and `{blob}` are where they
differ.
"""

from __future__ import annotations

from sqlalchemy import Connection, text

from tablewright.errors import StoreError
from tablewright.store.dialect import take_turns

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE tables (
            no {serial}, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, key_field TEXT NOT NULL, created_at TEXT NOT NULL,
            last_row BIGINT NOT NULL, last_field INTEGER NOT NULL, last_change BIGINT NOT NULL, last_seq BIGINT NOT NULL
        )""",
        """CREATE TABLE fields (
            table_no INTEGER NOT NULL, field_id INTEGER NOT NULL, position DOUBLE PRECISION NOT NULL,
            spec TEXT NOT NULL, removed BOOLEAN NOT NULL, PRIMARY KEY (table_no, field_id)
        )""",
        """CREATE TABLE rows (
            table_no INTEGER NOT NULL, row_id BIGINT NOT NULL, key TEXT NOT NULL, given TEXT NOT NULL,
            removed BOOLEAN NOT NULL, PRIMARY KEY (table_no, row_id)
        ){clustered}""",
        """CREATE TABLE cells (
            table_no INTEGER NOT NULL, row_id BIGINT NOT NULL, field_id INTEGER NOT NULL, status TEXT NOT NULL,
            cell TEXT NOT NULL, PRIMARY KEY (table_no, row_id, field_id)
        ){clustered}""",
        """CREATE TABLE changes (
            table_no INTEGER NOT NULL, change BIGINT NOT NULL, at TEXT NOT NULL, actor TEXT NOT NULL,
            kind TEXT NOT NULL, run_id TEXT, note TEXT NOT NULL, first_seq BIGINT NOT NULL, last_seq BIGINT NOT NULL,
            PRIMARY KEY (table_no, change)
        )""",
        """CREATE TABLE edits (
            table_no INTEGER NOT NULL, seq BIGINT NOT NULL, kind TEXT NOT NULL, row_id BIGINT, field_id INTEGER,
            before TEXT, after TEXT, PRIMARY KEY (table_no, seq)
        ){clustered}""",
        "CREATE INDEX edits_by_cell ON edits (table_no, row_id, field_id, seq)",
        """CREATE TABLE runs (
            id TEXT PRIMARY KEY, table_no INTEGER NOT NULL, kind TEXT NOT NULL, status TEXT NOT NULL,
            spec TEXT NOT NULL, started_at TEXT NOT NULL, finished_at TEXT, usage TEXT NOT NULL, error TEXT
        )""",
        "CREATE INDEX runs_by_table ON runs (table_no, started_at)",
        """CREATE TABLE proposals (
            id TEXT PRIMARY KEY, table_no INTEGER NOT NULL, run_id TEXT NOT NULL, status TEXT NOT NULL,
            reasoning TEXT NOT NULL, fields TEXT NOT NULL, created_at TEXT NOT NULL, decided_at TEXT
        )""",
        "CREATE INDEX proposals_by_table ON proposals (table_no, created_at)",
        """CREATE TABLE operations (
            proposal_id TEXT NOT NULL, row_id BIGINT NOT NULL, field TEXT NOT NULL, attempt INTEGER NOT NULL,
            as_of BIGINT NOT NULL, status TEXT NOT NULL, confidence DOUBLE PRECISION NOT NULL, cell TEXT NOT NULL,
            decision TEXT NOT NULL, change BIGINT, steps TEXT NOT NULL, PRIMARY KEY (proposal_id, row_id, field)
        ){clustered}""",
    ),
    (
        """CREATE TABLE cache (
            kind TEXT NOT NULL, key TEXT NOT NULL, value {blob} NOT NULL, created_at TEXT NOT NULL,
            PRIMARY KEY (kind, key)
        ){clustered}""",
        """CREATE TABLE texts (
            content_hash TEXT PRIMARY KEY, text {blob} NOT NULL
        ){clustered}""",
        """CREATE TABLE pages (
            url TEXT NOT NULL, content_hash TEXT NOT NULL, final_url TEXT NOT NULL, title TEXT NOT NULL,
            domain TEXT NOT NULL, retrieved_at TEXT NOT NULL, checked_at TEXT NOT NULL, etag TEXT NOT NULL,
            last_modified TEXT NOT NULL, extra TEXT NOT NULL, PRIMARY KEY (url, content_hash)
        ){clustered}""",
    ),
    ("ALTER TABLE operations ADD COLUMN edited TEXT",),
    (
        """CREATE TABLE attempts (
            run_id TEXT NOT NULL, row_id BIGINT NOT NULL, number INTEGER NOT NULL, attempt TEXT NOT NULL,
            PRIMARY KEY (run_id, row_id, number)
        ){clustered}""",
    ),
)


def migrate(connection: Connection) -> None:
    """Brings the database up to date, in the transaction of `connection`."""
    sqlite = connection.dialect.name == "sqlite"
    # CREATE TABLE IF NOT EXISTS races in PostgreSQL: two processes that start together would both create.
    take_turns(connection, "tablewright migrations")
    connection.execute(text("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)"))
    found = connection.execute(text("SELECT max(version) FROM schema_version")).scalar()
    version = int(found or 0)
    if version > len(MIGRATIONS):
        raise StoreError(
            f"The database has schema version {version}; this Tablewright knows versions up to {len(MIGRATIONS)}.",
            kept="Nothing was changed.",
            advice="Upgrade Tablewright, or point TABLEWRIGHT_HOME or TABLEWRIGHT_DATABASE_URL elsewhere.",
        )
    for number, statements in enumerate(MIGRATIONS[version:], start=version + 1):
        for statement in statements:
            connection.execute(
                text(
                    statement.format(
                        serial="INTEGER PRIMARY KEY AUTOINCREMENT" if sqlite else "SERIAL PRIMARY KEY",
                        clustered=" WITHOUT ROWID" if sqlite else "",
                        blob="BLOB" if sqlite else "BYTEA",
                    )
                )
            )
        connection.execute(text("INSERT INTO schema_version (version) VALUES (:version)"), {"version": number})
