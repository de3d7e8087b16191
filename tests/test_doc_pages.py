"""The commands and programs of the other pages, run one after another as they stand, in the folder they presuppose: on
the sample web and the sample papers, without a model. `NOT_RUN` says what is left out, and why."""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from tablewright.sample.documents import sample_files
from tests.homes import new_home
from tests.interfaces.conftest import Shell
from tests.test_doc_commands import PAGES, ROOT, answering, blocks, commands

# The first two are run in test_doc_commands.py; the last names every command, with placeholders.
ELSEWHERE = {"README.md", "tour.md", "cli.md"}

NOT_RUN = {
    "serve": "waits for requests: tests/interfaces/server",
    "mcp": "waits for requests: tests/interfaces/mcp",
    "worker": "waits for runs: tests/engine/runs",
    "runs cancel": "needs a run that is under way: tests/engine/runs/test_durable.py",
    "shortlist": "waits for its user: tests/interfaces/test_cli_shortlist.py",
    "models pull": "needs the internet: tests/llm/test_pull.py",
    "enrich products.csv --strategy transform": "needs a model: tests/strategies/test_transform.py",
    "enrich companies.csv --strategy labels": "needs the file of its page: tests/strategies/test_row_functions.py",
    "enrich companies.csv --strategy register": "needs the package of its page: tests/strategies/test_packages.py",
}

FOLDER = {
    "companies.csv": "Company\nBrightwater Foods\nKestrelworks\n",
    "works.csv": "Company\n" + "".join(f"Works {number}\n" for number in range(1, 7)),
    "mills.csv": "Company\n" + "".join(f"Mill {number}\n" for number in range(1, 7)),
    "suppliers.csv": "Supplier\nBrightwater Foods\n",
    "sales.csv": "Name,Price,Quantity\nTea,2,3\n",
    "lease.txt": "Lease\n\nThe rent is 900 EUR a month.\n",
    "invoices/hollin.txt": "Invoice\n\nSupplier: Hollin\nDate: 2026-03-04\nTotal: 812.00 EUR\n",
    "lists/items.csv": "item,stock\n" + "".join(f"Item {number},{number}\n" for number in range(1, 9)),
    "lists/staff.csv": "position,pay\nmanager,4100\n" + "".join(f"clerk,{2900 + pay}\n" for pay in range(5)),
}

FOUNDED = "Founded:number=What year was {Company} founded?"

# What the page takes for granted when it comes to a command.
BEFORE = {
    "docs tables": [["docs", "add", "invoices", "--kind", "invoice"], ["docs", "add", "lists"]],
    "enrich companies": [["tables", "import", "companies.csv"]],
    "tables refresh sales": [["enrich", "sales.csv", "--yes", "--field", "Total:number={Price} * {Quantity}"]],
    "tables recheck": [["enrich", "companies.csv", "--yes", "--field", FOUNDED]],
    "runs list": [["enrich", "mills.csv", "--field", FOUNDED], ["tables", "import", "companies.csv"]],
    "users add": [["tables", "import", "companies.csv"]],
    "share table companies --with ann --with bob": [["users", "add", "ann"], ["users", "add", "bob"]],
    "share document": [["docs", "add", "lease.txt"]],
    "share research": [["research", "What does the Lagoon plan of Parrotfish Cloud cost?"]],
}

# Runs for which the search engine is down: the page shows how they end, and how to go on with one.
PAUSED = ("enrich works.csv", "enrich mills.csv")

# How an id of the page looks, and where the command that makes one says the real one.
IDS = {
    r"r\w{9}": r"[Rr]un (r\w{9})",
    r"d\w{9}": r"Research (d\w{9})",
    r"k\w{8}": r"│ (k\w+) ",
}


def folder_of_a_reader(folder: Path) -> None:
    for name, text in FOLDER.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    for kind in ("receipts", "datasheets"):
        for paper in [each for each in sample_files() if each.name.startswith(kind)][:2]:
            (folder / kind).mkdir(exist_ok=True)
            (folder / paper.name).write_bytes(paper.content)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name not in ELSEWHERE and commands(page)], ids=lambda page: page.name
)
def test_the_commands_of_a_page_run_one_after_another(page: Path, tmp_path: Path) -> None:
    folder_of_a_reader(tmp_path)
    new_home(tmp_path / "home")
    shell = Shell(tmp_path, TABLEWRIGHT_FETCH_DELAY="0")
    known: dict[str, str] = {}
    prepared: set[str] = set()

    is_down = False

    def run(arguments: list[str]) -> None:
        nonlocal is_down
        is_down = " ".join(arguments).startswith(PAUSED)
        given = [next((known[i] for i in IDS if i in known and re.fullmatch(i, word)), word) for word in arguments]
        shell.environ["TABLEWRIGHT_SEARCH"] = f"searxng:{engine}" if is_down else "sample"
        done = shell(*given, code=1 if is_down else 0)
        for shape, said in IDS.items():
            if found := re.search(said, done.stdout + done.stderr):
                known[shape] = found[1]

    with answering(lambda path, q: None if is_down else {"results": []}) as engine:
        for arguments in commands(page):
            line = " ".join(arguments)
            if line.startswith(tuple(NOT_RUN)):
                continue
            for start in [start for start in BEFORE if line.startswith(start) and start not in prepared]:
                prepared.add(start)
                for each in BEFORE[start]:
                    run(each)
            run(arguments)


def test_what_is_not_run_is_still_on_a_page() -> None:
    lines = [" ".join(arguments) for page in PAGES if page.name not in ELSEWHERE for arguments in commands(page)]
    for left_out in (*NOT_RUN, *BEFORE):
        assert any(line.startswith(left_out) for line in lines), left_out


# Those of the other pages are run by tests of their own; see test_docs.py, models/test_docs.py, strategies, search.
PROGRAMS = ("files.md", "research.md", "runs.md", "shortlist.md")


@pytest.mark.parametrize("name", PROGRAMS)
async def test_the_programs_of_a_page_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder_of_a_reader(tmp_path)
    new_home(tmp_path / "home")
    Shell(tmp_path)("tables", "import", "companies.csv")
    monkeypatch.chdir(tmp_path)
    for setting, value in (("HOME", str(tmp_path / "home")), ("SEARCH", "sample"), ("FETCH_DELAY", "0")):
        monkeypatch.setenv(f"TABLEWRIGHT_{setting}", value)
    for program in blocks(ROOT / "docs" / name, "python"):
        names: dict[str, Any] = {}
        done = eval(compile(program, name, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), names)
        if inspect.iscoroutine(done):
            await done
