"""Convert tables to DataFrames and Arrow tables. Money, and dates unless all of them are whole days, become text: a
date may be partial ("2024-05") and money has a currency."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from tablewright.domain.model import Field, Money, Table
from tablewright.errors import UsageError
from tablewright.interfaces.library.data import PandasFrame, PolarsFrame, is_blank, read_all_rows
from tablewright.values.dates import ISO_DAY

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

# A larger integer becomes a float: pandas, polars and Arrow have no wider type.
MAX_INT64 = 2**63 - 1


def to_pandas(table: Table, asked: Sequence[str], source: Any) -> pandas.DataFrame:
    pd = import_pandas()
    if isinstance(source, PandasFrame):
        places = kept_places(source)
        frame = source.copy()  # type: ignore[attr-defined]
        for field in new_fields(table, asked):
            frame[field.name] = pd.array(
                place_values(column_values(table, field), places, len(frame)), dtype=pandas_type(table, field)
            )
        return frame
    columns = {
        field.name: pd.array(column_values(table, field), dtype=pandas_type(table, field))
        for field in table.shown_fields
    }
    return pd.DataFrame(columns)


def to_polars(table: Table, asked: Sequence[str], source: Any) -> polars.DataFrame:
    pl = import_polars()
    if isinstance(source, PolarsFrame):
        places = kept_places(source)
        height: int = source.height  # type: ignore[attr-defined]
        new = [
            pl.Series(
                field.name,
                place_values(column_values(table, field), places, height),
                dtype=polars_type(pl, table, field),
            )
            for field in new_fields(table, asked)
        ]
        return source.with_columns(new)  # type: ignore[attr-defined, no-any-return]
    series = [
        pl.Series(field.name, column_values(table, field), dtype=polars_type(pl, table, field))
        for field in table.shown_fields
    ]
    made: polars.DataFrame = pl.DataFrame(series)
    return made


def to_arrow(table: Table) -> pyarrow.Table:
    arrow = import_arrow()
    kinds = {"Int64": arrow.int64(), "Float64": arrow.float64(), "boolean": arrow.bool_()}
    kinds |= {"datetime64[s]": arrow.date32(), "object": arrow.list_(arrow.string())}
    fields = table.shown_fields
    types = [kinds.get(pandas_type(table, field), arrow.string()) for field in fields]
    arrays = [arrow.array(column_values(table, field), type=kind) for field, kind in zip(fields, types, strict=True)]
    return arrow.Table.from_arrays(arrays, names=[field.name for field in fields])


def new_fields(table: Table, asked: Sequence[str]) -> list[Field]:
    return [field for field in table.shown_fields if field.name in asked]


def column_values(table: Table, field: Field) -> list[Any]:
    values = [row.cell(field.name).value for row in table.rows]
    if field.type == "date" and are_days(values):
        from datetime import date

        return [None if value is None else date.fromisoformat(str(value)) for value in values]
    if field.type == "number" and any(type(value) is int and abs(value) > MAX_INT64 for value in values):
        return [float(value) if type(value) is int else to_frame_value(value) for value in values]
    return [to_frame_value(value) for value in values]


def to_frame_value(value: Any) -> Any:
    if isinstance(value, Money):
        return str(value)
    return list(value) if isinstance(value, tuple) else value


# Nullable types, so that an empty cell does not turn whole numbers into floats.
def pandas_type(table: Table, field: Field) -> str:
    values = [value for row in table.rows if (value := row.cell(field.name).value) is not None]
    match field.type:
        case "number" if all(type(value) is int and abs(value) <= MAX_INT64 for value in values):
            return "Int64"
        case "number" if all(type(value) in (int, float) for value in values):
            return "Float64"
        case "boolean" if all(type(value) is bool for value in values):
            return "boolean"
        case "date" if are_days(values):
            return "datetime64[s]"
        case "list":
            return "object"
    return "str"


def polars_type(pl: Any, table: Table, field: Field) -> Any:
    kinds = {"Int64": pl.Int64, "Float64": pl.Float64, "boolean": pl.Boolean}
    kinds |= {"datetime64[s]": pl.Date, "object": pl.List(pl.String)}
    return kinds.get(pandas_type(table, field), pl.String)


def are_days(values: Sequence[Any]) -> bool:
    return all(value is None or ISO_DAY.fullmatch(str(value)) for value in values)


def kept_places(source: Any) -> list[int]:
    """Return the positions of the table's rows in the DataFrame, whose empty rows are not in the table."""
    return [at for at, row in enumerate(read_all_rows(source)) if not is_blank(row)]


def place_values(values: Sequence[Any], places: Sequence[int], count: int) -> list[Any]:
    found: list[Any] = [None] * count
    for at, value in zip(places, values, strict=True):
        found[at] = value
    return found


def import_pandas() -> Any:
    return import_frame_library("pandas")


def import_polars() -> Any:
    return import_frame_library("polars")


def import_arrow() -> Any:
    return import_frame_library("pyarrow")


def import_frame_library(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise UsageError(f"{name} is not installed.", advice=f"Install it: pip install {name}.") from None
