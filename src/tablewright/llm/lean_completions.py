"""Chat completions of the OpenAI library with half the CPU per call.

The library copies, renames, merges and rebuilds every request and answer field by field, which changes nothing in ours.
Here a request goes straight to the library's own HTTP client, and the answer is validated once. Errors are raised as
the library's own. Imports `openai`, an extra, so other modules import this one inside functions.
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


class LeanCompletions(AsyncCompletions):
    """Takes the place of the library's `client.chat.completions`."""

    async def create(self, **asked: Any) -> Any:
        own = {name: asked.pop(name, None) for name in ("extra_headers", "extra_body", "timeout")}
        # The library marks arguments that were not given by objects of its own, which are no JSON.
        given = {name: value for name, value in asked.items() if not isinstance(value, NotGiven | Omit)}
        assert not given.pop("stream", False), "our wrappers answer a streamed request whole"
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
        return parse_completion(response)

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
        return httpx2.URL(str(self._client.base_url)).join("chat/completions")

    @cached_property
    def _headers(self) -> dict[str, str]:
        every: Any = self._client.default_headers | self._client.auth_headers
        return {name: value for name, value in every.items() if isinstance(value, str)}


def parse_completion(response: httpx2.Response) -> ChatCompletion | str:
    """Return the answer as the library does: text if it is not JSON, and without checks if fields are missing."""
    try:
        body = from_json(response.content)
    except ValueError:
        return response.text
    try:
        return ChatCompletion.model_validate(body)
    except ValidationError:
        return ChatCompletion.construct(**body) if isinstance(body, dict) else response.text


def use_lean_completions(client: AsyncOpenAI) -> None:
    """Make a client send chat completions this way, without its own retries: retry.py retries for all providers."""
    client.max_retries = 0
    vars(client.chat)["completions"] = LeanCompletions(client)  # where the library itself keeps it once it is used
