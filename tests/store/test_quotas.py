"""What a person may use a month: counted as it is used, and refused in words before anything is written."""

from __future__ import annotations

import pytest

from tablewright.errors import OverQuota
from tablewright.store import quotas
from tablewright.store.store import Store
from tablewright.table.access import Acting, Metered, Person
from tablewright.table.edits import AddRow
from tablewright.table.model import Field, given

from .test_sharing import read


async def somebody(store: Store, **limits: float) -> tuple[Store, Person]:
    person, _ = await store.users.add("ann", "editor")
    kept: dict[Metered, float] = limits  # type: ignore[assignment]
    return store.seen_by(Acting(person=person, actor="ann", limits=kept)), person


async def used(store: Store, what: Metered) -> float:
    return next(each.used for each in await store.quotas.of("ann", {}) if each.what == what)


async def test_rows_over_the_limit_are_refused_and_none_is_kept(store: Store) -> None:
    ann, _ = await somebody(store, rows=3)
    table = await ann.tables.create("Towns", [Field(name="Town")], [[given("Alder")], [given("Birch")]])
    with pytest.raises(OverQuota) as refused:
        await ann.tables.create("More", [Field(name="Town")], [[given("Cedar")], [given("Dogwood")]])
    assert refused.value.what == "Your limit is 3 new rows a month: 2 used, and this needs 2."
    assert f"It renews on {quotas.next_month()} (UTC)" in refused.value.advice
    await ann.log.commit(table.id, [AddRow(key="", cells={"Town": given("Cedar")})])
    with pytest.raises(OverQuota, match="3 used, and this needs 1"):
        await ann.log.commit(table.id, [AddRow(key="", cells={"Town": given("Elm")})])
    assert (await ann.tables.count(table.id), len(await ann.tables.all()), await used(store, "rows")) == (3, 1, 3)


async def test_the_count_begins_anew_with_the_month(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    ann, _ = await somebody(store, uploads=5)
    await ann.quotas.charge("uploads", 4)
    with pytest.raises(OverQuota, match=r"Your limit is 5 MB of files handed in a month: 4 MB used, and this needs 2"):
        await ann.quotas.charge("uploads", 2)
    monkeypatch.setattr(quotas, "this_month", lambda: "2999-01")
    await ann.quotas.charge("uploads", 2)
    assert await used(store, "uploads") == 2


async def test_the_disk_is_free_again_once_something_is_removed(store: Store) -> None:
    ann, _ = await somebody(store, disk=0.001)
    await ann.documents.add(read("/files/a.txt", "a" * 600))
    with pytest.raises(OverQuota, match="Remove something first"):
        await ann.documents.add(read("/files/b.txt", "b" * 600))
    assert len(await ann.documents.all()) == 1
    await ann.documents.remove(["doc_a.txt"])
    await ann.documents.add(read("/files/b.txt", "b" * 600))


async def test_who_has_spent_all_begins_nothing_more(store: Store) -> None:
    ann, person = await somebody(store, dollars=2)
    assert await ann.quotas.left() == 2
    await store.quotas.spend(person.id, 0.5)
    assert await ann.quotas.left() == 1.5
    await store.quotas.spend(person.id, 1.5)
    with pytest.raises(OverQuota, match=r"Your limit is \$2.00 a month: \$2.00 used"):
        await ann.quotas.left()


async def test_without_a_limit_all_is_counted_and_nothing_refused(store: Store) -> None:
    ann, person = await somebody(store)
    await ann.tables.create("Towns", [Field(name="Town")], [[given("Alder")]])
    await store.quotas.spend(person.id, 9)
    assert await ann.quotas.left() is None
    assert [(each.used, each.most) for each in await store.quotas.of("ann", {})][1::2] == [(1, None), (9, None)]
    await store.tables.create("Own", [Field(name="Town")], [[given("Alder")]])
    assert await used(store, "rows") == 1


async def test_an_admin_sets_the_limits_of_a_user_and_takes_them_back(store: Store) -> None:
    _, person = await somebody(store)
    await store.quotas.limit("ann", {"rows": 10, "dollars": 1.5})
    assert (await store.users.by_id(person.id)).limits == {"rows": 10, "dollars": 1.5}
    await store.quotas.limit("ann", {"rows": None})
    assert (await store.users.by_id(person.id)).limits == {"dollars": 1.5}
    newest = (await store.audit.entries(action="settings"))[0]
    assert (newest.thing, newest.detail) == ("user ann", "limit of rows: as the settings say")
