"""A question without a model: a command to the kept result, a form where every word of it was understood, or else the
passages that share most with it, called what they are."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, TypeVar

from tablewright.citations.quotes import is_near_injection
from tablewright.conditions.comparable import read_limit
from tablewright.conditions.evaluate import Spellings
from tablewright.corpus.search import CorpusHit
from tablewright.decisions.plan_question import QuestionPlan, texts_for
from tablewright.domain.condition import Condition
from tablewright.domain.corpus import Aggregate
from tablewright.domain.form import TEXT, Form, KnownColumn, KnownGroup
from tablewright.domain.model import Field, Noun
from tablewright.domain.reply import Reply, ToolUse
from tablewright.domain.text import normalize_whitespace
from tablewright.errors import UsageError
from tablewright.journeys.ask.answering import Sources
from tablewright.journeys.ask.members import Inventory, QueryScope
from tablewright.journeys.ask.tables import reply_of
from tablewright.journeys.ask.turn import QuestionTurn, go_on
from tablewright.journeys.ask.where import known_groups, looked_up
from tablewright.values.vocabulary import stem, tokens

PASSAGES = 8
DEEP = 200
REST = frozenset({"rest", "show the rest"})
_EXPORT = re.compile(r"export(?: it| that table)?(?: to (?P<path>\S.*))?", re.IGNORECASE)


async def answer_without_model(asking: QuestionTurn, things: Inventory) -> Reply:
    said = normalize_whitespace(asking.text)
    if said.casefold() in REST:
        asking.plan = texts_for(said).model_copy(update={"action": "rest"})
        return await go_on(asking)
    if export := _EXPORT.fullmatch(said):
        path = (export["path"] or "").strip("\"'“” ")
        asking.plan = texts_for(said).model_copy(update={"action": "export", "path": path})
        return await go_on(asking)
    understood = read_question(said, await known_groups(asking.context.store, things))
    if not understood.is_whole:
        return await passages(asking, understood)
    try:
        looked = await looked_up(asking.context.store, asking.context.corpus, understood.form, things)
    except UsageError:  # such as a comparison that the values of the column do not take
        return await passages(asking, understood)
    return await from_form(asking, things, understood.form, looked)


async def from_form(
    asking: QuestionTurn, things: Inventory, form: Form, looked: tuple[QuestionPlan, QueryScope]
) -> Reply:
    """Every condition is applied by code to what is known."""
    asking.form = form
    asking.plan, scope = looked
    asking.context = replace(asking.context, model=None)
    reply = await reply_of(asking, things, scope, Spellings())
    assert reply is not None
    return reply


async def passages(asking: QuestionTurn, understood: Understood) -> Reply:
    """The best that have a word of the question: what is merely nearest in meaning may be anything."""
    search = asking.context.corpus.search
    worded = {hit.id for hit in (await search.search_text(asking.text, DEEP)).hits}
    found = (await search.hybrid(asking.text, PASSAGES)).hits
    hits = [hit for hit in found if hit.id in worded and not is_near_injection(hit.text, 0, len(hit.text))]
    asking.tried.append(
        ToolUse(
            tool="search_text + search_vector(segment)",
            asked=asking.text,
            matches=len(hits),
            threshold=f"top {PASSAGES}",
        )
    )
    asking.segments += [hit.id for hit in hits]
    sources = Sources(corpus=asking.context.corpus)
    for hit in hits:
        await sources.cite(hit.document.id, [(hit.start, hit.end)], in_lines=False)
    return await asking.remember(
        Reply(
            question=asking.text,
            answer=headline(hits, understood),
            citations=tuple(sources.citations),
            completeness="incomplete",
            reason="without a model the question is searched for, not answered",
            route="passages",
            form=understood.form if understood.form != Form() else None,
            not_understood=understood.left,
        )
    )


def headline(hits: Sequence[CorpusHit], understood: Understood) -> str:
    words = ", ".join(f"“{word}”" for word in understood.left)
    unread = f" Not understood: {words}." if words else " It names no kind of document, and no table, that is known."
    unread = unread if understood.form != Form() else ""
    count = len(hits)
    matches = "passage matches" if count == 1 else "passages match"
    found = f"{count} {matches} the question's words." if hits else "No passage matches the question's words."
    return f"Without a model this cannot be answered.{unread} {found}"


# ── a question as a form ──────────────────────────────────────────────────────────────────────────────────────────────


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
        """Return how many words were read."""
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
    """Return the longest known name that begins here, and how many words it has."""
    found = [name for name in known if name and tuple(words[at : at + len(name)]) == name]
    best = max(found, key=len, default=())
    return (known[best], len(best)) if best else (None, 0)
