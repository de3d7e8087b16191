"""From what was decided to a reply: numbers for the sources, rows for a table, and the sentences of counts, sums and
extremes, each with its source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from tablewright.citations.figures import find_unproved_figures
from tablewright.citations.quotes import whole_lines
from tablewright.corpus.corpus import Corpus
from tablewright.corpus.results import Aggregated, Amount, FoundItem, FoundItems, StatedFact
from tablewright.domain.condition import describe_condition
from tablewright.domain.corpus import Question
from tablewright.domain.reply import Citation, Ledger, ReplyRow
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.text import plural
from tablewright.messages.catalogue import AskText, figure, translate
from tablewright.store.conversations import ResultRow
from tablewright.values.currencies import is_currency

ROWS = 50
"""Rows that a reply shows, at most; all of them are kept."""
NAMED = 5
"""Things that a sentence names."""
LONG = 400
"""Characters of a passage that is quoted whole."""
UNDECIDED = 20
EXTREMES: AskText[dict[str, str]] = {
    "max": "The largest {column} is {figure}: {named}.",
    "min": "The smallest {column} is {figure}: {named}.",
}
DATES: AskText[dict[str, str]] = {
    "max": "The latest {column} is {figure}: {named}.",
    "min": "The earliest {column} is {figure}: {named}.",
}
TOTALS: AskText[dict[str, str]] = {
    "sum": "The sum of {column} of {count} {things} is {figure}.",
    "average": "The average of {column} of {count} {things} is {figure}.",
}


@dataclass(kw_only=True)
class Sources:
    """The numbers that the sources of a reply have, in the order in which they are first used."""

    corpus: Corpus
    citations: list[Citation] = field(default_factory=list)
    texts: dict[str, Retrieved] = field(default_factory=dict)
    paths: dict[str, str] = field(default_factory=dict)

    async def of_thing(self, thing: FoundItem) -> int:
        """Cite the values that decided."""
        spans = [span for stated in thing.values for span in spans_of(stated)]
        return await self.cite(thing.document_id, spans or [(thing.start, thing.end)])

    async def cite(self, document_id: str, spans: Sequence[tuple[int, int]], *, in_lines: bool = True) -> int:
        """The number of the passage; `in_lines`: with the rest of its lines."""
        text = await self.text(document_id)
        lines = sorted({whole_lines(text.text, *span) if in_lines else span for span in spans})
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


def spans_of(stated: StatedFact) -> tuple[tuple[int, int], ...]:
    """Return where the value is in the text; for a computed value, where all of its figures are."""
    return stated.parts or (((stated.start, stated.end),) if stated.end > stated.start else ())


# ── the table ────────────────────────────────────────────────────────────────────────────────────────────────────────


def values_of(thing: FoundItem, columns: Sequence[str]) -> tuple[str, ...]:
    return tuple("; ".join(dict.fromkeys(each.value.raw for each in thing.all_of(name))) for name in columns)


def listed(found: FoundItems, aggregated: Aggregated | None) -> tuple[FoundItem, ...]:
    """The things that the reply shows: all that match, or those that hold the extreme."""
    if aggregated is None or found.question.aggregate not in EXTREMES:
        return found.matches
    amounts = (amount for group in aggregated.groups for amount in group.amounts)
    return tuple({(each.document_id, each.row): each for amount in amounts for each in amount.things}.values())


def kept_rows(columns: Sequence[str], things: Sequence[FoundItem]) -> list[ResultRow]:
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


async def shown_rows(kept: Sequence[ResultRow], things: Sequence[FoundItem], sources: Sources) -> tuple[ReplyRow, ...]:
    pairs = zip(kept[:ROWS], things[:ROWS], strict=True)
    return tuple([reply_row(row, await sources.of_thing(thing)) for row, thing in pairs])


def reply_row(row: ResultRow, source: int) -> ReplyRow:
    title, *values = row.values
    return ReplyRow(document_id=row.document_id, title=title, values=tuple(values), page=row.page, source=source)


def ledger_of(found: FoundItems) -> Ledger:
    return Ledger(
        things=found.question.things or "document",
        total=found.universe + found.unreadable,
        matched=len(found.matches),
        no_match=found.rejected,
        not_stated=len(found.undecided),
        unreadable=found.unreadable,
        undecided=tuple((each.thing.title, each.reason) for each in found.undecided[:UNDECIDED]),
    )


async def calculations(things: Sequence[FoundItem], sources: Sources) -> list[str]:
    """Explain computed values: "- INV-7: Total 92.50 EUR = 2 * 40 + 12.50 [source 3]"."""
    computed = [(thing, stated) for thing in things for stated in thing.values if stated.calculation]
    return [
        f"- {thing.title}: {stated.asked} {stated.value.raw} = {stated.calculation} "
        f"[source {await sources.of_thing(thing)}]"
        for thing, stated in computed[:NAMED]
    ]


# ── the sentences ────────────────────────────────────────────────────────────────────────────────────────────────────


async def answer_text(
    found: FoundItems, aggregated: Aggregated | None, sources: Sources, sentence: str = "", language: str = ""
) -> str:
    """`sentence` is the answer in the user's own words, with places for the figures; code has its own."""
    question = found.question
    if said := completed(sentence, found, aggregated, language):
        if aggregated is None or not (question.group_by or question.aggregate in EXTREMES):
            return said
        return f"{said}\n{await _by_group(aggregated, found, sources, language)}"
    if aggregated is not None and question.aggregate != "count":
        return await _amounts(aggregated, found, sources, language)
    count = len(found.matches)
    said = translate(
        "ask",
        "{count} {things} matches.|{count} {things} match.",
        language,
        count=count,
        things=plural(question.things or "document", count),
    )
    if aggregated is not None and question.group_by:
        return "\n".join((said, *(f"- {line}" for line in _counts(aggregated, language))))
    return said


def completed(sentence: str, found: FoundItems, aggregated: Aggregated | None, language: str = "") -> str:
    """The sentence with its figures; "" where it has other figures than code and the question know, or no place for
    the one that was asked for."""
    amounts = [amount for group in aggregated.groups for amount in group.amounts] if aggregated else []
    is_grouped = bool(found.question.group_by)
    total = " + ".join(written(amount, language) for amount in amounts) if not is_grouped else ""
    if found.question.aggregate not in ("", "count") and not is_grouped and ("{figure}" not in sentence or not total):
        return ""
    if not total and "{figure}" in sentence:
        return ""
    if len(amounts) > 1 and not is_grouped and found.question.aggregate != "sum":
        return ""  # the largest in euros and the largest in pounds are two sentences
    known = [found.question.text, *map(describe_condition, found.question.conditions)]
    if "{" in sentence.replace("{count}", "").replace("{figure}", "") or find_unproved_figures(sentence, known):
        return ""
    count = figure(f"{len(found.matches):,}", language)
    return sentence.strip().replace("{count}", count).replace("{figure}", total)


async def _by_group(aggregated: Aggregated, found: FoundItems, sources: Sources, language: str) -> str:
    """The lines below a sentence that is not code's own."""
    if found.question.aggregate == "count":
        return "\n".join(f"- {line}" for line in _counts(aggregated, language))
    lines = []
    for group in aggregated.groups:
        for amount in group.amounts:
            is_extreme = found.question.aggregate in EXTREMES
            holders = await _holders(amount, found.question, sources, language) if is_extreme else ""
            lines.append("- " + ": ".join(filter(None, (group.key, written(amount, language), holders))))
    return "\n".join(lines)


def _counts(aggregated: Aggregated, language: str) -> list[str]:
    unnamed = translate("ask", "not stated", language)
    return [f"{group.key or unnamed}: {figure(f'{group.count:,}', language)}" for group in aggregated.groups]


def written(amount: Amount, language: str = "") -> str:
    value = figure(shown(amount.value, is_money=is_currency(amount.unit)), language)
    return f"{value} {amount.unit}".strip()


async def _amounts(aggregated: Aggregated, found: FoundItems, sources: Sources, language: str) -> str:
    question = found.question
    lines = []
    for group in aggregated.groups:
        head = f"{group.key or translate('ask', 'not stated', language)}: " if question.group_by else ""
        if not group.amounts:
            things = plural(question.things or "document", group.count)
            said = translate(
                "ask",
                "none of {count} {things} states {column}.",
                language,
                count=group.count,
                things=things,
                column=spoken(question),
            )
            lines.append(f"{head}{said}")
        for amount in group.amounts:
            lines.append(head + await _amount(amount, question, sources, language))
    return "\n".join(lines)


async def _amount(amount: Amount, question: Question, sources: Sources, language: str) -> str:
    of, value = spoken(question), written(amount, language)
    if question.aggregate not in EXTREMES:
        count = len(amount.things)
        things = plural(question.things or "document", count)
        return translate(
            "ask", TOTALS[question.aggregate], language, column=of, count=count, things=things, figure=value
        )
    which = (DATES if isinstance(amount.value, str) else EXTREMES)[question.aggregate]
    holders = await _holders(amount, question, sources, language)
    return translate("ask", which, language, column=of, figure=value, named=holders)


async def _holders(amount: Amount, question: Question, sources: Sources, language: str) -> str:
    """Those that have the extreme, each with its source."""
    columns = [name for name in question.show if name != question.of]
    holders = [
        f"{named(thing, columns, language)} [source {await sources.of_thing(thing)}]" for thing in amount.things[:NAMED]
    ]
    left = len(amount.things) - NAMED
    return f"{'; '.join(holders)}{translate('ask', ' and {count} more', language, count=left) if left > 0 else ''}"


def spoken(question: Question) -> str:
    """Return the column as the question writes it: within a sentence a capital letter marks a name."""
    label = question.of or "value"
    return label.lower() if label.lower() in question.text else label


def named(thing: FoundItem, columns: Sequence[str], language: str) -> str:
    """A thing with its values, in one line: "INV-7: Total 12.50 EUR, Supplier ACME"; a row is its own values."""
    pairs = [
        (name, "; ".join(dict.fromkeys(fact_text(each, language) for each in thing.all_of(name)))) for name in columns
    ]
    said = ", ".join(f"{name} {value}" for name, value in pairs if value and (thing.row or value != thing.title))
    return said if thing.row and said else f"{thing.title}: {said}".rstrip(": ")


def fact_text(stated: StatedFact, language: str) -> str:
    """A value in a sentence: amounts as the language writes them, and how one was worked out."""
    value, how = stated.value, f" (= {stated.calculation})" if stated.calculation else ""
    if value.truth is not None:
        return translate("ask", "yes" if value.truth else "no", language)
    if value.number is None or value.high is not None or not value.currency:
        return f"{value.raw}{how}"
    return f"{written(Amount(value=Decimal(repr(value.number)), unit=value.currency), language)}{how}"


def not_decided(found: FoundItems, language: str) -> str:
    """Return which things may belong to the answer, and why that is unknown."""
    if not found.undecided:
        return ""
    reasons: dict[str, dict[str, None]] = {}
    for each in found.undecided:
        reasons.setdefault(each.reason, {})[each.thing.title] = None
    lines = []
    for reason, titles in sorted(reasons.items(), key=lambda each: -len(each[1])):
        names, left = list(titles)[:NAMED], len(titles) - NAMED
        listed = ", ".join(names) + (translate("ask", " and {count} more", language, count=left) if left > 0 else "")
        lines.append(translate("ask", "Not decided: {named} ({why}).", language, named=listed, why=reason))
    return "\n".join(lines)


def shown(value: Decimal | str, *, is_money: bool = False) -> str:
    """2041.38; an average with no more digits than make sense."""
    if isinstance(value, str):
        return value
    exponent = value.as_tuple().exponent
    places = 2 if is_money else 4
    rounded = round(value, places) if isinstance(exponent, int) and exponent < -places else value
    text = f"{rounded:,f}"
    whole, point, cents = text.partition(".")
    return f"{whole}{point}{cents.rstrip('0').ljust(2 * is_money, '0')}" if cents.strip("0") else whole
