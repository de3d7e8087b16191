"""llama.cpp for real, with a model small enough to be made for the test."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Literal

import httpx2
import pytest
from pydantic import BaseModel

from tablewright.domain.run import measure_usage
from tablewright.errors import ModelRefused
from tablewright.llm.build import build_model
from tablewright.llm.local import SERVERS
from tablewright.llm.model import LanguageModel
from tablewright.settings import Settings
from tests.llm.tiny_gguf import write_tiny_model


class Verdict(BaseModel):
    stance: Literal["supports", "contradicts"]
    sure: bool


def local(file: Path) -> LanguageModel:
    model = build_model(Settings(model=f"local:{file}"))
    assert model is not None
    return model


async def ask(model: LanguageModel) -> Verdict:
    return await model.ask(instructions="Judge.", prompt="Is it so?", output=Verdict, max_tokens=200)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_model(tmp_path_factory.mktemp("models") / "tiny.gguf")


async def test_even_random_weights_answer_in_the_asked_form(tiny: Path) -> None:
    with measure_usage() as meter:
        async with local(tiny) as model:
            verdict = await ask(model)
    assert verdict.stance in ("supports", "contradicts")
    assert (meter.usage.llm_calls, meter.usage.cost_usd) == (1, 0)
    assert meter.usage.output_tokens > 10


async def test_it_is_loaded_at_the_first_question_once_for_all_and_closed_by_the_last(tiny: Path) -> None:
    async with local(tiny) as one:
        assert SERVERS.running == {}
        async with local(tiny) as two:
            await asyncio.gather(*(ask(one) for _ in range(3)), *(ask(two) for _ in range(3)))
            (server,) = SERVERS.running.values()
            address = server.address
            del server
        await ask(one)
        assert [running.address for running in SERVERS.running.values()] == [address]
    assert SERVERS.running == {}
    async with httpx2.AsyncClient() as client:
        with pytest.raises(httpx2.ConnectError):
            await client.get(address)


async def test_nobody_else_on_this_machine_can_ask_it(tiny: Path) -> None:
    async with local(tiny) as model:
        await ask(model)
        (server,) = SERVERS.running.values()
        async with httpx2.AsyncClient() as client:
            response = await client.post(f"{server.address}/v1/chat/completions", json={"messages": []})
        del server
    assert response.status_code == 401


async def test_it_says_nothing_on_the_terminal(tiny: Path, capfd: pytest.CaptureFixture[str]) -> None:
    async with local(tiny) as model:
        await ask(model)
    assert capfd.readouterr() == ("", "")


async def test_a_damaged_model_is_refused(tiny: Path, tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.gguf"
    damaged.write_bytes(tiny.read_bytes()[:5_000])
    async with local(damaged) as model:
        with pytest.raises(ModelRefused, match=r"llama\.cpp cannot load damaged\.gguf"):
            await ask(model)
    assert SERVERS.running == {}


async def test_a_question_longer_than_its_context_is_refused(tiny: Path) -> None:
    async with local(tiny) as model:
        with pytest.raises(ModelRefused, match="The request is too long"):
            await model.ask(instructions="Judge.", prompt="long " * 2_000, output=Verdict)
