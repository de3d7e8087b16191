"""The user's documents as one corpus: search them, open them as a source, and look up the values that they state."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from tablewright.documents.field_values import find_blank_fields, find_field_answer
from tablewright.documents.search import CorpusSearch
from tablewright.domain.model import Field, Struct
from tablewright.domain.retrieved import Refusal, Retrieved
from tablewright.errors import NotFound
from tablewright.extraction.reader import Candidate
from tablewright.llm.embedder import Embedder
from tablewright.store.documents import Documents
from tablewright.store.records import utc_now
from tablewright.store.snapshot import PropertyAt
from tablewright.store.store import Store
from tablewright.web.provenance import note_private
from tablewright.web.source import Hit, Query, SearchResponse


class StatedAnswers(Struct, frozen=True):
    """The values that documents state for a field; if there are none, the label that one of them leaves blank."""

    candidates: tuple[Candidate, ...] = ()
    blank: str = ""


class Corpus:
    def __init__(self, store: Store, embedder: Embedder) -> None:
        self.documents = store.documents
        self.embedder = embedder
        self.search = CorpusSearch(store.documents, embedder)
        self.source = DocumentSource(store.documents, self.search)

    async def named(self, name: str) -> list[str]:
        """Return the document with this id, path or file name, if there is only one."""
        try:
            return [(await self.documents.get(name)).id]
        except NotFound:
            return []

    async def answers(self, fields: Sequence[Field], pages: Sequence[Retrieved]) -> dict[str, StatedAnswers]:
        """Return for each field the values that the documents among the pages state, or the label they leave blank."""
        own = [(number, page) for number, page in enumerate(pages) if page.kind == "document"]
        facts: dict[str, list[PropertyAt]] = {page.origin: [] for _, page in own}
        for at in await self.documents.properties(documents=list(facts)) if facts else ():
            if at.shape == "fact":
                facts[at.document_id].append(at)
        blanks = {page.origin: find_blank_fields(page.text, facts[page.origin]) for _, page in own}
        found: dict[str, StatedAnswers] = {}
        for field in fields:
            answered = [
                (n, find_field_answer(field, page.text, facts[page.origin], blanks[page.origin], page.title))
                for n, page in own
            ]
            candidates = tuple(structs.replace(each.stated, source=n) for n, each in answered if each.stated)
            blank = next((answer.blank for _, answer in answered if answer.blank), "")
            found[field.name] = StatedAnswers(candidates=candidates, blank="" if candidates else blank)
        return found


class DocumentSource:
    def __init__(self, documents: Documents, search: CorpusSearch) -> None:
        self._documents = documents
        self._search = search

    async def search(self, query: Query) -> SearchResponse:
        """Return one hit for each document, with the segment that fits best."""
        # A document often has several of the best segments.
        found = await self._search.hybrid(query.text, limit=query.limit * 3)
        best: dict[str, Hit] = {}
        for hit in found.hits:
            best.setdefault(hit.document.id, Hit(origin=hit.document.id, title=hit.document.title, snippet=hit.text))
        if best:
            note_private()
        return SearchResponse(hits=tuple(best.values())[: query.limit], queries=(query.text,), at=utc_now())

    async def open(self, origin: str) -> Retrieved | Refusal:
        note_private()
        try:
            return await self._documents.retrieved(origin)
        except NotFound as error:
            return Refusal(origin=origin, reason="error", detail=error.what)

    async def open_again(self, origin: str) -> Retrieved | Refusal:
        """Return it as it was read last: only `docs add` reads a changed file again."""
        return await self.open(origin)

    async def keep(self, snippet: Retrieved) -> Retrieved:
        """Return the document that the snippet is a part of."""
        return await self._documents.retrieved(snippet.origin)
