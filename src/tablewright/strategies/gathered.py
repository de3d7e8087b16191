"""Gathered: a row answered from pages that are already there. It searches nothing and opens nothing.

Deep research gathers first, for many rows at once, and then has the engine read: what a task found for one candidate or
one angle serves every other.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeAlias

import msgspec

from tablewright.decisions.answer_question import THROUGH, Answerer, AnswerQuestion, ShortAnswer, through
from tablewright.decisions.decision import decide
from tablewright.decisions.find_links import Link
from tablewright.decisions.plain_question import column_for, plainly_about
from tablewright.decisions.rank_passages import Rank, RankPassages
from tablewright.decisions.read_profile import MOST_PROOFS, Said, read_profile
from tablewright.extraction.about import Subject
from tablewright.extraction.reader import SURE
from tablewright.extraction.wanted import wanted
from tablewright.models.concern import concerning
from tablewright.strategies.notebook import Notebook, read_places
from tablewright.strategies.strategy import Answer, Strategy, Task, Tell
from tablewright.strategies.subject import one_line, web_of
from tablewright.strategies.tools import Need, Tools
from tablewright.table.confidence import confidence
from tablewright.table.evidence import evidence_for
from tablewright.table.model import Field, Finding, Noun, Row, RowId, Step
from tablewright.table.research import Passage, Wanted
from tablewright.table.retrieved import Retrieved, is_document
from tablewright.table.text import cell_text

PASSAGES = 6
"""Passages that an angle's cell stands on, at most."""


class Lead(Noun, frozen=True):
    """What was gathered for a row: pages, and how they were found."""

    pages: tuple[Retrieved, ...] = ()
    steps: tuple[Step, ...] = ()


Leads: TypeAlias = Mapping[RowId, Lead]


class Gathered(Strategy):
    """What both kinds have in common."""

    name = "gathered"
    display_name = "Pages at hand"
    concurrency = 4

    def __init__(self, leads: Leads) -> None:
        self._leads = leads

    def needs(self, task: Task) -> Collection[Need]:
        return ("web", "model")

    def _lead(self, row: Row, tell: Tell) -> Lead:
        lead = self._leads.get(row.id, Lead())
        for step in lead.steps:
            tell(step)
        return lead


class GatheredProfiles(Gathered):
    """A candidate's columns: single facts by the reader and the model, the open ones as passages."""

    def __init__(self, leads: Leads, wanted: Sequence[Wanted]) -> None:
        super().__init__(leads)
        self._wanted = {each.field.name: each for each in wanted}

    def prepare(self, task: Task, tools: Tools) -> Answer:
        web = web_of(tools)

        async def answer(row: Row, tell: Tell) -> Sequence[Finding]:
            lead = self._lead(row, tell)
            fields = tuple(field for field in task.fields if row.cell(field.name).needs_work)
            column = task.table.key_field
            subject = Subject(name=one_line(cell_text(row.cell(column))), column=column)
            notebook = Notebook(subject, fields, tools, web, tell)
            notebook.take_over(lead.pages)
            read = {field.name: self._profile(subject, field, lead.pages) for field in fields}
            asked = tuple(field for field in fields if self._is_asked(field, read[field.name]))
            if asked:
                await notebook.read(asked, lead.pages)
            findings = []
            for field in fields:
                passage = None if notebook.has(field) else read[field.name]
                findings.append(passage or await notebook.finding(field))
            return findings

        return answer

    def _is_asked(self, field: Field, passage: Finding | None) -> bool:
        """What shows that a thing works is a page about it: no single words of a text are that."""
        kind = self._wanted[field.name].kind
        return kind == "prose" or (passage is None and kind != "proof")

    def _profile(self, subject: Subject, field: Field, pages: Sequence[Retrieved]) -> Finding | None:
        wanted = self._wanted[field.name]
        said = read_profile(subject, wanted, pages)
        if not said:
            return None
        if wanted.kind == "proof":
            return _proofs(field, said, pages)
        best = said[0]
        return Finding(
            field=field.name,
            value=best.value,
            raw_value=best.value,
            confidence=best.score,
            evidence=(evidence_for(pages[best.source], best.start, best.end),),
        )


def _proofs(field: Field, said: Sequence[Said], pages: Sequence[Retrieved]) -> Finding:
    """Several prove more than one: a list, each item with its own evidence."""
    chosen: dict[str, Said] = {}
    for each in said:
        chosen.setdefault(pages[each.source].origin, each)
    kept = list(chosen.values())[:MOST_PROOFS]
    return Finding(
        field=field.name,
        value=tuple(each.value for each in kept) if field.type == "list" else kept[0].value,
        confidence=kept[0].score,
        evidence=tuple(evidence_for(pages[each.source], each.start, each.end) for each in kept),
        exact=True,
    )


class GatheredPassages(Gathered):
    """An angle's findings: the passages of all pages that say something about it. `question_of` says what is asked
    from the angle of a row."""

    def __init__(self, leads: Leads, question_of: Callable[[Row], str]) -> None:
        super().__init__(leads)
        self._question_of = question_of

    def prepare(self, task: Task, tools: Tools) -> Answer:
        async def answer(row: Row, tell: Tell) -> Sequence[Finding]:
            lead = self._lead(row, tell)
            topic = cell_text(row.cell(task.table.key_field))
            asked = RankPassages(topic=topic, question=self._question_of(row), sources=lead.pages, most=PASSAGES)
            passages = await asyncio.to_thread(Rank().fallback, asked)
            return [_told(field, passages, lead) for field in task.fields]

        return answer


def _told(field: Field, passages: Sequence[Passage], lead: Lead) -> Finding:
    """The best passage is the value; all of them are its evidence, for the section that is written from them."""
    if not passages:
        return Finding(field=field.name, reason="not_found", error=looked_at(lead))
    best: dict[str, float] = {}
    for passage in passages:
        domain = passage.evidence.domain or passage.evidence.origin
        best[domain] = max(passage.score, best.get(domain, 0.0))
    return Finding(
        field=field.name,
        value=" ".join(passages[0].evidence.quote.split()),
        confidence=confidence(sorted(best.values(), reverse=True)),
        evidence=tuple(passage.evidence for passage in passages),
        exact=True,
    )


class GatheredAnswers(Gathered):
    """One short answer to one question: to the question itself or, in a row of a thing that the question may only
    describe (`links`), on that thing's pages."""

    def __init__(self, leads: Leads, question: str, links: Mapping[RowId, Link]) -> None:
        super().__init__(leads)
        self._question = question
        self._links = links

    def prepare(self, task: Task, tools: Tools) -> Answer:
        async def answer(row: Row, tell: Tell) -> Sequence[Finding]:
            lead = self._lead(row, tell)
            link = self._links.get(row.id)
            names = plainly_about(self._question)
            if link is None and (fact := await read_fact(self._question, lead.pages, tools, tell)):
                return [msgspec.structs.replace(fact, field=field.name) for field in task.fields]
            via = link.name if link else ""
            asked = AnswerQuestion(question=self._question, sources=lead.pages, via=via)
            answers: Sequence[ShortAnswer] = ()
            if names or (link and Answerer().has_something_to_read(asked)):
                with concerning([page.origin for page in lead.pages if is_document(page.origin)]):
                    answers = (await decide(Answerer(), asked, tools.model, tell)).decided
            return [_answered(field, self._worth(link, answers), lead) for field in task.fields]

        return answer

    def _worth(self, link: Link | None, answers: Sequence[ShortAnswer]) -> list[ShortAnswer]:
        if link is None:
            return list(answers)
        links = list(self._links.values())
        weighed = [msgspec.structs.replace(each, score=through(link, links, each)) for each in answers]
        return [each for each in weighed if each.score >= THROUGH]


async def read_fact(question: str, pages: Sequence[Retrieved], tools: Tools, tell: Tell) -> Finding | None:
    """Where the question names the thing it asks about and says which kind of answer it wants (when, who, how many),
    the thing's own fields are read as for any row: sources are weighed against each other, and who disagrees is
    told."""
    best: tuple[float, Finding] | None = None
    for name in plainly_about(question):
        asked = column_for(question, name)
        if wanted(asked).kind == "text":
            continue
        notebook = Notebook(Subject(name=name), [asked], tools, web_of(tools), tell)
        notebook.take_over(pages)
        await notebook.read((asked,), tuple(pages), ask=False)
        score = notebook.score(asked)
        if score >= SURE and (best is None or score > best[0]):
            best = score, await notebook.finding(asked)
    return best[1] if best else None


def _answered(field: Field, answers: Sequence[ShortAnswer], lead: Lead) -> Finding:
    if not answers:
        return Finding(field=field.name, reason="not_found", error=looked_at(lead))
    best = answers[0]
    agree = [each for each in answers if each.text.casefold() == best.text.casefold()]
    return Finding(
        field=field.name,
        value=best.text,
        confidence=best.score,
        evidence=tuple(evidence_for(lead.pages[each.source], each.start, each.end) for each in agree),
        exact=True,
    )


def looked_at(lead: Lead) -> str:
    return f"Read without finding it: {read_places(lead.pages)}." if lead.pages else "No page could be read."
