"""How work ends that somebody no longer waits for."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

T = TypeVar("T")


async def shield_to_completion(work: Coroutine[Any, Any, T]) -> T:
    """Does it to its end, even where whoever waits for it is cancelled meanwhile, however often; that they learn when
    it is done. For what writes down how something ended: half of that would look as if it went on for ever."""
    task = asyncio.ensure_future(work)
    broken_off: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError as error:
            broken_off = error
    if broken_off is not None:
        if not task.cancelled():
            task.exception()  # whoever was to be told is no longer there
        raise broken_off
    return task.result()


async def all_done(workers: Sequence[asyncio.Task[None]]) -> None:
    """Waits for them. One that fails has met something that all will meet, such as a full disk: the others are ended,
    and its error is raised."""
    try:
        if workers:
            await asyncio.wait(workers, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for each in workers:
            each.cancel()
        results = await asyncio.gather(*workers, return_exceptions=True)
    for result in results:
        if isinstance(result, Exception):
            raise result
