"""What a page is about, by its title alone: "Halden & Rourke – Candlewick Encyclopedia" is about Halden & Rourke."""

from __future__ import annotations

import re

from tablewright.table.retrieved import Retrieved
from tablewright.table.rowkey import fold

ALIKE = 5
"""Letters at the beginning that a site's name and its address have in common."""
_PARTS = re.compile(r"\s+[|·–—»:]+\s+|\s+-\s+|:\s+")
_BRACKETS = re.compile(r"\s*\([^)]*\)$")


def thing_of(source: Retrieved) -> str:
    """The title without the name of the site and what stands in brackets behind it."""
    parts = [part.strip() for part in _PARTS.split(source.title) if part.strip()]
    label = re.sub(r"[^a-z0-9]", "", source.domain.split(".")[0].casefold())
    kept = [part for part in parts if not _is_site(part, label)] if len(parts) > 1 else parts
    return _BRACKETS.sub("", kept[0] if kept else source.title)


def _is_site(part: str, label: str) -> bool:
    letters = "".join(re.findall(r"[a-z0-9]+", fold(part)))
    if len(label) < ALIKE or not letters:
        return letters == label
    return label in letters or letters.removeprefix("the")[:ALIKE] == label[:ALIKE]
