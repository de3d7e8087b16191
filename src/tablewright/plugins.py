"""Plugins: installed packages, by their entry points, and the files of the folders in TABLEWRIGHT_PLUGINS.

A file lists its additions in variables that are named like the groups of entry points, each a dictionary by name:

    strategies = {"register": Register}    # or a function of a row
    search = {"library": Library}    # or a function of the search words
    models = {"ours": make_model}
    parsers = {"log": parse_log}

Files are code that runs, so the folders come from the environment alone, never from the settings file of a folder.
"""

from __future__ import annotations

import importlib.util
import inspect
import os
import stat
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, TypeAlias

from tablewright.errors import BadSetting, did_you_mean


@dataclass(frozen=True)
class FilePlugin:
    """An addition from a file; it looks like an entry point."""

    name: str
    value: str
    """The file it comes from."""
    added: Any

    def load(self) -> Any:
        return self.added


Plugin: TypeAlias = EntryPoint | FilePlugin


def is_plain_function(added: Any, *counts: int) -> bool:
    """Return True for a function with one of these numbers of arguments, such as a row or search words, which does the
    work itself; any other makes an object that does."""
    return inspect.isfunction(added) and len(inspect.signature(added).parameters) in counts


def find_plugins(group: str, name: str | None = None) -> list[Plugin]:
    """Return the plugins of a group such as `tablewright.search`, or those of one name in it, those of files first."""
    # Files first: a user may replace what a package brings.
    found: list[Plugin] = [*_plugins_of_files(group), *_installed_plugins(group, tuple(sys.path))]
    return [each for each in found if name is None or each.name == name]


@cache
def _installed_plugins(group: str, _path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Return entry points, read once for these search paths: it opens a file of each installed package."""
    return tuple(entry_points(group=group))


def plugin_names(group: str) -> list[str]:
    return sorted({plugin.name for plugin in find_plugins(group)})


def suggest_plugin(wanted: str, known: Sequence[str]) -> str:
    """Return advice for an unknown name: the nearest name, then all installed ones."""
    return f"{did_you_mean(wanted.lower(), known)}Installed: {', '.join(known) or 'none'}."


def _plugins_of_files(group: str) -> Iterator[FilePlugin]:
    for folder in os.environ.get("TABLEWRIGHT_PLUGINS", "").split(os.pathsep):
        if not folder.strip():
            continue
        path = Path(folder.strip()).expanduser()
        if not path.is_dir():
            raise BadSetting(f"TABLEWRIGHT_PLUGINS names the folder {path}, and there is none.")
        # The folder too: who can write to it can add a file.
        _check_writers(path)
        for file in sorted(path.glob("*.py")):
            _check_writers(file)
            added = getattr(_load_plugin_file(file.resolve()), group.rpartition(".")[2], {})
            if not isinstance(added, Mapping):
                raise BadSetting(
                    f"{file} does not list its additions: {group.rpartition('.')[2]} must be a dictionary."
                )
            for name, thing in added.items():
                yield FilePlugin(name=name, value=str(file), added=thing)


def _check_writers(path: Path) -> None:
    """Raise BadSetting if everyone can write to the path, since that would let everyone run code here."""
    # Writing by the group is allowed: a team may share a folder.
    if path.stat().st_mode & stat.S_IWOTH:
        raise BadSetting(
            f"Everyone on this machine can write to {path}, so no plugin is loaded from there.",
            advice=f"Take that away: chmod o-w {path}.",
        )


@cache
def _load_plugin_file(file: Path) -> ModuleType:
    """Import a file once; later changes count from the next start on."""
    # A prefix, so that a file named like a library does not replace it.
    name = f"tablewright_plugin_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Libraries such as pydantic look up the module of a class here.
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        # Foreign code may raise anything; the error names its file.
        # A half-loaded module must not be found by a later import.
        del sys.modules[name]
        raise BadSetting(
            f"The plugin {file} cannot be loaded ({type(error).__name__}: {error}).",
            advice="Correct it, or take it out of the folder.",
        ) from error
    return module
