"""What a run is likely to take, before anything is spent: calls, tokens, searches, pages, dollars and minutes.

Earlier runs of the same shape (strategy, parameters, model, number of columns) tell it best. They are counted by the
rows for which something was really searched, fetched or asked: a row that was answered from the store tells nothing of
the price. Without them the strategy itself says what it expects.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from tablewright.domain.model import Noun
from tablewright.domain.run import Estimate, EstimateRange
from tablewright.models.tokens import estimate as price
from tablewright.strategies import estimates as assumed
from tablewright.strategies.strategy import Effort, Expected, Tools

if TYPE_CHECKING:
    from tablewright.domain.run import Run
    from tablewright.engine.policy import Terms
    from tablewright.models.model import LanguageModel

ENOUGH_ROWS = 5
"""Of earlier runs together, before they are believed."""
OLDER = 0.5
"""What a row of a run weighs beside one of the next newer run."""
GUESSED = 0.6, 1.7
LEARNED = 0.75, 1.35
"""The least and the most, beside the likely figure: by the strategy's own word, and by earlier runs."""


class Job(Noun, frozen=True, gc=True):
    """What is to be done. `concurrency` are the rows at once."""

    rows: int
    cells: int
    expected: Expected
    terms: Terms
    attempts: int
    concurrency: int
    past: Sequence[Run] = ()


def estimate(job: Job, tools: Tools) -> Estimate:
    if job.terms.offline:
        job = msgspec.structs.replace(job, expected=Expected(), past=())
    past = [run for run in job.past if tells_something(run, tools)]
    from_rows = sum(rows_of(run) for run in past)
    if from_rows >= ENOUGH_ROWS:
        work, strong, spread = learned(past, job.expected.once) * job.rows + job.expected.once, Effort(), LEARNED
    else:
        work, strong = guessed(job, tools)
        from_rows, spread = 0, GUESSED
    if not job.rows:
        work = strong = Effort()
    whole = work + strong
    bought = dollars(tools.model, work), dollars(tools.strong, strong)
    searching = whole.searches * job.terms.search_price
    cost = None if None in bought else spanned(sum(filter(None, bought)) + searching, spread)
    if from_rows and cost is not None:
        cost = spanned(job.rows * sum(run.usage.cost_usd for run in past) / from_rows, spread)
    return Estimate(
        rows=job.rows,
        cells=job.cells,
        model=tools.model.name if tools.model else "",
        calls=spanned(whole.calls, spread, whole=True),
        input_tokens=spanned(whole.input_tokens, spread, whole=True),
        output_tokens=spanned(whole.output_tokens, spread, whole=True),
        searches=round(whole.searches),
        pages=round(whole.pages),
        cost_usd=cost,
        seconds=round(seconds(job, past if from_rows else [], whole, tools), 1),
        from_rows=from_rows,
    )


def guessed(job: Job, tools: Tools) -> tuple[Effort, Effort]:
    """By the strategy's own word: what the model does, and what a stronger one does on the last attempt."""
    expected = job.expected
    work, strong = expected.row * job.rows + expected.once, Effort()
    weak = job.rows * assumed.WEAK_ROWS
    for attempt in range(2, job.attempts + 1):
        work += expected.again_once * (min(1.0, weak) * assumed.WEAK_FIELDS)
        if attempt == job.attempts and tools.strong is not None:
            strong += expected.again * weak
        else:
            work += expected.again * weak
        weak *= assumed.STILL_WEAK
    return work, strong


def tells_something(run: Run, tools: Tools) -> bool:
    """A run in which a model was configured and never asked was played again from what is kept."""
    return rows_of(run) > 0 and (tools.model is None or run.usage.llm_calls > 0)


def rows_of(run: Run) -> int:
    return int(run.spec.get("rows", 0))


def learned(past: Sequence[Run], once: Effort) -> Effort:
    """For a row, without what is needed `once`; the newest runs weigh more."""
    whole, weights = Effort(), 0.0
    for age, run in enumerate(past):
        used, weight = run.usage, OLDER**age
        took = Effort(
            calls=max(0.0, used.llm_calls - once.calls),
            input_tokens=max(0.0, used.input_tokens - once.input_tokens),
            output_tokens=max(0.0, used.output_tokens - once.output_tokens),
            searches=used.searches,
            pages=used.fetches,
        )
        whole += took * weight
        weights += rows_of(run) * weight
    return whole * (1 / weights)


def is_paid(model: LanguageModel) -> bool:
    """Whether its price is known, and not nothing."""
    return bool(price(model.agent_model, 1_000, 1_000))


def dollars(model: LanguageModel | None, work: Effort) -> float | None:
    """None: nobody knows what the model costs."""
    if model is None or not work.calls:
        return 0.0
    likely = price(model.agent_model, round(work.input_tokens), round(work.output_tokens))
    return None if likely is None else float(likely)


def seconds(job: Job, past: Sequence[Run], whole: Effort, tools: Tools) -> float:
    """As earlier runs with as many rows at once took; else from what a call, a search and a page usually take."""
    same = [run for run in past if run.spec.get("concurrency") == job.concurrency]
    if same:
        return job.rows * sum(run.usage.seconds for run in same) / sum(map(rows_of, same))
    asking = whole.calls * assumed.CALL_SECONDS / job.concurrency
    if tools.model is not None and assumed.runs_here(tools.model):
        asking = whole.calls * assumed.LOCAL_CALL_SECONDS
    looking = whole.searches * assumed.SEARCH_SECONDS + whole.pages * job.terms.fetch_delay
    return asking + looking / job.concurrency


def spanned(likely: float, spread: tuple[float, float], *, whole: bool = False) -> EstimateRange:
    low, high = (likely * times for times in spread)
    digits = 0 if whole else 6
    return EstimateRange(low=round(low, digits), likely=round(likely, digits), high=round(high, digits))
