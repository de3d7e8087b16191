"""Keys that were hit at random: "asdf qwer" wants nothing. Only what cannot be a word counts, for names are odd."""

from __future__ import annotations

import re

_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_RUNS = sorted(
    {
        keys[start:end]
        for row in _ROWS
        for keys in (row, row[::-1])
        for start in range(len(row))
        for end in range(start + 3, len(row) + 1)
    },
    key=len,
    reverse=True,
)
_MASHED = re.compile(rf"(?=\w{{4}})(?:(?:{'|'.join(_RUNS)})++|[bcdfghjklmnpqrstvwxz]{{5,}}|(\w{{1,3}})\1{{2,}})")
"""Neighbours on a keyboard, five letters and no vowel, or the same again and again."""


def is_gibberish(text: str) -> bool:
    said = re.findall(r"\w+", text.casefold())
    return bool(said) and all(word.isalpha() and _MASHED.fullmatch(word) for word in said)
