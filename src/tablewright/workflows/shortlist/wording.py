"""Word the advisor's state: the step, the list of wishes, and the comparison as the model sees it. No I/O."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tablewright.domain.condition import describe_condition
from tablewright.domain.model import Conflict, Evidence, Field, Row, RowId, Table
from tablewright.domain.shortlist import (
    BUTTONS,
    GO_ON,
    PAGE_COLUMN,
    PRICE_COLUMN,
    PRODUCT_COLUMN,
    TRY_AGAIN,
    CellRef,
    ChatMessage,
    ChatReply,
    Ranking,
    Refinement,
    ReplySentence,
    Requirements,
    ShortlistState,
    localize_column_name,
)
from tablewright.domain.text import cell_text, count_noun
from tablewright.llm.tasks.shortlist.prompt_parts import NOT_LOOKED_UP, ComparedRow
from tablewright.messages.catalogue import CATALOGUES, LANGUAGES, translate
from tablewright.store.records import utc_now
from tablewright.workflows.shortlist.ranking import format_product_cell, format_product_value


def make_sentences(*texts: str) -> tuple[ReplySentence, ...]:
    return tuple(ReplySentence(text=text) for text in texts if text)


def make_cell_sentence(text: str, row_id: RowId, *fields: str) -> ReplySentence:
    """Return a sentence about a product, linked to the cells that support it."""
    return ReplySentence(text=text, cells=tuple(CellRef(row_id=row_id, field=field) for field in fields))


def find_button(said: str) -> str:
    """Return the button whose label, in any language, was said; "" for other words."""
    codes = LANGUAGES.keys() | CATALOGUES.keys()
    return next((label for label in BUTTONS if any(said == translate("shortlist", label, code) for code in codes)), "")


def make_reply(said: Sequence[ReplySentence], *texts: str, buttons: tuple[str, ...] = ()) -> ChatReply:
    return ChatReply(said=(*said, *make_sentences(*texts)), buttons=buttons)


def describe_wishes(state: ShortlistState) -> list[str]:
    """Return a line for each wish, with the condition that code checks or without one."""
    wanted = state.requirements
    if wanted.region:
        lines = [
            state.translate(
                "Looking for: {product}, to be bought in {region}.", product=wanted.product_type, region=wanted.region
            )
        ]
    else:
        lines = [state.translate("Looking for: {product}.", product=wanted.product_type)]
    for number, wish in enumerate(wanted.wishes, start=1):
        if wish.column:
            lines.append(
                f"{number}. {wish.text(state.language)} {state.translate('(must)' if wish.hard else '(counts)')}"
            )
        else:
            lines.append(f"{number}. {wish.text(state.language)}")
    return lines


def describe_unchecked(state: ShortlistState) -> str:
    open_ = [f"“{wish.words}”" for wish in state.requirements.wishes if not wish.column]
    return state.translate("Not checked: {wishes}.", wishes=", ".join(open_)) if open_ else ""


def describe_step(state: ShortlistState, rows: int) -> str:
    if state.waiting == "requirements" and state.has_presented:
        return "ADVISE: changed requirements wait for the user's confirmation; agreeing ranks the table by them."
    if state.waiting == "requirements":
        return "INTAKE: the requirements wait for the user's confirmation; agreeing starts the search."
    if state.waiting == "refinement":
        return (
            "ADVISE: what the last wish takes was said, and it waits for the user's confirmation; agreeing starts it."
        )
    if state.waiting == "fields":
        found = f"{count_noun(rows, 'candidate')} were found"
        return f"RESEARCH: {found}; the columns wait for the user's confirmation; agreeing has them filled."
    if is_button_offered(TRY_AGAIN, state):
        return f"{state.phase.upper()}: the search found nothing, or nothing could be read; agreeing searches again."
    if is_button_offered(GO_ON, state):
        return "ADVISE: the comparison was presented; some cells were not looked for in time, and agreeing goes on."
    if state.phase == "intake":
        return "INTAKE: finding out what is wanted; nothing was searched yet."
    return "ADVISE: the comparison was presented; the user asks, refines or decides."


def is_button_offered(label: str, state: ShortlistState) -> bool:
    return label in map(find_button, state.buttons)


def make_compared_rows(table: Table, ranking: Ranking, *, is_filled: bool = True) -> tuple[ComparedRow, ...]:
    """Return the rows as the model sees them: ranked, near misses, other excluded ones; only names if nothing is filled
    yet."""
    if not is_filled:
        return tuple(ComparedRow(row_id=row.id, name=cell_text(row.cell(PRODUCT_COLUMN))) for row in table.rows)
    rows = {row.id: row for row in table.rows}
    found: list[ComparedRow] = []
    levels = [each.level for each in ranking.ranked]
    for each in ranking.ranked:
        unknown = f"; not known: {'; '.join(each.unknown)}" if each.unknown else ""
        first, count = levels.index(each.level) + 1, levels.count(each.level)
        place = f"place {first}" if count == 1 else f"a tie for the places {first} to {first + count - 1}"
        row = make_compared_row(rows[each.row_id], table.fields, f"{place}{unknown}", ranking)
        found.append(msgspec.structs.replace(row, level=each.level))
    for out in ranking.excluded:
        verdict = f"left out{', a near miss' if out.near else ''}: {out.reason}"
        found.append(make_compared_row(rows[out.row_id], table.fields, verdict, ranking))
    return tuple(found)


def make_compared_row(row: Row, fields: Sequence[Field], verdict: str, ranking: Ranking) -> ComparedRow:
    cells = {
        field.name: format_with_rivals(row, field, ranking)
        for field in fields
        if field.name not in (PRODUCT_COLUMN, PAGE_COLUMN)
    }
    return ComparedRow(row_id=row.id, name=cell_text(row.cell(PRODUCT_COLUMN)), cells=cells, verdict=verdict)


def format_with_rivals(row: Row, field: Field, ranking: Ranking) -> str:
    """Return the value with those of other sources: "1.7 l (also 1.5 l, shop.example)"."""
    # Values of other sources shown to the model next to a cell's own; each costs tokens in every cell.
    rivals = format_rival_values(row.cell(field.name).conflict[:2], field)
    shown = format_with_price(row, field, ranking) or (NOT_LOOKED_UP if row.cell(field.name).needs_work else "")
    return f"{shown} (also {rivals})" if rivals else shown


def format_rival_values(others: Sequence[Conflict], field: Field, language: str = "") -> str:
    """Return "1.5 l, shop.example; 1.6 l"."""
    said = ((format_product_value(each.value, field, language), first_domain(each.evidence)) for each in others)
    return "; ".join(", ".join(filter(None, each)) for each in said)


def first_domain(evidence: Sequence[Evidence]) -> str:
    return next((each.domain for each in evidence if each.domain), "")


def translate_columns(fields: Sequence[Field], language: str) -> tuple[str, ...]:
    return tuple(localize_column_name(field.name, language) for field in fields)


def format_with_price(row: Row, field: Field, ranking: Ranking, language: str = "") -> str:
    """Return "39.00 GBP, about 44 CHF" if the budget is in francs."""
    about = ranking.prices.get(row.id, "") if field.name == PRICE_COLUMN else ""
    return ", ".join(filter(None, (format_product_cell(row, field, language), about)))


def format_row_cells(row: Row, fields: Sequence[Field], ranking: Ranking, language: str) -> tuple[str, ...]:
    return tuple(format_with_price(row, field, ranking, language) for field in fields)


def user_messages(state: ShortlistState) -> tuple[str, ...]:
    """Return the user's messages about the purchase, without buttons and commands."""
    theirs = [each.text for each in state.messages if each.role == "user" and not each.is_aside]
    return tuple(text for text in theirs if not find_button(text) and not text.startswith("/"))


def add_message(state: ShortlistState, role: str, text: str) -> ShortlistState:
    message = ChatMessage(role="user" if role == "user" else "advisor", text=text, at=utc_now())
    return msgspec.structs.replace(state, messages=(*state.messages, message))


def reset_conversation(state: ShortlistState) -> ShortlistState:
    """Return the conversation without requirements or table; the old table stays in the store."""
    return ShortlistState(id=state.id, messages=state.messages, language=state.language, created_at=state.created_at)


def same_requirements(one: Requirements, other: Requirements) -> bool:
    """Return True if both ask for the same, however they are worded."""

    def asked(requirements: Requirements) -> tuple[str, str, list[tuple[str, bool]]]:
        wishes = [(describe_condition(wish) or wish.words.casefold(), wish.hard) for wish in requirements.wishes]
        return requirements.product_type.casefold(), requirements.region.casefold(), sorted(wishes)

    return asked(one) == asked(other)


def record_refinement(state: ShortlistState, changed: str, trigger: str) -> ShortlistState:
    """Record a change after the first comparison, with the words that asked for it."""
    if not state.has_presented:
        return state
    new = Refinement(loop=len(state.refinements) + 1, changed=changed, trigger=trigger)
    return msgspec.structs.replace(state, refinements=(*state.refinements, new))
