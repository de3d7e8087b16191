"""The user's documents, searched by words, by meaning, and by both."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal, TypeAlias

from tablewright.domain.corpus import Category, Completeness, Document
from tablewright.domain.model import Noun
from tablewright.models.embedder import Embedder
from tablewright.store.documents import Documents
from tablewright.store.search_index import Ranked
from tablewright.store.snapshot import SegmentAt, Snapshot, SummaryAt
from tablewright.text import weighty_words

Scope: TypeAlias = Literal["segment", "summary"]

DEEP = 200
"""Hits of each arm that a hybrid search puts together."""
VECTOR_SHARE = 0.3
"""Weight of nearness in meaning against words. These figures were chosen on the three data sets of
`evals/retrieval.py`; anything between 0.2 and 0.4 gives similar results."""
FIRST = 5
ADDED = 10
ADDED_SHARE = 0.2
"""Words that the first hits have in common, and their weight compared with those of the query."""


class CorpusHit(Noun, frozen=True):
    """A segment, or a summary with the part of the document that it is about. `id` is its id in the store."""

    id: int
    document: Document
    text: str
    score: float
    start: int = 0
    end: int = 0
    page: int | None = None
    heading: str = ""


class SearchHits(Noun, frozen=True):
    """The best first. `reason` says why these may not be all, or not the best."""

    hits: tuple[CorpusHit, ...] = ()
    completeness: Completeness = "exact"
    reason: str = ""


class CorpusSearch:
    def __init__(self, documents: Documents, embedder: Embedder) -> None:
        self._documents = documents
        self._embedder = embedder

    async def search_text(
        self,
        query: str,
        limit: int = 10,
        *,
        documents: Collection[str] | None = None,
        categories: Collection[Category] = (),
    ) -> SearchHits:
        """Segments with any of the words; those with many and rare ones first."""

        def work(moment: Snapshot) -> SearchHits:
            ranked = moment.search_text(query, limit + 1, documents=documents, categories=categories)
            hits = segments_at(moment, ranked[:limit])
            if len(ranked) > limit:
                return SearchHits(
                    hits=hits, completeness="incomplete", reason=f"More than {limit} segments have the words."
                )
            return SearchHits(hits=hits)

        return await self._documents.at_once(work)

    async def search_vector(
        self,
        query: str,
        limit: int = 10,
        *,
        scope: Scope = "segment",
        documents: Collection[str] | None = None,
        categories: Collection[Category] = (),
    ) -> SearchHits:
        vectors = await self._embedder.embed([query])

        def work(moment: Snapshot) -> SearchHits:
            nearest = moment.search_vector(
                vectors[0],
                limit,
                embedder=self._embedder.name,
                target=scope,
                documents=documents,
                categories=categories,
            )
            hits = (segments_at if scope == "segment" else summaries_at)(moment, nearest.found)
            return SearchHits(hits=hits, completeness="approximate", reason=NEAR)

        return await self._documents.at_once(work)

    async def hybrid(
        self,
        query: str,
        limit: int = 10,
        *,
        documents: Collection[str] | None = None,
        categories: Collection[Category] = (),
    ) -> SearchHits:
        """Both arms together, then the words once more with those that the first hits have in common."""
        vectors = await self._embedder.embed([query])
        name = self._embedder.name

        def work(moment: Snapshot) -> SearchHits:
            by_words = moment.search_text(query, DEEP, documents=documents, categories=categories)
            by_meaning = moment.search_vector(
                vectors[0], DEEP, embedder=name, documents=documents, categories=categories
            ).found
            first = fused(by_words, by_meaning)
            if by_words:
                asked = dict.fromkeys(weighty_words(query), 1.0)
                for word, weight in moment.telling_words(dict(first[:FIRST]), ADDED).items():
                    asked[word] = asked.get(word, 0) + ADDED_SHARE * weight
                by_words = moment.search_text(asked, DEEP, documents=documents, categories=categories)
            hits = segments_at(moment, fused(by_words, by_meaning)[:limit])
            return SearchHits(hits=hits, completeness="approximate", reason=NEAR)

        return await self._documents.at_once(work)


def segments_at(moment: Snapshot, ranked: Ranked) -> tuple[CorpusHit, ...]:
    parts = moment.segments([id for id, _ in ranked])
    documents = whose(moment, parts)
    scores = dict(ranked)
    return tuple(
        CorpusHit(
            id=part.id,
            document=documents[part.document_id],
            text=part.segment.text,
            score=scores[part.id],
            start=part.segment.start,
            end=part.segment.end,
            page=part.segment.page,
            heading=part.segment.heading,
        )
        for part in parts
    )


def summaries_at(moment: Snapshot, ranked: Ranked) -> tuple[CorpusHit, ...]:
    parts = moment.summaries([id for id, _ in ranked])
    documents = whose(moment, parts)
    scores = dict(ranked)
    hits = []
    for part in parts:
        about = moment.segments_of(part.document_id, part.summary.first, part.summary.last)
        hits.append(
            CorpusHit(
                id=part.id,
                document=documents[part.document_id],
                text=part.summary.text,
                score=scores[part.id],
                start=about[0].segment.start if about else 0,
                end=about[-1].segment.end if about else 0,
                page=about[0].segment.page if about else None,
            )
        )
    return tuple(hits)


def whose(moment: Snapshot, parts: Sequence[SegmentAt] | Sequence[SummaryAt]) -> dict[str, Document]:
    found = moment.find(list(dict.fromkeys(part.document_id for part in parts)))
    return {document.id: document for document in found}


NEAR = "Nearness in meaning has no border: what is said in other words may be missing."


def fused(by_words: Ranked, by_meaning: Ranked) -> Ranked:
    """By the weighted sum of both scores: words as a share of the best, nearness from the last hit to the best."""
    scores = {id: (1 - VECTOR_SHARE) * score / by_words[0][1] for id, score in by_words}
    if by_meaning:
        least, most = by_meaning[-1][1], by_meaning[0][1]
        for id, score in by_meaning:
            scores[id] = scores.get(id, 0) + VECTOR_SHARE * ((score - least) / (most - least) if most > least else 1)
    return sorted(scores.items(), key=lambda each: (-each[1], each[0]))
