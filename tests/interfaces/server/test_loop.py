"""What takes long for a large input is done outside of the event loop; `bench/loop.py` measures it by the clock."""

from __future__ import annotations

import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tablewright.documents import ingest
from tablewright.domain.model import Field, Table
from tablewright.interfaces.page.table.grid import grid_columns
from tablewright.operations.files import preview_file
from tablewright.workflows import files
from tablewright.workflows.ask import query_rows, where
from tests.growth import grows_in_proportion
from tests.interfaces.server.serving import served

HEAVY = (
    (files, "read_mappings"),
    (ingest, "texts_to_embed"),
    (ingest, "attach_vectors"),
    (query_rows, "group_rows_by_header"),
    (query_rows, "describe_row_table"),
    (where, "summarise_group"),
    (files, "preview_rows"),
)


def test_rows_documents_and_questions_are_worked_on_in_other_threads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: dict[str, set[int]] = {name: set() for _, name in HEAVY}

    def note(module: ModuleType, name: str) -> None:
        work = getattr(module, name)

        def noted(*given: Any, **named: Any) -> Any:
            threads[name].add(threading.get_ident())
            return work(*given, **named)

        monkeypatch.setattr(module, name, noted)

    for module, name in HEAVY:
        note(module, name)
    with served(tmp_path) as server, server.client() as http:

        async def loop_thread(_: object) -> int:
            return threading.get_ident()

        of_loop = server.do(loop_thread)
        http.post("/api/v1/tables", json={"name": "t", "rows": [{"A": "x"}]}).raise_for_status()
        table = "| Part | Price |\n|---|---|\n" + "| Bolt | 3 |\n" * 4
        http.post("/api/v1/documents", files={"files": ("parts.md", table.encode())}).raise_for_status()
        http.post("/api/v1/ask", json={"question": "What does a bolt cost?"}).raise_for_status()
        (tmp_path / "rows.csv").write_text("A\nx\n")
        server.do(lambda services: preview_file(services, tmp_path / "rows.csv"))
    assert all(threads.values()), threads
    assert not any(of_loop in used for used in threads.values()), threads


def test_the_columns_of_a_wide_table_are_laid_out_in_proportion_to_their_number() -> None:
    def laid_out(count: int) -> list[dict[str, Any]]:
        fields = tuple(Field(name=f"Column {number}") for number in range(count))
        return grid_columns(Table(id="t", name="t", fields=fields), (), may_edit=True)

    assert [column["colId"] for column in laid_out(2)][1:] == ["Column 0", "Column 1"]
    assert grows_in_proportion(laid_out, 16_000)
