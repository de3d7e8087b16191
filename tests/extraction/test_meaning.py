"""Words of any length and in any number become vectors in bounded batches."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from tablewright.extraction import meaning
from tablewright.sandbox.limits import MEBIBYTE

READING = """
import resource, sys
from tablewright.extraction.meaning import Vocabulary, word_vectors

def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

word_vectors(("word",))
before = most()
resource.setrlimit(resource.RLIMIT_AS, (3 * 1024**3,) * 2)
words = " ".join("word" + "".join(chr(97 + int(digit)) for digit in str(at)) for at in range(5_000))
found = Vocabulary(words + " " + "x" * 500_000).similarity(("word", "founded"))
print(*found.shape, most() - before)
"""


def test_a_word_of_half_a_million_letters_does_not_swell_all_others() -> None:
    done = subprocess.run([sys.executable, "-c", READING], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2_000:]
    asked, words, grown = map(int, done.stdout.split())
    assert (asked, words) == (2, 5_001)
    assert grown < 300 * MEBIBYTE


def test_threads_read_on_while_the_kept_words_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meaning, "VECTOR_LIMITS", meaning.VectorLimits(kept_words=50))

    def read(start: int) -> set[tuple[int, ...]]:
        found = set()
        for at in range(start, start + 300):
            words = tuple(f"{chr(97 + at % 26)}{chr(97 + more)}" for more in range(20))
            found.add(meaning.word_vectors(words).shape)
            meaning.is_light_word(words[0])
        return found

    with ThreadPoolExecutor(6) as pool:
        assert set().union(*pool.map(read, range(0, 60, 10))) == {(20, meaning.VECTOR_LIMITS.width)}
