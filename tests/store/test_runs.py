from __future__ import annotations

from tablewright.domain.access import ActingUser
from tablewright.domain.model import Field
from tablewright.domain.run import HOLDER, Usage
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


async def test_only_ended_runs_of_the_same_spec_are_similar(store: Store) -> None:
    table = await store.tables.create("towers", (Field(name="Name"),))
    specs = ({"strategy": "lookup", "cells": 1}, {"strategy": "research"}, {"strategy": "lookup"})
    first, _, second = [await store.runs.start(table.id, "enrich", spec) for spec in specs]
    for run in await store.runs.all():
        await store.runs.finish(run.id, "done", Usage())
    await store.runs.start(table.id, "enrich", {"strategy": "lookup"})
    assert {run.id for run in await store.runs.find_similar("enrich", {"strategy": "lookup"})} == {first, second}
    assert await store.runs.find_similar("recheck", {"strategy": "lookup"}) == []


async def test_the_process_that_does_a_run_is_noted_with_that_run_alone(store: Store) -> None:
    ours, other = [await store.runs.start("", "research", {"question": name}) for name in ("ours", "other")]
    assert await store.runs.set_holder(ours, "1/a") == 0
    assert await store.runs.set_holder(ours, "2/b") == 1
    assert (await store.runs.get(ours)).spec[HOLDER] == "2/b"
    assert (await store.runs.get(other)).spec == {"question": "other"}


async def test_a_run_is_asked_to_stop_and_no_other(store: Store) -> None:
    ours, other = [await store.runs.start("", "research", {"question": name}) for name in ("ours", "other")]
    await store.runs.ask_to_stop(ours)
    assert await store.runs.find_stopping([ours, other]) == {ours}
