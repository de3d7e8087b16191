"""Read responses that are neither a page nor a PDF as lines: text, CSV, JSON, XML."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from lxml import etree
from lxml.etree import _Element

from tablewright.formats.tables.delimited import ONE_COLUMN, read_records
from tablewright.text import break_long_line, clean_one_line, normalize_lines
from tablewright.web.read.reading import PAGE_LIMITS, Reading, UnreadablePage


def read_plain_text(text: str) -> Reading:
    return _make_reading(normalize_lines(text[: 4 * PAGE_LIMITS.characters]))


def read_csv_text(text: str, *, tabs: bool = False) -> Reading:
    """Return a line for each row, its cells joined by " | "."""
    text = text[: 4 * PAGE_LIMITS.characters]
    dialect, records = read_records(text, tabs=tabs)
    if dialect.delimiter == ONE_COLUMN:
        return read_plain_text(text)
    try:
        rows = islice(records, PAGE_LIMITS.lines)
        return _make_reading(
            _join_bounded(" | ".join(clean_one_line(cell) for cell in row) for row in rows if any(row))
        )
    except csv.Error:
        return read_plain_text(text)


def read_json_text(text: str) -> Reading:
    """Return lines of "path.to[0].key: value"; a list of plain values is one line."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return read_plain_text(text)
    return _make_reading(_join_bounded(islice(_json_lines(data), PAGE_LIMITS.lines)))


def read_xml_text(text: str) -> Reading:
    """Return lines of "element: text" for feeds, sitemaps and data."""
    parser = etree.XMLParser(
        recover=True, resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(
            text[: 12 * PAGE_LIMITS.characters].replace("\x00", "").encode("utf-8", "replace"), parser
        )
    except (etree.XMLSyntaxError, ValueError):
        root = None
    if root is None:
        return read_plain_text(text)
    title = next((element.text for element in root.iter("{*}title") if element.text), "")
    return _make_reading(_join_bounded(islice(_xml_lines(root), PAGE_LIMITS.lines)), clean_one_line(title)[:500])


def _make_reading(text: str, title: str = "") -> Reading:
    text = text[: PAGE_LIMITS.characters].rstrip()
    if not text:
        raise UnreadablePage("holds no text")
    return Reading(text=text, title=title)


def _join_bounded(found: Iterator[str]) -> str:
    kept, length = [], 0
    for line in chain.from_iterable(map(break_long_line, found)):
        kept.append(line)
        length += len(line) + 1
        if length > PAGE_LIMITS.characters:
            break
    return "\n".join(kept)


def _json_lines(data: Any) -> Iterator[str]:
    stack: list[tuple[str, Any]] = [("", data)]
    while stack:
        path, node = stack.pop()
        if isinstance(node, dict):
            inner = [(f"{path}.{clean_one_line(str(key))}".lstrip("."), value) for key, value in node.items()]
            # Deep nesting would make each line longer than the one before.
            stack.extend((name[-200:], value) for name, value in reversed(inner))
        elif isinstance(node, list):
            if 0 < len(node) <= 50 and all(isinstance(each, str | int | float) for each in node):
                yield _path_line(path, "; ".join(_plain_value(each) for each in node))
            else:
                stack.extend((f"{path}[{at}]"[-200:], node[at]) for at in range(len(node) - 1, -1, -1))
        elif node is not None and (shown := _plain_value(node)):
            yield _path_line(path, shown)


def _path_line(path: str, value: str) -> str:
    return f"{path}: {value}" if path else value


def _plain_value(value: str | int | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return clean_one_line(str(value))


def _xml_lines(root: _Element) -> Iterator[str]:
    for element in root.iter("*"):
        name = etree.QName(element).localname
        text = clean_one_line(element.text or "")
        if text:
            yield f"{name}: {text}" if len(element) == 0 else text
        for attribute, value in element.attrib.items():
            if shown := clean_one_line(str(value)):
                yield f"{name} {etree.QName(attribute).localname}: {shown}"
        if tail := clean_one_line(element.tail or ""):
            yield tail
