"""The treatment of every database failure, in one place for the store and for the queue.

PostgreSQL names each failure by an SQLSTATE of five characters. `SQLSTATES` says for each class of them, and for each
state that differs from its class, how it is treated. An error without a state comes from the driver: it cannot connect,
or the connection broke.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from enum import Enum
from typing import Any, NamedTuple

from sqlalchemy import URL, Engine, ExceptionContext, create_engine, event
from sqlalchemy.exc import DBAPIError, InvalidatePoolError

from tablewright.errors import DiskFull, StoreError, Unreachable
from tablewright.extras import require_extra

# SQLite has one writer at a time, and the longest write is an import of some 15 s per 100,000 rows.
BUSY_SECONDS = 60
# Seconds between two attempts to reach a server that is away; the pause doubles up to the longest.
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 1.0


class Treatment(Enum):
    """The possible treatments of a failure."""

    WAIT = "The server is away: drop all connections, wait until one is writable, repeat the transaction."
    REPEAT = "The server works and rolled this transaction back: repeat it, a limited number of times."
    FULL = "The disk is full: an error that says so; a run pauses."
    REFUSE = "Repeating cannot help: an error at once."


class SqlFailure(NamedTuple):
    """The treatment of a failure, with its reason."""

    treatment: Treatment
    reason: str
    in_doubt: bool = False
    """True if the transaction may have been committed although this is the answer to COMMIT."""


# Short names, so that the table below reads like one.
WAIT, REPEAT, FULL, REFUSE = Treatment.WAIT, Treatment.REPEAT, Treatment.FULL, Treatment.REFUSE

SQLSTATES: dict[str, SqlFailure] = {
    "02": SqlFailure(REFUSE, "no data: the statement found nothing, and would again"),
    "03": SqlFailure(REFUSE, "SQL statement not yet complete: a fault of the program"),
    "08": SqlFailure(WAIT, "connection exception: the network, or a pooler in between, failed", True),
    "09": SqlFailure(REFUSE, "triggered action exception: a trigger forbids it"),
    "0A": SqlFailure(REFUSE, "feature not supported: another server would be needed"),
    "0B": SqlFailure(REFUSE, "invalid transaction initiation: a fault of the program"),
    "0F": SqlFailure(REFUSE, "locator exception: a fault of the program"),
    "0L": SqlFailure(REFUSE, "invalid grantor: permissions do not change by waiting"),
    "0P": SqlFailure(REFUSE, "invalid role: roles do not change by waiting"),
    "0Z": SqlFailure(REFUSE, "diagnostics exception: a fault of the program"),
    "10": SqlFailure(REFUSE, "XQuery error: a fault of the program"),
    "20": SqlFailure(REFUSE, "case not found: a fault of the program"),
    "21": SqlFailure(REFUSE, "cardinality violation: a fault of the program"),
    "22": SqlFailure(REFUSE, "data exception: the same value would be refused again"),
    "23": SqlFailure(REFUSE, "constraint violation: the same value would be refused again"),
    "24": SqlFailure(REFUSE, "invalid cursor state: a fault of the program"),
    "25": SqlFailure(REFUSE, "invalid transaction state: a fault of the program"),
    "25006": SqlFailure(
        WAIT, "read-only: the server was demoted, is a standby, or is being moved; another will take over"
    ),
    "25P03": SqlFailure(WAIT, "idle in a transaction for too long: the server ended the session and rolled back"),
    "25P04": SqlFailure(WAIT, "transaction timeout: the server ended the session and rolled back"),
    "26": SqlFailure(REFUSE, "unknown prepared statement: a pooler that does not keep sessions; it would happen again"),
    "27": SqlFailure(REFUSE, "triggered data change violation: a trigger forbids it"),
    "28": SqlFailure(REFUSE, "invalid authorization: the password or the user is wrong"),
    "2B": SqlFailure(REFUSE, "dependent privileges exist: permissions do not change by waiting"),
    "2D": SqlFailure(REFUSE, "invalid transaction termination: a fault of the program"),
    "2F": SqlFailure(REFUSE, "SQL routine exception: a function failed, and would again"),
    "34": SqlFailure(REFUSE, "invalid cursor name: a fault of the program"),
    "38": SqlFailure(REFUSE, "external routine exception: a function failed, and would again"),
    "39": SqlFailure(REFUSE, "external routine invocation exception: a function failed, and would again"),
    "3B": SqlFailure(REFUSE, "savepoint exception: a fault of the program"),
    "3D": SqlFailure(REFUSE, "unknown database: the address is wrong"),
    "3F": SqlFailure(REFUSE, "unknown schema: the database is not ours"),
    "40": SqlFailure(REPEAT, "transaction rollback: serialization failure, deadlock or conflict with recovery"),
    "40002": SqlFailure(REFUSE, "integrity constraint violation: the same value would be refused again"),
    "40003": SqlFailure(WAIT, "statement completion unknown: the server lost track of it", True),
    "42": SqlFailure(REFUSE, "syntax error or missing permission: the same statement would be refused again"),
    "44": SqlFailure(REFUSE, "check option violation: the same value would be refused again"),
    "53": SqlFailure(WAIT, "insufficient resources: too many connections, or too little of something else for now"),
    "53100": SqlFailure(FULL, "disk full: waiting does not free space, only a person can"),
    "53200": SqlFailure(REPEAT, "out of memory: there may be more in a moment, or never enough for this statement"),
    "53400": SqlFailure(REFUSE, "configuration limit exceeded: the same statement would exceed it again"),
    "54": SqlFailure(REFUSE, "program limit exceeded: the statement is too large or too complex"),
    "55": SqlFailure(REFUSE, "object not in the required state: a person has to change it"),
    "55006": SqlFailure(REPEAT, "object in use: another session has it for now"),
    "55P03": SqlFailure(REPEAT, "lock not available: another session has it for now"),
    "57": SqlFailure(WAIT, "operator intervention: the server stops, crashed, starts, or ended an idle session", True),
    "57014": SqlFailure(REFUSE, "query canceled: a person or a timeout ended it; repeating would undo that"),
    "57P04": SqlFailure(REFUSE, "database dropped: it does not come back"),
    "58": SqlFailure(REFUSE, "system error: the server's disk or files are broken; a person has to look"),
    "72": SqlFailure(REPEAT, "snapshot too old: a new transaction has a new snapshot"),
    "F0": SqlFailure(REFUSE, "configuration file error: a person has to look"),
    "HV": SqlFailure(REFUSE, "foreign data wrapper error: we use none"),
    "P0": SqlFailure(REFUSE, "PL/pgSQL error: a trigger or a function says no, as ours for the audit log does"),
    "XX": SqlFailure(REFUSE, "internal error or damaged data: a person has to look"),
}
# In doubt, because the answer to a COMMIT may have been what was lost.
CONNECTION_BROKEN = SqlFailure(WAIT, "the connection broke, or there is none yet", True)
UNKNOWN_SQLSTATE = SqlFailure(REFUSE, "not an SQLSTATE of PostgreSQL")


def judge_sqlstate(state: str) -> SqlFailure:
    """Return the treatment of the state itself, or that of its class."""
    return SQLSTATES.get(state) or SQLSTATES.get(state[:2]) or UNKNOWN_SQLSTATE


def judge_failure(error: DBAPIError, *, connecting: bool) -> SqlFailure:
    """Return the treatment of an error of PostgreSQL's driver. A broken connection counts as away; if the server is
    gone for good, reconnecting will say so."""
    # A state that is not worth waiting for may come with a broken connection, as a crash does: then waiting is right.
    if state := getattr(error.orig, "sqlstate", None):
        verdict = judge_sqlstate(state)
        return CONNECTION_BROKEN if error.connection_invalidated and verdict.treatment is not WAIT else verdict
    if error.connection_invalidated:
        return CONNECTION_BROKEN
    return CONNECTION_BROKEN if connecting and can_come_back(error.orig) else UNKNOWN_SQLSTATE


def can_come_back(problem: BaseException | None) -> bool:
    """Return False if the server refused the connection in a way that waiting does not change."""
    if state := getattr(problem, "sqlstate", None):
        return judge_sqlstate(state).treatment is WAIT
    # Refusals without an SQLSTATE, in the words of libpq and of the server.
    signs = ("authentication failed", "no password supplied", "does not exist", "pg_hba.conf", "permission denied")
    return not any(sign in str(problem) for sign in signs)


def is_worth_repeating(error: Exception) -> bool:
    """Return True if the queue should retry. It cannot pause, so it waits for a full disk too."""
    return isinstance(error, DBAPIError) and judge_failure(error, connecting=False).treatment is not REFUSE


def make_postgres_engine(url: URL, *, connect_args: dict[str, Any] | None = None, **options: Any) -> Engine:
    """Return an engine that only keeps connections to a writable server."""
    require_extra("postgres", "A PostgreSQL database")
    # Defaults that the address may replace. A longer timeout delays the move to another server.
    own: dict[str, Any] = {"connect_timeout": 10, "target_session_attrs": "read-write"}
    arguments = {name: value for name, value in own.items() if name not in url.query}
    # A server that vanished without closing its connections is noticed in half a minute, not after two hours.
    arguments |= {"keepalives_idle": 15, "keepalives_interval": 5, "keepalives_count": 3, "tcp_user_timeout": 30_000}
    engine = create_engine(
        url.set(drivername="postgresql+psycopg"),
        # A connection that lay in the pool may be dead; without the ping its first transaction would fail.
        pool_pre_ping=True,
        connect_args=arguments | (connect_args or {}),
        **options,
    )
    drop_connections_after_failover(engine)
    return engine


def drop_connections_after_failover(engine: Engine) -> None:
    """Drop all pooled connections as soon as one shows that its server is away or read-only. Another server may be
    behind the same address by now, and the old one still answers with what it had."""

    @event.listens_for(engine, "handle_error")
    def _failed(context: ExceptionContext) -> None:
        state = getattr(context.original_exception, "sqlstate", None)
        if context.connection is not None and state and judge_sqlstate(state).treatment is WAIT:
            context.is_disconnect = True

    @event.listens_for(engine, "checkout")
    def _taken(connection: Any, _record: object, _proxy: object) -> None:
        # The server reports both unasked, and the pool's ping has just received the latest report.
        if "on" in map(connection.info.parameter_status, ("in_hot_standby", "default_transaction_read_only")):
            raise InvalidatePoolError("The server has become read-only.")


def wait_for_server(engine: Engine, pause: Callable[[float], bool]) -> None:
    """Make connecting wait while the server is away. `pause` sleeps for the given seconds and returns True to go on."""

    @event.listens_for(engine, "do_connect")
    def _connect(dialect: Any, _record: object, arguments: Any, options: Any) -> Any:
        seconds = FIRST_PAUSE
        while True:
            try:
                return dialect.connect(*arguments, **options)
            except dialect.loaded_dbapi.OperationalError as problem:
                if not can_come_back(problem) or not pause(seconds * random.uniform(0.5, 1)):
                    raise
            seconds = min(2 * seconds, LONGEST_PAUSE)


# ── messages ─────────────────────────────────────────────────────────────────────────────────────────────────────────

UNREACHABLE = "The database cannot be reached."
REACHABLE = "Check the address and that the server is running."


def describe_kept(*, in_doubt: bool) -> str:
    """Return what a failure leaves; `in_doubt`: the answer to a COMMIT may have been what was lost."""
    if in_doubt:
        return "The last change may have been written or not; everything before it is kept."
    return "Nothing of the unfinished change was written."


def unreachable_error(error: DBAPIError, location: str, waited: float, *, in_doubt: bool) -> Unreachable:
    """Return the error for a server that did not come back in time."""
    text = first_error_line(error)
    # libpq's words for a read-only server, since `target_session_attrs` asks for a writable one.
    is_read_only = "session is read-only" in text or getattr(error.orig, "sqlstate", None) == "25006"
    what, public, advice = f"{location} cannot be reached", UNREACHABLE, REACHABLE
    if is_read_only:
        what, public = f"{location} is read-only", "The database is read-only."
        advice = (
            "Use the address of a server that can be written to; after a failover, try again when the new one is up."
        )
    elif error.connection_invalidated:
        what, public = f"The connection to {location} was lost", "The connection to the database was lost."
    so_long = f" and did not come back in {waited:.1f} s" if waited >= FIRST_PAUSE else ""
    return Unreachable(
        f"{what}{so_long} ({text}).",
        kept=describe_kept(in_doubt=in_doubt),
        advice="Look whether it is there before you repeat it." if in_doubt else advice,
        public=public,
    )


def explain_failure(error: DBAPIError, location: str, *, in_doubt: bool = False) -> StoreError:
    """Return the error for a failure that is not waited for."""
    text = first_error_line(error)
    message = f"{getattr(error.orig, 'sqlstate', None) or ''} {text}".lower()
    kept = describe_kept(in_doubt=in_doubt)
    # The first sign counts, so the more general ones come last.
    for sign, what, advice in (
        ("disk is full", "The disk is full.", "Free some space and try again."),
        ("53100 ", "The disk of the database server is full.", "Free some space there and try again."),
        ("readonly database", f"{location} is read-only.", "Give yourself write access, or set TABLEWRIGHT_HOME."),
        (
            "unable to open",
            f"{location} cannot be opened.",
            "Check that its folder exists and that you may write there: SQLite puts two more files next to its own.",
        ),
        ("not a database", f"{location} is not a Tablewright database.", "Set TABLEWRIGHT_HOME to another folder."),
        ("malformed", f"{location} is damaged.", "Restore it from a backup; `tablewright doctor` says more."),
        ("xx001 ", f"{location} is damaged ({text}).", "Restore it from a backup."),
        ("xx002 ", f"An index of {location} is damaged ({text}).", "Rebuild it with REINDEX."),
        ("disk i/o error", f"{location} cannot be read or written.", "Check the disk, and that it has free space."),
        ("58030 ", f"{location} cannot be read or written.", "Check the disk of the database server."),
        ("database is locked", f"Another process kept {location} busy for {BUSY_SECONDS} s.", "Try again."),
        ("connection", f"{location} cannot be reached ({text}).", REACHABLE),
    ):
        if sign in message:
            public = UNREACHABLE if sign == "connection" else what.replace(location, "The database")
            kind = DiskFull if sign in ("disk is full", "53100 ") else StoreError
            return kind(what, kept=kept, advice=advice, public=public)
    return StoreError(f"The database refused: {text}", kept=kept, public="The database refused it.")


def first_error_line(error: DBAPIError) -> str:
    """Return the first line of the driver's message, or the name of its class."""
    text = str(error.orig).strip()
    return text.splitlines()[0] if text else type(error.orig).__name__
