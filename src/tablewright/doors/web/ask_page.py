"""Questions about your documents: answers that cite, say what they do not know, and can be followed up."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

from nicegui import context, ui

from tablewright.domain.reply import Reply, ReplyRow
from tablewright.domain.text import shortened
from tablewright.doors.server.context import Visit
from tablewright.doors.web.citations import number_button, open_citation, with_numbers
from tablewright.doors.web.elements import (
    Shown,
    card,
    chip,
    grid,
    journey,
    many,
    paragraph,
    quiet,
    row,
    safe,
    saying,
    when,
)
from tablewright.doors.web.frame import empty_state, heading, or_missing, visit, visit_now, visit_to_run
from tablewright.doors.web.live import ServerMemory, Undertaking, download, to_the_line, to_the_newest, undertakings
from tablewright.doors.web.sharing import may_share, share_button
from tablewright.doors.web.words import t
from tablewright.errors import UsageError
from tablewright.messages.catalogue import PageText, translate

REMEMBERED = 200
"""Conversations whose answers a reload of the page still shows."""
LISTED = 20
SURE = {"exact": "high", "approximate": "medium", "incomplete": "low"}
TRY: PageText[tuple[str, ...]] = (
    "How many documents are there?",
    "List all receipts with their totals",
    "What do the manuals say about safety?",
)


class AskSession:
    """A conversation as far as the page shows it; what the answers rest on is in the database."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.earlier: tuple[tuple[str, str], ...] = ()
        """Questions and answers before these, as they are kept: their words only."""
        self.asked = ""
        """The question that is being answered, or could not be."""
        self.answering: Undertaking | None = None
        self.is_awaited = False
        """Whether nobody has seen yet what came of its first question."""

    @property
    def is_busy(self) -> bool:
        return self.answering is not None and not self.answering.ended

    @property
    def problem(self) -> str:
        return self.answering.problem if self.answering is not None else ""


_talks = ServerMemory(AskSession, most=REMEMBERED)
_begun = ServerMemory(AskSession, most=REMEMBERED)
"""By person: what they asked last that had no conversation yet."""


def talk_of(seen: Visit, conversation: str) -> AskSession:
    """Whoever comes back without an address, because the page was loaded anew before the first answer, finds it."""
    if conversation:
        return _talks.of(seen, conversation)
    begun = _begun.of(seen, seen.person.id)
    return begun if begun.is_awaited else _begun.put(seen, seen.person.id, AskSession())


def tabs(here: str) -> None:
    with ui.element("nav").classes("tw-tabs").props(f'aria-label="{t("Documents and questions")}"'):
        for name, path in ((t("All documents"), "/documents"), (t("Look up"), "/lookup"), (t("Ask"), "/ask")):
            tab = ui.link(name, path).classes("tw-tab" + (" tw-here" if path == here else ""))
            if path == here:
                tab.props("aria-current=page")


@ui.page("/ask", title="Ask your documents · Tablewright")
@or_missing
async def ask_page(conversation: str = "") -> None:
    seen = visit()
    if conversation:
        told = await seen.services.conversation(conversation)
        talk = talk_of(seen, conversation)
        if not (talk.replies or talk.earlier or talk.is_busy):
            talk.earlier = tuple((turn.question, turn.answer) for turn in told.turns)
    with journey(t("Ask your documents"), here="/documents"):
        tabs("/ask")
        if not await seen.services.store.documents.all(readable=True):
            with empty_state(t("No documents to ask about yet"), "question_answer"):
                ui.label(t("Add documents first, then ask about them."))
                ui.link(t("Add documents"), "/documents")
            return
        if not seen.person.may_change:
            quiet(t("You can view, but not ask: answers can cost money. Ask an admin to make you an editor."))
            return
        if conversation and await may_share():
            share_button("conversation", conversation)
        ConversationView(seen, conversation).show()
        if not conversation:
            await earlier_conversations(seen)


async def earlier_conversations(seen: Visit) -> None:
    found = (await seen.services.conversations())[:LISTED]
    if found:
        with card(t("Earlier conversations")):
            heading(t("Earlier conversations"))
            for each in found:
                with row():
                    ui.link(safe(shortened(each.title, 120)), f"/ask?conversation={each.id}")
                    quiet(when(each.started_at))


class ConversationView:
    """One open page of it."""

    def __init__(self, seen: Visit, conversation: str) -> None:
        self.id = conversation
        self.talk = talk_of(seen, conversation)
        self.was_busy = self.talk.is_busy

    def show(self) -> None:
        self.turns = ui.refreshable(self.show_turns)
        with ui.element("div").classes("tw-talk").props(f'role=log aria-live=polite aria-label="{t("Conversation")}"'):
            self.turns()
        with ui.element("div") as self.line:
            saying(t("Your question"), t("Ask"), self.ask)
        with row():
            ui.link(t("New conversation"), "/ask")
        self.settle()
        ui.timer(0.5, self.look)

    def show_turns(self) -> None:
        talk = self.talk
        for question, answer in talk.earlier:
            paragraph(question, "tw-mine")
            with card(t("Earlier answer")).classes("tw-theirs"):
                paragraph(answer)
        if not (self.id or talk.replies or talk.asked):
            with row():
                quiet(t("For example:"))
                for example in map(t, TRY):
                    ui.button(example, on_click=lambda words=example: self.ask(words)).props("outline dense no-caps")
        for reply in talk.replies:
            paragraph(reply.question, "tw-mine")
            with card(t("Answer")).classes("tw-theirs"):
                show_reply(reply, self.more if reply is talk.replies[-1] else None)
        if talk.asked:
            paragraph(talk.asked, "tw-mine")
        if talk.is_busy:
            with row():
                ui.spinner("dots", size="2em").props('aria-hidden="true"')
                quiet(t("Searching the documents …"))
        elif talk.problem:
            with card(t("Problem")):
                chip(t("That did not work"), "failed")
                paragraph(talk.problem)
                ui.button(t("Ask again"), on_click=lambda: self.ask(talk.asked)).props("outline")

    async def ask(self, words: str) -> None:
        await self.begin(words, lambda now, conversation: now.services.ask(words, conversation=conversation))

    async def more(self) -> None:
        """The next rows of the last list; no model is asked."""
        await self.begin(t("Show more"), lambda now, conversation: now.services.more_rows(conversation))

    async def begin(self, words: str, work: Callable[[Visit, str], Awaitable[Reply]]) -> None:
        """The answer comes even if nobody waits for it any more."""
        now = await visit_to_run()
        talk, conversation = self.talk, self.id
        if talk.is_busy:
            raise UsageError(
                t("“{words}” was not asked: the last question is still being answered.", words=shortened(words, 80)),
                advice=t("Ask it once the answer has arrived."),
            )

        async def answer(_: Undertaking) -> None:
            reply = await work(now, conversation)
            talk.replies.append(reply)
            talk.asked = ""
            _talks.put(now, reply.conversation, talk)

        talk.asked, talk.is_awaited = words, not conversation
        talk.answering = undertakings(now).begin(f"ask {id(talk)}", "Looking", answer)
        self.look()

    def look(self) -> None:
        """Also at what was asked on another page of the same conversation. What is typed meanwhile stays in the line,
        which is not shown as long as nothing can be sent."""
        if self.was_busy != self.talk.is_busy:
            self.was_busy = self.talk.is_busy
            self.turns.refresh()
            self.settle()
            if not self.was_busy:
                to_the_newest()
                to_the_line()
        if not self.was_busy and context.client.has_socket_connection:
            self.talk.is_awaited = False

    def settle(self) -> None:
        self.line.set_visibility(not self.talk.is_busy)
        if self.talk.replies and not (self.id or self.talk.is_busy):
            self.id = self.talk.replies[-1].conversation
            ui.navigate.history.replace(f"/ask?conversation={self.id}")


# ── an answer ────────────────────────────────────────────────────────────────────────────────────────────────────────


def show_reply(reply: Reply, more: Callable[[], Awaitable[None]] | None) -> None:
    """With a button for the next rows, where there are `more` and this is the newest."""

    async def open_number(number: int) -> None:
        cited = next((each for each in reply.citations if each.number == number), None)
        if cited is not None:
            await open_citation(cited)

    with_numbers(reply.answer, (), open_number)
    if reply.contradictions:
        with ui.element("div").classes("tw-banner tw-weak").props("role=note"), ui.element("div").classes("tw-grow"):
            paragraph(f"{translate('ask', 'the documents contradict each other', reply.language)}:", "tw-strong")
            for each in reply.contradictions:
                with_numbers(each, (), open_number)
    with row():
        chip(translate("ask", reply.completeness, reply.language), SURE[reply.completeness])
        if reply.ledger is not None:
            ledger = reply.ledger.text(reply.language)
            paragraph(f"{ledger[:1].upper()}{ledger[1:]}.", "tw-small")
    for note in (reply.reason, *reply.relaxed, reply.clarification):
        if note not in ("", reply.answer):
            quiet(note)
    if reply.form is not None:
        with row():
            part = t("Understood so far: {form}.", form=reply.form)
            quiet(part if reply.route == "passages" else t("Query: {form}.", form=reply.form))
            ui.link(t("Change the conditions"), f"/lookup?where={quote(reply.form.where)}")
    if reply.rows:
        paged = any(each.page for each in reply.rows)
        grid(
            [t("Source"), t("Document"), *([t("Page")] if paged else []), *reply.columns],
            [reply_line(each, open_number, paged=paged) for each in reply.rows],
            t("Matches"),
        ).classes("tw-tall")
    else:
        for cited in reply.citations:
            page = f", {t('page {page}', page=cited.page)}" if cited.page else ""
            with row().classes("no-wrap items-start"):
                number_button(cited.number, open_number)
                paragraph(f"{cited.title}{page}: “{' '.join(cited.quote.split())[:300]}”", "tw-small")
    with row():
        if reply.more and more is not None:
            ui.button(t("Show {more} more", more=reply.more), on_click=more).props("flat dense")
        if reply.result_id:
            ui.button(t("Export as CSV"), icon="download", on_click=lambda: export(reply)).props("flat dense")
    if reply.attempts or (reply.ledger and reply.ledger.undecided):
        with ui.expansion(t("How it was found")).props("dense"):
            how(reply)


def reply_line(line: ReplyRow, open_number: Any, *, paged: bool) -> list[Shown]:
    def source() -> None:
        if line.source:
            number_button(line.source, open_number)

    return [source, line.title, *([str(line.page or "")] if paged else []), *line.values]


def how(reply: Reply) -> None:
    quiet(f"{reply.route}: {reply.route_reason}" if reply.route_reason else reply.route)
    for tried in reply.attempts:
        bound = f", {tried.threshold}" if tried.threshold else ""
        note = f"; {tried.note}" if tried.note else ""
        quiet(f"{tried.tool}({tried.asked}): {many(tried.matches, 'match')}{bound}{note}")
    for thing, why in reply.ledger.undecided if reply.ledger else ():
        quiet(t("Undecided: {thing}: {why}", thing=thing, why=why))


async def export(reply: Reply) -> None:
    services = (await visit_now()).services
    await download(lambda path: services.export_result(reply.result_id, path), "answer.csv")
