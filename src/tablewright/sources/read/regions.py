"""Where on a page an element stands, as far as its tag, role and class names tell."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache


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
