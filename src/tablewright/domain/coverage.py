"""How complete a list is: what several searches for the same things found again, and what only one of them found."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence

from tablewright.domain.model import Noun
from tablewright.domain.text import count_noun

SURE = 1.96
"""Standard deviations to each side: 95 %."""
LEAST_SHARED = 2


class CountEstimate(Noun, frozen=True):
    """`likely` is how many things there probably are in all, between `low` and `high`; never fewer than `found`."""

    found: int
    likely: int
    low: int
    high: int
    passes: int

    def __str__(self) -> str:
        made = f"{self.found:,} found in {count_noun(self.passes, 'pass')}"
        return f"{made}; likely about {self.likely:,} ({self.low:,} to {self.high:,})"


def estimate_total(seen: Sequence[Collection[str]]) -> CountEstimate | None:
    """Return how many things there are, from the keys that each independent pass found; passes that found nothing count
    not.

    Two passes that found n₁ and n₂ things, m of them both: Chapman's N = (n₁+1)(n₂+1)/(m+1) - 1. With more passes, of
    which Q₁ things were found by exactly one and Q₂ by exactly two, bias-corrected Chao2:
    N = found + (t-1)/t · Q₁(Q₁-1) / (2(Q₂+1)) for t passes. The interval is Chao's: the number of things not seen is
    taken as log-normal, so its lower end is never below what was found. Where nothing is left over (N = found), it is
    that of the chance exp(-sightings/found) of having missed a thing.

    It is a lower bound where some things are much harder to find than others. None where fewer than two passes found
    something, or fewer than two things were found twice (unless everything was): then it would be a guess.
    """
    passes = [frozenset(each) for each in seen if each]
    times = Counter(key for each in passes for key in each)
    shared = sum(1 for count in times.values() if count > 1)
    if len(passes) < 2 or (shared < LEAST_SHARED and shared < len(times)):
        return None
    missed, variance = _chapman(*passes) if len(passes) == 2 else _chao2(times, len(passes))
    low, high = _interval(len(times), missed, variance, sum(times.values()))
    found = len(times)
    likely = min(max(round(found + missed), low), high)
    return CountEstimate(found=found, likely=likely, low=low, high=high, passes=len(passes))


def _chapman(one: frozenset[str], other: frozenset[str]) -> tuple[float, float]:
    first, second, both = len(one), len(other), len(one & other)
    total = (first + 1) * (second + 1) / (both + 1) - 1
    variance = (first + 1) * (second + 1) * (first - both) * (second - both) / ((both + 1) ** 2 * (both + 2))
    return total - len(one | other), variance


def _chao2(times: Counter[str], passes: int) -> tuple[float, float]:
    once = sum(1 for count in times.values() if count == 1)
    twice = sum(1 for count in times.values() if count == 2)
    share = (passes - 1) / passes
    missed = share * once * (once - 1) / (2 * (twice + 1))
    variance = (
        missed
        + share**2 * once * (2 * once - 1) ** 2 / (4 * (twice + 1) ** 2)
        + share**2 * once**2 * twice * (once - 1) ** 2 / (4 * (twice + 1) ** 4)
    )
    return missed, variance


def _interval(found: int, missed: float, variance: float, sightings: int) -> tuple[int, int]:
    if missed <= 0 or variance <= 0:
        chance = math.exp(-sightings / found)
        wide = SURE * math.sqrt(found * chance)
        return found, max(found, round((found + wide) / (1 - chance)))
    factor = math.exp(SURE * math.sqrt(math.log(1 + variance / missed**2)))
    return round(found + missed / factor), math.ceil(found + missed * factor)
