"""Values as text, the same wherever a table is shown or written as text. `coerce` reads these texts back."""

from __future__ import annotations

import json
import re

from tablewright.table.model import Cell, Money, Value

LIST_SEPARATOR = "; "


def show(value: Value) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case str():
            return value
        case int():
            return str(value)
        case float():
            return show_float(value)
        case Money():
            return str(value)
        case tuple():
            return show_list(value)


def cell_text(cell: Cell) -> str:
    """What a person sees in the cell; a given cell is shown as it was given ("12.50" stays "12.50")."""
    if cell.raw_value is not None and cell.is_given:
        return cell.raw_value
    return show(cell.value)


def show_float(value: float) -> str:
    """The shortest text that reads back as the same number; 3.0 is shown as 3."""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)


def show_list(items: tuple[str, ...]) -> str:
    """"a; b; c", or JSON where an item would not survive that."""
    plain = items and all(item and item == item.strip() and not re.search(r";|[\r\n]", item) for item in items)
    if plain and not items[0].startswith("["):
        return LIST_SEPARATOR.join(items)
    return json.dumps(list(items), ensure_ascii=False)
