"""How well a label names what is asked for: by its own words, without their endings. What is only alike in meaning is
another label: the word vectors at hand know neither that an amount is a total nor what either is in German."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from tablewright.text.words import SMALL_WORDS, roots

EXTRA = 0.15
"""What each word costs that the label has beyond those asked for, or that only the heading above it has."""
OWN = 0.05
"""What such a word costs that says what the document is: an invoice's "Invoice date" is its date."""
INITIALS = 0.95
_APART = re.compile(r"\s?/\s?| & ")


def fit(asked: str, label: str, heading: str = "", titles: str = "") -> float:
    """From 0 to 1; 0 where a word that is asked for stands neither in the label nor in the heading above it. Of a label
    such as "Model/Series" either part may be what is asked. `titles` say what the document is."""
    return max(_fit(asked, part, heading, titles) for part in {label, *_APART.split(label)})


def _fit(asked: str, label: str, heading: str, titles: str) -> float:
    wanted, given = words_of(asked), words_of(label)
    if not wanted or not given:
        return 0.0
    if are_initials(asked, label) or are_initials(label, asked):
        return INITIALS
    missing, extra = wanted - given, given - wanted
    if missing == wanted or missing - words_of(heading) or (missing and extra):
        return 0.0
    own = extra & words_of(f"{titles} {heading}")
    return max(0.0, 1 - EXTRA * (len(missing) + len(extra - own)) - OWN * len(own))


@lru_cache(maxsize=1 << 14)
def words_of(text: str) -> frozenset[str]:
    text = _NUMBER_SIGN.sub(" number ", text)
    return frozenset(roots(text, telling=True)) or frozenset(roots(text))


_NUMBER_SIGN = re.compile(r"[#№]|\b(?:no|nr)\b\.?|\bn[°º]", re.IGNORECASE)


def are_initials(short: str, whole: str) -> bool:
    """ "DOB" is "date of birth", with or without its small words."""
    if not (3 <= len(short) <= 6 and short.isalpha() and short.isupper()):
        return False
    return short.casefold() in initials_of(whole)


def initials_of(text: str) -> Iterator[str]:
    said = text.casefold().split()
    yield "".join(word[0] for word in said)
    yield "".join(word[0] for word in said if word not in SMALL_WORDS)
