"""What somebody wants, as fields that can be verified: "at least 1.5 l" is about the capacity, "build quality" about
the material and the warranty, "variable temperature" a yes or no."""

from __future__ import annotations

import re

from tablewright.decisions.shopping.known import (
    KnownField,
    field_named,
    field_with_value,
    fields_behind,
    fields_for,
)
from tablewright.decisions.shopping.verifiable import own_field, refused
from tablewright.table.measures import comparable, read_measures
from tablewright.table.model import Field
from tablewright.table.units import parse_unit
from tablewright.text.words import stems

_LEADING = re.compile(
    r"^\s*(?:(?:i|we)\s+(?:really\s+)?(?:want|need|prefer|like|would like|'d like)\s+|(?:it\s+)?(?:must|should|has to"
    r"|needs? "
    r"to|have to)\s+(?:be|have|come with|include)?\s*|prefer(?:ably|red)?\s+|ideally\s+|with\s+(?:an?\s+|the\s+)?|"
    r"(?:an?|the|some|very|really|as|is|has|have|having|be|being|made (?:of|from|out of)|at least|at most|no more than|"
    r"more than|less than|up to|over|under|minimum|maximum|around|about)\s+)+",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"^\s*(?:no|not|non|never|avoid(?:ing)?|without|nothing|anything but|not too|don'?t want|must not(?: be| have)?|"
    r"exclude|excluding|free of)\b[\s-]*(?:made (?:of|from|in)\s+|from\s+|any\s+|too\s+|be\s+|an?\s+)*",
    re.IGNORECASE,
)
_RIVALS = re.compile(r"\s+(?:over|before|above|rather than|more than|instead of|more important than)\s+|\s*>\s*")
_USE = re.compile(
    r"\b(?:for|suitable|suits?|good (?:for|with|at)|works? (?:for|with|well)|my|our|me|i|someone|people|kids|children|"
    r"easy|nice|good|great|decent|anything|something|not|that|who|when|because|if)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"\d+(?:[.,]\d+)?\+?")


def wanted_fields(wish: str, product_type: str) -> tuple[Field, ...]:
    """The fields by which a wish is judged, with the role "user"; () where it is no matter of a field."""
    wish = _RIVALS.split(wish.strip())[0]
    wish = _LEADING.sub("", wish).strip(" .,;:!?")
    known = _known(wish, product_type)
    if known:
        return tuple(field.as_field("user") for field in known)
    if not wish or refused(wish) or _USE.search(wish) or _NUMBER.search(wish):
        return ()
    own = own_field(wish, is_feature=True)
    return (own,) if own else ()


def avoided_fields(constraint: str, product_type: str) -> tuple[Field, ...]:
    """The fields that show whether something is as it must not be; known ones only: "no plastic" is about material."""
    rest = _NEGATION.sub("", constraint).strip(" .,;:!?")
    return tuple(field.as_field("user") for field in _known(rest, product_type)) if rest else ()


def _known(wish: str, product_type: str) -> tuple[KnownField, ...]:
    measured = _measured(wish, product_type)
    if measured:
        return (measured,)
    bare = _NUMBER.sub(" ", wish).strip(" -")
    if field := field_named(wish, product_type) or (field_named(bare, product_type) if stems(bare) else None):
        behind = fields_behind(wish, product_type)
        return behind if field in behind else (field,)
    if field := field_with_value(wish, product_type):
        return (field,)
    return fields_behind(wish, product_type)


def _measured(wish: str, product_type: str) -> KnownField | None:
    """The number field that a wish with a unit is about: by its other words, or else by the unit."""
    measures = [measure for measure in read_measures(wish) if measure.unit]
    if not measures:
        return None
    unit = parse_unit(measures[0].unit)
    rest = f"{wish[: measures[0].start]} {wish[measures[0].end :]}"
    named = field_named(_LEADING.sub("", rest.strip()), product_type) if stems(rest) else None
    if named or unit is None:
        return named
    fitting = (
        field
        for field in fields_for(product_type)
        if (field.usual or field.name in _BY_UNIT)
        and (own := parse_unit(field.unit))
        and own.kind == unit.kind
        and comparable(own, unit)
    )
    return next(fitting, None)


_BY_UNIT = frozenset(("Weight", "Energy use", "Noise level"))
