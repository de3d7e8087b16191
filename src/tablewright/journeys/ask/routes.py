"""The routes to an answer: over the facts, over facts and texts, over summaries and texts. Each uses the tools of the
corpus, notes every use, and says whether what it found is enough."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import msgspec

from tablewright.corpus.aggregate import Aggregated, annotations_aggregate
from tablewright.corpus.corpus import Corpus
from tablewright.corpus.found import Found, asked_of
from tablewright.corpus.search import CorpusHit
from tablewright.decisions.select_route import RouteName
from tablewright.table.corpus import Condition, Question
from tablewright.table.reply import Tried

SNIPPETS = 8
"""Passages that an answer is made from, at most."""
SUMMARIES = 4
MOST_RELAXED = 4


@dataclass(kw_only=True)
class Evidence:
    """What the routes have found so far for a question."""

    question: Question
    found: Found | None = None
    aggregated: Aggregated | None = None
    hits: tuple[CorpusHit, ...] = ()
    tried: list[Tried] = field(default_factory=list)
    relaxed: list[str] = field(default_factory=list)

    @property
    def decides(self) -> bool:
        """Whether the facts answer the question: some thing was decided, and a value that was asked for is there.
        Documents that merely hold a word are not the things it means."""
        found = self.found
        if found is None or found.vague or not (found.matches or found.rejected):
            return False
        if self.question.intent == "numeric":
            return any(asked_of(self.question.of, thing) for thing in found.matches)
        return self.question.intent == "enumeration"


class Routes:
    def __init__(self, corpus: Corpus, evidence: Evidence) -> None:
        self._corpus = corpus
        self._evidence = evidence
        self._question = evidence.question

    async def take(self, route: RouteName) -> bool:
        """Whether it found enough to answer from."""
        if route in ("structured", "hybrid"):
            await self._facts()
            if self._evidence.decides:
                return True
        if route == "hybrid":
            await self._texts()
        elif route == "long-text":
            await self._long_texts()
        return bool(self._evidence.hits)

    async def _facts(self) -> None:
        question, evidence = self._question, self._evidence
        if evidence.found is not None or not (question.conditions or question.of or question.things):
            return
        with self._noting("annotations_search", asked_for(question)) as note:
            found = await self._corpus.facts.annotations_search(question)
            note(len(found.matches), f"{found.completeness}{f': {found.reason}' if found.reason else ''}")
        evidence.found = found
        if question.aggregate:
            of = " and ".join(question.of.labels) if question.of else ""
            with self._noting("annotations_aggregate", f"{question.aggregate} {of}".strip()) as note:
                evidence.aggregated = annotations_aggregate(found, question.aggregate, question.of, question.group_by)
                note(len(found.matches), evidence.aggregated.completeness)
        if not found.matches and question.intent == "enumeration":
            await self._relax(question)

    async def _relax(self, question: Question) -> None:
        """What each filter keeps out, so that nobody must guess which one was wrong."""
        if len(question.conditions) < 2 and not (question.things and question.conditions):
            return
        looser = [
            (f"“{condition.words}”", msgspec.structs.replace(question, conditions=without(question, place)))
            for place, condition in enumerate(question.conditions[:MOST_RELAXED])
            if len(question.conditions) > 1
        ]
        if question.things:
            looser.append((f"that it is a {question.things}", msgspec.structs.replace(question, things="")))
        for dropped, wider in looser:
            with self._noting("annotations_search", asked_for(wider)) as note:
                found = await self._corpus.facts.annotations_search(wider)
                note(len(found.matches), f"relaxed: without {dropped}")
            if found.matches:
                count = f"{len(found.matches):,} would match" if len(found.matches) > 1 else "1 would match"
                self._evidence.relaxed.append(f"Without {dropped} {count}.")

    async def _texts(self) -> None:
        query = wording(self._question)
        with self._noting("search_text + search_vector(segment)", query) as note:
            found = await self._corpus.search.hybrid(query, SNIPPETS)
            note(len(found.hits), f"top {SNIPPETS}, {found.completeness}")
        self._evidence.hits = found.hits

    async def _long_texts(self) -> None:
        """The summaries that fit, then the best passages of their documents, beside the best of all."""
        query = wording(self._question)
        search = self._corpus.search
        with self._noting("search_vector(summary)", query) as note:
            about = await search.search_vector(query, SUMMARIES, scope="summary")
            note(len(about.hits), f"top {SUMMARIES}")
        documents = list(dict.fromkeys(hit.document.id for hit in about.hits))
        within: tuple[CorpusHit, ...] = ()
        if documents:
            with self._noting("search_vector(segment)", f"{query}, in {len(documents)} documents") as note:
                within = (await search.hybrid(query, SNIPPETS // 2, documents=documents)).hits
                note(len(within), f"top {SNIPPETS // 2}")
        with self._noting("search_text + search_vector(segment)", query) as note:
            everywhere = (await search.hybrid(query, SNIPPETS)).hits
            note(len(everywhere), f"top {SNIPPETS}")
        merged = {hit.id: hit for hit in (*everywhere[: SNIPPETS // 2], *within, *everywhere)}
        self._evidence.hits = tuple(merged.values())[:SNIPPETS]

    @contextmanager
    def _noting(self, tool: str, asked: str) -> Iterator[Note]:
        note = Note()
        started = time.monotonic()
        yield note
        self._evidence.tried.append(
            Tried(
                tool=tool,
                asked=asked,
                matches=note.matches,
                threshold=note.threshold,
                seconds=round(time.monotonic() - started, 4),
            )
        )


class Note:
    matches = 0
    threshold = ""

    def __call__(self, matches: int, threshold: str = "") -> None:
        self.matches, self.threshold = matches, threshold


def without(question: Question, place: int) -> tuple[Condition, ...]:
    return question.conditions[:place] + question.conditions[place + 1 :]


def asked_for(question: Question) -> str:
    """A question to the facts, in a line: "receipt: dated in 2018-03; total above 500"."""
    conditions = "; ".join(condition.words for condition in question.conditions)
    return ": ".join(filter(None, (question.things or "document", conditions)))


def wording(question: Question) -> str:
    """What texts are searched for."""
    return " ".join((*question.phrases, *question.terms)) or question.text
