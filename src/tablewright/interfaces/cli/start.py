"""`tablewright` without a command: what to do next."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from rich.text import Text

from tablewright.domain.text import count_noun
from tablewright.interfaces.cli import output
from tablewright.interfaces.cli.root import load_confirmed_settings, run_with_services

if TYPE_CHECKING:
    from tablewright.services import Services
    from tablewright.settings import Settings

# A command, and the reason to run it.
NextStep: TypeAlias = tuple[str, str]


def print_next_steps() -> None:
    settings = load_confirmed_settings()
    steps = (
        run_with_services(suggest_steps)
        if settings.database_url or settings.home_folder.exists()
        else suggest_first_steps()
    )
    lines: list[list[str | Text]] = [
        [Text(command, style="bold"), reason] for command, reason in (*steps, *suggest_model(settings))
    ]
    output.stdout().print(output.build_grid("What to do next", ["Command", "Why"], lines))
    output.print_note("`tablewright --help` lists all commands.")


async def suggest_steps(services: Services) -> list[NextStep]:
    """Return the steps that the state of the tables, runs and proposals calls for."""
    tables = {each.id: each for each in await services.store.tables.all()}
    if not tables:
        return suggest_first_steps()
    steps = []
    for run in await services.jobs.all(limit=20):
        if run.status == "paused":
            steps.append((f"tablewright runs resume {run.id}", "The run is paused; what it found is kept."))
    for head in (await services.store.proposals.all(only_open=True))[:3]:
        name = tables[head.table_id].name if head.table_id in tables else head.table_id
        values = count_noun(head.counts.get("with_value", 0), "value")
        steps.append((f"tablewright proposals review {head.id}", f"{values} for “{name}” wait for your decision."))
    newest = max(tables.values(), key=lambda each: each.changed_at)
    steps.append((f"tablewright tables show {newest.id}", f"“{newest.name}” is the table that changed last."))
    steps.append((f'tablewright enrich {newest.id} --field "NAME=QUESTION"', "Fill another column of it."))
    return steps


def suggest_first_steps() -> list[NextStep]:
    return [
        ("tablewright demo", "See a table filled, with the evidence of every cell: no key, no internet."),
        ('tablewright enrich FILE --field "Founded=When was {Company} founded?"', "Fill a column of your own table."),
        ('tablewright find "QUESTION"', "Start from a question instead of a table."),
        ("tablewright docs add PATH", "Read your own documents, and then `tablewright ask` them."),
    ]


def suggest_model(settings: Settings) -> list[NextStep]:
    if settings.model.strip() != "builtin":
        return []
    return [
        (
            "export TABLEWRIGHT_MODEL=openai:NAME",
            "No model is configured, so only what is stated plainly is found. `tablewright models list` shows some.",
        )
    ]
