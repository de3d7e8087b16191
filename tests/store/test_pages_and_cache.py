from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from tablewright.domain.retrieved import Retrieved, hash_content
from tablewright.errors import StoreError
from tablewright.store.store import Store


async def test_an_answer_is_kept_and_replaced_by_a_newer_one(store: Store) -> None:
    assert await store.cache.get("answer", "k") is None
    await store.cache.put("answer", "k", b"first")
    await store.cache.put("search", "k", b"other kind")
    await store.cache.put("answer", "k", b"second\0\xff")
    assert await store.cache.get("answer", "k") == b"second\0\xff"
    assert await store.cache.get("search", "k") == b"other kind"


async def test_an_answer_that_is_too_old_is_none(store: Store) -> None:
    await store.cache.put("search", "k", b"results")
    assert await store.cache.get("search", "k", max_age=timedelta(hours=1)) == b"results"
    assert await store.cache.get("search", "k", max_age=timedelta(0)) is None


async def test_one_kind_is_forgotten_and_the_others_stay(store: Store) -> None:
    for kind in ("answer", "search"):
        await store.cache.put(kind, "k", b"x")
    assert await store.cache.clear("search") == 1
    assert await store.cache.get("search", "k") is None
    assert await store.cache.get("answer", "k") == b"x"


async def test_a_page_is_kept_with_its_hash_and_its_time(store: Store) -> None:
    page = Retrieved(
        origin="http://a.example/new", text="Zoë\nfounded 1987", title="A", domain="a.example", page_starts=(0, 4)
    )
    kept = await store.pages.keep("http://a.example/", page, etag='"1"')
    found = await store.pages.newest("http://a.example/")
    assert found is not None
    assert found.page == kept
    assert kept.content_hash == hash_content(page.text)
    assert kept.retrieved_at
    assert (found.etag, found.page.page_starts) == ('"1"', (0, 4))
    assert await store.pages.text(kept.content_hash) == page.text


async def test_a_page_that_changed_is_kept_in_both_versions(store: Store) -> None:
    url = "http://a.example/"
    first = await store.pages.keep(url, Retrieved(origin=url, text="1987"))
    second = await store.pages.keep(url, Retrieved(origin=url, text="1988"))
    newest = await store.pages.newest(url)
    assert newest is not None
    assert newest.page.text == "1988"
    assert await store.pages.text(first.content_hash) == "1987"
    await store.pages.unchanged(url, first.content_hash)
    again = await store.pages.newest(url)
    assert again is not None
    assert again.page.text == "1987", "the version that was seen last is the newest"
    assert second.content_hash != first.content_hash


async def test_many_pages_are_kept_at_once(store: Store) -> None:
    urls = [f"http://a.example/{number % 10}" for number in range(40)]
    await asyncio.gather(*(store.pages.keep(url, Retrieved(origin=url, text="same \0 text")) for url in urls))
    for url in set(urls):
        found = await store.pages.newest(url)
        assert found is not None
        assert found.page.text == "same \ufffd text"


async def test_many_at_once_are_all_kept_also_when_one_of_them_gives_up(store: Store) -> None:
    keys = [f"key {number}" for number in range(60)]
    putting = [asyncio.create_task(store.cache.put("model", key, key.encode())) for key in keys]
    await asyncio.sleep(0)
    putting[30].cancel()
    await asyncio.gather(*putting, return_exceptions=True)
    assert [await store.cache.get("model", key) for key in keys] == [key.encode() for key in keys]
    await store.cache.settle()
    assert [await store.cache.get("model", key) for key in keys] == [key.encode() for key in keys]


async def test_what_was_put_is_there_for_whoever_opens_the_store_next(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'kept.db'}"
    async with await Store.open(url) as store:
        await store.cache.put("model", "k", b"bought")
    async with await Store.open(url) as store:
        assert await store.cache.get("model", "k") == b"bought"


async def test_a_disk_that_refuses_is_told_to_the_next_who_puts_something(tmp_path: Path) -> None:
    async with await Store.open(f"sqlite:///{tmp_path / 'kept.db'}") as store:
        await store.database.write(lambda connection: connection.exec_driver_sql("DROP TABLE cache"))
        await store.cache.put("model", "k", b"bought")
        await store.cache.settle()
        assert await store.cache.get("model", "k") == b"bought", "it is not forgotten while the process lives"
        with pytest.raises(StoreError):
            await store.cache.put("model", "other", b"x")


async def test_a_write_that_fails_while_the_store_is_closed_is_tried_once_more(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'kept.db'}"
    async with await Store.open(url) as store:
        refusing = "CREATE TRIGGER refuse BEFORE INSERT ON cache BEGIN SELECT RAISE(ABORT, 'disk'); END"
        await store.database.write(lambda connection: connection.exec_driver_sql(refusing))
        await store.cache.put("model", "k", b"bought")
        # The write begins, and space is freed right after it.
        await asyncio.sleep(0)
        mending = asyncio.create_task(
            store.database.write(lambda connection: connection.exec_driver_sql("DROP TRIGGER refuse"))
        )
        await asyncio.sleep(0)
    await mending
    async with await Store.open(url) as store:
        assert await store.cache.get("model", "k") == b"bought"
