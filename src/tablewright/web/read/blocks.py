"""Turn the visible part of a page into blocks: a line of text each, with what the markup says about it.

Facts keep a form that readers of lines understand: a table row is "a | b | c", a pair of a label and its value (a table
with two columns, a definition list, a grid of specifications) is "Label: value".
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lxml import etree
from lxml.etree import _Element

from tablewright.text import clean_one_line
from tablewright.web.read.elements import (
    CENTRE,
    Visibility,
    are_label_and_value,
    find_background,
    find_region,
    format_pair,
    format_row_lines,
    has_more_text_than,
    is_label_class,
    read_attributes,
    starts_like_value,
    starts_with_pair,
    starts_with_same_tag,
)
from tablewright.web.read.reading import PAGE_LIMITS

# An element with more is not one value but a part of the page with a structure of its own.
MAX_CELL_CHARACTERS, MAX_CELL_ELEMENTS, MAX_CELL_LINES = 400, 80, 8


@dataclass(slots=True)
class PageBlock:
    text: str
    tag: str
    region: int
    """Bits of `Region`."""
    linked: int
    """The number of characters in links."""
    links: tuple[str, ...] = ()

    @property
    def is_fact(self) -> bool:
        """True if it states a fact, which is kept even inside a sidebar."""
        return self.tag in ("tr", "dd", "pair")

    @property
    def is_heading(self) -> bool:
        return self.tag in _HEADINGS


_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
# Tags that do not begin a new line.
_INLINE = frozenset(
    "a abbr acronym b bdi bdo big button cite code data del dfn em font i img ins kbd label mark nobr output q rb ruby "
    "s samp slot small span strike strong sub sup time tt u var wbr".split()
)
# Tags without text for readers, or with text that is only an alternative.
_NEVER_SHOWN = frozenset(
    "script style noscript template head iframe frame frameset noframes object embed applet audio video canvas svg map "
    "area datalist select optgroup option textarea input progress meter param source track link meta title base math "
    "rp rt dialog".split()
)


@dataclass(slots=True, frozen=True)
class Zone:
    """An element that calls itself a header, a menu, a sidebar …, with its blocks `start:end`.

    Names can be wrong: whether it is one is decided when the whole page is known.
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


def read_visible_page(root: _Element) -> PageBlocks:
    walk = _Walk(root, Visibility(root))
    return PageBlocks(blocks=walk.run(), zones=walk.zones)


@dataclass(slots=True)
class _CellGrid:
    """A table with a row of headers, and the cells that span into its further rows, by column."""

    headed: bool = False
    spans: dict[int, tuple[int, tuple[bool, str]]] = field(default_factory=dict)

    def whole(self, cells: Sequence[_Element], texts: Sequence[tuple[bool, str]]) -> list[tuple[bool, str]]:
        """Return the row including cells that span into it from above; a cell over several columns is in each."""
        found: list[tuple[bool, str]] = []
        for cell, text in zip(cells, texts, strict=True):
            self._reach_down(found)
            attributes = read_attributes(cell)
            # Hostile tables span millions.
            across, down = parse_span(attributes.get("colspan"), 50), parse_span(attributes.get("rowspan"), 500)
            # A long text is not repeated.
            again = text if len(text[1]) <= 200 else (text[0], "")
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


def parse_span(said: str | None, most: int) -> int:
    return max(1, min(int(said), most)) if said and said.isascii() and said.isdecimal() and len(said) < 6 else 1


@dataclass(slots=True)
class _OpenElement:
    """State of an element until it ends."""

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
    """One pass over the tree, without recursion, so that deep nesting cannot break it."""

    root: _Element
    sight: Visibility
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
    _tables: list[_CellGrid] = field(default_factory=list)

    def run(self) -> list[PageBlock]:
        walker = etree.iterwalk(self.root, events=("start", "end"))
        stack = [_OpenElement(region=0, background=self.background, inline=False, skipped=False)]
        for event, element in walker:
            if event == "start":
                opened = self._start(element, stack[-1])
                stack.append(opened)
                if opened.skipped:
                    walker.skip_subtree()
            else:
                self._end(element, stack.pop(), stack[-1])
                if self.written > PAGE_LIMITS.characters:
                    break
        self._flush("p", 0)
        return self.found

    def _start(self, element: _Element, parent: _OpenElement) -> _OpenElement:
        tag = element.tag
        if tag in _NEVER_SHOWN:
            return _OpenElement(region=parent.region, background="", inline=True, skipped=True)
        attributes = read_attributes(element)
        inline = tag in _INLINE
        button = inline and self._is_button(element, attributes)
        if button or self.sight.hides(element, attributes, parent.background):
            return _OpenElement(region=parent.region, background="", inline=inline, skipped=True)
        background = (find_background(attributes) if attributes else "") or parent.background
        opened = _OpenElement(region=parent.region, background=background, inline=inline, skipped=False)
        if inline:
            self._start_inline(element, attributes, opened)
            return opened
        self._flush(self._heading or "p", parent.region)
        named = find_region(tag, attributes)
        opened.region |= named & CENTRE
        if named & ~CENTRE:
            opened.zone, opened.start = named & ~CENTRE, (len(self.found), self.written, self.linked)
        # Tags that can hold a label with its value.
        if (
            not self.flat
            and tag in {"tr", "dt", "dd", "div", "li", "p", "section"}
            and self._written_as_fact(element, opened)
        ):
            opened.skipped = True
            return opened
        if tag in _HEADINGS:
            self._heading = tag
        elif tag == "pre":
            self._pre += 1
        elif tag == "table":
            self._tables.append(_CellGrid())
        self._add(element.text)
        return opened

    def _is_button(self, element: _Element, attributes: Mapping[str, str]) -> bool:
        """Return True for a button or link with a few words on it: "Add to cart" is no fact."""
        tag = element.tag
        if tag == "a":
            pressed = bool(
                re.search(r"(?:^|[\s_-])(?:btn|button|cta)(?=$|[\s_-])", attributes.get("class", ""), re.IGNORECASE)
            )
        else:
            pressed = tag == "button"
        return pressed and not self._heading and not has_more_text_than(element, 30)

    def _start_inline(self, element: _Element, attributes: Mapping[str, str], opened: _OpenElement) -> None:
        # "H2O" and "m2" stay together.
        if element.tag in ("sub", "sup"):
            self._boundary = 0
        elif self._boundary == 1:
            self._boundary = 2
        if element.tag == "a" and (href := attributes.get("href")) is not None:
            opened.is_link = True
            self._link_depth += 1
            self._links.append(href)
        opened.labels = "class" in attributes and is_label_class(attributes["class"])
        self._add(element.text)

    def _end(self, element: _Element, opened: _OpenElement, parent: _OpenElement) -> None:
        tag = element.tag
        if opened.inline:
            if opened.is_link:
                self._link_depth -= 1
            if opened.labels:
                self._label_ends.append(len(self._pieces))
            self._boundary = 1 if self._boundary == 0 and tag not in ("sub", "sup") else self._boundary
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

    def _end_zone(self, opened: _OpenElement, inside: int) -> None:
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
        if self._boundary == 2 and self._pieces and not self._pre and _needs_space(self._pieces[-1], text):
            self._pieces.append(" ")
        self._boundary = 0
        self._pieces.append(text)
        if self._link_depth:
            self._linked += len(text.strip())

    def _mark_labels(self) -> str:
        """Return the text with a colon after each element named as a label, if a value follows on the line."""
        ends, self._label_ends = self._label_ends, []
        # Joining takes quadratic time.
        for end in reversed(ends[:12]):
            label, value = clean_one_line("".join(self._pieces[:end])), "".join(self._pieces[end:]).lstrip()
            if (
                0 < len(label) <= PAGE_LIMITS.label_characters
                and label[-1].isalnum()
                and value
                and starts_like_value(value)
            ):
                self._pieces[end:] = [": ", value]
        return "".join(self._pieces)

    def _flush(self, tag: str, region: int) -> None:
        if not self._pieces:
            return
        text = self._mark_labels() if self._label_ends else "".join(self._pieces)
        links, linked = tuple(self._links), self._linked
        self._pieces, self._links, self._linked, self._boundary = [], [], 0, 0
        for line in text.split("\n") if self._pre else (text,):
            if line := clean_one_line(line):
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

    def _written_as_fact(self, element: _Element, opened: _OpenElement) -> bool:
        """Write a row, a definition or a pair as a whole. Return False if its content must be read instead."""
        tag = element.tag
        if tag == "tr":
            return self._row(element, opened)
        if tag == "dt":
            self._flush_label(opened.region)
            flat = flatten_element(element, self.sight, opened.background)
            self._label = flat.text if flat else ""
            return flat is not None
        if tag == "dd":
            return self._definition(element, opened)
        return self._pair(element, opened)

    def _row(self, row: _Element, opened: _OpenElement) -> bool:
        cells = [cell for cell in row if cell.tag in ("td", "th")]
        table = self._tables[-1] if self._tables else _CellGrid()
        if len(cells) < 2 and not (cells and table.spans):
            return False
        flats: list[FlatElement] = []
        for cell in cells:
            hidden = self.sight.hides(cell, read_attributes(cell), opened.background)
            flat = FlatElement() if hidden else flatten_element(cell, self.sight, opened.background)
            if flat is None:
                return False
            flats.append(flat)
        headed = table.headed
        table.headed |= all(cell.tag == "th" for cell in cells)
        texts = [(cell.tag == "th", flat.text) for cell, flat in zip(cells, flats, strict=True)]
        linked = sum(flat.linked for flat in flats)
        links = tuple(link for flat in flats for link in flat.links)
        for line in format_row_lines(table.whole(cells, texts) if table.headed else texts, headed=headed):
            self._write(line, "tr", opened.region, linked, links)
            linked, links = 0, ()
        return True

    def _definition(self, element: _Element, opened: _OpenElement) -> bool:
        flat = flatten_element(element, self.sight, opened.background) if self._label else None
        if flat is None or starts_with_pair(flat.text):
            self._flush_label(opened.region)
            return False
        if flat.text:
            self._write(format_pair(self._label, flat.text), "dd", opened.region, flat.linked, flat.links)
            following = element.getnext()
            if following is None or following.tag != "dd":
                self._label = ""
        return True

    def _pair(self, element: _Element, opened: _OpenElement) -> bool:
        if not 1 <= len(element) <= 2 or (element.text and not element.text.isspace()):
            return False
        label = element[0]
        if element.tag == "li" and label.tag in ("b", "strong"):
            alike = starts_with_same_tag(element.getprevious(), label.tag) or starts_with_same_tag(
                element.getnext(), label.tag
            )
        else:
            alike = len(element) == 2 and not (label.tail or "").strip() and are_label_and_value(label, element[1])
        if not alike:
            return False
        whole = flatten_element(element, self.sight, opened.background)
        name = flatten_element(label, self.sight, opened.background)
        if (
            not whole
            or not name
            or not 0 < len(name.text) <= PAGE_LIMITS.label_characters
            or not whole.text.startswith(name.text)
        ):
            return False
        value = whole.text[len(name.text) :].strip()
        if not value or not starts_like_value(value):
            return False
        self._write(format_pair(name.text, value), "pair", opened.region, whole.linked, whole.links)
        return True


@dataclass(slots=True)
class FlatElement:
    """A small element as one line of text with its links."""

    text: str = ""
    linked: int = 0
    links: tuple[str, ...] = ()


def flatten_element(element: _Element, sight: Visibility, background: str) -> FlatElement | None:
    """Return the element as one line; None if it holds a table or too much for one value. Cheap in both cases."""
    for count, child in enumerate(element.iterdescendants()):
        if count >= MAX_CELL_ELEMENTS or child.tag in ("table", "dl", "form", "h1", "h2"):
            return None
    inner = _Walk(element, sight, background, flat=True).run()
    length = sum(len(block.text) for block in inner)
    if len(inner) > 1 and (length > MAX_CELL_CHARACTERS or len(inner) > MAX_CELL_LINES):
        return None
    listed = len(inner) > 1 and all(block.tag == "li" for block in inner)
    return FlatElement(
        text=("; " if listed else " ").join(block.text for block in inner),
        linked=sum(block.linked for block in inner),
        links=tuple(link for block in inner for link in block.links),
    )


def _needs_space(before: str, after: str) -> bool:
    """Return True unless punctuation joins two neighbouring elements, as in "$" and "12" and ".99"."""
    last, first = before[-1:], after[:1]
    # No space after an opening mark or before a closing one.
    return not (
        last.isspace()
        or first.isspace()
        or last in "([{$€£¥#@/-–—“‘'\"~_=+\\<≤≥"
        or first in ")]}.,;:!?%°'\"”’/-–—_=+\\>…™®©"
    )
