"""Documents: add, list, show, classify, annotate and remove them, and make a table of them."""

from __future__ import annotations

import asyncio
import platform
import shutil
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec

from tablewright.domain.documents import Category, Document, KindBy
from tablewright.domain.model import Struct
from tablewright.domain.naming import check_name
from tablewright.domain.reply import KnownGroup
from tablewright.errors import ModelError, NotFound, UsageError
from tablewright.operations.ask import open_asker
from tablewright.operations.operation import (
    USUAL_LIMIT,
    After,
    Limit,
    ListRequest,
    NoInput,
    Page,
    Request,
    copy_fields,
    operation,
)
from tablewright.operations.paging import page_by_number, page_oldest_first
from tablewright.operations.paths import display_path, hide_existence
from tablewright.operations.tables import TableImported, describe_import

if TYPE_CHECKING:
    from tablewright.documents.ingest import IngestProgress, IngestResult
    from tablewright.domain.files import ImportOutcome
    from tablewright.engine.runs.kinds import RunContext
    from tablewright.services import Services

# Folder in the home for uploaded files, each in a folder of its person and its content.
UPLOADS = "uploads"
# A kind is one or two words.
MAX_KIND_CHARACTERS = 40
# Documents that one request adds or names.
MAX_DOCUMENTS = 500

DocumentRef = Annotated[str, msgspec.Meta(min_length=1, max_length=300, description="The document's id or file name.")]
DocumentRefs = Annotated[
    tuple[DocumentRef, ...], msgspec.Meta(max_length=MAX_DOCUMENTS, description="Documents by their ids or names.")
]
OfKind = Annotated[str, msgspec.Meta(max_length=100, description="Only of this kind, e.g. receipt.")]


class DocumentShown(Struct, frozen=True):
    """`problem` says why it could not be read, `kind` what it seems to be, such as `invoice`. `kind_by` is the source
    of the kind: `person`, `model`, or `title` for a guess from a title that another document has too. `path` is the
    path of the file at the machine; through a server it is the file's name."""

    id: str
    path: str
    name: str
    title: str
    media: str
    kind: str
    kind_by: KindBy
    categories: tuple[Category, ...]
    size: int
    pages: int
    characters: int
    added_at: str
    problem: str


class DocumentPage(Page, frozen=True):
    documents: tuple[DocumentShown, ...]


class Unread(Struct, frozen=True):
    name: str
    reason: str


class SameContent(Struct, frozen=True):
    """A file whose content is in the collection already, as the document `same_as`."""

    name: str
    same_as: str


class DocumentsAdded(Struct, frozen=True):
    """`classified` is of how many documents the model said what they are, `from_titles` how many have a new kind that
    is a guess from their titles. `documents` are those of the named files; folders are listed by `/documents`. `outage`
    says why they are found by their words alone, if the embedder failed."""

    added: int
    changed: int
    unchanged: int
    same: tuple[SameContent, ...]
    unreadable: tuple[Unread, ...]
    pages: int
    segments: int
    facts: int
    classified: int
    from_titles: int
    outage: str
    seconds: float
    documents: tuple[DocumentShown, ...]


class DocumentDetail(Struct, frozen=True):
    """`facts` is how many were read; `/documents/{document}/facts` has them."""

    document: DocumentShown
    facts: int
    summaries: tuple[str, ...]


class Fact(Struct, frozen=True):
    """A labelled value, or one cell of a row (`row` counts them), with the passage that states it. `si` is the number
    in the base unit `base`, `date` is ISO."""

    label: str
    value: str
    page: int | None
    by: str
    quote: str
    row: int = 0
    si: float | None = None
    base: str = ""
    date: str = ""
    currency: str = ""
    ambiguity: str = ""


class FactPage(Page, frozen=True):
    facts: tuple[Fact, ...]


class DocumentText(Struct, frozen=True):
    text: str


class DocumentGroups(Struct, frozen=True):
    tables: tuple[KnownGroup, ...]


class DocumentsRemoved(Struct, frozen=True):
    removed: tuple[DocumentShown, ...]


class KindSet(Struct, frozen=True):
    """`documents` is how many are of the kind now."""

    kind: str
    documents: int


class FactsFound(Struct, frozen=True):
    """`facts` is how many are new."""

    facts: int


def show_document(services: Services, document: Document) -> DocumentShown:
    return copy_fields(DocumentShown, document, path=display_path(services, document.path))


async def find_document(services: Services, name: str) -> Document:
    """Find a document by its id or name, or at the machine also by its path. Through a server a path is not found, so
    that it does not reveal where files are."""
    if services.person is None:
        return await services.store.documents.get(name)
    with hide_existence(f"document {name!r}"):
        found = await services.store.documents.get(name)
        # The store also finds paths; answering would tell a user of the server which files exist.
        if name not in (found.id, found.name):
            raise NotFound("")
    return found


class ListDocuments(ListRequest, frozen=True):
    kind: OfKind = ""
    readable: Annotated[bool | None, msgspec.Meta(description="Only what could, or could not, be read.")] = None


@operation("read")
async def list_documents(services: Services, request: ListDocuments) -> DocumentPage:
    """The documents in the collection, oldest first."""
    found = [
        each
        for each in await services.store.documents.all(readable=request.readable)
        if not request.kind or each.kind == request.kind
    ]
    some, more = page_oldest_first(found, request.after, request.limit, lambda each: (each.added_at, each.id))
    return DocumentPage(documents=tuple(show_document(services, each) for each in some), next=more)


class AddDocuments(Request, frozen=True):
    paths: Annotated[
        tuple[str, ...],
        msgspec.Meta(
            min_length=1,
            max_length=MAX_DOCUMENTS,
            description="PDF, DOCX, XLSX, CSV, HTML, Markdown, text, e-mail, images.",
        ),
    ]
    kind: Annotated[
        str, msgspec.Meta(max_length=60, description="What all of them are, in one or two words, e.g. receipt.")
    ] = ""


@operation("write")
async def add_documents(
    services: Services,
    request: AddDocuments,
    *,
    workers: int = 0,
    watch: Callable[[IngestProgress], None] = lambda _: None,
) -> DocumentsAdded:
    """Read files into the collection: only what is new or has changed. One that cannot be read is listed with the
    reason and stops nothing."""
    files = [Path(path) for path in request.paths]
    await services.charge_files(files)
    places = [str(path.absolute()) for path in files]
    kind = clean_kind(request.kind) if request.kind else ""
    spec = {"paths": places, "workers": workers, "kind": kind, "host": platform.node()}
    done: IngestResult = await services.jobs.perform("ingest", "", spec, watch)
    named = [each for each in await services.store.documents.all() if each.path in places]
    shown = partial(display_path, services)
    return copy_fields(
        DocumentsAdded,
        done,
        same=tuple(SameContent(name=shown(path), same_as=shown(other)) for path, other in done.same),
        unreadable=tuple(Unread(name=shown(path), reason=reason) for path, reason in done.unreadable),
        documents=tuple(show_document(services, each) for each in named),
    )


async def run_ingest(services: Services, context: RunContext) -> IngestResult:
    """Perform the run of `add_documents`. After an interruption it skips what was read; only the machine that has the
    files can continue it."""
    from tablewright.documents.ingest import Ingest
    from tablewright.workflows.ask.kinds import guess_kinds

    request, store = context.request, services.store
    if request["host"] != platform.node():
        raise UsageError(f"The files are on {request['host']}.", advice="Add them there.")
    corpus = await services.toolbox.open_corpus(store)
    reader = Ingest(store, corpus.embedder, workers=request["workers"], parsers=services.toolbox.parsers)
    paths = [Path(path) for path in request["paths"]]
    done = await reader.add(paths, context.tell, kind=request.get("kind", ""))
    context.forgets = True  # the name of a document that is removed later must be found nowhere
    # Cells that were read from these documents are stale now.
    await store.kinds.mark_changed()
    classified = await _classify_new_documents(services)
    return msgspec.structs.replace(done, classified=classified, from_titles=await guess_kinds(store))


async def _classify_new_documents(services: Services) -> int:
    from tablewright.llm.spec import BUILTIN
    from tablewright.workflows.ask.kinds import AT_INGEST, classify_documents

    if services.settings.model.strip() in ("", BUILTIN):
        return 0
    # The documents are read by now: a model that cannot be opened, or may not be paid, takes nothing from them.
    with suppress(UsageError, ModelError):
        await services.store.ledger.refuse_spent()
        return await classify_documents(
            services.store, await services.toolbox.open_model(), lambda _: None, most=AT_INGEST
        )
    return 0


def clean_kind(text: str) -> str:
    kind = " ".join(text.lower().split())
    if not kind or len(kind) > MAX_KIND_CHARACTERS:
        raise UsageError(f"A kind has 1 to {MAX_KIND_CHARACTERS} characters.", advice="One or two words: lab report.")
    return kind


# ── one document ────────────────────────────────────────────────────────────────────────────────────────────────────


class DocumentRequest(Request, frozen=True):
    document: DocumentRef


@operation("read")
async def get_document(services: Services, request: DocumentRequest) -> DocumentDetail:
    """A document and the summaries of its parts."""
    document = await find_document(services, request.document)
    summaries = await services.store.documents.summaries_of(document.id)
    return DocumentDetail(
        document=show_document(services, document),
        facts=len(await read_facts(services, document)),
        summaries=tuple(each.summary.text for each in summaries),
    )


class ListFacts(DocumentRequest, frozen=True):
    limit: Limit = USUAL_LIMIT
    after: After = ""


@operation("read")
async def list_facts(services: Services, request: ListFacts) -> FactPage:
    """List the facts that were read from a document: labelled values and rows, each with the passage that states it."""
    facts = await read_facts(services, await find_document(services, request.document))
    some, more = page_by_number(enumerate(facts, start=1), request.after, request.limit, lambda each: each[0])
    return FactPage(facts=tuple(fact for _, fact in some), next=more)


async def read_facts(services: Services, document: Document) -> list[Fact]:
    if document.problem:
        return []
    text = (await services.store.documents.retrieved(document.id)).text
    facts: list[Fact] = []
    row = 0
    for annotation in await services.store.documents.annotations(document.id):
        # A table row is one annotation; its cells share the number.
        row += annotation.shape == "row"
        # Characters of a passage that states a fact.
        facts += [
            copy_fields(
                Fact,
                each.value,
                label=f"{each.context} › {each.label}" if each.context else each.label,
                value=each.value.raw,
                page=annotation.page,
                by=annotation.by,
                quote=" ".join(text[annotation.start : annotation.end].split())[:200],
                row=row if annotation.shape == "row" else 0,
            )
            for each in annotation.properties
        ]
    return facts


@operation("read")
async def get_document_text(services: Services, request: DocumentRequest) -> DocumentText:
    """The whole text of a document, as it was read; evidence points into it."""
    document = await find_document(services, request.document)
    return DocumentText(text=(await services.store.documents.retrieved(document.id)).text)


# ── several documents ───────────────────────────────────────────────────────────────────────────────────────────────


class RemoveDocuments(Request, frozen=True):
    documents: DocumentRefs


@operation("write")
async def remove_documents(services: Services, request: RemoveDocuments) -> DocumentsRemoved:
    """Delete documents with everything derived from them, and their uploaded files: all of them or, where one is not
    there, none."""
    from tablewright.workflows.ask.kinds import guess_kinds

    # All names are resolved before the first document is removed: all go, or none.
    named = [await find_document(services, name) for name in request.documents]
    found = {document.id: document for document in named}
    await services.store.documents.remove(list(found))
    await guess_kinds(services.store)
    folder = (services.settings.home_folder / UPLOADS).absolute()
    for document in found.values():
        place = Path(document.path).parent
        # Only uploads are ours to delete: other documents are the user's own files.
        if place != folder and place.is_relative_to(folder):
            await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)
    return DocumentsRemoved(removed=tuple(show_document(services, each) for each in found.values()))


class SetKind(Request, frozen=True):
    documents: DocumentRefs
    kind: Annotated[
        str, msgspec.Meta(max_length=300, description="One word or two, such as lab report.", examples=["lab report"])
    ]


@operation("write")
async def set_kind(services: Services, request: SetKind) -> KindSet:
    """Set the kind of documents. It is kept when they are read again."""
    from tablewright.workflows.ask.kinds import guess_kinds

    kind = clean_kind(request.kind)
    ids = [(await find_document(services, name)).id for name in dict.fromkeys(request.documents)]
    await services.store.kinds.set_kinds(dict.fromkeys(ids, kind), "person")
    await guess_kinds(services.store)
    return KindSet(kind=kind, documents=len(ids))


class AnnotateDocuments(Request, frozen=True):
    documents: DocumentRefs = ()


@operation("run")
async def annotate_documents(
    services: Services, request: AnnotateDocuments, *, watch: Callable[[IngestProgress], None] = lambda _: None
) -> FactsFound:
    """Find facts with the model that the rules missed, and summarise long documents; code checks both."""
    from tablewright.workflows.documents import add_model_facts

    store = services.store
    corpus, model = await services.toolbox.open_corpus(store), await services.toolbox.open_model()
    async with services.spending():
        return FactsFound(facts=await add_model_facts(store, corpus, model, request.documents, watch))


@operation("read")
async def list_document_tables(services: Services, request: NoInput) -> DocumentGroups:
    """List what `where` can look up: the kinds of documents, and the tables inside them, with their known columns. A
    kind that a question was about has a table of its own, which you can edit."""
    return DocumentGroups(tables=tuple(await (await open_asker(services)).known()))


class CreateDocumentTable(Request, frozen=True):
    """A table with a row for each document, to be filled by the strategy `documents`."""

    name: Annotated[str, msgspec.Meta(max_length=300)] = "documents"
    kind: OfKind = ""


@operation("write")
async def create_document_table(services: Services, request: CreateDocumentTable) -> TableImported:
    """Create a table with a row for each readable document."""
    check_name(request.name, "a table")
    return describe_import(await make_document_table(services, request.name.strip() or "documents", request.kind))


async def make_document_table(
    services: Services, name: str, kind: str = "", *, within: Sequence[str | PathLike[str]] = (), update: bool = False
) -> ImportOutcome:
    """Make a table of the documents, or `update` their earlier table; `within` restricts it to these files and the
    documents in these folders."""
    from tablewright.workflows.documents import make_documents_table

    places = [Path(each) for each in within]
    return await make_documents_table(
        services.store, name, kind=kind, actor=services.actor, within=places, update=update
    )
