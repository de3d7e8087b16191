"""Read rows from what programs have: a list of dictionaries, a DataFrame of pandas or polars, an Arrow table, a
path."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date, time
from decimal import Decimal
from math import isnan
from typing import Any, Protocol, TypeAlias, runtime_checkable

from tablewright.domain.model import Money
from tablewright.errors import UsageError
from tablewright.formats.tables.columns import is_empty_value

# The same three ways in every error about data.
ADVICE = "Give a path, a DataFrame, or a list of dictionaries."


@runtime_checkable
class PandasFrame(Protocol):
    def to_dict(self, orient: Any = ..., *, index: bool = ...) -> Any: ...
    @property
    def iloc(self) -> Any: ...
    @property
    def columns(self) -> Any: ...


@runtime_checkable
class PolarsFrame(Protocol):
    def to_dicts(self) -> list[dict[str, Any]]: ...


@runtime_checkable
class ArrowTable(Protocol):
    def to_pylist(self) -> list[dict[str, Any]]: ...


Frame: TypeAlias = PandasFrame | PolarsFrame | ArrowTable
Data: TypeAlias = "str | os.PathLike[str] | Frame | Iterable[Mapping[str, Any]]"


def read_input_rows(data: Any) -> list[dict[str, Any]]:
    """Return all rows but empty ones; raise UsageError if there are none."""
    rows = [row for row in read_all_rows(data) if not is_blank(row)]
    if not rows:
        raise UsageError("There are no rows to work on.", advice=ADVICE)
    return rows


def read_all_rows(data: Any) -> list[dict[str, Any]]:
    refuse_repeated_names(data)
    if isinstance(data, PandasFrame):
        records: Iterable[Any] = data.to_dict(orient="records")
    elif isinstance(data, PolarsFrame):
        records = data.to_dicts()
    elif isinstance(data, ArrowTable):
        records = data.to_pylist()
    elif isinstance(data, Iterable) and not isinstance(data, Mapping | bytes):
        records = data
    else:
        raise UsageError(f"Rows cannot be taken from a {type(data).__name__}.", advice=ADVICE)
    return [to_python_row(record, at) for at, record in enumerate(records, start=1)]


def refuse_repeated_names(data: Any) -> None:
    """Raise UsageError if two columns have one name: a row as a dictionary would keep only the second."""
    names: Any = getattr(data, "column_names", None) or getattr(data, "columns", ())
    twice = [] if callable(names) else [str(name) for name, count in Counter(names).items() if count > 1]
    if twice:
        raise UsageError(f"More than one column is called {twice[0]!r}.", advice="Rename all but one of them.")


def to_python_row(record: Any, at: int) -> dict[str, Any]:
    if hasattr(record, "model_dump"):
        record = record.model_dump(mode="json")
    if not isinstance(record, Mapping):
        raise UsageError(f"Row {at:,} is a {type(record).__name__}, not a dictionary.", advice=ADVICE)
    return {str(name): to_python_value(value) for name, value in record.items()}


def to_python_value(value: Any) -> Any:
    """Return a Python value for one of numpy or pandas; None for their missing values."""
    if isinstance(value, float) and isnan(value):
        return None
    # Types of values that a table takes as they are.
    if type(value) in (str, bool, int, float, Decimal, date, time, bytes, Money, type(None)):
        return value
    if isinstance(value, list | tuple | set | frozenset):
        return [to_python_value(each) for each in value]
    if isinstance(value, Mapping):
        return {str(name): to_python_value(each) for name, each in value.items()}
    if type(value).__name__ in ("NAType", "NaTType"):
        return None
    if hasattr(value, "to_pydatetime"):
        return value.to_pydatetime()
    if hasattr(value, "tolist"):
        return to_python_value(value.tolist())  # a scalar or an array of numpy
    return value


def is_blank(row: Mapping[str, Any]) -> bool:
    return all(is_empty_value(value) for value in row.values())
