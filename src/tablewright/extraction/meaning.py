"""Turn a field into a query for the built-in reader, and measure how similar words are in meaning.

A `FieldQuery` says which kind of answer a field asks for and which words say so. Similarity is that of the word vectors
of the built-in embedder, which are kept in memory; nothing else is loaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate, takewhile
from typing import Literal, NamedTuple, TypeAlias

from tablewright.arrays import NDArray, np
from tablewright.domain.fieldspec import PLACEHOLDER
from tablewright.domain.model import Field, Struct
from tablewright.domain.rowkey import fold_text
from tablewright.llm.embedder import load_wordllama
from tablewright.llm.text_budget import split_batches
from tablewright.text import SMALL_WORDS, word_root
from tablewright.values.units import find_label_unit, parse_unit


class WordLikeness(Struct, frozen=True):
    """Bounds of the similarity of two words, and of the length of a word's vector."""

    # Two words this similar speak of the same thing. Of a hundred sentences of twenty words drawn at random, fewer than
    # five have a word this similar to another word drawn at random.
    related: float = 0.36
    # Tells two of a few words apart. Of two hundred words drawn at random, one is as similar to another.
    nearby: float = 0.22
    # A form of the same word; the upper limit for two different words is lower.
    same: float = 0.99
    most_of_others: float = 0.85
    # Words with shorter vectors say little, because texts about anything have them: "make", "reach", "main", "come".
    light_length: float = 9.2
    # The upper limit of an answer whose passage has only words similar to the asked ones.
    most_of_answers: float = 0.75


LIKENESS = WordLikeness()


class VectorLimits(Struct, frozen=True):
    # Of the built-in embedder.
    width: int = 256
    # About 60 MB of vectors; then all are dropped, which is simpler than finding the oldest.
    kept_words: int = 60_000
    # All words of a batch are padded to the longest, and a page may have a million letters without a space.
    word_characters: int = 64


VECTOR_LIMITS = VectorLimits()

# A row for each asked word, a column for each word of a passage: 1 for the same word, 0 for an unrelated one.
Similarity: TypeAlias = "NDArray[np.float32]"

_WORD = re.compile(r"[^\W\d_]+|\d+")
# Words of questions that say nothing about what is asked.
_ASKING = frozenset(
    "name names called call title give find list exact exactly just only please value kindly row".split()
)


def folded_words(text: str) -> list[str]:
    return _WORD.findall(fold_text(text))


def content_words(text: str) -> tuple[str, ...]:
    """Return the significant words, each once, in order."""
    return tuple(
        dict.fromkeys(
            word
            for word in folded_words(text)
            if word not in SMALL_WORDS and word not in _ASKING and not word.isdigit()
        )
    )


class Vocabulary:
    """The words of a text, each once, with their vectors."""

    def __init__(self, text: str) -> None:
        self.places: list[tuple[int, int]] = []
        """Start and end of each word of the text, in order; `ids` says which word it is."""
        folded = _lower_in_place(text)
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
            self._roots.setdefault(word_root(word), []).append(number)
        self._vectors: NDArray[np.float32] | None = None

    def similarity(self, asked: tuple[str, ...]) -> Similarity:
        """Return the similarity of each asked word to each word of the text: 1 for any form of the same word."""
        if self._vectors is None:
            self._vectors = word_vectors(tuple(self.words))
        found = _similarity_of_forms(asked, self._vectors)
        for row, word in enumerate(asked):
            for place in self._roots.get(word_root(word), ()):
                found[row, place] = 1.0
        return found


def _lower_in_place(text: str) -> str:
    """Return the text in lower case and of the same length, so that offsets stay valid."""
    if text.isascii():
        return text.lower()
    return "".join(low if len(low := character.lower()) == 1 else character for character in text)


def word_similarity(asked: tuple[str, ...], given: tuple[str, ...]) -> Similarity:
    """Return the same as `Vocabulary.similarity`, for a few words."""
    if not asked or not given:
        return np.zeros((len(asked), len(given)), dtype=np.float32)
    found = _similarity_of_forms(asked, word_vectors(given))
    for row, word in enumerate(asked):
        for column, other in enumerate(given):
            if word_root(word) == word_root(other):
                found[row, column] = 1.0
    return found


def _similarity_of_forms(asked: tuple[str, ...], given: NDArray[np.float32]) -> Similarity:
    """Return the similarity of each asked word, in its closest form, to each of the given vectors."""
    every, starts = _form_vectors(asked)
    found: Similarity = np.minimum(np.maximum.reduceat(every @ given.T, starts, axis=0), LIKENESS.most_of_others)
    return found


@lru_cache(maxsize=1024)
def _form_vectors(asked: tuple[str, ...]) -> tuple[NDArray[np.float32], list[int]]:
    groups = [word_forms(word) for word in asked]
    starts = [0, *accumulate(map(len, groups[:-1]))]
    return word_vectors(tuple(form for group in groups for form in group)), starts


@lru_cache(maxsize=4096)
def word_forms(word: str) -> tuple[str, ...]:
    """Return the word and its other forms that have vectors: "establish" and "established" of "establishment"."""
    stem = word_root(word)
    endings = ("", "e", "s", "es", "ed", "d", "ing", "er", "or", "ment", "ion", "ation")
    others = [stem + end for end in endings if len(stem) > 3 and (end == "s" or word_root(stem + end) == stem)]
    pieces = _count_wordpieces(others)
    return (word, *(other for other, many in zip(others, pieces, strict=True) if many == 1 and other != word))


def _count_wordpieces(of: Sequence[str]) -> list[int]:
    """Return into how many pieces the tokenizer splits each word; padding does not count."""
    counts: list[int] = []
    for batch in split_batches([word[: VECTOR_LIMITS.word_characters] for word in of], most=1_024):
        encoded = load_wordllama().tokenizer.encode_batch(list(batch), add_special_tokens=False)
        counts += [sum(each.attention_mask) for each in encoded]
    return counts


class KnownWord(NamedTuple):
    vector: NDArray[np.float32]
    length: float


_known: dict[str, KnownWord] = {}


def word_vectors(of: tuple[str, ...]) -> NDArray[np.float32]:
    """Return a vector of length 1 for each word; for a number zeros, because only equal numbers are similar."""
    known = _look_up_vectors(of)
    return np.array([known[word].vector for word in of], dtype=np.float32).reshape(len(of), VECTOR_LIMITS.width)


def is_light_word(word: str) -> bool:
    return _look_up_vectors((word,))[word].length < LIKENESS.light_length


def _look_up_vectors(of: tuple[str, ...]) -> dict[str, KnownWord]:
    found = {word: known for word in of if (known := _known.get(word))}
    missing = [word for word in dict.fromkeys(of) if word not in found]
    if not missing:
        return found
    pieces = _count_wordpieces(missing)
    # A rare form has the vector of a common one of the same word: "headquartered" that of "headquarters".
    common = [
        next(iter(word_forms(word)[1:]), word) if many > 1 else word for word, many in zip(missing, pieces, strict=True)
    ]
    made = np.asarray(
        load_wordllama().embed([word[: VECTOR_LIMITS.word_characters] for word in common]), dtype=np.float32
    )
    lengths = np.linalg.norm(made, axis=1, keepdims=True)
    made /= np.where(lengths > 0, lengths, 1)
    for word, vector, length, many in zip(missing, made, lengths[:, 0], pieces, strict=True):
        # A rare word is the mean of its pieces, which is short whatever it says.
        found[word] = KnownWord(
            vector if not word.isdigit() else np.zeros(VECTOR_LIMITS.width, dtype=np.float32),
            float(length) if many == 1 else LIKENESS.light_length,
        )
    if len(_known) + len(missing) > VECTOR_LIMITS.kept_words:
        _known.clear()
    _known.update((word, found[word]) for word in missing)
    return found


def combine_phrase_similarity(
    phrases: tuple[tuple[str, ...], ...], asked: tuple[str, ...], alike: Similarity
) -> Similarity:
    """Return the similarity, raised for words that are a little similar to each word of a phrase.

    "headquarters" is similar to "head office" as a whole, but little to either of its words."""
    for phrase in phrases:
        rows = [asked.index(word) for word in phrase]
        if len(rows) > 1 and alike.size:
            mean = word_vectors(phrase).mean(axis=0)
            together = alike[rows].sum(axis=0) / len(rows) / max(1e-6, float(np.linalg.norm(mean)))
            # A word of the phrase itself says that word, and nothing about the others. Below 0.12 a word is unrelated.
            fits = (alike[rows].min(axis=0) >= 0.12) & (alike[rows].max(axis=0) <= LIKENESS.most_of_others)
            alike[rows] = np.where(
                fits, np.maximum(alike[rows], np.minimum(together, LIKENESS.most_of_others)), alike[rows]
            )
    return np.clip(alike, 0.0, 1.0)


# ── what a field asks for ────────────────────────────────────────────────────────────────────────────────────────────

# The form of an answer.
AnswerKind: TypeAlias = Literal[
    "year", "date", "money", "measure", "count", "number", "yesno", "option", "person", "city", "state", "country",
    "nationality", "place", "organisation", "name", "title", "code", "url", "text",
]  # fmt: skip


class FieldQuery(Struct, frozen=True):
    field: Field
    kind: AnswerKind
    phrases: tuple[tuple[str, ...], ...]
    """Significant words of the name, of the question and of the description; the name's come first."""
    kind_words: frozenset[str]
    """Words that only name the kind of the answer: an answer of that kind needs no such word next to it."""
    essential: frozenset[str]
    """Words so specific that a passage without one of them speaks of something else."""
    synonyms: Mapping[str, tuple[str, ...]] = {}
    """For each word, those of the other phrases that mean the same: "birthday" for "born"."""
    row_words: frozenset[str] = frozenset()
    """Words before the row's name in the question that say what it is: "album" of "the album {Title}"."""
    unit: str = ""
    """The field's unit, or one that its name gives: "Capacity (MW)"."""
    number_only: bool = False
    """The answer is the number alone, because the field's name says the unit."""
    options: tuple[str, ...] = ()
    which: tuple[str, ...] = ()
    """The noun that the question asks for: "river" of "Which river does it lie on?"."""

    @property
    def optional_words(self) -> frozenset[str]:
        """Return the words that a passage need not contain: those for the kind of answer and for the kind of row."""
        return self.kind_words | self.row_words

    @property
    def words(self) -> tuple[str, ...]:
        """Return all significant words, each once."""
        return _unique_words(self.phrases)


@lru_cache(maxsize=512)
def _unique_words(phrases: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for phrase in phrases for word in phrase))


@lru_cache(maxsize=512)
def build_field_query(field: Field) -> FieldQuery:
    asked = PLACEHOLDER.sub(" ", field.question)
    in_name = "" if _has_plural_suffix(field) else find_label_unit(field.name)
    name = content_words(field.name.replace(in_name, " ") if in_name else field.name) or tuple(folded_words(field.name))
    # A description that begins like this lists other names of the field.
    described = field.description.removeprefix("Also called: ")
    others = described.rstrip(".").split(",") if described != field.description else [described]
    phrases = (name, content_words(asked), *map(content_words, others))
    synonyms = _find_synonyms(phrases)
    kind, said = _infer_kind(field, asked, name)
    if in_name and kind in ("count", "number", "text", "name"):
        kind = "measure" if parse_unit(in_name) else "money"
    return FieldQuery(
        field=field,
        kind=kind,
        phrases=(phrases[0], *(phrase for phrase in phrases[1:] if phrase)),
        kind_words=frozenset(said),
        # A light word is essential only if another phrase has a more specific word for the same.
        essential=frozenset(
            word
            for phrase in phrases
            for word in phrase
            if not all(map(is_light_word, (word, *synonyms.get(word, ()))))
        ),
        synonyms=synonyms,
        row_words=frozenset(_words_before_placeholder(field.question)),
        unit=field.unit or in_name,
        number_only=not field.unit and bool(in_name) and field.type in ("text", "number"),
        options=field.options if field.type == "select" else (),
        which=tuple(folded_words(which[1])[-1:]) if (which := _WHICH.search(asked)) else (),
    )


def _has_plural_suffix(field: Field) -> bool:
    """Return True if the "(s)" of a name is its plural, and no second: "Author(s)", but not "Duration (s)"."""
    name = field.name.strip().lower()
    if not name.endswith("(s)") or field.type == "number":
        return False
    return (
        float(word_similarity(content_words(name[:-3]), ("time", "duration", "seconds")).max(initial=0.0))
        < LIKENESS.related
    )


def _find_synonyms(phrases: Sequence[tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    found = {}
    for phrase in phrases:
        others = tuple(dict.fromkeys(word for other in phrases for word in other if word not in phrase))
        for word in phrase if others else ():
            alike = word_similarity((word,), others)[0].tolist()
            found[word] = tuple(
                other for other, like in zip(others, alike, strict=True) if LIKENESS.related <= like < 1
            )
    return found


# Up to four words right before a placeholder; the limits keep it linear.
_BEFORE = re.compile(r"((?:[\w'’-]{1,40}\s{1,9}){0,4})$")


def _words_before_placeholder(question: str) -> Iterator[str]:
    """Yield the significant words right before each placeholder, back to the first small word."""
    for place in PLACEHOLDER.finditer(question):
        before = _BEFORE.search(question, 0, place.start())
        yield from takewhile(content_words, reversed(folded_words(before[1] if before else "")))


# ── the kind ─────────────────────────────────────────────────────────────────────────────────────────────────────────

# The kind of a typed field; name and question can only narrow "number" and "date".
_OF_TYPE: dict[str, AnswerKind] = {
    "money": "money",
    "date": "date",
    "url": "url",
    "boolean": "yesno",
    "select": "option",
    "number": "number",
}
_BY_QUESTION: tuple[tuple[str, AnswerKind], ...] = (
    (r"\bwho(?:m|se)?\b", "person"),
    (r"\bwhen\b", "date"),
    (r"\bwhere\b", "place"),
    (r"\bhow many\b", "count"),
    (r"\bhow much\b", "number"),
    (r"\bhow (?:long|far|old|tall|high|large|big|fast|deep|wide|heavy)\b", "measure"),
)
# Common names of kinds. A word similar to one of these asks for that kind.
_KIND_NAMES: dict[str, AnswerKind] = {
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
_WHICH = re.compile(
    r"\b(?:what|which)\s+((?:[\w'’-]+\s+){0,3}?[\w'’-]+?)\s*(?=\b(?:is|are|was|were|do|does|did|has|have|had|can|of|in|on)\b|\?|$)",
    re.IGNORECASE,
)
# Kinds that a typed field can hold, whatever its question says.
_FITS: dict[str, frozenset[AnswerKind]] = {
    "number": frozenset({"year", "money", "measure", "count", "number"}),
    "date": frozenset({"date", "year"}),
}


def _infer_kind(field: Field, asked: str, name: tuple[str, ...]) -> tuple[AnswerKind, set[str]]:
    """Return the kind of answer, and the words that name this kind and nothing more."""
    given = _OF_TYPE.get(field.type)
    if given is not None and field.type not in _FITS:
        return given, {word for word in name if _kind_of_word(word) == given}
    said: list[tuple[AnswerKind, str]] = []
    if (which := _WHICH.search(asked)) and (head := folded_words(which[1])[-1:]) and (kind := _kind_of_word(head[0])):
        said.append((kind, head[0]))
    said += [(kind, "") for pattern, kind in _BY_QUESTION if re.search(pattern, asked, re.IGNORECASE)]
    said += [(kind, word) for word in (*name[-1:], *name[:-1]) if (kind := _kind_of_word(word))]
    # A date that must be a number is a year.
    if field.type == "number":
        said = [("year" if kind == "date" else kind, word) for kind, word in said]
    fits = _FITS.get(field.type)
    fitting = [(kind, word) for kind, word in said if fits is None or kind in fits]
    if not fitting:
        kind = given or "text"
        if kind == "number" and field.unit:
            kind = "measure"
        return kind, set()
    kind = fitting[0][0]
    # "how much" may ask for money, or for anything else that is counted or measured.
    if kind == "number":
        closer: list[AnswerKind] = [other for other, _ in fitting if other in ("money", "count")]
        kind = closer[0] if closer else kind
    if kind in ("count", "number") and field.unit:
        kind = "measure"
    if field.type == "date":
        kind = "date"
    elif kind == "date" and "year" in folded_words(asked):
        kind = "year"
    families: tuple[set[AnswerKind], ...] = ({"year", "date"}, {"count", "number", "measure"})
    kindred = {kind}.union(*(family for family in families if kind in family))
    return kind, {word for other, word in said if word in _KIND_NAMES and other in kindred}


@lru_cache(maxsize=4096)
def _kind_of_word(word: str) -> AnswerKind | None:
    names = tuple(_KIND_NAMES)
    alike = (word_vectors((word,)) @ word_vectors(names).T)[0]
    best = int(alike.argmax())
    # Stricter than `LIKENESS.related`: "height" is related to "size", but does not mean it.
    return _KIND_NAMES[names[best]] if alike[best] >= 0.5 else None
