"""Budget, governor and fallback, with many requests at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.usage import RequestUsage

from tablewright.domain.run import measure_usage
from tablewright.errors import ModelRefused, ModelUnavailable, OverBudget
from tablewright.llm.budget import Budget, Spend
from tablewright.llm.build import build_model
from tablewright.llm.cache import MemoryCache
from tablewright.llm.model import LanguageModel
from tablewright.llm.pydantic_ai_bridge import PydanticAIModel
from tablewright.llm.rate_limit import RateLimited, RateLimits, RateWindow
from tablewright.llm.wrappers import COOL_DOWN_SECONDS, CoolDown, Fallback
from tablewright.settings import Settings
from tests.llm.conftest import Founded, Naps
from tests.llm.endpoint import Asked, Endpoint, Reply, answer, refusal

MakeSettings = Callable[..., Settings]


async def ask(model: LanguageModel, prompt: str = "Founded in 1987.") -> Founded:
    return await model.ask(instructions="Read.", prompt=prompt, output=Founded, max_tokens=100)


async def ask_many(model: LanguageModel, count: int) -> list[Any]:
    async with model:
        return await asyncio.gather(*(ask(model, str(n)) for n in range(count)), return_exceptions=True)


def built(settings: Settings, budget: Budget, cache: MemoryCache | None = None) -> LanguageModel:
    model = build_model(settings, cache, budget)
    assert model is not None
    return model


async def test_fifty_at_once_do_not_pass_the_cap_on_calls(endpoint: Endpoint, settings: MakeSettings) -> None:
    budget = Budget(calls=12)
    results = await ask_many(built(settings(), budget), 50)
    assert len(endpoint.asked) == budget.spent.calls == 12
    assert sum(isinstance(result, OverBudget) for result in results) == 38


async def test_fifty_at_once_do_not_pass_the_cap_on_tokens_and_use_it_well(
    endpoint: Endpoint, settings: MakeSettings
) -> None:
    budget = Budget(tokens=1_000)  # each may take some 160, and takes 15
    results = await ask_many(built(settings(), budget), 100)
    answered = sum(isinstance(result, Founded) for result in results)
    assert (budget.spent.tokens, budget.spent.calls) == (15 * answered, answered)
    assert 50 < answered < 67
    assert endpoint.busiest < 10


async def test_fifty_at_once_do_not_pass_the_cap_on_dollars(
    endpoint: Endpoint, settings: MakeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", endpoint.url)
    endpoint.otherwise = lambda asked: answer({"year": 1}, read=60, written=100)  # 0.000069 dollars
    budget = Budget(usd=0.001)
    with measure_usage() as meter:
        results = await ask_many(built(settings(model_base_url="", model_api_key="k"), budget), 50)
    assert 10 <= sum(isinstance(result, Founded) for result in results) <= 14
    assert budget.spent.usd == pytest.approx(meter.usage.cost_usd)
    assert 0.0006 < budget.spent.usd <= 0.001
    assert str(next(result for result in results if isinstance(result, OverBudget))).startswith("The cap of $0.001")


async def test_a_failed_request_gives_back_what_was_set_aside(endpoint: Endpoint, settings: MakeSettings) -> None:
    endpoint.replies = [refusal(401)]
    model = built(settings(), Budget(calls=1))
    async with model:
        with pytest.raises(ModelRefused):
            await ask(model)
        assert await ask(model) == Founded(year=1987)


async def test_a_cancelled_request_gives_back_what_was_set_aside(endpoint: Endpoint, settings: MakeSettings) -> None:
    model = built(settings(), Budget(calls=1))
    endpoint.open_gate.clear()
    async with model:
        stuck = asyncio.create_task(ask(model))
        await endpoint.somebody_waits.wait()
        waits = asyncio.create_task(ask(model))
        stuck.cancel()
        endpoint.open_gate.set()
        assert await waits == Founded(year=1987)


async def test_each_of_two_who_are_apart_has_the_whole_budget(endpoint: Endpoint, settings: MakeSettings) -> None:
    budget = Budget(calls=2)
    model = built(settings(), budget)

    async def work(before: int) -> int:
        with budget.separate_account(Spend(calls=before)):
            await ask_many(model, 5)
            assert budget.exhausted == "2 model calls"
            return budget.spent.calls

    assert await asyncio.gather(work(0), work(1)) == [2, 1]
    assert len(endpoint.asked) == 3
    assert (budget.exhausted, budget.spent.calls) == ("", 0)


async def test_kept_answers_are_free_even_when_the_budget_is_spent(settings: MakeSettings) -> None:
    cache = MemoryCache()
    model = built(settings(), Budget(calls=1), cache)
    async with model:
        await ask(model)
        assert await ask(model) == Founded(year=1987)
        with pytest.raises(OverBudget):
            await ask(model, "another")


async def test_an_unknown_price_is_said_once_and_tokens_still_count(
    settings: MakeSettings, caplog: pytest.LogCaptureFixture
) -> None:
    budget = Budget(usd=0.000001, tokens=100_000)
    with caplog.at_level(logging.WARNING):
        results = await ask_many(built(settings(model="openai:our-own-model"), budget), 3)
    assert all(isinstance(result, Founded) for result in results)
    assert [record.getMessage() for record in caplog.records if "price" in record.getMessage()] == [
        "The price of our-own-model is not known: its tokens are counted, but the cap on dollars cannot hold."
    ]
    assert budget.unpriced == {"our-own-model"}
    assert budget.spent.tokens == 45


async def test_in_no_minute_more_requests_start_than_allowed_and_the_first_goes_first(naps: Naps) -> None:
    window = RateWindow(3, None, naps.clock, naps.sleep)
    started: list[tuple[int, float]] = []

    async def work(number: int) -> None:
        await window.wait_turn(0)
        started.append((number, naps.now - 1_000.0))
        naps.now += 1

    await asyncio.gather(*(work(number) for number in range(8)))
    assert [number for number, _ in started] == list(range(8))
    assert [at for _, at in started] == [0, 1, 2, 60, 61, 62, 120, 121]


async def test_tokens_a_minute_hold_and_one_huge_request_goes_alone(naps: Naps) -> None:
    window = RateWindow(None, 100, naps.clock, naps.sleep)
    started = []
    for tokens in (60, 40, 1, 500, 10):
        await window.wait_turn(tokens)
        started.append(naps.now - 1_000.0)
    assert started == [0, 0, 60, 120, 180]


async def test_a_small_request_does_not_overtake_a_large_one(naps: Naps) -> None:
    window = RateWindow(None, 100, naps.clock, naps.sleep)
    await window.wait_turn(60)
    started = []

    async def work(tokens: int) -> None:
        await window.wait_turn(tokens)
        started.append(tokens)

    await asyncio.gather(work(80), work(10), work(10))
    assert started == [80, 10, 10]


async def test_providers_do_not_share_their_minute(naps: Naps) -> None:
    limits = RateLimits(1, None, naps.clock, naps.sleep)
    await limits.window_for("openai").wait_turn(0)
    await limits.window_for("anthropic").wait_turn(0)
    assert naps.taken == []
    await limits.window_for("openai").wait_turn(0)
    assert naps.taken == [60.0]


async def test_an_estimate_of_tokens_is_corrected_by_the_answer(naps: Naps) -> None:
    async def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        usage = RequestUsage(input_tokens=10, output_tokens=5)
        return ModelResponse(parts=[TextPart('{"year": 1987}')], usage=usage)

    window = RateWindow(None, 210, naps.clock, naps.sleep)
    model = LanguageModel(RateLimited(PydanticAIModel(FunctionModel(reply)), window), name="test")
    for _ in range(3):  # each may take more than 100
        await ask(model)
    assert naps.taken == []
    for _ in range(3):
        await ask(model)
    assert naps.taken != []


async def test_the_settings_of_requests_a_minute_reach_the_model(settings: MakeSettings) -> None:
    model = build_model(settings(model_requests_per_minute="2"))
    assert model is not None
    async with model:
        await ask(model)
        await ask(model)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(ask(model), 0.05)


def second_at(url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("OLLAMA_BASE_URL", url)
    return "ollama:llama3.2"


async def test_the_second_model_answers_while_the_first_cannot_be_reached(
    endpoint: Endpoint, settings: MakeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    def reply(asked: Asked) -> Reply:
        hopeless = refusal(503, "closed", retry_after="3600")
        return answer({"year": 2}) if asked.body["model"] == "llama3.2" else hopeless

    endpoint.otherwise = reply
    model = build_model(settings(model_fallback=second_at(endpoint.url, monkeypatch), model_api_key="first's own"))
    assert model is not None
    assert model.name == "openai:gpt-4o-mini, else ollama:llama3.2"
    async with model:
        assert [(await ask(model)).year for _ in range(3)] == [2, 2, 2]
    assert [asked.body["model"] for asked in endpoint.asked] == ["gpt-4o-mini", "llama3.2", "llama3.2", "llama3.2"]
    assert "first's own" not in endpoint.asked[1].headers["authorization"]


async def test_a_refusal_and_an_empty_budget_are_not_taken_to_the_second_model(
    endpoint: Endpoint, settings: MakeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = second_at(endpoint.url, monkeypatch)
    endpoint.otherwise = refusal(401)
    model = build_model(settings(model_fallback=second), budget=Budget(calls=0))
    assert model is not None
    async with model:
        with pytest.raises(OverBudget):
            await ask(model)
    model = build_model(settings(model_fallback=second))
    assert model is not None
    async with model:
        with pytest.raises(ModelRefused):
            await ask(model)
    assert [asked.body["model"] for asked in endpoint.asked] == ["gpt-4o-mini"]


async def test_when_both_are_unavailable_both_reasons_are_said() -> None:
    def failing(why: str) -> PydanticAIModel:
        async def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
            raise ModelUnavailable(why)

        return PydanticAIModel(FunctionModel(reply))

    model = LanguageModel(Fallback(failing("One is away."), failing("Two is away.")), name="test")
    with pytest.raises(ModelUnavailable, match=r"One is away\. Two is away\."):
        await ask(model)


async def test_a_model_that_was_unavailable_rests_and_is_then_asked_again(naps: Naps) -> None:
    calls = []

    async def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        calls.append(naps.now)
        if len(calls) == 1:
            raise ModelUnavailable("It is away.")
        return ModelResponse(parts=[TextPart('{"year": 1987}')])

    model = LanguageModel(CoolDown(PydanticAIModel(FunctionModel(reply)), naps.clock), name="test")
    for _ in range(3):
        with pytest.raises(ModelUnavailable, match="It is away"):
            await ask(model)
    naps.now += COOL_DOWN_SECONDS
    assert await ask(model) == Founded(year=1987)
    assert calls == [1_000.0, 1_000.0 + COOL_DOWN_SECONDS]
