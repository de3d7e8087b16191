"""Every interface offers every operation with every field of its request, under the same name; what is missing is
listed here with its reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TypeAlias

import msgspec
import pytest

import tablewright.doors.cli.main  # declares the commands
import tablewright.doors.mcp.server  # noqa: F401  # declares the tools
from tablewright import doors, operations
from tablewright.doors.api import routes
from tablewright.doors.cli.adapter import COMMANDS
from tablewright.doors.mcp.answers import TOOLS
from tablewright.operations.operation import OPERATIONS

Offered: TypeAlias = "dict[str, set[str]]"
"""The fields that an interface offers, by the name of the operation."""

for module in iter_modules(operations.__path__):
    import_module(f"{operations.__name__}.{module.name}")

EVERYTHING_AT_ONCE = "the command prints the whole list"
"""`limit` and `after` of commands."""

WITHOUT: dict[str, dict[str, str]] = {
    "api": {},
    "cli": {},
    "mcp": {},
    "library": {},
    "page": {},
}
"""By interface: operations ("undo") and fields of operations ("undo.to") that it lacks, each with the reason."""


@pytest.mark.parametrize("interface", WITHOUT)
def test_an_interface_offers_every_operation_and_field_or_says_why_not(interface: str) -> None:
    assert missing_from(interface) == set(WITHOUT[interface])


def missing_from(interface: str) -> set[str]:
    offered = {"api": in_routes, "cli": in_commands, "mcp": in_tools, "library": in_library, "page": in_pages}[
        interface
    ]()
    missing = set(OPERATIONS) - set(offered)
    for name, fields in offered.items():
        missing |= {f"{name}.{field}" for field in fields_of(name) - fields}
    return missing


def fields_of(name: str) -> set[str]:
    return set(OPERATIONS[name].request.__struct_fields__)


def in_routes() -> Offered:
    """The adapter gives each route the whole request."""
    return {each.name: fields_of(each.name) for group in routes.OPERATIONS.values() for each in group.values()}


def in_commands() -> Offered:
    found: Offered = {}
    for command in COMMANDS:
        found.setdefault(command.operation.name, set()).update(command.offered)
    for name, fields in in_code("cli").items():
        found.setdefault(name, set()).update(fields)
    for name, fields in found.items():  # EVERYTHING_AT_ONCE
        fields |= {"limit", "after"} & fields_of(name)
    return found


def in_tools() -> Offered:
    found = {tool.operation.name: set(tool.fields) for tool in TOOLS.values()}
    for name, fields in in_code("mcp").items():
        found.setdefault(name, set()).update(fields)
    return found


def in_library() -> Offered:
    return in_code("library")


def in_pages() -> Offered:
    return in_code("web")


@cache
def in_code(package: str) -> Mapping[str, set[str]]:
    """The operations that the code of a package calls, and the fields that it gives their requests."""
    called: set[str] = set()
    given: dict[str, set[str]] = {}
    for call in calls_in(Path(doors.__path__[0]) / package):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        called.add(name)
        called |= {arg.id for arg in call.args if isinstance(arg, ast.Name)}  # handed to what calls it
        keywords = {each.arg for each in call.keywords if each.arg}
        given.setdefault(name, set()).update(keywords)
    requests = {name: operation.request.__name__ for name, operation in OPERATIONS.items()}
    return {
        name: given.get(request, set()) & fields_of(name)
        for name, request in requests.items()
        if name in called and (request in given or not fields_of(name))
    }


def calls_in(folder: Path) -> Iterator[ast.Call]:
    for file in sorted(folder.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call):
                yield node


def test_options_are_named_like_the_fields() -> None:
    """`row_ids` is --row, and `key_field` --key-field."""
    renamed = {f"{command.path} {name}": command.names[name] for command in COMMANDS for name in command.names}
    assert renamed == {}


@pytest.mark.parametrize("tool", sorted(TOOLS))
def test_a_tool_has_the_fields_of_its_request(tool: str) -> None:
    assert set(TOOLS[tool].fields) <= {each.name for each in msgspec.structs.fields(TOOLS[tool].operation.request)}
