"""`tablewright docs`: your own documents."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tablewright.domain.text import count_noun
from tablewright.doors.cli import output
from tablewright.doors.cli.root import Budget, Json, Model, app, with_app
from tablewright.errors import NotFound, UsageError

if TYPE_CHECKING:
    from tablewright.operations.documents import (
        DocumentDetail,
        DocumentsAdded,
        DocumentShown,
        FactPage,
        FactsFound,
        KindSet,
        Unread,
    )
    from tablewright.services import Services

docs = typer.Typer(
    no_args_is_help=True, help="Your own documents: add, list, show, kind, tables, remove, annotate, table."
)
app.add_typer(docs, name="docs")

SHOWN_PROBLEMS = 20
SHOWN_FACTS = 30
SHOWN_COLUMNS = 12

DocumentName = Annotated[str, typer.Argument(metavar="DOCUMENT", help="A document's id, file name or path.")]


@docs.command()
def add(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH…", help="Files, and folders with everything in them.")],
    kind: Annotated[str, typer.Option("--kind", help="What all of them are, in one or two words: receipt.")] = "",
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

    from tablewright.operations.documents import AddDocuments, add_documents

    request = AddDocuments(paths=tuple(map(str, paths)), kind=kind)

    async def work(services: Services) -> DocumentsAdded:
        with output.Bar("Reading") as bar:
            return await add_documents(services, request, workers=workers, watch=bar.follow)

    done = with_app(work)
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
    output.say(f"{', '.join(counts) or 'No files'}: {', '.join(sizes)} in {done.seconds:.1f} s.")
    if done.classified:
        output.say(f"The model said what {count_noun(done.classified, 'document')} are: `docs list` shows the kinds.")
    if done.from_titles:
        documents = count_noun(done.from_titles, "document")
        output.say(
            f"The kind of {documents} is a guess from titles and folders: `docs list` shows it, `docs kind` sets it."
        )
    for same in done.same[:SHOWN_PROBLEMS]:
        output.say(f"  {same.name}: the same content as {same.same_as}")
    print_unreadable(done.unreadable)


def print_unreadable(unreadable: tuple[Unread, ...]) -> None:
    if unreadable:
        lines = [[each.name, each.reason] for each in unreadable[:SHOWN_PROBLEMS]]
        output.stdout().print(output.grid("Not read", ["File", "Why"], lines))
    if len(unreadable) > SHOWN_PROBLEMS:
        output.say(f"… and {len(unreadable) - SHOWN_PROBLEMS:,} more; `tablewright docs list --unreadable` has all.")


@docs.command("tables")
def list_tables(json: Json = False) -> None:
    """What `ask --where` can look up: the kinds of documents and the tables inside them, with their columns.

    A kind that something was asked of has a table of its own, which `tablewright tables show` shows and you can edit.
    """
    from tablewright.operations.documents import ListDocumentGroups, list_document_tables

    found = with_app(lambda services: list_document_tables(services, ListDocumentGroups()))
    if json:
        output.print_json(found)
        return
    lines = [
        [
            f"table = {group.name}" if group.is_table else f"kind = {group.name}",
            count_noun(group.members, "row" if group.is_table else "document")
            + (f", {group.from_titles:,} by title" if group.from_titles else ""),
            ", ".join(map(str, group.columns[:SHOWN_COLUMNS]))
            + (f" and {len(group.columns) - SHOWN_COLUMNS} more" if len(group.columns) > SHOWN_COLUMNS else ""),
            group.table_id,
        ]
        for group in found.tables
    ]
    output.stdout().print(output.grid("", ["What", "How many", "Columns", "Table"], lines))


@docs.command("kind")
def set_kind(
    kind: Annotated[str, typer.Argument(metavar="KIND", help="What they are, in one or two words: invoice.")],
    names: Annotated[list[str] | None, typer.Argument(metavar="[DOCUMENT…]", help="Ids, file names or paths.")] = None,
    where: Annotated[str, typer.Option("--where", help='All that meet this: "title contains delivery note".')] = "",
    json: Json = False,
) -> None:
    """Set the kind of documents. It is kept when they are read again.

    Without a model, --where sets it for many at once: `docs kind invoice --where "title contains invoice"`.
    """
    if bool(names) == bool(where.strip()):
        raise UsageError("Name documents, or say with --where which ones are meant.")

    from tablewright.operations.documents import SetKind, set_kind

    async def work(services: Services) -> KindSet:
        ids = names or await documents_where(services, where)
        return await set_kind(services, SetKind(documents=tuple(ids), kind=kind))

    done = with_app(work)
    output.print_result(json, done, f"{count_noun(done.documents, 'document')}: {done.kind}.")


async def documents_where(services: Services, where: str) -> list[str]:
    """Return the ids of all documents that meet the conditions, without those that do not say."""
    from tablewright.operations.operation import NO_LIMIT
    from tablewright.operations.retrieval import SearchAnnotations, annotations_search

    found = await annotations_search(services, SearchAnnotations(where=where, limit=NO_LIMIT))
    if not found.matches:
        raise NotFound(f"No document meets “{where}”.", advice="`tablewright docs tables` lists what is known.")
    return list(dict.fromkeys(each.document_id for each in found.matches))


@docs.command("list")
def list_documents(
    unreadable: Annotated[bool, typer.Option("--unreadable", help="Only those that could not be read.")] = False,
    kind: Annotated[str, typer.Option("--kind", help="Only this kind, e.g. receipt.")] = "",
    json: Json = False,
) -> None:
    """List the documents in the collection."""
    from tablewright.operations.documents import ListDocuments, list_documents
    from tablewright.operations.operation import NO_LIMIT

    request = ListDocuments(limit=NO_LIMIT, kind=kind, readable=False if unreadable else None)
    known = with_app(lambda services: list_documents(services, request)).documents
    empty = "There are none." if unreadable or kind else "There are none yet: `tablewright docs add PATH`."
    lines = [
        [each.id, each.name, shown_kind(each), str(each.pages or ""), each.problem or each.title] for each in known
    ]
    output.print_list(json, {"documents": known}, empty, ["Id", "File", "Kind", "Pages", "Title or problem"], lines)
    if not json and any(each.kind_by == "title" for each in known):
        output.say("A kind with “?” is a guess from its title or folder; `tablewright docs kind` sets one.")


def shown_kind(document: DocumentShown) -> str:
    """With "?" where it is a guess from its title or folder."""
    return f"{document.kind}?" if document.kind_by == "title" else document.kind


@docs.command()
def show(document: DocumentName, json: Json = False) -> None:
    """Show a document and the facts that were read from it."""
    from tablewright.operations.documents import DocumentRequest, ListFacts, get_document, list_facts
    from tablewright.operations.operation import NO_LIMIT

    async def work(services: Services) -> tuple[DocumentDetail, FactPage]:
        detail = await get_document(services, DocumentRequest(document=document))
        return detail, await list_facts(services, ListFacts(document=detail.document.id, limit=NO_LIMIT))

    detail, found = with_app(work)
    if json:
        output.print_json({"document": detail.document, "facts": found.facts, "summaries": detail.summaries})
        return
    known, facts = detail.document, found.facts
    guess = f"{known.kind} (a guess from its title or folder)" if known.kind_by == "title" else ""
    about = [guess or known.kind or "no kind", *known.categories, known.media, count_noun(known.pages, "page")]
    output.say(f"{known.name} ({known.id}): {known.title}")
    output.say(known.problem or f"{', '.join(filter(None, about))}; {known.characters:,} characters; {known.path}")
    lines = [[each.label, each.value, str(each.page or ""), each.by, each.quote] for each in facts[:SHOWN_FACTS]]
    if lines:
        output.stdout().print(output.grid("Facts", ["Label", "Value", "Page", "By", "Quote"], lines))
    if len(facts) > SHOWN_FACTS:
        output.say(f"… and {len(facts) - SHOWN_FACTS:,} more; --json has all.")


@docs.command()
def remove(
    documents: Annotated[list[str], typer.Argument(metavar="DOCUMENT…", help="Ids, file names or paths.")],
    json: Json = False,
) -> None:
    """Forget documents: their texts, vectors, summaries, facts, and what was answered from them. The files stay."""
    from tablewright.operations.documents import RemoveDocuments, remove_documents

    request = RemoveDocuments(documents=tuple(documents))
    done = with_app(lambda services: remove_documents(services, request))
    names = ", ".join(each.name for each in done.removed[:10])
    output.print_result(json, done, f"Removed {count_noun(len(done.removed), 'document')}: {names}.")


@docs.command()
def annotate(
    documents: Annotated[list[str] | None, typer.Argument(metavar="DOCUMENT…", help="Default: all.")] = None,
    model: Model = "",
    budget: Budget = "",
    json: Json = False,
) -> None:
    """Let the model find facts that the rules missed and summarise long documents; code checks both."""

    from tablewright.operations.documents import AnnotateDocuments, annotate_documents

    request = AnnotateDocuments(documents=tuple(documents or ()))

    async def work(services: Services) -> FactsFound:
        with output.Bar("Annotating") as bar:
            return await annotate_documents(services, request, watch=bar.follow)

    found = with_app(work, {"model": model, "budget": budget})
    output.print_result(json, found, f"{count_noun(found.facts, 'further fact')} found.")


@docs.command()
def table(
    name: Annotated[str, typer.Argument(help="What to call the new table.")] = "documents",
    kind: Annotated[str, typer.Option("--kind", help="Only documents of this kind, e.g. receipt.")] = "",
    json: Json = False,
) -> None:
    """Make a table with a row for each document, for `tablewright enrich NAME --strategy documents`."""
    from tablewright.operations.documents import CreateDocumentTable, create_document_table

    request = CreateDocumentTable(name=name, kind=kind)
    made = with_app(lambda services: create_document_table(services, request))
    output.print_result(
        json,
        made,
        f"Table {made.table_id}: {count_noun(made.row_count, 'row')}. Fill it: `tablewright enrich {made.table_id} "
        f'--strategy documents --field "Total:money"`.',
    )
