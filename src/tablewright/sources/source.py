"""What every place that evidence comes from can do: the web does it, and the user's own documents do it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Literal, Protocol, TypeAlias

import msgspec

from tablewright.domain.model import Noun
from tablewright.domain.retrieved import Refusal, Retrieved, is_document
from tablewright.errors import SearchError

Since: TypeAlias = Literal["", "day", "week", "month", "year"]


class Query(Noun, frozen=True):
    text: str
    site: str = ""
    """Only results of this domain."""
    since: Since = ""
    """Only results of the last day, week, month or year."""
    limit: int = 10
    language: str = ""
    """In which results should be, as a code such as "de", where the engine takes one."""


class Hit(Noun, frozen=True):
    """A search result. `snippet` is plain text; `published` is what the provider says of the date, or empty."""

    origin: str
    title: str = ""
    snippet: str = ""
    published: str = ""
    retrieved_at: str = ""
    """When the search was made; set by the source."""


class Searched(Noun, frozen=True):
    """What was found, and the queries that were really sent for it, for the trace; a retry is not another query."""

    hits: tuple[Hit, ...]
    queries: tuple[str, ...]
    at: str = ""
    """When it was made, however often it is looked at since."""
    since: str = ""
    """When the process began that made it."""
    refused: str = ""
    """Why the query was not sent to the web, which would have told it private words; "" if it was."""


class Source(Protocol):
    async def search(self, query: Query) -> Searched:
        """Raises SearchError when the search itself did not work; nothing found has no hits."""
        ...

    async def open(self, origin: str) -> Retrieved | Refusal: ...

    async def open_again(self, origin: str) -> Retrieved | Refusal:
        """As it is now, from where it comes from, whatever is kept of it."""
        ...

    async def keep(self, snippet: Retrieved) -> Retrieved:
        """Stores the text of a search result that is evidence, as it was shown."""
        ...


class CombinedSource:
    """The web and the user's own documents, searched side by side. What is found comes in the order of the places; one
    that fails is passed over while another answers."""

    def __init__(self, *, web: Source, documents: Source, documents_first: bool) -> None:
        self._web = web
        self._documents = documents
        self._order: Sequence[Source] = (documents, web) if documents_first else (web, documents)

    async def search(self, query: Query) -> Searched:
        answers = await asyncio.gather(*(place.search(query) for place in self._order), return_exceptions=True)
        found = [answer for answer in answers if isinstance(answer, Searched)]
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
        return self._documents if is_document(origin) else self._web
