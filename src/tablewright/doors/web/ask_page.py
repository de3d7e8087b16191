"""Questions about your documents: answers that cite, say what they do not know, and can be followed up."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any
from weakref import WeakKeyDictionary

from nicegui import ui

from tablewright.doors.server.context import Visit
from tablewright.doors.web.citations import number_button, open_citation, with_numbers
from tablewright.doors.web.frame import empty_state, visit, visit_now, visit_to_change
from tablewright.doors.web.live import Undertaking, download, to_the_newest, undertakings
from tablewright.doors.web.plain import Shown, card, chip, grid, journey, many, quiet, row, said, saying
from tablewright.errors import TablewrightError
from tablewright.table.reply import Reply, ReplyRow

REMEMBERED = 200
"""Conversations whose answers a reload of the page still shows."""
SURE = {"exact": "high", "approximate": "medium", "incomplete": "low"}
TRY = ("How many documents are there?", "List all receipts with their totals", "What do the manuals say about safety?")


class Talk:
    """A conversation as far as the page shows it; what the answers rest on is in the database."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.asked = ""
        """The question that is being answered."""
        self.problem = ""


_talks: WeakKeyDictionary[Any, OrderedDict[str, Talk]] = WeakKeyDictionary()


def talk_of(seen: Visit, conversation: str) -> Talk:
    talks = _talks.setdefault(seen.tablewright.jobs, OrderedDict())
    return talks.setdefault(conversation, Talk()) if conversation else Talk()


def keep_talk(seen: Visit, conversation: str, talk: Talk) -> None:
    talks = _talks.setdefault(seen.tablewright.jobs, OrderedDict())
    talks[conversation] = talk
    while len(talks) > REMEMBERED:
        talks.popitem(last=False)


def tabs(here: str) -> None:
    with ui.element("nav").classes("tw-tabs").props('aria-label="Documents and questions"'):
        for name, path in (("All documents", "/documents"), ("Ask", "/ask")):
            tab = ui.link(name, path).classes("tw-tab" + (" tw-here" if path == here else ""))
            if path == here:
                tab.props("aria-current=page")


@ui.page("/ask", title="Ask your documents · Tablewright")
async def ask_page(conversation: str = "") -> None:
    seen = visit()
    with journey("Ask your documents", here="/documents"):
        tabs("/ask")
        if not await seen.tablewright.documents(readable=True):
            with empty_state("There is nothing to ask yet", "question_answer"):
                ui.label("Add documents first; then ask what stands in them.")
                ui.link("Add documents", "/documents")
            return
        if not seen.person.may_change:
            quiet("You may look, but not ask: answers can cost money. Ask an admin for the role of an editor.")
            return
        Conversation(seen, conversation).show()


class Conversation:
    """One open page of it."""

    def __init__(self, seen: Visit, conversation: str) -> None:
        self.id = conversation
        self.talk = talk_of(seen, conversation)

    def show(self) -> None:
        self.turns = ui.refreshable(self.show_turns)
        with ui.element("div").classes("tw-talk").props('role=log aria-live=polite aria-label="Conversation"'):
            self.turns()
        saying("Your question", "Ask", self.ask)
        with row():
            ui.link("New conversation", "/ask")
        ui.timer(0.5, self.look)
        self.was_busy = bool(self.talk.asked)

    def show_turns(self) -> None:
        talk = self.talk
        if self.id and not (talk.replies or talk.asked):
            quiet("The conversation goes on; its earlier answers are not shown any more.")
        if not (self.id or talk.asked):
            with row():
                quiet("For example:")
                for example in TRY:
                    ui.button(example, on_click=lambda words=example: self.ask(words)).props("outline dense no-caps")
        for reply in talk.replies:
            said(reply.question, "tw-mine")
            with card("Answer").classes("tw-theirs"):
                show_reply(reply, self.ask)
        if talk.asked:
            said(talk.asked, "tw-mine")
            with row():
                ui.spinner("dots", size="2em").props('aria-hidden="true"')
                quiet("Looking through the documents …")
        if talk.problem:
            with card("Problem"):
                chip("That did not work", "failed")
                said(talk.problem)

    async def ask(self, words: str) -> None:
        """The answer comes even if nobody waits for it any more."""
        if self.talk.asked:
            return
        now = await visit_to_change()
        talk, conversation = self.talk, self.id
        talk.asked, talk.problem = words, ""

        async def answer(_: Undertaking) -> None:
            try:
                reply = await now.tablewright.ask(talk.asked, conversation=conversation)
                talk.replies.append(reply)
                keep_talk(now, reply.conversation, talk)
            except TablewrightError as error:
                talk.problem = str(error)
            finally:
                talk.asked = ""

        undertakings(now).begin(f"ask {id(talk)}", "Looking", answer)
        self.was_busy = True
        self.turns.refresh()

    def look(self) -> None:
        if self.was_busy and not self.talk.asked:
            self.was_busy = False
            if self.talk.replies:
                self.id = self.talk.replies[-1].conversation
                ui.navigate.history.replace(f"/ask?conversation={self.id}")
            self.turns.refresh()
            to_the_newest()


# ── an answer ────────────────────────────────────────────────────────────────────────────────────────────────────────


def show_reply(reply: Reply, ask: Any) -> None:
    async def open_number(number: int) -> None:
        cited = next((each for each in reply.citations if each.number == number), None)
        if cited is not None:
            await open_citation(cited)

    with_numbers(reply.answer, (), open_number)
    with row():
        chip(reply.completeness, SURE[reply.completeness])
        if reply.ledger is not None:
            said(f"{str(reply.ledger)[:1].upper()}{str(reply.ledger)[1:]}.", "tw-small")
    for note in (reply.reason, *reply.relaxed, reply.clarification):
        if note:
            quiet(note)
    if reply.rows:
        paged = any(each.page for each in reply.rows)
        grid(
            ["Source", "Document", *(["Page"] if paged else []), *reply.columns],
            [reply_line(each, open_number, paged=paged) for each in reply.rows],
            "What matches",
        ).classes("tw-tall")
    else:
        for cited in reply.citations:
            page = f", page {cited.page}" if cited.page else ""
            with row().classes("no-wrap items-start"):
                number_button(cited.number, open_number)
                said(f"{cited.title}{page}: “{' '.join(cited.quote.split())[:300]}”", "tw-small")
    with row():
        if reply.more:
            ui.button(f"Show {reply.more:,} more", on_click=lambda: ask("show the rest")).props("flat dense")
        if reply.result_id:
            ui.button("Export as CSV", icon="download", on_click=lambda: export(reply)).props("flat dense")
    if reply.attempts or (reply.ledger and reply.ledger.undecided):
        with ui.expansion("How it was found").props("dense"):
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
        quiet(f"Undecided: {thing}: {why}")


async def export(reply: Reply) -> None:
    tablewright = (await visit_now()).tablewright
    await download(lambda path: tablewright.export_result(reply.result_id, path), "answer.csv")
