"""What a piece of research is likely to take, before anything is searched. A guess: what a question opens up, nobody
knows before it is read."""

from __future__ import annotations

import math

from tablewright.domain.research import Brief, Extent, ResearchEstimate
from tablewright.journeys.research.catalog import CANDIDATES
from tablewright.models.price import estimate as price
from tablewright.models.text_budget import CHARACTERS_A_TOKEN, PAGES_A_CALL
from tablewright.strategies.tools import Tools

GAPS = 4
"""Searches for gaps."""
NEW_PAGES = 3
"""Pages that a search brings and that were not read before."""
PAGE = 6_000
"""Characters of a page."""
NOTES = 2.5
"""Notes of a page."""
LIST_CALLS, ROW_CALLS = 12, 1.5
"""Of a catalog: to find the lists and read them, and for each of its rows, which are searched for one by one."""
NOTE, INSTRUCTIONS, PLAN, REFLECTION, RULING, REPORT = 110, 900, 500, 700, 300, 2_500
"""Tokens."""


def estimate(brief: Brief, tools: Tools, max_tasks: int, extent: Extent) -> ResearchEstimate:
    model = tools.model
    first = min(len(brief.queries) or extent.first_searches, max_tasks)
    if model is None:
        return ResearchEstimate(searches=first, pages=first * NEW_PAGES)
    claims = extent.checked_claims
    gaps = min(GAPS, max(max_tasks - first - extent.kept_searches, 0)) if extent.rounds > 1 else 0
    verified = min(extent.kept_searches, max_tasks - first - gaps)
    read = (first + gaps) * NEW_PAGES
    pages = read + verified * NEW_PAGES
    reading = math.ceil(max(read * PAGE / model.text_room, read / PAGES_A_CALL))
    noted = int(read * NOTES * NOTE)
    judged = claims * min(NEW_PAGES * (verified + 1) * PAGE, model.text_room)
    rows = CANDIDATES * brief.target_items if brief.report_type == "catalog" else 0
    calls = reading + 2 + claims + 2 + (LIST_CALLS + int(ROW_CALLS * rows) if rows else 0)
    characters = min(PAGE, model.text_room) * read + judged
    input_tokens = int(characters / CHARACTERS_A_TOKEN) + 3 * noted + calls * INSTRUCTIONS
    output_tokens = noted + 2 * REFLECTION + claims * RULING + REPORT
    cost = price(model.agent_model, input_tokens, output_tokens)
    return ResearchEstimate(
        searches=first + gaps + verified + rows,
        pages=pages + rows,
        calls=calls,
        input_tokens=input_tokens,
        output_tokens=output_tokens,
        cost_usd=None if cost is None else float(cost),
    )
