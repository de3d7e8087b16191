"""What others add: installed packages, by their entry points, and the files of the folders in TABLEWRIGHT_PLUGINS.

A file says what it adds in variables that are named like the groups of entry points, each a dictionary by name:

    strategies = {"register": Register}    # or a function of a row
    search = {"library": Library}    # or a function of the words that are searched for
    models = {"ours": make_model}
    parsers = {"log": parse_log}

Files are code that is run, so the folders come from the environment alone, never from the settings file of a folder.
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

VARIABLE = "TABLEWRIGHT_PLUGINS"


@dataclass(frozen=True)
class FilePlugin:
    """What a file adds; it looks like an entry point."""

    name: str
    value: str
    """Where it comes from."""
    added: Any

    def load(self) -> Any:
        return self.added


Plugin: TypeAlias = EntryPoint | FilePlugin


def is_plain_function(added: Any) -> bool:
    """A function of one thing, a row or the words of a search, does the work itself; any other makes what does it."""
    return inspect.isfunction(added) and len(inspect.signature(added).parameters) == 1


def plugins(group: str, name: str | None = None) -> list[Plugin]:
    """Of a group such as `tablewright.search`, or those of one name in it: those of files first."""
    found: list[Plugin] = [*_of_files(group), *_installed(group, tuple(sys.path))]
    return [each for each in found if name is None or each.name == name]


@cache
def _installed(group: str, _path: tuple[str, ...]) -> tuple[EntryPoint, ...]:
    """Found out once for the places that Python looks in: a file of each installed package is read for it."""
    return tuple(entry_points(group=group))


def names(group: str) -> list[str]:
    return sorted({plugin.name for plugin in plugins(group)})


def suggestion(wanted: str, known: Sequence[str]) -> str:
    """What to say to a name that is not known: the nearest, then all that are."""
    return f"{did_you_mean(wanted.lower(), known)}Installed: {', '.join(known) or 'none'}."


def _of_files(group: str) -> Iterator[FilePlugin]:
    for folder in os.environ.get(VARIABLE, "").split(os.pathsep):
        if not folder.strip():
            continue
        path = Path(folder.strip()).expanduser()
        if not path.is_dir():
            raise BadSetting(f"{VARIABLE} names the folder {path}, and there is none.")
        _check_writers(path)
        for file in sorted(path.glob("*.py")):
            _check_writers(file)
            added = getattr(_loaded(file.resolve()), group.rpartition(".")[2], {})
            if not isinstance(added, Mapping):
                raise BadSetting(f"{file} does not say what it adds: {group.rpartition('.')[2]} must be a dictionary.")
            for name, thing in added.items():
                yield FilePlugin(name=name, value=str(file), added=thing)


def _check_writers(path: Path) -> None:
    """What everybody can write to would let everybody run code here."""
    if path.stat().st_mode & stat.S_IWOTH:
        raise BadSetting(
            f"Everybody on this machine can write to {path}, so no plugin is loaded from there.",
            advice=f"Take that away: chmod o-w {path}.",
        )


@cache
def _loaded(file: Path) -> ModuleType:
    """Imported once; later changes of the file count from the next start on."""
    name = f"tablewright_plugin_{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # what looks up the module of its classes, such as pydantic, finds it
    try:
        spec.loader.exec_module(module)
    except Exception as error:  # somebody else's code; whatever it raises is told with its file
        del sys.modules[name]
        raise BadSetting(
            f"The plugin {file} cannot be loaded ({type(error).__name__}: {error}).",
            advice="Correct it, or take it out of the folder.",
        ) from error
    return module
