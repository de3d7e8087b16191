"""A plain function as a strategy: it takes a row as a dictionary of values, and returns what it knows of it.

    def register(row):
        return requests.get(ADDRESS, params={"q": row["Company"]}).json()    # {"Seat": "Aldermoor", "Staff": 31}

It may be `async`, and may return findings, which have evidence, instead of values.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeAlias

from tablewright.errors import UsageError
from tablewright.strategies.strategy import Answer, Strategy, Task, Tell
from tablewright.strategies.tools import Tools
from tablewright.table.model import Finding, Row

OWN_WORD = 0.9
"""How sure a value is that a program gives without a source."""

Known: TypeAlias = "Mapping[str, Any] | Sequence[Finding]"
RowFunction: TypeAlias = "Callable[[dict[str, Any]], Known | Awaitable[Known]]"


class FunctionStrategy(Strategy):
    needs_identity = False

    def __init__(self, function: RowFunction) -> None:
        self._function = function
        self.name = self.display_name = getattr(function, "__name__", type(function).__name__)

    def prepare(self, task: Task, tools: Tools) -> Answer:
        async def answer(row: Row, tell: Tell) -> Sequence[Finding]:
            known = await call(self._function, {each.name: row.cell(each.name).value for each in task.table.fields})
            found = {each.field: each for each in self._findings(known)}
            return [found.get(each.name, Finding(field=each.name, reason="not_found")) for each in task.fields]

        return answer

    def _findings(self, known: Any) -> list[Finding]:
        if isinstance(known, Mapping):
            return [
                value if isinstance(value, Finding) else Finding(field=name, value=value, confidence=OWN_WORD)
                for name, value in known.items()
                if value is not None
            ]
        if isinstance(known, Sequence) and all(isinstance(each, Finding) for each in known):
            return list(known)
        raise UsageError(
            f"{self.name} returned {type(known).__name__} for a row.",
            advice="It must return a dictionary of values by column, or a list of findings.",
        )


async def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Of a function that waits, or of one that blocks: that one has a thread."""
    if inspect.iscoroutinefunction(function):
        return await function(*arguments)
    result = await asyncio.to_thread(function, *arguments)
    return await result if inspect.isawaitable(result) else result
