"""Questions that name their own answers: "Is {Name} public or private?", and the sentences that answer them."""

from __future__ import annotations

import re

from tablewright.table.model import Noun
from tablewright.table.template import PLACEHOLDER

MOST_WORDS = 3
_ROW = "\ufffc"  # stands where the question has a placeholder
_NAME = r"(?-i:[A-Z][\w.&-]*(?:\s[A-Z][\w.&-]*)*)"
_EITHER = re.compile(
    rf"\W*?(?:is|are|was|were)\s+(?:(?:the|this)\s+(?:{_ROW}|(?P<noun>[a-z]+))|"
    rf"(?P<row>{_ROW}(?:\s+{_ROW})*|it|they)|(?P<name>{_NAME}))"
    r"\s+(?P<choices>[^?]+\sor\s[^?,]+?)\s*\?\s*",
    re.IGNORECASE,
)
_BETWEEN = re.compile(r",\s*(?:or\s+)?|\s+or\s+", re.IGNORECASE)
_OPENING = re.compile(r"(?:(?:currently|now|still|mainly|mostly|primarily|usually|an?|the)\s+)*", re.IGNORECASE)
_CHOICE = re.compile(r"\w[\w-]+(?: [\w-]+)*")
_NO_CHOICE = frozenset(("not", "otherwise", "other", "neither", "both", "no"))
_PREPOSITIONS = r"(?:of|by|in|at|on|to|from|with|for|as|than)"
_INSIDE = re.compile(rf"(?!for ){_PREPOSITIONS} |.* {_PREPOSITIONS}\b", re.IGNORECASE)
_DENYING = r"(?:not|non|no|never|former|formerly|once|previously|originally|initially)"


class Alternatives(Noun, frozen=True):
    """The answers that a question names; `noun` is what it asks about, where that is not the row: "the pool"."""

    options: tuple[str, ...] = ()
    noun: str = ""

    @property
    def defining(self) -> str:
        """ "Elm College is a small private school"; not "is a formerly private one", "is a part of a private one"."""
        words = "|".join(r"[\s-]".join(map(re.escape, re.split(r"[\s-]", option))) for option in self.options)
        choice = rf"({words})\b(?!-)"
        told = rf"(?:(?!(?:{_DENYING}|{_PREPOSITIONS})\b)[\w'’-]+,? ){{0,3}}?"
        if not self.noun:
            return rf"(?i:\b(?:is|was|are|were) (?:(?:an?|the) {told})?{choice})"
        of_noun = rf"(?=(?:{words}) (?:[\w'’-]+ ){{0,2}}?{self.noun})"
        return rf"(?i:\b(?:{self.noun} (?:is|are|was|were) |(?:is|was|are|were) (?:an?|the) {told}{of_noun}){choice})"


def alternatives(question: str) -> Alternatives:
    """The choices where they are all that is said of the row; a part of a longer predicate is none: "in Rome or Oslo".

    Of "the {Name} logo red" no one can tell where the choice begins, so that after "the" it has to be one word.
    """
    found = _EITHER.fullmatch(PLACEHOLDER.sub(_ROW, question))
    if found is None:
        return Alternatives()
    options = tuple(choice[_end_of_opening(choice) :].strip() for choice in _BETWEEN.split(found["choices"]))
    longest = MOST_WORDS if found["row"] or found["name"] else 1
    if not all(_is_choice(option, longest) for option in options):
        return Alternatives()
    if found["name"] and " " in options[-1]:  # "Is New York or Boston larger?"
        return Alternatives()
    return Alternatives(options=options, noun=(found["noun"] or "").casefold())


def _end_of_opening(choice: str) -> int:
    opening = _OPENING.match(choice)
    return opening.end() if opening else 0


def _is_choice(option: str, longest: int) -> bool:
    if not _CHOICE.fullmatch(option) or option.casefold() in _NO_CHOICE or _INSIDE.match(option):
        return False
    return len(option.split()) <= longest
