"""What people typed, accepted, flagged, replaced and removed, read from the log."""

from __future__ import annotations

from tablewright.domain.edits import RemoveRow, SetCell, mark_cell_flagged
from tablewright.domain.model import Cell, Evidence, Field, make_given_cell
from tablewright.domain.proposal import ProposedCell, Review
from tablewright.engine.changes import TableChanges
from tablewright.store.feedback import EXAMPLES, LONGEST, Remark
from tablewright.store.store import Store

FIELDS = (Field(name="Name"), Field(name="From"))
BY_ANN = "ann"


async def people(store: Store, count: int = 12, **brought: str) -> str:
    """Rows 1 to `count`; some come with a value in the column From."""
    rows = [
        (make_given_cell(str(number)), make_given_cell(brought.get(f"row_{number}"))) for number in range(1, count + 1)
    ]
    return (await store.tables.create("people", FIELDS, rows, key_field="Name")).id


def found(value: str, run_id: str) -> Cell:
    evidence = (Evidence(origin="https://a.example", quote=value),)
    return Cell(value=value, status="ENRICHED", confidence=0.9, run_id=run_id, attempt=1, evidence=evidence)


async def proposed(store: Store, table_id: str, values: dict[int, str]) -> str:
    run_id = await store.runs.start(table_id, "enrich", {})
    proposal_id = await store.proposals.create(table_id, run_id, [FIELDS[1]])
    cells = [ProposedCell(row_id=row_id, field="From", cell=found(value, run_id)) for row_id, value in values.items()]
    await store.proposals.add(proposal_id, cells)
    await store.proposals.finish(proposal_id, "")
    return proposal_id


async def examples(store: Store, table_id: str) -> tuple[str, ...]:
    return (await store.corrections.examples(table_id, ["From", "Of no table"])).get("From", ())


async def test_examples_are_what_people_typed_then_what_was_brought_then_what_was_accepted(store: Store) -> None:
    table_id = await people(store, row_9="Irish", row_10="Irish")
    changes = TableChanges(store, BY_ANN)
    proposal_id = await proposed(store, table_id, {1: "Danish", 2: "Polish", 3: "Russia", 4: "Greek"})
    assert await examples(store, table_id) == ("Irish",), "what is only proposed was reviewed by nobody"
    edited = {(3, "From"): changes.own_value("Russian", FIELDS[1], run_id="r")}
    await changes.decide(
        proposal_id, Review(accepted=((1, "From"), (2, "From")), refused=((4, "From"),), edited=edited)
    )
    await changes.set_value(table_id, 5, "From", "Dutch")
    assert await examples(store, table_id) == ("Dutch", "Russian", "Irish", "Polish", "Danish")


async def test_what_was_applied_without_a_look_is_no_example(store: Store) -> None:
    table_id = await people(store)
    changes = TableChanges(store, BY_ANN)
    await changes.apply_unseen(await proposed(store, table_id, {1: "Russia", 2: "Spain"}))
    assert (await store.log.changes(table_id))[0].kind == "auto_apply"
    assert await examples(store, table_id) == ()
    await changes.apply(await proposed(store, table_id, {3: "Russian"}))
    assert await examples(store, table_id) == ("Russian",)


async def test_what_is_flagged_undone_replaced_or_removed_is_no_example(store: Store) -> None:
    table_id = await people(store)
    changes = TableChanges(store, BY_ANN)
    await changes.apply(await proposed(store, table_id, {1: "Russia", 2: "Spain", 3: "Greek", 4: "Norway", 5: "Irish"}))
    await changes.flag(table_id, 1, "From", "a country")
    await changes.set_value(table_id, 2, "From", "Spanish")
    await changes.edit(table_id, [RemoveRow(row_id=3)])
    await changes.set_value(table_id, 5, "From", "Ireland")
    await changes.undo_last(table_id)
    await changes.set_value(table_id, 4, "From", "")
    assert await examples(store, table_id) == ("Spanish", "Irish")


async def test_there_are_few_examples_short_and_each_once(store: Store) -> None:
    table_id = await people(store)
    changes = TableChanges(store, BY_ANN)
    await changes.set_value(table_id, 1, "From", "long " * 100)
    for row_id in (2, 3):
        await changes.set_value(table_id, row_id, "From", "Danish")
    shown = await examples(store, table_id)
    assert (len(shown), shown[0], len(shown[1]), shown[1][-1]) == (2, "Danish", LONGEST, "…")
    for row_id in range(4, 13):
        await changes.set_value(table_id, row_id, "From", f"value {row_id}")
    assert await examples(store, table_id) == tuple(f"value {row_id}" for row_id in range(12, 12 - EXAMPLES, -1))


async def test_a_remark_says_what_a_person_refused_and_why(store: Store) -> None:
    table_id = await people(store, row_3="Lyon")
    changes = TableChanges(store, BY_ANN)
    await changes.apply(await proposed(store, table_id, {1: "Paris", 2: "Rome"}))
    await changes.flag(table_id, 1, "From", "wrong city")
    await changes.set_value(table_id, 2, "From", "Milan")
    await changes.set_value(table_id, 3, "From", "")
    await changes.flag(table_id, 2, "From")
    await changes.set_value(table_id, 4, "From", "Oslo")
    said = await store.corrections.remarks(table_id, [1, 2, 3, 4, 5], ["From"])
    assert said == {
        (1, "From"): [Remark(action="flagged", value="Paris", note="wrong city")],
        (2, "From"): [
            Remark(action="replaced", value="Rome", replacement="Milan"),
            Remark(action="flagged", value="Milan"),
        ],
        (3, "From"): [Remark(action="removed", value="Lyon")],
    }
    assert set(await store.corrections.remarks(table_id, [1, 2], ["Name"])) == set()


async def test_what_was_undone_was_not_said_and_a_recheck_is_no_person(store: Store) -> None:
    table_id = await people(store)
    changes = TableChanges(store, BY_ANN)
    await changes.apply(await proposed(store, table_id, {1: "Paris", 2: "Rome"}))
    await changes.flag(table_id, 1, "From", "wrong city")
    await changes.undo_last(table_id)
    cell = (await store.tables.rows(table_id, [2])).rows[0].cell("From")
    await store.log.commit(
        table_id, [SetCell(row_id=2, field="From", cell=mark_cell_flagged(cell, "gone"))], kind="recheck"
    )
    said = await store.corrections.remarks(table_id, [1, 2], ["From"])
    assert said == {(2, "From"): [Remark(action="flagged", value="Rome", note="gone", by_person=False)]}
