"""The user's documents as one thing: what is in them, how they are searched, what they state."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import structs

from tablewright.corpus.field_values import answer_of, blanks_of
from tablewright.corpus.search import CorpusSearch
from tablewright.domain.model import Field, Noun
from tablewright.domain.retrieved import Refusal, Retrieved
from tablewright.errors import NotFound
from tablewright.extraction.reader import Candidate
from tablewright.models.embedder import Embedder
from tablewright.sources.provenance import note_private
from tablewright.sources.source import Hit, Query, Searched
from tablewright.store.documents import Documents
from tablewright.store.records import now
from tablewright.store.snapshot import PropertyAt
from tablewright.store.store import Store


class Answers(Noun, frozen=True):
    """The values that documents state for a field; where there are none, the label that one of them leaves blank."""

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

    async def answers(self, fields: Sequence[Field], pages: Sequence[Retrieved]) -> dict[str, Answers]:
        """Return what the documents among the pages state for each field, and which of its labels they leave blank."""
        own = [(number, page) for number, page in enumerate(pages) if page.kind == "document"]
        facts: dict[str, list[PropertyAt]] = {page.origin: [] for _, page in own}
        for at in await self.documents.properties(documents=list(facts)) if facts else ():
            if at.shape == "fact":
                facts[at.document_id].append(at)
        blanks = {page.origin: blanks_of(page.text, facts[page.origin]) for _, page in own}
        found: dict[str, Answers] = {}
        for field in fields:
            answered = [
                (n, answer_of(field, page.text, facts[page.origin], blanks[page.origin], page.title)) for n, page in own
            ]
            candidates = tuple(structs.replace(each.stated, source=n) for n, each in answered if each.stated)
            blank = next((answer.blank for _, answer in answered if answer.blank), "")
            found[field.name] = Answers(candidates=candidates, blank="" if candidates else blank)
        return found


class DocumentSource:
    def __init__(self, documents: Documents, search: CorpusSearch) -> None:
        self._documents = documents
        self._search = search

    async def search(self, query: Query) -> Searched:
        """Return one hit for each document, with the segment that fits best."""
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
        """Return it as it was read last: a file that changed is read again by `docs add`."""
        return await self.open(origin)

    async def keep(self, snippet: Retrieved) -> Retrieved:
        """Return the document that the snippet is a part of."""
        return await self._documents.retrieved(snippet.origin)
