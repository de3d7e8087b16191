"""Deep research, as far as each has come: its brief, its rounds one by one, and its report.

A round is written when it is whole, so work that was cut off goes on after the last whole round.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from sqlalchemy import Connection, insert, literal, null, select, update

from tablewright.domain.research import AnsweredFollowUp, Brief, Report, Research, ResearchStatus, Round
from tablewright.domain.retrieved import is_document
from tablewright.errors import NotFound
from tablewright.store import audit
from tablewright.store.database import StorePart, read_transaction, write_transaction
from tablewright.store.dialect import insert_many, put
from tablewright.store.forget import drop_researches
from tablewright.store.ledger import charge_bytes, octet_length, octets
from tablewright.store.parts import existing
from tablewright.store.records import RecordMapper, new_id, now, printable, to_text
from tablewright.store.schema import research_documents, research_rounds, researches
from tablewright.store.sharing import claim, must_own, visible

HEADS = RecordMapper(Research, researches)
_round = msgspec.json.Decoder(Round)
_answered = msgspec.json.Decoder(tuple[AnsweredFollowUp, ...])


class Researches(StorePart):
    @write_transaction
    def start(self, connection: Connection, brief: Brief, *, table_id: str, max_tasks: int) -> Research:
        research = Research(
            id=new_id("d"), brief=brief, table_id=table_id, max_tasks=max_tasks, created_at=now(), updated_at=now()
        )
        record = HEADS.write(research, question=printable(brief.question))
        connection.execute(insert(researches).values(record))
        claim(connection, "research", [research.id])
        charge_bytes(connection, "research", research.id, octets(record["brief"], record["answered"]))
        return research

    @read_transaction
    def get(self, connection: Connection, id: str) -> Research:
        heads = researches
        seen = (heads.c.id == id) & visible(connection, "research")
        head = connection.execute(select(heads).where(seen)).first()
        if head is None:
            raise missing(id)
        rounds = research_rounds
        found = connection.execute(
            select(rounds.c.content).where(rounds.c.research_id == id).order_by(rounds.c.number)
        ).scalars()
        return HEADS.read(head, rounds=tuple(map(_round.decode, found)))

    @read_transaction
    def all(self, connection: Connection) -> list[Research]:
        """Without their rounds, reports and answers, the newest first."""
        heads = researches
        unread: list[Any] = [null().label("report"), literal("[]").label("answered")]
        columns = [each for each in heads.c if each.name not in ("report", "answered")] + unread
        query = select(*columns).order_by(heads.c.created_at.desc())
        seen = query.where(visible(connection, "research"))
        return [HEADS.read(head) for head in connection.execute(seen)]

    @write_transaction
    def keep_round(self, connection: Connection, id: str, round: Round) -> None:
        """Once more changes nothing: the round of that number is as it is now."""
        touch(connection, id)
        rounds, content = research_rounds, to_text(round)
        this = (rounds.c.research_id == id) & (rounds.c.number == round.index)
        before = connection.execute(select(octet_length(connection, rounds.c.content)).where(this)).scalar() or 0
        put(connection, rounds, {"research_id": id, "number": round.index, "content": content})
        note_documents(connection, id, list(quoted_in(round)))
        charge_bytes(connection, "research", id, octets(content) - before)

    @write_transaction
    def mark(self, connection: Connection, id: str, status: ResearchStatus) -> None:
        """A partial report stays until there is a better one."""
        touch(connection, id, status=status)

    @write_transaction
    def finish(self, connection: Connection, id: str, status: ResearchStatus, report: Report) -> None:
        heads, content = researches, to_text(report)
        query = select(octet_length(connection, heads.c.report)).where(heads.c.id == id)
        before = connection.execute(query).scalar() or 0
        touch(connection, id, status=status, report=content)
        note_documents(connection, id, [reference.url for reference in report.references])
        charge_bytes(connection, "research", id, octets(content) - before)

    @write_transaction
    def add_answer(self, connection: Connection, id: str, answered: AnsweredFollowUp) -> None:
        heads = researches
        seen = (heads.c.id == id) & visible(connection, "research")
        present = connection.execute(select(heads.c.answered).where(seen)).scalar()
        if present is None:
            raise missing(id)
        touch(connection, id, answered=to_text([*_answered.decode(present), answered]))
        note_documents(connection, id, [reference.url for reference in answered.references])
        charge_bytes(connection, "research", id, octets(to_text(answered)))

    @write_transaction
    def remove(self, connection: Connection, id: str) -> None:
        """The table stays."""
        touch(connection, id)
        drop_researches(connection, [id])
        audit.note(connection, "remove", f"research {id}")


def touch(connection: Connection, id: str, **values: object) -> None:
    heads = researches
    seen = (heads.c.id == id) & visible(connection, "research")
    changed = connection.execute(update(heads).where(seen).values(updated_at=now(), **values)).rowcount
    if not changed:
        raise missing(id)
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
    known = set(connection.execute(select(documents.c.document_id).where(documents.c.research_id == id)).scalars())
    there = existing(connection, list(wanted))
    new = [{"document_id": each, "research_id": id} for each in wanted if each in there and each not in known]
    insert_many(connection, insert(documents), new)


def missing(id: str) -> NotFound:
    return NotFound(f"There is no research {id!r}.", advice="`tablewright research --list` shows what there is.")
