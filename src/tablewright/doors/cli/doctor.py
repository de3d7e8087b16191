"""`tablewright doctor`: what is configured and what works."""

from __future__ import annotations

import asyncio

import typer

from tablewright.doors.cli import output
from tablewright.doors.cli.root import Json, app, load_confirmed_settings


@app.command()
def doctor(json: Json = False) -> None:
    """Show what is configured and what works."""
    from rich.text import Text

    from tablewright.services import doctor as examine

    checks = asyncio.run(examine(load_confirmed_settings()))
    if json:
        output.print_json(
            {
                "ok": all(check.ok for check in checks),
                "checks": [
                    {"name": check.name, "ok": check.ok, "detail": check.detail, "advice": check.advice}
                    for check in checks
                ],
            }
        )
    else:
        for check in checks:
            sign = Text("ok   ", style="green") if check.ok else Text("FAIL ", style="bold red")
            line = sign + Text(f"{check.name}: ", style="bold") + output.plain(check.detail, 500)
            output.stdout().print(line, highlight=False, soft_wrap=True)
            if check.advice:
                output.stdout().print(output.plain(f"     {check.advice}"), highlight=False, soft_wrap=True)
    if not all(check.ok for check in checks):
        raise typer.Exit(1)
