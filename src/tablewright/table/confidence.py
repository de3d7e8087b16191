"""How sure a value is, from what code can see. Never a model's own word alone.

The shape: each independent source leaves a share of doubt, the doubts multiply, and a source that says otherwise takes
some of the sureness away. The figures were fitted on known-correct tables (evals/README.md has the calibration).
"""

from __future__ import annotations

from collections.abc import Sequence

MOST = 0.99


def confidence(scores: Sequence[float], against: Sequence[float] = (), *, snippet: bool = False) -> float:
    """`scores` are those of the independent sources that agree, `against` of those that say something else."""
    doubt = 1.0
    for score in scores:
        doubt *= 1.0 - from_score(score)
    sure = 1.0 - doubt
    if against:
        other = max(from_score(score) for score in against)
        sure *= 1.0 - 0.45 * other / max(other, sure)
    if snippet:
        sure *= 0.85
    return round(min(MOST, max(0.0, sure)), 4)


def from_score(score: float) -> float:
    """A reading's score as the share of readings with such a score that were right."""
    return min(0.95, max(0.05, 0.55 + 0.45 * score)) if score > 0 else 0.0
