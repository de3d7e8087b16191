"""How likely a text bears a claim: a few measures of how they lie beside each other, weighed.

The weights were fitted by `evals/citations.py --fit` to claims of an encyclopedia and the pages they cite.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import numpy as np

from tablewright.decisions.entailment.alignment import Alignment
from tablewright.decisions.entailment.words import WORD, gist, plain, root
from tablewright.table.model import Noun

_CLAUSE = re.compile(r"[,;]|\b(?:and|which|who|with|while|after|when|but|for)\b")


class Measures(Noun, frozen=True):
    """`told` is the share of the claim that some sentences say together, `absent` how many of its names, numbers and
    dates stand nowhere in the text, `figures_absent` how many of the latter two, `alike` how like its meaning is to
    that of the nearest sentence, `runs` the share of its runs of three words that stand in the text as they are,
    `clauses` how many things it says."""

    told: float
    absent: float
    figures_absent: float
    alike: float
    runs: float
    clauses: float


def measures(alignment: Alignment) -> Measures:
    lacking = 1 - alignment.anywhere
    figures = np.array([part.kind in ("number", "date") for part in alignment.parts], dtype=bool)
    own = gist([plain(word) for word in WORD.findall(alignment.claim)])
    runs = _runs(list(map(root, WORD.findall(alignment.claim))))
    standing = {run for sentence in alignment.nearest for run in _runs(list(map(root, sentence.words)))}
    return Measures(
        told=float(alignment.weights @ alignment.together),
        absent=float(lacking[alignment.hard].sum()),
        figures_absent=float(lacking[figures].sum()),
        alike=max((float(own @ gist(list(sentence.words))) for sentence in alignment.nearest), default=0.0),
        runs=len(runs & standing) / max(1, len(runs)),
        clauses=float(_clauses(alignment)),
    )


def _runs(words: list[str]) -> set[tuple[str, str, str]]:
    return set(zip(words, words[1:], words[2:], strict=False))


def _clauses(alignment: Alignment) -> int:
    """Those that have a telling part."""
    cuts = [match.start() for match in _CLAUSE.finditer(alignment.claim)]
    return len({sum(cut <= part.start for cut in cuts) for part in alignment.parts})


# ── the weights ──────────────────────────────────────────────────────────────────────────────────────────────────────

BEARS_ALL: Mapping[str, float] = {
    "told": 3.303,
    "absent": -0.502,
    "figures_absent": -1.336,
    "alike": 2.210,
    "runs": 1.325,
    "clauses": -0.132,
    "always": -3.115,
}
BEARS_SOME: Mapping[str, float] = {
    "told": 4.347,
    "absent": -0.155,
    "figures_absent": -0.267,
    "alike": 3.354,
    "runs": 5.942,
    "clauses": 0.274,
    "always": -5.462,
}


def likelihood(measured: Measures, weights: Mapping[str, float]) -> float:
    """From 0 to 1."""
    sum_ = weights["always"] + sum(weights[name] * getattr(measured, name) for name in Measures.__struct_fields__)
    return 1 / (1 + math.exp(-sum_))
