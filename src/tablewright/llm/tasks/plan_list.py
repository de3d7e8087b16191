"""Plan a list of things to find (what is wanted, what must be known of each, where such things are listed), and plan
more searches once some are found.

The plan is the table before it has rows: its columns, the conditions that every row must meet, and the first searches.
Code applies the conditions to the filled cells, so no part of the question is left to a later guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import structs
from pydantic import BaseModel

from tablewright.citations.quotes import RETRIEVED_WARNING, mark_question, mark_text
from tablewright.conditions.compare import check_condition
from tablewright.domain.condition import ORDERED_OPERATORS, Condition, describe_condition
from tablewright.domain.listing import ListPlan
from tablewright.domain.model import Field, Struct, column_key
from tablewright.domain.text import drop_tried_queries, shorten_text
from tablewright.llm.tasks.decision import InvalidReply, Prompt, describe_column
from tablewright.llm.tasks.plan_question import PlannedCondition
from tablewright.llm.text_budget import TEXT_LIMITS
from tablewright.values.comparable_value import infer_field_type, parse_comparable


class ListToPlan(Struct, frozen=True):
    """A question, and the `fields` and `conditions` that the user set explicitly. The first field names the things."""

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
    instructions = """\
A user wants a table of things found on the web or in their documents. You plan it: careful readers then search, \
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
- `places`: in a sentence, where complete lists of such things can be found: registers, directories, members of an \
association, rankings, encyclopedia lists.
- `queries`: 3 to 5 searches that find such lists, each in a different way (another kind of source, other words, a \
language of the place that the things are from), so that their results confirm each other. No query for a single \
thing.
- `say`: in a sentence, what of the request you widened, narrowed or could not express; "" if nothing."""

    def prompt(self, asked: ListToPlan) -> Prompt:
        parts = [asked.question]
        if asked.fields:
            parts.append("Columns asked for:\n" + "\n".join(map(describe_asked_column, asked.fields)))
        if asked.conditions:
            parts.append("Conditions asked for:\n" + "\n".join(map(describe_condition, asked.conditions)))
        wanted = "\n\n".join(parts)
        return Prompt(
            instructions=self.instructions,
            text=f"Today is {asked.today}.\n{mark_question(wanted)}",
            reply=ListReply,
            max_tokens=1_500,
        )

    def check(self, asked: ListToPlan, reply: Any) -> ListPlan:
        planned: ListReply = reply
        if problem := find_list_plan_fault(asked, planned):
            raise InvalidReply(problem)
        given = {column_key(field.name): field for field in asked.fields}
        names = {column_key(column.name): column.name for column in planned.columns}
        conditions = [
            structs.replace(each, column=names[column_key(each.column)])
            for each in (*asked.conditions, *(each.condition for each in planned.conditions))
        ]
        return ListPlan(
            question=asked.question,
            things=planned.things.strip(),
            fields=tuple(build_planned_field(column, given.get(column_key(column.name))) for column in planned.columns),
            identity=tuple(names[column_key(name)] for name in planned.identity),
            conditions=tuple(dict.fromkeys(conditions)),
            places=planned.places.strip(),
            queries=drop_tried_queries(planned.queries),
            said=planned.say.strip(),
        )

    def fallback(self, asked: ListToPlan) -> ListPlan:
        """Return the user's own columns and conditions, with their words as the only search."""
        fields = tuple(infer_type(asked.conditions, field) for field in asked.fields) or (Field(name="Name"),)
        return ListPlan(
            question=asked.question,
            things=asked.question,
            fields=fields,
            identity=(fields[0].name,),
            conditions=asked.conditions,
            queries=(asked.question,),
            by_model=False,
        )


def describe_asked_column(field: Field) -> str:
    """Return a column as the user wrote it; what they left open is for the model to decide."""
    return (
        describe_column(field)
        if field.type != "text"
        else f"- {field.name}" + f": {field.question}" * bool(field.question)
    )


def build_planned_field(column: ListColumn, given: Field | None) -> Field:
    """Return a planned column. What the user set stays: its name, its question, and its type unless it is text."""
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


def find_list_plan_fault(asked: ListToPlan, planned: ListReply) -> str:
    """Return a problem that keeps the plan from being carried out, phrased for the model, or ""."""
    keys = [column_key(column.name) for column in planned.columns]
    if not planned.things.strip() or not keys:
        return "`things` and `columns` must say what is listed."
    # Every column is looked up for every row: more are paid for many times.
    most = 24
    if len(set(keys)) < len(keys) or len(keys) > most or not all(keys):
        return f"there must be at most {most} columns, each with a name of its own."
    if missing := [field.name for field in asked.fields if column_key(field.name) not in keys]:
        return f"the column {missing[0]!r} is asked for and missing."
    # A single column that is asked for may be a detail of things that need a name first.
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


def infer_type(conditions: Sequence[Condition], field: Field) -> Field:
    """Return the field with the type of the limits that conditions compare it with, if it has no type yet."""
    mine = [
        each
        for each in conditions
        if each.operator in ORDERED_OPERATORS and column_key(each.column) == column_key(field.name)
    ]
    # A limit such as "500 EUR" says what the column holds; limits of two types say nothing.
    limits = [parse_comparable(value) for each in mine for value in each.values]
    types = {infer_field_type(limit) for limit in limits}
    if field.type != "text" or len(types) != 1:
        return field
    (type,) = types
    return structs.replace(field, type=type, unit=limits[0].unit if type == "number" else field.unit)


class SearchSoFar(Struct, frozen=True, gc=True):
    """The state of a search for rows. `sources` are the pages read, each with the number of things it lists or why it
    could not be read."""

    plan: ListPlan
    rows: int
    names: tuple[str, ...]
    sources: tuple[tuple[str, str], ...]
    tried: tuple[str, ...]
    aside: int = 0
    """How many of the names fail a condition."""
    insists: bool = False
    """True if the user has seen this and asks for more."""


class NextSearches(BaseModel):
    queries: list[str]


class PlanMoreSearches:
    name = "more searches"
    instructions = f"""\
You direct a search for the rows of a table. You see what was found so far, and where. Say which searches would find \
more of the things: other registers, directories, rankings and lists, other names for the same kind of thing, another \
language, a part of the field (a country, a year, a letter) that is missing among the names. At most 4 `queries`, none \
that was tried or only rewords one that was. No queries if the list is plainly complete or nothing more can be \
expected.

{RETRIEVED_WARNING}"""

    def prompt(self, asked: SearchSoFar) -> Prompt:
        plan = asked.plan
        wanted = [plan.question, f"Things: {plan.things}", f"Rows wanted: {asked.rows}"]
        if plan.conditions:
            wanted.append(f"Conditions: {'; '.join(map(describe_condition, plan.conditions))}")
        names = "\n".join(shorten_text(name, TEXT_LIMITS.found_name) for name in asked.names[: TEXT_LIMITS.found_names])
        read = "\n".join(f"{shorten_text(title, TEXT_LIMITS.list_title)}: {what}" for title, what in asked.sources)
        tried = "\n".join(asked.tried)
        failing = f", of which {asked.aside} fail a condition" if asked.aside else ""
        insists = "\n\nThe user has seen what was found and asks for more: try what was not tried."
        return Prompt(
            instructions=self.instructions,
            text=(
                f"{mark_question(chr(10).join(wanted))}\n\nTried searches:\n{mark_text(0, tried)}\n\n"
                f"Pages:\n{mark_text(1, read)}\n\nFound so far, {len(asked.names)}{failing}:\n{mark_text(2, names)}"
                f"{insists if asked.insists else ''}"
            ),
            reply=NextSearches,
            max_tokens=400,
        )

    def check(self, asked: SearchSoFar, reply: Any) -> tuple[str, ...]:
        # As many as the instructions allow: each is a paid search.
        return drop_tried_queries(reply.queries, asked.tried)[:4]

    def fallback(self, asked: SearchSoFar) -> tuple[str, ...]:
        return ()
