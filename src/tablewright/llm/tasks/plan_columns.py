"""Plan new columns from a user's description of what they want to know about every row.

The user sees and can change the plan before anything is searched.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import BaseModel

from tablewright.citations.quotes import mark_question, mark_text
from tablewright.domain.fieldspec import PLACEHOLDER
from tablewright.domain.model import Field, Struct, column_key
from tablewright.llm.tasks.decision import InvalidReply, Prompt
from tablewright.values.units import set_named_unit


class ColumnsToPlan(Struct, frozen=True):
    """A request with the table's `fields` and some of its `rows` as texts. The first field names the rows."""

    request: str
    fields: tuple[Field, ...]
    rows: tuple[tuple[str, ...], ...] = ()


class PlannedColumn(BaseModel):
    name: str
    type: Literal["text", "number", "boolean", "select", "date", "url", "list", "money"]
    unit: str
    options: list[str]
    question: str


class ColumnsReply(BaseModel):
    columns: list[PlannedColumn]


class PlanColumns:
    name = "plan columns"
    instructions = """\
A user has a table and says what else they want to know about every row. You turn that into new columns; careful \
readers then fill each cell from the web, from documents or from the row itself.

- `columns`: one for each thing that is wanted, in the order of the words, and none that is not. Two things in one \
sentence are two columns.
- `name`: a short heading, as a person would write it ("Founded", "Chief executive"); no heading that the table has.
- `type`: number for counts, years and measures; money for amounts with a currency; date for days; boolean for yes or \
no; select where the answer is one of few known options; url for addresses; list for several short entries; else text.
- `unit`: of a number, the one that the words say, also in the name or the question ("in metres": "m"), else the one \
that the thing calls for ("kg"); of an amount, its currency if one is named ("GBP"); else "".
- `options`: of a select, all of them; else empty.
- `question`: about one single row, with the column that names it in braces, and any other column in braces that helps \
to tell which one is meant or that the answer is made from: "What year was {Company} founded?". If the words are \
already such a question or a formula, keep them as they are.

Names and questions are in the language of the request. The block TEXT shows the headings of the table, the first of \
which names the rows, and some rows; the block QUESTION says what is wanted."""

    def prompt(self, asked: ColumnsToPlan) -> Prompt:
        lines = [" | ".join(field.name for field in asked.fields), *(" | ".join(row) for row in asked.rows)]
        return Prompt(
            instructions=self.instructions,
            text=f"{mark_text(1, chr(10).join(lines))}\n{mark_question(asked.request)}",
            reply=ColumnsReply,
            # Twelve columns, each with a question.
            max_tokens=1_500,
        )

    def check(self, asked: ColumnsToPlan, reply: Any) -> tuple[Field, ...]:
        planned: ColumnsReply = reply
        if problem := next(find_column_problems(asked, planned), ""):
            raise InvalidReply(problem)
        return tuple(
            set_named_unit(
                Field(
                    name=column.name.strip(),
                    type=column.type,
                    question=column.question.strip(),
                    unit=column.unit.strip() if column.type in ("number", "money") else "",
                    options=tuple(column.options) if column.type == "select" else (),
                )
            )
            for column in planned.columns
        )

    def fallback(self, asked: ColumnsToPlan) -> tuple[Field, ...]:
        """Return no columns: understanding a description takes a model."""
        return ()


def find_column_problems(asked: ColumnsToPlan, planned: ColumnsReply) -> Iterator[str]:
    """Yield the problems with the planned columns."""
    known = {column_key(field.name) for field in asked.fields}
    keys = [column_key(column.name) for column in planned.columns]
    # Of one request of a user; more columns are hard to review in one go.
    most = 12
    if not 0 < len(keys) <= most or len(set(keys)) < len(keys):
        yield f"there must be 1 to {most} columns, each with a name of its own."
    for column in planned.columns:
        if not column.name.strip() or "{" in column.name or "}" in column.name:
            yield f"{column.name!r} cannot be a name."
        if column_key(column.name) in known:
            yield f"the table has a column {column.name!r} already."
        if not column.question.strip():
            yield f"{column.name} has no question."
        # With one option there is nothing to choose.
        if column.type == "select" and len(column.options) < 2:
            yield f"{column.name} is a select without options."
        for name in PLACEHOLDER.findall(column.question):
            if column_key(name) not in known:
                yield f"the table has no column {name!r}, which the question of {column.name} names."
