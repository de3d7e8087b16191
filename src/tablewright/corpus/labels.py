"""Which labels of the documents mean the one that is asked for.

Words first: their stems, spellings, abbreviations, initials and synonyms, and what the unit of the values says. The
heading above a value counts less than its label. Vectors only speak where words find nothing in the whole corpus.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal, NamedTuple, Protocol, TypeAlias

from tablewright.corpus.vocabulary import (
    BASES,
    IMPLIED,
    JOINTS,
    NEUTRAL,
    OPPOSITES,
    PHRASES,
    PLACEHOLDERS,
    SECTIONS,
    SILENT,
    stem,
    synonymous,
    tokens,
    written_out,
)
from tablewright.table.currencies import currency_of
from tablewright.table.model import Noun
from tablewright.table.units import parse_unit

How: TypeAlias = Literal["words", "partly", "likeness"]

ENOUGH = 0.6
PARTLY = 0.5
ALIKE = 0.62
"""The cosine from which two labels are taken for one: of 30 pairs of one meaning and 30 of different ones, those that
share a word left aside, the nearest different pair ("latitude", "longitude") reached 0.60. A third of the same did."""

SAME, INITIALS, WRITTEN_OUT, SYNONYM, UNIT, BEHIND = 1.0, 0.97, 0.96, 0.92, 0.85, 0.95
ABOVE, ALL_ABOVE = 0.6, 0.85
"""What a word is worth that stands in the heading above, among others and as all that it says."""
EXTRA, EXTRA_NEUTRAL, OTHER_HEAD, NO_UNIT = 0.15, 0.02, 0.3, 0.1
NEUTRAL_WEIGHT = 0.3


class Use(Protocol):
    """A label as the documents use it."""

    @property
    def label(self) -> str: ...
    @property
    def context(self) -> str: ...
    @property
    def base(self) -> str: ...


class Match(Noun, frozen=True):
    """`score` is from 0 to 1. A label that matches only `partly` says less than was asked for ("power", not "STC
    power"); one found by `likeness` shares no word with it."""

    label: str
    context: str
    base: str
    score: float
    how: How = "words"


def match_labels(
    asked: str, uses: Sequence[Use], *, base: str = "", about: str = "", alike: Mapping[str, float] | None = None
) -> list[Match]:
    """The matching labels, the best first. `base` is the base unit of the value that is asked for, `about` what kind
    of thing is asked about (the "invoice" of an invoice date says nothing), `alike` how near the vector of each label
    is to that of the asked one."""
    aliases = harvested(tuple(dict.fromkeys(use.label for use in uses)))
    wanted = _phrase_of(asked, aliases)
    quiet = frozenset(stem(word) for word in tokens(about))
    fitting = {(use.label, use.context, use.base): use for use in uses if _unit_fits(wanted, use.base, base)}
    found: list[Match] = []
    for (label, context, unit), use in fitting.items():
        if (compared := _compare(wanted, use, aliases, quiet)) is not None:
            score = compared[0] - (NO_UNIT if base and not unit else 0.0)
            found.append(Match(label=label, context=context, base=unit, score=round(score, 4), how=compared[1]))
    if not found and alike:
        for label, context, unit in fitting:
            if alike.get(label, 0.0) >= ALIKE and wanted.words.isdisjoint(_phrase_of(label, aliases).words):
                score = round(PARTLY * alike[label], 4)
                found.append(Match(label=label, context=context, base=unit, score=score, how="likeness"))
    return sorted(found, key=lambda match: (-match.score, match.label, match.context, match.base))


# ── reading a label ──────────────────────────────────────────────────────────────────────────────────────────────────


class Term(NamedTuple):
    """A word of a label; `behind` a joint or in brackets it only qualifies. `means` is what it is short for, the thing
    itself first. Words of one `choice` stand for each other or side by side: those of "Model/Series", "Date & Time"."""

    word: str
    behind: bool
    means: tuple[str, ...]
    choice: int = 0


class Phrase(NamedTuple):
    terms: tuple[Term, ...]
    head: str
    """What it is: the last word of "open circuit voltage", the first of "date of birth"."""
    words: frozenset[str]
    initials: frozenset[str]
    """Of each run of its words."""
    is_open: bool
    """Whether it leaves to the unit which quantity it is: "PTC rating"."""


class Aliases:
    """What short words stand for in these documents, the thing itself first. Known by its identity, as it is the key
    of what is remembered of labels."""

    def __init__(self, words: Mapping[str, tuple[str, ...]]) -> None:
        self.words = words


NO_ALIASES = Aliases({})

_BRACKETS = re.compile(r"[(\[{]([^)\]}]*)[)\]}]?")
_NUMBER_OF = re.compile(r"^\s*(?:the\s+)?(?:total\s+)?(?:number|no\.?|nr\.?|count)\s+of\s+", re.IGNORECASE)
_CHOICE = re.compile(r"\s{0,4}/\s{0,4}|\s{1,4}(?:&|and|or)\s{1,4}", re.IGNORECASE)
_ALL_OF = re.compile(r"\b(?:all|any|every)\s+\S+", re.IGNORECASE)
"""What narrows nothing: "Total, all aircraft"."""
_UNIT_BEHIND = re.compile(r"(?:,|\s{1,4}in|/)\s{1,4}(\S{1,8})$")


@lru_cache(maxsize=4)
def harvested(labels: tuple[str, ...]) -> Aliases:
    """What the labels themselves explain: of "Open circuit voltage (Voc)" that voc is that voltage."""
    found: dict[str, tuple[str, ...]] = {}
    for label in labels:
        outside = _BRACKETS.sub(" ", label).strip()
        for inside in _BRACKETS.findall(label):
            short = tokens(inside)
            if len(short) == 1 and outside and not _is_unit(inside) and _abbreviates(short[0], tokens(outside)):
                words = _phrase_of(outside, NO_ALIASES)
                found.setdefault(stem(short[0]), (words.head, *(w.word for w in words.terms if w.word != words.head)))
    return Aliases(found)


def _abbreviates(short: str, words: list[str]) -> bool:
    words = [word for word in words if word not in SILENT and word not in JOINTS]
    if not 2 <= len(short) <= 6 or not words:
        return False
    if sorted(short) == sorted(word[0] for word in words):
        return True
    means = {stem(word) for word in written_out(short)}
    if means and not means.isdisjoint(map(stem, words)):
        return True
    whole, place = "".join(words), -1
    if short[0] != whole[0] or len(short) * 2 > len(whole):
        return False
    for letter in short:
        place = whole.find(letter, place + 1)
        if place < 0:
            return False
    return True


def _is_unit(text: str) -> bool:
    text = text.strip()
    return not text or parse_unit(text) is not None or (len(text) <= 4 and currency_of(text) != "")


@lru_cache(maxsize=1 << 14)
def _phrase_of(text: str, aliases: Aliases) -> Phrase:
    known = aliases.words
    outside = _NUMBER_OF.sub("", _BRACKETS.sub(" ", text))
    if (behind := _UNIT_BEHIND.search(outside)) and _is_unit(behind[1]):
        outside = outside[: behind.start()]
    terms: list[Term] = []
    raw: list[str] = []
    joined = False
    for number, part in enumerate(_CHOICE.split(outside)):
        if number and terms and not joined:
            terms[-1] = terms[-1]._replace(choice=terms[-1].choice or number)
        choice = terms[-1].choice if terms and not joined else 0
        for word in tokens(part):
            if word in JOINTS:
                joined = joined or bool(terms)
            elif word not in SILENT:
                raw.append(word)
                _add(terms, word, joined, known, 0 if joined else choice)
    core = [term.word for term in terms if not term.behind]
    head = next((word for word in reversed(core) if word not in NEUTRAL), core[-1] if core else "")
    for inside in _BRACKETS.findall(text):
        if not _is_unit(inside):
            for word in tokens(_ALL_OF.sub(" ", inside)):
                if word not in JOINTS and word not in SILENT:
                    _add(terms, word, behind=stem(word) not in known, known=known)
    is_open = bool(core) and core[-1] in PLACEHOLDERS
    return Phrase(tuple(terms), head, frozenset(term.word for term in terms), _runs(raw), is_open)


def _add(terms: list[Term], word: str, behind: bool, known: Mapping[str, tuple[str, ...]], choice: int = 0) -> None:
    one = stem(word)
    means = tuple(map(stem, written_out(word) or written_out(one))) or known.get(one, ())
    if len(means) == 1:
        one, means = means[0], ()
    if terms and not terms[-1].behind and not behind and (whole := PHRASES.get((terms[-1].word, one))):
        terms[-1] = Term(whole, False, (), choice)
    else:
        terms.append(Term(one, behind, means, choice))


def _runs(words: Sequence[str]) -> frozenset[str]:
    letters = "".join(word[0] for word in words)
    return frozenset(
        letters[start:end]
        for start in range(len(letters))
        for end in range(start + 2, min(start + 6, len(letters)) + 1)
    )


# ── comparing two ────────────────────────────────────────────────────────────────────────────────────────────────────


def _compare(wanted: Phrase, use: Use, aliases: Aliases, quiet: frozenset[str]) -> tuple[float, How] | None:
    label = _phrase_of(use.label, aliases)
    if not wanted.terms or not label.terms or _opposed(wanted, label):
        return None
    extras = _extras(wanted, label, quiet)
    met = {term.choice for term in label.terms if term.choice and term not in extras}
    told = IMPLIED.get(use.base, frozenset()) if wanted.is_open else frozenset()
    telling = [
        term.word
        for term in extras
        if term.word not in NEUTRAL
        and "standard" not in term.means
        and told.isdisjoint((term.word, *term.means))
        and term.choice not in met
    ]
    if not _head_is_met(wanted, label, use.base, telling):
        return None
    total = weight = 0.0
    missing: list[str] = []
    for term in wanted.terms:
        how_well = _covered(term, label, wanted)
        if not how_well and use.context:
            how_well = _covered_above(term, use.context, wanted)
        if not how_well and not telling:
            how_well = UNIT if term.word in IMPLIED.get(use.base, ()) else 0.0
        share = NEUTRAL_WEIGHT if term.word in NEUTRAL or term.word in quiet else 1.0
        total += how_well * share
        weight += share
        if not how_well and share == 1.0:
            missing.append(term.word)
    much = EXTRA * min(1.0, 2 / len(wanted.terms))
    score = total / weight - min(2 * much, much * len(telling)) - EXTRA_NEUTRAL * (len(extras) - len(telling))
    if label.head in telling:
        score -= OTHER_HEAD
    if missing:
        return (min(score, PARTLY), "partly") if not telling and not _rivals(use.context) else None
    return (score, "words") if score >= ENOUGH else None


_CAPITALS = re.compile(r"\b[A-Z]{2,5}\b")


def _rivals(context: str) -> bool:
    """Whether the heading names conditions of its own ("at NOCT"), which then are not the asked ones."""
    return _CAPITALS.search(context) is not None and not context.isupper()


def _head_is_met(wanted: Phrase, label: Phrase, base: str, telling: list[str]) -> bool:
    """The thing itself must be what the label names; what stands behind "of" or "at" is something else."""
    head = next((term for term in wanted.terms if term.word == wanted.head), None)
    if head is None:
        return False
    if wanted.is_open and base and not telling:
        return True
    if any(not term.behind and _meets(head, term) for term in label.terms):
        return True
    if head.means and any(not term.behind and _same(head.means[0], term.word) for term in label.terms):
        return True
    if head.word in label.initials or any(_is_initials(term, wanted) for term in label.terms if not term.behind):
        return True
    return not telling and head.word in IMPLIED.get(base, ())


def _meets(asked: Term, term: Term) -> float:
    if asked.word == term.word:
        return SAME
    if asked.means and asked.means == term.means:
        return WRITTEN_OUT
    if synonymous(asked.word, term.word):
        return SYNONYM
    if term.means and _same(asked.word, term.means[0]):
        return WRITTEN_OUT
    return 0.0


def _same(one: str, other: str) -> bool:
    return one == other or synonymous(one, other)


def _covered(asked: Term, label: Phrase, wanted: Phrase) -> float:
    best = 0.0
    for term in label.terms:
        met = _meets(asked, term) or (WRITTEN_OUT if asked.word in term.means else 0.0)
        if not met and _is_initials(term, wanted):
            met = INITIALS
        best = max(best, met * (BEHIND if term.behind else 1.0))
    if best < SAME and _is_short(asked.word) and asked.word in label.initials:
        best = max(best, INITIALS)
    if not best and asked.means:
        told = [word for word in asked.means if word not in NEUTRAL]
        if all(any(_same(word, term.word) or word in term.means for term in label.terms) for word in told):
            best = WRITTEN_OUT
    return best


def _covered_above(asked: Term, context: str, wanted: Phrase) -> float:
    words, initials = _heading(context)
    if asked.word in words or (_is_short(asked.word) and asked.word in initials):
        return ALL_ABOVE if words - wanted.words <= NEUTRAL | SECTIONS else ABOVE
    return ABOVE if any(len(word) > 2 for word in words & wanted.initials) else 0.0


@lru_cache(maxsize=1 << 14)
def _heading(context: str) -> tuple[frozenset[str], str]:
    """Its words, and the first letters of all that tell something, in order."""
    words = [word for word in tokens(context) if word not in JOINTS and word not in SILENT]
    return frozenset(map(stem, words)), "".join(word[0] for word in words)


def _is_short(word: str) -> bool:
    return 2 <= len(word) <= 6


def _is_initials(term: Term, phrase: Phrase) -> bool:
    return _is_short(term.word) and len(term.word) > 2 and term.word in phrase.initials


def _extras(wanted: Phrase, label: Phrase, quiet: frozenset[str]) -> list[Term]:
    """The words of the label that nobody asked for."""
    asked = {word for term in wanted.terms for word in (term.word, *term.means)}
    extras = []
    for term in label.terms:
        if term.word in quiet or term.word in asked or any(synonymous(term.word, word) for word in asked):
            continue
        if term.means and not asked.isdisjoint(term.means):
            continue
        if _is_initials(term, wanted) or _is_part_of_initials(term, wanted, label):
            continue
        extras.append(term)
    return extras


def _is_part_of_initials(term: Term, wanted: Phrase, label: Phrase) -> bool:
    return any(term.word[0] in word.word and word.word in label.initials for word in wanted.terms)


def _opposed(wanted: Phrase, label: Phrase) -> bool:
    for left, right in OPPOSITES:
        for mine, theirs in ((left, right), (right, left)):
            if not mine.isdisjoint(wanted.words) and not theirs.isdisjoint(label.words):
                return mine.isdisjoint(label.words)
    return False


def _unit_fits(wanted: Phrase, has: str, base: str) -> bool:
    if not has:
        return True
    if base:
        return has == base
    allowed = BASES.get(wanted.head)
    return allowed is None or has in allowed
