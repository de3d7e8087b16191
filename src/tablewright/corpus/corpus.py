"""The user's documents as one thing: what is in them, how they are searched, what they state."""

from __future__ import annotations

from collections.abc import Sequence

from tablewright.corpus.facts import Facts
from tablewright.corpus.labels import match_labels
from tablewright.corpus.search import CorpusSearch
from tablewright.corpus.source import DocumentSource
from tablewright.decisions.reader.reader import Candidate
from tablewright.errors import NotFound
from tablewright.models.embedder import Embedder
from tablewright.store.properties import LabelUse, PropertyAt
from tablewright.store.store import Store
from tablewright.table.model import Field
from tablewright.table.retrieved import Retrieved
from tablewright.table.typed import typed

STATED = 0.9
"""How much a value is worth that stands under a label which means exactly what is asked."""
LEAST = 0.75
"""How well a label must fit the field."""


class Corpus:
    def __init__(self, store: Store, embedder: Embedder) -> None:
        self.documents = store.documents
        self.embedder = embedder
        self.facts = Facts(store.documents, embedder)
        self.search = CorpusSearch(store.documents, embedder)
        self.source = DocumentSource(store.documents, self.search)

    async def named(self, name: str) -> list[str]:
        """The document that is called so, by its id, its path or its file name, if only one is."""
        try:
            return [(await self.documents.get(name)).id]
        except NotFound:
            return []

    async def candidates(self, field: Field, pages: Sequence[Retrieved]) -> list[Candidate]:
        """What the documents state under labels that mean the field, the best of each."""
        places = {page.origin: number for number, page in enumerate(pages) if page.kind == "document"}
        if not places:
            return []
        stated = [at for at in await self.documents.properties(documents=list(places)) if at.shape == "fact"]
        matches = {
            (match.label, match.context): match.score
            for match in match_labels(field.name, uses_of(stated), base=typed(f"1 {field.unit}").base)
            if match.score >= LEAST
        }
        best: dict[str, tuple[float, PropertyAt]] = {}
        for at in stated:
            score = matches.get((at.property.label, at.property.context), 0.0)
            if score > best.get(at.document_id, (0.0, None))[0]:
                best[at.document_id] = (score, at)
        return [
            Candidate(
                field=field.name,
                value=at.property.value.raw,
                source=places[document_id],
                start=at.start,
                end=at.end,
                score=round(STATED * score, 4),
                how="fact",
            )
            for document_id, (score, at) in best.items()
        ]


def uses_of(stated: Sequence[PropertyAt]) -> list[LabelUse]:
    found = {(at.property.label, at.property.context, at.property.value.base): at for at in stated}
    return [
        LabelUse(
            label=label, context=context, base=base, shape="fact", documents=1, uses=1, samples=(at.property.value.raw,)
        )
        for (label, context, base), at in found.items()
    ]
