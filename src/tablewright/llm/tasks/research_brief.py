"""Plan a research question: a brief that the user sees and may change before any money is spent."""

from __future__ import annotations

from typing import Any, Literal

from msgspec import structs
from pydantic import BaseModel

from tablewright.citations.quotes import RETRIEVED_WARNING, mark_question
from tablewright.domain.model import Field, Struct
from tablewright.domain.research import DEFAULT_EXTENT, Angle, Brief, CatalogField, Length, ReportType, ResearchRequest
from tablewright.domain.text import shorten_text
from tablewright.llm.tasks.decision import InvalidReply, Prompt, clean_lines


class ResearchToPlan(Struct, frozen=True):
    """A research request. `before` and `change` are an earlier plan and what the user wants changed in it; `context` is
    the question of the research that this one follows up."""

    request: ResearchRequest
    today: str = ""
    most_queries: int = 5
    usual_items: int = DEFAULT_EXTENT.items
    before: str = ""
    change: str = ""
    context: str = ""


class PlannedSection(BaseModel):
    name: str
    question: str


class CatalogColumn(BaseModel):
    name: str
    type: Literal["text", "number", "date", "money", "boolean", "list", "url"]
    question: str
    required: bool


class ResearchPlan(BaseModel):
    report_type: ReportType
    reason: str
    asked: str
    constraints: list[str]
    sections: list[PlannedSection]
    subjects: list[str]
    things: str
    items: int
    columns: list[CatalogColumn]
    language: str
    length: Length
    queries: list[str]


class PlanResearch:
    name = "brief"
    instructions = f"""\
You plan a piece of research for a user who asked a question. You do not answer it: others search, read and write \
by your plan, and the user sees it before anything is spent.

`report_type`:
- "answer": one short answer is wanted: a name, a date, a figure, a yes or no, even if it takes several steps to find.
- "comparison": things that the question names are weighed against each other, or a choice between them is asked for.
- "catalog": a list of things that have yet to be found, with details of each.
- "narrative": everything else: how, why, what is known about something.
`reason` says in a few words why it is that.

`asked`: what exactly is asked, in one or two sentences: who or what is meant, what counts and what does not, how \
strictly the words are to be taken. Where a word can be read in two ways, say which you take.
`constraints`: the conditions that the question sets, such as a period, a place, a size or a price, one each.
`sections`: for a narrative or a comparison the 2 to 6 parts that the report needs, each with the question that it \
answers; for a comparison, the criteria that matter to this user. Else none.
`subjects`: for a comparison, the names of the things compared. Else none.
`things`, `items`, `columns`: for a catalog, what is listed (in the plural), how many (0 if the question does not \
say), and the details wanted of each besides its name: those that the question names, else the few that its purpose \
needs. `question` can be answered by a reader of a page about one thing; `required` if a thing without it is of no \
use. Else "", 0 and none.
`language`: the language of the report, by its English name: that of the question, unless it asks for another.
`length`: "standard", unless the question asks for a brief or a thorough report; "short" for an answer.
`queries`: the first searches, the most important first, worded as for a search engine, each with an aim of its own, \
in the languages in which those who know are likely to write: of something at home in a place, also in that of the \
place. Where the question describes a thing without naming it, search for that thing first. Where it speaks of kinds \
or groups, also search for what single examples would be called. No personal data. For a catalog none: the lists are \
searched for by a plan of their own.

Everything but `report_type`, `language`, `length` and `queries` is in the user's language.

{RETRIEVED_WARNING}"""

    def prompt(self, asked: ResearchToPlan) -> Prompt:
        lines = [f"Today is {asked.today}. At most {asked.most_queries} queries.", *fixed_choices(asked.request)]
        if asked.context:
            lines.append(f"It follows up a report on:\n{mark_question(asked.context)}")
        lines.append(f"The question:\n{mark_question(asked.request.question)}")
        if asked.change:
            lines.append(f"Your plan so far:\n{mark_question(asked.before)}")
            lines.append(f"The user wants it changed. Give the whole plan again:\n{mark_question(asked.change)}")
        return Prompt(instructions=self.instructions, text="\n\n".join(lines), reply=ResearchPlan, max_tokens=1_500)

    def check(self, asked: ResearchToPlan, reply: Any) -> Brief:
        plan: ResearchPlan = reply
        request = asked.request
        queries = clean_lines(plan.queries)[: asked.most_queries]
        brief = structs.replace(
            self.fallback(asked),
            report_type=request.report_type or plan.report_type,
            reason=shorten_text(plan.reason, 200),
            asked=shorten_text(plan.asked, 600),
            constraints=clean_lines(plan.constraints),
            subjects=clean_lines(plan.subjects),
            things=plan.things.strip(),
            target_items=request.items or plan.items,
            language=request.language or plan.language.strip(),
            length=request.length or plan.length,
            queries=queries,
        )
        if not request.sections:
            sections = {each.name.strip(): each.question for each in plan.sections if each.name.strip()}
            brief = structs.replace(
                brief, angles=tuple(Angle(name=name, question=question) for name, question in sections.items())
            )
        if brief.report_type == "catalog":
            brief = structs.replace(
                brief,
                queries=(),
                target_items=brief.target_items or asked.usual_items,
                columns=planned_columns(plan) if not request.fields else brief.columns,
            )
        if not queries and brief.report_type != "catalog":
            raise InvalidReply("there are no `queries`.", usable=structs.replace(brief, queries=(request.question,)))
        return brief

    def fallback(self, asked: ResearchToPlan) -> Brief:
        """Return a brief of only what the user has fixed, with the question itself as the search."""
        request = asked.request
        is_list = request.report_type == "catalog" or (request.report_type is None and bool(request.fields))
        sections = () if is_list else request.sections
        queries = (request.question, *(f"{request.question} {name}" for name in sections))
        return Brief(
            question=request.question,
            report_type=request.report_type or ("catalog" if is_list else "narrative"),
            reason="as you said" if request.report_type else "",
            things=request.question if is_list else "",
            target_items=(request.items or asked.usual_items) if is_list else 0,
            columns=tuple(CatalogField(field=Field(name=name, required=True)) for name in request.fields)
            if is_list
            else (),
            angles=tuple(Angle(name=name, question=name) for name in sections),
            queries=() if is_list else queries[: asked.most_queries],
            language=request.language,
            length=request.length or "standard",
            today=asked.today,
        )


def fixed_choices(request: ResearchRequest) -> list[str]:
    """Return the user's own choices, which the model plans by."""
    said = {
        "the report type": request.report_type,
        "the number of items": request.items,
        "the columns": ", ".join(request.fields),
        "the sections": ", ".join(request.sections),
        "the language": request.language,
        "the length": request.length,
    }
    lines = [f"{name}: {value}" for name, value in said.items() if value]
    return [f"The user has fixed\n{mark_question(chr(10).join(lines))}"] if lines else []


def planned_columns(plan: ResearchPlan) -> tuple[CatalogField, ...]:
    named = {each.name.strip(): each for each in plan.columns if each.name.strip()}
    return tuple(
        CatalogField(field=Field(name=name, type=each.type, question=each.question, required=each.required))
        for name, each in named.items()
    )
