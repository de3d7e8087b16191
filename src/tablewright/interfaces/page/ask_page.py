"""Questions about documents: in the person's own words, with cited answers, or as conditions, without a model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from urllib.parse import quote

import msgspec
from nicegui import context, events, ui

from tablewright.domain.condition import CONDITION_OPERATORS, UNARY_OPERATORS, Condition, split_condition_values
from tablewright.domain.documents import Aggregate
from tablewright.domain.model import column_key
from tablewright.domain.reply import TEXT_COLUMN, Form, KnownGroup, Reply, make_lookup_form
from tablewright.domain.text import pluralize_noun, shorten_text
from tablewright.errors import UsageError
from tablewright.interfaces.page.citations import citation_button, open_citation, show_cited_text
from tablewright.interfaces.page.elements import (
    GridContent,
    conversation_log,
    display_text,
    flex_row,
    format_page_time,
    icon_button,
    message_form,
    page_card,
    request_limit,
    show_busy,
    show_chip,
    show_paragraph,
    show_problem,
    show_remark,
    show_table_grid,
    titled_card,
    titled_page,
)
from tablewright.interfaces.page.frame import answer_missing, current_visit, empty_state, visit_now
from tablewright.interfaces.page.live import (
    PageTask,
    ServerMemory,
    download_file,
    focus_message_field,
    page_tasks,
    scroll_to_newest,
)
from tablewright.interfaces.page.sharing import can_share, share_button
from tablewright.interfaces.page.words import counted_text, t, translate_choices
from tablewright.interfaces.server.context import Visit
from tablewright.messages.catalogue import PageText, translate
from tablewright.operations.ask import (
    AskDocuments,
    ConversationRequest,
    ExportResult,
    ask_documents,
    export_result,
    get_conversation,
    list_conversations,
    query_documents,
)
from tablewright.operations.documents import list_document_tables
from tablewright.operations.operation import ListRequest, NoInput


@dataclass(eq=False)
class AskSession:
    """A conversation as the page shows it; the database has the sources of the answers."""

    replies: list[Reply] = field(default_factory=list)
    earlier: tuple[tuple[str, str], ...] = ()
    """Stored questions and answers before these: their words only."""
    asked: str = ""
    """The question that is being answered, or whose answer failed."""
    answering: PageTask | None = None
    is_awaited: bool = False
    """True until a page has shown the answer to the first question."""

    @property
    def is_busy(self) -> bool:
        return self.answering is not None and not self.answering.ended


# Conversations whose answers a reload of the page still shows.
_talks = ServerMemory(AskSession, most=200)
# By person: their last question that has no conversation yet.
_begun = ServerMemory(AskSession, most=200)


def get_ask_session(seen: Visit, conversation: str) -> AskSession:
    """Return a conversation; without an id, the one whose first answer the person has not seen, or a new one."""
    if conversation:
        return _talks.of(seen, conversation)
    begun = _begun.of(seen, seen.person.id)
    # A reload before the first answer finds the same conversation again.
    return begun if begun.is_awaited else _begun.put(seen, seen.person.id, AskSession())


def show_document_tabs(here: str) -> None:
    with ui.element("nav").classes("tw-tabs").props(f'aria-label="{t("Documents and questions")}"'):
        for name, path in ((t("All documents"), "/documents"), (t("Look up"), "/lookup"), (t("Ask"), "/ask")):
            tab = ui.link(name, path).classes("tw-tab" + (" tw-here" if path == here else ""))
            if path == here:
                tab.props("aria-current=page")


@ui.page("/ask", title="Ask your documents · Tablewright")
@answer_missing
async def ask_page(conversation: str = "") -> None:
    seen = current_visit()
    if conversation:
        stored = await get_conversation(seen.services, ConversationRequest(conversation=conversation))
        talk = get_ask_session(seen, conversation)
        if not (talk.replies or talk.earlier or talk.is_busy):
            # After a restart of the server only the words are left; they are shown without sources.
            talk.earlier = tuple((turn.question, turn.answer) for turn in stored.turns)
    with titled_page(t("Ask your documents"), here="/documents"):
        show_document_tabs("/ask")
        if not await seen.services.store.documents.all(readable=True):
            with empty_state(t("No documents to ask about yet"), "question_answer"):
                ui.label(t("Add documents first, then ask about them."))
                ui.link(t("Add documents"), "/documents")
            return
        if not seen.person.may_change:
            show_remark(t("You can view, but not ask: answers can cost money. Ask an admin to make you an editor."))
            return
        if conversation and await can_share():
            share_button("conversation", conversation)
        ConversationView(seen, conversation).show()
        # The newest; older conversations are reached by their links.
        found = (await list_conversations(seen.services, ListRequest(limit=20))).conversations
        if found and not conversation:
            with titled_card(t("Earlier conversations")):
                for each in found:
                    with flex_row():
                        ui.link(display_text(shorten_text(each.title, 120)), f"/ask?conversation={each.conversation}")
                        show_remark(format_page_time(each.started_at))


class ConversationView:
    """One open page of a conversation."""

    def __init__(self, seen: Visit, conversation: str) -> None:
        self.id = conversation
        self.talk = get_ask_session(seen, conversation)
        self.was_busy = self.talk.is_busy

    def show(self) -> None:
        self.turns = ui.refreshable(self.show_turns)
        with conversation_log():
            self.turns()
        with ui.element("div") as self.line:
            message_form(t("Your question"), t("Ask"), self.ask, most=request_limit(AskDocuments, "question"))
        with flex_row():
            ui.link(t("New conversation"), "/ask")
        self.settle()
        ui.timer(0.5, self.look)

    def show_turns(self) -> None:
        examples: PageText[tuple[str, ...]] = (
            "How many documents are there?",
            "List all receipts with their totals",
            "What do the manuals say about safety?",
        )
        talk = self.talk
        for question, answer in talk.earlier:
            show_paragraph(question, "tw-mine")
            with page_card(t("Earlier answer")).classes("tw-theirs"):
                show_paragraph(answer)
        if not (self.id or talk.replies or talk.asked):
            with flex_row():
                show_remark(t("For example:"))
                for example in map(t, examples):
                    ui.button(example, on_click=lambda words=example: self.ask(words)).props("outline dense no-caps")
        for reply in talk.replies:
            show_paragraph(reply.question, "tw-mine")
            with page_card(t("Answer")).classes("tw-theirs"):
                show_ask_reply(reply, self.more if reply is talk.replies[-1] else None)
        if talk.asked:
            show_paragraph(talk.asked, "tw-mine")
        if talk.is_busy:
            show_busy(t("Searching the documents …"))
        elif talk.answering is not None and talk.answering.problem:
            with show_problem(talk.answering.problem):
                ui.button(t("Ask again"), on_click=lambda: self.ask(talk.asked)).props("outline")

    async def ask(self, words: str) -> None:
        await self.begin(words, AskDocuments(question=words))

    async def more(self) -> None:
        """Show the next rows of the last list, without a model."""
        await self.begin(t("Show more"), AskDocuments(rest=True))

    async def begin(self, words: str, request: AskDocuments) -> None:
        """Start an answer, which arrives even if the page is closed."""
        now = await visit_now("run")
        talk, request = self.talk, msgspec.structs.replace(request, conversation=self.id)
        if talk.is_busy:
            raise UsageError(
                t("“{words}” was not asked: the last question is still being answered.", words=shorten_text(words, 80)),
                advice=t("Ask it once the answer has arrived."),
            )

        async def answer(_: PageTask) -> None:
            reply = await ask_documents(now.services, request)
            talk.replies.append(reply)
            talk.asked = ""
            # The id is known only with the first answer.
            _talks.put(now, reply.conversation, talk)

        talk.asked, talk.is_awaited = words, not request.conversation
        talk.answering = page_tasks(now).begin(f"ask {id(talk)}", "Looking", answer)
        self.look()

    def look(self) -> None:
        """Show news, also of another page of the same conversation. Typed text stays in the line, which is hidden while
        nothing can be sent."""
        if self.was_busy != self.talk.is_busy:
            self.was_busy = self.talk.is_busy
            self.turns.refresh()
            self.settle()
            if not self.was_busy:
                scroll_to_newest()
                focus_message_field()
        # A page that the browser has left does not count as having shown the answer.
        if not self.was_busy and context.client.has_socket_connection:
            self.talk.is_awaited = False

    def settle(self) -> None:
        self.line.set_visibility(not self.talk.is_busy)
        if self.talk.replies and not (self.id or self.talk.is_busy):
            self.id = self.talk.replies[-1].conversation
            # The address leads back to this conversation without a new entry in the browser's history.
            ui.navigate.history.replace(f"/ask?conversation={self.id}")


# ── an answer ────────────────────────────────────────────────────────────────────────────────────────────────────────


def show_ask_reply(reply: Reply, more: Callable[[], Awaitable[None]] | None) -> None:
    """Show a reply; `more` is for the newest, whose next rows can be shown."""

    looks = {"exact": "high", "approximate": "medium", "incomplete": "low"}

    async def open_number(number: int) -> None:
        cited = next((each for each in reply.citations if each.number == number), None)
        if cited is not None:
            await open_citation(cited)

    show_cited_text(reply.answer, (), open_number)
    if reply.contradictions:
        with ui.element("div").classes("tw-banner tw-weak").props("role=note"), ui.element("div").classes("tw-grow"):
            show_paragraph(f"{translate('ask', 'the documents contradict each other', reply.language)}:", "tw-strong")
            for each in reply.contradictions:
                show_cited_text(each, (), open_number)
    with flex_row():
        show_chip(translate("ask", reply.completeness, reply.language), looks[reply.completeness])
        if reply.ledger is not None:
            ledger = reply.ledger.text(reply.language)
            show_paragraph(f"{ledger[:1].upper()}{ledger[1:]}.", "tw-small")
    # A clarification can be the answer itself; it is not shown twice.
    for note in (reply.reason, *reply.outages, *reply.relaxed, reply.clarification):
        if note not in ("", reply.answer):
            show_remark(note)
    if reply.form is not None:
        with flex_row():
            part = t("Understood so far: {form}.", form=reply.form)
            show_remark(part if reply.route == "passages" else t("Query: {form}.", form=reply.form))
            ui.link(t("Change the conditions"), f"/lookup?where={quote(reply.form.where)}")
    if reply.rows and not reply.is_listed:
        paged = any(each.page for each in reply.rows)
        columns = [t("Source"), t("Document"), *([t("Page")] if paged else []), *reply.columns]
        lines: list[list[GridContent]] = []
        for row in reply.rows:
            source = partial(citation_button, row.source, open_number) if row.source else ""
            lines.append([source, row.title, *([str(row.page or "")] if paged else []), *row.values])
        show_table_grid(columns, lines, t("Matches")).classes("tw-tall")
    else:
        for cited in reply.citations:
            page = f", {t('page {page}', page=cited.page)}" if cited.page else ""
            with flex_row().classes("no-wrap items-start"):
                citation_button(cited.number, open_number)
                answering = shorten_text(" ".join((cited.highlight or cited.quote).split()), 400)
                show_paragraph(f"{cited.title}{page}: “{answering}”", "tw-small")
    with flex_row():
        if reply.more and more is not None:
            ui.button(t("Show {more} more", more=reply.more), on_click=more).props("flat dense")
        if reply.result_id:
            export = partial(download_result, reply.result_id, "answer.csv")
            ui.button(t("Export as CSV"), icon="download", on_click=export).props("flat dense")
    if reply.attempts or (reply.ledger and reply.ledger.undecided):
        with ui.expansion(t("How it was found")).props("dense"):
            show_how_found(reply)


def show_how_found(reply: Reply) -> None:
    show_remark(f"{reply.route}: {reply.route_reason}" if reply.route_reason else reply.route)
    for tried in reply.attempts:
        bound = f", {tried.threshold}" if tried.threshold else ""
        note = f"; {tried.note}" if tried.note else ""
        show_remark(f"{tried.tool}({tried.asked}): {counted_text(tried.matches, 'match')}{bound}{note}")
    for thing, why in reply.ledger.undecided if reply.ledger else ():
        show_remark(t("Undecided: {thing}: {why}", thing=thing, why=why))


async def download_result(result_id: str, name: str) -> None:
    services = (await visit_now()).services
    await download_file(lambda path: export_result(services, ExportResult(result=result_id), path=path), name)


# ── look up by conditions ───────────────────────────────────────────────────────────────────────────────────────────


@dataclass(kw_only=True)
class ConditionLine:
    """A line of the form, which becomes a condition once it is filled in."""

    column: str = ""
    operator: str = "="
    value: str = ""

    def condition(self) -> Condition | None:
        if not self.column:
            return None
        values = () if self.operator in UNARY_OPERATORS else split_condition_values(self.value, self.operator)
        return Condition(column=self.column, operator=self.operator, values=values)


@ui.page("/lookup", title="Look up documents · Tablewright")
@answer_missing
async def lookup_page(where: str = "") -> None:
    seen = current_visit()
    with titled_page(t("Look up documents"), here="/documents"):
        show_document_tabs("/lookup")
        if not await seen.services.store.documents.all(readable=True):
            with empty_state(t("Nothing to look up yet"), "search"):
                ui.link(t("Add documents"), "/documents")
            return
        groups = (await list_document_tables(seen.services, NoInput())).tables
        if seen.person.may_change:
            LookupForm(groups, where).show()
        with titled_card(t("Kinds and tables")):
            show_remark(
                t(
                    "Each kind has a table with what was read from its documents. Correct a wrong kind on the page "
                    "of the document."
                )
            )
            columns = [t("What"), t("How many"), t("Columns"), t("Table")]
            show_table_grid(columns, [kind_grid_line(each) for each in groups], t("Kinds and tables"))


class LookupForm:
    """A form over the known kinds and columns, and the answers to it. `where` are conditions to begin with, such as
    those of a question that was understood."""

    def __init__(self, groups: Sequence[KnownGroup], where: str) -> None:
        form = make_lookup_form(where)
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
        return {column.name: display_text(column.name, 60) for group in self.chosen for column in group.columns}

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
        show_remark(t("Every condition is applied exactly as written to all documents of this kind. No model is used."))
        self.fields = ui.refreshable(self.show_fields)
        self.answer = ui.refreshable(self.show_answer)
        with page_card(t("Conditions")):
            self.fields()
            with flex_row():
                ui.button(t("Look up"), icon="search", on_click=self.look_up).props("unelevated")
        with ui.element("div").props("aria-live=polite"):
            self.answer()

    def show_fields(self) -> None:
        """Show the form, without columns that the chosen kind does not have."""
        figures: PageText[dict[Aggregate, str]] = {
            "": "A list",
            "count": "How many",
            "sum": "Sum of",
            "average": "Average of",
            "min": "Smallest",
            "max": "Largest",
        }
        columns = self.columns
        # Names of columns are compared without case and spaces, as in conditions.
        named = {column_key(name): name for name in ("", TEXT_COLUMN, *columns)}
        self.further = [name for name in self.further if name in columns]
        self.of, self.by, self.sort = (name if name in columns else "" for name in (self.of, self.by, self.sort))
        with flex_row().classes("tw-fields"):
            kinds = {each.name: group_name(each) for each in self.groups}
            self.choice(t("Kind"), {"": t("All documents"), **kinds}, "group")
        for line in self.lines:
            line.column = named.get(column_key(line.column), "")
            self.show_line(line, {"": "", TEXT_COLUMN: t("Full text"), **columns})
        with flex_row():
            add = partial(self.change_lines, self.lines.append)
            ui.button(t("Add a condition"), icon="add", on_click=lambda: add(ConditionLine())).props("flat dense")
        with flex_row().classes("tw-fields"):
            self.choice(t("Result"), translate_choices(figures), "figure")
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
        comparisons: PageText[dict[str, str]] = {
            **CONDITION_OPERATORS,
            "known": "is stated",
            "unknown": "is not stated",
        }
        with flex_row().classes("tw-fields") as shown:
            shown.props["aria-label"] = t("Condition")
            ui.select(columns, label=t("Column")).classes("tw-grow").bind_value(line, "column")
            ui.select(translate_choices(comparisons), label=t("Comparison")).bind_value(line, "operator")
            ui.input(t("Value")).classes("tw-grow").bind_value(line, "value")
            icon_button("close", t("Remove the condition"), lambda: self.change_lines(self.lines.remove, line))

    def choice(self, label: str, options: Mapping[Any, str], name: str) -> None:
        """Show a field that others depend on."""

        def chosen(event: events.ValueChangeEventArguments[Any]) -> None:
            setattr(self, name, event.value)
            self.fields.refresh()

        ui.select(dict(options), label=label, value=getattr(self, name), on_change=chosen)

    def change_lines(self, change: Callable[[ConditionLine], object], line: ConditionLine) -> None:
        change(line)
        self.fields.refresh()

    async def look_up(self) -> None:
        now = await visit_now("run")
        known = self.replies[-1].conversation if self.replies else ""
        self.replies = [await query_documents(now.services, self.form(), known)]
        self.answer.refresh()

    async def more(self) -> None:
        now = await visit_now("run")
        request = AskDocuments(rest=True, conversation=self.replies[-1].conversation)
        self.replies.append(await ask_documents(now.services, request))
        self.answer.refresh()

    def show_answer(self) -> None:
        for number, reply in enumerate(self.replies, start=1):
            with page_card(t("Result")):
                show_ask_reply(reply, self.more if number == len(self.replies) else None)


# ── the tables of kinds ──────────────────────────────────────────────────────────────────────────────────────────────


def kind_grid_line(group: KnownGroup) -> list[GridContent]:
    # Kinds of long documents have a hundred columns; the export has them all.
    most_named = 12

    def open_or_export() -> None:
        with flex_row():
            if group.table_id:
                ui.link(t("Open table"), f"/tables/{group.table_id}")
            ui.button(t("Export"), icon="download", on_click=partial(export_group, group)).props("flat dense")

    listed = ", ".join(map(str, group.columns[:most_named]))
    more = len(group.columns) - most_named
    return [
        group_name(group),
        counted_text(group.members, "row" if group.is_table else "document")
        + (t(", {count} by title", count=group.from_titles) if group.from_titles else ""),
        t("{listed} and {more} more", listed=listed, more=more) if more > 0 else listed,
        open_or_export,
    ]


def group_name(group: KnownGroup) -> str:
    if not group.is_table:
        return display_text(pluralize_noun(group.name, 2), 60)
    return display_text(t("{name}: rows of {examples}", name=group.name, examples=", ".join(group.examples)), 80)


async def export_group(group: KnownGroup) -> None:
    """Export all members of a kind with all their columns."""
    services = (await visit_now("run")).services
    kind, table = ("", group.name) if group.is_table else (group.name, "")
    form = Form(kind=kind, table=table, show=tuple(each.name for each in group.columns))
    await download_result((await query_documents(services, form)).result_id, f"{group.name}.csv")
