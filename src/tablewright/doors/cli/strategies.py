"""`tablewright strategies`: how rows can be answered, by us and by other packages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from tablewright.doors.cli import output
from tablewright.doors.cli.root import Json, app
from tablewright.errors import UsageError

if TYPE_CHECKING:
    from tablewright.services import Parameter, Strategy


@app.command()
def strategies(
    kind: Annotated[
        Literal["enrichment", "action"] | None,
        typer.Option("--kind", help="Only those that produce values, or that act outside the table."),
    ] = None,
    json: Json = False,
) -> None:
    """The installed strategies, and what `enrich --param` can set for each."""
    from rich.text import Text

    from tablewright.services import Services

    found = Services.strategies(kind)
    broken = {name: each for name, each in found.items() if isinstance(each, UsageError)}
    usable = [each for each in found.values() if not isinstance(each, UsageError)]
    if json:
        problems = [{"name": name, "problem": error.what, "advice": error.advice} for name, error in broken.items()]
        output.print_json({"strategies": [report(strategy) for strategy in usable], "broken": problems})
        return
    lines = [[each.name, each.display_name, each.kind, str(each.concurrency), str(each.max_steps)] for each in usable]
    output.stdout().print(output.grid("Strategies", ["Name", "Called", "Kind", "Rows at once", "Steps"], lines))
    settable = [
        [strategy.name, parameter.name, values(parameter), parameter.default, parameter.help]
        for strategy in usable
        for parameter in strategy.parameters
    ]
    if settable:
        columns = ["Strategy", "Parameter", "Values", "Default", "What for"]
        output.stdout().print(output.grid("Parameters", columns, settable))
    for error in broken.values():
        problem = Text("Not usable: ", style="red") + output.plain(str(error), 2_000)
        output.stdout().print(problem, highlight=False, soft_wrap=True)


def report(strategy: Strategy) -> dict[str, Any]:
    return {
        "name": strategy.name,
        "display_name": strategy.display_name,
        "kind": strategy.kind,
        "concurrency": strategy.concurrency,
        "max_steps": strategy.max_steps,
        "parameters": list(strategy.parameters),
    }


def values(parameter: Parameter) -> str:
    if parameter.choices:
        return ", ".join(parameter.choices)
    if parameter.least is None and parameter.most is None:
        return "any text"
    return f"from {parameter.least or 0}" + (f" to {parameter.most}" if parameter.most else "")
