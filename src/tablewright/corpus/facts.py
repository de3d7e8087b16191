"""Questions to all facts of the documents: which things meet every condition, which do not, and which do not say.

Nothing is ranked and nothing is cut off. How far the answer can be trusted is part of it (see `found`).
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from tablewright.corpus.found import Found, LabelRead, Stated, Thing, Undecided
from tablewright.corpus.judge import (
    MATCH,
    NO_MATCH,
    Verdict,
    both,
    either,
    judge,
    other_reading,
    same_value,
    unstated,
    work_out,
)
from tablewright.corpus.labels import How, Match, match_labels
from tablewright.corpus.needs import Need, called_of, is_text, needs_of, stems, texts_of
from tablewright.corpus.shelf import Picks, Shelf, shelve
from tablewright.corpus.universe import SHEETS, members_of, universe
from tablewright.corpus.vocabulary import holds, writings
from tablewright.models.embedder import Embedder
from tablewright.store.documents import Documents
from tablewright.store.properties import LabelUse, PropertyAt
from tablewright.table.corpus import Completeness, Condition, Document, Question, Typed
from tablewright.table.text import plural

DOUBT = "values that can be read in two ways were taken in the usual one"
BY_WORDS = "where no label says it, the words of the text were taken"


class Facts:
    def __init__(self, documents: Documents, embedder: Embedder) -> None:
        self._documents = documents
        self._embedder = embedder

    async def annotations_search(self, question: Question) -> Found:
        gathered = await self._gather(question)
        return await asyncio.to_thread(decide, question, gathered)

    async def _gather(self, question: Question) -> Gathered:
        documents, uses, needs = await self._documents.all(), await self._documents.labels(), needs_of(question)
        matches = {asked: await self._matches(asked, need, uses, question) for asked, need in needs.items()}
        of = {(match.label, match.context) for found in matches.values() for match in found}
        properties = await self._documents.properties(of) if of else []
        sheets = {document.id for document in documents if document.media in SHEETS}
        if matches and all("" not in condition.of.labels for condition in question.conditions):
            sheets &= {at.document_id for at in properties}
        if sheets:
            # Whole, for a row that leaves the asked cell empty is a thing that does not say.
            properties = [at for at in properties if at.document_id not in sheets]
            properties += await self._documents.properties(documents=sheets)
        return Gathered(
            documents=documents,
            matches=matches,
            properties=properties,
            words={text: await self._holding(text) for text in texts_of(question)},
            named=await self._named(question, documents),
        )

    async def _matches(self, asked: str, need: Need, uses: Sequence[LabelUse], question: Question) -> tuple[Match, ...]:
        found = match_labels(asked, uses, base=need.base, about=question.things)
        if not found and uses:
            labels = list(dict.fromkeys(use.label for use in uses))
            vectors = await self._embedder.embed([asked, *labels])
            alike = dict(zip(labels, (float(each) for each in vectors[1:] @ vectors[0]), strict=True))
            found = match_labels(asked, uses, base=need.base, about=question.things, alike=alike)
        return tuple(found)

    async def _named(self, question: Question, documents: Sequence[Document]) -> frozenset[str]:
        """The documents that hold what the things are called, among those whose kind does not settle it."""
        called = called_of(question)
        if not called:
            return frozenset()
        of_kind = any(called <= stems(document.kind) for document in documents)
        open_ones = {document.id for document in documents if not document.problem and not (of_kind and document.kind)}
        return await self._holding(question.things, open_ones) if open_ones else frozenset()

    async def _holding(self, text: str, among: Collection[str] | None = None) -> frozenset[str]:
        """The documents that hold the words of the text side by side, however they are spelt. The index takes "tired"
        for a tire; we do not."""
        found: set[str] = set()
        for written in writings(text):
            for each in await self._documents.with_words(f'"{written}"', documents=among):
                if each.document_id not in found and holds(each.segment.text, text):
                    found.add(each.document_id)
        return frozenset(found)


@dataclass(frozen=True, kw_only=True)
class Gathered:
    """All that a question needs to be decided. `words` names the documents that hold the words of a condition,
    `named` those that hold what the things are called."""

    documents: Sequence[Document]
    matches: Mapping[str, Sequence[Match]]
    properties: Sequence[PropertyAt]
    words: Mapping[str, frozenset[str]] = field(default_factory=dict)
    named: frozenset[str] = frozenset()


def decide(question: Question, gathered: Gathered) -> Found:
    needs = needs_of(question)
    shelves = shelve(gathered.properties, gathered.matches, needs)
    members = members_of(question, gathered.documents, shelves, gathered.named)
    decision = Decision(question, needs, gathered.words)
    matches: list[Thing] = []
    undecided: list[Undecided] = []
    rejected = 0
    for document, row in universe(members, shelves):
        shelf = shelves.get(document.id, _EMPTY)
        verdict, rows = decision.of_row(document, shelf, row) if row else decision.of_document(document, shelf)
        if verdict.truth == "no match":
            rejected += 1
        elif verdict.truth == "match":
            matches.append(decision.thing(document, shelf, row, rows))
            if document.id in members.odd:
                decision.guesses[members.guess] += 1
        else:
            undecided.append(Undecided(thing=decision.thing(document, shelf, row, ()), reason=verdict.reason))
    unreadable = sum(1 for document in gathered.documents if document.problem)
    labels = decision.labels()
    completeness, reason = _completeness(question, len(matches) + rejected, undecided, unreadable, decision, labels)
    return Found(
        question=question,
        matches=tuple(matches),
        rejected=rejected,
        undecided=tuple(undecided),
        unreadable=unreadable,
        completeness=completeness,
        reason=reason,
        about=members.because,
        vague=members.vague,
        labels=labels,
    )


_EMPTY = Shelf()


class Decision:
    """One question, put to one thing after another; remembers from which labels the answers came."""

    def __init__(self, question: Question, needs: Mapping[str, Need], words: Mapping[str, frozenset[str]]) -> None:
        self._question = question
        self._needs = needs
        self._words = words
        self._deciding = {label for condition in question.conditions for label in condition.of.labels}
        self._read: Counter[tuple[str, Match]] = Counter()
        self.guesses: Counter[str] = Counter()

    def of_row(self, document: Document, shelf: Shelf, row: int) -> tuple[Verdict, tuple[int, ...]]:
        picks = shelf.rows.get(row, {})
        verdict = both(
            self._verdict(condition, picks, document, shelf.cells.get(row, ()))
            for condition in self._question.conditions
        )
        return self._noted(verdict, (picks,)), ()

    def of_document(self, document: Document, shelf: Shelf) -> tuple[Verdict, tuple[int, ...]]:
        """Conditions on columns of a table must be met by one of its rows, all by the same one."""
        conditions = self._question.conditions
        in_rows = self._asked_of_rows(shelf)
        of_rows = [each for each in conditions if not in_rows.isdisjoint(each.of.labels)] if in_rows else []
        facts = both(self._verdict(each, shelf.facts, document) for each in conditions if each not in of_rows)
        if not of_rows:
            return self._noted(facts, (shelf.facts,)), ()
        verdict, rows = self._by_rows(of_rows, shelf, document)
        return self._noted(both((facts, verdict)), (shelf.facts, *(shelf.rows[row] for row in rows[:1]))), rows

    def _by_rows(
        self, conditions: list[Condition], shelf: Shelf, document: Document
    ) -> tuple[Verdict, tuple[int, ...]]:
        verdicts: dict[int, Verdict] = {}
        for row, picks in shelf.rows.items():
            if any(label in picks for each in conditions for label in each.of.labels):
                seen = {**shelf.facts, **picks}
                cells = shelf.cells[row]
                verdicts[row] = both(self._verdict(each, seen, document, cells) for each in conditions)
        rows = tuple(row for row, verdict in verdicts.items() if verdict.truth == "match")
        return either(verdicts.values()), rows

    def _asked_of_rows(self, shelf: Shelf) -> frozenset[str]:
        """The labels that this document answers in the rows of its tables rather than by a fact."""
        if not shelf.rows:
            return frozenset()
        best: dict[str, float] = {}
        for picks in shelf.rows.values():
            for asked, pick in picks.items():
                if pick.match.score > best.get(asked, 0.0):
                    best[asked] = pick.match.score
        return frozenset(
            asked for asked, score in best.items() if asked not in shelf.facts or score > shelf.facts[asked].match.score
        )

    def _verdict(
        self, condition: Condition, picks: Picks, document: Document, cells: Sequence[PropertyAt] | None = None
    ) -> Verdict:
        """With `cells` the thing is this row, else the whole document."""
        of = condition.of
        if not of.operation:
            pick = picks.get(of.label)
            if pick is not None:
                return _agreed(pick.at, condition)
            return (
                self._by_words(condition, document, cells) if not of.label else self._absent(condition, document, cells)
            )
        values: dict[str, Typed] = {}
        for label in of.labels:
            if label in picks:
                value = _one_value(picks[label].at)
                if value is None:
                    return unstated(_several(label, picks[label].at))
                values[label] = value
        worked = work_out(of, values)
        return unstated(worked) if isinstance(worked, str) else judge(worked, condition)

    def _by_words(self, condition: Condition, document: Document, cells: Sequence[PropertyAt] | None) -> Verdict:
        """Without a label the words must stand somewhere in the thing, which was read as a whole: so no is no."""
        if cells is None:
            held = any(document.id in self._words.get(wanted.raw, ()) for wanted in condition.values)
        else:
            held = any(holds(at.property.value.raw, wanted.raw) for at in cells for wanted in condition.values)
        return MATCH if held == (condition.comparator != "!=") else NO_MATCH

    def _absent(self, condition: Condition, document: Document, cells: Sequence[PropertyAt] | None) -> Verdict:
        """What does not even stand in the text cannot be what it says; what does is taken for it."""
        if cells is not None or not is_text(condition) or condition.comparator == "!=":
            return unstated(f"{condition.of.label} is not stated")
        verdict = self._by_words(condition, document, None)
        return verdict._replace(guess=BY_WORDS) if verdict.truth == "match" else verdict

    def _noted(self, verdict: Verdict, shelves: Iterable[Picks]) -> Verdict:
        if verdict.truth == "not stated":
            return verdict
        if verdict.guess:
            self.guesses[verdict.guess] += 1
        for picks in shelves:
            for asked, pick in picks.items():
                if asked in self._deciding or verdict.truth == "match":
                    self._read[asked, pick.match] += 1
        return verdict

    def labels(self) -> tuple[LabelRead, ...]:
        """The commonest first. The sentence around a value is another in each document, so it is only told of a label
        that always stands under the same one."""
        read: Counter[tuple[str, str, How]] = Counter()
        contexts: dict[tuple[str, str, How], set[str]] = {}
        for (asked, match), things in self._read.items():
            key = asked, match.label, match.how
            read[key] += things
            contexts.setdefault(key, set()).add(match.context)
        return tuple(
            LabelRead(
                asked=key[0],
                label=key[1],
                how=key[2],
                context=next(iter(contexts[key])) if len(contexts[key]) == 1 else "",
                things=things,
            )
            for key, things in sorted(read.items(), key=lambda each: (each[0][0], -each[1]))
        )

    def thing(self, document: Document, shelf: Shelf, row: int, rows: Sequence[int]) -> Thing:
        """With the values of all labels of the question: those of the row, or of the document and its matching rows."""
        values: list[Stated] = []
        if row:
            picks = [shelf.rows.get(row, {})]
        else:
            in_rows = self._asked_of_rows(shelf)
            chosen = rows or tuple(shelf.rows)
            picks = [{asked: pick for asked, pick in shelf.facts.items() if asked not in in_rows}]
            picks += [{asked: pick for asked, pick in shelf.rows[each].items() if asked in in_rows} for each in chosen]
        for asked in self._needs:
            for each in picks:
                if asked in each and _one_value(each[asked].at) is not None:
                    values.append(_stated(asked, each[asked].at[0]))
        title = document.title or document.name
        place = values[0] if values else None
        if row:
            first = shelf.cells[row][0]
            title = f"{title}: {first.property.value.raw}"
            place = _stated("", first)
        return Thing(
            document_id=document.id,
            title=title,
            row=row,
            page=place.page if place else None,
            start=place.start if place else 0,
            end=place.end if place else 0,
            values=tuple(values),
        )


def _agreed(at: Sequence[PropertyAt], condition: Condition) -> Verdict:
    """What all equally good properties say; where they disagree, nothing is certain."""
    first = at[0].property.value
    verdict = judge(first, condition)
    if any(judge(each.property.value, condition).truth != verdict.truth for each in at[1:]):
        return unstated(_several(condition.of.label, at))
    if first.ambiguity and not verdict.guess:
        other = other_reading(first)
        if other is None or judge(other, condition).truth != verdict.truth:
            return verdict._replace(guess=DOUBT)
    return verdict


def _one_value(at: Sequence[PropertyAt]) -> Typed | None:
    first = at[0].property.value
    return first if len(at) == 1 or all(same_value(first, each.property.value) for each in at[1:]) else None


def _several(label: str, at: Sequence[PropertyAt]) -> str:
    shown = list(dict.fromkeys(f"{each.property.label}: {each.property.value.raw}" for each in at))
    return f"{label} may be {' or '.join(shown[:3])}"


def _stated(asked: str, at: PropertyAt) -> Stated:
    prop = at.property
    return Stated(
        asked=asked,
        label=prop.label,
        context=prop.context,
        value=prop.value,
        page=at.page,
        start=prop.start,
        end=prop.end,
    )


def _completeness(
    question: Question,
    decided: int,
    undecided: Sequence[Undecided],
    unreadable: int,
    decision: Decision,
    labels: Sequence[LabelRead],
) -> tuple[Completeness, str]:
    parts = []
    if not decided and not undecided:
        parts.append(f"no document is about {question.things or 'this'}")
    if undecided:
        reasons = Counter(each.reason for each in undecided)
        most, times = reasons.most_common(1)[0]
        parts.append(f"{len(undecided)} of {decided + len(undecided)} do not say ({times}: {most})")
    if unreadable:
        parts.append(f"{unreadable} {plural('document', unreadable)} could not be read")
    if parts:
        return "incomplete", "; ".join(parts)
    parts = [f"{guess} ({times})" for guess, times in decision.guesses.most_common()]
    for read in labels:
        if read.how != "words":
            parts.append(f'"{read.label}" was taken for {read.asked} ({read.things})')
    return ("approximate", "; ".join(parts[:3])) if parts else ("exact", "")
