"""A model on its own path through the web: it searches and opens pages as it sees fit, within limits, and answers.

It sees numbered results and pages, and can open only what a search returned. Its answer is checked like any other: what
fails goes back once, and is then left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic_ai import Agent, ModelRetry, RunContext, Tool, ToolDefinition, ToolOutput, UsageLimits
from pydantic_ai.exceptions import AgentRunError, UsageLimitExceeded
from pydantic_ai.settings import ModelSettings

from tablewright.domain.model import Step
from tablewright.errors import ModelError, OverBudget
from tablewright.llm.tasks.answer_with_tools import Reply
from tablewright.strategies.exploration import Exploration, SentBack
from tablewright.web.provenance import current_provenance

if TYPE_CHECKING:
    from tablewright.llm.model import LanguageModel


async def search_web(context: RunContext[Exploration], query: str) -> str:
    """Searches the web; a short query with other words than before. Returns numbered results."""
    return await context.deps.search(query)


async def fetch_page(context: RunContext[Exploration], number: int) -> str:
    """Opens the search result of this number and returns the page, whole where it fits."""
    return await context.deps.open(number)


async def offer_search(context: RunContext[Exploration], tool: ToolDefinition) -> ToolDefinition | None:
    return tool if context.deps.may_search else None


async def offer_fetch(context: RunContext[Exploration], tool: ToolDefinition) -> ToolDefinition | None:
    return tool if context.deps.may_open else None


# One call after the other: each changes the numbered results and the steps that are left.
SEARCH_TOOL: Tool[Exploration] = Tool(search_web, takes_ctx=True, prepare=offer_search, sequential=True)
FETCH_TOOL: Tool[Exploration] = Tool(fetch_page, takes_ctx=True, prepare=offer_fetch, sequential=True)


class Explorer:
    """The agent of one strategy: the same model, instructions and tools for all rows."""

    def __init__(self, model: LanguageModel, instructions: str) -> None:
        self._agent = Agent(
            model.agent_model,
            deps_type=Exploration,
            output_type=ToolOutput(Reply, name="answer"),
            instructions=instructions,
            tools=[SEARCH_TOOL, FETCH_TOOL],
        )

        @self._agent.output_validator
        async def check(context: RunContext[Exploration], reply: Reply) -> Reply:
            try:
                return await context.deps.check(reply)
            except SentBack as more:
                raise ModelRetry(str(more)) from None

    async def explore(self, exploration: Exploration) -> str:
        """Let the model explore; return why it did not finish by itself, or "". The investigation has all it read."""
        investigation, limits = exploration.investigation, exploration.limits
        if (provenance := current_provenance()) is not None:
            provenance.note_row_shown()
        try:
            await self._agent.run(
                exploration.prompt,
                deps=exploration,
                model_settings=ModelSettings(max_tokens=limits.tokens),
                usage_limits=UsageLimits(request_limit=limits.turns),
                # An answer is sent back by us, for a failed check or for more reading; the turns are the only limit.
                retries=limits.turns,
            )
        except ModelError as error:
            # A budget that is spent is no fault of the model: the cell is left for the next run.
            investigation.over_budget |= isinstance(error, OverBudget)
            investigation.degrade(exploration.field, error.what)
            return error.what
        except UsageLimitExceeded:
            detail = f"The model did not come to an answer in {limits.turns} turns."
        except AgentRunError as error:
            detail = f"The model did not come to an answer: {error}"
        else:
            return ""
        finally:
            # Also after a failure: an answer that was verified before counts.
            exploration.conclude()
        investigation.note(Step(type="thinking", detail=detail))
        return detail
