"""The advisor: one state, three phases, and a turn that is one function of state and message.

INTAKE learns what is wanted and asks for confirmation; RESEARCH explores, asks for confirmation of the fields, and has
the engine fill them; ADVISE shows, explains and goes back to where a wish leads. Whoever drives it, a terminal, a page,
an API or another program, sends messages and button labels and gets replies.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from tablewright.decisions.decision import decide
from tablewright.decisions.intake import guard
from tablewright.decisions.intake.questions import next_questions
from tablewright.decisions.intake_turn import Intake, IntakeStep, IntakeTurn, edited, gaps_of, summarise
from tablewright.decisions.propose_fields import Propose, ProposeFields, lacking, modified, refusals
from tablewright.decisions.shopping.button_words import (
    agrees,
    asks,
    chosen,
    declines,
    of_columns,
    restarts,
    takes_back,
)
from tablewright.engine.fill import USUAL, Terms
from tablewright.engine.progress import ignore
from tablewright.errors import NotFound
from tablewright.journeys.shortlist.advise import NEXT, Advising
from tablewright.journeys.shortlist.explorer import MOST_PAGES, MOST_SEARCHES, Explored, explore
from tablewright.journeys.shortlist.shelf import KEY, Shelf
from tablewright.store.records import now
from tablewright.store.store import Store
from tablewright.strategies.tools import Tools
from tablewright.table.feed import Progress
from tablewright.table.model import Field, Step
from tablewright.table.shortlist import (
    CONFIRM,
    EDIT,
    ENRICH,
    FRESH,
    GO_ON,
    MODIFY,
    NO,
    TARGET,
    YES,
    ChatMessage,
    ChatReply,
    Requirements,
    Said,
    ShortlistState,
    Waiting,
)
from tablewright.table.text import cell_text, plural
from tablewright.table.untrusted import clean

LONGEST = 4_000
"""Characters of a message that are read."""
_STEP_OF = {CONFIRM: "requirements", EDIT: "requirements", ENRICH: "fields", MODIFY: "fields", GO_ON: "advise"}
"""What the conversation waits for, or its phase, where a button belongs."""


class Shortlist:
    """`watch` sees the engine's progress, `tell` the steps. `folder` is where exports go, whatever place is named."""

    def __init__(
        self,
        store: Store,
        tools: Tools,
        *,
        actor: str = "",
        terms: Terms = USUAL,
        watch: Callable[[Progress], None] = ignore,
        tell: Callable[[Step], None] = lambda _: None,
        folder: Path | None = None,
    ) -> None:
        self._store = store
        self._folder = folder
        self._tools = tools
        self._actor = actor
        self._terms = terms
        self._watch = watch
        self._tell = tell

    async def turn(self, state_id: str, message: str) -> tuple[ShortlistState, ChatReply]:
        """Reads the state, takes the turn, writes the state."""
        state = await self._store.shortlists.get(state_id)
        said = " ".join(clean(message).split())[:LONGEST]
        state = with_message(state, "user", said)
        state, reply = await self._routed(state, said)
        state = msgspec.structs.replace(with_message(state, "advisor", reply.text), buttons=reply.buttons)
        return await self._store.shortlists.save(state), reply

    async def _routed(self, state: ShortlistState, said: str) -> tuple[ShortlistState, ChatReply]:
        """By the phase; whoever writes while research goes on is answered as in advice."""
        if not state.error and state.table_id and not await self._has_table(state):
            gone = f"The table {state.table_id} is not there any more, so we start afresh."
            state = msgspec.structs.replace(state, error=gone, table_id="")
        if state.error:
            return self._afresh(state)
        rest = "" if said == FRESH else restarts(said)
        if rest is not None:
            return await self._intake(fresh(state), rest)
        if state.phase == "end":
            return await self._intake(fresh(state), said)
        if state.waiting == "intent":
            return await self._turning(state, said)
        if said in _STEP_OF and _STEP_OF[said] != (state.waiting or state.phase):
            return await self._where_we_are(state, "That button belongs to another step.")
        if state.waiting == "requirements":
            return await self._confirming(state, said)
        if state.waiting == "fields":
            return await self._choosing_fields(state, said)
        if state.phase == "intake":
            return await self._intake(state, said)
        return await self._advised(state, said)

    def _afresh(self, state: ShortlistState) -> tuple[ShortlistState, ChatReply]:
        kept = f" The table {state.table_id} is kept." if state.table_id else ""
        said = Said(text=f"{state.error}{kept} What are you looking for?")
        return msgspec.structs.replace(fresh(state), error=""), ChatReply(said=(said,), buttons=(FRESH,))

    async def _has_table(self, state: ShortlistState) -> bool:
        try:
            await self._store.tables.find(state.table_id)
        except NotFound:
            return False
        return True

    async def _where_we_are(self, state: ShortlistState, lead: str) -> tuple[ShortlistState, ChatReply]:
        """The same step once more, with its buttons: nobody is left without a way on."""
        if state.waiting == "fields":
            return state, await self._fields_reply(state, (lead,))
        if state.phase == "advise":
            return state, ChatReply(said=(Said(text=lead), Said(text=NEXT)))
        if state.waiting == "requirements" or state.requirements.are_sufficient:
            return self._to_confirm(state, lead)
        questions = next_questions(state.requirements, state.asked) or ("Is there anything it must have?",)
        lines = (lead, *questions)
        return state, ChatReply(said=tuple(Said(text=line) for line in lines))

    # ── another product ──────────────────────────────────────────────────────────────────────────────────────────────

    def _other_product(self, state: ShortlistState, said: str, step: IntakeStep) -> tuple[ShortlistState, ChatReply]:
        """What was said so far is kept until the person says that it shall be the other product."""
        state = msgspec.structs.replace(state, pending=said, waiting="intent")
        return state, ChatReply(said=tuple(Said(text=line) for line in step.questions), buttons=(YES, NO))

    async def _turning(self, state: ShortlistState, said: str) -> tuple[ShortlistState, ChatReply]:
        other = Intake().fallback(IntakeTurn(message=state.pending, requirements=state.requirements)).requirements
        choice = chosen(said, state.requirements.product_type, other.product_type)
        if choice == "new":
            return await self._intake(fresh(state), state.pending)
        if choice == "old":
            waiting: Waiting = "requirements" if state.before is not None else "fields" if state.proposed else ""
            state = msgspec.structs.replace(state, pending="", waiting=waiting)
            return await self._where_we_are(state, f"We stay with the {state.requirements.product_type}.")
        step = await self._read(state, said)
        if step.kind == "new_topic":
            return self._other_product(state, said, step)
        again = f"First: shall it be the {other.product_type}, or still the {state.requirements.product_type}?"
        lines = (step.reply, again) if step.kind == "refused" else (again,)
        return state, ChatReply(said=tuple(Said(text=line) for line in lines), buttons=(YES, NO))

    # ── intake ───────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _intake(self, state: ShortlistState, said: str) -> tuple[ShortlistState, ChatReply]:
        if not said:
            return state, ChatReply(said=(Said(text="What are you looking for?"),))
        step = await self._read(state, said)
        if step.kind == "new_topic":
            return self._other_product(state, said, step)
        state = msgspec.structs.replace(
            state, requirements=step.requirements, asked=(*state.asked, *step.questions), assumptions=step.gaps
        )
        if step.kind not in ("refused", "off_topic") and step.ready:
            return self._to_confirm(state, step.reply)
        lines = [step.reply, *step.questions]
        return state, ChatReply(said=tuple(Said(text=line) for line in lines if line))

    async def _read(self, state: ShortlistState, said: str) -> IntakeStep:
        asked = IntakeTurn(message=said, requirements=state.requirements, asked=state.asked)
        step: IntakeStep = (await decide(Intake(), asked, self._tools.model, self._tell)).decided
        return step

    def _to_confirm(self, state: ShortlistState, reply: str = "") -> tuple[ShortlistState, ChatReply]:
        """Nothing is spent before the person has seen what was understood, and about what it will take."""
        summary = summarise(state.requirements)
        lines = [reply] if reply and summary[1:] not in reply else []
        lines.append(f"This is what I will look for: {summary}")
        if state.assumptions:
            lines.append(f"Not said, so left open: {', '.join(state.assumptions)}.")
        lines.append(self._estimate())
        state = msgspec.structs.replace(state, phase="intake", waiting="requirements")
        return state, ChatReply(said=tuple(Said(text=line) for line in lines), buttons=(CONFIRM, EDIT))

    def _estimate(self) -> str:
        searches = f"up to {MOST_SEARCHES} searches and {MOST_PAGES} pages to find candidates"
        price = self._terms.search_price * MOST_SEARCHES
        return f"That takes {searches}{f', ${price:.2f}' if price else ''}; the comparison is estimated afterwards."

    async def _confirming(self, state: ShortlistState, said: str) -> tuple[ShortlistState, ChatReply]:
        if said == CONFIRM or agrees(said):
            confirmed = msgspec.structs.replace(state, waiting="", before=None, proposed=())
            return await self._research(confirmed, before=state.before)
        if state.before is not None and takes_back(said):
            return await self._taken_back(state, state.before)
        if said == EDIT or declines(said):
            text = "What should be different? For example: “budget £40”, “no plastic”, “drop the stainless steel”."
            return state, ChatReply(said=(Said(text=text),), buttons=(CONFIRM, EDIT))
        if asks(said) and state.has_presented and not guard.refused(guard.tidy(said)):
            told = await self._advising(state, await self._shelf(state)).respond(said)
            if told.reply is not None:
                return state, msgspec.structs.replace(told.reply, buttons=(CONFIRM, EDIT))
        step = await self._read(state, said)
        if step.kind == "new_topic":
            return self._other_product(state, said, step)
        if step.kind in ("refused", "off_topic"):
            return self._to_confirm(state, step.reply)
        if asks(said):
            return self._to_confirm(state, "That I can tell once there is a comparison for these requirements.")
        changed = edited(state.requirements, said)
        if changed == state.requirements:
            return self._to_confirm(state, "I found no change in that.")
        before = state.before if state.has_presented or state.proposed else state.requirements
        return self._to_confirm(
            msgspec.structs.replace(state, requirements=changed, assumptions=step.gaps, before=before)
        )

    async def _taken_back(self, state: ShortlistState, before: Requirements) -> tuple[ShortlistState, ChatReply]:
        """To where the change was asked for: the comparison, the choice of fields, or the confirmation itself."""
        state = msgspec.structs.replace(state, requirements=before, before=None, assumptions=gaps_of(before))
        if state.has_presented:
            done = state.refinements[:-1]
            state = msgspec.structs.replace(state, phase="advise", waiting="", refinements=done)
        elif state.proposed:
            state = msgspec.structs.replace(state, phase="research", waiting="fields")
        return await self._where_we_are(state, "All stays as it was.")

    # ── research ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _research(
        self,
        state: ShortlistState,
        *,
        before: Requirements | None = None,
        like: str = "",
        most: int = TARGET,
        has_changed: bool = True,
    ) -> tuple[ShortlistState, ChatReply]:
        """Candidates, and the fields to compare them by, for confirmation. On a further search the fields are known,
        and only the new rows are filled; where none is new, what is there is judged by what is wanted now."""
        state = msgspec.structs.replace(state, phase="research")
        shelf = await self._shelf(state)
        table = await shelf.table()
        known = [cell_text(row.cell(KEY)) for row in table.rows] if state.has_presented else []
        tried = state.tried if known else ()
        found = await explore(
            state.requirements, self._tools, known=known, tried=tried, like=like, most=most, tell=self._tell
        )
        state = msgspec.structs.replace(state, table_id=shelf.table_id, tried=(*state.tried, *found.queries))
        columns = await shelf.add_fields(lacking(state.requirements, before, table.fields)) if known and before else []
        if not found.products and known and has_changed:
            if columns:
                await shelf.fill(fields=[field.name for field in columns])
            return await self._present(state, heading="No further product was found.", notes=found.notes)
        if not found.products:
            return self._nothing(state, found)
        new = await shelf.add_products(found.products, found.library)
        if known:
            await shelf.fill()
            return await self._present(state, heading=f"{len(new)} more found.", notes=found.notes)
        return await self._proposed(state, found, len(table.rows) + len(new))

    def _nothing(self, state: ShortlistState, found: Explored) -> tuple[ShortlistState, ChatReply]:
        lines = [*found.notes, "No further product was found." if state.has_presented else "No product was found."]
        lines.append("Shall we change the requirements? Say what, for example a higher budget or fewer must-haves.")
        state = msgspec.structs.replace(state, phase="advise" if state.has_presented else "intake", waiting="")
        return state, ChatReply(said=tuple(Said(text=line) for line in lines))

    async def _proposed(self, state: ShortlistState, found: Explored, count: int) -> tuple[ShortlistState, ChatReply]:
        pages = tuple(found.library.pages.values())
        asked = ProposeFields(requirements=state.requirements, sources=pages)
        self._tell(Step(type="thinking", detail="Choosing what to compare them by."))
        fields: tuple[Field, ...] = (await decide(Propose(), asked, self._tools.model, self._tell)).decided
        state = msgspec.structs.replace(state, proposed=fields, waiting="fields")
        return state, await self._fields_reply(state, (f"{count} {plural('candidate', count)} found.", *found.notes))

    async def _fields_reply(self, state: ShortlistState, lines: tuple[str, ...]) -> ChatReply:
        shown = ", ".join(field.name for field in state.proposed if field.role != "qualification")
        likely = await (await self._shelf(state)).estimate(state.proposed)
        told = (*lines, f"I would compare: {shown}.", likely)
        return ChatReply(said=tuple(Said(text=line) for line in told), buttons=(ENRICH, MODIFY))

    async def _choosing_fields(self, state: ShortlistState, said: str) -> tuple[ShortlistState, ChatReply]:
        if said == ENRICH or agrees(said):
            return await self._enrich(msgspec.structs.replace(state, waiting=""))
        if said == MODIFY or declines(said):
            text = "Which fields should be added or dropped? For example: “add warranty”, “drop weight”."
            return state, ChatReply(said=(Said(text=text),), buttons=(ENRICH, MODIFY))
        if guard.refused(guard.tidy(said)):
            return state, await self._fields_reply(state, ((await self._read(state, said)).reply,))
        fields = () if asks(said) else modified(state.proposed, said, state.requirements.product_type)
        if not fields:
            return state, await self._fields_reply(state, ("That I can tell once the cells are filled.",))
        reasons = [f"That cannot be a column: {each}" for each in refusals(said, state.requirements.product_type)]
        if fields != state.proposed or reasons:
            chosen_fields = msgspec.structs.replace(state, proposed=fields)
            return chosen_fields, await self._fields_reply(chosen_fields, tuple(reasons))
        return await self._no_field_meant(state, said)

    async def _no_field_meant(self, state: ShortlistState, said: str) -> tuple[ShortlistState, ChatReply]:
        """No column was named: it may be another product, or a change of what is wanted, to be confirmed anew."""
        if of_columns(said):
            return state, await self._fields_reply(state, ("That changes no column.",))
        step = await self._read(state, said)
        if step.kind == "new_topic":
            return self._other_product(state, said, step)
        changed = edited(state.requirements, said)
        if step.kind != "answer" or changed == state.requirements:
            return state, await self._fields_reply(state, ("I found no change of the columns in that.",))
        before = state.requirements
        return self._to_confirm(
            msgspec.structs.replace(state, requirements=changed, assumptions=step.gaps, before=before)
        )

    async def _enrich(self, state: ShortlistState) -> tuple[ShortlistState, ChatReply]:
        shelf = await self._shelf(state)
        await shelf.add_fields(state.proposed)
        await shelf.fill()
        return await self._present(msgspec.structs.replace(state, proposed=()))

    # ── advice ───────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _present(
        self, state: ShortlistState, *, heading: str = "", notes: tuple[str, ...] = ()
    ) -> tuple[ShortlistState, ChatReply]:
        state = msgspec.structs.replace(state, phase="advise", waiting="", has_presented=True)
        return await self._advising(state, await self._shelf(state)).present(heading=heading, notes=notes)

    async def _advised(self, state: ShortlistState, said: str) -> tuple[ShortlistState, ChatReply]:
        shelf = await self._shelf(state)
        if said == GO_ON:
            await shelf.fill()
            return await self._present(state)
        if guard.refused(guard.tidy(said)):
            return await self._where_we_are(state, (await self._read(state, said)).reply)
        step = await self._advising(state, shelf).respond(said)
        if step.goes_to == "intake":
            turn = await self._read(state, step.changes)
            if turn.kind == "new_topic":
                return self._other_product(state, step.changes, turn)
            changed = edited(state.requirements, step.changes)
            if changed == state.requirements:
                return await self._where_we_are(state, "I found no change of the requirements in that.")
            before = state.requirements
            return self._to_confirm(
                msgspec.structs.replace(step.state, requirements=changed, assumptions=turn.gaps, before=before)
            )
        if step.goes_to == "explore":
            changed = edited(state.requirements, step.changes) if step.changes else state.requirements
            again = msgspec.structs.replace(step.state, requirements=changed)
            return await self._research(
                again, before=state.requirements, like=step.like, most=step.count, has_changed=bool(step.changes)
            )
        if step.goes_to == "enrich":
            await shelf.add_fields(step.fields)
            await shelf.fill(fields=[field.name for field in step.fields])
            names = ", ".join(field.name for field in step.fields)
            heading = f"As you asked, {names} {'is' if len(step.fields) == 1 else 'are'} now part of the comparison."
            return await self._present(step.state, heading=heading, notes=step.notes)
        assert step.reply is not None
        return step.state, step.reply

    def _advising(self, state: ShortlistState, shelf: Shelf) -> Advising:
        return Advising(state, shelf, self._store, self._tools, self._tell, self._folder)

    async def _shelf(self, state: ShortlistState) -> Shelf:
        return Shelf(
            self._store,
            self._tools,
            table_id=state.table_id or await self._make_table(state),
            actor=self._actor,
            terms=self._terms,
            watch=self._watch,
        )

    async def _make_table(self, state: ShortlistState) -> str:
        """Known to the conversation at once: where the turn fails, the next one goes on with the same table."""
        name = state.requirements.product_type.capitalize() or "Shortlist"
        table_id = await Shelf.make(self._store, name, self._actor)
        before = await self._store.shortlists.get(state.id)
        await self._store.shortlists.save(msgspec.structs.replace(before, table_id=table_id))
        return table_id


def with_message(state: ShortlistState, role: str, text: str) -> ShortlistState:
    message = ChatMessage(role="user" if role == "user" else "advisor", text=text, at=now())
    return msgspec.structs.replace(state, messages=(*state.messages, message))


def fresh(state: ShortlistState) -> ShortlistState:
    """The same conversation with nothing known; the table of before stays where it is, for whoever wants it."""
    return ShortlistState(
        id=state.id, messages=state.messages, created_at=state.created_at, requirements=Requirements()
    )
