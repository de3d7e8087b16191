"""A proposal, cell by cell: before and after, the evidence, and the person's decision. Nothing is written until they
apply it, then everything in one transaction."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable

import msgspec
from nicegui import background_tasks, context, ui

from tablewright.domain.model import PENDING, Cell, Field, Row, Table
from tablewright.domain.proposal import CellAt, ProposalHead, ProposedCell, Selection
from tablewright.domain.text import cell_text, shorten_text
from tablewright.errors import UsageError
from tablewright.interfaces.page.elements import (
    build_dialog,
    dialog_buttons,
    show_paragraph,
    show_remark,
    wait_for_answer,
)
from tablewright.interfaces.page.frame import (
    P,
    answer_missing,
    empty_state,
    note_page_table,
    page_frame,
    show_notice,
    visit_now,
)
from tablewright.interfaces.page.live import ServerMemory
from tablewright.interfaces.page.table.evidence_panel import (
    CellActions,
    CellEvidence,
    read_passages,
    show_cell_evidence,
)
from tablewright.interfaces.page.table.rows import kept_value_reason
from tablewright.interfaces.page.table.run_bar import kept_values_text
from tablewright.interfaces.page.words import counted_text, empty_text, t, type_text
from tablewright.interfaces.server.context import Visit
from tablewright.messages.catalogue import PageText
from tablewright.operations.grid_rows import cell_mark
from tablewright.operations.review import (
    CellPlace,
    DecideProposal,
    OwnCell,
    decide_proposal,
    read_own_value,
    sort_unsure_first,
)
from tablewright.services import Services

# A page is drawn with its evidence at once; more cells would make each key press slow.
CELLS_PER_PAGE = 30


@ui.page("/review/{proposal_id}", title="Review · Tablewright")
@answer_missing
async def review_page(proposal_id: str) -> None:
    visit = await visit_now()
    head = await visit.services.store.proposals.get(proposal_id)
    table = await visit.table(head.table_id)
    if head.status != "open" or not visit.person.may_change:
        with page_frame(t("Review"), here="/"), empty_state(t("This proposal is {status}", status=head.status), "rule"):
            said = t("Its run has not finished.") if head.status == "building" else t("Nothing left to decide here.")
            ui.label(said if visit.person.may_change else t("Only editors can decide on proposals."))
            ui.link(t("Back to the table"), f"/tables/{table.id}")
        return
    cells = await sort_open_cells(visit.services, head.id)
    await ReviewPage(head, table, cells, _verdicts.of(visit, (visit.person.id, head.id))).build()


class ReviewPage:
    """One open page. `verdicts` are kept until they are applied, also if the page is reloaded."""

    def __init__(self, head: ProposalHead, table: Table, cells: list[CellAt], verdicts: Verdicts) -> None:
        self._head = head
        self._table = table
        self._cells = cells
        self._verdicts = verdicts
        # Decided by another person by now.
        for at in verdicts.keys() - {*cells}:
            del verdicts[at]
        # Reviewing continues at the first undecided cell.
        self._cursor = next((number for number, at in enumerate(self._cells) if at not in verdicts), 0)
        self._client = context.client
        self._lock = asyncio.Lock()
        self._waiting = 0
        self._detailed: CellAt | None = None
        self._has_window = False
        self._shown: dict[CellAt, ProposedCell] = {}
        self._rows: dict[int, Row] = {}
        self._lines: dict[CellAt, ui.element] = {}
        self._signs: dict[CellAt, ui.label] = {}

    async def build(self) -> None:
        ui.add_head_html('<script src="/page-files/review.js"></script>')
        with page_frame(t("Review"), here="/", wide=True):
            note_page_table(self._table.id)
            with ui.element("div").classes("tw-bar"):
                with ui.element("div").classes("tw-grow tw-title"):
                    ui.link(self._table.name, f"/tables/{self._table.id}").classes("tw-small")
                    ui.label(t("Review what was found")).classes("tw-h1").props("role=heading aria-level=1")
                self._summary = ui.label().classes("tw-muted").props("role=status")
                ui.button(t("Apply"), icon="done_all", on_click=self._in_order(self._apply)).props("unelevated")
            self._build_bulk()
            with ui.element("div").classes("tw-review"):
                with ui.element("div").classes("tw-review-list"):
                    self._list = ui.element("div").props("id=tw-proposed role=listbox tabindex=0")
                    self._list.props["aria-label"] = t("Proposed cells")
                    with ui.element("div").classes("tw-row tw-pager") as self._pager:
                        earlier, later = (self._in_order(self._turn_page, by) for by in (-1, 1))
                        ui.button(t("Earlier"), on_click=earlier).props("flat dense icon=chevron_left")
                        self._place = show_remark("")
                        ui.button(t("Later"), on_click=later).props("flat dense icon-right=chevron_right")
                with ui.element("aside").classes("tw-review-detail").props(f'aria-label="{t("Evidence")}"'):
                    self._build_acts()
                    self._detail = ui.element("div")
        ui.on("review_key", lambda event: self._in_order(self._press, event.args)())
        await self._in_order(self._show_page)()
        ui.run_javascript("tablewright.toTheList()")

    def _build_acts(self) -> None:
        """Build the buttons once, so that the same button works for the next cell."""
        # Label, icon, key and look of each button.
        actions: PageText[tuple[tuple[str, str, str, str], ...]] = (
            ("Accept", "check", "a", "unelevated"),
            ("Reject", "close", "r", "outline"),
            ("Edit", "edit", "e", "outline"),
            ("Empty the cell", "backspace", "x", "flat"),
            ("Clear decision", "undo", "u", "flat"),
        )
        with ui.element("div").classes("tw-row tw-decide"):
            for label, icon, key, look in actions:
                button = ui.button(t(label), icon=icon, on_click=self._in_order(self._press, key))
                button.props(f"{look} dense padding='4px 10px'")
                if key == "x":
                    self._empty = button
        self._empty.set_visibility(False)

    def _build_bulk(self) -> None:
        keys: PageText[tuple[tuple[str, str], ...]] = (
            ("next", "j ↓"),
            ("back", "k ↑"),
            ("accept", "a"),
            ("reject", "r"),
            ("edit", "e"),
            ("empty the cell", "x"),
            ("clear", "u"),
            ("apply", "Enter"),
        )
        names = [field.name for field in self._head.fields] or sorted({name for _, name in self._cells})
        look = "outline dense padding='2px 10px'"
        with ui.element("div").classes("tw-filters"):
            with ui.element("div").classes("tw-row tw-bulk"):
                ui.label(t("Confidence of at least")).classes("tw-small")
                # 0.8 is where confidence begins to be called high.
                self._bound = ui.slider(min=0, max=1, step=0.05, value=0.8).props("dense").classes("tw-slider")
                self._bound.props["aria-label"] = t("Minimum confidence")
                shown = ui.label().classes("tw-strong")
                shown.bind_text_from(self._bound, "value", lambda value: f"{value:.2f}")
                ui.button(t("Accept"), on_click=self._in_order(self._accept_sure)).props(look)
            with ui.element("div").classes("tw-row tw-bulk"):
                self._column = ui.select(names, value=names[0], label=t("Column")).classes("tw-pick")
                ui.button(t("Accept column"), on_click=self._in_order(self._column_all, "accepted")).props(look)
                ui.button(t("Reject column"), on_click=self._in_order(self._column_all, "refused")).props(look)
            with ui.element("div").classes("tw-row tw-keys tw-small").props(f'aria-label="{t("Keys")}"'):
                for meaning, key in keys:
                    with ui.element("span").classes("tw-keyhint"):
                        for part in key.split():
                            ui.label(part).classes("tw-key")
                        ui.label(t(meaning)).classes("tw-muted")

    # ── the list ─────────────────────────────────────────────────────────────────────────────────────────────────────

    @property
    def _first(self) -> int:
        return self._cursor // CELLS_PER_PAGE * CELLS_PER_PAGE

    @property
    def _at(self) -> CellAt:
        return self._cells[self._cursor]

    async def _show_page(self) -> None:
        visit = await visit_now()
        await visit.table(self._table.id)
        page = self._cells[self._first : self._first + CELLS_PER_PAGE]
        self._shown = await read_operations(visit.services, self._head.id, page)
        self._rows = await visit.services.rows_by_id(self._table.id, [row_id for row_id, _ in page])
        self._list.clear()
        self._lines, self._signs = {}, {}
        with self._list:
            for at in page:
                self._show_line(at)
        last = min(self._first + CELLS_PER_PAGE, len(self._cells))
        self._place.set_text(t("{first} to {last} of {all}", first=self._first + 1, last=last, all=len(self._cells)))
        self._pager.set_visibility(len(self._cells) > CELLS_PER_PAGE)
        self._summarise()
        self._show_cursor()
        self._detailed = None

    def _show_line(self, at: CellAt) -> None:
        signs = {"high": "✓", "medium": "◐", "low": "?", "failed": "✗"}
        now = self._row(at).cell(at[1])
        proposed = self._shown[at].cell if at in self._shown else PENDING
        with ui.element("div").classes("tw-line").props("role=option") as line:
            self._signs[at] = ui.label().classes("tw-verdict")
            with ui.element("div").classes("tw-grow"):
                show_paragraph(shorten_text(f"{self._name(at)} · {at[1]}", 80), "tw-muted tw-small tw-ellipsis")
                with ui.element("div").classes("tw-change-of"):
                    if now.keeps_its_value(proposed):
                        show_paragraph(shorten_text(cell_text(now), 60), "tw-stays")
                        show_paragraph(kept_value_reason(proposed), "tw-why")
                    else:
                        if now.value is not None:
                            show_paragraph(shorten_text(cell_text(now), 60), "tw-before")
                            ui.label("→").classes("tw-muted")
                        is_empty = proposed.value is None
                        after = t("empty: {reason}", reason=empty_text(proposed)) if is_empty else cell_text(proposed)
                        show_paragraph(shorten_text(after, 90), "tw-why" if is_empty else "tw-after")
            kind, is_rated = cell_mark(proposed), proposed.value is not None and proposed.confidence is not None
            sure = f" {proposed.confidence:.2f}" if is_rated else ""
            if proposed.basis == "judged":
                ui.label(t("judged")).classes("tw-chip")
            ui.label(f"{signs.get(kind, '')}{sure}").classes("tw-chip" if kind == "failed" else f"tw-chip tw-{kind}")
        line.on("click", self._in_order(self._move_to, at))
        self._lines[at] = line
        self._update_line(at)

    def _update_line(self, at: CellAt) -> None:
        if at not in self._lines:
            return
        verdict = self._verdicts.get(at, ReviewVerdict(word="open"))
        is_current = at == self._at
        self._lines[at].classes(replace=f"tw-line tw-{verdict.word}" + (" tw-cursor" if is_current else ""))
        self._lines[at].props(f"aria-selected={str(is_current).lower()}")
        said = {"accepted": f"✓ {t('accept')}", "refused": f"✗ {t('reject')}", "emptied": f"⌫ {t('empty the cell')}"}
        own = f"✎ {shorten_text(cell_text(verdict.own), 24)}" if verdict.own is not None else ""
        self._signs[at].set_text(own or said.get(verdict.word, ""))

    def _summarise(self) -> None:
        texts: PageText[dict[str, str]] = {
            "accepted": "{count} to accept",
            "refused": "{count} to reject",
            "edited": "{count} to edit",
            "emptied": "{count} to empty",
        }
        counts = {word: sum(verdict.word == word for verdict in self._verdicts.values()) for word in texts}
        left = len(self._cells) - len(self._verdicts)
        parts = [t(texts[word], count=count) for word, count in counts.items() if count]
        self._summary.set_text(", ".join([*parts, t("{count} open", count=left)]))

    # ── moving and deciding ──────────────────────────────────────────────────────────────────────────────────────────

    def _in_order(
        self, act: Callable[P, Awaitable[None]], *args: P.args, **kwargs: P.kwargs
    ) -> Callable[[], Awaitable[None]]:
        """Run actions one after the other in their order: a key that is held down comes faster than a page of lines is
        read. The evidence is shown for the last."""

        async def done() -> None:
            self._waiting += 1
            try:
                # The pressed button may be gone by now, and its slot with it.
                async with self._lock:
                    with self._client:
                        try:
                            await act(*args, **kwargs)
                        finally:
                            if self._waiting == 1:
                                await self._show_detail()
            finally:
                self._waiting -= 1

        return done

    async def _press(self, key: str) -> None:
        if self._has_window:
            return
        match key:
            case "j" | "ArrowDown":
                await self._move(self._cursor + 1)
            case "k" | "ArrowUp":
                await self._move(self._cursor - 1)
            case "a":
                await self._decide(self._at, ReviewVerdict(word="accepted"))
            case "r":
                await self._decide(self._at, ReviewVerdict(word="refused"))
            case "e":
                # Set at once, so that the next keys are not taken for decisions.
                self._has_window = True
                background_tasks.create(self._edit(await visit_now("write")))
            case "x":
                if self._can_empty(self._at):
                    await self._decide(self._at, ReviewVerdict(word="emptied"))
            case "u":
                self._verdicts.pop(self._at, None)
                self._update_line(self._at)
                self._summarise()
            case "Enter":
                await self._apply()

    async def _move(self, to: int) -> None:
        to = max(0, min(to, len(self._cells) - 1))
        before, page = self._at, self._first
        self._cursor = to
        if self._first != page:
            await self._show_page()
            return
        self._update_line(before)
        self._show_cursor()

    async def _move_to(self, at: CellAt) -> None:
        if at in self._lines:  # else the page was turned
            await self._move(self._cells.index(at))

    async def _turn_page(self, by: int) -> None:
        await self._move(self._first + by * CELLS_PER_PAGE)

    def _show_cursor(self) -> None:
        self._update_line(self._at)
        line = self._lines[self._at]
        self._list.props["aria-activedescendant"] = line.html_id
        ui.run_javascript(f"getHtmlElement({line.id})?.scrollIntoView({{block: 'nearest'}})")

    async def _show_detail(self) -> None:
        at, operation = self._at, self._shown.get(self._at)
        if at == self._detailed:
            return
        self._empty.set_visibility(self._can_empty(at))
        passages = await read_passages((await visit_now()).services, operation.cell) if operation else {}
        self._detailed = at
        self._detail.clear()
        if operation is None:
            return
        with self._detail:
            now = self._row(at).cell(at[1])
            title = t("{name} · row {number}", name=self._name(at), number=at[0])
            acts = CellActions(close=lambda: None)
            shown = CellEvidence(title, self._field(at[1]), operation.cell, operation.steps, passages, before=now)
            show_cell_evidence(shown, acts)

    def _can_empty(self, at: CellAt) -> bool:
        """Return True if nothing was found and the value that the cell has stays, unless a person empties it."""
        operation = self._shown.get(at)
        return operation is not None and self._row(at).cell(at[1]).keeps_its_value(operation.cell)

    async def _decide(self, at: CellAt, verdict: ReviewVerdict) -> None:
        self._verdicts[at] = verdict
        self._update_line(at)
        self._summarise()
        await self._move(self._cursor + 1)

    async def _edit(self, visit: Visit) -> None:
        try:
            if operation := self._shown.get(self._at):
                with self._client:
                    await self._ask_own_value(visit, self._at, operation)
        finally:
            self._has_window = False

    async def _ask_own_value(self, visit: Visit, at: CellAt, operation: ProposedCell) -> None:
        field = self._field(at[1])
        known = self._verdicts.get(at)
        value = cell_text(known.own if known and known.own else operation.cell)
        with build_dialog(t("Your value for {name}", name=field.name)) as window:
            show_paragraph(f"{self._name(at)}; {type_text(field)}", "tw-muted")
            given = ui.textarea(t("Value"), value=value) if "\n" in value else ui.input(t("Value"), value=value)
            given.props("autofocus")

            async def edit() -> ReviewVerdict:
                text = given.value or ""
                own = await read_own_value(visit.services, self._head, operation, text)
                return ReviewVerdict(word="edited", own=own, text=text)

            take = dialog_buttons(window, (t("Use this value"), edit))
            # In a text with several lines, Enter starts a new one.
            given.on("keydown.ctrl.enter" if "\n" in value else "keydown.enter", take)
        edited = await wait_for_answer(window)
        self._has_window = False
        ui.run_javascript("tablewright.toTheList()")
        if edited is not None:
            await self._in_order(self._decide, at, edited)()

    async def _accept_sure(self) -> None:
        services = (await visit_now("write")).services
        least = Selection(min_confidence=float(self._bound.value))
        self._mark(await services.store.proposals.open_cells(self._head.id, least, failed=False), "accepted")

    async def _column_all(self, word: str) -> None:
        """Decide a whole column, but never accept an empty cell unseen."""
        proposals = (await visit_now("write")).services.store.proposals
        of = Selection(fields=(str(self._column.value),))
        cells = await proposals.open_cells(self._head.id, of, failed=False if word == "accepted" else None)
        self._mark(cells, word)

    def _mark(self, cells: Iterable[CellAt], word: str) -> None:
        """Decide cells, except those edited or refused one by one."""
        open_cells, decided = list(cells), self._verdicts
        kept_words = ("edited", "refused") if word == "accepted" else ("edited",)
        marked = [at for at in open_cells if at not in decided or decided[at].word not in kept_words]
        self._verdicts |= {at: ReviewVerdict(word=word) for at in marked}
        for at in self._lines:
            self._update_line(at)
        self._summarise()
        stay = len(open_cells) - len(marked)
        # As infinitives, for a notice such as "12 cells marked to accept".
        act = t("accept") if word == "accepted" else t("reject")
        done = t("{cells} marked to {act}.", cells=counted_text(len(marked), "cell"), act=act)
        kept = t("{cells} rejected or edited before: unchanged.", cells=counted_text(stay, "cell")) if stay else ""
        show_notice(" ".join(filter(None, (done, kept, t("Press Enter to apply.")))))

    async def _apply(self) -> None:
        if not self._verdicts:
            raise UsageError(
                t("Nothing has been decided yet."), advice=t("Accept or reject some cells first (keys a and r).")
            )
        visit = await visit_now("write")
        await visit.table(self._table.id)
        done = (await decide_proposal(visit.services, self._decision())).applied
        self._verdicts.clear()
        counts = {"accepted": done.cells - done.edited, "edited": done.edited, "refused": done.refused}
        said = t("{accepted} accepted, {edited} edited, {refused} rejected.", **counts)
        conflicts = t("{count} changed since then and kept.", count=done.conflicts) if done.conflicts else ""
        late = t("{count} decided by another person.", count=done.too_late) if done.too_late else ""
        show_notice(" ".join(filter(None, (said, kept_values_text(done), conflicts, late))))
        head = await visit.services.store.proposals.get(self._head.id)
        if head.status != "open":
            ui.navigate.to(f"/tables/{self._table.id}")
            return
        # Undecided cells are left; the review continues with them.
        self._cells, self._cursor = await sort_open_cells(visit.services, head.id), 0
        await self._show_page()

    def _decision(self) -> DecideProposal:
        places: dict[str, list[CellPlace]] = defaultdict(list)
        edited: list[OwnCell] = []
        for (row_id, field), verdict in self._verdicts.items():
            if verdict.own is not None:
                edited.append(OwnCell(row_id=row_id, field=field, value=verdict.text))
            else:
                places[verdict.word].append(CellPlace(row_id=row_id, field=field))
        return DecideProposal(
            proposal_id=self._head.id,
            accepted=tuple(places["accepted"]),
            refused=tuple(places["refused"]),
            edited=tuple(edited),
            emptied=tuple(places["emptied"]),
        )

    # ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────

    def _row(self, at: CellAt) -> Row:
        return self._rows.get(at[0], Row(id=at[0]))

    def _name(self, at: CellAt) -> str:
        return cell_text(self._row(at).cell(self._table.key_field)) or f"Row {at[0]}"

    def _field(self, name: str) -> Field:
        proposed = next((field for field in self._head.fields if field.name == name), None)
        return proposed or self._table.field(name) or Field(name=name)


async def read_operations(services: Services, proposal_id: str, page: list[CellAt]) -> dict[CellAt, ProposedCell]:
    wanted, found = {*page}, dict[CellAt, ProposedCell]()
    after: CellAt = (0, "")
    rows = [row_id for row_id, _ in page]
    while operations := await services.store.proposals.operations(proposal_id, after=after, row_ids=rows):
        found |= {at: each for each in operations if (at := (each.row_id, each.field)) in wanted}
        after = (operations[-1].row_id, operations[-1].field)
    return found


async def sort_open_cells(services: Services, proposal_id: str) -> list[CellAt]:
    """Return the undecided cells, the least sure rows first; of a large proposal in the order of its rows, since
    sorting would read all its evidence."""
    cells = await services.store.proposals.open_cells(proposal_id)
    return cells if len(cells) > 100 * CELLS_PER_PAGE else await sort_unsure_first(services, proposal_id, cells)


# ── verdicts ────────────────────────────────────────────────────────────────────────────────────────────────────────
# Decisions that are not applied yet. A person who was cut off finds them again.


class ReviewVerdict(msgspec.Struct, frozen=True):
    """The decision on a cell; `own` is the value that the person typed instead, as `text`."""

    word: str
    own: Cell | None = None
    text: str = ""


Verdicts = dict[CellAt, ReviewVerdict]

# By person and proposal.
_verdicts: ServerMemory[Verdicts] = ServerMemory(Verdicts, most=100)
