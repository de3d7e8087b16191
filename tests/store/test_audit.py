"""The audit log: rows are added and stay, whatever is removed, and whoever tries to change them."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import delete, text, update

from tablewright.domain.access import ActingUser
from tablewright.domain.model import Field
from tablewright.errors import StoreError
from tablewright.operations.settings import note_settings
from tablewright.services import Services
from tablewright.settings import Settings
from tablewright.store import schema
from tablewright.store.store import Store


async def test_shares_removals_and_users_are_told_with_who_and_through_which_door(store: Store) -> None:
    ann, _ = await store.users.add("ann", "editor")
    await store.users.add("bob", "editor")
    seen = store.seen_by(ActingUser(person=ann, actor="ann", door="api"))
    table = await seen.tables.create("Towns", [Field(name="Town")])
    await seen.sharing.share("table", table.id, ["bob"])
    await seen.sharing.unshare("table", table.id, ["bob"])
    await seen.tables.remove(table.id)
    await store.users.change_role("bob", "viewer")
    await store.users.remove("bob")
    told = [(each.who, each.door, each.action, each.thing) for each in await store.audit.entries()]
    assert told == [
        ("", "library", "user", "user bob"),
        ("", "library", "role", "user bob"),
        ("ann", "api", "remove", f"table {table.id}"),
        ("ann", "api", "unshare", f"table {table.id}"),
        ("ann", "api", "share", f"table {table.id}"),
        ("", "library", "user", "user bob"),
        ("", "library", "user", "user ann"),
    ]
    entries = await store.audit.entries(action="remove", who="ann")
    assert [each.detail for each in entries] == ["Towns"]
    assert await store.audit.entries(before=entries[0].number, limit=1) == (await store.audit.entries())[3:4]


@pytest.mark.parametrize("how", ["update", "delete", "replace or truncate"])
async def test_no_entry_can_be_changed_or_deleted(store: Store, how: str) -> None:
    await store.users.add("ann", "editor")
    before = await store.audit.entries()
    sqlite = store.database.engine.dialect.name == "sqlite"
    again = "INSERT OR REPLACE INTO audit SELECT no, at, 'eve', door, action, thing, detail FROM audit"
    statement = {
        "update": update(schema.audit).values(who="eve"),
        "delete": delete(schema.audit),
        "replace or truncate": text(again if sqlite else "TRUNCATE audit"),
    }[how]
    with pytest.raises(StoreError, match="append-only"):
        await store.database.write(lambda connection: connection.execute(statement))
    assert await store.audit.entries() == before


async def test_what_fails_is_not_told(store: Store) -> None:
    ann, _ = await store.users.add("ann", "editor")
    seen = store.seen_by(ActingUser(person=ann, actor="ann", door="api"))
    table = await store.tables.create("Towns", [Field(name="Town")])
    before = await store.audit.entries()
    for attempt in (seen.tables.remove(table.id), seen.sharing.share("table", table.id, ["ann"])):
        with pytest.raises(Exception, match="There is no table"):
            await attempt
    assert await store.audit.entries() == before


async def test_settings_are_told_when_a_server_starts_with_others_and_no_secret_is(tmp_path: Path) -> None:
    async with Services.open(Settings(home=str(tmp_path), token="quiet-secret"), actor="ada") as services:
        await note_settings(services)
        await note_settings(services)
    changed = Settings(home=str(tmp_path), token="quiet-secret", model="openai:gpt", quota_rows="5")
    async with Services.open(changed, actor="ada") as services:
        await note_settings(services)
        told = await services.store.audit.entries(action="settings")
    assert [(each.who, each.thing, each.detail) for each in told] == [
        ("ada", "server", "model = openai:gpt; quota_rows = 5"),
        ("ada", "server", "all as they come"),
    ]
    assert "quiet-secret" not in repr(told)
