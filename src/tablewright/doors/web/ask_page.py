"""Questions about your documents: in your own words, with cited answers, or as conditions, which ask no model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import msgspec
from nicegui import context, events, ui

from tablewright.domain.condition import OPERATORS, UNARY, Condition, split_values
from tablewright.domain.corpus import Aggregate
from tablewright.domain.form import TEXT, Form, KnownGroup, form_of
from tablewright.domain.model import column_key
from tablewright.domain.reply import Reply, ReplyRow
from tablewright.domain.text import plural, shortened
from tablewright.doors.server.context import Visit
from tablewright.doors.web.citations import number_button, open_citation, with_numbers
from tablewright.doors.web.elements import (
    Shown,
    busy,
    card,
    chip,
    conversation_log,
    grid,
    icon_button,
    journey,
    limit_of,
    paragraph,
    problem_card,
    quiet,
    row,
    safe,
    saying,
    titled_card,
    when,
)
from tablewright.doors.web.frame import empty_state, or_missing, visit, visit_now, visit_to_run
from tablewright.doors.web.live import ServerMemory, Undertaking, download, to_the_line, to_the_newest, undertakings
from tablewright.doors.web.sharing import may_share, share_button
from tablewright.doors.web.words import many, t, translated
from tablewright.errors import UsageError
from tablewright.messages.catalogue import PageText, translate
from tablewright.operations.ask import (
    AskDocuments,
    ConversationRequest,
    ExportResult,
    ListConversations,
    ask_documents,
    export_result,
    get_conversation,
    list_conversations,
    query_documents,
)
from tablewright.operations.documents import ListDocumentGroups, list_document_tables

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
    """A conversation as the page shows it; the database has what the answers are based on."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.earlier: tuple[tuple[str, str], ...] = ()
        """Stored questions and answers before these: their words only."""
        self.asked = ""
        """The question that is being answered, or whose answer failed."""
        self.answering: Undertaking | None = None
        self.is_awaited = False
        """True until a page has shown the answer to the first question."""

    @property
    def is_busy(self) -> bool:
        return self.answering is not None and not self.answering.ended

    @property
    def problem(self) -> str:
        return self.answering.problem if self.answering is not None else ""


_talks = ServerMemory(AskSession, most=REMEMBERED)
_begun = ServerMemory(AskSession, most=REMEMBERED)
"""By person: their last question that has no conversation yet."""


def talk_of(seen: Visit, conversation: str) -> AskSession:
    """Return a conversation; without an id, the one whose first answer the person has not seen, or a new one."""
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
        stored = await get_conversation(seen.services, ConversationRequest(conversation=conversation))
        talk = talk_of(seen, conversation)
        if not (talk.replies or talk.earlier or talk.is_busy):
            talk.earlier = tuple((turn.question, turn.answer) for turn in stored.turns)
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
        found = (await list_conversations(seen.services, ListConversations(limit=LISTED))).conversations
        if found and not conversation:
            with titled_card(t("Earlier conversations")):
                for each in found:
                    with row():
                        ui.link(safe(shortened(each.title, 120)), f"/ask?conversation={each.conversation}")
                        quiet(when(each.started_at))


class ConversationView:
    """One open page of a conversation."""

    def __init__(self, seen: Visit, conversation: str) -> None:
        self.id = conversation
        self.talk = talk_of(seen, conversation)
        self.was_busy = self.talk.is_busy

    def show(self) -> None:
        self.turns = ui.refreshable(self.show_turns)
        with conversation_log():
            self.turns()
        with ui.element("div") as self.line:
            saying(t("Your question"), t("Ask"), self.ask, most=limit_of(AskDocuments, "question"))
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
            busy(t("Searching the documents …"))
        elif talk.problem:
            with problem_card(talk.problem):
                ui.button(t("Ask again"), on_click=lambda: self.ask(talk.asked)).props("outline")

    async def ask(self, words: str) -> None:
        await self.begin(words, AskDocuments(question=words))

    async def more(self) -> None:
        """Show the next rows of the last list, without a model."""
        await self.begin(t("Show more"), AskDocuments(rest=True))

    async def begin(self, words: str, request: AskDocuments) -> None:
        """Start an answer, which arrives even if the page is closed."""
        now = await visit_to_run()
        talk, request = self.talk, msgspec.structs.replace(request, conversation=self.id)
        if talk.is_busy:
            raise UsageError(
                t("“{words}” was not asked: the last question is still being answered.", words=shortened(words, 80)),
                advice=t("Ask it once the answer has arrived."),
            )

        async def answer(_: Undertaking) -> None:
            reply = await ask_documents(now.services, request)
            talk.replies.append(reply)
            talk.asked = ""
            _talks.put(now, reply.conversation, talk)

        talk.asked, talk.is_awaited = words, not request.conversation
        talk.answering = undertakings(now).begin(f"ask {id(talk)}", "Looking", answer)
        self.look()

    def look(self) -> None:
        """Show news, also of another page of the same conversation. Typed text stays in the line, which is hidden while
        nothing can be sent."""
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
    """Show a reply; `more` is for the newest, whose next rows can be shown."""

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
    request = ExportResult(result=reply.result_id)
    await download(lambda path: export_result(services, request, path=path), "answer.csv")


# ── look up by conditions ───────────────────────────────────────────────────────────────────────────────────────────


COMPARISONS: PageText[dict[str, str]] = {**OPERATORS, "known": "is stated", "unknown": "is not stated"}
FIGURES: PageText[dict[Aggregate, str]] = {
    "": "A list", "count": "How many", "sum": "Sum of", "average": "Average of", "min": "Smallest", "max": "Largest",
}  # fmt: skip
SHOWN = 12
"""Columns that the list of kinds names."""


@dataclass(kw_only=True)
class ConditionLine:
    """A condition, as far as it is filled in."""

    column: str = ""
    operator: str = "="
    value: str = ""

    def condition(self) -> Condition | None:
        if not self.column:
            return None
        values = () if self.operator in UNARY else split_values(self.value, self.operator)
        return Condition(column=self.column, operator=self.operator, values=values)


@ui.page("/lookup", title="Look up documents · Tablewright")
@or_missing
async def lookup_page(where: str = "") -> None:
    seen = visit()
    with journey(t("Look up documents"), here="/documents"):
        tabs("/lookup")
        if not await seen.services.store.documents.all(readable=True):
            with empty_state(t("Nothing to look up yet"), "search"):
                ui.link(t("Add documents"), "/documents")
            return
        groups = (await list_document_tables(seen.services, ListDocumentGroups())).tables
        if seen.person.may_change:
            LookUp(groups, where).show()
        kinds(groups)


class LookUp:
    """A form over the known kinds and columns, and the answers to it. `where` are conditions to begin with, such as
    those of a question that was understood."""

    def __init__(self, groups: Sequence[KnownGroup], where: str) -> None:
        form = form_of(where)
        self.groups = groups
        named = {group.name.casefold(): group.name for group in groups}
        self.group = named.get((form.kind or form.table).casefold(), "")
        self.lines = [
            ConditionLine(column=each.column, operator=each.operator, value=each.written_values)
            for each in form.conditions
        ] or [ConditionLine()]
        self.figure: Aggregate = ""
        self.of = self.by = self.sort = ""
        self.descending = False
        self.further: list[str] = []
        self.replies: list[Reply] = []

    @property
    def chosen(self) -> list[KnownGroup]:
        return [each for each in self.groups if each.name == self.group or not (self.group or each.is_table)]

    @property
    def columns(self) -> dict[str, str]:
        return {column.name: safe(column.name, 60) for group in self.chosen for column in group.columns}

    def form(self) -> Form:
        is_table = any(each.is_table for each in self.chosen if self.group)
        return Form(
            kind="" if is_table else self.group,
            table=self.group if is_table else "",
            conditions=tuple(each for line in self.lines if (each := line.condition())),
            aggregate=self.figure,
            of=self.of if self.figure not in ("", "count") else "",
            group_by=self.by if self.figure else "",
            order_by=self.sort,
            descending=self.descending,
            show=tuple(self.further),
        )

    def show(self) -> None:
        quiet(t("Every condition is applied exactly as written to all documents of this kind. No model is used."))
        self.fields = ui.refreshable(self.show_fields)
        self.answer = ui.refreshable(self.show_answer)
        with card(t("Conditions")):
            self.fields()
            with row():
                ui.button(t("Look up"), icon="search", on_click=self.look_up).props("unelevated")
        with ui.element("div").props("aria-live=polite"):
            self.answer()

    def show_fields(self) -> None:
        """Show the form, without columns that the chosen kind does not have."""
        columns = self.columns
        named = {column_key(name): name for name in ("", TEXT, *columns)}
        self.further = [name for name in self.further if name in columns]
        self.of, self.by, self.sort = (name if name in columns else "" for name in (self.of, self.by, self.sort))
        with row().classes("tw-fields"):
            kinds = {each.name: group_name(each) for each in self.groups}
            self.choice(t("Kind"), {"": t("All documents"), **kinds}, "group")
        for line in self.lines:
            line.column = named.get(column_key(line.column), "")
            self.show_line(line, {"": "", TEXT: t("Full text"), **columns})
        with row():
            ui.button(t("Add a condition"), icon="add", on_click=self.add_line).props("flat dense")
        with row().classes("tw-fields"):
            self.choice(t("Result"), translated(FIGURES), "figure")
            if self.figure not in ("", "count"):
                ui.select({"": "", **columns}, label=t("Of column")).bind_value(self, "of")
            if self.figure:
                ui.select({"": t("None"), **columns}, label=t("Group by")).bind_value(self, "by")
            else:
                ui.select({"": t("Unsorted"), **columns}, label=t("Sorted by")).bind_value(self, "sort")
                ui.checkbox(t("Largest first")).bind_value(self, "descending")
                further = ui.select(columns, label=t("Further columns"), multiple=True).props("use-chips")
                further.classes("tw-grow").bind_value(self, "further")

    def show_line(self, line: ConditionLine, columns: dict[str, str]) -> None:
        with row().classes("tw-fields") as shown:
            shown.props["aria-label"] = t("Condition")
            ui.select(columns, label=t("Column")).classes("tw-grow").bind_value(line, "column")
            ui.select(translated(COMPARISONS), label=t("Comparison")).bind_value(line, "operator")
            ui.input(t("Value")).classes("tw-grow").bind_value(line, "value")
            icon_button("close", t("Remove the condition"), lambda: self.remove_line(line))

    def choice(self, label: str, options: Mapping[Any, str], name: str) -> None:
        """Show a field that others depend on."""

        def chosen(event: events.ValueChangeEventArguments[Any]) -> None:
            setattr(self, name, event.value)
            self.fields.refresh()

        ui.select(dict(options), label=label, value=getattr(self, name), on_change=chosen)

    def add_line(self) -> None:
        self.lines.append(ConditionLine())
        self.fields.refresh()

    def remove_line(self, line: ConditionLine) -> None:
        self.lines.remove(line)
        self.fields.refresh()

    async def look_up(self) -> None:
        now = await visit_to_run()
        known = self.replies[-1].conversation if self.replies else ""
        self.replies = [await query_documents(now.services, self.form(), known)]
        self.answer.refresh()

    async def more(self) -> None:
        now = await visit_to_run()
        request = AskDocuments(rest=True, conversation=self.replies[-1].conversation)
        self.replies.append(await ask_documents(now.services, request))
        self.answer.refresh()

    def show_answer(self) -> None:
        for number, reply in enumerate(self.replies, start=1):
            with card(t("Result")):
                show_reply(reply, self.more if number == len(self.replies) else None)


# ── the tables of kinds ──────────────────────────────────────────────────────────────────────────────────────────────


def kinds(groups: Sequence[KnownGroup]) -> None:
    with titled_card(t("Kinds and tables")):
        quiet(
            t(
                "Each kind has a table with what was read from its documents. Correct a wrong kind on the page "
                "of the document."
            )
        )
        grid(
            [t("What"), t("How many"), t("Columns"), t("Table")],
            [kind_line(each) for each in groups],
            t("Kinds and tables"),
        )


def kind_line(group: KnownGroup) -> list[Shown]:
    def open_or_export() -> None:
        with row():
            if group.table_id:
                ui.link(t("Open table"), f"/tables/{group.table_id}")
            ui.button(t("Export"), icon="download", on_click=export_of(group)).props("flat dense")

    listed = ", ".join(map(str, group.columns[:SHOWN]))
    more = len(group.columns) - SHOWN
    return [
        group_name(group),
        many(group.members, "row" if group.is_table else "document")
        + (t(", {count} by title", count=group.from_titles) if group.from_titles else ""),
        t("{listed} and {more} more", listed=listed, more=more) if more > 0 else listed,
        open_or_export,
    ]


def group_name(group: KnownGroup) -> str:
    if not group.is_table:
        return safe(plural(group.name, 2), 60)
    return safe(t("{name}: rows of {examples}", name=group.name, examples=", ".join(group.examples)), 80)


def export_of(group: KnownGroup) -> Callable[[], object]:
    """Return the action that exports all members of a kind with all their columns."""

    async def export() -> None:
        services = (await visit_to_run()).services
        kind, table = ("", group.name) if group.is_table else (group.name, "")
        form = Form(kind=kind, table=table, show=tuple(each.name for each in group.columns))
        request = ExportResult(result=(await query_documents(services, form)).result_id)
        await download(lambda path: export_result(services, request, path=path), f"{group.name}.csv")

    return export
