"""Advice: the top five and why, answers from the table, and where a wish leads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from tablewright.decisions.answer_from_table import Answer, AnswerFromTable, is_understood, why_not
from tablewright.decisions.classify_intent import Classify, ClassifyIntent, IntentRead
from tablewright.decisions.decision import decide
from tablewright.decisions.explain_tradeoffs import Advice, Explain, ExplainTradeoffs
from tablewright.decisions.propose_fields import field_from, modified, refused
from tablewright.decisions.rank_products import rank
from tablewright.decisions.shopping.button_words import drops
from tablewright.errors import TablewrightError
from tablewright.journeys.files import export_file
from tablewright.journeys.shortlist.links import listings
from tablewright.journeys.shortlist.shelf import KEY, MAKER, PAGE, Shelf, is_open
from tablewright.store.store import Store
from tablewright.strategies.subject import web_of
from tablewright.strategies.tools import Tools
from tablewright.table.dedupe import Names
from tablewright.table.model import Field, Noun, Row, Step, Table
from tablewright.table.shortlist import (
    GO_ON,
    TARGET,
    TOP,
    CellRef,
    ChatReply,
    Listing,
    Ranking,
    Refinement,
    Said,
    ShortlistState,
)
from tablewright.table.text import cell_text, plural, show

GoesTo: TypeAlias = Literal["", "intake", "explore", "enrich"]
EMPTY = 0.8
"""The share of candidates without a value from which a field is called a problem."""
SHOWN = 8
"""Columns of the table in a reply."""
NEXT = "You can ask about them, add a field, ask for more options, change the requirements, get links, or export all."


class AdviseStep(Noun, frozen=True, gc=True):
    """Either a reply, or where the wish leads."""

    state: ShortlistState
    reply: ChatReply | None = None
    goes_to: GoesTo = ""
    changes: str = ""
    like: str = ""
    count: int = TARGET
    fields: tuple[Field, ...] = ()
    notes: tuple[str, ...] = ()


class Advising:
    """`folder` is where exports go, whatever place the person names; None: where they say."""

    def __init__(
        self,
        state: ShortlistState,
        shelf: Shelf,
        store: Store,
        tools: Tools,
        tell: Callable[[Step], None],
        folder: Path | None = None,
    ) -> None:
        self._state = state
        self._shelf = shelf
        self._folder = folder
        self._store = store
        self._tools = tools
        self._tell = tell

    # ── presenting ───────────────────────────────────────────────────────────────────────────────────────────────────

    async def present(self, *, heading: str = "", notes: Sequence[str] = ()) -> tuple[ShortlistState, ChatReply]:
        table = await self._shelf.table()
        ranking = rank(table, self._state.requirements)
        await self._shelf.judge(table, ranking)
        if not ranking.ranked:
            return self._state, self._none_left(table, ranking)
        asked = ExplainTradeoffs(table=table, ranking=ranking, requirements=self._state.requirements, most=TOP)
        self._tell(Step(type="thinking", detail="Weighing the trade-offs."))
        advice: Advice = (await decide(Explain(), asked, self._tools.model, self._tell)).decided
        shown = [each.row_id for each in ranking.ranked[:TOP]]
        rows = {row.id: row for row in table.rows}
        columns = [field.name for field in table.shown_fields if field.name != MAKER][:SHOWN]
        lines = [
            *([Said(text=heading)] if heading else []),
            Said(text=self._counted(table, ranking)),
            *advice.said,
            *(noted(note, table) for note in (*notes, *advice.notes)),
            *(Said(text=problem) for problem in problems(table)),
            Said(text=NEXT),
        ]
        waiting = pending(table)
        if waiting:
            lines.insert(-1, Said(text=f"{waiting} cells were not looked for in time."))
        reply = ChatReply(
            said=tuple(lines),
            cards=advice.cards,
            columns=tuple(columns),
            rows=tuple(as_texts(rows[row_id], columns) for row_id in shown),
            buttons=(GO_ON,) if waiting else (),
        )
        return msgspec.structs.replace(self._state, shown=tuple(shown)), reply

    def _counted(self, table: Table, ranking: Ranking) -> str:
        left_out = f"; {len(ranking.excluded)} do not meet the requirements" if ranking.excluded else ""
        count = len(table.rows)
        return f"{count} {plural('candidate', count)} compared{left_out}. The first {min(TOP, len(ranking.ranked))}:"

    def _none_left(self, table: Table, ranking: Ranking) -> ChatReply:
        if not table.rows:
            return ChatReply(said=(Said(text="Nothing was found. Shall we change the requirements?"),))
        reasons = [
            Said(text=f"{each.name}: {each.reason}.", cells=(CellRef(row_id=each.row_id, field=each.field or KEY),))
            for each in ranking.excluded[:TOP]
        ]
        intro = Said(text=f"None of {len(table.rows)} candidates meets the requirements:")
        return ChatReply(said=(intro, *reasons, Said(text="Which requirement may be relaxed?")))

    # ── responding ───────────────────────────────────────────────────────────────────────────────────────────────────

    async def respond(self, said: str) -> AdviseStep:
        table = await self._shelf.table()
        if hidden := self._columns_dropped(table, said):
            await self._shelf.hide(hidden)
            columns = ", ".join(field.name for field in hidden)
            return self._replied(Said(text=f"No longer shown: {columns}. What was found stays in the table."))
        names = {row.id: cell_text(row.cell(KEY)) for row in table.rows}
        asked = ClassifyIntent(
            message=said,
            requirements=self._state.requirements,
            products=tuple(names.values()),
            fields=tuple(field.name for field in table.fields),
            shown=tuple(names[row_id] for row_id in self._state.shown if row_id in names),
            history=tuple(message.text for message in self._state.messages[-7:-1] if message.role == "user"),
        )
        model = None if Classify().is_plain(asked) else self._tools.model
        read: IntentRead = (await decide(Classify(), asked, model, self._tell)).decided
        match read.intent:
            case "done":
                return self._done(read)
            case "links":
                return await self._links(table, read)
            case "export":
                return await self._export(read)
            case "flag":
                return await self._flag(table, read, said)
            case "new_fields":
                return self._new_fields(table, read, said)
            case "more_options":
                state = self._refined(f"more options{f' like {read.like}' if read.like else ''}", said)
                return AdviseStep(
                    state=state, goes_to="explore", changes=read.changes, like=read.like, count=read.count or TARGET
                )
            case "change_requirements":
                state = self._refined("requirements", said)
                return AdviseStep(state=state, goes_to="intake", changes=read.changes or said)
            case "show_all":
                return AdviseStep(state=self._state, reply=self._all(table))
            case "question" | "why_not":
                return await self._answered(table, read, said)
            case "off_topic":
                text = "I can only help with what to buy. Shall we go on with the comparison?"
                return self._replied(Said(text=text))
            case _:
                return self._replied(naming(read.question or f"What would you like to do? {NEXT}", table))

    def _columns_dropped(self, table: Table, said: str) -> list[Field]:
        shown = [field for field in table.shown_fields if field.name not in (KEY, MAKER, PAGE)]
        kept = modified(shown, said, self._state.requirements.product_type) if drops(said) else shown
        return [field for field in shown if field not in kept]

    def _replied(self, *said: Said, listings: tuple[Listing, ...] = (), file: str = "") -> AdviseStep:
        return AdviseStep(state=self._state, reply=ChatReply(said=said, listings=listings, file=file))

    def _refined(self, changed: str, trigger: str) -> ShortlistState:
        done = self._state.refinements
        new = Refinement(loop=len(done) + 1, changed=changed, trigger=trigger)
        return msgspec.structs.replace(self._state, refinements=(*done, new))

    def _done(self, read: IntentRead) -> AdviseStep:
        chosen = f" {', '.join(read.products)} it is." if read.products else ""
        text = f"Good.{chosen} The comparison stays in the table {self._shelf.table_id}."
        state = msgspec.structs.replace(self._state, phase="end")
        return AdviseStep(state=state, reply=ChatReply(said=(Said(text=text),)))

    async def _links(self, table: Table, read: IntentRead) -> AdviseStep:
        rows = rows_named(table, read.products) or [row for row in table.rows if row.id in self._state.shown[:1]]
        lines: list[Said] = []
        found: list[Listing] = []
        for row in rows[:TOP]:
            name = cell_text(row.cell(KEY))
            offers = await listings(name, web_of(self._tools))
            found += offers
            if not offers:
                page = cell_text(row.cell(PAGE))
                where = f" Its official page: {page}" if page else ""
                cells = (CellRef(row_id=row.id, field=KEY), CellRef(row_id=row.id, field=PAGE))
                lines.append(Said(text=f"No shop was found that offers {name}.{where}", cells=cells))
            else:
                lines.append(Said(text=f"{name}, asked just now:", cells=(CellRef(row_id=row.id, field=KEY),)))
        return self._replied(*lines, listings=tuple(found))

    async def _export(self, read: IntentRead) -> AdviseStep:
        usual = f"{self._shelf.table_id}.csv"
        path = Path(read.path or usual).expanduser()
        if self._folder is not None:
            path = self._folder / (path.name or usual)
        try:
            count = await export_file(self._store, self._shelf.table_id, path, evidence=path.suffix != ".csv")
        except (TablewrightError, OSError) as error:
            return self._replied(Said(text=f"Nothing was written: {error} Which other file shall it be?"))
        where = path if self._folder is None else path.name
        return self._replied(Said(text=f"All {count} candidates with all fields are in {where}."), file=str(path))

    async def _flag(self, table: Table, read: IntentRead, said: str) -> AdviseStep:
        """Doubted, and looked for again: that cell alone."""
        rows = rows_named(table, read.products) or [row for row in table.rows if row.id in self._state.shown[:1]]
        fields = [name for name in read.fields if table.field(name)]
        if len(rows) != 1 or not fields:
            return self._replied(Said(text="Which value of which product is wrong? For example: the capacity of X."))
        row, field = rows[0], fields[0]
        before = cell_text(row.cell(field))
        await self._shelf.flag(row.id, field, said)
        await self._shelf.fill(fields=[field], only={(row.id, field)})
        again = next(each for each in (await self._shelf.table()).rows if each.id == row.id).cell(field)
        name, cells = cell_text(row.cell(KEY)), (CellRef(row_id=row.id, field=field), CellRef(row_id=row.id, field=KEY))
        if again.value is None:
            text = f"{field} of {name} was looked for again and not found; it is empty now."
        elif cell_text(again) == before:
            quote = f" ({again.evidence[0].domain}: “{again.evidence[0].quote}”)" if again.evidence else ""
            text = f"{field} of {name} was looked for again: the source still says {before}{quote}."
        else:
            text = f"{field} of {name} was looked for again and is now {cell_text(again)}."
        return AdviseStep(
            state=self._refined(f"{field} of {name}", said), reply=ChatReply(said=(Said(text=text, cells=cells),))
        )

    def _new_fields(self, table: Table, read: IntentRead, said: str) -> AdviseStep:
        shown = {field.name for field in table.shown_fields}
        hidden = [field for name in read.fields if name not in shown and (field := table.field(name))]
        fields = [msgspec.structs.replace(field, role="user") for field in hidden]
        lines = [Said(text=f"{name} is in the comparison already.") for name in read.fields if name in shown]
        for words in read.new_fields:
            if reason := refused(words):
                lines.append(Said(text=f"That cannot be a column: {reason}"))
            elif field := field_from(words, self._state.requirements.product_type):
                if field.name in shown:
                    lines.append(Said(text=f"{field.name} is in the comparison already."))
                else:
                    fields.append(field)
        if not fields:
            return self._replied(*(lines or [Said(text="Which specification should be added?")]))
        state = self._refined(f"added {', '.join(field.name for field in fields)}", said)
        notes = tuple(line.text for line in lines)
        return AdviseStep(state=state, goes_to="enrich", fields=tuple(fields), notes=notes)

    def _all(self, table: Table) -> ChatReply:
        columns = [field.name for field in table.shown_fields]
        ranking = rank(table, self._state.requirements)
        order = [*(each.row_id for each in ranking.ranked), *(each.row_id for each in ranking.excluded)]
        rows = {row.id: row for row in table.rows}
        shown = tuple(as_texts(rows[row_id], columns) for row_id in order if row_id in rows)
        return ChatReply(said=(Said(text=f"All {len(shown)} candidates:"),), columns=tuple(columns), rows=shown)

    async def _answered(self, table: Table, read: IntentRead, said: str) -> AdviseStep:
        if read.intent == "why_not" and (name := next(iter(read.products), read.like)):
            return self._replied(*why_not(name, table, rank(table, self._state.requirements)))
        asked = AnswerFromTable(question=said, table=table, products=read.products, fields=read.fields)
        model = None if is_understood(asked) else self._tools.model
        answer: tuple[Said, ...] = (await decide(Answer(), asked, model, self._tell)).decided
        return self._replied(*answer)


def noted(note: str, table: Table) -> Said:
    """What is said of a whole column stands on all its cells that have a value."""
    said = note.casefold()
    columns = [field.name for field in table.fields if field.name != table.key_field]
    named = [name for name in columns if name.casefold().rstrip("s") in said]
    known = [(row, name) for name in named for row in table.rows if row.cell(name).value is not None]
    return Said(text=note, cells=tuple(CellRef(row_id=row.id, field=name) for row, name in known))


def pending(table: Table) -> int:
    asked = [field.name for field in table.fields if field.name not in (KEY, MAKER, PAGE) and field.is_asked]
    return sum(is_open(row.cell(name)) for row in table.rows for name in asked)


def naming(text: str, table: Table) -> Said:
    """Products are only named here; their names are cells too."""
    named = [row for row in table.rows if cell_text(row.cell(KEY)) in text]
    return Said(text=text, cells=tuple(CellRef(row_id=row.id, field=KEY) for row in named))


def problems(table: Table) -> list[str]:
    """Fields that hardly any candidate has: the field is the problem, not the products."""
    found = []
    for field in table.shown_fields:
        if field.name in (KEY, MAKER, PAGE) or not table.rows:
            continue
        empty = sum(row.cell(field.name).value is None for row in table.rows)
        if empty == len(table.rows):
            found.append(f"{field.name} was found for none of the candidates.")
        elif empty >= EMPTY * len(table.rows):
            found.append(f"{field.name} was found for only {len(table.rows) - empty} of {len(table.rows)} candidates.")
    return found


def rows_named(table: Table, products: Sequence[str]) -> list[Row]:
    names = Names()
    for row in table.rows:
        names.add(row.id, cell_text(row.cell(KEY)))
    wanted = [names.find(product) for product in products]
    return [row for row_id in wanted for row in table.rows if row.id == row_id]


def as_texts(row: Row, columns: Sequence[str]) -> tuple[str, ...]:
    return tuple(show(row.cell(column).value) if row.cell(column).value is not None else "" for column in columns)
