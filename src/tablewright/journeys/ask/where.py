"""A form over what is known of the documents: the columns of their kind's table, and the labels that they themselves
use. No model is asked, nothing is guessed: a column that nobody knows is an error that names those that are known.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from msgspec import structs

from tablewright.conditions.comparable import check_condition
from tablewright.corpus.corpus import Corpus
from tablewright.corpus.results import StatedFact
from tablewright.decisions.plan_question import (
    PlannedColumn,
    PlannedCondition,
    QuestionPlan,
    texts_for,
)
from tablewright.domain.condition import OPERATORS, Condition, describe_condition
from tablewright.domain.corpus import Document, Segment, Typed
from tablewright.domain.form import TEXT, TITLE, Form, KnownColumn, KnownGroup
from tablewright.domain.model import Field, FieldType, column_key
from tablewright.domain.text import plural
from tablewright.errors import NotFound, UsageError
from tablewright.journeys.ask.members import (
    CHANGED,
    UNSORTED,
    Inventory,
    Member,
    QueryScope,
    labelled_values,
    table_members,
    titles_of,
)
from tablewright.store.snapshot import PropertyAt
from tablewright.store.store import Store
from tablewright.values.vocabulary import holds, writings

EXAMPLES = 3
NAMED = 30
"""Columns that an error names."""


async def looked_up(store: Store, corpus: Corpus, form: Form, things: Inventory) -> tuple[QuestionPlan, QueryScope]:
    """Return the form as a plan, and the members that it is about."""
    members, called = await members_of(store, form, things)
    unsorted = await unsorted_members(store, form, things) if called == "document" else []
    if phrases := sought(form):
        members, unsorted = [await with_texts(corpus, each, phrases) for each in (members, unsorted)]
    compared_keys = {column_key(each.column) for each in form.conditions}
    members += [each for each in unsorted if compared_keys <= each.values.keys()]
    known = labels_of(members)
    show = form.show or (things.tables[form.table].labels if form.table and not form.aggregate else ())
    compared = [column for each in form.conditions for column in each.columns]
    wanted = [*compared, form.of, form.group_by, form.order_by, form.unit]
    names: dict[str, str] = {}
    for name in filter(None, [*wanted, *show]):
        if column_key(name) not in known:
            listed = ", ".join((await nearest_first(corpus, name, list(known.values())))[:NAMED]) or "none"
            raise UsageError(f"No {called} states {name!r}.", advice=f"Known are, the nearest first: {listed}.")
        names[column_key(name)] = known[column_key(name)]
    types = {key: type_of(members, key) for key in names}
    plan = texts_for(describe_form(form, called)).model_copy(
        update={
            "action": "table",
            "of": [called],
            "columns": [
                PlannedColumn(name=name, type=types[key], question="", unit="")  # type: ignore[arg-type]
                for key, name in names.items()
            ],
            "conditions": [planned(each, names, types) for each in form.conditions],
            "aggregate": form.aggregate,
            "aggregate_column": names.get(column_key(form.of), ""),
            "group_by": names.get(column_key(form.group_by), ""),
            "order_by": names.get(column_key(form.order_by), ""),
            "descending": form.descending,
            "limit": form.limit,
            "unit_column": names.get(column_key(form.unit), ""),
        }
    )
    scope = QueryScope(
        members=members,
        called=called,
        unreadable=0 if form.table else things.unreadable,
        unsorted=things.unsorted if form.kind else 0,
        of=things.readable,
        totals=len(things.tables[form.table].totals) if form.table else 0,
    )
    return plan, scope


async def nearest_first(corpus: Corpus, name: str, known: Sequence[str]) -> list[str]:
    """ "qty" is near "Quantity": what a person may have meant, never what is taken for it."""
    if not known:
        return []
    vectors = await corpus.embedder.embed([name, *known])
    near = dict(zip(known, (float(each) for each in vectors[1:] @ vectors[0]), strict=True))
    return sorted(known, key=lambda each: -near[each])


async def members_of(store: Store, form: Form, things: Inventory) -> tuple[list[Member], str]:
    if form.table:
        if form.table not in things.tables:
            raise NotFound(f"There is no table {form.table!r}.", advice=f"There are: {', '.join(things.tables)}.")
        return list(things.tables[form.table].members), "row"
    kinds = {kind.casefold(): kind for kind in things.kinds}
    if form.kind and form.kind.casefold() not in kinds:
        listed = ", ".join(f"{kind} ({len(each)})" for kind, each in things.kinds.items())
        raise NotFound(f"There is no document of the kind {form.kind!r}.", advice=f"There are: {listed or 'none'}.")
    chosen = [kinds[form.kind.casefold()]] if form.kind else list(things.kinds)
    living = await store.kinds.tables()
    members: list[Member] = []
    for kind in chosen:
        documents = list(things.kinds[kind])
        read: list[Member] = []
        if kind in living:
            table = await store.tables.load(living[kind])
            read = await table_members(store, table, documents)
        members += await with_facts(store, documents, {member.document.id: member for member in read})
    is_guessed = any(each.document.kind_by == "title" for each in members)  # in words of whatever language
    return members, form.kind if form.kind and not is_guessed else "document"


async def unsorted_members(store: Store, form: Form, things: Inventory) -> list[Member]:
    """Return the documents of no known kind, where a condition may be met by them and the kind is only guessed.

    They may be of that kind too: they share no heading with others, and leaving them out would hide them."""
    if not form.kind or not form.conditions or UNSORTED not in things.kinds or form.kind.casefold() == UNSORTED:
        return []
    return (await members_of(store, Form(kind=UNSORTED), things))[0]


async def with_facts(store: Store, documents: Sequence[Document], read: Mapping[str, Member]) -> list[Member]:
    """The documents with the labelled values that stand in them; what was read into their table comes first."""
    labelled: dict[str, list[PropertyAt]] = {}
    for at in await store.documents.properties(documents=[each.id for each in documents]):
        if at.shape == "fact":
            labelled.setdefault(at.document_id, []).append(at)
    members = []
    titles = titles_of(documents)
    for document in documents:
        member = read.get(document.id) or Member(document=document, title=titles[document.id])
        title = StatedFact(asked=TITLE, label=TITLE, value=Typed(raw=document.title or document.name), start=0, end=0)
        values = {**labelled_values(labelled.get(document.id, ()), {}), **member.values, TITLE: (title,)}
        members.append(replace(member, values=values))
    return members


def sought(form: Form) -> list[str]:
    """Return the phrases that must be in the text."""
    of_text = [each for each in form.conditions if column_key(each.column) == TEXT]
    if wrong := next((each for each in of_text if each.operator != "contains"), None):
        raise UsageError(f"{str(wrong)!r} cannot be looked up.", advice="Of a text can be asked: text contains WORDS.")
    return [value for each in of_text for value in each.values]


async def with_texts(corpus: Corpus, members: Sequence[Member], phrases: Sequence[str]) -> list[Member]:
    """With the lines that hold the phrases as values of the column `text`; a row of a table is one line."""
    lines: dict[str, list[StatedFact]] = {}
    documents = [member.document.id for member in members if not member.row]
    for phrase in phrases if documents else ():
        for written in writings(phrase):
            for at in await corpus.documents.with_words(f'"{written}"', documents=documents):
                if found := line_with(at.segment, phrase):
                    lines.setdefault(at.document_id, []).append(found)
    return [
        replace(each, values={**each.values, TEXT: row_text(each) or tuple(lines.get(each.document.id, NO_LINE))})
        for each in members
    ]


def line_with(segment: Segment, phrase: str) -> StatedFact | None:
    start = segment.start
    for line in segment.text.splitlines(keepends=True):
        if holds(line, phrase):
            return text_stated(line.strip(), start, start + len(line.rstrip("\n")), segment.page)
        start += len(line)
    return text_stated(segment.text, segment.start, segment.end, segment.page) if holds(segment.text, phrase) else None


def row_text(member: Member) -> tuple[StatedFact, ...]:
    if not member.row:
        return ()
    cells = " | ".join(each.value.raw for stated in member.values.values() for each in stated)
    return (text_stated(cells, member.start, member.end, member.page),)


def text_stated(raw: str, start: int = 0, end: int = 0, page: int | None = None) -> StatedFact:
    return StatedFact(asked=TEXT, label=TEXT, value=Typed(raw=raw), start=start, end=end, page=page)


NO_LINE = (text_stated(""),)


def labels_of(members: Sequence[Member]) -> dict[str, str]:
    """The names of all known columns by their keys, the commonest first, as most write them."""
    written: dict[str, Counter[str]] = {}
    for member in members:
        for key, stated in member.values.items():
            written.setdefault(key, Counter())[stated[0].asked] += 1
    ordered = sorted(written.items(), key=lambda each: -each[1].total())
    return {key: names.most_common(1)[0][0] for key, names in ordered}


def type_of(members: Sequence[Member], key: str) -> FieldType:
    """Return the type of most values of a column."""
    kinds: Counter[FieldType] = Counter()
    for member in members:
        for stated in member.values.get(key, ()):
            value = stated.value
            is_number = value.number is not None or value.si is not None
            kinds["date" if value.date else "number" if is_number else "text"] += 1
    return kinds.most_common(1)[0][0] if kinds else "text"


def planned(condition: Condition, names: Mapping[str, str], types: Mapping[str, FieldType]) -> PlannedCondition:
    key = column_key(condition.column)
    if condition.operator not in OPERATORS:
        raise UsageError(f"{condition.operator!r} is no operator.", advice=f"There are: {', '.join(OPERATORS)}.")
    named = structs.replace(condition, column=names[key])
    if problem := check_condition(named, Field(name=names[key], type=types[key])):
        raise UsageError(f"{problem[:1].upper()}{problem[1:]}")
    return PlannedCondition.model_validate(structs.asdict(named))


def describe_form(form: Form, called: str) -> str:
    """ "invoices: total > 500 EUR; sum of total by supplier"."""
    said = "; ".join(map(describe_condition, form.conditions))
    figure = f"{form.aggregate} of {form.of}" if form.of else form.aggregate
    grouped = f" by {form.group_by}" if form.group_by else ""
    return ": ".join(filter(None, (plural(called, 2), "; ".join(filter(None, (said, f"{figure}{grouped}".strip()))))))


async def known_groups(store: Store, things: Inventory) -> list[KnownGroup]:
    """All kinds and tables with the columns that are known of them, the commonest first."""
    living = await store.kinds.tables()
    groups = []
    for kind, documents in sorted(things.kinds.items(), key=lambda each: -len(each[1])):
        members, _ = await members_of(store, Form(kind=kind), things)
        names = tuple(each.name for each in documents[:EXAMPLES])
        group = asyncio.to_thread(group_of, kind, members, examples=names, table_id=living.get(kind, ""))
        groups.append(await group)
    for table in things.tables.values():
        names = tuple(each.name for each in table.documents[:EXAMPLES])
        group = asyncio.to_thread(group_of, table.name, table.members, examples=names, is_table=True)
        groups.append(await group)
    return groups


def group_of(
    name: str, members: Sequence[Member], *, examples: tuple[str, ...], is_table: bool = False, table_id: str = ""
) -> KnownGroup:
    known = labels_of(members)
    stale = Counter(key for member in members for key, why in member.missing.items() if why == CHANGED)
    return KnownGroup(
        name=name,
        members=len(members),
        from_titles=0 if is_table else sum(each.document.kind_by == "title" for each in members),
        columns=tuple(
            KnownColumn(
                name=column,
                known=sum(key in member.values for member in members),
                type=type_of(members, key),
                stale=stale[key],
            )
            for key, column in known.items()
        ),
        is_table=is_table,
        table_id=table_id,
        examples=examples,
    )
