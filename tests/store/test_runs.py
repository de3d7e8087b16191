from __future__ import annotations

from tablewright.domain.access import ActingUser
from tablewright.domain.model import Field
from tablewright.store.store import Store


async def test_runs_are_read_newest_first_on_from_one_and_among_the_tables_one_sees(store: Store) -> None:
    ours, theirs = [
        (await store.tables.create(name, (Field(name="Name"),), key_field="Name")).id for name in ("ours", "theirs")
    ]
    about = [ours, theirs, "", theirs, ours, theirs]
    begun = [await store.runs.start(table_id, "recheck", {}, owner="x") for table_id in about]
    everything = await store.runs.all()
    assert [run.id for run in everything] == begun[::-1]

    person, _ = await store.users.add("ann", "viewer")
    ann = store.seen_by(ActingUser(person=person))
    assert await ann.runs.all() == []
    await store.sharing.share("table", ours, ["ann"])
    seen = await ann.runs.all()
    assert [run.table_id for run in seen] == [ours, ours]

    first = await ann.runs.all(limit=1)
    rest = await ann.runs.all(limit=1, before=(first[-1].started_at, first[-1].id))
    assert [*first, *rest] == seen
