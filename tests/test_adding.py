"""The worked examples of docs/adding.md: each change is made in a copy of the source, and each command is run there."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx2
import pytest

from tests.patience import PATIENCE

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "adding.md").read_text(encoding="utf-8")
# What an example prints or answers, by the title of its section.
SHOWS = {
    "A strategy": ("K", "BF"),
    "A search provider": ("intranet",),
    "A model provider": ("parrot:grey",),
    "A parser": ("Rent", "1,200 EUR"),
    "A model's task": ("2 passed",),
    "A verb: an operation, a command, a route and a tool": ("Company: 0", '"columns"'),
    "A setting": ("greeting", "Bonjour"),
    "A page element": ("Extras: 3 of 4",),
}
SECTIONS = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL))
# A file's name, perhaps with the place in it, above a block of code.
CHANGE = re.compile(
    r"^`(?P<file>[\w./-]+)`(?:, (?:after `(?P<line>[^\n]+)`|(?P<end>at the end)))?\n\n```python\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@pytest.fixture(scope="module")
def copied_source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the source and the tests, with the files that the page makes first."""
    folder = tmp_path_factory.mktemp("adding") / "copy"
    for name in ("src", "tests"):
        ignored = shutil.ignore_patterns("__pycache__", "recordings")
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", folder)
    start = re.search(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    assert start is not None
    run(start[1], folder)
    return folder


def test_every_example_of_the_page_is_run() -> None:
    assert SECTIONS.keys() == SHOWS.keys()


@pytest.mark.parametrize("title", SHOWS)
def test_an_example_does_what_it_says(title: str, copied_source: Path) -> None:
    section = SECTIONS[title]
    for change in CHANGE.finditer(section):
        make_change(copied_source / change["file"], change["code"], change["line"], change["end"])
    (commands,) = re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    shown = visit(copied_source) if "serve --port" in commands else run(commands, copied_source)
    assert [text for text in SHOWS[title] if text not in shown] == [], shown


def make_change(file: Path, code: str, line: str | None, end: str | None) -> None:
    if line is None and end is None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(code, encoding="utf-8")
        return
    text = file.read_text(encoding="utf-8")
    if line is None:
        file.write_text(f"{text}\n\n{code}", encoding="utf-8")
        return
    places = [place for place, each in enumerate(text.split("\n")) if each.strip() == line]
    assert len(places) == 1, f"{file.name} has the line {line!r} {len(places)} times"
    lines = text.split("\n")
    lines[places[0] + 1 : places[0] + 1] = code.rstrip("\n").split("\n")
    file.write_text("\n".join(lines), encoding="utf-8")


def environ(folder: Path) -> dict[str, str]:
    """The environment of the commands: the copy comes before the installed package."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TABLEWRIGHT_", "PYTEST_"))}
    return kept | {"PYTHONPATH": str(folder / "src"), "TABLEWRIGHT_PLUGINS": "plugins", "TABLEWRIGHT_HOME": "trial"}


def run(commands: str, folder: Path) -> str:
    """Run commands of the page; the page's programs are those of the running environment."""
    python = sys.executable
    script = f"""
        tablewright() {{ {python} -m tablewright "$@"; }}
        quick() {{ {python} -m pytest -p no:cacheprovider "$@"; }}
        {commands.replace("scripts/quick", "quick")}"""
    command = ["sh", "-ec", script]
    done = subprocess.run(
        command, cwd=folder, env=environ(folder), capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def visit(folder: Path) -> str:
    """Return the page of a server that runs the changed source."""
    command = [sys.executable, "-m", "tablewright", "serve", "--port", "0"]
    with subprocess.Popen(command, cwd=folder, env=environ(folder), stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            url = next(found[0] for line in server.stderr if (found := re.findall(r"http://[\w.]+:\d+", line)))
            until = time.monotonic() + PATIENCE
            while time.monotonic() < until:
                try:
                    return httpx2.get(f"{url}/status", timeout=PATIENCE, follow_redirects=True).text
                except httpx2.TransportError:
                    time.sleep(0.2)
            raise AssertionError("the server does not answer")
        finally:
            server.send_signal(signal.SIGTERM)
