"""What people compare when they buy things of a kind, and what they call it.

The knowledge itself is `categories.toml`. A category that is not there has the general fields; what else its makers
state is learnt from their pages.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Literal, TypeAlias

import msgspec
from msgspec import structs
from rapidfuzz import fuzz

from tablewright.decisions.column_names import known_columns
from tablewright.extraction.wanted import ALSO_CALLED
from tablewright.table.model import Field, FieldType, Noun, Role
from tablewright.text.words import normal, stems

Better: TypeAlias = Literal["more", "less", "yes", ""]

THE_VERY_WORDS = 2.0
LEAST_ALIKE = 88
SHORTEST_FUZZY = 5


class KnownField(Noun, frozen=True):
    """`words` are what people call it, `options` values that it takes; `better` says which end a buyer prefers. What
    is not `usual` is proposed only to those who ask for it."""

    name: str
    field_type: FieldType = "text"
    unit: str = ""
    question: str = ""
    words: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    better: Better = ""
    usual: bool = True
    seen_in: str = ""
    """Another field that shows it, where makers do not state it: whether the temperature is variable."""

    def as_field(self, role: Role) -> Field:
        """Its description has the other words for it: makers use them as labels. Where its own name tells a reader
        nothing, none of them may be the name of something else: a "finish" is the end of a building."""
        return Field(
            name=self.name,
            type=self.field_type,
            unit=self.unit,
            question=self.question,
            description=f"{ALSO_CALLED}{', '.join(also)}." if (also := _unmistakable(self)) else "",
            role=role,
        )


def _unmistakable(field: KnownField) -> tuple[str, ...]:
    others = known_columns()
    if normal(field.name) in others:
        return field.words
    return tuple(word for word in field.words if not any(f" {name} " in f" {normal(word)} " for name in others))


class Category(Noun, frozen=True):
    names: tuple[str, ...]
    fields: tuple[KnownField, ...]


# ── asking ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def fields_for(product_type: str) -> tuple[KnownField, ...]:
    """Those of its category first, the usual ones before the others; then the general ones."""
    return _fields_of(category_of(product_type))


def category_of(product_type: str) -> Category | None:
    """ "Gooseneck kettles for pour-over coffee" are kettles; a bike light is no bike, and a car seat no car."""
    head = head_noun(product_type)
    if " ".join(head[-2:]) in _OTHER_THINGS:
        return None
    ends = [(len(name), each) for each in _known()[1] for name in map(stems, each.names) if _ends_with(head, name)]
    return max(ends, key=lambda end: end[0])[1] if ends else None


def field_named(words: str, product_type: str) -> KnownField | None:
    """The field that somebody means: "tank size" of a coffee machine, "energy use", "how big". Of things without a
    category also any category's field that has exactly this name."""
    said = stems(words)
    likest = [(_likeness(said, _telling(said, product_type), field), field) for field in fields_for(product_type)]
    best, field = max(likest, key=lambda each: each[0])
    if best < THE_VERY_WORDS and category_of(product_type) is None:
        elsewhere = (each for category in _known()[1] for each in category.fields)
        return next((each for each in elsewhere if stems(each.name) == said), field if best else None)
    return field if best else None


def fields_behind(quality: str, product_type: str) -> tuple[KnownField, ...]:
    """What can be verified of a quality: of "build quality" the material and the warranty; () where it is none."""
    said = stems(quality)
    names = next(
        (fields for names, fields in _known()[2] if any(_within(name, said) for name in map(stems, names))), ()
    )
    known = {field.name: field for field in fields_for(product_type)}
    found = [known[name] for name in names if name in known]
    category = category_of(product_type)
    own = {field.name for field in category.fields} if category else set()
    return tuple([field for field in found if field.name in own][:2] or found[:2])


def field_with_value(words: str, product_type: str) -> KnownField | None:
    """The field of which a requirement names a value: "brushed stainless steel" is a material, "diesel" a fuel."""
    said = stems(words)
    fits = [
        (len(value), -place, field)
        for place, field in enumerate(fields_for(product_type))
        for value in map(stems, field.options)
        if _within(value, said)
    ]
    return max(fits, key=lambda fit: fit[:2])[2] if fits else None


def places_in(words: Sequence[str], field: KnownField) -> tuple[int, int] | None:
    """Where in a message (as stems) the field is named by its longest name: the first word and the one behind."""
    best: tuple[int, int] | None = None
    for name in _names(field):
        width = len(name)
        for start in range(len(words) - width + 1):
            if tuple(words[start : start + width]) == name and (best is None or width > best[1] - best[0]):
                best = (start, start + width)
    return best


def is_named_by(label: str, field: KnownField) -> bool:
    """Whether a label of a page ("Contenance / capacity", "Net weight") is this field's."""
    return any(part in _names(field) for part in label_parts(label))


def label_parts(label: str) -> list[tuple[str, ...]]:
    """A label as stems, whole and in its parts: makers write "Gewicht (weight)"."""
    parts = label.replace("(", "/").replace(")", "").split("/")
    return [said for said in map(stems, (label, *parts)) if said]


def head_noun(product_type: str) -> tuple[str, ...]:
    """The words of a product type up to its noun: of "a quiet kettle for one cup" "quiet kettle"."""
    words = stems(product_type)
    end = next((place for place, word in enumerate(words) if place and word in _AFTER_NOUN), len(words))
    return words[:end]


_AFTER_NOUN = frozenset("for with without under below that which in from to of at by between up over and or".split())
_OTHER_THINGS = frozenset(
    ("baby monitor", "rate monitor", "pressure monitor", "toy car", "model car", "control car", "exercise bike")
)


# ── matching ─────────────────────────────────────────────────────────────────────────────────────────────────────────

_SMALL = frozenset(
    """a an the its their of for to in on is are do does it they them these those this that with and what s each every
    all me please one level total net gross maximum max rated overall official manufacturer product item exact actual
    current figure value information info detail long good great decent high low big large small""".split()
)


def _telling(said: tuple[str, ...], product_type: str) -> tuple[str, ...]:
    """Without the words that any field may have beside it, and without the thing itself: "the kettle's weight"."""
    things = frozenset(head_noun(product_type)[-1:])
    return tuple(word for word in said if word not in _SMALL and word not in things) or said


def _likeness(said: tuple[str, ...], told: tuple[str, ...], field: KnownField) -> float:
    """0 where the field is not meant. A single word within others says little: a blade's width is no width."""
    best = 0.0
    for place, name in enumerate(_names(field)):
        own = 0.01 if place == 0 else 0.0
        if name in (said, told):
            return THE_VERY_WORDS + own
        if len(name) > 1 and sorted(name) == sorted(told):
            best = max(best, 1.9)
        elif len(name) > 1 and (_within(name, said) or _within(name, told)):
            best = max(best, 1 + len(name) / len(said) * 0.5 + own)
        elif place == 0 and len(told) == 1 and len(told[0]) > 3 and told[0] == name[-1]:
            best = max(best, 0.6)
        elif min(len("".join(name)), len("".join(told))) >= SHORTEST_FUZZY:
            alike = fuzz.ratio(" ".join(name), " ".join(told))
            best = max(best, alike / 200 if alike >= LEAST_ALIKE else 0.0)
    return best


@lru_cache(maxsize=2048)
def _names(field: KnownField) -> tuple[tuple[str, ...], ...]:
    return tuple(dict.fromkeys(stems(name) for name in (field.name, *field.words)))


def _within(part: tuple[str, ...], whole: tuple[str, ...]) -> bool:
    width = len(part)
    return bool(part) and any(whole[place : place + width] == part for place in range(len(whole) - width + 1))


def _ends_with(head: tuple[str, ...], name: tuple[str, ...]) -> bool:
    return bool(name) and head[-len(name) :] == name


# ── the knowledge ────────────────────────────────────────────────────────────────────────────────────────────────────


class _Row(msgspec.Struct, frozen=True):
    name: str
    field_type: FieldType | None = None
    unit: str = ""
    question: str = ""
    words: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    better: Better = ""
    unusual: bool = False
    seen_in: str = ""


class _CategoryRow(msgspec.Struct, frozen=True):
    names: tuple[str, ...]
    fields: tuple[_Row, ...]
    also: tuple[str, ...] = ()


class _QualityRow(msgspec.Struct, frozen=True):
    names: tuple[str, ...]
    fields: tuple[str, ...]


class _File(msgspec.Struct, frozen=True):
    general: tuple[_Row, ...]
    quality: tuple[_QualityRow, ...]
    category: tuple[_CategoryRow, ...]


_Qualities: TypeAlias = tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]


@cache
def _known() -> tuple[tuple[KnownField, ...], tuple[Category, ...], _Qualities]:
    text = (files("tablewright.decisions.shopping") / "categories.toml").read_text("utf-8")
    stored = msgspec.convert(tomllib.loads(text), _File)
    general = tuple(structs.replace(_field(row), usual=False) for row in stored.general)
    named = {field.name: structs.replace(field, usual=True) for field in general}
    categories = tuple(
        Category(names=row.names, fields=(*map(_field, row.fields), *(named[name] for name in row.also)))
        for row in stored.category
    )
    return general, categories, tuple((row.names, row.fields) for row in stored.quality)


@cache
def _fields_of(category: Category | None) -> tuple[KnownField, ...]:
    """A kettle's power is what people call its energy use: then it has the words of the general field too."""
    own = sorted(category.fields, key=lambda field: not field.usual) if category else []
    others = []
    for general in _known()[0]:
        place = next((place for place, field in enumerate(own) if stems(general.name) in _names(field)), None)
        if place is None:
            others.append(general)
        elif own[place].name != general.name:
            taken = {name for field in own for name in _names(field)}
            words = tuple(word for word in general.words if stems(word) not in taken)
            options = own[place].options or general.options
            own[place] = structs.replace(own[place], words=own[place].words + words, options=options)
    return (*own, *others)


def _field(row: _Row) -> KnownField:
    found: FieldType = "number" if row.unit else "boolean" if row.better == "yes" else "text"
    return KnownField(
        name=row.name,
        field_type=row.field_type or found,
        unit=row.unit,
        question=row.question or usual_question(row.name),
        words=row.words,
        options=row.options,
        better=row.better,
        usual=not row.unusual,
        seen_in=row.seen_in,
    )


def usual_question(name: str) -> str:
    small = name if name[1:2].isupper() or name[1:2].isdigit() else name[:1].lower() + name[1:]
    many = name.endswith("s") and not name.endswith("ss")
    return f"What {'are' if many else 'is'} the {small} of {{Product}}?"
