"""The interface of a strategy, which answers one row, and the registry of all that are installed.

A strategy returns findings and never writes. Built-ins, other packages and plugin files are found in the same way, as
entry points of the group `tablewright.strategies`: a subclass of `Strategy` without arguments, or a function of a row:

    def register(row):
        return requests.get(ADDRESS, params={"q": row["Company"]}).json()    # {"Seat": "Aldermoor", "Staff": 31}

It may be `async`, may return findings, which have evidence, instead of values, and may take an `AskedRow` as a second
argument. `declare_strategy` declares for it what a class has as attributes and methods.
"""

from __future__ import annotations

import asyncio
import inspect
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, TypedDict, TypeVar, Unpack, runtime_checkable

from tablewright.domain.fieldspec import fill_template, list_placeholders
from tablewright.domain.model import Attempt, Field, Finding, Row, Step, Struct, Table, WeakColumn, column_key
from tablewright.domain.text import cell_text
from tablewright.errors import UsageError
from tablewright.llm.budget import WaitQueue, place_in_run
from tablewright.llm.text_budget import TEXT_LIMITS
from tablewright.plugins import Plugin, find_plugins, is_plain_function, plugin_names, suggest_plugin
from tablewright.strategies.effort import Expected
from tablewright.threads import run_in_foreign_thread
from tablewright.web.breaker import WatchedSource, watch_model

if TYPE_CHECKING:
    from tablewright.documents.corpus import Corpus
    from tablewright.llm.budget import Budget
    from tablewright.llm.model import LanguageModel
    from tablewright.strategies.row_answers import SearchPlans
    from tablewright.web.breaker import CircuitBreaker
    from tablewright.web.source import Source

ENTRY_POINT_GROUP = "tablewright.strategies"

Kind: TypeAlias = Literal["enrichment", "action"]


class Tell(Protocol):
    """A callback for each step as it happens, for watchers and the trace. A step without fields is about the whole
    row."""

    def __call__(self, step: Step, *fields: str) -> None: ...


# True inside a call that has its turn, so that a call within it needs no second one.
_has_turn: ContextVar[bool] = ContextVar("has_turn", default=False)


class ModelCalls:
    """The limit on what a run has in flight, over all its rows and slices in this process: at most `size` model calls,
    and as many searches, since more would only hit the limits of a search engine."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.searches = asyncio.Semaphore(size)
        self.begun = 0
        """Calls in flight, and those that wait for their turn."""
        self.rows_to_come: set[object] = set()
        """Rows that are about to ask, or wait for others to share a call with."""
        self._in_flight = 0
        self._waiting = WaitQueue()
        self._places = itertools.count(1)

    def begin_row(self) -> None:
        """Note that what follows in this task is for a row that comes after those that have begun."""
        place_in_run.set(next(self._places))

    @property
    def free(self) -> int:
        return max(0, self.size - self.begun)

    @asynccontextmanager
    async def call(self) -> AsyncIterator[None]:
        """Wait until a call may be made; it is in flight inside."""
        if _has_turn.get():
            yield
            return
        self.begun += 1
        try:
            async with self.turn():
                yield
        finally:
            self.begun -= 1

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for the turn of a call that the caller has counted as `begun`."""
        while self._in_flight >= self.size:
            await self._waiting.next()
        self._in_flight += 1
        token = _has_turn.set(True)
        try:
            yield
        finally:
            _has_turn.reset(token)
            self._in_flight -= 1
            self._waiting.wake_first()


class StepFeed:
    """The steps of the rows in progress, in the order in which they happened. The engine reads them for all rows: a
    strategy calls nothing above it."""

    def __init__(self) -> None:
        self._new: list[tuple[Row, Step]] = []
        self._is_new = asyncio.Event()

    def add(self, row: Row, step: Step) -> None:
        self._new.append((row, step))
        self._is_new.set()

    def take_new(self) -> list[tuple[Row, Step]]:
        """Return the steps since the last call."""
        new, self._new = self._new, []
        self._is_new.clear()
        return new

    async def wait_for_new(self) -> None:
        await self._is_new.wait()


class Trace:
    """The steps of one row, as its strategy reports them; each goes into `feed` when it happens."""

    def __init__(self, row: Row, feed: StepFeed) -> None:
        self.steps: list[tuple[Step, tuple[str, ...]]] = []
        """Each step with its fields; no field means the whole row."""
        self.focus: tuple[str, ...] = ()
        """The fields of steps that name none."""
        self._row, self._feed = row, feed

    def __call__(self, step: Step, *fields: str) -> None:
        # Refused here, where the trace of the error still names the strategy.
        self.steps.append((require_step(step), fields or self.focus))
        self._feed.add(self._row, step)


def require_step(step: object) -> Step:
    """Return the step; raise TypeError for anything else, which a plugin may pass."""
    if not isinstance(step, Step):
        raise TypeError(f"a {type(step).__name__} is not a Step")
    return step


# Answers one row: reports its steps, and returns a finding for each of the fields. An answer that holds resources for
# all rows, such as worker processes, has a coroutine `close`.
Answer: TypeAlias = Callable[[Row, Tell], Awaitable[Sequence[Finding]]]
TracedAnswer: TypeAlias = Callable[[Row, Trace], Awaitable[Sequence[Finding]]]


class Parameter(Struct, frozen=True):
    """A parameter that users may set: one of `choices`, a whole number between `least` and `most`, or any text."""

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
            # A million is more than any parameter that has no limit of its own makes sense for.
            low, high = self.least or 0, 1_000_000 if self.most is None else self.most
            if not (text.isdecimal() and low <= int(text) <= high):
                raise UsageError(f"{self.name} must be a whole number from {low} to {high}, not {text!r}.")
        return text


ROWS_PER_CALL = Parameter(
    name="rows_a_call",
    help="How many rows with short texts share one model call, at most; 1: each has its own.",
    default=str(TEXT_LIMITS.rows_per_call),
    least=1,
    # Each row has its own texts: more rows leave less room for each.
    most=20,
)


class Task(Struct, frozen=True, gc=True):
    """The fields of a table that a strategy should answer. `params` has every parameter that is set."""

    table: Table
    fields: tuple[Field, ...]
    params: Mapping[str, str] = {}
    examples: Mapping[str, tuple[str, ...]] = {}
    """By field, values that people accepted or wrote, as examples of its form."""
    text_sizes: tuple[int, ...] = ()
    """The characters of the texts that the rows are read from, where they are known before: for estimates."""

    def question(self, field: Field, row: Row) -> str:
        """Return the field's question with the row's values in place of {Column}, in upper or lower case."""
        names = {column_key(each.name): each.name for each in self.table.fields}
        cells = {name: row.cell(names.get(column_key(name), name)) for name in list_placeholders(field.question)}
        return fill_template(field.question, {name: cell_text(cell) for name, cell in cells.items()}).strip()


class Strategy:
    name: str
    """The value of --strategy."""
    display_name: str
    summary: str = ""
    """One line that helps people to choose."""
    kind: Kind = "enrichment"
    """An enrichment produces values; an action has an effect elsewhere and starts only after a confirmation."""
    max_steps: int = 1
    """The most searches, pages and computations per cell."""
    concurrency: int = 3
    """Model calls in flight at once, unless the user says otherwise, or rows if each makes its own calls."""
    shares_calls: bool = False
    """True if rows may share a model call, so that more rows are in progress than calls in flight."""
    needs_identity: bool = True
    """Skip rows without a name."""
    repeats: bool = True
    """True if another attempt at a row can find more; a value made from the row alone would be the same again."""
    parameters: Sequence[Parameter] = ()

    def needs(self, task: Task) -> Collection[Need]:
        """Return the tools to open: the web, the model, the documents. A strategy that computes or uses its own API
        needs none."""
        return ()

    def columns(self, task: Task) -> Collection[str] | None:
        """Return the columns of a row that it reads; None for all."""
        return None

    def calls_at_once(self, task: Task) -> int:
        """Return the `concurrency` of a task for which the user names none."""
        return self.concurrency

    def rows_at_once(self, task: Task, calls: int) -> int:
        """Return how many rows are in progress if so many calls may be in flight: enough that each call is full. With
        one call at once, one row follows the other, and none waits for another."""
        if calls == 1 or not self.shares_calls:
            return calls
        return calls * int(task.params.get(ROWS_PER_CALL.name, ROWS_PER_CALL.default))

    def expected(self, task: Task, tools: Tools) -> Expected | None:
        """Return the expected effort, for `--estimate`; None lets the engine guess from `needs`."""
        return None

    def prepare(self, task: Task, tools: Tools) -> Answer:
        """Return the answer for all rows of a run; raise UsageError for a task that can never work."""
        raise NotImplementedError


async def close_answer(answer: Answer) -> None:
    close = getattr(answer, "close", None)
    if close is not None:
        await close()


def list_installed_strategies(kind: Kind | None = None) -> dict[str, Strategy | UsageError]:
    """Return all installed strategies by name, or why one cannot be loaded; with `kind` only those of that kind,
    without the broken ones, whose kind is unknown."""
    found: dict[str, Strategy | UsageError] = {}
    for entry in sorted(find_plugins(ENTRY_POINT_GROUP), key=lambda entry: entry.name):
        if entry.name in found:
            # Of two packages with one name the first counts, as in find_strategy.
            continue
        try:
            found[entry.name] = load_strategy(entry)
        except UsageError as problem:
            found[entry.name] = problem
    if kind is None:
        return found
    return {name: each for name, each in found.items() if isinstance(each, Strategy) and each.kind == kind}


def find_strategy(name: str) -> Strategy:
    for entry in find_plugins(ENTRY_POINT_GROUP, name):
        return load_strategy(entry)
    raise UsageError(f"There is no strategy {name!r}.", advice=suggest_plugin(name, plugin_names(ENTRY_POINT_GROUP)))


def load_strategy(entry: Plugin) -> Strategy:
    try:
        added = entry.load()
        strategy = FunctionStrategy(added, entry.name) if is_plain_function(added, 1, 2) else added()
    except Exception as error:
        # Code of another package may raise anything.
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


def check_params(strategy: Strategy, params: Mapping[str, str]) -> dict[str, str]:
    """Return the parameters with the strategy's defaults; raise UsageError for unknown names and values."""
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


class Feedback(Struct, frozen=True):
    """Input for the next attempt: the attempts before it, and what people said of the cells. The first attempt at a new
    row has none: `FIRST_ATTEMPT`."""

    previous: tuple[Attempt, ...] = ()
    """The attempts of this run, oldest first."""
    earlier: tuple[Attempt, ...] = ()
    """The attempts of earlier runs at the open columns, oldest first."""
    avoided: tuple[Attempt, ...] = ()
    """Attempts of `earlier` whose queries and pages must not be repeated: the user asked again, or flagged a cell."""
    notes: Mapping[str, str] = {}
    """By field, a person's remark on its cell: "A person flagged 'Paris': wrong city"."""
    only: tuple[str, ...] = ()
    """The weak columns to try again; empty means all of them."""
    is_last: bool = False
    """True for the last attempt allowed, which asks the stronger model if there is one."""

    @property
    def attempt(self) -> int:
        return len(self.previous) + 1

    @property
    def weak(self) -> tuple[WeakColumn, ...]:
        weak = self.previous[-1].assessment.weak if self.previous else ()
        return tuple(column for column in weak if not self.only or column.name in self.only)

    @property
    def avoid_patterns(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(pattern for attempt in self._tried for pattern in attempt.patterns))

    @property
    def avoid_queries(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(query for attempt in self._tried for query in attempt.queries))

    @property
    def avoid_urls(self) -> tuple[str, ...]:
        """Return pages not to open again. Pages that refused in an earlier run may be reachable now."""
        old = (url for attempt in self.avoided for url in attempt.urls if url not in attempt.refused)
        return tuple(dict.fromkeys((*old, *(url for attempt in self.previous for url in attempt.urls))))

    @property
    def _tried(self) -> tuple[Attempt, ...]:
        return (*self.avoided, *self.previous)

    @property
    def hints(self) -> tuple[str, ...]:
        """Return suggestions from the last attempt of this run or, for its first, from the last one avoided."""
        return self._tried[-1].assessment.suggestions if self._tried else ()

    @property
    def focus(self) -> tuple[str, ...]:
        """The columns to work on; empty means all open ones."""
        return tuple(column.name for column in self.weak)

    def wants(self, field: str) -> bool:
        return not self.weak or field in self.focus


FIRST_ATTEMPT = Feedback()


class RowWork(Protocol):
    """One row in progress, kept between its attempts.

    `remembers`: its findings include everything read in earlier attempts, so the newer replaces the older; otherwise
    the engine merges the two."""

    remembers: bool

    @property
    def is_exhausted(self) -> bool:
        """True if a further attempt could look nowhere else."""

    async def attempt(self, feedback: Feedback) -> Sequence[Finding]: ...


@runtime_checkable
class Repeatable(Protocol):
    """An `Answer` that supports further attempts. Called like any other, it makes one."""

    has_stronger: bool
    """True if a stronger model is kept for the last attempt."""

    async def __call__(self, row: Row, tell: Tell) -> Sequence[Finding]: ...

    def begin(self, row: Row, tell: Tell) -> RowWork: ...


Need: TypeAlias = Literal["web", "model", "documents"]


@dataclass(frozen=True, kw_only=True)
class Tools:
    web: Source | None = None
    """The source to search: the web, the user's documents, or both."""
    documents: Corpus | None = None
    prefers: Literal["", "page", "document"] = ""
    """The kind of source that wins if both are searched and disagree."""
    model: LanguageModel | None = None
    """None lets the built-in rules decide."""
    strong: LanguageModel | None = None
    """A stronger model, for columns that are still weak on the last attempt."""
    strict: bool = False
    """Refuse values that a model concluded from quotes instead of reading them there."""
    cascade: bool = False
    """Ask the model only for fields that the built-in reader is not sure of."""
    plans: SearchPlans | None = None
    """The search patterns of the run; None plans for each part of it."""
    budget: Budget | None = None
    calls: ModelCalls = field(default_factory=lambda: ModelCalls(Strategy.concurrency))

    def watched_by(self, breaker: CircuitBreaker, calls: ModelCalls | None = None) -> Tools:
        """Return the same tools, reporting their failures to the breaker; with the limit of a run, keeping it."""
        turn = (calls.call,) if calls is not None else ()
        return replace(
            self,
            web=WatchedSource(self.web, breaker) if self.web is not None else None,
            model=watch_model(self.model, breaker, *turn),
            strong=watch_model(self.strong, breaker, *turn),
            calls=calls or self.calls,
        )


NO_TOOLS = Tools()

# Opens the tools for what a strategy needs.
OpenTools: TypeAlias = Callable[[Collection[Need]], Awaitable[Tools]]


async def open_no_tools(needs: Collection[Need]) -> Tools:
    return NO_TOOLS


# ── functions as strategies ──────────────────────────────────────────────────────────────────────────────────────────

RowFunctionResult: TypeAlias = "Mapping[str, Any] | Sequence[Finding]"
RowFunction: TypeAlias = "Callable[..., RowFunctionResult | Awaitable[RowFunctionResult]]"
"""Takes the values of a row by column and, if it has two parameters without a default, a `AskedRow`."""


class FunctionOptions(TypedDict, total=False):
    """The attributes of `Strategy` that a function may declare. For a method, a value stands for a function that
    returns it."""

    display_name: str
    summary: str
    kind: Kind
    max_steps: int
    concurrency: int
    shares_calls: bool
    needs_identity: bool
    repeats: bool
    parameters: Sequence[Parameter]
    needs: Collection[Need] | Callable[[Task], Collection[Need]]
    columns: Collection[str] | Callable[[Task], Collection[str] | None]
    calls_at_once: Callable[[Task], int]
    rows_at_once: Callable[[Task, int], int]
    expected: Expected | Callable[[Task, Tools], Expected | None]


AnyFunction = TypeVar("AnyFunction", bound="Callable[..., Any]")


def declare_strategy(**options: Unpack[FunctionOptions]) -> Callable[[AnyFunction], AnyFunction]:
    """Declare for a row function what a `Strategy` has as attributes and methods."""
    if unknown := ", ".join(options.keys() - FunctionOptions.__annotations__.keys()):
        raise TypeError(f"declare_strategy() takes no {unknown}")

    def declare(function: AnyFunction) -> AnyFunction:
        vars(function)["strategy_options"] = options
        return function

    return declare


@dataclass(frozen=True, kw_only=True)
class AskedRow:
    """A row as a function is asked about it: its second argument."""

    row: Row
    fields: tuple[Field, ...]
    """The columns to answer."""
    task: Task
    tools: Tools
    feedback: Feedback
    tell: Tell

    @property
    def params(self) -> Mapping[str, str]:
        return self.task.params

    def question(self, field: Field) -> str:
        """Return the question of a column with the row's values in place of {Column}."""
        return self.task.question(field, self.row)


class FunctionStrategy(Strategy):
    needs_identity = False

    def __init__(self, function: RowFunction, name: str = "") -> None:
        self._function = function
        self.name = name or getattr(function, "__name__", type(function).__name__)
        self.display_name = self.name
        for option, value in getattr(function, "strategy_options", {}).items():
            is_method = callable(getattr(Strategy, option, None))
            setattr(self, option, partial(_call_or_return, value) if is_method else value)

    def prepare(self, task: Task, tools: Tools) -> Answer:
        return FunctionAnswer(self.name, self._function, task, tools, self.columns(task))


def _call_or_return(value: Any, *arguments: Any) -> Any:
    return value(*arguments) if callable(value) else value


class FunctionAnswer:
    """Answers rows with a function, which gets the feedback of a further attempt."""

    has_stronger = False

    def __init__(
        self, name: str, function: RowFunction, task: Task, tools: Tools, columns: Collection[str] | None
    ) -> None:
        self._name = name
        self._function = function
        self._task = task
        self._tools = tools
        self._columns = [each.name for each in task.table.fields if columns is None or each.name in columns]
        kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        parameters = inspect.signature(function).parameters.values()
        self._takes_request = sum(each.kind in kinds and each.default is each.empty for each in parameters) > 1

    async def __call__(self, row: Row, tell: Tell) -> Sequence[Finding]:
        return await self.begin(row, tell).attempt(FIRST_ATTEMPT)

    def begin(self, row: Row, tell: Tell) -> RowWork:
        return FunctionRow(self, row, tell)

    async def ask(self, row: Row, tell: Tell, feedback: Feedback) -> Sequence[Finding]:
        wanted = tuple(
            each for each in self._task.fields if row.cell(each.name).needs_work and feedback.wants(each.name)
        )
        arguments: list[Any] = [{name: row.cell(name).value for name in self._columns}]
        if self._takes_request:
            tell = tell if inspect.iscoroutinefunction(self._function) else _tell_from_thread(tell)
            asked = AskedRow(row=row, fields=wanted, task=self._task, tools=self._tools, feedback=feedback, tell=tell)
            arguments.append(asked)
        found = {each.field: each for each in self._findings(await _call_row_function(self._function, *arguments))}
        note = f"{self._name} returned {', '.join(found) or 'nothing'} for this row."
        return [found.get(each.name, Finding(field=each.name, reason="not_found", error=note)) for each in wanted]

    def _findings(self, known: Any) -> list[Finding]:
        # A program that gives a value without a source is trusted, but less than a good quote.
        if isinstance(known, Mapping):
            return [
                value if isinstance(value, Finding) else Finding(field=name, value=value, confidence=0.9)
                for name, value in known.items()
                if value is not None
            ]
        if isinstance(known, Sequence) and all(isinstance(each, Finding) for each in known):
            return list(known)
        raise UsageError(
            f"{self._name} returned {type(known).__name__} for a row.",
            advice="It must return a dictionary of values by column, or a list of findings.",
        )


@dataclass(frozen=True)
class FunctionRow:
    answer: FunctionAnswer
    row: Row
    tell: Tell
    remembers = False
    is_exhausted = False

    async def attempt(self, feedback: Feedback) -> Sequence[Finding]:
        return await self.answer.ask(self.row, self.tell, feedback)


async def _call_row_function(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of a function: await a coroutine, run any other in a thread."""
    if inspect.iscoroutinefunction(function):
        return await function(*arguments)
    # Foreign code may block; it must not hold up the event loop.
    result = await run_in_foreign_thread(function, *arguments)
    return await result if inspect.isawaitable(result) else result


def _tell_from_thread(tell: Tell) -> Tell:
    loop = asyncio.get_running_loop()

    def tell_soon(step: Step, *fields: str) -> None:
        loop.call_soon_threadsafe(tell, require_step(step), *fields)

    return tell_soon
