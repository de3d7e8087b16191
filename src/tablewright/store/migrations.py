"""Bring a database to the declared schema, whichever released version made it.

Missing tables, columns and indexes are found by comparing the database with `schema`, so they are declared there alone.
`DATA_MIGRATIONS` moves what older versions stored elsewhere. An entry never changes once it is released.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, Table, inspect, text
from sqlalchemy.schema import CreateColumn

from tablewright.errors import StoreError
from tablewright.store import schema
from tablewright.store.records import acquire_advisory_lock

# The first line of a statement for one kind of database alone.
SQLITE, POSTGRESQL = "-- sqlite\n", "-- postgresql\n"


def append_only_triggers(table: str) -> tuple[str, ...]:
    """Return statements that forbid changing or deleting rows of a table, for any client."""
    refusal = f"{table} is append-only"
    function = f"{table}_is_append_only"
    return (
        *(
            f"""{SQLITE}CREATE TRIGGER {table}_no_{what.lower()} BEFORE {what} ON {table}
                BEGIN SELECT RAISE(ABORT, '{refusal}'); END"""
            for what in ("UPDATE", "DELETE")
        ),
        # INSERT OR REPLACE deletes without firing the trigger above.
        f"""{SQLITE}CREATE TRIGGER {table}_no_replace BEFORE INSERT ON {table}
            WHEN EXISTS (SELECT 1 FROM {table} WHERE no = NEW.no)
            BEGIN SELECT RAISE(ABORT, '{refusal}'); END""",
        f"""{POSTGRESQL}CREATE FUNCTION {function}() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN RAISE EXCEPTION ''{refusal}''; END'""",
        f"""{POSTGRESQL}CREATE TRIGGER {table}_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON {table}
            FOR EACH STATEMENT EXECUTE FUNCTION {function}()""",
    )


def count_stored_bytes() -> tuple[str, ...]:
    """Return statements that count the stored bytes of everything that has an owner. From then on the ledger keeps
    count."""
    of_table = (
        ("rows.given", "rows WHERE rows.table_no = tables.no"),
        ("cells.cell", "cells WHERE cells.table_no = tables.no"),
        ("edits.before", "edits WHERE edits.table_no = tables.no"),
        ("edits.after", "edits WHERE edits.table_no = tables.no"),
        *(
            (
                f"{table}.{column}",
                f"{table} JOIN {of} ON {of}.id = {table}.{of[:-1]}_id WHERE {of}.table_no = tables.no",
            )
            for table, column, of in (
                ("operations", "cell", "proposals"),
                ("operations", "steps", "proposals"),
                ("operations", "edited", "proposals"),
                ("attempts", "attempt", "runs"),
                ("run_events", "event", "runs"),
            )
        ),
    )
    # Written out, not taken from `schema`: an entry must not change when the code does.
    first = "CAST(documents.no AS BIGINT) * 16777216"
    of_document = (
        ("segments.text", f"segments WHERE segments.id BETWEEN {first} AND {first} + 16777215"),
        ("words.postings", "words WHERE words.document_no = documents.no"),
        ("words.lengths", "words WHERE words.document_no = documents.no"),
        ("vectors.matrix", "vectors WHERE vectors.document_no = documents.no"),
    )
    head = (("researches.brief", ""), ("researches.report", ""), ("researches.answered", ""))
    rounds = ("research_rounds.content", "research_rounds WHERE research_rounds.research_id = researches.id")
    turns = ("turns.turn", "turns WHERE turns.conversation_id = conversations.id")
    rows = ("result_rows.content", "result_rows WHERE result_rows.result_id = results.id")
    return (
        count_bytes_of_kind("table", "tables", of_table),
        SQLITE
        + count_bytes_of_kind("document", "documents", of_document, "json_extract(documents.document, '$.size')"),
        POSTGRESQL
        + count_bytes_of_kind(
            "document", "documents", of_document, "CAST(CAST(documents.document AS json) ->> 'size' AS BIGINT)"
        ),
        count_bytes_of_kind("conversation", "conversations", (turns,)),
        count_bytes_of_kind("result", "results", (rows,)),
        count_bytes_of_kind("research", "researches", (*head, rounds)),
        count_bytes_of_kind("shortlist", "shortlists", (("shortlists.state", ""),)),
    )


def count_bytes_of_kind(kind: str, table: str, parts: Sequence[tuple[str, str]], more: str = "0") -> str:
    """Return a statement that counts the bytes of one kind of thing. `parts` are columns, each with the rows that
    belong to a thing, or "" for a column of the thing itself."""
    sums = [f"(SELECT sum(length({column})) FROM {rows})" if rows else f"length({column})" for column, rows in parts]
    total = " + ".join(f"coalesce({each}, 0)" for each in (*sums, more))
    own = f"FROM {table} WHERE {table}.id = shares.thing_id"
    return (
        f"UPDATE shares SET bytes = (SELECT {total} {own}) WHERE kind = '{kind}' AND owns AND EXISTS (SELECT 1 {own})"
    )


def count_table_bytes() -> str:
    """Return a statement that counts the stored bytes of the tables that have an owner."""
    numbers = " UNION ".join(
        (
            "SELECT before FROM edits WHERE table_no = tables.no",
            "SELECT after FROM edits WHERE table_no = tables.no",
            "SELECT cell FROM cells WHERE table_no = tables.no",
            *(
                f"SELECT {column} FROM operations JOIN proposals ON proposals.id = operations.proposal_id "
                "WHERE proposals.table_no = tables.no"
                for column in ("cell", "edited")
            ),
        )
    )
    return count_bytes_of_kind(
        "table",
        "tables",
        (
            ("rows.given", "rows WHERE rows.table_no = tables.no"),
            ("contents.text", f"contents WHERE contents.no IN ({numbers})"),
            ("origins.cell", "origins WHERE origins.table_no = tables.no"),
            ("origins.steps", "origins WHERE origins.table_no = tables.no"),
            *(
                (column, f"{table} JOIN {of} ON {of}.id = {table}.{of[:-1]}_id WHERE {of}.table_no = tables.no")
                for column, table, of in (
                    ("operations.steps", "operations", "proposals"),
                    ("attempts.attempt", "attempts", "runs"),
                    ("run_events.event", "run_events", "runs"),
                )
            ),
        ),
    )


def number_contents() -> tuple[str | Table, ...]:
    """Return steps that store each content once per row, under a number, where the tables had its text."""
    of_proposals = "old_operations JOIN proposals ON proposals.id = old_operations.proposal_id"
    texts = (
        ("table_no, coalesce(row_id, 0) AS row_id, before", "old_edits"),
        ("table_no, coalesce(row_id, 0), after", "old_edits"),
        ("table_no, row_id, cell", "old_cells"),
        ("proposals.table_no, row_id, cell", of_proposals),
        ("proposals.table_no, row_id, edited", of_proposals),
    )
    every_text = " UNION ".join(f"SELECT {columns} AS text FROM {source}" for columns, source in texts)

    def numbered(name: str, table_no: str, column: str) -> str:
        same_row = f"{name}.table_no = {table_no} AND {name}.row_id = coalesce(old.row_id, 0)"
        return f"LEFT JOIN old_texts {name} ON {same_row} AND {name}.text = {column}"

    return (
        *(f"CREATE TABLE old_{table} AS SELECT * FROM {table}" for table in ("edits", "cells", "operations")),
        *(f"DROP TABLE {table}" for table in ("edits", "cells", "operations")),
        schema.edits,
        schema.cells,
        schema.operations,
        f"""CREATE TABLE old_texts AS SELECT row_number() OVER (ORDER BY table_no, row_id) AS no, table_no, row_id, text
            FROM ({every_text}) AS every_text WHERE text IS NOT NULL""",
        f"{SQLITE}CREATE INDEX old_texts_by_text ON old_texts (table_no, row_id)",
        f"{POSTGRESQL}ANALYZE old_texts",
        "INSERT INTO contents (no, text) SELECT no, text FROM old_texts",
        f"{POSTGRESQL}SELECT setval(pg_get_serial_sequence('contents', 'no'), (SELECT count(*) + 1 FROM contents))",
        f"""INSERT INTO edits (table_no, seq, kind, row_id, field_id, before, after)
            SELECT old.table_no, seq, kind, old.row_id, field_id, b.no, a.no FROM old_edits old
            {numbered("b", "old.table_no", "old.before")} {numbered("a", "old.table_no", "old.after")}""",
        f"""INSERT INTO cells (table_no, row_id, field_id, status, cell)
            SELECT old.table_no, old.row_id, field_id, status, c.no FROM old_cells old
            {numbered("c", "old.table_no", "old.cell")}""",
        f"""INSERT INTO operations (proposal_id, row_id, field, attempt, as_of, status, confidence, cell, decision,
                change, steps, edited)
            SELECT proposal_id, old.row_id, field, attempt, as_of, old.status, confidence, c.no, decision, change,
                steps, e.no FROM old_operations old JOIN proposals ON proposals.id = old.proposal_id
            {numbered("c", "proposals.table_no", "old.cell")} {numbered("e", "proposals.table_no", "old.edited")}""",
        *(f"DROP TABLE old_{table}" for table in ("edits", "cells", "operations", "texts")),
        count_table_bytes(),
        """UPDATE spent SET amount = (SELECT coalesce(sum(bytes), 0) FROM shares
            WHERE owns AND shares.user_id = spent.user_id) WHERE what = 'disk'""",
    )


# The conversion of data from older versions, by the schema version that introduced the new form.
DATA_MIGRATIONS: dict[int, tuple[str | Table, ...]] = {
    11: (
        # The maker of a table owns it; its readers saw its researches and shortlists; everyone saw all documents.
        """INSERT INTO shares (kind, thing_id, user_id, owns)
            SELECT 'table', grants.table_id, grants.user_id, EXISTS (
                SELECT 1 FROM tables JOIN changes ON changes.table_no = tables.no AND changes.change = 1
                JOIN users ON users.name = changes.actor
                WHERE tables.id = grants.table_id AND users.id = grants.user_id
            ) FROM grants""",
        """INSERT INTO shares (kind, thing_id, user_id, owns)
            SELECT 'research', researches.id, shares.user_id, shares.owns
            FROM researches JOIN shares ON shares.kind = 'table' AND shares.thing_id = researches.table_id""",
        """INSERT INTO shares (kind, thing_id, user_id, owns)
            SELECT 'shortlist', shortlists.id, shares.user_id, shares.owns
            FROM shortlists JOIN shares ON shares.kind = 'table' AND shares.thing_id = shortlists.table_id""",
        """INSERT INTO shares (kind, thing_id, user_id, owns)
            SELECT 'document', id, '*', false FROM documents""",
        "DROP TABLE grants",
        "INSERT INTO table_ids (id) SELECT id FROM tables",
    ),
    13: (
        """INSERT INTO tokens (id, user_id, name, hash, scopes, created_at, expires_at, last_used_at)
            SELECT 'k' || substr(id, 2), id, '', token_hash, 'read write run admin', created_at, '', '' FROM users""",
        # SQLite cannot drop a unique column, so the table is rebuilt.
        "CREATE TABLE people AS SELECT id, name, role, created_at FROM users",
        "DROP TABLE users",
        schema.users,
        "INSERT INTO users (id, name, role, created_at) SELECT id, name, role, created_at FROM people",
        "DROP TABLE people",
    ),
    19: (
        # The makers of existing links are unknown: they count as the owner's.
        """UPDATE users SET link_by = 'owner' WHERE role = 'viewer' AND EXISTS (
            SELECT 1 FROM shares WHERE shares.user_id = users.id
            AND users.name LIKE 'link-' || substr(shares.thing_id, 1, 30) || '-%'
        )""",
    ),
    21: (
        *count_stored_bytes(),
        """INSERT INTO spent (user_id, month, what, amount, held)
            SELECT user_id, '', 'disk', sum(bytes), 0 FROM shares WHERE owns GROUP BY user_id""",
    ),
    22: number_contents(),
}
# Increase it with every entry of DATA_MIGRATIONS, and with every added table or column.
SCHEMA_VERSION = 22


def migrate_schema(connection: Connection) -> None:
    """Bring the database up to date, in the transaction of `connection`."""
    # CREATE TABLE IF NOT EXISTS races in PostgreSQL: two processes that start together would both create.
    acquire_advisory_lock(connection, "tablewright migrations")
    connection.execute(text("CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)"))
    found = connection.scalar(text("SELECT max(version) FROM schema_version"))
    version = int(found or 0)
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"The database has schema version {version}; this Tablewright knows versions up to {SCHEMA_VERSION}.",
            kept="Nothing was changed.",
            advice="Upgrade Tablewright, or point TABLEWRIGHT_HOME or TABLEWRIGHT_DATABASE_URL elsewhere.",
        )
    # The usual start: one query, no inspection.
    if version == SCHEMA_VERSION:
        return
    create_missing(connection)
    if version:
        for number in range(version + 1, SCHEMA_VERSION + 1):
            # After all new tables exist, in the order of versions.
            execute_all(connection, DATA_MIGRATIONS.get(number, ()))
    connection.execute(text("INSERT INTO schema_version (version) VALUES (:version)"), {"version": SCHEMA_VERSION})


def create_missing(connection: Connection) -> None:
    """Create the declared tables, columns and indexes that are missing."""
    there = inspect(connection)
    known = set(there.get_table_names())
    for table in schema.metadata.sorted_tables:
        if table.info["only"] not in ("", connection.dialect.name):
            continue
        if table.name not in known:
            table.create(connection)
            if table is schema.corpus:
                connection.execute(schema.corpus.insert().values(version=0))
            elif table is schema.audit:
                execute_all(connection, append_only_triggers("audit"))
            continue
        # An older version made the table with fewer columns or indexes.
        columns = {each["name"] for each in there.get_columns(table.name)}
        for column in table.columns:
            if column.name not in columns:
                added = CreateColumn(column).compile(dialect=connection.dialect)
                connection.exec_driver_sql(f"ALTER TABLE {table.name} ADD COLUMN {added}")
        indexes = {each["name"] for each in there.get_indexes(table.name)}
        for index in table.indexes:
            if index.name not in indexes:
                index.create(connection)


def execute_all(connection: Connection, steps: Sequence[str | Table]) -> None:
    """Create tables and execute statements, except those for the other database."""
    other = POSTGRESQL if connection.dialect.name == "sqlite" else SQLITE
    for step in steps:
        if isinstance(step, Table):
            step.create(connection)
        elif not step.startswith(other):
            connection.execute(text(step))
