"""How many things there are in all, from what several passes found again."""

from __future__ import annotations

import random

import pytest

from tablewright.domain.listing import estimate_total_count


def passes(total: int, count: int, chance: float, seed: int) -> list[set[str]]:
    """What `count` independent searches find of `total` things, each with the same chance."""
    dice = random.Random(seed)
    return [{f"thing {number}" for number in range(total) if dice.random() < chance} for _ in range(count)]


@pytest.mark.parametrize(("total", "count", "chance"), [(40, 2, 0.5), (40, 4, 0.35), (200, 5, 0.2), (12, 5, 0.5)])
def test_the_interval_mostly_covers_the_true_number(total: int, count: int, chance: float) -> None:
    made = [estimate_total_count(passes(total, count, chance, seed)) for seed in range(200)]
    said = [estimate for estimate in made if estimate]
    assert len(said) >= 190
    assert sum(1 for each in said if each.low <= total <= each.high) / len(said) >= 0.85
    assert abs(sum(each.likely for each in said) / len(said) - total) <= 0.08 * total


def test_it_never_says_fewer_than_were_found() -> None:
    for seed in range(100):
        estimate = estimate_total_count(passes(30, 2 + seed % 4, 0.3, seed))
        if estimate:
            assert estimate.found <= estimate.low <= estimate.likely <= estimate.high


def test_passes_that_find_the_same_say_that_it_is_all() -> None:
    estimate = estimate_total_count([{"a", "b", "c"}] * 6)
    assert estimate is not None
    assert (estimate.found, estimate.likely, estimate.low, estimate.high) == (3, 3, 3, 3)


def test_two_passes_are_weighed_by_what_both_found() -> None:
    estimate = estimate_total_count([set("abcdefgh"), set("efghij")])
    assert estimate is not None
    assert (estimate.found, estimate.likely) == (10, 12)  # 9 · 7 / 5 - 1 = 11.6


def test_one_pass_or_one_that_found_nothing_says_nothing() -> None:
    assert estimate_total_count([]) is None
    assert estimate_total_count([{"a", "b"}]) is None
    assert estimate_total_count([{"a", "b"}, set()]) is None


def test_without_overlap_no_number_is_guessed() -> None:
    assert estimate_total_count([{"a", "b"}, {"c", "d"}, {"e"}]) is None
    assert estimate_total_count([{"a", "b"}, {"a", "d"}]) is None


def test_it_reads_as_a_sentence() -> None:
    seen = [set("abcdef"), set("abcdeg"), set("abcdh"), set("abcf"), set("abgd")]
    assert str(estimate_total_count(seen)) == "8 found in 5 passes; likely about 8 (8 to 10)"
