"""The database: every table, column and index, declared once. `migrations` brings an older database up to it.

A row keeps the values it was given in one JSON text; `cells` holds only what was written since. So an import of a
million cells writes a row each, and `edits`, the append-only log, is where every cell's later history is.
NULL in `edits.before` or `edits.after` means "as given": no entry in `cells`.

The id of a segment, a summary or an annotation is its document's number and its own (`part_id`). So all
parts of a document lie together, and their numbers in memory need no look into the database.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Double,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    false,
    or_,
    text,
)
from sqlalchemy.types import TypeEngine

metadata = MetaData()

LongKey = BigInteger().with_variant(Integer, "sqlite")
"""The key of a table with one number for each row. SQLite numbers rows by itself, but only if it is called INTEGER."""


def declare(name: str, *parts: Column[Any] | Index, clustered: bool = False, only: str = "") -> Table:
    """Return a table. `clustered`: SQLite keeps its rows in the order of the key; `only`: in this kind of database."""
    return Table(
        name, metadata, *parts, sqlite_with_rowid=not clustered, sqlite_autoincrement=True, info={"only": only}
    )


def serial(name: str) -> Column[Any]:
    """Return a key that the database counts up and never gives out twice."""
    return Column(name, Integer, primary_key=True, autoincrement=True)


def key(name: str, kind: TypeEngine[Any] | type[TypeEngine[Any]] = Text) -> Column[Any]:
    return Column(name, kind, primary_key=True, autoincrement=False)


def column(
    name: str, kind: type[TypeEngine[Any]] = Text, *, unique: bool = False, default: str | int | None = None
) -> Column[Any]:
    """Return a column without NULLs. One that joins a table later needs a default, for the rows that are there."""
    in_sql = text(str(default)) if isinstance(default, int) else default
    return Column(name, kind, nullable=False, unique=unique or None, server_default=in_sql)


def columns(*names: str, kind: type[TypeEngine[Any]] = Text) -> list[Column[Any]]:
    """Return columns of one kind, without NULLs."""
    return [column(name, kind) for name in names]


def optional(name: str, kind: type[TypeEngine[Any]] = Text) -> Column[Any]:
    return Column(name, kind)


tables = declare(
    "tables",
    serial("no"),
    column("id", unique=True),
    *columns("name", "key_field", "created_at"),
    column("last_row", BigInteger),
    column("last_field", Integer),
    *columns("last_change", "last_seq", kind=BigInteger),
    column("tags", default="[]"),
)
imports = declare(
    "imports",
    key("table_no", Integer),
    *columns("path", "content_hash", "reading", "at"),
    Index("imports_by_path", "path"),
)
fields = declare(
    "fields",
    key("table_no", Integer),
    key("field_id", Integer),
    column("position", Double),
    column("spec"),
    column("removed", Boolean),
)
rows = declare(
    "rows",
    key("table_no", Integer),
    key("row_id", BigInteger),
    *columns("key", "given"),
    column("removed", Boolean),
    clustered=True,
)
cells = declare(
    "cells",
    key("table_no", Integer),
    key("row_id", BigInteger),
    key("field_id", Integer),
    *columns("status", "cell"),
    clustered=True,
)
changes = declare(
    "changes",
    key("table_no", Integer),
    key("change", BigInteger),
    *columns("at", "actor", "kind"),
    optional("run_id"),
    column("note"),
    *columns("first_seq", "last_seq", kind=BigInteger),
)
edits = declare(
    "edits",
    key("table_no", Integer),
    key("seq", BigInteger),
    column("kind"),
    optional("row_id", BigInteger),
    optional("field_id", Integer),
    optional("before"),
    optional("after"),
    Index("edits_by_cell", "table_no", "row_id", "field_id", "seq"),
    clustered=True,
)
runs = declare(
    "runs",
    key("id"),
    column("table_no", Integer),
    *columns("kind", "status", "spec", "started_at"),
    optional("finished_at"),
    column("usage"),
    optional("error"),
    column("owner", default=""),
    column("stop", default=""),
    column("total", BigInteger, default=0),
    column("done", BigInteger, default=0),
    column("last_event", BigInteger, default=0),
    column("person", default=""),
    Index("runs_by_table", "table_no", "started_at"),
    Index("runs_by_status", "status", "started_at"),
)
run_slices = declare(
    "run_slices",
    key("run_id"),
    key("number", Integer),
    *columns("todo", "owner", "done"),
    column("finished", Boolean),
    *columns("tally", "usage"),
    column("setbacks", Integer, default=0),
    clustered=True,
)
run_events = declare(
    "run_events", key("run_id"), key("number", BigInteger), column("at"), column("event"), clustered=True
)
workers = declare(
    "workers",
    key("id"),
    *columns("kind", "host"),
    column("pid", Integer),
    column("started_at"),
    column("beat", Double),
)
limits = declare("limits", key("key"), column("free_at", Double))
proposals = declare(
    "proposals",
    key("id"),
    column("table_no", Integer),
    *columns("run_id", "status", "reasoning", "fields", "created_at"),
    optional("decided_at"),
    Index("proposals_by_table", "table_no", "created_at"),
)
operations = declare(
    "operations",
    key("proposal_id"),
    key("row_id", BigInteger),
    key("field"),
    column("attempt", Integer),
    column("as_of", BigInteger),
    column("status"),
    column("confidence", Double),
    *columns("cell", "decision"),
    optional("change", BigInteger),
    column("steps"),
    optional("edited"),
    clustered=True,
)
attempts = declare(
    "attempts", key("run_id"), key("row_id", BigInteger), key("number", Integer), column("attempt"), clustered=True
)
cache = declare("cache", key("kind"), key("key"), column("value", LargeBinary), column("created_at"), clustered=True)
texts = declare("texts", key("content_hash"), column("text", LargeBinary), clustered=True)
pages = declare(
    "pages",
    key("url"),
    key("content_hash"),
    *columns("final_url", "title", "domain", "retrieved_at", "checked_at", "etag", "last_modified", "extra"),
    clustered=True,
)
corpus = declare("corpus", column("version", BigInteger))
documents = declare(
    "documents",
    serial("no"),
    column("id", unique=True),
    column("path", unique=True),
    *columns("name", "file_hash", "text_hash"),
    column("readable", Boolean),
    *columns("segments", "facts", "rows", kind=Integer),
    column("document"),
    Index("documents_by_name", "name"),
)
document_texts = declare(
    "document_texts",
    key("document_id"),
    key("content_hash"),
    Index("document_texts_by_hash", "content_hash"),
    clustered=True,
)
segments = declare(
    "segments",
    key("id", LongKey),
    *columns("begins", "ends", kind=Integer),
    optional("page", Integer),
    *columns("heading", "text"),
)
summaries = declare("summaries", key("id", LongKey), column("first", Integer), column("last", Integer), column("text"))
annotated = declare(
    "annotations",
    key("id", LongKey),
    column("shape"),
    *columns("begins", "ends", kind=Integer),
    optional("page", Integer),
    column("found_by"),
    column("grid", Integer),
)
properties = declare(
    "properties",
    key("annotation_id", BigInteger),
    key("position", Integer),
    *columns("label", "context"),
    *columns("begins", "ends", kind=Integer),
    column("raw"),
    optional("number", Double),
    optional("high", Double),
    column("unit"),
    optional("si", Double),
    optional("si_high", Double),
    *columns("base", "date", "currency"),
    optional("truth", Boolean),
    column("ambiguity"),
    Index("properties_by_label", "label", "context"),
    clustered=True,
)
words = declare("words", key("document_no", Integer), column("postings", LargeBinary), column("lengths", LargeBinary))
vectors = declare(
    "vectors",
    key("document_no", Integer),
    key("target"),
    column("embedder"),
    column("dimensions", Integer),
    column("matrix", LargeBinary),
)
cache_documents = declare("cache_documents", key("document_id"), key("kind"), key("key"), clustered=True)
results = declare("results", key("id"), column("question"), column("columns"), column("created_at"))
result_rows = declare(
    "result_rows",
    key("result_id"),
    key("position", Integer),
    column("document_id"),
    optional("page", Integer),
    *columns("begins", "ends", kind=Integer),
    *columns("verdict", "content"),
    Index("result_rows_by_document", "document_id"),
    clustered=True,
)
conversations = declare(
    "conversations", key("id"), column("started_at"), column("summary"), column("last_turn", Integer)
)
turns = declare("turns", key("conversation_id"), key("number", Integer), column("turn"))
turn_documents = declare(
    "turn_documents", key("document_id"), key("conversation_id"), key("number", Integer), clustered=True
)
researches = declare(
    "researches",
    key("id"),
    *columns("question", "brief", "status", "table_id"),
    column("max_tasks", Integer),
    optional("report"),
    *columns("answered", "created_at", "updated_at"),
)
research_rounds = declare("research_rounds", key("research_id"), key("number", Integer), column("content"))
research_documents = declare("research_documents", key("document_id"), key("research_id"), clustered=True)
shortlists = declare(
    "shortlists", key("id"), column("table_id"), column("state"), column("created_at"), column("updated_at")
)
users = declare(
    "users", key("id"), column("name", unique=True), column("role"), column("created_at"), column("link_by", default="")
)
tokens = declare(
    "tokens",
    key("id"),
    *columns("user_id", "name"),
    column("hash", unique=True),
    *columns("scopes", "created_at", "expires_at", "last_used_at"),
    Index("tokens_by_user", "user_id"),
)
identities = declare("identities", key("issuer"), key("subject"), column("user_id"))
shares = declare(
    "shares",
    key("kind"),
    key("thing_id"),
    key("user_id"),
    column("owns", Boolean),
    column("bytes", BigInteger, default=0),
    Index("shares_by_user", "user_id", "kind", "thing_id"),
    clustered=True,
)
quotas = declare("quotas", key("user_id"), key("what"), column("most", Double))
spent = declare(
    "spent", key("user_id"), key("month"), key("what"), column("amount", Double), column("held", Double, default=0)
)
holds = declare(
    "holds",
    key("id"),
    *columns("user_id", "month", "owner"),
    *columns("amount", "spent", kind=Double),
    Index("holds_by_user", "user_id"),
)
audit = declare("audit", serial("no"), *columns("at", "who", "door", "action", "thing", "detail"))
scheduled = declare("scheduled", key("table_id"))
table_ids = declare("table_ids", key("id"))
requests = declare(
    "requests", key("actor"), key("key"), column("route"), column("answer"), column("created_at"), clustered=True
)
kind_tables = declare("kind_tables", key("owner"), key("kind"), column("table_no", Integer))
kind_rows = declare(
    "kind_rows",
    key("table_no", Integer),
    key("document_id"),
    column("row_id", BigInteger),
    column("text_hash"),
    Index("kind_rows_by_document", "document_id"),
    clustered=True,
)
listings = declare("listings", key("table_no", Integer), column("content"))
views = declare("views", key("table_no", Integer), key("name"), key("person"), column("content"))
commits = declare("commits", key("receipt"), column("at"), only="postgresql")
"""Receipts of transactions, by which one whose answer was lost finds out whether it was committed. PostgreSQL only."""


def tables_with(column: str) -> list[Table]:
    """Return the tables that have a column of this name: all that belongs to a table, or to a user."""
    return [table for table in metadata.sorted_tables if column in table.c]


# ── the parts of a document ─────────────────────────────────────────────────────────────────────────────────────────

SHIFT = 24
MOST_PARTS = 1 << SHIFT
"""Parts of one kind that a document can have."""


def part_id(document_no: int, number: int) -> int:
    return document_no << SHIFT | number


def document_no(part: int) -> int:
    return part >> SHIFT


def number_of(part: int) -> int:
    return part & (MOST_PARTS - 1)


def in_documents(column: ColumnElement[int], document_nos: Sequence[int]) -> ColumnElement[bool]:
    """Those of these documents, found by the order of their ids."""
    return or_(false(), *(column.between(no << SHIFT, (no << SHIFT) + MOST_PARTS - 1) for no in document_nos))
