"""Paid and fetched results: answers of models and searches by the hash of their request, and pages as text.

A cache entry never changes; a newer answer to the same request replaces it. Every model call passes the cache twice, so
its statements are built once: building takes longer than SQLite's own work.

Quotes are offsets into a page's text. Each version of a changed page is kept, because cells point to the version they
were read from; a text that several pages share is stored once.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import Connection, Engine, bindparam, delete, select, update
from sqlalchemy import Row as Record

from tablewright.domain.model import Struct
from tablewright.domain.retrieved import Retrieved, hash_content
from tablewright.errors import OverQuota, StoreError
from tablewright.store.database import Database, StorePart, read_transaction, repeatable_transaction, write_transaction
from tablewright.store.ledger import charge_bytes
from tablewright.store.records import (
    RecordMapper,
    acquire_advisory_lock,
    build_upsert,
    clean_for_storage,
    put_record,
    to_json_text,
    utc_now,
)
from tablewright.store.schema import cache, cache_documents, pages, texts
from tablewright.store.sharing import lock_existing_documents


class PageExtra(Struct, frozen=True):
    page_starts: tuple[int, ...] = ()
    links: tuple[str, ...] = ()


class StoredPage(Struct, frozen=True):
    """The newest version of a page, and how to ask its server whether there is a newer one."""

    page: Retrieved
    checked_at: str
    etag: str = ""
    last_modified: str = ""


page_records = RecordMapper(Retrieved, pages, origin="final_url")


class Pages(StorePart):
    """Store and read pages, each with the versions of its text."""

    @read_transaction
    def newest(self, connection: Connection, url: str) -> StoredPage | None:
        query = (
            select(pages, texts.c.text)
            .join(texts, texts.c.content_hash == pages.c.content_hash)
            .where(pages.c.url == url)
            # The version that was checked last, not the one fetched last: a page may return to an older text.
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
        """Return the page as it was when it had that text."""
        query = select(pages, texts.c.text).join(texts, texts.c.content_hash == pages.c.content_hash)
        query = query.where(pages.c.content_hash == hash, pages.c.final_url == origin).limit(1)
        found = connection.execute(query).first()
        return None if found is None else page_from_record(found)

    @read_transaction
    def text(self, connection: Connection, hash: str) -> str | None:
        """Return the stored text that evidence points to."""
        query = select(texts.c.text).where(texts.c.content_hash == hash)
        found = connection.scalar(query)
        return None if found is None else zlib.decompress(found).decode()

    @read_transaction
    def hashes(self, connection: Connection) -> set[str]:
        """Return the hashes of all texts that are pages; evidence of another text was read in a search result or a
        document."""
        query = select(pages.c.content_hash).distinct()
        return set(connection.scalars(query))

    @read_transaction
    def text_hashes(self, connection: Connection) -> set[str]:
        """Return the hashes of all stored texts, pages and others."""
        query = select(texts.c.content_hash)
        return set(connection.scalars(query))

    @repeatable_transaction
    def keep(
        self, connection: Connection, url: str, page: Retrieved, *, etag: str = "", last_modified: str = ""
    ) -> Retrieved:
        """Store a page, and return it with its hash and its time."""
        text, at = clean_for_storage(page.text), utc_now()
        kept = msgspec.structs.replace(
            page, text=text, title=clean_for_storage(page.title), content_hash=hash_content(text), retrieved_at=at
        )
        extra = to_json_text(PageExtra(page_starts=kept.page_starts, links=kept.links))
        store_text(connection, kept)
        record = page_records.write(kept, url=url, checked_at=at, etag=etag, last_modified=last_modified, extra=extra)
        put_record(connection, pages, record)
        return kept

    @repeatable_transaction
    def keep_snippet(self, connection: Connection, snippet: Retrieved) -> Retrieved:
        """Store the text of a search result for the evidence that points to it, with the time of its search; not as the
        page of its address."""
        # The time of the search, since its text was seen then, not when it became evidence.
        text, at = clean_for_storage(snippet.text), snippet.retrieved_at or utc_now()
        kept = msgspec.structs.replace(snippet, text=text, content_hash=hash_content(text), retrieved_at=at)
        store_text(connection, kept)
        return kept

    @repeatable_transaction
    def unchanged(self, connection: Connection, url: str, hash: str) -> None:
        """Record that its server says the page is still the same."""
        statement = update(pages).where(pages.c.url == url, pages.c.content_hash == hash).values(checked_at=utc_now())
        connection.execute(statement)


def store_text(connection: Connection, kept: Retrieved) -> None:
    # Level 6: pages are long, written once.
    body = {"content_hash": kept.content_hash, "text": zlib.compress(kept.text.encode(), 6)}
    connection.execute(build_upsert(connection, texts).values(body).on_conflict_do_nothing())


def page_from_record(found: Record[Any]) -> Retrieved:
    extra = msgspec.json.decode(found.extra, type=PageExtra)
    text = zlib.decompress(found.text).decode()
    return page_records.read(found, text=text, page_starts=extra.page_starts, links=extra.links)


class Cache(StorePart):
    """Store and read answers. Writes are collected and committed together."""

    _find_entry = select(cache.c.value, cache.c.created_at).where(
        cache.c.kind == bindparam("kind"), cache.c.key == bindparam("key")
    )

    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self._keep = build_cache_write(database.engine)
        self._unwritten: dict[tuple[str, str], bytes] = {}
        self._about: dict[tuple[str, str], tuple[str, ...]] = {}
        self._writer: asyncio.Task[None] | None = None
        self._problem: StoreError | None = None
        self._settling = asyncio.Event()

    async def get(self, kind: str, key: str, *, max_age: timedelta | None = None) -> bytes | None:
        # A value that is not written yet must be found, or the same request would be paid twice.
        if (waiting := self._unwritten.get((kind, key))) is not None and (max_age is None or max_age > timedelta(0)):
            return waiting

        def work(connection: Connection) -> bytes | None:
            found = connection.execute(self._find_entry, {"kind": kind, "key": key}).first()
            if found is None or (max_age is not None and is_older_than(found.created_at, max_age)):
                return None
            return zlib.decompress(found.value)

        return await self._database.read_record(work)

    async def put(self, kind: str, key: str, value: bytes, *, about: Sequence[str] = ()) -> None:
        """Store a value without waiting for the write: values that arrive during a write go into the next transaction
        together. A failed write is raised to the next caller.

        `about` are the user's documents that the value was made from: it is deleted with any of them.
        """
        self._unwritten[kind, key] = value
        if about:
            self._about[kind, key] = tuple(about)
        # Raised once, to the next caller: the one that stored the value has gone on.
        problem, self._problem = self._problem, None
        self._begin_writing()
        if problem is not None:
            raise problem

    def _begin_writing(self) -> asyncio.Task[None]:
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write_waiting())
        return self._writer

    async def settle(self) -> None:
        """Return when everything is written, or cannot be. Failed writes are tried once more: the disk may have been
        full only then."""
        self._settling.set()
        if self._writer is not None:
            await asyncio.shield(self._writer)
        # Begun only now: a write that was under way may have failed, too.
        if self._unwritten and self._database.is_open:
            await asyncio.shield(self._begin_writing())
        self._settling.clear()

    async def _write_waiting(self) -> None:
        while batch := dict(self._unwritten):
            about = {place: self._about[place] for place in batch if place in self._about}
            try:
                await self._write(batch, about)
            except StoreError as problem:
                self._problem = problem
                return
            for place, value in batch.items():
                # A newer value may have arrived during the write; it stays for the next one.
                if self._unwritten.get(place) is value:
                    del self._unwritten[place]
                    self._about.pop(place, None)
            # Answers that come in this time share the next transaction. Longer: a process that is killed loses more of
            # them; shorter: nearly every answer has a transaction of its own.
            with suppress(TimeoutError):
                await asyncio.wait_for(self._settling.wait(), 0.05)

    @repeatable_transaction
    def _write(
        self,
        connection: Connection,
        values: dict[tuple[str, str], bytes],
        about: dict[tuple[str, str], tuple[str, ...]],
    ) -> None:
        # An answer about a document that was removed in between must not be stored.
        there = lock_existing_documents(
            connection, [document for documents in about.values() for document in documents]
        )
        values = {place: value for place, value in values.items() if there.issuperset(about.get(place, ()))}
        at = utc_now()
        # Level 1: answers are small, and speed matters more than size.
        packed = {place: zlib.compress(value, 1) for place, value in values.items()}
        values = {
            place: value
            for place, value in packed.items()
            if charge_cached_answer(connection, about.get(place, ()), value)
        }
        if not values:
            return
        records = [
            {"kind": kind, "key": key, "value": value, "created_at": at}
            # One order for all processes prevents deadlocks.
            for (kind, key), value in sorted(values.items())
        ]
        connection.execute(self._keep, records)
        made_from = [
            {"kind": kind, "key": key, "document_id": document}
            for (kind, key), documents in sorted(about.items())
            if (kind, key) in values
            for document in sorted(set(documents))
        ]
        if made_from:
            connection.execute(build_upsert(connection, cache_documents).on_conflict_do_nothing(), made_from)

    async def clear(self, kind: str) -> int:
        """Delete all of one kind; return how many there were."""
        await self.settle()
        # After the waiting ones are written: they would come back.
        return await self._clear(kind)

    @write_transaction
    def _clear(self, connection: Connection, kind: str) -> int:
        return connection.execute(delete(cache).where(cache.c.kind == kind)).rowcount


def charge_cached_answer(connection: Connection, documents: Sequence[str], value: bytes) -> bool:
    """Return True if an answer about documents fits into the disk limit of the first one's owner, who is charged. One
    that does not fit is simply not cached: the caller has it."""
    if documents:
        # Answers about documents of several owners could be charged in different orders and deadlock.
        acquire_advisory_lock(connection, "tablewright cache")
        try:
            charge_bytes(connection, "document", documents[0], len(value))
        except OverQuota:
            return False
    return True


def build_cache_write(engine: Engine) -> Any:
    statement = build_upsert(engine, cache)
    return statement.on_conflict_do_update(
        index_elements=["kind", "key"],
        set_={"value": statement.excluded.value, "created_at": statement.excluded.created_at},
    )


def is_older_than(stamp: str, age: timedelta) -> bool:
    return datetime.fromisoformat(stamp) < datetime.now(UTC) - age
