"""Read the tables and lists of a page: which of their rows are the wanted things, and which cells are which columns.

The model sees the page whole, as numbered lines. It names runs of lines and says which cell is which column. Code takes
the rows, so a table of 300 rows costs one call and the model copies no value. Things in prose, or in items that say
more than a name, are named one by one with their line, and code finds every value in its line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic import Field as Key

from tablewright.citations.evidence import contains_words, find_proving_rule
from tablewright.citations.quotes import RETRIEVED_WARNING, cite_span, is_near_injection, mark_question, mark_text
from tablewright.domain.condition import describe_condition
from tablewright.domain.listing import ListPlan, Mention
from tablewright.domain.model import Evidence, Field, Struct, column_key
from tablewright.domain.retrieved import Retrieved, find_own_page
from tablewright.domain.text import shorten_text
from tablewright.extraction.page_lines import NumberedLine, render_numbered_lines
from tablewright.llm.tasks.decision import (
    Prompt,
    accept_reply,
    describe_column,
    headed_block,
    join_parts,
    number_lines,
    pick_numbered,
)
from tablewright.llm.text_budget import TEXT_LIMITS
from tablewright.text import page_pieces
from tablewright.values.coerce import coerce_value, is_not_found


class PageToRead(Struct, frozen=True, gc=True):
    """A page, or a part of it, as `lines`; `links` are those that may continue its list."""

    plan: ListPlan
    source: Retrieved
    lines: tuple[NumberedLine, ...]
    links: tuple[str, ...] = ()


class ListedThings(Struct, frozen=True, gc=True):
    sightings: tuple[Mention, ...] = ()
    next: tuple[str, ...] = ()


class ColumnAt(BaseModel):
    column: str
    cell: int
    unit: str


class StatedAt(BaseModel):
    column: str
    value: str
    line: int


class Run(BaseModel):
    first: int
    last: int
    columns: list[ColumnAt]
    same: list[StatedAt]
    without: list[int]


class NamedThing(BaseModel):
    line: int
    name: str
    cells: list[StatedAt]


class ListsReply(BaseModel):
    tables: list[Run]
    things: list[NamedThing]
    # Links that continue a list are few; the schema keeps the model from naming all links of a page.
    next: list[int] = Key(max_length=20)


class ReadLists:
    name = "read lists"
    instructions = f"""\
You read a page for the rows of a table. The page is shown as numbered lines. A row of a table on the page is one line \
with bars between its cells; an item of a list is a line of its own.

`tables`: each run of lines that are wanted things, one a line. A run ends where the columns change; several may be \
wanted, of several sections.
- `first`, `last`: the numbers of its first and last row, without the header.
- `columns`: which of the table's cells, counted from 1, fills which of our columns. The column that names the things \
must be among them; leave out columns that the page's table does not have. `unit`: a unit, currency or scale that only \
the header gives, copied from it; else "".
- `same`: values that hold for every row of the run because a heading says so, each with its line.
- `without`: lines in between that are no wanted thing: subheadings, totals, things of another kind.
Take only what the question is about: of a page with many sections only those that are asked for. Take rows that may \
fail one of the conditions all the same: code checks conditions later, and needs the values.

`things`: wanted things that no run gives: named in prose, in items that say more than the name, in rows whose cells \
are shifted because cells are merged, or by the title of a page that is about that one thing. `name` is the full name \
as the page writes it; `cells` are values of our columns that the page states of this very thing, in the words of \
their line.

`next`: numbers of the links that continue this very list, such as its next page, and of those that by their address \
lead to wanted things, or lists of them, that the page itself does not name; none else.

Nothing from memory. If the page has none of the things, everything stays empty.

{RETRIEVED_WARNING}"""

    def prompt(self, asked: PageToRead) -> Prompt:
        plan = asked.plan
        wanted = [plan.question, f"Things: {plan.things}", "Our columns:", *map(describe_column, plan.fields)]
        if plan.conditions:
            wanted.append(f"Conditions, checked later: {'; '.join(map(describe_condition, plan.conditions))}")
        page = mark_text(
            0,
            render_numbered_lines(asked.lines),
            f"{shorten_text(asked.source.title, TEXT_LIMITS.list_title)} | {asked.source.origin}",
        )
        return Prompt(
            instructions=f"{self.instructions}\n\n{mark_question(chr(10).join(wanted))}",
            text=join_parts(
                f"The page:\n{page}", headed_block("Links of the page:", 1, number_lines(asked.links), "links")
            ),
            reply=ListsReply,
            # A thing in prose takes about a line of the reply. The cap keeps it within what models write at once.
            max_tokens=min(8_000, 1_000 + 40 * len(asked.lines)),
        )

    def check(self, asked: PageToRead, reply: Any) -> ListedThings:
        reading = ListProof(asked)
        for run in reply.tables:
            reading.take_run(run)
        for thing in reply.things:
            reading.take_thing(thing)
        following = tuple(pick_numbered(asked.links, reply.next))
        found = ListedThings(sightings=tuple(reading.sightings), next=following)
        return accept_reply(found, dict.fromkeys(reading.problems))

    def fallback(self, asked: PageToRead) -> ListedThings:
        """Return the rows of tables whose headers match our columns, although they may list other things."""
        reading = ListProof(asked)
        for run in find_headed_runs(asked):
            reading.take_run(run)
        return ListedThings(sightings=tuple(reading.sightings))


class ListProof:
    """Collects what the lines of a page prove of a reply, and the problems with the rest."""

    def __init__(self, asked: PageToRead) -> None:
        self.sightings: list[Mention] = []
        self.problems: list[str] = []
        self._source = asked.source
        self._lines = {line.number: line for line in asked.lines}
        self._fields = {column_key(field.name): field for field in asked.plan.fields}
        self._key = column_key(asked.plan.key)

    # ── runs of rows ─────────────────────────────────────────────────────────────────────────────────────────────────

    def take_run(self, run: Run) -> None:
        columns = {column_key(at.column): at for at in run.columns}
        where = f"In the run {run.first} to {run.last}:"
        if unknown := [at.column for key, at in columns.items() if key not in self._fields]:
            self.problems.append(f"{where} there is no column {unknown[0]!r} in our table.")
            return
        if self._key not in columns:
            self.problems.append(
                f"{where} no cell is given for {self._fields[self._key].name}, which names the things."
            )
            return
        rows = self._rows(run)
        if not rows:
            self.problems.append(f"{where} no such lines are shown.")
            return
        # A few rows may have merged cells; the most frequent width is that of the table.
        width = Counter(len(row.cells) for row in rows).most_common(1)[0][0]
        if wrong := [at for at in columns.values() if not 1 <= at.cell <= width]:
            self.problems.append(f"{where} its rows have {width} cells, so there is no cell {wrong[0].cell}.")
            return
        # If the page keeps empty cells, a shorter row lacks its last cells; if not, it may lack any of them.
        keeps_empty = any("" in row.cells for row in rows)
        regular = [row for row in rows if len(row.cells) == width or (keeps_empty and len(row.cells) < width)]
        if shifted := [row.number for row in rows if row not in regular]:
            # Enough for the model to find the pattern.
            shown_lines = 12
            listed = ", ".join(map(str, shifted[:shown_lines]))
            self.problems.append(
                f"{where} {len(shifted)} lines ({listed}{' …' if len(shifted) > shown_lines else ''}) have another "
                f"number of cells than {width}, so positions do not tell which is which; they are left out unless they "
                "are a run of their own or among `things`."
            )
        self._check_types(where, columns, rows)
        same = self._same_for_all(run.same)
        header = self._header(run.first)
        for row in regular:
            self._take_row(row, columns, same, header, run.first)

    def _rows(self, run: Run) -> list[NumberedLine]:
        left_out = {*run.without}
        numbers = (number for number in range(run.first, run.last + 1) if number not in left_out)
        return [self._lines[number] for number in numbers if number in self._lines]

    def _header(self, first: int) -> NumberedLine | None:
        """Return the first row of the table that the run is in, which names its cells; None if the run begins there."""
        number = first
        while (line := self._lines.get(number - 1)) is not None and line.is_row:
            number -= 1
        return self._lines[number] if number < first else None

    def _check_types(self, where: str, columns: Mapping[str, ColumnAt], rows: Sequence[NumberedLine]) -> None:
        for key, at in columns.items():
            texts = [row.cells[at.cell - 1] for row in rows if at.cell <= len(row.cells)]
            filled = [text for text in texts if text and not is_not_found(text)]
            field = self._fields[key]
            bad = [text for text in filled if coerce_value(f"{text} {at.unit}".strip(), field).value is None]
            # A few cells of another type are normal ("n/a", a note); a majority means that the wrong cell was named.
            if len(bad) * 2 > len(filled):
                held = f"{where} cell {at.cell} holds {shorten_text(bad[0], 60)!r}"
                self.problems.append(f"{held}, which is no {field.type} for {field.name}.")

    def _same_for_all(self, same: Sequence[StatedAt]) -> dict[str, tuple[str, Evidence]]:
        found = {}
        for stated in same:
            if (proved := self._proved(stated)) is not None:
                found[column_key(stated.column)] = proved
        return found

    def _take_row(
        self,
        row: NumberedLine,
        columns: Mapping[str, ColumnAt],
        same: Mapping[str, tuple[str, Evidence]],
        header: NumberedLine | None,
        first: int,
    ) -> None:
        cells = row.cells
        cells += ("",) * (max(at.cell for at in columns.values()) - len(cells))
        name = cells[columns[self._key].cell - 1]
        if not name or is_not_found(name) or is_near_injection(self._source.text, row.start, row.end):
            return
        values: dict[str, str] = {}
        elsewhere: dict[str, Evidence] = {}
        for key, at in columns.items():
            text, field = cells[at.cell - 1], self._fields[key]
            if key == self._key or not text or is_not_found(text):
                continue
            # A unit in the header is no part of a name or a date.
            with_unit = f"{text} {at.unit}".strip() if at.unit and field.type in ("number", "money") else text
            if coerce_value(with_unit, field).value is None:
                continue
            values[field.name] = with_unit
            if with_unit != text and header is not None:
                elsewhere[field.name] = self._evidence(header)
        for key, (value, evidence) in same.items():
            name_of = self._fields[key].name
            if name_of not in values and key != self._key:
                values[name_of], elsewhere[name_of] = value, evidence
        self.sightings.append(
            Mention(
                name=name,
                evidence=self._evidence(row),
                values=values,
                elsewhere=elsewhere,
                list_id=f"{self._source.origin}#{header.number if header else first}",
                url=find_own_page(name, self._source.links),
            )
        )

    # ── things by themselves ─────────────────────────────────────────────────────────────────────────────────────────

    def take_thing(self, thing: NamedThing) -> None:
        line = self._lines.get(thing.line)
        name = " ".join(thing.name.split())
        if (
            line is None
            or not name
            or not (contains_words(name, line.text) or contains_words(name, self._source.title))
        ):
            self.problems.append(f"{shorten_text(thing.name, 80)!r} is not in line {thing.line}.")
            return
        if is_near_injection(self._source.text, line.start, line.end):
            return
        values: dict[str, str] = {}
        elsewhere: dict[str, Evidence] = {}
        for stated in thing.cells:
            key = column_key(stated.column)
            if key != self._key and (proved := self._proved(stated)) is not None:
                column = self._fields[key].name
                values[column], elsewhere[column] = proved
        self.sightings.append(
            Mention(
                name=name,
                evidence=self._evidence(line, name),
                values=values,
                elsewhere=elsewhere,
                url=find_own_page(name, self._source.links),
            )
        )

    def _proved(self, stated: StatedAt) -> tuple[str, Evidence] | None:
        """Return the value with the passage of its line that states it; else record the problem and return None."""
        field, line = self._fields.get(column_key(stated.column)), self._lines.get(stated.line)
        value = " ".join(stated.value.split())
        if not value or is_not_found(value):
            return None
        if field is None or line is None:
            what = f"column {stated.column!r} in our table" if field is None else f"line {stated.line}"
            self.problems.append(f"There is no {what}.")
            return None
        if contains_words(value, line.text) and coerce_value(value, field).value is None:
            # The page's own words do not fit the column: the cell is searched for later.
            return None
        if not find_proving_rule(value, line.text, field):
            self.problems.append(
                f"{field.name} {shorten_text(value, 60)!r} is not in line {stated.line}. Give what the line states."
            )
            return None
        return value, self._evidence(line, value, field)

    def _evidence(self, line: NumberedLine, value: str = "", field: Field | None = None) -> Evidence:
        """Return the line as evidence; of a long line of prose, the sentence that states the value."""
        source = self._source
        # Up to 200 characters a line is itself short enough to be read as evidence.
        if value and not line.is_row and len(line.text) > 200:
            for start, end in self._pieces_in(line):
                said = source.text[start:end]
                if find_proving_rule(value, said, field) if field else contains_words(value, said):
                    return cite_span(source, start, end)
        return cite_span(source, line.start, line.end)

    def _pieces_in(self, line: NumberedLine) -> list[tuple[int, int]]:
        pieces = page_pieces(self._source.text)
        return [(start, end) for start, end in pieces if line.start <= start and end <= line.end]


# ── without a model ──────────────────────────────────────────────────────────────────────────────────────────────────


def find_headed_runs(asked: PageToRead) -> list[Run]:
    """Return the rows below each header row that has the column that names the things."""
    fields = {column_key(field.name): field.name for field in asked.plan.fields}
    runs: list[Run] = []
    lines = asked.lines
    for place, line in enumerate(lines):
        at = {column_key(cell): number for number, cell in enumerate(line.cells, start=1) if line.is_row}
        if column_key(asked.plan.key) not in at:
            continue
        until = place
        while until + 1 < len(lines) and lines[until + 1].is_row:
            until += 1
        if until > place:
            columns = [ColumnAt(column=name, cell=at[key], unit="") for key, name in fields.items() if key in at]
            runs.append(
                Run(first=lines[place + 1].number, last=lines[until].number, columns=columns, same=[], without=[])
            )
    return runs
