"""What a condition or an aggregate is about: a label, arithmetic in words ("power divided by length times width"), or
one of the few quantities that everybody knows how to work out."""

from __future__ import annotations

import re

from tablewright.decisions.question.words import among, label, singular, words
from tablewright.table.corpus import Quantity

_PLUS = re.compile(r"\s+(?:plus|\+)\s+", re.IGNORECASE)
_MINUS = re.compile(r"\s+(?:minus|[-–])\s+", re.IGNORECASE)
_OVER = re.compile(r"\s+divided by\s+|\s*/\s*", re.IGNORECASE)
_TIMES = re.compile(r"\s+(?:times|multiplied by|x|×|\*)\s+|\s*[×*]\s*", re.IGNORECASE)
_TWO = re.compile(
    r"(?:the\s+)?(?P<what>ratio|quotient|difference|product|sum)\s+(?:of|between|from)\s+(?P<one>.+?)\s+(?:and|to|"
    r"over)\s+"
    r"(?P<other>.+)",
    re.IGNORECASE,
)
_TO_RATIO = re.compile(r"(?P<one>.+?)(?:\s+to\s+|-to-|/)(?P<other>.+?)\s+ratio", re.IGNORECASE)
_ABSOLUTE = re.compile(r"(?:the\s+)?(?:absolute(?: value)?(?: of)?|magnitude of|size of)\s+(?P<what>.+)", re.IGNORECASE)
_OF_TWO = {"ratio": "/", "quotient": "/", "difference": "-", "product": "*", "sum": "+"}
_SAID = re.compile(
    r"\w\s+(?:divided by|times|multiplied by|plus|minus)\s+\w|\b(?:ratio of|difference between|product of|absolute)\b"
    r"|\w(?:\sto\s|-to-|/)[\w ]+\sratio$"
    r"|\w\s[×*]\s\w",
    re.IGNORECASE,
)
_WRITTEN = re.compile(r"\w\s*[/×*]\s*[\w(]|\w\s+[x+]\s+\w", re.IGNORECASE)


def is_arithmetic(note: str) -> bool:
    """Whether a note in parentheses says how something is worked out."""
    return bool(_SAID.search(note) or _WRITTEN.search(note))


_AREA = ("*", "length", "width")
_VOLUME = ("*", "length", "width", "height")
_DERIVED: dict[str, tuple[object, ...]] = {
    "area": _AREA,
    "surface": _AREA,
    "surface area": _AREA,
    "footprint": _AREA,
    "volume": _VOLUME,
    "power density": ("/", "power", _AREA),
    "power per area": ("/", "power", _AREA),
    "power to weight ratio": ("/", "power", "weight"),
    "power-to-weight ratio": ("/", "power", "weight"),
    "specific power": ("/", "power", "weight"),
    "density": ("/", "weight", _VOLUME),
    "weight per area": ("/", "weight", _AREA),
    "price per piece": ("/", "price", "quantity"),
    "price per unit": ("/", "price", "quantity"),
    "price per watt": ("/", "price", "power"),
    "price per kilogram": ("/", "price", "weight"),
    "aspect ratio": ("/", ("max", "length", "width"), ("min", "length", "width")),
    "profit": ("-", "revenue", "cost"),
}
_THE_USUAL = ("maximum", "max", "rated", "nominal", "peak", "total", "overall", "stc", "net")


def quantity(text: str, labels: tuple[str, ...] = ()) -> Quantity:
    """The quantity that words name. `labels` are those of the documents: one that stands there is not worked out."""
    text = label(text)
    if known := among(text, labels):
        return Quantity(label=known)
    name = singular(text.casefold())
    parts = _DERIVED.get(name)
    if parts and not any(name in known.casefold() for known in labels):
        return _built(parts, labels)
    return arithmetic(text) if _SAID.search(text) else Quantity(label=text)


def arithmetic(text: str) -> Quantity:
    """As it is said: "A divided by B times C" divides by the product, for else one would say it the other way round."""
    text = label(text).strip(" =")
    while text.startswith("(") and text.endswith(")") and text.find(")") == len(text) - 1:
        text = text[1:-1].strip()
    if two := _TWO.fullmatch(text):
        return Quantity(operation=_OF_TWO[two["what"].casefold()], parts=_all([two["one"], two["other"]]))
    if ratio := _TO_RATIO.fullmatch(text):
        return Quantity(operation="/", parts=_all([ratio["one"], ratio["other"]]))
    if absolute := _ABSOLUTE.fullmatch(text):
        return Quantity(operation="abs", parts=(arithmetic(absolute["what"]),))
    for operation, mark in (("+", _PLUS), ("-", _MINUS), ("/", _OVER), ("*", _TIMES)):
        parts = _split(mark, text)
        if len(parts) > 1:
            return Quantity(operation=operation, parts=_all(parts))
    return Quantity(label=label(text.strip("() ")))


def _all(parts: list[str]) -> tuple[Quantity, ...]:
    return tuple(arithmetic(part) for part in parts)


def _split(mark: re.Pattern[str], text: str) -> list[str]:
    """The text at the marks that stand outside parentheses."""
    parts, start = [], 0
    for found in mark.finditer(text):
        before = text[: found.start()]
        if before.count("(") == before.count(")") and before.strip() and text[found.end() :].strip():
            parts.append(text[start : found.start()])
            start = found.end()
    return [*parts, text[start:]]


def _built(parts: tuple[object, ...], labels: tuple[str, ...]) -> Quantity:
    operation, *rest = parts
    built = tuple(
        _built(part, labels) if isinstance(part, tuple) else Quantity(label=_usual(str(part), labels)) for part in rest
    )
    return Quantity(operation=str(operation), parts=built)


def _usual(name: str, labels: tuple[str, ...]) -> str:
    """The label that is meant where only "power" is said: the rated or the maximum one, if the documents have it."""
    if among(name, labels):
        return among(name, labels)
    for usual in _THE_USUAL:
        for known in labels:
            said = [word.casefold() for word in words(known)]
            if name in said and usual in said:
                return known
    return name


# ── what a word or a unit implies ────────────────────────────────────────────────────────────────────────────────────

OF_COMPARATIVE: dict[str, tuple[str, str]] = {
    "wider": ("width", ">"), "broader": ("width", ">"), "narrower": ("width", "<"), "longer": ("length", ">"),
    "shorter": ("length", "<"), "taller": ("height", ">"), "heavier": ("weight", ">"), "lighter": ("weight", "<"),
    "thicker": ("thickness", ">"), "thinner": ("thickness", "<"), "deeper": ("depth", ">"),
    "shallower": ("depth", "<"), "cheaper": ("price", "<"), "costlier": ("price", ">"), "dearer": ("price", ">"),
    "older": ("age", ">"), "younger": ("age", "<"), "faster": ("speed", ">"), "slower": ("speed", "<"),
    "hotter": ("temperature", ">"), "warmer": ("temperature", ">"), "colder": ("temperature", "<"),
    "cooler": ("temperature", "<"), "louder": ("noise level", ">"), "quieter": ("noise level", "<"),
    "brighter": ("brightness", ">"), "more expensive": ("price", ">"), "less expensive": ("price", "<"),
    "more powerful": ("power", ">"), "less powerful": ("power", "<"), "larger": ("", ">"), "bigger": ("", ">"),
    "greater": ("", ">"), "higher": ("", ">"), "more": ("", ">"), "better": ("", ">"), "smaller": ("", "<"),
    "lower": ("", "<"), "less": ("", "<"), "fewer": ("", "<"), "worse": ("", "<"), "weaker": ("", "abs<"),
    "stronger": ("", "abs>"), "steeper": ("", "abs>"), "closer to zero": ("", "abs<"), "flatter": ("", "abs<"),
}  # fmt: skip
OF_ADJECTIVE = {
    "wide": "width", "broad": "width", "long": "length", "tall": "height", "high": "height", "deep": "depth",
    "thick": "thickness", "heavy": "weight", "old": "age", "in weight": "weight", "in width": "width",
    "in length": "length", "in height": "height", "in diameter": "diameter", "in size": "size", "in area": "area",
}  # fmt: skip
OF_VERB = {
    "cost": "price", "costs": "price", "costing": "price", "cost us": "price", "priced": "price", "priced at": "price",
    "weigh": "weight", "weighs": "weight", "weighing": "weight", "worth": "value", "earn": "salary", "earns": "salary",
    "earning": "salary", "measuring": "length", "measure": "length", "lasting": "duration", "last": "duration",
    "lasts": "duration", "rated": "power", "rated at": "power", "aged": "age", "totalling": "total",
    "totaling": "total", "sell for": "price",
}  # fmt: skip
OF_UNIT_KIND = {
    "mass": "weight", "length": "length", "area": "area", "volume": "volume", "power": "power", "voltage": "voltage",
    "current": "current", "temperature": "temperature", "speed": "speed", "pressure": "pressure", "energy": "energy",
    "time": "duration", "frequency": "frequency", "torque": "torque", "force": "force", "charge": "capacity",
    "resistance": "resistance", "sound": "noise level", "data": "storage", "data rate": "data rate",
    "light": "luminous flux", "fuel": "fuel consumption", "fuel use": "fuel consumption",
}  # fmt: skip
OF_SUPERLATIVE: dict[str, tuple[str, str]] = {
    "widest": ("max", "width"), "narrowest": ("min", "width"), "longest": ("max", "length"),
    "shortest": ("min", "length"), "tallest": ("max", "height"), "heaviest": ("max", "weight"),
    "lightest": ("min", "weight"), "thickest": ("max", "thickness"), "thinnest": ("min", "thickness"),
    "deepest": ("max", "depth"), "cheapest": ("min", "price"), "most expensive": ("max", "price"),
    "least expensive": ("min", "price"), "costliest": ("max", "price"), "priciest": ("max", "price"),
    "fastest": ("max", "speed"), "slowest": ("min", "speed"), "hottest": ("max", "temperature"),
    "coldest": ("min", "temperature"), "loudest": ("max", "noise level"), "quietest": ("min", "noise level"),
    "brightest": ("max", "brightness"), "most powerful": ("max", "power"), "least powerful": ("min", "power"),
    "strongest": ("max", ""), "weakest": ("min", ""), "earliest": ("min", "date"), "oldest": ("min", "date"),
    "latest": ("max", "date"), "newest": ("max", "date"), "most recent": ("max", "date"),
    "youngest": ("min", "age"), "largest": ("max", ""), "biggest": ("max", ""), "greatest": ("max", ""),
    "highest": ("max", ""), "maximum": ("max", ""), "max": ("max", ""), "smallest": ("min", ""), "lowest": ("min", ""),
    "minimum": ("min", ""), "min": ("min", ""), "least": ("min", ""), "fewest": ("min", ""), "most": ("max", ""),
}  # fmt: skip
PAPERS_WITH_A_TOTAL = frozenset(
    "receipt,invoice,bill,order,quote,quotation,slip,voucher,expense,statement,payment,offer,purchase order,"
    "credit note,tax invoice,sales order".split(",")
)


def of_money(things: str, labels: tuple[str, ...]) -> str:
    """What an amount of money is of, where nobody says: of a receipt its total, of a bike its price."""
    papers = things.rpartition(" ")[2] in PAPERS_WITH_A_TOTAL or things in PAPERS_WITH_A_TOTAL or not things
    order = ("total", "amount", "total amount", "price") if papers else ("price", "cost", "value", "amount", "total")
    return next((known for name in order if (known := among(name, labels))), order[0])
