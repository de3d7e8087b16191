"""What a field asks for: the kind of answer, the words it goes by, and how texts say it."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import structs

from tablewright.extraction.alternatives import Alternatives, alternatives
from tablewright.extraction.relations import Kind, Relation, by_name
from tablewright.table.model import Field, Noun
from tablewright.table.template import PLACEHOLDER
from tablewright.table.units import parse_unit
from tablewright.text.words import normal, stems


class Wanted(Noun, frozen=True):
    """`labels` are the names of "Label: value" lines that answer it; `words` its own telling words."""

    field: Field
    kind: Kind
    relation: Relation
    labels: frozenset[str]
    label_stems: tuple[tuple[str, ...], ...]
    """The labels as `stems`; `label_words` are all their words, `joined_labels` each written together."""
    label_words: frozenset[str]
    joined_labels: frozenset[str]
    joined_name: str
    head: str
    """The last word of a name of several: "date" of "Publication date"."""
    words: frozenset[str]
    known: bool
    """Whether the relation is one of the list, and not made up from the field's own words."""
    unit: str = ""
    """The field's unit, or one that its name gives: "Capacity (MW)"."""
    bare: bool = False
    """The answer is the number alone, because the field's name says the unit."""
    options: tuple[str, ...] = ()
    """What the answer must be one of: the field's options, or what its question asks: "Is it public or private?"."""
    otherwise: Kind | None = None
    """The kind of an answer that is none of the options, where they are only what the question asks."""
    noun: str = ""
    """The thing asked for, where it stands beside its name: "Noble County" for County."""


_STOP = frozenset(
    """a an and are as at be by can did do does for from had has have how in is it its many much of on or s that the
    this to was were what when where which who whom whose with year name names value number amount date find give list
    tell me us please current currently exact full official company product first main called""".split()
)
ALSO_CALLED = "Also called: "
"""How a description begins that lists other labels of a field."""
_QUESTION_KINDS: tuple[tuple[str, Kind], ...] = (
    (r"\b(?:what|which|in what|in which) year\b|\byear\b", "year"),
    (r"\bwhat date\b|\bon which date\b|\bdate\b", "date"),
    (r"\bwhen\b", "date"),
    (r"\bwho\b|\bwhose\b", "person"),
    (r"\b(?:which|what) (?:city|town)\b|\bcity\b", "city"),
    (r"\b(?:which|what) (?:state|province)\b", "state"),
    (r"\b(?:which|what) country\b|\bcountry\b", "country"),
    (r"\bwhere\b", "place"),
    (
        r"\bhow many\b|(?<!phone )(?<!fax )(?<!mobile )(?<!contact )(?<!serial )(?<!model )(?<!part )(?<!account )"
        r"(?<!registration )\bnumber of\b",
        "count",
    ),
    (r"\bhow much (?:does|is|did|do)\b.*\bcosts?\b|\bprice\b", "money"),
)
_TYPE_KINDS: dict[str, Kind] = {
    "money": "money",
    "date": "date",
    "url": "url",
    "boolean": "yesno",
    "select": "option",
}
_FITS: dict[str, frozenset[Kind]] = {
    "number": frozenset({"year", "count", "number", "measure", "money"}),
    "money": frozenset({"money"}),
    "date": frozenset({"date", "year"}),
    "url": frozenset({"url"}),
}


@lru_cache(maxsize=512)
def wanted(field: Field) -> Wanted:
    asked = PLACEHOLDER.sub(" ", field.question)
    name = normal(field.name)
    words = _telling(f"{field.name} {asked} {field.description}")
    relation, known = _relation(field, asked)
    in_name = unit_in(field.name)
    chosen = alternatives(field.question) if field.type == "text" else Alternatives()
    options = field.options if field.type == "select" else chosen.options
    plain = _kind(field, asked, relation, known)
    kind = "option" if options else plain
    if chosen.options:
        relation = structs.replace(relation, defining=chosen.defining)
    if in_name and kind in ("count", "number"):
        kind = "measure"
    labels = {name} if name else set()
    if known and not relation.own_labels:
        names = f"{relation.names}|{relation.labels}" if options else relation.names
        labels |= {normal(each) for each in names.split("|")}
    if relation.own_labels:
        labels |= {normal(part) for part in re.split(r"[/,;()]|\bcode\b", field.name)}
    if own := _telling(field.name):
        labels.add(" ".join(word for word in name.split() if word in own))
    if field.description.startswith(ALSO_CALLED):
        labels |= {normal(other) for other in field.description.removeprefix(ALSO_CALLED).rstrip(".").split(",")}
    stemmed = tuple(sorted({stems(label) for label in labels if label}))
    return Wanted(
        field=field,
        kind=kind,
        relation=relation,
        labels=frozenset(label for label in labels if label),
        label_stems=stemmed,
        label_words=frozenset(word for label in (*stemmed, stems(name)) for word in label),
        joined_labels=frozenset("".join(label) for label in stemmed),
        joined_name="".join(stems(name)),
        head=stems(name)[-1] if len(stems(name)) > 1 else "",
        words=words,
        known=known,
        unit=field.unit or in_name,
        bare=not field.unit and bool(in_name) and field.type in ("text", "number"),
        options=options,
        otherwise=_otherwise(field, chosen, plain),
        noun=_noun(field.name),
    )


def _relation(field: Field, asked: str) -> tuple[Relation, bool]:
    """The listed relation whose name the field has, or else contains, or that its question speaks of."""
    listed = by_name()
    name = normal(field.name)
    parts = [normal(part) for part in re.split(r"[/,(;]|\bor\b|\band\b", field.name)]
    candidates = [name, *(part for part in parts if part)]
    for candidate in candidates:
        if candidate in listed and not (candidate in _VAGUE and _named_in(asked, listed)):
            return _fitting(listed[candidate], field), True
    for text in (asked, field.name, field.description):
        if found := _named_in(text, listed):
            return _fitting(found, field), True
    if name in listed:
        return _fitting(listed[name], field), True
    own = _telling(field.name) or _telling(asked)
    cue = "|".join(re.escape(word) for word in sorted(own)) or r"(?!)"
    return Relation(names=field.name, kind="text", cue=rf"\b(?:{cue})"), False


_VAGUE = frozenset(
    {"year", "date", "location", "place", "when", "where", "origin", "capacity", "title", "from", "start"}
)
_WEAK = frozenset(
    """from head base place start seat rate field site web link host part release rise total class code symbol band
    label size long wide home call mail""".split()
)


def _named_in(text: str, listed: dict[str, Relation]) -> Relation | None:
    """The relation with the longest name that stands in the text; vague ones only if nothing else does."""
    spaced = f" {normal(text)} "
    found = [name for name in listed if f" {name} " in spaced and name not in _WEAK]
    if not found:
        return None
    return listed[max(found, key=lambda name: (name not in _VAGUE, len(name)))]


def _fitting(relation: Relation, field: Field) -> Relation:
    """ "Capacity (MW)" is a power, "Capacity:number(l)" a volume, "Founded:date" a date."""
    unit = parse_unit(field.unit or unit_in(field.name))
    if relation.kind != "count" or unit is None:
        return relation
    named = by_name().get(unit.kind)
    names = f"{relation.names}|{named.names}" if named else relation.names
    return structs.replace(relation, kind="measure", before="", names=names)


def _kind(field: Field, asked: str, relation: Relation, known: bool) -> Kind:
    if field.type == "boolean":
        return "yesno"
    by_question = next((kind for pattern, kind in _QUESTION_KINDS if re.search(pattern, asked, re.IGNORECASE)), None)
    by_name = next((kind for pattern, kind in _QUESTION_KINDS if re.search(pattern, field.name, re.IGNORECASE)), None)
    fits = _FITS.get(field.type)
    if relation.formed and fits is None:
        return "text"
    for kind in (relation.kind if known else None, by_question, by_name):
        if kind is None or kind == "text":
            continue
        if kind == "year" and (
            field.type == "date" or by_name == "date" or (by_question == "date" and field.type != "number")
        ):
            return "date"
        if fits is None or kind in fits:
            return "measure" if field.type == "number" and field.unit and kind in ("count", "number") else kind
    if field.type == "number":
        return "measure" if field.unit else "number"
    return _TYPE_KINDS.get(field.type, "text")


_ANY_SORT = frozenset(("type", "kind", "sort", "form", "class", "category", "status", "nature", "control"))


def _otherwise(field: Field, chosen: Alternatives, kind: Kind) -> Kind | None:
    """MIT is an answer to "License: is it open source or proprietary?"; "Type: red" says nothing of public or private,
    and neither does "Pool: heated" of whether the pool is indoor."""
    words = stems(field.name)
    told = words and words[-1] not in _ANY_SORT and chosen.noun not in words
    return kind if chosen.options and told else None


_UNIT = re.compile(r"\(\s*([^()\d]{1,12})\s*\)|\bin ([A-Za-z²³/%°]{1,8})$")


def unit_in(name: str) -> str:
    """ "Capacity (MW)", "Frequency in kHz"."""
    match = _UNIT.search(name)
    unit = (match[1] or match[2]).strip() if match else ""
    return unit if unit and parse_unit(unit) else ""


def _telling(text: str) -> frozenset[str]:
    return frozenset(word for word in normal(text).split() if word not in _STOP and len(word) > 1)


_NOUNS = re.compile(
    r"\b(county|river|island|region|department|province|district|conference|university|college|stadium|arena|lake|"
    r"municipality|county seat|island group|parish|prefecture|canton|division|league|network|channel|party|airport)\b"
)


def _noun(name: str) -> str:
    words = normal(name).replace("counties", "county").replace("islands", "island").split(" or ")[0]
    match = _NOUNS.search(words)
    return match[1] if match and words.endswith(match[1]) else ""
