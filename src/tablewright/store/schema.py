"""The database as SQLAlchemy sees it. What is really created, and how it came to be, is in `migrations`.

A row keeps the values it was given in one JSON text; `cells` holds only what was written since. So an import of a
million cells writes a row each, and `edits`, the append-only log, is where every cell's later history is.
NULL in `edits.before` or `edits.after` means "as given": no entry in `cells`.

The id of a segment, a summary or an annotation is its document's number and its own: see `parts`. So all
parts of a document lie together, and their numbers in memory need no look into the database.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Double, Integer, LargeBinary, MetaData, Table, Text

metadata = MetaData()

tables = Table(
    "tables",
    metadata,
    Column("no", Integer, primary_key=True, autoincrement=True),
    Column("id", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("key_field", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("last_row", BigInteger, nullable=False),
    Column("last_field", Integer, nullable=False),
    Column("last_change", BigInteger, nullable=False),
    Column("last_seq", BigInteger, nullable=False),
    Column("tags", Text, nullable=False, server_default="[]"),
)

imports = Table(
    "imports",
    metadata,
    Column("table_no", Integer, primary_key=True),
    Column("path", Text, nullable=False),
    Column("content_hash", Text, nullable=False),
    Column("reading", Text, nullable=False),
    Column("at", Text, nullable=False),
)

fields = Table(
    "fields",
    metadata,
    Column("table_no", Integer, primary_key=True),
    Column("field_id", Integer, primary_key=True),
    Column("position", Double, nullable=False),
    Column("spec", Text, nullable=False),
    Column("removed", Boolean, nullable=False),
)

rows = Table(
    "rows",
    metadata,
    Column("table_no", Integer, primary_key=True),
    Column("row_id", BigInteger, primary_key=True),
    Column("key", Text, nullable=False),
    Column("given", Text, nullable=False),
    Column("removed", Boolean, nullable=False),
)

cells = Table(
    "cells",
    metadata,
    Column("table_no", Integer, primary_key=True),
    Column("row_id", BigInteger, primary_key=True),
    Column("field_id", Integer, primary_key=True),
    Column("status", Text, nullable=False),
    Column("cell", Text, nullable=False),
)

changes = Table(
    "changes",
    metadata,
    Column("table_no", Integer, primary_key=True),
    Column("change", BigInteger, primary_key=True),
    Column("at", Text, nullable=False),
    Column("actor", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("run_id", Text),
    Column("note", Text, nullable=False),
    Column("first_seq", BigInteger, nullable=False),
    Column("last_seq", BigInteger, nullable=False),
)

edits = Table(
    "edits",
    metadata,
    Column("table_no", Integer, primary_key=True),
    Column("seq", BigInteger, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("row_id", BigInteger),
    Column("field_id", Integer),
    Column("before", Text),
    Column("after", Text),
)

runs = Table(
    "runs",
    metadata,
    Column("id", Text, primary_key=True),
    Column("table_no", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("spec", Text, nullable=False),
    Column("started_at", Text, nullable=False),
    Column("finished_at", Text),
    Column("usage", Text, nullable=False),
    Column("error", Text),
    Column("owner", Text, nullable=False, default=""),
    Column("stop", Text, nullable=False, default=""),
    Column("total", BigInteger, nullable=False, default=0),
    Column("done", BigInteger, nullable=False, default=0),
    Column("last_event", BigInteger, nullable=False, default=0),
    Column("person", Text, nullable=False, default=""),
)
run_slices = Table(
    "run_slices",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("todo", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("done", Text, nullable=False),
    Column("finished", Boolean, nullable=False),
    Column("tally", Text, nullable=False),
    Column("usage", Text, nullable=False),
    Column("setbacks", Integer, nullable=False),
)
run_events = Table(
    "run_events",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("number", BigInteger, primary_key=True),
    Column("at", Text, nullable=False),
    Column("event", Text, nullable=False),
)
workers = Table(
    "workers",
    metadata,
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("host", Text, nullable=False),
    Column("pid", Integer, nullable=False),
    Column("started_at", Text, nullable=False),
    Column("beat", Double, nullable=False),
)
limits = Table(
    "limits",
    metadata,
    Column("key", Text, primary_key=True),
    Column("free_at", Double, nullable=False),
)

proposals = Table(
    "proposals",
    metadata,
    Column("id", Text, primary_key=True),
    Column("table_no", Integer, nullable=False),
    Column("run_id", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("reasoning", Text, nullable=False),
    Column("fields", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("decided_at", Text),
)

operations = Table(
    "operations",
    metadata,
    Column("proposal_id", Text, primary_key=True),
    Column("row_id", BigInteger, primary_key=True),
    Column("field", Text, primary_key=True),
    Column("attempt", Integer, nullable=False),
    Column("as_of", BigInteger, nullable=False),
    Column("status", Text, nullable=False),
    Column("confidence", Double, nullable=False),
    Column("cell", Text, nullable=False),
    Column("decision", Text, nullable=False),
    Column("change", BigInteger),
    Column("steps", Text, nullable=False),
    Column("edited", Text),
)

attempts = Table(
    "attempts",
    metadata,
    Column("run_id", Text, primary_key=True),
    Column("row_id", BigInteger, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("attempt", Text, nullable=False),
)

cache = Table(
    "cache",
    metadata,
    Column("kind", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("value", LargeBinary, nullable=False),
    Column("created_at", Text, nullable=False),
)

texts = Table(
    "texts",
    metadata,
    Column("content_hash", Text, primary_key=True),
    Column("text", LargeBinary, nullable=False),
)

pages = Table(
    "pages",
    metadata,
    Column("url", Text, primary_key=True),
    Column("content_hash", Text, primary_key=True),
    Column("final_url", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("domain", Text, nullable=False),
    Column("retrieved_at", Text, nullable=False),
    Column("checked_at", Text, nullable=False),
    Column("etag", Text, nullable=False),
    Column("last_modified", Text, nullable=False),
    Column("extra", Text, nullable=False),
)

corpus = Table(
    "corpus",
    metadata,
    Column("version", BigInteger, nullable=False),
)

documents = Table(
    "documents",
    metadata,
    Column("no", Integer, primary_key=True, autoincrement=True),
    Column("id", Text, nullable=False, unique=True),
    Column("path", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("file_hash", Text, nullable=False),
    Column("text_hash", Text, nullable=False),
    Column("readable", Boolean, nullable=False),
    Column("segments", Integer, nullable=False),
    Column("facts", Integer, nullable=False),
    Column("rows", Integer, nullable=False),
    Column("document", Text, nullable=False),
)

document_texts = Table(
    "document_texts",
    metadata,
    Column("document_id", Text, primary_key=True),
    Column("content_hash", Text, primary_key=True),
)

segments = Table(
    "segments",
    metadata,
    Column("id", BigInteger, primary_key=True),
    Column("begins", Integer, nullable=False),
    Column("ends", Integer, nullable=False),
    Column("page", Integer),
    Column("heading", Text, nullable=False),
    Column("text", Text, nullable=False),
)

summaries = Table(
    "summaries",
    metadata,
    Column("id", BigInteger, primary_key=True),
    Column("first", Integer, nullable=False),
    Column("last", Integer, nullable=False),
    Column("text", Text, nullable=False),
)

annotated = Table(
    "annotations",
    metadata,
    Column("id", BigInteger, primary_key=True),
    Column("shape", Text, nullable=False),
    Column("begins", Integer, nullable=False),
    Column("ends", Integer, nullable=False),
    Column("page", Integer),
    Column("found_by", Text, nullable=False),
    Column("grid", Integer, nullable=False),
)

properties = Table(
    "properties",
    metadata,
    Column("annotation_id", BigInteger, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("label", Text, nullable=False),
    Column("context", Text, nullable=False),
    Column("begins", Integer, nullable=False),
    Column("ends", Integer, nullable=False),
    Column("raw", Text, nullable=False),
    Column("number", Double),
    Column("high", Double),
    Column("unit", Text, nullable=False),
    Column("si", Double),
    Column("si_high", Double),
    Column("base", Text, nullable=False),
    Column("date", Text, nullable=False),
    Column("currency", Text, nullable=False),
    Column("truth", Boolean),
    Column("ambiguity", Text, nullable=False),
)

words = Table(
    "words",
    metadata,
    Column("document_no", Integer, primary_key=True),
    Column("postings", LargeBinary, nullable=False),
    Column("lengths", LargeBinary, nullable=False),
)

vectors = Table(
    "vectors",
    metadata,
    Column("document_no", Integer, primary_key=True),
    Column("target", Text, primary_key=True),
    Column("embedder", Text, nullable=False),
    Column("dimensions", Integer, nullable=False),
    Column("matrix", LargeBinary, nullable=False),
)

cache_documents = Table(
    "cache_documents",
    metadata,
    Column("document_id", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("key", Text, primary_key=True),
)

results = Table(
    "results",
    metadata,
    Column("id", Text, primary_key=True),
    Column("question", Text, nullable=False),
    Column("columns", Text, nullable=False),
    Column("created_at", Text, nullable=False),
)

result_rows = Table(
    "result_rows",
    metadata,
    Column("result_id", Text, primary_key=True),
    Column("position", Integer, primary_key=True),
    Column("document_id", Text, nullable=False),
    Column("page", Integer),
    Column("begins", Integer, nullable=False),
    Column("ends", Integer, nullable=False),
    Column("verdict", Text, nullable=False),
    Column("content", Text, nullable=False),
)

conversations = Table(
    "conversations",
    metadata,
    Column("id", Text, primary_key=True),
    Column("started_at", Text, nullable=False),
    Column("summary", Text, nullable=False),
    Column("last_turn", Integer, nullable=False),
)

turns = Table(
    "turns",
    metadata,
    Column("conversation_id", Text, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("turn", Text, nullable=False),
)

turn_documents = Table(
    "turn_documents",
    metadata,
    Column("document_id", Text, primary_key=True),
    Column("conversation_id", Text, primary_key=True),
    Column("number", Integer, primary_key=True),
)

researches = Table(
    "researches",
    metadata,
    Column("id", Text, primary_key=True),
    Column("question", Text, nullable=False),
    Column("brief", Text, nullable=False),
    Column("status", Text, nullable=False),
    Column("table_id", Text, nullable=False),
    Column("max_tasks", Integer, nullable=False),
    Column("report", Text),
    Column("answered", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
)

research_rounds = Table(
    "research_rounds",
    metadata,
    Column("research_id", Text, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("content", Text, nullable=False),
)

research_documents = Table(
    "research_documents",
    metadata,
    Column("document_id", Text, primary_key=True),
    Column("research_id", Text, primary_key=True),
)

shortlists = Table(
    "shortlists",
    metadata,
    Column("id", Text, primary_key=True),
    Column("table_id", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("updated_at", Text, nullable=False),
)
users = Table(
    "users",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("link_by", Text, nullable=False, default=""),
)
tokens = Table(
    "tokens",
    metadata,
    Column("id", Text, primary_key=True),
    Column("user_id", Text, nullable=False),
    Column("name", Text, nullable=False),
    Column("hash", Text, nullable=False),
    Column("scopes", Text, nullable=False),
    Column("created_at", Text, nullable=False),
    Column("expires_at", Text, nullable=False),
    Column("last_used_at", Text, nullable=False),
)
identities = Table(
    "identities",
    metadata,
    Column("issuer", Text, primary_key=True),
    Column("subject", Text, primary_key=True),
    Column("user_id", Text, nullable=False),
)
shares = Table(
    "shares",
    metadata,
    Column("kind", Text, primary_key=True),
    Column("thing_id", Text, primary_key=True),
    Column("user_id", Text, primary_key=True),
    Column("owns", Boolean, nullable=False),
    Column("bytes", BigInteger, nullable=False, default=0),
)
quotas = Table(
    "quotas",
    metadata,
    Column("user_id", Text, primary_key=True),
    Column("what", Text, primary_key=True),
    Column("most", Double, nullable=False),
)
spent = Table(
    "spent",
    metadata,
    Column("user_id", Text, primary_key=True),
    Column("month", Text, primary_key=True),
    Column("what", Text, primary_key=True),
    Column("amount", Double, nullable=False),
    Column("held", Double, nullable=False),
)
holds = Table(
    "holds",
    metadata,
    Column("id", Text, primary_key=True),
    Column("user_id", Text, nullable=False),
    Column("month", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("amount", Double, nullable=False),
    Column("spent", Double, nullable=False),
)
audit = Table(
    "audit",
    metadata,
    Column("no", Integer, primary_key=True, autoincrement=True),
    Column("at", Text, nullable=False),
    Column("who", Text, nullable=False),
    Column("door", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("thing", Text, nullable=False),
    Column("detail", Text, nullable=False),
)
scheduled = Table("scheduled", metadata, Column("table_id", Text, primary_key=True))
table_ids = Table("table_ids", metadata, Column("id", Text, primary_key=True))
requests = Table(
    "requests",
    metadata,
    Column("actor", Text, primary_key=True),
    Column("key", Text, primary_key=True),
    Column("route", Text, nullable=False),
    Column("answer", Text, nullable=False),
    Column("created_at", Text, nullable=False),
)

kind_tables = Table(
    "kind_tables",
    metadata,
    Column("owner", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("table_no", Integer, nullable=False),
)

kind_rows = Table(
    "kind_rows",
    metadata,
    Column("table_no", Integer, primary_key=True),
    Column("document_id", Text, primary_key=True),
    Column("row_id", BigInteger, nullable=False),
    Column("text_hash", Text, nullable=False),
)

listings = Table(
    "listings",
    metadata,
    Column("table_no", Integer, primary_key=True),
    Column("content", Text, nullable=False),
)

views = Table(
    "views",
    metadata,
    Column("table_no", Integer, primary_key=True),
    Column("name", Text, primary_key=True),
    Column("person", Text, primary_key=True),
    Column("content", Text, nullable=False),
)

commits = Table(
    "commits",
    metadata,
    Column("receipt", Text, primary_key=True),
    Column("at", Text, nullable=False),
)
"""Receipts of transactions, by which one whose answer was lost finds out whether it was committed. PostgreSQL only."""
