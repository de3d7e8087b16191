"""What the adviser's prompts have in common: how requirements, columns, the comparison and the conversation are shown,
and the check of what is said of products."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pydantic import BaseModel

from tablewright.citations.figures import prove_figures
from tablewright.citations.quotes import clean_line, prove_each, prove_statement, question_block
from tablewright.decisions.decision import text_blocks
from tablewright.domain.condition import describe_condition
from tablewright.domain.model import Field, Noun, RowId, column_key
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.shortlist import KEY, MAKER, CellRef, ChatMessage, ReplySentence, Requirements
from tablewright.domain.text import shortened
from tablewright.models.text_budget import COMPARED_CELL, EARLIER_REPLY, PAGE_TITLE, take_fitting

UNKNOWN = "?"
NOT_LOOKED_UP = "not looked up"


def pages_text(
    sources: Sequence[Retrieved],
    room: int,
    part: Callable[[Retrieved, int], str] = lambda source, room: source.text[:room],
) -> str:
    """The pages in numbered blocks; `part` is what is shown of one that has so many characters of the room."""
    each = room // max(1, len(sources))
    return text_blocks(
        (f"{shortened(source.title, PAGE_TITLE)} | {source.origin}", part(source, each)) for source in sources
    )


class ComparedRow(Noun, frozen=True):
    """A product as the prompt shows it. `verdict` is what code found: its place and score, or why it is left out."""

    row_id: RowId
    name: str
    cells: Mapping[str, str] = {}
    verdict: str = ""

    def text(self, columns: Sequence[str]) -> str:
        if not self.cells:
            return self.name
        cells = " | ".join(
            f"{name}: {shortened(self.cells.get(name, NOT_LOOKED_UP) or UNKNOWN, COMPARED_CELL)}" for name in columns
        )
        return f"{self.name} | {cells} | {self.verdict}"


class CitedCell(BaseModel):
    product: int
    column: str


class Sentence(BaseModel):
    text: str
    cells: list[CitedCell]
    calculation: str


SENTENCES = """\
Each sentence has `text`; `cells`, the cells of the table that it stands on (the product's number and the column's \
name), none where it says nothing of a product; and `calculation`, the arithmetic that gives a figure which no cell \
has, in the cells' own figures ("59.99 - 45"), else "". Every figure must stand in those cells, in what the user \
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
    return f"What is wanted:\n{question_block(requirements_text(requirements))}"


def columns_text(fields: Sequence[Field]) -> str:
    """ "- Capacity (number, l)"."""
    return "\n".join(
        f"- {field.name} ({', '.join(filter(None, (field.type, field.unit, ' / '.join(field.options))))})"
        for field in fields
    )


def comparison_lines(rows: Sequence[ComparedRow], columns: Sequence[str], room: int) -> list[str]:
    """All products under their numbers, as far as there is room; the best are first."""
    lines = take_fitting((f"[{n}] {row.text(columns)}" for n, row in enumerate(rows, start=1)), room, around=1)
    if len(lines) < len(rows):
        lines.append(f"({len(rows) - len(lines)} more are left out for want of room)")
    return lines


def conversation_lines(messages: Sequence[ChatMessage], room: int) -> list[str]:
    """The newest that fit, what the user said and the adviser's last reply whole; the message that is answered now is
    asked apart."""
    last = next((message for message in reversed(messages) if message.role == "advisor"), None)
    lines = (
        f"User: {message.text}"
        if message.role == "user"
        else f"Adviser: {message.text if message is last else shortened(message.text, EARLIER_REPLY)}"
        for message in reversed(messages)
    )
    return take_fitting(lines, room)[::-1]


# ── what code proves ─────────────────────────────────────────────────────────────────────────────────────────────────


def prove_sentences(
    sentences: Sequence[Sentence], rows: Sequence[ComparedRow], columns: Sequence[str], known: Sequence[str]
) -> tuple[list[ReplySentence], list[str]]:
    """Return the sentences whose figures are proved, each with its cells, and what is wrong with the others. `known`
    are texts whose figures need no cell: what the user said."""
    names = {column_key(name): name for name in columns}

    def prove(sentence: Sentence) -> ReplySentence:
        text = prove_statement(sentence.text)
        cells, texts = cited(sentence.cells, rows, names)
        if rows or not is_question(text):
            prove_figures(
                without_names(text, rows),
                [*texts, *known, *columns],  # "the time for 1 l"
                sentence.calculation.split(";"),
                where="its cells or in what the user said",
                counts=[len(rows)] if rows else [],
            )
        return ReplySentence(text=text, cells=tuple(cells))

    said, failed = prove_each(filter(lambda each: clean_line(each.text), sentences), prove, lambda each: each.text)
    return said, [fault for _, fault in failed]


def is_question(text: str) -> bool:
    """It claims nothing: while nothing is compared yet, it may propose a figure ("Would about 1.5 litres do?")."""
    return text.endswith(("?", "？", "؟"))


def without_names(text: str, rows: Sequence[ComparedRow]) -> str:
    """The figures of a product's name are no facts: "the Degree 15"."""
    names = {row.name for row in rows} | {row.name.removeprefix(row.cells.get(MAKER, "")).strip() for row in rows}
    for name in sorted(filter(None, names), key=len, reverse=True):
        text = text.replace(name, " … ") if any(map(str.isdigit, name)) else text
    return text


def cited(
    cells: Sequence[CitedCell], rows: Sequence[ComparedRow], names: Mapping[str, str]
) -> tuple[list[CellRef], list[str]]:
    found: list[CellRef] = []
    texts: list[str] = []
    for each in cells:
        if not 1 <= each.product <= len(rows):
            continue
        row = rows[each.product - 1]
        name = names.get(column_key(each.column), KEY)
        found.append(CellRef(row_id=row.row_id, field=name))
        texts += [f"{row.name} {row.cells.get(name, '')}", row.verdict]
    return list(dict.fromkeys(found)), texts
