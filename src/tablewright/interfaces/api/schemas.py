"""Structs as models of the OpenAPI document: replies as `to_json_document()` writes them, and requests with limits."""

from __future__ import annotations

import types
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from pydantic import AfterValidator, BaseModel, ConfigDict, create_model
from pydantic import Field as Value

from tablewright.domain.history import Change
from tablewright.domain.model import Cell, Evidence, Field, Label
from tablewright.domain.proposal import ApplyOutcome
from tablewright.domain.text import to_json_document
from tablewright.errors import UsageError
from tablewright.operations.fill import Started
from tablewright.operations.operation import UNSTORABLE
from tablewright.operations.tables import TableImported

# One made-up table runs through all examples, so that their ids and values fit each other.
COMPANY = Field(name="Company")
QUOTED = Evidence(
    origin="https://northwind.example/about",
    title="About us",
    quote="Founded in 1987 in Leeds",
    start=120,
    end=144,
    domain="northwind.example",
    retrieved_at="2026-11-16T09:30:00Z",
    content_hash="5f2c",
)
CHANGE = Change(
    number=7, at="2026-11-16T09:30:00.000000Z", actor="ann", kind="edit", note="flagged row 3, Founded", edits=1
)
EXAMPLES: dict[type, Any] = {
    type(each): to_json_document(each)
    for each in (
        COMPANY,
        QUOTED,
        CHANGE,
        Cell(
            value=1987,
            raw_value="1987",
            status="ENRICHED",
            confidence=0.86,
            basis="stated",
            evidence=(QUOTED,),
            cost=0.0004,
            attempt=1,
            run_id="r7kq2mwx3p",
            updated_at="2026-11-16T09:30:04Z",
        ),
        ApplyOutcome(change=CHANGE, cells=12, conflicts=0),
        Started(run_id="r7kq2mwx3p", table_id="companies-3fkq9"),
        TableImported(
            table_id="companies-3fkq9",
            name="companies",
            key_field="Company",
            row_count=2,
            fields=(COMPANY,),
            warnings=(),
        ),
    )
}


@cache
def reply_model(noun: type[msgspec.Struct]) -> type[BaseModel]:
    """Return the model of a reply. Every key is required, because every key is always written."""
    keys: dict[str, Any] = {field.name: (reply_type(field.type), ...) for field in msgspec.structs.fields(noun)}
    if issubclass(noun, Cell):
        keys["confidence_label"] = (Label, ...)
    example = EXAMPLES.get(noun)
    config = ConfigDict(json_schema_extra={"examples": [example]}) if example is not None else ConfigDict()
    model: type[BaseModel] = create_model(
        noun.__name__, __config__=config, __doc__=noun.__dict__.get("__doc__"), **keys
    )
    return model


def reply_type(annotation: Any) -> Any:
    """Return the same type with models in place of structs."""
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        return reply_model(annotation)
    origin = get_origin(annotation)
    if origin is None or origin is Literal:
        return annotation
    if origin is Annotated:
        return reply_type(get_args(annotation)[0])
    parts = tuple(part if part is Ellipsis else reply_type(part) for part in get_args(annotation))
    if origin in (Union, types.UnionType):
        return Union[parts]  # noqa: UP007  # built from parts
    if origin in (tuple, list):
        return list[parts[0]] if parts[1:] in ((), (Ellipsis,)) else tuple[parts]  # type: ignore[valid-type]
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return dict[parts]  # type: ignore[valid-type,misc]
    return annotation


# ── requests ────────────────────────────────────────────────────────────────────────────────────────────────────────


@cache
def input_model(request: type[Any], names: tuple[str, ...] = ()) -> type[BaseModel]:
    """Return the model of a body with these fields of a request, or all of them; unknown keys are refused."""
    keys: dict[str, Any] = {}
    for field in msgspec.structs.fields(request):
        if not names or field.name in names:
            kind, limits = input_type(field.type)
            keys[field.name] = (kind, Value(default_value(field), **limits))
    config = ConfigDict(extra="forbid", allow_inf_nan=False)
    model: type[BaseModel] = create_model(
        request.__name__, __config__=config, __doc__=request.__dict__.get("__doc__"), **keys
    )
    return model


def default_value(field: msgspec.structs.FieldInfo) -> Any:
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    if field.default is msgspec.NODEFAULT:
        return ...
    if isinstance(field.default, msgspec.Struct):
        return msgspec.to_builtins(field.default)
    if field.default is msgspec.UNSET:
        return None
    return list(field.default) if isinstance(field.default, tuple) else field.default


def input_type(annotation: Any) -> tuple[Any, dict[str, Any]]:
    """Return the type that pydantic checks, with its limits and its description."""
    if get_origin(annotation) is not Annotated:
        return checked_type(annotation), {}
    inner, *metas = get_args(annotation)
    return checked_type(inner), {key: value for meta in metas for key, value in meta_limits(meta).items()}


def entry_type(annotation: Any) -> Any:
    """Return the type of one entry of an annotated tuple."""
    return get_args(get_args(annotation)[0])[0]


def meta_limits(meta: msgspec.Meta) -> dict[str, Any]:
    names = ("ge", "gt", "le", "lt", "min_length", "max_length", "pattern", "description", "examples")
    return {name: value for name in names if (value := getattr(meta, name)) is not None}


def checked_type(annotation: Any) -> Any:
    """Return the same type with its limits for pydantic; every database must be able to store its texts."""
    if annotation is str:
        return Annotated[str, AfterValidator(refuse_unstorable)]
    if isinstance(annotation, type) and issubclass(annotation, msgspec.Struct):
        return input_model(annotation)
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        limits = {key: value for meta in parts[1:] for key, value in meta_limits(meta).items()}
        return Annotated[checked_type(parts[0]), Value(**limits)]
    if origin is None or origin is Literal:
        return annotation
    inner = tuple(part if part is Ellipsis else checked_type(part) for part in parts if part is not msgspec.UnsetType)
    if origin in (Union, types.UnionType):
        return Union[inner]  # noqa: UP007  # built from parts
    if origin is tuple:
        return list[inner[0]]  # type: ignore[valid-type]
    return dict[inner]  # type: ignore[valid-type,misc]


def refuse_unstorable(text: str) -> str:
    if found := UNSTORABLE.search(text):
        raise UsageError(f"A text in the request has a character that cannot be seen (U+{ord(found[0]):04X}).")
    return text
