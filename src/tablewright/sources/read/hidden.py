"""Which elements a visitor does not see: hidden text is how a page tells a machine something it tells nobody else."""

from __future__ import annotations

import re
from functools import lru_cache

from lxml.etree import _Element

_SHORT = 40
"""A price or a label for screen readers is this long at most; what is longer is not worth the risk."""

_DECLARATION = re.compile(r"([a-z-]+)\s*:\s*([^;]*)")
_NUMBER = re.compile(r"-?\d*\.?\d+")
_SEE_THROUGH = re.compile(r"rgba\([^)]*,\s*0(?:\.0+)?%?\s*\)|/\s*0(?:\.0+)?%?\s*\)")
_OFF_SCREEN = -500.0
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


def is_hidden(element: _Element, background: str) -> bool:
    """`background` is the colour that `background_of` found around the element, "" where nothing says it."""
    attributes = element.attrib
    if not attributes:
        return False
    hidden = attributes.get("hidden")
    if hidden is not None and hidden.lower() != "until-found":
        return True
    style = attributes.get("style")
    if style and hides(style):
        return True
    colour = attributes.get("color") or (style and colours(style)[0])
    if colour and background and _same_colour(colour, background_of(element) or background):
        return True
    if colour and (own := background_of(element)) and _same_colour(colour, own):
        return True
    if attributes.get("aria-hidden") == "true":
        return element.tag in _BLOCKS or (element.tag != "a" and longer_than(element, _SHORT))
    name = attributes.get("class")
    return bool(name and _SCREEN_READERS_ONLY.search(name)) and longer_than(element, _SHORT)


def background_of(element: _Element) -> str:
    style = element.get("style")
    return (colours(style)[1] if style else "") or element.get("bgcolor") or ""


@lru_cache(maxsize=4096)
def hides(style: str) -> bool:
    """Whether these declarations make the text of an element invisible."""
    said = _declarations(style)
    if said.get("display") == "none" or said.get("visibility") in ("hidden", "collapse"):
        return True
    if said.get("content-visibility") == "hidden" or _number(said, "opacity") == 0:
        return True
    size = _number(said, "font-size")
    if size is not None and (size == 0 or (size <= 2 and "px" in said["font-size"])):
        return True
    if re.search(r"scale(?:3d|x|y)?\(\s*0?(?:\.0+)?\s*[,)]", said.get("transform", "")):
        return True
    if re.search(r"rect\(\s*(?:0|1px)", said.get("clip", "")) or re.search(
        r"inset\(\s*(?:100|[5-9]\d)%|circle\(\s*0", said.get("clip-path", "")
    ):
        return True
    if any(
        (_number(said, side) or 0) <= _OFF_SCREEN for side in ("text-indent", "left", "top", "right", "margin-left")
    ):
        return True
    if said.get("overflow", "").startswith(("hidden", "clip")) and any(
        (_number(said, side) if side in said else 2.0) in (0.0, 1.0) for side in ("height", "width", "max-height")
    ):
        return True
    return said.get("color") == "transparent" or bool(_SEE_THROUGH.search(said.get("color", "")))


@lru_cache(maxsize=4096)
def colours(style: str) -> tuple[str, str]:
    """The text colour and the background colour that an inline style names."""
    said = _declarations(style)
    background = said.get("background-color") or said.get("background", "")
    return said.get("color", ""), background


def _declarations(style: str) -> dict[str, str]:
    text = re.sub(r"/\*.*?\*/", "", style.lower()).replace("!important", "")
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
