"""What a field asks for, the kind of answer and the words that say what it is, and how alike words are in meaning."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, takewhile
from typing import Literal, NamedTuple, TypeAlias

from tablewright.arrays import NDArray, np
from tablewright.domain.fieldspec import PLACEHOLDER
from tablewright.domain.model import Field, Noun
from tablewright.domain.rowkey import fold
from tablewright.models.embedder import load_wordllama
from tablewright.models.text_budget import batches
from tablewright.text import SMALL_WORDS, root
from tablewright.values.units import parse_unit, unit_in

RELATED = 0.36
"""How alike two words must be to speak of the same thing. Of a hundred sentences of twenty words drawn at random, fewer
than five hold one that is so like another word drawn at random."""
LIGHT = 9.2
"""Words with shorter vectors say little, because texts about anything have them: "make", "reach", "main", "come"."""
TOGETHER = 0.12
"""How like each word of a phrase a word must be, to be like the phrase as a whole: "headquarters", "head office"."""
NEVER_SAME = 0.85
"""The most that two different words are alike."""
WIDTH = 256
_MOST_KEPT = 60_000
_LONGEST_WORD = 64
"""Letters of a word that are looked at: all words of a batch are padded to the longest, and a page may have a million
letters without a space."""
_WORDS_AT_ONCE = 1_024

Likeness: TypeAlias = "NDArray[np.float32]"
"""A row for each asked word, a column for each word of a place: 1 for the same word, 0 for one that has nothing to do
with it."""

_WORD = re.compile(r"[^\W\d_]+|\d+")
_ASKING = frozenset(
    "name names called call title give find list exact exactly just only please value kindly row".split()
)
"""Words by which one asks, and which say nothing of what is asked."""


def words(text: str) -> list[str]:
    return _WORD.findall(fold(text))


def content(text: str) -> tuple[str, ...]:
    """The words that say something, each once, in order."""
    return tuple(
        dict.fromkeys(
            word for word in words(text) if word not in SMALL_WORDS and word not in _ASKING and not word.isdigit()
        )
    )


class Vocabulary:
    """The words of a text, each once, with their vectors."""

    def __init__(self, text: str) -> None:
        self.places: list[tuple[int, int]] = []
        """Where each word of the text begins and ends, in order; `ids` says which word it is."""
        folded = _folded(text)
        known: dict[str, int] = {}
        ids = []
        for match in _WORD.finditer(folded):
            ids.append(known.setdefault(match[0], len(known)))
            self.places.append(match.span())
        self.ids = np.array(ids, dtype=np.int32)
        self.starts = np.array([start for start, _ in self.places], dtype=np.int64)
        self.words = list(known)
        self._roots: dict[str, list[int]] = {}
        for number, word in enumerate(self.words):
            self._roots.setdefault(root(word), []).append(number)
        self._vectors: NDArray[np.float32] | None = None

    def likeness(self, asked: tuple[str, ...]) -> Likeness:
        """Of each asked word to each word of the text: 1 for another form of the same word."""
        if self._vectors is None:
            self._vectors = vectors(tuple(self.words))
        found = _alike(asked, self._vectors)
        for row, word in enumerate(asked):
            for place in self._roots.get(root(word), ()):
                found[row, place] = 1.0
        return found


def _folded(text: str) -> str:
    """In lower case and as long as the text itself, so that places stay as they are."""
    if text.isascii():
        return text.lower()
    return "".join(low if len(low := character.lower()) == 1 else character for character in text)


def likeness(asked: tuple[str, ...], given: tuple[str, ...]) -> Likeness:
    """As `Vocabulary.likeness`, for a few words."""
    if not asked or not given:
        return np.zeros((len(asked), len(given)), dtype=np.float32)
    found = _alike(asked, vectors(given))
    for row, word in enumerate(asked):
        for column, other in enumerate(given):
            if root(word) == root(other):
                found[row, column] = 1.0
    return found


def _alike(asked: tuple[str, ...], given: NDArray[np.float32]) -> Likeness:
    """Return how alike each asked word, in whichever of its forms is most alike, is to each of the given."""
    every, starts = _in_all_forms(asked)
    found: Likeness = np.minimum(np.maximum.reduceat(every @ given.T, starts, axis=0), NEVER_SAME)
    return found


@lru_cache(maxsize=1024)
def _in_all_forms(asked: tuple[str, ...]) -> tuple[NDArray[np.float32], list[int]]:
    groups = [forms(word) for word in asked]
    starts = [0, *accumulate(map(len, groups[:-1]))]
    return vectors(tuple(form for group in groups for form in group)), starts


@lru_cache(maxsize=4096)
def forms(word: str) -> tuple[str, ...]:
    """The word, and its other forms that have a vector of their own: "establish" and "established" of
    "establishment"."""
    stem = root(word)
    others = [stem + end for end in _ENDINGS if len(stem) > 3 and (end == "s" or root(stem + end) == stem)]
    pieces = _pieces(others)
    return (word, *(other for other, many in zip(others, pieces, strict=True) if many == 1 and other != word))


_ENDINGS = ("", "e", "s", "es", "ed", "d", "ing", "er", "or", "ment", "ion", "ation")


def _pieces(of: Sequence[str]) -> list[int]:
    """Return how many pieces the model takes each word apart into; a batch is padded, which does not count."""
    counts: list[int] = []
    for batch in batches([word[:_LONGEST_WORD] for word in of], most=_WORDS_AT_ONCE):
        encoded = load_wordllama().tokenizer.encode_batch(list(batch), add_special_tokens=False)
        counts += [sum(each.attention_mask) for each in encoded]
    return counts


class KnownWord(NamedTuple):
    vector: NDArray[np.float32]
    length: float


_known: dict[str, KnownWord] = {}


def vectors(of: tuple[str, ...]) -> NDArray[np.float32]:
    """One of length 1 for each word; for a number 0, because numbers are alike only where they are equal."""
    known = _look_up(of)
    return np.array([known[word].vector for word in of], dtype=np.float32).reshape(len(of), WIDTH)


def is_light(word: str) -> bool:
    return _look_up((word,))[word].length < LIGHT


def _look_up(of: tuple[str, ...]) -> dict[str, KnownWord]:
    found = {word: known for word in of if (known := _known.get(word))}
    missing = [word for word in dict.fromkeys(of) if word not in found]
    if not missing:
        return found
    pieces = _pieces(missing)
    # A rare form has the vector of a common one of the same word: "headquartered" that of "headquarters".
    common = [
        next(iter(forms(word)[1:]), word) if many > 1 else word for word, many in zip(missing, pieces, strict=True)
    ]
    made = np.asarray(load_wordllama().embed([word[:_LONGEST_WORD] for word in common]), dtype=np.float32)
    lengths = np.linalg.norm(made, axis=1, keepdims=True)
    made /= np.where(lengths > 0, lengths, 1)
    for word, vector, length, many in zip(missing, made, lengths[:, 0], pieces, strict=True):
        # A rare word is the mean of its pieces, which is short whatever it says.
        found[word] = KnownWord(
            vector if not word.isdigit() else np.zeros(WIDTH, dtype=np.float32), float(length) if many == 1 else LIGHT
        )
    if len(_known) + len(missing) > _MOST_KEPT:
        _known.clear()
    _known.update((word, found[word]) for word in missing)
    return found


def as_one(phrases: tuple[tuple[str, ...], ...], asked: tuple[str, ...], alike: Likeness) -> Likeness:
    """The likeness again, where a word that is a little like each word of a phrase counts as like the whole."""
    for phrase in phrases:
        rows = [asked.index(word) for word in phrase]
        if len(rows) > 1 and alike.size:
            mean = vectors(phrase).mean(axis=0)
            together = alike[rows].sum(axis=0) / len(rows) / max(1e-6, float(np.linalg.norm(mean)))
            # A word of the phrase itself says that word, and nothing of the others.
            fits = (alike[rows].min(axis=0) >= TOGETHER) & (alike[rows].max(axis=0) <= NEVER_SAME)
            alike[rows] = np.where(fits, np.maximum(alike[rows], np.minimum(together, NEVER_SAME)), alike[rows])
    return np.clip(alike, 0.0, 1.0)


# ── what a field asks for ────────────────────────────────────────────────────────────────────────────────────────────

Kind: TypeAlias = Literal[
    "year", "date", "money", "measure", "count", "number", "yesno", "option", "person", "city", "state", "country",
    "nationality", "place", "organisation", "name", "title", "code", "url", "text",
]  # fmt: skip
"""What an answer looks like."""


ALSO_CALLED = "Also called: "
"""How a description begins that lists other names of a field."""


class Wanted(Noun, frozen=True):
    field: Field
    kind: Kind
    phrases: tuple[tuple[str, ...], ...]
    """What the name, the question and the description say, each as its telling words. The first is the name's."""
    said_by_kind: frozenset[str]
    """Words that only say of which kind the answer is: an answer of that kind needs no such word beside it."""
    weighty: frozenset[str]
    """Words that say so much that a place which leaves one out speaks of something else."""
    twins: Mapping[str, tuple[str, ...]] = {}
    """For a word the words of other phrases that mean the same: "birthday" for "born"."""
    of_row: frozenset[str] = frozenset()
    """Words that stand before the row's name in the question and say what it is: "album" of "the album {Title}"."""
    unit: str = ""
    """The field's unit, or one that its name gives: "Capacity (MW)"."""
    bare: bool = False
    """The answer is the number alone, because the field's name says the unit."""
    options: tuple[str, ...] = ()
    which: tuple[str, ...] = ()
    """What the question asks for one of: "river" of "Which river does it lie on?"."""

    @property
    def aside(self) -> frozenset[str]:
        """Words that a place need not say: those of the kind, and those of what the row is."""
        return self.said_by_kind | self.of_row

    @property
    def words(self) -> tuple[str, ...]:
        """All telling words, each once."""
        return _each_once(self.phrases)


@lru_cache(maxsize=512)
def _each_once(phrases: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for phrase in phrases for word in phrase))


@lru_cache(maxsize=512)
def wanted(field: Field) -> Wanted:
    asked = PLACEHOLDER.sub(" ", field.question)
    in_name = "" if _is_plural(field) else unit_in(field.name)
    name = content(field.name.replace(in_name, " ") if in_name else field.name) or tuple(words(field.name))
    described = field.description.removeprefix(ALSO_CALLED)
    others = described.rstrip(".").split(",") if described != field.description else [described]
    phrases = (name, content(asked), *map(content, others))
    twins = _twins(phrases)
    kind, said = _kind(field, asked, name)
    if in_name and kind in ("count", "number", "text", "name"):
        kind = "measure" if parse_unit(in_name) else "money"
    return Wanted(
        field=field,
        kind=kind,
        phrases=(phrases[0], *(phrase for phrase in phrases[1:] if phrase)),
        said_by_kind=frozenset(said),
        # A light word weighs where another phrase says it in a weightier one.
        weighty=frozenset(
            word for phrase in phrases for word in phrase if not all(map(is_light, (word, *twins.get(word, ()))))
        ),
        twins=twins,
        of_row=frozenset(_before_name(field.question)),
        unit=field.unit or in_name,
        bare=not field.unit and bool(in_name) and field.type in ("text", "number"),
        options=field.options if field.type == "select" else (),
        which=tuple(words(which[1])[-1:]) if (which := _WHICH.search(asked)) else (),
    )


def _is_plural(field: Field) -> bool:
    """Return True if the "(s)" of a name is its plural, and no second: "Author(s)", but not "Duration (s)"."""
    name = field.name.strip().lower()
    if not name.endswith("(s)") or field.type == "number":
        return False
    return float(likeness(content(name[:-3]), ("time", "duration", "seconds")).max(initial=0.0)) < RELATED


def _twins(phrases: Sequence[tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    found = {}
    for phrase in phrases:
        others = tuple(dict.fromkeys(word for other in phrases for word in other if word not in phrase))
        for word in phrase if others else ():
            alike = likeness((word,), others)[0].tolist()
            found[word] = tuple(other for other, like in zip(others, alike, strict=True) if RELATED <= like < 1)
    return found


_BEFORE = re.compile(r"((?:[\w'’-]{1,40}\s{1,9}){0,4})$")


def _before_name(question: str) -> Iterator[str]:
    """The telling words right before each placeholder, back to the first small word."""
    for place in PLACEHOLDER.finditer(question):
        before = _BEFORE.search(question, 0, place.start())
        yield from takewhile(content, reversed(words(before[1] if before else "")))


# ── the kind ─────────────────────────────────────────────────────────────────────────────────────────────────────────

_OF_TYPE: dict[str, Kind] = {
    "money": "money",
    "date": "date",
    "url": "url",
    "boolean": "yesno",
    "select": "option",
    "number": "number",
}
_BY_QUESTION: tuple[tuple[str, Kind], ...] = (
    (r"\bwho(?:m|se)?\b", "person"),
    (r"\bwhen\b", "date"),
    (r"\bwhere\b", "place"),
    (r"\bhow many\b", "count"),
    (r"\bhow much\b", "number"),
    (r"\bhow (?:long|far|old|tall|high|large|big|fast|deep|wide|heavy)\b", "measure"),
)
_CALLED: dict[str, Kind] = {
    "year": "year",
    "date": "date",
    "day": "date",
    "person": "person",
    "city": "city",
    "town": "city",
    "place": "place",
    "location": "place",
    "country": "country",
    "nationality": "nationality",
    "price": "money",
    "cost": "money",
    "amount": "money",
    "number": "number",
    "count": "count",
    "website": "url",
    "url": "url",
    "code": "code",
}
"""What kinds are called. A word that is like one of these asks for that kind."""
_WHICH = re.compile(
    r"\b(?:what|which)\s+((?:[\w'’-]+\s+){0,3}?[\w'’-]+?)\s*(?=\b(?:is|are|was|were|do|does|did|has|have|had|can|of|in|on)\b|\?|$)",
    re.IGNORECASE,
)
NUMBERS: frozenset[Kind] = frozenset({"year", "date", "money", "measure", "count", "number"})
_FITS: dict[str, frozenset[Kind]] = {"number": NUMBERS - {"date"}, "date": frozenset({"date", "year"})}


def _kind(field: Field, asked: str, name: tuple[str, ...]) -> tuple[Kind, set[str]]:
    """The kind, and the words that said so and nothing more."""
    given = _OF_TYPE.get(field.type)
    if given is not None and field.type not in _FITS:
        return given, {word for word in name if _called(word) == given}
    said: list[tuple[Kind, str]] = []
    if (which := _WHICH.search(asked)) and (head := words(which[1])[-1:]) and (kind := _called(head[0])):
        said.append((kind, head[0]))
    said += [(kind, "") for pattern, kind in _BY_QUESTION if re.search(pattern, asked, re.IGNORECASE)]
    said += [(kind, word) for word in (*name[-1:], *name[:-1]) if (kind := _called(word))]
    if field.type == "number":  # when something was, as a number, is a year
        said = [("year" if kind == "date" else kind, word) for kind, word in said]
    fits = _FITS.get(field.type)
    fitting = [(kind, word) for kind, word in said if fits is None or kind in fits]
    if not fitting:
        kind = given or "text"
        if kind == "number" and field.unit:
            kind = "measure"
        return kind, set()
    kind = fitting[0][0]
    if kind == "number":  # "how much" may ask for money, or for anything else that is counted or measured
        closer: list[Kind] = [other for other, _ in fitting if other in ("money", "count")]
        kind = closer[0] if closer else kind
    if kind in ("count", "number") and field.unit:
        kind = "measure"
    if field.type == "date":
        kind = "date"
    elif kind == "date" and "year" in words(asked):
        kind = "year"
    return kind, {word for other, word in said if word in _CALLED and _akin(other, kind)}


def _akin(one: Kind, other: Kind) -> bool:
    return one == other or {one, other} <= {"year", "date"} or {one, other} <= {"count", "number", "measure"}


_AS_GOOD_AS = 0.5


@lru_cache(maxsize=4096)
def _called(word: str) -> Kind | None:
    names = tuple(_CALLED)
    alike = (vectors((word,)) @ vectors(names).T)[0]
    best = int(alike.argmax())
    return _CALLED[names[best]] if alike[best] >= _AS_GOOD_AS else None
