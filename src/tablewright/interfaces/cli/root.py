"""The root of the command tree, options that several commands share, and the way into asyncio."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from tablewright.errors import Cancelled, UntrustedFolder
from tablewright.interfaces.cli import output

if TYPE_CHECKING:
    from tablewright.errors import BadSetting
    from tablewright.services import Services
    from tablewright.settings import Settings

T = TypeVar("T")

app = typer.Typer(
    name="tablewright",
    help="Fills tables with facts that carry their evidence.",
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)

Json = Annotated[
    bool, typer.Option("--json", help="Print one JSON document on stdout; --json=lines: each row on a line.")
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
# The heading of these options in --help, so that they are not taken for those of the command.
FOR_THIS_COMMAND = "Settings for this command alone"
Model = Annotated[
    str, typer.Option("--model", help="The model, instead of TABLEWRIGHT_MODEL.", rich_help_panel=FOR_THIS_COMMAND)
]
Search = Annotated[
    str,
    typer.Option(
        "--search", help="The search engine, instead of TABLEWRIGHT_SEARCH.", rich_help_panel=FOR_THIS_COMMAND
    ),
]
Sources = Annotated[
    str,
    typer.Option(
        "--sources",
        help="web, docs (your documents), or both, the preferred one first: docs,web.",
        rich_help_panel=FOR_THIS_COMMAND,
    ),
]
Budget = Annotated[
    str,
    typer.Option(
        "--budget", help="The most dollars to spend; what was found by then is kept.", rich_help_panel=FOR_THIS_COMMAND
    ),
]
Tokens = Annotated[
    str, typer.Option("--budget-tokens", help="The most tokens to use.", rich_help_panel=FOR_THIS_COMMAND)
]
TableName = Annotated[str, typer.Argument(metavar="TABLE", help="A table's id or name.")]
# Settings that commands take as options.
SETTINGS = {"model": Model, "search": Search, "sources": Sources, "budget": Budget, "budget_tokens": Tokens}


# Services that did not answer, one entry for each piece of work. A command prints its result, then reports them and
# fails.
outages: list[str] = []


def run_with_services(work: Callable[[Services], Awaitable[T]], flags: Mapping[str, str] | None = None) -> T:
    """Open the store, do the work and close the store: the only place where the command line enters asyncio."""
    import gc

    from tablewright.interfaces.interrupting import prepare_loop
    from tablewright.services import Services

    settings = load_confirmed_settings(flags)
    # What is loaded by now stays: letting the garbage collector scan it again and again cost a tenth of a long run.
    gc.freeze()

    async def run() -> T:
        prepare_loop()
        async with Services.open(settings, door="command line") as services:
            services.toolboxes.on_missing_model = say_how_to_add_a_model
            done = await work(services)
            outages.append(services.outage)
            return done

    try:
        return asyncio.run(run())
    except KeyboardInterrupt:
        raise Cancelled("Stopped.", kept="Everything that was committed is kept.") from None


def load_confirmed_settings(
    flags: Mapping[str, str] | None = None, *, on_invalid: Callable[[BadSetting], object] | None = None
) -> Settings:
    """Load the settings; with `on_invalid` an invalid one is reported to it and has its default. If the folder says
    where data is kept while keys come from outside it, a person at the terminal is asked whether they trust it, and a
    yes is remembered; without one, UntrustedFolder is raised."""
    from tablewright.settings_sources import load_settings
    from tablewright.trusted_folders import trust_folder

    try:
        return load_settings(flags, flag_as_written=option_for, on_invalid=on_invalid)
    except UntrustedFolder as refused:
        if output.asked_for_json() or not output.has_terminal():
            raise
        output.print_note(refused.what)
        if not output.ask_yes_or_no("Do you trust this folder, now and from now on?"):
            raise
        trust_folder(refused)
        return load_settings(flags, flag_as_written=option_for, on_invalid=on_invalid)


def option_for(setting: str) -> str:
    """Return the option that sets a setting for one command."""
    return f"--{setting.replace('_', '-')}"


def say_how_to_add_a_model() -> None:
    """Print a hint in one line, unless --json was given."""
    if not output.asked_for_json():
        output.print_note(
            "No model is configured, so only what is stated plainly is found. To use one, set TABLEWRIGHT_MODEL or "
            "--model: openai:NAME, anthropic:NAME, google:NAME, ollama:NAME or local:NAME."
        )


def join_lines(text: str) -> str:
    """Join the lines of each paragraph."""
    return "\n\n".join(" ".join(part.split()) for part in text.split("\n\n"))


class CommandWithHelp(TyperCommand):
    """Help that fits any width: the lines of a paragraph are joined, and flags show no type."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.help = join_lines(self.help or "")

    def get_params(self, ctx: Any) -> list[Any]:
        return with_plain_types(super().get_params(ctx))

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().make_context(*args, **kwargs)
        except typer.BadParameter as wrong:
            wrong.message = wrong.message.removeprefix("Value error, ")  # pydantic's words, which checks choices
            raise


class GroupWithHelp(TyperGroup):
    def get_params(self, ctx: Any) -> list[Any]:
        return with_plain_types(super().get_params(ctx))


def with_plain_types(params: Iterable[Any]) -> list[Any]:
    for param in (found := list(params)):
        if isinstance(param, TyperOption) and param.metavar is None:
            param.metavar = "" if param.is_flag else "<str>" if param.multiple else None
    return found


@app.callback(invoke_without_command=True)
def root_command(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.", is_eager=True)] = False,
) -> None:
    if version:
        from importlib.metadata import version as installed

        typer.echo(f"tablewright {installed('tablewright')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        from tablewright.interfaces.cli.start import print_next_steps

        print_next_steps()
