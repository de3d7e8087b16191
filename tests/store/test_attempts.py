"""The attempts at a row are kept over all runs of its table."""

from __future__ import annotations

from tablewright.domain.model import Attempt, Field, make_given_cell
from tablewright.store.feedback import MAX_ATTEMPTS_PER_ROW
from tablewright.store.store import Store


async def table_of(store: Store, name: str) -> str:
    rows = [(make_given_cell(text),) for text in ("a", "b", "c")]
    return (await store.tables.create(name, (Field(name="Name"),), rows, key_field="Name")).id


def attempt(number: int, query: str, *columns: str) -> Attempt:
    return Attempt(number=number, columns=columns or ("City",), queries=(query,))


def queries(attempts: list[Attempt]) -> list[str]:
    return [query for each in attempts for query in each.queries]


async def test_a_row_has_the_attempts_of_all_runs_of_its_table_the_newest_last(store: Store) -> None:
    table_id, other_id = await table_of(store, "t"), await table_of(store, "u")
    first = await store.runs.start(table_id, "enrich", {})
    second = await store.runs.start(table_id, "enrich", {})
    elsewhere = await store.runs.start(other_id, "enrich", {})
    await store.attempts.add(second, [(1, attempt(1, "third"))])
    await store.attempts.add(first, [(1, attempt(1, "first")), (1, attempt(2, "second")), (2, attempt(1, "b"))])
    await store.attempts.add(elsewhere, [(1, attempt(1, "of another table"))])
    found = await store.attempts.of_rows(table_id, [1, 2, 3])
    assert {row_id: queries(own) for row_id, own in found.items()} == {1: ["first", "second", "third"], 2: ["b"]}
    assert queries((await store.attempts.of_rows(table_id, [2]))[2]) == ["b"]


async def test_a_run_is_told_only_of_those_before_it_and_of_its_own_columns(store: Store) -> None:
    table_id = await table_of(store, "t")
    before = await store.runs.start(table_id, "enrich", {})
    this = await store.runs.start(table_id, "enrich", {})
    after = await store.runs.start(table_id, "enrich", {})
    await store.attempts.add(before, [(1, attempt(1, "city", "City", "CEO")), (1, attempt(2, "fax", "Fax"))])
    await store.attempts.add(this, [(1, attempt(1, "its own"))])
    await store.attempts.add(after, [(1, attempt(1, "later"))])
    found = await store.attempts.of_rows(table_id, [1], columns=["City"], before=this)
    assert queries(found[1]) == ["city"]


async def test_only_the_last_attempts_are_told(store: Store) -> None:
    table_id = await table_of(store, "t")
    for number in range(MAX_ATTEMPTS_PER_ROW + 2):
        run_id = await store.runs.start(table_id, "enrich", {})
        await store.attempts.add(run_id, [(1, attempt(1, f"city {number}")), (1, attempt(2, f"fax {number}", "Fax"))])
    found = await store.attempts.of_rows(table_id, [1], columns=["City"])
    assert queries(found[1]) == [f"city {number}" for number in range(2, MAX_ATTEMPTS_PER_ROW + 2)]


async def test_attempts_go_with_their_table(store: Store) -> None:
    table_id = await table_of(store, "t")
    run_id = await store.runs.start(table_id, "enrich", {})
    await store.attempts.add(run_id, [(1, attempt(1, "city"))])
    await store.tables.remove(table_id)
    assert await store.attempts.of_run(run_id) == {}
