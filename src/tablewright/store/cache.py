"""What was bought or fetched once: models' answers and searches by the hash of the request, and pages as text.

No entry is changed; a newer answer to the same request replaces the older. Every model call passes the cache twice, so
its statements are built once: that takes longer than SQLite's own work.

A page's text is what quotes are offsets into. A page that changes is kept in each version, for cells point to the
version they were read from; a text that many pages share is kept once."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import Connection, Engine, bindparam, delete, select, update
from sqlalchemy import Row as Record

from tablewright.domain.model import Noun
from tablewright.domain.retrieved import Retrieved, content_hash
from tablewright.errors import OverQuota, StoreError
from tablewright.store.database import Database, StorePart, read_transaction, repeatable_transaction, write_transaction
from tablewright.store.ledger import charge_bytes
from tablewright.store.records import RecordMapper, now, printable, put_record, take_turns, to_text, upsert
from tablewright.store.schema import cache, cache_documents, pages, texts
from tablewright.store.sharing import lock_existing


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
        page = page_from_record(found)
        return StoredPage(page=page, checked_at=found.checked_at, etag=found.etag, last_modified=found.last_modified)

    @read_transaction
    def version(self, connection: Connection, origin: str, hash: str) -> Retrieved | None:
        """The page as it was when it had that text."""
        query = select(pages, texts.c.text).join(texts, texts.c.content_hash == pages.c.content_hash)
        query = query.where(pages.c.content_hash == hash, pages.c.final_url == origin).limit(1)
        found = connection.execute(query).first()
        return None if found is None else page_from_record(found)

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
        put_record(connection, pages, record)
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


def page_from_record(found: Record[Any]) -> Retrieved:
    extra = msgspec.json.decode(found.extra, type=Extra)
    text = zlib.decompress(found.text).decode()
    return page_records.read(found, text=text, page_starts=extra.page_starts, links=extra.links)


NO_TIME = timedelta(0)
FIND = select(cache.c.value, cache.c.created_at).where(
    cache.c.kind == bindparam("kind"), cache.c.key == bindparam("key")
)


class Cache(StorePart):
    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._keep = build_cache_write(database.engine)
        self._unwritten: dict[tuple[str, str], bytes] = {}
        self._about: dict[tuple[str, str], tuple[str, ...]] = {}
        self._writer: asyncio.Task[None] | None = None
        self._problem: StoreError | None = None

    async def get(self, kind: str, key: str, *, max_age: timedelta | None = None) -> bytes | None:
        if (waiting := self._unwritten.get((kind, key))) is not None and (max_age is None or max_age > NO_TIME):
            return waiting

        def work(connection: Connection) -> bytes | None:
            found = connection.execute(FIND, {"kind": kind, "key": key}).first()
            if found is None or (max_age is not None and is_older(found.created_at, max_age)):
                return None
            return zlib.decompress(found.value)

        return await self._database.glance(work)

    async def put(self, kind: str, key: str, value: bytes, *, about: Sequence[str] = ()) -> None:
        """It is written at once, but who puts it need not wait for that: what comes while others are being written goes
        into the next transaction, all together. A failure is told to the next who puts something.

        `about` are the user's documents that it was made from: it is forgotten with any of them."""
        self._unwritten[kind, key] = value
        if about:
            self._about[kind, key] = tuple(about)
        problem, self._problem = self._problem, None
        self._begin_writing()
        if problem is not None:
            raise problem

    def _begin_writing(self) -> None:
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write_waiting())

    async def settle(self) -> None:
        """Returns when everything is written, or cannot be. What could not be before is tried once more: the disk may
        have been full only then."""
        if self._unwritten and self._database.is_open:
            self._begin_writing()
        if self._writer is not None:
            await asyncio.shield(self._writer)

    async def _write_waiting(self) -> None:
        while batch := dict(self._unwritten):
            about = {place: self._about[place] for place in batch if place in self._about}
            try:
                await self._write(batch, about)
            except StoreError as problem:
                self._problem = problem
                return
            for place, value in batch.items():
                if self._unwritten.get(place) is value:
                    del self._unwritten[place]
                    self._about.pop(place, None)

    @repeatable_transaction
    def _write(
        self,
        connection: Connection,
        values: dict[tuple[str, str], bytes],
        about: dict[tuple[str, str], tuple[str, ...]],
    ) -> None:
        there = lock_existing(connection, [document for documents in about.values() for document in documents])
        values = {place: value for place, value in values.items() if there.issuperset(about.get(place, ()))}
        at = now()
        packed = {place: zlib.compress(value, 1) for place, value in values.items()}
        values = {place: value for place, value in packed.items() if has_room(connection, about.get(place, ()), value)}
        if not values:
            return
        records = [
            {"kind": kind, "key": key, "value": value, "created_at": at}
            for (kind, key), value in sorted(values.items())  # in one order, or two processes could wait for each other
        ]
        connection.execute(self._keep, records)
        made_from = [
            {"kind": kind, "key": key, "document_id": document}
            for (kind, key), documents in sorted(about.items())
            if (kind, key) in values
            for document in sorted(set(documents))
        ]
        if made_from:
            connection.execute(upsert(connection, cache_documents).on_conflict_do_nothing(), made_from)

    async def clear(self, kind: str) -> int:
        """Forgets all of one kind; how many there were."""
        await self.settle()
        return await self._clear(kind)

    @write_transaction
    def _clear(self, connection: Connection, kind: str) -> int:
        return connection.execute(delete(cache).where(cache.c.kind == kind)).rowcount


def has_room(connection: Connection, documents: Sequence[str], value: bytes) -> bool:
    """Return True if an answer about documents fits into what the owner of the first may store, who is charged for it.
    One that does not is only not kept: whoever asked has it."""
    if documents:
        take_turns(connection, "tablewright cache")  # else two processes that charge several owners wait for each other
        try:
            charge_bytes(connection, "document", documents[0], len(value))
        except OverQuota:
            return False
    return True


def build_cache_write(engine: Engine) -> Any:
    statement = upsert(engine, cache)
    return statement.on_conflict_do_update(
        index_elements=["kind", "key"],
        set_={"value": statement.excluded.value, "created_at": statement.excluded.created_at},
    )


def is_older(stamp: str, age: timedelta) -> bool:
    return datetime.fromisoformat(stamp) < datetime.now(UTC) - age
