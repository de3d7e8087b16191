"""Resolve a form against the known documents: the columns of their kind's table, and the labels in their texts.

No model is called and nothing is guessed: an unknown column is an error that names the known ones. Reads only.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from msgspec import structs

from tablewright.conditions.compare import check_condition
from tablewright.documents.corpus import Corpus
from tablewright.documents.results import StatedFact
from tablewright.domain.condition import CONDITION_OPERATORS, Condition, describe_condition
from tablewright.domain.documents import ComparableValue, Document, Segment
from tablewright.domain.model import Field, FieldType, column_key
from tablewright.domain.reply import CATEGORY_COLUMN, TEXT_COLUMN, TITLE_COLUMN, Form, KnownColumn, KnownGroup
from tablewright.domain.text import pluralize_noun
from tablewright.errors import ModelError, NotFound, UsageError
from tablewright.llm.tasks.plan_question import (
    PlannedColumn,
    PlannedCondition,
    QuestionPlan,
    text_search_plan,
)
from tablewright.store.snapshot import PropertyAt
from tablewright.store.store import Store
from tablewright.values.vocabulary import contains_phrase, spelling_variants, split_tokens, stem_word
from tablewright.workflows.ask.query_rows import (
    CHANGED,
    UNSORTED,
    Inventory,
    QueryRow,
    QueryScope,
    distinct_titles,
    group_by_label,
    load_query_rows,
)


async def resolve_form(store: Store, corpus: Corpus, form: Form, things: Inventory) -> tuple[QuestionPlan, QueryScope]:
    """Return the form as a plan, and the members that it is about."""
    members, called = await load_form_rows(store, form, things)
    unsorted: list[QueryRow] = []
    # Where kinds are only guessed, documents without one may be of this kind too: they share no heading with others,
    # and leaving them out would hide them.
    if (
        called == "document"
        and form.conditions
        and form.kind.casefold() not in ("", UNSORTED)
        and UNSORTED in things.kinds
    ):
        unsorted, _ = await load_form_rows(store, Form(kind=UNSORTED), things)
    if phrases := list_text_phrases(form):
        members, unsorted = [await add_text_lines(corpus, each, phrases) for each in (members, unsorted)]
    compared_keys = {column_key(each.column) for each in form.conditions}
    members += [each for each in unsorted if compared_keys <= each.values.keys()]
    known = collect_labels(members)
    show = form.show or (things.tables[form.table].labels if form.table and not form.aggregate else ())
    names: dict[str, str] = {}
    taken: dict[str, str] = {}
    referenced = {column_key(column) for each in form.conditions for column in each.columns[1:]}
    for name in (*form.columns, *show):
        # A column in braces is looked up by its name in every row, so another label would not be found there.
        label = "" if column_key(name) in known or column_key(name) in referenced else find_other_label(name, known)
        if label:
            taken[name], names[column_key(name)] = label, label
            continue
        if column_key(name) not in known:
            # Columns that an error names; more would hide the advice.
            listed = ", ".join((await sort_by_similarity(corpus, name, list(known.values())))[:30]) or "none"
            raise UsageError(f"No {called} states {name!r}.", advice=f"Known are, the nearest first: {listed}.")
        names[column_key(name)] = known[column_key(name)]
    types = {key: commonest_type(members, column_key(label)) for key, label in names.items()}
    plan = text_search_plan(describe_form(form, called)).model_copy(
        update={
            "action": "table",
            "of": [called],
            "columns": [
                PlannedColumn(name=name, type=types[key], question="", unit="")  # type: ignore[arg-type]
                for key, name in names.items()
            ],
            "conditions": [plan_condition(each, names, types) for each in form.conditions],
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
        taken=taken,
    )
    return plan, scope


def find_other_label(name: str, known: Mapping[str, str]) -> str:
    """Return the one label that says the name with more words or a unit, or abbreviates it: "Bonus 2024 (EUR)" for
    "bonus 2024", "Qty" for "quantity". Several such labels are ambiguous."""
    words = split_tokens(name)
    found = [
        label
        for label in known.values()
        if words
        and (set(map(stem_word, words)) <= set(map(stem_word, split_tokens(label))) or is_abbreviated(words, label))
    ]
    return found[0] if len(found) == 1 else ""


def is_abbreviated(words: Sequence[str], label: str) -> bool:
    """Return True if each word of the label is the word, or at most half its letters, in order, from the first."""
    short = split_tokens(label)
    return len(short) == len(words) and all(
        one == other or (1 < len(one) <= len(other) // 2 and one[0] == other[0] and is_subsequence(one, other))
        for one, other in zip(short, words, strict=True)
    )


def is_subsequence(letters: str, word: str) -> bool:
    rest = iter(word)
    return all(letter in rest for letter in letters)


async def name_every_column(store: Store, form: Form, things: Inventory) -> Form:
    """Return the form with all that its documents state in `show`, the commonest first."""
    members, called = await load_form_rows(store, form, things)
    labels = [label for label in collect_labels(members).values() if column_key(label) != TITLE_COLUMN]
    # In a wider table most cells are empty.
    if len(labels) > 1_000:
        raise UsageError(
            f"These {pluralize_noun(called, 2)} state {len(labels):,} different labels, too many for columns.",
            advice="Name the columns in `show`, or look up one kind.",
        )
    return structs.replace(form, show=tuple(labels))


async def sort_by_similarity(corpus: Corpus, name: str, known: Sequence[str]) -> list[str]:
    """Sort known names by similarity, for suggestions: "qty" is near "Quantity", but is never taken for it."""
    if not known:
        return []
    try:
        # One call: the first vector is that of `name`, the others those of the known names.
        vectors = await corpus.embedder.embed([name, *known])
    except ModelError:  # the order of suggestions is all that suffers
        return list(known)
    near = dict(zip(known, (float(each) for each in vectors[1:] @ vectors[0]), strict=True))
    return sorted(known, key=lambda each: -near[each])


async def load_form_rows(store: Store, form: Form, things: Inventory) -> tuple[list[QueryRow], str]:
    if form.table:
        if form.table not in things.tables:
            raise NotFound(f"There is no table {form.table!r}.", advice=f"There are: {', '.join(things.tables)}.")
        inner = things.tables[form.table]
        rows = [each for each in inner.members if form.kind.casefold() in ("", each.document.kind.casefold())]
        own = {column_key(label) for label in inner.labels}
        missing = {column_key(name) for name in form.columns} - own - {TEXT_COLUMN}
        return (await add_document_values(store, rows, missing) if missing else rows), "row"
    kinds = {kind.casefold(): kind for kind in things.kinds}
    if form.kind and form.kind.casefold() not in kinds:
        listed = ", ".join(f"{kind} ({len(each)})" for kind, each in things.kinds.items())
        raise NotFound(f"There is no document of the kind {form.kind!r}.", advice=f"There are: {listed or 'none'}.")
    chosen = [kinds[form.kind.casefold()]] if form.kind else list(things.kinds)
    living = await store.kinds.tables()
    members: list[QueryRow] = []
    for kind in chosen:
        documents = list(things.kinds[kind])
        read: list[QueryRow] = []
        if kind in living:
            table = await store.tables.load(living[kind])
            read = await load_query_rows(store, table, documents)
        members += await add_labelled_facts(store, documents, {member.document.id: member for member in read})
    is_guessed = any(each.document.kind_by == "title" for each in members)  # in words of whatever language
    return members, form.kind if form.kind and not is_guessed else "document"


async def add_document_values(store: Store, rows: Sequence[QueryRow], keys: Collection[str]) -> list[QueryRow]:
    """Return the rows with what their documents state once for all of them, such as a date."""
    documents = {each.document.id: each.document for each in rows}
    living = await store.kinds.tables()
    read: dict[str, QueryRow] = {}
    for kind in {each.kind for each in documents.values()} & living.keys():
        members = [each for each in documents.values() if each.kind == kind]
        table = await store.tables.load(living[kind])
        read |= {each.document.id: each for each in await load_query_rows(store, table, members)}
    wholes = {each.document.id: each for each in await add_labelled_facts(store, list(documents.values()), read)}
    return [
        replace(
            row,
            values={**{key: of for key, of in wholes[row.document.id].values.items() if key in keys}, **row.values},
            missing={
                **{key: why for key, why in wholes[row.document.id].missing.items() if key in keys},
                **row.missing,
            },
            doubts=row.doubts | wholes[row.document.id].doubts.intersection(keys),
        )
        for row in rows
    ]


async def add_labelled_facts(
    store: Store, documents: Sequence[Document], read: Mapping[str, QueryRow]
) -> list[QueryRow]:
    """Return the documents with the labelled values in their texts; values read into their table take precedence."""
    labelled: dict[str, list[PropertyAt]] = {}
    for at in await store.documents.properties(documents=[each.id for each in documents]):
        if at.shape == "fact":
            labelled.setdefault(at.document_id, []).append(at)
    members = []
    titles = distinct_titles(documents)
    for document in documents:
        member = read.get(document.id) or QueryRow(document=document, title=titles[document.id])
        title = StatedFact(
            asked=TITLE_COLUMN,
            label=TITLE_COLUMN,
            value=ComparableValue(raw=document.title or document.name),
            start=0,
            end=0,
        )
        # An empty text where it has none, as that is known of every document.
        categories = tuple(
            StatedFact(asked=CATEGORY_COLUMN, label=CATEGORY_COLUMN, value=ComparableValue(raw=name), start=0, end=0)
            for name in document.categories or ("",)
        )
        # Later entries win: what was read into the table is checked, a label in the text only found.
        stated = group_by_label(labelled.get(document.id, ()), {})
        values = {**stated, **member.values, TITLE_COLUMN: (title,)}
        values.setdefault(CATEGORY_COLUMN, categories)
        members.append(replace(member, values=values))
    return members


def list_text_phrases(form: Form) -> list[str]:
    """Return the phrases that must be in the text."""
    of_text = [each for each in form.conditions if column_key(each.column) == TEXT_COLUMN]
    if wrong := next((each for each in of_text if each.operator != "contains"), None):
        raise UsageError(f"{str(wrong)!r} cannot be looked up.", advice="Of a text can be asked: text contains WORDS.")
    return [value for each in of_text for value in each.values]


async def add_text_lines(corpus: Corpus, members: Sequence[QueryRow], phrases: Sequence[str]) -> list[QueryRow]:
    """Add the lines that contain the phrases as values of the column `text`; a table row is one line."""
    lines: dict[str, list[StatedFact]] = {}
    documents = [member.document.id for member in members if not member.row]
    for phrase in phrases if documents else ():
        for written in spelling_variants(phrase):
            for at in await corpus.documents.with_words(f'"{written}"', documents=documents):
                if found := find_line_with(at.segment, phrase):
                    lines.setdefault(at.document_id, []).append(found)
    # An empty text, not a missing one: that a phrase is absent is known once the document was searched.
    no_line = (make_text_fact(""),)
    return [
        replace(
            each, values={**each.values, TEXT_COLUMN: row_as_text(each) or tuple(lines.get(each.document.id, no_line))}
        )
        for each in members
    ]


def find_line_with(segment: Segment, phrase: str) -> StatedFact | None:
    start = segment.start
    for line in segment.text.splitlines(keepends=True):
        if contains_phrase(line, phrase):
            return make_text_fact(line.strip(), start, start + len(line.rstrip("\n")), segment.page)
        start += len(line)
    return (
        make_text_fact(segment.text, segment.start, segment.end, segment.page)
        if contains_phrase(segment.text, phrase)
        else None
    )


def row_as_text(member: QueryRow) -> tuple[StatedFact, ...]:
    if not member.row:
        return ()
    cells = " | ".join(each.value.raw for stated in member.values.values() for each in stated)
    return (make_text_fact(cells, member.start, member.end, member.page),)


def make_text_fact(raw: str, start: int = 0, end: int = 0, page: int | None = None) -> StatedFact:
    return StatedFact(
        asked=TEXT_COLUMN, label=TEXT_COLUMN, value=ComparableValue(raw=raw), start=start, end=end, page=page
    )


def collect_labels(members: Sequence[QueryRow]) -> dict[str, str]:
    """Return the names of all known columns by key, the commonest column and spelling first."""
    written: dict[str, Counter[str]] = {}
    for member in members:
        for key, stated in member.values.items():
            written.setdefault(key, Counter())[stated[0].asked] += 1
    ordered = sorted(written.items(), key=lambda each: -each[1].total())
    return {key: names.most_common(1)[0][0] for key, names in ordered}


def commonest_type(members: Sequence[QueryRow], key: str) -> FieldType:
    """Return the type of most values of a column."""
    kinds: Counter[FieldType] = Counter()
    for member in members:
        for stated in member.values.get(key, ()):
            value = stated.value
            is_number = value.number is not None or value.si is not None
            kinds["date" if value.date else "number" if is_number else "text"] += 1
    # A column that nothing states has no type; text accepts every comparison that a form offers.
    return kinds.most_common(1)[0][0] if kinds else "text"


def plan_condition(condition: Condition, names: Mapping[str, str], types: Mapping[str, FieldType]) -> PlannedCondition:
    key = column_key(condition.column)
    if condition.operator not in CONDITION_OPERATORS:
        raise UsageError(
            f"{condition.operator!r} is no operator.", advice=f"There are: {', '.join(CONDITION_OPERATORS)}."
        )
    named = structs.replace(condition, column=names[key])
    if problem := check_condition(named, Field(name=names[key], type=types[key])):
        raise UsageError(f"{problem[:1].upper()}{problem[1:]}")
    return PlannedCondition.model_validate(structs.asdict(named))


def describe_form(form: Form, called: str) -> str:
    """Return "invoices: total > 500 EUR; sum of total by supplier"."""
    said = "; ".join(map(describe_condition, form.conditions))
    figure = f"{form.aggregate} of {form.of}" if form.of else form.aggregate
    grouped = f" by {form.group_by}" if form.group_by else ""
    return ": ".join(
        filter(None, (pluralize_noun(called, 2), "; ".join(filter(None, (said, f"{figure}{grouped}".strip())))))
    )


async def list_known_groups(store: Store, things: Inventory) -> list[KnownGroup]:
    """Return all kinds and tables with their known columns, the commonest first."""
    living = await store.kinds.tables()
    groups = []
    for kind, documents in sorted(things.kinds.items(), key=lambda each: -len(each[1])):
        members, _ = await load_form_rows(store, Form(kind=kind), things)
        group = asyncio.to_thread(summarise_group, kind, members, documents, table_id=living.get(kind, ""))
        groups.append(await group)
    for table in things.tables.values():
        group = asyncio.to_thread(summarise_group, table.name, table.members, table.documents, is_table=True)
        groups.append(await group)
    return groups


def summarise_group(
    name: str,
    members: Sequence[QueryRow],
    documents: Sequence[Document],
    *,
    is_table: bool = False,
    table_id: str = "",
) -> KnownGroup:
    known = collect_labels(members)
    stale = Counter(key for member in members for key, why in member.missing.items() if why == CHANGED)
    return KnownGroup(
        name=name,
        members=len(members),
        from_titles=0 if is_table else sum(each.document.kind_by == "title" for each in members),
        columns=tuple(
            KnownColumn(
                name=column,
                known=sum(key in member.values for member in members),
                type=commonest_type(members, key),
                stale=stale[key],
            )
            for key, column in known.items()
        ),
        is_table=is_table,
        table_id=table_id,
        examples=tuple(each.name for each in documents[:3]),
    )
