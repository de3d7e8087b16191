"""The core works with none of the extras installed, stays small, and names the extra that something takes."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tomllib
from functools import cache
from importlib.metadata import Distribution, packages_distributions, requires
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tablewright import extras
from tablewright.extras import EXTRA_MODULES
from tests.patience import PATIENCE

ROOT = Path(__file__).parents[1]
MOST_PACKAGES = 62

# Before a program: nothing but the core can be imported.
WITHOUT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED or name in ("google.genai", "opentelemetry.sdk"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Missing())
"""

PROGRAM = """
import asyncio, json
from pathlib import Path

import tablewright as tw
from tablewright.domain.research import Report
from tablewright.interfaces.cli.demo import fill_judged_columns
from tablewright.formats.reports.write import render_report
from tablewright.sample.model import RecordedModel

for name in tw.__all__:
    getattr(tw, name)


def doubled(row):
    return {"Twice": row["Word"] * 2}


def problem(work):
    try:
        work()
    except tw.MissingExtra as error:
        return str(error)


rows = [{"Word": "ab", "Price": 2, "Count": 3}]
columns = {"Sum:number": "{Price} * {Count}"}
told = {
    "sum": tw.enrich(rows, columns, home="kept").column("Sum"),
    "twice": tw.enrich(rows, {"Twice": "Say it twice."}, strategy=doubled).column("Twice"),
    "report": render_report(Report(title="Kettles", question="Which?", report_type="answer"), "html").decode(),
    "page": problem(lambda: tw.enrich(rows, {"Maker": "Who makes {Word}?"}, search="sample")),
    "documents": problem(lambda: tw.ask(".", "What is it?")),
}
for model in ("openai", "ollama", "anthropic", "google"):
    told[model] = problem(lambda: tw.research("What is it?", model=f"{model}:name", model_api_key="k", search="sample"))

for module in OPENAI:
    BLOCKED.discard(module)
with RecordedModel() as model:
    report, cells = asyncio.run(fill_judged_columns(Path("judged"), model.url))
told["judged"] = {name: cell.value for name, cell in cells.items()}
print(json.dumps(told))
"""


@cache
def installed(*extras: str) -> frozenset[str]:
    """The names of all packages that `pip install tablewright` brings, here, with these extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *(line for of in extras for line in project["optional-dependencies"][of])]
    waiting = [Requirement(line) for line in lines]
    found: set[str] = set()
    seen: set[tuple[str, ...]] = set()
    while waiting:
        each = waiting.pop()
        name = canonicalize_name(each.name)
        found.add(name)
        if (name, *sorted(each.extras)) in seen:
            continue
        seen.add((name, *sorted(each.extras)))
        needed = [Requirement(line) for line in requires(name) or ()]
        waiting += [
            need
            for need in needed
            if need.marker is None or any(need.marker.evaluate({"extra": of}) for of in ("", *each.extras))
        ]
    return frozenset(found)


def modules_beside(packages: frozenset[str]) -> set[str]:
    """What can be imported here and belongs to none of the packages."""
    ours = {*packages, "tablewright", "pip", "setuptools"}
    return {
        module
        for module, owners in packages_distributions().items()
        if not {canonicalize_name(owner) for owner in owners} & ours
    }


def run_with_the_core(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    blocked = modules_beside(installed())
    names = f"BLOCKED = {blocked!r}\nOPENAI = {blocked - modules_beside(installed('openai'))!r}\n"
    command = [sys.executable, "-c", names + WITHOUT + program]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False)


def test_the_core_has_few_packages() -> None:
    assert len(installed()) + 1 <= MOST_PACKAGES, sorted(installed())
    assert not installed() & {"fastapi", "nicegui", "numpy", "openai", "anthropic", "google-genai", "pypdfium2"}


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    done = run_with_the_core(PROGRAM, tmp_path_factory.mktemp("core"))
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_the_core_fills_a_table_by_a_formula_and_by_a_function(told: dict[str, Any]) -> None:
    assert told["sum"] == [6]
    assert told["twice"] == ["abab"]


def test_the_core_writes_a_report_as_a_page(told: dict[str, Any]) -> None:
    assert '<h1 dir="auto">Kettles</h1>' in told["report"]


def test_with_a_model_pages_are_read_without_any_other_extra(told: dict[str, Any]) -> None:
    assert told["judged"]["Kestrelworks / Customers"] == "businesses"


@pytest.mark.parametrize(
    ("asked", "extra"),
    [
        ("page", "documents"),
        ("documents", "documents"),
        ("openai", "openai"),
        ("ollama", "openai"),
        ("anthropic", "anthropic"),
        ("google", "google"),
    ],
)
def test_an_error_names_the_extra_and_its_command(told: dict[str, Any], asked: str, extra: str) -> None:
    assert told[asked].endswith(
        f"needs the extra '{extra}', which is not installed. Run `{extras.install_command(extra)}`."
    )


def test_serving_without_the_server_says_what_it_takes(tmp_path: Path) -> None:
    program = "sys.argv = ['tablewright', 'serve', '--port', '0']\nfrom tablewright.interfaces.cli import main\nmain()"
    done = run_with_the_core(program, tmp_path)
    assert done.returncode == 2
    assert extras.install_command("server") in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("origin", "named"),
    [
        ('{"url": "file://CLONE", "dir_info": {}}', "CLONE"),
        ('{"url": "file://CLONE/gone", "dir_info": {}}', "tablewright"),
        ('{"url": "https://example.org/tablewright.zip"}', "tablewright"),
        (None, "tablewright"),
    ],
)
def test_the_command_names_the_folder_that_was_installed(
    origin: str | None, named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").touch()
    record = tmp_path / "tablewright-1.dist-info"
    record.mkdir()
    (record / "METADATA").write_text("Name: tablewright\nVersion: 1\n")
    if origin is not None:
        (record / "direct_url.json").write_text(origin.replace("CLONE", str(tmp_path)))
    monkeypatch.setattr(extras, "distribution", lambda name: Distribution.at(record))
    extras.pip_target.cache_clear()
    try:
        assert extras.install_command("ocr") == f"pip install '{named.replace('CLONE', str(tmp_path))}[ocr]'"
    finally:
        extras.pip_target.cache_clear()


def test_every_extra_is_declared_and_a_part_of_all() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = project["optional-dependencies"]
    assert declared.keys() - {"all", "dev"} == EXTRA_MODULES.keys()
    (everything,) = map(Requirement, declared["all"])
    assert everything.extras == EXTRA_MODULES.keys()


def test_the_extra_dev_brings_all_that_tests_and_scripts_import() -> None:
    """So that `pip install ".[dev]"` is enough, without the lock."""
    files = [
        file for folder in ("tests", "bench", "scripts", "evals", "examples") for file in (ROOT / folder).rglob("*.py")
    ]
    imported = {module for file in files for module in imports_of(file)}
    assert {"pytest", "playwright", "xlsxwriter"} <= imported
    assert imported & modules_beside(installed("dev")) == set()


def imports_of(file: Path) -> set[str]:
    """The top-level names of what a file imports."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module.partition(".")[0])
    return found
