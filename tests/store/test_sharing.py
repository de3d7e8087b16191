"""Whose things are: seen by their owner, by those they are shared with, and by nobody else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from tablewright.domain.access import ActingUser, Person, Role, Shareable
from tablewright.domain.documents import Document, Segment
from tablewright.domain.model import Field, make_given_cell
from tablewright.domain.research import Brief
from tablewright.errors import Forbidden, NotFound
from tablewright.store.conversations import Turn
from tablewright.store.documents import IngestedDocument
from tablewright.store.store import Store
from tests.store.released import load_release

KINDS: tuple[Shareable, ...] = ("table", "document", "conversation", "result", "research", "shortlist")


async def somebody(store: Store, name: str, role: Role = "editor") -> Store:
    person, _ = await store.users.add(name, role)
    return store.seen_by(ActingUser(person=person, actor=name))


def read(path: str, text: str = "The lease ends in May.") -> IngestedDocument:
    name = path.rpartition("/")[2]
    document = Document(id=f"doc_{name}", path=path, name=name, title=name, file_hash=path, size=len(text))
    return IngestedDocument(
        document=document, text=text, segments=(Segment(number=0, start=0, end=len(text), text=text),)
    )


async def one_of_each(store: Store) -> dict[Shareable, str]:
    table = await store.tables.create("Towns", [Field(name="Town")], [[make_given_cell("Alder")]])
    await store.documents.add(read("/files/lease.txt"))
    conversation = await store.conversations.start()
    result = await store.results.keep("Which?", ["Lease"], [])
    about = await store.tables.create("Research", [Field(name="Angle")])
    research = await store.researches.start(
        Brief(question="Which?", report_type="narrative"), table_id=about.id, max_tasks=1
    )
    shortlist = await store.shortlists.start()
    return {
        "table": table.id,
        "document": "doc_lease.txt",
        "conversation": conversation,
        "result": result,
        "research": research.id,
        "shortlist": shortlist.id,
    }


def look(store: Store, kind: Shareable) -> Callable[[str], Awaitable[Any]]:
    looks: dict[Shareable, Callable[[str], Awaitable[Any]]] = {
        "table": store.tables.find,
        "document": store.documents.get,
        "conversation": store.conversations.get,
        "result": store.results.page,
        "research": store.researches.get,
        "shortlist": store.shortlists.get,
    }
    return looks[kind]


async def listed(store: Store) -> list[int]:
    lists: tuple[Awaitable[list[Any]], ...] = (
        store.tables.all(),
        store.documents.all(),
        store.conversations.all(),
        store.researches.all(),
        store.shortlists.all(),
    )
    return [len(await each) for each in lists]


async def test_what_one_person_makes_another_cannot_see_share_or_remove(store: Store) -> None:
    ann, bob, admin = [
        await somebody(store, "ann"),
        await somebody(store, "bob"),
        await somebody(store, "ada", "admin"),
    ]
    made = await one_of_each(ann)
    for kind in KINDS:
        await look(ann, kind)(made[kind])
        await look(admin, kind)(made[kind])
        await look(store, kind)(made[kind])
        with pytest.raises(NotFound) as theirs:
            await look(bob, kind)(made[kind])
        with pytest.raises(NotFound) as nobodys:
            await look(bob, kind)("x" * len(made[kind]))
        assert str(theirs.value).replace(made[kind], "x" * len(made[kind])) == str(nobodys.value)
        with pytest.raises(NotFound):
            await bob.sharing.share(kind, made[kind], everyone=True)
    for removing in (
        bob.tables.remove(made["table"]),
        bob.conversations.remove(made["conversation"]),
        bob.researches.remove(made["research"]),
        bob.shortlists.remove(made["shortlist"]),
    ):
        with pytest.raises(NotFound):
            await removing
    assert await bob.documents.remove([made["document"]]) == 0
    assert await listed(bob) == [0] * 5
    assert await listed(ann) == await listed(admin) == await listed(store) == [2, 1, 1, 1, 1]


async def test_what_is_shared_may_be_looked_at_but_neither_removed_nor_shared_on(store: Store) -> None:
    ann, bob, eve = await somebody(store, "ann"), await somebody(store, "bob"), await somebody(store, "eve")
    made = await one_of_each(ann)
    for kind in KINDS:
        shared = await ann.sharing.share(kind, made[kind], ["bob"])
        assert (shared.owner, shared.people, shared.everyone) == ("ann", ("bob",), False)
        await look(bob, kind)(made[kind])
        with pytest.raises(NotFound):
            await look(eve, kind)(made[kind])
        with pytest.raises(Forbidden):
            await bob.sharing.share(kind, made[kind], ["eve"])
    with pytest.raises(Forbidden):
        await bob.documents.remove([made["document"]])
    with pytest.raises(Forbidden):
        await bob.tables.remove(made["table"])
    with pytest.raises(Forbidden):
        await bob.conversations.add_turn(made["conversation"], Turn(question="And now?"))
    with pytest.raises(Forbidden):
        await bob.researches.mark(made["research"], "failed")
    for kind in KINDS:
        await ann.sharing.share(kind, made[kind], everyone=True, only=True)
        await look(eve, kind)(made[kind])
        await ann.sharing.share(kind, made[kind], only=True)
        for other in (bob, eve):
            with pytest.raises(NotFound):
                await look(other, kind)(made[kind])
        await look(ann, kind)(made[kind])


async def test_the_table_of_a_research_and_the_rows_of_an_answer_are_shared_with_it(store: Store) -> None:
    ann, bob = await somebody(store, "ann"), await somebody(store, "bob")
    made = await one_of_each(ann)
    about = (await ann.researches.get(made["research"])).table_id
    await ann.sharing.share("research", made["research"], ["bob"])
    assert [each.id for each in await bob.tables.all()] == [about]
    await ann.sharing.share("conversation", made["conversation"], ["bob"])
    with pytest.raises(NotFound):
        await bob.results.page(made["result"])
    await ann.conversations.add_turn(made["conversation"], Turn(question="Which?", result_id=made["result"]))
    assert (await bob.results.page(made["result"])).question == "Which?"
    await ann.sharing.unshare("research", made["research"], ["bob"])
    assert await bob.tables.all() == []


async def test_a_search_finds_nothing_in_the_documents_of_others(store: Store) -> None:
    ann, bob = await somebody(store, "ann"), await somebody(store, "bob")
    await ann.documents.add(read("/files/ann.txt", "The lease of the mill ends in May."))
    await bob.documents.add(read("/files/bob.txt", "The lease of the barn ends in June."))
    for seen, own in ((ann, "doc_ann.txt"), (bob, "doc_bob.txt")):
        assert {each.document_id for each in await seen.documents.with_words("lease")} == {own}
        ranked = await seen.documents.search_text("lease ends", 10)
        hits = await seen.documents.segments([id for id, _ in ranked])
        assert {each.document_id for each in hits} == {own}
        assert len(await seen.documents.all()) == 1
        assert list(await seen.documents.facts()) == [own]
    everything = await store.documents.with_words("lease")
    assert len(everything) == 2
    assert await ann.documents.segments([each.id for each in everything if each.document_id == "doc_bob.txt"]) == []


async def test_an_id_is_never_given_twice_and_tells_nothing_of_hidden_tables(store: Store) -> None:
    ann, bob = await somebody(store, "ann"), await somebody(store, "bob")
    first = await store.tables.create("Towns", [Field(name="Town")])
    assert first.id == "towns"
    await store.tables.remove(first.id)
    again = await store.tables.create("Towns", [Field(name="Town")])
    assert again.id != first.id
    ids = [(await person.tables.create("Fresh", [Field(name="Town")])).id for person in (ann, bob, ann)]
    assert len(set(ids)) == 3
    assert all(len(each) == len("fresh-") + 9 for each in ids)


async def test_a_table_takes_its_runs_researches_and_shortlists_with_it(store: Store) -> None:
    ann = await somebody(store, "ann")
    made = await one_of_each(ann)
    table_id = (await ann.researches.get(made["research"])).table_id
    shortlist = await ann.shortlists.get(made["shortlist"])

    await ann.shortlists.save(msgspec.structs.replace(shortlist, table_id=table_id))
    run_id = await ann.runs.start(table_id, "research", {})
    await ann.tables.remove(table_id)
    for gone in (
        ann.researches.get(made["research"]),
        ann.shortlists.get(made["shortlist"]),
        ann.runs.get(run_id),
        store.runs.get(run_id),
    ):
        with pytest.raises(NotFound):
            await gone


async def test_runs_are_seen_by_who_sees_their_table_or_began_them(store: Store) -> None:
    ann, bob = await somebody(store, "ann"), await somebody(store, "bob")
    table = await ann.tables.create("Towns", [Field(name="Town")])
    about_it, about_none = await ann.runs.start(table.id, "recheck", {}), await ann.runs.start("", "ingest", {})
    assert await bob.runs.all() == []
    assert {run.id for run in await ann.runs.all()} == {about_it, about_none}
    for run_id in (about_it, about_none):
        with pytest.raises(NotFound):
            await bob.runs.get(run_id)
        with pytest.raises(NotFound):
            await bob.runs.ask_to_stop(run_id)
    await ann.sharing.share("table", table.id, ["bob"])
    assert [run.id for run in await bob.runs.all()] == [about_it]


async def test_who_is_removed_leaves_nothing_to_a_namesake(store: Store) -> None:
    ann = await somebody(store, "ann")
    made = await one_of_each(ann)
    await store.users.remove("ann")
    namesake = await somebody(store, "ann")
    assert await listed(namesake) == [0] * 5
    with pytest.raises(NotFound):
        await namesake.conversations.get(made["conversation"])


async def test_a_run_of_somebody_who_is_gone_sees_nothing_of_their_own(store: Store) -> None:
    ann = await somebody(store, "ann")
    person = ann.database.acting.person
    assert isinstance(person, Person)
    await store.users.remove("ann")
    gone = await store.users.by_id(person.id)
    assert (gone.role, gone.tables) == ("viewer", frozenset())


async def test_what_somebody_shared_stays_shared_when_they_leave_until_an_admin_revokes_it(store: Store) -> None:
    ann, bob, ada = [await somebody(store, *who) for who in (("ann",), ("bob", "viewer"), ("ada", "admin"))]
    table = await ann.tables.create("Towns", [Field(name="Town")])
    await ann.sharing.share("table", table.id, ["bob"])
    await store.users.remove("ann")
    assert (await bob.tables.find(table.id)).id == table.id
    await ada.sharing.unshare("table", table.id, ["bob"])
    with pytest.raises(NotFound):
        await bob.tables.find(table.id)


async def test_what_people_saw_before_things_had_owners_they_still_see(empty_database_url: str) -> None:
    """Ann made the table, Bob was let in; everybody saw all documents."""
    load_release(empty_database_url, "0.1.0", *AS_IT_WAS)
    async with await Store.open(empty_database_url) as store:
        ann, bob, eve = [
            store.seen_by(ActingUser(person=await store.users.by_id(each))) for each in ("u-ann", "u-bob", "u-eve")
        ]
        for person in (ann, bob):
            assert [each.id for each in await person.tables.all()] == ["towns"]
            assert [each.id for each in await person.shortlists.all()] == ["h1"]
        assert (await eve.tables.all(), await eve.shortlists.all()) == ([], [])
        assert [len(await each.documents.known()) for each in (ann, bob, eve)] == [1, 1, 1]
        with pytest.raises(Forbidden):
            await bob.tables.remove("towns")
        assert (await ann.sharing.of("table", "towns")).people == ("bob",)
        assert (await store.tables.create("Towns", [Field(name="Town")])).id != "towns"


AS_IT_WAS = (
    *(
        f"DELETE FROM {table};"
        for table in ("users", "tables", "changes", "grants", "shortlists", "documents", "researches")
    ),
    *(
        f"INSERT INTO users VALUES ('u-{name}', '{name}', 'editor', 'u-{name}', '2026-01-01T00:00:00Z');"
        for name in ("ann", "bob", "eve")
    ),
    "INSERT INTO tables (id, name, key_field, created_at, last_row, last_field, last_change, last_seq)"
    " VALUES ('towns', 'Towns', '', '2026-01-01T00:00:00Z', 0, 0, 1, 0);",
    "INSERT INTO changes (table_no, change, at, actor, kind, note, first_seq, last_seq)"
    " SELECT no, 1, created_at, 'ann', 'create', '', 1, 0 FROM tables;",
    "INSERT INTO grants (user_id, table_id) VALUES ('u-ann', 'towns'), ('u-bob', 'towns');",
    "INSERT INTO shortlists VALUES ('h1', 'towns', '{}', '2026-01-01T00:00:00Z', '2026-01-01T00:00:00Z');",
    "INSERT INTO documents (id, path, name, file_hash, text_hash, readable, segments, facts, rows, document)"
    " VALUES ('doc_1', '/files/a.txt', 'a.txt', 'h', 't', true, 0, 0, 0, '{}');",
)


async def test_an_admin_takes_a_table_from_its_owner_and_nobody_else_does(store: Store) -> None:
    ann = await somebody(store, "ann")
    table = await ann.tables.create("Towns", [Field(name="Town")])
    assert (await ann.sharing.unshare("table", table.id, ["ann"])).owner == "ann"
    assert (await store.sharing.unshare("table", table.id, ["ann"])).owner == ""
    assert await ann.tables.all() == []


async def test_a_role_and_a_share_decide_who_may_still_work_in_a_table(store: Store) -> None:
    table = await store.tables.create("t", [Field(name="Name")])
    ann, ada = [(await store.users.add(name, role))[0].id for name, role in (("ann", "editor"), ("ada", "admin"))]
    assert (
        await store.users.lost_authority(ann, table.id)
        == "ann, in whose name it runs, no longer has access to the table"
    )
    assert await store.users.lost_authority(ann) == ""
    assert await store.users.lost_authority(ada, table.id) == "", "an admin needs no share"
    await store.sharing.share("table", table.id, ["ann"])
    assert await store.users.lost_authority(ann, table.id) == ""
    await store.users.change_role("ann", "viewer")
    assert await store.users.lost_authority(ann, table.id) == "ann, in whose name it runs, is only a viewer now"
    await store.users.remove("ann")
    assert await store.users.lost_authority(ann, table.id) == "the user in whose name it runs was removed"
