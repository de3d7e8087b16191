"""What the tag, role, class names and style of an element tell: where on a page it stands, which value it labels, and
if a visitor sees it. Hidden text is how a page tells a machine something that it tells no reader.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import cast

from lxml.etree import _Element

from tablewright.values.currencies import SYMBOLS


class Region:
    """Bits that add up from the outside in; plain numbers, because an enum is ten times slower."""

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
_NAME_REGIONS = tuple((re.compile(rf"(?:^|[\s_-])(?:{words})(?=$|[\s_-])"), region) for words, region in _NAMES)
_ANY_NAME = re.compile(rf"(?:^|[\s_-])(?:{'|'.join(words for words, _ in _NAMES)}|header)(?=$|[\s_-])")
_WHOLE_HEADER = re.compile(r"(?:^|\s)header(?=$|\s)")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_UNNAMED = frozenset(("html", "body", "main", "article"))


def region_of(tag: str, attributes: Mapping[str, str]) -> int:
    if not attributes:
        return _TAG_REGIONS.get(tag, 0)
    return _region(tag, attributes.get("role", ""), attributes.get("class", "")[:200], attributes.get("id", "")[:100])


@lru_cache(maxsize=8192)
def _region(tag: str, role: str, classes: str, name: str) -> int:
    region = _TAG_REGIONS.get(tag, 0) | _ROLE_REGIONS.get(role.lower(), 0)
    if tag not in _UNNAMED:
        for text in (classes, name):
            words = _CAMEL.sub("-", text).lower()
            if not _ANY_NAME.search(words):
                continue
            if _WHOLE_HEADER.search(words):
                region |= Region.HEADER
            for pattern, named in _NAME_REGIONS:
                if pattern.search(words):
                    region |= named
    return region


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


_SHORT = 40
"""A price or a label for screen readers is this long at most; what is longer is not worth the risk."""

_DECLARATION = re.compile(r"(?<![a-z-])([a-z-]+)\s*+:\s*+([^;]*)")
_NUMBER = re.compile(r"-?(?:\d+(?:\.\d+)?|\.\d+)")
_SEE_THROUGH = re.compile(r"rgba\([^()]*,\s*0(?:\.0+)?%?\s*\)|/\s*0(?:\.0+)?%?\s*\)")
_SCALED_AWAY = re.compile(r"scale(?:3d|x|y)?\(\s*+0?(?:\.0++)?\s*+[,)]")
_CLIPPED = re.compile(r"rect\(\s*(?:0|1px)|inset\(\s*(?:100|[5-9]\d)%|circle\(\s*0")
_SIDES = ("text-indent", "left", "top", "right", "margin-left", "margin-top")
_OFF_SCREEN = -500.0
_UNREADABLE_PX = 2.0
_CONTROLS_ASKED = 5
_SHEET_CHARS = 500_000
_STYLE_CHARS = 10_000
"""Nobody writes a longer style; where the rule that hides could be beyond what is read, the text is not shown."""
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_RULE = re.compile(r"(?<![^{}])(?:([^{}]*)\{([^{}]*)\}|[^{}]*[{}])")
_SIMPLE = re.compile(r"[.#][\w-]+")
_BLOCKS = frozenset("div p section article aside ul ol dl table h1 h2 h3 h4 h5 h6 blockquote pre form main".split())
_SCREEN_READERS_ONLY = re.compile(
    r"\b(?:sr-only|visually-?hidden|screen-?reader(?:-text|-only)?|a-offscreen|off-?screen|hidden-text|hide-text)\b"
    r"|\bu-hidden\b|\bis-hidden\b",
    re.IGNORECASE,
)
_NAMED = {
    "white": "ffffff",
    "black": "000000",
    "red": "ff0000",
    "green": "008000",
    "blue": "0000ff",
    "yellow": "ffff00",
    "gray": "808080",
    "grey": "808080",
    "silver": "c0c0c0",
    "snow": "fffafa",
    "ivory": "fffff0",
    "whitesmoke": "f5f5f5",
}
_CLOSE_COLOURS = 24


class Sight:
    """What can be seen on one page: inline styles, attributes, and the simple rules of its own style sheets."""

    def __init__(self, root: _Element) -> None:
        self._root = root
        self._classes, self._names = _hiding_rules(root)
        self._controls: dict[str, list[_Element]] | None = None

    def hides(self, element: _Element, attributes: Mapping[str, str], background: str) -> bool:
        """`background` is the colour that `background_of` found around the element, "" where nothing says it."""
        if not attributes:
            return False
        if self._is_closed(attributes):
            return not self._can_be_opened(attributes.get("id", ""))
        style = attributes.get("style")
        if style and (len(style) > _STYLE_CHARS or is_trick(style)):
            return True
        colour = attributes.get("color") or (style and colours(style)[0])
        if colour and self._melts_away(element, colour, background_of(attributes) or background):
            return True
        if attributes.get("aria-hidden") == "true":
            return element.tag in _BLOCKS or (element.tag != "a" and longer_than(element, _SHORT))
        classes = attributes.get("class")
        return bool(classes and _SCREEN_READERS_ONLY.search(classes)) and longer_than(element, _SHORT)

    def _melts_away(self, element: _Element, colour: str, behind: str) -> bool:
        """White text where nothing says what is behind it is mostly a banner or a button: only long text is hidden."""
        if behind:
            return _same_colour(colour, behind)
        return _same_colour(colour, "white") and longer_than(element, _SHORT)

    def _is_closed(self, attributes: Mapping[str, str]) -> bool:
        hidden = attributes.get("hidden")
        if hidden is not None and hidden.lower() != "until-found":
            return True
        style = attributes.get("style")
        if style and len(style) <= _STYLE_CHARS and is_closed(style):
            return True
        if self._classes and (classes := attributes.get("class")) and not self._classes.isdisjoint(classes.split()):
            return True
        return bool(self._names) and attributes.get("id") in self._names

    def _can_be_opened(self, name: str) -> bool:
        """A tab or a fold-out: something with words on it, itself visible, says that it controls the element."""
        if not name:
            return False
        if self._controls is None:
            self._controls = _controls(self._root)
        return any(self._is_shown(control) for control in self._controls.get(name, ()))

    def _is_shown(self, control: _Element) -> bool:
        if not longer_than(control, 0):
            return False
        around = (control, *control.iterancestors())
        return not any(self._is_closed(attributes_of(each)) or is_trick(each.get("style") or "") for each in around)


def _controls(root: _Element) -> dict[str, list[_Element]]:
    found: dict[str, list[_Element]] = {}
    for control in root.iter("a", "button", "li", "div", "span", "summary", "label", "h2", "h3", "h4"):
        for attribute in ("aria-controls", "href", "data-target", "data-bs-target"):
            name = control.get(attribute)
            if name and (attribute == "aria-controls" or name.startswith("#")):
                known = found.setdefault(name.removeprefix("#"), [])
                if len(known) < _CONTROLS_ASKED:
                    known.append(control)
    return found


def _hiding_rules(root: _Element) -> tuple[frozenset[str], frozenset[str]]:
    """The classes and ids that the page's own style sheets hide; rules for other media or states do not count."""
    hidden: dict[str, bool] = {}
    for sheet in root.iter("style"):
        text = (sheet.text or "")[:_SHEET_CHARS]
        if "{" not in text or (sheet.get("media") or "all").strip().lower() not in ("all", "screen", ""):
            continue
        for selectors, body in _rules(text):
            if said := _declarations(body):
                hides = _says_closed(said) or _says_trick(said)
                shows = said.get("display", "none") != "none" or said.get("visibility") == "visible"
                for selector in selectors.split(","):
                    if (hides or shows) and _SIMPLE.fullmatch(selector := selector.strip()):
                        hidden[selector] = hides
    names = [selector for selector, hides in hidden.items() if hides]
    return (
        frozenset(name[1:] for name in names if name.startswith(".")),
        frozenset(name[1:] for name in names if name.startswith("#")),
    )


def _rules(sheet: str) -> Iterator[tuple[str, str]]:
    """(selectors, declarations) of the rules at the top level: those inside "@media {…}" are passed over."""
    depth = 0
    for found in _RULE.finditer(_COMMENT.sub("", sheet)):
        head, body = found.groups()
        if body is not None:
            if depth == 0 and "@" not in head:
                yield head, body
        else:
            depth = max(0, depth + (1 if found[0].endswith("{") else -1))


def attributes_of(element: _Element) -> dict[str, str]:
    """As a dictionary: asking the element for one attribute after another costs several times as much."""
    return cast("dict[str, str]", dict(element.items()))


def background_of(attributes: Mapping[str, str]) -> str:
    style = attributes.get("style")
    return (colours(style)[1] if style else "") or attributes.get("bgcolor") or ""


@lru_cache(maxsize=4096)
def is_closed(style: str) -> bool:
    """Not shown for now, as tabs and fold-outs are too."""
    return _says_closed(_declarations(style))


@lru_cache(maxsize=4096)
def is_trick(style: str) -> bool:
    """Shown, but so that nobody can see it."""
    return _says_trick(_declarations(style))


def _says_closed(said: dict[str, str]) -> bool:
    return said.get("display") == "none" or said.get("visibility") in ("hidden", "collapse")


def _says_trick(said: dict[str, str]) -> bool:
    if said.get("content-visibility") == "hidden" or _number(said, "opacity") == 0:
        return True
    size = _number(said, "font-size")
    if size is not None and (size == 0 or (size <= _UNREADABLE_PX and "px" in said["font-size"])):
        return True
    if _SCALED_AWAY.search(said.get("transform", "")) or _CLIPPED.search(f"{said.get('clip')} {said.get('clip-path')}"):
        return True
    if any((_number(said, side) or 0) <= _OFF_SCREEN for side in _SIDES):
        return True
    if said.get("overflow", "").startswith(("hidden", "clip")) and any(
        _number(said, side) in (0.0, 1.0) for side in ("height", "width", "max-height")
    ):
        return not said.get("width", "").endswith(("%", "vw"))
    return said.get("color") == "transparent" or bool(_SEE_THROUGH.search(said.get("color", "")))


@lru_cache(maxsize=4096)
def colours(style: str) -> tuple[str, str]:
    """The text colour and the background colour that an inline style names."""
    said = _declarations(style)
    background = said.get("background-color") or said.get("background", "")
    return said.get("color", ""), background


def _declarations(style: str) -> dict[str, str]:
    text = _COMMENT.sub("", style.lower()).replace("!important", "")
    return {name: value.strip() for name, value in _DECLARATION.findall(text)}


def _number(said: dict[str, str], name: str) -> float | None:
    found = _NUMBER.match(said.get(name, ""))
    return float(found[0]) if found else None


def _same_colour(one: str, other: str) -> bool:
    a, b = _rgb(one), _rgb(other)
    return a is not None and b is not None and sum(abs(x - y) for x, y in zip(a, b, strict=True)) <= _CLOSE_COLOURS


@lru_cache(maxsize=1024)
def _rgb(colour: str) -> tuple[int, int, int] | None:
    colour = colour.strip().lower()
    digits = _NAMED.get(colour.split(" ", 1)[0], "")
    if not digits and (found := re.search(r"#([0-9a-f]{6}|[0-9a-f]{3})\b", colour)):
        digits = found[1] if len(found[1]) == 6 else "".join(digit * 2 for digit in found[1])
    if digits:
        return int(digits[:2], 16), int(digits[2:4], 16), int(digits[4:], 16)
    if found := re.search(r"rgba?\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})", colour):
        return int(found[1]), int(found[2]), int(found[3])
    return None


def longer_than(element: _Element, limit: int) -> bool:
    length = 0
    for pieces, text in enumerate(element.itertext()):
        length += len(text.strip())
        if length > limit or pieces > limit:
            return True
    return False
