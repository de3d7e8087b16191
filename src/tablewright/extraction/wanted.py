"""What a field asks for: the kind of answer, and the words that say what it is."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import takewhile
from typing import Literal, TypeAlias

from tablewright.domain.model import Field, Noun
from tablewright.domain.template import PLACEHOLDER
from tablewright.extraction.meaning import RELATED, content, is_light, likeness, vectors, words
from tablewright.values.typed import unit_in
from tablewright.values.units import parse_unit

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
    """Whether the "(s)" of a name is its plural, and no second: "Author(s)", but not "Duration (s)"."""
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
