"""How likely an answer is right: the answers of a page compete with each other and with "none of these". The weights of
what speaks for an answer were fitted by `evals/fit.py`."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from tablewright.domain.text import normalize_words
from tablewright.extraction.reading import Seen

LEFT_OVER = 0.3
"""What an answer is worth whose place leaves a telling word of the question unsaid: too little to be given."""


def probabilities(found: Sequence[Seen], weights: Mapping[str, float] | None = None) -> list[tuple[float, Seen]]:
    """Each answer of one page with how likely it is right; the places of one value count together."""
    known = fitted() if weights is None else weights
    odds = [math.exp(max(-30.0, min(30.0, _sum(seen.features, known)))) if seen.whole else 0.0 for seen in found]
    together: dict[str, float] = {}
    for seen, odd in zip(found, odds, strict=True):
        key = normalize_words(seen.value) or seen.value
        together[key] = together.get(key, 0.0) + odd
    total = 1.0 + sum(together.values())
    return [(_honest(seen, together[normalize_words(seen.value) or seen.value] / total, known), seen) for seen in found]


def _honest(seen: Seen, likely: float, weights: Mapping[str, float]) -> float:
    if not seen.whole:
        return LEFT_OVER
    likely = min(1 - 1e-6, max(1e-6, likely))
    way = "sentence" if seen.how == "sentence" else "label"
    slope, shift = weights.get(f"{way} slope", 1.0), weights.get(f"{way} shift", 0.0)
    sure = 1.0 / (1.0 + math.exp(-slope * math.log(likely / (1.0 - likely)) - shift))
    return min(sure, seen.most)


def _sum(features: Mapping[str, float], weights: Mapping[str, float]) -> float:
    return sum(weights.get(name, 0.0) * value for name, value in features.items())


@lru_cache(maxsize=1)
def fitted() -> dict[str, float]:
    loaded: dict[str, float] = json.loads(Path(__file__).with_name("weights.json").read_text(encoding="utf-8"))
    return loaded
