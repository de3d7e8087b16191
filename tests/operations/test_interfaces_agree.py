"""Every interface offers every operation, with every field of its request under the same name. What one lacks is listed
here with the reason; a new operation or field fails these tests until it is offered or listed.

A program calls the operations themselves (`tablewright.operations`); of the library only the fields are compared that
its verbs take."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from subprocess import run
from sys import executable
from typing import TypeAlias

import pytest

import tablewright.interfaces.cli.main  # noqa: F401  # declares the commands
from tablewright import interfaces, operations
from tablewright.interfaces.api import routes
from tablewright.interfaces.cli.adapter import COMMANDS
from tablewright.interfaces.mcp.answers import TOOLS
from tablewright.interfaces.mcp.server import create_server
from tablewright.operations.operation import OPERATIONS
from tablewright.services import Services
from tablewright.settings import Settings

# The fields that an interface offers, by the name of the operation.
Offered: TypeAlias = "dict[str, set[str]]"

for module in iter_modules(operations.__path__):
    import_module(f"{operations.__name__}.{module.name}")

# By interface and reason, the operations and fields (operation.field) that it lacks.
WITHOUT: dict[str, dict[str, str]] = {
    "api": {
        "start_recheck does the same as a run": "recheck",
        "asks a model for minutes, and is no run yet": "annotate_documents",
        "the settings of a server are changed by who has its machine or its page": (
            "list_offered_models pull_model save_settings test_model try_settings"
        ),
    },
    "cli": {
        "tools of an assistant; `ask --where` has conditions and figures": (
            "annotations_aggregate annotations_search.show export_annotations_csv search_text search_vector"
        ),
        "`tables import -` takes rows as JSON or CSV": "create_table",
        "the command does the work itself, so that it can show its progress": (
            "find_more resume_research start_recheck"
        ),
        "the plan is agreed on at the terminal": "start_research.brief",
        "the ending of the file that is named is the format": (
            "export_report export_result.format export_table.format"
        ),
        "`tables show` shows the first rows; a file of them all can be filtered": "list_rows.field list_rows.status",
        "the file is on the user's own machine": "get_document_text get_shortlist_file",
        "a reply has the best candidates in their order": "rank_shortlist",
        "a report is kept as long as its table": "remove_research",
        "--estimate shows it": "estimate_fill estimate_refresh",
        "enrich names the columns": "plan_columns",
        "a person at the terminal is asked before a strategy acts outside the table": (
            "start_fill.acts start_refresh.acts"
        ),
        "`doctor`, `strategies` and `--version` also work without a database": "get_version list_strategies run_doctor",
        "settings come from the environment and files; `doctor` tries them": (
            "list_offered_models save_settings try_settings"
        ),
        "a link leads to the page": "create_view_link",
    },
    "mcp": {
        "list_all lists, for all kinds of things together": (
            "list_attempts list_conversations.after list_documents list_proposals list_research.after list_runs "
            "list_shortlists list_tables"
        ),
        "show_table shows a table, its rows, a cell and a proposal": (
            "get_proposal get_row get_table list_operations list_rows.field list_rows.status"
        ),
        "an assistant has few tools, because the definition of each is paid for in every conversation": (
            "add_field annotate_documents change_field create_document_table estimate_find get_cell_history "
            "get_document list_changes list_facts list_stale_cells plan_research remove_conversation remove_documents "
            "remove_field remove_research remove_row remove_table rename_table resume_run.current_settings "
            "send_to_sheets start_find start_research tag_table get_shortlist rank_shortlist remove_shortlist"
        ),
        "add_rows takes CSV text that the assistant wrote": (
            "create_table import_table.delimiter import_table.encoding import_table.header import_table.sheet"
        ),
        "resources have whole tables, answers and reports": "export_report export_result.format export_table",
        "no file is left for an assistant": "get_shortlist_file",
        "decide_proposal decides about many cells at once": "decide_proposal",
        "enrich, with `estimate`, and recheck do it": (
            "estimate_fill estimate_refresh plan_columns start_recheck start_refresh"
        ),
        "what runs by itself is set up by people": "list_schedules remove_schedules set_schedule",
        "an assistant sees to no users, shares, models or settings": (
            "add_token add_user change_role create_view_link get_sharing get_version list_audit "
            "list_models list_offered_models list_quotas list_settings list_strategies list_tokens list_users "
            "pull_model remove_token remove_user renew_token run_doctor save_settings set_quotas share "
            "test_model try_settings"
        ),
    },
    "library": {},
    "page": {
        "the grid shows, edits and undoes one table live, with the calls that the operation makes": (
            "add_field add_rows change_field flag_cell get_cell get_cell_history get_row get_table list_rows "
            "list_stale_cells remove_field remove_row set_cell undo"
        ),
        "the review page decides cell by cell, with the calls that the operation makes": (
            "apply_proposal.below apply_proposal.fields apply_proposal.force apply_proposal.min_confidence "
            "apply_proposal.rows decide_proposal.force get_proposal list_operations list_proposals "
            "reject_proposal.below reject_proposal.fields reject_proposal.min_confidence reject_proposal.rows"
        ),
        "lists are shown whole, as they change": (
            "get_run list_attempts list_changes.before list_conversations.after list_documents list_research.after "
            "list_runs list_shortlists list_tables"
        ),
        "a form previews the file first": "create_table import_table",
        "a download of the browser": "export_report export_result.format export_table get_shortlist_file",
        "the export window chooses rows": "send_to_sheets",
        "the page has its own view of documents": (
            "annotate_documents create_document_table get_document get_document_text list_facts"
        ),
        "users, tokens and the audit log are managed from the command line or over REST": (
            "add_token add_user change_role list_audit list_quotas list_tokens list_users remove_token "
            "remove_user renew_token set_quotas"
        ),
        "the frame and the forms of the page show it": "get_version list_strategies test_model",
        "the page shows the run of the table while it works": (
            "estimate_fill estimate_refresh recheck.dry_run set_schedule.apply start_fill start_recheck start_refresh"
        ),
        "tools of an assistant": (
            "annotations_aggregate annotations_search export_annotations_csv search_text search_vector"
        ),
        "rows are found at once, without a plan to confirm": "estimate_find find_more.fill plan_find",
        "conversations and reports are kept": "remove_conversation remove_research remove_shortlist",
        "the window names everyone who may see it": "share.without",
        "a person watches, and stops it when it takes too long": "resume_research.minutes",
    },
}


@pytest.mark.parametrize("interface", WITHOUT)
async def test_an_interface_offers_every_operation_and_field_or_says_why_not(interface: str, tmp_path: Path) -> None:
    if interface == "mcp":
        async with Services.open(Settings(home=str(tmp_path))) as services:
            create_server(services)  # declares the tools
    listed = [name for names in WITHOUT[interface].values() for name in names.split()]
    assert sorted(listed) == sorted(missing_from(interface))


def missing_from(interface: str) -> set[str]:
    offered = OFFERED[interface]()
    missing = {f"{name}.{field}" for name, fields in offered.items() for field in fields_of(name) - fields}
    return missing if interface == "library" else missing | (set(OPERATIONS) - set(offered))


def fields_of(name: str) -> set[str]:
    return set(OPERATIONS[name].request.__struct_fields__)


def in_routes() -> Offered:
    """The adapter gives each route the whole request."""
    return {each.name: fields_of(each.name) for group in routes.OPERATIONS.values() for each in group.values()}


def in_commands() -> Offered:
    """A command prints the whole list, so it has no pages."""
    found = {name: set(fields) for name, fields in in_code("cli").items()}
    for command in COMMANDS:
        found.setdefault(command.operation.name, set()).update(command.offered)
    return {name: fields | ({"limit", "after"} & fields_of(name)) for name, fields in found.items()}


def in_tools() -> Offered:
    found = {name: set(fields) for name, fields in in_code("mcp").items()}
    for tool in TOOLS.values():
        found.setdefault(tool.operation.name, set()).update(tool.fields)
    return found


def in_library() -> Offered:
    return in_code("library")


def in_pages() -> Offered:
    return in_code("page")


OFFERED = {"api": in_routes, "cli": in_commands, "mcp": in_tools, "library": in_library, "page": in_pages}


@cache
def in_code(package: str) -> Offered:
    """The operations that the code of a package calls, and the fields that it gives their requests."""
    called: set[str] = set()
    taken = requests_taken(Path(interfaces.__path__[0]) / package)
    given: dict[str, set[str]] = {}
    for call in calls_in(Path(interfaces.__path__[0]) / package):
        name = name_in(call.func)
        called |= {name, *map(name_in, call.args)}  # an operation may be handed to what calls it
        given.setdefault(name, set()).update(each.arg for each in call.keywords if each.arg)
        if name == "convert":
            taken |= {name_in(arg) for arg in call.args}
        elif any(each.arg is None for each in call.keywords):  # passes on what its own caller said
            taken.add(name)
    requests = {name: operation.request for name, operation in OPERATIONS.items()}
    return {
        name: fields_of(name) if request.__name__ in taken else given.get(request.__name__, set()) & fields_of(name)
        for name, request in requests.items()
        if name in called and (request.__name__ in {*given, *taken} or not fields_of(name))
    }


def name_in(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def calls_in(folder: Path) -> Iterator[ast.Call]:
    return (node for node in nodes_in(folder) if isinstance(node, ast.Call))


def requests_taken(folder: Path) -> set[str]:
    """The types of parameters called `request`: the adapter of tools offers all their fields."""
    functions = (node for node in nodes_in(folder) if isinstance(node, ast.AsyncFunctionDef))
    return {
        name_in(arg.annotation)
        for function in functions
        for arg in function.args.args
        if arg.arg == "request" and arg.annotation is not None
    }


def nodes_in(folder: Path) -> Iterator[ast.AST]:
    for file in sorted(folder.rglob("*.py")):
        yield from ast.walk(ast.parse(file.read_text(encoding="utf-8")))


# Options that are not called like their field, and why.
OTHER_NAMES = {
    "--yes": "answers whatever a command would ask",
    "--readable/--unreadable": "each side of the choice has a name",
    "--with": "reads as a sentence: share table sales --with ann",
    "--private": "says what becomes of it, where --only says nothing",
}


def test_options_have_the_names_of_the_fields() -> None:
    """`key_field` is --key-field, and `row_ids` --row, given several times."""
    assert {name for command in COMMANDS for name in command.names.values()} == set(OTHER_NAMES)


def test_help_loads_no_operation_and_nothing_that_is_slow() -> None:
    program = """
import sys
from tablewright.interfaces.cli import main
sys.argv = ["tablewright", "--help"]
try:
    main()
finally:
    slow = ("sqlalchemy", "pydantic_ai", "dbos", "httpx2", "tablewright.operations", "tablewright.settings")
    print([each for each in slow if each in sys.modules], file=sys.stderr)
"""
    done = run([executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stderr.strip().endswith("[]")
    assert "Fills tables with facts" in done.stdout
