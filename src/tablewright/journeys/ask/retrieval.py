"""The five tools that answers from documents are made with, one by one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence

from tablewright.conditions.evaluate import Spellings
from tablewright.corpus import aggregate
from tablewright.corpus.aggregate import Aggregated
from tablewright.corpus.corpus import Corpus
from tablewright.corpus.results import FoundItems as FactsFound
from tablewright.corpus.search import Scope
from tablewright.corpus.search import SearchHits as PassagesFound
from tablewright.domain.corpus import Category
from tablewright.domain.form import Form
from tablewright.journeys.ask.ask import Asker
from tablewright.journeys.ask.query import answer
from tablewright.journeys.ask.where import looked_up
from tablewright.store.store import Store


class Retrieval:
    def __init__(
        self, store: Store, open_corpus: Callable[[], Awaitable[Corpus]], open_asker: Callable[[], Awaitable[Asker]]
    ) -> None:
        self._store = store
        self._open_corpus = open_corpus
        self._open_asker = open_asker

    async def search_text(
        self, query: str, limit: int = 10, *, names: Sequence[str] = (), categories: Collection[Category] = ()
    ) -> PassagesFound:
        """The passages with any of the words, in all documents, in those named, or in those of some categories."""
        search = (await self._open_corpus()).search
        return await search.search_text(query, limit, documents=await self._ids(names), categories=categories)

    async def search_vector(
        self,
        query: str,
        limit: int = 10,
        *,
        scope: Scope = "segment",
        names: Sequence[str] = (),
        categories: Collection[Category] = (),
    ) -> PassagesFound:
        """The passages, or the summaries of long documents, that are nearest in meaning."""
        search = (await self._open_corpus()).search
        documents = await self._ids(names)
        return await search.search_vector(query, limit, scope=scope, documents=documents, categories=categories)

    async def annotations_search(self, form: Form) -> FactsFound:
        """Every document or row that meets the conditions, and those that do not say."""
        return (await self._looked_up(form))[0]

    async def annotations_aggregate(self, form: Form) -> Aggregated:
        """What those that meet the conditions come to, in groups."""
        found, aggregated = await self._looked_up(form)
        return aggregated or aggregate.annotations_aggregate(found, "count", "", form.group_by)

    async def export_annotations_csv(self, form: Form) -> str:
        """All that meet the conditions, as the text of a CSV file."""
        return aggregate.export_annotations_csv(await self.annotations_search(form))

    async def _looked_up(self, form: Form) -> tuple[FactsFound, Aggregated | None]:
        things = await (await self._open_asker()).inventory(await self._store.documents.all())
        plan, scope = await looked_up(self._store, await self._open_corpus(), form, things)
        return answer(plan, scope, Spellings())

    async def _ids(self, names: Sequence[str]) -> list[str] | None:
        return [(await self._store.documents.get(name)).id for name in names] if names else None
