"""From what was decided to a reply: numbers for the sources, rows for a table, and the sentences of counts, sums and
extremes, each with its source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from tablewright.corpus.aggregate import Aggregated, Amount
from tablewright.corpus.corpus import Corpus
from tablewright.corpus.found import Found, Stated, Thing
from tablewright.decisions.figures import unproved
from tablewright.store.results import ResultRow
from tablewright.table.corpus import Question
from tablewright.table.currencies import is_currency
from tablewright.table.messages import figure
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

    async def of_thing(self, thing: Thing) -> int:
        """Where the values stand that decided."""
        spans = [span for stated in thing.values for span in spans_of(stated)]
        return await self.cite(thing.document_id, spans or [(thing.start, thing.end)])

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


def spans_of(stated: Stated) -> tuple[tuple[int, int], ...]:
    """Where it stands: of a computed value, all of its figures."""
    return stated.parts or (((stated.start, stated.end),) if stated.end > stated.start else ())


def line_of(text: str, start: int, end: int) -> tuple[int, int]:
    """The whole lines that it stands on."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    return first, len(text) if last < 0 else last


# ── the table ────────────────────────────────────────────────────────────────────────────────────────────────────────


def values_of(thing: Thing, columns: Sequence[str]) -> tuple[str, ...]:
    return tuple("; ".join(dict.fromkeys(each.value.raw for each in thing.all_of(name))) for name in columns)


def listed(found: Found, aggregated: Aggregated | None) -> tuple[Thing, ...]:
    """The things that the reply shows: all that match, or those that hold the extreme."""
    if aggregated is None or found.question.aggregate not in EXTREMES:
        return found.matches
    amounts = (amount for group in aggregated.groups for amount in group.amounts)
    return tuple({(each.document_id, each.row): each for amount in amounts for each in amount.things}.values())


def kept_rows(columns: Sequence[str], things: Sequence[Thing]) -> list[ResultRow]:
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


async def shown_rows(columns: Sequence[str], things: Sequence[Thing], sources: Sources) -> tuple[ReplyRow, ...]:
    return tuple(
        [
            ReplyRow(
                document_id=thing.document_id,
                title=thing.title,
                values=values_of(thing, columns),
                page=thing.page,
                source=await sources.of_thing(thing),
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


async def calculations(things: Sequence[Thing], sources: Sources) -> list[str]:
    """How the values came about that documents do not state: "- INV-7: Total 92.50 EUR = 2 * 40 + 12.50 [source 3]"."""
    computed = [(thing, stated) for thing in things for stated in thing.values if stated.calculation]
    return [
        f"- {thing.title}: {stated.asked} {stated.value.raw} = {stated.calculation} "
        f"[source {await sources.of_thing(thing)}]"
        for thing, stated in computed[:NAMED]
    ]


# ── the sentences ────────────────────────────────────────────────────────────────────────────────────────────────────


async def told(
    found: Found, aggregated: Aggregated | None, sources: Sources, sentence: str = "", language: str = ""
) -> str:
    """`sentence` is the answer in the user's own language, with places for the figures; code has its own in English."""
    question = found.question
    if said := completed(sentence, found, aggregated, language):
        if aggregated is None or not (question.group_by or question.aggregate in EXTREMES):
            return said
        return f"{said}\n{await _by_group(aggregated, found, sources, language)}"
    if aggregated is not None and question.aggregate != "count":
        return await _amounts(aggregated, found, sources)
    things = question.things or "document"
    count = len(found.matches)
    verb = "matches" if count == 1 else "match"
    said = f"{count:,} {plural(things, count)} {verb}."
    if aggregated is not None and question.group_by:
        return f"{said} By {question.group_by}: {'; '.join(_counts(aggregated))}."
    return said


def completed(sentence: str, found: Found, aggregated: Aggregated | None, language: str = "") -> str:
    """The sentence with its figures; "" where it has other figures than code and the question know, or no place for
    the one that was asked for."""
    amounts = [amount for group in aggregated.groups for amount in group.amounts] if aggregated else []
    is_grouped = bool(found.question.group_by)
    total = " + ".join(written(amount, language) for amount in amounts) if not is_grouped else ""
    if found.question.aggregate not in ("", "count") and not is_grouped and ("{figure}" not in sentence or not total):
        return ""
    if not total and "{figure}" in sentence:
        return ""
    if "{" in sentence.replace("{count}", "").replace("{figure}", "") or unproved(sentence, [found.question.text]):
        return ""
    count = figure(f"{len(found.matches):,}", language)
    return sentence.strip().replace("{count}", count).replace("{figure}", total)


async def _by_group(aggregated: Aggregated, found: Found, sources: Sources, language: str) -> str:
    """The lines below a sentence that is not code's own."""
    if found.question.aggregate == "count":
        return "\n".join(f"- {line}" for line in _counts(aggregated))
    lines = []
    for group in aggregated.groups:
        for amount in group.amounts:
            named = await _holders(amount, found.question, sources) if found.question.aggregate in EXTREMES else ""
            lines.append("- " + ": ".join(filter(None, (group.key, written(amount, language), named))))
    return "\n".join(lines)


def _counts(aggregated: Aggregated) -> list[str]:
    return [f"{group.key or 'not stated'}: {group.count:,}" for group in aggregated.groups]


def written(amount: Amount, language: str = "") -> str:
    value = figure(shown(amount.value, is_money=is_currency(amount.unit)), language)
    return f"{value} {amount.unit}".strip()


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
    of = spoken(question)
    if question.aggregate not in EXTREMES:
        name = "sum" if question.aggregate == "sum" else "average"
        count = f"{len(amount.things):,} {plural(question.things or 'document', len(amount.things))}"
        return f"The {name} of {of} of {count} is {written(amount)}."
    which = (DATES if isinstance(amount.value, str) else EXTREMES)[question.aggregate]
    return f"The {which} {of} is {written(amount)}: {await _holders(amount, question, sources)}."


async def _holders(amount: Amount, question: Question, sources: Sources) -> str:
    """Those that have the extreme, each with its source."""
    named = [
        f"{thing.title}{besides(thing, question)} [source {await sources.of_thing(thing)}]"
        for thing in amount.things[:NAMED]
    ]
    more = f" and {len(amount.things) - NAMED:,} more" if len(amount.things) > NAMED else ""
    return f"{', '.join(named)}{more}"


def spoken(question: Question) -> str:
    """What is asked of the things, as the question writes it: in a sentence a capital letter is that of a name."""
    label = question.of or "value"
    return label.lower() if label.lower() in question.text else label


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
