from __future__ import annotations

import asyncio
from datetime import timedelta

from tablewright.store.store import Store
from tablewright.table.retrieved import Retrieved, content_hash


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
    assert kept.content_hash == content_hash(page.text)
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
    writing = [asyncio.create_task(store.cache.put("model", key, key.encode())) for key in keys]
    await asyncio.sleep(0)
    writing[30].cancel()
    await asyncio.gather(*writing, return_exceptions=True)
    kept = [await store.cache.get("model", key) for key in keys if key != "key 30"]
    assert kept == [key.encode() for key in keys if key != "key 30"]
