"""Our own client of chat completions: it asks and answers as pydantic-ai's does, and needs no library of a provider."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import format_datetime
from importlib import import_module
from pkgutil import iter_modules
from time import time
from typing import Any

import httpx2
import pytest
from pydantic import BaseModel
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelRequest, UserPromptPart
from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer

from tablewright.domain.run import measure_usage
from tablewright.errors import ModelError, ModelRefused
from tablewright.llm import tasks
from tablewright.llm.build import build_model
from tablewright.llm.cache import strip_incidental
from tablewright.llm.chat_completions import strict_schema
from tablewright.llm.model import output_schema
from tablewright.llm.request import user_message
from tablewright.retry_after import read_retry_after
from tablewright.settings import Settings
from tests.llm.conftest import Founded
from tests.llm.endpoint import Endpoint, Reply, answer, json_reply, refusal

MakeSettings = Callable[..., Settings]

# Asked through pydantic-ai, since this model thinks.
THROUGH_PYDANTIC_AI = "gpt-5-mini"


async def ask(settings: Settings) -> Founded:
    model = build_model(settings)
    assert model is not None
    async with model:
        return await model.ask(instructions="Read the page.", prompt="Founded in 1987.", output=Founded)


def replies_of_tasks() -> list[type[BaseModel]]:
    modules = [import_module(f"{tasks.__name__}.{each.name}") for each in iter_modules(tasks.__path__)]
    found = {made for module in modules for made in vars(module).values() if isinstance(made, type)}
    return sorted((made for made in found if issubclass(made, BaseModel) and made is not BaseModel), key=str)


@pytest.mark.parametrize("output", replies_of_tasks(), ids=lambda output: output.__qualname__)
def test_a_schema_is_sent_as_pydantic_ai_sends_it(output: type[BaseModel]) -> None:
    theirs = OpenAIJsonSchemaTransformer(output.model_json_schema())
    schema = theirs.walk()
    expected = {"name": output.__name__, "schema": schema, "strict": theirs.is_strict_compatible}
    assert strict_schema(output_schema(output)) == expected


def test_a_question_has_the_form_in_which_pydantic_ai_stores_it() -> None:
    """Cached answers are found under a hash of this form."""
    theirs = ModelRequest(parts=[UserPromptPart(content="Founded in 1987.")], instructions="Read.")
    stored = ModelMessagesTypeAdapter.dump_python([theirs], mode="json")
    assert [user_message("Founded in 1987.", "Read.")] == strip_incidental(stored)


@pytest.mark.parametrize(
    "reply",
    [
        *(refusal(status, "why") for status in (400, 401, 402, 403, 404, 413, 422)),
        *(
            json_reply({"error": {"message": "why", "code": code}}, status)
            for code, status in (
                ("context_length_exceeded", 400),
                ("insufficient_quota", 429),
                ("model_not_found", 400),
                ("invalid_api_key", 400),
            )
        ),
        refusal(400, "This model's maximum context length is 8192 tokens."),
        refusal(429, "slow down", retry_after="3600"),
        refusal(503, "out of order", retry_after="3600"),
        Reply(body=b"<html>Welcome</html>"),
        json_reply({"choices": []}),
    ],
)
async def test_a_failure_is_the_same_as_with_pydantic_ai(
    endpoint: Endpoint, settings: MakeSettings, reply: Reply
) -> None:
    endpoint.otherwise = reply
    said = []
    for name in ("gpt-4o-mini", THROUGH_PYDANTIC_AI):
        with pytest.raises(ModelError) as failed:
            await ask(settings(model=f"openai:{name}"))
        what = failed.value.what.replace(name, "MODEL")
        # What an unusable answer was is told in the words of each client.
        said.append((type(failed.value), what.partition("not an answer")[0], failed.value.advice))
    assert said[0] == said[1]


async def test_thoughts_in_front_of_an_answer_are_left_out(endpoint: Endpoint, settings: MakeSettings) -> None:
    endpoint.otherwise = answer('<think>Is it {"year": 1800}? No.</think>\n{"year": 1987}')
    assert (await ask(settings())).year == 1987


async def test_a_refusal_in_an_answer_is_a_refusal(endpoint: Endpoint, settings: MakeSettings) -> None:
    said = json.loads(answer("").body)
    said["choices"][0]["message"] = {"role": "assistant", "content": None, "refusal": "I would rather not."}
    endpoint.otherwise = json_reply(said)
    with pytest.raises(ModelRefused, match="declined to answer"):
        await ask(settings())


async def test_an_answer_without_usage_is_still_an_answer(endpoint: Endpoint, settings: MakeSettings) -> None:
    said = json.loads(answer({"year": 1987}).body)
    said["usage"] = None
    endpoint.otherwise = json_reply(said)
    with measure_usage() as meter:
        assert (await ask(settings())).year == 1987
    assert (meter.usage.llm_calls, meter.usage.input_tokens) == (1, 0)


async def test_a_client_is_opened_again_after_it_was_closed(endpoint: Endpoint, settings: MakeSettings) -> None:
    model = build_model(settings())
    assert model is not None
    for _ in range(2):
        async with model:
            assert await model.ask(instructions="Read.", prompt="1987", output=Founded) == Founded(year=1987)


async def test_an_endpoint_without_a_key_is_sent_none(endpoint: Endpoint, settings: MakeSettings) -> None:
    await ask(settings())
    assert "authorization" not in endpoint.asked[0].headers


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "1500", "retry-after": "7"}, 1.5),
        ({"retry-after": "soon"}, None),
        ({"retry-after": format_datetime(datetime.fromtimestamp(0, UTC), usegmt=True)}, 0.0),
        ({}, None),
    ],
)
def test_the_wait_that_a_server_asks_for_has_three_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert read_retry_after(httpx2.Headers(headers)) == seconds
    later = format_datetime(datetime.fromtimestamp(time() + 60, UTC), usegmt=True)
    assert 0 < (read_retry_after(httpx2.Headers({"retry-after": later})) or 0) <= 60


ASK_ONCE: Any = """
import asyncio, sys
from pydantic import BaseModel
from tablewright.llm.build import build_model
from tablewright.llm.cache import MemoryCache
from tablewright.settings import Settings

class Founded(BaseModel):
    year: int

async def main():
    async with build_model(Settings(model="openai:ours", model_base_url=sys.argv[1]), MemoryCache()) as model:
        print(await model.ask(instructions="Read.", prompt="Founded in 1987.", output=Founded))

asyncio.run(main())
print({"pydantic_ai", "openai", "anthropic"} & sys.modules.keys())
"""


async def test_a_question_loads_no_library_of_a_provider(endpoint: Endpoint) -> None:

    running = await asyncio.create_subprocess_exec(
        sys.executable, "-c", ASK_ONCE, endpoint.url, stdout=subprocess.PIPE, env={"NO_PROXY": "127.0.0.1"}
    )
    said, _ = await running.communicate()
    assert said.decode() == "year=1987\nset()\n"
