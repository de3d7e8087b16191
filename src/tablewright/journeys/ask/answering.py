"""From evidence to a reply: numbers for the sources, rows for a table, and the sentences, each with its source.

Counts, sums and lists are written by code from what was decided; only what is told in prose is composed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import msgspec

from tablewright.corpus.aggregate import Aggregated, Amount
from tablewright.corpus.corpus import Corpus
from tablewright.corpus.found import Found, Thing, asked_of
from tablewright.corpus.needs import shown_labels
from tablewright.corpus.search import CorpusHit
from tablewright.corpus.vocabulary import holds
from tablewright.decisions.compose_answer import Statement
from tablewright.journeys.ask.routes import Evidence
from tablewright.store.results import ResultRow
from tablewright.table.corpus import Question
from tablewright.table.currencies import is_currency
from tablewright.table.reply import Citation, Ledger, ReplyRow
from tablewright.table.retrieved import Retrieved
from tablewright.table.text import plural

ROWS = 50
"""Rows that a reply shows, at most; all of them are kept."""
NAMED = 5
"""Things that a sentence names."""
LONG = 400
"""Characters of a passage that is quoted whole."""
UNDECIDED = 20
EXTREMES = {"max": "largest", "min": "smallest"}
DATES = {"max": "latest", "min": "earliest"}


@dataclass(kw_only=True)
class Sources:
    """The numbers that the sources of a reply have, in the order in which they are first used."""

    corpus: Corpus
    citations: list[Citation] = field(default_factory=list)
    texts: dict[str, Retrieved] = field(default_factory=dict)
    paths: dict[str, str] = field(default_factory=dict)

    async def of_thing(self, thing: Thing, question: Question) -> int:
        """Where the values stand that decided, and the words that were looked for."""
        spans = [(stated.start, stated.end) for stated in thing.values]
        text = (await self.text(thing.document_id)).text
        for words in sought(question):
            spans += first_line_with(text, words)
        return await self.cite(thing.document_id, spans or [(thing.start, thing.end)])

    async def of_hit(self, hit: CorpusHit) -> int:
        """Exactly the passage that was read: a statement's place is counted from where it starts."""
        return await self.cite(hit.document.id, [(hit.start, hit.end)], whole_lines=False)

    async def cite(self, document_id: str, spans: Sequence[tuple[int, int]], *, whole_lines: bool = True) -> int:
        text = await self.text(document_id)
        lines = sorted({line_of(text.text, *span) if whole_lines else span for span in spans})
        start, end = lines[0][0], max(end for _, end in lines)
        for known in self.citations:
            if (known.document_id, known.start, known.end) == (document_id, start, end):
                return known.number
        whole = text.text[start:end]
        quote = whole if len(whole) <= LONG else " … ".join(text.text[first:last] for first, last in lines)
        cited = Citation(
            number=len(self.citations) + 1,
            document_id=document_id,
            title=text.title,
            path=self.paths[document_id],
            quote=quote,
            page=text.page_at(start),
            start=start,
            end=end,
            content_hash=text.content_hash,
        )
        self.citations.append(cited)
        return cited.number

    async def text(self, document_id: str) -> Retrieved:
        if document_id not in self.texts:
            self.texts[document_id] = await self.corpus.documents.retrieved(document_id)
            self.paths[document_id] = (await self.corpus.documents.get(document_id)).path
        return self.texts[document_id]


def quoted(cited: Citation, statements: Sequence[Statement]) -> Citation:
    """The citation of a passage, narrowed to what the statements stand on."""
    places = sorted({(each.start, each.end, each.quote) for each in statements})
    return msgspec.structs.replace(
        cited,
        quote=" … ".join(quote for _, _, quote in places),
        start=cited.start + places[0][0],
        end=cited.start + max(end for _, end, _ in places),
    )


def sought(question: Question) -> list[tuple[str, ...]]:
    """The words that must stand somewhere in a thing, one of each group."""
    return [
        tuple(value.raw for value in condition.values)
        for condition in question.conditions
        if condition.comparator == "contains" and not condition.of.labels[0]
    ]


def first_line_with(text: str, words: Sequence[str]) -> list[tuple[int, int]]:
    start = 0
    for line in text.splitlines(keepends=True):
        if any(holds(line, each) for each in words):
            return [(start, start + len(line.rstrip("\n")))]
        start += len(line)
    return []


def line_of(text: str, start: int, end: int) -> tuple[int, int]:
    """The whole lines that it stands on."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    return first, len(text) if last < 0 else last


# ── the table ────────────────────────────────────────────────────────────────────────────────────────────────────────


def columns_of(question: Question) -> tuple[str, ...]:
    return tuple(shown_labels(question))


def values_of(thing: Thing, columns: Sequence[str]) -> tuple[str, ...]:
    return tuple("; ".join(dict.fromkeys(each.value.raw for each in thing.all_of(name))) for name in columns)


def listed(evidence: Evidence) -> tuple[Thing, ...]:
    """The things that the reply shows: all that match, or those that hold the extreme."""
    assert evidence.found is not None
    if evidence.aggregated is None or evidence.question.aggregate not in EXTREMES:
        return evidence.found.matches
    amounts = (amount for group in evidence.aggregated.groups for amount in group.amounts)
    return tuple({(each.document_id, each.row): each for amount in amounts for each in amount.things}.values())


def kept_rows(question: Question, things: Sequence[Thing]) -> list[ResultRow]:
    columns = columns_of(question)
    return [
        ResultRow(
            document_id=thing.document_id,
            page=thing.page,
            values=(thing.title, *values_of(thing, columns)),
            start=thing.start,
            end=thing.end,
        )
        for thing in things
    ]


async def shown_rows(question: Question, things: Sequence[Thing], sources: Sources) -> tuple[ReplyRow, ...]:
    columns = columns_of(question)
    return tuple(
        [
            ReplyRow(
                document_id=thing.document_id,
                title=thing.title,
                values=values_of(thing, columns),
                page=thing.page,
                source=await sources.of_thing(thing, question),
            )
            for thing in things[:ROWS]
        ]
    )


def ledger_of(found: Found) -> Ledger:
    return Ledger(
        things=found.question.things or "document",
        total=found.universe + found.unreadable,
        matched=len(found.matches),
        no_match=found.rejected,
        not_stated=len(found.undecided),
        unreadable=found.unreadable,
        undecided=tuple((each.thing.title, each.reason) for each in found.undecided[:UNDECIDED]),
    )


# ── the sentences ────────────────────────────────────────────────────────────────────────────────────────────────────


async def told(evidence: Evidence, sources: Sources) -> str:
    """The answer of the facts, in words."""
    found, question = evidence.found, evidence.question
    assert found is not None
    if question.intent == "numeric":
        return await _values(found, sources)
    if evidence.aggregated is not None and question.aggregate != "count":
        return await _amounts(evidence.aggregated, found, sources)
    things = question.things or "document"
    count = len(found.matches)
    verb = "matches" if count == 1 else "match"
    said = f"{count:,} {plural(things, count)} {verb}."
    if evidence.aggregated is not None and question.group_by:
        groups = [f"{group.key or 'not stated'}: {group.count:,}" for group in evidence.aggregated.groups]
        return f"{said} By {question.group_by}: {'; '.join(groups)}."
    return said


async def _values(found: Found, sources: Sources) -> str:
    """One value of one thing: where several things are called so, each with its own."""
    of = found.question.of
    lines = []
    for thing in found.matches:
        for value in asked_of(of, thing):
            name = spoken(found.question) if of else ""
            lines.append(f"{thing.title}: {name} {value.raw} [source {await sources.of_thing(thing, found.question)}]")
    return "\n".join(lines[:ROWS])


async def _amounts(aggregated: Aggregated, found: Found, sources: Sources) -> str:
    question = found.question
    of = spoken(question)
    things = question.things or "document"
    lines = []
    for group in aggregated.groups:
        head = f"{group.key or 'not stated'}: " if question.group_by else ""
        if not group.amounts:
            lines.append(f"{head}none of {group.count:,} {plural(things, group.count)} states {of}.")
        for amount in group.amounts:
            lines.append(head + await _amount(amount, question, sources))
    return "\n".join(lines)


async def _amount(amount: Amount, question: Question, sources: Sources) -> str:
    value = f"{shown(amount.value, is_money=is_currency(amount.unit))} {amount.unit}".strip()
    of = spoken(question)
    if question.aggregate not in EXTREMES:
        name = "sum" if question.aggregate == "sum" else "average"
        count = f"{len(amount.things):,} {plural(question.things or 'document', len(amount.things))}"
        return f"The {name} of {of} of {count} is {value}."
    which = (DATES if isinstance(amount.value, str) else EXTREMES)[question.aggregate]
    named = [
        f"{thing.title}{besides(thing, question)} [source {await sources.of_thing(thing, question)}]"
        for thing in amount.things[:NAMED]
    ]
    more = f" and {len(amount.things) - NAMED:,} more" if len(amount.things) > NAMED else ""
    return f"The {which} {of} is {value}: {', '.join(named)}{more}."


def spoken(question: Question) -> str:
    """What is asked of the things, as the question writes it: in a sentence a capital letter is that of a name."""
    labels = question.of.labels if question.of else ("value",)
    return " and ".join(label.lower() if label.lower() in question.text else label for label in labels)


def besides(thing: Thing, question: Question) -> str:
    """What else the answer is to name: " (merchant: ACME)"."""
    told = [
        f"{name}: {value}" for name, value in zip(question.show, values_of(thing, question.show), strict=True) if value
    ]
    return f" ({', '.join(told)})" if told else ""


def shown(value: Decimal | str, *, is_money: bool = False) -> str:
    """2041.38; an average with no more digits than make sense."""
    if isinstance(value, str):
        return value
    exponent = value.as_tuple().exponent
    places = 2 if is_money else 4
    rounded = round(value, places) if isinstance(exponent, int) and exponent < -places else value
    text = f"{rounded:,f}"
    whole, point, cents = text.partition(".")
    return f"{whole}{point}{cents.rstrip('0').ljust(2, '0')}" if point and cents.strip("0") else whole
