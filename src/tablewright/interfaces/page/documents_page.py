"""The documents: upload them, see what was read and what was not, open one."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from nicegui import events, ui
from nicegui.elements.upload_files import FileUpload

from tablewright.citations.quotes import locate_quote
from tablewright.domain.documents import Document
from tablewright.interfaces.api.uploads import safe_name, upload_folder
from tablewright.interfaces.page.ask_page import show_document_tabs
from tablewright.interfaces.page.citations import open_document, show_document_pages
from tablewright.interfaces.page.elements import (
    GridContent,
    ask_confirmation,
    display_text,
    file_drop_area,
    flex_row,
    format_page_time,
    icon_button,
    inline_text,
    page_card,
    progress_bar,
    request_limit,
    show_chip,
    show_paged_grid,
    show_paragraph,
    show_remark,
    titled_card,
    titled_page,
)
from tablewright.interfaces.page.frame import (
    answer_missing,
    current_visit,
    empty_state,
    show_heading,
    show_notice,
    visit_now,
)
from tablewright.interfaces.page.live import PageTask, follow_page_task, page_tasks
from tablewright.interfaces.page.sharing import can_share, share_button
from tablewright.interfaces.page.words import counted_text, t
from tablewright.interfaces.server.context import Visit
from tablewright.messages.catalogue import PageText
from tablewright.operations.documents import (
    MAX_KIND_CHARACTERS,
    AddDocuments,
    DocumentsAdded,
    Fact,
    RemoveDocuments,
    SetKind,
    add_documents,
    find_document,
    read_facts,
    remove_documents,
    set_kind,
)
from tablewright.temporary import INCOMING_PREFIX, temporary_folder


@ui.page("/documents", title="Documents · Tablewright")
async def documents_page() -> None:
    listed = ui.refreshable(show_collection)
    with titled_page(t("Documents"), here="/documents"):
        show_document_tabs("/documents")
        settled = show_upload() if current_visit().person.may_change else lambda: None

        async def show_news() -> None:
            settled()
            await listed.refresh()

        # Reading continues when the page is closed, and every page of the person shows its progress.
        follow_page_task(reading_key(current_visit()), show_reading_progress, show_news)
        await listed()


def show_upload() -> Callable[[], None]:
    """Show the area to drop files on, and return the function to call when files have been read."""
    # What the parsers read; the browser offers no other file.
    endings = ".pdf,.docx,.xlsx,.csv,.html,.htm,.md,.txt,.eml,.png,.jpg,.jpeg"
    arrived: list[str] = []

    async def received(event: events.UploadEventArguments) -> None:
        await read_uploaded_file(await visit_now("write"), event.file, str(kind.value or ""))
        arrived.append(event.file.name)

    def settled() -> None:
        """Remove the files that have arrived from the list; `reset` would also cancel the others."""
        if arrived:
            arrived.clear()
            uploader.run_method("removeUploadedFiles")

    def refused() -> None:
        text = t(
            "This file is too large or cannot be read. Supported: PDF, Word, Excel, CSV, HTML, Markdown, "
            "text, e-mail and images."
        )
        show_notice(text, good=False)

    kind = ui.input(t("Kind of document (optional), e.g. receipt")).classes("w-full")
    kind.props(f"maxlength={request_limit(AddDocuments, 'kind')}")
    kind.props["hint"] = t("Leave empty to let the model decide. Without a model, it is guessed from the titles.")
    label = t("Drop files here, or click to choose them")
    # Below the server's limit of 200 MB, so that the page refuses a file before it is sent.
    uploader = file_drop_area(label, endings, largest=150 * 1024 * 1024, several=True, take=received, refuse=refused)
    uploader.classes("tw-drop")
    show_remark(t("PDF, Word, Excel, CSV, HTML, Markdown, text and e-mail, and images where OCR is installed."))
    return settled


def show_reading_progress(known: PageTask | None) -> None:
    """Show the progress of reading the new files, then the result until the next upload."""
    if known is None:
        return
    with page_card(t("Added files")).props("aria-live=polite"):
        if known.problem:
            show_paragraph(known.problem)
        elif known.ended:
            show_added_documents(known.result)
        else:
            files = counted_text(known.total, "file")
            counted = t("{said}: {done} of {total}", said=known.step, done=known.done, total=files)
            show_paragraph(counted if known.total else known.step)
            progress_bar(known.fraction, t("Files read"))


def show_added_documents(results: Sequence[DocumentsAdded]) -> None:
    texts: PageText[dict[str, str]] = {
        "added": "{count} added",
        "changed": "{count} read again",
        "unchanged": "{count} already added",
        "same": "{count} duplicates",
        "unreadable": "{count} not read",
    }
    totals: Counter[str] = Counter()
    for each in results:
        totals.update({name: getattr(each, name) for name in ("added", "changed", "unchanged", "facts", "pages")})
        totals.update(same=len(each.same), unreadable=len(each.unreadable))
    counts = ", ".join(t(text, count=totals[name]) for name, text in texts.items() if totals[name])
    read = f"{counted_text(totals['pages'], 'page')}, {counted_text(totals['facts'], 'fact')}"
    show_paragraph(f"{counts or t('Nothing new')}: {read}.")
    for result in results:
        for unread in result.unreadable:
            show_remark(unread.reason if unread.name in unread.reason else f"{unread.name}: {unread.reason}")


# ── the collection ───────────────────────────────────────────────────────────────────────────────────────────────────


async def show_collection() -> None:
    services = (await visit_now()).services
    documents = sorted(await services.store.documents.all(), key=lambda each: each.name.casefold())
    facts = await services.store.documents.facts()
    if not documents:
        with empty_state(t("No documents yet"), "description"):
            ui.label(t("Drop receipts, contracts, data sheets or manuals above, then ask about anything in them."))
        return

    @ui.refreshable
    def listed() -> None:
        named = [each for each in documents if (words.value or "").casefold() in f"{each.name} {each.title}".casefold()]
        found = [each for each in named if kind.value in ("", document_kind_text(each))]
        show_remark(counted_text(len(found), "document"))
        columns = [t("Document"), t("Kind"), t("Categories"), t("Pages"), t("Facts"), t("Added")]
        show_paged_grid(columns, found, lambda each: document_grid_line(each, facts.get(each.id, 0)), t("Documents"))

    with page_card(t("Collection")):
        with flex_row():
            words = ui.input(t("Find by name or title")).props("clearable debounce=300").classes("tw-grow")
            kinds = {kind: display_text(kind, 40) for kind in sorted({document_kind_text(each) for each in documents})}
            kind = ui.select({"": t("All kinds"), **kinds}, value="", label=t("Kind")).style("min-width: 150px")
            for field in (words, kind):
                field.on_value_change(lambda _: listed.refresh())
        listed()


def document_kind_text(document: Document) -> str:
    return t("not read") if document.problem else document.kind or t("no kind")


def document_grid_line(document: Document, facts: int) -> list[GridContent]:
    def name() -> None:
        ui.link(display_text(document.name, 200), f"/documents/{document.id}")
        if document.problem:
            show_remark(document.problem)
        elif document.title and document.title not in document.name:
            show_remark(document.title)

    def kind() -> None:
        show_chip(document_kind_text(document), "failed" if document.problem else "")
        if document.kind_by == "title":
            show_remark(t("by its title"))

    return [
        name,
        kind,
        ", ".join(map(t, document.categories)),
        str(document.pages or ""),
        "" if document.problem else f"{facts:,}",
        format_page_time(document.added_at),
    ]


# ── one document ─────────────────────────────────────────────────────────────────────────────────────────────────────


@ui.page("/documents/{document_id}", title="Document · Tablewright")
@answer_missing
async def document_page(document_id: str) -> None:
    seen = current_visit()
    document = await find_document(seen.services, document_id)
    with titled_page(document.title or document.name, here="/documents"):
        with flex_row():
            ui.link(t("← All documents"), "/documents")
            ui.space()
            if await can_share():
                share_button("document", document.id)
            if seen.person.may_change:
                remove = partial(ask_document_removal, document)
                ui.button(t("Remove"), icon="delete_outline", on_click=remove).props("flat color=negative")
        if document.problem:
            with page_card(t("Why it was not read")):
                show_chip(t("not read"), "failed")
                show_paragraph(document.problem)
            return
        about = [document.kind, *map(t, document.categories), document.media, counted_text(document.pages, "page")]
        parts = {"name": document.name, "value": ", ".join(filter(None, about)), "characters": document.characters}
        show_remark(t("{name}: {value}; {characters} characters", **parts))
        if seen.person.may_change:
            show_kind_form(document)
        show_facts(document, await read_facts(seen.services, document))
        text = await seen.services.stored_text(document.text_hash)
        with titled_card(t("Text")):
            show_document_pages(document, text or "")


def show_kind_form(document: Document) -> None:
    """Show the kind of a document with a form to correct it."""

    async def save() -> None:
        now = await visit_now("write")
        done = await set_kind(now.services, SetKind(documents=(document.id,), kind=str(kind.value or "")))
        names = {"name": display_text(document.name, 80), "value": display_text(done.kind, 60)}
        show_notice(t("{name} is now of kind “{value}”.", **names))

    known = display_text(document.kind, 60)
    if document.kind_by == "title":
        show_remark(t("The kind of this document is not set. Its title suggests “{kind}”.", kind=known))
    with flex_row():
        kind = ui.input(t("Kind"), value=known).props(f"maxlength={MAX_KIND_CHARACTERS}")
        ui.button(t("Save kind"), on_click=save).props("flat")


def show_facts(document: Document, facts: Sequence[Fact]) -> None:
    """Show the facts that were read; a click on a place opens the page."""
    with page_card(t("Facts")):
        show_heading(counted_text(len(facts), "fact"))
        if not facts:
            show_remark(t("No labelled values were found in it. You can still ask about it."))
            return
        columns = [t("What"), t("Value"), t("Page"), t("Source")]
        show_paged_grid(columns, facts, partial(fact_grid_line, document), t("Facts"))


def fact_grid_line(document: Document, fact: Fact) -> list[GridContent]:
    def place() -> None:
        with flex_row().classes("no-wrap"):
            icon_button("find_in_page", t("Show {label} in the text", label=display_text(fact.label, 60)), show)
            inline_text(fact.quote).classes("tw-small")

    async def show() -> None:
        now = await visit_now()
        text = await now.services.stored_text(document.text_hash) or ""
        at = locate_quote(fact.quote, text) or (0, 0)
        await open_document(now, document, *at)

    def value() -> None:
        inline_text(fact.value)
        if fact.ambiguity:
            show_remark(fact.ambiguity)

    return [fact.label, value, str(fact.page or ""), place]


async def ask_document_removal(document: Document) -> None:
    warning = t("Its text, its facts and the answers based on it are deleted. This cannot be undone.")
    question, yes = t("Remove this document?"), t("Remove the document")
    if await ask_confirmation(question, yes, document.name, warning, no=t("Keep")):
        await remove_documents((await visit_now("write")).services, RemoveDocuments(documents=(document.id,)))
        ui.navigate.to("/documents")


# ── reading files ─────────────────────────────────────────────────────────────────────────────────────────────────────

# By server and person: the files to read, and their kind if the person named one.
_waiting: WeakKeyDictionary[Any, dict[str, list[tuple[Path, str]]]] = WeakKeyDictionary()


def reading_key(visit: Visit) -> str:
    return f"ingest {visit.person.id}"


async def read_uploaded_file(visit: Visit, file: FileUpload, kind: str = "") -> PageTask:
    """Store a file and read it; files that arrive in the meantime are read after it."""
    # One queue for each person, so that one large upload does not hold up another person's files.
    waiting = _waiting.setdefault(visit.server, {}).setdefault(visit.person.id, [])
    waiting.append((await store_uploaded_document(upload_folder(visit), file), kind.strip()))

    async def read(task: PageTask) -> list[DocumentsAdded]:
        results: list[DocumentsAdded] = []
        while waiting:
            first = waiting[0][1]
            paths = [path for path, kind in waiting if kind == first]
            # Files of one kind are read together; others wait for the next round.
            waiting[:] = [each for each in waiting if each[1] != first]

            def watch(news: Any, task: PageTask = task) -> None:
                task.done, task.total = news.done, news.total
                task.step = f"Reading {Path(news.path).name}" if news.path else "Reading"

            request = AddDocuments(paths=tuple(map(str, paths)), kind=first)
            results.append(await add_documents(visit.services, request, watch=watch))
        return results

    return page_tasks(visit).begin(reading_key(visit), "Reading", read)


async def store_uploaded_document(folder: Path, file: FileUpload) -> Path:
    """Store a file in a folder named by its content, so that files of the same name do not replace each other."""
    digest = hashlib.sha256()
    async for part in file.iterate():
        digest.update(part)
    # Sixteen digits are enough to keep different contents apart.
    path = folder / digest.hexdigest()[:16] / safe_name(file.name, "document")
    if not await asyncio.to_thread(path.exists):
        await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
        with temporary_folder(INCOMING_PREFIX, folder) as incoming:
            arrived = incoming / "file"
            await file.save(arrived)
            await asyncio.to_thread(path.parent.mkdir, exist_ok=True)
            # Atomic: a partial file would count as the same one next time.
            arrived.replace(path)
    return path
