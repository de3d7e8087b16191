"""The advisor: one state, three phases, and a turn that is one function of state and message.

INTAKE learns what the user wants and asks for confirmation. RESEARCH explores, asks for confirmation of the columns,
and has the engine fill them. ADVISE presents, explains and returns to an earlier phase if a wish requires it. The model
judges what a message means; buttons and commands are exact and need none. A terminal, a page, an API or another program
sends messages and button labels and gets replies. This module alone saves the state, once per turn. What searches or
fills cells is returned as `TurnWork`, so that it can be a run.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from msgspec import structs

from tablewright.citations.quotes import remove_marks
from tablewright.domain.model import column_key
from tablewright.domain.shortlist import (
    CONFIRM,
    EDIT,
    ENRICH,
    FRESH,
    GO_ON,
    MODIFY,
    TOP_CANDIDATES,
    TRY_AGAIN,
    ChatReply,
    PendingRefinement,
    ReplySentence,
    ShortlistState,
)
from tablewright.errors import UsageError
from tablewright.llm.tasks.shortlist.turn import TurnIntent, TurnTaken
from tablewright.text import hide_personal_data
from tablewright.workflows.shortlist.advice import describe_unverified, present_comparison
from tablewright.workflows.shortlist.comparison import ProductComparison
from tablewright.workflows.shortlist.comparison_answers import ComparisonAnswers
from tablewright.workflows.shortlist.context import Taken, TurnContext, TurnWork
from tablewright.workflows.shortlist.research import ProductSearch
from tablewright.workflows.shortlist.understanding import find_missing_fields, understand_message
from tablewright.workflows.shortlist.wording import (
    add_message,
    describe_wishes,
    find_button,
    make_reply,
    make_sentences,
    record_refinement,
    reset_conversation,
    same_requirements,
)


class Shortlist:
    """Takes the turns of conversations."""

    def __init__(self, context: TurnContext) -> None:
        self._context = context
        self._research = ProductSearch(context)

    async def turn(self, state_id: str, message: str) -> Taken:
        """Load the state, take the turn, save the state; return both with the reply."""
        state = await self._context.store.shortlists.get(state_id)
        typed = remove_marks(message).strip()
        said = hide_personal_data(typed)
        await self._context.speak(state.language)
        routed = await self._routed(add_message(state, "user", said), said)
        if callable(routed):
            return await self._context.perform(partial(self._end_turn, routed, is_hidden=said != typed))
        return await self._save(*routed, is_hidden=said != typed)

    async def _end_turn(self, work: TurnWork, *, is_hidden: bool) -> Taken:
        return await self._save(*await work(), is_hidden=is_hidden)

    async def _save(self, state: ShortlistState, reply: ChatReply, *, is_hidden: bool) -> Taken:
        if is_hidden:
            hidden = state.translate("Personal data in your message was replaced by “…”; it is neither kept nor sent.")
            reply = structs.replace(reply, notes=(*reply.notes, *make_sentences(hidden)))
        reply = structs.replace(reply, buttons=tuple(state.translate(label) for label in reply.buttons))
        state = structs.replace(
            add_message(state, "advisor", reply.whole(state.language)), buttons=reply.buttons, unanswered=""
        )
        return await self._context.store.shortlists.save(state), reply

    async def _routed(self, state: ShortlistState, said: str) -> Taken | TurnWork:
        # Before anything else: every turn reads the table, and its owner may have deleted it between two turns.
        if not state.error and state.table_id and not await self._context.has_table(state):
            gone = state.translate("The table {table} is not there any more, so we start afresh.", table=state.table_id)
            state = structs.replace(state, error=gone, table_id="")
        if state.error:
            kept = state.translate("The table {table} is kept.", table=state.table_id) if state.table_id else ""
            text = " ".join(filter(None, (state.error, kept, state.translate("What are you looking for?"))))
            return reset_conversation(state), make_reply((), text, buttons=(FRESH,))
        if state.phase == "end":
            state = reset_conversation(state)
        # A button's label is exact, so it needs no model even where one is set up.
        if label := find_button(said):
            return await self._pressed(state, label)
        try:
            turn, note = await understand_message(self._context, state, said)
        except UsageError as error:
            return await self._where_we_are(state, make_sentences(str(error)))
        if turn.language and turn.language != state.language:
            state = structs.replace(state, language=turn.language)
            await self._context.speak(state.language)
        turn = structs.replace(
            turn, said=(*turn.said, *make_sentences(note, describe_unverified(turn.left_out, state)))
        )
        if turn.intent in ("refuse", "talk"):
            aside = structs.replace(state.messages[-1], is_aside=True)
            state = structs.replace(state, messages=(*state.messages[:-1], aside))
        return await self._carried_out(state, turn, said)

    async def _carried_out(self, state: ShortlistState, turn: TurnTaken, message: str) -> Taken | TurnWork:
        is_changed = not same_requirements(turn.requirements, state.requirements)
        match effective_intent(turn, state):
            case "agree" if state.buttons:
                return await self._pressed(state, find_button(state.buttons[0]))  # which goes on
            case "take back":
                return await self._taken_back(state, turn.said)
            case "start over":
                return reset_conversation(state), make_reply(
                    turn.said or make_sentences(state.translate("What are you looking for?"))
                )
            case "other product":
                has_rows = bool((await self._context.table(state)).rows)
                kept = state.translate("The table {table} is kept.", table=state.table_id) if has_rows else ""
                said = turn.said or make_sentences(
                    state.translate("We start over with {product}.", product=turn.requirements.product_type)
                )
                return await self._wished(
                    reset_conversation(state), structs.replace(turn, said=(*said, *make_sentences(kept)))
                )
            case "done":
                kept = (
                    state.translate("The comparison stays in the table {table}.", table=state.table_id)
                    if state.table_id
                    else ""
                )
                return structs.replace(state, phase="end", waiting=""), make_reply(turn.said, kept)
            case "refuse":
                return await self._where_we_are(state, turn.said)
            case "columns" if state.has_presented or state.waiting == "fields":
                work = partial(self._columns, state, turn, message)
                asks = turn.columns or turn.about_columns if state.waiting != "fields" else turn.products
                if asks and (taken := await self._research.to_confirm(state, turn, message)):
                    return taken
                return work if asks else await work()
            case "more" if state.has_presented:
                taken = await self._research.to_confirm(state, turn, message)
                return taken or partial(self._research.more, state, turn, message)
            case _ if is_changed or turn.intent == "wish" or (turn.is_ready and state.is_undecided):
                return await self._wished(record_refinement(state, "requirements", message), turn)
            case "columns" | "more":
                return await self._where_we_are(state, turn.said)
            case _ if not state.table_id:
                return await self._where_we_are(state, turn.said)
        return await self._about_table(state, turn, message)

    async def _columns(self, state: ShortlistState, turn: TurnTaken, message: str) -> Taken:
        state, reply = await self._research.columns(state, turn, message)
        return state, structs.replace(reply, buttons=buttons_for_step(state)) if state.waiting else reply

    async def _refine(self, state: ShortlistState, refinement: PendingRefinement) -> Taken:
        """Do what was confirmed."""
        state = structs.replace(state, waiting="", refinement=None)
        turn = TurnTaken(
            intent=refinement.intent,
            requirements=refinement.requirements,
            columns=refinement.columns,
            drop_columns=refinement.drop_columns,
            about_columns=refinement.about_columns,
            like=refinement.like,
            count=refinement.count,
        )
        work = self._research.more if refinement.intent == "more" else self._columns
        return await work(state, turn, refinement.message)

    async def _about_table(self, state: ShortlistState, turn: TurnTaken, message: str) -> Taken | TurnWork:
        answers = ComparisonAnswers(self._context, state)
        match turn.intent:
            case "show":
                reply = await answers.show(turn)
            case "links":
                return partial(self._links, state, turn)
            case "export":
                reply = await answers.export(turn)
            case "source":
                reply = await answers.source(turn)
            case "wrong value":
                return partial(self._look_again, state, turn, message)
            case "remove" if turn.products:
                names = await answers.comparison.remove_products(turn.products)
                state = structs.replace(state, removed=(*state.removed, *names))
                return await self._where_we_are(
                    state, (*turn.said, *make_sentences(state.translate("Taken out of the comparison.")))
                )
            case _:
                return await self._where_we_are(state, turn.said)
        return state, structs.replace(reply, buttons=buttons_for_step(state))

    async def _links(self, state: ShortlistState, turn: TurnTaken) -> Taken:
        reply = await ComparisonAnswers(self._context, state).links(turn)
        state = structs.replace(state, offers=reply.listings)
        return state, structs.replace(reply, buttons=buttons_for_step(state))

    async def _look_again(self, state: ShortlistState, turn: TurnTaken, message: str) -> Taken:
        reply = await ComparisonAnswers(self._context, state).look_again(turn, message)
        state = record_refinement(state, "a value was looked up again", message)
        return state, structs.replace(reply, buttons=buttons_for_step(state))

    # ── buttons ──────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _pressed(self, state: ShortlistState, label: str) -> Taken | TurnWork:
        match label:
            case _ if label == FRESH:
                return reset_conversation(state), make_reply((), state.translate("What are you looking for?"))
            case _ if label == EDIT and state.requirements.product_type:
                return state, make_reply(
                    (),
                    *describe_wishes(state),
                    state.translate(
                        "What should be different? Say it, or use /drop N, /hard N, /soft N, /must …, /nice …, /avoid …"
                    ),
                    buttons=buttons_for_step(state),
                )
            case _ if label == CONFIRM and state.waiting == "requirements":
                return partial(self._confirmed, state)
            case _ if label == TRY_AGAIN and state.requirements.product_type:
                return partial(self._research.search, state)
            case _ if label == MODIFY and state.waiting == "fields":
                return await self._research.proposed(
                    state,
                    make_sentences(
                        state.translate(
                            "Which columns should be added or hidden? Say it, or use /add COLUMN and /hide COLUMN."
                        )
                    ),
                )
            case _ if label == ENRICH and state.waiting == "fields":
                return partial(self._fill, state)
            case _ if label == GO_ON and state.waiting == "refinement" and state.refinement is not None:
                return partial(self._refine, state, state.refinement)
            case _ if label == GO_ON and state.has_presented:
                return partial(self._fill, state)
        return await self._where_we_are(state, make_sentences(state.translate("That belongs to another step.")))

    async def _fill(self, state: ShortlistState) -> Taken:
        comparison = ProductComparison(self._context, state)
        await comparison.add_fields(state.proposed)
        notes = await comparison.fill()
        return await present_comparison(self._context, structs.replace(state, proposed=()), notes=notes)

    async def _where_we_are(self, state: ShortlistState, said: Sequence[ReplySentence]) -> Taken:
        """Repeat the current step with its buttons, so that the user always has a way on."""
        if state.waiting == "fields":
            return await self._research.proposed(state, said)
        if state.waiting == "requirements":
            return await self._to_confirm(state, said)
        if state.phase == "intake" and not said:
            return state, make_reply((), state.translate("What are you looking for?"))
        return state, make_reply(said, buttons=buttons_for_step(state))

    # ── intake ───────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _wished(self, state: ShortlistState, turn: TurnTaken) -> Taken:
        table = await self._context.table(state)
        before = state.before or (state.requirements if state.has_presented else None)
        columns = [*find_missing_fields(table, (*state.columns, *turn.columns))]
        used = {column_key(wish.column) for wish in turn.requirements.wishes}
        columns = [field for field in columns if column_key(field.name) in used]
        state = structs.replace(state, requirements=turn.requirements, columns=tuple(columns), before=before)
        if state.waiting == "fields":
            proposed = (*state.proposed, *find_missing_fields(table, columns, state.proposed))
            return await self._research.proposed(structs.replace(state, proposed=proposed), turn.said)
        if state.has_presented or state.waiting == "requirements" or (turn.is_ready and turn.requirements.product_type):
            return await self._to_confirm(state, turn.said)
        return state, make_reply(turn.said)

    async def _to_confirm(self, state: ShortlistState, said: Sequence[ReplySentence] = ()) -> Taken:
        """Show what was understood and about what it costs, before anything is spent."""
        state = structs.replace(state, waiting="requirements")
        lines = describe_wishes(state)
        if state.has_presented:
            lines.append(await self._preview(state))
        else:
            state = structs.replace(state, phase="intake")
            lines.append(
                state.translate(
                    "That takes up to {searches} searches and {pages} pages to find candidates{price}; the "
                    "comparison is estimated afterwards.",
                    **self._research.search_effort(state),
                )
            )
        return state, make_reply(said, *lines, buttons=(CONFIRM, EDIT))

    async def _preview(self, state: ShortlistState) -> str:
        """Say how many existing candidates meet the changed requirements, before anything is searched."""
        ranking = self._context.ranking(await self._context.table(state), state)
        count, all_ = len(ranking.ranked), len(ranking.ranked) + len(ranking.excluded)
        say = self._context.translate_for(state)
        sentences = [
            say(
                "{count} of {all} candidates meets this, as far as is known.|"
                "{count} of {all} candidates meet this, as far as is known.",
                all=all_,
                count=count,
            )
        ]
        if state.columns:
            sentences.append(
                state.translate(
                    "{columns} would be looked up for them; if fewer than five are left then, further ones are "
                    "searched for.",
                    columns=", ".join(field.name for field in state.columns),
                )
            )
        if count < TOP_CANDIDATES:
            sentences.append(state.translate("Fewer than five is not many, so further ones would be searched for."))
        return " ".join(sentences)

    async def _taken_back(self, state: ShortlistState, said: Sequence[ReplySentence]) -> Taken:
        if state.waiting == "refinement":
            state = structs.replace(state, waiting="", refinement=None, buttons=())
            return await self._where_we_are(state, said or make_sentences(state.translate("All stays as it was.")))
        if state.before is None:
            return await self._where_we_are(state, said)
        waiting = "" if state.has_presented else state.waiting
        state = structs.replace(state, requirements=state.before, before=None, columns=(), waiting=waiting, buttons=())
        return await self._where_we_are(state, said or make_sentences(state.translate("All stays as it was.")))

    async def _confirmed(self, state: ShortlistState) -> Taken:
        before = state.before
        state = structs.replace(state, waiting="", before=None)
        if not state.has_presented:
            return await self._research.search(state)
        comparison = ProductComparison(self._context, state)
        notes = []
        if new := await comparison.add_fields(state.columns):
            notes = await comparison.fill(fields=new)
        prices = let_in = None
        if before is not None:
            prices = await comparison.read_prices_again(before)
            let_in = await comparison.look_at_let_in(before)
        state = structs.replace(state, columns=())
        ranking = self._context.ranking(await comparison.table(), state)
        if len(ranking.ranked) >= TOP_CANDIDATES:
            asked = (
                state.translate("The currency has changed, so the known pages were asked again for prices in it.")
                if prices is not None
                else ""
            )
            heading = asked or (
                state.translate("Ranked again by what you want now; nothing new was searched.")
                if let_in is None and not new
                else ""
            )
            notes += [*(prices or ()), *(let_in or ())]
            return await present_comparison(self._context, state, make_sentences(heading), notes=notes)
        return await self._research.search(state)


def effective_intent(turn: TurnTaken, state: ShortlistState) -> TurnIntent:
    """Requirements are complete, so they say more than the name of an intent: who takes back more than the last change,
    or changes the product before anything is filled, wants the product that they now name."""
    before, wanted = state.requirements, turn.requirements
    is_back = turn.intent == "take back" and state.before is None and not same_requirements(wanted, before)
    is_other = bool(wanted.product_type) and wanted.product_type.casefold() != before.product_type.casefold()
    if state.table_id and is_other and (is_back or (turn.intent == "wish" and state.waiting == "fields")):
        return "other product"
    return "wish" if is_back else turn.intent


def buttons_for_step(state: ShortlistState) -> tuple[str, ...]:
    """The buttons that are there, by their own names."""
    return tuple(find_button(label) for label in state.buttons)
