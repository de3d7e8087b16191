"""The adviser: one state, three phases, and a turn that is one function of state and message.

INTAKE learns what is wanted and asks for confirmation; RESEARCH explores, asks for confirmation of the columns, and has
the engine fill them; ADVISE shows, explains and goes back to where a wish leads. What a message means is the model's
judgement; buttons and commands say it exactly and need none. Whoever drives it, a terminal, a page, an API or another
program, sends messages and button labels and gets replies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeAlias

import msgspec
from msgspec import structs

from tablewright.decisions.decision import decide
from tablewright.decisions.shortlist.columns import ColumnsToPropose, ProposeColumns
from tablewright.decisions.shortlist.turn import TurnTaken
from tablewright.engine.fill import USUAL, Terms
from tablewright.engine.progress import ignore
from tablewright.errors import NotFound, UsageError
from tablewright.journeys.shortlist.advising import Advising, unverified
from tablewright.journeys.shortlist.comparison import Comparison
from tablewright.journeys.shortlist.explore import PAGES, ROUNDS, Explored, explore
from tablewright.journeys.shortlist.ranking import rank, shown_cell
from tablewright.journeys.shortlist.talk import (
    fresh,
    is_same,
    lines,
    reply_of,
    wishes_told,
    with_message,
)
from tablewright.journeys.shortlist.understood import missing, understood
from tablewright.store.store import Store
from tablewright.strategies.tools import Tools
from tablewright.table.feed import Progress
from tablewright.table.model import Step, Table, column_key
from tablewright.table.rates import BUNDLED, Rates
from tablewright.table.shortlist import (
    BUTTONS,
    CONFIRM,
    EDIT,
    ENRICH,
    FRESH,
    GO_ON,
    KEY,
    MODIFY,
    PRICE_FIELD,
    TOP,
    TRY_AGAIN,
    USUAL_LIMITS,
    ChatReply,
    Limits,
    Phase,
    Refinement,
    Said,
    ShortlistState,
)
from tablewright.table.text import cell_text, plural
from tablewright.table.untrusted import clean

Taken: TypeAlias = tuple[ShortlistState, ChatReply]
EDITING = "What should be different? Say it, or use /drop N, /hard N, /soft N, /must …, /nice …, /avoid …"
MODIFYING = "Which columns should be added or hidden? Say it, or use /add COLUMN and /hide COLUMN."


class Shortlist:
    """`watch` sees the engine's progress, `tell` the steps. `folder` is where exports go, whatever place is named."""

    def __init__(
        self,
        store: Store,
        tools: Tools,
        *,
        actor: str = "",
        terms: Terms = USUAL,
        limits: Limits = USUAL_LIMITS,
        rates: Rates = BUNDLED,
        concurrency: int | None = None,
        watch: Callable[[Progress], None] = ignore,
        tell: Callable[[Step], None] = lambda _: None,
        folder: Path | None = None,
    ) -> None:
        self._store = store
        self._folder = folder
        self._tools = tools
        self._actor = actor
        self._terms = terms
        self._limits = limits
        self._rates = rates
        self._concurrency = concurrency
        self._watch = watch
        self._tell = tell

    async def turn(self, state_id: str, message: str) -> Taken:
        """Reads the state, takes the turn, writes the state."""
        state = await self._store.shortlists.get(state_id)
        said = clean(message).strip()
        state, reply = await self._routed(with_message(state, "user", said), said)
        state = structs.replace(with_message(state, "advisor", reply.whole), buttons=reply.buttons)
        return await self._store.shortlists.save(state), reply

    async def _routed(self, state: ShortlistState, said: str) -> Taken:
        if not state.error and state.table_id and not await self._has_table(state):
            gone = f"The table {state.table_id} is not there any more, so we start afresh."
            state = structs.replace(state, error=gone, table_id="")
        if state.error:
            kept = f" The table {state.table_id} is kept." if state.table_id else ""
            return fresh(state), reply_of((), f"{state.error}{kept} What are you looking for?", buttons=(FRESH,))
        if state.phase == "end":
            state = fresh(state)
        if said in BUTTONS:
            return await self._pressed(state, said)
        table = await self._table(state)
        ranking = rank(table, state.requirements, self._rates)
        try:
            turn, note = await understood(state, said, table, ranking, self._tools.model, self._tell)
        except UsageError as error:
            return await self._where_we_are(state, lines(str(error)))
        turn = structs.replace(turn, said=(*turn.said, *lines(note, unverified(turn.left_out))))
        return await self._carried_out(state, turn, said)

    async def _carried_out(self, state: ShortlistState, turn: TurnTaken, message: str) -> Taken:
        is_changed = not is_same(turn.requirements, state.requirements)
        match turn.intent:
            case "agree" if state.buttons:
                return await self._pressed(state, state.buttons[0])  # the first is what goes on
            case "take back":
                return await self._taken_back(state, turn.said)
            case "start over":
                return fresh(state), reply_of(turn.said or lines("What are you looking for?"))
            case "other product":
                before = f" The table {state.table_id} is kept." if state.table_id else ""
                note = lines(f"We start over with {turn.requirements.product_type}.{before}")
                return await self._wished(fresh(state), structs.replace(turn, said=(*turn.said, *note)))
            case "done":
                kept = f"The comparison stays in the table {state.table_id}." if state.table_id else ""
                return structs.replace(state, phase="end", waiting=""), reply_of(turn.said, kept)
            case "refuse":
                return await self._where_we_are(state, turn.said)
            case "columns":
                return await self._columns(state, turn, message)
            case "more":
                return await self._more(state, turn, message)
            case _ if is_changed or turn.intent == "wish":
                return await self._wished(self._refined(state, "requirements", message), turn)
            case _ if not state.table_id:
                return await self._where_we_are(state, turn.said)
        return await self._about_table(state, turn, message)

    async def _about_table(self, state: ShortlistState, turn: TurnTaken, message: str) -> Taken:
        comparison = await self._comparison(state)
        advising = self._advising(state, comparison)
        match turn.intent:
            case "show":
                reply = await advising.show(turn)
            case "links":
                reply = await advising.links(turn)
                state = structs.replace(state, offers=reply.listings)
            case "export":
                reply = await advising.export(turn)
            case "source":
                reply = await advising.source(turn)
            case "wrong value":
                reply = await advising.look_again(turn, message)
                state = self._refined(state, "a value was looked up again", message)
            case "remove" if turn.products:
                await comparison.remove_products(turn.products)
                return await self._where_we_are(state, (*turn.said, *lines("Taken out of the comparison.")))
            case _:
                return await self._where_we_are(state, turn.said)
        return state, structs.replace(reply, buttons=state.buttons)

    # ── buttons ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _pressed(self, state: ShortlistState, label: str) -> Taken:
        match label:
            case _ if label == FRESH:
                return fresh(state), reply_of((), "What are you looking for?")
            case _ if label == EDIT and state.requirements.product_type:
                return state, reply_of((), *wishes_told(state.requirements), EDITING, buttons=state.buttons)
            case _ if label == CONFIRM and state.waiting == "requirements":
                return await self._confirmed(state)
            case _ if label == TRY_AGAIN and state.requirements.product_type:
                return await self._research(state)
            case _ if label == MODIFY and state.waiting == "fields":
                return await self._proposed(state, lines(MODIFYING))
            case _ if label == ENRICH and state.waiting == "fields":
                comparison = await self._comparison(state)
                await comparison.add_fields(state.proposed)
                notes = await comparison.fill()
                return await self._present(structs.replace(state, proposed=()), notes=notes)
            case _ if label == GO_ON and state.has_presented:
                notes = await (await self._comparison(state)).fill()
                return await self._present(state, notes=notes)
        return await self._where_we_are(state, lines("That belongs to another step."))

    async def _where_we_are(self, state: ShortlistState, said: Sequence[Said]) -> Taken:
        """The same step once more, with its buttons: nobody is left without a way on."""
        if state.waiting == "fields":
            return await self._proposed(state, said)
        if state.waiting == "requirements":
            return await self._to_confirm(state, said)
        if state.phase == "intake" and not said:
            return state, reply_of((), "What are you looking for?")
        return state, reply_of(said, buttons=state.buttons)

    # ── intake ───────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _wished(self, state: ShortlistState, turn: TurnTaken) -> Taken:
        table = await self._table(state)
        before = state.before or (state.requirements if state.has_presented else None)
        columns = [*missing(table, (*state.columns, *turn.columns))]
        used = {column_key(wish.column) for wish in turn.requirements.wishes}
        columns = [field for field in columns if column_key(field.name) in used]
        state = structs.replace(state, requirements=turn.requirements, columns=tuple(columns), before=before)
        if state.waiting == "fields":
            proposed = (*state.proposed, *missing(table, columns, state.proposed))
            return await self._proposed(structs.replace(state, proposed=proposed), turn.said)
        if state.has_presented or state.waiting == "requirements" or (turn.is_ready and turn.requirements.product_type):
            return await self._to_confirm(state, turn.said)
        return state, reply_of(turn.said)

    async def _to_confirm(self, state: ShortlistState, said: Sequence[Said] = ()) -> Taken:
        """Nothing is spent before the person has seen what was understood, and about what it will take."""
        state = structs.replace(state, waiting="requirements")
        told = wishes_told(state.requirements)
        if state.has_presented:
            told.append(await self._preview(state))
        else:
            state = structs.replace(state, phase="intake")
            price = self._terms.search_price * self._limits.queries * ROUNDS
            pages = PAGES + PAGES // 2
            told.append(
                f"That takes up to {self._limits.queries * ROUNDS} searches and {pages} pages to find candidates"
                f"{f', ${price:.2f}' if price else ''}; the comparison is estimated afterwards."
            )
        return state, reply_of(said, *told, buttons=(CONFIRM, EDIT))

    async def _preview(self, state: ShortlistState) -> str:
        """Before anything is searched, what is there is ranked by what is wanted now."""
        ranking = rank(await self._table(state), state.requirements, self._rates)
        count, all_ = len(ranking.ranked), len(ranking.ranked) + len(ranking.excluded)
        new = (
            f" {', '.join(field.name for field in state.columns)} would be looked up for them." if state.columns else ""
        )
        more = " Fewer than five is not many, so further ones would be searched for." if count < TOP else ""
        return f"Of the {all_} candidates that are there, {count} meet this as far as is known.{new}{more}"

    async def _taken_back(self, state: ShortlistState, said: Sequence[Said]) -> Taken:
        if state.before is None:
            return await self._where_we_are(state, said)
        waiting = "" if state.has_presented else state.waiting
        state = structs.replace(state, requirements=state.before, before=None, columns=(), waiting=waiting, buttons=())
        return await self._where_we_are(state, said or lines("All stays as it was."))

    async def _confirmed(self, state: ShortlistState) -> Taken:
        state = structs.replace(state, waiting="", before=None)
        if not state.has_presented:
            return await self._research(state)
        comparison = await self._comparison(state)
        notes = []
        if new := await comparison.add_fields(state.columns):
            notes = await comparison.fill(fields=new)
        state = structs.replace(state, columns=())
        ranking = rank(await comparison.table(), state.requirements, self._rates)
        if len(ranking.ranked) >= TOP:
            heading = "Ranked again by what you want now; nothing new was searched."
            return await self._present(state, heading=heading, notes=notes)
        return await self._research(state)

    # ── research ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _research(self, state: ShortlistState, *, like: str = "", count: int = 0) -> Taken:
        """Candidates, and the columns to compare them by, for confirmation. On a further search the columns are known,
        and only the new rows are filled; where none is new, what is there is judged by what is wanted now."""
        state = structs.replace(state, phase="research", waiting="")
        comparison = await self._comparison(state)
        state = structs.replace(state, table_id=comparison.table_id)
        table = await comparison.table()
        known = [cell_text(row.cell(KEY)) for row in table.rows]
        found = await explore(
            state.requirements,
            self._tools,
            self._limits,
            known=known,
            tried=state.tried,
            like=like,
            most=count,
            tell=self._tell,
        )
        if found.failed or not (found.products or known):
            return self._nothing(state, found)
        state = structs.replace(state, tried=(*state.tried, *found.queries))
        new = await comparison.add_products(found.products)
        if not state.has_presented:
            return await self._propose(state, found, len(known) + new)
        notes = (*found.notes, *await comparison.fill())
        heading = f"{new} more found." if new else "No further product was found; what is there was ranked again."
        return await self._present(state, heading=heading, notes=notes)

    def _nothing(self, state: ShortlistState, found: Explored) -> Taken:
        told = f"The search failed: {found.failed}" if found.failed else "No product was found."
        kept = "Your requirements are kept." if not state.has_presented else "The comparison is kept."
        phase: Phase = "advise" if state.has_presented else "intake"
        state = structs.replace(state, phase=phase, waiting="")
        return state, reply_of(
            (), *found.notes, told, f"{kept} Try again, or change what is wanted.", buttons=(TRY_AGAIN, EDIT)
        )

    async def _propose(self, state: ShortlistState, found: Explored, count: int) -> Taken:
        model = self._tools.model
        official = {each.official_url for each in found.products}
        of_maker = {page.domain: page for page in reversed(found.pages) if page.origin in official}
        pages = list({page.origin: page for page in (*reversed(of_maker.values()), *found.pages)}.values())
        asked = ColumnsToPropose(
            requirements=state.requirements,
            fields=state.columns,
            sources=tuple(pages),
            room=min(model.text_room, 16_000) if model is not None else 0,
        )
        self._tell(Step(type="thinking", detail="Choosing what to compare them by."))
        outcome = await decide(ProposeColumns(), asked, model, self._tell)
        state = structs.replace(state, proposed=outcome.decided, columns=(), waiting="fields")
        told = [f"{count} {plural('candidate', count)} found.", *found.notes]
        if outcome.degraded:
            told.append(f"The columns are those of your wishes alone: {outcome.degraded}")
        return await self._proposed(state, lines(*told))

    async def _proposed(self, state: ShortlistState, said: Sequence[Said]) -> Taken:
        names = ", ".join(field.name for field in state.proposed)
        likely = await (await self._comparison(state)).estimate(state.proposed)
        return state, reply_of(said, f"I would compare: {names}.", likely, buttons=(ENRICH, MODIFY))

    async def _columns(self, state: ShortlistState, turn: TurnTaken, message: str) -> Taken:
        drop = {column_key(name) for name in turn.drop_columns}
        if state.waiting == "fields":
            kept = [field for field in state.proposed if column_key(field.name) not in drop]
            proposed = (*kept, *missing(None, turn.columns, kept)) or (PRICE_FIELD,)
            return await self._proposed(structs.replace(state, proposed=proposed), turn.said)
        if not state.has_presented:
            return await self._where_we_are(state, turn.said)
        comparison = await self._comparison(state)
        hidden = await comparison.hide(turn.drop_columns) if drop else []
        said = [*turn.said]
        if hidden:
            said += lines(f"No longer shown: {', '.join(hidden)}. What was found stays in the table.")
        shown = (await comparison.table()).fields
        wanted = [field for name in turn.about_columns for field in shown if column_key(field.name) == column_key(name)]
        if not turn.columns and not wanted:
            return state, reply_of(said)
        new = await comparison.add_fields((*turn.columns, *wanted))
        state = self._refined(state, f"added {', '.join(new)}", message)
        if new and turn.products:
            return state, await self._advising(state, comparison).look_up(turn, new)
        notes = await comparison.fill(fields=new) if new else []
        names = ", ".join(new or [field.name for field in wanted])
        return await self._present(state, said, heading=f"Now part of the comparison: {names}.", notes=notes)

    async def _more(self, state: ShortlistState, turn: TurnTaken, message: str) -> Taken:
        if not state.has_presented:
            return await self._where_we_are(state, turn.said)
        comparison = await self._comparison(state)
        table = await comparison.table()
        like = next((row for row in table.rows if row.id == turn.like), None)
        told = [(field.name, shown_cell(like, field)) for field in table.shown_fields] if like else []
        described = "; ".join(f"{name}: {value}" for name, value in told if value)
        if turn.requirements.product_type:
            state = structs.replace(state, requirements=turn.requirements)
        if new := await comparison.add_fields(missing(table, turn.columns)):
            await comparison.fill(fields=new)
        state = self._refined(state, f"more options{f' like {cell_text(like.cell(KEY))}' if like else ''}", message)
        return await self._research(state, like=described, count=turn.count)

    # ── advice ───────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _present(
        self, state: ShortlistState, said: Sequence[Said] = (), *, heading: str = "", notes: Sequence[str] = ()
    ) -> Taken:
        state = structs.replace(state, phase="advise", waiting="", has_presented=True)
        advising = self._advising(state, await self._comparison(state))
        return await advising.present(said, heading=heading, notes=notes)

    def _refined(self, state: ShortlistState, changed: str, trigger: str) -> ShortlistState:
        if not state.has_presented:
            return state
        new = Refinement(loop=len(state.refinements) + 1, changed=changed, trigger=trigger)
        return structs.replace(state, refinements=(*state.refinements, new))

    def _advising(self, state: ShortlistState, comparison: Comparison) -> Advising:
        return Advising(state, comparison, self._store, self._tools, self._rates, self._tell, self._folder)

    # ── the table ────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _has_table(self, state: ShortlistState) -> bool:
        try:
            await self._store.tables.find(state.table_id)
        except NotFound:
            return False
        return True

    async def _table(self, state: ShortlistState) -> Table:
        return await self._store.tables.load(state.table_id) if state.table_id else Table(id="", name="")

    async def _comparison(self, state: ShortlistState) -> Comparison:
        return Comparison(
            self._store,
            self._tools,
            table_id=state.table_id or await self._make_table(state),
            actor=self._actor,
            terms=self._terms,
            limits=self._limits,
            concurrency=self._concurrency,
            watch=self._watch,
        )

    async def _make_table(self, state: ShortlistState) -> str:
        """Known to the conversation at once: where the turn fails, the next one goes on with the same table."""
        name = state.requirements.product_type.capitalize() or "Shortlist"
        table_id = await Comparison.make(self._store, name, self._actor, has_model=self._tools.model is not None)
        before = await self._store.shortlists.get(state.id)
        await self._store.shortlists.save(msgspec.structs.replace(before, table_id=table_id))
        return table_id
