"""Declare verbs: one function from a typed request to a typed reply, with the permission that it takes.

Requests and replies are msgspec structs, like the domain types that they contain: one definition is the check of the
input, the JSON, and the source of each interface's options, fields and help texts.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from functools import cached_property
from inspect import getdoc
from types import SimpleNamespace
from typing import TYPE_CHECKING, Annotated, Any, Concatenate, Generic, Literal, TypeAlias, TypeVar, get_type_hints

import msgspec

from tablewright.domain.access import Person, Scope
from tablewright.domain.model import Struct
from tablewright.errors import Forbidden

if TYPE_CHECKING:
    from tablewright.services import Services

# Look; change tables, documents or settings; start or stop work that may cost money; manage users.
Effect: TypeAlias = Literal["read", "write", "run", "administer"]

# The largest integer of every database.
MAX_NUMBER = 2**31 - 1
# Characters that not every database can store: NUL, and half of a surrogate pair.
UNSTORABLE = re.compile("[\0\ud800-\udfff]")

# 300 characters, as many as a column's name has (`MAX_NAME_CHARS` of table files).
Name = Annotated[str, msgspec.Meta(max_length=300)]
Text = Annotated[str, msgspec.Meta(max_length=20_000)]
Question = Annotated[str, msgspec.Meta(min_length=1, max_length=4_000)]
TableRef = Annotated[str, msgspec.Meta(min_length=1, max_length=300, description="The table's id or name.")]
RowNumber = Annotated[int, msgspec.Meta(ge=1, le=MAX_NUMBER, description="The row's number.")]
RowNumbers = Annotated[
    tuple[Annotated[int, msgspec.Meta(ge=1, le=MAX_NUMBER)], ...],
    msgspec.Meta(max_length=100_000, description="Only the rows of these numbers."),
]
FieldName = Annotated[str, msgspec.Meta(min_length=1, max_length=300, description="The column's name.")]
FieldNames = Annotated[tuple[Name, ...], msgspec.Meta(max_length=1_000, description="Only these columns.")]
# A thousand entries are a few hundred kilobytes; more come by pages.
Limit = Annotated[int, msgspec.Meta(ge=1, le=1_000, description="The most entries to return.")]
After = Annotated[str, msgspec.Meta(max_length=400, description="Start after this: the `next` of the previous page.")]
# Entries of a page unless asked otherwise: they fit on a few screens.
USUAL_LIMIT = 100
# For interfaces that have no pages.
NO_LIMIT = MAX_NUMBER


class Request(Struct, frozen=True, forbid_unknown_fields=True):
    """Unknown fields are refused, so that a misspelt option is not silently without effect."""


class NoInput(Request, frozen=True):
    pass


class ListRequest(Request, frozen=True):
    limit: Limit = USUAL_LIMIT
    after: After = ""


class TableRequest(Request, frozen=True):
    table: TableRef


class RowRequest(TableRequest, frozen=True):
    row_id: RowNumber


class ColumnRequest(TableRequest, frozen=True):
    field: FieldName


class Page(Struct, frozen=True):
    """`next` is what to pass as `after` for what follows; null at the end."""

    next: str | None


class FileWritten(Struct, frozen=True):
    """The reply of an operation that writes a file to a `path`. `name` is what to call the file, without its ending."""

    name: str


RequestT = TypeVar("RequestT", bound=Request)
StructT = TypeVar("StructT", bound=msgspec.Struct)
ReplyT = TypeVar("ReplyT")
# Besides the request it may take what only code of the same process can pass, such as a function for progress.
Verb: TypeAlias = "Callable[Concatenate[Services, RequestT, ...], Awaitable[ReplyT]]"

# Filled by the decorator; the interfaces' tests compare it with what each of them offers.
OPERATIONS: dict[str, Operation[Any, Any]] = {}


class Operation(Generic[RequestT, ReplyT]):
    """A verb. Calling it checks the caller's permission first, whichever interface calls."""

    def __init__(self, function: Verb[RequestT, ReplyT], effect: Effect) -> None:
        self.function = function
        self.effect = effect
        self.name: str = function.__name__
        self.__doc__ = getdoc(function)

    @cached_property
    def request(self) -> type[RequestT]:
        found: type[RequestT] = self._type_of("request")
        return found

    @cached_property
    def reply(self) -> Any:
        return self._type_of("return")

    def _type_of(self, name: str) -> Any:
        # Only this annotation: others may name types that are imported for type checkers alone.
        annotated = SimpleNamespace(__annotations__={name: self.function.__annotations__[name]})
        return get_type_hints(annotated, self.function.__globals__)[name]

    async def __call__(self, services: Services, request: RequestT, **more: Any) -> ReplyT:
        if services.person is not None:
            check_permission(services.person, self.effect)
        return await self.function(services, request, **more)


def operation(effect: Effect) -> Callable[[Verb[RequestT, ReplyT]], Operation[RequestT, ReplyT]]:
    """Declare a verb. Its docstring is its help text in every interface."""

    def declare(function: Verb[RequestT, ReplyT]) -> Operation[RequestT, ReplyT]:
        declared = Operation(function, effect)
        OPERATIONS[declared.name] = declared
        return declared

    return declare


def copy_fields(kind: type[StructT], source: object, **others: Any) -> StructT:
    """Return a struct with the fields that an object of another type has as well, and these `others`."""
    names = [each.name for each in msgspec.structs.fields(kind) if each.name not in others]
    return kind(**{name: getattr(source, name) for name in names}, **others)


def check_permission(person: Person, effect: Effect) -> None:
    """Raise Forbidden, saying if it is the role or the token that does not allow it."""
    if effect == "write" and not person.may_change:
        raise Forbidden("You may look, but not change anything.", advice=_permission_advice(person, "write"))
    if effect == "run" and not person.may_run:
        raise Forbidden("You may not start or stop work.", advice=_permission_advice(person, "run"))
    if effect == "administer" and not person.may_administer:
        raise Forbidden("Only an admin may do that.")


def _permission_advice(person: Person, scope: Scope) -> str:
    if person.role == "viewer":
        return "Ask an admin for the role of an editor."
    return f"Use a token that has the scope {scope}."
