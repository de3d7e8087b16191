"""`tablewright share`: who sees a table, a document, a conversation, a result, a research or a shortlist."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, get_args

import typer

from tablewright.domain.access import Shareable, Shared
from tablewright.doors.cli import output
from tablewright.doors.cli.root import Json, app, check_choice, with_app

if TYPE_CHECKING:
    from tablewright.services import Services


@app.command()
def share(
    kind: Annotated[str, typer.Argument(help="table, document, conversation, result, research or shortlist.")],
    name: Annotated[str, typer.Argument(metavar="ID", help="Its id; a table or a document also by its name.")],
    people: Annotated[list[str] | None, typer.Option("--with", metavar="USER", help="A user who may see it.")] = None,
    everyone: Annotated[bool, typer.Option("--everyone", help="Everyone who may use the server may see it.")] = False,
    private: Annotated[
        bool, typer.Option("--private", help="First withdraw it from everyone it is shared with.")
    ] = False,
    json: Json = False,
) -> None:
    """Show who may see something, or share it with people or with everyone. Its owner and admins always see it."""
    what = checked(kind)

    async def work(services: Services) -> Shared:
        if people or everyone or private:
            return await services.share(what, name, people or [], everyone=everyone, only=private)
        return await services.shared(what, name)

    found = with_app(work)
    if json:
        output.print_json(found)
        return
    seen = ["everyone"] if found.everyone else list(found.people)
    output.say(f"Owner: {found.owner or 'this installation'}. Shared with: {', '.join(seen) or 'nobody'}.")


def checked(kind: str) -> Shareable:
    check_choice(kind, get_args(Shareable), "kind of thing")
    return kind  # type: ignore[return-value]
