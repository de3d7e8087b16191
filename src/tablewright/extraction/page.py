"""A text prepared for reading: its passages, and its words with their vectors. Done once for a text, read for every
field."""

from __future__ import annotations

from functools import lru_cache

from tablewright.arrays import NDArray, np
from tablewright.extraction.layout.lines import barred_tables, lines_in
from tablewright.extraction.layout.pairs import possible_pairs
from tablewright.extraction.meaning import Likeness, Vocabulary
from tablewright.text.sentences import LOOKED_AT, PageSentence, page_sentences

MOST_SENTENCES = 400


class PageWords:
    def __init__(self, text: str) -> None:
        lines = list(lines_in(text, 0, min(len(text), LOOKED_AT)))
        self.pairs = possible_pairs(text, lines)
        self.tables = barred_tables(lines)
        self.vocabulary = Vocabulary(text)
        self.sentences: tuple[PageSentence, ...] = page_sentences(text)[:MOST_SENTENCES]
        self._bounds = [self.words_between(sentence.start, sentence.end) for sentence in self.sentences]

    def words_between(self, start: int, end: int) -> tuple[int, int]:
        """The numbers of the first word at or after `start` and of the first one at or after `end`."""
        starts = self.vocabulary.starts
        return int(np.searchsorted(starts, start)), int(np.searchsorted(starts, end))

    def bounds(self, sentence: PageSentence) -> tuple[int, int]:
        return self._bounds[sentence.number]

    def by_sentence(self, alike: Likeness) -> NDArray[np.float32]:
        """Of each asked word to the words of each sentence: the most alike."""
        if not self.sentences:
            return np.zeros((len(alike), 0), dtype=np.float32)
        words = np.append(self.vocabulary.ids, 0)
        found = np.zeros((len(alike), len(self.sentences)), dtype=np.float32)
        filled = [number for number, (first, last) in enumerate(self._bounds) if last > first]
        if filled:
            edges = [edge for number in filled for edge in self._bounds[number]]
            found[:, filled] = np.maximum.reduceat(alike[:, words[: edges[-1] + 1]], edges, axis=1)[:, ::2]
        return found


@lru_cache(maxsize=64)
def page(text: str) -> PageWords:
    return PageWords(text)
