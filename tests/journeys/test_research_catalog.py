"""The table of a catalog's report: the best documented rows, each value with who says so and who says otherwise."""

from __future__ import annotations

from tablewright.decisions.take_notes import Taken
from tablewright.journeys.find.account import account
from tablewright.journeys.research.catalog import CatalogFound, candidates, notes_of
from tablewright.journeys.research.limits import Limits
from tablewright.journeys.research.notes import numbered
from tablewright.journeys.research.report import ReportWriter
from tablewright.store.store import Store
from tablewright.table.evidence import evidence_for
from tablewright.table.listing import Listing, ListPlan
from tablewright.table.model import Cell, Conflict, Evidence, Field, given
from tablewright.table.research import (
    Brief,
    Contradiction,
    Memo,
    Note,
    Research,
    ResearchTask,
    Round,
    SourceNote,
    Wanted,
)
from tablewright.table.retrieved import Retrieved

CROP = Field(name="Crop", required=True)
BRIEF = Brief(
    question="Find a farm", report_type="catalog", things="farms", target_items=1, columns=(Wanted(field=CROP),)
)


async def said(store: Store, site: str, words: str) -> Evidence:
    page = Retrieved(origin=f"http://{site}.example/", domain=f"{site}.example", text=words)
    return evidence_for(await store.pages.keep(page.origin, page), 0, len(words))


async def farms(store: Store) -> CatalogFound:
    """One farm of which two sites say different things, and one of which nothing is known."""
    one, other = await said(store, "a", "They grow lettuce."), await said(store, "b", "They grow cress.")
    rival = Conflict(value="cress", evidence=(other,))
    crop = Cell(value="lettuce", status="ENRICHED", confidence=0.9, evidence=(one,), conflict=(rival,))
    rows = [(given("Bare Hill"), Cell(status="FAILED", reason="not_found")), (given("Green Tower"), crop)]
    fields = (Field(name="Name"), CROP)
    table = await store.tables.create("farms", fields, rows, key_field="Name")
    plan = ListPlan(question="Find a farm", things="farms", fields=fields)
    listing = await store.listings.keep(Listing(table_id=table.id, plan=plan, status="done"))
    loaded = await store.tables.load(table.id)
    taken, rivals = notes_of(loaded, by_model=False)
    task = ResearchTask(id="r1_1", kind="discover", search_query="farms")
    return CatalogFound(
        rows=await account(store, listing),
        table=loaded,
        tasks=(task,),
        result=Note(task=task),
        taken=taken,
        rivals=rivals,
    )


def researched(found: CatalogFound) -> Research:
    notes: tuple[SourceNote, ...] = numbered(found.taken)
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
        Taken(
            statement="Green Tower: Crop: lettuce",
            evidence=found.table.rows[1].cell("Crop").evidence[0],
            topic="Green Tower",
        ),
        Taken(
            statement="Green Tower: Crop: cress",
            evidence=found.table.rows[1].cell("Crop").conflict[0].evidence[0],
            topic="Green Tower",
        ),
    )
    assert found.rivals == ((0, 1),)
    first, last = candidates(found.table, BRIEF)
    assert (first.name, first.fields) == ("Green Tower", {"Crop": "partial"})
    assert (last.name, last.fields) == ("Bare Hill", {"Crop": "missing"})


async def test_who_says_otherwise_stands_in_the_cell_and_is_cited(store: Store) -> None:
    found = await farms(store)
    report = await ReportWriter(store, None, Limits(None, None), lambda _: None).write(researched(found), found)
    assert report.table is not None
    ((name, crop),) = report.table.rows
    assert (name.text, crop.text, crop.confidence) == ("Green Tower", "lettuce", "low")
    assert crop.note == "b.example: “They grow cress.”"
    assert crop.citations == (1, 2)
    assert [reference.domain for reference in report.references] == ["a.example", "b.example"]
    assert report.table.others == ("Bare Hill (not found: Crop)",)
    assert report.sections == ()
    assert report.completeness
