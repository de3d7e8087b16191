"""Checks of an installation, a first question to its model, and programs beside it that serve models."""

from __future__ import annotations

from tablewright.domain.model import Noun
from tablewright.domain.run import Usage


class Check(Noun, frozen=True):
    """One thing that is configured, and if it works."""

    name: str
    ok: bool
    detail: str
    advice: str = ""


class ModelTrial(Noun, frozen=True):
    """How a model answered one small question about a sentence."""

    model: str
    answer: int
    right: bool
    seconds: float
    usage: Usage


class LocalServer(Noun, frozen=True):
    """A program on this machine that serves models. `provider` is ollama, or openai for those that speak its form."""

    name: str
    provider: str
    base_url: str
    models: tuple[str, ...]
