"""How the adviser's state is put into words: the step, the list of wishes, the comparison as the model sees it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from tablewright.decisions.shortlist.prompt_parts import NOT_LOOKED_UP, ComparedRow
from tablewright.domain.condition import describe_condition
from tablewright.domain.model import Conflict, Evidence, Field, Row, RowId, Table
from tablewright.domain.shortlist import (
    BUTTONS,
    GO_ON,
    KEY,
    PAGE,
    PRICE,
    TRY_AGAIN,
    CellRef,
    ChatMessage,
    ChatReply,
    Ranking,
    Refinement,
    ReplySentence,
    Requirements,
    ShortlistState,
    column_name,
)
from tablewright.domain.text import cell_text, count_noun
from tablewright.journeys.shortlist.ranking import shown_cell, shown_value
from tablewright.messages.catalogue import CATALOGUES, LANGUAGES, translate
from tablewright.store.records import now

RIVALS = 2
"""Values of other sources that are shown beside a cell's own."""


def lines(*texts: str) -> tuple[ReplySentence, ...]:
    return tuple(ReplySentence(text=text) for text in texts if text)


def sentence(text: str, row_id: RowId, *fields: str) -> ReplySentence:
    """Return a sentence about a product that stands on these of its cells."""
    return ReplySentence(text=text, cells=tuple(CellRef(row_id=row_id, field=field) for field in fields))


def pressed(said: str) -> str:
    """The button that is meant, whichever language its label is in; "" for other words."""
    codes = LANGUAGES.keys() | CATALOGUES.keys()
    return next((label for label in BUTTONS if any(said == translate("shortlist", label, code) for code in codes)), "")


def reply_of(said: Sequence[ReplySentence], *texts: str, buttons: tuple[str, ...] = ()) -> ChatReply:
    return ChatReply(said=(*said, *lines(*texts)), buttons=buttons)


def wish_lines(state: ShortlistState) -> list[str]:
    """The chips: every wish with the condition that code checks, or that it cannot be checked."""
    wanted = state.requirements
    if wanted.region:
        told = [
            state.translate(
                "Looking for: {product}, to be bought in {region}.", product=wanted.product_type, region=wanted.region
            )
        ]
    else:
        told = [state.translate("Looking for: {product}.", product=wanted.product_type)]
    for number, wish in enumerate(wanted.wishes, start=1):
        if wish.column:
            told.append(
                f"{number}. {wish.text(state.language)} {state.translate('(must)' if wish.hard else '(counts)')}"
            )
        else:
            told.append(f"{number}. {wish.text(state.language)}")
    return told


def unchecked_line(state: ShortlistState) -> str:
    open_ = [f"“{wish.words}”" for wish in state.requirements.wishes if not wish.column]
    return state.translate("Not checked: {wishes}.", wishes=", ".join(open_)) if open_ else ""


def step_text(state: ShortlistState, rows: int) -> str:
    if state.waiting == "requirements" and state.has_presented:
        return "ADVISE: changed requirements wait for the user's confirmation; agreeing ranks the table by them."
    if state.waiting == "requirements":
        return "INTAKE: the requirements wait for the user's confirmation; agreeing starts the search."
    if state.waiting == "fields":
        found = f"{count_noun(rows, 'candidate')} were found"
        return f"RESEARCH: {found}; the columns wait for the user's confirmation; agreeing has them filled."
    if is_offered(TRY_AGAIN, state):
        return f"{state.phase.upper()}: the search found nothing, or nothing could be read; agreeing searches again."
    if is_offered(GO_ON, state):
        return "ADVISE: the comparison was presented; some cells were not looked for in time, and agreeing goes on."
    if state.phase == "intake":
        return "INTAKE: finding out what is wanted; nothing was searched yet."
    return "ADVISE: the comparison was presented; the user asks, refines or decides."


def is_offered(label: str, state: ShortlistState) -> bool:
    return label in map(pressed, state.buttons)


def compared_rows(table: Table, ranking: Ranking, *, is_filled: bool = True) -> tuple[ComparedRow, ...]:
    """The best first, then near misses, then the others that are left out; names alone before anything is filled."""
    if not is_filled:
        return tuple(ComparedRow(row_id=row.id, name=cell_text(row.cell(KEY))) for row in table.rows)
    rows = {row.id: row for row in table.rows}
    found: list[ComparedRow] = []
    for place, each in enumerate(ranking.ranked, start=1):
        unknown = f"; not known: {'; '.join(each.unknown)}" if each.unknown else ""
        verdict = f"place {place}, score {each.score:.2f}{unknown}"
        found.append(compared(rows[each.row_id], table.fields, verdict, ranking))
    for out in ranking.excluded:
        verdict = f"left out{', a near miss' if out.near else ''}: {out.reason}"
        found.append(compared(rows[out.row_id], table.fields, verdict, ranking))
    return tuple(found)


def compared(row: Row, fields: Sequence[Field], verdict: str, ranking: Ranking) -> ComparedRow:
    cells = {field.name: with_rivals(row, field, ranking) for field in fields if field.name not in (KEY, PAGE)}
    return ComparedRow(row_id=row.id, name=cell_text(row.cell(KEY)), cells=cells, verdict=verdict)


def with_rivals(row: Row, field: Field, ranking: Ranking) -> str:
    """ "1.7 l (also 1.5 l, shop.example)": what other sources say of it stands beside it."""
    rivals = rival_values(row.cell(field.name).conflict[:RIVALS], field)
    shown = with_price(row, field, ranking) or (NOT_LOOKED_UP if row.cell(field.name).needs_work else "")
    return f"{shown} (also {rivals})" if rivals else shown


def rival_values(others: Sequence[Conflict], field: Field, language: str = "") -> str:
    """ "1.5 l, shop.example; 1.6 l"."""
    said = ((shown_value(each.value, field, language), first_domain(each.evidence)) for each in others)
    return "; ".join(", ".join(filter(None, each)) for each in said)


def first_domain(evidence: Sequence[Evidence]) -> str:
    return next((each.domain for each in evidence if each.domain), "")


def named_columns(fields: Sequence[Field], language: str) -> tuple[str, ...]:
    return tuple(column_name(field.name, language) for field in fields)


def with_price(row: Row, field: Field, ranking: Ranking, language: str = "") -> str:
    """ "39.00 GBP, about 44 CHF", where the budget is in francs."""
    about = ranking.prices.get(row.id, "") if field.name == PRICE else ""
    return ", ".join(filter(None, (shown_cell(row, field, language), about)))


def as_texts(row: Row, fields: Sequence[Field], ranking: Ranking, language: str) -> tuple[str, ...]:
    return tuple(with_price(row, field, ranking, language) for field in fields)


def user_messages(state: ShortlistState) -> tuple[str, ...]:
    """What the user said in words: no buttons, no commands."""
    theirs = [each.text for each in state.messages if each.role == "user"]
    return tuple(text for text in theirs if not pressed(text) and not text.startswith("/"))


def with_message(state: ShortlistState, role: str, text: str) -> ShortlistState:
    message = ChatMessage(role="user" if role == "user" else "advisor", text=text, at=now())
    return msgspec.structs.replace(state, messages=(*state.messages, message))


def fresh(state: ShortlistState) -> ShortlistState:
    """The same conversation with nothing known; the table of before stays where it is, for whoever wants it."""
    return ShortlistState(id=state.id, messages=state.messages, language=state.language, created_at=state.created_at)


def is_same(one: Requirements, other: Requirements) -> bool:
    """Whether both ask for the same, however it is worded."""

    def asked(requirements: Requirements) -> tuple[str, str, list[tuple[str, bool]]]:
        wishes = [(describe_condition(wish) or wish.words.casefold(), wish.hard) for wish in requirements.wishes]
        return requirements.product_type.casefold(), requirements.region.casefold(), sorted(wishes)

    return asked(one) == asked(other)


def refined(state: ShortlistState, changed: str, trigger: str) -> ShortlistState:
    """What changed since the first comparison is remembered, with the words that asked for it."""
    if not state.has_presented:
        return state
    new = Refinement(loop=len(state.refinements) + 1, changed=changed, trigger=trigger)
    return msgspec.structs.replace(state, refinements=(*state.refinements, new))
