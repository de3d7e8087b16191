"""How the rows of a table were found: one record for each table that was made by a search for rows."""

from __future__ import annotations

import msgspec
from sqlalchemy import Connection, select

from tablewright.domain.listing import Listing
from tablewright.errors import NotFound
from tablewright.store import schema
from tablewright.store.database import Database
from tablewright.store.dialect import upsert
from tablewright.store.ledger import charge_table, octet_length, octets
from tablewright.store.records import now, to_text
from tablewright.store.tables import head

_listing = msgspec.json.Decoder(Listing)


class Listings:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def get(self, table_id: str) -> Listing:
        """Raises NotFound for a table whose rows came another way."""

        def work(connection: Connection) -> Listing:
            found = head(connection, table_id)
            listings = schema.listings
            content = connection.execute(
                select(listings.c.content).where(listings.c.table_no == found.no)
            ).scalar_one_or_none()
            if content is None:
                raise NotFound(
                    f"The rows of {found.table.name} were not found by a search.",
                    advice='`tablewright find "…"` makes a table whose rows are.',
                )
            return _listing.decode(content)

        return await self._database.read(work)

    async def keep(self, listing: Listing) -> Listing:
        """As it is now; whoever may not change the table may not change how it was found."""
        kept = msgspec.structs.replace(listing, updated_at=now())

        def work(connection: Connection) -> None:
            no, content = head(connection, listing.table_id, lock=True).no, to_text(kept)
            size = octet_length(connection, schema.listings.c.content)
            before = connection.execute(select(size).where(schema.listings.c.table_no == no)).scalar() or 0
            statement = upsert(connection, schema.listings).values(table_no=no, content=content)
            connection.execute(
                statement.on_conflict_do_update(
                    index_elements=["table_no"], set_={"content": statement.excluded.content}
                )
            )
            charge_table(connection, no, octets(content) - before)

        await self._database.write(work, repeatable=True)
        return kept
