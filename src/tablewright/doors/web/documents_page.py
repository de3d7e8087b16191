"""Your documents: hand them in, see what was read and what was not, look into one."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from nicegui import events, ui
from nicegui.elements.upload_files import FileUpload

from tablewright.citations.quotes import locate_quote
from tablewright.domain.corpus import Document
from tablewright.doors.api.uploads import folder_of, safe_name
from tablewright.doors.server.context import Visit
from tablewright.doors.web.ask_page import tabs
from tablewright.doors.web.citations import open_document, pages_of
from tablewright.doors.web.elements import (
    Shown,
    ask_to_confirm,
    bar,
    card,
    chip,
    file_drop,
    icon_button,
    inline,
    journey,
    limit_of,
    paged_grid,
    paragraph,
    quiet,
    row,
    safe,
    titled_card,
    when,
)
from tablewright.doors.web.frame import empty_state, heading, or_missing, say, visit, visit_now, visit_to_change
from tablewright.doors.web.live import Undertaking, follow_undertaking, undertakings
from tablewright.doors.web.sharing import may_share, share_button
from tablewright.doors.web.words import many, t
from tablewright.messages.catalogue import PageText
from tablewright.operations.documents import (
    LONGEST_KIND,
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
from tablewright.temporary import INCOMING, temporary_folder

AT_ONCE = 50
LARGEST = 150 * 1024 * 1024
"""Bytes of a file."""
KINDS = ".pdf,.docx,.xlsx,.csv,.html,.htm,.md,.txt,.eml,.png,.jpg,.jpeg"
UNREAD: PageText[str] = "not read"
CAME_TO: PageText[tuple[str, ...]] = (
    "{count} added",
    "{count} read again",
    "{count} already added",
    "{count} duplicates",
    "{count} not read",
)


@ui.page("/documents", title="Documents · Tablewright")
async def documents_page() -> None:
    listed = ui.refreshable(collection)
    with journey(t("Documents"), here="/documents"):
        tabs("/documents")
        settled = upload() if visit().person.may_change else None

        async def show_anew() -> None:
            if settled is not None:
                settled()
            await listed.refresh()

        follow_undertaking(reading_key(visit()), show_reading, show_anew)
        await listed()


def upload() -> Callable[[], None]:
    """Show where files are dropped, and return what to call when files have been read."""
    arrived: list[str] = []

    async def received(event: events.UploadEventArguments) -> None:
        await read_upload(await visit_to_change(), event.file, str(kind.value or ""))
        arrived.append(event.file.name)

    def settled() -> None:
        """Take the files that have arrived off the list; `reset` would also break off the others."""
        if arrived:
            arrived.clear()
            uploader.run_method("removeUploadedFiles")

    def refused() -> None:
        say(
            t(
                "This file is too large or cannot be read. Supported: PDF, Word, Excel, CSV, HTML, Markdown, "
                "text, e-mail and images."
            ),
            good=False,
        )

    hint = t("Leave empty to let the model decide. Without a model, it is guessed from the titles.")
    kind = ui.input(t("Kind of document (optional), e.g. receipt")).props(
        f'maxlength={limit_of(AddDocuments, "kind")} hint="{hint}"'
    )
    kind.classes("w-full")
    label = t("Drop files here, or click to choose them")
    uploader = file_drop(label, KINDS, largest=LARGEST, several=True, take=received, refuse=refused)
    uploader.classes("tw-drop")
    quiet(t("PDF, Word, Excel, CSV, HTML, Markdown, text and e-mail, and images where OCR is installed."))
    return settled


def show_reading(known: Undertaking | None) -> None:
    """Show how far the new files are read, and then the result until the next."""
    if known is None:
        return
    with card(t("Added files")).props("aria-live=polite"):
        if known.problem:
            paragraph(known.problem)
        elif known.ended:
            show_result(known.result)
        else:
            files = many(known.total, "file")
            paragraph(
                t("{said}: {done} of {total}", said=known.said, done=known.done, total=files)
                if known.total
                else known.said
            )
            bar(known.fraction, t("Files read"))


def show_result(results: Sequence[DocumentsAdded]) -> None:
    amounts = (
        sum(each.added for each in results),
        sum(each.changed for each in results),
        sum(each.unchanged for each in results),
        sum(len(each.same) for each in results),
        sum(len(each.unreadable) for each in results),
    )
    counts = [t(what, count=count) for what, count in zip(CAME_TO, amounts, strict=True) if count]
    facts = sum(each.facts for each in results)
    pages = sum(each.pages for each in results)
    paragraph(f"{', '.join(counts) or t('Nothing new')}: {many(pages, 'page')}, {many(facts, 'fact')}.")
    for result in results:
        for unread in result.unreadable:
            quiet(unread.reason if unread.name in unread.reason else f"{unread.name}: {unread.reason}")


# ── the collection ───────────────────────────────────────────────────────────────────────────────────────────────────


async def collection() -> None:
    services = (await visit_now()).services
    documents = sorted(await services.store.documents.all(), key=lambda each: each.name.casefold())
    facts = await services.store.documents.facts()
    if not documents:
        with empty_state(t("No documents yet"), "description"):
            ui.label(t("Drop receipts, contracts, data sheets or manuals above, then ask about anything in them."))
        return
    wanted = {"words": "", "kind": ""}

    def choose(name: str, value: str | None) -> None:
        wanted[name] = value or ""
        listed.refresh()

    @ui.refreshable
    def listed() -> None:
        words, kind = wanted["words"].casefold(), wanted["kind"]
        found = [
            each
            for each in documents
            if words in f"{each.name} {each.title}".casefold() and kind in ("", kind_of(each))
        ]
        quiet(many(len(found), "document"))
        columns = [t("Document"), t("Kind"), t("Categories"), t("Pages"), t("Facts"), t("Added")]
        paged_grid(
            columns, found, lambda each: document_line(each, facts.get(each.id, 0)), t("Documents"), at_once=AT_ONCE
        )

    with card(t("Collection")):
        with row():
            ui.input(t("Find by name or title"), on_change=lambda event: choose("words", event.value)).props(
                "clearable debounce=300"
            ).classes("tw-grow")
            kinds = {kind: safe(kind, 40) for kind in sorted({kind_of(each) for each in documents})}
            ui.select(
                {"": t("All kinds"), **kinds},
                value="",
                label=t("Kind"),
                on_change=lambda event: choose("kind", event.value),
            ).style("min-width: 150px")
        listed()


def kind_of(document: Document) -> str:
    return t(UNREAD) if document.problem else document.kind or t("no kind")


def document_line(document: Document, facts: int) -> list[Shown]:
    def name() -> None:
        ui.link(safe(document.name, 200), f"/documents/{document.id}")
        if document.problem:
            quiet(document.problem)
        elif document.title and document.title not in document.name:
            quiet(document.title)

    def kind() -> None:
        chip(kind_of(document), "failed" if document.problem else "")
        if document.kind_by == "title":
            quiet(t("by its title"))

    return [
        name,
        kind,
        ", ".join(map(t, document.categories)),
        str(document.pages or ""),
        "" if document.problem else f"{facts:,}",
        when(document.added_at),
    ]


# ── one document ─────────────────────────────────────────────────────────────────────────────────────────────────────


@ui.page("/documents/{document_id}", title="Document · Tablewright")
@or_missing
async def document_page(document_id: str) -> None:
    seen = visit()
    document = await find_document(seen.services, document_id)
    with journey(document.title or document.name, here="/documents"):
        with row():
            ui.link(t("← All documents"), "/documents")
            ui.space()
            if await may_share():
                share_button("document", document.id)
            if seen.person.may_change:
                ui.button(t("Remove"), icon="delete_outline", on_click=lambda: ask_to_remove(document)).props(
                    "flat color=negative"
                )
        if document.problem:
            with card(t("Why it was not read")):
                chip(t(UNREAD), "failed")
                paragraph(document.problem)
            return
        about = [document.kind, *map(t, document.categories), document.media, many(document.pages, "page")]
        quiet(
            t(
                "{name}: {value}; {characters} characters",
                name=document.name,
                value=", ".join(filter(None, about)),
                characters=document.characters,
            )
        )
        if seen.person.may_change:
            kind_line(document)
        show_facts(document, await read_facts(seen.services, document))
        text = await seen.services.stored_text(document.text_hash)
        with titled_card(t("Text")):
            pages_of(document, text or "")


def kind_line(document: Document) -> None:
    """Show the kind of a document, to be corrected."""

    async def save() -> None:
        now = await visit_to_change()
        done = await set_kind(now.services, SetKind(documents=(document.id,), kind=str(kind.value or "")))
        say(t("{name} is now of kind “{value}”.", name=safe(document.name, 80), value=safe(done.kind, 60)))

    if document.kind_by == "title":
        quiet(
            t(
                "The kind of this document is not set. Its title suggests “{kind}”.",
                kind=safe(document.kind, 60),
            )
        )
    with row():
        kind = ui.input(t("Kind"), value=safe(document.kind, 60)).props(f"maxlength={LONGEST_KIND}")
        ui.button(t("Save kind"), on_click=save).props("flat")


def show_facts(document: Document, facts: Sequence[Fact]) -> None:
    """Show the facts that were read; a click on a place opens the page."""
    with card(t("Facts")):
        heading(many(len(facts), "fact"))
        if not facts:
            quiet(t("No labelled values were found in it. You can still ask about it."))
            return
        columns = [t("What"), t("Value"), t("Page"), t("Source")]
        paged_grid(columns, facts, partial(fact_line, document), t("Facts"), at_once=AT_ONCE)


def fact_line(document: Document, fact: Fact) -> list[Shown]:
    def place() -> None:
        with row().classes("no-wrap"):
            icon_button("find_in_page", t("Show {label} in the text", label=safe(fact.label, 60)), show)
            inline(fact.quote).classes("tw-small")

    async def show() -> None:
        now = await visit_now()
        text = await now.services.stored_text(document.text_hash) or ""
        at = locate_quote(fact.quote, text) or (0, 0)
        await open_document(now, document, *at)

    def value() -> None:
        inline(fact.value)
        if fact.ambiguity:
            quiet(fact.ambiguity)

    return [fact.label, value, str(fact.page or ""), place]


async def ask_to_remove(document: Document) -> None:
    warning = t("Its text, its facts and the answers based on it are deleted. This cannot be undone.")
    question, yes = t("Remove this document?"), t("Remove the document")
    if await ask_to_confirm(question, yes, document.name, warning, no=t("Keep")):
        await remove_documents((await visit_to_change()).services, RemoveDocuments(documents=(document.id,)))
        ui.navigate.to("/documents")


# ── reading files ─────────────────────────────────────────────────────────────────────────────────────────────────────

_waiting: WeakKeyDictionary[Any, dict[str, list[tuple[Path, str]]]] = WeakKeyDictionary()
"""By server and person: the files to read, and their kind if the person named one."""


def reading_key(visit: Visit) -> str:
    return f"ingest {visit.person.id}"


async def read_upload(visit: Visit, file: FileUpload, kind: str = "") -> Undertaking:
    """Keep a file and read it; files that arrive in the meantime are read after it."""
    waiting = _waiting.setdefault(visit.server, {}).setdefault(visit.person.id, [])
    waiting.append((await keep_file(folder_of(visit), file), kind.strip()))

    async def read(undertaking: Undertaking) -> list[DocumentsAdded]:
        results: list[DocumentsAdded] = []
        while waiting:
            first = waiting[0][1]
            paths = [path for path, kind in waiting if kind == first]
            waiting[:] = [each for each in waiting if each[1] != first]

            def watch(news: Any, undertaking: Undertaking = undertaking) -> None:
                undertaking.done, undertaking.total = news.done, news.total
                undertaking.said = f"Reading {Path(news.path).name}" if news.path else "Reading"

            request = AddDocuments(paths=tuple(map(str, paths)), kind=first)
            results.append(await add_documents(visit.services, request, watch=watch))
        return results

    return undertakings(visit).begin(reading_key(visit), "Reading", read)


def make_folder(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return folder


async def keep_file(folder: Path, file: FileUpload) -> Path:
    """Store a file in a folder named by its content, so that files of the same name do not replace each other."""
    digest = hashlib.sha256()
    async for part in file.iterate():
        digest.update(part)
    path = folder / digest.hexdigest()[:16] / safe_name(file.name, "document")
    if not await asyncio.to_thread(path.exists):
        with temporary_folder(INCOMING, await asyncio.to_thread(make_folder, folder)) as incoming:
            arrived = incoming / "file"
            await file.save(arrived)
            await asyncio.to_thread(path.parent.mkdir, exist_ok=True)
            arrived.replace(path)  # whole or not at all: half a file would be taken for the same next time
    return path
