"""Reads sentences: an answer of the wanted kind beside words that mean what is asked."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import Literal

from tablewright.arrays import NDArray, np
from tablewright.domain.text import normalize_words
from tablewright.extraction.about import mentions
from tablewright.extraction.meaning import RELATED, Kind, Wanted, is_light, likeness, words
from tablewright.extraction.reading import ALIKE, NEARBY, SAME, FieldReading, Seen, WordCoverage, coverage
from tablewright.extraction.spans import UNSURE, TypedSpan, spans, typed
from tablewright.text import PageSentence
from tablewright.values.choices import NEGATIONS
from tablewright.values.countries import COUNTRIES, STATES

NAMED = 1.0
"""How surely a page is about the row that has its name for a title."""
LONGEST = 2000  # characters of a sentence; a longer one is no prose
FADING = 5.0
"""Words between an answer and what speaks of it, after which that counts about a third."""
FAR = 0.05
"""Less than this is left of the very word after fifteen others: it speaks of something else."""
LEAD = 6
"""Characters that may stand before the name: "The "."""
COUNTED = 3
"""Words between a number and what it counts, at most."""
OPENING = 8
"""Words of a sentence in which it says what it is about."""
WINDOW = 6
"""Words before and after an answer that are beside it."""
DEFINED = 6
"""Sentences at the beginning of a page that say what the thing is, whichever words they use."""
_PRONOUNS = frozenset("it he she they its his her their we our i my".split())
_DENYING = NEGATIONS | {"until"}
_POINTING = frozenset("the this these that those".split())
_LEADING = {
    "by": "by",
    "in": "in",
    "at": "at",
    "on": "on",
    "of": "of",
    "from": "from",
    "since": "from",
    "to": "to",
    "for": "for",
    "with": "with",
    **dict.fromkeys(("is", "are", "was", "were", "be", "been", "as", "named", "called"), "is"),
    **dict.fromkeys(("a", "an", "the", "its", "his", "her", "their"), "the"),
    **dict.fromkeys(("and", "or"), "and"),
}
"""Small words before an answer, and what they are counted as: "directed by", "based in", "is"."""
_FORMS: dict[str, tuple[Kind, ...]] = {"name": ("name",), "time": ("date", "year"), "amount": ("measure", "count")}
"""Where any text will do: what can be told from other words."""
_GROUPS: dict[Kind, str] = {
    **dict.fromkeys(("year", "date"), "time"),
    **dict.fromkeys(("money", "measure", "count", "number"), "amount"),
    **dict.fromkeys(("place", "country", "nationality", "city", "state"), "place"),
    "person": "person",
}
_TOGETHER = (
    *("mean", "anchored", "exact", "near before", "near after", "near exactly"),
    *("rivals", "first", "only kind", "sure", "like kind", "untyped", "loosely", "agent", "inside"),
)
"""What counts differently in each group of kinds."""
_LIKE: dict[str, tuple[str, ...]] = {
    "time": ("year", "date", "time"),
    "amount": ("number", "amount", "size"),
    "place": ("place", "city", "country"),
    "name": ("person", "organization", "group"),
    "person": ("person",),
}


_THINGS = ("street", "building", "organization", "event", "region")


def from_sentences(reading: FieldReading) -> Iterator[Seen]:
    """On the subject's own page all sentences that speak of the asked; on another page those that name the subject."""
    want, page = reading.want, reading.page
    if want.kind == "yesno" or not page.sentences:
        return
    asked = want.words
    best = page.by_sentence(reading.alike)
    told = [row for row, word in enumerate(asked) if word not in want.aside]
    spoken = best[told].max(axis=0) if told else np.zeros(best.shape[1], dtype=np.float32)
    for sentence in page.sentences:
        number = sentence.number
        if spoken[number] < (NEARBY if number < DEFINED else RELATED) and (told or number >= DEFINED):
            continue
        if len(sentence.text) > LONGEST or not (reading.own or _is_about(reading, sentence)):
            continue
        yield from _answers(reading, sentence, best[:, number], told)


def _is_about(reading: FieldReading, sentence: PageSentence) -> bool:
    """Return True if a sentence on another page begins with the row's name."""
    return bool(reading.subject.name) and mentions(reading.subject, sentence.text[: len(reading.subject.name) + LEAD])


def _answers(
    reading: FieldReading, sentence: PageSentence, best: NDArray[np.float32], told: list[int]
) -> Iterator[Seen]:
    page = reading.page
    by_sentence = _coverage(reading, best)
    if not by_sentence.whole and sentence.number >= DEFINED:
        return
    least = 0.0 if reading.want.kind == "number" else UNSURE  # a number may be a year, a count is none
    typed_here = _typed(reading.want, sentence.text)
    found = [each for each in typed_here if each[1].sure >= least and not _is_known(reading, each[1])]
    if not found:
        return
    first, last = page.bounds(sentence)
    ids = page.vocabulary.ids[first:last]
    said = [page.vocabulary.words[number] for number in ids]
    topic = _topic(said, reading)
    if topic == "other" and reading.fit < NAMED:
        return
    spoken = alike = _most(reading, ids, told)
    if reading.want.kind == "count":  # a light word beside a number says little of it: "22,000 people" are no staff
        alike = _most(reading, ids, [row for row in told if reading.want.words[row] in reading.want.weighty] or told)
    places = [_words_of(reading, sentence, span, first) for _, span in found]
    inserted = [_insertion(reading, sentence, span, first, last) for _, span in found]
    aside = _parentheses(sentence, page.vocabulary.starts[first:last])
    near = []
    for (group, span), place, skipped in zip(found, places, inserted, strict=True):
        reached = np.where(_reaches(aside, place), alike, 0)
        before, after = _nearness(reached, *place, skipped)
        if group == "person":
            stop = _CLAUSE.search(sentence.text, span.end)
            end = page.words_between(0, sentence.start + (stop.start() if stop else len(sentence.text)))[1] - first
            before = max(before, _predicated(reached[place[1] + skipped : end], said[place[1] + skipped : end]))
        near.append((before, after))
    closest = max(max(each) for each in near)
    counts = Counter(group for group, _ in found)
    # Where any text will do, or any value of the kind, a sentence does not say that this is the one.
    plain = bool(told) and reading.want.kind != "text"
    known = {normalize_words(value) for value in reading.subject.context.values()}
    for number, (group, span) in enumerate(found):
        begins, ends = places[number]
        if told and max(*near[number], float(alike[begins:ends].max(initial=0.0))) < FAR:
            continue
        covered = by_sentence
        if not covered.whole:
            beside = reading.alike[:, ids[max(0, begins - WINDOW) : ends + WINDOW]].max(axis=1, initial=0.0)
            covered = _coverage(reading, np.where(beside >= NEARBY, np.maximum(RELATED, best), best))
            if not covered.whole:
                continue
        if reading.want.kind == "count" and not _counts(spoken, begins, ends, _is_followed(sentence, span, said, ends)):
            continue
        leading = _LEADING.get(said[begins - 1], "other") if begins else "nothing"
        if reading.want.kind == "person" and leading in ("in", "at"):  # where one is, not who
            continue
        features = {
            "mean": covered.mean,
            "least": covered.least,
            "named": covered.named,
            "anchored": covered.anchored,
            "exact": float(covered.anchored >= SAME),
            "near before": near[number][0],
            "near after": near[number][1],
            "near exactly": max(_nearness(np.where(alike >= SAME, alike, 0), begins, ends, inserted[number])),
            "closest": float(max(near[number]) >= closest - 1e-6),
            "beside": float(alike[ends : ends + 2].max(initial=0.0)),
            "inside": float(alike[begins:ends].max(initial=0.0)),
            "rivals": math.log1p(counts[group] - 1),
            "order": math.log1p(number),
            "first": float(sentence.number == 0),
            "deep": min(1.0, sentence.number / 20),
            "subject": float(topic == "own"),
            "other thing": float(topic == "other"),
            "denied": float(not _DENYING.isdisjoint(said[max(0, begins - 5) : begins])),
            "sure": span.sure,
            "untyped": float(reading.want.kind == "text"),
            "like kind": _like_kind(reading.want.phrases[0], group),
            "only kind": float(not told),
            "loosely": float(not by_sentence.whole),
            "agent": float(is_agent(reading.want.phrases[0])),
            "own": float(reading.own),
            "in row": float(normalize_words(span.value) in known),
            "fit": reading.fit,
        }
        if group in ("name", "person"):
            features |= _look_of(span.value, agent=features["agent"])
        if group in ("name", "place"):
            features[f"{group} of thing"] = _like_thing(span.value)
        features |= {f"{group} {name}": features[name] for name in _TOGETHER}
        features |= {group: 1.0, f"{group} after {leading}": 1.0}
        yield Seen(
            value=span.value,
            start=sentence.start,
            end=sentence.end,
            how="sentence",
            features=features,
            whole=covered.whole,
            most=reading.most if plain and covered.literal else min(ALIKE, reading.most),
        )


def _coverage(reading: FieldReading, best: NDArray[np.float32]) -> WordCoverage:
    return coverage(reading.want, dict(zip(reading.want.words, best.tolist(), strict=True)), reading.context)


def _most(reading: FieldReading, ids: NDArray[np.int32], rows: list[int]) -> NDArray[np.float32]:
    """Return how alike each word of a sentence is to the asked word that it is most alike."""
    if not rows:
        return np.zeros(len(ids), dtype=np.float32)
    most: NDArray[np.float32] = reading.alike[rows][:, ids].max(axis=0)
    return most


def _counts(alike: NDArray[np.float32], begins: int, ends: int, followed: bool) -> bool:
    """Return True if what is asked is what is counted: it stands after the number, or before one that counts nothing
    else."""
    after, before = alike[ends : ends + COUNTED], alike[max(0, begins - COUNTED) : begins]
    return bool(after.max(initial=0.0) >= RELATED or (before.max(initial=0.0) >= SAME and not followed))


def _is_followed(sentence: PageSentence, span: TypedSpan, said: Sequence[str], ends: int) -> bool:
    """Return True if a number counts the word after it, "38 warehouses", or is of a name, "4 Mill Lane"."""
    after = sentence.text[span.end : span.end + 2]
    return (
        len(after) == 2 and after[0] in " -" and after[1].isalpha() and (after[1].isupper() or not is_light(said[ends]))
    )


def _typed(want: Wanted, text: str) -> Iterator[tuple[str, TypedSpan]]:
    if want.kind != "text":
        group = _GROUPS.get(want.kind, "name")
        yield from ((group, span) for span in typed(want, text))
        return
    taken: list[TypedSpan] = []
    for group, kinds in _FORMS.items():
        if want.which and group != "name" and _like_kind(want.which, group) < NEARBY:
            continue  # which river it is, no figure says
        for kind in kinds:
            for span in spans(kind, text, want.unit):
                if not any(span.start < other.end and other.start < span.end for other in taken):
                    taken.append(span)
                    yield group, span


@lru_cache(maxsize=4096)
def _like_kind(name: tuple[str, ...], group: str) -> float:
    return float(likeness(name, _LIKE[group]).max(initial=0.0))


def is_agent(name: tuple[str, ...]) -> bool:
    """Return True if a name is a noun of the one who does something: "Owner", "Director", "Soloist"."""
    return bool(name) and name[-1].endswith(_AGENTS)


_AGENTS = ("er", "or", "ist", "ers", "ors", "ists")


def _look_of(name: str, *, agent: float) -> dict[str, float]:
    """Return what a name looks like: a country or a state, one of a person, a single word."""
    parts = name.split()
    person = float(2 <= len(parts) <= 3 and all(part[0].isupper() and not part.isupper() for part in parts))
    return {
        "name of land": float(name in COUNTRIES or name in STATES),
        "name like person": person,
        "name like person of agent": person * agent,
        "name alone": float(len(parts) == 1),
        "name long": float(len(parts) > 3),
    }


@lru_cache(maxsize=16_384)
def _like_thing(name: str) -> float:
    """Return how far the last word of a name says what sort of thing it is: "Avenue" of "Park Avenue", "Stadium"."""
    last = tuple(words(name)[-1:]) if " " in name else ()
    return float(likeness(last, _THINGS).max(initial=0.0))


def _is_known(reading: FieldReading, span: TypedSpan) -> bool:
    """Return True for what the row is called and for what only repeats the question: neither is an answer."""
    said = set(words(span.value))
    return said <= reading.titled or said <= set(reading.want.words)


def _words_of(reading: FieldReading, sentence: PageSentence, span: TypedSpan, first: int) -> tuple[int, int]:
    begins, ends = reading.page.words_between(sentence.start + span.start, sentence.start + span.end)
    return begins - first, ends - first


def _nearness(alike: NDArray[np.float32], begins: int, ends: int, inserted: int) -> tuple[float, float]:
    """Return how alike the words before and after an answer are to the asked ones; distant words count less. What
    follows an insertion of so many words is as near as without it."""
    before, after = alike[:begins][::-1], alike[ends:]
    away = np.arange(len(after))
    return (
        float((before * np.exp(-np.arange(len(before)) / FADING)).max(initial=0.0)),
        float((after * np.exp(-np.where(away >= inserted, away - inserted, away) / FADING)).max(initial=0.0)),
    )


def _predicated(alike: NDArray[np.float32], said: Sequence[str]) -> float:
    """Return how alike to the asked is what somebody is said to be: "Ann Lee is president and CEO", "Ann Lee (CEO)"."""
    best = 0.0
    for like, word in zip(alike.tolist(), said, strict=True):
        if like < RELATED and not is_light(word):
            break
        best = max(best, like)
    return best


def _insertion(reading: FieldReading, sentence: PageSentence, span: TypedSpan, first: int, last: int) -> int:
    """The words of what is said between two commas right after an answer: "Ann Lee, who joined in 2011, is …"."""
    found = _INSERTED.match(sentence.text, span.end)
    if found is None:
        return 0
    begins, ends = reading.page.words_between(sentence.start + found.start(), sentence.start + found.end())
    return min(ends, last) - max(begins, first)


_CLAUSE = re.compile(r"[;:]")
_INSERTED = re.compile(r", (?=[a-z])[^,;:.()]+(?=,)")


def _parentheses(sentence: PageSentence, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each word the number of the parenthesis that it stands in, 0 outside of them."""
    opened = closed = 0
    found, place = [], 0
    for start in (starts - sentence.start).tolist():
        opened += sentence.text.count("(", place, start)
        closed += sentence.text.count(")", place, start)
        place = start
        found.append(opened if opened > closed else 0)
    return np.array(found, dtype=np.int64)


def _reaches(aside: NDArray[np.int64], place: tuple[int, int]) -> NDArray[np.bool_]:
    """Return which words speak of an answer: those of a parenthesis only of what stands right before it, or inside."""
    begins, ends = place
    own = {0, int(aside[begins]) if begins < len(aside) else 0, int(aside[ends]) if ends < len(aside) else 0}
    return np.isin(aside, list(own))


def _topic(said: Sequence[str], reading: FieldReading) -> Literal["own", "other", ""]:
    """Return what a sentence begins with: the row or a word for it, another thing, or neither."""
    if not said or said[0] in _PRONOUNS or not reading.names.isdisjoint(said[:OPENING]):
        return "own" if said else ""
    if said[0] not in _POINTING:
        return ""
    head = tuple(takewhile(lambda word: not is_light(word), said[1:OPENING]))
    if not head:
        return ""
    return "own" if likeness(head, reading.called).max(initial=0.0) >= RELATED else "other"
