"""A model on its own path through the web: it searches and opens pages as it sees fit, within limits, and answers.

It sees numbered results and pages, and can open only what a search returned. Its answer is checked like any other: what
fails goes back once, and is then left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic_ai import Agent, ModelRetry, RunContext, Tool, ToolDefinition, ToolOutput, UsageLimits
from pydantic_ai.exceptions import AgentRunError, UsageLimitExceeded
from pydantic_ai.settings import ModelSettings

from tablewright.decisions.answer_with_tools import Reply
from tablewright.domain.model import Step
from tablewright.errors import ModelError, OverBudget
from tablewright.sources.provenance import current_provenance
from tablewright.strategies.exploration import Exploration, SentBack

if TYPE_CHECKING:
    from tablewright.models.model import LanguageModel


async def search_web(context: RunContext[Exploration], query: str) -> str:
    """Searches the web; a short query with other words than before. Returns numbered results."""
    return await context.deps.search(query)


async def fetch_page(context: RunContext[Exploration], number: int) -> str:
    """Opens the search result of this number and returns the page, whole where it fits."""
    return await context.deps.open(number)


async def while_searches(context: RunContext[Exploration], tool: ToolDefinition) -> ToolDefinition | None:
    return tool if context.deps.may_search else None


async def while_pages(context: RunContext[Exploration], tool: ToolDefinition) -> ToolDefinition | None:
    return tool if context.deps.may_open else None


SEARCH: Tool[Exploration] = Tool(search_web, takes_ctx=True, prepare=while_searches, sequential=True)
FETCH: Tool[Exploration] = Tool(fetch_page, takes_ctx=True, prepare=while_pages, sequential=True)


class Explorer:
    """The agent of one strategy: the same model, instructions and tools for all rows."""

    def __init__(self, model: LanguageModel, instructions: str) -> None:
        self._agent = Agent(
            model.agent_model,
            deps_type=Exploration,
            output_type=ToolOutput(Reply, name="answer"),
            instructions=instructions,
            tools=[SEARCH, FETCH],
        )

        @self._agent.output_validator
        async def check(context: RunContext[Exploration], reply: Reply) -> Reply:
            try:
                return await context.deps.check(reply)
            except SentBack as more:
                raise ModelRetry(str(more)) from None

    async def explore(self, exploration: Exploration) -> str:
        """Why the model did not come to an end by itself, "" where it did; what it read is in the investigation."""
        investigation, limits = exploration.investigation, exploration.limits
        if (provenance := current_provenance()) is not None:
            provenance.note_row_shown()
        try:
            await self._agent.run(
                exploration.prompt,
                deps=exploration,
                model_settings=ModelSettings(max_tokens=limits.tokens),
                usage_limits=UsageLimits(request_limit=limits.turns),
                retries=limits.turns,
            )
        except ModelError as error:
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
            exploration.conclude()
        investigation.note(Step(type="thinking", detail=detail))
        return detail
