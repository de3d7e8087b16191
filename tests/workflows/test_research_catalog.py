"""The table of a catalog's report: the best documented rows, each value with who says so and who says otherwise."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tablewright.citations.quotes import cite_span
from tablewright.domain.listing import Listing, ListPlan
from tablewright.domain.model import Cell, Conflict, Evidence, Field, make_given_cell
from tablewright.domain.research import (
    Brief,
    CatalogField,
    Contradiction,
    Memo,
    Note,
    Research,
    ResearchRequest,
    ResearchTask,
    Round,
    SourceNote,
)
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.text import cell_text
from tablewright.errors import RunError
from tablewright.llm.tasks.take_notes import CitedStatement
from tablewright.services import Services
from tablewright.store.store import Store
from tablewright.workflows.find.entities import report_found_rows
from tablewright.workflows.research.catalog import CatalogFound, keep_opened_evidence, list_candidates, take_cell_notes
from tablewright.workflows.research.library import ResearchLimits
from tablewright.workflows.research.notes import number_notes
from tablewright.workflows.research.report import ReportWriter
from tests.llm.endpoint import refusal, running_endpoint
from tests.operating import begin_research, run_research
from tests.pages import Page, SmallWeb, small_web
from tests.workflows.researching import audit, gap, plan, reflected, report, sentence
from tests.workflows.test_find import PLAN, Reader, settings, table

CROP = Field(name="Crop", required=True)
BRIEF = Brief(
    question="Find a farm", report_type="catalog", things="farms", target_items=1, columns=(CatalogField(field=CROP),)
)


async def said(store: Store, site: str, words: str) -> Evidence:
    page = Retrieved(origin=f"http://{site}.example/", domain=f"{site}.example", text=words)
    return cite_span(await store.pages.keep(page.origin, page), 0, len(words))


async def farms(store: Store) -> CatalogFound:
    """One farm of which two sites say different things, and one of which nothing is known."""
    one, other = await said(store, "a", "They grow lettuce."), await said(store, "b", "They grow cress.")
    rival = Conflict(value="cress", evidence=(other,))
    crop = Cell(value="lettuce", status="ENRICHED", confidence=0.9, evidence=(one,), conflict=(rival,))
    rows = [
        (make_given_cell("Bare Hill"), Cell(status="FAILED", reason="not_found")),
        (make_given_cell("Green Tower"), crop),
    ]
    fields = (Field(name="Name"), CROP)
    table = await store.tables.create("farms", fields, rows, key_field="Name")
    plan = ListPlan(question="Find a farm", things="farms", fields=fields)
    listing = await store.listings.keep(Listing(table_id=table.id, plan=plan, status="done"))
    loaded = await store.tables.load(table.id)
    taken, rivals = take_cell_notes(loaded)
    task = ResearchTask(id="r1_1", kind="discover", search_query="farms")
    return CatalogFound(
        rows=await report_found_rows(store, listing),
        table=loaded,
        tasks=(task,),
        result=Note(task=task),
        taken=taken,
        rivals=rivals,
    )


def researched(found: CatalogFound) -> Research:
    notes: tuple[SourceNote, ...] = number_notes(found.taken)
    against = tuple(
        Contradiction(about="Crop", notes=(notes[one].number,), against=(notes[other].number,))
        for one, other in found.rivals
    )
    memo = Memo(
        query=BRIEF.question,
        report_type="catalog",
        round_index=1,
        tasks_completed=1,
        tasks_remaining=0,
        contradictions=against,
    )
    only = Round(index=1, tasks=found.tasks, notes=(found.result,), memo=memo, source_notes=notes)
    return Research(id="d1", brief=BRIEF, rounds=(only,))


async def test_the_cells_are_the_notes_with_who_says_otherwise(store: Store) -> None:
    found = await farms(store)
    assert found.taken == (
        CitedStatement(
            statement="Green Tower: Crop: lettuce",
            evidence=found.table.rows[1].cell("Crop").evidence[0],
            topic="Green Tower",
        ),
        CitedStatement(
            statement="Green Tower: Crop: cress",
            evidence=found.table.rows[1].cell("Crop").conflict[0].evidence[0],
            topic="Green Tower",
        ),
    )
    assert found.rivals == ((0, 1),)
    first, last = list_candidates(found.table, BRIEF)
    assert (first.name, first.fields) == ("Green Tower", {"Crop": "partial"})
    assert (last.name, last.fields) == ("Bare Hill", {"Crop": "missing"})


async def test_a_row_is_not_worse_documented_because_a_second_site_contradicts_the_first(store: Store) -> None:
    one, other = await said(store, "a", "They grow lettuce."), await said(store, "b", "They grow cress.")
    alone = Cell(value="lettuce", status="ENRICHED", confidence=0.9, evidence=(one,))
    rival = Conflict(value="cress", evidence=(other,))
    both = Cell(value="lettuce", status="ENRICHED", confidence=0.5, evidence=(one,), conflict=(rival,))
    rows = [(make_given_cell("Two Voices"), both), (make_given_cell("One Voice"), alone)]
    created = await store.tables.create("farms", (Field(name="Name"), CROP), rows, key_field="Name")
    table = await store.tables.load(created.id)
    assert [each.name for each in list_candidates(table, BRIEF)] == ["Two Voices", "One Voice"]


async def test_who_says_otherwise_stands_in_the_cell_and_is_cited(store: Store) -> None:
    found = await farms(store)
    report = await ReportWriter(store, None, ResearchLimits(None, None), lambda _: None).write(researched(found), found)
    assert report.table is not None
    ((name, crop),) = report.table.rows
    assert (name.text, crop.text, crop.confidence) == ("Green Tower", "lettuce", "low")
    assert crop.note == "b.example: “They grow cress.”"
    assert crop.citations == (1, 2)
    assert [reference.domain for reference in report.references] == ["a.example", "b.example"]
    assert report.table.others == ("Bare Hill (not found: Crop)",)
    assert report.sections == ()
    assert report.completeness


async def test_a_note_quotes_the_words_that_state_its_value(store: Store) -> None:
    words = "Green Tower is a farm. It grows cress, and 4 kinds of lettuce."
    page = await store.pages.keep(
        "http://c.example/", Retrieved(origin="http://c.example/", domain="c.example", text=words)
    )
    named, grows = cite_span(page, 0, 22), cite_span(page, 23, len(words))
    crop = Cell(value="4 kinds of lettuce", status="ENRICHED", confidence=0.9, evidence=(named, grows))
    made = await store.tables.create(
        "f", (Field(name="Name"), CROP), [(make_given_cell("Green Tower"), crop)], key_field="Name"
    )
    (only,), _ = take_cell_notes(await store.tables.load(made.id))
    assert only.evidence == grows


async def test_what_only_a_search_result_says_is_not_in_the_report(store: Store) -> None:
    found = await farms(store)
    (green,) = [row for row in found.table.rows if cell_text(row.cell("Name")) == "Green Tower"]
    opened = {green.cell("Crop").conflict[0].evidence[0].content_hash}
    table = keep_opened_evidence(found.table, opened)
    (left,) = [row for row in table.rows if row.id == green.id]
    assert (left.cell("Crop").value, left.cell("Crop").reason) == (None, "blocked")


# ── with a model ─────────────────────────────────────────────────────────────────────────────────────────────────────

MILLS = {
    "/coast": Page("Mills of the coast", table("Mill | Town", "Old Kate | Sandby", "De Kraai | Sandby")),
    "/kraai": Page("De Kraai", "<p>De Kraai is a wind mill in Sandby.</p>"),
    "/visit": Page("Visit De Kraai", "<p>De Kraai is open on Sundays. It has 3 floors.</p>", found_by="opening"),
}


@pytest.fixture
async def mills() -> AsyncIterator[SmallWeb]:
    async with small_web(MILLS) as web:
        yield web


async def test_an_empty_cell_is_filled_in_round_two_from_the_pages_that_its_gap_finds(
    mills: SmallWeb, tmp_path: Path
) -> None:
    missing = gap("Floors of De Kraai", "opening hours", type="missing_field", thing="De Kraai", fields=["Floors"])
    asked_of: list[str] = []

    def reflect(text: str) -> object:
        asked_of.append(text)
        return reflected(answered="partly", gaps=[missing] if len(asked_of) == 1 else [])

    columns = [{"name": "Floors", "type": "number", "question": "How many floors?", "required": True}]
    model = Reader(
        ResearchPlan=lambda _: plan(report_type="catalog", things="wind mills", items=2, columns=columns, sections=[]),
        ListReply=lambda _: PLAN | {"conditions": [], "queries": ["wind mills list"]},
        Reflected=reflect,
        WrittenReport=lambda _: report(summary=[sentence("De Kraai has 3 floors.", 1)]),
    )
    async with running_endpoint() as endpoint:
        endpoint.otherwise = model
        async with Services.open(settings(mills, endpoint, tmp_path)) as app:
            begun = await begin_research(app, ResearchRequest(question="Identify 2 wind mills with their floors"))
            found = await run_research(app, begun.id)
            await audit(app, found)
            rows = {cell_text(row.cell("Name")): row.cell("Floors") for row in (await app.load(found.table_id)).rows}
    assert "- De Kraai: missing: Floors" in asked_of[0]
    assert [each.statement for each in found.rounds[1].source_notes] == ["De Kraai: Floors: 3"]
    assert rows["De Kraai"].value == 3
    assert rows["De Kraai"].evidence[0].origin == mills.url("/visit")
    assert model.asked.count("PageNotes") == 0  # what was read into cells is not noted again
    assert found.report is not None
    assert found.report.usage.llm_calls == len(model.asked)  # both plans among them
    assert found.report.table is not None
    shown = {row[0].text: row[1].text for row in found.report.table.rows}
    assert shown == {"De Kraai": "3", "Old Kate": ""}


async def test_a_model_that_is_away_while_cells_are_filled_is_no_absence(mills: SmallWeb, tmp_path: Path) -> None:
    missing = gap("Floors of De Kraai", "opening hours", type="missing_field", thing="De Kraai", fields=["Floors"])
    columns = [{"name": "Floors", "type": "number", "question": "How many floors?", "required": True}]
    async with running_endpoint() as endpoint:

        def reflect(_: str) -> object:
            endpoint.otherwise = refusal(401)
            return reflected(answered="partly", gaps=[missing])

        endpoint.otherwise = Reader(
            ResearchPlan=lambda _: plan(
                report_type="catalog", things="wind mills", items=2, columns=columns, sections=[]
            ),
            ListReply=lambda _: PLAN | {"conditions": [], "queries": ["wind mills list"]},
            Reflected=reflect,
        )
        async with Services.open(settings(mills, endpoint, tmp_path)) as app:
            begun = await begin_research(app, ResearchRequest(question="Identify 2 wind mills with their floors"))
            with pytest.raises(RunError, match=r"m refused the key.*1 complete round and all paid results are kept"):
                await run_research(app, begun.id)
            kept = await app.store.researches.get(begun.id)
    assert (kept.status, len(kept.rounds), kept.report) == ("failed", 1, None)


@pytest.mark.parametrize("contradicts", [True, False])
async def test_whether_two_values_of_a_list_contradict_the_model_says(contradicts: bool, tmp_path: Path) -> None:
    columns = [{"name": "Floors", "type": "number", "question": "How many floors?", "required": True}]
    numbers: list[int] = []

    def reflect(text: str) -> object:
        lines = [line for line in text.splitlines() if "De Kraai: Floors: " in line]
        numbers[:] = [int(line[1 : line.index("]")]) for line in lines]
        rivals = [{"notes": numbers[:1], "against": numbers[1:], "about": "floors"}]
        return reflected(contradictions=rivals if contradicts else [])

    model = Reader(
        ResearchPlan=lambda _: plan(report_type="catalog", things="wind mills", items=2, columns=columns, sections=[]),
        ListReply=lambda _: PLAN | {"conditions": [], "queries": ["mills"]},
        Reflected=reflect,
        WrittenReport=lambda _: report(next_steps=["Count them."], not_found=[{"gap": 0, "what": "who is right"}]),
    )
    register = Page("Mills in a register", table("Mill | Floors", "De Kraai | 3", "Old Kate | 4"))
    guide = Page("Mills in a guide", table("Mill | Floors", "De Kraai | 5", "Old Kate | 4"))
    async with small_web({"/register": register}) as web, small_web({"/guide": guide}) as other:
        web.others.append(other)
        async with running_endpoint() as endpoint:
            endpoint.otherwise = model
            async with Services.open(settings(web, endpoint, tmp_path)) as app:
                begun = await begin_research(app, ResearchRequest(question="Identify 2 wind mills with their floors"))
                found = await run_research(app, begun.id)
    assert len(numbers) == 2
    assert len(found.rounds[-1].memo.contradictions) == int(contradicts)
    assert found.report is not None
    assert found.report.table is not None
    cells = {row[0].text: row[1] for row in found.report.table.rows}
    assert bool(cells["De Kraai"].note) is contradicts
