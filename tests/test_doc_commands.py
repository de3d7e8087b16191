"""Every command and program that the pages show: each can be understood, and those of the README, the tour and the
page that compares are run as they stand. The other pages are run in test_doc_pages.py."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import doctest
import io
import json
import os
import re
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import typer

from tablewright.interfaces.cli.main import app
from tablewright.sample.documents import sample_files
from tablewright.services import Services
from tests.homes import new_home
from tests.interfaces.conftest import Shell
from tests.llm.endpoint import refusal, running_endpoint

ROOT = Path(__file__).parents[1]
# The examples of adding.md change the source first; tests/test_adding.py runs them.
PAGES = [ROOT / "README.md", *(page for page in sorted((ROOT / "docs").glob("*.md")) if page.name != "adding.md")]
SHELLS = ("", "sh", "bash")
# What waits for somebody; it is started by tests of its own (tests/interfaces, tests/engine/runs).
STAYS = {("serve",), ("mcp",), ("worker",), ("shortlist",), ("proposals", "review")}


def blocks(page: Path, *languages: str) -> list[str]:
    found = re.findall(r"^```([^\n]*)\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return [body for language, body in found if language.strip() in languages]


def commands(page: Path) -> list[list[str]]:
    """The arguments of each command of the page, without what is said beside it."""
    found = []
    for body in blocks(page, *SHELLS):
        for line in body.replace("\\\n", " ").splitlines():
            line = re.split(r"(?<=\S) {3,}(?=[^-\s\"'])", line.removeprefix("$ "))[0]
            words = shlex.split(line, comments=True) if "tablewright " in line else []
            while words and re.match(r"[A-Z_]+=", words[0]):
                words.pop(0)
            if words[:1] == ["tablewright"]:
                found.append(words[1:])
    return found


@pytest.mark.parametrize("page", [page for page in PAGES if commands(page)], ids=lambda page: page.name)
def test_every_command_of_a_page_is_one(page: Path) -> None:
    for arguments in commands(page):
        understand(arguments)


def understand(arguments: list[str]) -> None:
    """Raises what the command line would say to them; runs nothing."""
    command: Any = typer.main.get_command(app)
    context = command.make_context("tablewright", list(arguments))
    rest = [*context._protected_args, *context.args]
    while hasattr(command, "resolve_command"):
        name, command, rest = command.resolve_command(context, rest)
        context = command.make_context(name, list(rest), parent=context)
        rest = [*getattr(context, "_protected_args", ()), *context.args]


# ── run as they stand ────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    new_home(tmp_path / "home")
    return Shell(tmp_path, TABLEWRIGHT_FETCH_DELAY="0")


def test_the_commands_of_the_readme_run(shell: Shell) -> None:
    page = ROOT / "README.md"
    _, block = blocks(page, "sh")
    make_files(shell.folder, block)
    enrich, serve = commands(page)
    assert "2009" in shell(*enrich).stdout
    assert serve == ["serve"]


async def test_the_commands_of_the_tour_run_one_after_another(shell: Shell) -> None:
    page = ROOT / "docs" / "tour.md"
    for block in blocks(page, *SHELLS):
        make_files(shell.folder, block)
    shell.write("sales.csv", next(block for block in blocks(page, "") if block.startswith("First,Last")))
    known: dict[str, str] = {}
    async with running_endpoint() as endpoint:
        endpoint.otherwise = lambda request: refusal(401, "No.")
        shell.environ |= {"TABLEWRIGHT_MODEL_BASE_URL": endpoint.url, "TABLEWRIGHT_MODEL_API_KEY": "k"}
        for arguments in commands(page):
            if tuple(arguments[:1]) in STAYS or tuple(arguments[:2]) in STAYS:
                continue
            given = [known.get(word, word) for word in arguments]
            if "--model" in given:
                before = len(endpoint.asked)
                await asyncio.to_thread(shell._run, tuple(given), "")
                assert len(endpoint.asked) > before, given
                continue
            is_done = given[:2] == ["runs", "resume"]  # nothing is left of it to resume, and that is said
            done = await asyncio.to_thread(shell, *given, code=2 if is_done else 0)
            told = f"{done.stdout}\n{done.stderr}"
            for name, pattern in (("PROPOSAL", r"proposals \w+ (p\w{9})"), ("RUN", r"--run (r\w{9})")):
                if found := re.findall(pattern, told):
                    known[name] = found[-1]
    assert known.keys() == {"PROPOSAL", "RUN"}


def make_files(folder: Path, block: str) -> None:
    """What a block writes with `printf` or `python -m`, by the shell itself."""
    lines = [line for line in block.splitlines() if line.startswith(("printf ", "python -m "))]
    environ = os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run(["sh", "-ec", "\n".join(lines)], cwd=folder, env=environ, check=True, capture_output=True)


@contextmanager
def answering(respond: Callable[[str, str], Any]) -> Iterator[str]:
    """A server that answers a path and its `q` with JSON or a page; its address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            parts = urlsplit(self.path)
            found = respond(parts.path, parse_qs(parts.query).get("q", [""])[0])
            self.send_response(404 if found is None else 200)
            self.send_header("Content-Type", "text/html" if isinstance(found, str) else "application/json")
            self.end_headers()
            self.wfile.write(found.encode() if isinstance(found, str) else json.dumps(found).encode())

        def log_message(self, *told: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], str]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TABLEWRIGHT_FETCH_DELAY", "0")

    def running(program: str) -> str:
        assert len([line for line in program.splitlines() if line.strip()]) <= 10
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(program, "program", "exec"), {})
        return printed.getvalue()

    return running


PROGRAMS = blocks(ROOT / "docs" / "compare.md", "python")


def test_the_five_programs_beside_others_run(run: Callable[[str], str], monkeypatch: pytest.MonkeyPatch) -> None:
    frame, register, intranet, papers, research = PROGRAMS
    assert "Founded: 1987" in run(frame)

    companies = {"Quillon": {"Seat": "Aldermoor", "Staff": "31 people"}}
    with answering(lambda path, q: companies.get(q, {})) as address:
        monkeypatch.setenv("REGISTER", f"{address}/companies")
        assert "{'Company': 'Quillon', 'Seat': 'Aldermoor', 'Staff': 31}" in run(register)

    def rooms(path: str, q: str) -> Any:
        if path == "/search":
            return [{"url": f"{address}/rooms", "title": "Aurora", "text": "Aurora: our meeting room"}]
        if path == "/rooms":
            return "<title>Aurora</title><h1>Aurora</h1><p>The meeting room Aurora has 24 seats.</p>"
        return None

    with answering(rooms) as address:
        monkeypatch.setenv("INTRANET", address)
        assert "The meeting room Aurora has 24 seats." in run(intranet)

    for paper in [each for each in sample_files() if each.name.startswith("datasheets") and each.name.endswith(".pdf")][
        :2
    ]:
        path = Path("papers", paper.name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(paper.content)
    assert "Weight | 21.3 | 1 | Weight: 21.3 kg" in run(papers)

    example = (ROOT / "examples" / "research_claims.py").read_text(encoding="utf-8")
    question = re.search(r"tw\.research\(.*", research)
    assert question is not None
    assert question[0] in example, "tests/test_examples.py runs it with recorded answers"


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.name)
def test_every_program_of_a_page_can_be_read_and_names_what_there_is(page: Path) -> None:
    for program in blocks(page, "python"):
        if program.startswith(">>>"):
            tried = doctest.DocTestParser().get_doctest(program, {}, page.name, None, None)
            assert doctest.DocTestRunner(verbose=False).run(tried).failed == 0
            continue
        tree = compile(program, page.name, "exec", ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        for node in ast.walk(tree):
            if isinstance(node, ast.Import | ast.ImportFrom):
                exec(compile(ast.Module([node], []), page.name, "exec"), {})
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "tablewright":
                assert hasattr(Services, node.attr) or node.attr == "changes", f"tablewright.{node.attr}"
