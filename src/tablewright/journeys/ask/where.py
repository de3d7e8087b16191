"""A form over what is known of the documents: the columns of their kind's table, and the labels that they themselves
use. No model is asked, nothing is guessed: a column that nobody knows is an error that names those that are known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from tablewright.corpus.found import Stated
from tablewright.decisions.plan_question import (
    PlannedColumn,
    PlannedCondition,
    QuestionPlan,
    texts_for,
    wrong_condition,
)
from tablewright.errors import NotFound, UsageError
from tablewright.journeys.ask.things import Inventory, Member, members_of_table
from tablewright.store.store import Store
from tablewright.table.corpus import Document
from tablewright.table.form import Form, KnownColumn, KnownGroup, Where
from tablewright.table.model import FieldType, column_key
from tablewright.table.text import plural

EXAMPLES = 3
NAMED = 30
"""Columns that an error names."""
OPERATORS = ("=", "!=", "<", "<=", ">", ">=", "between", "contains", "in month", "known", "unknown")


async def looked_up(store: Store, form: Form, things: Inventory) -> tuple[QuestionPlan, list[Member]]:
    """The form as a plan, and the members that it is about."""
    members, called = await members_of(store, form, things)
    known = labels_of(members)
    wanted = [*(each.column for each in form.conditions), form.of, form.group_by, form.order_by, form.unit, *form.show]
    names: dict[str, str] = {}
    for name in filter(None, wanted):
        if column_key(name) not in known:
            listed = ", ".join(list(known.values())[:NAMED]) or "none"
            raise UsageError(f"No {called} states {name!r}.", advice=f"Known are: {listed}.")
        names[column_key(name)] = known[column_key(name)]
    types = {key: type_of(members, key) for key in names}
    plan = texts_for(in_words(form, called)).model_copy(
        update={
            "action": "table",
            "of": [called],
            "columns": [
                PlannedColumn(name=name, type=types[key], question="", unit="")  # type: ignore[arg-type]
                for key, name in names.items()
            ],
            "conditions": [condition_of(each, names, types) for each in form.conditions],
            "aggregate": form.aggregate,
            "aggregate_column": names.get(column_key(form.of), ""),
            "group_by": names.get(column_key(form.group_by), ""),
            "order_by": names.get(column_key(form.order_by), ""),
            "descending": form.descending,
            "limit": form.limit,
            "unit_column": names.get(column_key(form.unit), ""),
        }
    )
    return plan, members


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
            read = members_of_table(table, await store.kinds.rows(table.id), documents)
        members += await with_facts(store, documents, {member.document.id: member for member in read})
    return members, form.kind or "document"


async def with_facts(store: Store, documents: Sequence[Document], read: Mapping[str, Member]) -> list[Member]:
    """The documents with the labelled values that stand in them; what was read into their table comes first."""
    labelled: dict[str, dict[str, tuple[Stated, ...]]] = {}
    for at in await store.documents.properties(documents=[each.id for each in documents]):
        if at.shape == "fact":
            key = column_key(at.property.label)
            own = labelled.setdefault(at.document_id, {})
            stated = Stated(
                asked=at.property.label,
                label=at.property.label,
                value=at.property.value,
                start=at.property.start,
                end=at.property.end,
                page=at.page,
            )
            own[key] = (*own.get(key, ()), stated)
    members = []
    for document in documents:
        member = read.get(document.id) or Member(document=document, title=document.title or document.name)
        values = {**labelled.get(document.id, {}), **member.values}
        members.append(replace(member, values=values))
    return members


def labels_of(members: Sequence[Member]) -> dict[str, str]:
    """The names of all known columns by their keys, the commonest first, as most write them."""
    written: dict[str, Counter[str]] = {}
    for member in members:
        for key, stated in member.values.items():
            written.setdefault(key, Counter())[stated[0].asked] += 1
    ordered = sorted(written.items(), key=lambda each: -each[1].total())
    return {key: names.most_common(1)[0][0] for key, names in ordered}


def type_of(members: Sequence[Member], key: str) -> FieldType:
    """What most values of a column are."""
    kinds: Counter[FieldType] = Counter()
    for member in members:
        for stated in member.values.get(key, ()):
            value = stated.value
            is_number = value.number is not None or value.si is not None
            kinds["date" if value.date else "number" if is_number else "text"] += 1
    return kinds.most_common(1)[0][0] if kinds else "text"


def condition_of(where: Where, names: Mapping[str, str], types: Mapping[str, FieldType]) -> PlannedCondition:
    key = column_key(where.column)
    if where.operator not in OPERATORS:
        raise UsageError(f"{where.operator!r} is no operator.", advice=f"There are: {', '.join(OPERATORS)}.")
    condition = PlannedCondition(column=names[key], operator=where.operator, values=list(where.values))  # type: ignore[arg-type]
    if problem := wrong_condition(condition, types[key]):
        raise UsageError(f"{problem[:1].upper()}{problem[1:]}")
    return condition


def in_words(form: Form, called: str) -> str:
    """ "invoices: total > 500 EUR; sum of total by supplier"."""
    said = "; ".join(f"{each.column} {each.operator} {' or '.join(each.values)}".strip() for each in form.conditions)
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
        groups.append(group_of(kind, members, examples=names, table_id=living.get(kind, "")))
    for table in things.tables.values():
        names = tuple(each.name for each in table.documents[:EXAMPLES])
        groups.append(group_of(table.name, table.members, examples=names, is_table=True))
    return groups


def group_of(
    name: str, members: Sequence[Member], *, examples: tuple[str, ...], is_table: bool = False, table_id: str = ""
) -> KnownGroup:
    known = labels_of(members)
    return KnownGroup(
        name=name,
        members=len(members),
        columns=tuple(
            KnownColumn(name=column, known=sum(key in member.values for member in members))
            for key, column in known.items()
        ),
        is_table=is_table,
        table_id=table_id,
        examples=examples,
    )
