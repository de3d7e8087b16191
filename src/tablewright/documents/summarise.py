"""Summarise a long text in its own words: macro-chunks of some 15,000 tokens, each with its best sentences.

No model is asked. A sentence is good if it is early, has words that are frequent in the chunk, and adds something to
the sentences already chosen."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from tablewright.domain.documents import Segment, Summary
from tablewright.domain.model import Struct
from tablewright.extraction.layout.draft import Parsed
from tablewright.llm.tokens import estimate_tokens
from tablewright.text import FUNCTION_WORDS, content_stems, split_sentences

# A chapter: short enough to be about one thing, long enough to need a summary.
CHUNK_TOKENS, MAX_CHUNK_TOKENS = 15_000, 20_000
# As much as an embedding can represent, and a person reads at a glance.
SUMMARY_WORDS = 150


class SummarySentence(Struct, frozen=True):
    place: int
    text: str
    words: tuple[str, ...]


def summarise_segments(parsed: Parsed, segments: Sequence[Segment]) -> tuple[Summary, ...]:
    """Return a summary for each macro-chunk, numbered from 0. A short document is one chunk."""
    return tuple(
        Summary(
            number=number,
            first=chunk[0].number,
            last=chunk[-1].number,
            text=summarise_chunk(chunk, title=parsed.title if number == 0 else ""),
        )
        for number, chunk in enumerate(split_macro_chunks(segments, estimate_tokens(parsed.text)))
    )


def split_macro_chunks(segments: Sequence[Segment], tokens: int) -> Iterator[Sequence[Segment]]:
    """Yield chunks of similar size, of 10,000 to 20,000 of the `tokens` if there are as many, preferably cut at a
    heading."""
    characters = sum(len(segment.text) for segment in segments) or 1
    sizes = [len(segment.text) * tokens / characters for segment in segments]
    left = float(tokens)
    count = max(1, round(left / CHUNK_TOKENS), math.ceil(left / MAX_CHUNK_TOKENS))
    start, held = 0, 0.0
    for index, size in enumerate(sizes):
        goal = left / count
        is_new = index > 0 and segments[index].heading != segments[index - 1].heading
        full = held >= goal or held + size > MAX_CHUNK_TOKENS or (is_new and held >= 0.8 * goal)
        if index > start and count > 1 and full:
            yield segments[start:index]
            start, left, held, count = index, left - held, 0.0, count - 1
        held += size
    if segments:
        yield segments[start:]


def summarise_chunk(chunk: Sequence[Segment], title: str = "") -> str:
    """Return at most 150 words: title and headings, then the best sentences in their order."""
    head = [each for each in dict.fromkeys((title, *(segment.heading for segment in chunk))) if each]
    opening = first_words(". ".join(head), SUMMARY_WORDS // 3)
    room = SUMMARY_WORDS - len(opening.split())
    spans = [(segment, span) for segment in chunk for span in split_sentences(segment.text)]
    # Choosing takes quadratic time; 150 sentences, spread over a chunk, represent it well. Before words are found:
    # that takes as long as parsing the page.
    if len(spans) > 150:
        spans = [spans[int(number * len(spans) / 150)] for number in range(150)]
    sentences = [sentence for segment, span in spans for sentence in summary_sentences(segment, *span)]
    chosen = sorted(choose_sentences(sentences, room), key=lambda sentence: sentence.place)
    body = " ".join(sentence.text for sentence in chosen)
    # A table or a list without sentences.
    if not body:
        body = first_words(" ".join(" ".join(segment.text.split()) for segment in chunk[:3]), room)
    return f"{opening}. {body}" if opening else body


def summary_sentences(segment: Segment, start: int, end: int) -> Iterator[SummarySentence]:
    words = segment.text[start:end].split()
    if 6 <= len(words) <= 60 and reads_as_sentence(text := " ".join(words)):
        yield SummarySentence(place=segment.start + start, text=text, words=tuple(set(content_stems(text))))


def reads_as_sentence(text: str) -> bool:
    """Return True for a sentence rather than a row of a table: mostly letters and, in English, with function words."""
    letters = sum(map(str.isalpha, text)) + text.count(" ")
    if letters < 0.8 * len(text):
        return False
    return not text.isascii() or any(word in FUNCTION_WORDS for word in text.lower().split())


def choose_sentences(sentences: Sequence[SummarySentence], room: int) -> list[SummarySentence]:
    """Return the chosen sentences, each by the weight of the words that no earlier choice contains."""
    used = Counter(word for sentence in sentences for word in sentence.words)
    # Nothing for a word that occurs once; the more often it occurs, the more the text is about it.
    weight = {word: math.log(count) for word, count in used.items() if len(word) > 2 or not word.isascii()}
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


def first_words(text: str, words: int) -> str:
    return " ".join(text.split()[:words])
