"""Agents with tools on endpoints that keep a JSON schema better than a promise to call tools."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Literal

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, ModelRetry, ToolOutput

from tablewright.llm.build import build_model
from tablewright.llm.cache import MemoryCache
from tablewright.settings import Settings
from tests.llm.endpoint import Endpoint, answer

MakeSettings = Callable[..., Settings]


class Place(BaseModel):
    kind: Literal["town", "city"]


class Found(BaseModel):
    """Gives the answer."""

    year: int
    place: Place


def agent_of(model: object) -> Agent[None, Found]:
    agent: Agent[None, Found] = Agent(model, output_type=ToolOutput(Found, name="answer"), instructions="Be brief.")  # type: ignore[call-overload]

    @agent.tool_plain
    def search_web(query: str) -> str:
        """Searches the web."""
        return f"{query}: founded in 1987"

    return agent


FOUND = {"name": "answer", "arguments": {"year": 1987, "place": {"kind": "town"}}}


async def test_a_turn_is_one_json_object_of_a_schema_and_the_history_is_plain_talk(
    endpoint: Endpoint, settings: MakeSettings
) -> None:
    endpoint.replies = [answer({"name": "search_web", "arguments": {"query": "Acme"}}), answer(FOUND)]
    model = build_model(settings())
    assert model is not None
    async with model:
        result = await agent_of(model.agent_model).run("When was Acme founded?")
    assert result.output == Found(year=1987, place=Place(kind="town"))
    first, second = (asked.body for asked in endpoint.asked)
    assert "tools" not in first
    schema = first["response_format"]["json_schema"]["schema"]
    assert [each["properties"]["name"]["const"] for each in schema["anyOf"]] == ["search_web", "answer"]
    assert "Place" in schema["$defs"]
    words = first["messages"][0]["content"]
    assert '{"name": "search_web", "arguments": {"query": …}}: Searches the web.' in words
    assert [message["role"] for message in second["messages"]] == ["system", "user", "assistant", "user"]
    assert json.loads(second["messages"][2]["content"]) == {"name": "search_web", "arguments": {"query": "Acme"}}
    assert second["messages"][3]["content"] == "Acme: founded in 1987"


async def test_an_answer_that_is_sent_back_is_told_why(endpoint: Endpoint, settings: MakeSettings) -> None:
    endpoint.replies = [answer(FOUND), answer(FOUND)]
    model = build_model(settings())
    assert model is not None
    agent = agent_of(model.agent_model)
    tried = 0

    @agent.output_validator
    def once_more(found: Found) -> Found:
        nonlocal tried
        tried += 1
        if tried == 1:
            raise ModelRetry("no text says so")
        return found

    async with model:
        await agent.run("When?")
    assert endpoint.asked[1].body["messages"][-1]["content"] == "no text says so"


async def test_prose_around_the_json_does_not_matter_and_prose_alone_is_asked_again(
    endpoint: Endpoint, settings: MakeSettings
) -> None:
    endpoint.replies = [answer("I think it was 1987."), answer(f"Sure!\n```json\n{json.dumps(FOUND)}\n```")]
    model = build_model(settings())
    assert model is not None
    async with model:
        result = await agent_of(model.agent_model).run("When?")
    assert result.output.year == 1987
    assert len(endpoint.asked) == 2


async def test_the_same_talk_is_bought_once(endpoint: Endpoint, settings: MakeSettings) -> None:
    cache = MemoryCache()
    for _ in range(2):
        endpoint.replies = [answer({"name": "search_web", "arguments": {"query": "Acme"}}), answer(FOUND)]
        model = build_model(settings(), cache)
        assert model is not None
        async with model:
            await agent_of(model.agent_model).run("When was Acme founded?")
    assert len(endpoint.asked) == 2


async def test_a_provider_whose_tools_can_be_trusted_gets_them_as_tools(
    endpoint: Endpoint, settings: MakeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.replies = [answer("no tool called")]
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
    model = build_model(settings(model_base_url="", model_api_key="k"))
    assert model is not None
    async with model:
        try:
            await agent_of(model.agent_model).run("When?", retries=0)
        except Exception as error:
            assert "retries" in str(error)  # noqa: PT017 - the request is the subject
    sent = endpoint.asked[0].body
    assert [tool["function"]["name"] for tool in sent["tools"]] == ["search_web", "answer"]
    assert "response_format" not in sent
