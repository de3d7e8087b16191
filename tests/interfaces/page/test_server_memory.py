"""What is remembered for open pages is bounded, and each server has its own."""

from __future__ import annotations

from pathlib import Path

from tablewright.domain.access import INSTALLATION_OWNER
from tablewright.interfaces.page.live import ServerMemory
from tablewright.interfaces.server.context import Visit
from tablewright.services import Services
from tablewright.settings import Settings


async def test_what_was_asked_for_longest_ago_is_forgotten_first(tmp_path: Path) -> None:
    remembered = ServerMemory(list[str], most=2)
    async with Services.open(Settings(home=str(tmp_path / "one"))) as services:
        seen = Visit(INSTALLATION_OWNER, services)
        for key in ("a", "b"):
            remembered.of(seen, key).append(key)
        assert remembered.of(seen, "a") == ["a"]
        remembered.put(seen, "c", ["c"])
        assert [remembered.of(seen, key) for key in ("a", "c", "b")] == [["a"], ["c"], []]
        async with Services.open(Settings(home=str(tmp_path / "two"))) as other:
            assert remembered.of(Visit(INSTALLATION_OWNER, other), "c") == []
