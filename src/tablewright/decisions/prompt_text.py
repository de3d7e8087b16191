"""What prompts are made of: columns, rows, pages and quotes as a model is shown them.

Whatever others wrote stands in marked blocks (citations/untrusted.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tablewright.citations.untrusted import block, marked, question_block
from tablewright.domain.model import Evidence, Field
from tablewright.domain.retrieved import Retrieved, is_document
from tablewright.domain.text import shortened
from tablewright.extraction.about import Subject
from tablewright.models.text_budget import ROW_CELL, SOURCE_TITLE, fit_texts

# ── parts ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def join_parts(*parts: str, by: str = "\n\n") -> str:
    """Join those that say something."""
    return by.join(filter(None, parts))


def lines_block(number: int, lines: Iterable[str], title: str = "") -> str:
    return block(number, "\n".join(lines), title)


def headed_block(
    heading: str, number: int, text: str | Sequence[str], title: str = "", *, is_proved: bool = False
) -> str:
    """Return a text or its lines below a heading; "" if there are none. Nothing is left out of what was proved before,
    since none of it gives orders."""
    if not text:
        return ""
    whole = text if isinstance(text, str) else "\n".join(text)
    return f"{heading}\n{marked(f'TEXT {number}', whole, title) if is_proved else block(number, whole, title)}"


def text_blocks(texts: Iterable[tuple[str, str]]) -> str:
    """Return titles and texts in blocks numbered from 1."""
    return "\n\n".join(block(number, text, title) for number, (title, text) in enumerate(texts, start=1))


def number_lines(lines: Iterable[str]) -> str:
    """ "[1] …" on the first line."""
    return "\n".join(f"[{number}] {line}" for number, line in enumerate(lines, start=1))


def clean_lines(texts: Iterable[str]) -> tuple[str, ...]:
    """Return each text once and on one line, without the empty ones."""
    return tuple(dict.fromkeys(" ".join(text.split()) for text in texts if text.strip()))


# ── columns and rows ─────────────────────────────────────────────────────────────────────────────────────────────────


def describe_columns(fields: Sequence[Field], examples: Mapping[str, tuple[str, ...]] = {}) -> str:
    """The columns as the user asked for them; the same for all rows, so {Company} stands for the row's own value."""
    return "\n".join(describe_column(field, examples.get(field.name, ())) for field in fields)


def describe_column(field: Field, examples: Sequence[str] = ()) -> str:
    """ "- Founded (number): What year was {Company} founded?"."""
    kind = f"one of: {', '.join(field.options)}" if field.options else "yes or no" if field.type == "boolean" else ""
    kind = kind or ("list, its items separated by ;" if field.type == "list" else "")
    kind = kind or (f"{field.type}, in {field.unit}" if field.unit else field.type)
    asks = ". ".join(part for part in (field.question, field.description) if part)
    shown = f"\n  Accepted values of this column: {' · '.join(examples)}" if examples else ""
    return f"- {field.name} ({kind})" + (f": {asks}" if asks else "") + shown


def describe_type(field: Field) -> str:
    """ "(number, in kg)", for a column that is written rather than looked for."""
    unit = f", in {field.unit}" if field.unit else ""
    options = f", one of: {', '.join(field.options)}" if field.options else ""
    return f"({field.type}{unit}{options})"


def row_block(subject: Subject, notes: Mapping[str, str] = {}) -> str:
    """The row, and what people said of its cells. Its name stays, whatever it says: it tells which row it is."""
    cells = {subject.column or "Name": subject.name, **subject.context} if subject.name else dict(subject.context)
    lines = [f"{name}: {shortened(value, ROW_CELL)}" for name, value in cells.items() if value]
    row = marked("TEXT 0", "\n".join(lines) or "(the document itself)")
    said = "\n".join(f"Note on {name}: {note}" for name, note in notes.items())
    return f"{row}\n{question_block(said)}" if said else row


# ── pages and quotes ─────────────────────────────────────────────────────────────────────────────────────────────────


def fit_sources(sources: Sequence[Retrieved], fields: Sequence[Field], room: int, name: str = "") -> list[str]:
    """Return each text, cut to the passages that speak of the row of this name and the columns where not all fit."""
    asked = " ".join(f"{field.name} {field.question} {field.description}" for field in fields)
    return fit_texts([source.text for source in sources], asked, room, name)


def source_heading(source: Retrieved) -> str:
    title = shortened(source.title, SOURCE_TITLE)
    where = title if is_document(source.origin) else f"{title} | {source.origin}"
    return f"{where} | search result" if source.kind == "snippet" else where


def page_blocks(pages: Sequence[Retrieved], about: str, room: int) -> str:
    """Return the numbered pages, cut to what they say about something where not all of them fit."""
    texts = fit_texts([page.text for page in pages], about, room)
    return text_blocks((f"{page.origin} | {page.title}", text) for page, text in zip(pages, texts, strict=True))


def quote_lines(evidence: Sequence[Evidence]) -> str:
    """Each quote after the title of its page."""
    return "\n".join(f"{shortened(each.title, SOURCE_TITLE) or 'no title'}: “{each.quote}”" for each in evidence)
