"""Databases of released versions open, keep what they hold, and have the declared schema afterwards."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from sqlalchemy import Connection, inspect, text

from tablewright.domain.access import ActingUser
from tablewright.domain.model import Cell
from tablewright.domain.proposal import Review
from tablewright.errors import StoreError
from tablewright.store import migrations, schema
from tablewright.store.store import Store
from tests.store.released import VERSIONS, load_release

Shape = Mapping[str, tuple[set[str], set[str]]]


async def shape_of(store: Store) -> Shape:
    def work(connection: Connection) -> Shape:
        there = inspect(connection)
        return {
            table: (
                {each["name"] for each in there.get_columns(table)},
                {str(each["name"]) for each in there.get_indexes(table) if not each.get("duplicates_constraint")},
            )
            for table in there.get_table_names()
        }

    return await store.database.read(work)


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_database_of_a_released_version_opens_and_keeps_everything(
    empty_database_url: str, version: str
) -> None:
    load_release(empty_database_url, version)
    async with await Store.open(empty_database_url) as store:
        sales = await store.tables.load("sales")
        total = [row.cell("Total") for row in sales.rows]
        assert [cell.value for cell in total] == [37.5, 8, None]
        assert (total[0].status, total[2].reason) == ("FLAGGED", "not_applicable")
        assert total[1].evidence[0].quote == "round(4 * 2, 2) = 8"
        assert [each.kind for each in await store.log.changes("sales")][-1] == "create"

        (waiting,) = await store.proposals.all("towns", only_open=True)
        (operation,) = await store.proposals.operations(waiting.id)
        assert operation.edited is None
        if version >= "0.3":  # before, the sample web was read differently
            assert operation.cell.evidence[0].quote == "Founded: 2009"
        own = Cell(value=2009, status="ENRICHED", confidence=1.0, basis="given", updated_at="t")
        await store.proposals.decide(waiting.id, Review(edited={(1, "Founded"): own}))
        assert (await store.tables.load("towns")).rows[0].cell("Founded").value == 2009

        (document,) = await store.documents.all()
        assert document.name == "lease.txt"
        assert "Ilse Brandt" in (await store.documents.retrieved(document.id)).text
        assert len(await store.conversations.all()) == 1
        (research,) = await store.researches.all()
        assert research.brief.question == "What does the Lagoon plan of Parrotfish Cloud cost?"

        (bob,) = await store.users.all()
        assert bob.name == "bob"
        theirs = store.seen_by(ActingUser(person=await store.users.by_id(bob.id)))
        assert [each.id for each in await theirs.tables.all()] == ["sales"]


@pytest.mark.parametrize("version", VERSIONS)
async def test_an_older_database_gets_every_declared_table_column_and_index(
    empty_database_url: str, version: str
) -> None:
    load_release(empty_database_url, version)
    async with await Store.open(empty_database_url) as store:
        kind = "sqlite" if empty_database_url.startswith("sqlite") else "postgresql"
        declared = {
            table.name: ({each.name for each in table.columns}, {str(each.name) for each in table.indexes})
            for table in schema.metadata.tables.values()
            if table.info["only"] in ("", kind)
        }
        assert await shape_of(store) == declared | {"schema_version": ({"version"}, set())}


async def test_a_database_of_a_later_version_is_refused_and_not_changed(empty_database_url: str) -> None:
    async with await Store.open(empty_database_url) as store:
        later = f"INSERT INTO schema_version (version) VALUES ({migrations.SCHEMA_VERSION + 1})"
        await store.database.write(lambda connection: connection.execute(text(later)))
    with pytest.raises(StoreError, match="knows versions up to"):
        await Store.open(empty_database_url)


async def test_opening_again_changes_nothing(empty_database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with await Store.open(empty_database_url):
        pass

    def refuse(*_: Any) -> None:
        raise AssertionError("the schema was looked at again")

    monkeypatch.setattr(migrations, "create_missing", refuse)
    async with await Store.open(empty_database_url):
        pass
