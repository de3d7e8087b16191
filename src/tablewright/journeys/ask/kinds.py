"""The documents of a kind as a living table: a row for each, and a column for everything that was ever asked of them.

What a document is, a model says once, or its owner; a heading that it shares with others is only a guess. A column
that a question needs and the table does not have is read from all documents of the kind by the engine, like any other
column, and kept: the next question finds it there. What was read from a document that changed since is stale, and is
read again, alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from tablewright.corpus.title_kinds import title_kinds
from tablewright.decisions.classify_documents import Beginning, ClassifyDocuments, ToClassify
from tablewright.decisions.decision import Tell, decide
from tablewright.domain.corpus import Document
from tablewright.domain.edits import AddRow, RemoveRow
from tablewright.domain.model import Field, Table, column_key, given
from tablewright.domain.retrieved import concerning
from tablewright.domain.rowkey import row_key
from tablewright.domain.run import EstimateRange
from tablewright.domain.text import plural
from tablewright.engine.changes import Changes
from tablewright.engine.estimate import dollars, spanned
from tablewright.engine.fill import Fill, FillPlan
from tablewright.engine.outcome import Filled
from tablewright.models.text_budget import DOCUMENTS_A_CALL, batches
from tablewright.store.store import Store
from tablewright.store.table_details import KindRow
from tablewright.strategies.estimates import one_call

if TYPE_CHECKING:
    from tablewright.journeys.ask.turn import AskContext
    from tablewright.models.model import LanguageModel

AT_INGEST = 400
"""Documents that are classified without a question about what it costs."""
SORTED = 1.0, 1.3
"""Lowest and highest effort of sorting, as multiples of the likely figure."""
DOCUMENT = Field(name="Document")
TITLE = Field(name="Title")


async def classify(store: Store, model: LanguageModel | None, tell: Tell, *, most: int | None = None) -> int:
    """A kind from the model for each document that has none from it or from a person, the first `most` of them; how
    many were given one."""
    if model is None:
        return 0
    documents = await store.documents.all(readable=True)
    waiting = [each for each in documents if not each.is_sorted][:most]
    kinds = Counter(each.kind for each in documents if each.is_sorted and each.kind)
    count = 0
    for batch in batches(waiting, most=DOCUMENTS_A_CALL):
        beginnings = tuple([await beginning(store, document) for document in batch])
        asked = ToClassify(documents=beginnings, kinds=tuple(kind for kind, _ in kinds.most_common(60)))
        with concerning([document.id for document in batch]):
            outcome = await decide(ClassifyDocuments(), asked, model, tell)
        if outcome.degraded:
            break
        decided = {batch[place].id: kind for place, kind in outcome.decided.items()}
        await store.kinds.set_kinds(decided, "model")
        kinds.update(decided.values())
        count += len(decided)
    return count


async def guess_kinds(store: Store) -> int:
    """Guess a kind from the title for every document that has none from a person or a model; return how many are
    new."""
    documents = await store.documents.all(readable=True)
    kinds = title_kinds(documents)
    changed = {each.id: kinds[each.id] for each in documents if kinds.get(each.id, each.kind) != each.kind}
    new = {id: kind for id, kind in changed.items() if kind}
    await store.kinds.set_kinds(dict.fromkeys(changed.keys() - new.keys(), ""), "")
    return await store.kinds.set_kinds(new, "title")


async def sorting_effort(
    store: Store, model: LanguageModel, documents: Sequence[Document]
) -> tuple[EstimateRange, EstimateRange, EstimateRange | None]:
    """Estimate the effort of classifying: calls, tokens sent, and dollars if the price is known."""
    first = tuple([await beginning(store, document) for document in documents[:DOCUMENTS_A_CALL]])
    prompt = ClassifyDocuments().prompt(ToClassify(documents=first))
    calls = -(-len(documents) // DOCUMENTS_A_CALL)
    effort = one_call(model, prompt, '{"number": 12, "kind": "purchase order"}, ' * len(first)) * calls
    cost = dollars(model, effort)
    asked, read = (spanned(each, SORTED, whole=True) for each in (effort.calls, effort.input_tokens))
    return asked, read, None if cost is None else spanned(cost, SORTED)


async def beginning(store: Store, document: Document) -> Beginning:
    text = (await store.documents.retrieved(document.id)).text
    return Beginning(name=document.name, text=text)


class KindTables:
    """`confirm` is asked before columns are read: whether what it takes is all right."""

    def __init__(self, context: AskContext, confirm: Callable[[Fill], Awaitable[bool]]) -> None:
        self._context = context
        self._store = context.store
        self._changes = Changes(context.store, context.actor)
        self._confirm = confirm

    async def table(self, kind: str, documents: Sequence[Document], names: Mapping[str, str]) -> Table:
        """The table of the kind, with a row for each of its documents under its name."""
        await self._store.kinds.mark_changed()
        known = (await self._store.kinds.tables()).get(kind)
        if known is None:
            table = await self._store.tables.create(
                plural(kind or "document", 2),
                (DOCUMENT, TITLE),
                ((given(names[each.id]), given(each.title)) for each in documents),
                key_field=DOCUMENT.name,
                actor=self._context.actor,
                note=f"a row for each {kind or 'document'}",
            )
            known = await self._store.kinds.keep_table(kind, table.id)
            if known != table.id:  # another question made it at the same time
                await self._store.tables.remove(table.id)
        else:
            await self._renew(known, documents, names)
        table = await self._store.tables.load(known)
        await self._keep_rows(table, documents, names)
        return table

    async def _renew(self, table_id: str, documents: Sequence[Document], names: Mapping[str, str]) -> None:
        """Rows for what is new; what is of another kind now goes."""
        rows = await self._store.kinds.rows(table_id)
        there = {each.id for each in documents}
        gone = {id: row for id, row in rows.items() if id not in there}
        new = [each for each in documents if each.id not in rows]
        edits: list[AddRow | RemoveRow] = [RemoveRow(row_id=row.row_id) for row in gone.values()]
        edits += [
            AddRow(
                key=row_key(names[each.id]),
                cells={DOCUMENT.name: given(names[each.id]), TITLE.name: given(each.title)},
            )
            for each in new
        ]
        if edits:
            await self._changes.edit(table_id, edits, "documents added or removed")
        if gone:
            await self._store.kinds.drop_rows(table_id, list(gone))

    async def _keep_rows(self, table: Table, documents: Sequence[Document], names: Mapping[str, str]) -> None:
        rows = await self._store.kinds.rows(table.id)
        by_name = {str(row.cell(DOCUMENT.name).value): row.id for row in table.rows}
        new = {
            each.id: KindRow(row_id=by_name[names[each.id]], text_hash=each.text_hash)
            for each in documents
            if each.id not in rows and names[each.id] in by_name
        }
        await self._store.kinds.keep_rows(table.id, new)

    async def fill(
        self, table: Table, documents: Sequence[Document], fields: Sequence[Field]
    ) -> tuple[Table, Filled | None]:
        """Return the table with these columns read from all documents; what was read before is not read again, unless
        the document has changed. None if nothing was to be read, or the person said no."""
        rows = await self._store.kinds.rows(table.id)
        known = {column_key(field.name): field for field in table.fields}
        wanted = [known.get(column_key(field.name), field) for field in fields]
        there = {rows[each.id].row_id for each in documents if each.id in rows}
        mine = [row for row in table.rows if row.id in there]
        stale = {(row.id, field.name) for row in mine for field in table.fields if row.cell(field.name).stale}
        asked = [field for field in wanted if field.question]
        only = stale | {(row.id, field.name) for row in mine for field in asked if row.cell(field.name).needs_work}
        if not only:
            return table, None
        others = {name for _, name in stale} - {field.name for field in wanted}
        read = [*wanted, *(field for field in table.fields if field.name in others)]
        filling = FillPlan(
            table,
            [msgspec.structs.replace(field, depends_on=(DOCUMENT.name,)) for field in read],
            "documents",
            only=only,
            concurrency=self._context.concurrency,
            terms=self._context.terms,
        )
        tools = await self._context.open_tools(("documents", "model"))
        fill = Fill(self._store, filling, tools, watch=self._context.watch)
        if not await self._confirm(fill):
            return table, None
        filled = await fill.run()
        await self._changes.apply_unseen(filled.proposal_id, empties=True)
        return await self._store.tables.load(table.id), filled


def keys_of(documents: Sequence[Document]) -> dict[str, str]:
    """Return the name of each document in its table: the file's name, or the id if several have that name."""
    names = Counter(each.name for each in documents)
    return {each.id: each.name if names[each.name] == 1 else each.id for each in documents}
