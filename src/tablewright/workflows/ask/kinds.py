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

from tablewright.documents.title_kinds import guess_kinds_from_titles
from tablewright.domain.documents import Document
from tablewright.domain.edits import AddRow, RemoveRow
from tablewright.domain.model import Field, Table, column_key, make_given_cell
from tablewright.domain.retrieved import track_documents
from tablewright.domain.rowkey import row_key
from tablewright.domain.run import EstimateRange
from tablewright.domain.text import pluralize_noun
from tablewright.engine.changes import TableChanges
from tablewright.engine.estimate import estimate_dollars, make_range
from tablewright.engine.fill import FillRun
from tablewright.engine.outcome import RunResult
from tablewright.engine.policy import FillPlan
from tablewright.llm.tasks.classify_documents import Beginning, ClassifyDocuments, DocumentsToClassify
from tablewright.llm.tasks.decision import Tell, decide
from tablewright.llm.text_budget import TEXT_LIMITS, split_batches
from tablewright.store.store import Store
from tablewright.store.table_details import KindRow
from tablewright.strategies.estimates import estimate_call

if TYPE_CHECKING:
    from tablewright.llm.model import LanguageModel
    from tablewright.workflows.ask.turn import AskContext, RunFill

# Documents that are classified without a question about what it costs.
AT_INGEST = 400
# The two columns that every table of a kind begins with; they are filled from the documents, without a question.
DOCUMENT = Field(name="Document")
TITLE = Field(name="Title")


async def classify_documents(store: Store, model: LanguageModel | None, tell: Tell, *, most: int | None = None) -> int:
    """Let the model classify the first `most` documents without a kind from it or a person; return how many were."""
    if model is None:
        return 0
    documents = await store.documents.all(readable=True)
    waiting = [each for each in documents if not each.is_sorted][:most]
    kinds = Counter(each.kind for each in documents if each.is_sorted and each.kind)
    count = 0
    for batch in split_batches(waiting, most=TEXT_LIMITS.documents_per_call):
        beginnings = tuple([await read_beginning(store, document) for document in batch])
        asked = DocumentsToClassify(documents=beginnings, kinds=tuple(kind for kind, _ in kinds.most_common(60)))
        with track_documents([document.id for document in batch]):
            # The sixty commonest kinds: a model that sees them reuses a name instead of inventing a variant.
            outcome = await decide(ClassifyDocuments(), asked, model, tell)
        # The next batches would fail in the same way; what was classified is kept.
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
    kinds = guess_kinds_from_titles(documents)
    changed = {each.id: kinds[each.id] for each in documents if kinds.get(each.id, each.kind) != each.kind}
    new = {id: kind for id, kind in changed.items() if kind}
    await store.kinds.set_kinds(dict.fromkeys(changed.keys() - new.keys(), ""), "")
    return await store.kinds.set_kinds(new, "title")


async def estimate_classification(
    store: Store, model: LanguageModel, documents: Sequence[Document]
) -> tuple[EstimateRange, EstimateRange, EstimateRange | None]:
    """Estimate the effort of classifying: calls, tokens sent, and dollars if the price is known."""
    first = tuple([await read_beginning(store, document) for document in documents[: TEXT_LIMITS.documents_per_call]])
    prompt = ClassifyDocuments().prompt(DocumentsToClassify(documents=first))
    calls = -(-len(documents) // TEXT_LIMITS.documents_per_call)
    effort = estimate_call(model, prompt, '{"number": 12, "kind": "purchase order"}, ' * len(first)) * calls
    cost = estimate_dollars(model, effort)
    # Lowest and highest effort, as multiples of the likely figure.
    spread = 1.0, 1.3
    asked, read = (make_range(each, spread, whole=True) for each in (effort.calls, effort.input_tokens))
    return asked, read, None if cost is None else make_range(cost, spread)


async def read_beginning(store: Store, document: Document) -> Beginning:
    text = (await store.documents.retrieved(document.id)).text
    return Beginning(name=document.name, text=text)


class KindTables:
    """`agree` gets a fill before it starts and returns how to run it, or None if the user must agree to it first."""

    def __init__(self, context: AskContext, agree: Callable[[FillRun], Awaitable[RunFill | None]]) -> None:
        self._context = context
        self._store = context.store
        self._changes = TableChanges(context.store, context.actor)
        self._agree = agree

    async def table(self, kind: str, documents: Sequence[Document], names: Mapping[str, str]) -> Table:
        """Return the table of a kind with a row for each of its documents."""
        # First, so that cells of documents that changed since count as stale below.
        await self._store.kinds.mark_changed()
        known = (await self._store.kinds.tables()).get(kind)
        if known is None:
            table = await self._store.tables.create(
                pluralize_noun(kind or "document", 2),
                (DOCUMENT, TITLE),
                ((make_given_cell(names[each.id]), make_given_cell(each.title)) for each in documents),
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
        """Add rows for new documents and remove those whose document has another kind now."""
        rows = await self._store.kinds.rows(table_id)
        there = {each.id for each in documents}
        gone = {id: row for id, row in rows.items() if id not in there}
        new = [each for each in documents if each.id not in rows]
        edits: list[AddRow | RemoveRow] = [RemoveRow(row_id=row.row_id) for row in gone.values()]
        edits += [
            AddRow(
                key=row_key(names[each.id]),
                cells={DOCUMENT.name: make_given_cell(names[each.id]), TITLE.name: make_given_cell(each.title)},
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
    ) -> tuple[Table, RunResult | None]:
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
        # Stale cells of other columns are read in the same run: the document is opened anyway.
        others = {name for _, name in stale} - {field.name for field in wanted}
        read = [*wanted, *(field for field in table.fields if field.name in others)]
        read_rows = {row_id for row_id, _ in only}
        filling = FillPlan(
            table,
            [msgspec.structs.replace(field, depends_on=(DOCUMENT.name,)) for field in read],
            "documents",
            only=only,
            text_sizes=[each.characters for each in documents if rows[each.id].row_id in read_rows],
            concurrency=self._context.concurrency,
            policy=self._context.policy,
        )
        tools = await self._context.open_tools(("documents", "model"))
        fill = FillRun(self._store, filling, tools, watch=self._context.watch)
        if (run_fill := await self._agree(fill)) is None:
            return table, None
        filled = await run_fill(fill)
        await self._changes.apply_unseen(filled.proposal_id, empties=True)
        return await self._store.tables.load(table.id), filled


def document_keys(documents: Sequence[Document]) -> dict[str, str]:
    """Return the name of each document in its table: the file's name, or the id if several have that name."""
    names = Counter(each.name for each in documents)
    # Ids instead of numbered names, because a number would change when a document is removed.
    return {each.id: each.name if names[each.name] == 1 else each.id for each in documents}
