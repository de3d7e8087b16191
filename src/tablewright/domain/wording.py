"""What a person says to the program, within bounds: the limit of length holds for every door."""

from __future__ import annotations

import re

from tablewright.errors import UsageError

LONGEST = 4_000
_SPACES = re.compile(r"[^\S\n]+")


def within_bounds(said: str, what: str = "question") -> str:
    """Without runs of spaces and blank lines. Longer texts are refused: no question needs them, and what reads a
    question may take as long as the square of its length."""
    lines = (_SPACES.sub(" ", line).strip() for line in said.split("\n"))
    text = "\n".join(line for line in lines if line)
    if len(text) > LONGEST:
        raise UsageError(
            f"The {what} has {len(text):,} characters; at most {LONGEST:,} are read, and nothing was done.",
            advice="Say it in fewer words, or add what it quotes as a document.",
        )
    return text
