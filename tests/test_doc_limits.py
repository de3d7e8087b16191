"""The figures on the pages are those of the code. What happens at a limit is tested where the limit is, with smaller
figures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tablewright import logs, services, threads
from tablewright.doors.api import row_pages
from tablewright.doors.server import authentication, connections, guard, limits, oidc
from tablewright.doors.server.limits import MEGABYTE, ServerLimits
from tablewright.doors.web import grid_rows, table_cells
from tablewright.engine import rows as slices
from tablewright.formulas import formula, functions
from tablewright.jobs import background, queue, queue_database, worker
from tablewright.models import embedder, pace, retry
from tablewright.operations import webhooks
from tablewright.sandbox.limits import SandboxLimits
from tablewright.settings import ROWS_AT_ONCE, Settings
from tablewright.sources import provenance
from tablewright.store import database, failures, workers
from tablewright.strategies import compute, subject

ROOT = Path(__file__).parents[1]
USUAL = ServerLimits()
GIGABYTE = 1024 * MEGABYTE

SECURITY = (
    f"words of up to {provenance.SHORT} letters",
    f"over {subject.TELLING} characters or {subject.TELLING_WORDS} words",
)
SERVER = (
    f"after {authentication.IDLE / 3600:.0f} hours of inactivity, after {authentication.LONGEST / 86_400:.0f} days",
    f"every {background.AUTHORITY:.0f} seconds for work that has no slices",
    f"`TABLEWRIGHT_TOKEN_DAYS` ({Settings().token_days})",
    f"within {oidc.IN_TIME / 60:.0f} minutes, in the browser that began it",
    f"after {USUAL.logins_per_minute:.0f} wrong tokens a minute from one address",
    f"{USUAL.head_seconds:.0f} s for the headers of a request, {connections.LARGEST_HEAD // 1024} KB at most",
    f"{USUAL.body_seconds:.0f} s for its body and a second more for each {USUAL.body_rate:,.0f} bytes",
    f"{USUAL.read_answer_seconds:.0f} s for an answer that nobody reads",
    f"{USUAL.connections_per_address} connections of an address and {USUAL.connections:,} of all",
    f"one whose client reads nothing is closed after {USUAL.read_answer_seconds:.0f} s",
    f"at most {USUAL.reads_of_one} requests of one person that read data are computed at once, {USUAL.reads} of all",
    f"whose turn does not come in {USUAL.turn_seconds:.0f} s",
    f"a page of rows has at most {row_pages.REPLY_BYTES // MEGABYTE} MB",
    f"sent in pieces of {guard.PIECE // 1024} KB",
    f"{USUAL.unread_of_one // MEGABYTE} MB of answers unread, or all together {USUAL.unread // MEGABYTE} MB",
    f"at most {table_cells.MOST_COPIED_CHARACTERS // 1_000_000} million characters",
    f"{grid_rows.KEPT_OF_ONE} sorted or searched views are remembered for each person,"
    f" {grid_rows.KEPT_BYTES // MEGABYTE} MB for all",
    f"threads of their own ({threads.LOOKUP_THREADS}), each name once at a time; {threads.LOOKUP_SECONDS:.0f} s",
    f"kept for {threads.LOOKUP_KEPT_SECONDS:.0f} s",
    f"have {threads.MODEL_THREADS} threads, functions of search packages and strategies {threads.FOREIGN_THREADS}",
    f"{USUAL.requests_per_second:.0f} requests a second for each person after a burst of {USUAL.burst};"
    f" {USUAL.streams} open streams",
    f"{USUAL.body // MEGABYTE} MB for a request, {USUAL.upload // MEGABYTE} MB for one that brings files,"
    f" {USUAL.login // 1024} KB for whoever is not logged in",
    f"of lines of one kind {limits.BURST} at once, then {limits.PER_SECOND:.0f} a second, of all"
    f" {limits.BURST_OF_ALL:,} and {limits.PER_SECOND_OF_ALL:.0f}",
    f"cut at {logs.LONGEST:,} characters",
    "again after {:.0f}, {:.0f} and {:.0f} seconds".format(*webhooks.PAUSES),
    f"within {services.READY_SECONDS:.0f} s",
    f"client_max_body_size {USUAL.upload // MEGABYTE}m",
)
OF_STORE = database.READERS + database.STREAMERS + database.POSTGRES_WRITERS + 2  # one asks whether it is up, one beats
OF_QUEUE = queue_database.CONNECTIONS + 1  # one listens
OPERATIONS = (
    f"at most {OF_STORE + OF_QUEUE} a worker ({OF_STORE} of the store, {OF_QUEUE} of the queue)",
    f"of the queue, what is over after {worker.KEPT.days} days",
    f"slices of {slices.SMALL_SLICE} to {slices.SLICE} rows",
    f"{queue.AT_ONCE == 3 and 'three'} to a worker at a time",
    f"{compute.LIMITS.memory // GIGABYTE} GB for a formula,"
    f" {embedder.LIMITS.memory // GIGABYTE} GB for vectors and for reading a file",
    f"computed for {compute.TURN * 1000:.0f} ms at a time",
    f"{'nine' if pace.FILLED == 0.9 else '?'} tenths of the limit",
    f"or by {ROWS_AT_ONCE} if that is not set",
    f"after {workers.SILENCE:.0f} s without a sign of life",
    f"commands for {services.PATIENCE / 60:.0f} minutes",
    f"first after {USUAL.database_seconds:.0f} s",
    f"repeated up to {database.MOST_ATTEMPTS} times",
    f"tried up to {'four' if retry.TRIES == 4 else '?'} times, waiting as long as the provider asks,"
    f" at most {retry.LONGEST_WAIT:.0f} s",
    f"A write waits up to {failures.BUSY_SECONDS} seconds",
    f"each of its {database.READERS + database.STREAMERS} readers",
    f"a page of rows has at most {row_pages.REPLY_BYTES // MEGABYTE} MB",
)
FORMULAS = (
    f"{formula.MAX_LENGTH:,} characters, {formula.MAX_DEPTH} levels",
    f"{functions.MAX_TEXT:,} characters; checked before",
    f"{functions.MOST_WORK:,}; one of which a number, date or measure is read counts as {functions.WORK_TO_READ}",
    f"{functions.LONGEST_READ:,} characters",
    f"{functions.MAX_RESULT_BITS:,} bits",
    f"more than {compute.IN_PLACE:,} characters is computed in a worker process with at most"
    f" {compute.LIMITS.seconds:.0f} seconds and {compute.LIMITS.memory // GIGABYTE} GB",
    f"at most {formula.MOST_SHOWN} characters of each value and {formula.MOST_WRITTEN:,} of the formula",
)


@pytest.mark.parametrize(
    ("page", "told"),
    [
        (page, told)
        for page, all_told in {
            "security.md": SECURITY,
            "server.md": SERVER,
            "operations.md": OPERATIONS,
            "formulas.md": FORMULAS,
        }.items()
        for told in all_told
    ],
)
def test_the_figures_on_the_pages_are_those_of_the_code(page: str, told: str) -> None:
    text = " ".join((ROOT / "docs" / page).read_text(encoding="utf-8").split())
    assert told in text


def test_reading_a_file_has_the_usual_memory() -> None:
    assert SandboxLimits().memory == embedder.LIMITS.memory


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
