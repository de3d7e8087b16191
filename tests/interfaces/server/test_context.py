"""What is done in somebody's name."""

from __future__ import annotations

from pathlib import Path

import pytest

from tablewright.domain.access import INSTALLATION_OWNER, Person, Role
from tablewright.domain.files import FileOptions
from tablewright.errors import Forbidden, NotFound
from tablewright.interfaces.server.context import Visit
from tablewright.operations.files import import_table_file
from tablewright.services import Services
from tablewright.settings import Settings
from tests.operating import share


async def test_somebodys_table_is_theirs_by_name_even_where_others_have_namesakes(tmp_path: Path) -> None:
    file = tmp_path / "towns.csv"
    file.write_text("Town\nLima\n")
    async with Services.open(Settings(home=str(tmp_path / "home"))) as services:
        one, other = [(await import_table_file(services, file, FileOptions(name="Towns"))).table.id for _ in range(2)]
        hidden = (await import_table_file(services, file, FileOptions(name="Hidden"))).table.id
        person, _ = await services.store.users.add("ann", "editor")
        await share(services, "table", one, ["ann"])
        (person,) = await services.store.users.all()
        visit = Visit(person, services)
        assert (await visit.table("Towns")).id == one
        assert (await visit.table(one)).id == one
        for unseen in (other, hidden, "Hidden", "nowhere"):
            with pytest.raises(NotFound, match="There is no table"):
                await visit.table(unseen)
        assert (await Visit(INSTALLATION_OWNER, services).table("Hidden")).id == hidden


async def test_viewers_change_nothing_and_editors_do_not_see_to_users(tmp_path: Path) -> None:
    async with Services.open(Settings(home=str(tmp_path))) as services:
        roles: tuple[Role, ...] = ("viewer", "editor", "admin")
        viewer, editor, admin = (Visit(Person(id=role, name=role, role=role), services) for role in roles)
        editor.must_change()
        admin.must_administer()
        with pytest.raises(Forbidden):
            viewer.must_change()
        with pytest.raises(Forbidden):
            editor.must_administer()
