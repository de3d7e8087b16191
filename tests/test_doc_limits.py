"""The figures on the pages are those of the code. What happens at a limit is tested where the limit is, with smaller
figures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tablewright import logs
from tablewright.engine import rows as slices
from tablewright.engine.runs import background, queue, queue_database, worker
from tablewright.formulas.functions import FORMULA_LIMITS
from tablewright.interfaces.page.table.rows import GRID_LIMITS
from tablewright.interfaces.server import authentication, connections, guard, oidc
from tablewright.interfaces.server.limits import MEGABYTE, LogLimits, ServerLimits
from tablewright.llm import embedder, pace, retry
from tablewright.operations import rows, webhooks
from tablewright.sandbox.limits import SandboxLimits
from tablewright.services import DATABASE_WAITS
from tablewright.settings import DEFAULT_ROWS_AT_ONCE, Settings
from tablewright.store import database, database_errors, workers
from tablewright.strategies import compute, subject
from tablewright.threads import THREAD_LIMITS
from tablewright.web import provenance

ROOT = Path(__file__).parents[1]
USUAL = ServerLimits()
LOG = LogLimits()
GIGABYTE = 1024 * MEGABYTE

SECURITY = (
    f"words of up to {provenance.SHORT_WORD_CHARACTERS} letters",
    f"over {subject.MAX_NAME_CHARACTERS} characters or {subject.MAX_NAME_WORDS} words",
)
SERVER = (
    f"after {authentication.SESSION_IDLE_SECONDS / 3600:.0f} hours of inactivity,"
    f" after {authentication.SESSION_MAX_SECONDS / 86_400:.0f} days",
    f"every {background.AUTHORITY_SECONDS:.0f} seconds for work that has no slices",
    f"`TABLEWRIGHT_TOKEN_DAYS` ({Settings().token_days})",
    f"within {oidc.OIDC_LOGIN_SECONDS / 60:.0f} minutes, in the browser that began it",
    f"after {USUAL.logins_per_minute:.0f} wrong tokens a minute from one address",
    f"{USUAL.head_seconds:.0f} s for the headers of a request, {connections.MAX_HEAD_BYTES // 1024} KB at most",
    f"{USUAL.body_seconds:.0f} s for its body and a second more for each {USUAL.body_rate:,.0f} bytes",
    f"{USUAL.read_answer_seconds:.0f} s for an unread answer",
    f"{USUAL.connections_per_address} connections from one address and {USUAL.connections:,} in total",
    f"one whose client reads nothing is closed after {USUAL.read_answer_seconds:.0f} s",
    f"at most {USUAL.reads_of_one} reading requests of one person are computed at once, {USUAL.reads} in total",
    f"that has waited for {USUAL.turn_seconds:.0f} s",
    f"a page of rows has at most {rows.ROW_PAGE.reply_bytes // MEGABYTE} MB",
    f"sent in pieces of {guard.PIECE_BYTES // 1024} KB",
    f"{USUAL.unread_of_one // MEGABYTE} MB of unread answers, or everyone together {USUAL.unread // MEGABYTE} MB",
    f"at most {GRID_LIMITS.copied_characters // 1_000_000} million characters",
    f"{GRID_LIMITS.orders_per_person} sorted or searched views are kept for each person,"
    f" {GRID_LIMITS.order_bytes // MEGABYTE} MB in total",
    f"in {THREAD_LIMITS.lookups} separate threads, each name once at a time,"
    f" for at most {THREAD_LIMITS.lookup_seconds:.0f} s",
    f"kept for {THREAD_LIMITS.lookup_kept_seconds:.0f} s",
    f"have {THREAD_LIMITS.models} threads, functions of search packages and strategies {THREAD_LIMITS.foreign}",
    f"{USUAL.requests_per_second:.0f} requests a second for each person after a burst of {USUAL.burst};"
    f" {USUAL.streams} open streams",
    f"{USUAL.body // MEGABYTE} MB for a request, {USUAL.upload // MEGABYTE} MB for one that brings files,"
    f" {USUAL.login // 1024} KB without a login",
    "again after {:.0f}, {:.0f} and {:.0f} seconds".format(*webhooks.RETRY_SECONDS),
    f"client_max_body_size {USUAL.upload // MEGABYTE}m",
)
SERVICE = (
    f"{LOG.burst} lines of one kind at once, then {LOG.per_second:.0f} a second; of all kinds"
    f" {LOG.total_burst:,} and {LOG.total_per_second:.0f}",
    f"cut at {logs.MAX_RECORD_CHARACTERS:,} characters",
    f"within {DATABASE_WAITS.probe_seconds:.0f} s",
)
OF_STORE = (
    database.READER_THREADS + database.STREAM_THREADS + database.POSTGRES_WRITER_THREADS + 2
)  # one asks whether it is up, one beats
OF_QUEUE = queue_database.CONNECTIONS + 1  # one listens
OPERATIONS = (
    f"at most {OF_STORE + OF_QUEUE} a worker ({OF_STORE} of the store, {OF_QUEUE} of the queue)",
    f"finished work is deleted from the queue after {worker.KEPT_WORKFLOWS.days} days",
    f"slices of {slices.SMALL_SLICE} to {slices.MAX_SLICE_ROWS} rows",
    f"{queue.MAX_SLICES_HERE == 3 and 'three'} to a worker at a time",
    f"computed for {compute.TURN_SECONDS * 1000:.0f} ms at a time",
    f"{'nine' if pace.USED_SHARE == 0.9 else '?'} tenths of the limit",
    f"or by {DEFAULT_ROWS_AT_ONCE} if that is not set",
    f"commands for {DATABASE_WAITS.restart_seconds / 60:.0f} minutes",
    f"first after {USUAL.database_seconds:.0f} s",
    f"repeated up to {database.MAX_ROLLBACK_RETRIES} times",
    f"A write waits up to {database_errors.BUSY_SECONDS} seconds",
    f"each of its {database.READER_THREADS + database.STREAM_THREADS} readers",
)
RUNS = (
    f"after {workers.GONE_AFTER_SECONDS:.0f} seconds on another",
    f"slices of {slices.SMALL_SLICE} to {slices.MAX_SLICE_ROWS} rows",
)
MODELS = (
    f"up to {'four' if retry.MAX_TRIES == 4 else '?'} times, waiting as long as the server asks"
    f" (at most {retry.MAX_RETRY_AFTER_SECONDS:.0f} s)",
)
DOCUMENTS = (
    f"limited to {SandboxLimits().seconds:.0f} seconds and {SandboxLimits().memory // GIGABYTE} GB of memory",
    f"a worker process with at most {embedder.WORKER_LIMITS.memory // GIGABYTE} GB of memory",
)
FORMULAS = (
    f"{FORMULA_LIMITS.characters:,} characters, {FORMULA_LIMITS.depth} levels",
    f"{FORMULA_LIMITS.text_characters:,} characters; checked before",
    f"{FORMULA_LIMITS.work_characters:,}; one of which a number, date or measure is read counts as"
    f" {FORMULA_LIMITS.reading_cost}",
    f"{FORMULA_LIMITS.read_characters:,} characters",
    f"{FORMULA_LIMITS.result_bits:,} bits",
    f"more than {compute.IN_PLACE_CHARACTERS:,} characters is computed in a worker process with at most"
    f" {compute.LIMITS.seconds:.0f} seconds and {compute.LIMITS.memory // GIGABYTE} GB",
    f"at most {FORMULA_LIMITS.shown_characters} characters of each value and {FORMULA_LIMITS.written_characters:,} of"
    " the formula",
)


@pytest.mark.parametrize(
    ("page", "told"),
    [
        (page, told)
        for page, all_told in {
            "security.md": SECURITY,
            "server.md": SERVER,
            "service.md": SERVICE,
            "operations.md": OPERATIONS,
            "formulas.md": FORMULAS,
            "runs.md": RUNS,
            "models.md": MODELS,
            "documents.md": DOCUMENTS,
        }.items()
        for told in all_told
    ],
)
def test_the_figures_on_the_pages_are_those_of_the_code(page: str, told: str) -> None:
    text = " ".join((ROOT / "docs" / page).read_text(encoding="utf-8").split())
    assert told in text


def test_reading_a_file_has_the_usual_memory() -> None:
    assert SandboxLimits().memory == embedder.WORKER_LIMITS.memory


def test_what_the_page_says_of_the_compose_file_is_in_it() -> None:
    compose = (ROOT / "compose.yaml").read_text(encoding="utf-8")
    services = dict(re.findall(r"^  (\w+):\n((?:    .*\n|\n)+)", compose, re.MULTILINE))
    assert {"database", "server", "worker"} <= services.keys()
    ports = {name: re.findall(r"^    ports: (.*)", text, re.MULTILINE) for name, text in services.items()}
    assert {name: found for name, found in ports.items() if found} == {"server": ['["127.0.0.1:8000:8000"]']}
    assert "TABLEWRIGHT_TOKEN: ${TABLEWRIGHT_TOKEN:?" in services["server"]
    assert "replicas: ${WORKERS:-2}" in services["worker"]
    for name in ("server", "worker"):
        assert "@database/tablewright" in services[name]
