"""Conversations: questions with the results that answers show only some rows of, the adviser's, and researches.

A turn says how its answer was found; the rolling summary is what the next one starts from. An adviser's conversation is
one state, written whole after every turn. A research is written round by round, so work that was cut off goes on after
the last whole round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, delete, func, insert, literal, null, select, update
from sqlalchemy import Row as Record

from tablewright.domain.corpus import Completeness, Truth
from tablewright.domain.model import Noun
from tablewright.domain.research import AnsweredFollowUp, Brief, Report, Research, ResearchStatus, Round
from tablewright.domain.retrieved import is_document
from tablewright.domain.shortlist import ShortlistState
from tablewright.store import schema
from tablewright.store.database import StorePart, read_transaction, write_transaction
from tablewright.store.ledger import charge_bytes, octet_length, octets, set_bytes
from tablewright.store.records import RecordMapper, in_batches, insert_many, new_id, now, printable, put_record, to_text
from tablewright.store.schema import (
    conversations,
    research_documents,
    research_rounds,
    researches,
    result_rows,
    results,
    shortlists,
    turn_documents,
    turns,
)
from tablewright.store.sharing import (
    claim,
    find_owned,
    find_visible,
    lock_existing,
    must_own,
    not_there,
    release,
    share_alike,
    visible,
)
from tablewright.store.users import add_audit_entry


class ResultRow(Noun, frozen=True):
    """`start:end` of the document's text is what the row says."""

    document_id: str
    page: int | None = None
    values: tuple[str, ...] = ()
    start: int = 0
    end: int = 0
    verdict: Truth = "match"


class ResultSet(Noun, frozen=True):
    """`rows` are some of the `total`, which is less than it was where documents were removed since."""

    id: str
    question: str
    columns: tuple[str, ...]
    created_at: str
    total: int
    rows: tuple[ResultRow, ...]


result_row_records = RecordMapper(ResultRow, result_rows, start="begins", end="ends", values="content")
result_set_records = RecordMapper(ResultSet, results)


class Results(StorePart):
    @write_transaction
    def keep(self, connection: Connection, question: str, columns: Sequence[str], rows: Sequence[ResultRow]) -> str:
        result_id = new_id("res_")
        records = [
            result_row_records.write(
                row, result_id=result_id, position=position, content=to_text([printable(value) for value in row.values])
            )
            for position, row in enumerate(rows)
        ]
        connection.execute(
            insert(results).values(
                id=result_id, question=printable(question), columns=to_text(list(columns)), created_at=now()
            )
        )
        claim(connection, "result", [result_id])
        there = lock_existing(connection, [row.document_id for row in rows])
        kept = [record for record in records if record["document_id"] in there]
        insert_many(connection, insert(result_rows), kept)
        charge_bytes(connection, "result", result_id, sum(octets(str(record["content"])) for record in kept))
        return result_id

    @read_transaction
    def page(self, connection: Connection, id: str, offset: int = 0, limit: int | None = None) -> ResultSet:
        """The rows from `offset` on, all of them without a `limit`."""
        head = find_visible(connection, "result", id)
        rows = result_rows
        theirs = rows.c.result_id == id
        query: Select[Any] = select(rows).where(theirs).order_by(rows.c.position).offset(offset)
        found = connection.execute(query if limit is None else query.limit(limit))
        total = connection.execute(select(func.count()).select_from(rows).where(theirs)).scalar_one()
        return result_set_records.read(head, total=total, rows=tuple(result_row_records.read_all(found)))

    async def get(self, id: str) -> ResultSet:
        """With all its rows."""
        return await self.page(id)


def drop_results(connection: Connection, ids: Sequence[str]) -> None:
    for some in in_batches(ids):
        connection.execute(delete(result_rows).where(result_rows.c.result_id.in_(some)))
        connection.execute(delete(results).where(results.c.id.in_(some)))
        release(connection, "result", some)


class Turn(Noun, frozen=True):
    """`attempts` say what was tried, in order; `documents` and `segments` are what the answer was made from."""

    question: str
    answer: str = ""
    route: str = ""
    fallbacks: tuple[str, ...] = ()
    reason: str = ""
    attempts: tuple[str, ...] = ()
    clarification: str = ""
    documents: tuple[str, ...] = ()
    segments: tuple[int, ...] = ()
    result_id: str = ""
    completeness: Completeness = "approximate"
    shown: int = 0
    """Rows of the result set that were shown so far."""
    plan: str = ""
    """The plan of the question as JSON: what the next one may go on from."""
    at: str = ""


class Conversation(Noun, frozen=True):
    """`title` is its first question, as far as it is still there."""

    id: str
    started_at: str
    summary: str = ""
    title: str = ""
    turns: tuple[Turn, ...] = ()


conversation_records = RecordMapper(Conversation, conversations)
_turn = msgspec.json.Decoder(Turn)


class Conversations(StorePart):
    @write_transaction
    def start(self, connection: Connection) -> str:
        new = Conversation(id=new_id("c"), started_at=now())
        connection.execute(insert(conversations), conversation_records.write(new, last_turn=0))
        claim(connection, "conversation", [new.id])
        return new.id

    @read_transaction
    def get(self, connection: Connection, id: str) -> Conversation:
        """With the turns that are left: one that quotes a removed document went with it."""
        head = find_visible(connection, "conversation", id)
        query = select(turns.c.turn).where(turns.c.conversation_id == id).order_by(turns.c.number)
        told = tuple(map(_turn.decode, connection.scalars(query)))
        return conversation_records.read(head, title=told[0].question if told else "", turns=told)

    @write_transaction
    def add_turn(self, connection: Connection, id: str, turn: Turn, *, summary: str | None = None) -> int:
        """Its number, from 1. `summary` is what the conversation is about from now on. What quotes a document that was
        removed meanwhile is not kept."""
        is_gone = bool(set(turn.documents) - lock_existing(connection, turn.documents))
        mine = (conversations.c.id == id) & visible(connection, "conversation")
        number = connection.scalar(
            update(conversations)
            .where(mine)
            .values(last_turn=conversations.c.last_turn + 1)
            .returning(conversations.c.last_turn)
        )
        if number is None:
            raise not_there("conversation", id)
        must_own(connection, "conversation", id)
        if turn.result_id:
            share_alike(connection, ("conversation", id), ("result", turn.result_id))
        if is_gone:
            return int(number)
        kept = msgspec.structs.replace(turn, at=turn.at or now())
        text = to_text(kept)
        connection.execute(insert(turns).values(conversation_id=id, number=number, turn=text))
        quoted = [
            {"document_id": document, "conversation_id": id, "number": number}
            for document in dict.fromkeys(turn.documents)
        ]
        insert_many(connection, insert(turn_documents), quoted)
        if summary is not None:
            connection.execute(update(conversations).where(mine).values(summary=summary))
        charge_bytes(connection, "conversation", id, octets(text))
        return int(number)

    @read_transaction
    def all(self, connection: Connection) -> list[Conversation]:
        """The newest first, without their turns."""
        heads = schema.conversations
        others = turns.alias()
        first = select(func.min(others.c.number)).where(others.c.conversation_id == heads.c.id).scalar_subquery()
        joined = heads.outerjoin(turns, (turns.c.conversation_id == heads.c.id) & (turns.c.number == first))
        query = select(heads, turns.c.turn).select_from(joined).order_by(heads.c.started_at.desc())
        return [
            conversation_records.read(head, title=_turn.decode(head.turn).question if head.turn else "")
            for head in connection.execute(query.where(visible(connection, "conversation")))
        ]

    @write_transaction
    def remove(self, connection: Connection, id: str) -> None:
        """With the rows of its answers."""
        find_owned(connection, "conversation", id)
        told = connection.scalars(select(turns.c.turn).where(turns.c.conversation_id == id))
        drop_results(connection, [each for turn in told if (each := _turn.decode(turn).result_id)])
        for column in (turns.c.conversation_id, turn_documents.c.conversation_id, conversations.c.id):
            connection.execute(delete(column.table).where(column == id))
        release(connection, "conversation", [id])
        add_audit_entry(connection, "remove", f"conversation {id}")


BROKEN = "The conversation could not be read any more, so it starts afresh."
OLD = "The conversation is of an earlier version, which kept requirements in another form, so it starts afresh."

_state = msgspec.json.Decoder(ShortlistState)


class Shortlists(StorePart):
    @write_transaction
    def start(self, connection: Connection) -> ShortlistState:
        state = ShortlistState(id=new_id("h"), created_at=now(), updated_at=now())
        statement = insert(shortlists).values(
            id=state.id, table_id="", state=to_text(state), created_at=state.created_at, updated_at=state.updated_at
        )
        connection.execute(statement)
        claim(connection, "shortlist", [state.id])
        return state

    @read_transaction
    def get(self, connection: Connection, id: str) -> ShortlistState:
        """A state that cannot be read is a new one, which says so; the table that was found by then is kept."""
        return read_shortlist_state(find_visible(connection, "shortlist", id))

    @write_transaction
    def save(self, connection: Connection, state: ShortlistState) -> ShortlistState:
        saved = msgspec.structs.replace(state, updated_at=now())
        content, seen = to_text(saved), (shortlists.c.id == state.id) & visible(connection, "shortlist")
        values = {"state": content, "table_id": saved.table_id, "updated_at": saved.updated_at}
        if not connection.execute(update(shortlists).where(seen).values(values)).rowcount:
            raise not_there("shortlist", state.id)
        must_own(connection, "shortlist", state.id)
        if saved.table_id:
            share_alike(connection, ("shortlist", state.id), ("table", saved.table_id))
        set_bytes(connection, "shortlist", state.id, octets(content))
        return saved

    @read_transaction
    def all(self, connection: Connection) -> list[ShortlistState]:
        """The newest first."""
        query = select(shortlists).order_by(shortlists.c.created_at.desc())
        seen = query.where(visible(connection, "shortlist"))
        return [read_shortlist_state(head) for head in connection.execute(seen)]

    @write_transaction
    def remove(self, connection: Connection, id: str) -> None:
        """The table stays."""
        find_owned(connection, "shortlist", id)
        connection.execute(delete(shortlists).where(shortlists.c.id == id))
        release(connection, "shortlist", [id])
        add_audit_entry(connection, "remove", f"shortlist {id}")


def read_shortlist_state(head: Record[Any]) -> ShortlistState:
    error = OLD
    if '"must_haves":' not in head.state:
        try:
            return _state.decode(head.state)
        except msgspec.DecodeError:
            error = BROKEN
    return ShortlistState(id=head.id, table_id=head.table_id, error=error, created_at=head.created_at)


research_records = RecordMapper(Research, researches)
_round = msgspec.json.Decoder(Round)
_answered = msgspec.json.Decoder(tuple[AnsweredFollowUp, ...])


class Researches(StorePart):
    @write_transaction
    def start(self, connection: Connection, brief: Brief, *, table_id: str, max_tasks: int) -> Research:
        research = Research(
            id=new_id("d"), brief=brief, table_id=table_id, max_tasks=max_tasks, created_at=now(), updated_at=now()
        )
        record = research_records.write(research, question=printable(brief.question))
        connection.execute(insert(researches), record)
        claim(connection, "research", [research.id])
        charge_bytes(connection, "research", research.id, octets(record["brief"], record["answered"]))
        return research

    @read_transaction
    def get(self, connection: Connection, id: str) -> Research:
        head = find_visible(connection, "research", id)
        rounds = research_rounds
        found = connection.scalars(select(rounds.c.content).where(rounds.c.research_id == id).order_by(rounds.c.number))
        return research_records.read(head, rounds=tuple(map(_round.decode, found)))

    @read_transaction
    def all(self, connection: Connection) -> list[Research]:
        """Without their rounds, reports and answers, the newest first."""
        heads = researches
        unread: list[Any] = [null().label("report"), literal("[]").label("answered")]
        columns = [each for each in heads.c if each.name not in ("report", "answered")] + unread
        query = select(*columns).order_by(heads.c.created_at.desc())
        seen = query.where(visible(connection, "research"))
        return research_records.read_all(connection.execute(seen))

    @write_transaction
    def keep_round(self, connection: Connection, id: str, round: Round) -> None:
        """Once more changes nothing: the round of that number is as it is now."""
        update_research(connection, id)
        rounds, content = research_rounds, to_text(round)
        this = (rounds.c.research_id == id) & (rounds.c.number == round.index)
        before = connection.scalar(select(octet_length(connection, rounds.c.content)).where(this)) or 0
        put_record(connection, rounds, {"research_id": id, "number": round.index, "content": content})
        note_documents(connection, id, list(quoted_in(round)))
        charge_bytes(connection, "research", id, octets(content) - before)

    @write_transaction
    def mark(self, connection: Connection, id: str, status: ResearchStatus) -> None:
        """A partial report stays until there is a better one."""
        update_research(connection, id, status=status)

    @write_transaction
    def finish(self, connection: Connection, id: str, status: ResearchStatus, report: Report) -> None:
        heads, content = researches, to_text(report)
        query = select(octet_length(connection, heads.c.report)).where(heads.c.id == id)
        before = connection.scalar(query) or 0
        update_research(connection, id, status=status, report=content)
        note_documents(connection, id, [reference.url for reference in report.references])
        charge_bytes(connection, "research", id, octets(content) - before)

    @write_transaction
    def add_answer(self, connection: Connection, id: str, answered: AnsweredFollowUp) -> None:
        present = _answered.decode(find_visible(connection, "research", id).answered)
        update_research(connection, id, answered=to_text([*present, answered]))
        note_documents(connection, id, [reference.url for reference in answered.references])
        charge_bytes(connection, "research", id, octets(to_text(answered)))

    @write_transaction
    def remove(self, connection: Connection, id: str) -> None:
        """The table stays."""
        update_research(connection, id)
        drop_researches(connection, [id])
        add_audit_entry(connection, "remove", f"research {id}")


def drop_researches(connection: Connection, ids: Sequence[str]) -> None:
    for some in in_batches(ids):
        for column in (researches.c.id, research_rounds.c.research_id, research_documents.c.research_id):
            connection.execute(delete(column.table).where(column.in_(some)))
        release(connection, "research", some)


def update_research(connection: Connection, id: str, **values: object) -> None:
    seen = (researches.c.id == id) & visible(connection, "research")
    if not connection.execute(update(researches).where(seen).values(updated_at=now(), **values)).rowcount:
        raise not_there("research", id)
    must_own(connection, "research", id)


def quoted_in(round: Round) -> Iterator[str]:
    for note in round.notes:
        yield from (source.url for source in note.sources)
    yield from (note.evidence.origin for note in round.source_notes)
    for checked in round.checked:
        yield from (evidence.origin for evidence in checked.evidence)


def note_documents(connection: Connection, id: str, origins: Sequence[str]) -> None:
    """Which of the user's documents it quotes, so that it goes with them."""
    documents = research_documents
    wanted = dict.fromkeys(origin for origin in origins if is_document(origin))
    known = set(connection.scalars(select(documents.c.document_id).where(documents.c.research_id == id)))
    there = lock_existing(connection, list(wanted))
    new = [{"document_id": each, "research_id": id} for each in wanted if each in there and each not in known]
    insert_many(connection, insert(documents), new)
