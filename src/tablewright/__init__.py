"""Tablewright fills tables with facts that carry their evidence.

    import tablewright as tw

    table = tw.enrich(rows, {"Founded": "What year was {Company} founded?"})
    table.to_pandas()
    table.evidence()

Verbs: `enrich`, `find`, `ask`, `research`, `extract`, `transform`; the same to be awaited in `tablewright.aio`.
Underneath is `Services.open()`, which keeps tables, runs and history.
"""

from __future__ import annotations

import gc
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tablewright.domain.fieldspec import parse_field
    from tablewright.domain.model import Cell, Evidence, Field, Finding, Money, Row, Step, Table
    from tablewright.errors import (
        BadAnswer,
        BadField,
        BadFile,
        BadFormula,
        BadSetting,
        Cancelled,
        DiskFull,
        EditConflict,
        Forbidden,
        MissingExtra,
        ModelError,
        ModelRefused,
        ModelUnavailable,
        NotFound,
        OverBudget,
        OverQuota,
        Paused,
        RunEnded,
        RunError,
        SearchError,
        StoreError,
        Superseded,
        TablewrightError,
        Unreachable,
        Unreadable,
        UsageError,
    )
    from tablewright.extraction.layout.draft import Parsed
    from tablewright.interfaces.library import aio
    from tablewright.interfaces.library.aio import Stopped, TablewrightWarning
    from tablewright.interfaces.library.progress import Progress
    from tablewright.interfaces.library.results import AskResult, Instance, ResearchResult, TableResult
    from tablewright.interfaces.library.verbs import ask, enrich, extract, find, research, transform
    from tablewright.services import Services
    from tablewright.settings import Settings
    from tablewright.settings_sources import load_settings
    from tablewright.strategies.effort import Effort, Expected
    from tablewright.strategies.strategy import (
        Answer,
        AskedRow,
        Parameter,
        Strategy,
        Task,
        Tell,
        Tools,
        declare_strategy,
    )
    from tablewright.web.search.provider import SearchProvider
    from tablewright.web.source import Hit, Query


# Where each public name is. It is loaded when it is asked for: `tablewright --help` needs none of it.
_HOME_OF = {
    name: home
    for home, names in {
        "tablewright.services": "Services",
        "tablewright.extraction.layout.draft": "Parsed",
        "tablewright.interfaces.library": "aio",
        "tablewright.interfaces.library.aio": "Stopped TablewrightWarning",
        "tablewright.interfaces.library.progress": "Progress",
        "tablewright.interfaces.library.results": "AskResult Instance ResearchResult TableResult",
        "tablewright.interfaces.library.verbs": "ask enrich extract find research transform",
        "tablewright.errors": (
            "BadAnswer BadField BadFile BadFormula BadSetting Cancelled DiskFull EditConflict Forbidden "
            "MissingExtra ModelError ModelRefused ModelUnavailable NotFound OverBudget OverQuota Paused RunEnded "
            "RunError SearchError StoreError Superseded TablewrightError Unreachable Unreadable UsageError"
        ),
        "tablewright.settings": "Settings",
        "tablewright.settings_sources": "load_settings",
        "tablewright.web.search.provider": "SearchProvider",
        "tablewright.web.source": "Hit Query",
        "tablewright.strategies.effort": "Effort Expected",
        "tablewright.strategies.strategy": "Answer AskedRow Parameter Strategy Task Tell Tools declare_strategy",
        "tablewright.domain.fieldspec": "parse_field",
        "tablewright.domain.model": "Cell Evidence Field Finding Money Row Step Table",
    }.items()
    for name in names.split()
}

__all__ = [
    "Answer",
    "AskResult",
    "AskedRow",
    "BadAnswer",
    "BadField",
    "BadFile",
    "BadFormula",
    "BadSetting",
    "Cancelled",
    "Cell",
    "DiskFull",
    "EditConflict",
    "Effort",
    "Evidence",
    "Expected",
    "Field",
    "Finding",
    "Forbidden",
    "Hit",
    "Instance",
    "MissingExtra",
    "ModelError",
    "ModelRefused",
    "ModelUnavailable",
    "Money",
    "NotFound",
    "OverBudget",
    "OverQuota",
    "Parameter",
    "Parsed",
    "Paused",
    "Progress",
    "Query",
    "ResearchResult",
    "Row",
    "RunEnded",
    "RunError",
    "SearchError",
    "SearchProvider",
    "Services",
    "Settings",
    "Step",
    "Stopped",
    "StoreError",
    "Strategy",
    "Superseded",
    "Table",
    "TableResult",
    "TablewrightError",
    "TablewrightWarning",
    "Task",
    "Tell",
    "Tools",
    "Unreachable",
    "Unreadable",
    "UsageError",
    "aio",
    "ask",
    "declare_strategy",
    "enrich",
    "extract",
    "find",
    "load_settings",
    "parse_field",
    "research",
    "transform",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'tablewright' has no attribute {name!r}")
    # What is imported stays: scanning it for garbage again and again would take a tenth of the time.
    collects = gc.isenabled()
    gc.disable()
    try:
        # `aio` is a module of its package, not a name in it, and may not be loaded yet.
        module = import_module("tablewright.interfaces.library.aio" if name == "aio" else home)
    finally:
        if collects:
            gc.enable()
    return module if name == "aio" else getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
