"""A typed question as a form, without a model: only where every word of it is known.

The names of kinds and columns are those of the documents themselves; beside them a question may have an aggregate, a
comparison with a number, date, amount or quoted words, and words that say nothing. Whatever else stands in it is not
understood, and then there is no form to look up. Nor is there one where the question does not name what it is about, or
a column of it has no part in the form.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypeVar

from tablewright.conditions.comparable import read_limit
from tablewright.domain.condition import Condition
from tablewright.domain.corpus import Aggregate
from tablewright.domain.form import TEXT, Form, KnownColumn, KnownGroup
from tablewright.domain.model import Field, Noun
from tablewright.values.vocabulary import stem, tokens

Words: TypeAlias = tuple[str, ...]
T = TypeVar("T")

_WORD = re.compile(r"\"[^\"]{1,200}\"|“[^“”]{1,200}”|[<>]=?|!?=|[^\s\"“”<>=!?]+")
_BRACKETS = re.compile(r"(?<!\s)\s*+\([^()]*\)")
LONGEST_VALUE = 4
"""Words of a number, amount or date: "3 May 2021", "1 000 EUR"."""
MARKS = ".,;:?!"
SILENT = frozenset(
    "a an the all every each any of in on with which what whose is are was were be there do does have has list show "
    "find give me us i we my our their please and".split()
)
DOCUMENTS = frozenset("document documents file files".split())
AGGREGATES: dict[Words, Aggregate] = {
    ("how", "many"): "count", ("number", "of"): "count", ("count",): "count",
    ("sum",): "sum", ("total", "of"): "sum", ("average",): "average", ("mean",): "average",
    ("largest",): "max", ("highest",): "max", ("maximum",): "max", ("latest",): "max",
    ("smallest",): "min", ("lowest",): "min", ("minimum",): "min", ("earliest",): "min",
}  # fmt: skip
OPERATORS: dict[Words, str] = {
    ("=",): "=", ("!=",): "!=", ("<",): "<", ("<=",): "<=", (">",): ">", (">=",): ">=", ("equal", "to"): "=",
    ("over",): ">", ("above",): ">", ("more", "than"): ">", ("greater", "than"): ">", ("at", "least"): ">=",
    ("under",): "<", ("below",): "<", ("less", "than"): "<", ("at", "most"): "<=",
    ("before",): "<", ("after",): ">", ("in",): "=", ("on",): "=", ("between",): "between",
    ("containing",): "contains", ("that", "contain"): "contains", ("that", "contains"): "contains",
    ("contain",): "contains", ("contains",): "contains",
}  # fmt: skip
GROUPS: dict[Words, bool] = {("by",): True, ("per",): True}


class Understood(Noun, frozen=True):
    """`form` is what was understood, which is only worth looking up where nothing is `left` and it says of which
    documents, or of which table."""

    form: Form
    left: Words = ()
    is_named: bool = True

    @property
    def is_whole(self) -> bool:
        return self.is_named and not self.left


def read_question(text: str, groups: Sequence[KnownGroup]) -> Understood:
    return Reader([found[0] for found in _WORD.finditer(text)], groups).read()


class Reader:
    def __init__(self, words: Sequence[str], groups: Sequence[KnownGroup]) -> None:
        stripped = [(word.strip(MARKS), word[-1] in MARKS) for word in words]
        self._words = [word for word, _ in stripped if word]
        self._ends = [ends for word, ends in stripped if word]
        self._plain = [stemmed(word) or word for word in self._words]
        self._small = [word.casefold() for word in self._words]
        self._kinds = {plain(group.name): group for group in groups if group.name not in DOCUMENTS}
        self._group = next((found for at in range(len(self._words)) if (found := self._kind_at(at)[0])), None)
        named = [self._group] if self._group else [group for group in groups if not group.is_table]
        columns = {plain(name): each for group in named for each in group.columns for name in written(each.name)}
        self._columns = {name: column for name, column in columns.items() if not SILENT.issuperset(name)}
        self._is_named = self._group is not None or not DOCUMENTS.isdisjoint(self._small)
        self._aggregate: Aggregate = ""
        self._aggregating: list[str] = []
        self._conditions: list[Condition] = []
        self._mentioned: list[KnownColumn] = []
        self._group_by = ""
        self._left: list[str] = []

    def read(self) -> Understood:
        at = 0
        while at < len(self._words):
            at += self._take(at)
        used = {self._group_by, *(each.column for each in self._conditions)}
        free = list(dict.fromkeys(each.name for each in self._mentioned if each.name not in used))
        of = free[0] if self._aggregate not in ("", "count") and len(free) == 1 else ""
        if self._aggregate and (free if self._aggregate == "count" else not of):
            self._left += [*self._aggregating, *free]
        return Understood(form=self._form(of), left=tuple(dict.fromkeys(self._left)), is_named=self._is_named)

    def _form(self, of: str) -> Form:
        group = self._group
        return Form(
            kind=group.name if group and not group.is_table else "",
            table=group.name if group and group.is_table else "",
            conditions=tuple(self._conditions),
            aggregate=self._aggregate,
            of=of,
            group_by=self._group_by,
            show=tuple(dict.fromkeys(each.name for each in self._mentioned)),
        )

    def _take(self, at: int) -> int:
        """How many words were read."""
        column, columns = longest(self._plain, at, self._columns)
        kind, kinds = self._kind_at(at)
        if count := self._aggregated(at, columns):
            return count
        if column is not None and columns > kinds:
            self._mentioned.append(column)
            return columns + self._compared(at + columns, column)
        if kind is not None:
            self._left += [] if kind is self._group else self._words[at : at + kinds]
            return kinds
        if count := self._grouped(at) or self._contained(at):
            return count
        if self._small[at] not in SILENT | DOCUMENTS:
            self._left.append(self._words[at])
        return 1

    def _kind_at(self, at: int) -> tuple[KnownGroup | None, int]:
        return longest(self._plain, at, self._kinds)

    def _aggregated(self, at: int, columns: int) -> int:
        """Unless a column is called so: "Number of seats"."""
        found, count = longest(self._small, at, AGGREGATES)
        if found is None or self._aggregate or columns >= count:
            return 0
        self._aggregate, self._aggregating = found, self._words[at : at + count]
        return count

    def _grouped(self, at: int) -> int:
        by, count = longest(self._small, at, GROUPS)
        column, columns = longest(self._plain, at + count, self._columns)
        if by is None or column is None or not self._aggregate or self._group_by:
            return 0
        self._group_by = column.name
        return count + columns

    def _contained(self, at: int) -> int:
        """ "that contain tires": somewhere in the text."""
        operator, count = longest(self._small, at, OPERATORS)
        if operator != "contains" or at + count >= len(self._words):
            return 0
        self._conditions.append(Condition(column=TEXT, operator=operator, values=(unquoted(self._words[at + count]),)))
        return count + 1

    def _compared(self, at: int, column: KnownColumn) -> int:
        """A comparison right behind the column, "is" or the like before it aside."""
        start = at
        while at < len(self._words) and self._small[at] in ("is", "are", "was", "of"):
            at += 1
        operator, count = longest(self._small, at, OPERATORS)
        if operator is None:
            return 0
        at += count
        values = []
        for _ in range(2 if operator == "between" else 1):
            value, words = self._value_at(at, column, operator)
            if not words:
                return 0
            values.append(value)
            at += words
            at += operator == "between" and len(values) == 1 and at < len(self._words) and self._small[at] == "and"
        self._conditions.append(Condition(column=column.name, operator=operator, values=tuple(values)))
        return at - start

    def _value_at(self, at: int, column: KnownColumn, operator: str) -> tuple[str, int]:
        """Quoted words, or the longest run of words that is a number, an amount or a date."""
        if at < len(self._words) and self._words[at][0] in '"“':
            return unquoted(self._words[at]), 1
        if operator == "contains":
            return (self._words[at], 1) if at < len(self._words) else ("", 0)
        end = next((place + 1 for place in range(at, len(self._words)) if self._ends[place]), len(self._words))
        for count in range(min(LONGEST_VALUE, end - at), 0, -1):
            value = " ".join(self._words[at : at + count])
            read = read_limit(value, Field(name=column.name, type=column.type))
            is_amount = read.si is not None or bool(read.currency) or (read.number is not None and count == 1)
            if read.date if column.type == "date" else is_amount:
                return value, count
        return "", 0


def written(name: str) -> tuple[str, str]:
    """ "Lead" for "Lead (µg/l)" too."""
    return _BRACKETS.sub("", name), name


def plain(name: str) -> Words:
    return tuple(filter(None, map(stemmed, name.split())))


def stemmed(word: str) -> str:
    return " ".join(map(stem, tokens(word)))


def unquoted(text: str) -> str:
    return text.strip('"“”')


def longest(words: Sequence[str], at: int, known: Mapping[Words, T]) -> tuple[T | None, int]:
    """What the most words from here on are the name of, and how many they are."""
    found = [name for name in known if name and tuple(words[at : at + len(name)]) == name]
    best = max(found, key=len, default=())
    return (known[best], len(best)) if best else (None, 0)
