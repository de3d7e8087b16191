"""The user's documents as a place of evidence, searched and opened like the web."""

from __future__ import annotations

from tablewright.corpus.search import CorpusSearch
from tablewright.domain.retrieved import Refusal, Retrieved
from tablewright.errors import NotFound
from tablewright.sources.provenance import note_private
from tablewright.sources.source import Hit, Query, Searched
from tablewright.store.documents import Documents
from tablewright.store.records import now


class DocumentSource:
    def __init__(self, documents: Documents, search: CorpusSearch) -> None:
        self._documents = documents
        self._search = search

    async def search(self, query: Query) -> Searched:
        """One hit a document, with the segment that fits best."""
        found = await self._search.hybrid(query.text, limit=query.limit * 3)
        best: dict[str, Hit] = {}
        for hit in found.hits:
            best.setdefault(hit.document.id, Hit(origin=hit.document.id, title=hit.document.title, snippet=hit.text))
        if best:
            note_private()
        return Searched(hits=tuple(best.values())[: query.limit], queries=(query.text,), at=now())

    async def open(self, origin: str) -> Retrieved | Refusal:
        note_private()
        try:
            return await self._documents.retrieved(origin)
        except NotFound as error:
            return Refusal(origin=origin, reason="error", detail=error.what)

    async def open_again(self, origin: str) -> Retrieved | Refusal:
        """As it was read last: a file that changed is read again by `docs add`."""
        return await self.open(origin)

    async def keep(self, snippet: Retrieved) -> Retrieved:
        """The document that it is a part of."""
        return await self._documents.retrieved(snippet.origin)
