"""What turns texts into vectors."""

from __future__ import annotations

import asyncio
import logging
import os
import random
from collections.abc import Awaitable, Callable, Iterator, Sequence
from functools import cache
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, Protocol, TypeAlias

import httpx2

from tablewright.arrays import NDArray, np
from tablewright.domain.run import Usage, spend
from tablewright.errors import BadSetting, ModelRefused, ModelUnavailable, Unreadable
from tablewright.keys import OWN_ADDRESSES, Key, as_key, guard_client, trusted_certificates, variable_key
from tablewright.sandbox.limits import MB, SandboxLimits, SandboxWording
from tablewright.sandbox.sandbox import Sandbox
from tablewright.threads import run_model

Vectors: TypeAlias = "NDArray[np.float32]"
"""One row for each text, each of length 1 (or 0 for a text without any known word)."""

OPENAI_URL = OWN_ADDRESSES["embedder_api_key"]["openai"]
BATCH = 64
TRIES = 4
NO_KEY = Key()
MOST_CHARACTERS = 8_000
"""Of a text that are embedded: twice the longest segment. What is longer is a row of a very wide table."""
BATCH_CHARACTERS = 32_768
"""Of a batch, each text padded to the longest: at 1 KB a token, a batch takes tens of megabytes."""
IN_PLACE = 2 * BATCH_CHARACTERS
"""Characters that are embedded in a thread of this process: a question, a few facts. More has a worker process."""
CALL_CHARACTERS = 500_000
"""That are sent to the worker at once."""
LIMITS = SandboxLimits(seconds=120, memory=3 * 1024 * MB, written=MB)
WORDING = SandboxWording(
    verb="embed", participle="embedded", worker="worker", advice="Divide the document, or leave it out."
)


class Embedder(Protocol):
    @property
    def name(self) -> str:
        """Part of what is kept with vectors: those of different names do not compare."""
        ...

    @property
    def dimensions(self) -> int:
        """0 while it is not known: an endpoint tells it with its first answer."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors: ...

    async def close(self) -> None: ...


class EmbedderValues(Protocol):
    """The settings that an embedder is built from."""

    @property
    def embedder(self) -> str: ...
    @property
    def embedder_base_url(self) -> str: ...
    @property
    def embedder_api_key(self) -> str: ...


def build_embedder(values: EmbedderValues) -> Embedder:
    kind, _, name = values.embedder.partition(":")
    if values.embedder == "wordllama":
        return WordLlamaEmbedder()
    if kind != "openai" or not name:
        raise BadSetting(f"There is no embedder {values.embedder!r}.", advice="Use wordllama or openai:NAME.")
    given = {"embedder": values.embedder, "embedder_base_url": values.embedder_base_url}
    key = as_key(values.embedder_api_key, "embedder_api_key", given)
    if not values.embedder_base_url and not (key and key.allows(OPENAI_URL)):
        key = variable_key("openai", "OPENAI_API_KEY", os.environ) or key
        if not key:
            raise BadSetting(
                "There is no key for the embedder.", advice="Set TABLEWRIGHT_EMBEDDER_API_KEY or OPENAI_API_KEY."
            )
    key.check(values.embedder_base_url or OPENAI_URL)
    return EndpointEmbedder(name, values.embedder_base_url or OPENAI_URL, key)


class WordLlamaEmbedder:
    """On this machine, without a network: averaged word vectors that come with the package. What is much is embedded in
    a worker process with limits of time and memory."""

    name = "wordllama:l2_supercat_256"
    dimensions = 256

    def __init__(self) -> None:
        self._sandbox: Sandbox | None = None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        texts = [text[:MOST_CHARACTERS] for text in texts]
        if sum(map(len, texts)) > IN_PLACE:
            return await self._embed_in_worker(texts)
        return await run_model(lambda: embed_in_batches(load_wordllama(), texts))

    async def _embed_in_worker(self, texts: Sequence[str]) -> Vectors:
        if self._sandbox is None:
            self._sandbox = Sandbox(LIMITS, workers=1)
        found = []
        for part in parts_of(texts, CALL_CHARACTERS, len(texts)):
            embedded = await self._sandbox.run(
                "Its text", embed_texts, [texts[at] for at in part], raising=Unreadable, wording=WORDING
            )
            found.append(np.frombuffer(embedded, dtype=np.float32).reshape(len(part), self.dimensions))
        return np.concatenate(found)

    async def close(self) -> None:
        if self._sandbox is not None:
            await self._sandbox.close()


def embed_in_batches(model: Any, texts: Sequence[str]) -> Vectors:
    vectors = np.zeros((len(texts), WordLlamaEmbedder.dimensions), dtype=np.float32)
    # Texts of one batch are padded to the longest of them, so those of like length go together.
    order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
    for batch in parts_of([texts[index] for index in order], BATCH_CHARACTERS, BATCH):
        places = [order[index] for index in batch]
        vectors[places] = model.embed([texts[place] for place in places])
    return normalised(vectors)


def parts_of(texts: Sequence[str], characters: int, count: int) -> Iterator[range]:
    """Runs of at most `count` texts that take at most so many characters if each were as long as the longest; one text
    at least."""
    start, longest = 0, 0
    for index, text in enumerate(texts):
        longest = max(longest, len(text))
        if index > start and (index - start == count or (index - start + 1) * longest > characters):
            yield range(start, index)
            start, longest = index, len(text)
    if start < len(texts):
        yield range(start, len(texts))


def embed_texts(texts: list[str]) -> bytes:
    """Run in a worker process: the vectors, row after row."""
    return embed_in_batches(load_wordllama(), texts).tobytes()


def load_wordllama() -> Any:
    """One copy serves all: it takes 130 MB, and reading it stops every other thread for a tenth of a second."""
    with _loading:
        return _read_wordllama()


_loading = Lock()


@cache
def _read_wordllama() -> Any:
    # It would set up logging for the whole program, which is not its business, and does not where there is a handler.
    logging.getLogger().addHandler(quiet := logging.NullHandler())
    wordllama = import_module("wordllama")
    logging.getLogger().removeHandler(quiet)
    # Without `cache_dir` it looks for its tokenizer in the wrong folder, and then in the network.
    return wordllama.WordLlama.load(cache_dir=Path(str(wordllama.__file__)).parent, disable_download=True)


class EndpointEmbedder:
    """Any OpenAI-compatible embeddings endpoint."""

    def __init__(
        self,
        model: str,
        base_url: str,
        key: Key = NO_KEY,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.name = f"openai:{model}"
        self.dimensions = 0
        self._model = model
        self._url = base_url.rstrip("/") + "/embeddings"
        self._sleep = sleep
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        timeout = httpx2.Timeout(60.0, connect=5.0)
        made = httpx2.AsyncClient(headers=headers, timeout=timeout, verify=trusted_certificates())
        self._client = guard_client(made, key)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        batches = [list(texts[start : start + BATCH]) for start in range(0, len(texts), BATCH)]
        found = [await self._batch(batch) for batch in batches]
        return normalised(np.concatenate(found)) if found else np.zeros((0, self.dimensions), dtype=np.float32)

    async def close(self) -> None:
        await self._client.aclose()

    async def _batch(self, texts: list[str]) -> Vectors:
        # An empty input is refused by OpenAI; a space is as meaningless.
        answer = await self._post({"model": self._model, "input": [text or " " for text in texts]})
        try:
            data = sorted(answer["data"], key=lambda item: int(item["index"]))
            vectors = np.array([item["embedding"] for item in data], dtype=np.float32)
            if vectors.ndim != 2 or len(vectors) != len(texts):
                raise ValueError(f"{len(texts)} texts, {len(data)} vectors")
        except (KeyError, TypeError, ValueError) as error:
            raise ModelUnavailable(f"The embedder {self.name} answered something unexpected: {error}.") from error
        self.dimensions = vectors.shape[1]
        usage = answer.get("usage") or {}
        spend(Usage(input_tokens=int(usage.get("prompt_tokens", 0))))
        return vectors

    async def _post(self, body: dict[str, Any]) -> Any:
        problem = ""
        for tried in range(TRIES):
            if tried:
                await self._sleep(0.5 * 2 ** (tried - 1) * (0.5 + random.random()))
            try:
                response = await self._client.post(self._url, json=body)
            except httpx2.HTTPError as error:
                problem = str(error) or type(error).__name__
                continue
            if response.is_success:
                try:
                    return response.json()
                except ValueError:
                    problem = "the answer is not JSON"
                    continue
            problem = f"{response.status_code}, {' '.join(response.text.split())[:200]}"
            if response.status_code < 500 and response.status_code not in (408, 409, 429):
                raise ModelRefused(f"The embedder {self.name} refused the request: {problem}.")
        raise ModelUnavailable(f"The embedder {self.name} cannot be reached, {TRIES} times: {problem}.")


def normalised(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
