"""Our nouns as models of the OpenAPI document: what `document()` writes, described from the same definition."""

from __future__ import annotations

import types
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, Union, get_args, get_origin

import msgspec
from pydantic import BaseModel, ConfigDict, create_model

from tablewright.domain.model import Cell, Label
from tablewright.doors.api.examples import EXAMPLES


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
