"""Tablewright fills tables with facts that carry their evidence. `Tablewright` is the library's front door."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tablewright.app import Tablewright
    from tablewright.settings import Settings, load_settings

__all__ = ["Settings", "Tablewright", "load_settings"]


def __getattr__(name: str) -> Any:
    """Loaded when asked for: `tablewright --help` needs none of it and answers in a fraction of the time."""
    if name == "Tablewright":
        from tablewright.app import Tablewright

        return Tablewright
    if name in ("Settings", "load_settings"):
        from tablewright import settings

        return getattr(settings, name)
    raise AttributeError(f"module 'tablewright' has no attribute {name!r}")
