"""A separate process in which runs of one user spend side by side:

python -m tests.engine.runs.spender SETTINGS USER NAME RUNS ROWS
"""

from __future__ import annotations

import asyncio
import json
import sys

from tablewright.domain.fieldspec import parse_field
from tablewright.engine.fill import FillRun
from tablewright.errors import OverQuota
from tablewright.operations.files import import_table_rows
from tablewright.operations.fill import FillOptions, plan_fill
from tablewright.services import Services
from tablewright.settings import Settings

READ, WRITTEN = 200, 400
# What gpt-4o-mini takes for it, in dollars.
A_CALL = (READ * 0.15 + WRITTEN * 0.60) / 1_000_000
KIND = "Kind=What kind of thing is {Note}?"


def paying(url: str, home: str, database_url: str = "", **values: str) -> dict[str, str]:
    """Settings with a model at that address whose price is known."""
    model = {"model": "openai:gpt-4o-mini", "model_base_url": url, "model_api_key": "k", "model_timeout": "900"}
    return {"home": home, "database_url": database_url, "attempts": "1", **model, **values}


async def planned(app: Services, name: str, rows: int) -> FillRun:
    """A run over a table of its own: no row is like another, so that each is bought."""
    notes = [{"Note": f"{name} {number}"} for number in range(rows)]
    table = (await import_table_rows(app, notes)).table
    return await plan_fill(
        app, table.id, [parse_field(KIND)], "transform", how=FillOptions(params={"rows_a_call": "1"})
    )


async def spend(app: Services, name: str, rows: int) -> str:
    """How the run ended."""
    try:
        filled = await app.jobs.run(await planned(app, name, rows))
    except OverQuota:
        return "refused"
    return filled.status


async def main(settings: str, user: str, name: str, runs: int, rows: int) -> None:
    async with Services.open(Settings(**json.loads(settings))) as app:
        person = await app.store.users.by_id(user)
        ann = app.acting(person.name, person)
        ended = await asyncio.gather(*(spend(ann, f"{name}{number}", rows) for number in range(runs)))
    sys.stdout.write(json.dumps(ended))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:4], *map(int, sys.argv[4:6])))  # type: ignore[call-arg, arg-type]
