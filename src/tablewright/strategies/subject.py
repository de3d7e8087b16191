"""What a question is about, and the words to search for it with."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tablewright.citations.quotes import looks_like_prompt_injection
from tablewright.decisions.plan_patterns import ENTITY, named_columns
from tablewright.domain.fieldspec import columns_in, named_placeholders, replace_columns
from tablewright.domain.model import Cell, Field, Row, Table, column_key
from tablewright.domain.retrieved import is_document
from tablewright.domain.text import cell_text, normalize_whitespace
from tablewright.errors import UsageError
from tablewright.extraction.about import Subject
from tablewright.sources.provenance import Provenance, current_provenance
from tablewright.sources.source import Source
from tablewright.strategies.strategy import Task, Tools
from tablewright.text import without_personal_data

TELLING, TELLING_WORDS = 60, 4
"""Characters and words of a cell at most that helps to find its row: what is longer is a note, no name and no place."""
BULLETS = " •·▪◦‣*–—-†‡#"
"""What lists put before a name, which a search engine would take for a part of it."""
MOST_OF_CELL, MOST_OF_QUERY = 500, 2_000
"""Characters. Search engines refuse longer queries, and each stands in the trace."""


def web_of(tools: Tools) -> Source:
    if tools.web is None:
        raise UsageError("There is no web to search.", advice="Set TABLEWRIGHT_SEARCH; `tablewright doctor` helps.")
    return tools.web


def subject_columns(task: Task) -> dict[str, str]:
    """For each field the column that its question is about."""
    known = (*task.table.fields, *task.fields)
    making = {field.name for field in task.fields}
    return {field.name: subject_column(task.table, columns_in(field.question, known, making)) for field in task.fields}


def by_subject(task: Task) -> dict[str, tuple[Field, ...]]:
    """The fields by the column that they ask about: those of one are found together."""
    columns = subject_columns(task)
    return {
        column: tuple(field for field in task.fields if columns[field.name] == column)
        for column in dict.fromkeys(columns.values())
    }


def subject_column(table: Table, named: Sequence[str]) -> str:
    """Return what a question is about: the column that names the rows, unless the question speaks only of others."""
    if table.key_field and (not named or table.key_field in named):
        return table.key_field
    if not named:
        raise UsageError("The table has no column that names its rows.", advice="Say which with --key-field COLUMN.")
    texts = [name for name in named if (field := table.field(name)) and field.type in ("text", "select")]
    return texts[0] if texts else named[0]


def subject_of(table: Table, row: Row, column: str, asked: Collection[str]) -> Subject:
    """The row as others know it: its name and what else is known of it, but for what is asked.

    A cell may hold what a page said: one that gives orders to machines tells nothing about its row."""
    context = {
        field.name: text
        for field in table.fields
        if field.name not in asked
        and field.name != column
        and (text := normalize_whitespace(cell_text(row.cell(field.name))))
        and not looks_like_prompt_injection(text)
    }
    return Subject(name=normalize_whitespace(cell_text(row.cell(column))), context=context, column=column)


def other_columns(task: Task, column: str) -> tuple[str, ...]:
    """The columns beside those that are asked for and the one that they are about: the same for every row, whichever of
    its cells are filled, so that all rows share one plan."""
    asked = {field.name for field in task.fields}
    return tuple(field.name for field in task.table.shown_fields if field.name not in asked and field.name != column)


def telling_columns(subject: Subject, fields: Sequence[Field]) -> tuple[str, ...]:
    """The columns whose cells help to find the row: those that a question names, then those of a few words."""
    named = {column_key(name) for field in fields for name in named_columns(field, subject.column)}
    telling = [column for column, text in subject.context.items() if column_key(column) in named or tells_apart(text)]
    return tuple(sorted(telling, key=lambda column: column_key(column) not in named))


def provenance_of(task: Task, row: Row) -> Provenance:
    """Return what the row may tell the public web: what its table calls and asks things, its key, the cells that a
    question names, and what was found on the public web before."""
    making = {field.name for field in task.fields}
    named = {column_key(name) for field in task.fields for name in named_columns(field, "")}
    named |= {column_key(task.table.key_field or "")}
    cells = {name: cell for name, cell in row.cells.items() if cell.value is not None}
    told = {name for name, cell in cells.items() if column_key(name) in named or is_from_web(cell)}
    asked = [(field.name, field.question, field.description, field.unit, field.options) for field in known_to(task)]
    addresses = {each.origin for cell in cells.values() for each in cell.evidence}
    addresses |= {cell_text(cell) for cell in cells.values() if not is_from_documents(cell)}
    others = [cell for name, cell in cells.items() if name not in told | making]
    telling = [cell_text(cell) for cell in others if is_telling(cell)]
    return Provenance(
        task.table.name,
        asked,
        [cell_text(cells[name]) for name in sorted(told)],
        addresses=addresses,
        telling_cells=telling,
        has_private_cells=len(telling) < len(others),
    )


def is_telling(cell: Cell) -> bool:
    """True if a plan may put a cell into a query, to tell the row from its namesakes: a short text that is no figure,
    that has no personal data and does not come from the user's documents."""
    text = normalize_whitespace(cell_text(cell))
    return tells_apart(text) and without_personal_data(text) == text and not is_from_documents(cell)


def tells_apart(text: str) -> bool:
    """True for a name, a place or a category; False for figures and notes."""
    is_short = 2 < len(text) <= TELLING and len(text.split()) <= TELLING_WORDS
    return is_short and not text.replace(".", "").replace(",", "").isdigit()


def known_to(task: Task) -> tuple[Field, ...]:
    return (*task.table.fields, *task.fields)


def is_from_web(cell: Cell) -> bool:
    """True if all that a cell rests on are public pages and search results."""
    return bool(cell.evidence) and not is_from_documents(cell) and all(each.origin for each in cell.evidence)


def is_from_documents(cell: Cell) -> bool:
    """True if a cell rests on the user's own documents."""
    return any(each.origin and is_document(each.origin) for each in cell.evidence)


def allow_queries(queries: Sequence[str], *, planned_anew: bool) -> None:
    """Note queries that a plan gives for the row. The first plan of a table is made before any row is read; a further
    one of a row (`planned_anew`) only counts if nothing private had been read by then."""
    provenance = current_provenance()
    if provenance is None:
        return
    if planned_anew:
        provenance.allow_planned(queries)
    else:
        provenance.allow(*queries)


def queries_for(patterns: Sequence[str], subject: Subject, row: Row, fields: Sequence[Field] = ()) -> list[str]:
    """Return the patterns with the row in them. Cells that name the row, or that the question of one of these fields
    names, are used as they are; of other cells only those that tell the row apart, and those that were found on the
    public web."""
    told = {column_key(name) for field in fields for name in named_columns(field, "")} | {column_key(subject.column)}
    cells = {
        column_key(name): cell_text(cell)[:MOST_OF_CELL]
        for name, cell in row.cells.items()
        if column_key(name) in told or is_telling(cell) or is_from_web(cell)
    }
    name = (subject.name.lstrip(BULLETS) or subject.name)[:MOST_OF_CELL]
    most = MOST_OF_CELL * MOST_OF_QUERY  # what is cut afterwards
    texts = {named: cells.get(column_key(named), "") for each in patterns for named in named_placeholders(each)}
    queries = [replace_columns(pattern, texts, most).replace(ENTITY, name) for pattern in patterns]
    return list(dict.fromkeys(" ".join(query.split())[:MOST_OF_QUERY] for query in queries))
