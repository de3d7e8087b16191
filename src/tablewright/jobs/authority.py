"""Work in the name of a user: the check that they may do it, and the dollars that it holds in the ledger."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tablewright.domain.run import PERSON, Run
from tablewright.domain.usage import metered
from tablewright.engine.cancellation import shield_to_completion
from tablewright.errors import AuthorityLost
from tablewright.jobs.ownership import Ownership
from tablewright.models.budget import Allowance, allowed, open_allowance
from tablewright.store.ledger import DollarHold, this_month
from tablewright.store.records import new_id
from tablewright.store.store import Store
from tablewright.store.workers import is_lost


async def check_authority(store: Store, run: Run) -> None:
    """Raise AuthorityLost if the run's user may no longer run it."""
    lost = await store.users.lost_authority(run.person, run.table_id)
    if not lost:
        return
    if PERSON in run.spec:  # a schedule began it
        raise AuthorityLost(paused_schedule(lost))
    others = "An editor of the table, or an admin," if run.table_id else "An admin"
    raise AuthorityLost(
        f"Paused: {lost}.", kept="What was found by then is kept.", advice=f"{others} can resume it in their own name."
    )


def paused_schedule(lost: str) -> str:
    """Return the message about a schedule whose author may no longer run it."""
    return f"Paused: {lost}. An editor of the table takes the schedule over by setting it again."


@asynccontextmanager
async def allowance_of(store: Store, user: str, ownership: Ownership) -> AsyncIterator[Allowance | None]:
    """Charge what is bought inside to this user: hold dollars before they are spent, and settle when the work ends.
    Nested work shares the allowance around it; without a user there is none."""
    if not user or open_allowance() is not None:
        yield open_allowance()
        return
    hold = DollarHold(id=new_id("w"), user_id=user, owner=ownership.id, month=this_month())

    async def hold_more(needed: float, spent: float) -> float:
        more = await store.ledger.hold_dollars(hold, needed, spent)
        if more or not await release_lost(store, user):
            return more
        return await store.ledger.hold_dollars(hold, needed, spent)

    allowance = Allowance(hold.id, hold_more, await store.ledger.dollars_in_words(user))
    try:
        with allowed(allowance), metered() as meter:
            yield allowance
    finally:
        await shield_to_completion(store.ledger.settle_dollars(hold, meter.usage.cost_usd))


async def release_lost(store: Store, user: str) -> bool:
    """Release the dollars of a user that dead processes held. Return True if there were any."""
    workers = await store.workers.all()
    lost = [owner for owner in await store.ledger.holders(user) if is_lost(owner, workers)]
    if lost:
        await store.ledger.release_holds(user, lost)
    return bool(lost)
