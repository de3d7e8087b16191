"""Recorded answers of a large language model: replayed, and how the recording itself works."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import BaseModel

from tablewright.llm.build import build_model
from tablewright.sample.model import RecordedModel
from tests.llm.endpoint import Asked, Endpoint, Reply, answer, refusal, running_endpoint
from tests.recorded import Changed, NotRecorded, Recording, names, recorded, replayed, request_key
from tests.scenarios import SCENARIOS
from tests.stage import Stage


@pytest.mark.parametrize("name", sorted(SCENARIOS))
async def test_what_a_large_model_answered_comes_to_the_same_result(name: str, tmp_path: Path) -> None:
    recording = Recording.load(name)
    async with replayed(recording) as endpoint:
        result = await SCENARIOS[name](Stage(endpoint.url, tmp_path))
    assert result == recording.result


def test_every_scenario_is_recorded_and_every_recording_has_its_scenario() -> None:
    assert names() == SCENARIOS.keys()


def test_the_demo_comes_with_its_recorded_answers() -> None:
    recorded = {key: exchange.reply for key, exchange in Recording.load("demo").exchanges.items()}
    assert RecordedModel().answers == recorded


class Opinion(BaseModel):
    opinion: str


async def opinions(stage: Stage, *subjects: str) -> list[str]:
    """A small scenario: one question for each subject."""
    model = build_model(stage.settings())
    assert model is not None
    async with model:
        answers = [
            await model.ask(instructions="Say what you think.", prompt=f"About\n{subject}", output=Opinion)
            for subject in subjects
        ]
    return [each.opinion for each in answers]


def thinking(asked: Asked) -> Reply:
    return answer(json.dumps({"opinion": asked.body["messages"][-1]["content"].upper()}, indent=4))


async def record(endpoint: Endpoint, folder: Path, *subjects: str) -> Recording:
    recording = Recording.load("opinions", folder) if names(folder) else Recording("opinions")
    async with recorded(recording, endpoint.url, "large") as proxy:
        recording.result = await opinions(Stage(proxy.url, folder), *subjects)
    recording.save(folder)
    return Recording.load("opinions", folder)


async def replay(recording: Recording, folder: Path, *subjects: str) -> list[str]:
    async with replayed(recording) as endpoint:
        return await opinions(Stage(endpoint.url, folder), *subjects)


async def test_what_is_recorded_is_replayed_without_the_model(tmp_path: Path) -> None:
    async with running_endpoint() as endpoint:
        endpoint.otherwise = thinking
        recording = await record(endpoint, tmp_path, "tea", "rain")
        assert [asked.body["model"] for asked in endpoint.asked] == ["large", "large"]
    assert await replay(recording, tmp_path, "tea", "rain") == recording.result == ["ABOUT\nTEA", "ABOUT\nRAIN"]
    kept = json.loads((tmp_path / "opinions.json").read_text())
    assert kept["model"] == "large"
    assert kept["exchanges"][0] == {
        "key": request_key(endpoint.asked[0].body),
        "schema": "Opinion",
        "messages": [
            {"role": "system", "content": ["Say what you think."]},
            {"role": "user", "content": ["About", "tea"]},
        ],
        "reply": {"opinion": "ABOUT\nTEA"},
    }


async def test_recording_again_asks_only_what_is_new_and_drops_what_is_no_longer_asked(tmp_path: Path) -> None:
    async with running_endpoint() as endpoint:
        endpoint.otherwise = thinking
        await record(endpoint, tmp_path, "tea", "rain")
        recording = await record(endpoint, tmp_path, "rain", "snow")
        assert len(endpoint.asked) == 3
    assert recording.result == ["ABOUT\nRAIN", "ABOUT\nSNOW"]
    assert len(recording.exchanges) == 2


@pytest.mark.parametrize("subjects", [("coffee", "rain"), ("tea",)])
async def test_a_changed_prompt_fails_and_says_how_to_record_again(subjects: tuple[str, ...], tmp_path: Path) -> None:
    async with running_endpoint() as endpoint:
        endpoint.otherwise = thinking
        recording = await record(endpoint, tmp_path, "tea", "rain")
    with pytest.raises(Changed, match=r"record it again: python scripts/record\.py opinions") as changed:
        await replay(recording, tmp_path, *subjects)
    assert ("'coffee'" in str(changed.value)) == ("coffee" in subjects)


async def test_a_scenario_that_goes_on_without_the_model_fails_too(tmp_path: Path) -> None:
    async def careless(url: str) -> None:
        with pytest.raises(Exception, match="refused the request: 404"):
            await opinions(Stage(url, tmp_path), "tea")

    async with running_endpoint() as endpoint:
        endpoint.otherwise = thinking
        recording = await record(endpoint, tmp_path, "rain")
    with pytest.raises(Changed):
        async with replayed(recording) as replaying:
            await careless(replaying.url)


async def test_an_error_of_the_model_is_not_recorded(tmp_path: Path) -> None:
    recording = Recording("opinions")
    async with running_endpoint() as endpoint:
        endpoint.otherwise = refusal(401, "no key")
        with pytest.raises(NotRecorded, match=r"answered 401 .*no key"):
            async with recorded(recording, endpoint.url, "large") as proxy:
                await opinions(Stage(proxy.url, tmp_path), "tea")
    assert recording.exchanges == {}


async def test_calls_of_tools_are_recorded_and_replayed_in_the_form_of_the_api(tmp_path: Path) -> None:
    call = {"id": "abc", "type": "function", "function": {"name": "search", "arguments": '{"query": "tea"}'}}
    said = json.loads(answer("").body)
    said["choices"][0] = {
        "index": 0,
        "finish_reason": "tool_calls",
        "message": {"role": "assistant", "tool_calls": [call]},
    }
    recording = Recording("tools")
    question: dict[str, Any] = {"messages": [{"role": "user", "content": "Tea?"}], "tools": [{"type": "function"}]}
    async with running_endpoint() as endpoint:
        endpoint.otherwise = Reply(body=json.dumps(said).encode(), headers={"content-type": "application/json"})
        async with recorded(recording, endpoint.url, "large") as proxy:
            first = await post(proxy.url, question)
    async with replayed(recording) as replaying:
        second = await post(replaying.url, question)
    assert first == second
    (called,) = second["choices"][0]["message"]["tool_calls"]
    assert (called["function"]["name"], json.loads(called["function"]["arguments"])) == ("search", {"query": "tea"})
    again = question["messages"] + [second["choices"][0]["message"]]
    other = question["messages"] + [second["choices"][0]["message"] | {"tool_calls": [called | {"id": "another"}]}]
    assert request_key({"messages": again}) == request_key({"messages": other})


async def post(url: str, question: dict[str, Any]) -> dict[str, Any]:
    async with httpx2.AsyncClient(trust_env=False) as client:
        said: dict[str, Any] = (await client.post(f"{url}/chat/completions", json=question)).json()
        return said


@pytest.mark.parametrize("name", ["shortlist_kettle", "shortlist_lamp", "shortlist_follow_ups"])
def test_the_transcripts_are_those_of_the_recordings(name: str) -> None:
    """If this fails: python evals/transcripts.py"""
    transcripts = runpy.run_path(str(Path(__file__).parents[1] / "evals" / "transcripts.py"))
    assert transcripts["path_of"](name).read_text(encoding="utf-8") == transcripts["written"](name)
