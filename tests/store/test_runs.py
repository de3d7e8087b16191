from __future__ import annotations

from tablewright.store.store import Store
from tablewright.table.model import Field


async def test_runs_are_read_newest_first_on_from_one_and_among_the_tables_one_sees(store: Store) -> None:
    ours, theirs = [
        (await store.tables.create(name, (Field(name="Name"),), key_field="Name")).id for name in ("ours", "theirs")
    ]
    about = [ours, theirs, "", theirs, ours, theirs]
    begun = [await store.runs.start(table_id, "recheck", {}, owner="x") for table_id in about]
    everything = await store.runs.all()
    assert [run.id for run in everything] == begun[::-1]

    seen = await store.runs.all(among={ours})
    assert [run.table_id for run in seen] == [ours, "", ours]
    assert await store.runs.all(among=()) == [seen[1]]

    first = await store.runs.all(among={ours}, limit=2)
    rest = await store.runs.all(among={ours}, limit=2, before=(first[-1].started_at, first[-1].id))
    assert [*first, *rest] == seen
