"""What a sentence says against a claim: it denies what the claim says, says the opposite, or has another number."""

from __future__ import annotations

import re
from functools import cache

import numpy as np
from numpy.typing import NDArray

from tablewright.decisions.entailment.alignment import Alignment, Sentence
from tablewright.decisions.entailment.parts import Part
from tablewright.decisions.entailment.words import SMALL, WORD, plain, root
from tablewright.table.dates import read_dates
from tablewright.table.model import Noun
from tablewright.table.numbers import read_numbers

SAME_MATTER = 0.75
"""Of the rest of the claim: a sentence that says less of it speaks of something else."""
SAME_STATEMENT = 0.85
_DENIES = re.compile(r"\b(?:not(?! only)|never|none|neither|nor|cannot|no longer|\w+n['’]t)\b", re.IGNORECASE)
_ABOUT = re.compile(
    r"\b(?:about|almost|approximately|around|at least|at most|from|less than|more than|nearly|over|roughly|some|"
    r"starting at|starts at|under|up to)\s+\W?$",
    re.IGNORECASE,
)
_OPPOSITES = tuple(
    """accept/reject allow/forbid allow/prohibit before/after gain/lose highest/lowest increase/decrease
increased/decreased increase/fall largest/smallest majority/minority maximum/minimum more/fewer more/less most/least
north/south east/west open/closed oldest/youngest rise/fall rise/drop rose/fell start/end support/oppose
win/lose""".split()
)


class Against(Noun, frozen=True):
    """`outright`: both cannot be true. Otherwise the claim is only less exact, or holds with a limit."""

    sentence: Sentence
    reason: str
    outright: bool = True


def against(alignment: Alignment) -> Against | None:
    order = [*alignment.bearing, *(place for place in range(len(alignment.nearest)) if place not in alignment.bearing)]
    for place in order[: len(alignment.bearing) + 4]:
        said = np.maximum(alignment.from_outset, alignment.said[:, place])
        sentence = alignment.nearest[place]
        for find in (_denied, _opposed, _other_number, _second_figure):
            if (found := find(alignment, said, sentence)) and not alignment.is_tainted(sentence):
                return found
    return None


def _denied(alignment: Alignment, said: NDArray[np.float64], sentence: Sentence) -> Against | None:
    if alignment.weights @ said < SAME_STATEMENT or len(alignment.parts) < 2:
        return None
    ours, theirs = _DENIES.search(alignment.claim), _DENIES.search(sentence.written)
    if bool(ours) == bool(theirs):
        return None
    return Against(sentence=sentence, reason="it is denied here" if theirs else "it is said here without the denial")


def _opposed(alignment: Alignment, said: NDArray[np.float64], sentence: Sentence) -> Against | None:
    for place, part in enumerate(alignment.parts):
        if part.root in sentence.roots or _rest(alignment, said, place) < SAME_MATTER:
            continue
        for other in _opposites().get(part.root, ()):
            if other in sentence.roots and other not in set(map(root, WORD.findall(alignment.claim))):
                word = next(word for word in sentence.words if root(word) == other)
                return Against(sentence=sentence, reason=f"it says {word}, not {part.written}")
    return None


def _other_number(alignment: Alignment, said: NDArray[np.float64], sentence: Sentence) -> Against | None:
    """Where a figure of the claim stands nowhere, and this sentence says the rest with another of the same kind."""
    for place, part in enumerate(alignment.parts):
        if part.kind not in ("number", "date") or alignment.anywhere[place] >= 0.5:
            continue
        if _rest(alignment, said, place) < SAME_MATTER:
            continue
        rivals = _years(part, sentence) if part.kind == "date" else _amounts(alignment.claim, part, sentence)
        rivals = [rival for rival in rivals if rival not in alignment.claim]
        if len(rivals) == 1:
            start = sentence.written.find(rivals[0])
            loose = _ABOUT.search(alignment.claim[: part.start]) or _ABOUT.search(sentence.written[:start])
            reason = f"it says {rivals[0]}, not {part.written}"
            return Against(sentence=sentence, reason=reason, outright=not loose and len(part.values) < 2)
    return None


def _second_figure(alignment: Alignment, said: NDArray[np.float64], sentence: Sentence) -> Against | None:
    """Where the sentence has the claim's price, and another for the same: "costs $59 a month; its page still speaks of
    $49". Two cells of a row are of different things, and so are a price by the month and by the year."""
    if "|" in sentence.written or alignment.weights @ said < SAME_MATTER:
        return None
    for place, part in enumerate(alignment.parts):
        kind = _of_what(alignment.claim, part.start, part.end)
        if part.kind != "number" or kind not in _SIGNS or alignment.said[place, alignment.nearest.index(sentence)] < 1:
            continue
        numbers = [n for n in read_numbers(sentence.written) if _of_what(sentence.written, n.start, n.end) == kind]
        own = [number for number in numbers if float(number.value) in part.values]
        for number in numbers:
            rival = sentence.written[number.start : number.end].strip()
            if number in own or rival in alignment.claim or number.high is not None:
                continue
            units = {_unit(sentence.written, each.end) for each in (number, *own)} - {""}
            if len(units) < 2:
                return Against(sentence=sentence, reason=f"it says {kind}{rival.lstrip(kind)} as well", outright=False)
    return None


_SIGNS = frozenset("$€£¥")
_UNIT = re.compile(r"\W{0,2}\s*(?:(?:per|an?|each|for|in|of|to|and|on)\s+|/\s*)(\w+)")


def _unit(text: str, end: int) -> str:
    """What an amount is for: "month" of "$59 per month"."""
    found = _UNIT.match(text, end)
    return root(found[1]) if found else ""


def _rest(alignment: Alignment, said: NDArray[np.float64], place: int) -> float:
    """How far the other parts are said."""
    weights = alignment.weights.copy()
    weights[place] = 0.0
    return float(weights @ said / weights.sum()) if weights.sum() else 0.0


def _years(part: Part, sentence: Sentence) -> list[str]:
    found = (date for date in read_dates(sentence.written) if len(date.iso) >= min(len(part.iso), 7))
    return list(dict.fromkeys(sentence.written[date.start : date.end] for date in found))


def _amounts(claim: str, part: Part, sentence: Sentence) -> list[str]:
    """Those of the same thing: the same word or sign follows, or the same sign stands before."""
    kind = _of_what(claim, part.start, part.end)
    found = []
    for number in read_numbers(sentence.written):
        if kind and _of_what(sentence.written, number.start, number.end) == kind:
            found.append(sentence.written[number.start : number.end].strip())
    return list(dict.fromkeys(found))


def _of_what(text: str, start: int, end: int) -> str:
    before = text[:start].rstrip()[-1:] + text[start:end].strip()[:1]
    if sign := re.search(r"[$€£¥]", before):
        return sign[0]
    if re.match(r"\s*(?:%|per ?cent)", text[end:]) or "%" in text[start:end]:
        return "%"
    following = next((plain(word) for word in WORD.findall(text[end : end + 40])), "")
    return root(following) if following and following not in SMALL else ""


@cache
def _opposites() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for pair in _OPPOSITES:
        one, other = map(root, pair.split("/"))
        found.setdefault(one, set()).add(other)
        found.setdefault(other, set()).add(one)
    return found
