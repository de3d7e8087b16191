"""Comparisons with a number: "at most 1.2 m wide", "STC power above 290 W", "with 60 cells in series", "over $500"."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import structs

from tablewright.decisions.question.marked import STRUCK, Marked
from tablewright.decisions.question.quantity import (
    OF_ADJECTIVE,
    OF_COMPARATIVE,
    OF_UNIT_KIND,
    OF_VERB,
    PAPERS_WITH_A_TOTAL,
    arithmetic,
    is_arithmetic,
    of_money,
    quantity,
)
from tablewright.decisions.question.words import among, label, words
from tablewright.table.corpus import Comparator, Condition, Quantity, Typed
from tablewright.table.currencies import AFTER, BEFORE, LONGEST_MARK
from tablewright.table.measures import Measure, read_measures
from tablewright.table.model import Noun
from tablewright.table.typed import typed
from tablewright.table.units import parse_unit

LONGEST_LABEL = 8  # words; "the ratio of PTC power to STC power" has seven


class _Said(Noun, frozen=True):
    """A number of the question with its unit or currency, at `start:end`. A range has two `values`."""

    values: tuple[Typed, ...]
    start: int
    end: int
    kind: str = ""


def numeric_conditions(marked: Marked, things: str, labels: tuple[str, ...]) -> list[Condition]:
    """Every comparison with a number, struck out of the text."""
    found = [*_fitting(marked), *_shares(marked, labels)]
    for said in _numbers(marked):
        if STRUCK not in marked.text[said.start : said.end] and (one := _condition(marked, said, things, labels)):
            found += one
    return found + _of_each_other(marked, labels)


def _condition(marked: Marked, said: _Said, things: str, labels: tuple[str, ...]) -> list[Condition]:
    comparator, implied, left = _comparator(marked.text, said)
    end = said.end
    if comparator in ("", "=") and (after := _OR_MORE.match(marked.text, end)):
        comparator, end = ">=" if after["more"] else "<=", after.end()
    start, before = _label_before(marked, left)
    start, before = _without_place(start, before)
    names, end, explicit = _names(marked, said, (implied, before), end, things, labels)
    if comparator in ("", "=") and (after := _OR_MORE.match(marked.text, end)):
        comparator, end = ">=" if after["more"] else "<=", after.end()
    if not names or not (comparator or explicit):
        return []
    share = _SHARE.match(marked.text, end) if said.kind == "ratio" else None
    whole = quantity(share["of"], labels) if share else None
    if share:
        end = share.end()
    note = marked.aside_in(start, end)
    worked_out = arithmetic(note.text) if note and is_arithmetic(note.text) else None
    absolute = comparator.startswith("abs") or bool(note and _NEAR_ZERO.search(note.text) and comparator in "<>")
    comparator = comparator.removeprefix("abs")
    values = said.values
    if whole is not None:
        values = tuple(_as_share(value) for value in values)
    said_as = marked.said(start, end)
    marked.strike(start, end)
    kind: Comparator = "between" if len(values) == 2 else _COMPARATORS.get(comparator, "=")
    conditions = []
    for name in names:
        of = worked_out or quantity(name, labels)
        if whole is not None:
            of = Quantity(operation="/", parts=(of, whole))
        if absolute:
            of, values = Quantity(operation="abs", parts=(of,)), tuple(_unsigned(value) for value in values)
        conditions.append(Condition(of=of, comparator=kind, values=values, words=said_as))
    return conditions


_NEAR_ZERO = re.compile(r"\b(?:closer to|nearer to|further from|farther from) (?:zero|0)|absolute|magnitude", re.I)
_COMPARATORS: dict[str, Comparator] = {"<": "<", "<=": "<=", ">": ">", ">=": ">=", "!=": "!="}


def _as_share(value: Typed) -> Typed:
    """92 percent of something is 0.92 times it."""
    share = float(f"{(value.number or 0) / 100:.12g}") if value.unit == "%" else value.number
    return Typed(raw=value.raw, number=share, si=share)


def _unsigned(value: Typed) -> Typed:
    return structs.replace(
        value,
        number=None if value.number is None else abs(value.number),
        si=None if value.si is None else abs(value.si),
    )


# ── numbers ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _numbers(marked: Marked) -> Iterator[_Said]:
    text = marked.text
    for measure in read_measures(text):
        if measure.sizes or measure.glued:
            continue
        start, end = measure.start, measure.end
        unit = parse_unit(measure.unit) if measure.unit else None
        before = BEFORE.search(text, max(0, start - LONGEST_MARK), start)
        after = AFTER.match(text, end) if unit is None else None
        if before and not measure.unit:
            start = before.start()
        end = after.end() if after else end
        money = before or after
        yield _Said(
            values=_ends(text, measure, start, end, money["mark"] if money else ""),
            start=start,
            end=end,
            kind="money" if money else unit.kind or measure.unit if unit else "",
        )


def _ends(text: str, measure: Measure, start: int, end: int, currency: str) -> tuple[Typed, ...]:
    if measure.high is None:
        return (typed(text[start:end].strip()),)
    unit = measure.unit or currency
    return typed(f"{measure.value} {unit}".strip()), typed(f"{measure.high} {unit}".strip())


# ── comparators ──────────────────────────────────────────────────────────────────────────────────────────────────────

_SAYINGS: tuple[tuple[str, str], ...] = (
    (">=", r"at least|no less than|not less than|not (?:below|under)|no fewer than|a minimum of|minimum(?: of)?|min\.?"
           r"|>=|≥|upwards? of|starting (?:at|from)|no lower than|equal to or (?:above|greater than)"),
    ("<=", r"at most|no more than|not more than|not (?:above|over|exceeding)|up to|a maximum of|maximum(?: of)?|max\.?"
           r"|<=|≤|within|no (?:larger|longer|wider|higher|greater|heavier) than|not to exceed|(?:do|does) not exceed"
           r"|equal to or (?:below|less than)"),
    (">", r"above|over|exceed(?:s|ing)?|beyond|>|in excess of|higher|surpass(?:es|ing)?"),
    ("<", r"below|under|<|beneath|lower|short of"),
    ("!=", r"not equal to|not exactly|other than|!=|≠|not"),
    ("=", r"exactly|equal(?:s|ling)?(?: to)?|=|precisely"),
)  # fmt: skip
_BEFORE_A_NUMBER = tuple(
    (sign, re.compile(rf"(?<![\w<>])(?:{said})\s*(?:about|a|an|the|of|some)?\s*$", re.IGNORECASE))
    for sign, said in _SAYINGS
)
_THAN = re.compile(
    rf"\b(?P<not>not |no )?(?P<how>{'|'.join(sorted(OF_COMPARATIVE, key=len, reverse=True))})\s+than\s*(?:about\s*)?$",
    re.IGNORECASE,
)
_OR_MORE = re.compile(
    r"\s*(?:(?P<more>\+(?!\d)|(?:or|and) (?:more|higher|above|over|greater|up|longer|wider|heavier|larger|upwards)\b"
    r"|minimum\b|at least\b)|(?:or|and) (?:less|lower|below|under|fewer|shorter|cheaper|smaller|lighter)\b|maximum\b"
    r"|at most\b|max\b)",
    re.IGNORECASE,
)
_TURNED = {">": "<=", "<": ">="}


def _comparator(text: str, said: _Said) -> tuple[str, str, int]:
    """How the number is compared, the label that the comparative implies, and where its words begin."""
    if than := _THAN.search(text, 0, said.start):
        name, sign = OF_COMPARATIVE[than["how"].casefold()]
        return _TURNED.get(sign, sign) if than["not"] else sign, name, than.start()
    for sign, pattern in _BEFORE_A_NUMBER:
        if found := pattern.search(text, max(0, said.start - 40), said.start):
            return sign, "", found.start()
    if len(said.values) == 2 and (between := _BETWEEN.search(text, 0, said.start)):
        return "between", "", between.start()
    return ("between" if len(said.values) == 2 else ""), "", said.start


_BETWEEN = re.compile(r"\b(?:between|from|ranging from|of)\s*$", re.IGNORECASE)

# ── what is compared ─────────────────────────────────────────────────────────────────────────────────────────────────

_BOUNDARY = re.compile(
    rf"[{STRUCK},;:?!\"]|\.\s|\b(?:and|or|but|whose|with|that|which|who|where|having|has|have|had|carry|carries|"
    rf"carrying"
    r"|shows?|offers?|delivers?|features?|featuring|if|for which|of which|while)\b",
    re.IGNORECASE,
)
_BOTH = re.compile(
    r"\b(?:whose|both|where|with)\s+(?P<labels>[^,;¦]{1,80}?\s+and\s+[^,;¦]{1,80}?)(?<!\s)\s+(?:are|were|each|both)\s*+(?:each|"
    r"both)?\s*$",
    re.IGNORECASE,
)
_SHARE = re.compile(
    rf"\s+of\s+(?:the|its|their|his)\s+(?P<of>(?:(?!\b(?:and|or|but|with|that|whose)\b)[^{STRUCK},;:?!.])+)",
    re.IGNORECASE,
)
_COPULA = re.compile(r"(?:\b(?:is|are|was|were|of|equals?|measures?|at)|=|:)\s*$", re.IGNORECASE)


def _label_before(marked: Marked, left: int) -> tuple[int, str]:
    """Where the clause begins, and the words between that and the comparison."""
    text = marked.text
    if both := _BOTH.search(text, 0, left):
        return both.start(), both["labels"]
    start = 0
    for found in _BOUNDARY.finditer(text, 0, left):
        start = found.end() if found[0] not in ("=",) else start
    return start, text[start:left]


_PLACE = re.compile(r"\s*(?:from|in|by|at|to|for|on|about|of|under|near|mentioning|containing)\s", re.IGNORECASE)
_IN_A_PLACE = re.compile(r"\b(?:in|from|near)\s+(?:the\s+)?[A-Z]")
_LAST_VERB = re.compile(
    rf"\b(?:{'|'.join(sorted(OF_VERB, key=len, reverse=True))})\s*(?:for\s*|at\s*)?$", re.IGNORECASE
)


def _without_place(start: int, region: str) -> tuple[int, str]:
    """Of "in the Sales department earning" only the verb is compared, of "from ACME" nothing."""
    if not _PLACE.match(region) and not _IN_A_PLACE.search(region):
        return start, region
    verb = _LAST_VERB.search(region)
    at = verb.start() if verb else len(region)
    return start + at, region[at:]


def _names(
    marked: Marked, said: _Said, before: tuple[str, str], end: int, things: str, labels: tuple[str, ...]
) -> tuple[list[str], int, bool]:
    """The labels that are compared, where the condition ends, and whether it needs no comparator to be one."""
    implied, region = before
    name = label(region)
    name = OF_VERB.get(name.casefold(), name)
    if " and " in name:
        return [label(part) for part in name.split(" and ")], end, True
    if adjective := _ADJECTIVE.match(marked.text, end):
        return [OF_ADJECTIVE[" ".join(adjective["how"].casefold().split())]], adjective.end(), not name
    if implied and not name:
        return [implied], end, True
    if name and len(words(name)) <= LONGEST_LABEL and name.casefold() != things.casefold():
        return [name], end, bool(_COPULA.search(region.rstrip() + " ")) or among(name, labels) != ""
    if name:
        return [], end, False
    after = _NOUN_AFTER.match(marked.text, end)
    if after and said.kind != "ratio" and not (said.kind and words(after["noun"])[0].casefold() in _NO_LABEL):
        return [label(after["noun"])], after.end(), True
    is_money = said.kind == "money" or (not said.kind and things in PAPERS_WITH_A_TOTAL)
    default = of_money(things, labels) if is_money else OF_UNIT_KIND.get(said.kind, "")
    return ([default] if default else []), end, False


_NO_LABEL = frozenset("of in from for dated made at on by to per between only until since before after".split())
_ADJECTIVE = re.compile(
    rf"\s+(?P<how>{'|'.join(sorted(OF_ADJECTIVE, key=len, reverse=True)).replace(' ', chr(92) + 's+')})\b",
    re.IGNORECASE,
)
_NOUN = r"(?!(?:and|or|but|with|that|whose|which|who|from|dated|made|at|to|by|on|for|is|are|was|were|be|have|has)\b)"
_NOUN_AFTER = re.compile(
    rf"\s+(?P<noun>{_NOUN}[^\W\d_][\w-]*(?:\s+{_NOUN}[^\W\d_][\w-]*){{0,3}})(?=\s*(?:$|[,;.?!{STRUCK}]|\s))",
    re.IGNORECASE,
)

# ── special sayings ──────────────────────────────────────────────────────────────────────────────────────────────────

_FITS = re.compile(
    r"\b(?:(?:that|which|can|could|would|will)\s+)*fit(?:s|ting)?\s+(?:in(?:to|side)?|within|through|on)\b", re.I
)
_SPACE = re.compile(
    r"\s*(?:rectangle|box|space|area|opening|gap|frame|slot|hole|crate|envelope|square|door|cupboard)?s?\b"
)


def _fitting(marked: Marked) -> Iterator[Condition]:
    """ "Fit in a 1.50 m by 0.90 m rectangle": turned as need be, so the longer side is compared with the longer."""
    fits = _FITS.search(marked.text)
    if fits is None:
        return
    size = next((each for each in read_measures(marked.text) if each.start >= fits.end() and len(each.sizes) > 1), None)
    if size is None:
        return
    limits = sorted((typed(f"{side} {size.unit}".strip()) for side in size.sizes), key=lambda side: -(side.number or 0))
    sides = tuple(Quantity(label=name) for name in ("length", "width", "height")[: len(limits)])
    longest, shortest = Quantity(operation="max", parts=sides), Quantity(operation="min", parts=sides)
    compared = [(longest, limits[0]), (shortest, limits[-1])]
    if len(limits) == 3:
        rest = Quantity(operation="-", parts=(Quantity(operation="+", parts=sides), longest))
        compared.insert(1, (Quantity(operation="-", parts=(rest, shortest)), limits[1]))
    space = _SPACE.match(marked.text, size.end)
    end = space.end() if space else size.end
    said = marked.said(fits.start(), end)
    marked.strike(fits.start(), end)
    for of, limit in compared:
        yield Condition(of=of, comparator="<=", values=(limit,), words=said)


_MULTIPLES = {"half": 0.5, "twice": 2.0, "double": 2.0, "three times": 3.0, "triple": 3.0, "four times": 4.0}
_MULTIPLE = re.compile(
    r"(?P<left>[^,;¦]{0,200}?)\b(?:is|are|was|were)\s++(?P<sign>more than|over|above|at least|less than|below|under|"
    rf"at most|exactly)?\s*+(?P<times>{'|'.join(_MULTIPLES)})\s+(?:of\s+)?(?:the|its|their|as \w+ as (?:the|its|"
    rf"their))\s+(?P<of>(?:(?!\b(?:and|or|but)\b)[^{STRUCK},;:?!.])+)",
    re.IGNORECASE,
)
_SIGNS: dict[str, Comparator] = {
    "more than": ">", "over": ">", "above": ">", "at least": ">=", "less than": "<", "below": "<", "under": "<",
    "at most": "<=",
}  # fmt: skip


def _shares(marked: Marked, labels: tuple[str, ...]) -> Iterator[Condition]:
    """ "Whose length is more than twice the width"."""
    found = _MULTIPLE.search(marked.text)
    if found is None:
        return
    start, name = _label_before(marked, found.end("left"))
    if not label(name):
        return
    of = Quantity(operation="/", parts=(quantity(name, labels), quantity(found["of"], labels)))
    times = _MULTIPLES[found["times"].casefold()]
    said = marked.said(start, found.end())
    marked.strike(start, found.end())
    sign = _SIGNS.get((found["sign"] or "").casefold(), "=")
    yield Condition(of=of, comparator=sign, values=(Typed(raw=found["times"], number=times, si=times),), words=said)


_EACH_OTHER = re.compile(
    r"\b(?P<how>above|below|under|over|at least|at most|(?:greater|higher|larger|more|less|lower|smaller|bigger|longer"
    r"|shorter) than)\s+(?:the|its|their)\s+(?P<of>(?:(?!\b(?:and|or|but)\b)[^¦,;:?!.\d])+)",
    re.IGNORECASE,
)
_NO_OTHER = re.compile(
    r"\b(?:average|mean|median|others?|rest|limit|usual|norm|standard|previous|last)\b", re.IGNORECASE
)


def _of_each_other(marked: Marked, labels: tuple[str, ...]) -> list[Condition]:
    """ "Whose width is greater than their length": the one divided by the other is more than 1."""
    found = _EACH_OTHER.search(marked.text)
    if found is None or _NO_OTHER.search(found["of"]):
        return []
    start, name = _label_before(marked, found.start())
    if not label(name) or not _COPULA.search(name.rstrip() + " "):
        return []
    how = found["how"].casefold()
    smaller = how.split()[0] in ("less", "lower", "smaller", "shorter")
    sign = _SIGNS.get(how, "<" if smaller else ">")
    of = Quantity(operation="/", parts=(quantity(name, labels), quantity(found["of"], labels)))
    said = marked.said(start, found.end())
    marked.strike(start, found.end())
    return [Condition(of=of, comparator=sign, values=(Typed(raw="1", number=1, si=1),), words=said)]
