"""Demands in words and dates: "from the merchant X", "that contain tires", "whose status is open", "dated in 2018"."""

from __future__ import annotations

import re
from datetime import date

from tablewright.decisions.question.marked import QUOTE, STRUCK, Marked
from tablewright.decisions.question.things import PARTIES, is_so
from tablewright.decisions.question.words import STOP, among, label, words
from tablewright.table.corpus import Comparator, Condition, Quantity, Typed
from tablewright.table.model import Noun
from tablewright.table.periods import Period, read_periods

# ── dates ────────────────────────────────────────────────────────────────────────────────────────────────────────────

LABEL_OF_VERB = {
    "due": "due date", "expire": "expiry date", "expires": "expiry date", "expiring": "expiry date",
    "expired": "expiry date", "hired": "hire date", "joined": "hire date", "born": "date of birth",
    "effective": "effective date", "delivered": "delivery date", "ordered": "order date", "shipped": "shipping date",
    "signed": "signing date", "founded": "founding date", "paid": "payment date", "ends": "end date",
    "ending": "end date", "starts": "start date", "started": "start date", "starting": "start date",
    "sent": "date", "issued": "date", "written": "date", "published": "date", "dated": "date", "received": "date",
}  # fmt: skip
_VERB_BEFORE = re.compile(
    rf"(?:\b(?:that|which|who)\s+)?(?:\b(?:are|is|was|were|be|been|has|have|"
    rf"had)\s+)*\b(?P<verb>{'|'.join(LABEL_OF_VERB)})\s*$",
    re.IGNORECASE,
)
_DATE_BEFORE = re.compile(
    r"(?:\b(?:whose|with|having|where|and)\s+)?(?:\b(?:a|an|the|its|"
    r"their)\s+)?(?P<label>(?:[^\W\d_]+\s+){0,2}(?:date|day|deadline|birthday))"
    r"(?:\s+(?:is|are|was|were|lies|falls|of))?\s*$",
    re.IGNORECASE,
)


def dated_conditions(marked: Marked, labels: tuple[str, ...], today: date) -> list[Condition]:
    """Every time range of the question, struck out of the text."""
    found = []
    for period in read_periods(marked.text, today):
        start = period.span[0]
        name = "date"
        if verb := _VERB_BEFORE.search(marked.text, 0, start):
            name, start = LABEL_OF_VERB[verb["verb"].casefold()], verb.start()
        elif stated := _DATE_BEFORE.search(marked.text, 0, start):
            name, start = label(stated["label"]), stated.start()
        found.append(_within(period, among(name, labels) or name, marked.said(start, period.span[1])))
        marked.strike(start, period.span[1])
    return found


def _within(period: Period, name: str, said: str) -> Condition:
    ends = [Typed(raw=end.isoformat(), date=end.isoformat()) for end in (period.start, period.end) if end]
    kind: Comparator = "between" if len(ends) == 2 else ">=" if period.start else "<="
    return Condition(of=Quantity(label=name), comparator=kind, values=tuple(ends), words=said)


# ── words ────────────────────────────────────────────────────────────────────────────────────────────────────────────

_END = (
    rf"(?=\s*(?:$|[,;?!{STRUCK}]|\.(?:\s|$))|\s+(?:and|or|but|that|which|whose|who|where|with|from|dated|in|on|at|by|"
    r"for|having|have|has|are|is|not|without|issued|since|before|after|during|under|over|above|below|when|as|to|per)\b)"
)
_PROPER_WORD = r"(?:[\w.+-]+@[\w.-]+\w|[A-Z][\w&'./+-]*|\d+[A-Z][\w-]*|[\w]*[A-Z]{2}[\w-]*)"
_PROPER = rf"{_PROPER_WORD}(?:\s+(?:(?:of|the|and|&|de|la|von|van)\s+)?{_PROPER_WORD})*"
_NAMED = rf"(?:{QUOTE}|(?-i:{_PROPER}))"
_PLAIN = rf"(?:{QUOTE}|(?!(?:the|a|an|any|some|all)?\s*(?:same|following)\b)[^\W_][^{STRUCK},;?!]*?){_END}"
_LIST = (
    r"(?P<value>{one}(?:(?:\s*,\s*(?:(?:and|or)\s+)?|\s+(?:and|or)\s+)"
    r"(?!(?:that|which|whose|who|with|from|dated|in|have|has|are|is|not)\b){one})*)"
)
_NAMES = _LIST.format(one=_NAMED)
_ONES = _LIST.format(one=_PLAIN)
_ARTICLE = r"(?:(?:a|an|the|any|some|its|their|our)\s+)?"
_WHO = r"(?:(?:that|which|who)\s+)?(?:(?:are|is|was|were|have been|has been|came|come|comes)\s+)?"
_NO = r"(?P<no>(?:do|does|did)(?:\s+not|n't)\s+|not\s+|never\s+)?"
_ROLES = "|".join(PARTIES)
_CONTAIN = (
    r"contain(?:s|ing|ed)?|mention(?:s|ing|ed)?|includ(?:e|es|ing)|refer(?:s|ring)? to|cover(?:s|ing)?|about|regarding|"
    r"concerning|describ(?:e|es|ing)|discuss(?:es|ing)?|involv(?:e|es|ing)|list(?:s|ing)?|talk(?:s|ing)? about|"
    r"with the (?:words?|text|phrase|term)|say(?:s|ing)?|relat(?:ed|ing) to"
)
_DONE = (
    r"made|produced|manufactured|built|located|based|situated|registered|signed|issued|written|sent|approved|governed|"
    r"sold|supplied|delivered|paid|designed|published|headquartered|assembled|bought|purchased|stored|reported|used"
)


class _Saying(Noun, frozen=True, gc=True):
    pattern: re.Pattern[str]
    comparator: Comparator
    any_of: bool = False
    """Whether "X and Y" means either: nothing is from two shops at once."""


def _saying(pattern: str, comparator: Comparator = "contains", *, any_of: bool = False) -> _Saying:
    return _Saying(pattern=re.compile(pattern, re.IGNORECASE), comparator=comparator, any_of=any_of)


_SAYINGS = (
    _saying(rf"\b{_WHO}{_NO}(?:from|by|of|at|to|for|with|in)\s+(?:the\s+)?(?P<label>{_ROLES})s?\s+(?:named\s+|"
            rf"called\s+|of\s+)?{_NAMES}",
            "=", any_of=True),
    _saying(rf"\b(?:whose|where(?:\s+the)?)\s+(?P<label>[^{STRUCK},;?!\"]+?)\s+{_NO}(?:contains?|includes?|mentions?|"
            rf"starts with|is in|are in|has|have)\s+{_ONES}"),
    _saying(rf"\b(?:whose|where(?:\s+the)?)\s+(?P<label>[^{STRUCK},;?!\"]+?)\s+(?:is|are|was|were|equals|"
            rf"=)\s+{_NO}{_ARTICLE}{_ONES}",
            "=", any_of=True),
    _saying(rf"\b(?:carry|carries|carrying|have|has|having|with|show|shows|bear|bearing)\s+{_ARTICLE}"
            rf"(?P<label>[^{STRUCK},;?!\"]+?)\s+(?:(?P<place>in|at|near)|containing|like|"
            rf"including)\s+(?:the\s+)?{_NAMES}", any_of=True),
    _saying(rf"\b(?:carry|carries|carrying|have|has|having|with)\s+{_ARTICLE}(?P<label>[^{STRUCK},;?!\"]+?)\s+"
            rf"(?:of|named|called|equal to|=|:)\s+{_NAMES}", "=", any_of=True),
    _saying(rf"\b(?:in|of|from)\s+the\s+(?P<value>{_NAMED})\s+(?P<label>department|region|country|city|state|team|"
            r"category|division|branch|office|district|class|group)\b", "="),
    _saying(rf"\b{_WHO}{_NO}(?:{_CONTAIN})\s+{_ARTICLE}(?:words?\s+|item\s+|term\s+)?{_ONES}"),
    _saying(rf"\b(?P<no>without|with no|exclud(?:e|ing)|except(?:\s+for)?|lacking|other than|but not|have no|"
            rf"has no)\s+{_ARTICLE}{_ONES}"),
    _saying(rf"\b{_WHO}(?P<no>not\s+|outside\s+)?(?:(?:{_DONE})\s+)(?:in|by|at|under|with|to|from|for|via|"
            rf"as)\s+{_ARTICLE}{_ONES}", any_of=True),
    _saying(rf"\b{_WHO}{_NO}(?P<from>from)\s+(?:the\s+)?{_NAMES}", "=", any_of=True),
    _saying(rf"\b{_WHO}{_NO}(?:in|at|to|by|on|under|of|with|for|near|like)\s+(?:the\s+)?{_NAMES}", any_of=True),
    _saying(rf"\b(?:for|on|with|having|have|has|featuring|carry|carrying|offering|using|use)\s+{_ARTICLE}{_ONES}"),
    _saying(r"\b(?:that\s+|which\s+|who\s+)?(?:(?:are|is|was|were|have been|has been)\s+)(?P<no>not\s+(?:yet\s+)?)?"
            rf"(?P<so>[^\W\d_][\w-]*)(?=\s*(?:$|[,;?!.{STRUCK}])|\s+(?:and|or|but|yet)\b)"),
    _saying(r"\b(?P<no>not\s+(?:yet\s+)?)(?P<so>[^\W\d_][\w-]*)"),
)  # fmt: skip


def worded_conditions(marked: Marked, things: str, labels: tuple[str, ...]) -> list[Condition]:
    """Every demand in words, struck out of the text, in the order of the question."""
    found: list[tuple[int, Condition]] = []
    for saying in _SAYINGS:
        place = 0
        while match := saying.pattern.search(marked.text, place):
            place = match.end()
            conditions = _conditions(marked, saying, match, things, labels)
            if conditions:
                marked.strike(match.start(), match.end())
                found += [(match.start(), condition) for condition in conditions]
    return [condition for _, condition in sorted(found, key=lambda each: each[0])]


def _conditions(
    marked: Marked, saying: _Saying, match: re.Match[str], things: str, labels: tuple[str, ...]
) -> list[Condition]:
    parts = match.groupdict()
    said = marked.said(match.start(), match.end())
    if so := parts.get("so"):
        return [] if so.casefold() in STOP or so.casefold() in _NO_STATE else [
            is_so(so, labels, said, wanted=not parts.get("no"))
        ]  # fmt: skip
    values, either = _values(marked, parts["value"])
    if not values:
        return []
    name, comparator = label(parts.get("label") or ""), saying.comparator
    if not name and (stated := _labelled(values[0], labels)):
        name, comparator = stated, "="
        values = (values[0][len(stated) :].strip(), *values[1:])
    if len(words(name)) > 4 or (parts.get("place") and not (among(name, labels) or _WHERE.search(name))):
        return []
    if parts.get("from"):
        name = _giver(things, labels)
        comparator = "=" if name and '"' in parts["value"] else "contains"
    if parts.get("no"):
        comparator = "!="
    of = Quantity(label=among(name, labels) or name)
    texts = tuple(Typed(raw=value) for value in values)
    if either or saying.any_of or comparator == "!=":
        return [Condition(of=of, comparator=comparator, values=texts, words=said)]
    return [Condition(of=of, comparator=comparator, values=(text,), words=said) for text in texts]


def _labelled(value: str, labels: tuple[str, ...]) -> str:
    """The label with which a demand begins: "priority" of "priority high"."""
    said = value.split()
    return next((name for n in range(1, min(4, len(said))) if among(name := " ".join(said[:n]), labels)), "")


_WHERE = re.compile(
    r"\b(?:address|location|place|city|town|office|branch|headquarters|seat|site|country|state|region|warehouse|"
    r"origin)$",
    re.IGNORECASE,
)
_NO_STATE = frozenset("there any here given shown true included about in more less ok available possible".split())
_COMMA = re.compile(r"\s*,\s*(?:(?:and|or)\s+)?|\s+(?:and|or)\s+", re.IGNORECASE)
_LEADING = re.compile(
    r"^(?:(?:the|a|an|any|some|words?|both|either|their|our|its|(?:laws?|state|city|country|republic) of)\s+)+",
    re.IGNORECASE,
)


def _values(marked: Marked, text: str) -> tuple[tuple[str, ...], bool]:
    """The words that are demanded, and whether one of them is enough."""
    either = bool(re.search(r"\sor\s", text, re.IGNORECASE))
    values = (_one(marked, part.strip()) for part in _COMMA.split(text))
    return tuple(value for value in values if value and value.casefold() not in STOP), either


def _one(marked: Marked, part: str) -> str:
    return marked.phrase(part) if re.fullmatch(QUOTE, part) else _LEADING.sub("", part).strip(" .?!:")


def _giver(things: str, labels: tuple[str, ...]) -> str:
    """What "from" means: a receipt is from its merchant, a message from its sender; else we do not know."""
    head = things.rpartition(" ")[2]
    order = next((names for heads, names in _GIVERS if head in heads), ())
    return next((known for name in order if (known := among(name, labels))), order[0] if order else "")


_GIVERS: tuple[tuple[frozenset[str], tuple[str, ...]], ...] = (
    (frozenset("receipt slip voucher".split()), ("merchant", "vendor", "store", "seller", "company", "supplier")),
    (frozenset("invoice bill order quote quotation offer payment".split()),
     ("vendor", "supplier", "seller", "merchant", "company", "issuer")),
    (frozenset("email e-mail mail message letter".split()), ("from", "sender", "author")),
)  # fmt: skip
