"""`tablewright users …`: who may use the server, as what, and which tables they see."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from tablewright.domain.access import Metered, Person, Role
from tablewright.doors.cli import output
from tablewright.doors.cli.root import Json, TableName, app, check_choice, with_app
from tablewright.errors import NotFound

if TYPE_CHECKING:
    from tablewright.services import Quota, Services

commands = typer.Typer(help="Manage the users of a server: their roles, tokens and tables.", no_args_is_help=True)
app.add_typer(commands, name="users")

DaysOption = Annotated[
    int | None,
    typer.Option("--days", metavar="N", min=0, help="Days until the token expires; 0: never. Default: token_days."),
]
UserName = Annotated[str, typer.Argument(metavar="NAME", help="A user's name.")]
RoleName = Annotated[
    str, typer.Option("--role", help="viewer: look. editor: also change and spend. admin: everything.")
]


@commands.command()
def add(name: UserName, role: RoleName = "viewer", days: DaysOption = None, json: Json = False) -> None:
    """Add a user and print their token. It is shown once and not stored."""
    wanted = checked(role)

    person, token = with_app(
        lambda services: services.users.add(name, wanted, expires_at=services.settings.token_expiry(days))
    )
    show_token({**as_document(person), "token": token}, json)


@commands.command("list")
def list_(json: Json = False) -> None:
    """List the users, their roles, and the tables they see."""

    async def work(services: Services) -> tuple[list[Person], dict[str, str]]:
        return await services.users.all(), {table.id: table.name for table in await services.tables()}

    found, names = with_app(work)
    empty = "No users: whoever has the token of the settings, or sits at this machine, may do everything."
    lines = [[person.name, person.role, seen(person, names)] for person in found]
    output.print_list(json, {"users": list(map(as_document, found))}, empty, ["Name", "Role", "Tables"], lines)


@commands.command()
def remove(name: UserName, json: Json = False) -> None:
    """Remove a user. Their token and their logins end at once; what they did stays in the history."""
    done(name, json, lambda services: services.users.remove(name), "Removed.")


@commands.command("role")
def change_role(
    name: UserName,
    role: Annotated[str, typer.Argument(metavar="ROLE", help="viewer, editor or admin.")],
    json: Json = False,
) -> None:
    """Give a user another role."""
    wanted = checked(role)
    done(name, json, lambda services: services.users.change_role(name, wanted), f"Now: {role}.")


@commands.command("token")
def renew_token(name: UserName, days: DaysOption = None, json: Json = False) -> None:
    """Make a new token for a user, and print it once. All that they had, and their logins, end at once."""

    async def work(services: Services) -> str:
        _, secret = await services.tokens.renew(name, expires_at=services.settings.token_expiry(days))
        return secret

    token = with_app(work)
    show_token({"name": name, "token": token}, json)


@commands.command()
def grant(name: UserName, table: TableName, json: Json = False) -> None:
    """Let a user see a table (an admin sees all)."""

    done(name, json, lambda services: services.share("table", table, [name]), "They see it now.")


@commands.command()
def revoke(name: UserName, table: TableName, json: Json = False) -> None:
    """Stop a user from seeing a table."""

    done(name, json, lambda services: services.unshare("table", table, [name]), "They no longer see it.")


@commands.command()
def quota(
    name: UserName,
    uploads: Annotated[str, typer.Option(help="Megabytes of files per month; none: as the settings say.")] = "",
    rows: Annotated[str, typer.Option(help="New rows per month.")] = "",
    disk: Annotated[str, typer.Option(help="Megabytes of documents and tables.")] = "",
    dollars: Annotated[str, typer.Option(help="Dollars per month.")] = "",
    json: Json = False,
) -> None:
    """Show a user's monthly limits and use, or set limits for that user."""
    given: dict[Metered, str] = {"uploads": uploads, "rows": rows, "disk": disk, "dollars": dollars}
    limits = {what: limit_in(text, what) for what, text in given.items() if text}

    async def work(services: Services) -> list[Quota]:
        if limits:
            await services.limit_user(name, limits)
        found = [person for person in await services.users.all() if person.name == name]
        if not found:
            raise NotFound(f"There is no user {name!r}.")
        return await services.quotas(found[0])

    quotas = with_app(work)
    if json:
        output.print_json({"name": name, "quotas": quotas})
        return
    lines = [
        [
            each.what,
            f"{each.used:g}",
            f"{each.held:g}" if each.held else "",
            "no limit" if each.most is None else f"{each.most:g}",
            each.renews_on,
        ]
        for each in quotas
    ]
    output.stdout().print(output.grid("", ["What", "Used", "Held", "Limit", "Renews on"], lines))


def limit_in(text: str, what: str) -> float | None:
    from tablewright.settings import read_setting

    limit: float | None = None if text.strip() == "none" else read_setting(f"quota_{what}", text, f"--{what}")
    return limit


def done(name: str, json: bool, change: Callable[[Services], Awaitable[object]], sentence: str) -> None:
    """Does it, and says what the user is then."""

    async def work(services: Services) -> list[Person]:
        await change(services)
        return [person for person in await services.users.all() if person.name == name]

    left = with_app(work)
    output.print_result(json, as_document(left[0]) if left else {"name": name, "removed": True}, sentence)


def show_token(shown: dict[str, Any], json: bool) -> None:
    if json:
        output.print_json(shown)
    else:
        output.say(f"The token of {shown['name']}; it is not shown again:")
        typer.echo(shown["token"])


def checked(role: str) -> Role:
    check_choice(role, get_args(Role), "role")
    return role  # type: ignore[return-value]


def as_document(person: Person) -> dict[str, Any]:
    return {"id": person.id, "name": person.name, "role": person.role, "tables": sorted(person.tables)}


def seen(person: Person, names: dict[str, str]) -> str:
    if person.role == "admin":
        return "all"
    return ", ".join(sorted(names.get(table_id, table_id) for table_id in person.tables)) or "none"
