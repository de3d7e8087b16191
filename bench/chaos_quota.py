"""The part `quota` of `chaos.py`: forty runs of one user at once, in processes of their own, on one database; what they
spent is compared with what the user had left."""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
from asyncio.subprocess import PIPE
from collections import Counter
from pathlib import Path

from chaos_places import LONGEST, Options, database, hold, postgres

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tests.engine.runs.spender import A_CALL, READ, WRITTEN, paying  # noqa: E402
from tests.llm.endpoint import answer, running_endpoint  # noqa: E402

from tablewright.services import Services  # noqa: E402
from tablewright.settings import Settings  # noqa: E402

LEFT = 0.05
PROCESSES, RUNS = 4, 10


def quota_part(options: Options) -> bool:
    rows, held = options.rows or 10, True
    if "sqlite" in options.databases:
        held = asyncio.run(race("SQLite", "", rows)) and held
    if "postgresql" in options.databases:
        with postgres() as server, database(server) as url:
            held = asyncio.run(race("PostgreSQL", url, rows)) and held
    return held


async def race(title: str, url: str, rows: int) -> bool:
    with tempfile.TemporaryDirectory(prefix="chaos-") as home:
        async with running_endpoint() as model:
            written = {"Kind": {"value": "a thing", "used": ["Note"]}}
            model.otherwise = lambda asked: answer(written, read=READ, written=WRITTEN)
            settings = paying(model.url, home, url)
            async with Services.open(Settings(**settings)) as app:
                person, _ = await app.store.users.add("ann", "editor")
                await app.store.ledger.limit("ann", {"dollars": LEFT})
                told = await asyncio.gather(
                    *(spender(settings, person.id, f"p{number}", rows) for number in range(PROCESSES))
                )
                [dollars] = [each for each in await app.store.ledger.of(person.name) if each.what == "dollars"]
            paid = len(model.asked) * A_CALL
    runs = PROCESSES * RUNS
    ended = Counter(status for each in told for status in each)
    print(f"quota: {runs} runs of one user in {PROCESSES} processes on {title}, ${runs * rows * A_CALL:.2f} of work")
    print(f"  {dict(ended)}")
    return all(
        (
            hold(f"${paid:.4f} was paid, of ${LEFT} that was left", 0 < paid <= LEFT),
            hold(f"the ledger says ${dollars.used:.4f}", abs(dollars.used - paid) < 1e-5),
            hold(f"nothing is held any more: ${dollars.held}", dollars.held == 0),
            hold("each run ended as done or over budget", ended.keys() <= {"done", "over_budget", "refused"}),
        )
    )


async def spender(settings: dict[str, str], user: str, name: str, rows: int) -> list[str]:
    arguments = (json.dumps(settings), user, name, str(RUNS), str(rows))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.engine.runs.spender", *arguments, cwd=ROOT, stdout=PIPE
    )
    out, _ = await asyncio.wait_for(process.communicate(), LONGEST)
    ended: list[str] = json.loads(out)
    return ended
