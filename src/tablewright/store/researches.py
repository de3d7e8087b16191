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
from tablewright.store import audit
from tablewright.store.database import StorePart, read_transaction, write_transaction
from tablewright.store.dialect import insert_many, put_record
from tablewright.store.forget import drop_researches
from tablewright.store.ledger import charge_bytes, octet_length, octets
from tablewright.store.parts import lock_existing
from tablewright.store.records import RecordMapper, new_id, now, printable, to_text
from tablewright.store.schema import research_documents, research_rounds, researches
from tablewright.store.sharing import claim, find_visible, must_own, not_there, visible

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
        audit.add_audit_entry(connection, "remove", f"research {id}")


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
