"""What a strategy may work with. It is handed to every strategy; one that computes needs none of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tablewright.models.budget import Budget
    from tablewright.models.model import LanguageModel
    from tablewright.sources.source import Source


@dataclass(frozen=True, kw_only=True)
class Tools:
    web: Source | None = None
    model: LanguageModel | None = None
    """None: the built-in rules decide."""
    budget: Budget | None = None
    """What the model may spend; it is charged by the model itself."""
    cascade: bool = False
    """Whether the model is asked only for what the built-in reader is not sure of."""


NO_TOOLS = Tools()
