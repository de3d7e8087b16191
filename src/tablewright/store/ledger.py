"""The ledger: what each user may use and has used. Uploads, added rows and spent dollars count by the month, stored
bytes as they are.

An amount is added by one conditional update of the user's line, in the transaction of the write that needs it, so no
two writers, in any process, take the same amount. Dollars are held before they are spent: a hold is settled when its
work ends, and released when its process has died.

Stored bytes are charged to the owner of a thing, no matter who writes to it, and returned when the thing is removed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any, TypeAlias

from sqlalchemy import (
    ColumnElement,
    Connection,
    LargeBinary,
    case,
    cast,
    delete,
    func,
    insert,
    select,
    true,
    update,
)

from tablewright.domain.access import METERED_RESOURCES, MeteredResource, Quota, Shareable
from tablewright.domain.model import Struct
from tablewright.errors import OverQuota
from tablewright.store import schema
from tablewright.store.database import StorePart, limits_in, read_transaction, repeatable_transaction, write_transaction
from tablewright.store.records import RecordMapper, acquire_advisory_lock, build_upsert
from tablewright.store.schema import holds, quotas, runs, shares, spent, tables, users
from tablewright.store.users import acting_user_id, add_audit_entry, find_user_id

# As disks and the settings count, not 1024 * 1024.
MEGABYTE_BYTES = 1_000_000
LIMIT_TEXTS: dict[MeteredResource, str] = {
    "uploads": "{:,.6g} MB of files handed in a month",
    "rows": "{:,.0f} new rows a month",
    "disk": "{:,.6g} MB of documents and tables",
    "dollars": "${:,.2f} a month",
}
# Sums of floating-point dollars are not exact.
ROUNDING_USD = 1e-9
# A slice of usual rows costs less, so it takes one hold.
USUAL_HOLD_USD = 0.25

# The owner of a released hold: its process counts as dead, and its spending is counted.
RELEASED_OWNER = ""

# The id of a hold, and the dollars spent of it.
SpentSoFar: TypeAlias = tuple[str, float]


class DollarHold(Struct, frozen=True):
    """The dollars set aside for one piece of work, with their owner and the process that does the work."""

    id: str
    user_id: str
    owner: str
    month: str


hold_records = RecordMapper(DollarHold, holds)


class SpendingLedger(StorePart):
    @write_transaction
    def charge(self, connection: Connection, what: MeteredResource, amount: float) -> None:
        """Count an amount for the acting user. Raise OverQuota if it would exceed their limit."""
        charge_acting(connection, what, amount)

    @read_transaction
    def refuse_spent(self, connection: Connection) -> None:
        """Raise OverQuota if the acting user has spent all the dollars of the month."""
        user = acting_user_id(connection)
        most = find_user_limit(connection, user, "dollars") if user else None
        if most is not None and read_used_amounts(connection, user, "dollars")[0] >= most - ROUNDING_USD:
            raise quota_error(connection, user, "dollars", 0.0)

    @read_transaction
    def describe_dollar_limit(self, connection: Connection, user: str) -> str:
        """Return the limit of dollars; "" without one."""
        most = find_user_limit(connection, user, "dollars") if user else None
        return "" if most is None else LIMIT_TEXTS["dollars"].format(most)

    @repeatable_transaction
    def hold_dollars(self, connection: Connection, hold: DollarHold, needed: float, spent: float) -> float:
        """Hold at least `needed` more dollars, and return how many; 0 if the limit forbids it, infinity without a
        limit. `spent` is what the work has cost so far."""
        most = find_user_limit(connection, hold.user_id, "dollars")
        if most is None:
            return math.inf
        acquire_advisory_lock(connection, f"holds of {hold.user_id}")
        line = ensure_spent_line(connection, hold.user_id, "dollars", hold.month)
        used, held = read_used_amounts(connection, hold.user_id, "dollars", hold.month)
        # For expensive requests a hold covers twenty, so that they do not need a hold each; but at most a tenth of what
        # is left, so that near the limit parallel runs each get something.
        usual = min(max(USUAL_HOLD_USD, 20 * needed), 0.1 * (most - used - held))
        lines = schema.spent
        # First the usual hold; if it does not fit, only what is needed now.
        for amount in dict.fromkeys((max(needed, usual), needed)):
            room = lines.c.amount + lines.c.held + amount <= most + ROUNDING_USD
            if connection.execute(update(lines).where(line, room).values(held=lines.c.held + amount)).rowcount:
                statement = build_upsert(connection, holds).values(hold_records.write(hold, amount=amount, spent=spent))
                # A released hold has been counted once; its noted amount must not grow again.
                noted = case((holds.c.owner == RELEASED_OWNER, holds.c.spent), else_=spent)
                raised = {"amount": holds.c.amount + amount, "spent": noted}
                connection.execute(statement.on_conflict_do_update(index_elements=["id"], set_=raised))
                return amount
        return 0.0

    @write_transaction
    def settle_dollars(self, connection: Connection, hold: DollarHold, spent: float) -> None:
        """Count what the work has cost, and release the rest of its hold."""
        acquire_advisory_lock(connection, f"holds of {hold.user_id}")
        gone = delete(holds).where(holds.c.id == hold.id).returning(holds.c.amount, holds.c.spent, holds.c.owner)
        found = connection.execute(gone).one_or_none()
        # What was released was counted then; only the rest is new.
        counted = found.spent if found is not None and found.owner == RELEASED_OWNER else 0.0
        if found is not None or spent:
            held = found.amount if found is not None else 0.0
            close_hold(connection, hold.user_id, hold.month, held, max(0.0, spent - counted))

    @read_transaction
    def holders(self, connection: Connection, user: str) -> list[str]:
        """Return the processes that hold dollars of a user."""
        query = select(holds.c.owner).where(holds.c.user_id == user, holds.c.owner != RELEASED_OWNER).distinct()
        return list(connection.scalars(query))

    @repeatable_transaction
    def release_holds(self, connection: Connection, user: str, owners: Sequence[str]) -> None:
        """Release the holds of dead processes; what they are known to have spent counts. That is kept for the month, so
        that one that was alive after all is not counted twice."""
        acquire_advisory_lock(connection, f"holds of {user}")
        theirs = (holds.c.user_id == user) & holds.c.owner.in_(list(owners))
        for record in connection.execute(select(holds).where(theirs)).all():
            this = update(holds).where(holds.c.id == record.id)
            connection.execute(this.values(owner=RELEASED_OWNER, amount=0.0))
            close_hold(connection, user, record.month, record.amount, record.spent)
        # Kept for the month, in case the process was alive after all and settles its hold.
        old = (holds.c.owner == RELEASED_OWNER) & (holds.c.month < this_month())
        connection.execute(delete(holds).where(holds.c.user_id == user, old))

    @read_transaction
    def of(self, connection: Connection, name: str) -> list[Quota]:
        """Return a user's usage and limits."""
        user = find_user_id(connection, name)
        found = []
        for what in METERED_RESOURCES:
            used, held = read_used_amounts(connection, user, what)
            unit = MEGABYTE_BYTES if what == "disk" else 1
            found.append(
                Quota(
                    what=what,
                    used=round(used / unit, 6),
                    most=find_user_limit(connection, user, what),
                    renews_on="" if what == "disk" else next_month(),
                    held=round(held, 6),
                )
            )
        return found

    @repeatable_transaction
    def limit(self, connection: Connection, name: str, limits: Mapping[MeteredResource, float | None]) -> None:
        """Set a user's own limits; None restores the default of the settings."""
        user = find_user_id(connection, name)
        for what, most in limits.items():
            connection.execute(delete(quotas).where(quotas.c.user_id == user, quotas.c.what == what))
            if most is not None:
                connection.execute(insert(quotas).values(user_id=user, what=what, most=most))
            said = "as the settings say" if most is None else LIMIT_TEXTS[what].format(most)
            add_audit_entry(connection, "settings", f"user {name}", f"limit of {what}: {said}")


def charge_acting(connection: Connection, what: MeteredResource, amount: float) -> None:
    """Count an amount for the acting user, in this transaction. Raise OverQuota if it would exceed their limit."""
    user = acting_user_id(connection)
    if user and amount and not add_amount(connection, user, what, amount):
        raise quota_error(connection, user, what, amount)


def charge_bytes(connection: Connection, kind: Shareable, id: str, grown: int, *, even_above: bool = False) -> None:
    """Charge the owner of a thing for the bytes it has grown by, which may be negative. Call this last in a
    transaction: it blocks the owner's other writes. `even_above` ignores the limit, for short texts that must be
    written, such as how a run ended."""
    if not grown:
        return
    own = (shares.c.kind == kind) & (shares.c.thing_id == id) & shares.c.owns
    # In one order for all transactions, which prevents deadlocks.
    for user in connection.scalars(select(shares.c.user_id).where(own).order_by(shares.c.user_id)).all():
        if not add_amount(connection, user, "disk", grown, even_above=even_above):
            raise quota_error(connection, user, "disk", grown)
        connection.execute(update(shares).where(own, shares.c.user_id == user).values(bytes=shares.c.bytes + grown))


def set_bytes(connection: Connection, kind: Shareable, id: str, size: int) -> None:
    """Charge the owner for a thing that was rewritten and now has this size."""
    own = (shares.c.kind == kind) & (shares.c.thing_id == id) & shares.c.owns
    charge_bytes(connection, kind, id, size - (connection.scalar(select(shares.c.bytes).where(own)) or 0))


def charge_table(connection: Connection, table_no: int, grown: int, *, even_above: bool = False) -> None:
    """Charge the owner of a table; 0 is no table, which has no owner."""
    if grown:
        id = connection.scalar(select(tables.c.id).where(tables.c.no == table_no))
        if id is not None:
            charge_bytes(connection, "table", id, grown, even_above=even_above)


def charge_run(connection: Connection, run_id: str, grown: int, *, even_above: bool = False) -> None:
    """Charge the owner of a run's table for what the run writes besides cells."""
    if grown:
        table_no = connection.scalar(select(runs.c.table_no).where(runs.c.id == run_id))
        if table_no is not None:
            charge_table(connection, table_no, grown, even_above=even_above)


def return_bytes(connection: Connection, gone: ColumnElement[bool]) -> None:
    """Return to owners the bytes they were charged; `gone` are the shares that end."""
    total = func.sum(shares.c.bytes)
    owned = select(shares.c.user_id, total.label("total")).where(gone, shares.c.owns, shares.c.bytes > 0)
    for record in connection.execute(owned.group_by(shares.c.user_id).order_by(shares.c.user_id)).all():
        add_amount(connection, record.user_id, "disk", -int(record.total))


def remaining_disk_bytes(connection: Connection) -> float:
    """Return the bytes that the acting user may still store now, so that long writes can stop early."""
    user = acting_user_id(connection)
    most = find_user_limit(connection, user, "disk") if user else None
    return math.inf if most is None else most * MEGABYTE_BYTES - read_used_amounts(connection, user, "disk")[0]


def refuse_disk_use(connection: Connection, grown: int) -> None:
    """Raise OverQuota for a write of the acting user that has outgrown its room."""
    raise quota_error(connection, acting_user_id(connection), "disk", grown)


def record_spent(connection: Connection, spent: SpentSoFar | None) -> None:
    """Record with a hold what was spent of it so far, so that it counts even if its process dies."""
    if spent is not None:
        open_hold = (holds.c.id == spent[0]) & (holds.c.owner != RELEASED_OWNER)
        connection.execute(update(holds).where(open_hold).values(spent=spent[1]))


def add_amount(
    connection: Connection, user: str, what: MeteredResource, amount: float, *, even_above: bool = False
) -> bool:
    """Add to a user's usage unless that exceeds their limit; return True if it was added. Returning an amount always
    works."""
    lines = spent
    line = ensure_spent_line(connection, user, what)
    most = find_user_limit(connection, user, what) if amount > 0 and not even_above else None
    room: ColumnElement[bool] = true()
    if most is not None:
        most *= MEGABYTE_BYTES if what == "disk" else 1
        room = lines.c.amount + lines.c.held + amount <= most + ROUNDING_USD
    total = lines.c.amount + amount
    # Rounding and repeated returns must not leave a negative amount.
    kept = total if amount > 0 else case((total < 0, 0.0), else_=total)
    return bool(connection.execute(update(lines).where(line, room).values(amount=kept)).rowcount)


def close_hold(connection: Connection, user: str, month: str, held: float, spent: float) -> None:
    lines = schema.spent
    left = lines.c.held - held
    # A rest that is only a rounding error would never be released.
    rest = case((left < ROUNDING_USD, 0.0), else_=left)
    line = ensure_spent_line(connection, user, "dollars", month)
    connection.execute(update(lines).where(line).values(held=rest, amount=lines.c.amount + spent))


def ensure_spent_line(
    connection: Connection, user: str, what: MeteredResource, month: str | None = None
) -> ColumnElement[bool]:
    """Return the condition of a user's line, after creating it if necessary."""
    lines, when = spent, billing_month(what) if month is None else month
    own = (lines.c.user_id == user) & (lines.c.month == when) & (lines.c.what == what)
    # Asked first: the line is almost always there, and an insert that conflicts would write for nothing.
    if connection.scalar(select(lines.c.user_id).where(own)) is None:
        values = {"user_id": user, "month": when, "what": what, "amount": 0.0, "held": 0.0}
        connection.execute(build_upsert(connection, lines).values(values).on_conflict_do_nothing())
    return own


def read_used_amounts(
    connection: Connection, user: str, what: MeteredResource, month: str | None = None
) -> tuple[float, float]:
    """Return what is used and what is held now."""
    lines, when = spent, billing_month(what) if month is None else month
    own = (lines.c.user_id == user) & (lines.c.month == when) & (lines.c.what == what)
    found = connection.execute(select(lines.c.amount, lines.c.held).where(own)).one_or_none()
    return (0.0, 0.0) if found is None else (float(found.amount), float(found.held))


def find_user_limit(connection: Connection, user: str, what: MeteredResource) -> float | None:
    """Return a user's limit, their own or that of the settings; None for admins and without a limit."""
    own = (quotas.c.user_id == users.c.id) & (quotas.c.what == what)
    query = select(users.c.role, quotas.c.most).outerjoin(quotas, own).where(users.c.id == user)
    found = connection.execute(query).one_or_none()
    # Admins could raise their own limit, so they have none.
    if found is not None and found.role == "admin":
        return None
    return limits_in(connection).get(what) if found is None or found.most is None else float(found.most)


def quota_error(connection: Connection, user: str, what: MeteredResource, needed: float) -> OverQuota:
    used, held = read_used_amounts(connection, user, what)
    most = find_user_limit(connection, user, what) or 0.0
    unit = MEGABYTE_BYTES if what == "disk" else 1
    needs = f", and this needs {format_metered_amount(what, needed / unit)}" if needed else ""
    renews = "Remove something first" if what == "disk" else f"It renews on {next_month()} (UTC)"
    so_far = format_metered_amount(what, (used + held) / unit)
    return OverQuota(
        f"Your limit is {LIMIT_TEXTS[what].format(most)}: {so_far} used{needs}.",
        kept="Nothing of it was written; what was there before is kept.",
        advice=f"{renews}, or ask an admin to raise it.",
    )


def format_metered_amount(what: MeteredResource, amount: float) -> str:
    amount = max(0.0, amount)
    if what == "rows":
        return f"{amount:,.0f}"
    return f"${amount:,.2f}" if what == "dollars" else f"{amount:,.3g} MB"


def stored_utf8_bytes(connection: Connection, column: ColumnElement[Any]) -> ColumnElement[int]:
    """Return the bytes of a stored text, 0 for none. The `length` of SQLite counts characters, but of a blob bytes."""
    is_sqlite = connection.dialect.name == "sqlite"
    return func.coalesce(func.length(cast(column, LargeBinary)) if is_sqlite else func.octet_length(column), 0)


def billing_month(what: MeteredResource) -> str:
    """Return the month that an amount counts for; "" for what does not renew."""
    return "" if what == "disk" else this_month()


def this_month() -> str:
    return datetime.now(UTC).strftime("%Y-%m")


def next_month() -> str:
    today = datetime.now(UTC).date()
    return date(today.year + today.month // 12, today.month % 12 + 1, 1).isoformat()
