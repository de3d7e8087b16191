"""Everything that is neither a page nor a PDF, as lines: text, CSV, JSON, XML."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from lxml import etree
from lxml.etree import _Element

from tablewright.formats.tables.delimited import ONE_COLUMN, read_records
from tablewright.sources.read.reading import MAX_CHARS, Reading, UnreadablePage
from tablewright.text import broken, lines, one_line

MAX_LINES = 50_000
_MAX_PATH = 200
_JOINED_VALUES = 50


def read_text(text: str) -> Reading:
    return _reading(lines(text[: 4 * MAX_CHARS]))


def read_csv(text: str, *, tabs: bool = False) -> Reading:
    """One line for each row, its cells joined by " | "."""
    text = text[: 4 * MAX_CHARS]
    dialect, records = read_records(text, tabs=tabs)
    if dialect.delimiter == ONE_COLUMN:
        return read_text(text)
    try:
        rows = islice(records, MAX_LINES)
        return _reading(_bounded(" | ".join(one_line(cell) for cell in row) for row in rows if any(row)))
    except csv.Error:
        return read_text(text)


def read_json(text: str) -> Reading:
    """Lines of "path.to[0].key: value"; a list of plain values is one line."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return read_text(text)
    return _reading(_bounded(islice(_json_lines(data), MAX_LINES)))


def read_xml(text: str) -> Reading:
    """Lines of "element: text" for feeds, sitemaps and data."""
    parser = etree.XMLParser(
        recover=True, resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(text[: 12 * MAX_CHARS].replace("\x00", "").encode("utf-8", "replace"), parser)
    except (etree.XMLSyntaxError, ValueError):
        root = None
    if root is None:
        return read_text(text)
    title = next((element.text for element in root.iter("{*}title") if element.text), "")
    return _reading(_bounded(islice(_xml_lines(root), MAX_LINES)), one_line(title)[:500])


def _reading(text: str, title: str = "") -> Reading:
    text = text[:MAX_CHARS].rstrip()
    if not text:
        raise UnreadablePage("holds no text")
    return Reading(text=text, title=title)


def _bounded(found: Iterator[str]) -> str:
    kept, length = [], 0
    for line in chain.from_iterable(map(broken, found)):
        kept.append(line)
        length += len(line) + 1
        if length > MAX_CHARS:
            break
    return "\n".join(kept)


def _json_lines(data: Any) -> Iterator[str]:
    stack: list[tuple[str, Any]] = [("", data)]
    while stack:
        path, node = stack.pop()
        if isinstance(node, dict):
            inner = [(f"{path}.{one_line(str(key))}".lstrip("."), value) for key, value in node.items()]
            stack.extend((name[-_MAX_PATH:], value) for name, value in reversed(inner))
        elif isinstance(node, list):
            if 0 < len(node) <= _JOINED_VALUES and all(isinstance(each, str | int | float) for each in node):
                yield _line(path, "; ".join(_shown(each) for each in node))
            else:
                stack.extend((f"{path}[{at}]"[-_MAX_PATH:], node[at]) for at in range(len(node) - 1, -1, -1))
        elif node is not None and (shown := _shown(node)):
            yield _line(path, shown)


def _line(path: str, value: str) -> str:
    return f"{path}: {value}" if path else value


def _shown(value: str | int | float) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return one_line(str(value))


def _xml_lines(root: _Element) -> Iterator[str]:
    for element in root.iter("*"):
        name = etree.QName(element).localname
        text = one_line(element.text or "")
        if text:
            yield f"{name}: {text}" if len(element) == 0 else text
        for attribute, value in element.attrib.items():
            if shown := one_line(str(value)):
                yield f"{name} {etree.QName(attribute).localname}: {shown}"
        if tail := one_line(element.tail or ""):
            yield tail
