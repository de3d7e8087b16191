"""Research whose every report is checked, a small web about farms, and a model that answers by decision."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from tablewright.domain.research import Report, Research, ResearchRequest
from tablewright.services import Services
from tablewright.settings import Settings
from tests.llm.endpoint import Asked, Reply, answer
from tests.operating import begin_research, run_research
from tests.pages import Page

CHALLENGES = "What are the challenges of vertical farming?"


async def researched(
    settings: Settings, question: str, *, minutes: float | None = None, max_tasks: int = 15, **fixed: Any
) -> Research:
    async with Services.open(settings) as app:
        begun = await begin_research(app, ResearchRequest(question=question, **fixed), max_tasks=max_tasks)
        found = await run_research(app, begun.id, minutes=minutes)
        await audit(app, found)
        return found


async def audit(app: Services, found: Research) -> None:
    """Every quote of the report stands in the stored text of a page that was really opened, and every number is one."""
    report = found.report
    assert report is not None
    read = {(source.url, source.content_hash) for source in report.sources if source.status == "read"}
    for reference in report.references:
        text = await app.stored_text(reference.content_hash)
        assert (reference.url, reference.content_hash) in read
        assert text is not None
        assert all(quote in text for quote in reference.quotes)
    numbers = {reference.number for reference in report.references}
    cells = [cell for row in report.table.rows for cell in row[1:]] if report.table else []
    sentences = [*report.summary, *report.disagreements, *([report.answer] if report.answer else [])]
    sentences += [sentence for section in report.sections for sentence in section.sentences]
    assert all(sentence.citations for sentence in sentences)
    assert all(cell.citations for cell in cells if cell.text)
    assert {number for each in (*cells, *sentences) for number in each.citations} <= numbers


def essence(report: Report) -> Report:
    """Without what differs between two that came to the same."""
    references = tuple(msgspec.structs.replace(each, retrieved_at="") for each in report.references)
    claims = tuple(
        msgspec.structs.replace(
            each, evidence=tuple(msgspec.structs.replace(said, retrieved_at="") for said in each.evidence)
        )
        for each in report.claims
    )
    return msgspec.structs.replace(
        report, references=references, claims=claims, usage=type(report.usage)(), created_at=""
    )


Answers = Mapping[str, Any]


def by_decision(answers: Answers) -> Callable[[Asked], Reply]:
    """A model that answers by the form that is asked for; a callable is given the request."""

    def reply(asked: Asked) -> Reply:
        said = answers[asked.body["response_format"]["json_schema"]["name"]]
        return answer(said(asked) if callable(said) else said)

    return reply


def plan(**parts: Any) -> dict[str, Any]:
    return {
        "report_type": "narrative",
        "reason": "it asks how",
        "asked": "",
        "constraints": [],
        "sections": [{"name": "Costs", "question": "What does it cost?"}],
        "subjects": [],
        "things": "",
        "items": 0,
        "columns": [],
        "language": "English",
        "length": "standard",
        "queries": ["challenges of vertical farming"],
    } | parts


def reflected(**parts: Any) -> dict[str, Any]:
    empty: dict[str, Any] = {name: [] for name in ("themes", "filled", "gaps", "contradictions", "claims")}
    return {"answered": "yes"} | empty | parts


def gap(description: str, query: str, **parts: Any) -> dict[str, Any]:
    return {
        "type": "missing_topic",
        "earlier": 0,
        "description": description,
        "section": "",
        "thing": "",
        "fields": [],
        "priority": 1,
        "query": query,
    } | parts


def sentence(text: str, *notes: int, calculation: str = "") -> dict[str, Any]:
    return {"text": text, "notes": list(notes), "calculation": calculation}


def report(**parts: Any) -> dict[str, Any]:
    return {
        "title": "Vertical farming",
        "answer": sentence(""),
        "summary": [],
        "sections": [],
        "comparison": {"of": "", "columns": [], "rows": []},
        "disagreements": [],
        "not_found": [],
        "next_steps": [],
    } | parts


FARMS = {
    "/a": Page(
        "Vertical farming",
        "<p>Vertical farming is the practice of growing crops in stacked layers under lamps.</p>"
        "<p>The first tower opened in 2011 and grew lettuce for one city.</p>",
    ),
    "/b": Page(
        "What stands in the way of vertical farming",
        "<p>The main challenge of vertical farming is the cost of electricity, which is 30 % of all costs.</p>"
        "<p>A further problem of vertical farming is that few crops beside salad pay.</p>",
    ),
}
ELSEWHERE = {
    "/c": Page(
        "Vertical farms and their bills",
        "<p>Vertical farming has a challenge that nobody has solved: electricity is 40 % of all costs.</p>",
    ),
}
