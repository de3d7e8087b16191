"""Summarise a long text in its own words: macro-chunks of some 15,000 tokens, each with its best sentences.

No model is asked. A sentence is good if its words are those that the chunk keeps coming back to, if it is early, and if
it says something that no chosen sentence says."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

from tablewright.domain.corpus import Segment, Summary
from tablewright.domain.model import Noun
from tablewright.extraction.layout.draft import Parsed
from tablewright.models.tokens import estimate_tokens
from tablewright.text import FUNCTION_WORDS, split_sentences, weighty_words

CHUNK_TOKENS = 15_000
MOST_TOKENS = 20_000
WORDS = 150
SHORTEST, LONGEST = 6, 60
"""Words of a sentence that may stand in a summary."""
SENTENCES = 150
"""Sentences of a chunk that are weighed, spread over it."""


class SummarySentence(Noun, frozen=True):
    place: int
    text: str
    words: tuple[str, ...]


def summaries_of(parsed: Parsed, segments: Sequence[Segment]) -> tuple[Summary, ...]:
    """One for each macro-chunk, numbered from 0. A short document is one chunk."""
    return tuple(
        Summary(
            number=number,
            first=chunk[0].number,
            last=chunk[-1].number,
            text=summary_of(chunk, title=parsed.title if number == 0 else ""),
        )
        for number, chunk in enumerate(chunks(segments, estimate_tokens(parsed.text)))
    )


def chunks(segments: Sequence[Segment], tokens: int) -> Iterator[Sequence[Segment]]:
    """Yield chunks of similar size, each of 10 to 20 thousand of the `tokens` unless there are less; best cut at a
    heading."""
    characters = sum(len(segment.text) for segment in segments) or 1
    sizes = [len(segment.text) * tokens / characters for segment in segments]
    left = float(tokens)
    count = max(1, round(left / CHUNK_TOKENS), math.ceil(left / MOST_TOKENS))
    start, held = 0, 0.0
    for index, size in enumerate(sizes):
        goal = left / count
        is_new = index > 0 and segments[index].heading != segments[index - 1].heading
        full = held >= goal or held + size > MOST_TOKENS or (is_new and held >= 0.8 * goal)
        if index > start and count > 1 and full:
            yield segments[start:index]
            start, left, held, count = index, left - held, 0.0, count - 1
        held += size
    if segments:
        yield segments[start:]


def summary_of(chunk: Sequence[Segment], title: str = "") -> str:
    """At most 150 words: title and headings first, then the best sentences as they follow each other."""
    head = [each for each in dict.fromkeys((title, *(segment.heading for segment in chunk))) if each]
    opening = cut(". ".join(head), WORDS // 3)
    room = WORDS - len(opening.split())
    spans = [(segment, span) for segment in chunk for span in split_sentences(segment.text)]
    if len(spans) > SENTENCES:  # before they are looked at more closely, which takes as long as parsing the page
        step = len(spans) / SENTENCES
        spans = [spans[int(number * step)] for number in range(SENTENCES)]
    sentences = [sentence for segment, span in spans for sentence in sentences_of(segment, *span)]
    chosen = sorted(best(sentences, room), key=lambda sentence: sentence.place)
    body = " ".join(sentence.text for sentence in chosen)
    if not body:  # a table, a list: no sentences at all
        body = cut(" ".join(" ".join(segment.text.split()) for segment in chunk[:3]), room)
    return f"{opening}. {body}" if opening else body


def sentences_of(segment: Segment, start: int, end: int) -> Iterator[SummarySentence]:
    words = segment.text[start:end].split()
    if SHORTEST <= len(words) <= LONGEST and is_sentence(text := " ".join(words)):
        yield SummarySentence(place=segment.start + start, text=text, words=tuple(set(weighty_words(text))))


def is_sentence(text: str) -> bool:
    """Return True for a sentence rather than a row of a table: mostly letters and, in English, with function words."""
    letters = sum(map(str.isalpha, text)) + text.count(" ")
    if letters < 0.8 * len(text):
        return False
    return not text.isascii() or any(word in FUNCTION_WORDS for word in text.lower().split())


def best(sentences: Sequence[SummarySentence], room: int) -> list[SummarySentence]:
    """Choose one sentence after the other, each by the weight of the words that no chosen one contains yet."""
    used = Counter(word for sentence in sentences for word in sentence.words)
    weight = {word: count_weight(count) for word, count in used.items() if len(word) > 2 or not word.isascii()}
    early = {id(sentence): 1 + 0.5 / (1 + number / 4) for number, sentence in enumerate(sentences)}
    said: set[str] = set()
    chosen: list[SummarySentence] = []
    left = list(sentences)
    while left:
        scored = [
            (
                early[id(sentence)]
                * sum(weight.get(word, 0) * (0.2 if word in said else 1) for word in sentence.words)
                / math.sqrt(len(sentence.words) + 4),
                -sentence.place,
                sentence,
            )
            for sentence in left
        ]
        score, _, sentence = max(scored, key=lambda each: each[:2])
        size = len(sentence.text.split())
        left = [each for each in left if each is not sentence and len(each.text.split()) <= room - size]
        if score <= 0:
            break
        if size <= room:
            chosen.append(sentence)
            said.update(sentence.words)
            room -= size
    return chosen


@cache
def count_weight(count: int) -> float:
    """Return 0 for a word that is said once; the more often it comes back, the more the text is about it."""
    return math.log(count)


def cut(text: str, words: int) -> str:
    return " ".join(text.split()[:words])
