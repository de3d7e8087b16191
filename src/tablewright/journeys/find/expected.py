"""What finding the rows of a table is likely to take, before anything is searched."""

from __future__ import annotations

from tablewright.domain.listing import Listing
from tablewright.domain.model import Table
from tablewright.engine.estimate import Estimate, Job
from tablewright.engine.estimate import estimate as estimated
from tablewright.engine.fill import Terms
from tablewright.journeys.find.gather import PAGES
from tablewright.models.text_budget import CHARACTERS_A_TOKEN
from tablewright.strategies import estimates as assumed
from tablewright.strategies.strategy import Effort, Expected, Task
from tablewright.strategies.tools import Tools

LIST_PAGE = 20_000
"""Characters of a page that lists things."""
ROUNDS_NEEDED = 1.5
PROMPT, REPLY = 1_200, 500
"""Tokens of a call beside the page that it reads."""
OPEN_ROWS = 0.5
"""Rows with a cell that no list states."""


def expected(listing: Listing, tools: Tools, terms: Terms) -> Estimate:
    plan = listing.plan
    pages = PAGES * ROUNDS_NEEDED
    calls = pages + 2 * ROUNDS_NEEDED if tools.model is not None else 0.0
    read = pages * LIST_PAGE / CHARACTERS_A_TOKEN if tools.model is not None else 0.0
    lists = Effort(
        calls=calls,
        input_tokens=calls * PROMPT + read,
        output_tokens=calls * REPLY,
        searches=len(plan.queries) * ROUNDS_NEEDED,
        pages=pages,
    )
    asked = plan.fields[1:]
    row = Effort()
    if asked:
        task = Task(table=Table(id="", name=plan.things, fields=plan.fields, key_field=plan.key), fields=asked)
        row = assumed.pipeline(task, tools).row * OPEN_ROWS
    job = Job(
        rows=listing.rows,
        cells=listing.rows * len(asked),
        expected=Expected(row=row, once=lists),
        terms=terms,
        attempts=1,
        concurrency=8,
    )
    return estimated(job, tools)
