"""Asking over HTTP: what is sent, what is done with every kind of answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.exceptions import ModelTimeoutError
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionDef, FunctionModel
from pydantic_ai.profiles import ModelProfile

from tablewright.domain.run import Usage, measure_usage
from tablewright.errors import BadAnswer, ModelRefused, ModelUnavailable
from tablewright.llm.build import build_model
from tablewright.llm.model import LanguageModel
from tablewright.llm.providers import openai
from tablewright.llm.pydantic_ai_bridge import PydanticAIModel
from tablewright.llm.retry import MIN_REST_SECONDS, Retrying
from tablewright.llm.spec import Access
from tablewright.llm.structured_output import StructuredOutput
from tablewright.settings import Settings
from tests.llm.conftest import Founded, Naps
from tests.llm.endpoint import Asked, Endpoint, Reply, answer, json_reply, refusal

MakeSettings = Callable[..., Settings]


async def ask(settings: Settings, **more: Any) -> Founded:
    model = build_model(settings)
    assert model is not None
    async with model:
        return await ask_model(model, **more)


async def ask_model(model: LanguageModel, **more: Any) -> Founded:
    return await model.ask(instructions="Read the page.", prompt="Founded in 1987.", output=Founded, **more)


def patient(endpoint: Endpoint, naps: Naps, **settings: Any) -> LanguageModel:
    """A model whose retries do not wait."""
    model = openai("gpt-4o-mini", Access(base_url=endpoint.url, **settings))
    retrying = Retrying(StructuredOutput(model), sleep=naps.sleep, jitter=lambda: 0.5, clock=naps.clock)
    return LanguageModel(retrying, name="test")


def answering_as(respond: FunctionDef, naps: Naps) -> LanguageModel:
    """A model in this process, whose retries do not wait."""
    profile = ModelProfile(supports_json_schema_output=True, default_structured_output_mode="native")
    model = PydanticAIModel(FunctionModel(respond, profile=profile))
    retrying = Retrying(model, sleep=naps.sleep, jitter=lambda: 0.5, clock=naps.clock)
    return LanguageModel(retrying, name="test")


async def test_the_answer_is_held_to_the_schema_at_temperature_zero(endpoint: Endpoint, settings: MakeSettings) -> None:
    assert await ask(settings(model_api_key="secret"), max_tokens=99) == Founded(year=1987)
    (asked,) = endpoint.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["authorization"] == "Bearer secret"
    body = asked.body
    assert [(m["role"], m["content"]) for m in body["messages"]] == [
        ("system", "Read the page."),
        ("user", "Founded in 1987."),
    ]
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("gpt-4o-mini", 0, 99)
    assert body["response_format"]["type"] == "json_schema"
    assert body["response_format"]["json_schema"]["schema"]["required"] == ["year"]


async def test_the_key_for_openai_is_not_sent_to_another_endpoint(
    endpoint: Endpoint, settings: MakeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-private")
    await ask(settings())
    assert "sk-private" not in json.dumps(endpoint.asked[0].headers)


async def test_calls_tokens_and_dollars_are_told(settings: MakeSettings) -> None:
    with measure_usage() as meter:
        await ask(settings())
    assert meter.usage == Usage(llm_calls=1, input_tokens=10, output_tokens=5, cost_usd=0.0000045)


async def test_prose_and_a_fence_around_the_answer_are_no_harm(endpoint: Endpoint, settings: MakeSettings) -> None:
    endpoint.replies = [answer('Sure!\n```json\n{"year": 1987}\n```')]
    assert (await ask(settings())).year == 1987
    assert len(endpoint.asked) == 1


async def test_an_answer_of_the_wrong_form_is_asked_again_with_the_problem(
    endpoint: Endpoint, settings: MakeSettings
) -> None:
    endpoint.replies = [answer({"year": "long ago"}), answer({"year": 1987})]
    assert (await ask(settings())).year == 1987
    said = endpoint.asked[1].body["messages"]
    assert [message["role"] for message in said] == ["system", "user", "assistant", "user"]
    assert said[2]["content"] == '{"year": "long ago"}'
    assert "year: Input should be a valid integer" in said[3]["content"]


async def test_two_answers_of_the_wrong_form_are_a_bad_answer(endpoint: Endpoint, settings: MakeSettings) -> None:
    endpoint.otherwise = answer("I would rather talk about the weather.")
    with pytest.raises(BadAnswer, match="twice: Invalid JSON"):
        await ask(settings())
    assert len(endpoint.asked) == 2


async def test_an_answer_that_was_cut_off_gets_more_room(endpoint: Endpoint, settings: MakeSettings) -> None:
    endpoint.replies = [answer('{"ye', finish="length"), answer({"year": 1987})]
    assert (await ask(settings(), max_tokens=10)).year == 1987
    assert [asked.body["max_tokens"] for asked in endpoint.asked] == [10, 40]
    assert "cut off at 10 tokens" in endpoint.asked[1].body["messages"][-1]["content"]


async def test_a_filtered_answer_is_a_refusal(endpoint: Endpoint, settings: MakeSettings) -> None:
    endpoint.otherwise = answer("", finish="content_filter")
    with pytest.raises(ModelRefused, match="declined to answer"):
        await ask(settings())


async def test_an_endpoint_that_refuses_schemas_is_asked_in_words_from_then_on(
    endpoint: Endpoint, settings: MakeSettings
) -> None:
    def reply(asked: Asked) -> Reply:
        return refusal(400, "unknown field") if "response_format" in asked.body else answer({"year": 1987})

    endpoint.otherwise = reply
    model = build_model(settings())
    assert model is not None
    async with model:
        for _ in range(3):
            assert (await ask_model(model)).year == 1987
    assert ["response_format" in asked.body for asked in endpoint.asked] == [True, False, False, False]
    system = "\n".join(m["content"] for m in endpoint.asked[1].body["messages"] if m["role"] == "system")
    assert '"year"' in system
    assert "JSON schema" in system


async def test_a_request_that_is_refused_either_way_says_the_first_reason(
    endpoint: Endpoint, settings: MakeSettings
) -> None:
    endpoint.replies = [refusal(400, "too many cats"), refusal(400, "another reason")]
    with pytest.raises(ModelRefused, match="400, too many cats"):
        await ask(settings())
    endpoint.asked.clear()
    await ask(settings())
    assert "response_format" in endpoint.asked[0].body


@pytest.mark.parametrize(
    ("reply", "message"),
    [
        (refusal(401), "refused the key.*TABLEWRIGHT_MODEL_API_KEY"),
        (refusal(403), "refused the key"),
        (refusal(404), "no model gpt-4o-mini there"),
        (refusal(402), "no credit left"),
        (json_reply({"error": {"message": "x", "code": "context_length_exceeded"}}, 400), "too long"),
        (json_reply({"error": {"message": "x", "code": "insufficient_quota"}}, 429), "no credit left"),
        (refusal(413, "too large"), "refused the request: 413, too large"),
    ],
)
async def test_a_refusal_is_explained_and_never_repeated(
    endpoint: Endpoint, naps: Naps, reply: Reply, message: str
) -> None:
    endpoint.otherwise = reply
    async with patient(endpoint, naps) as model:
        with pytest.raises(ModelRefused, match=message):
            await ask_model(model)
    assert (len(endpoint.asked), naps.taken) == (1, [])


@pytest.mark.parametrize(
    "trouble",
    [
        refusal(500),
        refusal(503),
        refusal(529),
        refusal(408),
        refusal(409),
        refusal(429),
        Reply(body=b"x" * 50, cut=True),
    ],
    ids=["500", "503", "529", "408", "409", "429", "cut"],
)
async def test_passing_trouble_is_waited_out(endpoint: Endpoint, naps: Naps, trouble: Reply) -> None:
    endpoint.replies = [trouble, trouble]
    async with patient(endpoint, naps) as model:
        assert (await ask_model(model)).year == 1987
    assert (len(endpoint.asked), naps.taken) == (3, [0.5, 1.0])


async def test_the_wait_that_the_server_asks_for_is_kept(endpoint: Endpoint, naps: Naps) -> None:
    endpoint.replies = [refusal(429, retry_after="7")]
    async with patient(endpoint, naps) as model:
        await ask_model(model)
    assert naps.taken == [7.0]


async def test_a_server_that_asks_for_an_hour_is_unavailable(endpoint: Endpoint, naps: Naps) -> None:
    endpoint.replies = [refusal(429, "slow down", retry_after="3600")]
    async with patient(endpoint, naps) as model:
        with pytest.raises(ModelUnavailable, match=r"429, slow down\. It asks to wait 3600 seconds"):
            await ask_model(model)
    assert naps.taken == []


async def test_trouble_that_stays_is_unavailable_after_four_tries(endpoint: Endpoint, naps: Naps) -> None:
    endpoint.otherwise = refusal(500, "out of order")
    async with patient(endpoint, naps) as model:
        with pytest.raises(ModelUnavailable, match=r"\(4 attempts\): 500, out of order"):
            await ask_model(model)
    assert (len(endpoint.asked), naps.taken) == (4, [0.5, 1.0, 2.0])


async def test_a_model_that_is_too_slow_is_unavailable(endpoint: Endpoint, naps: Naps) -> None:
    endpoint.otherwise = Reply(never=True)
    async with patient(endpoint, naps, timeout=0.05) as model:
        with pytest.raises(ModelUnavailable, match=r"did not answer in time \(2 attempts\)"):
            await ask_model(model)
    assert len(naps.taken) == 1, "each try takes as long as the user is willing to wait"


async def test_whoever_asks_right_after_nobody_answered_is_told_at_once(naps: Naps) -> None:
    is_back = False

    async def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if not is_back:
            raise ModelTimeoutError(model_name="test", message="too slow")
        return ModelResponse(parts=[TextPart(content='{"year": 1987}')])

    model = answering_as(respond, naps)
    for _ in range(3):
        with pytest.raises(ModelUnavailable, match="did not answer in time"):
            await ask_model(model)
    assert len(naps.taken) == 1
    is_back = True
    naps.now += MIN_REST_SECONDS
    assert await ask_model(model) == Founded(year=1987)


async def test_a_model_that_answers_others_meanwhile_is_asked_again_at_once(naps: Naps) -> None:
    """One request that takes too long is not an outage."""
    began, over = asyncio.Event(), asyncio.Event()

    async def respond(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        if "1987" not in str(messages[-1]):
            return ModelResponse(parts=[TextPart(content='{"year": 1999}')])
        began.set()
        await over.wait()
        raise ModelTimeoutError(model_name="test", message="too slow")

    model = answering_as(respond, naps)
    slow = asyncio.create_task(ask_model(model))
    await began.wait()
    naps.now += 1.0
    await model.ask(instructions="Read the page.", prompt="Founded in 1999.", output=Founded)
    over.set()
    with pytest.raises(ModelUnavailable):
        await slow
    assert await model.ask(instructions="Read it.", prompt="Founded in 1999.", output=Founded) == Founded(year=1999)


async def test_nobody_there_is_unavailable(naps: Naps) -> None:
    nobody = Endpoint()
    nobody.url = "http://127.0.0.1:9/v1"
    async with patient(nobody, naps) as model:
        with pytest.raises(ModelUnavailable, match=r"cannot be reached \(4 attempts\)"):
            await ask_model(model)


async def test_a_page_instead_of_an_answer_is_a_bad_answer(endpoint: Endpoint, settings: MakeSettings) -> None:
    endpoint.otherwise = Reply(body=b"<html>Welcome</html>", headers={"content-type": "text/html"})
    with pytest.raises(BadAnswer, match="not an answer"):
        await ask(settings())


async def test_a_server_that_leaves_out_what_it_must_say_is_understood(
    endpoint: Endpoint, settings: MakeSettings
) -> None:
    said = json.loads(answer({"year": 1987}).body)
    said["created"] = said["choices"][0]["finish_reason"] = None
    endpoint.otherwise = json_reply(said)
    assert (await ask(settings())).year == 1987


async def test_a_list_instead_of_an_answer_is_a_bad_answer(endpoint: Endpoint, settings: MakeSettings) -> None:
    endpoint.otherwise = json_reply(["welcome"])
    with pytest.raises(BadAnswer, match="not an answer"):
        await ask(settings())


async def test_a_model_that_always_thinks_gets_room_and_no_temperature(
    endpoint: Endpoint, settings: MakeSettings
) -> None:
    await ask(settings(model="openai:o3-mini"), max_tokens=100)
    body = endpoint.asked[0].body
    assert "temperature" not in body
    assert body["max_completion_tokens"] == 100 + 4096


async def test_ollama_speaks_the_same_way(endpoint: Endpoint, settings: MakeSettings) -> None:
    assert (await ask(settings(model="ollama:llama3.2"))).year == 1987
    assert endpoint.asked[0].body["response_format"]["type"] == "json_schema"


async def test_an_older_model_of_anthropic_answers_through_a_tool(endpoint: Endpoint, settings: MakeSettings) -> None:
    endpoint.otherwise = json_reply(
        {
            "id": "m1",
            "type": "message",
            "role": "assistant",
            "model": "claude-3-5-haiku-20241022",
            "content": [{"type": "tool_use", "id": "t1", "name": "answer", "input": {"year": 1987}}],
            "stop_reason": "tool_use",
            "stop_sequence": None,
            "usage": {"input_tokens": 1000, "output_tokens": 100},
        }
    )
    with measure_usage() as meter:
        found = await ask(settings(model="anthropic:claude-3-5-haiku-old", model_api_key="k"))
    assert found.year == 1987
    assert endpoint.asked[0].body["tools"][0]["name"] == "answer"
    assert meter.usage.cost_usd == pytest.approx(0.0012)


async def test_gemini_is_held_to_the_schema(endpoint: Endpoint, settings: MakeSettings) -> None:
    endpoint.otherwise = json_reply(
        {
            "candidates": [
                {"content": {"role": "model", "parts": [{"text": '{"year": 1987}'}]}, "finishReason": "STOP"}
            ],
            "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
            "modelVersion": "gemini-2.5-flash",
        }
    )
    found = await ask(settings(model="google:gemini-2.5-flash", model_api_key="k"))
    assert found.year == 1987
    config = endpoint.asked[0].body["generationConfig"]
    assert (config["temperature"], config["responseMimeType"]) == (0, "application/json")


async def test_an_agent_uses_the_same_model_with_all_its_layers(endpoint: Endpoint, settings: MakeSettings) -> None:
    endpoint.otherwise = answer("Hello.")
    model = build_model(settings())
    assert model is not None
    async with model:
        with measure_usage() as meter:
            assert (await Agent(model.agent_model).run("Hi")).output == "Hello."
            async with Agent(model.agent_model).run_stream("Hi") as stream:
                assert await stream.get_output() == "Hello."
    assert meter.usage.llm_calls == 2
    assert all("stream" not in asked.body or not asked.body["stream"] for asked in endpoint.asked)
