"""The adviser: a conversation next to the table that it fills."""

from __future__ import annotations

import tempfile
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path

from nicegui import ui

from tablewright.domain.model import Step
from tablewright.domain.run import Progress
from tablewright.domain.shortlist import (
    Card,
    CellRef,
    ChatReply,
    Phase,
    ReplySentence,
    ShopListing,
    ShortlistState,
    column_name,
)
from tablewright.domain.text import shortened
from tablewright.doors.server.context import Visit
from tablewright.doors.web.elements import (
    Shown,
    bar,
    card,
    chip,
    conversation_log,
    earlier_list,
    grid,
    icon_button,
    inline,
    journey,
    outside,
    paragraph,
    problem_card,
    quiet,
    row,
    safe,
    saying,
    when,
)
from tablewright.doors.web.evidence_panel import open_cell
from tablewright.doors.web.frame import about, heading, or_missing, visit, visit_now, visit_to_run
from tablewright.doors.web.live import ServerMemory, Undertaking, to_the_newest, undertakings
from tablewright.doors.web.living_table import LivingTable
from tablewright.doors.web.sharing import may_share, share_button
from tablewright.doors.web.words import language, t
from tablewright.errors import UsageError
from tablewright.messages.catalogue import PageText, translate
from tablewright.operations.shortlist import (
    GetShortlist,
    StartShortlist,
    TakeTurn,
    get_shortlist,
    rank_shortlist,
    start_shortlist,
    take_turn,
)
from tablewright.values.shortlist_form import form_message

LONGEST = 4_000
ACTIONS: PageText[tuple[tuple[str, str], ...]] = (
    ("All candidates", "/all"),
    ("More options", "/more"),
    ("Export CSV", "/export"),
)
PHASES: PageText[dict[Phase, tuple[str, str]]] = {
    "intake": ("working out what you want", "medium"),
    "research": ("finding candidates", "medium"),
    "advise": ("compared", "high"),
    "end": ("decided", "high"),
}
BUILTIN = "builtin"
ASKED: PageText[dict[str, tuple[str, str]]] = {
    "product": ("Product", "electric kettle"),
    "budget": ("Budget, with currency", "50 GBP"),
    "must": ("Must have", "Capacity >= 1 l; Variable temperature = yes"),
    "nice": ("Nice to have", "Weight < 1.2 kg"),
    "avoid": ("Avoid", "Material contains plastic"),
    "region": ("Region", "UK"),
}
OTHER_WORK: PageText[str] = "Working on {thing}"
DOING: PageText[dict[str, str]] = {
    "searching": "Searching for {thing}",
    "fetching": "Reading about {thing}",
    "row_done": "Compared {thing}",
}


@ui.page("/shortlist", title="Shortlist · Tablewright")
async def shortlists_page() -> None:
    seen = visit()

    async def begin(words: str) -> None:
        now = await visit_to_run()
        state = await start_shortlist(now.services, StartShortlist())
        send(now, state.id, words)
        ui.navigate.to(f"/shortlist/{state.id}")

    with journey(t("Shortlist"), here="/shortlist"):
        if seen.person.may_change:
            with card(t("What to buy")):
                heading(t("What are you looking for?"))
                if seen.services.settings.model == BUILTIN:
                    show_form(begin)
                else:
                    saying(
                        t("A product, and what matters to you"),
                        t("Start"),
                        begin,
                        placeholder=t("A kettle with variable temperature, under £50"),
                        most=LONGEST,
                    )
                    quiet(
                        t(
                            "You confirm what was understood before the search starts, and again before products "
                            "are compared."
                        )
                    )
        earlier_list(
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


def show_form(begin: Callable[[str], Awaitable[None]]) -> None:
    """Show a form: without a model, wishes in words are not understood."""
    quiet(
        t("No model is set, so wishes in free text are not understood. Fill in what matters and leave the rest empty.")
    )
    inputs = {name: ui.input(t(label), placeholder=example) for name, (label, example) in ASKED.items()}

    async def search() -> None:
        filled = {name: str(each.value or "") for name, each in inputs.items()}
        if not filled["product"].strip():
            raise UsageError(t("Enter a product."), advice=t("Fill in what you are looking for."))
        await begin(form_message(filled))

    ui.button(t("Start"), icon="send", on_click=search).props("unelevated").style("align-self: flex-start")


def in_words(message: str) -> str:
    """Return a filled form with the labels of the page, and any other message unchanged."""
    if not message.startswith("/form "):
        return message
    parts = (part.partition(": ") for part in message.removeprefix("/form ").split(" | "))
    return "\n".join(f"{t(ASKED[name][0]) if name in ASKED else name}: {value}" for name, _, value in parts)


def shortlist_line(state: ShortlistState) -> list[Shown]:
    def wanted() -> None:
        first = in_words(next((each.text for each in state.messages if each.role == "user"), ""))
        ui.link(safe(state.requirements.product_type or first or t("Not specified yet"), 120), f"/shortlist/{state.id}")
        quiet(safe(first, 160))

    def phase() -> None:
        label, look = PHASES[state.phase]
        chip(t(label), look)

    return [wanted, phase, when(state.created_at)]


@ui.page("/shortlist/{shortlist_id}", title="Shortlist · Tablewright")
@or_missing
async def shortlist_page(shortlist_id: str) -> None:
    seen = await visit_now()
    state = await get_shortlist(seen.services, GetShortlist(shortlist=shortlist_id))
    with journey(t("Shortlist"), here="/shortlist"):
        if await may_share():
            share_button("shortlist", state.id)
        await AdviceView(seen, state).show()


def key_of(shortlist_id: str) -> str:
    return f"shortlist {shortlist_id}"


def send(now: Visit, shortlist_id: str, words: str) -> Undertaking:
    """Start a turn, which ends even if the page is closed; the reply waits in the conversation."""
    talk = talk_of(now, shortlist_id)

    async def turn(undertaking: Undertaking) -> None:
        def watch(news: Progress) -> None:
            undertaking.done, undertaking.total = news.done, news.total
            doing = t(DOING.get(news.stage, OTHER_WORK), thing=news.label)
            undertaking.said = doing if news.label else t("Comparing")

        def tell(step: Step) -> None:
            undertaking.said = step.detail

        with tempfile.TemporaryDirectory(prefix="tablewright-") as folder:
            request = TakeTurn(shortlist=shortlist_id, message=words)
            taken = await take_turn(now.services, request, watch=watch, tell=tell, exports=Path(folder))
            talk.keep(len(taken.shortlist.messages) - 1, taken.reply)

    talk.asked = words
    return undertakings(now).begin(key_of(shortlist_id), "Thinking", turn)


class AdviceView:
    """One open page of a conversation."""

    def __init__(self, seen: Visit, state: ShortlistState) -> None:
        self.seen = seen
        self.state = state
        self.talk: ShortlistLog = talk_of(seen, state.id)
        self.was_busy = True  # a turn may end while the page is made: the first look reads the state again
        self.shows_work = False
        self.table = LivingTable(state.table_id)

    @property
    def named(self) -> GetShortlist:
        return GetShortlist(shortlist=self.state.id)

    @property
    def is_busy(self) -> bool:
        return undertakings(self.seen).under_way(key_of(self.state.id))

    async def show(self) -> None:
        about(self.state.table_id)
        self.turns = ui.refreshable(self.show_turns)
        self.doing = ui.refreshable(self.show_doing)
        self.conditions = ui.refreshable(self.show_conditions)
        with ui.element("div").classes("tw-split"):
            with ui.element("div").classes("tw-column"):
                with conversation_log():
                    self.turns()
                self.doing()
            with card(t("The table")).classes("tw-sticky"):
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
        """Show the confirmed conditions; before, they can be changed in the conversation."""
        wishes, language = self.state.requirements.wishes, self.state.language
        if not wishes or self.state.waiting == "requirements":
            return
        with row().props(f'role=list aria-label="{t("Conditions")}"'):
            for wish in wishes:
                shown = f"{column_name(wish.column, language)} {wish.wanted(language)}" if wish.column else wish.words
                shown = shown.replace("<=", "≤").replace(">=", "≥")
                with chip(shown, "" if wish.column else "low").props("role=listitem"):
                    ui.tooltip(t("Excludes candidates") if wish.hard else t("Counts towards the rank"))

    def show_turns(self) -> None:
        for number, message in enumerate(self.state.messages):
            if message.role == "user":
                paragraph(in_words(message.text), "tw-mine")
                continue
            with card(t("Advisor")).classes("tw-theirs"):
                reply = self.talk.replies.get(number)
                if reply is None:
                    paragraph(message.text)
                else:
                    show_reply(reply, self.state.table_id, self.talk.files.get(number))

    def show_doing(self) -> None:
        """Show the work that is under way, or else the buttons and the line."""
        self.shows_work = self.is_busy
        if self.shows_work:
            undertaking = undertakings(self.seen).get(key_of(self.state.id))
            paragraph(in_words(self.talk.asked), "tw-mine").style("align-self: flex-end")
            with card(t("Working")).props("aria-live=polite"):
                self.what = paragraph("")
                self.bar = bar(0.0, t("Progress"))
            if undertaking is not None:
                self.show_progress(undertaking)
            return
        problem = undertakings(self.seen).get(key_of(self.state.id))
        if problem is not None and problem.problem:
            problem_card(problem.problem)
        if not self.seen.person.may_change:
            return
        if self.state.buttons:
            with row():
                for number, label in enumerate(self.state.buttons):
                    ui.button(label, on_click=lambda label=label: self.say(label)).props(
                        "unelevated" if number == 0 else "outline"
                    )
        if self.state.waiting == "requirements":
            self.show_wishes()
        elif self.state.has_presented:
            with row():
                for label, command in ACTIONS:
                    ui.button(t(label), on_click=lambda command=command: self.say(command)).props("outline dense")
        saying(t("Your message"), t("Send"), self.say, most=LONGEST)

    def show_wishes(self) -> None:
        """Show the requirements as chips, to be made hard or soft, or removed."""
        with row().props(f'role=list aria-label="{t("Requirements")}"'):
            for number, wish in enumerate(self.state.requirements.wishes, start=1):
                with ui.element("div").classes("tw-chip").props("role=listitem"):
                    inline(wish.text(self.state.language))
                    turn = "soft" if wish.hard else "hard"
                    label = t("Make it a preference") if wish.hard else t("Make it a requirement")
                    if wish.column:
                        icon_button("lock" if wish.hard else "lock_open", label, partial(self.say, f"/{turn} {number}"))
                    icon_button(
                        "close", t("Remove {words}", words=safe(wish.words, 60)), partial(self.say, f"/drop {number}")
                    )

    def show_progress(self, undertaking: Undertaking) -> None:
        self.what.set_text(safe(undertaking.said, 200))
        fraction = undertaking.fraction
        self.bar.set_value(fraction or 0.0)
        self.bar.props(remove="indeterminate") if fraction is not None else self.bar.props("indeterminate")

    async def say(self, words: str) -> None:
        now = await visit_to_run()
        await get_shortlist(now.services, self.named)
        if self.is_busy:
            raise UsageError(
                t("“{words}” was not sent: the last message is still being answered.", words=shortened(words, 80)),
                advice=t("Send it once the reply has arrived."),
            )
        send(now, self.state.id, words)
        self.was_busy = True
        self.doing.refresh()
        self.to_the_end()

    async def look(self) -> None:
        """Show the table as it fills and the reply when it arrives, also to a message of another page."""
        undertaking = undertakings(self.seen).get(key_of(self.state.id))
        if undertaking is not None and not undertaking.ended:
            if not self.was_busy:
                self.was_busy = True
                self.doing.refresh()
            self.show_progress(undertaking)
            await self.table.update()
        elif self.was_busy:
            self.was_busy = False
            state = await get_shortlist(self.seen.services, self.named)
            if state == self.state and not self.shows_work:
                return  # what is shown is so already, and a new button would lose a press on its way here
            self.state = state
            self.table.id = self.state.table_id
            about(self.state.table_id)
            self.turns.refresh()
            self.doing.refresh()
            self.conditions.refresh()
            await self.rank()
            await self.table.update()
            self.to_the_end()

    def to_the_end(self) -> None:
        if self.state.messages or self.is_busy:
            to_the_newest()


# ── advice ──────────────────────────────────────────────────────────────────────────────────────────────────────────
# The adviser's reply: sentences with their cells, the best five, where to buy, the requested file.


MOST_CELLS = 6


def show_reply(reply: ChatReply, table_id: str, file: tuple[str, bytes] | None) -> None:
    for each in reply.said:
        show_sentence(each, table_id)
    for best in reply.cards:
        show_card(best, table_id)
    if reply.rows:
        rows: list[list[Shown]] = [list(line) for line in reply.rows]
        if reply.cards:
            with ui.expansion(t("Side by side")).props("dense"):
                grid(reply.columns, rows, t("Comparison"))
        else:
            grid(reply.columns, rows, t("Comparison"))
    if reply.listings:
        grid(
            [t("Product"), t("Shop"), t("Price"), t("In stock"), t("Seen")],
            [listing_line(each) for each in reply.listings],
            t("Where to buy"),
        )
    for each in reply.notes:
        show_sentence(each, table_id)
    if file is not None:
        name, content = file
        ui.button(
            t("Download {name}", name=safe(name, 80)),
            icon="download",
            on_click=lambda: ui.download.content(content, name),
        ).props("outline").style("align-self: flex-start")


def show_sentence(each: ReplySentence, table_id: str) -> None:
    """Show a sentence, with buttons that open the evidence of its cells."""
    with ui.element("div").classes("tw-cited"):
        inline(each.text)
        for cell in list({cell.field: cell for cell in reversed(each.cells)}.values())[::-1][:MOST_CELLS]:
            button = inline(cell.field, "button").classes("tw-cite").props("type=button")
            button.props["aria-label"] = t("Show the source of {field}", field=safe(cell.field, 60))
            button.on("click", partial(open_ref, table_id, cell))


async def open_ref(table_id: str, cell: CellRef) -> None:
    await open_cell(table_id, cell.row_id, cell.field)


def show_card(best: Card, table_id: str) -> None:
    with ui.element("article").classes("tw-card") as article:
        article.props["aria-label"] = t("Place {place}: {name}", place=best.place, name=safe(best.name, 120))
        with row().classes("no-wrap"):
            inline(str(best.place)).classes("tw-rank").props('aria-hidden="true"')
            with ui.element("div").classes("tw-grow"):
                outside(best.name, best.official_url).classes("tw-h2")
                if best.best_for:
                    quiet(t("Best for {best_for}", best_for=safe(best.best_for, 80)))
                if best.is_open:
                    inline(translate("shortlist", "not known to meet every must", language())).classes("tw-chip")
            score = inline(f"{best.score:.2f}").classes("tw-chip")
            score.props["aria-label"] = t("Score {score} of 1", score=f"{best.score:.2f}")
        for each in best.said:
            show_sentence(each, table_id)
        if best.parts:
            with ui.expansion(t("Score breakdown")).props("dense"):
                show_parts(best)


def show_parts(best: Card) -> None:
    with ui.element("div").classes("tw-parts"):
        for part in best.parts:
            paragraph(f"{part.field}: {part.why}" if part.why else part.field)
            bar(
                part.score,
                t(
                    "{field}: {score} of 1, weight {weight}",
                    field=safe(part.field, 60),
                    score=f"{part.score:.2f}",
                    weight=f"{part.weight:.2f}",
                ),
            )


def listing_line(offer: ShopListing) -> Sequence[Shown]:
    def shop() -> None:
        outside(offer.shop or offer.url, offer.url)
        if offer.evidence is not None and offer.evidence.quote:
            quiet(f"“{' '.join(offer.evidence.quote.split())[:160]}”")

    state = "" if offer.offered_as == "new" else f" ({offer.offered_as})"
    price = offer.price_text or t("not stated")
    missed = f"; {offer.missed(language())}" if offer.misses else ""
    return [offer.product, shop, f"{price}{state}{missed}", offer.stock or t("not stated"), when(offer.at)]


# ── the log of a conversation ───────────────────────────────────────────────────────────────────────────────────────
# The parts of a reply that are not text: cards, tables, links, files. The database has the text; these are kept while
# the server runs, for people who open the conversation again.


REMEMBERED = 100
LARGEST = 20 * 1024 * 1024


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
        if reply.file and path.stat().st_size <= LARGEST:
            self.files[number] = (path.name, path.read_bytes())


_talks = ServerMemory(ShortlistLog, most=REMEMBERED)


def talk_of(seen: Visit, shortlist_id: str) -> ShortlistLog:
    return _talks.of(seen, shortlist_id)
