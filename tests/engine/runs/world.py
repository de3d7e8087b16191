"""A small world on loopback that counts: a search engine, the pages of invented companies, and a language model.

    python tests/engine/runs/world.py --delay 0.2 --companies 500

prints its address, then answers. It runs in a process of its own, so that its CPU is nobody else's, and needs only the
standard library. Everything it is asked is counted: how often it was asked, and how often it was answered while whoever
had asked was still there. A provider that sees a client go stops working for it, and so does this one.

A model's request may ask about several rows at once; each row is a question of its own, and counted for itself. A plan
of searches is for all rows, so its question is the same whichever row it names for a sample.

    GET /counts   {"model": {question: [asked, answered]}, "plan": …, "search": …, "page": …}, each a list of times, and
                  "moments": {"model": [when each request came], …}
    GET /asked    how many requests there were so far, in a word
    GET /forget   starts counting anew, and answers everything
    GET /let?more=20   lets the model answer 20 more requests; those after them wait until it is let again. Without a
                  number, it answers them all
    GET /held     how many requests wait so
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import math
import random
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import parse_qs, urlsplit

FIELDS = (
    "Founded:number=What year was {Company} founded?",
    "City=In which city is {Company} headquartered?",
    "Employees:number=How many people does {Company} employ?",
)
# Every so manyth company does not say how many it employs, so that its row is tried again.
QUIET = 10
CITIES = "Harwick Ostrava Lindholm Varenna Tolmin Kessel Brunnen Aldeby Corvara Nyhavn Peniche Zadar".split()
TRADES = "Foundry Optics Instruments Textiles Brewing Robotics Ceramics Marine Botanics Analytics".split()
FACTS = {
    "found": re.compile(r"was founded in (\d{4})"),
    "city": re.compile(r"is headquartered in ([A-Z]\w+)"),
    "headquarter": re.compile(r"is headquartered in ([A-Z]\w+)"),
    "employ": re.compile(r"employs ([\d,]+) people"),
}
ROW = re.compile(r"^=== ROW \d+ ===\n", re.MULTILINE)
SAMPLE = re.compile(r"\(such as .*?\)$", re.MULTILINE)
AGAIN = re.compile(r"RETRY ATTEMPT (\d+)")
END = b"\r\n\r\n"
KINDS = ("model", "plan", "search", "page")


# ── what is in it ────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, kw_only=True)
class Company:
    number: int
    name: str
    founded: int
    city: str
    employees: int | None

    @property
    def path(self) -> str:
        return f"/company/{self.number}"

    @property
    def page(self) -> str:
        staff = f"{self.name} employs {self.employees:,} people." if self.employees else "Visitors are welcome."
        told = f"{self.name} was founded in {self.founded}. {self.name} is headquartered in {self.city}. {staff}"
        return f"<html><head><title>{self.name}</title></head><body><h1>{self.name}</h1><p>{told}</p></body></html>"


def companies(count: int) -> list[Company]:
    chance = random.Random(7)
    starts, vowels, ends = (
        "b br d dr f g gr h k l m n p r s st t tr v z".split(),
        "aeiou",
        "l n r s t x nd lm rk".split(),
    )
    stems: dict[str, None] = {}
    while len(stems) < count:
        stem = "".join(chance.choice(starts) + chance.choice(vowels) for _ in range(2)) + chance.choice(ends)
        stems[stem.capitalize()] = None
    return [
        Company(
            number=number,
            name=f"{stem} {chance.choice(TRADES)}",
            founded=chance.randrange(1850, 2020),
            city=chance.choice(CITIES),
            employees=None if number % QUIET == 0 else chance.randrange(11, 4_000),
        )
        for number, stem in enumerate(stems, start=1)
    ]


def written(some: list[Company]) -> str:
    """As a CSV file with a column of names."""
    return "Company\n" + "".join(f"{company.name}\n" for company in some)


# ── what it answers ──────────────────────────────────────────────────────────────────────────────────────────────────


def completion(request: dict[str, Any]) -> dict[str, Any]:
    form = form_of(request)
    answer = filled(form, form.get("$defs", {}), said(request))
    return {
        "id": "chatcmpl-world",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": request["model"],
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": json.dumps(answer)}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
    }


def form_of(request: dict[str, Any]) -> dict[str, Any]:
    form: dict[str, Any] = request["response_format"]["json_schema"]["schema"]
    return form


def said(request: dict[str, Any]) -> str:
    content = request["messages"][-1]["content"]
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def questions(request: dict[str, Any]) -> list[str]:
    """What is bought with it: the rows it asks about, or the plan for all rows, whichever of them it names."""
    text = SAMPLE.sub("", said(request))
    return [part.strip() for part in ROW.split(text) if part.strip()]


def filled(form: dict[str, Any], shared: dict[str, Any], text: str, name: str = "") -> Any:
    """What the text says, in the form that is asked for."""
    if "$ref" in form:
        return filled(shared[form["$ref"].rpartition("/")[2]], shared, text, name)
    asked = form.get("properties", {})
    if set(asked) == {"texts", "cells"}:
        columns = shared[asked["cells"]["$ref"].rpartition("/")[2]]["properties"]
        return {"texts": [], "cells": {column: facts(column, text) for column in columns}}
    if form.get("type") == "object":
        if all(key.startswith("row ") for key in asked):
            texts = [part for part in ROW.split(text) if part.strip()]
            return {key: filled(asked[key], shared, texts[place], key) for place, key in enumerate(asked)}
        return {key: filled(inner, shared, text, key) for key, inner in asked.items()}
    match name:
        case "patterns":
            again = AGAIN.search(text)
            return [f"%entity annual review {again[1]}" if again else "%entity company profile"]
        case "numbers":
            return [1]
        case "name":
            return ""
    raise ValueError(f"nobody has told this model what {name!r} is")


def facts(column: str, text: str) -> list[dict[str, Any]]:
    pattern = next(pattern for word, pattern in FACTS.items() if word in column.lower())
    found = pattern.search(text)
    return (
        [
            {
                "value": found[1],
                "basis": "stated",
                "quotes": [{"text": 1, "quote": found[0]}],
                "calculation": "",
                "alternatives": [],
            }
        ]
        if found
        else []
    )


class Endpoint:
    def __init__(self, delay: float, count: int) -> None:
        self._delay = delay
        self._companies = companies(count)
        self._by_path = {company.path: company for company in self._companies}
        self._by_stem = {company.name.split()[0].lower(): company for company in self._companies}
        self._forget()

    def _forget(self) -> None:
        self._asked = 0
        self._more: float = math.inf
        self._held: list[tuple[Conversation, Callable[[], object]]] = []
        self._counts: dict[str, dict[str, list[list[float]]]] = {kind: {} for kind in KINDS}
        self._moments: dict[str, list[float]] = {kind: [] for kind in KINDS}

    async def serve(self) -> None:
        server = await asyncio.get_running_loop().create_server(lambda: Conversation(self), "127.0.0.1", 0)
        self._address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        sys.stdout.write(f"{self._address}\n")
        sys.stdout.flush()
        await server.serve_forever()

    def asked(self, conversation: Conversation, address: str, body: bytes) -> None:
        parts = urlsplit(address)
        if parts.path == "/v1/chat/completions":
            request = json.loads(body)
            keys = [hashlib.sha256(question.encode()).hexdigest() for question in questions(request)]
            kind = "plan" if "patterns" in form_of(request)["properties"] else "model"
            self._count(conversation, kind, keys, lambda: completion(request), self._delay)
        elif parts.path == "/search":
            query = parse_qs(parts.query)["q"][0]
            self._count(conversation, "search", [query], lambda: self._results(query))
        elif parts.path in self._by_path:
            self._count(conversation, "page", [parts.path], lambda: self._by_path[parts.path].page)
        elif parts.path == "/counts":
            conversation.answer({**self._counts, "moments": self._moments})
        elif parts.path == "/asked":
            conversation.answer(self._asked)
        elif parts.path == "/let":
            self._let(float(parse_qs(parts.query).get("more", ["inf"])[0]))
            conversation.answer({})
        elif parts.path == "/held":
            conversation.answer(len(self._waiting()))
        elif parts.path == "/forget":
            self._forget()
            conversation.answer({})
        else:
            conversation.answer("", status="404 Not Found")

    def _count(
        self, conversation: Conversation, kind: str, keys: list[str], make: Callable[[], Any], delay: float = 0.0
    ) -> None:
        self._asked += 1
        now = time.time()
        self._moments[kind].append(now)
        for key in keys:
            self._counts[kind].setdefault(key, [[], []])[0].append(now)
        of_kind = self._counts[kind]

        def answer() -> None:
            if conversation.answer(make()):
                for key in keys:
                    of_kind[key][1].append(time.time())

        # Even without a delay through the loop, which looks first at whether the client has gone.
        later = partial(asyncio.get_running_loop().call_later, delay, answer)
        if kind in ("search", "page"):
            later()
        else:
            self._held.append((conversation, later))
            self._let(self._more)

    def _waiting(self) -> list[tuple[Conversation, Callable[[], object]]]:
        return [(conversation, later) for conversation, later in self._held if not conversation.gone]

    def _let(self, more: float) -> None:
        self._more, self._held = more, self._waiting()
        while self._held and self._more > 0:
            self._more -= 1
            self._held.pop(0)[1]()

    def _results(self, query: str) -> dict[str, Any]:
        found = [self._by_stem[word] for word in re.findall(r"\w+", query.lower()) if word in self._by_stem]
        results = [
            {
                "url": self._address + company.path,
                "title": company.name,
                "content": f"{company.name}: the company, its people and its history.",
            }
            for company in dict.fromkeys(found)
        ]
        return {"query": query, "results": results, "unresponsive_engines": []}


class Conversation(asyncio.Protocol):
    """One kept-alive connection: a question, its answer, the next question."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self._buffer = b""
        self.gone = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def connection_lost(self, error: Exception | None) -> None:
        self.gone = True

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        head, found, body = self._buffer.partition(END)
        length = re.search(rb"content-length: *(\d+)", head, re.IGNORECASE)
        if not found or len(body) < (int(length[1]) if length else 0):
            return
        self._buffer = b""
        self._endpoint.asked(self, head.split(b" ", 2)[1].decode(), body)

    def answer(self, answer: Any, status: str = "200 OK") -> bool:
        """Whether anybody was there to hear it."""
        if self.gone or self._transport.is_closing():
            return False
        is_page = isinstance(answer, str)
        body = answer.encode() if is_page else json.dumps(answer).encode()
        media_type = "text/html; charset=utf-8" if is_page else "application/json"
        head = f"HTTP/1.1 {status}\r\ncontent-type: {media_type}\r\ncontent-length: {len(body)}"
        self._transport.write(head.encode() + END + body)
        return True


# ── for whoever looks at it ──────────────────────────────────────────────────────────────────────────────────────────


Times: TypeAlias = "tuple[list[float], list[float]]"


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Times by question: when it was asked, and when it was answered."""

    model: dict[str, Times]
    plan: dict[str, Times]
    search: dict[str, Times]
    page: dict[str, Times]
    moments: dict[str, list[float]]

    def twice(self, kind: str) -> list[list[float]]:
        """The times of the answers to each question that was answered more than once."""
        return [answered for _, answered in getattr(self, kind).values() if len(answered) > 1]

    def asked_twice(self, kind: str) -> int:
        return sum(len(asked) > 1 for asked, _ in getattr(self, kind).values())

    @property
    def model_calls(self) -> list[float]:
        """When each request to the model came, whatever it asked."""
        return sorted(self.moments["model"] + self.moments["plan"])

    def busiest(self, seconds: float = 1.0) -> int:
        """The most requests to the model that came in any span of so many seconds."""
        moments, first, most = self.model_calls, 0, 0
        for last, moment in enumerate(moments):
            while moments[first] <= moment - seconds:
                first += 1
            most = max(most, last - first + 1)
        return most


@dataclass(frozen=True, kw_only=True)
class World:
    url: str
    size: int
    process: subprocess.Popen[str] = field(repr=False)

    @property
    def environ(self) -> dict[str, str]:
        return {
            "TABLEWRIGHT_SEARCH": f"searxng:{self.url}",
            "TABLEWRIGHT_FETCH_ALLOW": "127.0.0.1",
            "TABLEWRIGHT_MODEL": "openai:fake",
            "TABLEWRIGHT_MODEL_BASE_URL": f"{self.url}/v1",
            "TABLEWRIGHT_MODEL_API_KEY": "x",
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
        }

    @cached_property
    def companies(self) -> list[Company]:
        return companies(self.size)

    def counts(self) -> Counts:
        return Counts(**self._get("counts"))

    def asked(self) -> int:
        return int(self._get("asked"))

    def let(self, more: int | None = None) -> None:
        """The model answers so many more requests, and keeps those after them waiting; or answers all."""
        self._get("let" if more is None else f"let?more={more}")

    def is_held(self) -> bool:
        return int(self._get("held")) > 0

    def forget(self) -> None:
        self._get("forget")

    def _get(self, what: str) -> Any:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"{self.url}/{what}", timeout=600) as answer:
            return json.load(answer)


@contextmanager
def open_world(*, delay: float, size: int) -> Iterator[World]:
    command = [sys.executable, str(Path(__file__).resolve()), "--delay", str(delay), "--companies", str(size)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield World(url=process.stdout.readline().strip(), size=size, process=process)
        finally:
            process.terminate()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--delay", type=float, default=0.2, help="Seconds from a model's question to its answer.")
    parser.add_argument("--companies", type=int, default=500)
    options = parser.parse_args()
    asyncio.run(Endpoint(options.delay, options.companies).serve())
