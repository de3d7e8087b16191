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
from tablewright.store import schema
from tablewright.store.database import Database
from tablewright.store.dialect import upsert
from tablewright.store.records import now, printable, to_text


class Extra(Noun, frozen=True):
    page_starts: tuple[int, ...] = ()
    links: tuple[str, ...] = ()


class StoredPage(Noun, frozen=True):
    """The newest version of a page, and how to ask its server whether there is a newer one."""

    page: Retrieved
    checked_at: str
    etag: str = ""
    last_modified: str = ""


class Pages:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def newest(self, url: str) -> StoredPage | None:
        pages = schema.pages

        def work(connection: Connection) -> StoredPage | None:
            query = (
                select(pages, schema.texts.c.text)
                .join(schema.texts, schema.texts.c.content_hash == pages.c.content_hash)
                .where(pages.c.url == url)
                .order_by(pages.c.checked_at.desc())
                .limit(1)
            )
            found = connection.execute(query).first()
            if found is None:
                return None
            page = as_page(found)
            return StoredPage(
                page=page, checked_at=found.checked_at, etag=found.etag, last_modified=found.last_modified
            )

        return await self._database.read(work)

    async def version(self, origin: str, hash: str) -> Retrieved | None:
        """The page as it was when it had that text."""
        pages, texts = schema.pages, schema.texts
        query = select(pages, texts.c.text).join(texts, texts.c.content_hash == pages.c.content_hash)
        query = query.where(pages.c.content_hash == hash, pages.c.final_url == origin).limit(1)
        found = await self._database.read(lambda connection: connection.execute(query).first())
        return None if found is None else as_page(found)

    async def text(self, hash: str) -> str | None:
        """The stored text that evidence points to."""
        query = select(schema.texts.c.text).where(schema.texts.c.content_hash == hash)
        found = await self._database.read(lambda connection: connection.execute(query).scalar())
        return None if found is None else zlib.decompress(found).decode()

    async def hashes(self) -> set[str]:
        """Of all texts that are pages; evidence of another text was read in a search result or a document."""
        query = select(schema.pages.c.content_hash).distinct()
        return await self._database.read(lambda connection: set(connection.execute(query).scalars()))

    async def text_hashes(self) -> set[str]:
        """Of all texts that are kept, pages and others."""
        query = select(schema.texts.c.content_hash)
        return await self._database.read(lambda connection: set(connection.execute(query).scalars()))

    async def keep(self, url: str, page: Retrieved, *, etag: str = "", last_modified: str = "") -> Retrieved:
        """The page as it is kept: with its hash and its time."""
        text, at = printable(page.text), now()
        kept = msgspec.structs.replace(
            page, text=text, title=printable(page.title), content_hash=content_hash(text), retrieved_at=at
        )
        record = {
            "url": url,
            "content_hash": kept.content_hash,
            "final_url": kept.origin,
            "title": kept.title,
            "domain": kept.domain,
            "retrieved_at": at,
            "checked_at": at,
            "etag": etag,
            "last_modified": last_modified,
            "extra": to_text(Extra(page_starts=kept.page_starts, links=kept.links)),
        }

        def work(connection: Connection) -> None:
            keep_text(connection, kept)
            statement = upsert(connection, schema.pages).values(record)
            newer = ("final_url", "title", "retrieved_at", "checked_at", "etag", "last_modified", "extra")
            connection.execute(
                statement.on_conflict_do_update(
                    index_elements=["url", "content_hash"], set_={name: statement.excluded[name] for name in newer}
                )
            )

        await self._database.write(work, repeatable=True)
        return kept

    async def keep_snippet(self, snippet: Retrieved) -> Retrieved:
        """Its text, for the evidence that points to it, with the time of its search; not the page of its address."""
        text, at = printable(snippet.text), snippet.retrieved_at or now()
        kept = msgspec.structs.replace(snippet, text=text, content_hash=content_hash(text), retrieved_at=at)
        await self._database.write(lambda connection: keep_text(connection, kept), repeatable=True)
        return kept

    async def unchanged(self, url: str, hash: str) -> None:
        """Its server says that the page is still the same."""
        pages = schema.pages
        statement = update(pages).where(pages.c.url == url, pages.c.content_hash == hash).values(checked_at=now())
        await self._database.write(lambda connection: connection.execute(statement), repeatable=True)


def keep_text(connection: Connection, kept: Retrieved) -> None:
    body = {"content_hash": kept.content_hash, "text": zlib.compress(kept.text.encode(), 6)}
    connection.execute(upsert(connection, schema.texts).values(body).on_conflict_do_nothing())


def as_page(found: Record[Any]) -> Retrieved:
    extra = msgspec.json.decode(found.extra, type=Extra)
    return Retrieved(
        origin=found.final_url,
        text=zlib.decompress(found.text).decode(),
        title=found.title,
        domain=found.domain,
        retrieved_at=found.retrieved_at,
        content_hash=found.content_hash,
        page_starts=extra.page_starts,
        links=extra.links,
    )
