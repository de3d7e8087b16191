"""Plan a list: what things are wanted, what must be known of each, and where such things are listed.

The plan is the table before it has rows: its columns, the conditions that every row must meet, and the first searches.
Code applies the conditions to the filled cells; nothing of the question is left to a later guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import structs
from pydantic import BaseModel

from tablewright.citations.quotes import question_block
from tablewright.conditions.comparable import check_condition
from tablewright.decisions.decision import Prompt, Unusable, describe_column
from tablewright.decisions.plan_question import PlannedCondition
from tablewright.domain.condition import ORDERED, Condition, describe_condition
from tablewright.domain.listing import ListPlan
from tablewright.domain.model import Field, Noun, column_key
from tablewright.domain.text import new_queries
from tablewright.values.typed import type_of, typed

INSTRUCTIONS = """\
Somebody wants a table of things found on the web or in their documents. You plan it: careful readers then search, \
read lists and fill the cells, and code applies the conditions.

- `things`: what is listed, in the plural ("Nordic fintech companies").
- `columns`: the first names the thing that a row is about. Then the columns that the user asks for, under exactly \
their names and in their order, and last what the conditions need beyond them. Without asked columns, choose the few \
that the question itself speaks of. Each has a type (text where lists may write more than a bare figure or date), a \
unit where one is needed, and a question about one single thing with the first column in braces: "How many people \
does {Name} employ?". The first needs no question.
- `identity`: the columns that together tell one row from another: usually the first alone; more of them where one \
thing has several rows, such as a club for each season.
- `conditions`: what the question demands of every row, beyond being one of the things: column, operator, values. All \
must hold; several values mean any of them. Numbers and amounts as "500" or "500 EUR", dates as YYYY, YYYY-MM or \
YYYY-MM-DD, yes or no as "yes" or "no". "known" demands that the value is known. What belongs to the kind of thing and \
decides which lists to read (a place, a trade, a section of a known list) is a condition only if lists would mix it \
with others and a column can tell.
- `places`: in a sentence, where whole lists of such things stand: registers, directories, members of an association, \
rankings, encyclopedia lists.
- `queries`: 3 to 5 searches that find such lists, each by another way (another kind of source, other words, another \
language where the things are at home), so that their results confirm each other. No query for a single thing.
- `say`: in a sentence, what of the request you widened, narrowed or could not express; "" where nothing."""

MOST_COLUMNS = 24


class ListToPlan(Noun, frozen=True):
    """`fields` are the columns that the user asks for, the first of which names the things; `conditions` what they
    demand beside their words."""

    question: str
    today: str
    fields: tuple[Field, ...] = ()
    conditions: tuple[Condition, ...] = ()


class ListColumn(BaseModel):
    name: str
    type: Literal["text", "number", "date", "money", "boolean", "list", "url"]
    question: str
    unit: str


class ListReply(BaseModel):
    things: str
    columns: list[ListColumn]
    identity: list[str]
    conditions: list[PlannedCondition]
    places: str
    queries: list[str]
    say: str


class PlanList:
    name = "plan list"

    def prompt(self, asked: ListToPlan) -> Prompt:
        parts = [asked.question]
        if asked.fields:
            parts.append("Columns asked for:\n" + "\n".join(map(as_asked, asked.fields)))
        if asked.conditions:
            parts.append("Conditions asked for:\n" + "\n".join(map(describe_condition, asked.conditions)))
        wanted = "\n\n".join(parts)
        return Prompt(
            instructions=INSTRUCTIONS,
            text=f"Today is {asked.today}.\n{question_block(wanted)}",
            reply=ListReply,
            max_tokens=1_500,
        )

    def check(self, asked: ListToPlan, reply: Any) -> ListPlan:
        planned: ListReply = reply
        if problem := list_plan_fault(asked, planned):
            raise Unusable(problem)
        given = {column_key(field.name): field for field in asked.fields}
        names = {column_key(column.name): column.name for column in planned.columns}
        conditions = [
            structs.replace(each, column=names[column_key(each.column)])
            for each in (*asked.conditions, *(each.condition for each in planned.conditions))
        ]
        return ListPlan(
            question=asked.question,
            things=planned.things.strip(),
            fields=tuple(field_of(column, given.get(column_key(column.name))) for column in planned.columns),
            identity=tuple(names[column_key(name)] for name in planned.identity),
            conditions=tuple(dict.fromkeys(conditions)),
            places=planned.places.strip(),
            queries=new_queries(planned.queries),
            said=planned.say.strip(),
        )

    def fallback(self, asked: ListToPlan) -> ListPlan:
        """The columns and conditions that the user wrote, and their words as the search; nothing is made up."""
        fields = tuple(typed_by(asked.conditions, field) for field in asked.fields) or (Field(name="Name"),)
        return ListPlan(
            question=asked.question,
            things=asked.question,
            fields=fields,
            identity=(fields[0].name,),
            conditions=asked.conditions,
            queries=(asked.question,),
            by_model=False,
        )


def as_asked(field: Field) -> str:
    """A column as its user wrote it; what they did not say of it is for the model to say."""
    return (
        describe_column(field)
        if field.type != "text"
        else f"- {field.name}" + f": {field.question}" * bool(field.question)
    )


def field_of(column: ListColumn, given: Field | None) -> Field:
    """Return a planned column. The user's own words for it stay: its name, its question, and its type unless that is
    plain text."""
    if given is None:
        return Field(name=column.name.strip(), type=column.type, question=column.question, unit=column.unit)
    says_type = given.type != "text"
    return Field(
        name=given.name,
        type=given.type if says_type else column.type,
        question=given.question or column.question,
        description=given.description,
        unit=given.unit or ("" if says_type else column.unit),
        options=given.options,
    )


def list_plan_fault(asked: ListToPlan, planned: ListReply) -> str:
    """Return what of a plan cannot be carried out, in words for who made it."""
    keys = [column_key(column.name) for column in planned.columns]
    if not planned.things.strip() or not keys:
        return "`things` and `columns` must say what is listed."
    if len(set(keys)) < len(keys) or len(keys) > MOST_COLUMNS or not all(keys):
        return f"there must be at most {MOST_COLUMNS} columns, each with a name of its own."
    if missing := [field.name for field in asked.fields if column_key(field.name) not in keys]:
        return f"the column {missing[0]!r} is asked for and missing."
    if asked.fields and column_key(asked.fields[0].name) != keys[0] and len(asked.fields) > 1:
        return f"the first column must be the first that is asked for, {asked.fields[0].name!r}."
    if not planned.identity or not {column_key(name) for name in planned.identity} <= {*keys}:
        return "`identity` must name some of the columns."
    if not any(query.strip() for query in planned.queries):
        return "there are no `queries` to search for."
    types = {column_key(column.name): column.type for column in planned.columns}
    for condition in (each.condition for each in planned.conditions):
        if unknown := [name for name in condition.columns if column_key(name) not in types]:
            return f"{unknown[0]!r} is used in a condition, but it is not among `columns`."
        field = Field(name=condition.column, type=types[column_key(condition.column)])
        if problem := check_condition(condition, field):
            return problem
    if missing := [each.column for each in asked.conditions if column_key(each.column) not in keys]:
        return f"the condition on {missing[0]!r} is asked for, but it is not among `columns`."
    return ""


def typed_by(conditions: Sequence[Condition], field: Field) -> Field:
    """A column of no given type that is to be less or more than an amount, a number or a date has such values."""
    mine = [
        each for each in conditions if each.operator in ORDERED and column_key(each.column) == column_key(field.name)
    ]
    limits = [typed(value) for each in mine for value in each.values]
    types = {type_of(limit) for limit in limits}
    if field.type != "text" or len(types) != 1:
        return field
    (type,) = types
    return structs.replace(field, type=type, unit=limits[0].unit if type == "number" else field.unit)
