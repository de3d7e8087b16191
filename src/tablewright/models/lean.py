"""Chat completions with less work for each.

The OpenAI library walks through every request to rename keys, which changes nothing in ours and takes a quarter of the
CPU of a call: measured, 3.9 ms with it and 2.8 ms without.
"""

from __future__ import annotations

from typing import Any

from openai import AsyncOpenAI, NotGiven, Omit
from openai.resources.chat.completions import AsyncCompletions
from openai.types.chat import ChatCompletion

OPTIONS = {"extra_headers": "headers", "extra_query": "params", "extra_body": "extra_json", "timeout": "timeout"}
"""What is said of the request itself, and what the client calls it."""


class LeanCompletions(AsyncCompletions):
    async def create(self, **asked: Any) -> Any:
        given = {name: value for name, value in asked.items() if not isinstance(value, NotGiven | Omit)}
        assert not given.pop("stream", False), "our layers answer a streamed request whole"
        options = {OPTIONS[name]: value for name in OPTIONS if (value := given.pop(name, None)) is not None}
        client: Any = self._client
        return await client.post("/chat/completions", body=given, options=options, cast_to=ChatCompletion)


def make_lean(client: AsyncOpenAI) -> None:
    """Also ends the library's own retries: retry.py does it, for all providers alike."""
    client.max_retries = 0
    vars(client.chat)["completions"] = LeanCompletions(client)  # where the library itself keeps it once it is used
