"""A follow-up question: first from the evidence that is stored, and only where that does not say from a new search."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TypeAlias

import msgspec

from tablewright.decisions.answer_question import Answerer, AnswerQuestion, ShortAnswer
from tablewright.decisions.decision import Tell, decide
from tablewright.decisions.rank_passages import Rank, RankPassages
from tablewright.decisions.read_brief import Read, ReadBrief
from tablewright.decisions.write_section import Write, WriteSection, Written
from tablewright.errors import UsageError
from tablewright.journeys.research.purse import Purse
from tablewright.journeys.research.synthesis import References
from tablewright.journeys.research.worker import Library, Workers
from tablewright.models.concern import concerning
from tablewright.store.records import now
from tablewright.store.store import Store
from tablewright.strategies.gathered import read_fact
from tablewright.strategies.tools import Tools
from tablewright.table.evidence import evidence_for
from tablewright.table.model import Evidence
from tablewright.table.research import Answered, Brief, Passage, Research, ResearchTask, Sentence
from tablewright.table.retrieved import Retrieved, is_document
from tablewright.table.text import show

Proof: TypeAlias = tuple[Evidence, ...]
SURE = 0.5
"""What a passage or an answer must score to be one."""


async def refine(store: Store, tools: Tools, research: Research, question: str, tell: Tell) -> Answered:
    if not question.strip():
        raise UsageError("There is no question.")
    library = Library()
    await library.reopen(store, tools, [note for round in research.rounds for note in round.notes])
    brief = Read().fallback(ReadBrief(question=question, report_type="narrative"))
    answered = await _answered(store, tools, brief, list(library.pages.values()), tell)
    if not answered.sentences:
        angles = brief.angles[:1] if brief.is_fact else brief.angles
        tasks = [
            ResearchTask(id=f"f_{number}", kind="discover", search_query=query)
            for number, query in enumerate(dict.fromkeys([question.rstrip("?"), *(a.query or a.name for a in angles)]))
        ]
        workers = Workers(tools, library, Purse(tools.budget, None), lambda _: None)
        await workers.run(tasks[:3], brief=brief)
        found = await _answered(store, tools, brief, list(library.pages.values()), tell)
        answered = msgspec.structs.replace(found, searched=True)
    await store.researches.add_answer(research.id, answered)
    return answered


async def _answered(store: Store, tools: Tools, brief: Brief, pages: Sequence[Retrieved], tell: Tell) -> Answered:
    references = References(store)
    answered = Answered(question=brief.question, at=now())
    if not pages:
        return answered
    asked = RankPassages(topic="", question=brief.question, sources=tuple(pages))
    passages = [each for each in await asyncio.to_thread(Rank().fallback, asked) if each.score >= SURE]
    sentences: list[Sentence] = []
    with concerning([page.origin for page in pages if is_document(page.origin)]):
        if brief.is_fact and (found := await _fact(brief.question, pages, tools, tell)):
            text, evidence = found
            if numbers := await references.cite_all(evidence):
                sentences.append(Sentence(text=text, citations=numbers))
                passages = [Passage(evidence=each) for each in evidence]
        numbered = [(each, await references.cite(each.evidence)) for each in passages]
        kept = [(each, number) for each, number in numbered if number is not None]
        if kept:
            section = WriteSection(
                heading=brief.question,
                question=brief.question,
                passages=tuple(each for each, _ in kept),
                numbers=tuple(number for _, number in kept),
            )
            written: Written = (await decide(Write(), section, tools.model, tell)).decided
            sentences += [each for each in written.sentences if each.citations]
    if not sentences:
        return answered
    return msgspec.structs.replace(answered, sentences=tuple(sentences), references=references.listed())


async def _fact(question: str, pages: Sequence[Retrieved], tools: Tools, tell: Tell) -> tuple[str, Proof] | None:
    """The short answer, with what states it."""
    if fact := await read_fact(question, pages, tools, lambda step, *_: tell(step)):
        return show(fact.value), fact.evidence
    asked = AnswerQuestion(question=question, sources=tuple(pages))
    said: Sequence[ShortAnswer] = (await decide(Answerer(), asked, tools.model, tell)).decided
    for each in said[:1]:
        if each.score >= SURE:
            return each.text, (evidence_for(pages[each.source], each.start, each.end),)
    return None
