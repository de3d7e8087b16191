"""The columns that are asked for, however a program says them: texts, dictionaries, fields, or a pydantic class."""

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
Fields: TypeAlias = "OneField | Iterable[OneField] | type[BaseModel]"
"""`"Founded:number=What year was {Company} founded?"`, `{"Founded": "What year …?"}`, `Field(…)`, several of these in a
list, or a pydantic class."""

TYPE_NAMES: tuple[str, ...] = get_args(FieldType)
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


def fields_from(asked: Fields) -> list[Field]:
    if isinstance(asked, Field):
        return [asked]
    if isinstance(asked, str):
        return [parse_field(asked)]
    if is_model_class(asked):
        return [from_annotation(name, info) for name, info in asked.model_fields.items()]
    if isinstance(asked, Mapping):
        return [named(name, said) for name, said in asked.items()]
    if isinstance(asked, Iterable) and not hasattr(asked, "model_dump"):
        return [field for one in asked for field in one_of_several(one)]
    raise BadField(
        f"{asked!r} does not describe columns.",
        advice='Use {"Founded": "What year was {Company} founded?"}, texts, fields or a pydantic class.',
    )


def one_of_several(asked: OneField) -> list[Field]:
    """In a list a dictionary is one column, with its name; alone it has columns by name."""
    return [converted(asked)] if isinstance(asked, Mapping) and "name" in asked else fields_from(asked)


def named(name: str, said: Any) -> Field:
    if isinstance(said, Field):
        return msgspec.structs.replace(said, name=name)
    if isinstance(said, Mapping):
        return converted({"name": name, **said})
    if isinstance(said, str):
        return parse_field(f"{name}={said}")
    raise BadField(f"{said!r} does not describe the column {name}.", advice="Use its question, or a dictionary.")


def converted(said: Mapping[str, Any]) -> Field:
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


def from_annotation(name: str, info: FieldInfo) -> Field:
    """The type says the column's type, an enum or a literal its options, the description what to look for.
    `json_schema_extra` may have a unit, and a question where the description is something else."""
    extra = info.json_schema_extra if isinstance(info.json_schema_extra, Mapping) else {}
    try:
        kind, options = type_of(info.annotation)
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


def type_of(annotation: Any) -> tuple[FieldType, tuple[str, ...]]:
    """Raises BadField for what no text can become: a class in a class, a dictionary."""
    options = tuple(choices(annotation))
    if options:
        return "select", options
    origin = get_origin(annotation)
    if origin is Annotated:
        return type_of(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        found = {type_of(each) for each in get_args(annotation) if each is not type(None)}
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
            type_of(each)
    return kind, ()


def choices(annotation: Any) -> dict[str, Any]:
    """What an enum or a literal allows, by the text that a cell has for it."""
    origin = get_origin(annotation)
    if origin is Literal:
        return {str(each.value if isinstance(each, Enum) else each): each for each in get_args(annotation)}
    if origin is Annotated:
        return choices(get_args(annotation)[0])
    if origin in (Union, types.UnionType):
        others = [each for each in get_args(annotation) if each is not type(None)]
        return choices(others[0]) if len(others) == 1 else {}
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return {str(each.value): each for each in annotation}
    return {}
