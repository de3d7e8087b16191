"""Your documents: hand them in, see what was read and what was not, look into one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from nicegui import events, ui

from tablewright.citations.quotes import locate_quote
from tablewright.domain.corpus import Document
from tablewright.doors.web.ask_page import tabs
from tablewright.doors.web.citations import open_document, pages_of
from tablewright.doors.web.elements import (
    Shown,
    bar,
    card,
    chip,
    grid,
    icon_button,
    inline,
    journey,
    paragraph,
    quiet,
    row,
    safe,
    when,
)
from tablewright.doors.web.frame import empty_state, heading, or_missing, say, visit, visit_now, visit_to_change
from tablewright.doors.web.live import undertakings
from tablewright.doors.web.sharing import may_share, share_button
from tablewright.doors.web.uploads import file_drop, reading_key, receive
from tablewright.doors.web.words import many, t
from tablewright.messages.catalogue import PageText
from tablewright.operations.documents import (
    DocumentsAdded,
    Fact,
    RemoveDocuments,
    SetKind,
    find_document,
    read_facts,
    remove_documents,
    set_kind,
)

AT_ONCE = 50
LARGEST = 150 * 1024 * 1024
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

        reading(then=show_anew)
        await listed()


def upload() -> Callable[[], None]:
    """Where files are dropped; what it returns is to be called when files have been read."""
    arrived: list[str] = []

    async def received(event: events.UploadEventArguments) -> None:
        await receive(await visit_to_change(), event.file, str(kind.value or ""))
        arrived.append(event.file.name)

    def settled() -> None:
        """Those that have arrived leave the list; `reset` would also break off those that are on their way."""
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
    kind = ui.input(t("Kind of document (optional), e.g. receipt")).props(f'dense outlined maxlength=40 hint="{hint}"')
    kind.classes("w-full")
    label = t("Drop files here, or click to choose them")
    uploader = file_drop(label, KINDS, largest=LARGEST, several=True, take=received, refuse=refused)
    uploader.classes("tw-drop")
    quiet(t("PDF, Word, Excel, CSV, HTML, Markdown, text and e-mail, and images where OCR is installed."))
    return settled


def reading(then: Callable[[], Awaitable[None]]) -> None:
    """How far the reading of new files is; what came of it stays until the next."""
    under_way, key = undertakings(visit()), reading_key(visit())
    seen = {"known": under_way.get(key), "ended": not under_way.under_way(key)}

    @ui.refreshable
    def progress() -> None:
        known = under_way.get(key)
        if known is None:
            return
        with card(t("Added files")).props("aria-live=polite"):
            if not known.ended:
                paragraph(
                    t("{said}: {done} of {total}", said=known.said, done=known.done, total=many(known.total, "file"))
                    if known.total
                    else known.said
                )
                bar(known.fraction, t("Files read"))
            elif known.problem:
                paragraph(known.problem)
            else:
                came_to(known.result)

    async def look() -> None:
        now = {"known": under_way.get(key), "ended": not under_way.under_way(key)}
        if now["ended"] and now == seen:
            return
        seen.update(now)
        progress.refresh()
        if now["ended"]:
            await then()

    progress()
    ui.timer(0.7, look)


def came_to(results: Sequence[DocumentsAdded]) -> None:
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
    shown_at_once = {"count": AT_ONCE}

    def matching() -> list[Document]:
        words, kind = wanted["words"].casefold(), wanted["kind"]
        return [
            each
            for each in documents
            if words in f"{each.name} {each.title}".casefold() and kind in ("", kind_of(each))
        ]

    def choose(name: str, value: str | None) -> None:
        wanted[name], shown_at_once["count"] = value or "", AT_ONCE
        listed.refresh()

    def more() -> None:
        shown_at_once["count"] += AT_ONCE
        listed.refresh()

    @ui.refreshable
    def listed() -> None:
        found = matching()
        shown = found[: shown_at_once["count"]]
        count = many(len(found), "document")
        quiet(t("{count}, {shown} shown", count=count, shown=len(shown)) if len(shown) < len(found) else count)
        columns = [t("Document"), t("Kind"), t("Categories"), t("Pages"), t("Facts"), t("Added")]
        grid(columns, [line(each, facts.get(each.id, 0)) for each in shown], t("Documents"))
        if len(shown) < len(found):
            ui.button(t("Show {at_once} more", at_once=min(AT_ONCE, len(found) - len(shown))), on_click=more).props(
                "flat"
            )

    with card(t("Collection")):
        with row():
            ui.input(t("Find by name or title"), on_change=lambda event: choose("words", event.value)).props(
                "dense outlined clearable debounce=300"
            ).classes("tw-grow")
            kinds = sorted({kind_of(each) for each in documents})
            ui.select(
                {"": t("All kinds"), **{kind: safe(kind, 40) for kind in kinds}},
                value="",
                label=t("Kind"),
                on_change=lambda event: choose("kind", event.value),
            ).props("dense outlined options-dense").style("min-width: 150px")
        listed()


def kind_of(document: Document) -> str:
    return t(UNREAD) if document.problem else document.kind or t("no kind")


def line(document: Document, facts: int) -> list[Shown]:
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
        with card(t("Text")):
            heading(t("Text"))
            pages_of(document, text or "")


def kind_line(document: Document) -> None:
    """What the document is, to be corrected."""

    async def save() -> None:
        now = await visit_to_change()
        done = await set_kind(now.services, SetKind(documents=(document.id,), kind=str(kind.value or "")))
        say(t("{name} is now of kind “{value}”.", name=safe(document.name, 80), value=safe(done.kind, 60)))

    if document.kind_by == "title":
        quiet(
            t(
                "Nobody has said what kind of document this is. Its title suggests “{kind}”.",
                kind=safe(document.kind, 60),
            )
        )
    with row():
        kind = ui.input(t("Kind"), value=safe(document.kind, 60)).props("dense outlined maxlength=60")
        ui.button(t("Save kind"), on_click=save).props("flat")


def show_facts(document: Document, facts: Sequence[Fact]) -> None:
    """Every fact that was read, as a table; a click on its place opens the page."""
    shown = {"count": AT_ONCE}

    @ui.refreshable
    def listed() -> None:
        lines = [fact_line(document, fact) for fact in facts[: shown["count"]]]
        grid([t("What"), t("Value"), t("Page"), t("Source")], lines, t("Facts"))
        if shown["count"] < len(facts):
            ui.button(t("Show all {facts}", facts=len(facts)), on_click=all_of_them).props("flat")

    def all_of_them() -> None:
        shown["count"] = len(facts)
        listed.refresh()

    with card(t("Facts")):
        heading(many(len(facts), "fact"))
        if not facts:
            quiet(t("No labelled values were found in it. You can still ask about it."))
            return
        listed()


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


def ask_to_remove(document: Document) -> None:
    async def remove() -> None:
        window.close()
        await remove_documents((await visit_to_change()).services, RemoveDocuments(documents=(document.id,)))
        ui.navigate.to("/documents")

    with ui.dialog(value=True) as window, ui.card().classes("tw-window"):
        heading(t("Remove this document?"))
        paragraph(document.name)
        paragraph(t("Its text, its facts and the answers based on it are deleted. This cannot be undone."))
        with row():
            ui.space()
            ui.button(t("Keep"), on_click=window.close).props("flat autofocus")
            ui.button(t("Remove the document"), on_click=remove).props("color=negative unelevated")
