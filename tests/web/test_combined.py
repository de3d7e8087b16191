"""The web and the documents as one place: both are searched, each opens its own, and one that fails costs little."""

from __future__ import annotations

import pytest

from tablewright.domain.retrieved import Refusal, Retrieved
from tablewright.errors import BadSetting, SearchError, StoreError
from tablewright.settings import Settings
from tablewright.strategies.toolbox import read_source_places
from tablewright.web.source import CombinedSource, Hit, Query, SearchResponse

QUERY = Query(text="acme")


class Place:
    """A source with one text."""

    def __init__(self, origin: str, *, hits: int = 1, fails: Exception | None = None) -> None:
        self.origin = origin
        self.hits = hits
        self.fails = fails
        self.opened: list[str] = []

    async def search(self, query: Query) -> SearchResponse:
        if self.fails is not None:
            raise self.fails
        hits = tuple(Hit(origin=self.origin, title=f"{self.origin} {n}", snippet="s") for n in range(self.hits))
        return SearchResponse(hits=hits, queries=(query.text,), at="2026-01-01T00:00:00Z")

    async def open(self, origin: str) -> Retrieved | Refusal:
        self.opened.append(origin)
        return Retrieved(origin=origin, text=self.origin)

    async def open_again(self, origin: str) -> Retrieved | Refusal:
        return await self.open(origin)

    async def keep(self, snippet: Retrieved) -> Retrieved:
        self.opened.append(snippet.origin)
        return snippet


URL, DOCUMENT = "http://acme.example/about", "doc_abc"


@pytest.mark.parametrize(("documents_first", "order"), [(True, [DOCUMENT, URL]), (False, [URL, DOCUMENT])])
async def test_what_is_found_stands_in_the_order_of_the_places(documents_first: bool, order: list[str]) -> None:
    web, documents = Place(URL), Place(DOCUMENT)
    joined = CombinedSource(web=web, documents=documents, documents_first=documents_first)
    found = await joined.search(QUERY)
    assert [hit.origin for hit in found.hits] == order
    assert found.queries == ("acme",)
    assert found.at


async def test_each_opens_and_keeps_its_own() -> None:
    web, documents = Place(URL), Place(DOCUMENT)
    joined = CombinedSource(web=web, documents=documents, documents_first=True)
    for origin in (URL, DOCUMENT):
        opened = await joined.open(origin)
        assert isinstance(opened, Retrieved)
        assert opened.text == origin
        await joined.open_again(origin)
        await joined.keep(Retrieved(origin=origin, text="s", kind="snippet"))
    assert web.opened == [URL] * 3
    assert documents.opened == [DOCUMENT] * 3


async def test_a_search_that_fails_is_passed_over_while_the_other_finds_something() -> None:
    web, documents = Place(URL, fails=SearchError("The engine is away.")), Place(DOCUMENT)
    found = await CombinedSource(web=web, documents=documents, documents_first=False).search(QUERY)
    assert [hit.origin for hit in found.hits] == [DOCUMENT]


async def test_a_search_that_fails_is_said_where_the_other_finds_nothing() -> None:
    web, documents = Place(URL, fails=SearchError("The engine is away.")), Place(DOCUMENT, hits=0)
    with pytest.raises(SearchError, match="away"):
        await CombinedSource(web=web, documents=documents, documents_first=True).search(QUERY)


async def test_a_broken_database_is_no_search_that_failed() -> None:
    web, documents = Place(URL), Place(DOCUMENT, fails=StoreError("The disk is full."))
    with pytest.raises(StoreError, match="full"):
        await CombinedSource(web=web, documents=documents, documents_first=True).search(QUERY)


async def test_where_both_find_nothing_nothing_is_found() -> None:
    web, documents = Place(URL, hits=0), Place(DOCUMENT, hits=0)
    assert (await CombinedSource(web=web, documents=documents, documents_first=True).search(QUERY)).hits == ()


@pytest.mark.parametrize(
    ("text", "places"),
    [("web", ("web",)), (" docs ", ("docs",)), ("docs, web", ("docs", "web")), ("web,docs", ("web", "docs"))],
)
def test_places_are_read_in_their_order(text: str, places: tuple[str, ...]) -> None:
    assert read_source_places(Settings(sources=text)) == places


@pytest.mark.parametrize("text", [",", "documents", "web,web", "docs,web,docs", "docs;web"])
def test_places_that_there_are_not_are_refused_with_those_there_are(text: str) -> None:
    with pytest.raises(BadSetting, match="docs,web"):
        read_source_places(Settings(sources=text))
