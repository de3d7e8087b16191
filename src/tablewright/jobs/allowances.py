"""Work in the name of a user holds its dollars in the ledger before it spends them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tablewright.domain.usage import metered
from tablewright.engine.cancellation import shield_to_completion
from tablewright.jobs.ownership import Ownership
from tablewright.models.budget import Allowance, allowed, open_allowance
from tablewright.store.ledger import DollarHold, this_month
from tablewright.store.records import new_id
from tablewright.store.store import Store
from tablewright.store.workers import is_lost


@asynccontextmanager
async def allowance_of(store: Store, user: str, ownership: Ownership) -> AsyncIterator[Allowance | None]:
    """Within it all that is bought is bought for this user: held before it is spent, and counted when the work ends,
    however it ends. Work inside of other work has the allowance of that; without a user there is none."""
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
    """Release what processes that have died held of a user's dollars; whether there was any."""
    workers = await store.workers.all()
    lost = [owner for owner in await store.ledger.holders(user) if is_lost(owner, workers)]
    if lost:
        await store.ledger.release_holds(user, lost)
    return bool(lost)
