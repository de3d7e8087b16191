"""Where things lie on the server's disk is not told to others."""

from __future__ import annotations

from pathlib import Path

import pytest

from tablewright.errors import BadFile, StoreError
from tablewright.operations.paths import make_path_hider
from tablewright.settings import Settings
from tests.interfaces.server.serving import TOKEN, error_of, served

RECEIPT = b"Receipt\nDate: 2024-03-01\nItem: winter tires\nTotal: 412.50 EUR\n"


def test_the_folder_that_was_installed_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tablewright.operations.paths.pip_target", lambda: "/opt/src/tablewright")
    hide = make_path_hider(Settings(home="/srv/tables/kept"))
    assert hide("pip install '/opt/src/tablewright[ocr]'") == "pip install 'tablewright[ocr]'"


def test_paths_are_cut_to_their_last_part() -> None:
    hide = make_path_hider(Settings(home="/srv/tables/kept"))
    for said, shown in (
        ("sqlite:////srv/tables/kept/tablewright.db, tables: 3", "sqlite:///tablewright.db, tables: 3"),
        ("The folder /srv/tables/kept is read-only.", "The folder kept is read-only."),
        ("'/srv/tables/kept/uploads/3f/a.pdf' cannot be read", "'a.pdf' cannot be read"),
        ("/srv/tables/keptaway/a.csv is not ours", "/srv/tables/keptaway/a.csv is not ours"),
        ("See /api/v1/openapi.json.", "See /api/v1/openapi.json."),
        (f"{Path.home()}/x/model.gguf", "model.gguf"),
    ):
        assert hide(said) == shown


def test_no_answer_to_others_says_where_the_files_are(tmp_path: Path) -> None:
    """Errors, the doctor, documents, answers and what is exported of them; the owner is told."""
    home = tmp_path / "home-of-the-server"

    def with_routes(app: object) -> None:
        @app.get("/api/v1/broken")  # type: ignore[attr-defined, untyped-decorator]
        async def broken() -> None:
            raise BadFile(f"{home}/uploads/3f/a.csv is no table.", kept=f"{home} is as it was.")

        @app.get("/api/v1/away")  # type: ignore[attr-defined, untyped-decorator]
        async def away() -> None:
            raise StoreError("postgresql://me@10.0.0.7/tables is gone.", public="The database is gone.")

    with served(home, token=TOKEN, more=with_routes) as server, server.client(server.add_user("ann", "editor")) as ann:
        handed = ann.post("/api/v1/documents", files=[("files", ("receipt.txt", RECEIPT))], data={"kind": "receipt"})
        reply = ann.post("/api/v1/ask", json={"question": "all receipts that contain tires"}).json()
        answers = [
            handed,
            ann.get("/api/v1/broken"),
            ann.get("/api/v1/away"),
            ann.get("/api/v1/doctor"),
            ann.get("/api/v1/documents"),
            ann.get("/api/v1/runs"),
            ann.get(f"/api/v1/results/{reply['result_id']}/export"),
            ann.get("/api/v1/results/no-such-result/export"),
            ann.post("/api/v1/tables/import", files={"file": ("a.xlsx", b"\x00\xff" * 100)}),
        ]
        for answer in answers:
            assert str(tmp_path) not in answer.text, answer.url
            assert "10.0.0.7" not in answer.text
        assert error_of(answers[1])["message"] == "a.csv is no table."
        assert error_of(answers[2])["message"] == "The database is gone."
        assert "receipt.txt" in answers[6].text
        with server.client(TOKEN) as owner:
            assert str(home) in owner.get("/api/v1/doctor").text
