"""The `lookup` strategy: a fact from search results alone. At most two searches, over all attempts; snippets are the
source, no page is opened."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from tablewright.domain.model import Field, Finding
from tablewright.messages.catalogue import PageText
from tablewright.strategies.effort import Expected
from tablewright.strategies.investigation import RowInvestigation
from tablewright.strategies.row_answers import PerFieldAnswers
from tablewright.strategies.strategy import Answer, Feedback, Need, Strategy, Task, Tools

# A second search with other words may help; after it, opening pages (`pipeline`) is the better way.
SEARCHES_PER_FIELD = 2


class LookupStrategy(Strategy):
    name = "lookup"
    display_name: PageText[str] = "Quick Lookup"
    summary: PageText[str] = "Reads search results and opens no page. Quick and cheap."
    max_steps = SEARCHES_PER_FIELD
    # Each call waits for searches, as many at once; more would only hit the limits of the search engine.
    concurrency = 3
    shares_calls = True

    def needs(self, task: Task) -> Collection[Need]:
        return ("web", "model")

    def expected(self, task: Task, tools: Tools) -> Expected:
        from tablewright.strategies import estimates

        return estimates.estimate_lookup(task, tools)

    def prepare(self, task: Task, tools: Tools) -> Answer:
        return LookupAnswers(task, tools)


class LookupAnswers(PerFieldAnswers):
    def is_exhausted(self, investigation: RowInvestigation) -> bool:
        return len(investigation.queries) >= SEARCHES_PER_FIELD

    async def answer_field(
        self, field: Field, investigation: RowInvestigation, queries: Sequence[str], feedback: Feedback
    ) -> Finding:
        for query in queries[: SEARCHES_PER_FIELD - len(investigation.queries)]:
            await investigation.search(query)
            await investigation.read((field,), investigation.new_snippets())
            if investigation.has(field):
                break
        return await investigation.finding(field)
