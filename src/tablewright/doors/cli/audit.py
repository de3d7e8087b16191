"""`tablewright audit`: who did what, when, through which door."""

from __future__ import annotations

from typing import Annotated

import typer

from tablewright.doors.cli import output
from tablewright.doors.cli.root import Json, app, with_app


@app.command()
def audit(
    action: Annotated[str, typer.Option(help="Only these, e.g. login, share, export, remove, settings.")] = "",
    who: Annotated[str, typer.Option(help="Only what this user did.")] = "",
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=100_000, help="The most entries to show.")] = 50,
    before: Annotated[int | None, typer.Option(help="Only entries before this number.")] = None,
    json: Json = False,
) -> None:
    """Show the audit log, newest first: logins, shares, exports, removals, users and their limits."""

    found = with_app(lambda services: services.audit.entries(before=before, limit=limit, action=action, who=who))
    lines = [
        [str(each.number), output.when(each.at), each.who, each.door, each.action, each.thing, each.detail]
        for each in found
    ]
    columns = ["No.", "When", "Who", "Door", "What", "To", "Detail"]
    output.print_list(json, {"entries": found}, "Nothing of that kind has been done yet.", columns, lines)
