"""The check before work is done in the name of a person: for slices, for runs as a whole, and for what they apply."""

from __future__ import annotations

from tablewright.domain.run import PERSON, Run
from tablewright.errors import AuthorityLost
from tablewright.store.store import Store


async def check_authority(store: Store, run: Run) -> None:
    """Raise AuthorityLost if the person in whose name this run is may no longer do it."""
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
    """Return what people are told of a schedule whose author may no longer run it."""
    return f"Paused: {lost}. An editor of the table takes the schedule over by setting it again."
