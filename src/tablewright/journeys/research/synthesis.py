"""Synthesis: the report, written from what is stored and from nothing else.

Code gives the citation numbers. Before the report leaves, every quote is looked up in the stored text it is said to be
from; what is not there, and every sentence that stood on it, is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from tablewright.decisions.decision import Decision, Outcome, Tell, decide
from tablewright.decisions.outline_report import Outline, OutlineIt, OutlineReport, Planned, Topic
from tablewright.decisions.write_section import REPEATED, Write, WriteSection, Written
from tablewright.journeys.research.catalog import Catalog
from tablewright.journeys.research.desk import status_of
from tablewright.journeys.research.narrative import ANGLE, Narrative
from tablewright.journeys.research.purse import Purse
from tablewright.store.records import now
from tablewright.store.store import Store
from tablewright.table.evidence import locate
from tablewright.table.model import Cell, Evidence, Row, Table
from tablewright.table.research import (
    Brief,
    CheckedClaim,
    Note,
    Passage,
    Reference,
    Report,
    ReportCell,
    ReportTable,
    Research,
    Round,
    RoundSummary,
    Section,
    SeenSource,
    Sentence,
    Unfound,
)
from tablewright.table.text import cell_text, plural, shortened, show

if TYPE_CHECKING:
    from tablewright.models.model import LanguageModel

Made = TypeVar("Made")

ROUNDS = {1: "discovery", 2: "gap-filling", 3: "verification"}
LONGEST_CELL = 400


class References:
    """The sources that are cited, numbered in the order in which they are first cited."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._texts: dict[str, str | None] = {}
        self._numbers: dict[tuple[str, str], int] = {}
        self._cited: dict[int, list[Evidence]] = {}

    async def cite(self, evidence: Evidence) -> int | None:
        """The number of its source; None where the quote does not stand in the text that was stored."""
        if not await self.holds(evidence):
            return None
        key = evidence.origin, evidence.content_hash
        number = self._numbers.setdefault(key, len(self._numbers) + 1)
        quotes = self._cited.setdefault(number, [])
        if all(evidence.quote != other.quote for other in quotes):
            quotes.append(evidence)
        return number

    async def cite_all(self, evidence: Sequence[Evidence]) -> tuple[int, ...]:
        numbers = [await self.cite(each) for each in evidence]
        return tuple(dict.fromkeys(number for number in numbers if number is not None))

    async def holds(self, evidence: Evidence) -> bool:
        hash = evidence.content_hash
        if hash not in self._texts:
            self._texts[hash] = await self._store.pages.text(hash) if hash else None
        text = self._texts[hash]
        if text is None or not evidence.quote:
            return False
        if evidence.start is not None and evidence.end is not None:
            return text[evidence.start : evidence.end] == evidence.quote
        return locate(evidence.quote, text) is not None

    def listed(self) -> tuple[Reference, ...]:
        return tuple(
            Reference(
                number=number,
                url=cited[0].origin,
                title=cited[0].title,
                domain=cited[0].domain,
                quotes=tuple(each.quote for each in cited),
                page=cited[0].page,
                retrieved_at=cited[0].retrieved_at,
                content_hash=cited[0].content_hash,
            )
            for number, cited in sorted(self._cited.items())
        )


class Synthesis:
    def __init__(
        self, store: Store, model: LanguageModel | None, tell: Tell, purse: Purse, *, memo_text: str = ""
    ) -> None:
        self.limit = purse.spent
        """Which limit was reached, if one was: then no model is asked any more."""
        self._references = References(store)
        self._model = model
        self._purse = purse
        self._tell = tell
        self._memo_text = memo_text
        self._written: list[str] = []
        self._dropped = 0
        self._remarks: list[str] = []
        self._by_model = False

    async def write(self, research: Research, shape: Catalog | Narrative, table: Table) -> Report:
        notes = [note for round in research.rounds for note in round.notes]
        claims = [checked for round in research.rounds for checked in round.checked]
        brief = research.brief
        answer, rows, completeness = None, None, ""
        if isinstance(shape, Catalog):
            rows = await self._table(brief, shape, table)
            sections = await self._of_catalog(brief, shape, table)
            estimate = shape.completeness(notes)
            self._remarks += [
                f"Whether {cell_text(row.cell(table.key_field))} is {words} could not be decided."
                for row in shape.chosen(table)
                if (words := shape.undecided(row))
            ]
            completeness = str(estimate) if estimate else ""
        else:
            answer = await self._answer(shape, table) if brief.is_fact else None
            sections = await self._of_narrative(brief, shape, table)
        checked = [await self._checked(each) for each in claims]
        return Report(
            title=title_of(brief),
            question=brief.question,
            report_type=brief.report_type,
            answer=answer,
            sections=tuple(sections),
            table=rows,
            references=self._references.listed(),
            claims=tuple(checked),
            unfound=tuple(unfound(brief, shape, table, research.rounds)),
            sources=tuple(seen(notes)),
            rounds=tuple(map(summary, research.rounds)),
            completeness=completeness,
            notes=tuple(self._notes()),
            written_by=self._model.name.rpartition("/")[2] if self._model is not None and self._by_model else "",
            created_at=now(),
        )

    def _notes(self) -> list[str]:
        said = list(self._remarks)
        if self.limit:
            said.append(f"This report is partial: {self.limit}.")
        if self._dropped:
            count = f"{self._dropped} {plural('sentence', self._dropped)}"
            was = "was" if self._dropped == 1 else "were"
            said.append(
                f"{count} that the cited passage does not bear {was} left out or put in the source's own words."
            )
        return said

    # ── sections ─────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _of_narrative(self, brief: Brief, shape: Narrative, table: Table) -> list[Section]:
        evidence = {
            cell_text(row.cell(ANGLE)): row.cell(shape.column).evidence
            for row in table.rows
            if row.cell(shape.column).value is not None
        }
        if brief.is_fact:
            best = shape.answer(table)
            evidence = {"How we know": (*best[0].evidence, *best[1])} if best else {}
            return await self._sections({name: (brief.question, each) for name, each in evidence.items()})
        questions = {angle.name: angle.question for angle in brief.angles}
        topics = [Topic(name=name, passages=len(each)) for name, each in evidence.items()]
        return await self._sections(
            {
                each.heading: (questions.get(each.topic, each.topic), evidence[each.topic])
                for each in await self._outlined(brief, topics)
            }
        )

    async def _outlined(self, brief: Brief, topics: Sequence[Topic]) -> Sequence[Planned]:
        if not topics:
            return ()
        asked = OutlineReport(brief=brief, memo_text=self._memo_text, topics=tuple(topics))
        outline: Outline = (await self._decide(OutlineIt(), asked)).decided
        return outline.sections

    async def _of_catalog(self, brief: Brief, shape: Catalog, table: Table) -> list[Section]:
        said = {}
        for row in shape.chosen(table):
            name = cell_text(row.cell(table.key_field))
            columns = [each.field.name for each in brief.columns if each.kind != "name"]
            evidence = [each for column in columns for each in row.cell(column).evidence if row.cell(column).value]
            if evidence:
                said[name] = (f"What is {name}, what does it cost and who uses it?", tuple(evidence))
        return await self._sections(said)

    async def _sections(self, said: Mapping[str, tuple[str, Sequence[Evidence]]]) -> list[Section]:
        sections = []
        for heading, (question, evidence) in said.items():
            passages, numbers = [], []
            for each in evidence:
                number = await self._references.cite(each)
                if number is not None:
                    passages.append(Passage(evidence=each, topic=heading))
                    numbers.append(number)
            if not passages:
                continue
            asked = WriteSection(
                heading=heading,
                question=question,
                passages=tuple(passages),
                numbers=tuple(numbers),
                written=tuple(self._written),
            )
            outcome = await self._decide(Write(), asked)
            self._by_model = self._by_model or not (self.limit or outcome.degraded)
            written: Written = outcome.decided
            self._dropped += sum(REPEATED not in each for each in written.dropped)
            self._written += [sentence.text for sentence in written.sentences]
            if written.sentences:
                sections.append(Section(heading=heading, sentences=written.sentences))
        return sections

    async def _decide(self, decision: Decision[Any, Made], asked: Any) -> Outcome[Made]:
        """By the model, until a limit is reached."""
        if self._model is not None:
            self.limit = self.limit or self._purse.spent
        outcome = await decide(decision, asked, None if self.limit else self._model, self._tell)
        if outcome.over_budget:
            self.limit = self._purse.spent
        return outcome

    async def _answer(self, shape: Narrative, table: Table) -> Sentence | None:
        best = shape.answer(table)
        if best is None:
            return None
        cell, linked = best
        citations = await self._references.cite_all((*cell.evidence, *linked))
        self._remarks += [f"Sources disagree: {rival}." for rival in await self._rivals(cell)]
        return Sentence(text=cell_text(cell), citations=citations) if citations else None

    async def _rivals(self, cell: Cell) -> list[str]:
        """Who says otherwise, with the numbers of the references."""
        said = []
        for rival in cell.conflict:
            if numbers := await self._references.cite_all(rival.evidence):
                who = " and ".join(dict.fromkeys(each.domain or each.title for each in rival.evidence))
                marks = "".join(f" [{number}]" for number in numbers)
                said.append(f"{who} says {show(rival.value)}{marks}")
        return said

    # ── the table ────────────────────────────────────────────────────────────────────────────────────────────────────

    async def _table(self, brief: Brief, shape: Catalog, table: Table) -> ReportTable | None:
        if not table.rows:
            return None
        columns = [each.field.name for each in brief.columns]
        chosen = shape.chosen(table)
        rows = [tuple([await self._cell(row.cell(column)) for column in columns]) for row in chosen]
        others = [
            f"{cell_text(row.cell(table.key_field))} ({shape.excluded(row) or less(brief, row)})"
            for row in shape.ranked(table)
            if row not in chosen
        ]
        return ReportTable(columns=tuple(columns), rows=tuple(rows), others=tuple(others))

    async def _cell(self, cell: Cell) -> ReportCell:
        if cell.value is None:
            return ReportCell(note=(cell.reason or "not looked for").replace("_", " "))
        citations = await self._references.cite_all(cell.evidence)
        if not citations:
            return ReportCell(note="its evidence is no longer stored")
        rivals = "; ".join(await self._rivals(cell))
        doubt = cell.error or "doubted" if cell.status == "FLAGGED" else ""
        judged = "judged by the model" if cell.basis == "judged" else ""
        return ReportCell(
            text=shortened("; ".join(cell.value) if isinstance(cell.value, tuple) else cell_text(cell), LONGEST_CELL),
            citations=citations,
            confidence=cell.confidence_label,
            note="; ".join(part for part in (judged, f"disagreement: {rivals}" if rivals else "", doubt) if part),
        )

    async def _checked(self, checked: CheckedClaim) -> CheckedClaim:
        """Only with words that are stored."""
        held = [each for each in checked.evidence if await self._references.cite(each) is not None]
        if len(held) == len(checked.evidence):
            return checked
        return CheckedClaim(claim=checked.claim, verdict="not checked", reason="the sources are no longer stored")


def title_of(brief: Brief) -> str:
    text = " ".join(brief.question.split()).rstrip("?.! ")
    return shortened(text[:1].upper() + text[1:], 120)


def less(brief: Brief, row: Row) -> str:
    """Why a candidate was not chosen."""
    missing = [
        each.field.name
        for each in brief.columns[1:]
        if each.field.required and status_of(row.cell(each.field.name)) == "missing"
    ]
    return f"not found: {', '.join(missing)}" if missing else "others are better documented"


def unfound(brief: Brief, shape: Catalog | Narrative, table: Table, rounds: Sequence[Round]) -> list[Unfound]:
    """Everything that was asked for and is not in the report, with where it was looked for."""
    missing = []
    if isinstance(shape, Catalog):
        found = len(table.rows)
        if found < brief.target_items:
            what = f"{brief.target_items} {brief.things}: only {found} found" if found else brief.things
            missing.append(Unfound(what=what, where=searched(rounds)))
        for row in shape.chosen(table):
            for each in brief.columns[1:]:
                cell = row.cell(each.field.name)
                if cell.value is None and each.field.required:
                    name = cell_text(row.cell(table.key_field))
                    missing.append(Unfound(what=f"{name}: {each.field.name}", where=cell.error or searched(rounds)))
        return missing
    if brief.is_fact:
        return [] if shape.answer(table) else [Unfound(what=brief.question, where=searched(rounds))]
    for row in table.rows:
        cell = row.cell(shape.column)
        if cell.value is None:
            missing.append(Unfound(what=cell_text(row.cell(ANGLE)), where=cell.error or searched(rounds)))
    return missing


def searched(rounds: Sequence[Round]) -> str:
    queries = list(dict.fromkeys(task.search_query for round in rounds for task in round.tasks))
    shown = ", ".join(f"“{query}”" for query in queries[:6])
    more = f" and {len(queries) - 6} more" if len(queries) > 6 else ""
    return f"Searched {shown}{more}." if queries else "Nothing was searched."


def seen(notes: Sequence[Note]) -> list[SeenSource]:
    """Each once; read beats refused."""
    found: dict[str, SeenSource] = {}
    for note in notes:
        for source in note.sources:
            present = found.get(source.url)
            if present is None or (present.status != "read" and source.status == "read"):
                found[source.url] = source
    return list(found.values())


def summary(round: Round) -> RoundSummary:
    return RoundSummary(
        index=round.index,
        name=ROUNDS[round.index],
        tasks=tuple(task.search_query for task in round.tasks),
        closed=round.closed,
        open=tuple(gap.description for gap in round.memo.gaps),
        stopped=round.stopped,
    )
