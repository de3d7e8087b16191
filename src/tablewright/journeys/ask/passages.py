"""Passages for a question: the best of several searches, with their neighbours, as many as the model takes in."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tablewright.corpus.corpus import Corpus
from tablewright.corpus.search import CorpusHit
from tablewright.decisions.compose import Passage
from tablewright.domain.corpus import Document
from tablewright.store.schema import number_of
from tablewright.store.snapshot import Snapshot

EACH = 40
"""Hits of one search that count."""
RANK = 60
"""Reciprocal rank fusion: how slowly a hit counts less the further down it stands."""
SHORT = 3_500
"""Characters of a document that is shown whole instead of in parts."""
MOST = 24
"""Passages of all searches together, before their neighbours are added."""
NEIGHBOURS = 1


async def find_passages(
    corpus: Corpus,
    queries: Sequence[str],
    room: int,
    documents: Collection[str] | None = None,
    *,
    kept: Sequence[Passage] = (),
) -> tuple[list[Passage], list[int]]:
    """Those that are `kept`, then the best, until `room` characters are full. What stands next to each other is one
    passage. Beside them the segments that were found."""
    scores: dict[int, float] = {}
    hits: dict[int, CorpusHit] = {}
    for query in queries:
        found = await corpus.search.hybrid(query, EACH, documents=documents)
        for place, hit in enumerate(found.hits):
            hits[hit.id] = hit
            scores[hit.id] = scores.get(hit.id, 0.0) + 1 / (RANK + place)
    best = [hits[id] for id, _ in sorted(scores.items(), key=lambda each: (-each[1], each[0]))][:MOST]
    made = list(kept)
    room -= sum(len(each.text) for each in kept)
    headings = {(hit.document.id, hit.start): hit.heading for hit in best}
    for document, start, end in await corpus.documents.at_once(lambda moment: stretches_of(moment, best, room)):
        if any(each.document_id == document.id and each.start <= start < each.end for each in kept):
            continue
        text = await corpus.documents.retrieved(document.id)
        made.append(
            Passage(
                document_id=document.id,
                title=document.name if document.title in ("", document.name) else f"{document.title} ({document.name})",
                text=text.text[start:end],
                start=start,
                page=text.page_at(start),
                heading=next(
                    (said for (id, at), said in headings.items() if id == document.id and start <= at < end), ""
                ),
            )
        )
    return made, [hit.id for hit in best]


def stretches_of(moment: Snapshot, hits: Sequence[CorpusHit], room: int) -> list[tuple[Document, int, int]]:
    """Short documents whole, of long ones the hits with what stands before and after them."""
    stretches: dict[str, list[tuple[int, int]]] = {}
    order: list[tuple[str, int]] = []
    documents: dict[str, Document] = {}
    left = room
    for hit in hits:
        document = hit.document
        documents[document.id] = document
        taken = stretches.setdefault(document.id, [])
        if any(first <= hit.start < last for first, last in taken):
            continue
        start, end = (0, document.characters) if document.characters <= SHORT else around(moment, hit)
        if end - start > left:
            break
        taken.append((start, end))
        order.append((document.id, start))
        left -= end - start
    made: dict[tuple[str, int], tuple[Document, int, int]] = {}
    for id, start in order:
        first, last = next(each for each in merged(stretches[id]) if each[0] <= start < each[1])
        made.setdefault((id, first), (documents[id], first, last))
    return list(made.values())


def around(moment: Snapshot, hit: CorpusHit) -> tuple[int, int]:
    number = number_of(hit.id)
    near = moment.segments_of(hit.document.id, max(0, number - NEIGHBOURS), number + NEIGHBOURS)
    return min(each.segment.start for each in near), max(each.segment.end for each in near)


def merged(stretches: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(stretches):
        if joined and start <= joined[-1][1] + 2:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined
