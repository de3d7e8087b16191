"""What a user may use: taken in the transaction that needs it, refused in words, given back when it is over."""

from __future__ import annotations

import asyncio
import math
import os
import socket
from collections.abc import Iterator

import msgspec
import pytest
from sqlalchemy import Connection, text

from tablewright.domain.access import ActingUser, MeteredResource, Person
from tablewright.domain.edits import AddRow, RemoveRow, SetCell
from tablewright.domain.model import Attempt, Cell, Field, make_given_cell
from tablewright.domain.proposal import ProposedCell, Review
from tablewright.domain.research import Brief
from tablewright.domain.run import Progress, Usage
from tablewright.errors import OverQuota
from tablewright.store import ledger
from tablewright.store.conversations import Turn
from tablewright.store.migrations import POSTGRESQL, SQLITE, count_stored_bytes, count_table_bytes
from tablewright.store.store import Store
from tablewright.store.workers import DEAD_AFTER_SECONDS, Worker, is_owner_dead, new_worker_id
from tests.store.test_sharing import one_of_each, read


async def somebody(store: Store, **limits: float) -> tuple[Store, Person]:
    person, _ = await store.users.add("ann", "editor")
    await store.ledger.limit("ann", limits)  # type: ignore[arg-type]
    return store.seen_by(ActingUser(person=person, actor="ann")), person


async def used(store: Store, what: MeteredResource) -> float:
    return next(each.used for each in await store.ledger.of("ann") if each.what == what)


async def most_of(store: Store) -> dict[MeteredResource, float]:
    return {each.what: each.most for each in await store.ledger.of("ann") if each.most is not None}


async def test_rows_over_the_limit_are_refused_and_none_is_kept(store: Store) -> None:
    ann, _ = await somebody(store, rows=3)
    table = await ann.tables.create(
        "Towns", [Field(name="Town")], [[make_given_cell("Alder")], [make_given_cell("Birch")]]
    )
    with pytest.raises(OverQuota) as refused:
        await ann.tables.create(
            "More", [Field(name="Town")], [[make_given_cell("Cedar")], [make_given_cell("Dogwood")]]
        )
    assert refused.value.what == "Your limit is 3 new rows a month: 2 used, and this needs 2."
    assert f"It renews on {ledger.next_month()} (UTC)" in refused.value.advice
    await ann.log.commit(table.id, [AddRow(key="", cells={"Town": make_given_cell("Cedar")})])
    with pytest.raises(OverQuota, match="3 used, and this needs 1"):
        await ann.log.commit(table.id, [AddRow(key="", cells={"Town": make_given_cell("Elm")})])
    assert (await ann.tables.count(table.id), len(await ann.tables.all()), await used(store, "rows")) == (3, 1, 3)


async def test_the_count_begins_anew_with_the_month(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    ann, _ = await somebody(store, uploads=5)
    await ann.ledger.charge("uploads", 4)
    with pytest.raises(OverQuota, match=r"a month: 4 MB used, and this needs 2.*\. It renews on \d{4}-\d\d-01 \(UTC\)"):
        await ann.ledger.charge("uploads", 2)
    monkeypatch.setattr(ledger, "this_month", lambda: "2999-01")
    await ann.ledger.charge("uploads", 2)
    assert await used(store, "uploads") == 2


async def test_the_disk_is_free_again_once_something_is_removed(store: Store) -> None:
    ann, _ = await somebody(store, disk=0.001)
    await ann.documents.add(read("/files/a.txt", "a" * 300))
    with pytest.raises(OverQuota, match="Remove something first"):
        await ann.documents.add(read("/files/b.txt", "b" * 300))
    assert len(await ann.documents.all()) == 1
    await ann.documents.remove(["doc_a.txt"])
    await ann.documents.add(read("/files/b.txt", "b" * 300))


async def test_what_is_counted_is_what_is_stored(store: Store) -> None:
    """Counted write by write, and once more over all that is there by the statements of the migration."""
    ann, _ = await somebody(store)
    for id, made in (await one_of_each(ann)).items():
        if id == "table":
            await fill_table(ann, made)
    await ann.researches.start(Brief(question="Why?", report_type="narrative"), table_id="", max_tasks=1)
    conversation = (await ann.conversations.all())[0].id
    await ann.conversations.add_turn(conversation, Turn(question="Which?", answer="The lease."))
    state = (await ann.shortlists.all())[0]
    await ann.shortlists.save(msgspec.structs.replace(state, error="none"))
    await ann.shortlists.save(state)
    counted = await sizes(store)
    assert all(counted[kind] > 0 for kind in ("table", "document", "conversation", "research", "shortlist"))
    sqlite = store.database.engine.dialect.name == "sqlite"

    def recount(connection: Connection) -> None:
        for statement in (count_table_bytes(), *count_stored_bytes()[1:]):  # tables are stored otherwise now
            if not statement.startswith(POSTGRESQL if sqlite else SQLITE):
                connection.execute(text(statement))

    await store.database.write(recount)
    assert await sizes(store) == counted
    assert await used(store, "disk") == pytest.approx(sum(counted.values()) / ledger.MEGABYTE_BYTES, abs=1e-6)


async def sizes(store: Store) -> dict[str, int]:
    def work(connection: Connection) -> dict[str, int]:
        query = text("SELECT kind, sum(bytes) FROM shares WHERE owns GROUP BY kind")
        return {kind: int(total) for kind, total in connection.execute(query)}

    return await store.database.read(work)


async def fill_table(ann: Store, table_id: str) -> None:
    """All that makes a table larger: edits, new rows, a run's attempts, cells and events, and what becomes of them."""
    await ann.log.commit(table_id, [SetCell(row_id=1, field="Town", cell=make_given_cell("Birch"))])
    await ann.log.commit(table_id, [AddRow(key="", cells={"Town": make_given_cell("Cedar")}), RemoveRow(row_id=1)])
    run_id = await ann.runs.start(table_id, "enrich", {})
    size = Field(name="Size", question="How large is {Town}?", depends_on=("Town",))
    proposal_id = await ann.proposals.create(table_id, run_id, [size])
    for attempt in (1, 1, 2):  # the same once more changes nothing, a later one takes its place
        cell = Cell(value="large" * attempt, status="ENRICHED", run_id=run_id, attempt=attempt)
        await ann.proposals.add(proposal_id, [ProposedCell(row_id=2, field="Size", cell=cell)])
    for _ in range(2):
        await ann.attempts.add(run_id, [(2, Attempt(number=1, columns=("Size",)))])
    await ann.proposals.finish(proposal_id, "found 1")
    await ann.proposals.decide(proposal_id, Review(edited={(2, "Size"): make_given_cell("larger")}))
    await ann.log.commit(table_id, [SetCell(row_id=2, field="Town", cell=make_given_cell("Dogwood"))])
    await ann.history.undo_run(table_id, run_id)
    await ann.runs.finish(run_id, "done", Usage(), news=[Progress(stage="complete")])


async def test_what_is_removed_gives_all_its_bytes_back(store: Store) -> None:
    ann, _ = await somebody(store)
    made = await one_of_each(ann)
    await fill_table(ann, made["table"])
    await ann.documents.remove([made["document"]])
    await ann.conversations.remove(made["conversation"])
    await ann.shortlists.remove(made["shortlist"])
    for table in await ann.tables.all():
        await ann.tables.remove(table.id)
    assert sum((await sizes(store)).values()) == await used(store, "disk") == 0


async def test_the_owner_of_a_table_pays_for_what_others_write_into_it(store: Store) -> None:
    ann, _ = await somebody(store, disk=0.002)
    bob, _ = await store.users.add("bob", "editor")
    table = await ann.tables.create("Towns", [Field(name="Town")])
    await ann.sharing.share("table", table.id, ["bob"])
    other = store.seen_by(ActingUser(person=bob, actor="bob"))
    await other.log.commit(table.id, [AddRow(key="", cells={"Town": make_given_cell("a" * 1_000)})])
    with pytest.raises(OverQuota):
        await other.log.commit(table.id, [AddRow(key="", cells={"Town": make_given_cell("b" * 2_000)})])
    with pytest.raises(OverQuota):  # in nobody's name, as a worker writes
        await store.log.commit(table.id, [SetCell(row_id=1, field="Town", cell=make_given_cell("c" * 2_000))])
    assert (await store.tables.load(table.id)).rows[0].cell("Town").value == "a" * 1_000
    assert {each.what: each.used for each in await store.ledger.of("bob")}["disk"] == 0


async def test_rows_that_are_removed_give_nothing_back_and_the_table_gives_all(store: Store) -> None:
    ann, _ = await somebody(store)
    table = await ann.tables.create("Towns", [Field(name="Town")], [[make_given_cell("a" * 1_000)]])
    before = await used(store, "disk")
    await ann.log.commit(table.id, [RemoveRow(row_id=1)])
    assert await used(store, "disk") >= before > 0.001
    await ann.tables.remove(table.id)
    assert await used(store, "disk") == 0


async def test_a_large_import_is_refused_before_all_of_it_is_written(store: Store) -> None:
    ann, _ = await somebody(store, disk=1)
    taken = 0

    def rows() -> Iterator[list[Cell]]:
        nonlocal taken
        for number in range(100_000):
            taken = number
            yield [make_given_cell("a" * 1_000)]

    with pytest.raises(OverQuota, match="Your limit is 1 MB of documents and tables: 0 MB used"):
        await ann.tables.create("Large", [Field(name="Text")], rows())
    assert taken < 10_000
    assert (await ann.tables.all(), await used(store, "disk")) == ([], 0)


# ── dollars ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_who_has_spent_all_begins_nothing_more(store: Store) -> None:
    ann, person = await somebody(store, dollars=2)
    await ann.ledger.refuse_spent()
    await spend(store, person, 1.5)
    await ann.ledger.refuse_spent()
    await spend(store, person, 0.5)
    with pytest.raises(OverQuota, match=r"Your limit is \$2.00 a month: \$2.00 used"):
        await ann.ledger.refuse_spent()


async def spend(store: Store, person: Person, dollars: float) -> None:
    await store.ledger.settle_dollars(hold_of(person), dollars)


def hold_of(person: Person, name: str = "w", owner: str = "here") -> ledger.DollarHold:
    return ledger.DollarHold(id=name, user_id=person.id, owner=owner, month=ledger.this_month())


async def dollars(store: Store) -> tuple[float, float]:
    """Used and held."""
    return next((each.used, each.held) for each in await store.ledger.of("ann") if each.what == "dollars")


async def test_what_is_held_is_nobody_elses_until_it_is_settled(store: Store) -> None:
    _, person = await somebody(store, dollars=1)
    first, second = hold_of(person, "w1"), hold_of(person, "w2")
    assert await store.ledger.hold_dollars(first, 0.7, 0.0) == 0.7
    assert await store.ledger.hold_dollars(second, 0.4, 0.0) == 0.0
    assert await dollars(store) == (0, 0.7)
    assert await store.ledger.hold_dollars(first, 0.2, 0.6) == 0.2
    await store.ledger.settle_dollars(first, 0.3)
    assert await dollars(store) == (0.3, 0)
    assert await store.ledger.hold_dollars(second, 0.7, 0.0) == 0.7
    await store.ledger.settle_dollars(second, 0.0)
    assert await dollars(store) == (0.3, 0)


async def test_a_hold_is_large_while_much_is_left_and_small_near_the_limit(store: Store) -> None:
    _, person = await somebody(store, dollars=10)
    assert await store.ledger.hold_dollars(hold_of(person), 0.001, 0.0) == ledger.USUAL_HOLD_USD
    await store.ledger.limit("ann", {"dollars": 0.3})
    assert await store.ledger.hold_dollars(hold_of(person), 0.001, 0.0) == pytest.approx(0.005)


async def test_holds_side_by_side_never_pass_the_limit(store: Store) -> None:
    """Forty pieces of work, each of which takes what it gets until it is refused."""
    _, person = await somebody(store, dollars=0.05)

    async def work(number: int) -> float:
        hold, taken = hold_of(person, f"w{number}"), 0.0
        while more := await store.ledger.hold_dollars(hold, 0.0004, taken):
            taken += more
        await store.ledger.settle_dollars(hold, taken)
        return taken

    taken = await asyncio.gather(*(work(number) for number in range(40)))
    used_up, held = await dollars(store)
    assert (used_up, held) == (pytest.approx(sum(taken), abs=1e-6), 0)
    assert 0.05 - 0.0004 <= used_up <= 0.05 + 1e-6


async def test_what_the_dead_held_comes_back_but_for_what_they_had_spent(store: Store) -> None:
    _, person = await somebody(store, dollars=1)
    lost = hold_of(person, "w1", owner="lost")
    await store.ledger.hold_dollars(lost, 0.5, 0.0)
    await store.ledger.hold_dollars(lost, 0.4, 0.2)
    assert await store.ledger.holders(person.id) == ["lost"]
    await store.ledger.release_holds(person.id, ["lost"])
    assert (await dollars(store), await store.ledger.holders(person.id)) == ((0.2, 0), [])


async def test_one_that_counted_as_dead_and_was_not_is_not_counted_twice(store: Store) -> None:
    _, person = await somebody(store, dollars=1)
    asleep = hold_of(person, "w1", owner="asleep")
    await store.ledger.hold_dollars(asleep, 0.4, 0.0)
    await store.ledger.hold_dollars(asleep, 0.4, 0.3)
    await store.ledger.release_holds(person.id, ["asleep"])
    assert await store.ledger.hold_dollars(asleep, 0.2, 0.5) == 0.2
    assert await dollars(store) == (0.3, 0.2)
    await store.ledger.settle_dollars(asleep, 0.6)
    assert await dollars(store) == (0.6, 0)


def test_a_process_of_this_machine_is_lost_only_once_it_is_gone() -> None:
    here, own = socket.gethostname(), new_worker_id()
    other = Worker(id="far-1-abc", kind="worker", host="far", pid=1, started_at="", silent=DEAD_AFTER_SECONDS / 2)
    assert not is_owner_dead(own, [])
    assert not is_owner_dead(new_worker_id(), []), "another application in this process"
    assert not is_owner_dead(f"{here}-{os.getppid()}-abc123", []), "it runs, however silent it is"
    assert is_owner_dead(f"{here}-{os.getpid()}-abc123", []), "its number is ours now"
    assert is_owner_dead(f"{here}-{2**22 + 1}-abc123", [])
    assert not is_owner_dead(other.id, [other])
    assert is_owner_dead(other.id, [msgspec.structs.replace(other, silent=2 * DEAD_AFTER_SECONDS)])
    assert is_owner_dead(other.id, [])


async def test_without_a_limit_all_is_counted_and_nothing_refused(store: Store) -> None:
    ann, person = await somebody(store)
    await ann.tables.create("Towns", [Field(name="Town")], [[make_given_cell("Alder")]])
    assert await store.ledger.hold_dollars(hold_of(person), 7, 0.0) == math.inf
    await spend(store, person, 9)
    await ann.ledger.refuse_spent()
    assert [(each.used, each.most) for each in await store.ledger.of("ann")][1::2] == [(1, None), (9, None)]
    await store.tables.create("Own", [Field(name="Town")], [[make_given_cell("Alder")]])
    assert await used(store, "rows") == 1


async def test_an_admin_sets_the_limits_of_a_user_and_takes_them_back(store: Store) -> None:
    await somebody(store)
    await store.ledger.limit("ann", {"rows": 10, "dollars": 1.5})
    store.database.set_limits({"rows": 5, "dollars": 9})
    assert await most_of(store) == {"rows": 10, "dollars": 1.5}
    await store.ledger.limit("ann", {"rows": None})
    assert await most_of(store) == {"rows": 5, "dollars": 1.5}
    await store.users.change_role("ann", "admin")
    assert await most_of(store) == {}
    newest = (await store.audit.entries(action="settings"))[0]
    assert (newest.thing, newest.detail) == ("user ann", "limit of rows: as the settings say")
