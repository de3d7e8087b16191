"""The providers' own prompt caches: switched on where they are an option, counted, and priced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.settings import ModelSettings

from tablewright.domain.run import Usage, measure_usage
from tablewright.llm.build import build_model
from tablewright.llm.providers import anthropic, openai
from tablewright.llm.pydantic_ai_bridge import AgentModel, PydanticAIModel
from tablewright.llm.spec import Access
from tablewright.llm.structured_output import StructuredOutput
from tablewright.settings import Settings
from tests.llm.conftest import Founded
from tests.llm.endpoint import Endpoint, Reply, answer, json_reply

MakeSettings = Callable[..., Settings]


def message(*content: dict[str, Any], model: str = "claude-haiku-4-5", **usage: int) -> Reply:
    return json_reply(
        {
            "id": "m1",
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": content,
            "stop_reason": "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 100, "output_tokens": 20, **usage},
        }
    )


async def used(settings: Settings) -> Usage:
    model = build_model(settings)
    assert model is not None
    async with model:
        with measure_usage() as meter:
            await model.ask(instructions="Read the page.", prompt="Founded in 1987.", output=Founded)
    return meter.usage


async def test_cached_tokens_are_counted_and_cheaper(endpoint: Endpoint, settings: MakeSettings) -> None:
    endpoint.replies = [answer({"year": 1987}, read=2_000), answer({"year": 1987}, read=2_000, cached=1_000)]
    first, second = await used(settings()), await used(settings())
    assert (first.input_tokens, first.cached_tokens) == (2_000, 0)
    assert (second.input_tokens, second.cached_tokens) == (2_000, 1_000)
    # gpt-4o-mini: $0.15 a million tokens, half of it for those that were cached
    assert first.cost_usd - second.cost_usd == pytest.approx(1_000 * 0.075 / 1_000_000)


async def test_they_are_cheaper_too_where_the_server_calls_the_model_by_another_name(
    endpoint: Endpoint, settings: MakeSettings
) -> None:
    endpoint.replies = [answer({"year": 1987}, read=2_000), answer({"year": 1987}, read=2_000, cached=1_000)]
    for reply in endpoint.replies:
        reply.body = reply.body.replace(b"gpt-4o-mini", b"deployment-7")
    first, second = await used(settings()), await used(settings())
    assert first.cost_usd - second.cost_usd == pytest.approx(1_000 * 0.075 / 1_000_000)


async def test_anthropic_is_told_to_keep_the_instructions_and_not_the_row(
    endpoint: Endpoint, settings: MakeSettings
) -> None:
    endpoint.otherwise = message(
        {"type": "text", "text": '{"year": 1987}'}, cache_read_input_tokens=3_000, cache_creation_input_tokens=0
    )
    usage = await used(settings(model="anthropic:claude-haiku-4-5", model_api_key="k"))
    body = endpoint.asked[0].body
    assert body["system"][-1]["cache_control"]["type"] == "ephemeral"
    assert "cache_control" not in str(body["messages"])
    assert "cache_control" not in body
    assert (usage.input_tokens, usage.cached_tokens) == (3_100, 3_000)
    assert usage.cost_usd == pytest.approx((100 * 1 + 3_000 * 0.1 + 20 * 5) / 1_000_000)


async def test_a_conversation_with_tools_is_kept_as_it_grows(endpoint: Endpoint) -> None:
    endpoint.otherwise = message({"type": "text", "text": "1987"})
    claude = PydanticAIModel(anthropic("claude-haiku-4-5", Access(base_url=endpoint.url, api_key="k")))
    model = AgentModel(StructuredOutput(claude))
    agent = Agent(model, instructions="Find the year.")

    @agent.tool_plain
    def search(query: str) -> str:
        """Search the web."""
        return query

    async with claude:
        await agent.run("When was it founded?", model_settings=ModelSettings(max_tokens=500))
    body = endpoint.asked[0].body
    assert body["tools"][-1]["cache_control"]["type"] == "ephemeral"
    assert "cache_control" in body


async def test_an_endpoint_of_ones_own_is_not_sent_options_that_only_openai_knows(
    endpoint: Endpoint, settings: MakeSettings
) -> None:
    await used(settings(model="openai:gpt-5.6-sol"))
    assert not [name for name in endpoint.asked[0].body if name.startswith("prompt_cache")]


def test_openai_itself_is_told_to_keep_the_instructions_alone() -> None:
    kept = openai("gpt-5.6-sol", Access(api_key="k")).settings
    assert kept is not None
    assert kept["cache"] == {"messages": False}
