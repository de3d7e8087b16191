"""Models on this machine: llama.cpp inside our own process, asked over loopback like any OpenAI-compatible endpoint.

A model is loaded at the first request and shared by all who use the same file. Nothing leaves the machine.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import struct
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple, Self

import httpx2

from tablewright.errors import BadSetting, ModelRefused
from tablewright.extras import require_extra
from tablewright.keys import Key, guard_client, origin_of
from tablewright.llm.chat_completions import ChatCompletions, CompletionsServer
from tablewright.llm.pull import CATALOG, find_catalog_model
from tablewright.llm.request import ModelCall, ModelReply
from tablewright.llm.spec import LOCAL_ANSWER_SECONDS, Access
from tablewright.llm.wrappers import ModelWrapper
from tablewright.threads import run_in_model_thread

# More at once would need a larger share of the window's memory, and be slower on a few cores.
PARALLEL_REQUESTS = 2


def local(argument: str, access: Access) -> LocalModel:
    """Entry point `local` of `tablewright.models`. The file is checked now and loaded at the first request."""
    file = find_model_file(argument, access.models_folder)
    with file.open("rb") as opened:
        # The properties are at the beginning, before the vocabulary, which takes megabytes.
        head = opened.read(65_536)
    if not head.startswith(b"GGUF"):
        raise BadSetting(f"{file} is not a GGUF model.", advice="Models for llama.cpp end in .gguf.")
    require_extra("local", "A model on this machine")
    # Unless `model_window` says otherwise: a larger window takes more memory.
    usual = 8_192
    window = access.window or min(usual, read_trained_window(head) or usual)
    return LocalModel(file, access.answer_seconds(LOCAL_ANSWER_SECONDS), window)


def read_trained_window(head: bytes) -> int | None:
    """Return the `….context_length` in the head of the file, or None: llama.cpp gives no request more than that."""
    # The number of the type in GGUF. The name before the dot is that of the model's architecture.
    uint32_type = 4
    _, key, value = head.partition(b".context_length" + struct.pack("<I", uint32_type))
    return struct.unpack("<I", value[:4])[0] if key and len(value) >= 4 else None


def find_model_file(argument: str, models_folder: Path) -> Path:
    known = find_catalog_model(argument)
    if known is not None:
        if known.is_pulled(models_folder):
            return known.path(models_folder)
        raise BadSetting(
            f"The model {known.name} is not here yet.", advice=f"Run: tablewright models pull {known.name}"
        )
    for path in (Path(argument).expanduser(), models_folder / argument):
        if path.is_file():
            return path.resolve()
    names = ", ".join(model.name for model in CATALOG)
    raise BadSetting(
        f"There is no model file {argument!r}.", advice=f"Give the path of a .gguf file, or pull one of: {names}."
    )


class LocalModel(ModelWrapper):
    def __init__(self, file: Path, timeout: float, window: int) -> None:
        # The name is part of the key of cached answers; the size distinguishes two files of the same name.
        self._name = f"{file.name} ({file.stat().st_size} bytes)"
        self._server = ServerKey(file, window)
        self._timeout = timeout
        self._is_started = False
        self._starting = asyncio.Lock()
        # Waiting here does not count towards the timeout.
        self._slots = asyncio.Semaphore(PARALLEL_REQUESTS)
        self._users = 0
        # An address that nothing listens on, until the server has one: the wrapper needs a model from the start.
        super().__init__(self._chat("http://127.0.0.1:1", Key()))

    @property
    def base_url(self) -> str | None:
        """Return None, because cached answers do not depend on the port."""
        return None

    async def answer(self, call: ModelCall) -> ModelReply:
        async with self._slots:
            await self._start()
            try:
                return await self.wrapped.answer(call)
            except asyncio.CancelledError:
                SERVERS.abandon(self._server)
                raise

    async def __aenter__(self) -> Self:
        self._users += 1
        return self

    async def __aexit__(self, *raised: Any) -> None:
        self._users -= 1
        if self._users == 0 and self._is_started:
            await self.wrapped.__aexit__(*raised)
            self._is_started = False
            await run_in_model_thread(SERVERS.give_back, self._server)

    async def _start(self) -> None:
        async with self._starting:
            if not self._is_started:
                taking = asyncio.ensure_future(run_in_model_thread(SERVERS.take, self._server))
                try:
                    # Loading cannot be interrupted; a server that its caller no longer waits for is released below.
                    server = await asyncio.shield(taking)
                except asyncio.CancelledError:
                    taking.add_done_callback(self._release_unused)
                    raise
                self.wrapped = self._chat(server.address, Key(server.key, origins=[origin_of(server.address)]))
                await self.wrapped.__aenter__()
                self._is_started = True

    def _release_unused(self, taken: asyncio.Future[LlamaServer]) -> None:
        """Release a server whose caller was cancelled while the model was being loaded."""
        if not taken.cancelled() and taken.exception() is None:
            SERVERS.give_back(self._server)

    def _chat(self, address: str, key: Key) -> ChatCompletions:
        def connect() -> httpx2.AsyncClient:
            # Never send loopback requests through a proxy.
            return guard_client(httpx2.AsyncClient(trust_env=False), key)

        server = CompletionsServer("local", f"{address}/v1/", {"authorization": f"Bearer {key}"}, connect)
        return ChatCompletions(self._name, server, self._timeout, self._server.window)


class ServerKey(NamedTuple):
    """A model file and window; requests for the same ones share a server."""

    file: Path
    window: int


@dataclass
class LlamaServer:
    llama: Any
    """Dropping the last reference stops it."""
    key: str
    users: int = 0
    abandoned: bool = False
    """True if a request was cancelled, whose answer the server may still be computing."""

    @property
    def address(self) -> str:
        return str(self.llama.listening_address)


class LlamaServers:
    """The llama.cpp servers of this process, one for all models of the same file and window: a model is gigabytes."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.running: dict[ServerKey, LlamaServer] = {}

    def take(self, loaded: ServerKey) -> LlamaServer:
        """Return a running server, started if necessary. Blocks while the model is loaded."""
        with self._lock:
            server = self.running.get(loaded) or start_llama_server(loaded.file, loaded.window)
            self.running[loaded] = server
            server.users += 1
            return server

    def abandon(self, loaded: ServerKey) -> None:
        self.running[loaded].abandoned = True

    def give_back(self, loaded: ServerKey) -> None:
        """Release a server, and stop it with its last user.

        A server busy with an abandoned answer stays for the next user: stopping it would block the whole process for
        many seconds, until its current batch ends.
        """
        with self._lock:
            server = self.running[loaded]
            server.users -= 1
            if server.users == 0 and not server.abandoned:
                del self.running[loaded]
            server.abandoned = False


SERVERS = LlamaServers()


def start_llama_server(file: Path, window: int) -> LlamaServer:
    llama = import_module("xllamacpp")
    # Without a key, any page open in a browser on this machine could use the model.
    key = secrets.token_urlsafe()
    params = llama.CommonParams()
    params.model.path = str(file)
    # llama.cpp divides the window between the requests that it answers at once.
    params.n_ctx, params.n_parallel = window * PARALLEL_REQUESTS, PARALLEL_REQUESTS
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = count_cores()
    # For prompts with a common beginning; the default of 8 GB is more than many computers have to spare.
    params.cache_ram_mib = 256
    # Port 0: the system chooses a free one.
    params.hostnames, params.port, params.api_keys = ["127.0.0.1"], 0, [key]
    # Silent, and ready at once: the first request warms it up.
    params.verbosity = -1
    params.warmup = params.ui = False
    try:
        return LlamaServer(llama.Server(params), key)
    except RuntimeError as error:
        raise ModelRefused(
            f"llama.cpp cannot load {file.name}: {error}",
            advice="It may be damaged, of a kind this version does not know, or too large for the memory.",
        ) from error


def count_cores() -> int:
    """Return the cores that this process may use: one thread too many makes llama.cpp many times slower."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
