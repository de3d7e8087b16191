"""Words of any length and in any number become vectors in bounded batches."""

from __future__ import annotations

import subprocess
import sys

from tablewright.sandbox.limits import MB

READING = """
import resource, sys
from tablewright.extraction.meaning import Vocabulary, vectors

def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

vectors(("word",))
before = most()
resource.setrlimit(resource.RLIMIT_AS, (3 * 1024**3,) * 2)
words = " ".join("word" + "".join(chr(97 + int(digit)) for digit in str(at)) for at in range(5_000))
found = Vocabulary(words + " " + "x" * 500_000).likeness(("word", "founded"))
print(*found.shape, most() - before)
"""


def test_a_word_of_half_a_million_letters_does_not_swell_all_others() -> None:
    done = subprocess.run([sys.executable, "-c", READING], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2_000:]
    asked, words, grown = map(int, done.stdout.split())
    assert (asked, words) == (2, 5_001)
    assert grown < 300 * MB
