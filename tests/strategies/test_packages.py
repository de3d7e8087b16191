"""Strategies of other packages: the one of docs/strategies.md really built, installed and used; and the registry."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import threading
import venv
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import parse_qs, urlsplit

import pytest

from tablewright.errors import UsageError
from tablewright.strategies.strategy import (
    Parameter,
    Strategy,
    check_params,
    find_strategy,
    list_installed_strategies,
)
from tests.patience import PATIENCE

PAGE = Path(__file__).parents[2] / "docs" / "strategies.md"

POSTMAN = """
from tablewright.strategies.strategy import Strategy
from tablewright.domain.model import Finding

class Postman(Strategy):
    name, display_name, kind = "postman", "Postman", "action"

    def prepare(self, task, tools):
        async def answer(row, tell):
            with open("sent.txt", "a") as sent:
                sent.write(f"{row.key}\\n")
            return [Finding(field=field.name, value="sent", confidence=1.0) for field in task.fields]
        return answer
"""


# ── an environment with packages in it ───────────────────────────────────────────────────────────────────────────────


def files_of_the_page() -> dict[str, str]:
    """A block of code whose name stands above it."""
    blocks = re.findall(
        r"^`([\w.]+)`\n\n```\w+\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    return dict(blocks)


def write_package(folder: Path, module: str, code: str, strategy: str) -> Path:
    """Another package, with the pyproject.toml of the page for its own names."""
    folder.mkdir()
    project = files_of_the_page()["pyproject.toml"]
    project = project.replace("tablewright-register", module.replace("_", "-"))
    project = re.sub(r"^register = .*$", strategy, project, flags=re.MULTILINE)
    (folder / "pyproject.toml").write_text(project)
    (folder / f"{module}.py").write_text(code)
    return folder


@dataclass
class Environment:
    """A virtual environment of its own that sees what the running one has installed."""

    folder: Path

    @classmethod
    def make(cls, folder: Path) -> Environment:
        venv.create(folder, symlinks=True)
        (packages,) = folder.glob("lib/python*/site-packages")
        # Not a bare path: only `addsitedir` also follows the .pth file of an editable install.
        here = sysconfig.get_path("purelib")
        (packages / "outer.pth").write_text(f"import site; site.addsitedir({here!r})\n")
        return cls(folder)

    @property
    def python(self) -> str:
        return str(self.folder / "bin" / "python")

    def install(self, *packages: Path) -> None:
        pip = [sys.executable, "-m", "pip", "--python", self.python, "--disable-pip-version-check", "install"]
        offline = ["--quiet", "--no-index", "--no-deps", "--no-build-isolation", "--no-compile"]
        done = subprocess.run(
            [*pip, *offline, *map(str, packages)], capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"

    def run(self, folder: Path, *arguments: str, code: int = 0) -> str:
        """The installed command, in this environment."""
        command = Path(sysconfig.get_path("scripts")) / "tablewright"
        outside = {name: value for name, value in os.environ.items() if not name.startswith("TABLEWRIGHT_")}
        done = subprocess.run(
            [self.python, str(command), *arguments],
            cwd=folder,
            env={**outside, "TABLEWRIGHT_HOME": str(folder / "home"), "COLUMNS": "160", "NO_PROXY": "127.0.0.1"},
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == code, f"{arguments} gave {done.returncode}:\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def json(self, folder: Path, *arguments: str, code: int = 0) -> Any:
        return json.loads(self.run(folder, *arguments, "--json", code=code))


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    folder = tmp_path_factory.mktemp("packages")
    register = folder / "register"
    register.mkdir()
    for name, text in files_of_the_page().items():
        (register / name).write_text(text, encoding="utf-8")
    postman = write_package(folder / "postman", "postman", POSTMAN, 'postman = "postman:Postman"')
    broken = write_package(folder / "broken", "broken", "import nowhere_to_be_found\n", 'broken = "broken:Broken"')
    made = Environment.make(folder / "environment")
    made.install(register, postman, broken)
    return made


ANSWERS = {
    "Acme": (200, '{"name": "Acme", "parent": {"founded": 1850}, "founded": 1999,\n "staff": "1,999 employees"}'),
    "Böhm & Söhne": (200, '{"name": "Böhm & Söhne", "founded": 1921, "staff": null}'),
    "Dated": (200, '{"founded": 1, "staff": 7}'),
    "Secret": (403, "{}"),
    "Broken": (500, "{}"),
    "Garbled": (200, "<html>"),
}


@pytest.fixture(scope="module")
def register_url() -> Iterator[str]:
    class Register(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = parse_qs(urlsplit(self.path).query)
            status, body = ANSWERS.get(asked["q"][0], (404, "{}"))
            assert asked["country"] == ["DE"]
            self.send_response(status)
            self.send_header("Content-Type", "application/json; charset=utf-8")
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Register) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/companies?country=DE"
        server.shutdown()
        thread.join()


def test_the_command_lists_an_installed_strategy_and_one_that_cannot_be_loaded(
    environment: Environment, tmp_path: Path
) -> None:
    listed = environment.json(tmp_path, "strategies")
    by_name = {strategy["name"]: strategy for strategy in listed["strategies"]}
    assert {"computation", "pipeline", "postman", "register"} <= by_name.keys()
    assert by_name["postman"]["kind"] == "action"
    register = by_name["register"]
    assert (register["display_name"], register["kind"], register["concurrency"], register["max_steps"]) == (
        "Company register",
        "enrichment",
        4,
        1,
    )
    assert [(each["name"], each["default"], each["least"], each["most"]) for each in register["parameters"]] == [
        ("url", "", None, None),
        ("timeout", "10", 1, 120),
    ]
    (broken,) = listed["broken"]
    assert broken["name"] == "broken"
    assert "ModuleNotFoundError: No module named 'nowhere_to_be_found'" in broken["problem"]
    actions = environment.json(tmp_path, "strategies", "--kind", "action")
    assert ([each["name"] for each in actions["strategies"]], actions["broken"]) == (["postman"], [])
    enrichments = environment.json(tmp_path, "strategies", "--kind", "enrichment")
    assert {each["name"] for each in enrichments["strategies"]} == by_name.keys() - {"postman"}
    shown = environment.run(tmp_path, "strategies")
    assert re.search(r"register +│ Company register +│ enrichment +│ 4 +│ 1 ", shown)
    assert re.search(r"register +│ timeout +│ from 1 to 120 +│ 10 +│ Seconds to wait", shown)
    assert "Not usable: The strategy 'broken' cannot be loaded (ModuleNotFoundError" in shown


def test_the_strategy_of_the_page_fills_columns_with_evidence(
    environment: Environment, register_url: str, tmp_path: Path
) -> None:
    names = ["Acme", "Böhm & Söhne", "Nobody", "Secret", "Broken", "Garbled", "Dated"]
    lines = ["Company,Founded", *(f"{name},{1900 if name == 'Dated' else ''}" for name in names)]
    (tmp_path / "companies.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    fields = ("--field", "Founded:number={company}", "--field", "Staff:number={Company}")
    chosen = ("--strategy", "register", "--param", f"url={register_url}")
    done = environment.json(tmp_path, "enrich", "companies.csv", *chosen, *fields, "--yes")
    cells = {name: row["cells"] for name, row in zip(names, done["rows"], strict=True)}
    assert cells["Dated"].keys() == {"Staff"}
    founded = {name: cells[name]["Founded"] for name in names[:-1]}
    staff = {name: cells[name]["Staff"] for name in names}
    assert (founded["Acme"]["value"], staff["Acme"]["value"], founded["Böhm & Söhne"]["value"]) == (1999, 1999, 1921)
    (proof,) = founded["Acme"]["evidence"]
    assert (proof["origin"], proof["quote"]) == (f"{register_url}&q=Acme", '"founded": 1999')
    assert [step["detail"] for step in founded["Acme"]["steps"]] == [
        "asked the register for Acme",
        '1999 — 127.0.0.1: “"founded": 1999”',
    ]
    assert founded["Böhm & Söhne"]["evidence"][0]["origin"].endswith("q=B%C3%B6hm+%26+S%C3%B6hne")
    assert [(founded[name]["reason"], founded[name]["error"]) for name in names[2:5]] == [
        ("not_found", "the register does not know Nobody"),
        ("blocked", "the register refuses (403)"),
        ("error", "the register fails (500)"),
    ]
    assert staff["Böhm & Söhne"]["error"] == "the register does not state Staff of Böhm & Söhne"
    assert founded["Garbled"]["error"].startswith("JSONDecodeError")
    assert (done["status"], done["usage"]["fetches"]) == ("done", 12)
    shown = environment.json(tmp_path, "tables", "show", "companies")
    assert [row["cells"]["Founded"]["value"] for row in shown["rows"]] == [1999, 1921, None, None, None, None, 1900]


@pytest.mark.parametrize(
    ("chosen", "problem", "advice"),
    [
        (["register", "--param", "adress=x"], "register has no parameter 'adress'", "url, timeout"),
        (["register", "--param", "url=http://a.example", "--param", "timeout=soon"], "from 1 to 120, not 'soon'", ""),
        (["register"], "'' is not the address of a register", "--param url="),
        (["broken"], "'broken' cannot be loaded (ModuleNotFoundError", "broken:Broken"),
        (["postman"], "postman acts outside the table", "--yes"),
    ],
    ids=["unknown parameter", "bad value", "no address", "import fails", "action without a yes"],
)
def test_what_cannot_work_is_refused_before_anything_is_done(
    chosen: list[str], problem: str, advice: str, environment: Environment, tmp_path: Path
) -> None:
    (tmp_path / "companies.csv").write_text("Company\nAcme\n")
    asked = ("--field", "Founded:number={Company}")
    said = environment.json(tmp_path, "enrich", "companies.csv", *asked, "--strategy", *chosen, code=2)["error"]
    assert problem in said["message"]
    assert advice in said["advice"]
    assert not (tmp_path / "sent.txt").exists()


def test_an_action_is_taken_for_each_row_once_people_agree(environment: Environment, tmp_path: Path) -> None:
    (tmp_path / "companies.csv").write_text("Company\nAcme\nBell\n")
    environment.run(tmp_path, "enrich", "companies.csv", "--strategy", "postman", "--field", "Message", "--yes")
    assert sorted((tmp_path / "sent.txt").read_text().split()) == ["acme", "bell"]


# ── the registry ─────────────────────────────────────────────────────────────────────────────────────────────────────


class Careful(Strategy):
    name, display_name = "careful", "Careful"
    parameters = (
        Parameter(name="depth", help="How deep.", default="low", choices=("low", "high")),
        Parameter(name="pages", help="How many.", least=1, most=9),
        Parameter(name="url", help="Where."),
    )


def test_parameters_that_are_not_set_have_their_default_or_are_left_out() -> None:
    assert check_params(Careful(), {}) == {"depth": "low"}
    assert check_params(Careful(), {"depth": "high", "pages": "9", "url": "x"}) == {
        "depth": "high",
        "pages": "9",
        "url": "x",
    }


@pytest.mark.parametrize(
    ("name", "text", "problem"),
    [
        ("deep", "low", r"careful has no parameter 'deep'\. Its parameters: depth, pages, url\."),
        ("depth", "Low", r"depth cannot be 'Low'\. It is one of: low, high\."),
        ("pages", "0", "whole number from 1 to 9, not '0'"),
        ("pages", "10", "whole number from 1 to 9, not '10'"),
        ("pages", "-3", "whole number from 1 to 9, not '-3'"),
        ("pages", "2.5", r"whole number from 1 to 9, not '2\.5'"),
        ("pages", "", "whole number from 1 to 9, not ''"),
    ],
)
def test_a_parameter_that_does_not_fit_is_refused(name: str, text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        check_params(Careful(), {name: text})


Announce: TypeAlias = Callable[[str, str, str, str], None]


@pytest.fixture
def announce(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Announce:
    """Puts a package on the path that announces a strategy."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def put(package: str, name: str, value: str, code: str) -> None:
        (tmp_path / f"{package}.py").write_text(f"from tablewright.strategies.strategy import Strategy\n{code}\n")
        metadata = tmp_path / f"{package}-1.0.dist-info"
        metadata.mkdir()
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(f"[tablewright.strategies]\n{name} = {package}:{value}\n")

    return put


WHOLE = "class Made(Strategy):\n    name, display_name = {name!r}, 'Made'"


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("raise RuntimeError('not today')", r"'odd' cannot be loaded \(RuntimeError: not today\)"),
        ("class Other: pass", r"'odd' cannot be loaded \(AttributeError"),
        ("class Made(Strategy):\n    def __init__(self, key): ...", r"'odd' cannot be loaded \(TypeError"),
        ("class Made:\n    name, display_name = 'odd', 'Odd'", "must be a subclass of Strategy"),
        (WHOLE.format(name="even"), "the name it is announced under, 'odd'"),
        ("class Made(Strategy):\n    name = 'odd'", "must have a display_name"),
    ],
    ids=["raises", "has no such class", "wants an argument", "no Strategy", "other name", "no display name"],
)
def test_a_package_that_is_not_a_strategy_is_said_to_be_and_hides_no_other(
    code: str, problem: str, announce: Announce, tmp_path: Path
) -> None:
    package = tmp_path.name  # a new one for each test: Python imports a module once
    announce(package, "odd", "Made", code)
    with pytest.raises(UsageError, match=problem) as refused:
        find_strategy("odd")
    assert f"{package}:Made" in str(refused.value)
    assert str(list_installed_strategies()["odd"]) == str(refused.value)
    assert not isinstance(list_installed_strategies()["odd"], Strategy)
    assert isinstance(list_installed_strategies()["computation"], Strategy)


def test_of_two_packages_with_one_name_the_list_and_the_choice_have_the_same(announce: Announce) -> None:
    announce("twin_one", "twin", "Made", WHOLE.format(name="twin"))
    announce("twin_two", "twin", "Made", WHOLE.format(name="twin"))
    assert type(list_installed_strategies()["twin"]) is type(find_strategy("twin"))


def test_an_unknown_strategy_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"no strategy 'magic'\. Installed: .*computation.*pipeline"):
        find_strategy("magic")
