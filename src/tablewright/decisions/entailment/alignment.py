"""A claim laid beside a text: which of its parts each of the nearest sentences says, and which the text never does."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from tablewright.decisions.entailment.parts import IN_WORDS, Part, amounts, dates, days, months
from tablewright.decisions.entailment.words import LEAST_KIN, SMALL, WORD, akin, likeness, meaning, plain, root
from tablewright.decisions.grounds import close
from tablewright.table.model import Noun
from tablewright.table.untrusted import gives_orders

MOST_CHARACTERS = 60_000
MOST_SENTENCES = 1_000
LONGEST_SENTENCE = 1_500
NEAREST = 16
"""Sentences that are read closely: those with most of the claim's rarest words."""
TOGETHER = 4
"""Sentences that may bear a claim together."""
AROUND = 200
KIN, INITIALS = 0.85, 0.9
"""What "Canadian" says of "Canada", and "NATO" of its full name."""
SAID_OF_SUBJECT = 0.7
"""What its name somewhere on the page says for a sentence that calls the subject "he"."""
NEAR = 0.001
TELLING = 10
"""A smaller number stands somewhere on every page: it says something only beside the claim's words."""
DAY, OTHER_DAY = 0.7, 0.2
HALF = 0.5
MONTH = len("2019-05")
_END = re.compile(r"(?<=[.!?])[\"”’')\]]*\s+(?=[\"“‘'(\[]*[^\Wa-z_])|\n+")
_DIGITS = re.compile(r"\d+(?:\.\d+)?")
_FULL_NAME = re.compile(r"\b[A-Z][\w’'&.-]*(?: (?:(?:of|the|and|for|de) )*[A-Z][\w’'&.-]*)+")
_REFERS = re.compile(r"\W*(?:he|she|it|they|his|her|its|their)\b", re.IGNORECASE)
FOUNDED = re.compile(r"\b(?:founded|established|set up|formed)\b")
_ROW_OR_ITEM = re.compile(r" \| |^(?:[-*•] )?[A-Z][\w’'&.-]*(?: (?:& )?[A-Z\d][\w’'&.,-]*)+: ")
_SHORT_NAME = re.compile(r"\b(?:[A-Z]\.?){2,6}(?![a-z])")


class Text(Noun, frozen=True):
    text: str
    title: str = ""


class Sentence(Noun, frozen=True, gc=True):
    """`text` is the number of the text in which it stands at `start:end`."""

    text: int
    start: int
    end: int
    written: str
    words: tuple[str, ...]
    roots: frozenset[str]


class Alignment:
    """`said[part, sentence]` is how far each of the nearest sentences says each part, from 0 to 1."""

    def __init__(self, claim: str, parts: tuple[Part, ...], about: str, texts: Sequence[Text]) -> None:
        self.claim, self.parts, self.about, self.texts = claim, parts, about, texts
        self.sentences = _sentences(texts)
        self.title = " ".join(each.title for each in texts)
        self.subject = frozenset(map(root, WORD.findall(about))) - _SMALL_ROOTS
        self.nearest = self._nearest()
        self.weights = np.array([part.weight for part in parts]) / (sum(part.weight for part in parts) or 1.0)
        self.hard = np.array([part.is_hard for part in parts], dtype=bool)
        self.said = np.zeros((len(parts), len(self.nearest)))
        for place, sentence in enumerate(self.nearest):
            if not self._is_of_another(sentence):
                self.said[:, place] = self._says(sentence)
        self.bearing = self._bearing()

    @cached_property
    def anywhere(self) -> NDArray[np.float64]:
        """How far the whole text says each part, wherever it stands."""
        near = self.said.max(axis=1, initial=0.0)
        found: NDArray[np.float64] = np.maximum(near, [self._stands(part) for part in self.parts])
        return found

    @cached_property
    def from_outset(self) -> NDArray[np.float64]:
        """What needs no sentence: the title says it, or it is what the whole text is about."""
        titled = frozenset(map(root, WORD.findall(self.title)))
        own = [part.root in self.subject for part in self.parts]
        return np.array(
            [
                max(float(part.root in titled), SAID_OF_SUBJECT * anywhere * is_own)
                if is_own or part.kind == "name"
                else 0.5 * (part.root in titled)
                for part, anywhere, is_own in zip(self.parts, self.anywhere, own, strict=True)
            ]
        )

    @property
    def speaks_of_subject(self) -> bool:
        """Whether any word of its name stands in the text, or its initials, where the claim is of nothing else."""
        own = self.subject.isdisjoint(part.root for part in self.parts) and not _REFERS.match(self.claim)
        if own or not self.subject or self.subject & self.roots:
            return True
        return any(_initials(self.about) in _short_names(text) for text in self._written)

    @property
    def together(self) -> NDArray[np.float64]:
        """How far the bearing sentences and the title say each part."""
        found: NDArray[np.float64] = np.maximum(self.from_outset, self.said[:, self.bearing].max(axis=1, initial=0.0))
        return found

    @property
    def stated(self) -> float:
        """How far they say what the claim says of its subject, whose name alone is nothing said."""
        own = np.array([part.root in self.subject for part in self.parts], dtype=bool)
        weights = self.weights * ~own
        return float(weights @ self.together / weights.sum()) if weights.sum() else 1.0

    @cached_property
    def unsaid(self) -> tuple[Part, ...]:
        """The names, numbers and dates that stand nowhere; of a day more than its year has to. The subject is left out:
        a text about it need not repeat its name as the claim has it."""
        near = self.said.max(axis=1, initial=0.0)
        return tuple(
            part
            for part, said, anywhere in zip(self.parts, near, self.anywhere, strict=True)
            if part.is_hard
            and part.root not in self.subject
            and (said < DAY if len(part.iso) > MONTH else anywhere < HALF)
        )

    def _is_of_another(self, sentence: Sentence) -> bool:
        """A row or an item of a page about many things says something of the one that it names."""
        if not self.subject or not _ROW_OR_ITEM.search(sentence.written):
            return False
        return self.subject.isdisjoint(sentence.roots | frozenset(map(root, WORD.findall(self.title))))

    def _bearing(self) -> list[int]:
        """The sentences that say most of the claim together, the one that says most of it first; none that stands
        beside orders to machines."""
        chosen: list[int] = []
        barred: set[int] = set()
        covered = self.from_outset
        while len(chosen) < TOGETHER and len(barred) + len(chosen) < len(self.nearest):
            gains = self.weights @ np.maximum(covered[:, None], self.said)
            gains[list(barred)] = -1.0
            best = int(gains.argmax())
            if best in chosen or gains[best] <= self.weights @ covered + 1e-9:
                break
            if self.is_tainted(self.nearest[best]):
                barred.add(best)
                continue
            chosen.append(best)
            covered = np.maximum(covered, self.said[:, best])
        return chosen

    def is_tainted(self, sentence: Sentence) -> bool:
        """As `untrusted.is_tainted`, of the words nearest to it: a page of one paragraph would take longer than all the
        rest."""
        text = self.texts[sentence.text].text
        first = max(text.rfind("\n", 0, sentence.start) + 1, sentence.start - AROUND)
        last = text.find("\n", sentence.end)
        return gives_orders(text[first : min(last if last >= 0 else len(text), sentence.end + AROUND)])

    def _nearest(self) -> list[Sentence]:
        wanted = {part.root: part.weight for part in self.parts if part.root}
        held = {root: sum(root in sentence.roots for sentence in self.sentences) for root in wanted}
        rarity = {
            root: weight * math.log(1 + len(self.sentences) / (0.5 + held[root])) for root, weight in wanted.items()
        }
        digits = set(_DIGITS.findall(self.claim.replace(",", "")))

        def worth(sentence: Sentence) -> float:
            shared = sum(weight for root, weight in rarity.items() if root in sentence.roots)
            figures = digits & set(_DIGITS.findall(sentence.written.replace(",", ""))) if digits else ()
            return shared + 20 * len(figures)

        best = sorted(range(len(self.sentences)), key=lambda place: (-worth(self.sentences[place]), place))[:NEAREST]
        return [self.sentences[place] for place in sorted(best)]

    def _says(self, sentence: Sentence) -> list[float]:
        beginning = _by_beginning(sentence.words)
        vectors = _vectors(sentence)
        dated = any(part.kind == "date" for part in self.parts)

        def says(part: Part) -> float:
            if part.kind == "number":
                known = amounts(sentence.written)
                same = [any(close(value, other, NEAR) for other in known) for value in part.values]
                return sum(same) / len(same)
            if part.kind == "date":
                return self._dates(sentence.written, part.iso)
            if part.root in sentence.roots or (part.plain == "year" and dated and dates(sentence.written)):
                return 1.0
            if any(akin(part.plain, word) for word in beginning.get(part.plain[:LEAST_KIN], ())):
                return KIN
            if part.kind == "name" and self._by_initials(part, [sentence.written]):
                return INITIALS
            if FOUNDED.fullmatch(part.plain) and FOUNDED.search(sentence.written):
                return KIN
            return 0.0 if part.kind == "name" and not part.common else likeness(part.plain, vectors)

        return [says(part) for part in self.parts]

    def _dates(self, sentence: str, iso: str) -> float:
        """A day without its year, or a month without its day, says most of it."""
        year = iso[:4]
        if any(date.startswith(iso) for date in dates(sentence)) or (len(iso) == 4 and year in sentence):
            return 1.0
        around = year in self.figures
        if len(iso) > MONTH and iso[5:] in days(sentence):
            return 1.0 if year in sentence else DAY + 0.2 * around
        if len(iso) > MONTH and any(day.startswith(iso[5:8]) for day in days(sentence)):
            return OTHER_DAY
        if len(iso) >= MONTH and int(iso[5:7]) in months(sentence):
            return (0.4 if len(iso) > MONTH else 0.7) + 0.1 * around
        return 0.5 if year in sentence else 0.0

    def _stands(self, part: Part) -> float:
        if part.kind == "number":
            told = [f"{value:g}" in self.figures or value in self.spelled for value in part.values if value >= TELLING]
            return float(len(told) == len(part.values) and all(told))
        if part.kind == "date":
            return (1.0 if len(part.iso) == 4 else 0.6) * (part.iso[:4] in self.figures)
        if part.root in self.roots:
            return 1.0
        if any(akin(part.plain, word) for word in self.beginning.get(part.plain[:LEAST_KIN], ())):
            return KIN
        return INITIALS * (part.kind == "name" and self._by_initials(part, self._written))

    def _by_initials(self, part: Part, texts: Sequence[str]) -> bool:
        """ "NAHL" for the league of which the text writes out the name, and the other way round."""
        if part.written.isupper():
            letters = part.written.casefold()
            return any(letters in _initials(match[0]) for text in texts for match in _FULL_NAME.finditer(text))
        letters = self.initials.get(part.start, "")
        return bool(letters) and any(letters in _short_names(text) for text in texts)

    @cached_property
    def initials(self) -> dict[int, str]:
        """Those of the full name that stands around each part that is a word of one."""
        names = list(_FULL_NAME.finditer(self.claim))
        return {
            part.start: _initials(name[0])
            for name in names
            for part in self.parts
            if name.start() <= part.start < name.end()
        }

    @property
    def _written(self) -> list[str]:
        return [self.title, *(each.text[:MOST_CHARACTERS] for each in self.texts)]

    @cached_property
    def roots(self) -> frozenset[str]:
        return frozenset(map(root, WORD.findall(self.title))).union(*(each.roots for each in self.sentences))

    @cached_property
    def beginning(self) -> dict[str, list[str]]:
        return _by_beginning({word for sentence in self.sentences for word in sentence.words})

    @cached_property
    def figures(self) -> set[str]:
        return {digits for each in self._written for digits in _DIGITS.findall(each.replace(",", ""))}

    @cached_property
    def spelled(self) -> set[float]:
        return {float(number) for word, number in IN_WORDS.items() if word in self.beginning.get(word[:LEAST_KIN], ())}


_SMALL_ROOTS = frozenset(map(root, SMALL))


def _sentences(texts: Sequence[Text]) -> list[Sentence]:
    found = [sentence for number, each in enumerate(texts) for sentence in _split(number, each.text[:MOST_CHARACTERS])]
    return found[:MOST_SENTENCES]


@lru_cache(32)
def _split(number: int, text: str) -> list[Sentence]:
    """Kept, since a page is asked about several claims."""
    found: list[Sentence] = []
    start = 0
    ends = [(match.start(), match.end()) for match in _END.finditer(text)]
    for end, following in (*ends, (len(text), len(text))):
        written = text[start : min(end, start + LONGEST_SENTENCE)].rstrip()
        if words := WORD.findall(written):
            found.append(
                Sentence(
                    text=number,
                    start=start,
                    end=start + len(written),
                    written=written,
                    words=tuple(map(plain, words)),
                    roots=frozenset(map(root, words)),
                )
            )
        start = following
    return found


def _by_beginning(words: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for word in words:
        found.setdefault(word[:LEAST_KIN], []).append(word)
    return found


def _vectors(sentence: Sentence) -> NDArray[np.float32]:
    telling = (word for word in sentence.words if len(word) > 2 and word not in SMALL and not word[0].isdigit())
    known = [meaning(word).vector for word in dict.fromkeys(telling)]
    return np.array(known, dtype=np.float32)


def _initials(name: str) -> str:
    return "".join(word[0] for word in name.split() if word[0].isupper() and word != "The").casefold()


@lru_cache(256)
def _short_names(text: str) -> frozenset[str]:
    return frozenset(match[0].replace(".", "").casefold() for match in _SHORT_NAME.finditer(text))
