"""The shortlist: a conversation with the advisor, next to the table that it fills."""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path

from nicegui import ui

from tablewright.domain.model import Step
from tablewright.domain.run import Progress
from tablewright.domain.shortlist import (
    Card,
    ChatReply,
    Phase,
    ReplySentence,
    ShopListing,
    ShortlistState,
    localize_column_name,
)
from tablewright.domain.text import shorten_text
from tablewright.errors import UsageError
from tablewright.interfaces.page.elements import (
    GridContent,
    conversation_log,
    display_text,
    flex_row,
    format_page_time,
    icon_button,
    inline_text,
    message_form,
    page_card,
    progress_bar,
    request_limit,
    show_chip,
    show_earlier_list,
    show_paragraph,
    show_problem,
    show_remark,
    show_table_grid,
    show_web_link,
    titled_page,
)
from tablewright.interfaces.page.frame import answer_missing, current_visit, note_page_table, show_heading, visit_now
from tablewright.interfaces.page.live import PageTask, ServerMemory, page_tasks, scroll_to_newest
from tablewright.interfaces.page.living_table import LivingTable
from tablewright.interfaces.page.sharing import can_share, share_button
from tablewright.interfaces.page.table.evidence_panel import open_cell_evidence
from tablewright.interfaces.page.words import page_language, t
from tablewright.interfaces.server.context import Visit
from tablewright.messages.catalogue import PageText, translate
from tablewright.operations.operation import NoInput
from tablewright.operations.shortlist import (
    GetShortlist,
    TakeTurn,
    get_shortlist,
    rank_shortlist,
    start_shortlist,
    take_turn,
)
from tablewright.values.shortlist_form import format_form_message

# By the name in the command that the form becomes: label and example.
FORM_FIELDS: PageText[dict[str, tuple[str, str]]] = {
    "product": ("Product", "electric kettle"),
    "budget": ("Budget, with currency", "50 GBP"),
    "must": ("Must have", "Capacity >= 1 l; Variable temperature = yes"),
    "nice": ("Nice to have", "Weight < 1.2 kg"),
    "avoid": ("Avoid", "Material contains plastic"),
    "region": ("Region", "UK"),
}


@ui.page("/shortlist", title="Shortlist · Tablewright")
async def shortlists_page() -> None:
    seen = current_visit()

    async def begin(words: str) -> None:
        now = await visit_now("run")
        state = await start_shortlist(now.services, NoInput())
        begin_turn(now, state.id, words)
        ui.navigate.to(f"/shortlist/{state.id}")

    with titled_page(t("Shortlist"), here="/shortlist"):
        if seen.person.may_change:
            with page_card(t("What to buy")):
                show_heading(t("What are you looking for?"))
                if seen.services.settings.model == "builtin":
                    show_requirements_form(begin)
                else:
                    message_form(
                        t("A product, and what matters to you"),
                        t("Start"),
                        begin,
                        placeholder=t("A kettle with variable temperature, under £50"),
                        most=request_limit(TakeTurn, "message"),
                    )
                    show_remark(
                        t(
                            "You confirm what was understood before the search starts, and again before products "
                            "are compared."
                        )
                    )
        show_earlier_list(
            t("Earlier conversations"),
            [t("Product"), t("Stage"), t("Started")],
            await seen.services.store.shortlists.all(),
            shortlist_line,
            nothing=(
                "checklist",
                t("No shortlist yet"),
                t(
                    "Say what you want to buy. You get a comparison table with a source for every value, the best five "
                    "with their trade-offs, and where to buy them."
                ),
            ),
        )


def show_requirements_form(begin: Callable[[str], Awaitable[None]]) -> None:
    """Show a form, because without a model a free text cannot be understood."""
    show_remark(
        t("No model is set, so wishes in free text are not understood. Fill in what matters and leave the rest empty.")
    )
    inputs = {name: ui.input(t(label), placeholder=example) for name, (label, example) in FORM_FIELDS.items()}

    async def search() -> None:
        filled = {name: str(each.value or "") for name, each in inputs.items()}
        if not filled["product"].strip():
            raise UsageError(t("Enter a product."), advice=t("Fill in what you are looking for."))
        await begin(format_form_message(filled))

    ui.button(t("Start"), icon="send", on_click=search).props("unelevated").style("align-self: flex-start")


def form_message_text(message: str) -> str:
    """Return a filled form with the labels of the page, and any other message unchanged."""
    if not message.startswith("/form "):
        return message
    parts = (part.partition(": ") for part in message.removeprefix("/form ").split(" | "))
    return "\n".join(f"{t(FORM_FIELDS[name][0]) if name in FORM_FIELDS else name}: {value}" for name, _, value in parts)


def shortlist_line(state: ShortlistState) -> list[GridContent]:
    phases: PageText[dict[Phase, tuple[str, str]]] = {
        "intake": ("working out what you want", "medium"),
        "research": ("finding candidates", "medium"),
        "advise": ("compared", "high"),
        "end": ("decided", "high"),
    }

    def wanted() -> None:
        first = form_message_text(next((each.text for each in state.messages if each.role == "user"), ""))
        named = state.requirements.product_type or first or t("Not specified yet")
        ui.link(display_text(named, 120), f"/shortlist/{state.id}")
        show_remark(display_text(first, 160))

    label, look = phases[state.phase]
    return [wanted, partial(show_chip, t(label), look), format_page_time(state.created_at)]


@ui.page("/shortlist/{shortlist_id}", title="Shortlist · Tablewright")
@answer_missing
async def shortlist_page(shortlist_id: str) -> None:
    seen = await visit_now()
    state = await get_shortlist(seen.services, GetShortlist(shortlist=shortlist_id))
    with titled_page(t("Shortlist"), here="/shortlist"):
        if await can_share():
            share_button("shortlist", state.id)
        await AdviceView(seen, state).show()


def begin_turn(now: Visit, shortlist_id: str, words: str) -> PageTask:
    """Start a turn, which continues if the page is closed; the reply is stored in the conversation."""
    texts: PageText[dict[str, str]] = {
        "searching": "Searching for {thing}",
        "fetching": "Reading about {thing}",
        "row_done": "Compared {thing}",
        "": "Working on {thing}",
    }
    talk = get_shortlist_log(now, shortlist_id)

    async def turn(task: PageTask) -> None:
        def watch(news: Progress) -> None:
            task.done, task.total = news.done, news.total
            doing = t(texts.get(news.stage, texts[""]), thing=news.label)
            task.step = doing if news.label else t("Comparing")

        def tell(step: Step) -> None:
            task.step = step.detail

        # An export is read into memory before its folder is removed.
        with tempfile.TemporaryDirectory(prefix="tablewright-") as folder:
            request = TakeTurn(shortlist=shortlist_id, message=words)
            taken = await take_turn(now.services, request, watch=watch, tell=tell, exports=Path(folder))
            talk.keep(len(taken.shortlist.messages) - 1, taken.reply)

    # Shown at once; the stored conversation has the message only when the turn ends.
    talk.asked = words
    return page_tasks(now).begin(f"shortlist {shortlist_id}", "Thinking", turn)


class AdviceView:
    """One open page of a conversation."""

    def __init__(self, seen: Visit, state: ShortlistState) -> None:
        self.seen = seen
        self.state = state
        self.talk: ShortlistLog = get_shortlist_log(seen, state.id)
        # A turn may end while the page is made: the first look reads the state again.
        self.was_busy = True
        self.shows_work = False
        self.table = LivingTable(state.table_id)

    @property
    def named(self) -> GetShortlist:
        return GetShortlist(shortlist=self.state.id)

    @property
    def turn(self) -> PageTask | None:
        """The newest turn, whichever page took it."""
        return page_tasks(self.seen).get(f"shortlist {self.state.id}")

    @property
    def is_busy(self) -> bool:
        return self.turn is not None and not self.turn.ended

    async def show(self) -> None:
        note_page_table(self.state.table_id)
        self.turns = ui.refreshable(self.show_turns)
        self.doing = ui.refreshable(self.show_doing)
        self.conditions = ui.refreshable(self.show_conditions)
        with ui.element("div").classes("tw-split"):
            with ui.element("div").classes("tw-column"):
                with conversation_log():
                    self.turns()
                self.doing()
            with page_card(t("The table")).classes("tw-sticky"):
                self.conditions()
                await self.rank()
                await self.table.show()
        ui.timer(0.6, self.look)
        self.to_the_end()

    async def rank(self) -> None:
        """Rank compared candidates, but not while cells are filled, so that nothing changes its place."""
        if self.state.has_presented and not self.is_busy:
            self.table.ranking = await rank_shortlist(self.seen.services, self.named)

    def show_conditions(self) -> None:
        """Show the conditions once they are confirmed; until then the conversation shows them."""
        wishes, language = self.state.requirements.wishes, self.state.language
        if not wishes or self.state.waiting == "requirements":
            return
        with flex_row().props(f'role=list aria-label="{t("Conditions")}"'):
            for wish in wishes:
                condition = f"{localize_column_name(wish.column, language)} {wish.wanted(language)}"
                shown = (condition if wish.column else wish.words).replace("<=", "≤").replace(">=", "≥")
                with show_chip(shown, "" if wish.column else "low").props("role=listitem"):
                    ui.tooltip(t("Excludes candidates") if wish.hard else t("Counts towards the rank"))

    def show_turns(self) -> None:
        for number, message in enumerate(self.state.messages):
            if message.role == "user":
                show_paragraph(form_message_text(message.text), "tw-mine")
                continue
            with page_card(t("Advisor")).classes("tw-theirs"):
                reply = self.talk.replies.get(number)
                if reply is None:
                    show_paragraph(message.text)
                else:
                    show_advice(reply, self.state.table_id, self.talk.files.get(number))

    def show_doing(self) -> None:
        """Show the work in progress, or the buttons and the message field if there is none."""
        actions: PageText[tuple[tuple[str, str], ...]] = (
            ("All candidates", "/all"),
            ("More options", "/more"),
            ("Export CSV", "/export"),
        )
        task, self.shows_work = self.turn, self.is_busy
        if self.shows_work:
            show_paragraph(form_message_text(self.talk.asked), "tw-mine").style("align-self: flex-end")
            with page_card(t("Working")).props("aria-live=polite"):
                self.what = show_paragraph("")
                self.bar = progress_bar(0.0, t("Progress"))
            if task is not None:
                self.show_progress(task)
            return
        if task is not None and task.problem:
            show_problem(task.problem)
        if not self.seen.person.may_change:
            return
        if self.state.buttons:
            with flex_row():
                for number, label in enumerate(self.state.buttons):
                    look = "outline" if number else "unelevated"
                    ui.button(label, on_click=partial(self.say, label)).props(look)
        if self.state.waiting == "requirements":
            self.show_wishes()
        elif self.state.has_presented:
            with flex_row():
                for label, command in actions:
                    ui.button(t(label), on_click=partial(self.say, command)).props("outline dense")
        message_form(t("Your message"), t("Send"), self.say, most=request_limit(TakeTurn, "message"))

    def show_wishes(self) -> None:
        """Show the requirements as chips, to be made hard or soft, or removed."""
        with flex_row().props(f'role=list aria-label="{t("Requirements")}"'):
            for number, wish in enumerate(self.state.requirements.wishes, start=1):
                with ui.element("div").classes("tw-chip").props("role=listitem"):
                    inline_text(wish.text(self.state.language))
                    turn = "soft" if wish.hard else "hard"
                    label = t("Make it a preference") if wish.hard else t("Make it a requirement")
                    if wish.column:
                        icon_button("lock" if wish.hard else "lock_open", label, partial(self.say, f"/{turn} {number}"))
                    label = t("Remove {words}", words=display_text(wish.words, 60))
                    icon_button("close", label, partial(self.say, f"/drop {number}"))

    def show_progress(self, task: PageTask) -> None:
        self.what.set_text(display_text(task.step, 200))
        fraction = task.fraction
        self.bar.set_value(fraction or 0.0)
        self.bar.props(remove="indeterminate") if fraction is not None else self.bar.props("indeterminate")

    async def say(self, words: str) -> None:
        now = await visit_now("run")
        await get_shortlist(now.services, self.named)
        if self.is_busy:
            raise UsageError(
                t("“{words}” was not sent: the last message is still being answered.", words=shorten_text(words, 80)),
                advice=t("Send it once the reply has arrived."),
            )
        begin_turn(now, self.state.id, words)
        self.was_busy = True
        self.doing.refresh()
        self.to_the_end()

    async def look(self) -> None:
        """Show the table as it fills and the reply when it arrives, also to a message of another page."""
        task = self.turn
        if task is not None and not task.ended:
            if not self.was_busy:
                self.was_busy = True
                self.doing.refresh()
            self.show_progress(task)
            await self.table.update()
        elif self.was_busy:
            self.was_busy = False
            state = await get_shortlist(self.seen.services, self.named)
            if state == self.state and not self.shows_work:
                # Nothing has changed, and replacing a button would lose a click that is on its way.
                return
            self.state = state
            self.table.id = self.state.table_id
            note_page_table(self.state.table_id)
            self.turns.refresh()
            self.doing.refresh()
            self.conditions.refresh()
            await self.rank()
            await self.table.update()
            self.to_the_end()

    def to_the_end(self) -> None:
        if self.state.messages or self.is_busy:
            scroll_to_newest()


# ── advice ──────────────────────────────────────────────────────────────────────────────────────────────────────────
# The advisor's reply: sentences with their cells, the best five, where to buy, the requested file.


def show_advice(reply: ChatReply, table_id: str, file: tuple[str, bytes] | None) -> None:
    for each in reply.said:
        show_sentence(each, table_id)
    for best in reply.cards:
        show_candidate_card(best, table_id)
    if reply.rows:
        with ui.expansion(t("Side by side")).props("dense") if reply.cards else nullcontext():
            show_table_grid(reply.columns, reply.rows, t("Comparison"))
    if reply.listings:
        show_table_grid(
            [t("Product"), t("Shop"), t("Price"), t("In stock"), t("Seen")],
            [listing_line(each) for each in reply.listings],
            t("Where to buy"),
        )
    for each in reply.notes:
        show_sentence(each, table_id)
    if file is not None:
        name, content = file
        label, send = t("Download {name}", name=display_text(name, 80)), partial(ui.download.content, content, name)
        ui.button(label, icon="download", on_click=send).props("outline").style("align-self: flex-start")


def show_sentence(each: ReplySentence, table_id: str) -> None:
    """Show a sentence, with buttons that open the evidence of its cells."""
    with ui.element("div").classes("tw-cited"):
        inline_text(each.text)
        # More buttons than this would hide the sentence.
        for cell in list({cell.field: cell for cell in reversed(each.cells)}.values())[::-1][:6]:
            button = inline_text(cell.field, "button").classes("tw-cite").props("type=button")
            button.props["aria-label"] = t("Show the source of {field}", field=display_text(cell.field, 60))
            button.on("click", partial(open_cell_evidence, table_id, cell.row_id, cell.field))


def show_candidate_card(best: Card, table_id: str) -> None:
    with ui.element("article").classes("tw-card") as article:
        article.props["aria-label"] = t("Place {place}: {name}", place=best.place, name=display_text(best.name, 120))
        with flex_row().classes("no-wrap"):
            inline_text(str(best.place)).classes("tw-rank").props('aria-hidden="true"')
            with ui.element("div").classes("tw-grow"):
                show_web_link(best.name, best.official_url).classes("tw-h2")
                if best.best_for:
                    show_remark(t("Best for {best_for}", best_for=display_text(best.best_for, 80)))
                if best.is_open:
                    show_chip(translate("shortlist", "not known to meet every must", page_language()))
        for each in best.said:
            show_sentence(each, table_id)
        if best.rank_reason:
            show_remark(display_text(best.rank_reason, 2_000))
        for link in best.links:
            show_web_link(link.label, link.url)


def listing_line(offer: ShopListing) -> Sequence[GridContent]:
    def shop() -> None:
        show_web_link(offer.shop or offer.url, offer.url)
        if offer.evidence is not None and offer.evidence.quote:
            show_remark(f"“{' '.join(offer.evidence.quote.split())[:160]}”")

    state = "" if offer.offered_as == "new" else f" ({offer.offered_as})"
    price = offer.price_text(page_language()) or t("not stated")
    missed = f"; {offer.missed(page_language())}" if offer.misses else ""
    return [offer.product, shop, f"{price}{state}{missed}", offer.stock or t("not stated"), format_page_time(offer.at)]


# ── the log of a conversation ───────────────────────────────────────────────────────────────────────────────────────
# The parts of a reply that are not text: cards, tables, links, files. The database has the text; these are kept while
# the server runs, for people who open the conversation again.


class ShortlistLog:
    """Replies and files of a conversation, by the number of the message."""

    def __init__(self) -> None:
        self.replies: dict[int, ChatReply] = {}
        self.files: dict[int, tuple[str, bytes]] = {}
        self.asked = ""

    def keep(self, number: int, reply: ChatReply) -> None:
        """Keep a reply and its file, which is gone after the turn."""
        self.replies[number] = reply
        path = Path(reply.file)
        # Larger exports are not kept in memory; the table can be exported again.
        if reply.file and path.stat().st_size <= 20 * 1024 * 1024:
            self.files[number] = (path.name, path.read_bytes())


_talks = ServerMemory(ShortlistLog, most=100)


def get_shortlist_log(seen: Visit, shortlist_id: str) -> ShortlistLog:
    return _talks.of(seen, shortlist_id)
