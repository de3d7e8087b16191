"""Shared parts of the advisor's prompts (requirements, columns, comparison, conversation), and the check of its
sentences about products. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pydantic import BaseModel

from tablewright.citations.figures import prove_figures
from tablewright.citations.quotes import clean_line, mark_question, prove_items, prove_statement
from tablewright.domain.condition import describe_condition
from tablewright.domain.model import Field, RowId, Struct, column_key
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.shortlist import MAKER_COLUMN, PRODUCT_COLUMN, CellRef, ChatMessage, ReplySentence, Requirements
from tablewright.domain.text import shorten_text
from tablewright.llm.tasks.decision import text_blocks
from tablewright.llm.text_budget import TEXT_LIMITS, take_fitting

# Other than "?", which was looked up and not found: the model may offer to look it up.
NOT_LOOKED_UP = "not looked up"


def pages_text(
    sources: Sequence[Retrieved],
    room: int,
    part: Callable[[Retrieved, int], str] = lambda source, room: source.text[:room],
) -> str:
    """Return the pages in numbered blocks; `part` cuts a page to its share of the room."""
    each = room // max(1, len(sources))
    return text_blocks(
        (f"{shorten_text(source.title, TEXT_LIMITS.page_title)} | {source.origin}", part(source, each))
        for source in sources
    )


class ComparedRow(Struct, frozen=True):
    """A product as the prompt shows it. `verdict` is its place, or why it is left out; products that tie have the same
    `level`, those that are left out none."""

    row_id: RowId
    name: str
    cells: Mapping[str, str] = {}
    verdict: str = ""
    level: int | None = None

    def text(self, columns: Sequence[str]) -> str:
        if not self.cells:
            return self.name
        cells = " | ".join(
            f"{name}: {shorten_text(self.cells.get(name, NOT_LOOKED_UP) or '?', TEXT_LIMITS.compared_cell)}"
            for name in columns
        )
        return f"{self.name} | {cells} | {self.verdict}"


class CitedCell(BaseModel):
    product: int
    column: str


class Sentence(BaseModel):
    text: str
    cells: list[CitedCell]
    calculation: str


SENTENCES_PROMPT = """\
Each sentence has `text`; `cells`, the cells of the table that it is based on (the product's number and the column's \
name), none if it says nothing about a product; and `calculation`, the arithmetic that gives a figure which no cell \
has, in the cells' own figures ("59.99 - 45"), else "". Every figure must be in those cells, in what the user \
said, or come from the calculation: figures are checked. Nothing about a product from memory; "?" is not known, and \
you say so. Where a language has two forms of address, take the polite one, unless the user takes the other."""


def requirements_text(requirements: Requirements) -> str:
    if not requirements.product_type and not requirements.wishes:
        return "(nothing yet)"
    lines = [f"product: {requirements.product_type or '?'}", f"region: {requirements.region or 'not said'}"]
    for wish in requirements.wishes:
        checked = describe_condition(wish) or "cannot be checked from specifications"
        lines.append(f"- {wish.kind}, {'hard' if wish.hard else 'soft'}: “{wish.words}” → {checked}")
    return "\n".join(lines)


def wanted_block(requirements: Requirements) -> str:
    return f"What is wanted:\n{mark_question(requirements_text(requirements))}"


def columns_text(fields: Sequence[Field]) -> str:
    """Return lines like "- Capacity (number, l)"."""
    return "\n".join(
        f"- {field.name} ({', '.join(filter(None, (field.type, field.unit, ' / '.join(field.options))))})"
        for field in fields
    )


def comparison_lines(rows: Sequence[ComparedRow], columns: Sequence[str], room: int) -> list[str]:
    """Return the products under their numbers, the best first, as many as fit."""
    lines = take_fitting((f"[{n}] {row.text(columns)}" for n, row in enumerate(rows, start=1)), room, around=1)
    if len(lines) < len(rows):
        lines.append(f"({len(rows) - len(lines)} more are left out for want of room)")
    return lines


def conversation_lines(messages: Sequence[ChatMessage], room: int) -> list[str]:
    """Return the newest messages that fit, with the user's and the advisor's last reply whole. The message to answer is
    a separate part of the prompt."""
    last = next((message for message in reversed(messages) if message.role == "advisor"), None)
    lines = (
        f"User: {message.text}"
        if message.role == "user"
        else f"Adviser: {message.text if message is last else shorten_text(message.text, TEXT_LIMITS.earlier_reply)}"
        for message in reversed(messages)
    )
    # The newest first, until the room is used; then in their order.
    return take_fitting(lines, room)[::-1]


# ── what code proves ─────────────────────────────────────────────────────────────────────────────────────────────────


def prove_sentences(
    sentences: Sequence[Sentence], rows: Sequence[ComparedRow], columns: Sequence[str], known: Sequence[str]
) -> tuple[list[ReplySentence], list[str]]:
    """Return the sentences whose figures are proved, each with its cells, and what is wrong with the others.

    `known` are texts whose figures need no cell, such as the user's messages.
    """
    names = {column_key(name): name for name in columns}

    def prove(sentence: Sentence) -> ReplySentence:
        text = prove_statement(sentence.text)
        cells, texts = resolve_cited_cells(sentence.cells, rows, names)
        if rows or not is_question(text):
            prove_figures(
                without_names(text, rows),
                # The name of a column may have a figure: "the time for 1 l".
                [*texts, *known, *columns],
                sentence.calculation.split(";"),
                where="its cells or in what the user said",
                counts=[len(rows)] if rows else [],
            )
        return ReplySentence(text=text, cells=tuple(cells))

    said, failed = prove_items(filter(lambda each: clean_line(each.text), sentences), prove, lambda each: each.text)
    return said, [fault for _, fault in failed]


def is_question(text: str) -> bool:
    """Return True for a question, which claims nothing and may propose a figure ("Would about 1.5 litres do?")."""
    return text.endswith(("?", "？", "؟"))


def without_names(text: str, rows: Sequence[ComparedRow]) -> str:
    """Return the text without product names, whose figures are no facts: "the Degree 15"."""
    names = {row.name for row in rows} | {
        row.name.removeprefix(row.cells.get(MAKER_COLUMN, "")).strip() for row in rows
    }
    # The longest first, since one name may be the beginning of another. Names without digits stay as they are.
    for name in sorted(filter(None, names), key=len, reverse=True):
        text = text.replace(name, " … ") if any(map(str.isdigit, name)) else text
    return text


def resolve_cited_cells(
    cells: Sequence[CitedCell], rows: Sequence[ComparedRow], names: Mapping[str, str]
) -> tuple[list[CellRef], list[str]]:
    found: list[CellRef] = []
    texts: list[str] = []
    for each in cells:
        if not 1 <= each.product <= len(rows):
            continue
        row = rows[each.product - 1]
        name = names.get(column_key(each.column), PRODUCT_COLUMN)
        found.append(CellRef(row_id=row.row_id, field=name))
        texts += [f"{row.name} {row.cells.get(name, '')}", row.verdict]
    return list(dict.fromkeys(found)), texts
