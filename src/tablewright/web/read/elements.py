"""Interpret the tag, role, class names and style of an element: its region of the page, the value that it labels, and
whether a visitor sees it. Hidden text is the usual way to instruct a machine without telling the reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import cast

from lxml.etree import _Element

from tablewright.values.currencies import CURRENCY_SYMBOLS
from tablewright.web.read.reading import PAGE_LIMITS


class Region:
    """Bits that accumulate from the outside in; plain numbers, because an enum is ten times slower."""

    MAIN = 1
    ARTICLE = 2
    HEADER = 4
    FOOTER = 8
    NAV = 16
    ASIDE = 32
    OVERLAY = 64
    """Cookie banners, dialogs, pop-ups."""
    PROMOTION = 128
    """Advertisements, newsletters, share buttons, related pages."""
    CONTROLS = 256
    """Filters and sort orders of a listing; the card of the person who wrote a post."""


CENTRE = Region.MAIN | Region.ARTICLE
_TAG_REGIONS = {
    "main": Region.MAIN,
    "article": Region.ARTICLE,
    "header": Region.HEADER,
    "footer": Region.FOOTER,
    "nav": Region.NAV,
    "menu": Region.NAV,
    "aside": Region.ASIDE,
}
_ROLE_REGIONS = {
    "main": Region.MAIN,
    "article": Region.ARTICLE,
    "banner": Region.HEADER,
    "contentinfo": Region.FOOTER,
    "navigation": Region.NAV,
    "menu": Region.NAV,
    "menubar": Region.NAV,
    "search": Region.NAV,
    "complementary": Region.ASIDE,
    "dialog": Region.OVERLAY,
    "alertdialog": Region.OVERLAY,
}
_NAMES = (
    (r"cookies?(?!ware)|consent|gdpr|onetrust|cookiebot|cmplz|modal|pop-?up|lightbox|toast|offcanvas", Region.OVERLAY),
    (r"footer|site-?info|colophon|copyright|legal|bottom-?bar", Region.FOOTER),
    (r"masthead|(?:site|page|global|main|app)-?header|top-?bar", Region.HEADER),
    (
        r"nav|navi|navbar|navigation|(?:sub|mega|main|top|side|mobile)?-?menu|breadcrumbs?|crumbs?|pagination|pager|paging"
        r"|toolbar|skip-?links?|search-?form|search-?box|log-?in|sign-?in|sign-?up|language-?switcher",
        Region.NAV,
    ),
    (r"side-?bar(?:-?\d)?|aside|rail|side-?rail", Region.ASIDE),
    (
        r"ads?|adverts?|advertisement|advertising|sponsored|promos?|newsletter|subscribe|subscription|share|sharing"
        r"|socials?|related|recommended|recommendations?|recirc|up-?sells?|cross-?sells?|outbrain|taboola|trending"
        r"|read-?next|more-?from|also-?(?:like|bought|viewed)|recently-?viewed",
        Region.PROMOTION,
    ),
    (
        r"filters|filters?-(?:list|panel|group|bar|sidebar|items?|options?|form)|facets?|refinements?|refine-?by"
        r"|sort-?(?:by|bar|options?|order)|message-?user(?!-?content)|user-?(?:info|details|card|extras)|post-?profile"
        r"|post-?bit-?user|posts?-?author-?info|signature",
        Region.CONTROLS,
    ),
)
# Names are matched as whole words: "ads", but not "downloads".
_NAME_REGIONS = tuple((re.compile(rf"(?:^|[\s_-])(?:{words})(?=$|[\s_-])"), region) for words, region in _NAMES)
# One pattern first, because most elements have none of the names.
_ANY_NAME = re.compile(rf"(?:^|[\s_-])(?:{'|'.join(words for words, _ in _NAMES)}|header)(?=$|[\s_-])")


def find_region(tag: str, attributes: Mapping[str, str]) -> int:
    if not attributes:
        return _TAG_REGIONS.get(tag, 0)
    return _classify_region(
        tag, attributes.get("role", ""), attributes.get("class", "")[:200], attributes.get("id", "")[:100]
    )


@lru_cache(maxsize=8192)
def _classify_region(tag: str, role: str, classes: str, name: str) -> int:
    region = _TAG_REGIONS.get(tag, 0) | _ROLE_REGIONS.get(role.lower(), 0)
    # Elements around everything: their classes say nothing about a part.
    if tag not in {"html", "body", "main", "article"}:
        for text in (classes, name):
            words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", text).lower()
            if not _ANY_NAME.search(words):
                continue
            # "header" alone; "card-header" is the heading of a card.
            if re.search(r"(?:^|\s)header(?=$|\s)", words):
                region |= Region.HEADER
            for pattern, named in _NAME_REGIONS:
                if pattern.search(words):
                    region |= named
    return region


def format_pair(label: str, value: str) -> str:
    if label.endswith((":", "?", "：")):
        return f"{label} {value}"
    return f"{label}: {value}"


def starts_like_value(text: str) -> bool:
    return text[0].isalnum() or text[0] in f"{CURRENCY_SYMBOLS}<>≤≥~±+-–(\"'“"


def starts_with_pair(text: str) -> bool:
    """Return True if the text already reads "Label: value"."""
    return bool(re.match(r"[^\W\d][^:.!?]{1,40}:\s", text))


def format_row_lines(cells: Sequence[tuple[bool, str]], *, headed: bool) -> list[str]:
    """Return the lines of one row from (is a header cell, text) of its cells; `headed`: the table has a header row."""
    filled = [(is_header, text) for is_header, text in cells if text]
    if len(filled) < 2:
        return [text for _, text in filled]
    labels, values = filled[::2], filled[1::2]
    if len(labels) == len(values) and all(
        (is_header or label.endswith(":")) and not value_is_header and len(label) <= PAGE_LIMITS.label_characters
        for (is_header, label), (value_is_header, _) in zip(labels, values, strict=True)
    ):
        return [format_pair(label, value) for (_, label), (_, value) in zip(labels, values, strict=True)]
    if len(filled) == 2 and not headed and not any(is_header for is_header, _ in filled):
        label = filled[0][1]
        if len(cells) <= 3 and len(label) <= PAGE_LIMITS.label_characters and re.search(r"[^\W\d_]", label):
            return [format_pair(label, filled[1][1])]
    return [" | ".join(text for _, text in (cells if headed else filled))]


@lru_cache(maxsize=4096)
def is_label_class(classes: str) -> bool:
    # Bootstrap's "label-success" is a badge, not a label.
    return bool(
        re.search(
            r"(?:^|[\s_-])(?:label|key|term|dt|th|(?:attr(?:ibute)?|spec|prop(?:erty)?|field|info|data)[_-]?(?:name|title|label))"
            r"(?=$|\s)",
            classes,
            re.IGNORECASE,
        )
    ) and not re.search(r"(?:^|\s)(?:label-\w+|badge|tag)(?=$|\s)", classes, re.IGNORECASE)


@lru_cache(maxsize=4096)
def is_value_class(classes: str) -> bool:
    return bool(re.search(r"(?:^|[\s_-])(?:value|val|dd|td|data|detail|answer)(?=$|\s)", classes, re.IGNORECASE))


def are_label_and_value(label: _Element, value: _Element) -> bool:
    """Return True if class names or a colon show that one element labels the other."""
    if is_label_class(label.get("class") or "") or is_value_class(value.get("class") or ""):
        return True
    text = label.text if len(label) == 0 else None
    return bool(text and text.rstrip().endswith(":"))


def starts_with_same_tag(element: _Element | None, tag: str) -> bool:
    """Return True for a neighbour in a list that begins with the same kind of label."""
    return (
        element is not None
        and element.tag == "li"
        and len(element) > 0
        and element[0].tag == tag
        and not (element.text or "").strip()
    )


_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
# Class names of frameworks for text that only screen readers get.
_SCREEN_READERS_ONLY = re.compile(
    r"\b(?:sr-only|visually-?hidden|screen-?reader(?:-text|-only)?|a-offscreen|off-?screen|hidden-text|hide-text)\b"
    r"|\bu-hidden\b|\bis-hidden\b",
    re.IGNORECASE,
)
# Colours that backgrounds and hidden texts have; others are rarely named.
_NAMED = dict(
    colour.split("=")
    for colour in """white=ffffff black=000000 red=ff0000 green=008000 blue=0000ff yellow=ffff00 gray=808080
    grey=808080 silver=c0c0c0 snow=fffafa ivory=fffff0 whitesmoke=f5f5f5""".split()
)


class Visibility:
    """Decides what a visitor can see on one page, by inline styles, attributes and simple rules of its style sheets."""

    def __init__(self, root: _Element) -> None:
        self._root = root
        self._classes, self._names = _find_hiding_rules(root)
        self._controls: dict[str, list[_Element]] | None = None

    def hides(self, element: _Element, attributes: Mapping[str, str], background: str) -> bool:
        """Return True if the element is hidden; `background` is the colour around it, or "" if unknown."""
        if not attributes:
            return False
        if self._is_closed(attributes):
            return not self._can_be_opened(attributes.get("id", ""))
        style = attributes.get("style")
        if style and (len(style) > PAGE_LIMITS.style_characters or is_hiding_trick(style)):
            return True
        colour = attributes.get("color") or (style and style_colours(style)[0])
        if colour and self._melts_away(element, colour, find_background(attributes) or background):
            return True
        if attributes.get("aria-hidden") == "true":
            blocks = "div p section article aside ul ol dl table h1 h2 h3 h4 h5 h6 blockquote pre form main"
            return element.tag in blocks.split() or (
                element.tag != "a" and has_more_text_than(element, PAGE_LIMITS.hidden_label_characters)
            )
        classes = attributes.get("class")
        return bool(classes and _SCREEN_READERS_ONLY.search(classes)) and has_more_text_than(
            element, PAGE_LIMITS.hidden_label_characters
        )

    def _melts_away(self, element: _Element, colour: str, behind: str) -> bool:
        """Return True for text in the colour of its background.

        White text on an unknown background is mostly a banner or a button, so there only long text counts."""
        if behind:
            return _same_colour(colour, behind)
        return _same_colour(colour, "white") and has_more_text_than(element, PAGE_LIMITS.hidden_label_characters)

    def _is_closed(self, attributes: Mapping[str, str]) -> bool:
        hidden = attributes.get("hidden")
        if hidden is not None and hidden.lower() != "until-found":
            return True
        style = attributes.get("style")
        if style and len(style) <= PAGE_LIMITS.style_characters and is_closed_style(style):
            return True
        if self._classes and (classes := attributes.get("class")) and not self._classes.isdisjoint(classes.split()):
            return True
        return bool(self._names) and attributes.get("id") in self._names

    def _can_be_opened(self, name: str) -> bool:
        """Return True for a tab or a fold-out: a visible element with words on it controls this one."""
        if not name:
            return False
        if self._controls is None:
            self._controls = _find_controls(self._root)
        return any(self._is_shown(control) for control in self._controls.get(name, ()))

    def _is_shown(self, control: _Element) -> bool:
        if not has_more_text_than(control, 0):
            return False
        around = (control, *control.iterancestors())
        return not any(
            self._is_closed(read_attributes(each)) or is_hiding_trick(each.get("style") or "") for each in around
        )


def _find_controls(root: _Element) -> dict[str, list[_Element]]:
    found: dict[str, list[_Element]] = {}
    for control in root.iter("a", "button", "li", "div", "span", "summary", "label", "h2", "h3", "h4"):
        for attribute in ("aria-controls", "href", "data-target", "data-bs-target"):
            name = control.get(attribute)
            if name and (attribute == "aria-controls" or name.startswith("#")):
                known = found.setdefault(name.removeprefix("#"), [])
                # One of them suffices, and a page can list thousands.
                if len(known) < 5:
                    known.append(control)
    return found


def _find_hiding_rules(root: _Element) -> tuple[frozenset[str], frozenset[str]]:
    """Return the classes and ids that the page's own style sheets hide, without rules for other media or states."""
    hidden: dict[str, bool] = {}
    for sheet in root.iter("style"):
        text = (sheet.text or "")[:500_000]
        if "{" not in text or (sheet.get("media") or "all").strip().lower() not in ("all", "screen", ""):
            continue
        for selectors, body in _top_level_rules(text):
            if said := _parse_declarations(body):
                hides = _declares_closed(said) or _declares_trick(said)
                shows = said.get("display", "none") != "none" or said.get("visibility") == "visible"
                for selector in selectors.split(","):
                    # A single class or id; other selectors would need a full CSS engine.
                    if (hides or shows) and re.fullmatch(r"[.#][\w-]+", selector := selector.strip()):
                        hidden[selector] = hides
    names = [selector for selector, hides in hidden.items() if hides]
    return (
        frozenset(name[1:] for name in names if name.startswith(".")),
        frozenset(name[1:] for name in names if name.startswith("#")),
    )


def _top_level_rules(sheet: str) -> Iterator[tuple[str, str]]:
    """Yield (selectors, declarations) of the top-level rules, without those inside "@media {…}"."""
    depth = 0
    # One pass with a brace on each side, so that broken sheets take linear time.
    for found in re.finditer(r"(?<![^{}])(?:([^{}]*)\{([^{}]*)\}|[^{}]*[{}])", _COMMENT.sub("", sheet)):
        head, body = found.groups()
        if body is not None:
            if depth == 0 and "@" not in head:
                yield head, body
        else:
            depth = max(0, depth + (1 if found[0].endswith("{") else -1))


def read_attributes(element: _Element) -> dict[str, str]:
    """Return all attributes at once: reading one after the other takes several times as long."""
    return cast("dict[str, str]", dict(element.items()))


def find_background(attributes: Mapping[str, str]) -> str:
    style = attributes.get("style")
    return (style_colours(style)[1] if style else "") or attributes.get("bgcolor") or ""


@lru_cache(maxsize=4096)
def is_closed_style(style: str) -> bool:
    """Return True if the element is not shown at present, like tabs and fold-outs."""
    return _declares_closed(_parse_declarations(style))


@lru_cache(maxsize=4096)
def is_hiding_trick(style: str) -> bool:
    """Return True if the element is rendered, but in a way that no visitor can see."""
    return _declares_trick(_parse_declarations(style))


def _declares_closed(said: dict[str, str]) -> bool:
    return said.get("display") == "none" or said.get("visibility") in ("hidden", "collapse")


def _declares_trick(said: dict[str, str]) -> bool:
    if said.get("content-visibility") == "hidden" or _declared_number(said, "opacity") == 0:
        return True
    size = _declared_number(said, "font-size")
    if size is not None and (size == 0 or (size <= 2.0 and "px" in said["font-size"])):
        return True
    # A clip that leaves nothing or a pixel.
    if re.search(r"scale(?:3d|x|y)?\(\s*+0?(?:\.0++)?\s*+[,)]", said.get("transform", "")) or re.search(
        r"rect\(\s*(?:0|1px)|inset\(\s*(?:100|[5-9]\d)%|circle\(\s*0", f"{said.get('clip')} {said.get('clip-path')}"
    ):
        return True
    offsets = ("text-indent", "left", "top", "right", "margin-left", "margin-top")
    # Far outside of the screen.
    if any((_declared_number(said, offset) or 0) <= -500.0 for offset in offsets):
        return True
    if said.get("overflow", "").startswith(("hidden", "clip")) and any(
        _declared_number(said, side) in (0.0, 1.0) for side in ("height", "width", "max-height")
    ):
        return not said.get("width", "").endswith(("%", "vw"))
    # A colour with an opacity of 0.
    return said.get("color") == "transparent" or bool(
        re.search(r"rgba\([^()]*,\s*0(?:\.0+)?%?\s*\)|/\s*0(?:\.0+)?%?\s*\)", said.get("color", ""))
    )


@lru_cache(maxsize=4096)
def style_colours(style: str) -> tuple[str, str]:
    """Return the text colour and the background colour of an inline style."""
    said = _parse_declarations(style)
    background = said.get("background-color") or said.get("background", "")
    return said.get("color", ""), background


def _parse_declarations(style: str) -> dict[str, str]:
    text = _COMMENT.sub("", style.lower()).replace("!important", "")
    return {name: value.strip() for name, value in re.findall(r"(?<![a-z-])([a-z-]+)\s*+:\s*+([^;]*)", text)}


def _declared_number(said: dict[str, str], name: str) -> float | None:
    found = re.match(r"-?(?:\d+(?:\.\d+)?|\.\d+)", said.get(name, ""))
    return float(found[0]) if found else None


def _same_colour(one: str, other: str) -> bool:
    """Return True if a reader cannot tell the colours apart: the channels differ by at most 24 in sum."""
    a, b = _parse_rgb(one), _parse_rgb(other)
    return a is not None and b is not None and sum(abs(x - y) for x, y in zip(a, b, strict=True)) <= 24


@lru_cache(maxsize=1024)
def _parse_rgb(colour: str) -> tuple[int, int, int] | None:
    colour = colour.strip().lower()
    digits = _NAMED.get(colour.split(" ", 1)[0], "")
    if not digits and (found := re.search(r"#([0-9a-f]{6}|[0-9a-f]{3})\b", colour)):
        digits = found[1] if len(found[1]) == 6 else "".join(digit * 2 for digit in found[1])
    if digits:
        return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)
    if found := re.search(r"rgba?\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})", colour):
        return int(found[1]), int(found[2]), int(found[3])
    return None


def has_more_text_than(element: _Element, limit: int) -> bool:
    length = 0
    for pieces, text in enumerate(element.itertext()):
        length += len(text.strip())
        if length > limit or pieces > limit:
            return True
    return False
