"""Read brief: the question as a plan, before anything is searched.

A catalog needs the things that are listed, how many, and the columns; a narrative the sides that its report looks at.
What the user said, in the question or beside it, is never changed: a model only adds to it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from msgspec import structs
from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.decisions.brief.angles import MOST_ANGLES, angles_of
from tablewright.decisions.brief.catalog import MOST_ITEMS, listed, things_of
from tablewright.decisions.brief.columns import column, columns_of, given_columns, is_offered, named_items
from tablewright.decisions.brief.facts import asks_a_fact
from tablewright.decisions.brief.phrases import as_query, short_query, tidy
from tablewright.decisions.decision import Prompt, Unusable
from tablewright.decisions.question.words import content, singular
from tablewright.table.model import Noun
from tablewright.table.research import DEFAULT_ITEMS, Angle, Brief, ReportType, Wanted
from tablewright.table.untrusted import clean, gives_orders, question_block

MOST_ADDED = 5
_MOST_WORDS = 16

CATALOG = (
    "You plan the table that answers a request for a list. things: what is listed, as a short plural noun phrase in "
    "the "
    "words of the request, without the number and without the columns. columns: what the table should say about each "
    "of "
    "them, at most 8, those of the request first; each with a short name and a question in which {Name} stands for the "
    'thing, such as "What does {Name} cost?".'
)
NARRATIVE = (
    "You plan a research report. angles: 3 to 6 sides of the question, each with a name of a few words, a question "
    "that "
    "a page could answer, and a short search query without question marks. Sides that the question itself names come "
    "first. Stay with its topic."
)

_SEVERAL = re.compile(r"what (?:are|were) (?:the )?[\w -]+? and ", re.IGNORECASE)
"""Sides of a thing, not one fact of it: "What are the history and the products of Acme?"."""


class ReadBrief(Noun, frozen=True):
    """The last three are the user's own word; they count more than the question."""

    question: str
    report_type: ReportType | None = None
    items: int | None = None
    fields: tuple[str, ...] = ()


class PlannedColumn(BaseModel):
    name: str = Key(max_length=80)
    question: str = Key(default="", max_length=200)


class CatalogPlan(BaseModel):
    things: str = Key(max_length=200)
    columns: list[PlannedColumn] = Key(max_length=20)


class PlannedAngle(BaseModel):
    name: str = Key(max_length=120)
    question: str = Key(max_length=300)
    query: str = Key(default="", max_length=200)


class NarrativePlan(BaseModel):
    angles: list[PlannedAngle] = Key(max_length=20)


class Read:
    name = "read brief"

    def prompt(self, asked: ReadBrief) -> Prompt:
        ruled = self.fallback(asked)
        request = f"Request: {tidy(asked.question)}"
        if ruled.report_type == "catalog":
            known = ", ".join(each.field.name for each in ruled.columns if each.field.required)
            text = question_block(f"{request}\nA first reading: {ruled.things}; columns {known}")
            return Prompt(instructions=CATALOG, text=text, reply=CatalogPlan, max_tokens=500)
        known = "\n".join(f"- {angle.name}: {angle.question}" for angle in ruled.angles)
        text = question_block(f"{request}\nA first reading:\n{known}")
        return Prompt(instructions=NARRATIVE, text=text, reply=NarrativePlan, max_tokens=600)

    def check(self, asked: ReadBrief, reply: Any) -> Brief:
        ruled = self.fallback(asked)
        if ruled.report_type == "catalog":
            return _better_catalog(asked, ruled, reply)
        return ruled if ruled.is_fact else _better_narrative(asked, ruled, reply)

    def fallback(self, asked: ReadBrief) -> Brief:
        question = " ".join(clean(asked.question).split())
        found = listed(asked.question)
        kind, reason = _kind(asked, found.reason if found else "")
        if kind == "narrative":
            angles, are_named = angles_of(asked.question)
            if asks_a_fact(asked.question) and not (are_named and _SEVERAL.match(asked.question.strip())):
                angle = Angle(name=question, question=question, query=as_query(question))
                return Brief(
                    question=question,
                    report_type=kind,
                    reason=reason or "it asks for one fact",
                    angles=(angle,),
                    is_fact=True,
                )
            reason = reason or ("it names the sides to look at" if are_named else "it asks for an explanation")
            return Brief(question=question, report_type=kind, reason=reason, angles=angles)
        things = (found.things if found else "") or things_of(asked.question)
        return Brief(
            question=question,
            report_type=kind,
            reason=reason,
            things=things,
            target_items=_within(asked.items or (found.number if found else 0) or DEFAULT_ITEMS),
            columns=_columns(asked, things),
        )


def detect_report_type(question: str, explicit: ReportType | None = None) -> ReportType:
    return explicit or ("catalog" if listed(question) else "narrative")


def _kind(asked: ReadBrief, reason: str) -> tuple[ReportType, str]:
    kind = detect_report_type(asked.question, asked.report_type)
    if asked.report_type:
        return kind, f"{kind} was chosen"
    if kind == "narrative" and asked.fields:
        return "catalog", "fields were given"
    return kind, reason


def _within(items: int) -> int:
    return max(1, min(items, MOST_ITEMS))


def _columns(asked: ReadBrief, things: str) -> tuple[Wanted, ...]:
    named = named_items(tidy(asked.question))
    if asked.fields:
        return given_columns(asked.fields, offered=is_offered(things, asked.fields))
    return columns_of(named, offered=is_offered(things, named))


# ── what a model adds ────────────────────────────────────────────────────────────────────────────────────────────────


def _better_catalog(asked: ReadBrief, ruled: Brief, reply: CatalogPlan) -> Brief:
    """Its words for the things, if they are of the question; and columns: those that the question says are required,
    others only where it says none."""
    things = " ".join(clean(reply.things).split()).strip(" .,:;?")
    problems = []
    if not _is_phrase(things) or not _words(things) & _words(asked.question):
        problems.append("`things` must be a short noun phrase in the words of the request.")
        things = ruled.things
    things = re.sub(rf"^(?:the\s+)?(?:top\s+|best\s+)?{ruled.target_items}\s+", "", things)
    columns = ruled.columns
    if not asked.fields:
        own_words = _words(asked.question)
        says_columns = bool(named_items(tidy(asked.question)))
        known = {word for each in columns for word in _words(each.field.name)}
        added: list[Wanted] = []
        for each in reply.columns:
            new = _planned(each, required=_words(each.name) <= own_words)
            if not new:
                problems.append("a column needs a name of a few words.")
            elif not _words(new.field.name) & known and (new.field.required or not says_columns):
                known |= _words(new.field.name)
                added.append(new)
        columns = (*columns, *added[:MOST_ADDED])
    better = structs.replace(ruled, things=things, columns=columns)
    if problems:
        raise Unusable(" ".join(dict.fromkeys(problems)), usable=better)
    return better


def _planned(said: PlannedColumn, *, required: bool) -> Wanted | None:
    name = " ".join(clean(said.name).split())
    found = column(name, required=required) if _is_phrase(name) else None
    question = " ".join(clean(said.question).split())
    asks = question.count("{Name}") == question.count("{") == question.count("}") == 1 and not gives_orders(question)
    if not found or found.kind != "fact" or not asks:
        return found
    return structs.replace(found, field=structs.replace(found.field, question=question))


def _better_narrative(asked: ReadBrief, ruled: Brief, reply: NarrativePlan) -> Brief:
    """Its angles, if they are few, in words, and about the topic. Those that the question names stay among them."""
    if not 1 <= len(reply.angles) <= MOST_ANGLES:
        raise Unusable(f"give 1 to {MOST_ANGLES} angles.", usable=ruled)
    angles: dict[frozenset[str], Angle] = {}
    for said in reply.angles:
        name, question = (" ".join(clean(text).split()) for text in (said.name, said.question))
        query = short_query(said.query) or as_query(question)
        if not _is_phrase(name) or not _words(question) or any(map(gives_orders, (question, query))):
            raise Unusable("each angle needs a name of a few words and a question about the topic.", usable=ruled)
        angles.setdefault(frozenset(_words(name)), Angle(name=name.rstrip("?. "), question=question, query=query))
    topic = _words(asked.question)
    if topic and not any(topic & _words(f"{angle.question} {angle.query}") for angle in angles.values()):
        raise Unusable("the angles are not about the question.", usable=ruled)
    _, are_named = angles_of(asked.question)
    named = [angle for angle in ruled.angles if are_named and not _covered(angle, angles.values())]
    kept = (*named, *angles.values())[:MOST_ANGLES]
    return structs.replace(ruled, angles=kept)


def _covered(angle: Angle, others: Iterable[Angle]) -> bool:
    return any(_words(angle.name) <= _words(f"{other.name} {other.question}") for other in others)


def _is_phrase(text: str) -> bool:
    return bool(re.search(r"[^\W\d_]{2}", text)) and len(text.split()) <= _MOST_WORDS and not gives_orders(text)


def _words(text: str) -> set[str]:
    return {singular(word.casefold()) for word in content(text)}
