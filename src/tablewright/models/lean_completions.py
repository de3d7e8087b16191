"""Chat completions with less work for each.

The OpenAI library copies, renames, merges and rebuilds every request and every answer field by field; for ours that
changes nothing and takes half the CPU of a call. Here a request goes straight to the library's own HTTP client, and the
answer is validated once. What goes wrong is raised as the library's own errors.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import httpx2
from openai import APIConnectionError, APITimeoutError, AsyncOpenAI, NotGiven, Omit
from openai.resources.chat.completions import AsyncCompletions
from openai.types.chat import ChatCompletion
from pydantic import ValidationError
from pydantic_core import from_json, to_json

PATH = "chat/completions"
OWN = ("extra_headers", "extra_body", "timeout")
"""What is said of the request itself."""


class LeanCompletions(AsyncCompletions):
    async def create(self, **asked: Any) -> Any:
        own = {name: asked.pop(name, None) for name in OWN}
        given = {name: value for name, value in asked.items() if not isinstance(value, NotGiven | Omit)}
        assert not given.pop("stream", False), "our layers answer a streamed request whole"
        request = self._http.build_request(
            "POST",
            self._url,
            content=to_json(given | (own["extra_body"] or {})),
            headers=self._headers | (own["extra_headers"] or {}),
            timeout=own["timeout"] or self._client.timeout,
        )
        response = await self._send(request)
        if response.is_error:
            raise self._client._make_status_error_from_response(response)
        return completion(response)

    async def _send(self, request: httpx2.Request) -> httpx2.Response:
        try:
            return await self._http.send(request)
        except httpx2.TimeoutException as error:
            raise APITimeoutError(request=request) from error
        except httpx2.RequestError as error:
            raise APIConnectionError(request=request) from error

    @cached_property
    def _http(self) -> httpx2.AsyncClient:
        client: Any = self._client._client
        assert isinstance(client, httpx2.AsyncClient)
        return client

    @cached_property
    def _url(self) -> httpx2.URL:
        return httpx2.URL(str(self._client.base_url)).join(PATH)

    @cached_property
    def _headers(self) -> dict[str, str]:
        every: Any = self._client.default_headers | self._client.auth_headers
        return {name: value for name, value in every.items() if isinstance(value, str)}


def completion(response: httpx2.Response) -> ChatCompletion | str:
    """As the library has it: what is no JSON stays text, and a server that leaves fields out is let."""
    try:
        said = from_json(response.content)
    except ValueError:
        return response.text
    try:
        return ChatCompletion.model_validate(said)
    except ValidationError:
        return ChatCompletion.construct(**said) if isinstance(said, dict) else response.text


def make_lean(client: AsyncOpenAI) -> None:
    """Also ends the library's own retries: retry.py does it, for all providers alike."""
    client.max_retries = 0
    vars(client.chat)["completions"] = LeanCompletions(client)  # where the library itself keeps it once it is used
