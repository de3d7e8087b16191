"""The ledger: what each user may use and has used. Files handed in, rows added and dollars spent are counted by the
month, stored bytes as they stand.

An amount is taken by one conditional update of the user's line, in the transaction of the write that needs it, so no
two writers, in whatever process, take the same. Dollars are held before they are spent: a hold is settled when its work
ends, and released when its process has died.

Stored bytes are charged to the owner of a thing, whoever writes to it, and given back when the thing is removed.
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

from tablewright.domain.access import METERED, Metered, Quota, Shareable
from tablewright.domain.model import Noun
from tablewright.errors import OverQuota
from tablewright.store import schema
from tablewright.store.database import StorePart, limits_in, read_transaction, repeatable_transaction, write_transaction
from tablewright.store.records import RecordMapper, take_turns, upsert
from tablewright.store.schema import holds, quotas, runs, shares, spent, tables, users
from tablewright.store.users import add_audit_entry, find_user_id, owner_of

MEGABYTE = 1_000_000
WORDS: dict[Metered, str] = {
    "uploads": "{:,.6g} MB of files handed in a month",
    "rows": "{:,.0f} new rows a month",
    "disk": "{:,.6g} MB of documents and tables",
    "dollars": "${:,.2f} a month",
}
ROUNDING = 1e-9
"""Dollars: their sums are not exact."""
HOLD_USD = 0.25
"""Dollars that are held at once, so that a slice of usual rows takes one hold."""
HOLD_REQUESTS = 20
"""Requests that a hold is for, where one of them may cost so much that they are more than the usual hold."""
HOLD_SHARE = 0.1
"""The part of what is left that is held at once, at most: near the limit, runs side by side each get something."""

RELEASED = ""
"""In the place of the process of a hold: it counts as dead, and what it had spent is counted."""

SpentSoFar: TypeAlias = tuple[str, float]
"""The id of a hold, and the dollars that were spent of it."""


class DollarHold(Noun, frozen=True):
    """The dollars set aside for one piece of work: whose they are, and which process does the work."""

    id: str
    user_id: str
    owner: str
    month: str


hold_records = RecordMapper(DollarHold, holds)


class SpendingLedger(StorePart):
    @write_transaction
    def charge(self, connection: Connection, what: Metered, amount: float) -> None:
        """Count it for the acting user; refused where it would pass their limit."""
        charge_acting(connection, what, amount)

    @read_transaction
    def refuse_spent(self, connection: Connection) -> None:
        """Raise OverQuota if the acting user has spent all the dollars of the month."""
        user = owner_of(connection)
        most = limit_of(connection, user, "dollars") if user else None
        if most is not None and amounts_of(connection, user, "dollars")[0] >= most - ROUNDING:
            raise over_quota(connection, user, "dollars", 0.0)

    @read_transaction
    def dollars_in_words(self, connection: Connection, user: str) -> str:
        """Return the limit of dollars; "" without one."""
        most = limit_of(connection, user, "dollars") if user else None
        return "" if most is None else WORDS["dollars"].format(most)

    @repeatable_transaction
    def hold_dollars(self, connection: Connection, hold: DollarHold, needed: float, spent: float) -> float:
        """Hold at least `needed` dollars more, and return how many; 0 where the limit forbids it, infinitely many
        where there is none. `spent` is what the work has taken so far."""
        most = limit_of(connection, hold.user_id, "dollars")
        if most is None:
            return math.inf
        take_turns(connection, f"holds of {hold.user_id}")
        line = open_line(connection, hold.user_id, "dollars", hold.month)
        used, held = amounts_of(connection, hold.user_id, "dollars", hold.month)
        usual = min(max(HOLD_USD, HOLD_REQUESTS * needed), HOLD_SHARE * (most - used - held))
        lines = schema.spent
        for amount in dict.fromkeys((max(needed, usual), needed)):
            room = lines.c.amount + lines.c.held + amount <= most + ROUNDING
            if connection.execute(update(lines).where(line, room).values(held=lines.c.held + amount)).rowcount:
                statement = upsert(connection, holds).values(hold_records.write(hold, amount=amount, spent=spent))
                noted = case((holds.c.owner == RELEASED, holds.c.spent), else_=spent)
                raised = {"amount": holds.c.amount + amount, "spent": noted}
                connection.execute(statement.on_conflict_do_update(index_elements=["id"], set_=raised))
                return amount
        return 0.0

    @write_transaction
    def settle_dollars(self, connection: Connection, hold: DollarHold, spent: float) -> None:
        """Count what the work has spent, and release the rest of its hold."""
        take_turns(connection, f"holds of {hold.user_id}")
        gone = delete(holds).where(holds.c.id == hold.id).returning(holds.c.amount, holds.c.spent, holds.c.owner)
        found = connection.execute(gone).one_or_none()
        counted = found.spent if found is not None and found.owner == RELEASED else 0.0
        if found is not None or spent:
            held = found.amount if found is not None else 0.0
            close_hold(connection, hold.user_id, hold.month, held, max(0.0, spent - counted))

    @read_transaction
    def holders(self, connection: Connection, user: str) -> list[str]:
        """Return the processes that hold dollars of a user."""
        query = select(holds.c.owner).where(holds.c.user_id == user, holds.c.owner != RELEASED).distinct()
        return list(connection.scalars(query))

    @repeatable_transaction
    def release_holds(self, connection: Connection, user: str, owners: Sequence[str]) -> None:
        """Release what processes that have died held; what they had spent by then, as far as it is written, counts.
        That is kept for the month, so that one that was alive after all is not counted twice."""
        take_turns(connection, f"holds of {user}")
        theirs = (holds.c.user_id == user) & holds.c.owner.in_(list(owners))
        for record in connection.execute(select(holds).where(theirs)).all():
            this = update(holds).where(holds.c.id == record.id)
            connection.execute(this.values(owner=RELEASED, amount=0.0))
            close_hold(connection, user, record.month, record.amount, record.spent)
        old = (holds.c.owner == RELEASED) & (holds.c.month < this_month())
        connection.execute(delete(holds).where(holds.c.user_id == user, old))

    @read_transaction
    def of(self, connection: Connection, name: str) -> list[Quota]:
        """Return what a user has used of each, and their limits."""
        user = find_user_id(connection, name)
        found = []
        for what in METERED:
            used, held = amounts_of(connection, user, what)
            unit = MEGABYTE if what == "disk" else 1
            found.append(
                Quota(
                    what=what,
                    used=round(used / unit, 6),
                    most=limit_of(connection, user, what),
                    renews_on="" if what == "disk" else next_month(),
                    held=round(held, 6),
                )
            )
        return found

    @repeatable_transaction
    def limit(self, connection: Connection, name: str, limits: Mapping[Metered, float | None]) -> None:
        """Set limits of their own for a user; None: as the settings say for everybody."""
        user = find_user_id(connection, name)
        for what, most in limits.items():
            connection.execute(delete(quotas).where(quotas.c.user_id == user, quotas.c.what == what))
            if most is not None:
                connection.execute(insert(quotas).values(user_id=user, what=what, most=most))
            said = "as the settings say" if most is None else WORDS[what].format(most)
            add_audit_entry(connection, "settings", f"user {name}", f"limit of {what}: {said}")


def charge_acting(connection: Connection, what: Metered, amount: float) -> None:
    """Count it for the acting user, in this transaction; refused where it would pass their limit."""
    user = owner_of(connection)
    if user and amount and not take_amount(connection, user, what, amount):
        raise over_quota(connection, user, what, amount)


def charge_bytes(connection: Connection, kind: Shareable, id: str, grown: int, *, even_above: bool = False) -> None:
    """Charge the owner of a thing for the bytes that it has grown by, which may be less than none. The last thing a
    transaction does: it keeps the owner's other writes waiting. `even_above` the limit: for a few words that have to be
    written, such as how a run ended."""
    if not grown:
        return
    own = (shares.c.kind == kind) & (shares.c.thing_id == id) & shares.c.owns
    for user in connection.scalars(select(shares.c.user_id).where(own).order_by(shares.c.user_id)).all():
        if not take_amount(connection, user, "disk", grown, even_above=even_above):
            raise over_quota(connection, user, "disk", grown)
        connection.execute(update(shares).where(own, shares.c.user_id == user).values(bytes=shares.c.bytes + grown))


def set_bytes(connection: Connection, kind: Shareable, id: str, size: int) -> None:
    """As `charge_bytes`, where the thing was written anew and now has that size."""
    own = (shares.c.kind == kind) & (shares.c.thing_id == id) & shares.c.owns
    charge_bytes(connection, kind, id, size - (connection.scalar(select(shares.c.bytes).where(own)) or 0))


def charge_table(connection: Connection, table_no: int, grown: int, *, even_above: bool = False) -> None:
    """As `charge_bytes`, for the table of that number; what is about no table is nobody's."""
    if grown:
        id = connection.scalar(select(tables.c.id).where(tables.c.no == table_no))
        if id is not None:
            charge_bytes(connection, "table", id, grown, even_above=even_above)


def charge_run(connection: Connection, run_id: str, grown: int, *, even_above: bool = False) -> None:
    """As `charge_bytes`, for what a run writes beside its table."""
    if grown:
        table_no = connection.scalar(select(runs.c.table_no).where(runs.c.id == run_id))
        if table_no is not None:
            charge_table(connection, table_no, grown, even_above=even_above)


def return_bytes(connection: Connection, gone: ColumnElement[bool]) -> None:
    """Give back what the owners of things were charged for them; `gone` are the shares that end."""
    total = func.sum(shares.c.bytes)
    owned = select(shares.c.user_id, total.label("total")).where(gone, shares.c.owns, shares.c.bytes > 0)
    for record in connection.execute(owned.group_by(shares.c.user_id).order_by(shares.c.user_id)).all():
        take_amount(connection, record.user_id, "disk", -int(record.total))


def room_for_bytes(connection: Connection) -> float:
    """Return the bytes that the acting user may still store, as it is now: for long writes, which stop early."""
    user = owner_of(connection)
    most = limit_of(connection, user, "disk") if user else None
    return math.inf if most is None else most * MEGABYTE - amounts_of(connection, user, "disk")[0]


def refuse_bytes(connection: Connection, grown: int) -> None:
    """Raise for a write of the acting user that has outgrown the room it had."""
    raise over_quota(connection, owner_of(connection), "disk", grown)


def note_spent(connection: Connection, spent: SpentSoFar | None) -> None:
    """Note with a hold what was spent of it so far, so that it counts even if its process dies."""
    if spent is not None:
        open_hold = (holds.c.id == spent[0]) & (holds.c.owner != RELEASED)
        connection.execute(update(holds).where(open_hold).values(spent=spent[1]))


def take_amount(connection: Connection, user: str, what: Metered, amount: float, *, even_above: bool = False) -> bool:
    """Add to what a user has used, unless that passes their limit; whether it was added. Giving back always works."""
    lines = spent
    line = open_line(connection, user, what)
    most = limit_of(connection, user, what) if amount > 0 and not even_above else None
    room: ColumnElement[bool] = true()
    if most is not None:
        most *= MEGABYTE if what == "disk" else 1
        room = lines.c.amount + lines.c.held + amount <= most + ROUNDING
    total = lines.c.amount + amount
    kept = total if amount > 0 else case((total < 0, 0.0), else_=total)
    return bool(connection.execute(update(lines).where(line, room).values(amount=kept)).rowcount)


def close_hold(connection: Connection, user: str, month: str, held: float, spent: float) -> None:
    lines = schema.spent
    left = lines.c.held - held
    rest = case((left < ROUNDING, 0.0), else_=left)
    line = open_line(connection, user, "dollars", month)
    connection.execute(update(lines).where(line).values(held=rest, amount=lines.c.amount + spent))


def open_line(connection: Connection, user: str, what: Metered, month: str | None = None) -> ColumnElement[bool]:
    """Return the condition of a user's line, which is there from now on."""
    lines, when = spent, month_of(what) if month is None else month
    own = (lines.c.user_id == user) & (lines.c.month == when) & (lines.c.what == what)
    if connection.scalar(select(lines.c.user_id).where(own)) is None:
        values = {"user_id": user, "month": when, "what": what, "amount": 0.0, "held": 0.0}
        connection.execute(upsert(connection, lines).values(values).on_conflict_do_nothing())
    return own


def amounts_of(connection: Connection, user: str, what: Metered, month: str | None = None) -> tuple[float, float]:
    """Return what is used and what is held, as it is now."""
    lines, when = spent, month_of(what) if month is None else month
    own = (lines.c.user_id == user) & (lines.c.month == when) & (lines.c.what == what)
    found = connection.execute(select(lines.c.amount, lines.c.held).where(own)).one_or_none()
    return (0.0, 0.0) if found is None else (float(found.amount), float(found.held))


def limit_of(connection: Connection, user: str, what: Metered) -> float | None:
    """Return the most that a user may use, their own or that of the settings; None for admins and without a limit."""
    own = (quotas.c.user_id == users.c.id) & (quotas.c.what == what)
    query = select(users.c.role, quotas.c.most).outerjoin(quotas, own).where(users.c.id == user)
    found = connection.execute(query).one_or_none()
    if found is not None and found.role == "admin":
        return None
    return limits_in(connection).get(what) if found is None or found.most is None else float(found.most)


def over_quota(connection: Connection, user: str, what: Metered, needed: float) -> OverQuota:
    used, held = amounts_of(connection, user, what)
    most = limit_of(connection, user, what) or 0.0
    unit = MEGABYTE if what == "disk" else 1
    wanted = f", and this needs {amount_text(what, needed / unit)}" if needed else ""
    renews = "Remove something first" if what == "disk" else f"It renews on {next_month()} (UTC)"
    return OverQuota(
        f"Your limit is {WORDS[what].format(most)}: {amount_text(what, (used + held) / unit)} used{wanted}.",
        kept="Nothing of it was written; what was there before is kept.",
        advice=f"{renews}, or ask an admin to raise it.",
    )


def amount_text(what: Metered, amount: float) -> str:
    amount = max(0.0, amount)
    if what == "rows":
        return f"{amount:,.0f}"
    return f"${amount:,.2f}" if what == "dollars" else f"{amount:,.3g} MB"


def octets(*texts: str | None) -> int:
    """Return the bytes of these texts in UTF-8."""
    return sum(len(text) if text.isascii() else len(text.encode()) for text in texts if text)


def octet_length(connection: Connection, column: ColumnElement[Any]) -> ColumnElement[int]:
    """Return the bytes of a stored text, 0 for none. The `length` of SQLite counts characters, but of a blob bytes."""
    is_sqlite = connection.dialect.name == "sqlite"
    return func.coalesce(func.length(cast(column, LargeBinary)) if is_sqlite else func.octet_length(column), 0)


def month_of(what: Metered) -> str:
    """Return the month that an amount counts for; "" for what does not renew."""
    return "" if what == "disk" else this_month()


def this_month() -> str:
    return datetime.now(UTC).strftime("%Y-%m")


def next_month() -> str:
    today = datetime.now(UTC).date()
    return date(today.year + today.month // 12, today.month % 12 + 1, 1).isoformat()
