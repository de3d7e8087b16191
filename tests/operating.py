"""Operations as tests call them: by the values that matter to them, without the requests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec

from tablewright.domain.listing import FoundRows
from tablewright.domain.model import Field
from tablewright.domain.reply import Form, Reply
from tablewright.domain.research import AnsweredFollowUp, Brief, Research, ResearchEvent, ResearchRequest
from tablewright.domain.shortlist import ChatReply, ShortlistState
from tablewright.operations import ask as ask_verbs
from tablewright.operations import documents as verbs
from tablewright.operations import find as find_verbs
from tablewright.operations import research as research_verbs
from tablewright.operations import settings as settings_verbs
from tablewright.operations import sharing as sharing_verbs
from tablewright.operations import shortlist as shortlist_verbs
from tablewright.operations.find import FindPlanned
from tablewright.operations.operation import ListRequest, NoInput, TableRequest
from tablewright.operations.rows import spec_field
from tablewright.services import Services


async def share(services: Services, kind: Any, id: str, people: Iterable[str] = (), *, everyone: bool = False) -> None:
    request = sharing_verbs.ShareThing(kind=kind, id=id, people=tuple(people), everyone=everyone)
    await sharing_verbs.share(services, request)


async def unshare(services: Services, kind: Any, id: str, people: Iterable[str]) -> None:
    id = (await sharing_verbs.get_sharing(services, sharing_verbs.ThingRequest(kind=kind, id=id))).id
    await services.store.sharing.unshare(kind, id, list(people))


async def save_settings(services: Services, changes: dict[str, str]) -> None:
    await settings_verbs.save_settings(services, settings_verbs.SaveSettings(changes=changes))


async def add_documents(
    services: Services, paths: Iterable[str | Path], kind: str = "", workers: int = 0
) -> verbs.DocumentsAdded:
    request = verbs.AddDocuments(paths=tuple(map(str, paths)), kind=kind)
    return await verbs.add_documents(services, request, workers=workers)


async def remove_documents(services: Services, names: Iterable[str]) -> tuple[verbs.DocumentShown, ...]:
    return (await verbs.remove_documents(services, verbs.RemoveDocuments(documents=tuple(names)))).removed


async def set_kind(services: Services, names: Iterable[str], kind: str) -> None:
    await verbs.set_kind(services, verbs.SetKind(documents=tuple(names), kind=kind))


async def list_groups(services: Services) -> Any:
    return (await verbs.list_document_tables(services, NoInput())).tables


# ── find ────────────────────────────────────────────────────────────────────────────────────────────────────────────


async def begin_find(services: Services, question: str, *, fields: Iterable[Field] = (), **more: Any) -> FindPlanned:
    request = find_verbs.PlanFind(question=question, fields=tuple(map(spec_field, fields)), **more)
    return await find_verbs.plan_find(services, request)


async def find_rows(services: Services, table_id: str, *, fill: bool = True, rows: int = 0) -> FoundRows:
    return await find_verbs.find_rows(services, find_verbs.FindMore(table=table_id, fill=fill, rows=rows))


async def start_find(services: Services, table_id: str) -> str:
    return (await find_verbs.find_more(services, find_verbs.FindMore(table=table_id))).run_id


async def found_rows(services: Services, table_id: str) -> FoundRows:
    return await find_verbs.get_found(services, TableRequest(table=table_id))


async def ask(services: Services, question: str, conversation: str = "", *, agreed: bool = False) -> Reply:
    request = ask_verbs.AskDocuments(question=question, conversation=conversation, agreed=agreed)
    return await ask_verbs.ask_documents(services, request)


async def look_up(services: Services, form: Form, conversation: str = "") -> Reply:
    return await ask_verbs.query_documents(services, form, conversation)


async def more_rows(services: Services, conversation: str) -> Reply:
    return await ask_verbs.ask_documents(services, ask_verbs.AskDocuments(rest=True, conversation=conversation))


async def export_result(services: Services, result: str, path: Path) -> int:
    return (await ask_verbs.export_result(services, ask_verbs.ExportResult(result=result), path=path)).rows


async def list_conversations(services: Services) -> list[str]:
    """Return the ids."""
    found = await ask_verbs.list_conversations(services, ListRequest())
    return [each.conversation for each in found.conversations]


async def get_conversation(services: Services, conversation: str) -> ask_verbs.ConversationShown:
    return await ask_verbs.get_conversation(services, ask_verbs.ConversationRequest(conversation=conversation))


# ── research ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def begin_research(
    services: Services, asked: ResearchRequest | str, *, brief: Brief | None = None, max_tasks: int | None = None
) -> Research:
    more = {"question": asked} if isinstance(asked, str) else msgspec.structs.asdict(asked)
    request = research_verbs.StartResearch(**more, brief=brief, max_searches=max_tasks)
    return await research_verbs.create_research(services, request)


async def run_research(
    services: Services,
    research_id: str,
    *,
    minutes: float | None = None,
    watch: Callable[[ResearchEvent], None] = lambda _: None,
) -> Research:
    request = research_verbs.ResumeResearch(research=research_id, minutes=minutes)
    await research_verbs.run_to_report(services, request, watch=watch)
    return await services.store.researches.get(research_id)


async def refine_research(services: Services, research_id: str, question: str) -> AnsweredFollowUp:
    return await research_verbs.ask_follow_up(
        services, research_verbs.AskFollowUp(research=research_id, question=question)
    )


# ── shortlist ───────────────────────────────────────────────────────────────────────────────────────────────────────


async def shortlist_turn(
    services: Services, shortlist_id: str, message: str, **more: Any
) -> tuple[ShortlistState, ChatReply]:
    request = shortlist_verbs.TakeTurn(shortlist=shortlist_id, message=message)
    taken = await shortlist_verbs.take_turn(services, request, **more)
    return taken.shortlist, taken.reply
