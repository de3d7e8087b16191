"""Which segments hold which words, and how well a segment fits words: BM25, in memory, the same for both databases.

Both databases have an index of their own for that. They cut texts and stem words each in its way, and PostgreSQL's
ranking does not know which words are rare; so that an answer does not depend on the database, the words are ours: lower
case, without accents, cut to their stem.

Each document keeps the postings of its segments beside them; a process reads those once and later only what is new.
A posting is one 64-bit number: the word's code, the segment, and how often the word stands there. Sorted, they are
the index: 12 million (100,000 segments) take 0.3 s."""

from __future__ import annotations

import math
import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias
from zlib import crc32

from sqlalchemy import Connection, select

from tablewright.arrays import NDArray, np
from tablewright.domain.corpus import Segment
from tablewright.store.dialect import in_batches
from tablewright.store.parts import SHIFT, merge_last_blocks
from tablewright.store.schema import corpus, words
from tablewright.text.words import stem

# Chinese and Japanese are written without spaces: each character is a word, and words that belong together a phrase.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_ACCENTS = re.compile("[\u0300-\u036f]")
_QUOTED = re.compile(r'["“”„«»]([^"“”„«»]+)["“”„«»]')

FUNCTION_WORDS = frozenset(
    """a about above after again all also am an and any are as at be because been before being below between both but
    by can could did do does doing down during each few for from further had has have having he her here hers him his
    how i if in into is it its itself just me more most my myself no nor not of off on once only or other our ours out
    over own same she should so some such than that the their theirs them then there these they this those through to
    too under until up very was we were what when where which while who whom why will with would you your
    yours""".split()
)


def words_of(text: str) -> list[str]:
    """Each word by its stem, in order."""
    return [stem(word) for word in _WORD.findall(folded(text))]


def folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", text))).casefold()


def weighty_words(text: str) -> list[str]:
    """Without those that only hold a sentence together, unless there are no others."""
    plain = _WORD.findall(folded(text))
    return [stem(word) for word in plain if word not in FUNCTION_WORDS] or [stem(word) for word in plain]


def count_common_words(texts: Sequence[str]) -> list[Counter[str]]:
    """How often each text has the stems of the words that another of them has too. What is only in one is passed over
    before it costs a stem."""
    plain = [Counter(_WORD.findall(folded(text))) for text in texts]
    shared = {word for word, count in Counter(word for each in plain for word in each).items() if count > 1}
    found = []
    for each in plain:
        stems: Counter[str] = Counter()
        for word in each.keys() & shared:
            stems[stem(word)] += each[word]
        found.append(stems)
    return found


def phrases_of(words: str) -> list[list[str]]:
    """What a text must hold, each a run of words: what is quoted; and every other word, for "SRP-375" is two."""
    quoted = [words_of(match) for match in _QUOTED.findall(words)]
    return [phrase for phrase in (*quoted, *map(words_of, _QUOTED.sub(" ", words).split())) if phrase]


def holds_phrase(text: list[str], phrase: list[str]) -> bool:
    if len(phrase) == 1:
        return phrase[0] in text
    first, length = phrase[0], len(phrase)
    return any(word == first and text[at : at + length] == phrase for at, word in enumerate(text))


def code_of(word: str) -> int:
    """32 bits that stand for a word in the index. Two words of one code are rare, and told apart by reading."""
    return crc32(word.encode("utf-8", "replace"))


K1 = 1.2
B = 0.75
TITLE = 1
HEADING = 1
"""How often a word of the document's title, or of the heading above, counts as standing in a segment."""
MOST_OFTEN = 255
READ_AT_ONCE = 500

Positions: TypeAlias = "NDArray[np.int64]"
Ranked: TypeAlias = list[tuple[int, float]]


def postings_of(segments: Sequence[Segment], title: str) -> tuple[bytes, bytes]:
    """What a document keeps for the index: its postings, and the length of each segment in words."""
    postings: list[int] = []
    lengths: list[int] = []
    of_title = words_of(title)
    for position, segment in enumerate(segments):
        words = words_of(segment.text)
        counts = Counter(words)
        for _ in range(TITLE):
            counts.update(of_title)
        for _ in range(HEADING):
            counts.update(words_of(segment.heading))
        lengths.append(sum(counts.values()))
        postings += [code_of(word) << 32 | position << 8 | min(often, MOST_OFTEN) for word, often in counts.items()]
    return np.array(postings, dtype=np.uint64).tobytes(), np.array(lengths, dtype=np.uint32).tobytes()


@dataclass(frozen=True, kw_only=True)
class IndexBlock:
    """The index of some documents. `postings` are sorted by code, segment; those of one code begin at `starts`."""

    codes: NDArray[np.uint32]
    starts: NDArray[np.int64]
    postings: NDArray[np.uint32]
    """The position of the segment within the block, and how often, in the lowest 8 bits."""
    lengths: NDArray[np.float32]
    segments: Positions
    """The ids of the segments, by position."""

    @property
    def size(self) -> int:
        return len(self.segments)

    def of(self, code: int) -> NDArray[np.uint32]:
        at = int(np.searchsorted(self.codes, np.uint32(code)))  # a Python int would make all of them int64 first
        if at == len(self.codes) or self.codes[at] != code:
            return self.postings[:0]
        return self.postings[self.starts[at] : self.starts[at + 1]]

    def counts(self, codes: NDArray[np.uint32]) -> NDArray[np.int64]:
        """How many segments have each."""
        at = np.minimum(np.searchsorted(self.codes, codes), max(0, len(self.codes) - 1))
        return (
            np.where(self.codes[at] == codes, self.starts[at + 1] - self.starts[at], 0) if len(self.codes) else at * 0
        )

    def holding(self, codes: Sequence[int]) -> Positions:
        """The ids of the segments that have all the codes, and, rarely, a word of the same code instead."""
        found: NDArray[np.uint32] | None = None
        for postings in sorted(map(self.of, codes), key=len):
            positions = postings >> np.uint32(8)
            found = positions if found is None else np.intersect1d(found, positions, assume_unique=True)
        return self.segments[:0] if found is None else self.segments[found]

    @property
    def keys(self) -> NDArray[np.uint64]:
        codes = np.repeat(self.codes, np.diff(self.starts)).astype(np.uint64)
        return codes << np.uint64(32) | self.postings

    @classmethod
    def merged(cls, blocks: Sequence[IndexBlock]) -> IndexBlock:
        base, keys = 0, []
        for block in blocks:
            keys.append(block.keys + np.uint64(base << 8))
            base += block.size
        return build_index_block(
            np.concatenate(keys),
            np.concatenate([block.lengths for block in blocks]),
            np.concatenate([block.segments for block in blocks]),
        )

    def without(self, documents: Collection[int]) -> IndexBlock:
        gone = is_among(self.segments, documents)
        if not gone.any():
            return self
        keys = self.keys
        positions = (keys >> np.uint64(8) & np.uint64((1 << SHIFT) - 1)).astype(np.int64)
        moved = np.cumsum(~gone) - 1
        keep = ~gone[positions]
        keys, positions = keys[keep], positions[keep]
        keys = keys & ~np.uint64(((1 << SHIFT) - 1) << 8) | moved[positions].astype(np.uint64) << np.uint64(8)
        return build_index_block(keys, self.lengths[~gone], self.segments[~gone])


class TextIndex:
    """Of all documents. Its methods run in a thread of the store, with a connection to read what is new."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._version = -1
        self._blocks: tuple[IndexBlock, ...] = ()
        self._documents: set[int] = set()

    def search(
        self, connection: Connection, words: Mapping[str, float], limit: int, among: Collection[int] | None = None
    ) -> Ranked:
        """The segments that fit the words best, each by its weight, the best first; of these documents, by number."""
        blocks = self._fresh(connection)
        total = sum(block.size for block in blocks)
        if not total or limit < 1:
            return []
        average = sum(float(block.lengths.sum()) for block in blocks) / total or 1.0
        postings = [(each, [block.of(code_of(word)) for block in blocks]) for word, each in words.items()]
        found: Ranked = []
        for index, block in enumerate(blocks):
            scores = np.zeros(block.size, dtype=np.float32)
            norm = np.float32(K1 * (1 - B)) + np.float32(K1 * B / average) * block.lengths
            for asked, each in postings:
                weight = np.float32(asked * word_rarity(sum(map(len, each)), total) * (K1 + 1))
                positions = each[index] >> np.uint32(8)
                often = (each[index] & np.uint32(255)).astype(np.float32)
                scores[positions] += weight * often / (often + norm[positions])
            if among is not None:
                scores[~is_among(block.segments, among)] = 0
            found += take_best(block.segments, scores, limit)
        return sorted(found, key=lambda each: (-each[1], each[0]))[:limit]

    def rarities(self, connection: Connection, words: Collection[str]) -> dict[str, float]:
        """How much each word tells; without those that stand in one segment only, or in every fifth."""
        blocks = self._fresh(connection)
        total = sum(block.size for block in blocks)
        codes = np.fromiter(map(code_of, words), dtype=np.uint32, count=len(words))
        held = sum((block.counts(codes) for block in blocks), start=np.zeros(len(codes), dtype=np.int64))
        return {
            word: word_rarity(count, total)
            for word, count in zip(words, held.tolist(), strict=True)
            if 1 < count < total / 5
        }

    def holding(
        self, connection: Connection, words: Collection[str], among: Collection[int] | None = None
    ) -> list[int]:
        """The ids of all segments that may hold all these words, in order."""
        codes = [code_of(word) for word in set(words)]
        found = [block.holding(codes) for block in self._fresh(connection)]
        if among is not None:
            found = [segments[is_among(segments, among)] for segments in found]
        return sorted(int(segment) for segments in found for segment in segments)

    def _fresh(self, connection: Connection) -> tuple[IndexBlock, ...]:
        version = connection.execute(select(corpus.c.version)).scalar_one()
        with self._lock:
            if version != self._version:
                self._update(connection)
                self._version = version
            return self._blocks

    def _update(self, connection: Connection) -> None:
        present = set(connection.scalars(select(words.c.document_no)))
        if gone := self._documents - present:
            kept = (block.without(gone) for block in self._blocks)
            self._blocks = tuple(block for block in kept if block.size)
            self._documents -= gone
        if new := sorted(present - self._documents):
            self._blocks = merge_last_blocks((*self._blocks, read_index_block(connection, new)))
            self._documents |= set(new)


def word_rarity(held: int, total: int) -> float:
    """Of a word that stands in so many of all segments."""
    return math.log1p((total - held + 0.5) / (held + 0.5))


def is_among(segments: Positions, documents: Collection[int]) -> NDArray[np.bool_]:
    wanted = np.fromiter(documents, dtype=np.int64, count=len(documents))
    return np.isin(segments >> SHIFT, wanted)


def take_best(ids: Positions, scores: NDArray[np.float32], limit: int) -> Ranked:
    """The best of those above 0, in no order; of equals, any."""
    top = np.flatnonzero(scores > 0)
    if len(top) > limit:
        values = scores[top]
        top = top[np.argpartition(values, len(values) - limit)[-limit:]]
    return list(zip(ids[top].tolist(), scores[top].tolist(), strict=True))


def read_index_block(connection: Connection, documents: Sequence[int]) -> IndexBlock:
    keys = bytearray()  # grows in place: a list of arrays would be in memory twice when they are put together
    lengths: list[NDArray[np.uint32]] = []
    segments: list[Positions] = []
    base = 0
    for batch in in_batches(documents, READ_AT_ONCE):
        query = select(words).where(words.c.document_no.in_(batch)).order_by(words.c.document_no)
        for record in connection.execute(query):
            of = np.frombuffer(record.lengths, dtype=np.uint32)
            keys += (np.frombuffer(record.postings, dtype=np.uint64) + np.uint64(base << 8)).data
            lengths.append(of)
            segments.append((record.document_no << SHIFT) + np.arange(len(of), dtype=np.int64))
            base += len(of)
    return build_index_block(
        np.frombuffer(keys, dtype=np.uint64), np.concatenate(lengths).astype(np.float32), np.concatenate(segments)
    )


def build_index_block(keys: NDArray[np.uint64], lengths: NDArray[np.float32], segments: Positions) -> IndexBlock:
    keys.sort()
    codes = keys.view(np.uint32)[1::2]  # the upper half
    begins = np.append(np.zeros(min(1, len(codes)), np.int64), np.flatnonzero(codes[1:] != codes[:-1]) + 1)
    return IndexBlock(
        codes=codes[begins],
        starts=np.append(begins, len(codes)).astype(np.int64),
        postings=keys.astype(np.uint32),  # the lower half
        lengths=lengths,
        segments=segments,
    )
