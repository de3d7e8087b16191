"""Search patterns: planned once for a table, kept for the next one with the same columns.

The key is what the columns are (name, type, description), never the rows: a thousand rows share one plan, and so do all
rows that are tried again for the same reason.
"""

from __future__ import annotations

import asyncio
import hashlib
from typing import TYPE_CHECKING

import msgspec

from tablewright.decisions.decision import decide
from tablewright.decisions.plan_patterns import INSTRUCTIONS, Plan, PlanPatterns
from tablewright.domain.model import Field
from tablewright.strategies.strategy import Tell

if TYPE_CHECKING:
    from tablewright.models.model import LanguageModel
    from tablewright.store.cache import Cache

KIND = "patterns"


class KeptPatterns:
    """In the store, beside the answers that were bought."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    async def get(self, key: str) -> tuple[str, ...] | None:
        kept = await self._cache.get(KIND, key)
        return None if kept is None else msgspec.json.decode(kept, type=tuple[str, ...])

    async def set(self, key: str, patterns: tuple[str, ...]) -> None:
        await self._cache.put(KIND, key, msgspec.json.encode(patterns))


class PatternGenerator:
    """Asks the model and keeps what it planned; rows that ask for the same plan wait for one. A plan that had to be
    made without the model holds for the whole run, but the next one asks again."""

    def __init__(self, model: LanguageModel | None, kept: KeptPatterns | None = None) -> None:
        self._model = model
        self._kept = kept
        self._of_this_run: dict[str, tuple[str, ...]] = {}
        self._planning: dict[str, asyncio.Lock] = {}

    async def plan(self, asked: PlanPatterns, tell: Tell) -> tuple[str, ...]:
        if self._model is None:
            return Plan().fallback(asked)
        key = pattern_key(asked, self._model.name)
        async with self._planning.setdefault(key, asyncio.Lock()):
            patterns = self._of_this_run.get(key) or (await self._kept.get(key) if self._kept else None)
            if patterns is None:
                outcome = await decide(Plan(), asked, self._model, tell)
                patterns = outcome.decided
                if self._kept and not outcome.degraded and not outcome.left_out:
                    await self._kept.set(key, patterns)
                else:
                    self._of_this_run[key] = patterns
            return patterns


def pattern_key(asked: PlanPatterns, planner: str) -> str:
    """SHA-256 of the sorted columns, of what is known beside them, and of why earlier patterns were not enough."""
    feedback = [
        asked.attempt,
        sorted(asked.avoid),
        sorted((weak.name, weak.weakness) for weak in asked.weak),
        *sorted(asked.notes.items()),
    ]
    columns = [asked.key, sorted(asked.columns), sorted(map(metadata, asked.fields))]
    return hashlib.sha256(msgspec.json.encode([planner, INSTRUCTIONS, columns, feedback])).hexdigest()


def metadata(field: Field) -> tuple[str, str, str]:
    return field.name, field.type, field.question or field.description
