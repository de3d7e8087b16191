"""The subject of a question: the thing a row is about, and the queries that may be sent to the web for it.

Private data stays private here: only the row's name, cells that the question names, and public findings may become part
of a query."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tablewright.citations.quotes import looks_like_prompt_injection
from tablewright.domain.fieldspec import fill_template, find_template_columns, list_placeholders
from tablewright.domain.model import Cell, Field, Row, Table, column_key
from tablewright.domain.retrieved import is_document_id
from tablewright.domain.text import cell_text, normalize_whitespace
from tablewright.errors import UsageError
from tablewright.extraction.subject import Subject
from tablewright.llm.tasks.plan_patterns import ENTITY_PLACEHOLDER, columns_in_question
from tablewright.strategies.strategy import Task, Tools
from tablewright.text import remove_personal_data
from tablewright.web.provenance import Provenance, current_provenance
from tablewright.web.source import Source

# The most characters and words of a cell that may identify its row: longer texts are notes, not names or places.
MAX_NAME_CHARACTERS, MAX_NAME_WORDS = 60, 4
# Search engines refuse longer queries, and every query is shown in the trace.
MAX_CELL_CHARACTERS, MAX_QUERY_CHARACTERS = 500, 2_000


def require_web(tools: Tools) -> Source:
    if tools.web is None:
        raise UsageError("There is no web to search.", advice="Set TABLEWRIGHT_SEARCH; `tablewright doctor` helps.")
    return tools.web


def subject_columns(task: Task) -> dict[str, str]:
    """Return for each field the column that its question is about."""
    known = (*task.table.fields, *task.fields)
    making = {field.name for field in task.fields}
    return {
        field.name: subject_column(task.table, find_template_columns(field.question, known, making))
        for field in task.fields
    }


def group_by_subject(task: Task) -> dict[str, tuple[Field, ...]]:
    """Return the fields by the column that they ask about: those of one column are found together."""
    columns = subject_columns(task)
    return {
        column: tuple(field for field in task.fields if columns[field.name] == column)
        for column in dict.fromkeys(columns.values())
    }


def subject_column(table: Table, named: Sequence[str]) -> str:
    """Return the column a question is about: the one that names the rows, unless the question names only others."""
    if table.key_field and (not named or table.key_field in named):
        return table.key_field
    if not named:
        raise UsageError("The table has no column that names its rows.", advice="Say which with --key-field COLUMN.")
    # Of several named columns, a text names a thing; figures and dates only describe it.
    texts = [name for name in named if (field := table.field(name)) and field.type in ("text", "select")]
    return texts[0] if texts else named[0]


def make_subject(table: Table, row: Row, column: str, asked: Collection[str]) -> Subject:
    """Return the row as the world knows it: its name and its other cells, except those that are requested.

    A cell may hold text of a page: one that looks like prompt injection is left out."""
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
    """Return the columns that are neither requested nor the subject: the same for every row, whichever of its cells are
    filled, so that all rows share one plan."""
    asked = {field.name for field in task.fields}
    return tuple(field.name for field in task.table.shown_fields if field.name not in asked and field.name != column)


def identifying_columns(subject: Subject, fields: Sequence[Field]) -> tuple[str, ...]:
    """Return the columns whose cells help to find the row: those that a question names, then those of a few words."""
    named = {column_key(name) for field in fields for name in columns_in_question(field, subject.column)}
    telling = [column for column, text in subject.context.items() if column_key(column) in named or is_short_name(text)]
    # The columns that the question names come first: a plan may use only the first few.
    return tuple(sorted(telling, key=lambda column: column_key(column) not in named))


def provenance_of(task: Task, row: Row) -> Provenance:
    """Return the words that may be sent to the public web for a row: names and questions of its table, its key, the
    cells that a question names, and findings from the public web."""
    making = {field.name for field in task.fields}
    named = {column_key(name) for field in task.fields for name in columns_in_question(field, "")}
    named |= {column_key(task.table.key_field or "")}
    cells = {name: cell for name, cell in row.cells.items() if cell.value is not None}
    public = {name for name, cell in cells.items() if column_key(name) in named or is_from_web(cell)}
    asked = [(field.name, field.question, field.description, field.unit, field.options) for field in known_fields(task)]
    addresses = {each.origin for cell in cells.values() for each in cell.evidence}
    # An address in a cell may be opened, since opening it tells its site nothing else of the row.
    addresses |= {cell_text(cell) for cell in cells.values() if not is_from_documents(cell)}
    others = [cell for name, cell in cells.items() if name not in public | making]
    identifying = [cell_text(cell) for cell in others if is_identifying(cell)]
    return Provenance(
        task.table.name,
        asked,
        [cell_text(cells[name]) for name in sorted(public)],
        addresses=addresses,
        telling_cells=identifying,
        has_private_cells=len(identifying) < len(others),
    )


def is_identifying(cell: Cell) -> bool:
    """Return True if a plan may put a cell into a query, to tell the row from its namesakes: a short text that is no
    figure, has no personal data and does not come from the user's documents."""
    text = normalize_whitespace(cell_text(cell))
    return is_short_name(text) and remove_personal_data(text) == text and not is_from_documents(cell)


def is_short_name(text: str) -> bool:
    """Return True for a name, a place or a category; False for figures and notes."""
    # One or two letters are codes, which many rows share.
    is_short = 2 < len(text) <= MAX_NAME_CHARACTERS and len(text.split()) <= MAX_NAME_WORDS
    return is_short and not text.replace(".", "").replace(",", "").isdigit()


def known_fields(task: Task) -> tuple[Field, ...]:
    return (*task.table.fields, *task.fields)


def is_from_web(cell: Cell) -> bool:
    """Return True if all evidence of a cell is from public pages and search results."""
    return bool(cell.evidence) and not is_from_documents(cell) and all(each.origin for each in cell.evidence)


def is_from_documents(cell: Cell) -> bool:
    """Return True if evidence of a cell is from the user's own documents."""
    return any(each.origin and is_document_id(each.origin) for each in cell.evidence)


def allow_queries(queries: Sequence[str], *, is_replanned: bool) -> None:
    """Allow the queries of a plan to be sent to the web. The first plan of a table is made before any row is read; a
    later one (`is_replanned`) is only allowed if nothing private had been read by then."""
    provenance = current_provenance()
    if provenance is None:
        return
    if is_replanned:
        provenance.allow_planned(queries)
    else:
        provenance.allow(*queries)


def fill_patterns(patterns: Sequence[str], subject: Subject, row: Row, fields: Sequence[Field] = ()) -> list[str]:
    """Return the queries that the patterns give for a row. Cells that name the row, or that the question of one of
    these fields names, are used as they are; other cells only if they identify it or were found on the public web."""
    named = {column_key(name) for field in fields for name in columns_in_question(field, "")} | {
        column_key(subject.column)
    }
    cells = {
        column_key(name): cell_text(cell)[:MAX_CELL_CHARACTERS]
        for name, cell in row.cells.items()
        if column_key(name) in named or is_identifying(cell) or is_from_web(cell)
    }
    # Marks that lists put before a name; a search engine would take them for a part of it.
    name = (subject.name.lstrip(" •·▪◦‣*–—-†‡#") or subject.name)[:MAX_CELL_CHARACTERS]
    # The query is cut afterwards.
    most = MAX_CELL_CHARACTERS * MAX_QUERY_CHARACTERS
    texts = {named: cells.get(column_key(named), "") for each in patterns for named in list_placeholders(each)}
    queries = [fill_template(pattern, texts, most).replace(ENTITY_PLACEHOLDER, name) for pattern in patterns]
    return list(dict.fromkeys(" ".join(query.split())[:MAX_QUERY_CHARACTERS] for query in queries))
