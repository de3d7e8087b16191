"""Reads sentences: an answer of the wanted kind beside the words that say what it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from tablewright.extraction.found import Found
from tablewright.extraction.kinds import typed
from tablewright.extraction.passages import Sentence
from tablewright.extraction.spans import Span
from tablewright.extraction.wanted import Wanted
from tablewright.table.countries import COUNTRIES, COUNTRY_OF
from tablewright.table.rowkey import fold, tokenize

NEAR = 90  # characters between a cue and its answer
LONGEST = 2000  # characters of a sentence; a longer one is no prose
FIRST = 2  # sentences of a page that say what its subject is

_CLAUSE = re.compile(
    r"[;:]|, (?:and|but|which|who|while|whose|where|with)\b|"
    r"\b(?:but|while|whereas|before|until|after|when|although|because|following|than)\b"
)
_WHEN = re.compile(
    r"\b(?:in|on|since|around|during)\s+(?:the )?(?:early |late |mid-?)?(?:\d{1,2}(?:st|nd|rd|th)? )?(?:[A-Z][a-z]+ )?"
    r"(?:\d{1,2}(?:st|nd|rd|th)?, )?$"
)
_ANOTHER = re.compile(
    r"(?:His|Her|Their|Its) (?!(?:head|home|main|corporate|original|first|capital|population)\b)[a-z]+|"
    r"(?:A|An|The|Another|Further|Later|Two|Three|Several|Some) (?:[\w-]+ ){0,3}?"
    r"(?:sequels?|remake|prequel|adaptations?|remaster\w*|re-?issue|re-?release|special edition|anniversary|cover|"
    r"version|spin-off|follow-up|brother|sister|father|son)\b"
)
_PRONOUN = re.compile(
    r"(?:It|He|She|They|This|The|Its|His|Her|Their|We|Our|In|On|At|As|Since|After|Originally|First|Founded|Established|"
    r"Based|Located|Born|Headquartered|Opened|Built|Released|Published)\b"
)
_HOLDS = re.compile(
    r"\s*(?:\(|,|, who is|is|was|as|became|serves as|took over as|has been|has served as|was (?:named|appointed))\s*"
    r"(?:(?:the|its|our|a|an|current|group|as|president and|founder and|chair and) )*",
    re.IGNORECASE,
)
_PAST = re.compile(r"\s+was (?!(?:named|appointed)\b)")
_HANDED_ON = re.compile(r"[^(]*\)|\s*from\b|\s*(?:in|after) succession\b")
_OF_IT = re.compile(r"\s+(?:of|for|at)\s+([^.;:]{2,80}?)\s+(?:is|are)\s+(?:(?:the|a|an|about|approximately|some)\s+)?")
_NOUN_KINDS = ("name", "organisation", "place", "text", "state", "city")


def speaking(want: Wanted, sentences: Sequence[Sentence]) -> Iterator[Sentence]:
    """Those that have any of the words that speak of the field: a quick look before the reading."""
    relation = want.relation
    patterns = [re.compile(part, re.IGNORECASE) for part in (relation.cue, relation.weak, want.noun) if part]
    if relation.pattern and not relation.lone:
        patterns.append(re.compile(relation.pattern))
    for sentence in sentences:
        if len(sentence.text) > LONGEST:
            continue
        defines = relation.defining and sentence.number < FIRST
        if defines or any(pattern.search(sentence.text) for pattern in patterns):
            yield sentence


def from_sentence(want: Wanted, sentence: Sentence, names: frozenset[str], *, own: bool) -> Iterator[Found]:
    """`names` are the words that stand for the subject; `own`: the whole page is about it."""
    end = sentence.start + len(sentence.text)
    for value, score in _answers(want, sentence, names, own=own):
        yield Found(value=value, start=sentence.start, end=end, score=score)


def _answers(want: Wanted, sentence: Sentence, names: frozenset[str], *, own: bool) -> Iterator[tuple[str, float]]:
    text, relation = sentence.text, want.relation
    if own and sentence.number < FIRST and relation.defining and (match := re.search(relation.defining, text)):
        for span in typed(want, match[1]):
            yield span.value, span.sure * (0.92 if sentence.number == 0 else 0.8)
    if want.noun and want.kind in _NOUN_KINDS:
        yield from _beside_noun(want.noun, text)
    if relation.pattern and not relation.lone and (match := re.search(relation.pattern, text)):
        span = _patterned(want, match)
        yield (
            span.value,
            0.85 * _speaks_of_subject(text, names) * (0.4 if _is_unlike(relation.unlike, text, span) else 1),
        )
    yield from _beside_cues(want, text, names)


def _beside_cues(want: Wanted, text: str, names: frozenset[str]) -> Iterator[tuple[str, float]]:
    relation = want.relation
    cues = [(cue, 1.0) for cue in re.finditer(relation.cue, text, re.IGNORECASE)] if relation.cue else []
    cues += [(cue, 0.6) for cue in re.finditer(relation.weak, text, re.IGNORECASE)] if relation.weak else []
    found = typed(want, text) if cues else ()
    answered = ""
    for span in found:
        score = max(weight * _closeness(text, cue, span, found, names) for cue, weight in cues)
        if _is_unlike(relation.unlike, text, span):
            score *= 0.4
        if relation.before and re.match(relation.before, text[span.end :], re.IGNORECASE):
            score = max(score, 0.9)
        if relation.earliest:
            year = _last_year(span.value)
            if answered and year > answered:
                score *= 0.8  # "released in 1992, and again in 2008"
            elif score > 0.55:
                answered = year
        if score > 0:
            yield span.value, score * span.sure * _speaks_of_subject(text, names) * (1.0 if want.known else 0.75)


def _last_year(value: str) -> str:
    years = re.findall(r"\d{4}", value)
    return years[-1] if years else ""


def _is_unlike(unlike: str, text: str, span: Span) -> bool:
    """Whether the words right around an answer make it one to another question: "each with a capacity of 4 MW"."""
    if not unlike:
        return False
    around = text[max(0, span.start - 30) : span.start], text[span.end : span.end + 15]
    return any(re.search(unlike, part, re.IGNORECASE) for part in around)


def _closeness(text: str, cue: re.Match[str], span: Span, found: Sequence[Span], names: frozenset[str]) -> float:
    """1 right after the cue, falling with what stands between: distance, other answers, the end of a clause."""
    if span.start >= cue.end():
        start, end, score = cue.end(), span.start, 1.0
    elif span.end <= cue.start():
        start, end, score = span.end, cue.start(), 0.62
    else:
        return 0.0
    if end - start > NEAR:
        return 0.0
    if span.end <= cue.start() and _HOLDS.fullmatch(text, span.end, cue.start()):
        past = _PAST.match(text, span.end)
        return 0.5 if past else 0.97  # "Ann Lee (CEO)", "Ann Lee took over as chief executive"
    if span.start >= cue.end() and _HANDED_ON.match(text, cue.end(), span.start):
        return 0.1  # "(CEO), Bo Ek (chairman)", "as chief executive from Bo Ek"
    said_of = _OF_IT.fullmatch(text, start, end) if span.start >= cue.end() else None
    if said_of and set(tokenize(fold(said_of[1]))) <= names:
        return 0.97  # "the chief executive of Acme is Ann Lee"
    rivals = sum(1 for other in found if start <= other.start < end)
    score *= max(0.35, 1.0 - (end - start) / (260 if _WHEN.search(text[: span.start]) else 130))
    score *= 0.55**rivals
    return score * 0.6 if _CLAUSE.search(text[start:end]) else score


def _speaks_of_subject(text: str, names: frozenset[str]) -> float:
    """1 where the sentence begins with the subject, or a word that stands for it; less where it begins with another."""
    if _ANOTHER.match(text):
        return 0.55
    if _PRONOUN.match(text):
        return 1.0
    return 0.7 if names.isdisjoint(_opening(text[:80])) else 1.0


_POSSESSIVE = re.compile(r"['’]s\b")


@lru_cache(maxsize=4096)
def _opening(text: str) -> tuple[str, ...]:
    return tuple(tokenize(fold(_POSSESSIVE.sub("", text))))


def _patterned(want: Wanted, match: re.Match[str]) -> Span:
    number = re.match(r"[\d.,]+", match[1]) if want.bare else None
    return Span(value=number[0] if number else match[1], start=match.start(1), end=match.end(1))


_CAPITAL = r"[A-ZÀ-ÞČŠŽĐ][\w’'.-]*"
_NAME = rf"{_CAPITAL}(?: (?:de|of|la|del|the|and) {_CAPITAL}| {_CAPITAL})*"
_OPENING_WORD = re.compile(r"^(?:The|In|On|At|Its|This|Each)(?: |$)")
_PART_OF_NAME = frozenset(("stadium", "arena", "university", "college", "airport"))


def _beside_noun(noun: str, text: str) -> Iterator[tuple[str, float]]:
    """ "in Noble County", "the island of New Providence", "the Antioquia department"; but all of "Vinh Stadium"."""
    before, after = _noun_patterns(noun)
    for match in before.finditer(text):
        if value := _proper(_OPENING_WORD.sub("", match[1])):
            belongs = noun in _PART_OF_NAME and match[2][0].isupper()
            yield f"{value} {match[2]}" if belongs else value, 0.8
    for match in after.finditer(text):
        if value := _proper(match[1]):
            yield value, 0.72


@lru_cache(maxsize=64)
def _noun_patterns(noun: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    return (
        re.compile(rf"(?<![\w-])({_NAME}) ((?i:{noun}))s?\b"),
        re.compile(rf"\b(?i:{noun})s? (?:of|is|named|called) (?:the )?({_NAME})"),
    )


def _proper(name: str) -> str:
    name = name.rstrip(".'’")
    return "" if name in COUNTRY_OF or name in COUNTRIES else name
