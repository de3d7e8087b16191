"""Every page that was fetched, as text: what quotes are offsets into. A page that changes is kept in each version, for
cells point to the version they were read from; a text that many pages share is kept once."""

from __future__ import annotations

import zlib
from typing import Any

import msgspec
from sqlalchemy import Connection, select, update
from sqlalchemy import Row as Record

from tablewright.domain.model import Noun
from tablewright.domain.retrieved import Retrieved, content_hash
from tablewright.store.database import StorePart, read_transaction, repeatable_transaction
from tablewright.store.dialect import put, upsert
from tablewright.store.records import RecordMapper, now, printable, to_text
from tablewright.store.schema import pages, texts


class Extra(Noun, frozen=True):
    page_starts: tuple[int, ...] = ()
    links: tuple[str, ...] = ()


class StoredPage(Noun, frozen=True):
    """The newest version of a page, and how to ask its server whether there is a newer one."""

    page: Retrieved
    checked_at: str
    etag: str = ""
    last_modified: str = ""


page_records = RecordMapper(Retrieved, pages, origin="final_url")


class Pages(StorePart):
    @read_transaction
    def newest(self, connection: Connection, url: str) -> StoredPage | None:
        query = (
            select(pages, texts.c.text)
            .join(texts, texts.c.content_hash == pages.c.content_hash)
            .where(pages.c.url == url)
            .order_by(pages.c.checked_at.desc())
            .limit(1)
        )
        found = connection.execute(query).first()
        if found is None:
            return None
        page = as_page(found)
        return StoredPage(page=page, checked_at=found.checked_at, etag=found.etag, last_modified=found.last_modified)

    @read_transaction
    def version(self, connection: Connection, origin: str, hash: str) -> Retrieved | None:
        """The page as it was when it had that text."""
        query = select(pages, texts.c.text).join(texts, texts.c.content_hash == pages.c.content_hash)
        query = query.where(pages.c.content_hash == hash, pages.c.final_url == origin).limit(1)
        found = connection.execute(query).first()
        return None if found is None else as_page(found)

    @read_transaction
    def text(self, connection: Connection, hash: str) -> str | None:
        """The stored text that evidence points to."""
        query = select(texts.c.text).where(texts.c.content_hash == hash)
        found = connection.scalar(query)
        return None if found is None else zlib.decompress(found).decode()

    @read_transaction
    def hashes(self, connection: Connection) -> set[str]:
        """Of all texts that are pages; evidence of another text was read in a search result or a document."""
        query = select(pages.c.content_hash).distinct()
        return set(connection.scalars(query))

    @read_transaction
    def text_hashes(self, connection: Connection) -> set[str]:
        """Of all texts that are kept, pages and others."""
        query = select(texts.c.content_hash)
        return set(connection.scalars(query))

    @repeatable_transaction
    def keep(
        self, connection: Connection, url: str, page: Retrieved, *, etag: str = "", last_modified: str = ""
    ) -> Retrieved:
        """The page as it is kept: with its hash and its time."""
        text, at = printable(page.text), now()
        kept = msgspec.structs.replace(
            page, text=text, title=printable(page.title), content_hash=content_hash(text), retrieved_at=at
        )
        extra = to_text(Extra(page_starts=kept.page_starts, links=kept.links))
        keep_text(connection, kept)
        record = page_records.write(kept, url=url, checked_at=at, etag=etag, last_modified=last_modified, extra=extra)
        put(connection, pages, record)
        return kept

    @repeatable_transaction
    def keep_snippet(self, connection: Connection, snippet: Retrieved) -> Retrieved:
        """Its text, for the evidence that points to it, with the time of its search; not the page of its address."""
        text, at = printable(snippet.text), snippet.retrieved_at or now()
        kept = msgspec.structs.replace(snippet, text=text, content_hash=content_hash(text), retrieved_at=at)
        keep_text(connection, kept)
        return kept

    @repeatable_transaction
    def unchanged(self, connection: Connection, url: str, hash: str) -> None:
        """Its server says that the page is still the same."""
        statement = update(pages).where(pages.c.url == url, pages.c.content_hash == hash).values(checked_at=now())
        connection.execute(statement)


def keep_text(connection: Connection, kept: Retrieved) -> None:
    body = {"content_hash": kept.content_hash, "text": zlib.compress(kept.text.encode(), 6)}
    connection.execute(upsert(connection, texts).values(body).on_conflict_do_nothing())


def as_page(found: Record[Any]) -> Retrieved:
    extra = msgspec.json.decode(found.extra, type=Extra)
    text = zlib.decompress(found.text).decode()
    return page_records.read(found, text=text, page_starts=extra.page_starts, links=extra.links)
