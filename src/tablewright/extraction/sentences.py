"""Find answers in sentences: values of the right kind close to words that mean what is asked.

Each value gets features, which `scoring` turns into a probability. The features keep the names of `weights.json`.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import Literal

from tablewright.arrays import NDArray, np
from tablewright.domain.model import Struct
from tablewright.domain.text import normalize_words
from tablewright.extraction.meaning import (
    LIKENESS,
    AnswerKind,
    FieldQuery,
    folded_words,
    is_light_word,
    word_similarity,
)
from tablewright.extraction.scoring import (
    FieldReading,
    Match,
    WordCoverage,
    measure_coverage,
)
from tablewright.extraction.spans import UNSURE, TypedSpan, find_spans, find_typed_spans
from tablewright.extraction.subject import names_subject
from tablewright.text import PageSentence
from tablewright.values.choices import NEGATIONS
from tablewright.values.countries import DEMONYMS, STATES


class SentenceLimits(Struct, frozen=True):
    # A sentence says in its first words what it is about.
    opening_words: int = 8
    # The first sentences of a page say what the thing is, whichever words they use.
    defining: int = 6


SENTENCE_LIMITS = SentenceLimits()
# Small words before an answer and the feature that they count for: "directed by", "based in", "is".
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
# Kinds that share weights: an answer of a group is found by similar words.
_GROUPS: dict[AnswerKind, str] = {
    **dict.fromkeys(("year", "date"), "time"),
    **dict.fromkeys(("money", "measure", "count", "number"), "amount"),
    **dict.fromkeys(("place", "country", "nationality", "city", "state"), "place"),
    "person": "person",
}


def match_sentences(reading: FieldReading) -> Iterator[Match]:
    """Yield answers from sentences that speak of what is asked; on another page only from those with the row's name."""
    query, page = reading.query, reading.page
    if query.kind == "yesno" or not page.sentences:
        return
    asked = query.words
    best = page.by_sentence(reading.alike)
    required = [row for row, word in enumerate(asked) if word not in query.optional_words]
    spoken = best[required].max(axis=0) if required else np.zeros(best.shape[1], dtype=np.float32)
    for sentence in page.sentences:
        number = sentence.number
        is_defining = number < SENTENCE_LIMITS.defining
        if spoken[number] < (LIKENESS.nearby if is_defining else LIKENESS.related) and (required or not is_defining):
            continue
        # Longer than this it is no prose.
        if len(sentence.text) > 2_000 or not (reading.own or _opens_with_subject(reading, sentence)):
            continue
        yield from _match_sentence(reading, sentence, best[:, number], required)


def _opens_with_subject(reading: FieldReading, sentence: PageSentence) -> bool:
    """Return True if a sentence on another page begins with the row's name, perhaps after "The"."""
    return bool(reading.subject.name) and names_subject(reading.subject, sentence.text[: len(reading.subject.name) + 6])


def _match_sentence(
    reading: FieldReading, sentence: PageSentence, best: NDArray[np.float32], required: list[int]
) -> Iterator[Match]:
    page = reading.page
    by_sentence = _sentence_coverage(reading, best)
    if not by_sentence.whole and sentence.number >= SENTENCE_LIMITS.defining:
        return
    # A number may be a year, a count may not.
    least = 0.0 if reading.query.kind == "number" else UNSURE
    typed_here = _find_answers(reading.query, sentence.text)
    found = [each for each in typed_here if each[1].sure >= least and not _repeats_question(reading, each[1])]
    if not found:
        return
    first, last = page.bounds(sentence)
    ids = page.vocabulary.ids[first:last]
    said = [page.vocabulary.words[number] for number in ids]
    topic = _sentence_topic(said, reading)
    # Only a page with the row's name as its title is about the row alone.
    if topic == "other" and reading.fit < 1.0:
        return
    spoken = alike = _best_similarity(reading, ids, required)
    # A light word next to a number says little: "22,000 people" are not its staff.
    if reading.query.kind == "count":
        alike = _best_similarity(
            reading, ids, [row for row in required if reading.query.words[row] in reading.query.essential] or required
        )
    places = [_span_word_range(reading, sentence, span, first) for _, span in found]
    inserted = [_count_inserted_words(reading, sentence, span, first, last) for _, span in found]
    aside = _number_parentheses(sentence, page.vocabulary.starts[first:last])
    near = []
    for (group, span), place, skipped in zip(found, places, inserted, strict=True):
        reached = np.where(_words_in_reach(aside, place), alike, 0)
        before, after = _score_proximity(reached, *place, skipped)
        if group == "person":
            stop = _CLAUSE.search(sentence.text, span.end)
            end = page.words_between(0, sentence.start + (stop.start() if stop else len(sentence.text)))[1] - first
            before = max(
                before, _predicate_similarity(reached[place[1] + skipped : end], said[place[1] + skipped : end])
            )
        near.append((before, after))
    closest = max(max(each) for each in near)
    counts = Counter(group for group, _ in found)
    # If any text will do, or any value of the kind, a sentence does not show that this one is meant.
    plain = bool(required) and reading.query.kind != "text"
    known = {normalize_words(value) for value in reading.subject.context.values()}
    for number, (group, span) in enumerate(found):
        begins, ends = places[number]
        # Fifteen words away, less than this is left of the literal word: it speaks of something else.
        if required and max(*near[number], float(alike[begins:ends].max(initial=0.0))) < 0.05:
            continue
        covered = by_sentence
        if not covered.whole:
            around = reading.alike[:, ids[max(0, begins - 6) : ends + 6]].max(axis=1, initial=0.0)
            covered = _sentence_coverage(
                reading, np.where(around >= LIKENESS.nearby, np.maximum(LIKENESS.related, best), best)
            )
            if not covered.whole:
                continue
        if reading.query.kind == "count" and not _counts_asked_thing(
            spoken, begins, ends, _counts_next_word(sentence, span, said, ends)
        ):
            continue
        leading = _LEADING.get(said[begins - 1], "other") if begins else "nothing"
        # A place, not a person.
        if reading.query.kind == "person" and leading in ("in", "at"):
            continue
        features = {
            "mean": covered.mean,
            "least": covered.least,
            "named": covered.named,
            "anchored": covered.anchored,
            "exact": float(covered.anchored >= LIKENESS.same),
            "near before": near[number][0],
            "near after": near[number][1],
            "near exactly": max(
                _score_proximity(np.where(alike >= LIKENESS.same, alike, 0), begins, ends, inserted[number])
            ),
            "closest": float(max(near[number]) >= closest - 1e-6),
            "next to": float(alike[ends : ends + 2].max(initial=0.0)),
            "inside": float(alike[begins:ends].max(initial=0.0)),
            "rivals": math.log1p(counts[group] - 1),
            "order": math.log1p(number),
            "first": float(sentence.number == 0),
            "deep": min(1.0, sentence.number / 20),
            "subject": float(topic == "own"),
            "other thing": float(topic == "other"),
            "denied": float(not (NEGATIONS | {"until"}).isdisjoint(said[max(0, begins - 5) : begins])),
            "sure": span.sure,
            "untyped": float(reading.query.kind == "text"),
            "like kind": _similarity_to_group(reading.query.phrases[0], group),
            "only kind": float(not required),
            "loosely": float(not by_sentence.whole),
            "agent": float(is_agent_noun(reading.query.phrases[0])),
            "own": float(reading.own),
            "in row": float(normalize_words(span.value) in known),
            "fit": reading.fit,
        }
        if group in ("name", "person"):
            features |= _name_features(span.value, agent=features["agent"])
        if group in ("name", "place"):
            features[f"{group} of thing"] = _similarity_to_thing(span.value)
        # These have another weight in each group of kinds.
        by_group = (
            *("mean", "anchored", "exact", "near before", "near after", "near exactly"),
            *("rivals", "first", "only kind", "sure", "like kind", "untyped", "loosely", "agent", "inside"),
        )
        features |= {f"{group} {name}": features[name] for name in by_group}
        features |= {group: 1.0, f"{group} after {leading}": 1.0}
        yield Match(
            value=span.value,
            start=sentence.start,
            end=sentence.end,
            how="sentence",
            features=features,
            whole=covered.whole,
            most=reading.most if plain and covered.literal else min(LIKENESS.most_of_answers, reading.most),
        )


def _sentence_coverage(reading: FieldReading, best: NDArray[np.float32]) -> WordCoverage:
    return measure_coverage(reading.query, dict(zip(reading.query.words, best.tolist(), strict=True)), reading.context)


def _best_similarity(reading: FieldReading, ids: NDArray[np.int32], rows: list[int]) -> NDArray[np.float32]:
    """Return the similarity of each word of a sentence to the closest asked word."""
    if not rows:
        return np.zeros(len(ids), dtype=np.float32)
    most: NDArray[np.float32] = reading.alike[rows][:, ids].max(axis=0)
    return most


def _counts_asked_thing(alike: NDArray[np.float32], begins: int, ends: int, followed: bool) -> bool:
    """Return True if a number counts what is asked: that follows it, or precedes a number that counts nothing else."""
    # "38 large new warehouses": seldom are there more than two words in between.
    after, before = alike[ends : ends + 3], alike[max(0, begins - 3) : begins]
    return bool(
        after.max(initial=0.0) >= LIKENESS.related or (before.max(initial=0.0) >= LIKENESS.same and not followed)
    )


def _counts_next_word(sentence: PageSentence, span: TypedSpan, said: Sequence[str], ends: int) -> bool:
    """Return True if a number counts the word after it, "38 warehouses", or is part of a name, "4 Mill Lane"."""
    after = sentence.text[span.end : span.end + 2]
    return (
        len(after) == 2
        and after[0] in " -"
        and after[1].isalpha()
        and (after[1].isupper() or not is_light_word(said[ends]))
    )


def _find_answers(query: FieldQuery, text: str) -> Iterator[tuple[str, TypedSpan]]:
    if query.kind != "text":
        group = _GROUPS.get(query.kind, "name")
        yield from ((group, span) for span in find_typed_spans(query, text))
        return
    taken: list[TypedSpan] = []
    # For fields that take any text: the kinds that have a form of their own.
    for group, kinds in {
        "name": ("name",),
        "time": ("date", "year"),
        "amount": ("measure", "count"),
    }.items():
        if query.which and group != "name" and _similarity_to_group(query.which, group) < LIKENESS.nearby:
            # No figure answers "which river".
            continue
        for kind in kinds:
            for span in find_spans(kind, text, query.unit):
                if not any(span.start < other.end and other.start < span.end for other in taken):
                    taken.append(span)
                    yield group, span


@lru_cache(maxsize=4096)
def _similarity_to_group(name: tuple[str, ...], group: str) -> float:
    # Compared with the name of a field that takes any text.
    words = {
        "time": ("year", "date", "time"),
        "amount": ("number", "amount", "size"),
        "place": ("place", "city", "country"),
        "name": ("person", "organization", "group"),
        "person": ("person",),
    }
    return float(word_similarity(name, words[group]).max(initial=0.0))


def is_agent_noun(name: tuple[str, ...]) -> bool:
    """Return True if a name is an agent noun: "Owner", "Director", "Soloist"."""
    return bool(name) and name[-1].endswith(("er", "or", "ist", "ers", "ors", "ists"))


def _name_features(name: str, *, agent: float) -> dict[str, float]:
    """Return features of a name: a country or a state, the name of a person, a single word."""
    parts = name.split()
    person = float(2 <= len(parts) <= 3 and all(part[0].isupper() and not part.isupper() for part in parts))
    return {
        "name of land": float(name in DEMONYMS or name in STATES),
        "name like person": person,
        "name like person of agent": person * agent,
        "name alone": float(len(parts) == 1),
        "name long": float(len(parts) > 3),
    }


@lru_cache(maxsize=16_384)
def _similarity_to_thing(name: str) -> float:
    """Return how surely the last word of a name is a common noun for a thing: "Avenue" of "Park Avenue", "Stadium"."""
    last = tuple(folded_words(name)[-1:]) if " " in name else ()
    things = ("street", "building", "organization", "event", "region")
    return float(word_similarity(last, things).max(initial=0.0))


def _repeats_question(reading: FieldReading, span: TypedSpan) -> bool:
    """Return True for the row's own name and for words of the question: neither is an answer."""
    said = set(folded_words(span.value))
    return said <= reading.titled or said <= set(reading.query.words)


def _span_word_range(reading: FieldReading, sentence: PageSentence, span: TypedSpan, first: int) -> tuple[int, int]:
    begins, ends = reading.page.words_between(sentence.start + span.start, sentence.start + span.end)
    return begins - first, ends - first


def _score_proximity(alike: NDArray[np.float32], begins: int, ends: int, inserted: int) -> tuple[float, float]:
    """Return the similarity of the words before and after an answer to the asked ones; distant words count less.

    An insertion of `inserted` words after the answer does not count as distance."""
    before, after = alike[:begins][::-1], alike[ends:]
    # After this many words between an answer and a word that speaks of it, the word counts about a third.
    fading = 5.0
    away = np.arange(len(after))
    return (
        float((before * np.exp(-np.arange(len(before)) / fading)).max(initial=0.0)),
        float((after * np.exp(-np.where(away >= inserted, away - inserted, away) / fading)).max(initial=0.0)),
    )


def _predicate_similarity(alike: NDArray[np.float32], said: Sequence[str]) -> float:
    """Return the similarity of a person's predicate to the asked words: "Ann Lee is president", "Ann Lee (CEO)"."""
    best = 0.0
    for like, word in zip(alike.tolist(), said, strict=True):
        if like < LIKENESS.related and not is_light_word(word):
            break
        best = max(best, like)
    return best


def _count_inserted_words(reading: FieldReading, sentence: PageSentence, span: TypedSpan, first: int, last: int) -> int:
    """Return the number of words between two commas right after an answer: "Ann Lee, who joined in 2011, is …"."""
    found = _INSERTED.match(sentence.text, span.end)
    if found is None:
        return 0
    begins, ends = reading.page.words_between(sentence.start + found.start(), sentence.start + found.end())
    return min(ends, last) - max(begins, first)


_CLAUSE = re.compile(r"[;:]")
# ", who joined in 2011,".
_INSERTED = re.compile(r", (?=[a-z])[^,;:.()]+(?=,)")


def _number_parentheses(sentence: PageSentence, starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return for each word the number of the parenthesis around it, or 0."""
    opened = closed = 0
    found, place = [], 0
    for start in (starts - sentence.start).tolist():
        opened += sentence.text.count("(", place, start)
        closed += sentence.text.count(")", place, start)
        place = start
        found.append(opened if opened > closed else 0)
    return np.array(found, dtype=np.int64)


def _words_in_reach(aside: NDArray[np.int64], place: tuple[int, int]) -> NDArray[np.bool_]:
    """Return which words can speak of an answer: a parenthesis only of the answer right before it or inside."""
    begins, ends = place
    own = {0, int(aside[begins]) if begins < len(aside) else 0, int(aside[ends]) if ends < len(aside) else 0}
    return np.isin(aside, list(own))


def _sentence_topic(said: Sequence[str], reading: FieldReading) -> Literal["own", "other", ""]:
    """Return the topic that a sentence begins with: the row or a word for it, another thing, or neither."""
    pronouns = ("it", "he", "she", "they", "its", "his", "her", "their", "we", "our", "i", "my")
    if not said or said[0] in pronouns or not reading.names.isdisjoint(said[: SENTENCE_LIMITS.opening_words]):
        return "own" if said else ""
    if said[0] not in ("the", "this", "these", "that", "those"):
        return ""
    head = tuple(takewhile(lambda word: not is_light_word(word), said[1 : SENTENCE_LIMITS.opening_words]))
    if not head:
        return ""
    return "own" if word_similarity(head, reading.called).max(initial=0.0) >= LIKENESS.related else "other"
