"""`tablewright models`: the models of the catalog, and whether the configured one works."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tablewright.domain.document import document
from tablewright.doors.cli import output
from tablewright.doors.cli.root import Json, app, with_app

if TYPE_CHECKING:
    from tablewright.services import Services

models = typer.Typer(no_args_is_help=True, help="Local models: list, pull, test.")
app.add_typer(models, name="models")


@models.command("list")
def list_models(json: Json = False) -> None:
    """List the models that can be downloaded to run on this machine."""

    known = with_app(lambda services: services.models())
    if json:
        output.print_json(
            {
                "models": [
                    {
                        "name": model.name,
                        "size": model.size,
                        "licence": model.licence,
                        "sha256": model.sha256,
                        "pulled": pulled,
                        "about": model.about,
                    }
                    for model, pulled in known
                ]
            }
        )
        return
    lines = [
        [model.name, f"{model.size / 1e9:.1f} GB", model.licence, "yes" if pulled else "no", model.about]
        for model, pulled in known
    ]
    output.stdout().print(output.grid("Models", ["Name", "Size", "Licence", "Pulled", "About"], lines))
    output.say("`tablewright models pull NAME` fetches one; TABLEWRIGHT_MODEL=local:NAME uses it.")


@models.command()
def pull(
    name: Annotated[str, typer.Argument(help="A name from `models list`.")],
    json: Json = False,
) -> None:
    """Download a model and verify it, resuming an earlier download."""

    async def work(services: Services) -> Path:
        with output.Bar(f"Fetching {name}") as bar:
            return await services.pull_model(name, bar.count)

    path = with_app(work)
    output.print_result(
        json, {"name": name, "path": str(path)}, f"{name} is at {path}. Use it with TABLEWRIGHT_MODEL=local:{name}."
    )


@models.command("test")
def try_model(
    model: Annotated[str, typer.Option("--model", help="A model other than the configured one.")] = "",
    json: Json = False,
) -> None:
    """Ask the configured model one small question."""

    trial = with_app(lambda services: services.test_model(), {"model": model})
    if json:
        output.print_json(document(trial))
    else:
        verdict = "right" if trial.right else "wrong: it was 2019"
        output.say(
            f"{trial.model} answered {trial.answer} ({verdict}) in {trial.seconds} s; "
            f"{trial.usage.input_tokens} tokens in, {trial.usage.output_tokens} out, ${trial.usage.cost_usd:.6f}."
        )
    if not trial.right:
        raise typer.Exit(1)
