"""Every file of examples/ runs, and prints what it promises."""

from __future__ import annotations

import ast
import asyncio
import json
import os
import runpy
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import date
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import CodeType
from typing import Any
from urllib.parse import parse_qs, urlsplit

import mcp.client.stdio  # noqa: F401  # it keeps the stderr it is imported with: one that a process can write to
import pytest

from tablewright.operations import research as research_verbs
from tablewright.sample.documents import sample_files
from tablewright.services import Services
from tests.interfaces.server.serving import TOKEN, served
from tests.recorded import Recording, replayed

EXAMPLES = Path(__file__).parents[1] / "examples"

Run = Callable[..., list[str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs an example in a folder of its own; the lines that it prints."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TABLEWRIGHT_FETCH_DELAY", "0")

    def running(name: str, *arguments: str) -> list[str]:
        monkeypatch.setattr("sys.argv", [name, *arguments])
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
        return capsys.readouterr().out.splitlines()

    return running


@contextmanager
def answering(respond: Callable[[str, str], str | None]) -> Iterator[str]:
    """A server that answers a path and its `q`; its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            text = respond(parts.path, parse_qs(parts.query).get("q", [""])[0])
            self.send_response(404 if text is None else 200)
            self.send_header("Content-Type", "application/json" if (text or "")[:1] in "[{" else "text/html")
            self.end_headers()
            self.wfile.write((text or "").encode())

        def log_message(self, *told: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def test_a_data_frame_in_and_out(run: Run) -> None:
    lines = run("dataframe.py")
    assert [line.split() for line in lines[1:3]] == [
        ["a", "Brightwater", "Foods", "1987"],
        ["b", "Kestrelworks", "2009"],
    ]
    assert "Kestrelworks | 2009 | Founded: 2009" in lines


def test_a_pydantic_class_as_columns(run: Run) -> None:
    brightwater, quillon = run("pydantic_columns.py")
    assert brightwater.startswith("founded=1987 employees=")
    assert quillon.startswith("founded=2016 employees=None |")


def test_a_folder_of_documents_becomes_a_table(run: Run) -> None:
    for paper in [each for each in sample_files() if each.name.startswith("datasheets") and each.name.endswith(".pdf")][
        :3
    ]:
        path = Path("papers", paper.name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(paper.content)
    lines = run("documents_to_table.py")
    assert lines[0] == "alphameadow-am-410.pdf | 21.3 | 21"
    assert lines[3] == "alphameadow-am-410.pdf | Weight | 21.3 | 1 | Weight: 21.3 kg"


def test_rows_answered_by_an_http_api(run: Run) -> None:
    register = {"Quillon": {"Seat": "Aldermoor", "Staff": "31 people"}}
    with answering(lambda path, q: json.dumps(register.get(q, {}))) as address:
        rows, reason = run("http_strategy.py", f"{address}/companies")
    assert ast.literal_eval(rows) == [
        {"Company": "Quillon", "Seat": "Aldermoor", "Staff": 31},
        {"Company": "Nobody", "Seat": None, "Staff": None},
    ]
    assert reason == "not_found"


def test_a_search_engine_of_your_own(run: Run) -> None:
    def intranet(path: str, q: str) -> str | None:
        if path == "/search":
            return json.dumps([{"url": f"{address}/rooms", "title": "Aurora", "text": "Aurora: our meeting room"}])
        return (
            "<title>Aurora</title><h1>Aurora</h1><p>The meeting room Aurora has 24 seats.</p>"
            if path == "/rooms"
            else None
        )

    with answering(intranet) as address:
        assert run("search_provider.py", address) == ["24 The meeting room Aurora has 24 seats."]


async def test_a_report_with_its_claims(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    opening = research_verbs.open_researcher

    async def on_the_recorded_day(services: Services, **how: Any) -> Any:
        researcher = await opening(services, **how)
        researcher._today = lambda: date(2026, 11, 17)
        return researcher

    monkeypatch.setattr(research_verbs, "open_researcher", on_the_recorded_day)
    recording = Recording.load("research_report")
    async with replayed(recording) as endpoint:
        settings = {"model": "openai:recorded", "model_base_url": endpoint.url, "model_window": "128000"}
        for name, value in (settings | {"concurrency": "1", "attempts": "1"}).items():
            monkeypatch.setenv(f"TABLEWRIGHT_{name.upper()}", value)
        lines = await asyncio.to_thread(run, "research_claims.py")
    claimed = [f"{verdict} | {text}" for text, verdict in recording.result["claims"]]
    assert claimed
    assert [line for line in lines if line in claimed] == claimed


def test_a_session_over_rest(run: Run, tmp_path: Path) -> None:
    with served(tmp_path / "home", token=TOKEN) as server:
        lines = run("rest_session.py", server.url, TOKEN)
    assert lines == ["done 2", "Company,Founded", "Brightwater Foods,1987", "Kestrelworks,2009", ""]


def test_a_session_over_mcp(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLEWRIGHT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    filled, sources, cells, rows = run("mcp_session.py")
    assert filled.startswith("[[1, 'Brightwater Foods', 1987], [2, 'Kestrelworks', 2009]] {'1.Founded': 'high ")
    assert "Established: 2009" in sources
    assert (cells, rows) == ("2", "[[1, 'Brightwater Foods', 1987], [2, 'Kestrelworks', 2009]]")


def test_an_error_of_a_tool_ends_the_session_over_mcp(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server is a stand-in, named like ours, whose tools all fail."""
    server = tmp_path / "bin" / "tablewright"
    server.parent.mkdir()
    server.write_text(
        f"#!{sys.executable}\n"
        "from mcp.server.mcpserver import MCPServer\n"
        "from mcp.server.mcpserver.exceptions import ToolError\n"
        "server = MCPServer('full')\n"
        "def add_rows(csv: str, name: str) -> str:\n"
        "    raise ToolError('The disk is full.')\n"
        "server.add_tool(add_rows)\n"
        "server.run()\n"
    )
    server.chmod(0o755)
    monkeypatch.setenv("PATH", str(server.parent), prepend=os.pathsep)
    with pytest.raises(BaseException) as stopped:  # noqa: PT011  # wrapped in groups by the client
        run("mcp_session.py")
    assert "The disk is full." in "".join(traceback.format_exception(stopped.value))


async def test_the_notebook_runs_cell_by_cell_where_a_loop_runs_already(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLEWRIGHT_FETCH_DELAY", "0")
    cells = json.loads((EXAMPLES / "notebook.ipynb").read_text(encoding="utf-8"))["cells"]
    names: dict[str, Any] = {}
    shown = [await shown_by("".join(cell["source"]), names) for cell in cells if cell["cell_type"] == "code"]
    assert "1987" in shown[0]._repr_html_()
    assert list(shown[1]["value"]) == [1987, 1987, 2009, 2009]
    assert shown[2]["Age"].tolist() == [39, 17]


async def shown_by(source: str, names: dict[str, Any]) -> Any:
    """What a notebook shows below a cell: the value of its last expression."""
    tree = ast.parse(source)
    last = tree.body[-1]
    assert isinstance(last, ast.Expr)
    tree.body[-1] = ast.copy_location(ast.Assign([ast.Name("_shown", ast.Store())], last.value), last)
    code: CodeType = compile(ast.fix_missing_locations(tree), "notebook", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    done = eval(code, names)
    if asyncio.iscoroutine(done):
        await done
    return names["_shown"]


def test_every_example_is_listed() -> None:
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    there = [path.name for path in EXAMPLES.iterdir() if path.suffix in (".py", ".ipynb")]
    assert [name for name in there if f"({name})" not in listed] == []
