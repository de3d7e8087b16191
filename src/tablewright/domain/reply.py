"""Questions about documents as forms to look up, and replies: the answer, its citations, and what is missing.

A form names a kind or table, conditions, and a figure. The column `text` means the whole text of a document or row, as
in kind = receipt and text contains tires; `title` is a document's title, and `category` whether it is long or
short, data-heavy or text-heavy. No I/O.
"""

from __future__ import annotations

from collections.abc import Sequence

from tablewright.domain.condition import Condition, parse_conditions
from tablewright.domain.documents import Aggregate, Completeness, Intent
from tablewright.domain.model import FieldType, Struct
from tablewright.domain.text import pluralize_noun
from tablewright.errors import UsageError
from tablewright.messages.catalogue import AskText, translate, translate_count


class Citation(Struct, frozen=True):
    """[source N]: the passage at `start:end` of a document's stored text. `quote` is that passage, shortened with " … "
    to the relevant lines if it is long."""

    number: int
    document_id: str
    title: str
    path: str
    quote: str
    page: int | None = None
    start: int = 0
    end: int = 0
    content_hash: str = ""
    highlight: str = ""
    """The part of a longer quote that answers: its deciding lines, or the sentence nearest to the question."""


COMPLETENESS: AskText[tuple[Completeness, ...]] = ("exact", "approximate", "incomplete")


class ToolUse(Struct, frozen=True):
    """One use of a tool, for people: its request, the number of matches, and the threshold for a match."""

    tool: str
    asked: str
    matches: int
    threshold: str = ""
    note: str = ""
    seconds: float = 0.0


class MatchLedger(Struct, frozen=True):
    """Counts of all things in question by result, so that none is lost between matches and others."""

    things: str = "document"
    total: int = 0
    matched: int = 0
    no_match: int = 0
    not_stated: int = 0
    unreadable: int = 0
    undecided: tuple[tuple[str, str], ...] = ()
    """Some of the `not_stated` things, each with the reason."""

    def __str__(self) -> str:
        return self.text()

    def text(self, language: str = "") -> str:
        """Return "matched 37 of 412 receipts; 3 undecided; 6 documents could not be read". Unreadable documents are not
        counted in the total, since their kind is unknown."""
        total = self.total - self.unreadable
        matched: AskText[str] = "matched {matched} of {total} {things}"
        unread: AskText[str] = "{count} document could not be read|{count} documents could not be read"
        things = pluralize_noun(self.things, total)
        parts = (
            translate("ask", matched, language, matched=self.matched, total=total, things=things),
            translate_count("ask", "{count} undecided", self.not_stated, language),
            translate_count("ask", unread, self.unreadable, language),
        )
        return "; ".join(filter(None, parts))


class ReplyRow(Struct, frozen=True):
    """A match. `source` is the number of its citation."""

    document_id: str
    title: str
    values: tuple[str, ...]
    page: int | None = None
    source: int = 0


class Reply(Struct, frozen=True):
    """An answer. `reason` explains a `completeness` other than exact. `relaxed` names the filters that were dropped and
    what that added. `result_id` is the stored result set, of which `rows` may be a part."""

    question: str
    answer: str
    intent: Intent = "conceptual"
    citations: tuple[Citation, ...] = ()
    columns: tuple[str, ...] = ()
    rows: tuple[ReplyRow, ...] = ()
    count: int | None = None
    completeness: Completeness = "approximate"
    reason: str = ""
    ledger: MatchLedger | None = None
    route: str = ""
    route_reason: str = ""
    fallbacks: tuple[str, ...] = ()
    attempts: tuple[ToolUse, ...] = ()
    relaxed: tuple[str, ...] = ()
    result_id: str = ""
    is_listed: bool = False
    """True if the answer names all `rows`, so that they need not be shown again."""
    more: int = 0
    """Rows of the stored result set after these."""
    export: str = ""
    """The file to which the person asked to export all rows, if any."""
    clarification: str = ""
    contradictions: tuple[str, ...] = ()
    """Sentences of the answer about contradictions between documents."""
    form: Form | None = None
    """The form that was looked up; without a model, the part of the question that was understood."""
    not_understood: tuple[str, ...] = ()
    """Words of the question that were not understood without a model."""
    language: str = ""
    """The language code of the question, if a model determined it."""
    degraded: str = ""
    """Why it was answered without the configured model."""
    outages: tuple[str, ...] = ()
    """Parts that did not work, as sentences; the answer was made without them."""
    conversation: str = ""

    def completeness_text(self) -> str:
        """Return the counts, the completeness and its reason, or "" if there is nothing to say."""
        if self.ledger is None and not self.reason:
            return ""
        counted = self.ledger.text(self.language) if self.ledger else ""
        word = translate("ask", self.completeness, self.language)
        complete = translate("ask", "Completeness: {word}", self.language, word=word)
        because = f" ({self.reason})" if self.reason else ""
        return f"{counted[:1].upper()}{counted[1:]}. {complete}{because}.".removeprefix(". ")


TEXT_COLUMN = "text"
TITLE_COLUMN = "title"
CATEGORY_COLUMN = "category"


class Form(Struct, frozen=True):
    """A query for documents of a kind, or for rows of a `table` inside documents, that meet all conditions. `of` is the
    column to aggregate."""

    kind: str = ""
    table: str = ""
    conditions: tuple[Condition, ...] = ()
    aggregate: Aggregate = ""
    of: str = ""
    group_by: str = ""
    show: tuple[str, ...] = ()
    order_by: str = ""
    descending: bool = False
    limit: int = 0
    unit: str = ""
    """The column with the currency or unit of the figures, if any."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Return the columns that it names."""
        compared = [column for each in self.conditions for column in each.columns]
        return tuple(filter(None, (*compared, self.of, self.group_by, self.order_by, self.unit, *self.show)))

    @property
    def where(self) -> str:
        """The conditions in the form that `make_lookup_form` reads."""
        names = {"kind": self.kind, "table": self.table}
        named = [Condition(column=column, operator="=", values=(name,)) for column, name in names.items() if name]
        return " and ".join(map(str, (*named, *self.conditions)))

    def __str__(self) -> str:
        """ "kind = invoice and Total > 500 EUR; sum of Total by Supplier; sorted by Date"."""
        parts = [self.where or "all documents"]
        if self.aggregate:
            by = f" by {self.group_by}" if self.group_by else ""
            parts.append((f"{self.aggregate} of {self.of}" if self.of else self.aggregate) + by)
        if self.order_by:
            parts.append(f"sorted by {self.order_by}{', the largest first' if self.descending else ''}")
        if self.limit:
            parts.append(f"the first {self.limit}")
        return "; ".join(parts)


class KnownColumn(Struct, frozen=True):
    """A column of a kind: `known` counts the members that state it, `stale` those that changed since it was read (the
    next question reads it again). `type` is the type of most of its values."""

    name: str
    known: int
    type: FieldType = "text"
    stale: int = 0

    def __str__(self) -> str:
        """ "Total (20, 2 stale)"."""
        return f"{self.name} ({self.known:,}{f', {self.stale:,} stale' if self.stale else ''})"


class KnownGroup(Struct, frozen=True):
    """A kind of documents that can be looked up, or the rows of a table inside documents (`is_table`). `table_id` is
    the kind's living table, once it was queried. `from_titles` counts documents whose kind is only guessed from
    titles."""

    name: str
    members: int
    from_titles: int = 0
    columns: tuple[KnownColumn, ...] = ()
    is_table: bool = False
    table_id: str = ""
    examples: tuple[str, ...] = ()


def make_lookup_form(
    where: str = "",
    figure: Aggregate = "",
    of: str = "",
    *,
    by: str = "",
    show: Sequence[str] = (),
    sort: str = "",
    unit: str = "",
    limit: int = 0,
) -> Form:
    """Return the form for conditions written as text, a figure, and a presentation of rows. `sort` is a column, with a
    minus before it for descending order."""
    if figure not in ("", "count") and not of:
        raise UsageError(f"Of which column is the {figure} to be?")
    kind = table = ""
    conditions: list[Condition] = []
    for condition in parse_conditions(where):
        match condition.column.casefold(), condition.operator:
            case "kind", "=":
                kind = condition.values[0]
            case "table", "=":
                table = condition.values[0]
            case _:
                conditions.append(condition)
    return Form(
        kind=kind,
        table=table,
        conditions=tuple(conditions),
        aggregate=figure,
        of=of,
        group_by=by,
        show=tuple(show),
        order_by=sort.removeprefix("-").strip(),
        descending=sort.startswith("-"),
        limit=limit,
        unit=unit,
    )
