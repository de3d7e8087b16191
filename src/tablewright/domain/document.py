"""Nouns as JSON documents for programs: every key is always there, so that nobody must know our defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from tablewright.domain.model import Cell
from tablewright.domain.run import Progress


def document(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        keys = {name: document(getattr(value, name)) for name in value.__struct_fields__}
        if isinstance(value, Cell):
            keys |= {"basis": value.shown_basis, "confidence_label": value.confidence_label}
        if isinstance(value, Progress):
            keys["fraction"] = value.fraction
        return keys
    if isinstance(value, Mapping):
        return {key: document(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [document(item) for item in value]
    return value
