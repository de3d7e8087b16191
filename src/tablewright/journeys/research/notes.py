"""Notes: every page is read once, several in a request where they fit, and what it says is kept in the table."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from tablewright.decisions.decision import Tell, decide
from tablewright.decisions.take_notes import CitedStatement, Notes, PagesForNotes, TakeNotes
from tablewright.domain.edits import AddRow
from tablewright.domain.model import Basis, Cell, Field, Noun, given
from tablewright.domain.research import Brief, SourceNote
from tablewright.domain.retrieved import Retrieved, concerning, is_document
from tablewright.domain.rowkey import row_key
from tablewright.errors import ModelError
from tablewright.journeys.research.library import ResearchLimits
from tablewright.models.text_budget import PAGES_A_CALL, batches
from tablewright.store.records import now
from tablewright.store.store import Store
from tablewright.strategies.strategy import Tools

STATEMENT, SECTION, SOURCE = "Statement", "Section", "Source"
REQUESTS_AT_ONCE = 4
SURE: dict[Basis, float] = {"judged": 0.7, "stated": 0.9}


class ReadPages(Noun, frozen=True, gc=True):
    """`remarks` say which pages nobody read, and what could not be verified."""

    taken: tuple[CitedStatement, ...] = ()
    remarks: tuple[str, ...] = ()


async def read_pages(
    tools: Tools, brief: Brief, pages: Sequence[Retrieved], limits: ResearchLimits, tell: Tell
) -> ReadPages:
    """In the order of the pages, whichever is read first. Raises ModelError where a model read none of them."""
    room = tools.model.text_room if tools.model else 1
    turns = asyncio.Semaphore(REQUESTS_AT_ONCE)

    async def one(batch: tuple[Retrieved, ...]) -> tuple[Notes, str]:
        async with turns:
            if limits.spent:
                return Notes(), limits.spent
            asked = PagesForNotes(brief=brief, pages=batch, room=room)
            with concerning([page.origin for page in batch]):
                outcome = await decide(TakeNotes(), asked, tools.model, tell)
            return (Notes(), outcome.degraded) if outcome.degraded else (outcome.decided, "")

    asked = list(batches(pages, lambda page: len(page.text), room=room, most=PAGES_A_CALL))
    working = [asyncio.create_task(one(batch)) for batch in asked]
    try:
        if working:
            await asyncio.wait(working, timeout=limits.seconds_left)
    finally:
        for each in working:
            each.cancel()
        ended = await asyncio.gather(*working, return_exceptions=True)
    taken: list[CitedStatement] = []
    unread, lost, problem = 0, 0, ""
    for batch, result in zip(asked, ended, strict=True):
        if isinstance(result, asyncio.CancelledError):
            result = Notes(), limits.spent or "it was stopped"
        elif isinstance(result, BaseException):
            raise result
        notes, failed = result
        taken += notes.taken
        lost += notes.lost
        if failed:
            unread, problem = unread + len(batch), failed
    if unread == len(pages) and pages and not limits.spent:
        raise ModelError(f"No page could be read: {problem}")
    words, remarks = limits.words, []
    if unread:
        remarks.append(
            words(
                "Nothing was noted from {count} page that was opened: {why}|"
                "Nothing was noted from {count} pages that were opened: {why}",
                count=unread,
                why=problem,
            )
        )
    if lost:
        remarks.append(
            words(
                "{count} note could not be verified and was left out.|"
                "{count} notes could not be verified and were left out.",
                count=lost,
            )
        )
    return ReadPages(taken=tuple(taken), remarks=tuple(remarks))


def numbered(taken: Sequence[CitedStatement], first: int = 1) -> tuple[SourceNote, ...]:
    return tuple(
        SourceNote(number=number, statement=each.statement, evidence=each.evidence, topic=each.topic)
        for number, each in enumerate(taken, start=first)
    )


# ── the table of a narrative ─────────────────────────────────────────────────────────────────────────────────────────


async def create_table(store: Store, title: str, actor: str) -> str:
    """Create a table without rows and return its id."""
    fields = Field(name=STATEMENT), Field(name=SECTION), Field(name=SOURCE, type="url")
    return (await store.tables.create(title, fields, key_field=STATEMENT, actor=actor, note="deep research")).id


async def add_to_table(store: Store, table_id: str, notes: Sequence[SourceNote], *, by_model: bool, actor: str) -> None:
    """Each note is a row with its evidence. A round that was cut off and is done again adds none twice."""
    known = {row.key for row in (await store.tables.load(table_id)).rows}
    rows: dict[str, AddRow] = {}
    for note in notes:
        key = row_key(note.statement)
        if key not in known:
            rows.setdefault(key, AddRow(key=key, cells=cells_of(note, by_model=by_model)))
    if rows:
        await store.log.commit(table_id, list(rows.values()), actor=actor, note="notes of deep research")


def cells_of(note: SourceNote, *, by_model: bool) -> dict[str, Cell]:
    basis: Basis = "judged" if by_model else "stated"
    statement = Cell(
        value=note.statement,
        raw_value=note.statement,
        status="ENRICHED",
        confidence=SURE[basis],
        basis=basis,
        evidence=(note.evidence,),
        updated_at=now(),
    )
    cells = {STATEMENT: statement}
    if note.topic:
        cells[SECTION] = given(note.topic)
    if not is_document(note.evidence.origin):
        cells[SOURCE] = given(note.evidence.origin)
    return cells
