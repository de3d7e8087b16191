"""The walks of docs/how-a-cell-is-filled.md, followed with a profiler: every function they name runs."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MAP = ROOT / "docs" / "how-a-cell-is-filled.md"
STATION = re.compile(r"^\| `([\w/]+\.py)` \| `([\w.]+)` \|", re.MULTILINE)
JOURNEYS = ("enrich", "ask", "find", "research", "shortlist")


@pytest.fixture(scope="module")
def run_functions() -> dict[str, set[tuple[str, str]]]:
    """By journey, the file and the name of each function that runs in it."""
    command = [sys.executable, str(ROOT / "scripts" / "cell_path.py"), "--calls"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = defaultdict(set)
    for journey, file, function in (line.split(maxsplit=2) for line in done.stdout.splitlines()):
        found[journey].add((file, function))
    return found


@pytest.mark.parametrize("journey", JOURNEYS)
def test_every_function_on_the_map_runs(journey: str, run_functions: dict[str, set[tuple[str, str]]]) -> None:
    stations = STATION.findall(walk(journey))
    assert len(stations) >= 8, "the tables of the map were not found"
    gone = [file for file, _ in stations if not (ROOT / "src" / "tablewright" / file).is_file()]
    assert gone == []
    assert [station for station in stations if station not in run_functions[journey]] == []


def test_every_other_file_that_the_map_mentions_exists() -> None:
    mentioned = re.findall(r"`((?:\w+/)+\w+\.py)`", MAP.read_text(encoding="utf-8"))
    places = (ROOT, ROOT / "src" / "tablewright")
    assert [name for name in mentioned if not any((place / name).is_file() for place in places)] == []


def walk(journey: str) -> str:
    """Return the section of the map about a journey."""
    return MAP.read_text(encoding="utf-8").split(f"\n## {journey}\n", 1)[1].split("\n## ", 1)[0]
