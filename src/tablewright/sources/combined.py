"""Several places of evidence as one: the web and the user's own documents, searched side by side."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import msgspec

from tablewright.domain.retrieved import Refusal, Retrieved, is_document
from tablewright.errors import SearchError
from tablewright.sources.source import Query, Searched, Source


class CombinedSource:
    """What is found comes in the order of the places; one that fails is passed over while another answers."""

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
