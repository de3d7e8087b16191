"""How the rows of a table were found: one record for each table that was made by a search for rows."""

from __future__ import annotations

import msgspec
from sqlalchemy import Connection, select

from tablewright.domain.listing import Listing
from tablewright.errors import NotFound
from tablewright.store.database import StorePart, read_transaction, repeatable_transaction
from tablewright.store.dialect import put
from tablewright.store.ledger import charge_table, octet_length, octets
from tablewright.store.records import now, to_text
from tablewright.store.schema import listings
from tablewright.store.tables import head

_listing = msgspec.json.Decoder(Listing)


class Listings(StorePart):
    @read_transaction
    def get(self, connection: Connection, table_id: str) -> Listing:
        """Raises NotFound for a table whose rows came another way."""
        found = head(connection, table_id)
        content = connection.execute(
            select(listings.c.content).where(listings.c.table_no == found.no)
        ).scalar_one_or_none()
        if content is None:
            raise NotFound(
                f"The rows of {found.table.name} were not found by a search.",
                advice='`tablewright find "…"` makes a table whose rows are.',
            )
        return _listing.decode(content)

    @repeatable_transaction
    def keep(self, connection: Connection, listing: Listing) -> Listing:
        """As it is now; whoever may not change the table may not change how it was found."""
        kept = msgspec.structs.replace(listing, updated_at=now())
        no, content = head(connection, listing.table_id, lock=True).no, to_text(kept)
        size = octet_length(connection, listings.c.content)
        before = connection.scalar(select(size).where(listings.c.table_no == no)) or 0
        put(connection, listings, {"table_no": no, "content": content})
        charge_table(connection, no, octets(content) - before)
        return kept
