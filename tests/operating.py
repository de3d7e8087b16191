"""Operations as tests call them: by the values that matter to them, without the requests."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tablewright.operations import documents as verbs
from tablewright.services import Services


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
    return (await verbs.list_document_tables(services, verbs.ListDocumentGroups())).tables
