"""Views of tables: those that have a name are for all who see the table; one without is how a person left it."""

from __future__ import annotations

import msgspec
from sqlalchemy import ColumnElement, Connection, and_, delete, select

from tablewright.domain.views import View
from tablewright.store.database import StorePart, read_transaction, repeatable_transaction
from tablewright.store.dialect import put
from tablewright.store.records import to_text
from tablewright.store.schema import views
from tablewright.store.tables import head

_view = msgspec.json.Decoder(View)


class Views(StorePart):
    @read_transaction
    def named(self, connection: Connection, table_id: str) -> list[View]:
        """In the order of their names."""
        query = select(views.c.content).where(views.c.table_no == head(connection, table_id).no)
        query = query.where(views.c.name != "").order_by(views.c.name)
        return [_view.decode(content) for content in connection.scalars(query)]

    @read_transaction
    def left_by(self, connection: Connection, table_id: str, person: str) -> View:
        """How the person left the table; as it comes, where they were never there."""
        found = one(head(connection, table_id).no, person, "")
        content = connection.scalar(select(views.c.content).where(found))
        return _view.decode(content) if content else View()

    @repeatable_transaction
    def keep(self, connection: Connection, table_id: str, view: View, *, person: str = "") -> None:
        """In place of the one of that name; without a name, as the person's own."""
        key = {"table_no": head(connection, table_id).no, "name": view.name, "person": "" if view.name else person}
        put(connection, views, {**key, "content": to_text(view)})

    @repeatable_transaction
    def remove(self, connection: Connection, table_id: str, name: str) -> None:
        connection.execute(delete(views).where(one(head(connection, table_id).no, "", name)))


def one(table_no: int, person: str, name: str) -> ColumnElement[bool]:
    return and_(views.c.table_no == table_no, views.c.person == person, views.c.name == name)
