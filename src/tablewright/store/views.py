"""Views of tables: those that have a name are for all who see the table; one without is how a person left it."""

from __future__ import annotations

import msgspec
from sqlalchemy import ColumnElement, Connection, and_, delete, select

from tablewright.domain.views import View
from tablewright.store import schema
from tablewright.store.database import Database
from tablewright.store.dialect import upsert
from tablewright.store.records import to_text
from tablewright.store.tables import head

_view = msgspec.json.Decoder(View)


class Views:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def named(self, table_id: str) -> list[View]:
        """In the order of their names."""

        def work(connection: Connection) -> list[View]:
            views = schema.views
            query = select(views.c.content).where(views.c.table_no == head(connection, table_id).no)
            query = query.where(views.c.name != "").order_by(views.c.name)
            return [_view.decode(content) for content in connection.execute(query).scalars()]

        return await self._database.read(work)

    async def left_by(self, table_id: str, person: str) -> View:
        """How the person left the table; as it comes, where they were never there."""

        def work(connection: Connection) -> View:
            found = one(head(connection, table_id).no, person, "")
            content = connection.execute(select(schema.views.c.content).where(found)).scalar()
            return _view.decode(content) if content else View()

        return await self._database.read(work)

    async def keep(self, table_id: str, view: View, *, person: str = "") -> None:
        """In place of the one of that name; without a name, as the person's own."""

        def work(connection: Connection) -> None:
            key = {"table_no": head(connection, table_id).no, "name": view.name, "person": "" if view.name else person}
            statement = upsert(connection, schema.views).values(**key, content=to_text(view))
            content = {"content": statement.excluded.content}
            connection.execute(statement.on_conflict_do_update(index_elements=list(key), set_=content))

        await self._database.write(work, repeatable=True)

    async def remove(self, table_id: str, name: str) -> None:
        def work(connection: Connection) -> None:
            connection.execute(delete(schema.views).where(one(head(connection, table_id).no, "", name)))

        await self._database.write(work, repeatable=True)


def one(table_no: int, person: str, name: str) -> ColumnElement[bool]:
    views = schema.views
    return and_(views.c.table_no == table_no, views.c.person == person, views.c.name == name)
