"""Each verb is declared once, and refuses callers who are not permitted, whichever interface they use."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tablewright.domain.access import Person
from tablewright.errors import Forbidden
from tablewright.operations.operation import OPERATIONS, ListRequest, Operation
from tablewright.operations.tables import CreateTable, SendToSheets, create_table, list_tables, send_to_sheets
from tablewright.services import Services
from tablewright.settings import Settings


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_a_verb_has_a_help_text_a_request_and_a_reply(operation: Operation[msgspec.Struct, msgspec.Struct]) -> None:  # type: ignore[type-var]
    assert operation.__doc__
    assert issubclass(operation.request, msgspec.Struct)
    assert issubclass(operation.reply, msgspec.Struct)


async def test_who_may_only_look_changes_nothing(tmp_path: Path) -> None:
    viewer = Person(id="v", name="vic", role="viewer")
    request = CreateTable(name="towns", rows=({"Town": "Zug"},))
    async with Services.open(Settings(home=str(tmp_path))) as services:
        own = services.acting("vic", viewer)
        with pytest.raises(Forbidden, match="may look") as refused:
            await create_table(own, request)
        assert "role of an editor" in refused.value.advice
        assert (await list_tables(own, ListRequest())).tables == ()
        await create_table(services, request)
        assert [table.name for table in (await list_tables(services, ListRequest())).tables] == ["towns"]


async def test_a_viewer_sends_nothing_to_google(tmp_path: Path) -> None:
    viewer = Person(id="v", name="vic", role="viewer")
    async with Services.open(Settings(home=str(tmp_path))) as services:
        await create_table(services, CreateTable(name="towns", rows=({"Town": "Zug"},)))
        with pytest.raises(Forbidden, match="may look"):
            await send_to_sheets(services.acting("vic", viewer), SendToSheets(table="towns", to="ann@example.org"))


def test_a_misspelt_option_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError, match="nmae"):
        msgspec.convert({"nmae": "towns", "rows": [{"Town": "Zug"}]}, CreateTable)
