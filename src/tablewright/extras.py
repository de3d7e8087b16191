"""What the core install leaves out, and the error that names it.

`pip install tablewright` is the library, the command line and SQLite. A module of an extra is imported where it is
used: after `need`, or through `lazy` where a file uses it all over.
"""

from __future__ import annotations

import json
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from tablewright.errors import MissingExtra

MODULES = {
    "server": ("fastapi", "nicegui", "uvicorn", "mcp", "cryptography", "confusable_homoglyphs"),
    "openai": ("openai",),
    "anthropic": ("anthropic",),
    "google": ("google.genai",),
    "postgres": ("psycopg",),
    "documents": ("numpy", "wordllama", "pypdfium2"),
    "local": ("xllamacpp", "openai"),
    "ocr": ("rapidocr", "onnxruntime"),
    "parquet": ("pyarrow",),
    "pdf": ("reportlab",),
    "telemetry": ("opentelemetry.sdk", "opentelemetry.exporter.otlp", "opentelemetry.exporter.prometheus"),
    "oidc": ("authlib", "httpx"),
}
"""Of each extra, the modules by which one can tell that it is installed."""


def is_installed(extra: str) -> bool:
    return all(map(_is_there, MODULES[extra]))


def need(extra: str, what: str) -> None:
    """Raises MissingExtra unless the extra is installed; `what` is what cannot be done without it."""
    if not is_installed(extra):
        raise MissingExtra(
            f"{what} needs the extra {extra!r}, which is not installed.", advice=f"Run `{command(extra)}`."
        )


def command(extra: str) -> str:
    return f"pip install '{installed_from()}[{extra}]'"


@cache
def installed_from() -> str:
    """The folder that `pip install` was given, where that is how Tablewright was installed; else its name."""
    try:
        origin = json.loads(distribution("tablewright").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return "tablewright"
    address = urlsplit(str(origin.get("url", "")))
    folder = unquote(address.path)
    return folder if address.scheme == "file" and Path(folder, "pyproject.toml").is_file() else "tablewright"


def lazy(module: str, extra: str) -> Any:
    return _Lazy(module, extra)


class _Lazy:
    """A module that is imported when something of it is first used."""

    def __init__(self, module: str, extra: str) -> None:
        self._module, self._extra = module, extra

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        need(self._extra, "This")
        found = getattr(import_module(self._module), name)
        setattr(self, name, found)  # from now on it is found without coming here
        return found


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ImportError:  # the package that it is a part of is not there
        return False
