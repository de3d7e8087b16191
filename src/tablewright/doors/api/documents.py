"""Your documents, and those that others share with you: what you ask is answered from these."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from fastapi import File, Form, Query, UploadFile
from pydantic import Field as Value

from tablewright.domain.corpus import Category, Document, KindBy
from tablewright.domain.form import KnownGroup
from tablewright.domain.model import Noun
from tablewright.doors.api.adapter import encode_reply
from tablewright.doors.api.answers import Json, Page, by_number, large, oldest_first
from tablewright.doors.api.inputs import SOME, After, Body, DocumentId, Limit, Name, TableName, resource
from tablewright.doors.api.schemas import EXAMPLES, described
from tablewright.doors.api.uploads import folder_of, forget, safe_name, save
from tablewright.doors.api.visible import seen_document
from tablewright.doors.server.context import Visiting
from tablewright.operations.tables import Removed, TableImported, describe_import
from tablewright.temporary import INCOMING, temporary_folder

router = resource("documents")

MOST_FILES = 500


class DocumentShown(Noun, frozen=True):
    """`problem` says why it could not be read, `kind` what it seems to be, such as `invoice`. `kind_by` is who said
    that: `person`, `model`, or `title` for a guess from a title that another document has too."""

    id: str
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


class Unread(Noun, frozen=True):
    name: str
    reason: str


class DocumentsAdded(Noun, frozen=True):
    """`same` are files with the content of a document that is there already; `classified` is of how many documents the
    model said what they are, `from_titles` how many have a new kind that is a guess from their titles."""

    added: int
    changed: int
    unchanged: int
    same: tuple[str, ...]
    unreadable: tuple[Unread, ...]
    pages: int
    segments: int
    facts: int
    classified: int
    from_titles: int
    seconds: float
    documents: tuple[DocumentShown, ...]


class DocumentDetail(Noun, frozen=True):
    """`facts` is how many were read; `/documents/{document_id}/facts` has them."""

    document: DocumentShown
    facts: int
    summaries: tuple[str, ...]


class Fact(Noun, frozen=True):
    """A labelled value, or one cell of a row (`row` counts them), with the passage that states it. `si` is the number
    in the base unit `base`, `date` is ISO."""

    label: str
    value: str
    page: int | None
    by: str
    quote: str
    row: int
    si: float | None
    base: str
    date: str
    currency: str
    ambiguity: str


class FactPage(Page, frozen=True):
    facts: tuple[Fact, ...]


class DocumentTables(Noun, frozen=True):
    tables: tuple[KnownGroup, ...]


EXAMPLES[DocumentShown] = {
    "id": "d4mzq8tk2w",
    "name": "receipt-0317.pdf",
    "title": "Receipt 0317",
    "media": "pdf",
    "kind": "receipt",
    "categories": ["short", "data-heavy"],
    "size": 18_214,
    "pages": 1,
    "characters": 812,
    "added_at": "2026-11-16T09:30:00Z",
    "problem": "",
}


class NewDocumentTable(Body):
    """A table with a row for each document, to be filled by the strategy `documents`."""

    name: TableName = "documents"
    kind: Name = ""


class SaidKind(Body):
    kind: Name = Value(description="One word or two, such as lab report.", examples=["lab report"])


def shown(document: Document) -> DocumentShown:
    return DocumentShown(**{name: getattr(document, name) for name in DocumentShown.__struct_fields__})


@router.get("/documents", response_model=described(DocumentPage))
async def list_documents(
    visit: Visiting,
    limit: Limit = SOME,
    after: After = "",
    kind: Annotated[str, Query(max_length=100, description="Only of this kind, e.g. receipt.")] = "",
    readable: Annotated[bool | None, Query(description="Only what could, or could not, be read.")] = None,
) -> Json:
    """The documents in the collection, oldest first."""
    found = await visit.tablewright.documents(kind=kind, readable=readable)
    some, more = oldest_first(found, after, limit, lambda each: (each.added_at, each.id))
    return Json(DocumentPage(documents=tuple(map(shown, some)), next=more))


@router.post("/documents", status_code=201, response_model=described(DocumentsAdded))
async def add_documents(
    visit: Visiting,
    files: Annotated[
        list[UploadFile],
        File(description="PDF, DOCX, XLSX, CSV, HTML, Markdown, text, e-mail, images.", max_length=MOST_FILES),
    ],
    kind: Annotated[str, Form(max_length=60, description="What all of them are, e.g. receipt.")] = "",
) -> Json:
    """Reads files into the collection. One that cannot be read is listed with the reason and stops nothing."""
    visit.must_change()
    folder = folder_of(visit)
    paths = await kept_all(files, folder)
    done = await visit.tablewright.add_documents(paths, kind=kind)
    places = {str(path) for path in paths}
    documents = [each for each in await visit.tablewright.documents() if each.path in places]
    return Json(
        DocumentsAdded(
            added=done.added,
            changed=done.changed,
            unchanged=done.unchanged,
            same=tuple(Path(path).name for path, _ in done.same),
            unreadable=tuple(Unread(name=Path(path).name, reason=reason) for path, reason in done.unreadable),
            pages=done.pages,
            segments=done.segments,
            facts=done.facts,
            classified=done.classified,
            from_titles=done.from_titles,
            seconds=done.seconds,
            documents=tuple(map(shown, documents)),
        ),
        201,
    )


async def kept_all(files: Sequence[UploadFile], folder: Path) -> list[Path]:
    """Keep all files or none: where one does not fit on the disk, those that came with it go again."""
    found: list[tuple[Path, bool]] = []
    try:
        for file in files:
            found.append(await kept(file, folder))
    except OSError:
        for path in (path for path, is_new in found if is_new):
            await asyncio.to_thread(shutil.rmtree, path.parent, ignore_errors=True)
        raise
    return [path for path, _ in found]


async def kept(file: UploadFile, folder: Path) -> tuple[Path, bool]:
    """Keep a file in a folder named by its content, so that nobody's takes the place of another of the same name.
    Return where it is, and whether it is new there."""
    name = safe_name(file.filename, "document")
    folder.mkdir(parents=True, exist_ok=True)
    with temporary_folder(INCOMING, folder) as incoming:
        arrived = incoming / "file"
        await save(file, arrived)
        place = folder / (await asyncio.to_thread(digest, arrived))[:16]
        is_new = not await asyncio.to_thread(place.exists)
        place.mkdir(exist_ok=True)
        return arrived.replace(place / name).absolute(), is_new


def digest(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@router.post("/documents/table", status_code=201, response_model=described(TableImported))
async def table_of_documents(visit: Visiting, asked: NewDocumentTable) -> Json:
    """Creates a table with a row for each readable document."""
    visit.must_change()
    made = await visit.tablewright.table_of_documents(asked.name.strip() or "documents", kind=asked.kind)
    return await encode_reply(describe_import(made), 201)


@router.get("/documents/tables", response_model=described(DocumentTables))
async def list_document_tables(visit: Visiting) -> Json:
    """What `where` can look up: the kinds of documents, and the tables inside them, with the columns known of each."""
    return Json(DocumentTables(tables=tuple(await visit.tablewright.known_of_documents())))


@router.put("/documents/{document_id}/kind", response_model=described(DocumentShown))
async def set_kind(visit: Visiting, document_id: DocumentId, said: SaidKind) -> Json:
    """Sets the kind of a document. It is kept when the document is read again."""
    visit.must_change()
    await seen_document(visit, document_id)
    await visit.tablewright.set_document_kind([document_id], said.kind)
    return Json(shown((await seen_document(visit, document_id)).document))


@router.get("/documents/{document_id}", response_model=described(DocumentDetail))
async def get_document(visit: Visiting, document_id: DocumentId) -> Json:
    """A document and the summaries of its parts."""
    report = await seen_document(visit, document_id)
    return Json(DocumentDetail(document=shown(report.document), facts=len(report.facts), summaries=report.summaries))


@router.get("/documents/{document_id}/facts", response_model=described(FactPage))
async def list_facts(visit: Visiting, document_id: DocumentId, limit: Limit = SOME, after: After = "") -> Json:
    """What was read from it: labelled values and rows, each with the passage that states it."""
    report = await seen_document(visit, document_id)
    numbered = list(enumerate(report.facts, start=1))
    some, more = by_number(numbered, after, limit, lambda each: each[0])
    facts = tuple(Fact(**{name: getattr(fact, name) for name in Fact.__struct_fields__}) for _, fact in some)
    return await large(lambda: FactPage(facts=facts, next=more))


@router.delete("/documents/{document_id}", response_model=described(Removed))
async def remove_document(visit: Visiting, document_id: DocumentId) -> Json:
    """Deletes a document with everything derived from it, and the uploaded file."""
    visit.must_change()
    gone = (await seen_document(visit, document_id)).document
    await forget(visit.tablewright, [gone])
    return Json(Removed(removed=gone.id))
