"""The search engine of the sample web: BM25 over titles and texts, with `site:` and quoted phrases.

It knows what a real engine knows: pages that are gone or refuse visitors are still in its index.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from functools import cache

from tablewright.domain.model import Struct
from tablewright.sample.documents import sample_files
from tablewright.sample.layouts import page_title
from tablewright.sample.site import SamplePage
from tablewright.sample.world import TODAY, sample_pages, sample_world

# The usual constants of BM25: how soon repeated words stop counting, and how much long pages lose.
K1, B = 1.2, 0.75
# About the length of a real engine's snippet, with a few words before the first hit.
SNIPPET_WORDS, LEAD_WORDS = 36, 4

_SITE = re.compile(r"\bsite:(\S+)", re.IGNORECASE)


class Result(Struct, frozen=True):
    page: SamplePage
    title: str
    snippet: str
    score: float


class SampleResults(Struct, frozen=True):
    total: int
    results: tuple[Result, ...]


class ParsedQuery(Struct, frozen=True):
    """A query, taken apart."""

    words: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...]
    site: str

    @classmethod
    def read(cls, query: str) -> ParsedQuery:
        site = _SITE.search(query)
        rest = _SITE.sub(" ", query)
        return cls(
            words=tuple(dict.fromkeys(fold_words(rest))),
            phrases=tuple(tuple(fold_words(phrase)) for phrase in re.findall(r'"([^"]+)"', rest)),
            site=site[1].lower().removeprefix("www.") if site else "",
        )


class SampleIndex:
    def __init__(self, found: Sequence[SamplePage]) -> None:
        papers = {paper.name: paper.text for paper in sample_files()}
        self._pages = found
        self._texts = [page.indexed or papers.get(page.document) or page.text for page in found]
        self._titles = [page_title(sample_world()[page.site], page) for page in found]
        self._words = [fold_words(f"{title}\n{text}") for title, text in zip(self._titles, self._texts, strict=True)]
        # A word of the title counts like three of the text, of which it is one: a page about a thing beats one that
        # mentions it.
        self._counts = [
            Counter(body) + Counter(fold_words(title) * 2)
            for title, body in zip(self._titles, self._words, strict=True)
        ]
        self._sizes = [sum(counts.values()) for counts in self._counts]
        self._mean_size = sum(self._sizes) / max(1, len(found))
        self._pages_with: Mapping[str, list[int]] = defaultdict(list)
        for number, counts in enumerate(self._counts):
            for word in counts:
                self._pages_with[word].append(number)

    def search(self, query: str, *, time_range: str = "", skip: int = 0, limit: int = 10) -> SampleResults:
        """Pages with at least one of the words and every quoted phrase, best first."""
        asked = ParsedQuery.read(query)
        rarity = {word: self._rarity(word) for word in asked.words}
        scores: dict[int, float] = defaultdict(float)
        for word in asked.words:
            for number in self._pages_with.get(word, []):
                count = self._counts[number][word]
                # Okapi BM25.
                scores[number] += rarity[word] * count * (K1 + 1) / (count + K1 * self._length_factor(number))
        since = _first_day(time_range)
        fitting = [number for number in scores if self._fits(number, asked, since)]
        # The address breaks ties, so that every process ranks alike.
        fitting.sort(key=lambda number: (-scores[number], self._pages[number].url))
        results = [
            Result(
                page=self._pages[number],
                title=self._titles[number],
                snippet=make_snippet(self._texts[number], rarity),
                score=scores[number],
            )
            for number in fitting[skip : skip + limit]
        ]
        return SampleResults(total=len(fitting), results=tuple(results))

    def _rarity(self, word: str) -> float:
        holders = len(self._pages_with.get(word, []))
        return math.log(1 + (len(self._pages) - holders + 0.5) / (holders + 0.5))

    def _length_factor(self, number: int) -> float:
        return 1 - B + B * self._sizes[number] / self._mean_size

    def _fits(self, number: int, asked: ParsedQuery, since: str) -> bool:
        page = self._pages[number]
        if asked.site and not f".{page.site}.example".endswith(f".{asked.site}"):
            return False
        return page.published >= since and all(_has_phrase(self._words[number], phrase) for phrase in asked.phrases)


@cache
def sample_index() -> SampleIndex:
    return SampleIndex(sample_pages())


def fold_words(text: str) -> list[str]:
    """Without case, accents and plurals, so that Vindaro finds Vindarö and kettle finds kettles."""
    # Letters that Unicode does not take apart into a base and an accent.
    plain = text.lower().translate(str.maketrans("øł’", "ol'")).replace("æ", "ae").replace("ß", "ss")
    folded = unicodedata.normalize("NFKD", plain)
    found = re.findall(r"\w+(?:['’]\w+)?", "".join(char for char in folded if not unicodedata.combining(char)))
    # Not after one or two letters or a second s: "bus" and "glass" are no plurals.
    return [re.sub(r"(?<=\w\w[^s\W])s$", "", word) for word in found]


def make_snippet(text: str, weights: Mapping[str, float]) -> str:
    """The stretch of the text with the weightiest of the wanted words, cut at words."""
    pieces = text.split()
    hits = [{word for word in fold_words(piece) if word in weights} for piece in pieces]
    starts = [max(0, at - LEAD_WORDS) for at, hit in enumerate(hits) if hit] or [0]

    def weight(start: int) -> float:
        shown: set[str] = set().union(*hits[start : start + SNIPPET_WORDS])
        return math.fsum(weights[word] for word in shown)  # whatever the order: a set has another in each process

    start = max(starts, key=lambda at: (weight(at), -at)) if len(pieces) > SNIPPET_WORDS else 0
    shown = " ".join(pieces[start : start + SNIPPET_WORDS])
    return ("… " if start else "") + shown + (" …" if start + SNIPPET_WORDS < len(pieces) else "")


def _has_phrase(body: Sequence[str], phrase: Sequence[str]) -> bool:
    size = len(phrase)
    return any(tuple(body[at : at + size]) == tuple(phrase) for at in range(len(body) - size + 1))


def _first_day(time_range: str) -> str:
    # Months and years at their longest, so that a page from exactly a month ago is found.
    days = {"day": 1, "week": 7, "month": 31, "year": 366}.get(time_range)
    return (date.fromisoformat(TODAY) - timedelta(days=days)).isoformat() if days else ""
