from __future__ import annotations

import pytest

from tablewright.domain.fieldspec import parse_field
from tablewright.errors import unforeseen


class Secret:
    def __getattr__(self, name: str) -> None:
        raise RuntimeError("sk-secret")


def test_what_an_unforeseen_error_says_is_not_told_only_its_kind_and_place() -> None:
    with pytest.raises(RuntimeError, match="sk-secret") as raised:
        parse_field(Secret())  # type: ignore[arg-type]
    told = unforeseen(raised.value)
    assert told.startswith("Unexpected error: RuntimeError in fieldspec.py, line ")
    assert "secret" not in told
