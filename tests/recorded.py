"""Answers of a large language model that were recorded once and are replayed in the tests, over loopback HTTP.

A recording is one JSON file a scenario, `tests/recordings/SCENARIO.json`: what came of it, and for every request the
exact prompt and the answer. Requests are told apart by a hash of their messages, answer schema and tools, so a changed
prompt has no answer and fails the test. `scripts/record.py` records.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import httpx2

from tablewright.sample.model import make_completion, request_key, strip_call_ids
from tests.llm.endpoint import Asked, Endpoint, Reply, json_reply, refusal, running_endpoint

FOLDER = Path(__file__).parent / "recordings"
CHANGED = (
    "The scenario {name!r} no longer asks what was recorded ({what}); if that is meant, record it again: "
    "python scripts/record.py {name} --base-url URL --model NAME"
)
TOOLS_BY_NAME = {"tools": "by name"}
# Seconds: a model may be slow, and so may a person who stands in for one.
PATIENCE = 1_800.0


class Changed(AssertionError):
    """What is asked is not what was recorded."""


class NotRecorded(Exception):
    """The model could not be asked."""


@dataclass
class Exchange:
    """`schema` is the name of the form of the answer. An answer is an object, a text, or {"tool_calls": [...]}."""

    key: str
    schema: str
    messages: list[dict[str, Any]]
    reply: Any


@dataclass
class Recording:
    name: str
    model: str = ""
    result: Any = None
    exchanges: dict[str, Exchange] = field(default_factory=dict)

    @classmethod
    def load(cls, name: str, folder: Path = FOLDER) -> Self:
        kept = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        exchanges = {
            each["key"]: Exchange(each["key"], each["schema"], unfolded(each["messages"]), each["reply"])
            for each in kept["exchanges"]
        }
        return cls(name, kept["model"], kept["result"], exchanges)

    def save(self, folder: Path = FOLDER) -> None:
        exchanges = [vars(each) | {"messages": folded(each.messages)} for each in self.exchanges.values()]
        kept = {"model": self.model, "result": self.result, "exchanges": exchanges}
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(kept, ensure_ascii=False, indent=1)
        (folder / f"{self.name}.json").write_text(text + "\n", encoding="utf-8")


def names(folder: Path = FOLDER) -> set[str]:
    return {file.stem for file in folder.glob("*.json")}


@asynccontextmanager
async def replayed(recording: Recording) -> AsyncIterator[Endpoint]:
    """Gives the recorded answers. Raises Changed at the end if anything else was asked, or not all of it."""
    asked: set[str] = set()
    unknown: list[str] = []

    def respond(request: Asked) -> Reply:
        key = known_by(request.body)
        asked.add(key)
        if (known := recording.exchanges.get(key)) is None:
            unknown.append(f"{schema_of(request.body)}: {first_difference(request.body, recording)}")
            return refusal(404, "This was not recorded.")
        return answered(key, request.body, known.reply)

    async with running_endpoint() as endpoint:
        endpoint.otherwise = respond
        try:
            yield endpoint
        except Exception as error:
            if unknown:
                raise Changed(CHANGED.format(name=recording.name, what=unknown[0])) from error
            raise
    if unknown:
        raise Changed(CHANGED.format(name=recording.name, what=unknown[0]))
    if unused := recording.exchanges.keys() - asked:
        raise Changed(CHANGED.format(name=recording.name, what=f"answers not asked for: {len(unused)}"))


@asynccontextmanager
async def recorded(
    recording: Recording, base_url: str, model: str, api_key: str = "", *, fresh: bool = False
) -> AsyncIterator[Endpoint]:
    """Passes requests on to a model and keeps what it answers in `recording`, and nothing else. What is kept already is
    not asked again, unless `fresh`. Raises NotRecorded at the end if the model failed, however the scenario ended."""
    failures: list[str] = []
    kept, recording.exchanges, recording.model = recording.exchanges, {}, model
    headers = {"authorization": f"Bearer {api_key}"} if api_key else {}
    async with running_endpoint() as endpoint, httpx2.AsyncClient(timeout=PATIENCE, trust_env=False) as client:

        async def respond(request: Asked) -> Reply:
            key = known_by(request.body)
            known = recording.exchanges.get(key) or (None if fresh else kept.get(key))
            if known is None:
                address = f"{base_url.rstrip('/')}/chat/completions"
                response = await client.post(address, json=request.body | {"model": model}, headers=headers)
                if response.is_error:
                    failures.append(f"{response.status_code} {response.text[:200]}")
                    return Reply(response.status_code, response.content, {"content-type": "application/json"})
                reply = reply_in(response.json()["choices"][0]["message"])
                known = Exchange(key, schema_of(request.body), strip_call_ids(request.body), reply)
            recording.exchanges[key] = known
            return answered(key, request.body, known.reply)

        endpoint.otherwise = respond
        try:
            yield endpoint
        finally:
            if failures:
                raise NotRecorded(f"{base_url} answered {failures[0]}")


# ── requests and answers on the wire ─────────────────────────────────────────────────────────────────────────────────


def known_by(request: dict[str, Any]) -> str:
    """An assistant knows what its tools say of themselves, which may change; a recording knows them by their names."""
    if request.get("metadata") == TOOLS_BY_NAME:
        request = request | {"tools": [tool["function"]["name"] for tool in request["tools"]]}
    return request_key(request)


def schema_of(request: dict[str, Any]) -> str:
    return str((request.get("response_format") or {}).get("json_schema", {}).get("name", ""))


def reply_in(message: dict[str, Any]) -> Any:
    """What a model said, as it is kept: an object where it is one, so that people can read it."""
    if calls := message.get("tool_calls"):
        called = [call["function"] for call in calls]
        return {"tool_calls": [{"name": c["name"], "arguments": json.loads(c["arguments"])} for c in called]}
    text = message.get("content") or ""
    try:
        said = json.loads(text)
    except ValueError:
        return text
    return said if isinstance(said, dict) else text


def answered(key: str, request: dict[str, Any], reply: Any) -> Reply:
    return json_reply(make_completion(key, request, reply))


# ── files that people can read ───────────────────────────────────────────────────────────────────────────────────────


def folded(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A prompt is a list of its lines, so that a changed one is a small difference."""
    return [
        message | {"content": message["content"].split("\n")} if isinstance(message.get("content"), str) else message
        for message in messages
    ]


def unfolded(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [
        message | {"content": "\n".join(message["content"])} if isinstance(message.get("content"), list) else message
        for message in messages
    ]


def first_difference(request: dict[str, Any], recording: Recording) -> str:
    """The line of a new prompt at which it leaves the recorded one that is most like it."""
    new = lines_of(strip_call_ids(request))
    agreed = max((alike(new, lines_of(each.messages)) for each in recording.exchanges.values()), default=0)
    return repr(new[agreed][:100]) if agreed < len(new) else "another schema"


def lines_of(messages: list[dict[str, Any]]) -> list[str]:
    return [line for message in messages for line in str(message.get("content")).split("\n")]


def alike(one: list[str], other: list[str]) -> int:
    """How many lines two texts have in common at the start."""
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))
