"""The conversations of the advisor in the store: written whole after each turn, and never why a table is lost."""

from __future__ import annotations

import msgspec
import pytest
from sqlalchemy import update

from tablewright.domain.model import Field
from tablewright.domain.shortlist import (
    ChatMessage,
    Refinement,
    Requirements,
    ShortlistState,
    Wish,
)
from tablewright.errors import NotFound
from tablewright.store import schema
from tablewright.store.store import Store

WANTED = Requirements(
    product_type="electric kettle",
    region="UK",
    wishes=(
        Wish(words="under £50", kind="budget", column="Price", operator="<", values=("50 GBP",)),
        Wish(words="no plastic", kind="avoid", column="Plastic", operator="=", values=("no",)),
        Wish(words="pretty", kind="nice", hard=False),
    ),
)
OLD = '{"id": "h1", "requirements": {"product_type": "kettle", "must_haves": ["quiet"]}, "table_id": "kettles"}'


async def test_a_state_is_read_back_as_it_was_saved(store: Store) -> None:
    begun = await store.shortlists.start()
    state = msgspec.structs.replace(
        begun,
        phase="research",
        waiting="fields",
        requirements=WANTED,
        table_id="kettles",
        proposed=(Field(name="Capacity", type="number", unit="l"),),
        messages=(ChatMessage(role="user", text="a kettle"),),
        refinements=(Refinement(loop=1, changed="added warranty", trigger="add warranty"),),
        shown=(3, 1, 2),
    )
    saved = await store.shortlists.save(state)
    assert await store.shortlists.get(begun.id) == saved
    assert msgspec.structs.replace(saved, updated_at="") == msgspec.structs.replace(state, updated_at="")


@pytest.mark.parametrize("state", ['{"id": 7', OLD])
async def test_a_state_that_cannot_be_read_starts_afresh_and_keeps_its_table(store: Store, state: str) -> None:
    begun = await store.shortlists.start()
    await store.shortlists.save(msgspec.structs.replace(begun, table_id="kettles", requirements=WANTED))
    statement = update(schema.shortlists).where(schema.shortlists.c.id == begun.id).values(state=state)
    await store.database.write(lambda connection: connection.execute(statement))
    found = await store.shortlists.get(begun.id)
    assert found.error
    assert (found.table_id, found.phase, found.requirements) == ("kettles", "intake", Requirements())


async def test_all_are_listed_the_newest_first(store: Store) -> None:
    first, second = await store.shortlists.start(), await store.shortlists.start()
    assert [each.id for each in await store.shortlists.all()] == [second.id, first.id]


async def test_what_is_not_there_is_said(store: Store) -> None:
    with pytest.raises(NotFound, match="no shortlist 'nowhere'"):
        await store.shortlists.get("nowhere")
    with pytest.raises(NotFound):
        await store.shortlists.save(ShortlistState(id="nowhere"))
    begun = await store.shortlists.start()
    await store.shortlists.remove(begun.id)
    with pytest.raises(NotFound):
        await store.shortlists.remove(begun.id)
