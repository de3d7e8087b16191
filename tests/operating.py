"""Operations as tests call them: by the values that matter to them, without the requests."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tablewright.app import Tablewright
from tablewright.operations import documents as verbs


async def add_documents(
    tablewright: Tablewright, paths: Iterable[str | Path], kind: str = "", workers: int = 0
) -> verbs.DocumentsAdded:
    request = verbs.AddDocuments(paths=tuple(map(str, paths)), kind=kind)
    return await verbs.add_documents(tablewright, request, workers=workers)


async def remove_documents(tablewright: Tablewright, names: Iterable[str]) -> tuple[verbs.DocumentShown, ...]:
    return (await verbs.remove_documents(tablewright, verbs.RemoveDocuments(documents=tuple(names)))).removed


async def set_kind(tablewright: Tablewright, names: Iterable[str], kind: str) -> None:
    await verbs.set_kind(tablewright, verbs.SetKind(documents=tuple(names), kind=kind))


async def list_groups(tablewright: Tablewright) -> Any:
    return (await verbs.list_document_tables(tablewright, verbs.ListDocumentGroups())).tables
