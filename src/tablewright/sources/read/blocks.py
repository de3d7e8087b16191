"""The visible page as blocks: one line of text each, with what the markup says about it.

Facts are kept in a form that a reader of lines understands: a table row is "a | b | c", a pair of a label and its value
(a table with two columns, a definition list, a grid of specifications) is "Label: value".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lxml import etree
from lxml.etree import _Element

from tablewright.sources.read.elements import (
    CENTRE,
    MAX_LABEL,
    Sight,
    attributes_of,
    background_of,
    begins_value,
    has_label,
    is_label,
    longer_than,
    named_as_pair,
    pair,
    region_of,
    row_lines,
    starts_alike,
)
from tablewright.sources.read.reading import MAX_CHARS
from tablewright.text import one_line

MAX_BUTTON = 30
MAX_LABELS = 12
MAX_CELL = 400
MAX_CELL_ELEMENTS = 80
MAX_CELL_LINES = 8
MAX_SPAN = 500
"""Rows that a cell reaches down to; columns that it spans are a tenth."""
MAX_REPEATED = 200
"""Characters of a cell that is written again in each row and column that it spans."""


@dataclass(slots=True)
class PageBlock:
    text: str
    tag: str
    region: int
    """Bits of `Region`."""
    linked: int
    """How many of the characters are links."""
    links: tuple[str, ...] = ()

    @property
    def is_fact(self) -> bool:
        return self.tag in _FACTS

    @property
    def is_heading(self) -> bool:
        return self.tag in _HEADINGS


_FACTS = frozenset(("tr", "dd", "pair"))
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_INLINE = frozenset(
    "a abbr acronym b bdi bdo big button cite code data del dfn em font i img ins kbd label mark nobr output q rb ruby "
    "s samp slot small span strike strong sub sup time tt u var wbr".split()
)
_NEVER_SHOWN = frozenset(
    "script style noscript template head iframe frame frameset noframes object embed applet audio video canvas svg map "
    "area datalist select optgroup option textarea input progress meter param source track link meta title base math "
    "rp rt dialog".split()
)
_FACT_TAGS = frozenset(("tr", "dt", "dd", "div", "li", "p", "section"))
_UNSPACED = frozenset(("sub", "sup"))


_BUTTON_NAME = re.compile(r"(?:^|[\s_-])(?:btn|button|cta)(?=$|[\s_-])", re.IGNORECASE)
_OPENING = "([{$€£¥#@/-–—“‘'\"~_=+\\<≤≥"
_CLOSING = ")]}.,;:!?%°'\"”’/-–—_=+\\>…™®©"


@dataclass(slots=True, frozen=True)
class Zone:
    """An element that calls itself a header, a menu, a sidebar …, and the blocks `start:end` in it.

    Names lie: whether it is one is decided when the whole page is known.
    """

    region: int
    inside: int
    """The regions around it."""
    start: int
    end: int
    chars: int
    linked: int


@dataclass(slots=True, frozen=True)
class PageBlocks:
    blocks: list[PageBlock]
    zones: list[Zone]


def visible_page(root: _Element) -> PageBlocks:
    walk = _Walk(root, Sight(root))
    return PageBlocks(blocks=walk.run(), zones=walk.zones)


@dataclass(slots=True)
class _Grid:
    """A table with a row of headers: which cells reach down into its further rows, by column."""

    headed: bool = False
    spans: dict[int, tuple[int, tuple[bool, str]]] = field(default_factory=dict)

    def whole(self, cells: Sequence[_Element], texts: Sequence[tuple[bool, str]]) -> list[tuple[bool, str]]:
        """The row with the cells that it shares with rows above, and with one that spans several columns in each."""
        found: list[tuple[bool, str]] = []
        for cell, text in zip(cells, texts, strict=True):
            self._reach_down(found)
            attributes = attributes_of(cell)
            across, down = (
                span_of(attributes.get("colspan"), MAX_SPAN // 10),
                span_of(attributes.get("rowspan"), MAX_SPAN),
            )
            again = text if len(text[1]) <= MAX_REPEATED else (text[0], "")
            for place in range(across):
                if down > 1:
                    self.spans[len(found)] = down - 1, again
                found.append(again if place else text)
        self._reach_down(found)
        return found

    def _reach_down(self, row: list[tuple[bool, str]]) -> None:
        while (above := self.spans.pop(len(row), None)) is not None:
            left, text = above
            if left > 1:
                self.spans[len(row)] = left - 1, text
            row.append(text)


def span_of(said: str | None, most: int) -> int:
    return max(1, min(int(said), most)) if said and said.isascii() and said.isdecimal() and len(said) < 6 else 1


@dataclass(slots=True)
class _Open:
    """What is remembered of an element until it ends."""

    region: int
    background: str
    inline: bool
    skipped: bool
    is_link: bool = False
    labels: bool = False
    zone: int = 0
    start: tuple[int, int, int] = (0, 0, 0)


@dataclass(slots=True)
class _Walk:
    """One pass over the tree without recursion, so no depth of nesting can break it."""

    root: _Element
    sight: Sight
    background: str = ""
    flat: bool = False
    found: list[PageBlock] = field(default_factory=list)
    zones: list[Zone] = field(default_factory=list)
    written: int = 0
    linked: int = 0
    _pieces: list[str] = field(default_factory=list)
    _linked: int = 0
    _link_depth: int = 0
    _links: list[str] = field(default_factory=list)
    _label_ends: list[int] = field(default_factory=list)
    _boundary: int = 0
    _pre: int = 0
    _heading: str = ""
    _label: str = ""
    _tables: list[_Grid] = field(default_factory=list)

    def run(self) -> list[PageBlock]:
        walker = etree.iterwalk(self.root, events=("start", "end"))
        stack = [_Open(region=0, background=self.background, inline=False, skipped=False)]
        for event, element in walker:
            if event == "start":
                opened = self._start(element, stack[-1])
                stack.append(opened)
                if opened.skipped:
                    walker.skip_subtree()
            else:
                self._end(element, stack.pop(), stack[-1])
                if self.written > MAX_CHARS:
                    break
        self._flush("p", 0)
        return self.found

    def _start(self, element: _Element, parent: _Open) -> _Open:
        tag = element.tag
        if tag in _NEVER_SHOWN:
            return _Open(region=parent.region, background="", inline=True, skipped=True)
        attributes = attributes_of(element)
        inline = tag in _INLINE
        button = inline and self._is_button(element, attributes)
        if button or self.sight.hides(element, attributes, parent.background):
            return _Open(region=parent.region, background="", inline=inline, skipped=True)
        background = (background_of(attributes) if attributes else "") or parent.background
        opened = _Open(region=parent.region, background=background, inline=inline, skipped=False)
        if inline:
            self._start_inline(element, attributes, opened)
            return opened
        self._flush(self._heading or "p", parent.region)
        named = region_of(tag, attributes)
        opened.region |= named & CENTRE
        if named & ~CENTRE:
            opened.zone, opened.start = named & ~CENTRE, (len(self.found), self.written, self.linked)
        if not self.flat and tag in _FACT_TAGS and self._written_as_fact(element, opened):
            opened.skipped = True
            return opened
        if tag in _HEADINGS:
            self._heading = tag
        elif tag == "pre":
            self._pre += 1
        elif tag == "table":
            self._tables.append(_Grid())
        self._add(element.text)
        return opened

    def _is_button(self, element: _Element, attributes: Mapping[str, str]) -> bool:
        """Something to press, with a few words on it: "Add to cart" is no fact."""
        tag = element.tag
        if tag == "a":
            pressed = bool(_BUTTON_NAME.search(attributes.get("class", "")))
        else:
            pressed = tag == "button"
        return pressed and not self._heading and not longer_than(element, MAX_BUTTON)

    def _start_inline(self, element: _Element, attributes: Mapping[str, str], opened: _Open) -> None:
        if element.tag in _UNSPACED:
            self._boundary = 0
        elif self._boundary == 1:
            self._boundary = 2
        if element.tag == "a" and (href := attributes.get("href")) is not None:
            opened.is_link = True
            self._link_depth += 1
            self._links.append(href)
        opened.labels = "class" in attributes and is_label(attributes["class"])
        self._add(element.text)

    def _end(self, element: _Element, opened: _Open, parent: _Open) -> None:
        tag = element.tag
        if opened.inline:
            if opened.is_link:
                self._link_depth -= 1
            if opened.labels:
                self._label_ends.append(len(self._pieces))
            self._boundary = 1 if self._boundary == 0 and tag not in _UNSPACED else self._boundary
        else:
            self._flush(tag if tag in _HEADINGS or tag == "li" else self._heading or "p", opened.region)
            if opened.zone:
                self._end_zone(opened, parent.region)
            if not opened.skipped:
                if tag in _HEADINGS:
                    self._heading = ""
                elif tag == "pre":
                    self._pre -= 1
                elif tag == "table":
                    self._tables.pop()
                elif tag == "dl":
                    self._flush_label(opened.region)
        if element is not self.root:
            self._add(element.tail)

    def _end_zone(self, opened: _Open, inside: int) -> None:
        start, written, linked = opened.start
        if len(self.found) > start:
            self.zones.append(
                Zone(
                    region=opened.zone,
                    inside=inside,
                    start=start,
                    end=len(self.found),
                    chars=self.written - written,
                    linked=self.linked - linked,
                )
            )

    def _add(self, text: str | None) -> None:
        if not text:
            return
        if self._boundary == 2 and self._pieces and not self._pre and _need_space(self._pieces[-1], text):
            self._pieces.append(" ")
        self._boundary = 0
        self._pieces.append(text)
        if self._link_depth:
            self._linked += len(text.strip())

    def _mark_labels(self) -> str:
        """The text with a colon after each element that was named a label, if a value follows on the line."""
        ends, self._label_ends = self._label_ends, []
        for end in reversed(ends[:MAX_LABELS]):
            label, value = one_line("".join(self._pieces[:end])), "".join(self._pieces[end:]).lstrip()
            if 0 < len(label) <= MAX_LABEL and label[-1].isalnum() and value and begins_value(value):
                self._pieces[end:] = [": ", value]
        return "".join(self._pieces)

    def _flush(self, tag: str, region: int) -> None:
        if not self._pieces:
            return
        text = self._mark_labels() if self._label_ends else "".join(self._pieces)
        links, linked = tuple(self._links), self._linked
        self._pieces, self._links, self._linked, self._boundary = [], [], 0, 0
        for line in text.split("\n") if self._pre else (text,):
            if line := one_line(line):
                self._write(line, tag, region, linked, links)
                links, linked = (), 0

    def _write(self, line: str, tag: str, region: int, linked: int = 0, links: tuple[str, ...] = ()) -> None:
        self.found.append(PageBlock(text=line, tag=tag, region=region, linked=linked, links=links))
        self.written += len(line) + 1
        self.linked += linked

    def _flush_label(self, region: int) -> None:
        if self._label:
            self._write(self._label, "p", region)
            self._label = ""

    def _written_as_fact(self, element: _Element, opened: _Open) -> bool:
        """Rows, definitions and grids of label and value are written whole; False means: read on inside."""
        tag = element.tag
        if tag == "tr":
            return self._row(element, opened)
        if tag == "dt":
            self._flush_label(opened.region)
            flat = flatten(element, self.sight, opened.background)
            self._label = flat.text if flat else ""
            return flat is not None
        if tag == "dd":
            return self._definition(element, opened)
        return self._pair(element, opened)

    def _row(self, row: _Element, opened: _Open) -> bool:
        cells = [cell for cell in row if cell.tag in ("td", "th")]
        table = self._tables[-1] if self._tables else _Grid()
        if len(cells) < 2 and not (cells and table.spans):
            return False
        flats: list[Flat] = []
        for cell in cells:
            hidden = self.sight.hides(cell, attributes_of(cell), opened.background)
            flat = Flat() if hidden else flatten(cell, self.sight, opened.background)
            if flat is None:
                return False
            flats.append(flat)
        headed = table.headed
        table.headed |= all(cell.tag == "th" for cell in cells)
        texts = [(cell.tag == "th", flat.text) for cell, flat in zip(cells, flats, strict=True)]
        linked = sum(flat.linked for flat in flats)
        links = tuple(link for flat in flats for link in flat.links)
        for line in row_lines(table.whole(cells, texts) if table.headed else texts, headed=headed):
            self._write(line, "tr", opened.region, linked, links)
            linked, links = 0, ()
        return True

    def _definition(self, element: _Element, opened: _Open) -> bool:
        flat = flatten(element, self.sight, opened.background) if self._label else None
        if flat is None or has_label(flat.text):
            self._flush_label(opened.region)
            return False
        if flat.text:
            self._write(pair(self._label, flat.text), "dd", opened.region, flat.linked, flat.links)
            following = element.getnext()
            if following is None or following.tag != "dd":
                self._label = ""
        return True

    def _pair(self, element: _Element, opened: _Open) -> bool:
        if not 1 <= len(element) <= 2 or (element.text and not element.text.isspace()):
            return False
        label = element[0]
        if element.tag == "li" and label.tag in ("b", "strong"):
            alike = starts_alike(element.getprevious(), label.tag) or starts_alike(element.getnext(), label.tag)
        else:
            alike = len(element) == 2 and not (label.tail or "").strip() and named_as_pair(label, element[1])
        if not alike:
            return False
        whole = flatten(element, self.sight, opened.background)
        name = flatten(label, self.sight, opened.background)
        if not whole or not name or not 0 < len(name.text) <= MAX_LABEL or not whole.text.startswith(name.text):
            return False
        value = whole.text[len(name.text) :].strip()
        if not value or not begins_value(value):
            return False
        self._write(pair(name.text, value), "pair", opened.region, whole.linked, whole.links)
        return True


@dataclass(slots=True)
class Flat:
    """A small element as one line."""

    text: str = ""
    linked: int = 0
    links: tuple[str, ...] = ()


def flatten(element: _Element, sight: Sight, background: str) -> Flat | None:
    """The element as one line, or None where it holds a table or too much to be one value; costs little either way."""
    for count, child in enumerate(element.iterdescendants()):
        if count >= MAX_CELL_ELEMENTS or child.tag in ("table", "dl", "form", "h1", "h2"):
            return None
    inner = _Walk(element, sight, background, flat=True).run()
    length = sum(len(block.text) for block in inner)
    if len(inner) > 1 and (length > MAX_CELL or len(inner) > MAX_CELL_LINES):
        return None
    listed = len(inner) > 1 and all(block.tag == "li" for block in inner)
    return Flat(
        text=("; " if listed else " ").join(block.text for block in inner),
        linked=sum(block.linked for block in inner),
        links=tuple(link for block in inner for link in block.links),
    )


def _need_space(before: str, after: str) -> bool:
    """Two elements side by side are usually shown apart, unless punctuation joins them: "$" and "12" and ".99"."""
    last, first = before[-1:], after[:1]
    return not (last.isspace() or first.isspace() or last in _OPENING or first in _CLOSING)
