"""The kinds of runs that are done as a whole, and what is handed to the function that does one.

A kind names its function instead of importing it: a command loads only the work that it does.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import Any, Protocol, TypeAlias

from tablewright.domain.model import Struct
from tablewright.domain.run import Progress, Run


class RunKind(Struct, frozen=True):
    name: str
    work: str
    """The function, as "module:name". It takes the `Services` in the name of the user who started the run, and its
    `RunContext`. Called again after an interruption, it continues where it was."""
    spends: bool = False
    """It may ask a model: refused to a user who has spent the dollars of the month."""

    @property
    def function(self) -> Callable[..., Awaitable[Any]]:
        found: Callable[..., Awaitable[Any]] = resolve_name(self.work)
        return found


RUN_KINDS = {
    kind.name: kind
    for kind in (
        RunKind(name="ingest", work="tablewright.operations.documents:run_ingest"),
        RunKind(name="find", work="tablewright.operations.find:run_find", spends=True),
        RunKind(name="recheck", work="tablewright.operations.fill:run_recheck"),
        RunKind(name="refresh", work="tablewright.operations.fill:run_refresh", spends=True),
        RunKind(name="research", work="tablewright.operations.research:run_research", spends=True),
        RunKind(name="shortlist", work="tablewright.operations.shortlist:run_turn", spends=True),
    )
}


class RunEvent(Protocol):
    """An event with more detail than the feed of a run keeps."""

    @property
    def progress(self) -> Progress: ...


@dataclass
class RunContext:
    """A run, for the function that does it."""

    run: Run
    watch: Callable[[Any], None] = lambda _: None
    """Called with each event, by the process that waits for the run."""
    on_stop: Callable[[], None] | None = None
    """Stops the work so that its result counts. Without it, the function is cancelled."""
    stopped: bool = False
    forgets: bool = False
    """Keep nothing of the request once the run has ended."""
    news: list[Progress] = field(default_factory=list)

    @property
    def request(self) -> dict[str, Any]:
        return self.run.spec

    def tell(self, event: Progress | RunEvent) -> None:
        self.watch(event)
        self.news.append(event if isinstance(event, Progress) else event.progress)


Work: TypeAlias = Callable[[RunContext], Awaitable[Any]]
