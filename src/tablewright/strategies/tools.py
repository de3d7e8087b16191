"""What a strategy may work with. It is handed to every strategy; one that computes needs none of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from tablewright.corpus.corpus import Corpus
    from tablewright.models.budget import Budget
    from tablewright.models.model import LanguageModel
    from tablewright.sources.source import Source
    from tablewright.strategies.row_answers import KeptPatterns

Need: TypeAlias = Literal["web", "model", "documents"]


@dataclass(frozen=True, kw_only=True)
class Tools:
    web: Source | None = None
    """Where pages are searched: the web, the user's documents, or both."""
    documents: Corpus | None = None
    prefers: Literal["", "page", "document"] = ""
    """Where both are searched and disagree: which is believed."""
    model: LanguageModel | None = None
    """None: the built-in rules decide."""
    strong: LanguageModel | None = None
    """A stronger model, for what is still weak on the last attempt."""
    strict: bool = False
    """Whether values that a model concluded from quotes, rather than read in them, are refused."""
    cascade: bool = False
    """Whether the model is asked only for what the built-in reader is not sure of."""
    patterns: KeptPatterns | None = None
    """Where search patterns are kept; None: for this run only."""
    budget: Budget | None = None


NO_TOOLS = Tools()
