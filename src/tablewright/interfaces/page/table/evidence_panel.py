"""The evidence of a cell: its value, its confidence with the reasons, its sources, and the actions on it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias

from nicegui import context, events, ui

from tablewright.citations.quotes import locate_evidence
from tablewright.domain.edits import read_flag_note
from tablewright.domain.history import Change
from tablewright.domain.model import Cell, Evidence, Field, Row, RowId, Step, Struct
from tablewright.domain.proposal import ProposalHead, ProposedCell, Review
from tablewright.domain.text import cell_text, format_value, shorten_text
from tablewright.errors import NotFound, UsageError
from tablewright.interfaces.page.elements import flex_row, show_paragraph, show_remark, show_web_link, small_button
from tablewright.interfaces.page.frame import show_heading, show_notice, visit_now
from tablewright.interfaces.page.table.dialogs import ask_flag_reason
from tablewright.interfaces.page.table.rows import kept_value_reason
from tablewright.interfaces.page.words import (
    confidence_text,
    dispute_text,
    reason_text,
    t,
    trace_text,
    translated_basis,
)
from tablewright.messages.catalogue import PageText
from tablewright.operations.grid_rows import is_disputed, is_given_by_person, is_newer_than_cell
from tablewright.operations.review import CellPlace, DecideProposal, decide_proposal
from tablewright.operations.rows import find_origin
from tablewright.services import Services

if TYPE_CHECKING:
    from tablewright.interfaces.page.table.page import OpenTable


CellAction = Callable[[], Awaitable[None]]


class CellActions(Struct, frozen=True, gc=True):
    """Actions of the person on the cell."""

    close: Callable[[], object]
    buttons: Mapping[str, CellAction] = {}
    """By the name of the button."""
    use: Callable[[int], CellAction] | None = None
    """Returns the action that replaces the value by that of other sources, by its place."""


# By source: the text before its quote, the quote, and the text after it.
Passages: TypeAlias = Mapping[Evidence, tuple[str, str, str]]


async def read_passages(services: Services, cell: Cell) -> Passages:
    sources = [*cell.evidence, *(source for other in cell.conflict for source in other.evidence)]
    return {source: await read_passage(services, source) for source in sources}


class CellEvidence(Struct, frozen=True, gc=True):
    """A cell with everything that the panel shows of it."""

    title: str
    """The name and number of its row."""
    field: Field
    cell: Cell
    steps: Sequence[Step]
    passages: Passages
    before: Cell | None = None
    """The table's own cell, if this one is only proposed."""
    note: str = ""


def show_cell_evidence(shown: CellEvidence, acts: CellActions) -> ui.label:
    """Build the panel in the current element and return its heading, which can be focused."""
    field, cell, passages = shown.field, shown.cell, shown.passages
    verdicts = identity_verdicts(shown.steps)
    with ui.element("div").classes("tw-panel-top"):
        with ui.element("div").classes("tw-grow"):
            show_remark(shown.title)
            top = show_heading(field.name).props("tabindex=-1")
        ui.button(icon="close", on_click=acts.close).props(
            f'flat round dense aria-label="{t("Close the evidence panel")}"'
        )
    with ui.element("div").classes("tw-panel-body"):
        show_value(cell, proposed=shown.before is not None)
        if shown.before is not None:
            show_present_value(shown.before, cell)
        if shown.note:
            show_paragraph(shown.note, "tw-small")
        show_cell_actions(acts)
        show_identity(shown.steps)
        if cell.evidence:
            count = len(cell.evidence)
            show_heading(t("Source") if count == 1 else t("Sources ({count})", count=count), level=3)
            for source in cell.evidence:
                show_source(source, passages[source], verdicts.get(source.origin, ""))
        for number, other in enumerate(cell.conflict):
            other_reading = t("It may also be read as") if other.reason else t("Other sources say")
            show_heading(t("Perhaps") if cell.value is None else other_reading, level=3)
            with flex_row():
                show_paragraph(format_value(other.value), "tw-other")
                if acts.use:
                    use = ui.button(t("Use this value"), icon="swap_horiz", on_click=acts.use(number))
                    use.props("outline dense padding='2px 10px'")
                    name = shorten_text(format_value(other.value), 60)
                    use.props["aria-label"] = t("Use this value: {name}", name=name)
            if other.reason:
                show_paragraph(other.reason, "tw-small")
            for source in other.evidence:
                show_source(source, passages[source], verdicts.get(source.origin, ""))
        if field.question:
            show_heading(t("Question"), level=3)
            show_paragraph(field.question, "tw-small")
        show_trace(shown.steps)
    # Long quotes scroll to their marked part.
    ui.run_javascript("tablewright.showQuotes()")
    return top


async def open_cell_evidence(table_id: str, row_id: RowId, name: str) -> None:
    """Open a window with the evidence of a cell."""
    visit = await visit_now()
    table = await visit.table(table_id)
    row, field = (await visit.services.rows_by_id(table.id, [row_id])).get(row_id), table.field(name)
    if row is None or field is None:
        raise NotFound(t("That row no longer exists."))
    cell = row.cell(name)
    operation = await find_origin(visit.services, cell, row_id, name)
    passages = await read_passages(visit.services, cell)
    with ui.dialog(value=True) as window, ui.card().classes("tw-window"):
        title = t("{name} · row {number}", name=cell_text(row.cell(table.key_field)) or t("Row"), number=row_id)
        steps = operation.steps if operation else ()
        show_cell_evidence(CellEvidence(title, field, cell, steps, passages), CellActions(close=window.close))
        ui.link(t("Open the table"), f"/tables/{table.id}")
    window.on("hide", window.delete)


def show_value(cell: Cell, *, proposed: bool) -> None:
    with flex_row():
        show_cell_chip(cell)
        if proposed:
            ui.label(t("Proposed, not in the table yet")).classes("tw-chip")
        if cell.imported:
            ui.label(t("Imported with its sources, not checked here")).classes("tw-chip")
        if cell.stale:
            ui.label(t("↻ Stale: an input has changed")).classes("tw-chip tw-medium")
        if is_disputed(cell):
            ui.label(dispute_text(cell)).classes("tw-chip tw-low")
    if cell.value is not None:
        show_paragraph(cell_text(cell), "tw-big")
        if cell.raw_value is not None and cell.raw_value != cell_text(cell):
            show_remark(t("As found: “{raw_value}”", raw_value=cell.raw_value))
    else:
        ui.label(t("No value")).classes("tw-big tw-muted")
    with ui.element("div"):
        for line in explain_confidence(cell):
            show_paragraph(line, "tw-small tw-muted")


def show_present_value(before: Cell, proposed: Cell) -> None:
    """Show what a proposed cell would replace, so that a correction shows what it changed."""
    if before.keeps_its_value(proposed):
        show_paragraph(cell_text(before), "tw-big")
        show_paragraph(kept_value_reason(proposed), "tw-small")
    elif before.value is not None:
        note = read_flag_note(before) if before.status == "FLAGGED" else ""
        said = f", {t('flagged: {note}', note=note)}" if note else ""
        show_paragraph(t("Currently in the table: {before}{said}", before=cell_text(before), said=said), "tw-before")


def identity_verdicts(steps: Sequence[Step]) -> dict[str, str]:
    """Return, by page that was read, if it was taken to be about the row."""
    said = {"same": t("The page is about this row"), "unclear": t("The page may be about something else")}
    return {
        str(step.data["url"]): said[verdict] + (f": {step.data['doubt']}" if step.data.get("doubt") else "")
        for step in steps
        if (verdict := str(step.data.get("same_row", ""))) in said and "url" in step.data
    }


def show_identity(steps: Sequence[Step]) -> None:
    """Show pages that were taken to be about something else, so their values were not used."""
    lines = [trace_text(step.detail) for step in steps if step.data.get("same_row") == "other"]
    if lines:
        show_heading(t("Is it about this row?"), level=3)
        # Several attempts can read the same page.
        for line in dict.fromkeys(lines):
            show_paragraph(line, "tw-small")


def show_cell_chip(cell: Cell) -> None:
    label, kind = {
        "FLAGGED": (t("⚑ Flagged"), "tw-flagged"),
        "FAILED": (f"✗ {capitalise_first(reason_text(cell.reason))}", ""),
        "PENDING": (t("Empty, not looked up yet"), ""),
    }.get(cell.status, ("", ""))
    if cell.status == "ENRICHED" and is_given_by_person(cell):
        label = t("Chosen by a person") if cell.evidence else t("Typed in")
        label, kind = t("Given") if cell.is_given else label, ""
    elif cell.status == "ENRICHED":
        sign, kind = {"high": ("✓", "tw-high"), "medium": ("◐", "tw-medium")}.get(
            cell.confidence_label, ("?", "tw-low")
        )
        label = f"{sign} {capitalise_first(confidence_text(cell.confidence_label))}, {cell.confidence or 0:.2f}"
    ui.label(label).classes(f"tw-chip {kind}")
    if cell.basis == "judged":
        ui.label(t("Judged")).classes("tw-chip")


def capitalise_first(words: str) -> str:
    return words[:1].upper() + words[1:]


def explain_confidence(cell: Cell) -> list[str]:
    """Return the reasons for the confidence, or for a missing value, in sentences."""
    reasons: PageText[dict[str, str]] = {
        "not_found": "None of the places searched, listed below, states it.",
        "blocked": "The pages that may state it could not be read.",
        "not_applicable": "The question does not apply to this row.",
        "conflicting": "The sources disagree, and none is clearly right.",
        "over_budget": "The budget was used up before it was looked up.",
        "error": "Something failed during the search.",
    }
    lines: list[str] = []
    if cell.status == "FAILED":
        lines.append(t(reasons[cell.reason or "error"]))
    elif cell.value is not None and cell.is_given:
        lines.append(t("It came with the table and is taken as given."))
    elif cell.value is not None:
        lines += [f"{basis}." for basis in [translated_basis(cell)] if basis]
        domains = {source.domain for source in cell.evidence if source.stance == "supports" and source.domain}
        # Two pages of one site are one source.
        if len(domains) > 1 and cell.basis != "judged":
            lines.append(
                t(
                    "{sources} independent sources agree, and every quote was found in the retrieved text.",
                    sources=len(domains),
                )
            )
        elif domains:
            one = t("The quote was found in the retrieved text.")
            lines.append(t("Every quote was found in the retrieved text.") if len(cell.evidence) > 1 else one)
        if is_disputed(cell):
            if any(other.reason for other in cell.conflict):
                lines.append(t("It can be read in more than one way, so the confidence is at most medium."))
            if not all(other.reason for other in cell.conflict):
                lines.append(t("Another source disagrees, which lowers the confidence."))
    if cell.error:
        lines.append(capitalise_first(cell.error) + ("" if cell.error.endswith((".", "!", "?")) else "."))
    return lines


def show_cell_actions(acts: CellActions) -> None:
    # Label, name in `CellActions` and icon of each button.
    buttons: PageText[tuple[tuple[str, str, str], ...]] = (
        ("Accept", "accept", "check"),
        ("Reject", "refuse", "close"),
        ("Find this value", "fill", "search"),
        ("Edit", "edit", "edit"),
        ("Recheck", "recheck", "sync"),
        ("This is wrong", "flag", "flag"),
    )
    with flex_row():
        for label, name, icon in buttons:
            if act := acts.buttons.get(name):
                small_button(t(label), act, icon=icon, look="unelevated" if name == "accept" else "outline")


def show_source(source: Evidence, around: tuple[str, str, str], verdict: str = "") -> None:
    """Show a source and its quote; `verdict` says if its page was taken to be about the row."""
    with ui.element("article").classes("tw-source"):
        with flex_row():
            show_web_link(source.title or source.domain or source.origin, source.origin)
            if source.is_title:
                ui.label(t("title")).classes("tw-chip")
            if source.page:
                ui.label(t("page {page}", page=source.page)).classes("tw-chip")
            if source.stance != "supports":
                ui.label(t(source.stance)).classes("tw-chip tw-medium")
        where = source.domain or source.origin
        when = t("Retrieved {retrieved_at}", retrieved_at=source.retrieved_at[:10]) if source.retrieved_at else ""
        show_paragraph(" · ".join(filter(None, (where, when))), "tw-muted tw-small")
        if verdict:
            show_paragraph(verdict, "tw-small")
        before, quote, after = around
        # A long quote scrolls, so the keyboard must be able to focus it.
        with ui.element("blockquote").classes("tw-quote").props("tabindex=0"):
            ui.label(before).classes("tw-inline")
            ui.label(quote).classes("tw-inline tw-mark").props("role=mark")
            ui.label(after).classes("tw-inline")


async def read_passage(services: Services, source: Evidence) -> tuple[str, str, str]:
    """Return the quote with the stored text around it, or alone if the text is not stored."""
    # characters of the stored text before and after the quote: two or three sentences
    margin = 320
    stored = await services.stored_text(source.content_hash) if source.content_hash else None
    place = locate_evidence(source, stored) if stored else None
    if stored is None or place is None:
        return "", source.quote, ""
    start, end = place
    first, last = max(0, start - margin), min(len(stored), end + margin)
    before, after = stored[first:start], stored[end:last]
    return ("…" if first else "") + before, stored[start:end], after + ("…" if last < len(stored) else "")


def show_trace(steps: Sequence[Step]) -> None:
    icons = {
        "search": "search",
        "fetch": "download",
        "thinking": "lightbulb",
        "compute": "functions",
        "error": "error_outline",
        "coverage": "donut_small",
        "answer": "check_circle_outline",
    }
    # Beyond this the trace is not readable, and the panel would open slowly.
    most_steps = 60
    if not steps:
        return
    show_heading(t("How it was found"), level=3)
    with ui.element("ol").classes("tw-trace"):
        for step in steps[:most_steps]:
            with ui.element("li").classes(f"tw-step-{step.type}"):
                ui.icon(icons[step.type]).props("aria-hidden=true")
                show_paragraph(trace_text(step.detail))
    if len(steps) > most_steps:
        show_remark(t("… {value} more steps", value=len(steps) - most_steps))


# ── the panel next to the grid ────────────────────────────────────────────────────────────────────────────────────────


class CellPanel:
    """The evidence of the clicked cell, next to the grid; `at` is that cell."""

    def __init__(self, page: OpenTable) -> None:
        width = 440
        self._page = page
        self._client = context.client
        self.at: tuple[RowId, str] | None = None
        with ui.right_drawer(value=False, bordered=True, fixed=True) as self._drawer:
            self._handle = ui.element("div").classes("tw-panel-handle")
            self._handle.props(f"role=separator aria-orientation=vertical tabindex=0 aria-valuenow={width}")
            self._handle.props(f'aria-valuemin=280 aria-valuemax=1600 aria-label="{t("Panel width")}"')
            self._panel = ui.element("aside").classes("tw-panel").props(f'aria-label="{t("Evidence of the cell")}"')
        self._panel.on("keydown.esc", self.close)
        self._drawer.props(f"width={width} breakpoint=900 no-swipe-open").classes("tw-drawer")
        ui.on("panel_width", self._resize)
        ui.on(
            "grid_open",
            lambda event: self.open(event.args["row_id"], event.args["field"], by_key=event.args["by_key"]),
        )
        ui.keyboard(on_key=self._close_by_key, ignore=["input", "select", "button", "textarea"])
        ui.run_javascript("tablewright.panel.start()")

    def watch(self) -> None:
        """Tell the grid when the panel is closed; called once the grid exists."""
        self._opened = ui.label().classes("tw-unseen").props("role=status")
        self._drawer.on_value_change(lambda event: None if event.value else self._page.grid.call("leavePanel"))

    @property
    def is_open(self) -> bool:
        return bool(self._drawer.value)

    def close(self) -> None:
        self._drawer.hide()

    def _close_by_key(self, event: events.KeyEventArguments) -> None:
        if event.action.keydown and event.key.escape and self.is_open:
            self.close()

    def _resize(self, event: events.GenericEventArguments) -> None:
        width = max(280, min(1_600, int(event.args)))
        self._drawer.props(f"width={width}")
        self._handle.props(f"aria-valuenow={width}")

    async def refresh(self) -> None:
        if self.at and self.is_open:
            await self.open(*self.at)

    async def open(self, row_id: RowId, name: str, *, by_key: bool = False) -> None:
        self.at = (row_id, name)
        visit = await visit_now()
        table = await visit.table(self._page.table.id)
        row = (await visit.services.rows_by_id(table.id, [row_id])).get(row_id)
        field = next((field for field in (*table.fields, *self._page.extra()) if field.name == name), None)
        if row is None or field is None:
            return
        cell, (head, operation) = row.cell(name), await self._newest(row, name)
        before, note = None, ""
        if operation is not None and cell.keeps_its_value(operation.cell):
            note, head, operation = t("Looked up again: {result}", result=kept_value_reason(operation.cell)), None, None
        if operation is not None:
            before, cell = cell, operation.cell
        else:
            operation = await find_origin(visit.services, cell, row_id, name)
        passages = await read_passages(visit.services, cell)
        # Another cell has been clicked by now.
        if self.at != (row_id, name):
            return
        self._panel.clear()
        with self._panel:
            title = t("{name} · row {number}", name=cell_text(row.cell(table.key_field)) or t("Row"), number=row_id)
            steps = operation.steps if operation else ()
            acts = self._acts(row, field, cell, head)
            shown = CellEvidence(title, field, cell, steps, passages, before, note)
            heading = show_cell_evidence(shown, acts)
        said = f"{t('Evidence')}: {title}, {name}: {cell_text(cell) or t('No value')}"
        self._opened.set_text(shorten_text(said, 200))
        self._drawer.show()
        self._page.grid.call("showPanel", heading.id, by_key)

    async def proposed(self, row: Row, name: str) -> tuple[ProposalHead | None, ProposedCell | None]:
        """Return the newest proposal that would change a cell and is neither decided nor outdated."""
        head, operation = await self._newest(row, name)
        if operation is not None and row.cell(name).keeps_its_value(operation.cell):
            return None, None
        return head, operation

    async def _newest(self, row: Row, name: str) -> tuple[ProposalHead | None, ProposedCell | None]:
        services = (await visit_now()).services
        for head in self._page.proposals.heads:
            try:
                found = await services.store.proposals.operation(head.id, row.id, name)
            except NotFound:
                continue
            # A cell that was written since then has decided the older proposal.
            if found.decision == "open" and is_newer_than_cell(found.cell.updated_at, row.cell(name).updated_at):
                return head, found
        return None, None

    def _acts(self, row: Row, field: Field, cell: Cell, head: ProposalHead | None) -> CellActions:
        if not self._page.may_change:
            return CellActions(close=self.close)
        page, at = self._page, (row.id, field.name)
        own, can_decide = head is None, head is not None and head.status == "open"
        is_fillable = cell.is_unfound and field.is_asked and own and not page.run.is_running
        fill = partial(page.ask, page.table.field(field.name), row_ids=[row.id], redo="unfound")
        possible: dict[str, tuple[bool, CellAction]] = {
            "accept": (can_decide and cell.value is not None, partial(self._decide, *at, "accepted")),
            "refuse": (can_decide, partial(self._decide, *at, "refused")),
            "fill": (is_fillable, fill),
            "edit": (page.table.field(field.name) is not None, partial(page.edit_cell, *at)),
            "recheck": (bool(cell.evidence) and own, partial(page.recheck, [field.name], [row.id])),
            "flag": (cell.value is not None and own, partial(self._flag, *at)),
        }
        return CellActions(
            close=self.close,
            buttons={name: self._act_outside(act) for name, (is_allowed, act) in possible.items() if is_allowed},
            use=(lambda number: self._act_outside(partial(self._use_other, *at, number)))
            if own or can_decide
            else None,
        )

    def _act_outside(self, act: CellAction) -> CellAction:
        """Run an action outside of the panel, so that a dialog stays when the panel shows another cell."""

        async def do() -> None:
            with self._client.content:
                await act()

        return do

    async def _flag(self, row_id: RowId, name: str) -> None:
        """Flag a cell; the reason guides the next search, which may begin at once."""
        field = self._page.table.field(name)
        may_look = field is not None and field.is_asked and not self._page.run.is_running
        reason, look = await ask_flag_reason(may_look=may_look)
        if reason is None:
            return
        visit = await visit_now("write", self._page.table.id)
        await self._done(await visit.services.changes.flag(self._page.table.id, row_id, name, reason), t("Flagged."))
        if look and field is not None:
            await self._page.search_again(field, [row_id])

    async def _use_other(self, row_id: RowId, name: str, number: int) -> None:
        """Swap the value with that of another source."""
        visit = await visit_now("write", self._page.table.id)
        changes = visit.services.changes
        row = (await visit.services.rows_by_id(self._page.table.id, [row_id]))[row_id]
        head, operation = await self.proposed(row, name)
        if head is not None and operation is not None:
            chosen = changes.other_value(operation.cell, number)
            change = (await changes.decide(head.id, Review(edited={(row_id, name): chosen}))).change
        else:
            written = await changes.use_other(self._page.table.id, row_id, name, number)
            chosen, change = written.cell, written.change
        await self._done(change, t("{value} is in the table, with its source.", value=cell_text(chosen)))

    async def _done(self, change: Change | None, words: str) -> None:
        show_notice(words)
        self._page.undo.note(change)
        await self._page.sync()

    async def _decide(self, row_id: RowId, name: str, verdict: Literal["accepted", "refused"]) -> None:
        visit = await visit_now("write", self._page.table.id)
        row = (await visit.services.rows_by_id(self._page.table.id, [row_id])).get(row_id)
        head, _ = await self.proposed(row, name) if row else (None, None)
        if head is None:
            raise UsageError(t("Another person has already decided this."), kept=t("Nothing was changed."))
        cells = (CellPlace(row_id=row_id, field=name),)
        accepted, refused = (cells, ()) if verdict == "accepted" else ((), cells)
        request = DecideProposal(proposal_id=head.id, accepted=accepted, refused=refused)
        done = (await decide_proposal(visit.services, request)).applied
        if done.conflicts:
            show_notice(t("The cell changed during the run, so its value was kept."), good=False)
            await self._page.sync()
        else:
            words = t("Accepted.") if verdict == "accepted" else t("Rejected. The table is unchanged.")
            await self._done(done.change, words)
