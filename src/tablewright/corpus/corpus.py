"""The user's documents as one thing: what is in them, how they are searched, what they state."""

from __future__ import annotations

from collections.abc import Sequence

from tablewright.corpus.field_values import answer_of, blanks_of
from tablewright.corpus.search import CorpusSearch
from tablewright.corpus.source import DocumentSource
from tablewright.domain.model import Field, Noun
from tablewright.domain.retrieved import Retrieved
from tablewright.errors import NotFound
from tablewright.extraction.candidate import Candidate
from tablewright.models.embedder import Embedder
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
        """The document that is called so, by its id, its path or its file name, if only one is."""
        try:
            return [(await self.documents.get(name)).id]
        except NotFound:
            return []

    async def answers(self, fields: Sequence[Field], pages: Sequence[Retrieved]) -> dict[str, Answers]:
        """What the documents among the pages state for each field, and which of its labels they leave blank."""
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
            candidates = tuple(
                Candidate(
                    field=field.name,
                    value=said.value,
                    source=number,
                    start=said.start,
                    end=said.end,
                    score=said.score,
                    how="fact",
                )
                for number, answer in answered
                if (said := answer.stated) is not None
            )
            blank = next((answer.blank for _, answer in answered if answer.blank), "")
            found[field.name] = Answers(candidates=candidates, blank="" if candidates else blank)
        return found
