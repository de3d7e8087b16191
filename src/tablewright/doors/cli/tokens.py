"""`tablewright tokens …`: what users show to be let in, what it allows, and until when."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, get_args

import typer

from tablewright.domain.access import SCOPES, Scope, Token
from tablewright.domain.document import document
from tablewright.doors.cli import output
from tablewright.doors.cli.root import Json, app, check_choice, with_app
from tablewright.doors.cli.users import DaysOption, UserName, show_token

if TYPE_CHECKING:
    from tablewright.services import Services

commands = typer.Typer(help="Manage the tokens of a server's users: scopes, expiry, last use.", no_args_is_help=True)
app.add_typer(commands, name="tokens")

SCOPE_HELP = (
    "read, write (tables and documents), run (what asks models and searches) or admin. Default: all. Repeatable."
)


@commands.command("list")
def list_(
    user: Annotated[str, typer.Option("--user", metavar="NAME", help="Only those of this user.")] = "",
    json: Json = False,
) -> None:
    """List the tokens: whose they are, what they allow, until when, and when they were last used."""

    found = with_app(lambda services: services.tokens.all(user))
    lines = [
        [
            token.id,
            token.user,
            token.name,
            ", ".join(token.scopes),
            token.expires_at[:10] or "never",
            token.last_used_at[:16].replace("T", " ") or "never",
        ]
        for token in found
    ]
    columns = ["Id", "User", "Name", "Scopes", "Expires", "Last used"]
    output.print_list(json, {"tokens": found}, "No tokens.", columns, lines)


@commands.command()
def add(
    user: UserName,
    name: Annotated[str, typer.Option("--name", help="What it is for.")] = "",
    scope: Annotated[list[str] | None, typer.Option("--scope", help=SCOPE_HELP)] = None,
    days: DaysOption = None,
    json: Json = False,
) -> None:
    """Make another token for a user and print it. It is shown once and not stored."""
    scopes = checked(scope or [])

    async def work(services: Services) -> tuple[Token, str]:
        expiry = services.settings.token_expiry(days)
        return await services.tokens.add(user, name=name, scopes=scopes, expires_at=expiry)

    token, secret = with_app(work)
    show_token({"name": user, "token": secret, "details": document(token)}, json)


@commands.command()
def remove(token_id: Annotated[str, typer.Argument(metavar="ID", help="A token's id.")], json: Json = False) -> None:
    """Remove a token. It, and the logins by it, end at once."""

    with_app(lambda services: services.tokens.remove(token_id))
    output.print_result(json, {"id": token_id, "removed": True}, "Removed.")


def checked(scopes: list[str]) -> tuple[Scope, ...]:
    for each in scopes:
        check_choice(each, get_args(Scope), "scope")
    return tuple(each for each in SCOPES if each in scopes) or SCOPES
