"""Values as text, the same wherever a table is shown or written as text. `coerce` reads these texts back."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from tablewright.domain.model import Basis, Cell, Value
from tablewright.messages.catalogue import PageText

LIST_SEPARATOR = "; "
BASES: PageText[dict[Basis, str]] = {
    "given": "Given by a person, not looked up",
    "stated": "Stated in the source",
    "converted": "Converted from what the source states",
    "computed": "Computed",
    "judged": "Judged by the model from these quotes",
}

_WORD = re.compile(r"[^\W_]+")
_SEPARATOR = re.compile(r"[;；\r\n]")
_LOOKS_LIKE_MANY = re.compile(r"[,，、|•·]|^\W|^\(?\w{1,3}[.)]")


def show(value: Value) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return show_float(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return show_list(value)
    return "" if value is None else str(value)


def cell_text(cell: Cell) -> str:
    """Return what a person sees in the cell; a given cell is shown as it was given ("12.50" stays "12.50")."""
    if cell.raw_value is not None and cell.is_given:
        return cell.raw_value
    return show(cell.value)


def basis_text(cell: Cell) -> str:
    """Return how the value relates to its evidence, in words; "" where that is not known."""
    basis = cell.shown_basis
    if not basis:
        return ""
    return f"{BASES[basis]}: {cell.converted_by}" if cell.converted_by else BASES[basis]


def basis_label(cell: Cell) -> str:
    """The basis as a column of an export has it: "stated", "converted: year of a date"."""
    return f"{cell.shown_basis}: {cell.converted_by}" if cell.converted_by else cell.shown_basis or ""


def sureness(cell: Cell) -> str:
    """The confidence label, which a judged value never has alone: "medium, judged"."""
    return f"{cell.confidence_label}, judged" if cell.basis == "judged" else cell.confidence_label


def show_float(value: float) -> str:
    """The shortest text that reads back as the same number; 3.0 is shown as 3."""
    return repr(value) if not value.is_integer() or abs(value) >= 1e15 else str(int(value))


def show_list(items: tuple[str, ...]) -> str:
    """Items joined by "; ", or JSON where they would be read back as other items."""
    survive = all(item and item == item.strip() and not _SEPARATOR.search(item) for item in items)
    lone = len(items) == 1 and _LOOKS_LIKE_MANY.search(items[0])
    if items and survive and not lone and not items[0].startswith("["):
        return LIST_SEPARATOR.join(items)
    return json.dumps(list(items), ensure_ascii=False)


def normalize_whitespace(text: str) -> str:
    """Return the text on one line, with one space between its words."""
    return " ".join(text.split())


def normalize_words(text: str) -> str:
    """Return the words and numbers of the text in small letters, with one space between them."""
    return " ".join(_WORD.findall(text.casefold()))


def shortened(text: str, limit: int) -> str:
    """On one line, cut where it is longer."""
    text = normalize_whitespace(text)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def count_noun(count: int, noun: str) -> str:
    """Return "1 row" or "1,200 rows"."""
    return f"{count:,} {plural(noun, count)}"


def new_queries(queries: Iterable[str], tried: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the queries in one line each, without those that were tried, in whichever case and spacing."""
    known = {normalize_whitespace(query).casefold() for query in ("", *tried)}
    lines: dict[str, str] = {}
    for query in queries:
        line = normalize_whitespace(query)
        lines.setdefault(line.casefold(), line)
    return tuple(line for key, line in lines.items() if key not in known)


def plural(noun: str, count: int) -> str:
    """ "match" → "matches", for any count but one; "minutes" and "race results" are plurals already."""
    if count == 1 or not noun or (noun.endswith("s") and not noun.endswith(("ss", "us", "is", "as"))):
        return noun
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"
