"""Our nouns as models of the OpenAPI document: what `document()` writes, described from the same definition."""

from __future__ import annotations

import types
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin

import msgspec
from pydantic import BaseModel, ConfigDict, create_model

from tablewright.app import Applied, Change
from tablewright.domain.model import Cell, Evidence, Field, Label

COMPANY = {
    "name": "Company",
    "type": "text",
    "question": "",
    "description": "",
    "unit": "",
    "options": [],
    "required": False,
    "role": "standard",
    "depends_on": [],
}
QUOTED = {
    "origin": "https://northwind.example/about",
    "title": "About us",
    "quote": "Founded in 1987 in Leeds",
    "start": 120,
    "end": 144,
    "page": None,
    "domain": "northwind.example",
    "retrieved_at": "2026-11-16T09:30:00Z",
    "content_hash": "5f2c",
    "stance": "supports",
}
FILLED = {
    "value": 1987,
    "raw_value": "1987",
    "status": "ENRICHED",
    "reason": None,
    "confidence": 0.86,
    "basis": "stated",
    "converted_by": "",
    "evidence": [QUOTED],
    "conflict": [],
    "stale": False,
    "cost": 0.0004,
    "attempt": 1,
    "run_id": "r7kq2mwx3p",
    "updated_at": "2026-11-16T09:30:04Z",
    "error": None,
    "confidence_label": "high",
}
CHANGE = {
    "number": 7,
    "at": "2026-11-16T09:30:00.000000Z",
    "actor": "ann",
    "kind": "edit",
    "run_id": None,
    "note": "flagged row 3, Founded",
    "edits": 1,
}
APPLIED = {
    "change": CHANGE,
    "cells": 12,
    "conflicts": 0,
    "edited": 0,
    "refused": 0,
    "gone": 0,
    "too_late": 0,
    "kept": 0,
}

EXAMPLES: dict[type, Any] = {Field: COMPANY, Evidence: QUOTED, Cell: FILLED, Change: CHANGE, Applied: APPLIED}


@cache
def described(noun: type[msgspec.Struct]) -> type[BaseModel]:
    """Every key is required, for every key is always written."""
    keys: dict[str, Any] = {field.name: (translated(field.type), ...) for field in msgspec.structs.fields(noun)}
    if issubclass(noun, Cell):
        keys["confidence_label"] = (Label, ...)
    example = EXAMPLES.get(noun)
    config = ConfigDict(json_schema_extra={"examples": [example]}) if example is not None else ConfigDict()
    model: type[BaseModel] = create_model(
        noun.__name__, __config__=config, __doc__=noun.__dict__.get("__doc__"), **keys
    )
    return model


def translated(annotation: Any) -> Any:
    """The same type, with models in the place of structs."""
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        return described(annotation)
    origin = get_origin(annotation)
    if origin is None or origin is Literal:
        return annotation
    parts = tuple(part if part is Ellipsis else translated(part) for part in get_args(annotation))
    if origin in (Union, types.UnionType):
        return Union[parts]  # noqa: UP007  # built from parts
    if origin in (tuple, list):
        return list[parts[0]] if parts[1:] in ((), (Ellipsis,)) else tuple[parts]  # type: ignore[valid-type]
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return dict[parts]  # type: ignore[valid-type,misc]
    return annotation
