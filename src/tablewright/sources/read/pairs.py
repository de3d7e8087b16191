"""How a label and its value, and a row of a table, are written as lines."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from lxml.etree import _Element

from tablewright.values.currencies import SYMBOLS

MAX_LABEL = 60

_LABEL_NAME = re.compile(
    r"(?:^|[\s_-])(?:label|key|term|dt|th|(?:attr(?:ibute)?|spec|prop(?:erty)?|field|info|data)[_-]?(?:name|title|label))"
    r"(?=$|\s)",
    re.IGNORECASE,
)
_VALUE_NAME = re.compile(r"(?:^|[\s_-])(?:value|val|dd|td|data|detail|answer)(?=$|\s)", re.IGNORECASE)
_BADGE = re.compile(r"(?:^|\s)(?:label-\w+|badge|tag)(?=$|\s)", re.IGNORECASE)
_LABELLED = re.compile(r"[^\W\d][^:.!?]{1,40}:\s")
_LETTER = re.compile(r"[^\W\d_]")


def pair(label: str, value: str) -> str:
    if label.endswith((":", "?", "：")):
        return f"{label} {value}"
    return f"{label}: {value}"


def begins_value(text: str) -> bool:
    return text[0].isalnum() or text[0] in f"{SYMBOLS}<>≤≥~±+-–(\"'“"


def has_label(text: str) -> bool:
    """It already reads "Label: value"."""
    return bool(_LABELLED.match(text))


def row_lines(cells: Sequence[tuple[bool, str]], *, headed: bool) -> list[str]:
    """The lines of one row, given (is a header cell, text) of each cell; `headed`: the table has a row of headers."""
    filled = [(is_header, text) for is_header, text in cells if text]
    if len(filled) < 2:
        return [text for _, text in filled]
    labels, values = filled[::2], filled[1::2]
    if len(labels) == len(values) and all(
        (is_header or label.endswith(":")) and not value_is_header and len(label) <= MAX_LABEL
        for (is_header, label), (value_is_header, _) in zip(labels, values, strict=True)
    ):
        return [pair(label, value) for (_, label), (_, value) in zip(labels, values, strict=True)]
    if len(filled) == 2 and not headed and not any(is_header for is_header, _ in filled):
        label = filled[0][1]
        if len(cells) <= 3 and len(label) <= MAX_LABEL and _LETTER.search(label):
            return [pair(label, filled[1][1])]
    return [" | ".join(text for _, text in (cells if headed else filled))]


@lru_cache(maxsize=4096)
def is_label(classes: str) -> bool:
    return bool(_LABEL_NAME.search(classes)) and not _BADGE.search(classes)


@lru_cache(maxsize=4096)
def is_value(classes: str) -> bool:
    return bool(_VALUE_NAME.search(classes))


def named_as_pair(label: _Element, value: _Element) -> bool:
    """Two elements whose class names, or whose colon, say that one labels the other."""
    if is_label(label.get("class") or "") or is_value(value.get("class") or ""):
        return True
    text = label.text if len(label) == 0 else None
    return bool(text and text.rstrip().endswith(":"))


def starts_alike(element: _Element | None, tag: str) -> bool:
    """A neighbour in a list that begins with the same kind of label."""
    return (
        element is not None
        and element.tag == "li"
        and len(element) > 0
        and element[0].tag == tag
        and not (element.text or "").strip()
    )
