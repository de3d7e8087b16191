"""Research whose every report is checked, and a small web about farms."""

from __future__ import annotations

from typing import Any

from tablewright.app import Tablewright
from tablewright.settings import Settings
from tablewright.table.research import Report, Research

from ..pages import Page

EXAMPLE = "Identify 5 AI business models with pricing and case studies"


async def researched(settings: Settings, question: str, **options: Any) -> Research:
    minutes = options.pop("minutes", None)
    async with Tablewright.open(settings) as app:
        begun = await app.begin_research(question, **options)
        found = await app.run_research(begun.id, minutes=minutes)
        await audit(app, found)
        return found


async def audit(app: Tablewright, found: Research) -> None:
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
    cells = [cell for row in report.table.rows for cell in row] if report.table else []
    sentences = [sentence for section in report.sections for sentence in section.sentences]
    assert all(sentence.citations for sentence in sentences)
    assert all(cell.citations for cell in cells if cell.text)
    assert {number for each in (*cells, *sentences) for number in each.citations} <= numbers


def essence(report: Report) -> Report:
    """Without what differs between two that came to the same."""
    references = tuple(replace_time(reference) for reference in report.references)
    return _replace(report, references=references, usage=type(report.usage)(), created_at="", claims=())


def replace_time(reference: Any) -> Any:
    return _replace(reference, retrieved_at="")


def _replace(noun: Any, **values: Any) -> Any:
    import msgspec

    return msgspec.structs.replace(noun, **values)


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
        "<p>Vertical farming has a challenge that nobody has solved: electricity is 30 % of all costs.</p>",
    ),
}
