"""Conversations: questions with the results that answers show only some rows of, the advisor's, and researches.

A turn says how its answer was found; the rolling summary is what the next one starts from. An advisor's conversation is
one state, written whole after every turn. A research is written round by round, so work that was cut off goes on after
the last whole round."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, Select, delete, func, insert, literal, null, select, update
from sqlalchemy import Row as Record

from tablewright.domain.documents import Completeness, Truth
from tablewright.domain.model import Struct
from tablewright.domain.research import AnsweredFollowUp, Brief, Report, Research, ResearchStatus, Round
from tablewright.domain.retrieved import is_document_id
from tablewright.domain.shortlist import ShortlistState
from tablewright.store import schema
from tablewright.store.database import StorePart, read_transaction, write_transaction
from tablewright.store.ledger import charge_bytes, set_bytes, stored_utf8_bytes
from tablewright.store.records import (
    RecordMapper,
    clean_for_storage,
    count_utf8_bytes,
    in_batches,
    insert_many,
    new_id,
    put_record,
    to_json_text,
    utc_now,
)
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
    check_owner,
    claim_ownership,
    copy_shares,
    find_owned,
    find_visible,
    is_visible,
    lock_existing_documents,
    not_found_error,
    release_shares,
)
from tablewright.store.users import add_audit_entry


class ResultRow(Struct, frozen=True):
    """A row of a result set. `start:end` of the document's text is what the row says."""

    document_id: str
    page: int | None = None
    values: tuple[str, ...] = ()
    start: int = 0
    end: int = 0
    verdict: Truth = "match"


class ResultSet(Struct, frozen=True):
    """`rows` are some of the `total`, which shrinks if documents are removed."""

    id: str
    question: str
    columns: tuple[str, ...]
    created_at: str
    total: int
    rows: tuple[ResultRow, ...]


result_row_records = RecordMapper(ResultRow, result_rows, start="begins", end="ends", values="content")
result_set_records = RecordMapper(ResultSet, results)


class Results(StorePart):
    """Store and read result sets, of which answers show only some rows."""

    @write_transaction
    def keep(self, connection: Connection, question: str, columns: Sequence[str], rows: Sequence[ResultRow]) -> str:
        result_id = new_id("res_")
        records = [
            result_row_records.write(
                row,
                result_id=result_id,
                position=position,
                content=to_json_text([clean_for_storage(value) for value in row.values]),
            )
            for position, row in enumerate(rows)
        ]
        connection.execute(
            insert(results).values(
                id=result_id,
                question=clean_for_storage(question),
                columns=to_json_text(list(columns)),
                created_at=utc_now(),
            )
        )
        claim_ownership(connection, "result", [result_id])
        there = lock_existing_documents(connection, [row.document_id for row in rows])
        # Rows of documents that were removed while the question was answered are left out.
        kept = [record for record in records if record["document_id"] in there]
        insert_many(connection, insert(result_rows), kept)
        charge_bytes(connection, "result", result_id, sum(count_utf8_bytes(str(record["content"])) for record in kept))
        return result_id

    @read_transaction
    def page(self, connection: Connection, id: str, offset: int = 0, limit: int | None = None) -> ResultSet:
        """Return the rows from `offset` on; without a `limit`, all of them."""
        head = find_visible(connection, "result", id)
        rows = result_rows
        theirs = rows.c.result_id == id
        query: Select[Any] = select(rows).where(theirs).order_by(rows.c.position).offset(offset)
        found = connection.execute(query if limit is None else query.limit(limit))
        total = connection.execute(select(func.count()).select_from(rows).where(theirs)).scalar_one()
        return result_set_records.read(head, total=total, rows=tuple(result_row_records.read_all(found)))


def delete_results(connection: Connection, ids: Sequence[str]) -> None:
    for some in in_batches(ids):
        connection.execute(delete(result_rows).where(result_rows.c.result_id.in_(some)))
        connection.execute(delete(results).where(results.c.id.in_(some)))
        release_shares(connection, "result", some)


class Turn(Struct, frozen=True):
    """A question and its answer. `attempts` say what was tried, in order; `documents` and `segments` are what the
    answer was made from."""

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
    """Rows of the result set that have been shown."""
    plan: str = ""
    """The plan of the question as JSON, from which the next one may continue."""
    at: str = ""


class Conversation(Struct, frozen=True):
    """A conversation. `title` is its first question, if that turn still exists."""

    id: str
    started_at: str
    summary: str = ""
    title: str = ""
    turns: tuple[Turn, ...] = ()


conversation_records = RecordMapper(Conversation, conversations)
_turn = msgspec.json.Decoder(Turn)


class Conversations(StorePart):
    """Store and read conversations."""

    @write_transaction
    def start(self, connection: Connection) -> str:
        new = Conversation(id=new_id("c"), started_at=utc_now())
        connection.execute(insert(conversations), conversation_records.write(new, last_turn=0))
        claim_ownership(connection, "conversation", [new.id])
        return new.id

    @read_transaction
    def get(self, connection: Connection, id: str) -> Conversation:
        """Return a conversation with its remaining turns: a turn that quotes a removed document is gone."""
        head = find_visible(connection, "conversation", id)
        query = select(turns.c.turn).where(turns.c.conversation_id == id).order_by(turns.c.number)
        found = tuple(map(_turn.decode, connection.scalars(query)))
        return conversation_records.read(head, title=found[0].question if found else "", turns=found)

    @write_transaction
    def add_turn(self, connection: Connection, id: str, turn: Turn, *, summary: str | None = None) -> int:
        """Add a turn and return its number, from 1. `summary` is the new summary of the conversation. A turn that
        quotes a document which was removed in the meantime is not stored."""
        # Locks the documents first, so that none disappears between the check and the write.
        is_gone = bool(set(turn.documents) - lock_existing_documents(connection, turn.documents))
        mine = (conversations.c.id == id) & is_visible(connection, "conversation")
        number = connection.scalar(
            update(conversations)
            .where(mine)
            .values(last_turn=conversations.c.last_turn + 1)
            .returning(conversations.c.last_turn)
        )
        if number is None:
            raise not_found_error("conversation", id)
        check_owner(connection, "conversation", id)
        if turn.result_id:
            copy_shares(connection, ("conversation", id), ("result", turn.result_id))
        if is_gone:
            return int(number)
        kept = msgspec.structs.replace(turn, at=turn.at or utc_now())
        text = to_json_text(kept)
        connection.execute(insert(turns).values(conversation_id=id, number=number, turn=text))
        quoted = [
            {"document_id": document, "conversation_id": id, "number": number}
            for document in dict.fromkeys(turn.documents)
        ]
        insert_many(connection, insert(turn_documents), quoted)
        if summary is not None:
            connection.execute(update(conversations).where(mine).values(summary=summary))
        charge_bytes(connection, "conversation", id, count_utf8_bytes(text))
        return int(number)

    @read_transaction
    def all(self, connection: Connection) -> list[Conversation]:
        """Return conversations without their turns, newest first."""
        heads = schema.conversations
        others = turns.alias()
        # Not number 1: the first turns may be gone with a document that they quote.
        first = select(func.min(others.c.number)).where(others.c.conversation_id == heads.c.id).scalar_subquery()
        joined = heads.outerjoin(turns, (turns.c.conversation_id == heads.c.id) & (turns.c.number == first))
        query = select(heads, turns.c.turn).select_from(joined).order_by(heads.c.started_at.desc())
        return [
            conversation_records.read(head, title=_turn.decode(head.turn).question if head.turn else "")
            for head in connection.execute(query.where(is_visible(connection, "conversation")))
        ]

    @write_transaction
    def remove(self, connection: Connection, id: str) -> None:
        """Remove a conversation with the rows of its answers."""
        find_owned(connection, "conversation", id)
        texts = connection.scalars(select(turns.c.turn).where(turns.c.conversation_id == id))
        delete_results(connection, [each for text in texts if (each := _turn.decode(text).result_id)])
        for column in (turns.c.conversation_id, turn_documents.c.conversation_id, conversations.c.id):
            connection.execute(delete(column.table).where(column == id))
        release_shares(connection, "conversation", [id])
        add_audit_entry(connection, "remove", f"conversation {id}")


_state = msgspec.json.Decoder(ShortlistState)


class Shortlists(StorePart):
    """Store and read shortlist conversations."""

    @write_transaction
    def start(self, connection: Connection) -> ShortlistState:
        state = ShortlistState(id=new_id("h"), created_at=utc_now(), updated_at=utc_now())
        statement = insert(shortlists).values(
            id=state.id,
            table_id="",
            state=to_json_text(state),
            created_at=state.created_at,
            updated_at=state.updated_at,
        )
        connection.execute(statement)
        claim_ownership(connection, "shortlist", [state.id])
        return state

    @read_transaction
    def get(self, connection: Connection, id: str) -> ShortlistState:
        """Return the state. One that cannot be read becomes a new one, which says so; the table that was found by then
        is kept."""
        return read_shortlist_state(find_visible(connection, "shortlist", id))

    @write_transaction
    def save(self, connection: Connection, state: ShortlistState) -> ShortlistState:
        saved = msgspec.structs.replace(state, updated_at=utc_now())
        content, seen = to_json_text(saved), (shortlists.c.id == state.id) & is_visible(connection, "shortlist")
        values = {"state": content, "table_id": saved.table_id, "updated_at": saved.updated_at}
        if not connection.execute(update(shortlists).where(seen).values(values)).rowcount:
            raise not_found_error("shortlist", state.id)
        check_owner(connection, "shortlist", state.id)
        if saved.table_id:
            copy_shares(connection, ("shortlist", state.id), ("table", saved.table_id))
        set_bytes(connection, "shortlist", state.id, count_utf8_bytes(content))
        return saved

    @read_transaction
    def all(self, connection: Connection) -> list[ShortlistState]:
        """Return states, newest first."""
        query = select(shortlists).order_by(shortlists.c.created_at.desc())
        seen = query.where(is_visible(connection, "shortlist"))
        return [read_shortlist_state(head) for head in connection.execute(seen)]

    @write_transaction
    def remove(self, connection: Connection, id: str) -> None:
        """Remove the conversation; its table stays."""
        find_owned(connection, "shortlist", id)
        connection.execute(delete(shortlists).where(shortlists.c.id == id))
        release_shares(connection, "shortlist", [id])
        add_audit_entry(connection, "remove", f"shortlist {id}")


def read_shortlist_state(head: Record[Any]) -> ShortlistState:
    error = (
        "The conversation is from an earlier version, which stored requirements in another form, so it starts afresh."
    )
    # States of an earlier version have this key, and another form.
    if '"must_haves":' not in head.state:
        try:
            return _state.decode(head.state)
        except msgspec.DecodeError:
            error = "The conversation could not be read, so it starts afresh."
    return ShortlistState(id=head.id, table_id=head.table_id, error=error, created_at=head.created_at)


research_records = RecordMapper(Research, researches)
_round = msgspec.json.Decoder(Round)
_answered = msgspec.json.Decoder(tuple[AnsweredFollowUp, ...])


class Researches(StorePart):
    """Store and read researches."""

    @write_transaction
    def start(self, connection: Connection, brief: Brief, *, table_id: str, max_tasks: int) -> Research:
        research = Research(
            id=new_id("d"),
            brief=brief,
            table_id=table_id,
            max_tasks=max_tasks,
            created_at=utc_now(),
            updated_at=utc_now(),
        )
        record = research_records.write(research, question=clean_for_storage(brief.question))
        connection.execute(insert(researches), record)
        claim_ownership(connection, "research", [research.id])
        charge_bytes(connection, "research", research.id, count_utf8_bytes(record["brief"], record["answered"]))
        return research

    @read_transaction
    def get(self, connection: Connection, id: str) -> Research:
        head = find_visible(connection, "research", id)
        rounds = research_rounds
        found = connection.scalars(select(rounds.c.content).where(rounds.c.research_id == id).order_by(rounds.c.number))
        return research_records.read(head, rounds=tuple(map(_round.decode, found)))

    @read_transaction
    def all(self, connection: Connection) -> list[Research]:
        """Return researches without their rounds, reports and answers, newest first."""
        heads = researches
        # Reports and answers are long, and a list shows none of them.
        unread: list[Any] = [null().label("report"), literal("[]").label("answered")]
        columns = [each for each in heads.c if each.name not in ("report", "answered")] + unread
        query = select(*columns).order_by(heads.c.created_at.desc())
        seen = query.where(is_visible(connection, "research"))
        return research_records.read_all(connection.execute(seen))

    @write_transaction
    def keep_round(self, connection: Connection, id: str, round: Round) -> None:
        """Write a round, or replace the one with its number."""
        update_research(connection, id)
        rounds, content = research_rounds, to_json_text(round)
        this = (rounds.c.research_id == id) & (rounds.c.number == round.index)
        before = connection.scalar(select(stored_utf8_bytes(connection, rounds.c.content)).where(this)) or 0
        # Replaced, because a round that was interrupted is done again under its number.
        put_record(connection, rounds, {"research_id": id, "number": round.index, "content": content})
        link_quoted_documents(connection, id, list(find_quoted_origins(round)))
        charge_bytes(connection, "research", id, count_utf8_bytes(content) - before)

    @write_transaction
    def mark(self, connection: Connection, id: str, status: ResearchStatus) -> None:
        """Set the status. A partial report stays until there is a better one."""
        update_research(connection, id, status=status)

    @write_transaction
    def finish(self, connection: Connection, id: str, status: ResearchStatus, report: Report) -> None:
        heads, content = researches, to_json_text(report)
        query = select(stored_utf8_bytes(connection, heads.c.report)).where(heads.c.id == id)
        before = connection.scalar(query) or 0
        update_research(connection, id, status=status, report=content)
        link_quoted_documents(connection, id, [reference.url for reference in report.references])
        charge_bytes(connection, "research", id, count_utf8_bytes(content) - before)

    @write_transaction
    def add_answer(self, connection: Connection, id: str, answered: AnsweredFollowUp) -> None:
        present = _answered.decode(find_visible(connection, "research", id).answered)
        update_research(connection, id, answered=to_json_text([*present, answered]))
        link_quoted_documents(connection, id, [reference.url for reference in answered.references])
        charge_bytes(connection, "research", id, count_utf8_bytes(to_json_text(answered)))

    @write_transaction
    def remove(self, connection: Connection, id: str) -> None:
        """Remove the research; its table stays."""
        update_research(connection, id)
        delete_researches(connection, [id])
        add_audit_entry(connection, "remove", f"research {id}")


def delete_researches(connection: Connection, ids: Sequence[str]) -> None:
    for some in in_batches(ids):
        for column in (researches.c.id, research_rounds.c.research_id, research_documents.c.research_id):
            connection.execute(delete(column.table).where(column.in_(some)))
        release_shares(connection, "research", some)


def update_research(connection: Connection, id: str, **values: object) -> None:
    seen = (researches.c.id == id) & is_visible(connection, "research")
    if not connection.execute(update(researches).where(seen).values(updated_at=utc_now(), **values)).rowcount:
        raise not_found_error("research", id)
    check_owner(connection, "research", id)


def find_quoted_origins(round: Round) -> Iterator[str]:
    for note in round.notes:
        yield from (source.url for source in note.sources)
    yield from (note.evidence.origin for note in round.source_notes)
    for checked in round.checked:
        yield from (evidence.origin for evidence in checked.evidence)


def link_quoted_documents(connection: Connection, id: str, origins: Sequence[str]) -> None:
    """Record which of the user's documents a research quotes, so that it is deleted with them."""
    documents = research_documents
    quoted = dict.fromkeys(origin for origin in origins if is_document_id(origin))
    known = set(connection.scalars(select(documents.c.document_id).where(documents.c.research_id == id)))
    there = lock_existing_documents(connection, list(quoted))
    new = [{"document_id": each, "research_id": id} for each in quoted if each in there and each not in known]
    insert_many(connection, insert(documents), new)
