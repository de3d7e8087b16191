"""The form every strategy has: how one row is answered.

A strategy returns findings and never writes. Built-ins and other packages enter by the same door, the entry-point group
`tablewright.strategies`: a class that takes no arguments and has the attributes below.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from importlib.metadata import entry_points
from typing import Literal, Protocol, TypeAlias

from tablewright.errors import UsageError
from tablewright.strategies.tools import Tools
from tablewright.table.model import Field, Finding, Row, Step, Table

GROUP = "tablewright.strategies"

Tell: TypeAlias = Callable[[Step], None]
"""Called with each step as it happens, for those who watch and for the trace of the row."""

Answer: TypeAlias = Callable[[Row, Tell], Awaitable[Sequence[Finding]]]
"""Answers one row: tells its steps on the way, and returns a finding for each of the fields."""


class Strategy(Protocol):
    name: str
    """What people write after --strategy."""
    display_name: str
    kind: Literal["enrichment", "action"]
    """Produces values, or has an effect elsewhere."""
    max_steps: int
    concurrency: int
    """Rows worked on at once, unless the user says otherwise."""
    needs_identity: bool
    """Whether a row without a name is skipped."""
    needs_tools: bool
    """Whether it works with the web or a model; else neither is opened."""

    def columns(self, table: Table, fields: Sequence[Field]) -> Collection[str] | None:
        """The columns of a row that it looks at; None for all of them."""
        ...

    def prepare(self, table: Table, fields: Sequence[Field], tools: Tools) -> Answer:
        """Checks the questions against the table, once for all rows; raises UsageError for what can never work."""
        ...


def all_strategies() -> dict[str, Strategy]:
    return {entry.name: entry.load()() for entry in entry_points(group=GROUP)}


def find_strategy(name: str) -> Strategy:
    for entry in entry_points(group=GROUP):
        if entry.name == name:
            strategy: Strategy = entry.load()()
            return strategy
    known = ", ".join(sorted(entry.name for entry in entry_points(group=GROUP)))
    raise UsageError(f"There is no strategy {name!r}.", advice=f"Installed: {known or 'none'}.")
