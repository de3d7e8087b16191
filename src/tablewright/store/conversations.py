"""Conversations: the turns, each with how its answer was found, and the rolling summary that the next starts from."""

from __future__ import annotations

import msgspec
from sqlalchemy import Connection, insert, select, update

from tablewright.errors import NotFound
from tablewright.store import schema
from tablewright.store.database import Database
from tablewright.store.dialect import insert_many
from tablewright.store.parts import existing
from tablewright.store.records import new_id, now, to_text
from tablewright.table.corpus import Completeness, Question
from tablewright.table.model import Noun


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
    understood: Question | None = None
    """The question, taken apart: what the next one may go on from."""
    at: str = ""


class Conversation(Noun, frozen=True):
    id: str
    started_at: str
    summary: str = ""
    turns: tuple[Turn, ...] = ()


class Conversations:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def start(self) -> str:
        conversation_id = new_id("c")
        statement = insert(schema.conversations).values(id=conversation_id, started_at=now(), summary="", last_turn=0)
        await self._database.write(lambda connection: connection.execute(statement))
        return conversation_id

    async def get(self, id: str) -> Conversation:
        """With the turns that are left: one that quotes a removed document went with it."""

        def work(connection: Connection) -> Conversation:
            conversations, turns = schema.conversations, schema.turns
            head = connection.execute(select(conversations).where(conversations.c.id == id)).first()
            if head is None:
                raise missing(id)
            query = select(turns.c.turn).where(turns.c.conversation_id == id).order_by(turns.c.number)
            found = connection.execute(query).scalars()
            return Conversation(
                id=id,
                started_at=head.started_at,
                summary=head.summary,
                turns=tuple(msgspec.json.decode(turn, type=Turn) for turn in found),
            )

        return await self._database.read(work)

    async def add_turn(self, id: str, turn: Turn, *, summary: str | None = None) -> int:
        """Its number, from 1. `summary` is what the conversation is about from now on. What quotes a document that was
        removed meanwhile is not kept."""

        def work(connection: Connection) -> int:
            conversations = schema.conversations
            is_gone = bool(set(turn.documents) - existing(connection, turn.documents))
            mine = conversations.c.id == id
            number = connection.execute(
                update(conversations)
                .where(mine)
                .values(last_turn=conversations.c.last_turn + 1)
                .returning(conversations.c.last_turn)
            ).scalar()
            if number is None:
                raise missing(id)
            if is_gone:
                return int(number)
            kept = msgspec.structs.replace(turn, at=turn.at or now())
            connection.execute(insert(schema.turns).values(conversation_id=id, number=number, turn=to_text(kept)))
            quoted = [
                {"document_id": document, "conversation_id": id, "number": number}
                for document in dict.fromkeys(turn.documents)
            ]
            insert_many(connection, insert(schema.turn_documents), quoted)
            if summary is not None:
                connection.execute(update(conversations).where(mine).values(summary=summary))
            return int(number)

        return await self._database.write(work)


def missing(id: str) -> NotFound:
    return NotFound(f"There is no conversation {id!r}.", advice="Start a new one.")
