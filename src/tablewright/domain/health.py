"""Types for checking an installation: configuration checks, a trial question to a model, and local model servers."""

from __future__ import annotations

from tablewright.domain.model import Struct
from tablewright.domain.run import Usage


class Check(Struct, frozen=True):
    """A configured component, and whether it works."""

    name: str
    ok: bool
    detail: str
    advice: str = ""


class ModelTrial(Struct, frozen=True):
    """A model's answer to a trial question about one sentence, with its cost and time."""

    model: str
    answer: int
    right: bool
    seconds: float
    usage: Usage


class LocalServer(Struct, frozen=True):
    """A model server on this machine. `provider` is ollama, or openai for servers with an OpenAI-compatible API."""

    name: str
    provider: str
    base_url: str
    models: tuple[str, ...]
