"""The five tools that answers from documents are made with, one by one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from tablewright.corpus import aggregate
from tablewright.corpus.aggregate import Aggregated
from tablewright.corpus.corpus import Corpus
from tablewright.corpus.found import Found as FactsFound
from tablewright.corpus.search import Found as PassagesFound
from tablewright.corpus.search import Scope
from tablewright.store.store import Store
from tablewright.table.corpus import Question


class Retrieval:
    def __init__(self, store: Store, open_corpus: Callable[[], Awaitable[Corpus]]) -> None:
        self._store = store
        self._open_corpus = open_corpus

    async def search_text(self, query: str, limit: int = 10, *, names: Sequence[str] = ()) -> PassagesFound:
        """The passages with any of the words, in all documents or in those named."""
        search = (await self._open_corpus()).search
        return await search.search_text(query, limit, documents=await self._document_ids(names))

    async def search_vector(
        self, query: str, limit: int = 10, *, scope: Scope = "segment", names: Sequence[str] = ()
    ) -> PassagesFound:
        """The passages, or the summaries of long documents, that are nearest in meaning."""
        search = (await self._open_corpus()).search
        return await search.search_vector(query, limit, scope=scope, documents=await self._document_ids(names))

    async def annotations_search(self, question: Question) -> FactsFound:
        """Every thing that meets the question's conditions, and those that do not say."""
        return await (await self._open_corpus()).facts.annotations_search(question)

    async def annotations_aggregate(self, question: Question) -> Aggregated:
        """What the things that meet the conditions come to, in groups."""
        found = await self.annotations_search(question)
        return aggregate.annotations_aggregate(found, question.aggregate, question.of, question.group_by)

    async def export_annotations_csv(self, question: Question) -> str:
        """Every thing that meets the conditions, as the text of a CSV file."""
        return aggregate.export_annotations_csv(await self.annotations_search(question))

    async def _document_ids(self, names: Sequence[str]) -> list[str] | None:
        return [(await self._store.documents.get(name)).id for name in names] if names else None
