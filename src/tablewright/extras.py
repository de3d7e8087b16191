"""Optional dependencies: which packages an extra needs, and the error that names a missing one.

`pip install tablewright` is the library, the command line and SQLite. A module of an extra is imported where it is
used: after `require_extra`, or through `LazyModule` where a file uses it all over.
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

# The modules of each extra; if all can be imported, it is installed.
EXTRA_MODULES = {
    "server": ("fastapi", "nicegui", "uvicorn", "mcp", "cryptography", "confusable_homoglyphs"),
    "openai": ("openai",),
    "anthropic": ("anthropic",),
    "google": ("google.genai",),
    "postgres": ("psycopg",),
    "documents": ("numpy", "wordllama", "pypdfium2"),
    "local": ("xllamacpp",),
    "ocr": ("rapidocr", "onnxruntime"),
    "parquet": ("pyarrow",),
    "pdf": ("reportlab",),
    "telemetry": ("opentelemetry.sdk", "opentelemetry.exporter.otlp", "opentelemetry.exporter.prometheus"),
    "oidc": ("authlib", "httpx"),
}


def is_installed(extra: str) -> bool:
    try:
        return all(find_spec(module) is not None for module in EXTRA_MODULES[extra])
    except ImportError:
        # The parent package of one is missing.
        return False


def require_extra(extra: str, what: str) -> None:
    """Raise MissingExtra unless the extra is installed; `what` is what needs it."""
    if not is_installed(extra):
        raise MissingExtra(
            f"{what} needs the extra {extra!r}, which is not installed.", advice=f"Run `{install_command(extra)}`."
        )


def install_command(extra: str) -> str:
    return f"pip install '{pip_target()}[{extra}]'"


@cache
def pip_target() -> str:
    """Return the folder that `pip install` was given, if Tablewright was installed from one; else its name."""
    try:
        origin = json.loads(distribution("tablewright").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        return "tablewright"
    address = urlsplit(str(origin.get("url", "")))
    folder = unquote(address.path)
    # A folder that is gone or no source tree cannot be installed from again.
    return folder if address.scheme == "file" and Path(folder, "pyproject.toml").is_file() else "tablewright"


class LazyModule:
    """A module that is imported when it is first used."""

    def __init__(self, module: str, extra: str) -> None:
        self._module, self._extra = module, extra

    def __getattr__(self, name: str) -> Any:
        # Tools such as debuggers and `inspect` ask for these; answering would import the module.
        if name.startswith("__"):
            raise AttributeError(name)
        require_extra(self._extra, "This")
        found = getattr(import_module(self._module), name)
        # The next access does not call this method.
        setattr(self, name, found)
        return found
