"""The form every strategy has: how one row is answered.

A strategy returns findings and never writes. Built-ins, other packages and plugin files enter by the same door, the
group `tablewright.strategies`: a subclass of `Strategy` that takes no arguments, or a function of a row:

    def register(row):
        return requests.get(ADDRESS, params={"q": row["Company"]}).json()    # {"Seat": "Aldermoor", "Staff": 31}

It may be `async`, and may return findings, which have evidence, instead of values.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

from tablewright.domain.fieldspec import named_placeholders, replace_columns
from tablewright.domain.model import Attempt, Field, Finding, Noun, Row, Step, Table, WeakColumn, column_key
from tablewright.domain.text import cell_text
from tablewright.errors import UsageError
from tablewright.plugins import Plugin, is_plain_function, names, plugins, suggestion
from tablewright.sources.breaker import WatchedSource, watched_model
from tablewright.threads import run_foreign

if TYPE_CHECKING:
    from tablewright.corpus.corpus import Corpus
    from tablewright.models.budget import Budget
    from tablewright.models.model import LanguageModel
    from tablewright.sources.breaker import CircuitBreaker
    from tablewright.sources.source import Source
    from tablewright.strategies.row_answers import KeptPatterns

GROUP = "tablewright.strategies"

Kind: TypeAlias = Literal["enrichment", "action"]

OWN_WORD = 0.9
"""How sure a value is that a program gives without a source."""

Known: TypeAlias = "Mapping[str, Any] | Sequence[Finding]"
RowFunction: TypeAlias = "Callable[[dict[str, Any]], Known | Awaitable[Known]]"


class Tell(Protocol):
    """Called with each step as it happens, for those who watch and for the trace: of some fields, or, where none is
    named, of the whole row."""

    def __call__(self, step: Step, *fields: str) -> None: ...


class Trace:
    """The steps of one row, as a strategy tells them; the engine reads them while it answers and afterwards."""

    def __init__(self) -> None:
        self.told: list[tuple[Step, tuple[str, ...]]] = []
        """Each step with the fields that it is about; none: the whole row."""
        self.focus: tuple[str, ...] = ()
        """The fields of a step that names none."""
        self._passed_on = 0
        self._is_new = asyncio.Event()

    def __call__(self, step: Step, *fields: str) -> None:
        if not isinstance(step, Step):
            raise TypeError(f"a {type(step).__name__} is not a Step")
        self.told.append((step, fields or self.focus))
        self._is_new.set()

    def take_new(self) -> list[Step]:
        """Return the steps since the last call."""
        new = [step for step, _ in self.told[self._passed_on :]]
        self._passed_on += len(new)
        self._is_new.clear()
        return new

    async def next_steps(self) -> list[Step]:
        await self._is_new.wait()
        return self.take_new()


Answer: TypeAlias = Callable[[Row, Tell], Awaitable[Sequence[Finding]]]
"""Answers one row: tells its steps on the way, and returns a finding for each of the fields. One that holds something
open for its rows, such as worker processes, has a coroutine `close`."""
TracedAnswer: TypeAlias = Callable[[Row, Trace], Awaitable[Sequence[Finding]]]


class Parameter(Noun, frozen=True):
    """What a user may set: one of `choices`, or a whole number between `least` and `most`, or any text."""

    name: str
    help: str
    default: str = ""
    choices: tuple[str, ...] = ()
    least: int | None = None
    most: int | None = None

    def checked(self, text: str) -> str:
        if self.choices and text not in self.choices:
            raise UsageError(f"{self.name} cannot be {text!r}.", advice=f"It is one of: {', '.join(self.choices)}.")
        if self.least is not None or self.most is not None:
            low, high = self.least or 0, 1_000_000 if self.most is None else self.most
            if not (text.isdecimal() and low <= int(text) <= high):
                raise UsageError(f"{self.name} must be a whole number from {low} to {high}, not {text!r}.")
        return text


class Task(Noun, frozen=True, gc=True):
    """What is asked of a strategy: these fields of this table. `params` has every parameter that is set."""

    table: Table
    fields: tuple[Field, ...]
    params: Mapping[str, str] = {}
    examples: Mapping[str, tuple[str, ...]] = {}
    """By field, values of it that people accepted or wrote: they show its form."""

    def question(self, field: Field, row: Row) -> str:
        """The field's question with the row's values in place of {Column}, whatever the case it is written in."""
        names = {column_key(each.name): each.name for each in self.table.fields}
        cells = {name: row.cell(names.get(column_key(name), name)) for name in named_placeholders(field.question)}
        return replace_columns(field.question, {name: cell_text(cell) for name, cell in cells.items()}).strip()


class Effort(Noun, frozen=True):
    """What something is likely to take; parts of one where it is not always needed."""

    calls: float = 0.0
    """Of a model."""
    input_tokens: float = 0.0
    output_tokens: float = 0.0
    searches: float = 0.0
    pages: float = 0.0

    def __add__(self, other: Effort) -> Effort:
        return Effort(**{name: getattr(self, name) + getattr(other, name) for name in self.__struct_fields__})

    def __mul__(self, times: float) -> Effort:
        return Effort(**{name: getattr(self, name) * times for name in self.__struct_fields__})


class Expected(Noun, frozen=True):
    """What a strategy is likely to take: for one row, and once for the table, however many rows it has.

    `again` and `again_once` are the same for a further attempt, by a strategy that looks again at what was weak.
    """

    row: Effort = Effort()
    once: Effort = Effort()
    again: Effort = Effort()
    again_once: Effort = Effort()


class Strategy:
    name: str
    """What people write after --strategy."""
    display_name: str
    summary: str = ""
    """In a line, how it answers, for those who choose."""
    kind: Kind = "enrichment"
    """Produces values, or has an effect elsewhere: then people are asked before it starts."""
    max_steps: int = 1
    """Searches, pages and computations a cell, at most."""
    concurrency: int = 3
    """Rows worked on at once, unless the user says otherwise."""
    needs_identity: bool = True
    """Whether a row without a name is skipped."""
    repeats: bool = True
    """Whether another attempt at a row can find more. What is made of the row alone comes out the same again."""
    parameters: Sequence[Parameter] = ()

    def needs(self, task: Task) -> Collection[Need]:
        """Return the tools to open for it: the web, the model. One that computes or asks an API of its own needs
        neither."""
        return ()

    def columns(self, task: Task) -> Collection[str] | None:
        """The columns of a row that it looks at; None for all of them."""
        return None

    def rows_at_once(self, task: Task) -> int:
        return self.concurrency

    def expected(self, task: Task, tools: Tools) -> Expected | None:
        """Return what a run is likely to take, for `--estimate`; None: it does not say, and what it needs must tell."""
        return None

    def prepare(self, task: Task, tools: Tools) -> Answer:
        """Once for all rows; raises UsageError for what can never work."""
        raise NotImplementedError


class FunctionStrategy(Strategy):
    needs_identity = False

    def __init__(self, function: RowFunction, name: str = "") -> None:
        self._function = function
        self.name = self.display_name = name or getattr(function, "__name__", type(function).__name__)

    def prepare(self, task: Task, tools: Tools) -> Answer:
        async def answer(row: Row, tell: Tell) -> Sequence[Finding]:
            known = await call(self._function, {each.name: row.cell(each.name).value for each in task.table.fields})
            found = {each.field: each for each in self._findings(known)}
            note = f"{self.name} returned {', '.join(found) or 'nothing'} for this row."
            return [
                found.get(each.name, Finding(field=each.name, reason="not_found", error=note)) for each in task.fields
            ]

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


async def close_answer(answer: Answer) -> None:
    close = getattr(answer, "close", None)
    if close is not None:
        await close()


async def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Of a function that waits, or of one that blocks: that one has a thread."""
    if inspect.iscoroutinefunction(function):
        return await function(*arguments)
    result = await run_foreign(function, *arguments)
    return await result if inspect.isawaitable(result) else result


def announced(kind: Kind | None = None) -> dict[str, Strategy | UsageError]:
    """All that are installed, by name: the strategy, or why it cannot be loaded. With `kind` only those of that kind;
    of what cannot be loaded nobody knows it."""
    found: dict[str, Strategy | UsageError] = {}
    for entry in sorted(plugins(GROUP), key=lambda entry: entry.name):
        if entry.name in found:
            continue  # two packages of one name: the first counts, here as in find_strategy
        try:
            found[entry.name] = load(entry)
        except UsageError as problem:
            found[entry.name] = problem
    if kind is None:
        return found
    return {name: each for name, each in found.items() if isinstance(each, Strategy) and each.kind == kind}


def find_strategy(name: str) -> Strategy:
    for entry in plugins(GROUP, name):
        return load(entry)
    raise UsageError(f"There is no strategy {name!r}.", advice=suggestion(name, names(GROUP)))


def load(entry: Plugin) -> Strategy:
    try:
        added = entry.load()
        strategy = FunctionStrategy(added, entry.name) if is_plain_function(added) else added()
    except Exception as error:  # somebody else's package; whatever it raises, ours goes on
        problem = f"{type(error).__name__}: {error}"
        raise UsageError(
            f"The strategy {entry.name!r} cannot be loaded ({problem}).", advice=f"It comes from {entry.value}."
        ) from error
    if not isinstance(strategy, Strategy):
        raise UsageError(f"{entry.value} is not a strategy.", advice="It must be a subclass of Strategy.")
    if getattr(strategy, "name", "") != entry.name or not getattr(strategy, "display_name", ""):
        raise UsageError(
            f"{entry.value} is not a whole strategy.",
            advice=f"It must have a display_name, and the name it is announced under, {entry.name!r}.",
        )
    return strategy


def checked_params(strategy: Strategy, params: Mapping[str, str]) -> dict[str, str]:
    """The parameters as the strategy declares them, with its defaults; raises UsageError for what it does not know."""
    known = {parameter.name: parameter for parameter in strategy.parameters}
    for name in params:
        if name not in known:
            names = ", ".join(known) or "none"
            raise UsageError(
                f"The strategy {strategy.name} has no parameter {name!r}.", advice=f"Its parameters: {names}."
            )
    given = {name: parameter.default for name, parameter in known.items() if parameter.default} | dict(params)
    return {name: known[name].checked(text) for name, text in given.items()}


# ── further attempts ─────────────────────────────────────────────────────────────────────────────────────────────────


class Feedback(Noun, frozen=True):
    """What the next attempt is told: the attempts before it, and what people said of the cells. The first attempt at a
    row that is new is told nothing: `FIRST`."""

    previous: tuple[Attempt, ...] = ()
    """The attempts of this run, oldest first."""
    earlier: tuple[Attempt, ...] = ()
    """The attempts of earlier runs at the columns now asked, oldest first."""
    avoided: tuple[Attempt, ...] = ()
    """Those of `earlier` whose queries and pages are not to be tried again: the user asked again, or flagged a cell."""
    notes: Mapping[str, str] = {}
    """By field, what a person said of its cell: "A person flagged 'Paris': wrong city"."""
    is_last: bool = False
    """Whether this is the last attempt allowed: a stronger model, where there is one, is asked now."""

    @property
    def attempt(self) -> int:
        return len(self.previous) + 1

    @property
    def weak(self) -> tuple[WeakColumn, ...]:
        return self.previous[-1].assessment.weak if self.previous else ()

    @property
    def avoid_patterns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(pattern for attempt in self._tried for pattern in attempt.patterns))

    @property
    def avoid_queries(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(query for attempt in self._tried for query in attempt.queries))

    @property
    def avoid_urls(self) -> tuple[str, ...]:
        """Of an earlier run only what was read: a page that could not be reached then may be reached now."""
        old = (url for attempt in self.avoided for url in attempt.urls if url not in attempt.refused)
        return tuple(dict.fromkeys((*old, *(url for attempt in self.previous for url in attempt.urls))))

    @property
    def _tried(self) -> tuple[Attempt, ...]:
        return (*self.avoided, *self.previous)

    @property
    def hints(self) -> tuple[str, ...]:
        """Return what to look for instead, by the last attempt of this run or, for its first, by the last one
        avoided."""
        return self._tried[-1].assessment.suggestions if self._tried else ()

    @property
    def focus(self) -> tuple[str, ...]:
        """The columns to work on; none: all that are open."""
        return tuple(column.name for column in self.weak)

    def wants(self, field: str) -> bool:
        return not self.weak or field in self.focus


FIRST = Feedback()


class Work(Protocol):
    """One row under work, between its attempts.

    `remembers`: its findings weigh all that was read in earlier attempts too, so the newer replaces the older; else the
    engine merges the two."""

    remembers: bool

    async def attempt(self, feedback: Feedback) -> Sequence[Finding]: ...


@runtime_checkable
class Repeatable(Protocol):
    """An `Answer` that can look again at what was weak. Called like any other, it looks once."""

    has_stronger: bool
    """Whether a stronger model waits for the last attempt."""

    async def __call__(self, row: Row, tell: Tell) -> Sequence[Finding]: ...

    def begin(self, row: Row, tell: Tell) -> Work: ...


Need: TypeAlias = Literal["web", "model", "documents"]


@dataclass(frozen=True, kw_only=True)
class Tools:
    web: Source | None = None
    """Where pages are searched: the web, the user's documents, or both."""
    documents: Corpus | None = None
    prefers: Literal["", "page", "document"] = ""
    """Where both are searched and disagree: which is believed."""
    model: LanguageModel | None = None
    """None: the built-in rules decide."""
    strong: LanguageModel | None = None
    """A stronger model, for what is still weak on the last attempt."""
    strict: bool = False
    """Whether values that a model concluded from quotes, rather than read in them, are refused."""
    cascade: bool = False
    """Whether the model is asked only for what the built-in reader is not sure of."""
    patterns: KeptPatterns | None = None
    """Where search patterns are kept; None: for this run only."""
    budget: Budget | None = None

    def watched_by(self, breaker: CircuitBreaker) -> Tools:
        """Return the same tools, of which the breaker sees what fails."""
        return replace(
            self,
            web=WatchedSource(self.web, breaker) if self.web is not None else None,
            model=watched_model(self.model, breaker),
            strong=watched_model(self.strong, breaker),
        )


NO_TOOLS = Tools()
