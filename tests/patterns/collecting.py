"""Every regular expression of the package, from the places where one is compiled or used.

A pattern that is written where it is used is evaluated there. One that is put together from local names is put together
from stand-ins; what is compiled while a module is imported is caught while it is imported.
"""

from __future__ import annotations

import ast
import importlib
import pkgutil
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import tablewright

ROOT = Path(tablewright.__file__).parent
TAKES_A_PATTERN = frozenset(
    ("compile", "search", "match", "fullmatch", "split", "findall", "finditer", "sub", "subn", "template")
)
FLAGS_AT = {"compile": 1, "search": 2, "match": 2, "fullmatch": 2, "findall": 2, "finditer": 2, "split": 3, "sub": 4}


@dataclass
class Found:
    pattern: re.Pattern[Any]
    place: str
    methods: set[str] = field(default_factory=set)


class StandIn(str):
    """Something that is known only when the function runs: a plain word, and so is all that is asked of it."""

    def __getattr__(self, name: str) -> StandIn:
        return self

    def __call__(self, *_: object, **__: object) -> StandIn:
        return self


STANDS_FOR = {"between": ",", "quote": '"', "space": " *"}


class Names(dict[str, Any]):
    def __missing__(self, name: str) -> Any:
        builtins = self["__builtins__"]
        found = builtins.get(name) if isinstance(builtins, dict) else getattr(builtins, name, None)
        return StandIn(STANDS_FOR.get(name, "acme")) if found is None else found


def all_patterns() -> tuple[list[Found], int, list[str]]:
    """The patterns, the number of places that they come from, and the places that gave none."""
    caught = _import_everything()
    found: dict[tuple[Any, int], Found] = {}
    places, silent = 0, []

    def keep(pattern: re.Pattern[Any], place: str, methods: set[str]) -> None:
        known = found.setdefault((pattern.pattern, pattern.flags), Found(pattern, place))
        known.methods |= methods or {"search"}

    for path in sorted(ROOT.rglob("*.py")):
        tree = ast.parse(path.read_text())
        module = _module_of(path)
        used = _methods_by_name(tree)
        if module.__name__.startswith("tablewright"):
            named = {id(value): name for name, value in vars(module).items() if isinstance(value, re.Pattern)}
        for call in _calls(tree):
            places += 1
            place = f"{path.relative_to(ROOT)}:{call.lineno}"
            method = call.func.attr  # type: ignore[attr-defined]
            here = [
                p for line in range(call.lineno, (call.end_lineno or 0) + 1) for p in caught.get((str(path), line), ())
            ]
            for pattern in here or list(_evaluated(call, module, tree)):
                name = named.get(id(pattern), "")
                keep(pattern, place, used.get(name, set()) if method == "compile" else {method})
                here = [pattern]
            if not here:
                silent.append(place)
    return list(found.values()), places, silent


def _import_everything() -> dict[tuple[str, int], list[re.Pattern[Any]]]:
    caught: dict[tuple[str, int], list[re.Pattern[Any]]] = defaultdict(list)
    compile_ = re._compile  # type: ignore[attr-defined]

    def catching(pattern: Any, flags: int) -> re.Pattern[Any]:
        made: re.Pattern[Any] = compile_(pattern, flags)
        frame = sys._getframe(2)
        if frame.f_code.co_filename.startswith(str(ROOT)):
            caught[frame.f_code.co_filename, frame.f_lineno].append(made)
        return made

    loaded = [name for name in sys.modules if name.partition(".")[0] == "tablewright"]
    before = {name: sys.modules.pop(name) for name in loaded}
    re._compile = catching  # type: ignore[attr-defined]
    try:
        for module in pkgutil.walk_packages(tablewright.__path__, "tablewright."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    finally:
        re._compile = compile_  # type: ignore[attr-defined]
        FRESH.update({name: module for name, module in sys.modules.items() if name.partition(".")[0] == "tablewright"})
        sys.modules.update(before)
    return caught


FRESH: dict[str, ModuleType] = {}


def _module_of(path: Path) -> ModuleType:
    parts = ("tablewright", *path.relative_to(ROOT).with_suffix("").parts)
    return FRESH.get(".".join(parts).removesuffix(".__init__"), tablewright)


def _calls(tree: ast.Module) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
            continue
        of = node.func.value
        if isinstance(of, ast.Name) and of.id in ("re", "regex") and node.func.attr in TAKES_A_PATTERN:
            yield node


def _methods_by_name(tree: ast.Module) -> dict[str, set[str]]:
    """What is called on each name, or on something by that name; any other use of it could be a search."""
    used: dict[str, set[str]] = defaultdict(set)
    called = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            used[node.value.id].add(node.attr)
            called.add(id(node.value))
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in called:
            used[node.id].add("search")
    return {name: methods for name, methods in used.items() if name.startswith("_")}


def _evaluated(call: ast.Call, module: ModuleType, tree: ast.Module) -> Iterator[re.Pattern[Any]]:
    names = Names(vars(module) | {"__builtins__": __builtins__})
    at = FLAGS_AT.get(call.func.attr, 9)  # type: ignore[attr-defined]
    said = next(
        (word.value for word in call.keywords if word.arg == "flags"), call.args[at] if at < len(call.args) else None
    )
    try:
        flags = _value(said, names) if said is not None else 0
        written = _value(call.args[0], names)
    except Exception:  # what cannot be put together from stand-ins is told as a silent place
        return
    if isinstance(written, re.Pattern):
        yield written
    elif written == "acme" and isinstance(call.args[0], ast.Name):  # handed over: it is one of the module's own texts
        for text in {
            node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)
        }:
            if len(text) < 2_000 and re.search(r"\\[wdsbWS]|[*+]", text):
                try:
                    yield re.compile(text, flags)
                except re.error:
                    continue
    else:
        yield re.compile(written, flags)


def _value(node: ast.expr, names: Names) -> Any:
    return eval(compile(ast.Expression(node), "pattern", "eval"), {"__builtins__": {}}, names)
