"""Ordered migrations. An entry is never changed once released: a new one is added below it.

The statements are the SQL that SQLite and PostgreSQL share; `{serial}`, `{long_key}`, `{clustered}` and `{blob}` are
where they differ.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Connection, text

from tablewright.errors import StoreError
from tablewright.store.dialect import take_turns

SQLITE, POSTGRESQL = "-- sqlite\n", "-- postgresql\n"
"""Before a statement that is for one of them alone."""


def append_only(table: str) -> tuple[str, ...]:
    """No row of it is changed or deleted again, whoever asks."""
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


def stored_bytes() -> tuple[str, ...]:
    """Count what is stored of the things that belong to somebody. From here on the ledger counts along."""
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
        count_bytes("table", "tables", of_table),
        SQLITE + count_bytes("document", "documents", of_document, "json_extract(documents.document, '$.size')"),
        POSTGRESQL
        + count_bytes(
            "document", "documents", of_document, "CAST(CAST(documents.document AS json) ->> 'size' AS BIGINT)"
        ),
        count_bytes("conversation", "conversations", (turns,)),
        count_bytes("result", "results", (rows,)),
        count_bytes("research", "researches", (*head, rounds)),
        count_bytes("shortlist", "shortlists", (("shortlists.state", ""),)),
    )


def count_bytes(kind: str, table: str, parts: Sequence[tuple[str, str]], more: str = "0") -> str:
    """`parts` are columns, each with the rows that belong to a thing; without any, it is one of the thing itself."""
    sums = [f"(SELECT sum(length({column})) FROM {rows})" if rows else f"length({column})" for column, rows in parts]
    total = " + ".join(f"coalesce({each}, 0)" for each in (*sums, more))
    own = f"FROM {table} WHERE {table}.id = shares.thing_id"
    return (
        f"UPDATE shares SET bytes = (SELECT {total} {own}) WHERE kind = '{kind}' AND owns AND EXISTS (SELECT 1 {own})"
    )


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
    (
        "CREATE TABLE corpus (version BIGINT NOT NULL)",
        "INSERT INTO corpus (version) VALUES (0)",
        """CREATE TABLE documents (
            no {serial}, id TEXT NOT NULL UNIQUE, path TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
            file_hash TEXT NOT NULL, text_hash TEXT NOT NULL, readable BOOLEAN NOT NULL, segments INTEGER NOT NULL,
            facts INTEGER NOT NULL, rows INTEGER NOT NULL, document TEXT NOT NULL
        )""",
        "CREATE INDEX documents_by_name ON documents (name)",
        """CREATE TABLE document_texts (
            document_id TEXT NOT NULL, content_hash TEXT NOT NULL, PRIMARY KEY (document_id, content_hash)
        ){clustered}""",
        "CREATE INDEX document_texts_by_hash ON document_texts (content_hash)",
        """CREATE TABLE segments (
            id {long_key}, begins INTEGER NOT NULL, ends INTEGER NOT NULL, page INTEGER,
            heading TEXT NOT NULL, text TEXT NOT NULL
        )""",
        """CREATE TABLE summaries (
            id {long_key}, first INTEGER NOT NULL, last INTEGER NOT NULL, text TEXT NOT NULL
        )""",
        """CREATE TABLE annotations (
            id {long_key}, shape TEXT NOT NULL, begins INTEGER NOT NULL, ends INTEGER NOT NULL,
            page INTEGER, found_by TEXT NOT NULL, grid INTEGER NOT NULL
        )""",
        """CREATE TABLE properties (
            annotation_id BIGINT NOT NULL, position INTEGER NOT NULL, label TEXT NOT NULL, context TEXT NOT NULL,
            begins INTEGER NOT NULL, ends INTEGER NOT NULL, raw TEXT NOT NULL, number DOUBLE PRECISION,
            high DOUBLE PRECISION, unit TEXT NOT NULL, si DOUBLE PRECISION, si_high DOUBLE PRECISION,
            base TEXT NOT NULL, date TEXT NOT NULL, currency TEXT NOT NULL, truth BOOLEAN, ambiguity TEXT NOT NULL,
            PRIMARY KEY (annotation_id, position)
        ){clustered}""",
        "CREATE INDEX properties_by_label ON properties (label, context)",
        """CREATE TABLE words (
            document_no INTEGER PRIMARY KEY, postings {blob} NOT NULL, lengths {blob} NOT NULL
        )""",
        """CREATE TABLE vectors (
            document_no INTEGER NOT NULL, target TEXT NOT NULL, embedder TEXT NOT NULL, dimensions INTEGER NOT NULL,
            matrix {blob} NOT NULL, PRIMARY KEY (document_no, target)
        )""",
        """CREATE TABLE cache_documents (
            kind TEXT NOT NULL, key TEXT NOT NULL, document_id TEXT NOT NULL, PRIMARY KEY (document_id, kind, key)
        ){clustered}""",
        """CREATE TABLE results (
            id TEXT PRIMARY KEY, question TEXT NOT NULL, columns TEXT NOT NULL, created_at TEXT NOT NULL
        )""",
        """CREATE TABLE result_rows (
            result_id TEXT NOT NULL, position INTEGER NOT NULL, document_id TEXT NOT NULL, page INTEGER,
            begins INTEGER NOT NULL, ends INTEGER NOT NULL, verdict TEXT NOT NULL, content TEXT NOT NULL,
            PRIMARY KEY (result_id, position)
        ){clustered}""",
        "CREATE INDEX result_rows_by_document ON result_rows (document_id)",
        """CREATE TABLE conversations (
            id TEXT PRIMARY KEY, started_at TEXT NOT NULL, summary TEXT NOT NULL, last_turn INTEGER NOT NULL
        )""",
        """CREATE TABLE turns (
            conversation_id TEXT NOT NULL, number INTEGER NOT NULL, turn TEXT NOT NULL,
            PRIMARY KEY (conversation_id, number)
        )""",
        """CREATE TABLE turn_documents (
            document_id TEXT NOT NULL, conversation_id TEXT NOT NULL, number INTEGER NOT NULL,
            PRIMARY KEY (document_id, conversation_id, number)
        ){clustered}""",
    ),
    (
        """CREATE TABLE researches (
            id TEXT PRIMARY KEY, question TEXT NOT NULL, brief TEXT NOT NULL, status TEXT NOT NULL,
            table_id TEXT NOT NULL, max_tasks INTEGER NOT NULL, report TEXT, answered TEXT NOT NULL,
            created_at TEXT NOT NULL, updated_at TEXT NOT NULL
        )""",
        """CREATE TABLE research_rounds (
            research_id TEXT NOT NULL, number INTEGER NOT NULL, content TEXT NOT NULL,
            PRIMARY KEY (research_id, number)
        )""",
        """CREATE TABLE research_documents (
            document_id TEXT NOT NULL, research_id TEXT NOT NULL, PRIMARY KEY (document_id, research_id)
        ){clustered}""",
    ),
    (
        """CREATE TABLE shortlists (
            id TEXT PRIMARY KEY, table_id TEXT NOT NULL, state TEXT NOT NULL, created_at TEXT NOT NULL,
            updated_at TEXT NOT NULL
        )""",
    ),
    (
        "ALTER TABLE runs ADD COLUMN owner TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE runs ADD COLUMN stop TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE runs ADD COLUMN total BIGINT NOT NULL DEFAULT 0",
        "ALTER TABLE runs ADD COLUMN done BIGINT NOT NULL DEFAULT 0",
        "ALTER TABLE runs ADD COLUMN last_event BIGINT NOT NULL DEFAULT 0",
        "CREATE INDEX runs_by_status ON runs (status, started_at)",
        """CREATE TABLE run_slices (
            run_id TEXT NOT NULL, number INTEGER NOT NULL, todo TEXT NOT NULL, owner TEXT NOT NULL, done TEXT NOT NULL,
            finished BOOLEAN NOT NULL, tally TEXT NOT NULL, usage TEXT NOT NULL, PRIMARY KEY (run_id, number)
        ){clustered}""",
        """CREATE TABLE run_events (
            run_id TEXT NOT NULL, number BIGINT NOT NULL, at TEXT NOT NULL, event TEXT NOT NULL,
            PRIMARY KEY (run_id, number)
        ){clustered}""",
        """CREATE TABLE workers (
            id TEXT PRIMARY KEY, kind TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, started_at TEXT NOT NULL,
            beat DOUBLE PRECISION NOT NULL
        )""",
        "CREATE TABLE limits (key TEXT PRIMARY KEY, free_at DOUBLE PRECISION NOT NULL)",
    ),
    (
        """CREATE TABLE users (
            id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, role TEXT NOT NULL, token_hash TEXT NOT NULL UNIQUE,
            created_at TEXT NOT NULL
        )""",
        """CREATE TABLE grants (
            user_id TEXT NOT NULL, table_id TEXT NOT NULL, PRIMARY KEY (user_id, table_id)
        ){clustered}""",
        """CREATE TABLE requests (
            actor TEXT NOT NULL, key TEXT NOT NULL, route TEXT NOT NULL, answer TEXT NOT NULL, created_at TEXT NOT NULL,
            PRIMARY KEY (actor, key)
        ){clustered}""",
    ),
    (
        """CREATE TABLE imports (
            table_no INTEGER PRIMARY KEY, path TEXT NOT NULL, content_hash TEXT NOT NULL, reading TEXT NOT NULL,
            at TEXT NOT NULL
        )""",
        "CREATE INDEX imports_by_path ON imports (path)",
    ),
    (
        """CREATE TABLE shares (
            kind TEXT NOT NULL, thing_id TEXT NOT NULL, user_id TEXT NOT NULL, owns BOOLEAN NOT NULL,
            PRIMARY KEY (kind, thing_id, user_id)
        ){clustered}""",
        "CREATE INDEX shares_by_user ON shares (user_id, kind, thing_id)",
        # Whoever made a table owns it; whoever saw a table saw its researches and shortlists; all saw all documents.
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
        "CREATE TABLE table_ids (id TEXT PRIMARY KEY)",
        "CREATE TABLE scheduled (table_id TEXT PRIMARY KEY)",
        "INSERT INTO table_ids (id) SELECT id FROM tables",
        "ALTER TABLE runs ADD COLUMN person TEXT NOT NULL DEFAULT ''",
    ),
    (
        """CREATE TABLE quotas (
            user_id TEXT NOT NULL, what TEXT NOT NULL, most DOUBLE PRECISION NOT NULL, PRIMARY KEY (user_id, what)
        )""",
        """CREATE TABLE spent (
            user_id TEXT NOT NULL, month TEXT NOT NULL, what TEXT NOT NULL, amount DOUBLE PRECISION NOT NULL,
            PRIMARY KEY (user_id, month, what)
        )""",
        """CREATE TABLE audit (
            no {serial}, at TEXT NOT NULL, who TEXT NOT NULL, door TEXT NOT NULL, action TEXT NOT NULL,
            thing TEXT NOT NULL, detail TEXT NOT NULL
        )""",
        *append_only("audit"),
    ),
    (
        """CREATE TABLE tokens (
            id TEXT PRIMARY KEY, user_id TEXT NOT NULL, name TEXT NOT NULL, hash TEXT NOT NULL UNIQUE,
            scopes TEXT NOT NULL, created_at TEXT NOT NULL, expires_at TEXT NOT NULL, last_used_at TEXT NOT NULL
        )""",
        "CREATE INDEX tokens_by_user ON tokens (user_id)",
        """INSERT INTO tokens (id, user_id, name, hash, scopes, created_at, expires_at, last_used_at)
            SELECT 'k' || substr(id, 2), id, '', token_hash, 'read write run admin', created_at, '', '' FROM users""",
        # SQLite drops no column that must be unique.
        """CREATE TABLE people (
            id TEXT PRIMARY KEY, name TEXT NOT NULL UNIQUE, role TEXT NOT NULL, created_at TEXT NOT NULL
        )""",
        "INSERT INTO people (id, name, role, created_at) SELECT id, name, role, created_at FROM users",
        "DROP TABLE users",
        "ALTER TABLE people RENAME TO users",
        """CREATE TABLE identities (
            issuer TEXT NOT NULL, subject TEXT NOT NULL, user_id TEXT NOT NULL, PRIMARY KEY (issuer, subject)
        )""",
    ),
    ("ALTER TABLE run_slices ADD COLUMN setbacks INTEGER NOT NULL DEFAULT 0",),
    (
        """CREATE TABLE kind_tables (
            owner TEXT NOT NULL, kind TEXT NOT NULL, table_no INTEGER NOT NULL, PRIMARY KEY (owner, kind)
        )""",
        """CREATE TABLE kind_rows (
            table_no INTEGER NOT NULL, document_id TEXT NOT NULL, row_id BIGINT NOT NULL, text_hash TEXT NOT NULL,
            PRIMARY KEY (table_no, document_id)
        ){clustered}""",
        "CREATE INDEX kind_rows_by_document ON kind_rows (document_id)",
    ),
    ("CREATE TABLE listings (table_no INTEGER PRIMARY KEY, content TEXT NOT NULL)",),
    (
        """CREATE TABLE views (
            table_no INTEGER NOT NULL, name TEXT NOT NULL, person TEXT NOT NULL, content TEXT NOT NULL,
            PRIMARY KEY (table_no, name, person)
        )""",
    ),
    ("ALTER TABLE tables ADD COLUMN tags TEXT NOT NULL DEFAULT '[]'",),
    (
        "ALTER TABLE users ADD COLUMN link_by TEXT NOT NULL DEFAULT ''",
        # Who made the links that are there is not known: they count as the owner's.
        """UPDATE users SET link_by = 'owner' WHERE role = 'viewer' AND EXISTS (
            SELECT 1 FROM shares WHERE shares.user_id = users.id
            AND users.name LIKE 'link-' || substr(shares.thing_id, 1, 30) || '-%'
        )""",
    ),
    (f"{POSTGRESQL}CREATE TABLE commits (receipt TEXT PRIMARY KEY, at TEXT NOT NULL)",),
    (
        "ALTER TABLE spent ADD COLUMN held DOUBLE PRECISION NOT NULL DEFAULT 0",
        """CREATE TABLE holds (
            id TEXT PRIMARY KEY, user_id TEXT NOT NULL, month TEXT NOT NULL, owner TEXT NOT NULL,
            amount DOUBLE PRECISION NOT NULL, spent DOUBLE PRECISION NOT NULL
        )""",
        "CREATE INDEX holds_by_user ON holds (user_id)",
        "ALTER TABLE shares ADD COLUMN bytes BIGINT NOT NULL DEFAULT 0",
        *stored_bytes(),
        """INSERT INTO spent (user_id, month, what, amount, held)
            SELECT user_id, '', 'disk', sum(bytes), 0 FROM shares WHERE owns GROUP BY user_id""",
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
            if statement.startswith(POSTGRESQL if sqlite else SQLITE):
                continue
            connection.execute(
                text(
                    statement.format(
                        serial="INTEGER PRIMARY KEY AUTOINCREMENT" if sqlite else "SERIAL PRIMARY KEY",
                        long_key="INTEGER PRIMARY KEY" if sqlite else "BIGINT PRIMARY KEY",
                        clustered=" WITHOUT ROWID" if sqlite else "",
                        blob="BLOB" if sqlite else "BYTEA",
                    )
                )
            )
        connection.execute(text("INSERT INTO schema_version (version) VALUES (:version)"), {"version": number})
