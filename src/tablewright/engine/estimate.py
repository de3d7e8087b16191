"""Estimate a run before anything is spent: calls, tokens, searches, pages, dollars and minutes.

Earlier runs of the same shape (strategy, parameters, model, number of columns) predict it best. Only the rows for which
something was searched, fetched or asked count: a row that was answered from the store says nothing about the price.
Without such runs the strategy says what it expects. Pure arithmetic over what the caller read from the store.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from tablewright.domain.model import Struct
from tablewright.domain.run import Estimate, EstimateRange
from tablewright.llm.tokens import estimate_price as price
from tablewright.strategies.effort import Effort, Expected
from tablewright.strategies.estimates import Assumed, is_local_model
from tablewright.strategies.strategy import Tools

if TYPE_CHECKING:
    from tablewright.domain.run import Run
    from tablewright.engine.policy import RunPolicy
    from tablewright.llm.model import LanguageModel


class EstimateRequest(Struct, frozen=True, gc=True):
    """The work to estimate. `concurrency` is the number of calls in flight at once."""

    rows: int
    cells: int
    expected: Expected
    policy: RunPolicy
    attempts: int
    concurrency: int
    past: Sequence[Run] = ()


def estimate_run(job: EstimateRequest, tools: Tools) -> Estimate:
    # Offline everything comes from the cache, whatever earlier runs took.
    if job.policy.offline:
        job = msgspec.structs.replace(job, expected=Expected(), past=())
    past = [run for run in job.past if is_informative_run(run, tools)]
    from_rows = sum(count_paid_rows(run) for run in past)
    # Fewer paid rows than this, over all earlier runs, say too little.
    if from_rows >= 5:
        work, strong, spread = (
            average_past_effort(past, job.expected.once) * job.rows + job.expected.once,
            Effort(),
            # The low and the high end as multiples of the likely value: narrower than what is only expected.
            (0.75, 1.35),
        )
    else:
        work, strong = estimate_from_strategy(job, tools)
        # The strategy's own expectation is less certain, and rather too low than too high.
        from_rows, spread = 0, (0.6, 1.7)
    if not job.rows:
        work = strong = Effort()
    whole = work + strong
    bought = estimate_dollars(tools.model, work), estimate_dollars(tools.strong, strong)
    searching = whole.searches * job.policy.search_price
    cost = None if None in bought else make_range(sum(filter(None, bought)) + searching, spread)
    # What was really paid, for tokens and searches, is better known than the price of the average effort.
    if from_rows and job.rows and cost is not None:
        once = estimate_dollars(tools.model, job.expected.once) or 0.0
        rows_cost = sum(max(0.0, run.usage.cost_usd - once) for run in past)
        cost = make_range(once + job.rows * rows_cost / from_rows, spread)
    return Estimate(
        rows=job.rows,
        cells=job.cells,
        model=tools.model.name if tools.model else "",
        calls=make_range(whole.calls, spread, whole=True),
        input_tokens=make_range(whole.input_tokens, spread, whole=True),
        output_tokens=make_range(whole.output_tokens, spread, whole=True),
        searches=round(whole.searches),
        pages=round(whole.pages),
        cost_usd=cost,
        seconds=round(estimate_seconds(job, past if from_rows else [], whole, tools), 1),
        from_rows=from_rows,
    )


def estimate_from_strategy(job: EstimateRequest, tools: Tools) -> tuple[Effort, Effort]:
    """Return the effort that the strategy expects: of the model, and of a stronger one on the last attempt."""
    expected = job.expected
    work, strong = expected.row * job.rows + expected.once, Effort()
    weak = job.rows * Assumed.WEAK_ROWS
    for attempt in range(2, job.attempts + 1):
        if attempt == job.attempts and tools.strong is not None:
            # Only the last attempt asks the stronger model.
            strong += expected.again * weak
        else:
            work += expected.again * weak
        # Each attempt leaves fewer weak rows to the next.
        weak *= Assumed.STILL_WEAK
    return work, strong


def is_informative_run(run: Run, tools: Tools) -> bool:
    """Return False for a run that was replayed from the cache: it had a model and never asked it."""
    return count_paid_rows(run) > 0 and (tools.model is None or run.usage.llm_calls > 0)


def count_paid_rows(run: Run) -> int:
    return int(run.spec.get("rows", 0))


def average_past_effort(past: Sequence[Run], once: Effort) -> Effort:
    """Return the average effort of a row, without what is needed `once`; newer runs weigh more."""
    whole, weights = Effort(), 0.0
    for age, run in enumerate(past):
        # A row of an older run counts half as much as one of the next newer run.
        used, weight = run.usage, 0.5**age
        took = Effort(
            # An older run may have needed less once than is expected now; a row takes nothing negative.
            calls=max(0.0, used.llm_calls - once.calls),
            input_tokens=max(0.0, used.input_tokens - once.input_tokens),
            output_tokens=max(0.0, used.output_tokens - once.output_tokens),
            searches=used.searches,
            pages=used.fetches,
        )
        whole += took * weight
        weights += count_paid_rows(run) * weight
    return whole * (1 / weights)


def is_paid(model: LanguageModel) -> bool:
    """Return True if the model's price is known and not zero."""
    # Any number of tokens will do: an unknown price is None and a free model costs 0.
    return bool(price(model.asked, 1_000, 1_000))


def estimate_dollars(model: LanguageModel | None, work: Effort) -> float | None:
    """Return the price of the work, or None if the model's price is unknown."""
    if model is None or not work.calls:
        return 0.0
    likely = price(model.asked, round(work.input_tokens), round(work.output_tokens))
    return None if likely is None else float(likely)


def estimate_seconds(job: EstimateRequest, past: Sequence[Run], whole: Effort, tools: Tools) -> float:
    """Return the seconds that earlier runs of the same concurrency took, else those that calls, searches and pages
    usually take."""
    same = [run for run in past if run.spec.get("concurrency") == job.concurrency]
    if same:
        return job.rows * sum(run.usage.seconds for run in same) / sum(map(count_paid_rows, same))
    asking = whole.calls * Assumed.CALL_SECONDS / job.concurrency
    if tools.model is not None and is_local_model(tools.model):
        # A model on this machine answers one call after the other, so concurrency saves nothing.
        asking = whole.calls * Assumed.LOCAL_CALL_SECONDS
    looking = whole.searches * Assumed.SEARCH_SECONDS + whole.pages * job.policy.fetch_delay
    return asking + looking / job.concurrency


def make_range(likely: float, spread: tuple[float, float], *, whole: bool = False) -> EstimateRange:
    low, high = (likely * times for times in spread)
    # Calls and tokens are whole; dollars keep millionths, because a row may cost less than a cent.
    digits = 0 if whole else 6
    return EstimateRange(low=round(low, digits), likely=round(likely, digits), high=round(high, digits))
