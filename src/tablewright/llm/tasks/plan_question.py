"""Plan how a question about the user's documents is answered: what is asked, and what code must look up.

A model sees the conversation and an inventory of the documents. It decides whether the answer is in sentences, which
are searched for, or is a list, count, sum or the like over all documents of a kind. Then it names the kind, the columns
needed of each document, and the conditions. Code fills the columns, applies the conditions and counts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from pydantic import BaseModel

from tablewright.citations.quotes import RETRIEVED_WARNING, mark_question, mark_text
from tablewright.conditions.compare import check_condition
from tablewright.domain.condition import Condition
from tablewright.domain.documents import Aggregate
from tablewright.domain.model import Field, Struct, column_key
from tablewright.domain.text import shorten_text
from tablewright.llm.tasks.decision import InvalidReply, Prompt, headed_block, join_parts
from tablewright.llm.text_budget import TEXT_LIMITS

Action = Literal["table", "text", "rest", "export", "go on", "new topic", "ask back"]
Operator = Literal["=", "!=", "<", "<=", ">", ">=", "between", "contains", "in month", "known", "unknown"]
Period = Literal["", "year", "quarter", "month"]
# A column that every document has without reading it.
KIND_COLUMN = "kind"


class DocumentGroup(Struct, frozen=True):
    """The documents of a kind, or the rows of a table inside documents, that a question can be about.

    `columns` are known of its members already. If `fixed`, no more can be read of each of them, only of the documents
    that they are in.
    """

    name: str
    columns: tuple[str, ...] = ()
    fixed: bool = False


class QuestionToPlan(Struct, frozen=True, gc=True):
    """A question with its context. `inventory` describes the documents; `groups` are those that a plan can name.
    `turns` are the questions and answers so far, `last` is the last plan that was carried out."""

    text: str
    today: str
    inventory: str
    groups: Mapping[str, DocumentGroup]
    turns: tuple[tuple[str, str], ...] = ()
    last: str = ""
    result: str = ""
    hits: str = ""
    """Lines of the documents that contain words of the question."""


class PlannedColumn(BaseModel):
    name: str
    type: Literal["text", "number", "date", "money", "boolean", "list"]
    question: str
    unit: str


class PlannedCondition(BaseModel):
    column: str
    operator: Operator
    values: list[str]

    @property
    def condition(self) -> Condition:
        return Condition(column=self.column, operator=self.operator, values=tuple(self.values))


class QuestionPlan(BaseModel):
    question: str
    language: str
    action: Action
    say: str
    path: str
    queries: list[str]
    of: list[str]
    columns: list[PlannedColumn]
    conditions: list[PlannedCondition]
    aggregate: Aggregate
    aggregate_column: str
    group_by: str
    period: Period
    order_by: str
    descending: bool
    limit: int
    unit_column: str
    sentence: str
    sentence_one: str
    sentence_none: str
    compare: bool

    @property
    def where(self) -> tuple[Condition, ...]:
        """Return the conditions in the form that code evaluates."""
        return tuple(each.condition for each in self.conditions)

    @property
    def fields_by_key(self) -> dict[str, Field]:
        """Return the columns by their keys, without units: each document writes numbers in its own unit."""
        return {column_key(each.name): Field(name=each.name, type=each.type) for each in self.columns}


def text_search_plan(text: str, language: str = "") -> QuestionPlan:
    """Return a plan that searches for the question as it was asked."""
    return QuestionPlan(
        question=text,
        language=language,
        action="text",
        say="",
        path="",
        queries=[text],
        of=[],
        columns=[],
        conditions=[],
        aggregate="",
        aggregate_column="",
        group_by="",
        period="",
        order_by="",
        descending=False,
        limit=0,
        unit_column="",
        sentence="",
        sentence_one="",
        sentence_none="",
        compare=False,
    )


def parse_stored_plan(text: str) -> QuestionPlan:
    """Return the plan of an earlier turn. It may be from a version without these fields."""
    since = {"language": "", "period": "", "sentence_one": "", "sentence_none": ""}
    return QuestionPlan.model_validate({**since, **json.loads(text)})


class PlanQuestion:
    name = "plan question"
    instructions = f"""\
You plan how a question about the user's own documents is answered. You do not answer it: code and careful readers \
carry out your plan.

`question`: what is asked, whole and by itself, in the user's language: what pronouns, "that", "and the others?" or \
"only 2024" refer to is written out from the conversation. A question that is whole stays as it is. A refinement of a \
list, count or sum keeps what the last plan did and adds to its conditions.
`language`: the language in which the user asks, as a code such as "en" or "de".

`action`:
- "table": a list, count, sum, average, extreme, ranking, grouping or comparison over things of a kind, or a value of \
things that conditions single out. Every document of the kind, or every row of a table, is looked at, so the result \
can be complete.
- "text": what sentences answer: how, why, what does it say about, everything about one thing, a summary, a term of \
one named document.
- "rest", "export", "go on", "new topic": the user wants more rows of the last result, wants it as a file (`path`, if \
named), agrees to the reading that the last answer asked about, or wants to start over. Any other follow-up is a \
whole new plan.
- "ask back": only where the documents allow several readings that lead to different answers and nothing tells which \
is meant, or where the question refers to something that was never named. `say` is your question to the user, naming \
the readings.

For "text", `queries`: 2 to 5 searches in words that the documents themselves would use, each for another part or \
wording of the question; in the documents' language; short, and naming the section, statement or table that would say \
it. `of`: the kinds to search where the question says so ("what do the manuals say"), or the names of the documents \
that must say it, as where one report is of the firm that is asked about; else none. For "table", `queries` only \
where sentences elsewhere may tell what the lookup does not find; else none.

For "table":
- `of`: the kinds, or the numbers of tables inside documents (T1), whose members are meant. Prefer a table inside \
documents where each of its rows is one of the things asked about.
- `columns`: everything that must be known of each member for conditions, sums, sorting and showing. Take a known \
column by its name where it means the same; else a short name, its type and a question that a reader of one single \
document can answer without knowing the others ("What is the total amount due?"). "kind" is known of every document. A \
property that no document states as a value is a yes/no column ("Is it about a repair?"). What documents only mention \
where it is so, such as a payment or a cancellation, is a column of that fact ("When was it paid?"), with the operator \
"known" or "unknown"; where documents of other kinds may tell it too, such as mails about payments, `of` names them as \
well, and `compare` is true. What a document gives only in parts, such as items without a total, hours and a rate, or \
a date and a period, is one column, too: its reader works it out. Of a table inside documents, its own columns by \
their names and, with a question, what the surrounding document says once for all rows, such as its date or supplier.
- `conditions`: all must hold; several `values` mean any of them. Numbers and amounts as "500" or "500 EUR" with the \
user's own unit or currency, or only "EUR" for amounts in euros; dates as YYYY, YYYY-MM or YYYY-MM-DD; yes/no as \
"yes" or "no"; "in month" takes a number from 1 to 12, for a month without a year. A value in braces is another \
column of the same member: `Paid on` ">" "{{Due date}}". "known" and "unknown" ask whether a document states it at \
all. No condition that only repeats the kind. Every restriction in the question must be one of the conditions.
- `aggregate` and `aggregate_column`: "" for a list; "count" for how many; or sum, average, min, max of a number, \
amount or date. `group_by`: a column, for one figure a group; of a date column `period` says whether by "year", \
"quarter" or "month", and is "" otherwise. `order_by` (a column), `descending`, `limit`: for "the three most \
expensive", "sorted by date". With `group_by`, `limit` is how many groups, by their figure: "which month had the \
most" is a count by month, `descending`, `limit` 1.
- `unit_column`: if the currency or unit of the figures is in a separate column, that column; else "".
- `sentence`, `sentence_one` and `sentence_none`: the answer in one sentence of the user's language, for several \
matches, for exactly one, and for none; to a yes-or-no question each begins with yes or no. Code completes them: \
{{count}} stands for how many match, {{figure}} for the sum, average or extreme, where there is no `group_by`; no \
other figure that is not in the question. "{{count}} invoices of March are over 500 EUR.", "One invoice of March is \
over 500 EUR.", "No invoice of March is over 500 EUR." Code adds a line for each group, for each member of a short \
list, and for who has the extreme.
- `compare`: true where the answer needs judgement across members or kinds, or arithmetic within rows of a table \
inside documents, that conditions and aggregates cannot express, such as matching payments with bills; `of` may then \
name several kinds and tables, and each column is looked for where it can be found. A second reader is then shown the \
rows that the conditions leave. A yes or no that a list or a count settles needs none.

{RETRIEVED_WARNING}"""

    def prompt(self, asked: QuestionToPlan) -> Prompt:
        limit = TEXT_LIMITS.conversation_turn
        said = [
            f"User: {shorten_text(question, limit)}\nAnswer: {shorten_text(answer, limit)}"
            for question, answer in asked.turns[-TEXT_LIMITS.conversation_turns :]
        ]
        text = join_parts(
            f"The documents:\n{mark_text(0, asked.inventory, 'inventory')}",
            headed_block("The conversation so far:", 1, said, "conversation"),
            headed_block("The last plan:", 2, asked.last, "plan"),
            headed_block("The last rows that were found:", 3, asked.result, "result"),
            headed_block("Some passages with words of the question, which may be irrelevant:", 4, asked.hits),
            f"Today is {asked.today}.\nThe user says:\n{mark_question(asked.text)}",
        )
        return Prompt(instructions=self.instructions, text=text, reply=QuestionPlan, max_tokens=1_200)

    def check(self, asked: QuestionToPlan, reply: Any) -> QuestionPlan:
        plan: QuestionPlan = reply
        if problem := find_question_plan_fault(plan, asked.groups):
            # Where no plan can be carried out, the texts are searched for the question.
            raise InvalidReply(problem, usable=text_search_plan(plan.question or asked.text, plan.language))
        return plan

    def fallback(self, asked: QuestionToPlan) -> QuestionPlan:
        return text_search_plan(asked.text)


def find_question_plan_fault(plan: QuestionPlan, groups: Mapping[str, DocumentGroup]) -> str:
    """Return a problem that keeps the plan from being carried out, phrased for the model, or ""."""
    if plan.action == "ask back" and not plan.say.strip():
        return "`say` must be the question to the user."
    if plan.action == "text" and not any(query.strip() for query in plan.queries):
        return "there are no `queries` to search for."
    unknown = [name for name in plan.of if name not in groups]
    if plan.action == "table" and (unknown or not plan.of):
        return f"`of` must name some of: {', '.join(groups)}."
    if plan.action != "table":
        return ""
    if problem := find_column_fault(plan, [groups[name] for name in plan.of]):
        return problem
    columns = {column_key(column) for name in plan.of for column in groups[name].columns}
    columns |= {column_key(column.name) for column in plan.columns}
    # A kind is known only of documents, not of rows of tables inside them.
    columns |= set() if all(groups[name].fixed for name in plan.of) else {KIND_COLUMN}
    used = [column for condition in plan.where for column in condition.columns]
    used += [name for name in (plan.aggregate_column, plan.group_by, plan.order_by, plan.unit_column) if name]
    if missing := [name for name in used if column_key(name) not in columns]:
        return f"{missing[0]!r} is used, but it is not among `columns`."
    if plan.aggregate not in ("", "count") and not plan.aggregate_column:
        return f"`aggregate_column` must say what the {plan.aggregate} is of."
    fields = plan.fields_by_key
    for condition in plan.where:
        field = fields.get(column_key(condition.column), Field(name=condition.column))
        if problem := check_condition(condition, field):
            return problem
    return ""


def find_column_fault(plan: QuestionPlan, groups: Sequence[DocumentGroup]) -> str:
    """Return a problem with the columns, or "". A column must exist in a table or kind, or have a question that is
    asked of each document of a kind."""
    known = {KIND_COLUMN, *(column_key(column) for group in groups for column in group.columns)}
    for column in plan.columns:
        if column_key(column.name) in known or column.question.strip():
            continue
        if not all(group.fixed for group in groups):
            return f"the column {column.name!r} needs a question that a reader of one document can answer."
        listed = "; ".join(f"{group.name} has: {', '.join(group.columns)}" for group in groups)
        return f"there is no column {column.name!r}; {listed}. A column of the whole document needs a question."
    asked = {column_key(column.name) for column in plan.columns if column.question.strip()}
    for group in groups if len(groups) > 1 else ():
        own = {column_key(column) for column in group.columns}
        if not group.fixed and plan.columns and not asked and own.isdisjoint(column_key(c.name) for c in plan.columns):
            return f"no column is read from {group.name}: give those that it tells a question."
    return ""
