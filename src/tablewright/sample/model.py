"""The model of the demo: answers of a large language model, recorded once, given again over loopback HTTP.

It answers only what it was asked when it was recorded; anything else is refused. Requests are identified by a hash of
their messages, answer schema and tools.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from typing import Any, Self

NAME = "recorded"
ANSWERS = "answers.json"


def request_key(request: Mapping[str, Any]) -> str:
    asked = [strip_call_ids(request), request.get("response_format"), request.get("tools")]
    text = json.dumps(asked, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:20]


def strip_call_ids(request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The messages without what differs from run to run: the numbers of tool calls."""
    said = []
    for message in request["messages"]:
        kept = {part: message[part] for part in ("role", "content", "tool_calls") if message.get(part) is not None}
        if "tool_calls" in kept:
            kept["tool_calls"] = [
                {part: value for part, value in call.items() if part != "id"} for call in kept["tool_calls"]
            ]
        said.append(kept)
    return said


def make_completion(key: str, request: Mapping[str, Any], reply: Any) -> dict[str, Any]:
    """The reply as an endpoint sends it; the same each time, for the next request of a conversation quotes it."""
    text = reply if isinstance(reply, str) else json.dumps(reply, ensure_ascii=False)
    message: dict[str, Any] = {"role": "assistant", "content": text}
    if isinstance(reply, dict) and reply.keys() == {"tool_calls"}:
        calls = [
            {
                "id": f"call_{key}_{place}",
                "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call["arguments"], ensure_ascii=False)},
            }
            for place, call in enumerate(reply["tool_calls"])
        ]
        message |= {"content": None, "tool_calls": calls}
    read = sum(len(str(said.get("content"))) for said in request["messages"]) // 4
    written = len(text) // 4
    return {
        "id": key,
        "object": "chat.completion",
        "created": 0,
        "model": request.get("model", ""),
        "choices": [
            {"index": 0, "finish_reason": "tool_calls" if "tool_calls" in message else "stop", "message": message}
        ],
        "usage": {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written},
    }


class RecordedModel:
    """An OpenAI-compatible endpoint on a free port of this machine, with the answers that come with Tablewright."""

    def __init__(self) -> None:
        self.answers: dict[str, Any] = json.loads((files(__package__) / ANSWERS).read_text(encoding="utf-8"))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        self._server = SampleModelServer(("127.0.0.1", 0), SampleModelHandler)
        self._server.answers = self.answers
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class SampleModelServer(ThreadingHTTPServer):
    daemon_threads = True
    answers: Mapping[str, Any]


class SampleModelHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: SampleModelServer

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        key = request_key(request)
        known = key in self.server.answers
        refused = {"error": {"message": "The recorded model was never asked this."}}
        body = json.dumps(make_completion(key, request, self.server.answers[key]) if known else refused).encode()
        self.send_response(200 if known else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""
