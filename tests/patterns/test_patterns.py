"""No text that a page or a person sends keeps a regular expression of the package busy."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from tests.patterns.collecting import Found, all_patterns
from tests.patterns.pumping import LONG, give_up, growth

READS_SHORT_TEXTS = ("decisions/", "corpus/annotate/", "corpus/")
"""What people say has at most 4,000 characters, a line of a page too, and documents are annotated in a worker process
with a limit of time. They are not pumped here yet."""
READS_ANYTHING = ("corpus/parse/",)


@pytest.fixture(scope="module")
def patterns() -> list[Found]:
    # In a process of its own: everything is imported anew for it, and others must not meet two of each module.
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as apart:
        found, places, silent = apart.submit(all_patterns).result()
    assert places > 1_000, "the places where patterns are used are not found any more"
    assert silent == []
    return found


@pytest.fixture(autouse=True)
def patience() -> Iterator[None]:
    before = signal.signal(signal.SIGVTALRM, give_up)
    yield
    signal.signal(signal.SIGVTALRM, before)


def reads_short_texts(found: Found) -> bool:
    return found.place.startswith(READS_SHORT_TEXTS) and not found.place.startswith(READS_ANYTHING)


def busy(patterns: list[Found], *, short_texts: bool) -> str:
    told = []
    for found in patterns:
        if reads_short_texts(found) is short_texts and (
            worst := growth(found.pattern, found.methods, short_texts=short_texts)
        ):
            told.append(f"{found.place} takes {worst[0]:.0f} times as long over {LONG} characters of {worst[1]!r}")
    return "\n".join(told)


def test_patterns_that_read_pages_and_files_take_time_in_proportion_to_the_text(patterns: list[Found]) -> None:
    assert busy(patterns, short_texts=False) == ""


@pytest.mark.parametrize("text", [r"(a+)+$", r"(?:\w+\s*)+:", r"(?:a|b|ab)*c"])
def test_a_pattern_that_explodes_is_found(text: str) -> None:
    assert growth(re.compile(text), {"match"}, short_texts=True)


@pytest.mark.parametrize("text", [r"\s+$", r"\d+ [a-z]", r"\(.*\)", r"<!--.*?-->"])
def test_a_search_that_comes_back_to_each_place_is_found(text: str) -> None:
    assert growth(re.compile(text), {"search"}, short_texts=False)


@pytest.mark.parametrize("text", [r"(?<!\s)\s+x", r"\s{1,20}x", r"[^\W\d_]+", r"a*+b|c"])
def test_a_pattern_that_reads_once_is_not(text: str) -> None:
    assert growth(re.compile(text), {"match"}, short_texts=False) is None
