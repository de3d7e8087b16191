"""Those who want the same thing at once get it together: it is asked for once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class SingleFlight(Generic[T]):
    def __init__(self) -> None:
        self._waiting: dict[str, asyncio.Task[T]] = {}

    async def get(self, name: str, ask: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """One who goes away in the meantime does not stop it for the others."""
        task = self._waiting.get(name)
        if task is None:
            task = self._waiting[name] = asyncio.create_task(ask())
            task.add_done_callback(lambda done: self._forget(name, done))
        return await asyncio.shield(task)

    def _forget(self, name: str, done: asyncio.Task[T]) -> None:
        del self._waiting[name]
        if not done.cancelled():
            done.exception()  # seen, also where nobody waits for it any more

    async def close(self) -> None:
        """Stops what is still under way, for nobody waits for it any more."""
        waiting = list(self._waiting.values())
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
