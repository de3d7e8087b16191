"""Answer a question without a model: a command about the kept result, a form if every word is understood, or else the
best matching passages, labelled as passages. Reads only; the turn is stored by `QuestionTurn`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, TypeVar

from tablewright.citations.quotes import is_near_injection
from tablewright.conditions.compare import has_only_text, read_limit
from tablewright.conditions.evaluate import NameSpellings
from tablewright.documents.search import CorpusHit
from tablewright.domain.condition import Condition, describe_condition
from tablewright.domain.documents import Aggregate
from tablewright.domain.model import Field, Struct
from tablewright.domain.reply import TEXT_COLUMN, TITLE_COLUMN, Form, KnownColumn, KnownGroup, Reply, ToolUse
from tablewright.domain.text import normalize_whitespace
from tablewright.errors import UsageError
from tablewright.llm.tasks.plan_question import KIND_COLUMN, QuestionPlan, text_search_plan
from tablewright.store.conversations import ResultRow
from tablewright.values.vocabulary import split_tokens, stem_word
from tablewright.workflows.ask.answering import CitationList, weigh_question_words
from tablewright.workflows.ask.query_rows import Inventory, QueryRow, QueryScope
from tablewright.workflows.ask.tables import reply_from_cells
from tablewright.workflows.ask.turn import QuestionTurn, show_more_results
from tablewright.workflows.ask.where import list_known_groups, load_form_rows, resolve_form


async def answer_without_model(asking: QuestionTurn, things: Inventory) -> Reply:
    said = normalize_whitespace(asking.text)
    if said.casefold() in ("rest", "show the rest"):
        asking.plan = text_search_plan(said).model_copy(update={"action": "rest"})
        return await show_more_results(asking)
    # A command is known by its exact words; everything else is read as a question.
    if export := re.fullmatch(r"export(?: it| that table)?(?: to (?P<path>\S.*))?", said, re.IGNORECASE):
        path = (export["path"] or "").strip("\"'“” ")
        asking.plan = text_search_plan(said).model_copy(update={"action": "export", "path": path})
        return await show_more_results(asking)
    groups = await list_known_groups(asking.context.store, things)
    understood = parse_question(said, groups)
    if understood.left and (understood.form.kind or understood.form.table):
        members, _ = await load_form_rows(asking.context.store, understood.form, things)
        understood = parse_question(said, groups, collect_named_values(said, members))
    if not understood.is_whole:
        return await reply_with_passages(asking, understood)
    try:
        looked = await resolve_form(asking.context.store, asking.context.corpus, understood.form, things)
    except UsageError:  # such as a comparison that the values of the column do not take
        return await reply_with_passages(asking, understood)
    asking.assumed = "; ".join(
        asking.translate(
            "“{value}” was taken for {condition}", value=each.values[0], condition=describe_condition(each)
        )
        for each in understood.taken
    )
    return await answer_by_form(asking, things, understood.form, looked)


async def answer_by_form(
    asking: QuestionTurn, things: Inventory, form: Form, looked: tuple[QuestionPlan, QueryScope]
) -> Reply:
    """Answer a form by code from the known values."""
    asking.form = form
    asking.plan, scope = looked
    asking.context = replace(asking.context, model=None)
    reply = await reply_from_cells(asking, things, scope, NameSpellings())
    assert reply is not None
    return reply


async def reply_with_passages(asking: QuestionTurn, understood: ParsedQuestion) -> Reply:
    """Reply with the best passages that share a word with the question; similarity alone proves nothing."""
    search = asking.context.corpus.search
    # Depth of the word search that the passages must be in.
    worded = {hit.id for hit in (await search.search_text(asking.text, 200)).hits}
    # Both searches must agree: similarity finds something for every question.
    most = asking.context.shown_passages
    found = (await search.hybrid(asking.text, 5 * most)).hits
    every = [hit for hit in found if hit.id in worded and not is_near_injection(hit.text, 0, len(hit.text))]
    hits = [hit for hit in every if hit in found[:most]]
    rest = [hit for hit in every if hit not in hits]
    # Kept for "show the rest" and for export, like the rows of a list.
    kept = [
        ResultRow(
            document_id=hit.document.id,
            page=hit.page,
            values=(hit.document.full_title, hit.text),
            start=hit.start,
            end=hit.end,
        )
        for hit in (*hits, *rest)
    ]
    result_id = await asking.context.store.results.keep(asking.text, ("document", "passage"), kept) if hits else ""
    asking.tried.append(
        ToolUse(
            tool="search_text + search_vector(segment)",
            asked=asking.text,
            matches=len(hits),
            threshold=f"top {most}",
        )
    )
    asking.segments += [hit.id for hit in hits]
    sources = CitationList(corpus=asking.context.corpus)
    wanted = weigh_question_words(asking.text, [hit.text for hit in hits])
    for hit in hits:
        await sources.cite(hit.document.id, [(hit.start, hit.end)], in_lines=False, wanted=wanted)
    return await asking.remember(
        Reply(
            question=asking.text,
            answer=describe_passages(hits, understood),
            citations=tuple(sources.citations),
            completeness="incomplete",
            reason="without a model the question is searched for, not answered",
            route="passages",
            form=understood.form if understood.form != Form() else None,
            not_understood=understood.left,
            result_id=result_id,
            more=len(rest) if hits else 0,
        ),
        shown=len(hits),
    )


def describe_passages(hits: Sequence[CorpusHit], understood: ParsedQuestion) -> str:
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

# Words that change nothing in a lookup. Any other word that is not understood stops it: half a question has another
# answer.
SILENT = frozenset(
    "a an the all every each any of in on with which what whose is are was were be there do does have has list show "
    "find give me us i we my our their please and".split()
)
DOCUMENTS = frozenset("document documents file files".split())
# Single words and fixed phrases only. Anything freer is a judgement about language, which takes a model.
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


class ParsedQuestion(Struct, frozen=True):
    """A question as a form. It is only looked up if no word is `left` and it names documents or a table."""

    form: Form
    left: Words = ()
    is_named: bool = True
    taken: tuple[Condition, ...] = ()
    """Conditions made of a value alone, whose column the question does not name."""

    @property
    def is_whole(self) -> bool:
        return self.is_named and not self.left


def collect_named_values(question: str, members: Sequence[QueryRow]) -> dict[Words, Condition]:
    """Return the texts that the question may name, by their stems, each as the condition of the one column that states
    it. What several columns state, such as a seller who is also a buyer, is ambiguous and left out."""
    asked = set(stem_name(question))
    found: dict[Words, dict[str, Condition]] = {}
    facts = ((key, stated) for member in members for key, of in member.values.items() for stated in of)
    for key, stated in facts:
        if key in (TITLE_COLUMN, TEXT_COLUMN, KIND_COLUMN) or not has_only_text(stated.value):
            continue
        words = stem_name(stated.value.raw)
        # Words that every question has are no values, and longer ones are sentences.
        if words and len(words) <= 6 and asked.issuperset(words) and not SILENT.issuperset(words):
            named = Condition(column=stated.asked, operator="=", values=(stated.value.raw,))
            found.setdefault(words, {}).setdefault(key, named)
    return {words: next(iter(of.values())) for words, of in found.items() if len(of) == 1}


def parse_question(
    text: str, groups: Sequence[KnownGroup], values: Mapping[Words, Condition] | None = None
) -> ParsedQuestion:
    # Quoted words stay together, and operators separate words even without spaces. The bounds keep an unclosed quote
    # short.
    words = re.findall(r"\"[^\"]{1,200}\"|“[^“”]{1,200}”|[<>]=?|!?=|[^\s\"“”<>=!?]+", text)
    return QuestionParser(words, groups, values or {}).read()


class QuestionParser:
    """Reads a question word by word against the known kinds, tables and columns."""

    def __init__(self, words: Sequence[str], groups: Sequence[KnownGroup], values: Mapping[Words, Condition]) -> None:
        self._values = values
        # Marks at the end of a word end a value too: in "in 2021, by supplier" the comma is no part of the year.
        stripped = [(word.strip(".,;:?!"), word[-1] in ".,;:?!") for word in words]
        self._words = [word for word, _ in stripped if word]
        self._ends = [ends for word, ends in stripped if word]
        self._plain = [stem_phrase(word) or word for word in self._words]
        self._small = [word.casefold() for word in self._words]
        self._kinds = {stem_name(group.name): group for group in groups if group.name not in DOCUMENTS}
        self._group = next((found for at in range(len(self._words)) if (found := self._kind_at(at)[0])), None)
        named = [self._group] if self._group else [group for group in groups if not group.is_table]
        columns = {
            stem_name(name): each for group in named for each in group.columns for name in spell_variants(each.name)
        }
        # A column called "In" or "List" would swallow words that every question has.
        self._columns = {name: column for name, column in columns.items() if not SILENT.issuperset(name)}
        self._is_named = self._group is not None or not DOCUMENTS.isdisjoint(self._small)
        self._aggregate: Aggregate = ""
        self._aggregating: list[str] = []
        self._conditions: list[Condition] = []
        self._taken: list[Condition] = []
        self._mentioned: list[KnownColumn] = []
        self._group_by = ""
        self._left: list[str] = []

    def read(self) -> ParsedQuestion:
        at = 0
        while at < len(self._words):
            at += self._take(at)
        used = {self._group_by, *(each.column for each in self._conditions)}
        free = list(dict.fromkeys(each.name for each in self._mentioned if each.name not in used))
        of = free[0] if self._aggregate not in ("", "count") and len(free) == 1 else ""
        # A sum of nothing, or a count with a column that plays no part, was not understood.
        if self._aggregate and (free if self._aggregate == "count" else not of):
            self._left += [*self._aggregating, *free]
        left = tuple(dict.fromkeys(self._left))
        return ParsedQuestion(form=self._form(of), left=left, is_named=self._is_named, taken=tuple(self._taken))

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
        column, columns = find_longest_name(self._plain, at, self._columns)
        kind, kinds = self._kind_at(at)
        # An aggregate goes first, because its words ("total of") can also begin a column's name.
        if count := self._aggregated(at, columns):
            return count
        # The longer name wins: "invoice number" is a column even where invoices are a kind.
        if column is not None and columns > kinds:
            self._mentioned.append(column)
            return columns + self._compared(at + columns, column)
        if kind is not None:
            self._left += [] if kind is self._group else self._words[at : at + kinds]
            return kinds
        if count := self._grouped(at) or self._contained(at) or self._named(at):
            return count
        if self._small[at] not in SILENT | DOCUMENTS:
            self._left.append(self._words[at])
        return 1

    def _kind_at(self, at: int) -> tuple[KnownGroup | None, int]:
        return find_longest_name(self._plain, at, self._kinds)

    def _aggregated(self, at: int, columns: int) -> int:
        """Read an aggregate, unless a column has that name, such as "Number of seats"; return its word count."""
        found, count = find_longest_name(self._small, at, AGGREGATES)
        if found is None or self._aggregate or columns >= count:
            return 0
        self._aggregate, self._aggregating = found, self._words[at : at + count]
        return count

    def _grouped(self, at: int) -> int:
        column, columns = find_longest_name(self._plain, at + 1, self._columns)
        if self._small[at] not in ("by", "per") or column is None or not self._aggregate or self._group_by:
            return 0
        self._group_by = column.name
        return 1 + columns

    def _contained(self, at: int) -> int:
        """Read a condition on the text, "that contain tires"; return its word count."""
        operator, count = find_longest_name(self._small, at, OPERATORS)
        if operator != "contains" or at + count >= len(self._words):
            return 0
        self._conditions.append(
            Condition(column=TEXT_COLUMN, operator=operator, values=(strip_quotes(self._words[at + count]),))
        )
        return count + 1

    def _named(self, at: int) -> int:
        """Read a value that one column alone states, "unpaid", as a condition; return its word count."""
        named, count = find_longest_name(self._plain, at, self._values)
        if named is not None:
            self._conditions.append(named)
            self._taken.append(named)
        return count

    def _compared(self, at: int, column: KnownColumn) -> int:
        """Read a comparison after the column, perhaps behind "is"; return its word count."""
        start = at
        while at < len(self._words) and self._small[at] in ("is", "are", "was", "of"):
            at += 1
        operator, count = find_longest_name(self._small, at, OPERATORS)
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
        """Read quoted words, or the longest run of words that is a number, an amount or a date."""
        if at < len(self._words) and self._words[at][0] in '"“':
            return strip_quotes(self._words[at]), 1
        if operator == "contains":
            return (self._words[at], 1) if at < len(self._words) else ("", 0)
        # A value does not reach beyond the end of its clause.
        end = next((place + 1 for place in range(at, len(self._words)) if self._ends[place]), len(self._words))
        # The longest reading first: "1 000 EUR" is no 1.
        # Words of a number, amount or date: "3 May 2021", "1 000 EUR".
        for count in range(min(4, end - at), 0, -1):
            value = " ".join(self._words[at : at + count])
            read = read_limit(value, Field(name=column.name, type=column.type))
            is_amount = read.si is not None or bool(read.currency) or (read.number is not None and count == 1)
            if read.date if column.type == "date" else is_amount:
                return value, count
        return "", 0


def spell_variants(name: str) -> tuple[str, str]:
    """Return a column's name with and without its brackets: "Lead" and "Lead (µg/l)"."""
    # A unit or note behind a name. The possessive run of spaces keeps the pattern linear.
    return re.sub(r"(?<!\s)\s*+\([^()]*\)", "", name), name


def stem_name(name: str) -> Words:
    return tuple(filter(None, map(stem_phrase, name.split())))


def stem_phrase(word: str) -> str:
    return " ".join(map(stem_word, split_tokens(word)))


def strip_quotes(text: str) -> str:
    return text.strip('"“”')


def find_longest_name(words: Sequence[str], at: int, known: Mapping[Words, T]) -> tuple[T | None, int]:
    """Return the longest known name that begins here, and how many words it has."""
    found = [name for name in known if name and tuple(words[at : at + len(name)]) == name]
    best = max(found, key=len, default=())
    return (known[best], len(best)) if best else (None, 0)
