"""How sure a value is, from what code can see. Never a model's own word alone.

Each independent source leaves a share of doubt and the doubts multiply; a source that says otherwise takes some of the
sureness away. What one source is worth is the reader's score: fitted for the built-in reader (evals/README.md has the
calibration), and set by basis and by whether the page is about the row for what a model has read (decisions/read.py).
"""

from __future__ import annotations

from collections.abc import Sequence

MOST = 0.99
MOST_FROM_ONE = 0.95
"""No single source makes a value surer than this."""
SNIPPET = 0.85
"""A search result shows a part of its page."""
DISPUTED = 0.45


def confidence(scores: Sequence[float], against: Sequence[float] = (), *, snippet: bool = False) -> float:
    """`scores` are those of the independent sources that agree, `against` of those that say something else."""
    doubt = 1.0
    for score in scores:
        doubt *= 1.0 - min(MOST_FROM_ONE, max(0.0, score))
    sure = 1.0 - doubt
    if against:
        other = max(against)
        sure *= 1.0 - DISPUTED * other / max(other, sure)
    if snippet:
        sure *= SNIPPET
    return round(min(MOST, max(0.0, sure)), 4)
