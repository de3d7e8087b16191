"""Read columns from what programs have: texts, dictionaries, fields, or a pydantic class."""

from __future__ import annotations

import types
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeGuard, Union, get_args, get_origin

import msgspec

from tablewright.domain.fieldspec import parse_field
from tablewright.domain.model import Field, FieldType, Money
from tablewright.errors import BadField, did_you_mean

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic.fields import FieldInfo

OneField: TypeAlias = "str | Field | Mapping[str, Any]"
# `"Founded:number=What year was {Company} founded?"`, `{"Founded": "What year …?"}`, `Field(…)`, several of these in a
# list, or a pydantic class.
Fields: TypeAlias = "OneField | Iterable[OneField] | type[BaseModel]"

TYPE_NAMES: tuple[str, ...] = get_args(FieldType)
# Python's types as people write them in a dict of columns; integers and floats are one type in a table.
TYPES: dict[type, FieldType] = {
    str: "text",
    bool: "boolean",
    int: "number",
    float: "number",
    Decimal: "number",
    date: "date",
    datetime: "date",
    Money: "money",
    list: "list",
    tuple: "list",
    set: "list",
    frozenset: "list",
}


def read_field_specs(asked: Fields) -> list[Field]:
    if isinstance(asked, Field):
        return [asked]
    if isinstance(asked, str):
        return [parse_field(asked)]
    if is_model_class(asked):
        return [field_from_annotation(name, info) for name, info in asked.model_fields.items()]
    if isinstance(asked, Mapping):
        return [field_called(name, said) for name, said in asked.items()]
    if isinstance(asked, Iterable) and not hasattr(asked, "model_dump"):
        return [field for one in asked for field in read_list_entry(one)]
    raise BadField(
        f"{asked!r} does not describe columns.",
        advice='Use {"Founded": "What year was {Company} founded?"}, texts, fields or a pydantic class.',
    )


def read_list_entry(asked: OneField) -> list[Field]:
    """Return the columns of a list entry. In a list a dictionary is one column; alone it has columns by name."""
    return [field_from_mapping(asked)] if isinstance(asked, Mapping) and "name" in asked else read_field_specs(asked)


def field_called(name: str, said: Any) -> Field:
    if isinstance(said, Field):
        return msgspec.structs.replace(said, name=name)
    if isinstance(said, Mapping):
        return field_from_mapping({"name": name, **said})
    if isinstance(said, str):
        return parse_field(f"{name}={said}")
    raise BadField(f"{said!r} does not describe the column {name}.", advice="Use its question, or a dictionary.")


def field_from_mapping(said: Mapping[str, Any]) -> Field:
    unknown = said.keys() - set(Field.__struct_fields__)
    if unknown:
        near = did_you_mean(min(unknown), Field.__struct_fields__)
        raise BadField(
            f"A column has no {min(unknown)!r}.", advice=f"{near}It may have: {', '.join(Field.__struct_fields__)}."
        )
    kind = said.get("type", "text")
    if kind not in TYPE_NAMES:
        raise BadField(
            f"{kind!r} is not a type; the column {said.get('name')} has it.",
            advice=f"{did_you_mean(str(kind), TYPE_NAMES)}Types: {', '.join(TYPE_NAMES)}.",
        )
    try:
        return msgspec.convert(dict(said), Field, strict=True)
    except msgspec.ValidationError as error:
        raise BadField(f"The column {said.get('name')} cannot be understood: {error}.") from None


def is_model_class(asked: Any) -> TypeGuard[type[BaseModel]]:
    return isinstance(asked, type) and hasattr(asked, "model_fields") and hasattr(asked, "model_validate")


def field_from_annotation(name: str, info: FieldInfo) -> Field:
    """Return the column of a class field: its type, the options of an enum or literal, its description as the question.
    `json_schema_extra` may have a unit, and a question if the description is something else."""
    extra = info.json_schema_extra if isinstance(info.json_schema_extra, Mapping) else {}
    try:
        kind, options = field_type_of(info.annotation)
    except BadField as error:
        raise BadField(f"The field {name} cannot be a column. {error.what}", advice=error.advice) from None
    return Field(
        name=info.alias or name,
        type=kind,
        question=str(extra.get("question") or info.description or ""),
        description=info.description or "" if extra.get("question") else "",
        unit=str(extra.get("unit", "")),
        options=options,
        required=info.is_required(),
    )


def field_type_of(annotation: Any) -> tuple[FieldType, tuple[str, ...]]:
    """Return the type and the options of a column; raise BadField for what no text can become, such as a dictionary."""
    options = tuple(allowed_values(annotation))
    if options:
        return "select", options
    origin = get_origin(annotation)
    if origin is Annotated:
        return field_type_of(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        found = {field_type_of(each) for each in get_args(annotation) if each is not type(None)}
        return found.pop() if len(found) == 1 else ("text", ())
    plain = origin or annotation
    if not isinstance(plain, type):
        return "text", ()
    if is_model_class(plain) or issubclass(plain, Mapping):
        raise BadField(
            f"A cell cannot hold a {plain.__name__}.", advice="Give the class a field for each value: text, number, …"
        )
    if plain.__name__.endswith("Url"):
        return "url", ()
    kind: FieldType = next((TYPES[base] for base in plain.__mro__ if base in TYPES), "text")
    if kind == "list":
        for each in get_args(annotation):
            field_type_of(each)
    return kind, ()


def allowed_values(annotation: Any) -> dict[str, Any]:
    """Return the values that an enum or a literal allows, by the text that a cell has for them."""
    origin = get_origin(annotation)
    if origin is Literal:
        return {str(each.value if isinstance(each, Enum) else each): each for each in get_args(annotation)}
    if origin is Annotated:
        return allowed_values(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        others = [each for each in get_args(annotation) if each is not type(None)]
        return allowed_values(others[0]) if len(others) == 1 else {}
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return {str(each.value): each for each in annotation}
    return {}
