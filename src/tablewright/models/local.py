"""Models on this machine: llama.cpp inside our own process, asked over loopback like any OpenAI-compatible endpoint."""

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
from pydantic_ai.messages import ModelResponse
from pydantic_ai.models import Model
from pydantic_ai.profiles import ModelProfile, merge_profile
from pydantic_ai.settings import ModelSettings

from tablewright.errors import BadSetting, ModelRefused
from tablewright.extras import need
from tablewright.keys import Key, guard_client, origin_of
from tablewright.models.layer import Layer, ModelCall
from tablewright.models.providers import OLDER_TOKEN_LIMIT
from tablewright.models.pull import CATALOG, find_model
from tablewright.models.spec import PATIENCE_HERE, Access
from tablewright.threads import run_model

WINDOW = 8_192
"""Tokens for each request, unless `model_window` says otherwise: more takes memory."""
SLOTS = 2
HEAD = 65_536
"""Bytes of a file in which a model says what it is, before its vocabulary."""
UINT32 = 4
"""How GGUF writes the type of a value."""
PROMPT_CACHE_MIB = 256
"""llama.cpp's own default is 8 GB."""


def local(argument: str, access: Access) -> Model:
    """Entry point `local` of `tablewright.models`. The file is checked now and loaded at the first question."""
    file = find_file(argument, access.models_folder)
    with file.open("rb") as opened:
        head = opened.read(HEAD)
    if not head.startswith(b"GGUF"):
        raise BadSetting(f"{file} is not a GGUF model.", advice="Models for llama.cpp end in .gguf.")
    need("local", "A model on this machine")
    window = access.window or min(WINDOW, trained_window(head) or WINDOW)
    return LocalModel(file, access.patience(PATIENCE_HERE), window)


def trained_window(head: bytes) -> int | None:
    """The `….context_length` that the head of the file states: llama.cpp gives no request more than that."""
    _, key, value = head.partition(b".context_length" + struct.pack("<I", UINT32))
    return struct.unpack("<I", value[:4])[0] if key and len(value) >= 4 else None


def find_file(argument: str, models_folder: Path) -> Path:
    known = find_model(argument)
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


class LocalModel(Layer):
    def __init__(self, file: Path, timeout: float, window: int) -> None:
        # The name is part of the key of kept answers: two files of one name are told apart by their size.
        self._name = f"{file.name} ({file.stat().st_size} bytes)"
        self._server = Loaded(file, window)
        self._settings_of_chat = ModelSettings(timeout=timeout)
        self._client: httpx2.AsyncClient | None = None
        self._starting = asyncio.Lock()
        self._slots = asyncio.Semaphore(SLOTS)  # who waits here does not yet wait for the answer in time
        self._users = 0
        super().__init__(self._chat("http://127.0.0.1:1", "", None))

    @property
    def base_url(self) -> str | None:
        """None: another port is not another model."""
        return None

    async def answer(self, call: ModelCall) -> ModelResponse:
        async with self._slots:
            await self._start()
            try:
                return await self.wrapped.request(*call)
            except asyncio.CancelledError:
                SERVERS.abandon(self._server)
                raise

    async def __aenter__(self) -> Self:
        self._users += 1
        return self

    async def __aexit__(self, *raised: Any) -> bool | None:
        self._users -= 1
        if self._users == 0 and self._client is not None:
            await self._client.aclose()
            self._client = None
            await run_model(SERVERS.give_back, self._server)
        return None

    async def _start(self) -> None:
        async with self._starting:
            if self._client is None:
                taking = asyncio.ensure_future(run_model(SERVERS.take, self._server))
                try:
                    server = await asyncio.shield(taking)
                except asyncio.CancelledError:
                    taking.add_done_callback(self._not_wanted)
                    raise
                key = Key(server.key, origins=[origin_of(server.address)])
                # A proxy has no business with loopback.
                self._client = guard_client(httpx2.AsyncClient(trust_env=False), key)
                self.wrapped = self._chat(server.address, key, self._client)

    def _not_wanted(self, taken: asyncio.Future[LlamaServer]) -> None:
        """Whoever asked went away while the model was being loaded."""
        if not taken.cancelled() and taken.exception() is None:
            SERVERS.give_back(self._server)

    def _chat(self, address: str, key: str, client: httpx2.AsyncClient | None) -> Model:
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai_compatible import OpenAICompatibleProvider

        from tablewright.models.lean_completions import make_lean

        provider = OpenAICompatibleProvider("local", base_url=f"{address}/v1", api_key=key, http_client=client)
        make_lean(provider.client)
        profile = merge_profile(OLDER_TOKEN_LIMIT, ModelProfile(context_window=self._server.window))
        return OpenAIChatModel(self._name, provider=provider, settings=self._settings_of_chat, profile=profile)


class Loaded(NamedTuple):
    """What a server is started for."""

    file: Path
    window: int


@dataclass
class LlamaServer:
    llama: Any
    """Dropping the last reference stops it."""
    key: str
    users: int = 0
    abandoned: bool = False
    """Whether somebody went away in the middle of an answer, which it may still be computing."""

    @property
    def address(self) -> str:
        return str(self.llama.listening_address)


class Servers:
    """The llama.cpp servers of this process, one for all models of the same file and window: a model is gigabytes."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.running: dict[Loaded, LlamaServer] = {}

    def take(self, loaded: Loaded) -> LlamaServer:
        """Starts it if need be; blocks while the model is loaded."""
        with self._lock:
            server = self.running.get(loaded) or start(loaded.file, loaded.window)
            self.running[loaded] = server
            server.users += 1
            return server

    def abandon(self, loaded: Loaded) -> None:
        self.running[loaded].abandoned = True

    def give_back(self, loaded: Loaded) -> None:
        """Stops it with its last user, unless it is busy with an abandoned answer: stopping would wait for the batch at
        hand, many seconds, and hold up the whole process. Then it stays for the next user."""
        with self._lock:
            server = self.running[loaded]
            server.users -= 1
            if server.users == 0 and not server.abandoned:
                del self.running[loaded]
            server.abandoned = False


SERVERS = Servers()


def start(file: Path, window: int) -> LlamaServer:
    llama = import_module("xllamacpp")
    key = secrets.token_urlsafe()  # else every page open in a browser of this machine could ask it
    params = llama.CommonParams()
    params.model.path = str(file)
    params.n_ctx, params.n_parallel = window * SLOTS, SLOTS
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = cores()
    params.cache_ram_mib = PROMPT_CACHE_MIB
    params.hostnames, params.port, params.api_keys = ["127.0.0.1"], 0, [key]
    params.verbosity = -1
    params.warmup = params.ui = False
    try:
        return LlamaServer(llama.Server(params), key)
    except RuntimeError as error:
        raise ModelRefused(
            f"llama.cpp cannot load {file.name}: {error}",
            advice="It may be damaged, of a kind this version does not know, or too large for the memory.",
        ) from error


def cores() -> int:
    """Those this process may use: one thread more than cores makes llama.cpp many times slower."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
