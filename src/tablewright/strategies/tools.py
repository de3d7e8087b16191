"""What a strategy may work with. It is handed to every strategy; one that computes needs none of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from tablewright.models.model import LanguageModel
    from tablewright.sources.source import Source

Need: TypeAlias = Literal["web", "model"]


@dataclass(frozen=True, kw_only=True)
class Tools:
    web: Source | None = None
    model: LanguageModel | None = None
    """None: the built-in rules decide."""
    cascade: bool = False
    """Whether the model is asked only for what the built-in reader is not sure of."""


NO_TOOLS = Tools()
