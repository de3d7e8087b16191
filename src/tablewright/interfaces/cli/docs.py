"""`tablewright docs`: add, list, show, classify, annotate and remove your own documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from tablewright.domain.text import count_noun
from tablewright.errors import NotFound, UsageError
from tablewright.interfaces.cli import output
from tablewright.interfaces.cli.adapter import command, run_operation
from tablewright.interfaces.cli.root import Json, app, run_with_services

if TYPE_CHECKING:
    from tablewright.operations.documents import (
        AddDocuments,
        DocumentDetail,
        DocumentGroups,
        DocumentPage,
        DocumentRequest,
        DocumentShown,
        DocumentsRemoved,
        Fact,
        FactPage,
        FactsFound,
        KindSet,
        SetKind,
        Unread,
    )
    from tablewright.operations.tables import TableImported
    from tablewright.services import Services

docs = typer.Typer(
    no_args_is_help=True, help="Your own documents: add, list, show, facts, kind, tables, remove, annotate, table."
)
app.add_typer(docs, name="docs")

# Lines and columns that fit on a screen; --json has all.
MAX_SHOWN_PROBLEMS, MAX_SHOWN_FACTS, MAX_SHOWN_COLUMNS = 20, 30, 12
IDS = "Ids, file names or paths."


@command(
    docs,
    "documents.add_documents",
    name="add",
    arguments=("paths",),
    metavars={"paths": "PATH…"},
    helps={"paths": "Files, and folders with everything in them."},
)
def add_documents_command(
    request: AddDocuments,
    workers: Annotated[
        int, typer.Option("--workers", metavar="N", min=0, help="Files to read at once; 0: one per core.")
    ] = 0,
    json: Json = False,
) -> None:
    """Read files into the collection: PDF, DOCX, XLSX, CSV, HTML, Markdown, text, e-mail, images (with OCR installed).

    Only what is new or has changed is read. A file that cannot be read is listed with the reason and stops nothing.
    Without a model, the kind of a document is a guess from its title, where another document has the same; say it with
    --kind or `docs kind`, so that `ask --where "kind = …"` finds them all.
    """
    from tablewright.operations.documents import add_documents

    done = run_operation(add_documents, request, progress="Reading", workers=workers)
    if json:
        output.print_json(done)
        return
    counts = [
        f"{count:,} {what}"
        for count, what in (
            (done.added, "added"),
            (done.changed, "read again"),
            (done.unchanged, "unchanged"),
            (len(done.same), "the same as others"),
            (len(done.unreadable), "unreadable"),
        )
        if count
    ]
    sizes = [count_noun(done.pages, "page"), count_noun(done.segments, "passage"), count_noun(done.facts, "fact")]
    output.print_note(f"{', '.join(counts) or 'No files'}: {', '.join(sizes)} in {done.seconds:.1f} s.")
    if done.classified:
        output.print_note(
            f"The model said what {count_noun(done.classified, 'document')} are: `docs list` shows the kinds."
        )
    if done.from_titles:
        documents = count_noun(done.from_titles, "document")
        output.print_note(
            f"The kind of {documents} is a guess from titles and folders: `docs list` shows it, `docs kind` sets it."
        )
    if done.outage:
        output.print_note(f"Found by their words alone until they are added again: {done.outage}")
    for same in done.same[:MAX_SHOWN_PROBLEMS]:
        output.print_note(f"  {same.name}: the same content as {same.same_as}")
    print_unreadable(done.unreadable)


def print_unreadable(unreadable: tuple[Unread, ...]) -> None:
    if unreadable:
        lines = [[each.name, each.reason] for each in unreadable[:MAX_SHOWN_PROBLEMS]]
        output.stdout().print(output.build_grid("Not read", ["File", "Why"], lines))
    if len(unreadable) > MAX_SHOWN_PROBLEMS:
        output.print_note(
            f"… and {len(unreadable) - MAX_SHOWN_PROBLEMS:,} more; `tablewright docs list --unreadable` has all."
        )


@command(docs, "documents.list_document_tables", name="tables")
def list_document_tables_command(reply: DocumentGroups) -> None:
    """List what `ask --where` can look up: the kinds of documents and the tables inside them, with their columns.

    A kind that something was asked of has a table of its own, which `tablewright tables show` shows and you can edit.
    """
    lines = [
        [
            f"table = {group.name}" if group.is_table else f"kind = {group.name}",
            count_noun(group.members, "row" if group.is_table else "document")
            + (f", {group.from_titles:,} by title" if group.from_titles else ""),
            ", ".join(map(str, group.columns[:MAX_SHOWN_COLUMNS]))
            + (f" and {len(group.columns) - MAX_SHOWN_COLUMNS} more" if len(group.columns) > MAX_SHOWN_COLUMNS else ""),
            group.table_id,
        ]
        for group in reply.tables
    ]
    output.stdout().print(output.build_grid("", ["What", "How many", "Columns", "Table"], lines))


@command(
    docs,
    "documents.set_kind",
    name="kind",
    arguments=("kind", "documents"),
    helps={"kind": "What they are, in one or two words: invoice.", "documents": IDS},
    defaults={"documents": ()},
)
def set_kind_command(
    request: SetKind,
    where: Annotated[str, typer.Option("--where", help='All that meet this: "title contains delivery note".')] = "",
    json: Json = False,
) -> None:
    """Set the kind of documents. It is kept when they are read again.

    Without a model, --where sets it for many at once: `docs kind invoice --where "title contains invoice"`.
    """
    if bool(request.documents) == bool(where.strip()):
        raise UsageError("Name documents, or say with --where which ones are meant.")

    from tablewright.operations.documents import set_kind

    async def work(services: Services) -> KindSet:
        documents = request.documents or await find_documents_where(services, where)
        return await set_kind(services, msgspec.structs.replace(request, documents=documents))

    done = run_with_services(work)
    output.print_json_or_note(json, done, f"{count_noun(done.documents, 'document')}: {done.kind}.")


async def find_documents_where(services: Services, where: str) -> tuple[str, ...]:
    """Return the ids of all documents that meet the conditions, without those that do not say."""
    from tablewright.operations.operation import NO_LIMIT
    from tablewright.operations.retrieval import SearchAnnotations, annotations_search

    found = await annotations_search(services, SearchAnnotations(where=where, limit=NO_LIMIT))
    if not found.matches:
        raise NotFound(f"No document meets “{where}”.", advice="`tablewright docs tables` lists what is known.")
    return tuple(dict.fromkeys(each.document_id for each in found.matches))


@command(docs, "documents.list_documents", name="list", names={"readable": "--readable/--unreadable"})
def list_documents_command(reply: DocumentPage) -> None:
    """List the documents in the collection, oldest first."""
    lines = [
        [each.id, each.name, format_kind(each), str(each.pages or ""), each.problem or each.title]
        for each in reply.documents
    ]
    empty = "There are none. Add some: `tablewright docs add PATH`."
    output.print_lines(empty, ["Id", "File", "Kind", "Pages", "Title or problem"], lines)
    if any(each.kind_by == "title" for each in reply.documents):
        output.print_note("A kind with “?” is a guess from its title or folder; `tablewright docs kind` sets one.")


def format_kind(document: DocumentShown) -> str:
    """Return the kind, with "?" if it is a guess from the title or folder."""
    return f"{document.kind}?" if document.kind_by == "title" else document.kind


@command(docs, "documents.get_document", name="show", arguments=("document",))
def show_document_command(request: DocumentRequest, json: Json = False) -> None:
    """Show a document and the facts that were read from it."""
    from tablewright.operations.documents import ListFacts, get_document, list_facts
    from tablewright.operations.operation import NO_LIMIT

    async def work(services: Services) -> tuple[DocumentDetail, FactPage]:
        detail = await get_document(services, request)
        return detail, await list_facts(services, ListFacts(document=detail.document.id, limit=NO_LIMIT))

    detail, found = run_with_services(work)
    if json:
        output.print_json(detail)
        return
    known, facts = detail.document, found.facts
    guess = f"{known.kind} (a guess from its title or folder)" if known.kind_by == "title" else ""
    about = [guess or known.kind or "no kind", *known.categories, known.media, count_noun(known.pages, "page")]
    output.print_note(f"{known.name} ({known.id}): {known.title}")
    output.print_note(
        known.problem or f"{', '.join(filter(None, about))}; {known.characters:,} characters; {known.path}"
    )
    print_facts("No facts were read from it.", facts[:MAX_SHOWN_FACTS])
    if len(facts) > MAX_SHOWN_FACTS:
        output.print_note(f"… and {len(facts) - MAX_SHOWN_FACTS:,} more: `tablewright docs facts {known.id}`.")


def print_facts(empty: str, facts: Sequence[Fact]) -> None:
    lines = [[each.label, each.value, str(each.page or ""), each.by, each.quote] for each in facts]
    output.print_lines(empty, ["Label", "Value", "Page", "By", "Quote"], lines)


@command(docs, "documents.list_facts", name="facts", arguments=("document",))
def list_facts_command(reply: FactPage) -> None:
    """List all facts that were read from a document, each with the passage that states it."""
    print_facts("No facts were read from it.", reply.facts)


@command(docs, "documents.remove_documents", name="remove", arguments=("documents",), helps={"documents": IDS})
def remove_documents_command(reply: DocumentsRemoved) -> None:
    """Forget documents: their texts, vectors, summaries, facts, and what was answered from them. The files stay."""
    names = ", ".join(each.name for each in reply.removed[:10])
    output.print_note(f"Removed {count_noun(len(reply.removed), 'document')}: {names}.")


@command(
    docs,
    "documents.annotate_documents",
    name="annotate",
    arguments=("documents",),
    helps={"documents": f"{IDS} Default: all."},
    settings=("model", "budget"),
    progress="Annotating",
)
def annotate_documents_command(reply: FactsFound) -> None:
    """Let the model find facts that the rules missed and summarise long documents; code checks both."""
    output.print_note(f"{count_noun(reply.facts, 'further fact')} found.")


@command(
    docs,
    "documents.create_document_table",
    name="table",
    arguments=("name",),
    helps={"name": "What to call the new table."},
)
def create_document_table_command(reply: TableImported) -> None:
    """Make a table with a row for each document, for `tablewright enrich NAME --strategy documents`."""
    output.print_note(
        f"Table {reply.table_id}: {count_noun(reply.row_count, 'row')}. Fill it: `tablewright enrich {reply.table_id} "
        f'--strategy documents --field "Total:money"`.'
    )
