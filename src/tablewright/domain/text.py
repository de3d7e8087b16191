"""Values as text and JSON, the same in every interface and export. `coerce_value` reads these texts back. No I/O."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from tablewright.domain.model import Basis, Cell, Conflict, Value
from tablewright.domain.run import Progress
from tablewright.messages.catalogue import PageText

BASIS_TEXTS: PageText[dict[Basis, str]] = {
    "given": "Given by a person, not looked up",
    "stated": "Stated in the source",
    "converted": "Converted from what the source states",
    "computed": "Computed",
    "judged": "Judged by the model from these quotes",
}


def format_value(value: Value) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return format_float(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return format_list(value)
    return "" if value is None else str(value)


def describe_conflicts(conflicts: Sequence[Conflict], who: str = "others say") -> str:
    """Return "others say 70, 72; may be read as 64 (without the mast)"."""
    others = [format_value(each.value) for each in conflicts if not each.reason]
    readings = [f"may be read as {format_value(each.value)} ({each.reason})" for each in conflicts if each.reason]
    return "; ".join([*([f"{who} {', '.join(others)}"] if others else []), *readings])


def hint_text(cell: Cell) -> str:
    """Return the value that an empty cell may have, which is not sure enough to be proposed, or ""."""
    return format_value(cell.conflict[0].value) if cell.value is None and cell.conflict else ""


def cell_text(cell: Cell) -> str:
    """Return the cell as a person sees it; an imported value keeps its original spelling ("12.50" stays "12.50")."""
    if cell.raw_value is not None and cell.is_given:
        return cell.raw_value
    return format_value(cell.value)


def describe_basis(cell: Cell) -> str:
    """Describe how the value relates to its evidence; "" if that is unknown."""
    basis = cell.shown_basis
    if not basis:
        return ""
    return f"{BASIS_TEXTS[basis]}: {cell.converted_by}" if cell.converted_by else BASIS_TEXTS[basis]


def format_basis_label(cell: Cell) -> str:
    """Return the basis for a column of an export: "stated", "converted: year of a date"."""
    return f"{cell.shown_basis}: {cell.converted_by}" if cell.converted_by else cell.shown_basis or ""


def format_cell_confidence(cell: Cell) -> str:
    """Return the confidence label, marked for values that a model judged: "medium, judged"."""
    return f"{cell.confidence_label}, judged" if cell.basis == "judged" else cell.confidence_label


def format_float(value: float) -> str:
    """Return the shortest text that reads back as the same number; 3.0 is shown as 3."""
    # From about 9e15 on, floats skip whole numbers: the digits of a larger one would claim more than it has.
    return repr(value) if not value.is_integer() or abs(value) >= 1e15 else str(int(value))


def format_list(items: tuple[str, ...]) -> str:
    """Return the items joined by "; ", or as JSON if that text would be read back as other items."""
    survive = all(item and item == item.strip() and not re.search(r"[;；\r\n]", item) for item in items)
    # A single item with these would be read back as several, or without its number, so it is written as JSON.
    lone = len(items) == 1 and re.search(r"[,，、|•·]|^\W|^\(?\w{1,3}[.)]", items[0])
    if items and survive and not lone and not items[0].startswith("["):
        # Not a comma, which is part of many items: "Irving, Texas".
        return "; ".join(items)
    return json.dumps(list(items), ensure_ascii=False)


def normalize_whitespace(text: str) -> str:
    """Return the text on one line, with one space between its words."""
    return " ".join(text.split())


def normalize_words(text: str) -> str:
    """Return the words and numbers of the text in small letters, with one space between them."""
    return " ".join(re.findall(r"[^\W_]+", text.casefold()))


def shorten_text(text: str, limit: int) -> str:
    """Return the text on one line, cut to at most `limit` characters."""
    text = normalize_whitespace(text)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def count_noun(count: int, noun: str) -> str:
    """Return "1 row" or "1,200 rows"."""
    return f"{count:,} {pluralize_noun(noun, count)}"


def drop_tried_queries(queries: Iterable[str], tried: Iterable[str] = ()) -> tuple[str, ...]:
    """Return the queries on one line each, without repeats and tried ones, ignoring case and spacing."""
    known = {normalize_whitespace(query).casefold() for query in ("", *tried)}
    lines: dict[str, str] = {}
    for query in queries:
        line = normalize_whitespace(query)
        lines.setdefault(line.casefold(), line)
    return tuple(line for key, line in lines.items() if key not in known)


def pluralize_noun(noun: str, count: int) -> str:
    """Return the plural of the noun for any count but one: "matches" for "match". Nouns in the plural are kept."""
    if count == 1 or not noun or (noun.endswith("s") and not noun.endswith(("ss", "us", "is", "as"))):
        return noun
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def to_json_document(value: Any) -> Any:
    """Return structs as JSON documents in which every key is present, so that programs need not know our defaults."""
    if isinstance(value, msgspec.Struct):
        keys = {name: to_json_document(getattr(value, name)) for name in value.__struct_fields__}
        if isinstance(value, Cell):
            keys |= {"basis": value.shown_basis, "confidence_label": value.confidence_label}
        if isinstance(value, Progress):
            keys["fraction"] = value.fraction
        return keys
    if isinstance(value, Mapping):
        return {key: to_json_document(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json_document(item) for item in value]
    return value


# Control characters except tab and line feed, direction marks, and characters without width: printed, they could move
# the cursor, set the title of the terminal, or reverse the text that follows.
_UNSAFE_CHARACTERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\U000e0000-\U000e007f]"
)


def replace_unsafe_characters(text: str) -> str:
    """Return the text for display, each unsafe character replaced by a mark."""
    return _UNSAFE_CHARACTERS.sub("\ufffd", text)


def escape_unsafe_characters(text: str) -> str:
    """Return the text for programs and logs, each unsafe character as \\uXXXX, which JSON reads as that character."""
    return _UNSAFE_CHARACTERS.sub(lambda found: json.dumps(found[0])[1:-1], text)
