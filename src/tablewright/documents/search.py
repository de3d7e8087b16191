"""Search the user's documents by words, by meaning, and by both, in one snapshot of the store."""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from typing import Literal, TypeAlias

from tablewright.domain.documents import Category, Completeness, Document
from tablewright.domain.model import Struct
from tablewright.errors import ModelError
from tablewright.llm.embedder import Embedder, Vectors
from tablewright.store.documents import Documents
from tablewright.store.search_index import Ranked
from tablewright.store.snapshot import SegmentAt, Snapshot, SummaryAt
from tablewright.text import content_stems

Scope: TypeAlias = Literal["segment", "summary"]


class CorpusHit(Struct, frozen=True):
    """A segment, or a summary with the range of the document that it covers. `id` is its id in the store."""

    id: int
    document: Document
    text: str
    score: float
    start: int = 0
    end: int = 0
    page: int | None = None
    heading: str = ""


class SearchHits(Struct, frozen=True):
    """Hits, best first. `reason` says why these may not be all, or not the best."""

    hits: tuple[CorpusHit, ...] = ()
    completeness: Completeness = "exact"
    reason: str = ""


class CorpusSearch:
    """`outage` says why the last searches were by words alone, or is ""."""

    def __init__(self, documents: Documents, embedder: Embedder) -> None:
        self._documents = documents
        self._embedder = embedder
        self.outage = ""
        self._tried_at = 0.0

    async def search_text(
        self,
        query: str,
        limit: int = 10,
        *,
        documents: Collection[str] | None = None,
        categories: Collection[Category] = (),
    ) -> SearchHits:
        """Return segments with any of the words; those with many and rare ones come first."""

        def work(moment: Snapshot) -> SearchHits:
            ranked = moment.search_text(query, limit + 1, documents=documents, categories=categories)
            hits = load_segment_hits(moment, ranked[:limit])
            if len(ranked) > limit:
                return SearchHits(
                    hits=hits, completeness="incomplete", reason=f"More than {limit} segments have the words."
                )
            return SearchHits(hits=hits)

        return await self._documents.run_on_snapshot(work)

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
            hits = (load_segment_hits if scope == "segment" else load_summary_hits)(moment, nearest.found)
            return SearchHits(hits=hits, completeness="approximate", reason=NEAR)

        return await self._documents.run_on_snapshot(work)

    async def hybrid(
        self,
        query: str,
        limit: int = 10,
        *,
        documents: Collection[str] | None = None,
        categories: Collection[Category] = (),
    ) -> SearchHits:
        """Return the hits by words and by meaning, after expanding the query with words that the first hits share. If
        the embedder fails, the hits are those by words."""
        vectors = await self._embed_if_possible(query)
        name = self._embedder.name

        def work(moment: Snapshot) -> SearchHits:
            # Hits of each kind that are merged; more of them change no result on the first page.
            most = 200
            by_words = moment.search_text(query, most, documents=documents, categories=categories)
            by_meaning: Ranked = []
            if vectors is not None:
                by_meaning = moment.search_vector(
                    vectors[0], most, embedder=name, documents=documents, categories=categories
                ).found
                missing = f"the passages have no vectors of {name}. Add their files again."
                self.outage = "" if by_meaning or not by_words else f"The search was by words alone: {missing}"
            first = fuse_rankings(by_words, by_meaning)
            if by_words:
                asked = dict.fromkeys(content_stems(query), 1.0)
                # Pseudo-relevance feedback: ten words of the five best hits, weak against those of the query.
                for word, weight in moment.find_distinctive_words(dict(first[:5]), 10).items():
                    asked[word] = asked.get(word, 0) + 0.2 * weight
                by_words = moment.search_text(asked, most, documents=documents, categories=categories)
            hits = load_segment_hits(moment, fuse_rankings(by_words, by_meaning)[:limit])
            return SearchHits(hits=hits, completeness="approximate", reason=self.outage or NEAR)

        return await self._documents.run_on_snapshot(work)

    async def _embed_if_possible(self, query: str) -> Vectors | None:
        # One question makes several searches, each of which would wait for an embedder that does not answer.
        if self._tried_at and time.monotonic() - self._tried_at < 60:
            return None
        self._tried_at = 0.0
        try:
            return await self._embedder.embed([query])
        except ModelError as error:
            self.outage, self._tried_at = f"The search was by words alone: {error.what}", time.monotonic()
            return None


def load_segment_hits(moment: Snapshot, ranked: Ranked) -> tuple[CorpusHit, ...]:
    parts, scores = moment.segments([id for id, _ in ranked]), dict(ranked)
    documents = load_hit_documents(moment, parts)
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


def load_summary_hits(moment: Snapshot, ranked: Ranked) -> tuple[CorpusHit, ...]:
    parts = moment.summaries([id for id, _ in ranked])
    documents = load_hit_documents(moment, parts)
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


def load_hit_documents(moment: Snapshot, parts: Sequence[SegmentAt] | Sequence[SummaryAt]) -> dict[str, Document]:
    found = moment.find(list(dict.fromkeys(part.document_id for part in parts)))
    return {document.id: document for document in found}


NEAR = "Nearness in meaning has no border: what is said in other words may be missing."


def fuse_rankings(by_words: Ranked, by_meaning: Ranked) -> Ranked:
    """Return the ranking by the weighted sum of both scores, each scaled to at most 1."""
    # The weight of meaning, chosen with `evals/retrieval.py` on three data sets; 0.2 to 0.4 give similar results.
    weight = 0.3
    scores = {id: (1 - weight) * score / by_words[0][1] for id, score in by_words}
    if by_meaning:
        least, most = by_meaning[-1][1], by_meaning[0][1]
        for id, score in by_meaning:
            scores[id] = scores.get(id, 0) + weight * ((score - least) / (most - least) if most > least else 1)
    return sorted(scores.items(), key=lambda each: (-each[1], each[0]))
