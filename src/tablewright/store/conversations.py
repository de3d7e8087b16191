"""Conversations: the turns, each with how its answer was found, and the rolling summary that the next starts from."""

from __future__ import annotations

import msgspec
from sqlalchemy import Connection, delete, func, insert, select, update

from tablewright.domain.corpus import Completeness
from tablewright.domain.model import Noun
from tablewright.store import schema
from tablewright.store.audit import note
from tablewright.store.database import StorePart, read_transaction, write_transaction
from tablewright.store.dialect import insert_many
from tablewright.store.ledger import charge_bytes, octets
from tablewright.store.parts import existing
from tablewright.store.records import RecordMapper, new_id, now, to_text
from tablewright.store.results import drop_results
from tablewright.store.schema import conversations, turn_documents, turns
from tablewright.store.sharing import (
    claim,
    find_owned,
    find_visible,
    must_own,
    not_there,
    release,
    share_alike,
    visible,
)


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
        connection.execute(insert(conversations).values(conversation_records.write(new, last_turn=0)))
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
        is_gone = bool(set(turn.documents) - existing(connection, turn.documents))
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
        note(connection, "remove", f"conversation {id}")
