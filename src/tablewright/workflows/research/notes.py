"""Take notes: read every page once, several per request if they fit, and keep what they say.

The notes of a narrative are rows of a table, which `add_notes_to_table` commits; those of a catalog are its cells.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from tablewright.domain.edits import AddRow
from tablewright.domain.model import Basis, Cell, Field, Struct, make_given_cell
from tablewright.domain.research import Brief, SourceNote
from tablewright.domain.retrieved import Retrieved, is_document_id, track_documents
from tablewright.domain.rowkey import row_key
from tablewright.errors import ModelError
from tablewright.llm.tasks.decision import Tell, decide
from tablewright.llm.tasks.take_notes import CitedStatement, Notes, PagesForNotes, TakeNotes
from tablewright.llm.text_budget import TEXT_LIMITS, split_batches
from tablewright.store.records import utc_now
from tablewright.store.store import Store
from tablewright.strategies.strategy import Tools
from tablewright.workflows.research.library import ResearchLimits


class ReadPages(Struct, frozen=True, gc=True):
    """`remarks` say which pages were not read, and how many notes could not be verified."""

    taken: tuple[CitedStatement, ...] = ()
    remarks: tuple[str, ...] = ()


async def read_pages(
    tools: Tools, brief: Brief, pages: Sequence[Retrieved], limits: ResearchLimits, tell: Tell
) -> ReadPages:
    """Return the statements in the order of the pages. Raise ModelError if the model read none of them."""
    room = tools.model.text_room if tools.model else 1
    # Model requests at the same time; each one reads whole pages.
    turns = asyncio.Semaphore(4)

    async def one(batch: tuple[Retrieved, ...]) -> tuple[Notes, str]:
        async with turns:
            if limits.spent:
                return Notes(), limits.spent
            asked = PagesForNotes(brief=brief, pages=batch, room=room)
            with track_documents([page.origin for page in batch]):
                outcome = await decide(TakeNotes(), asked, tools.model, tell)
            return (Notes(), outcome.degraded) if outcome.degraded else (outcome.decided, "")

    asked = list(split_batches(pages, lambda page: len(page.text), room=room, most=TEXT_LIMITS.pages_per_call))
    working = [asyncio.create_task(one(batch)) for batch in asked]
    try:
        if working:
            # Not asyncio.timeout: when the time is up, finished requests must still be kept.
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
    # "Nothing was noted" is a result only if something was read.
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


def number_notes(taken: Sequence[CitedStatement], first: int = 1) -> tuple[SourceNote, ...]:
    return tuple(
        SourceNote(number=number, statement=each.statement, evidence=each.evidence, topic=each.topic)
        for number, each in enumerate(taken, start=first)
    )


# ── the table of a narrative ─────────────────────────────────────────────────────────────────────────────────────────


async def create_notes_table(store: Store, title: str, actor: str) -> str:
    """Create a table without rows and return its id."""
    # Column names are stored with the table, so they are not translated.
    fields = Field(name="Statement"), Field(name="Section"), Field(name="Source", type="url")
    return (await store.tables.create(title, fields, key_field="Statement", actor=actor, note="deep research")).id


async def add_notes_to_table(
    store: Store, table_id: str, notes: Sequence[SourceNote], *, by_model: bool, actor: str
) -> None:
    """Add a row with its evidence for each note; repeating an interrupted round adds no duplicates."""
    known = {row.key for row in (await store.tables.load(table_id)).rows}
    rows: dict[str, AddRow] = {}
    for note in notes:
        key = row_key(note.statement)
        if key not in known:
            rows.setdefault(key, AddRow(key=key, cells=make_note_cells(note, by_model=by_model)))
    if rows:
        await store.log.commit(table_id, list(rows.values()), actor=actor, note="notes of deep research")


def make_note_cells(note: SourceNote, *, by_model: bool) -> dict[str, Cell]:
    basis: Basis = "judged" if by_model else "stated"
    # Confidence of a note: a model's summary is less certain than a sentence quoted by code.
    statement = Cell(
        value=note.statement,
        raw_value=note.statement,
        status="ENRICHED",
        confidence={"judged": 0.7, "stated": 0.9}[basis],
        basis=basis,
        evidence=(note.evidence,),
        updated_at=utc_now(),
    )
    cells = {"Statement": statement}
    if note.topic:
        cells["Section"] = make_given_cell(note.topic)
    if not is_document_id(note.evidence.origin):
        cells["Source"] = make_given_cell(note.evidence.origin)
    return cells
