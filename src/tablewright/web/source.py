"""The interface of every source of evidence, which the web and the user's own documents implement."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias

import msgspec

from tablewright.domain.model import Struct
from tablewright.domain.retrieved import Refusal, Retrieved, is_document_id
from tablewright.errors import SearchError

Since: TypeAlias = Literal["", "day", "week", "month", "year"]


class Query(Struct, frozen=True):
    text: str
    site: str = ""
    """Only results of this domain."""
    since: Since = ""
    """Only results of the last day, week, month or year."""
    limit: int = 10
    language: str = ""
    """The language of results as a code such as "de", for engines that take one."""


class Hit(Struct, frozen=True):
    """A search result. `snippet` is plain text; `published` is the date as the provider gives it, or empty."""

    origin: str
    title: str = ""
    snippet: str = ""
    published: str = ""
    retrieved_at: str = ""
    """When the search was made; set by the source."""


class SearchResponse(Struct, frozen=True):
    """The hits, and the queries that were sent for them, for the trace; a retry is not another query."""

    hits: tuple[Hit, ...]
    queries: tuple[str, ...]
    at: str = ""
    """The time of the search, also if it comes from the cache."""
    since: str = ""
    """The start of the process that made it."""
    refused: str = ""
    """The reason if the query was not sent because of private words in it."""


class Source(Protocol):
    async def search(self, query: Query) -> SearchResponse:
        """Return the hits, which may be none. Raise SearchError if the search itself failed."""
        ...

    async def open(self, origin: str) -> Retrieved | Refusal: ...

    async def open_again(self, origin: str) -> Retrieved | Refusal:
        """Return its current content from its origin, regardless of the cache."""
        ...

    async def keep(self, snippet: Retrieved) -> Retrieved:
        """Store the text of a search result that is evidence, as it was shown."""
        ...


class CombinedSource:
    """The web and the user's own documents, searched together.

    Hits come in the order of the sources; a source that fails is skipped if the other one has hits."""

    def __init__(self, *, web: Source, documents: Source, documents_first: bool) -> None:
        self._web = web
        self._documents = documents
        self._order: Sequence[Source] = (documents, web) if documents_first else (web, documents)

    async def search(self, query: Query) -> SearchResponse:
        answers = await asyncio.gather(*(place.search(query) for place in self._order), return_exceptions=True)
        found = [answer for answer in answers if isinstance(answer, SearchResponse)]
        problems = [answer for answer in answers if isinstance(answer, BaseException)]
        for problem in problems:
            if not isinstance(problem, SearchError) or not any(answer.hits for answer in found):
                raise problem
        hits = tuple(hit for answer in found for hit in answer.hits)
        queries = tuple(dict.fromkeys(sent for answer in found for sent in answer.queries))
        refused = next((answer.refused for answer in found if answer.refused), "")
        return msgspec.structs.replace(found[0], hits=hits, queries=queries, refused=refused)

    async def open(self, origin: str) -> Retrieved | Refusal:
        return await self._of(origin).open(origin)

    async def open_again(self, origin: str) -> Retrieved | Refusal:
        return await self._of(origin).open_again(origin)

    async def keep(self, snippet: Retrieved) -> Retrieved:
        return await self._of(snippet.origin).keep(snippet)

    def _of(self, origin: str) -> Source:
        return self._documents if is_document_id(origin) else self._web
