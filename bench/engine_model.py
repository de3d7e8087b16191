"""A language model that knows one thing and takes its time: an OpenAI-compatible endpoint on loopback, for engine.py.

    python bench/engine_model.py --delay 0.5

It prints its address, then answers every question after the delay: it finds "X was founded in Y" in what it is asked
and fills the JSON schema of the request with it, whatever product asks. It runs in a process of its own, so that its
CPU is nobody else's, and counts what it is sent: GET /taken tells and starts anew.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import time
from dataclasses import asdict, dataclass
from typing import Any

FACT = re.compile(r"[\w ]+ was founded in (\d{4})")
END = b"\r\n\r\n"
STATUS = {200: "OK", 400: "Bad Request", 404: "Not Found"}


@dataclass
class Taken:
    requests: int = 0
    sent: int = 0
    """Bytes of the questions, without their headers."""
    tokens: int = 0
    """Tokens of questions and answers, four characters each."""
    first_at: float = 0.0
    """When the first question came, by the clock of the machine."""
    at_once: int = 0
    """The most questions that waited for their answers at one time."""
    waiting: int = 0


class Endpoint:
    def __init__(self, delay: float) -> None:
        self._delay = delay
        self._taken = Taken()

    async def serve(self) -> None:
        server = await asyncio.get_running_loop().create_server(lambda: Conversation(self), "127.0.0.1", 0)
        print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", flush=True)
        await server.serve_forever()

    def asked(self, conversation: Conversation, path: str, body: bytes) -> None:
        if path == "/v1/chat/completions":
            taken = self._taken
            taken.requests, taken.sent, taken.waiting = taken.requests + 1, taken.sent + len(body), taken.waiting + 1
            taken.at_once = max(taken.at_once, taken.waiting)
            taken.first_at = taken.first_at or time.time()
            asyncio.get_running_loop().call_later(self._delay, self._answer, conversation, body)
        elif path == "/v1/models":
            conversation.write(200, {"object": "list", "data": [{"id": "bench", "object": "model"}]})
        elif path == "/taken":
            conversation.write(200, asdict(self._taken))
            self._taken = Taken()
        else:
            conversation.write(404, {"error": {"message": f"There is no {path}."}})

    def _answer(self, conversation: Conversation, body: bytes) -> None:
        self._taken.waiting -= 1
        status, answer = completion(json.loads(body))
        self._taken.tokens += answer.get("usage", {}).get("total_tokens", 0)
        conversation.write(status, answer)


class Conversation(asyncio.Protocol):
    """One kept-alive connection: a question, its answer, the next question."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, body = self._buffer.partition(END)
        if not found:
            return
        length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
        if len(body) < (int(length[1]) if length else 0):
            return
        self._buffer = b""
        self._endpoint.asked(self, head.split(b" ", 2)[1].decode(), body)

    def write(self, status: int, answer: dict[str, Any]) -> None:
        body = json.dumps(answer).encode()
        head = f"HTTP/1.1 {status} {STATUS[status]}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
        self._transport.write(head.encode() + END + body)


def completion(request: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    form = request.get("response_format", {}).get("json_schema", {}).get("schema")
    # A question about several rows has a part for each; in a part, earlier facts are examples.
    parts = re.split(r"=== ROW \d+ ===", request["messages"][-1]["content"])
    facts = [found[-1] for part in parts if (found := list(FACT.finditer(part)))]
    if form is None or not facts:
        return 400, {"error": {"message": "This model wants a JSON schema and a text that says X was founded in Y."}}
    shared = form.get("$defs", {})
    if "row 1" in form["properties"]:
        rows = zip(form["properties"].items(), facts, strict=True)
        answer = json.dumps({name: filled(inner, shared, fact) for (name, inner), fact in rows})
    else:
        answer = json.dumps(filled(form, shared, facts[-1]))
    read, written = len(json.dumps(request)) // 4, len(answer) // 4
    return 200, {
        "id": "chatcmpl-bench",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": request["model"],
        "choices": [{"index": 0, "message": {"role": "assistant", "content": answer}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
    }


def filled(form: dict[str, Any], shared: dict[str, Any], fact: re.Match[str], name: str = "") -> Any:
    """The year wherever the schema wants a value; the words it stands in where it wants a quote."""
    if "$ref" in form:
        return filled(shared[form["$ref"].rpartition("/")[2]], shared, fact, name)
    if "anyOf" in form:
        return filled(form["anyOf"][0], shared, fact, name)
    if "enum" in form:
        return form["enum"][0]
    match form.get("type"):
        case "object":
            return {key: filled(inner, shared, fact, key) for key, inner in form.get("properties", {}).items()}
        case "array":
            return [filled(form["items"], shared, fact, name)]
        case "integer" | "number":
            return 1 if name in ("text", "numbers") else int(fact[1])  # the number of a text or a result, or the year
        case _:
            return fact[0].strip() if name == "quote" else fact[1]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--delay", type=float, default=0.5, help="Seconds from the question to its answer.")
    asyncio.run(Endpoint(parser.parse_args().delay).serve())
