"""Turn texts into vectors, with word vectors on this machine or at an OpenAI-compatible endpoint.

Used by document search, by the matching of meanings, and to count tokens. Much text is embedded in a worker process.
"""

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
from tablewright.domain.run import Usage, record_usage
from tablewright.errors import BadSetting, ModelRefused, ModelUnavailable, Unreadable
from tablewright.keys import PROVIDER_ADDRESSES, Key, bind_key, guard_client, trusted_certificates, variable_key
from tablewright.sandbox.limits import MEBIBYTE, SandboxLimits, SandboxWording
from tablewright.sandbox.sandbox import Sandbox
from tablewright.threads import run_in_model_thread

# One row per text, each of length 1, or 0 for a text without any known word.
Vectors: TypeAlias = "NDArray[np.float32]"

OPENAI_URL = PROVIDER_ADDRESSES["embedder_api_key"]["openai"]
# Texts of one request to an endpoint, or of one batch here. Larger: fewer requests; smaller: less is repeated after a
# failure.
BATCH_TEXTS = 64
# Texts of a batch are padded to the longest: at 1 KB per token, a batch takes tens of megabytes.
BATCH_CHARACTERS = 32_768
# Of one call of the worker, see `_embed_in_worker`. The limit of memory is on addresses, of which the model and numpy
# reserve more than they use; nothing large is written.
WORKER_LIMITS = SandboxLimits(seconds=120, memory=3 * 1024 * MEBIBYTE, written=MEBIBYTE)


class Embedder(Protocol):
    @property
    def name(self) -> str:
        """Return the name stored with vectors: vectors of different embedders cannot be compared."""
        ...

    @property
    def dimensions(self) -> int:
        """Return the length of a vector, or 0 if it is unknown until the endpoint's first answer."""
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
    key = bind_key(values.embedder_api_key, "embedder_api_key", given)
    # The settings' key may be for another host than OpenAI's; then the provider's own variable is looked at first.
    if not values.embedder_base_url and not (key and key.allows(OPENAI_URL)):
        key = variable_key("openai", "OPENAI_API_KEY", os.environ) or key
        if not key:
            raise BadSetting(
                "There is no key for the embedder.", advice="Set TABLEWRIGHT_EMBEDDER_API_KEY or OPENAI_API_KEY."
            )
    key.check(values.embedder_base_url or OPENAI_URL)
    return EndpointEmbedder(name, values.embedder_base_url or OPENAI_URL, key)


class WordLlamaEmbedder:
    """Averaged word vectors from an installed package, without a network. Much text is embedded in a worker process
    with limits of time and memory."""

    name = "wordllama:l2_supercat_256"
    dimensions = 256

    def __init__(self) -> None:
        self._sandbox: Sandbox | None = None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        # Twice the longest segment of a document; longer texts are rows of very wide tables.
        texts = [text[:8_000] for text in texts]
        # Two batches at most are embedded in a thread of this process: a question, a few facts.
        if sum(map(len, texts)) > 2 * BATCH_CHARACTERS:
            return await self._embed_in_worker(texts)
        return await run_in_model_thread(lambda: embed_in_batches(load_wordllama(), texts))

    async def _embed_in_worker(self, texts: Sequence[str]) -> Vectors:
        if self._sandbox is None:
            self._sandbox = Sandbox(WORKER_LIMITS, workers=1)
        wording = SandboxWording(
            verb="embed", participle="embedded", worker="worker", advice="Divide the document, or leave it out."
        )
        found = []
        # Half a million characters are sent to the worker at once. More: fewer calls; less: a limit of time or memory
        # is reached later, since both are for one call.
        for part in batch_ranges(texts, 500_000, len(texts)):
            embedded = await self._sandbox.run(
                "Its text", embed_texts, [texts[at] for at in part], raising=Unreadable, wording=wording
            )
            found.append(np.frombuffer(embedded, dtype=np.float32).reshape(len(part), self.dimensions))
        return np.concatenate(found)

    async def close(self) -> None:
        if self._sandbox is not None:
            await self._sandbox.close()


def embed_in_batches(model: Any, texts: Sequence[str]) -> Vectors:
    vectors = np.zeros((len(texts), WordLlamaEmbedder.dimensions), dtype=np.float32)
    # Texts of one batch are padded to the longest of them, so those of similar length go together.
    order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
    for batch in batch_ranges([texts[index] for index in order], BATCH_CHARACTERS, BATCH_TEXTS):
        places = [order[index] for index in batch]
        vectors[places] = model.embed([texts[place] for place in places])
    return normalize_vectors(vectors)


def batch_ranges(texts: Sequence[str], characters: int, count: int) -> Iterator[range]:
    """Yield ranges of at most `count` texts whose padded length is at most `characters`, each of one text at least."""
    start, longest = 0, 0
    for index, text in enumerate(texts):
        longest = max(longest, len(text))
        if index > start and (index - start == count or (index - start + 1) * longest > characters):
            yield range(start, index)
            start, longest = index, len(text)
    if start < len(texts):
        yield range(start, len(texts))


def embed_texts(texts: list[str]) -> bytes:
    """Return the vectors row after row, as bytes. Runs in a worker process."""
    return embed_in_batches(load_wordllama(), texts).tobytes()


def load_wordllama() -> Any:
    """Return the one copy of the model: it takes 130 MB, and loading it blocks all threads for a tenth of a second."""
    with _loading:
        return _read_wordllama()


_loading = Lock()


@cache
def _read_wordllama() -> Any:
    # Its import sets up logging for the whole program unless there is a handler.
    logging.getLogger().addHandler(quiet := logging.NullHandler())
    wordllama = import_module("wordllama")
    logging.getLogger().removeHandler(quiet)
    # Without `cache_dir` it looks for its tokenizer in the wrong folder, and then on the network.
    return wordllama.WordLlama.load(cache_dir=Path(str(wordllama.__file__)).parent, disable_download=True)


class EndpointEmbedder:
    """An OpenAI-compatible embeddings endpoint."""

    def __init__(
        self,
        model: str,
        base_url: str,
        key: Key | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.name = f"openai:{model}"
        self.dimensions = 0
        self._model = model
        self._url = base_url.rstrip("/") + "/embeddings"
        self._sleep = sleep
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        # A server that is there accepts a connection at once; a batch of texts may take a small one a minute.
        timeout = httpx2.Timeout(60.0, connect=5.0)
        made = httpx2.AsyncClient(headers=headers, timeout=timeout, verify=trusted_certificates())
        self._client = guard_client(made, Key() if key is None else key)

    async def embed(self, texts: Sequence[str]) -> Vectors:
        batches = [list(texts[start : start + BATCH_TEXTS]) for start in range(0, len(texts), BATCH_TEXTS)]
        found = [await self._batch(batch) for batch in batches]
        return normalize_vectors(np.concatenate(found)) if found else np.zeros((0, self.dimensions), dtype=np.float32)

    async def close(self) -> None:
        await self._client.aclose()

    async def _batch(self, texts: list[str]) -> Vectors:
        # OpenAI refuses an empty input; a space means as little.
        answer = await self._post({"model": self._model, "input": [text or " " for text in texts]})
        try:
            # Servers may answer in any order; `index` says which text a vector is of.
            data = sorted(answer["data"], key=lambda item: int(item["index"]))
            vectors = np.array([item["embedding"] for item in data], dtype=np.float32)
            if vectors.ndim != 2 or len(vectors) != len(texts):
                raise ValueError(f"{len(texts)} texts, {len(data)} vectors")
        except (KeyError, TypeError, ValueError) as error:
            raise ModelUnavailable(f"The embedder {self.name} answered something unexpected: {error}.") from error
        self.dimensions = vectors.shape[1]
        usage = answer.get("usage") or {}
        record_usage(Usage(input_tokens=int(usage.get("prompt_tokens", 0))))
        return vectors

    async def _post(self, body: dict[str, Any]) -> Any:
        # The same tries and waits as for language models (retry.py), with jitter that keeps requests that failed
        # together from coming back together.
        problem, tries = "", 4
        for tried in range(tries):
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
            # A timeout, a conflict and too many requests may pass; any other refusal stays one.
            if response.status_code < 500 and response.status_code not in (408, 409, 429):
                raise ModelRefused(f"The embedder {self.name} refused the request: {problem}.")
        raise ModelUnavailable(f"The embedder {self.name} cannot be reached ({tries} attempts): {problem}.")


def normalize_vectors(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    # A text without any known word has length 0 and stays a vector of zeros, which is similar to nothing.
    return (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
