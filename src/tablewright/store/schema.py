"""The database: every table, column and index, declared once. `migrations` brings an older database up to it.

A row keeps its given values in one JSON text; `cells` holds only what was written since. An import of a million cells
therefore writes one record per row, and `edits`, the append-only log, holds the later history of every cell. Both refer
to the number of a cell's content, as proposals do (`contents`). NULL in `edits.before` or `edits.after` means "as
given": there is no entry in `cells`.

The id of a segment, a summary or an annotation combines its document's number with its own (`make_part_id`). So all
parts of a document are stored together, and their numbers in memory need no database lookup.
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

# SQLite numbers rows by itself only if the type of the key is called INTEGER.
LongKey = BigInteger().with_variant(Integer, "sqlite")


def declare_table(
    name: str, *parts: Column[Any] | Index, clustered: bool = False, reuses: bool = False, only: str = ""
) -> Table:
    """Return a table. `clustered`: SQLite keeps its rows in the order of the key. `reuses`: the number of a removed row
    may be given to a new one. `only`: exists in this kind of database alone."""
    return Table(
        name,
        metadata,
        *parts,
        sqlite_with_rowid=not clustered,
        sqlite_autoincrement=not reuses,
        info={"only": only},
    )


def serial_key(name: str, kind: TypeEngine[Any] | type[TypeEngine[Any]] = Integer) -> Column[Any]:
    """Return a key that the database counts up."""
    return Column(name, kind, primary_key=True, autoincrement=True)


def key_column(name: str, kind: TypeEngine[Any] | type[TypeEngine[Any]] = Text) -> Column[Any]:
    """Return a column that is part of the primary key."""
    return Column(name, kind, primary_key=True, autoincrement=False)


def required_column(
    name: str, kind: type[TypeEngine[Any]] = Text, *, unique: bool = False, default: str | int | None = None
) -> Column[Any]:
    """Return a column without NULLs. A column added to an existing table needs a default for the rows that are
    there."""
    in_sql = text(str(default)) if isinstance(default, int) else default
    return Column(name, kind, nullable=False, unique=unique or None, server_default=in_sql)


def required_columns(*names: str, kind: type[TypeEngine[Any]] = Text) -> list[Column[Any]]:
    """Return columns of one kind, without NULLs."""
    return [required_column(name, kind) for name in names]


def optional_column(name: str, kind: type[TypeEngine[Any]] = Text) -> Column[Any]:
    return Column(name, kind)


tables = declare_table(
    "tables",
    serial_key("no"),
    required_column("id", unique=True),
    *required_columns("name", "key_field", "created_at"),
    required_column("last_row", BigInteger),
    required_column("last_field", Integer),
    *required_columns("last_change", "last_seq", kind=BigInteger),
    required_column("tags", default="[]"),
)
imports = declare_table(
    "imports",
    key_column("table_no", Integer),
    *required_columns("path", "content_hash", "reading", "at"),
    Index("imports_by_path", "path"),
)
fields = declare_table(
    "fields",
    key_column("table_no", Integer),
    key_column("field_id", Integer),
    # A fraction, so that a column finds a place between two others without moving them.
    required_column("position", Double),
    required_column("spec"),
    required_column("removed", Boolean),
)
rows = declare_table(
    "rows",
    key_column("table_no", Integer),
    key_column("row_id", BigInteger),
    *required_columns("key", "given"),
    required_column("removed", Boolean),
    clustered=True,
)
cells = declare_table(
    "cells",
    key_column("table_no", Integer),
    key_column("row_id", BigInteger),
    key_column("field_id", Integer),
    required_column("status"),
    required_column("cell", BigInteger),
    clustered=True,
)
# What the cells of one batch have in common: the beginning of their JSON, and their steps.
origins = declare_table(
    "origins",
    serial_key("no", LongKey),
    required_column("table_no", Integer),
    *required_columns("cell", "steps"),
    reuses=True,
)
contents = declare_table(
    "contents", serial_key("no", LongKey), optional_column("origin", BigInteger), required_column("text"), reuses=True
)
changes = declare_table(
    "changes",
    key_column("table_no", Integer),
    key_column("change", BigInteger),
    *required_columns("at", "actor", "kind"),
    optional_column("run_id"),
    required_column("note"),
    *required_columns("first_seq", "last_seq", kind=BigInteger),
)
edits = declare_table(
    "edits",
    key_column("table_no", Integer),
    key_column("seq", BigInteger),
    required_column("kind"),
    optional_column("row_id", BigInteger),
    optional_column("field_id", Integer),
    optional_column("before", BigInteger),
    optional_column("after", BigInteger),
    # With `seq`, so that the newest entry of a cell is found in the index alone.
    Index("edits_by_cell", "table_no", "row_id", "field_id", "seq"),
    clustered=True,
)
runs = declare_table(
    "runs",
    key_column("id"),
    required_column("table_no", Integer),
    *required_columns("kind", "status", "spec", "started_at"),
    optional_column("finished_at"),
    required_column("usage"),
    optional_column("error"),
    required_column("owner", default=""),
    required_column("stop", default=""),
    required_column("total", BigInteger, default=0),
    required_column("done", BigInteger, default=0),
    required_column("last_event", BigInteger, default=0),
    required_column("person", default=""),
    Index("runs_by_table", "table_no", "started_at"),
    Index("runs_by_status", "status", "started_at"),
)
run_slices = declare_table(
    "run_slices",
    key_column("run_id"),
    key_column("number", Integer),
    *required_columns("todo", "owner", "done"),
    required_column("finished", Boolean),
    *required_columns("tally", "usage"),
    required_column("setbacks", Integer, default=0),
    clustered=True,
)
run_events = declare_table(
    "run_events",
    key_column("run_id"),
    key_column("number", BigInteger),
    required_column("at"),
    required_column("event"),
    clustered=True,
)
workers = declare_table(
    "workers",
    key_column("id"),
    *required_columns("kind", "host"),
    required_column("pid", Integer),
    required_column("started_at"),
    # Seconds by the clock of the database, so that the clocks of machines need not agree.
    required_column("beat", Double),
)
limits = declare_table("limits", key_column("key"), required_column("free_at", Double))
proposals = declare_table(
    "proposals",
    key_column("id"),
    required_column("table_no", Integer),
    *required_columns("run_id", "status", "reasoning", "fields", "created_at"),
    optional_column("decided_at"),
    Index("proposals_by_table", "table_no", "created_at"),
)
operations = declare_table(
    "operations",
    key_column("proposal_id"),
    key_column("row_id", BigInteger),
    key_column("field"),
    required_column("attempt", Integer),
    # The number of the log when the run read the row: a later entry is a conflict.
    required_column("as_of", BigInteger),
    required_column("status"),
    required_column("confidence", Double),
    required_column("cell", BigInteger),
    required_column("decision"),
    optional_column("change", BigInteger),
    # "" if they are those of the cell's origin.
    required_column("steps"),
    optional_column("edited", BigInteger),
    clustered=True,
)
attempts = declare_table(
    "attempts",
    key_column("run_id"),
    key_column("row_id", BigInteger),
    key_column("number", Integer),
    required_column("attempt"),
    clustered=True,
)
cache = declare_table(
    "cache",
    key_column("kind"),
    key_column("key"),
    required_column("value", LargeBinary),
    required_column("created_at"),
    clustered=True,
)
texts = declare_table("texts", key_column("content_hash"), required_column("text", LargeBinary), clustered=True)
pages = declare_table(
    "pages",
    key_column("url"),
    key_column("content_hash"),
    *required_columns("final_url", "title", "domain", "retrieved_at", "checked_at", "etag", "last_modified", "extra"),
    clustered=True,
)
# One line, counted up by each change of the documents; it is also the lock of their writers.
corpus = declare_table("corpus", required_column("version", BigInteger))
documents = declare_table(
    "documents",
    serial_key("no"),
    required_column("id", unique=True),
    required_column("path", unique=True),
    *required_columns("name", "file_hash", "text_hash"),
    required_column("readable", Boolean),
    *required_columns("segments", "facts", "rows", kind=Integer),
    required_column("document"),
    Index("documents_by_name", "name"),
)
document_texts = declare_table(
    "document_texts",
    key_column("document_id"),
    key_column("content_hash"),
    Index("document_texts_by_hash", "content_hash"),
    clustered=True,
)
segments = declare_table(
    "segments",
    key_column("id", LongKey),
    *required_columns("begins", "ends", kind=Integer),
    optional_column("page", Integer),
    *required_columns("heading", "text"),
)
summaries = declare_table(
    "summaries",
    key_column("id", LongKey),
    required_column("first", Integer),
    required_column("last", Integer),
    required_column("text"),
)
annotated = declare_table(
    "annotations",
    key_column("id", LongKey),
    required_column("shape"),
    *required_columns("begins", "ends", kind=Integer),
    optional_column("page", Integer),
    required_column("found_by"),
    required_column("grid", Integer),
)
properties = declare_table(
    "properties",
    key_column("annotation_id", BigInteger),
    key_column("position", Integer),
    *required_columns("label", "context"),
    *required_columns("begins", "ends", kind=Integer),
    required_column("raw"),
    optional_column("number", Double),
    optional_column("high", Double),
    required_column("unit"),
    optional_column("si", Double),
    optional_column("si_high", Double),
    *required_columns("base", "date", "currency"),
    optional_column("truth", Boolean),
    required_column("ambiguity"),
    # Questions about documents begin with the labels that may answer them.
    Index("properties_by_label", "label", "context"),
    clustered=True,
)
words = declare_table(
    "words",
    key_column("document_no", Integer),
    required_column("postings", LargeBinary),
    required_column("lengths", LargeBinary),
)
vectors = declare_table(
    "vectors",
    key_column("document_no", Integer),
    key_column("target"),
    required_column("embedder"),
    required_column("dimensions", Integer),
    required_column("matrix", LargeBinary),
)
cache_documents = declare_table(
    "cache_documents", key_column("document_id"), key_column("kind"), key_column("key"), clustered=True
)
results = declare_table(
    "results", key_column("id"), required_column("question"), required_column("columns"), required_column("created_at")
)
result_rows = declare_table(
    "result_rows",
    key_column("result_id"),
    key_column("position", Integer),
    required_column("document_id"),
    optional_column("page", Integer),
    *required_columns("begins", "ends", kind=Integer),
    *required_columns("verdict", "content"),
    Index("result_rows_by_document", "document_id"),
    clustered=True,
)
conversations = declare_table(
    "conversations",
    key_column("id"),
    required_column("started_at"),
    required_column("summary"),
    required_column("last_turn", Integer),
)
turns = declare_table("turns", key_column("conversation_id"), key_column("number", Integer), required_column("turn"))
turn_documents = declare_table(
    "turn_documents",
    key_column("document_id"),
    key_column("conversation_id"),
    key_column("number", Integer),
    clustered=True,
)
researches = declare_table(
    "researches",
    key_column("id"),
    *required_columns("question", "brief", "status", "table_id"),
    required_column("max_tasks", Integer),
    optional_column("report"),
    *required_columns("answered", "created_at", "updated_at"),
)
research_rounds = declare_table(
    "research_rounds", key_column("research_id"), key_column("number", Integer), required_column("content")
)
research_documents = declare_table(
    "research_documents", key_column("document_id"), key_column("research_id"), clustered=True
)
shortlists = declare_table(
    "shortlists",
    key_column("id"),
    required_column("table_id"),
    required_column("state"),
    required_column("created_at"),
    required_column("updated_at"),
)
users = declare_table(
    "users",
    key_column("id"),
    required_column("name", unique=True),
    required_column("role"),
    required_column("created_at"),
    required_column("link_by", default=""),
)
tokens = declare_table(
    "tokens",
    key_column("id"),
    *required_columns("user_id", "name"),
    required_column("hash", unique=True),
    *required_columns("scopes", "created_at", "expires_at", "last_used_at"),
    Index("tokens_by_user", "user_id"),
)
identities = declare_table("identities", key_column("issuer"), key_column("subject"), required_column("user_id"))
shares = declare_table(
    "shares",
    key_column("kind"),
    key_column("thing_id"),
    key_column("user_id"),
    required_column("owns", Boolean),
    required_column("bytes", BigInteger, default=0),
    Index("shares_by_user", "user_id", "kind", "thing_id"),
    clustered=True,
)
quotas = declare_table("quotas", key_column("user_id"), key_column("what"), required_column("most", Double))
spent = declare_table(
    "spent",
    key_column("user_id"),
    key_column("month"),
    key_column("what"),
    required_column("amount", Double),
    required_column("held", Double, default=0),
)
holds = declare_table(
    "holds",
    key_column("id"),
    *required_columns("user_id", "month", "owner"),
    *required_columns("amount", "spent", kind=Double),
    Index("holds_by_user", "user_id"),
)
audit = declare_table("audit", serial_key("no"), *required_columns("at", "who", "door", "action", "thing", "detail"))
scheduled = declare_table("scheduled", key_column("table_id"))
# Ids that any table ever had: none is given to another, so that old links and shares cannot show it.
table_ids = declare_table("table_ids", key_column("id"))
requests = declare_table(
    "requests",
    key_column("actor"),
    key_column("key"),
    required_column("route"),
    required_column("answer"),
    required_column("created_at"),
    clustered=True,
)
kind_tables = declare_table(
    "kind_tables", key_column("owner"), key_column("kind"), required_column("table_no", Integer)
)
kind_rows = declare_table(
    "kind_rows",
    key_column("table_no", Integer),
    key_column("document_id"),
    required_column("row_id", BigInteger),
    required_column("text_hash"),
    Index("kind_rows_by_document", "document_id"),
    clustered=True,
)
listings = declare_table("listings", key_column("table_no", Integer), required_column("content"))
views = declare_table(
    "views", key_column("table_no", Integer), key_column("name"), key_column("person"), required_column("content")
)
# Receipts tell a transaction whose answer was lost whether it was committed. PostgreSQL only.
commits = declare_table("commits", key_column("receipt"), required_column("at"), only="postgresql")


def tables_with_column(column: str) -> list[Table]:
    """Return the tables that have a column of this name: all that belongs to a table, or to a user."""
    return [table for table in metadata.sorted_tables if column in table.c]


# ── the parts of a document ─────────────────────────────────────────────────────────────────────────────────────────

# The lower bits of a part's id: 16 million parts of one kind per document, and 2**39 documents in 63 bits.
PART_NUMBER_BITS = 24


def make_part_id(document_no: int, number: int) -> int:
    return document_no << PART_NUMBER_BITS | number


def document_of_part(part: int) -> int:
    return part >> PART_NUMBER_BITS


def number_of_part(part: int) -> int:
    return part & ((1 << PART_NUMBER_BITS) - 1)


def is_part_of_documents(column: ColumnElement[int], document_nos: Sequence[int]) -> ColumnElement[bool]:
    """Return the condition that an id is that of a part of these documents, by the order of ids."""
    return or_(
        false(),
        *(column.between(no << PART_NUMBER_BITS, ((no + 1) << PART_NUMBER_BITS) - 1) for no in document_nos),
    )
