"""No text that a page or a person sends keeps a regular expression of the package busy."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from tests.patterns.collecting import all_patterns
from tests.patterns.pumping import LONG, give_up, growth


@pytest.fixture(autouse=True)
def patience() -> Iterator[None]:
    before = signal.signal(signal.SIGVTALRM, give_up)
    yield
    signal.signal(signal.SIGVTALRM, before)


def pump_all() -> tuple[list[str], int, list[str]]:
    """Which patterns of the package take too long, and how many places use one; and those whose pattern is unknown."""
    signal.signal(signal.SIGVTALRM, give_up)
    patterns, places, silent = all_patterns()
    told = []
    for found in patterns:
        if worst := growth(found.pattern, found.methods):
            told.append(f"{found.place} takes {worst[0]:.0f} times as long over {LONG} characters of {worst[1]!r}")
    return told, places, silent


def test_patterns_take_time_in_proportion_to_the_text() -> None:
    # In a process of its own: everything is imported anew for it, and others must not meet two of each module.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
        told, places, silent = apart.submit(pump_all).result()
    assert places > 400, "the places where patterns are used are not found any more"
    assert silent == []
    assert told == []


@pytest.mark.parametrize("text", [r"(a+)+$", r"(?:\w+\s*)+:", r"(?:a|b|ab)*c"])
def test_a_pattern_that_explodes_is_found(text: str) -> None:
    assert growth(re.compile(text), {"match"})


@pytest.mark.parametrize("text", [r"\s+$", r"\d+ [a-z]", r"\(.*\)", r"<!--.*?-->"])
def test_a_search_that_comes_back_to_each_place_is_found(text: str) -> None:
    assert growth(re.compile(text), {"search"})


@pytest.mark.parametrize("text", [r"(?<!\s)\s+x", r"\s{1,20}x", r"[^\W\d_]+", r"a*+b|c"])
def test_a_pattern_that_reads_once_is_not(text: str) -> None:
    assert growth(re.compile(text), {"match"}) is None
