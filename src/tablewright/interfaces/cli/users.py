"""`tablewright users`, `tokens`, `share` and `audit`: who may use a server, and what they see and did."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from tablewright.interfaces.cli import output
from tablewright.interfaces.cli.adapter import command, run_operation
from tablewright.interfaces.cli.root import Json, app, run_with_services

if TYPE_CHECKING:
    from tablewright.domain.access import MeteredResource, SharedThing
    from tablewright.operations.operation import NoInput
    from tablewright.operations.sharing import ShareThing
    from tablewright.operations.tables import Removed
    from tablewright.operations.users import (
        AuditPage,
        QuotasShown,
        TokenList,
        TokenMade,
        UserList,
        UserShown,
        UserWithToken,
    )
    from tablewright.services import Services

users = typer.Typer(help="Manage the users of a server: their roles, tokens and tables.", no_args_is_help=True)
app.add_typer(users, name="users")
tokens = typer.Typer(help="Manage the tokens of a server's users: scopes, expiry, last use.", no_args_is_help=True)
app.add_typer(tokens, name="tokens")

Limit = Annotated[str, typer.Option(metavar="N", help="A number, or none: as the settings say for everyone.")]


@command(users, "users.list_users", name="list")
def list_users_command(request: NoInput, json: Json = False) -> None:
    """List the users, their roles, and the tables they see."""
    from tablewright.operations import users as verbs

    async def work(services: Services) -> tuple[UserList, dict[str, str]]:
        return await verbs.list_users(services, request), {each.id: each.name for each in await services.tables()}

    found, names = run_with_services(work)
    empty = "No users: anyone with the token of the settings, or at this machine, may do everything."
    lines = [[user.name, user.role, name_tables(user, names)] for user in found.users]
    output.print_json_or_lines(json, found, empty, ["Name", "Role", "Tables"], lines)


def name_tables(user: UserShown, names: dict[str, str]) -> str:
    if user.role == "admin":
        return "all"
    return ", ".join(sorted(names.get(table_id, table_id) for table_id in user.tables)) or "none"


@command(users, "users.add_user", name="add", arguments=("name",))
def add_user_command(reply: UserWithToken) -> None:
    """Add a user and print their token. It is shown once and not stored."""
    show_secret(reply.user.name, reply.token)


@command(users, "users.remove_user", name="remove", arguments=("user",))
def remove_user_command(reply: Removed) -> None:
    """Remove a user. Their tokens and their logins end at once; what they did stays in the history."""
    output.print_note("Removed.")


@command(users, "users.change_role", name="role", arguments=("user", "role"))
def change_role_command(reply: UserShown) -> None:
    output.print_note(f"Now: {reply.role}.")


@command(users, "users.renew_token", name="token", arguments=("user",))
def renew_token_command(reply: UserWithToken) -> None:
    """Make a new token for a user, and print it once. All that they had, and their logins, end at once."""
    show_secret(reply.user.name, reply.token)


@users.command("quota")
def quota_command(
    user: Annotated[str, typer.Argument(metavar="USER", help="A user's name.")],
    uploads: Limit = "",
    rows: Limit = "",
    disk: Limit = "",
    dollars: Limit = "",
    json: Json = False,
) -> None:
    """Show a user's limits and use, or set limits for that user: megabytes of files, new rows and dollars per month,
    and megabytes of documents and tables."""
    from tablewright.operations.users import OwnRequest, SetQuotas, list_quotas, set_quotas
    from tablewright.settings import read_setting

    def limit_in(text: str, what: MeteredResource) -> Any:
        return None if text.strip() == "none" else read_setting(f"quota_{what}", text, f"--{what}")

    given: dict[MeteredResource, str] = {"uploads": uploads, "rows": rows, "disk": disk, "dollars": dollars}
    # An option that is not given leaves its limit as it is.
    limits = {what: limit_in(text, what) for what, text in given.items() if text}
    if limits:
        found: QuotasShown = run_operation(set_quotas, SetQuotas(user=user, **limits))
    else:
        found = run_operation(list_quotas, OwnRequest(user=user))
    lines = [
        [
            each.what,
            f"{each.used:g}",
            f"{each.held:g}" if each.held else "",
            "no limit" if each.most is None else f"{each.most:g}",
            each.renews_on,
        ]
        for each in found.quotas
    ]
    output.print_json_or_lines(json, found, "", ["What", "Used", "Held", "Limit", "Renews on"], lines)


def show_secret(user: str, secret: str) -> None:
    """Only the secret is on stdout."""
    output.print_note(f"The token of {user}; it is not shown again:")
    typer.echo(secret)


# ── tokens ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@command(tokens, "users.list_tokens", name="list", helps={"user": "Only those of this user."})
def list_tokens_command(reply: TokenList) -> None:
    """List the tokens: whose they are, what they allow, until when, and when they were last used."""
    lines = [
        [
            token.id,
            token.user,
            token.name,
            ", ".join(token.scopes),
            token.expires_at[:10] or "never",
            token.last_used_at[:16].replace("T", " ") or "never",
        ]
        for token in reply.tokens
    ]
    output.print_lines("No tokens.", ["Id", "User", "Name", "Scopes", "Expires", "Last used"], lines)


@command(tokens, "users.add_token", name="add", arguments=("user",), helps={"user": "A user's name."})
def add_token_command(reply: TokenMade) -> None:
    """Make another token for a user and print it. It is shown once and not stored."""
    show_secret(reply.token.user, reply.secret)


@command(tokens, "users.remove_token", name="remove", arguments=("token",))
def remove_token_command(reply: Removed) -> None:
    """Remove a token. It, and the logins by it, end at once."""
    output.print_note("Removed.")


# ── sharing and the audit log ────────────────────────────────────────────────────────────────────────────────────────


@command(app, "sharing.share", name="share", arguments=("kind", "id"), names={"people": "--with", "only": "--private"})
def share_command(request: ShareThing, json: Json = False) -> None:
    """Show who may see something, or share it with people or with everyone. Its owner and admins always see it."""
    from tablewright.operations import sharing

    if request.people or request.everyone or request.only or request.without:
        found: SharedThing = run_operation(sharing.share, request)
    else:
        found = run_operation(sharing.get_sharing, sharing.ThingRequest(kind=request.kind, id=request.id))
    seen = ["everyone"] if found.everyone else list(found.people)
    owner = found.owner or "this installation"
    output.print_json_or_note(json, found, f"Owner: {owner}. Shared with: {', '.join(seen) or 'no one'}.")


@command(app, "users.list_audit", name="audit", defaults={"limit": 50, "after": ""})
def list_audit_command(reply: AuditPage) -> None:
    """Show the audit log, newest first: logins, shares, exports, removals, users and their limits."""
    lines = [
        [str(each.number), output.format_local_time(each.at), each.who, each.door, each.action, each.thing, each.detail]
        for each in reply.entries
    ]
    columns = ["No.", "When", "Who", "Door", "What", "To", "Detail"]
    output.print_lines("Nothing of that kind has been done yet.", columns, lines)
    if reply.next:
        output.print_note(f"`tablewright audit --after {reply.next}` shows what was before.")
