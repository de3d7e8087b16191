"""Turn decided items into a reply: numbered sources, rows of a table, and sentences on counts, sums and extremes.

Reads quotes from the documents; stores nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from tablewright.citations.figures import find_unproved_figures
from tablewright.citations.quotes import expand_to_lines
from tablewright.documents.corpus import Corpus
from tablewright.documents.results import Aggregated, Amount, FoundItem, FoundItems, StatedFact
from tablewright.domain.condition import describe_condition
from tablewright.domain.documents import Document, Question
from tablewright.domain.reply import Citation, MatchLedger, ReplyRow
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.text import pluralize_noun
from tablewright.messages.catalogue import AskText, localize_figure, translate
from tablewright.store.conversations import ResultRow
from tablewright.text import content_stems, page_pieces
from tablewright.values.currencies import is_currency

# Items that one sentence names before it says "and N more".
MAX_NAMED_ITEMS = 5
# Whole sentences, not parts: word order and gender differ between languages.
EXTREMES: AskText[dict[str, str]] = {
    "max": "The largest {column} is {figure}: {named}.",
    "min": "The smallest {column} is {figure}: {named}.",
}


@dataclass(kw_only=True)
class CitationList:
    """The citations of a reply, numbered in order of first use."""

    corpus: Corpus
    citations: list[Citation] = field(default_factory=list)
    texts: dict[str, Retrieved] = field(default_factory=dict)
    documents: dict[str, Document] = field(default_factory=dict)

    async def of_thing(self, thing: FoundItem) -> int:
        """Cite the values that decided about an item and return the number."""
        # A computed value has the places of all its figures.
        spans = [
            span
            for each in thing.values
            for span in each.parts or (((each.start, each.end),) if each.end > each.start else ())
        ]
        return await self.cite(thing.document_id, spans or [(thing.start, thing.end)])

    async def cite(
        self,
        document_id: str,
        spans: Sequence[tuple[int, int]],
        *,
        in_lines: bool = True,
        wanted: Mapping[str, float] | None = None,
    ) -> int:
        """Return the number of a passage; with `in_lines`, quote its whole lines. With the weights of `wanted` stems,
        highlight the sentence that has most of them."""
        text = await self.text(document_id)
        # Whole lines: a value without its label proves little to a reader.
        lines = sorted({expand_to_lines(text.text, *span) if in_lines else span for span in spans})
        start, end = lines[0][0], max(end for _, end in lines)
        for known in self.citations:
            if (known.document_id, known.start, known.end) == (document_id, start, end):
                return known.number
        whole = text.text[start:end]
        # A longer passage is quoted by its deciding lines.
        deciding = " … ".join(text.text[first:last] for first, last in lines)
        quote = whole if len(whole) <= 400 else deciding
        highlight = find_nearest_sentence(wanted, whole) if wanted else deciding
        cited = Citation(
            number=len(self.citations) + 1,
            document_id=document_id,
            title=self.documents[document_id].full_title,
            path=self.documents[document_id].path,
            quote=quote,
            page=text.page_at(start),
            start=start,
            end=end,
            content_hash=text.content_hash,
            highlight=highlight if highlight != quote else "",
        )
        self.citations.append(cited)
        return cited.number

    async def text(self, document_id: str) -> Retrieved:
        if document_id not in self.texts:
            self.texts[document_id] = await self.corpus.documents.retrieved(document_id)
            self.documents[document_id] = await self.corpus.documents.get(document_id)
        return self.texts[document_id]


def weigh_question_words(question: str, texts: Sequence[str]) -> dict[str, float]:
    """Return the stems of a question, each with a weight: what is in every passage tells none of them apart."""
    spread = Counter(stem for text in texts for stem in set(content_stems(text)))
    return {stem: 1 / spread[stem] for stem in content_stems(question) if stem in spread}


def find_nearest_sentence(wanted: Mapping[str, float], text: str) -> str:
    """Return the sentence, or the row of a table, with the most of the wanted stems; of equals the shortest."""
    pieces = [text[start:end] for start, end in page_pieces(text)]
    return max(
        pieces,
        key=lambda piece: (sum(wanted.get(stem, 0.0) for stem in set(content_stems(piece))), -len(piece)),
        default="",
    )


# ── the table ────────────────────────────────────────────────────────────────────────────────────────────────────────


def format_item_values(thing: FoundItem, columns: Sequence[str]) -> tuple[str, ...]:
    return tuple("; ".join(dict.fromkeys(each.value.raw for each in thing.all_of(name))) for name in columns)


def select_listed_items(found: FoundItems, aggregated: Aggregated | None) -> tuple[FoundItem, ...]:
    """Return the items that the reply shows: all that match, or those that hold the extreme."""
    if aggregated is None or found.question.aggregate not in EXTREMES:
        return found.matches
    amounts = (amount for group in aggregated.groups for amount in group.amounts)
    return tuple({(each.document_id, each.row): each for amount in amounts for each in amount.things}.values())


def make_result_rows(columns: Sequence[str], things: Sequence[FoundItem]) -> list[ResultRow]:
    return [
        ResultRow(
            document_id=thing.document_id,
            page=thing.page,
            values=(thing.title, *format_item_values(thing, columns)),
            start=thing.start,
            end=thing.end,
        )
        for thing in things
    ]


async def cite_rows(
    kept: Sequence[ResultRow], things: Sequence[FoundItem], sources: CitationList, most: int
) -> tuple[ReplyRow, ...]:
    """Return the first rows of a reply; all of them are kept, and "show the rest" continues."""
    pairs = zip(kept[:most], things[:most], strict=True)
    return tuple([make_reply_row(row, await sources.of_thing(thing)) for row, thing in pairs])


def make_reply_row(row: ResultRow, source: int) -> ReplyRow:
    title, *values = row.values
    return ReplyRow(document_id=row.document_id, title=title, values=tuple(values), page=row.page, source=source)


def make_ledger(found: FoundItems) -> MatchLedger:
    return MatchLedger(
        things=found.question.things or "document",
        total=found.universe + found.unreadable,
        matched=len(found.matches),
        no_match=found.rejected,
        not_stated=len(found.undecided),
        unreadable=found.unreadable,
        # Twenty are as many as a reader checks one by one; `not_stated` counts them all.
        undecided=tuple((each.thing.title, each.reason) for each in found.undecided[:20]),
    )


async def explain_calculations(things: Sequence[FoundItem], sources: CitationList) -> list[str]:
    """Explain computed values: "- INV-7: Total 92.50 EUR = 2 * 40 + 12.50 [source 3]"."""
    computed = [(thing, stated) for thing in things for stated in thing.values if stated.calculation]
    return [
        f"- {thing.title}: {stated.asked} {stated.value.raw} = {stated.calculation} "
        f"[source {await sources.of_thing(thing)}]"
        for thing, stated in computed[:MAX_NAMED_ITEMS]
    ]


# ── the sentences ────────────────────────────────────────────────────────────────────────────────────────────────────


async def write_answer(
    found: FoundItems, aggregated: Aggregated | None, sources: CitationList, sentence: str = "", language: str = ""
) -> str:
    """Write the answer; `sentence` is the model's wording with places for the figures, used if it proves right."""
    question = found.question
    if said := complete_sentence(sentence, found, aggregated, language):
        # The model's sentence has one place for a figure, so groups and holders of an extreme follow as lines of their
        # own.
        if aggregated is None or not (question.group_by or question.aggregate in EXTREMES):
            return said
        return f"{said}\n{await _list_groups(aggregated, found, sources, language)}"
    if aggregated is not None and question.aggregate != "count":
        return await _describe_aggregates(aggregated, found, sources, language)
    count = len(found.matches)
    several: AskText[str] = "{count} {things} matches.|{count} {things} match."
    none: AskText[str] = "No {things} match."
    # What is undecided may match.
    unknown: AskText[str] = "No {things} are known to match."
    said = translate(
        "ask",
        several if count else unknown if found.undecided else none,
        language,
        count=count,
        things=pluralize_noun(question.things or "document", count),
    )
    if aggregated is not None and question.group_by:
        return "\n".join((said, *(f"- {line}" for line in _list_group_counts(aggregated, language))))
    return said


def complete_sentence(sentence: str, found: FoundItems, aggregated: Aggregated | None, language: str = "") -> str:
    """Return the sentence with its figures, or "" if it states figures of its own or has no place for the requested
    one."""
    amounts = [amount for group in aggregated.groups for amount in group.amounts] if aggregated else []
    is_grouped = bool(found.question.group_by)
    total = " + ".join(format_amount_found(amount, language) for amount in amounts) if not is_grouped else ""
    is_figure = found.question.aggregate not in ("", "count") and bool(found.matches)
    if is_figure and not is_grouped and ("{figure}" not in sentence or not total):
        return ""
    if not total and "{figure}" in sentence:
        return ""
    if len(amounts) > 1 and not is_grouped and found.question.aggregate != "sum":
        return ""  # the largest in euros and the largest in pounds are two sentences
    known = [found.question.text, *map(describe_condition, found.question.conditions)]
    if "{" in sentence.replace("{count}", "").replace("{figure}", "") or find_unproved_figures(sentence, known):
        return ""
    count = localize_figure(f"{len(found.matches):,}", language)
    return sentence.strip().replace("{count}", count).replace("{figure}", total)


async def _list_groups(aggregated: Aggregated, found: FoundItems, sources: CitationList, language: str) -> str:
    """Return a line per group, for a sentence that the model worded."""
    if found.question.aggregate == "count":
        return "\n".join(f"- {line}" for line in _list_group_counts(aggregated, language))
    lines = []
    for group in aggregated.groups:
        for amount in group.amounts:
            is_extreme = found.question.aggregate in EXTREMES
            holders = await _name_holders(amount, found.question, sources, language) if is_extreme else ""
            lines.append("- " + ": ".join(filter(None, (group.key, format_amount_found(amount, language), holders))))
    return "\n".join(lines)


def _list_group_counts(aggregated: Aggregated, language: str) -> list[str]:
    unnamed = translate("ask", "not stated", language)
    return [f"{group.key or unnamed}: {localize_figure(f'{group.count:,}', language)}" for group in aggregated.groups]


def format_amount_found(amount: Amount, language: str = "") -> str:
    value = localize_figure(round_figure(amount.value, is_money=is_currency(amount.unit)), language)
    return f"{value} {amount.unit}".strip()


async def _describe_aggregates(aggregated: Aggregated, found: FoundItems, sources: CitationList, language: str) -> str:
    question = found.question
    lines = []
    for group in aggregated.groups:
        head = f"{group.key or translate('ask', 'not stated', language)}: " if question.group_by else ""
        if not group.amounts:
            things = pluralize_noun(question.things or "document", group.count)
            said = translate(
                "ask",
                "none of {count} {things} states {column}.",
                language,
                count=group.count,
                things=things,
                column=column_in_sentence(question),
            )
            lines.append(f"{head}{said}")
        for amount in group.amounts:
            lines.append(head + await _describe_aggregate(amount, question, sources, language))
    return "\n".join(lines)


async def _describe_aggregate(amount: Amount, question: Question, sources: CitationList, language: str) -> str:
    of, value = column_in_sentence(question), format_amount_found(amount, language)
    dates: AskText[dict[str, str]] = {
        "max": "The latest {column} is {figure}: {named}.",
        "min": "The earliest {column} is {figure}: {named}.",
    }
    totals: AskText[dict[str, str]] = {
        "sum": "The sum of {column} of {count} {things} is {figure}.",
        "average": "The average of {column} of {count} {things} is {figure}.",
    }
    if question.aggregate not in EXTREMES:
        count = len(amount.things)
        things = pluralize_noun(question.things or "document", count)
        return translate(
            "ask", totals[question.aggregate], language, column=of, count=count, things=things, figure=value
        )
    which = (dates if isinstance(amount.value, str) else EXTREMES)[question.aggregate]
    holders = await _name_holders(amount, question, sources, language)
    return translate("ask", which, language, column=of, figure=value, named=holders)


async def _name_holders(amount: Amount, question: Question, sources: CitationList, language: str) -> str:
    """Name the items that hold the extreme, each with its source."""
    columns = [name for name in question.show if name != question.of]
    holders = [
        f"{describe_item(thing, columns, language)} [source {await sources.of_thing(thing)}]"
        for thing in amount.things[:MAX_NAMED_ITEMS]
    ]
    left = len(amount.things) - MAX_NAMED_ITEMS
    return f"{'; '.join(holders)}{translate('ask', ' and {count} more', language, count=left) if left > 0 else ''}"


def column_in_sentence(question: Question) -> str:
    """Return the column as the question writes it: within a sentence a capital letter marks a name."""
    label = question.of or "value"
    return label.lower() if label.lower() in question.text else label


def describe_item(thing: FoundItem, columns: Sequence[str], language: str) -> str:
    """Return an item with its values: "INV-7: Total 12.50 EUR, Supplier ACME"; a table row is named by its first value:
    "Elena Roth (Department Finance)"."""
    pairs = [
        (name, "; ".join(dict.fromkeys(format_fact(each, language) for each in thing.all_of(name)))) for name in columns
    ]
    said = [(name, value) for name, value in pairs if value and (thing.row or value != thing.title)]
    if thing.row and said:
        (_, first), *others = said
        return f"{first} ({', '.join(map(' '.join, others))})" if others else first
    return f"{thing.title}: {', '.join(map(' '.join, said))}".rstrip(": ")


def format_fact(stated: StatedFact, language: str) -> str:
    """Return a value as a sentence states it, with its calculation if it was computed."""
    value, how = stated.value, f" (= {stated.calculation})" if stated.calculation else ""
    if value.truth is not None:
        return translate("ask", "yes" if value.truth else "no", language)
    if value.number is None or value.high is not None or not value.currency:
        return f"{value.raw}{how}"
    return f"{format_amount_found(Amount(value=Decimal(repr(value.number)), unit=value.currency), language)}{how}"


def describe_undecided(found: FoundItems, language: str) -> str:
    """Return which things may belong to the answer, and why that is unknown."""
    if not found.undecided:
        return ""
    reasons: dict[str, dict[str, None]] = {}
    for each in found.undecided:
        reasons.setdefault(each.reason, {})[each.thing.title] = None
    lines = []
    for reason, titles in sorted(reasons.items(), key=lambda each: -len(each[1])):
        names, left = list(titles)[:MAX_NAMED_ITEMS], len(titles) - MAX_NAMED_ITEMS
        listed = ", ".join(names) + (translate("ask", " and {count} more", language, count=left) if left > 0 else "")
        lines.append(translate("ask", "Not decided: {named} ({why}).", language, named=listed, why=reason))
    return "\n".join(lines)


def round_figure(value: Decimal | str, *, is_money: bool = False) -> str:
    """Return "2,041.38"; cents for money, at most four places for other figures."""
    if isinstance(value, str):
        return value
    exponent = value.as_tuple().exponent
    # More places are noise of a division; exact values with fewer keep theirs.
    places = 2 if is_money else 4
    rounded = round(value, places) if isinstance(exponent, int) and exponent < -places else value
    text = f"{rounded:,f}"
    whole, point, cents = text.partition(".")
    return f"{whole}{point}{cents.rstrip('0').ljust(2 * is_money, '0')}" if cents.strip("0") else whole
