"""How much of what a field asks a place speaks of: a label, a heading of a table, a sentence."""

from __future__ import annotations

from collections.abc import Mapping

from tablewright.arrays import np
from tablewright.domain.model import Noun
from tablewright.extraction.meaning import RELATED, Likeness
from tablewright.extraction.wanted import Wanted

FROM_CONTEXT = 0.9
"""What a word counts that the page says of itself, and not at the place: "album" in "when did the album come out"."""


IN_PASSING = 0.6
"""What the very word counts that the page says of itself, where the question does not say that the row is one."""
SAME = 0.99
"""A form of the very word."""
NEARBY = 0.22
"""How alike two words must be that are two of a few. Of two hundred words drawn at random one is so like another."""
LITERAL = 0.89
"""Above what a word counts that is only like the asked one."""
ALIKE = 0.75
"""The most that an answer is worth whose place has only words like the asked ones."""


class WordCoverage(Noun, frozen=True):
    """Of the phrase that is covered best: the mean and the least over its words. `named` is the mean of the name's own
    words, `anchored` the most that any word is covered by the place itself."""

    mean: float
    least: float
    named: float
    anchored: float
    unsaid: float
    """What is missing to the very words of the name, or, if that is worse, of the question to words like its own."""

    @property
    def literal(self) -> bool:
        """Whether the very words are there, in one form or another, and not only words like them."""
        return self.unsaid <= 1.0 - LITERAL

    @property
    def whole(self) -> bool:
        """Whether no telling word is left over: who the chief executive is does not say what her dog is called."""
        return self.least >= RELATED


def coverage(want: Wanted, place: Mapping[str, float], context: Mapping[str, float]) -> WordCoverage:
    """`place` and `context` say how alike each asked word is to the most alike one there."""
    place = _agreed(want, place)
    least, mean, named, unsaid = 0.0, 0.0, 0.0, 0.0
    for number, phrase in enumerate(want.phrases):
        of_row = want.of_row if number else frozenset()
        told = [word for word in phrase if word not in want.said_by_kind]
        if told and of_row.issuperset(told):
            continue  # says what the row is, and nothing of what is asked
        covered = {
            word: max(place.get(word, 0.0), _from_context(context.get(word, 0.0), of_row=word in of_row))
            for word in told
        }
        # A name that is only a kind ("Year") leaves nothing that a place could fail to speak of.
        weighty = [covered[word] for word in told if word in want.weighty] or list(covered.values()) or [1.0]
        average = sum(covered.values()) / len(covered) if covered else 1.0
        if not number:
            named, unsaid = average, 1.0 - min(weighty)
        elif min(weighty) < RELATED:
            unsaid = 1.0
        if (min(weighty) >= RELATED, min(weighty) + average) > (least >= RELATED, least + mean):
            least, mean = min(weighty), average
    anchored = max(
        (place.get(word, 0.0) for word in want.words if word not in want.said_by_kind | want.of_row), default=0.0
    )
    return WordCoverage(least=least, mean=mean, named=named, anchored=anchored, unsaid=unsaid)


def _agreed(want: Wanted, place: Mapping[str, float]) -> dict[str, float]:
    """Without words that are only like the place's, where the same, asked in another word, is not: a firm that is
    founded is born in a way, but has no birthday."""
    return {
        word: 0.0 if like < SAME and any(place.get(twin, 0.0) < NEARBY for twin in want.twins.get(word, ())) else like
        for word, like in place.items()
    }


def _from_context(like: float, *, of_row: bool) -> float:
    if of_row:
        return FROM_CONTEXT * like
    return IN_PASSING if like >= SAME else 0.0


def by_word(want: Wanted, alike: Likeness) -> dict[str, float]:
    """For each asked word how alike the most alike word of a place is."""
    if not alike.size:
        return {}
    return dict(zip(want.words, np.max(alike, axis=1).tolist(), strict=True))
