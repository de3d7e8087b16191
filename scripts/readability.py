"""Measure how much a newcomer has to learn to read the source, and fail where a figure is above its limit.

    python scripts/readability.py               the figures with their limits; run by scripts/check
    python scripts/readability.py PACKAGE       every place in a package that counts, e.g. `store` or `llm/tasks`

The limits are the values reached: they only go down.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SOURCE = Path(__file__).resolve().parent.parent / "src" / "tablewright"
# Words and phrases that nobody searches for and few people say.
DIALECT = re.compile(
    r"\b(whoever|whomever|somebody|nobody|beside|wherein|whereof|anew|meanwhile|in vain|bears?|borne|told"
    r"|stands? (?:in|on|at)|of its own accord)\b",
    re.IGNORECASE,
)
# A docstring states what is returned or done; one that opens like this describes in a roundabout way.
OPENING = re.compile(r"(?:what|whether|who|whom|whose|where|when|how|of|as|that|those)\b", re.IGNORECASE)
MOST_PARAMETERS = 6
# The figures that only go down. "comment lines" may only go up.
LIMITS = {
    "functions whose name another module has too (%)": 0.7,
    "function names of one word (%)": 0.9,
    "docstrings that open with what, whether, of … (%)": 0.1,
    "dialect words": 1,
    "constants": 784,
    "functions with more than 6 parameters": 31,
    "modules in the largest import cycle": 1,
}
FEWEST_COMMENTS = 3.2

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Figures:
    """What was counted: each place as "file:line name"."""

    lines: int = 0
    comments: int = 0
    documented: int = 0
    functions: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    openings: list[str] = field(default_factory=list)
    dialect: list[str] = field(default_factory=list)
    constants: list[str] = field(default_factory=list)
    crowded: list[str] = field(default_factory=list)
    imports: dict[str, set[str]] = field(default_factory=dict)

    @property
    def shared(self) -> list[str]:
        """Top-level functions whose name several modules have."""
        named = {name: {place.partition(":")[0] for place in places} for name, places in self.functions.items()}
        return [place for name, places in self.functions.items() if len(named[name]) > 1 for place in places]

    @property
    def one_word(self) -> list[str]:
        return [place for name, places in self.functions.items() if "_" not in name for place in places]

    def values(self) -> dict[str, float]:
        functions = sum(len(places) for places in self.functions.values())
        measured = (
            100 * len(self.shared) / functions,
            100 * len(self.one_word) / functions,
            100 * len(self.openings) / self.documented,
            len(self.dialect),
            len(self.constants),
            len(self.crowded),
            longest_cycle(self.imports),
        )
        return dict(zip(LIMITS, measured, strict=True))

    @property
    def comment_share(self) -> float:
        return 100 * self.comments / self.lines


def measure_source(source: Path = SOURCE) -> Figures:
    figures = Figures()
    files = sorted(source.rglob("*.py"))
    modules = {module_of(file, source): file for file in files}
    for module, file in modules.items():
        text = file.read_text(encoding="utf-8")
        place = file.relative_to(source).as_posix()
        count_lines(figures, text, place)
        tree = ast.parse(text)
        count_names(figures, tree, place)
        figures.imports[module] = {name for name in imported_names(tree) if name in modules and name != module}
    return figures


def module_of(file: Path, source: Path) -> str:
    parts = file.relative_to(source.parent).with_suffix("").parts
    return ".".join(parts).removesuffix(".__init__")


def count_lines(figures: Figures, text: str, place: str) -> None:
    for number, line in enumerate(text.splitlines(), start=1):
        figures.lines += 1
        figures.comments += line.lstrip().startswith("#")
        figures.dialect += [f"{place}:{number} {found[0]}" for found in DIALECT.finditer(line)]


def count_names(figures: Figures, tree: ast.Module, place: str) -> None:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)):
            text = ast.get_docstring(node)
            figures.documented += text is not None
            if text and OPENING.match(text):
                figures.openings.append(f"{place}:{getattr(node, 'lineno', 1)} {text.splitlines()[0]}")
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and count_parameters(node) > MOST_PARAMETERS:
            figures.crowded.append(f"{place}:{node.lineno} {node.name}")
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            figures.functions[node.name.strip("_")].append(f"{place}:{node.lineno} {node.name}")
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [each.id for each in targets if isinstance(each, ast.Name) and each.id.isupper()]
            figures.constants += [f"{place}:{node.lineno} {name}" for name in names]


def count_parameters(function: Function) -> int:
    given = function.args
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs]
    return len(named) - (bool(given.args) and given.args[0].arg in ("self", "cls"))


def imported_names(tree: ast.Module) -> Iterator[str]:
    """Yield what the top level imports, both as a module and as a name in one."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


def longest_cycle(imports: dict[str, set[str]]) -> int:
    """Return the size of the largest group of modules that import each other, directly or not."""
    reached = {module: reach(imports, module) for module in imports}
    groups = [sum(module in reached[other] for other in reached[module]) for module in imports]
    return max([1, *groups])


def reach(imports: dict[str, set[str]], start: str) -> set[str]:
    found, waiting = set[str](), list(imports[start])
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += imports[module]
    return found


def list_places(figures: Figures, package: str) -> None:
    kinds = {
        "name in several modules": figures.shared,
        "one word": figures.one_word,
        "docstring opening": figures.openings,
        "dialect": figures.dialect,
        "constant": figures.constants,
        "parameters": figures.crowded,
    }
    for kind, places in kinds.items():
        chosen = [place for place in places if place.startswith(package)]
        print(f"{kind}: {len(chosen)}", *chosen, sep="\n  ")


def main() -> int:
    figures = measure_source()
    if len(sys.argv) > 1:
        list_places(figures, sys.argv[1])
        return 0
    is_over = False
    for name, value in figures.values().items():
        is_over |= value > LIMITS[name]
        print(f"{name:48} {value:7.2f}  (at most {LIMITS[name]:g})")
    is_over |= figures.comment_share < FEWEST_COMMENTS
    print(f"{'comment lines (%)':48} {figures.comment_share:7.1f}  (at least {FEWEST_COMMENTS:g})")
    return int(is_over)


if __name__ == "__main__":
    sys.exit(main())
