"""For `chaos.py`: a run while its database fails over to another server, and while every commit of it fails once."""

from __future__ import annotations

import time
from itertools import cycle

from outage import Outage
from place import ended, wait_for
from standby import failover_pair, run_on
from world import FIELDS, World, open_world, written

from chaos_places import DELAY, LONGEST, Alone, Options, compared, database, hold, left_alone, nobody_is_gone, place

# Between the moment in which the old server stops taking writes and the one in which the new one takes them.
READ_ONLY_SECONDS = 10.0
# Every so manyth commit fails.
EVERY = 20
# The connection breaks before the commit, or after it; or the server refuses it.
FAULTS = ("before", "after", "25006", "57P01", "08006", "53300", "40001", "40P01", "55P03", "40003")


def failover_part(options: Options) -> bool:
    rows = options.rows or 200
    with open_world(delay=DELAY, size=rows) as world, failover_pair() as pair:
        alone = left_alone(world, pair.primary_url)
        held = commits_fail(world, alone, pair.primary_url)
        return all([held, *(failed_over(world, alone, how) for how in ("crashes", "turns read-only"))])


def commits_fail(world: World, alone: Alone, server: str) -> bool:
    world.forget()
    with database(server) as url, Outage(url) as line, place(world, url=line.url) as here:
        here.bring(written(world.companies))
        workers = [here.worker() for _ in range(2)]
        faults = cycle(FAULTS)
        planned = {number: next(faults) for number in range(EVERY, 1_000_000, EVERY)}
        line.fail_commits(planned)
        command = here.enrich(FIELDS)
        code = ended(command, LONGEST)
        failed = len(planned) - line.faults_left
        line.fail_commits({})
        held = compared(f"failover: {failed} commits failed", alone, here.outcome(here.run_id()), world.counts())
        return all(
            (
                hold(f"the command tells its end: {code} {command.err[-300:] if code else ''}".rstrip(), code == 0),
                hold(f"each kind of failure came: {failed} failures", failed >= len(FAULTS)),
                nobody_is_gone(workers),
                held,
            )
        )


def failed_over(world: World, alone: Alone, how: str) -> bool:
    """In the middle of the run. The address leads to the new server even before that can be written to."""
    world.forget()
    with failover_pair() as pair, Outage(pair.primary_url) as line, place(world, url=line.url) as here:
        here.bring(written(world.companies))
        workers = [here.worker() for _ in range(2)]
        command = here.enrich(FIELDS)
        wait_for(lambda: len(world.counts().model) >= world.size / 3, LONGEST, every=0.1)
        line.lead_to(pair.standby_url)
        if how == "crashes":
            pair.stop_primary()
        else:
            run_on(
                pair.primary_url,
                "ALTER SYSTEM SET synchronous_standby_names = ''",
                "ALTER SYSTEM SET default_transaction_read_only = on",
                "SELECT pg_reload_conf()",
            )
        time.sleep(READ_ONLY_SECONDS)
        pair.promote()
        code = ended(command, LONGEST)
        title = f"failover: the server {how}, its standby takes over after {READ_ONLY_SECONDS:.0f} s"
        held = compared(title, alone, here.outcome(here.run_id()), world.counts())
        why = command.err[-300:] if code else ""
        return all(
            (hold(f"the command tells its end: {code} {why}".rstrip(), code == 0), nobody_is_gone(workers), held)
        )
