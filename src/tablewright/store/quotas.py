"""What a person may use in a month, and what they have used: files handed in, rows added, dollars spent; and the disk
that their things take.

What would pass a limit is refused in the transaction that would pass it, so that nothing of it is written."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime

import msgspec
from sqlalchemy import Connection, delete, func, insert, select

from tablewright.errors import OverQuota
from tablewright.store import schema
from tablewright.store.audit import note
from tablewright.store.database import Database, acting_in
from tablewright.store.dialect import upsert
from tablewright.store.sharing import owner_of, user_id
from tablewright.table.access import METERED, Metered
from tablewright.table.model import Noun

MEGABYTE = 1_000_000
WORDS: dict[Metered, str] = {
    "uploads": "{:,.6g} MB of files handed in a month",
    "rows": "{:,.0f} new rows a month",
    "disk": "{:,.6g} MB of documents and tables",
    "dollars": "${:,.2f} a month",
}


class Quota(Noun, frozen=True):
    """`most` is None without a limit; `renews_on` is empty for the disk: it is free again once things are removed."""

    what: Metered
    used: float
    most: float | None = None
    renews_on: str = ""


def charge(connection: Connection, what: Metered, amount: float) -> None:
    """Counts it for whoever acts; refused where it would pass their limit. Of the disk it is there already."""
    person = owner_of(connection)
    if not person or not amount:
        return
    if what != "disk":
        add_spent(connection, person, what, amount)
    check(connection, what, amount)


def check(connection: Connection, what: Metered, needed: float = 0.0) -> None:
    """Refused where they have used more than they may; `needed` of it is for what is being done."""
    most = acting_in(connection).limits.get(what)
    person = owner_of(connection)
    if most is None or not person:
        return
    used = used_by(connection, person, what)
    if used > most or (used == most and what == "dollars"):
        wanted = f", and this needs {amount_text(what, needed)}" if needed else ""
        renews = "Remove something first" if what == "disk" else f"It renews on {next_month()} (UTC)"
        raise OverQuota(
            f"Your limit is {WORDS[what].format(most)}: {amount_text(what, used - needed)} used{wanted}.",
            kept="Nothing was done.",
            advice=f"{renews}, or ask an admin to raise it.",
        )


def amount_text(what: Metered, amount: float) -> str:
    amount = max(0.0, amount)
    if what == "rows":
        return f"{amount:,.0f}"
    return f"${amount:,.2f}" if what == "dollars" else f"{amount:,.3g} MB"


def add_spent(connection: Connection, person: str, what: Metered, amount: float) -> None:
    spent = schema.spent
    statement = upsert(connection, spent).values(user_id=person, month=this_month(), what=what, amount=amount)
    total = {"amount": spent.c.amount + amount}
    connection.execute(statement.on_conflict_do_update(index_elements=["user_id", "month", "what"], set_=total))


def used_by(connection: Connection, person: str, what: Metered) -> float:
    if what == "disk":
        return disk_of(connection, person) / MEGABYTE
    spent = schema.spent
    own = (spent.c.user_id == person) & (spent.c.month == this_month()) & (spent.c.what == what)
    return float(connection.execute(select(spent.c.amount).where(own)).scalar() or 0.0)


def disk_of(connection: Connection, person: str) -> int:
    """Bytes: the files of their documents, and what stands in the rows of their tables."""
    shares, rows, cells = schema.shares, schema.rows, schema.cells
    own = select(shares.c.thing_id).where(shares.c.user_id == person, shares.c.owns)
    documents = select(schema.documents.c.document).where(
        schema.documents.c.id.in_(own.where(shares.c.kind == "document"))
    )
    files = sum(msgspec.json.decode(each)["size"] for each in connection.execute(documents).scalars())
    tables = select(schema.tables.c.no).where(schema.tables.c.id.in_(own.where(shares.c.kind == "table")))
    for column in (rows.c.given, cells.c.cell):
        length = select(func.sum(func.length(column))).where(column.table.c.table_no.in_(tables))
        files += int(connection.execute(length).scalar() or 0)
    return int(files)


class Quotas:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def charge(self, what: Metered, amount: float) -> None:
        await self._database.write(lambda connection: charge(connection, what, amount))

    async def left(self) -> float | None:
        """The dollars that whoever acts may still spend this month; refused where there are none, None without a
        limit."""

        def work(connection: Connection) -> float | None:
            check(connection, "dollars")
            most = acting_in(connection).limits.get("dollars")
            return None if most is None else most - used_by(connection, owner_of(connection), "dollars")

        return await self._database.read(work)

    async def spend(self, person: str, dollars: float) -> None:
        """What was done in somebody's name, by whatever process, has cost so much."""
        if person and dollars:
            await self._database.write(lambda connection: add_spent(connection, person, "dollars", dollars))

    async def of(self, name: str, limits: Mapping[Metered, float]) -> list[Quota]:
        """What a user has used of each, beside these limits."""

        def work(connection: Connection) -> list[Quota]:
            person = user_id(connection, name)
            return [
                Quota(
                    what=what,
                    used=round(used_by(connection, person, what), 6),
                    most=limits.get(what),
                    renews_on="" if what == "disk" else next_month(),
                )
                for what in METERED
            ]

        return await self._database.read(work)

    async def limit(self, name: str, limits: Mapping[Metered, float | None]) -> None:
        """Limits of their own for a user; None: as the settings say for everybody."""

        def work(connection: Connection) -> None:
            quotas, person = schema.quotas, user_id(connection, name)
            for what, most in limits.items():
                connection.execute(delete(quotas).where(quotas.c.user_id == person, quotas.c.what == what))
                if most is not None:
                    connection.execute(insert(quotas).values(user_id=person, what=what, most=most))
                said = "as the settings say" if most is None else WORDS[what].format(most)
                note(connection, "settings", f"user {name}", f"limit of {what}: {said}")

        await self._database.write(work, repeatable=True)


def this_month() -> str:
    return datetime.now(UTC).strftime("%Y-%m")


def next_month() -> str:
    today = datetime.now(UTC).date()
    return date(today.year + today.month // 12, today.month % 12 + 1, 1).isoformat()
