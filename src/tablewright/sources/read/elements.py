"""What the tag, role and class names of an element tell: where on a page it stands, and which value it labels."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

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
