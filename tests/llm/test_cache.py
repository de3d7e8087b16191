from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from pydantic import BaseModel

from tablewright.domain.run import Usage, measure_usage
from tablewright.errors import BadAnswer, ModelUnavailable
from tablewright.llm.build import build_model
from tablewright.llm.cache import AnswerCache, MemoryCache
from tablewright.llm.model import LanguageModel
from tablewright.settings import Settings
from tests.llm.conftest import Founded
from tests.llm.endpoint import Endpoint, answer

MakeSettings = Callable[..., Settings]


class Place(BaseModel):
    year: int
    city: str = ""


def model_with(settings: Settings, cache: AnswerCache, *, replay_only: bool = False) -> LanguageModel:
    model = build_model(settings, cache, replay_only=replay_only)
    assert model is not None
    return model


async def ask(
    model: LanguageModel,
    prompt: str = "Founded in 1987.",
    output: type[BaseModel] = Founded,
    instructions: str = "Read.",
    max_tokens: int = 512,
) -> BaseModel:
    async with model:
        return await model.ask(instructions=instructions, prompt=prompt, output=output, max_tokens=max_tokens)


async def test_the_same_question_is_bought_once(endpoint: Endpoint, settings: MakeSettings) -> None:
    cache = MemoryCache()
    await ask(model_with(settings(), cache))
    with measure_usage() as meter:
        assert await ask(model_with(settings(model_timeout="7"), cache)) == Founded(year=1987)
    assert len(endpoint.asked) == 1
    assert meter.usage == Usage(cache_hits=1)


async def test_who_asks_the_same_at_the_same_moment_waits_for_one_answer(
    endpoint: Endpoint, settings: MakeSettings
) -> None:
    model = model_with(settings(), MemoryCache())
    asked = {"instructions": "Read.", "prompt": "Founded in 1987.", "output": Founded, "max_tokens": 512}
    async with model:
        with measure_usage() as meter:
            said = await asyncio.gather(*(model.ask(**asked) for _ in range(3)))
    assert said == [Founded(year=1987)] * 3
    assert len(endpoint.asked) == 1
    assert (meter.usage.llm_calls, meter.usage.cache_hits) == (1, 2)


async def test_who_waits_for_one_who_gives_up_asks_himself(endpoint: Endpoint, settings: MakeSettings) -> None:
    model = model_with(settings(), MemoryCache())
    asked = {"instructions": "Read.", "prompt": "Founded in 1987.", "output": Founded, "max_tokens": 512}
    async with model:
        first = asyncio.create_task(model.ask(**asked))
        while not endpoint.asked:  # noqa: ASYNC110
            await asyncio.sleep(0.001)
        second = asyncio.create_task(model.ask(**asked))
        await asyncio.sleep(0)
        first.cancel()
        assert await second == Founded(year=1987)


async def test_another_question_is_not_answered_from_the_cache(endpoint: Endpoint, settings: MakeSettings) -> None:
    cache = MemoryCache()
    await ask(model_with(settings(), cache))
    await ask(model_with(settings(), cache), prompt="Founded in 1988.")
    await ask(model_with(settings(), cache), instructions="Read well.")
    await ask(model_with(settings(), cache), output=Place)
    await ask(model_with(settings(), cache), max_tokens=100)
    await ask(model_with(settings(model="openai:gpt-4o"), cache))
    await ask(model_with(settings(model_base_url=endpoint.url.replace("/v1", "/v2")), cache))
    assert len(endpoint.asked) == 7


async def test_a_repaired_answer_is_replayed_with_its_repair(endpoint: Endpoint, settings: MakeSettings) -> None:
    cache = MemoryCache()
    endpoint.replies = [answer("what?"), answer({"year": 1999})]
    await ask(model_with(settings(), cache))
    assert await ask(model_with(settings(), cache, replay_only=True)) == Founded(year=1999)
    assert len(endpoint.asked) == 2


@pytest.mark.parametrize("first", ['{"ye', '{"year": 1999}'])
async def test_what_came_of_an_answer_that_was_cut_off_is_kept(
    first: str, endpoint: Endpoint, settings: MakeSettings
) -> None:
    cache = MemoryCache()
    endpoint.replies = [answer(first, finish="length"), answer({"year": 1999})]
    await ask(model_with(settings(), cache))
    asked = len(endpoint.asked)
    assert await ask(model_with(settings(), cache, replay_only=True)) == Founded(year=1999)
    assert len(endpoint.asked) == asked


async def test_an_unusable_answer_is_not_kept(endpoint: Endpoint, settings: MakeSettings) -> None:
    cache = MemoryCache()
    endpoint.replies = [answer("what?"), answer("what?")]
    with pytest.raises(BadAnswer):
        await ask(model_with(settings(), cache))
    assert cache.kept == {}
    assert await ask(model_with(settings(), cache)) == Founded(year=1987)


async def test_replaying_never_asks(endpoint: Endpoint, settings: MakeSettings) -> None:
    for cache in (MemoryCache(), None):
        model = build_model(settings(), cache, replay_only=True)
        assert model is not None
        with pytest.raises(ModelUnavailable, match="only kept answers"):
            await ask(model)
    assert endpoint.asked == []
