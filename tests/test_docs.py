"""What the pages say is true: examples run, references are fresh, links lead somewhere."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tablewright.strategies.strategy import list_installed_strategies
from tests.patience import PATIENCE

ROOT = Path(__file__).parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md"))]


def test_the_generated_pages_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, "scripts/reference.py", "--check"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout}: run scripts/reference.py"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_between_pages_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_page_is_listed_once() -> None:
    listed = re.findall(r"\(([\w-]+\.md)\)", (ROOT / "docs" / "README.md").read_text(encoding="utf-8"))
    assert sorted(listed) == sorted(
        page.name for page in PAGES if page.parent.name == "docs" and page.name != "README.md"
    )


def test_the_places_that_the_glossary_names_are_there() -> None:
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    places = re.findall(r"\| `([\w/.]+)` \|$", glossary, re.MULTILINE)
    assert len(places) >= 30
    assert [place for place in places if not (ROOT / "src" / "tablewright" / place).exists()] == []


def test_the_readme_is_short_and_has_one_picture() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(readme.split()) <= 500
    assert readme.count("![") == 1


def test_the_tests_that_the_page_on_security_names_are_there() -> None:
    page = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)`", page)
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_the_modules_that_the_design_names_are_there() -> None:
    there = [
        str(file.relative_to(ROOT)) for folder in ("src", "tests", "evals") for file in (ROOT / folder).rglob("*.py")
    ]
    named = set(re.findall(r"`([\w/]+\.py)`", (ROOT / "docs" / "design.md").read_text(encoding="utf-8")))
    assert len(named) > 50
    assert [name for name in named if not any(f"/{file}".endswith(f"/{name}") for file in there)] == []


def python_examples(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)


def test_the_library_examples_run(tmp_path: Path) -> None:
    (example,) = python_examples("README.md")
    first, function, second = python_examples("docs/library.md")
    assert first.split() == example.replace("print(", "\nprint(", 1).split()
    done = subprocess.run(
        [sys.executable, "-c", "\n".join((example, function, second))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    told = ["[1987, 2009]", "Founded: 1987; 39 years ago, in Whitlow", "[7, None]", "37.5"]
    assert done.stdout.splitlines() == told, done.stderr


def test_every_built_in_strategy_is_in_the_table_with_its_rows_at_once() -> None:
    """The package that the page shows is built, installed and used in tests/strategies/test_packages.py."""
    page = (ROOT / "docs" / "strategies.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `(\w+)` \|.*\| ([^|]+) \|$", page, re.MULTILINE))
    ours = {
        name: each
        for name, each in list_installed_strategies().items()
        if type(each).__module__.startswith("tablewright.")
    }
    assert listed.keys() == ours.keys()
    assert [name for name, each in ours.items() if str(each.concurrency) not in listed[name].split()] == []


def test_no_page_names_a_path_of_somebodys_machine() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False).stdout.split()
    for name in tracked or [str(page.relative_to(ROOT)) for page in PAGES]:
        path = ROOT / name
        if path.suffix in {".md", ".py", ".toml", ".lock", ""} and path.is_file() and path.name != "test_docs.py":
            assert not re.search(r"/(?:home|Users|root|work)/\w", path.read_text(encoding="utf-8")), name
