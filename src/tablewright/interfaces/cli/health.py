"""`tablewright doctor`, `settings`, `strategies` and `models`: what is installed, what is configured and what works."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tablewright.interfaces.cli import output
from tablewright.interfaces.cli.adapter import command, run_operation
from tablewright.interfaces.cli.root import Json, app, load_confirmed_settings

if TYPE_CHECKING:
    from tablewright.domain.health import ModelTrial
    from tablewright.errors import BadSetting
    from tablewright.operations.health import ModelPulled, Models, ParameterShown, PullModel
    from tablewright.operations.operation import NoInput
    from tablewright.operations.settings import SettingsShown

models = typer.Typer(no_args_is_help=True, help="Local models: list, pull, test.")
app.add_typer(models, name="models")


@app.command("doctor")
def doctor_command(
    ask: Annotated[
        bool, typer.Option("--ask", help="Also ask the model and the search, which may cost a little.")
    ] = False,
    json: Json = False,
) -> None:
    """Show what is configured and what works."""
    from rich.text import Text

    from tablewright.operations.health import check_installation

    # Without services: doctor must also work where the store cannot be opened or settings are wrong.
    invalid: list[BadSetting] = []
    settings = load_confirmed_settings(on_invalid=invalid.append)
    found = asyncio.run(check_installation(settings, invalid, ask=ask))
    if json:
        output.print_json(found)
    else:
        for check in found.checks:
            sign = Text("ok   ", style="green") if check.ok else Text("FAIL ", style="bold red")
            line = sign + Text(f"{check.name}: ", style="bold") + output.harmless_text(check.detail, 500)
            output.stdout().print(line, highlight=False, soft_wrap=True)
            if check.advice:
                output.stdout().print(output.harmless_text(f"     {check.advice}"), highlight=False, soft_wrap=True)
    if not found.ok:
        raise typer.Exit(1)


@command(app, "settings.list_settings", name="settings")
def list_settings_command(reply: SettingsShown) -> None:
    """Show the settings that differ from their defaults, and what sets them; with --json all of them."""
    lines = [[each.name, each.value, each.set_by, each.help] for each in reply.settings if each.value != each.default]
    output.print_lines("All settings have their defaults.", ["Setting", "Value", "Set by", "What for"], lines)


@app.command("strategies")
def list_strategies_command(
    kind: Annotated[
        Literal["enrichment", "action"] | None,
        typer.Option("--kind", help="Only those that produce values, or that act outside the table."),
    ] = None,
    json: Json = False,
) -> None:
    """The installed strategies, and what `enrich --param` can set for each."""
    from rich.text import Text

    from tablewright.operations.health import show_strategies

    found = show_strategies(kind)
    if json:
        output.print_json(found)
        return
    usable = found.strategies
    lines = [[each.name, each.display_name, each.kind, str(each.concurrency), str(each.max_steps)] for each in usable]
    output.stdout().print(output.build_grid("Strategies", ["Name", "Called", "Kind", "Rows at once", "Steps"], lines))
    settable = [
        [strategy.name, parameter.name, describe_allowed_values(parameter), parameter.default, parameter.help]
        for strategy in usable
        for parameter in strategy.parameters
    ]
    if settable:
        columns = ["Strategy", "Parameter", "Values", "Default", "What for"]
        output.stdout().print(output.build_grid("Parameters", columns, settable))
    for each in found.broken:
        problem = Text("Not usable: ", style="red") + output.harmless_text(
            f"{each.problem} {each.advice}".strip(), 2_000
        )
        output.stdout().print(problem, highlight=False, soft_wrap=True)


def describe_allowed_values(parameter: ParameterShown) -> str:
    if parameter.choices:
        return ", ".join(parameter.choices)
    if parameter.least is None and parameter.most is None:
        return "any text"
    return f"from {parameter.least or 0}" + (f" to {parameter.most}" if parameter.most else "")


@command(models, "health.list_models", name="list")
def list_models_command(reply: Models) -> None:
    """List the models that can be downloaded to run on this machine."""
    lines = [
        [model.name, f"{model.size / 1e9:.1f} GB", model.licence, "yes" if model.pulled else "no", model.about]
        for model in reply.catalog
    ]
    output.stdout().print(output.build_grid("Models", ["Name", "Size", "Licence", "Pulled", "About"], lines))
    output.print_note("`tablewright models pull NAME` fetches one; TABLEWRIGHT_MODEL=local:NAME uses it.")


@command(models, "health.pull_model", name="pull", arguments=("name",))
def pull_model_command(request: PullModel, json: Json = False) -> None:
    """Download a model and verify it, resuming an earlier download."""
    from tablewright.operations import health

    with output.Bar(f"Fetching {request.name}") as bar:
        pulled: ModelPulled = run_operation(health.pull_model, request, watch=bar.count)
    name = pulled.name
    output.print_json_or_note(json, pulled, f"{name} is at {pulled.path}. Use it with TABLEWRIGHT_MODEL=local:{name}.")


@command(models, "health.test_model", name="test", settings=("model",))
def try_model_command(request: NoInput, flags: dict[str, str], json: Json = False) -> None:
    """Ask the configured model one small question."""
    from tablewright.operations import health

    reply: ModelTrial = run_operation(health.test_model, request, flags=flags)
    verdict = "right" if reply.right else "wrong: it was 2019"
    output.print_json_or_note(
        json,
        reply,
        f"{reply.model} answered {reply.answer} ({verdict}) in {reply.seconds} s; "
        f"{reply.usage.input_tokens} tokens in, {reply.usage.output_tokens} out, ${reply.usage.cost_usd:.6f}.",
    )
    if not reply.right:
        raise typer.Exit(1)
