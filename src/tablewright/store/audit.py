"""The audit log: who did what, when, through which door. Rows are only added: the database itself refuses to change or
delete one. It outlives the things that it is about.

An entry is written in the transaction of what it tells, so that neither is there without the other.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from sqlalchemy import Connection, insert, select

from tablewright.domain.model import Noun
from tablewright.store.database import StorePart, acting_in, read_transaction, write_transaction
from tablewright.store.records import RecordMapper, now, printable
from tablewright.store.schema import audit

Action: TypeAlias = Literal[
    "login", "logout", "share", "unshare", "export", "remove", "user", "role", "token", "settings"
]


class AuditEntry(Noun, frozen=True):
    """`thing` says what of which kind, e.g. "table companies-x7k2"; `detail` the rest, in words."""

    number: int
    at: str
    who: str
    door: str
    action: Action
    thing: str
    detail: str = ""


audit_records = RecordMapper(AuditEntry, audit, number="no")


def add_audit_entry(connection: Connection, action: Action, thing: str, detail: str = "", *, who: str = "") -> None:
    acting = acting_in(connection)
    connection.execute(
        insert(audit).values(
            at=now(),
            who=printable(who or acting.actor),
            door=acting.door,
            action=action,
            thing=printable(thing),
            detail=printable(detail),
        )
    )


class Audit(StorePart):
    @write_transaction
    def note(self, connection: Connection, action: Action, thing: str, detail: str = "", *, who: str = "") -> None:
        """What is done outside the database, such as an export."""
        add_audit_entry(connection, action, thing, detail, who=who)

    @read_transaction
    def entries(
        self, connection: Connection, *, before: int | None = None, limit: int = 100, action: str = "", who: str = ""
    ) -> list[AuditEntry]:
        """The newest first, on from before the one of that number."""
        query = select(audit).order_by(audit.c.no.desc()).limit(limit)
        for column, wanted in ((audit.c.action, action), (audit.c.who, who)):
            query = query.where(column == wanted) if wanted else query
        if before is not None:
            query = query.where(audit.c.no < before)
        return audit_records.read_all(connection.execute(query))
