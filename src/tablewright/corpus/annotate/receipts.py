"""Receipts and invoices: a slip's total, its date and who issued it, read from its lines.

A slip has many amounts called "total" and few labels that can be trusted alone, so each amount is weighed: by how its
line is named, by where it stands (after the rounding, outside the tax summary), and by whether the sums agree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from tablewright.table.dates import DateText, read_dates
from tablewright.table.model import Noun
from tablewright.text.words import normal

LONGEST = 12_000  # characters; a longer text is a report, not a slip
SHORT = 3_000  # characters; so short is a slip that says of itself only that its amounts add up
MOST_LINES = 400
LONGEST_HEADING = 120
CENT = 0.006


class Found(Noun, frozen=True):
    """A value and the passage it stands in: `text[start:end]`; `score` says how well it fits, from 0 to 1."""

    value: str
    start: int
    end: int
    score: float


class Amount(Noun, frozen=True):
    """`written` stands at `start` of the slip's text."""

    written: str
    value: float
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.written)


class Line(Noun, frozen=True):
    text: str
    start: int
    label: str
    """What stands before the first amount."""
    amounts: tuple[Amount, ...]
    in_summary: bool = False
    """Part of the block that lists the tax by its rates."""

    @property
    def end(self) -> int:
        return self.start + len(self.text)


class Slip(Noun, frozen=True):
    lines: tuple[Line, ...]


_SLIP = re.compile(
    r"\b(?:invoice|receipt|bill|cash(?:ier)?|change|tender(?:ed)?|sub-?\s?total|gst|vat|tax|qty|quantity|amount due)\b",
    re.IGNORECASE,
)
_TOTAL_WORD = re.compile(r"total\b|\b(?:amount|balance) due\b|\bpayable\b", re.IGNORECASE)


@lru_cache(maxsize=128)
def slip(text: str) -> Slip | None:
    """The text as a slip, or None where it is something else: a slip names a total, and money stands at line ends; and
    it uses the words of slips, or the total is the sum of what stands above it."""
    if len(text) > LONGEST or not _TOTAL_WORD.search(text):
        return None
    speaks = len({word.casefold() for word in _SLIP.findall(text)}) >= 2
    if not speaks and len(text) > SHORT:
        return None
    lines = tuple(_lines(text))
    if sum(1 for line in lines if line.amounts) < 2:
        return None
    return Slip(lines=lines) if speaks or _adds_up(lines) else None


def _adds_up(lines: Sequence[Line]) -> bool:
    """Whether a line calls itself the total and is the sum of the items above; "5 x 4.20" under an item is none."""
    items: list[float] = []
    for line in lines:
        if not line.amounts or not line.text.endswith(line.amounts[-1].written):
            continue
        if items and _TOTAL.search(line.label) and abs(sum(items) - line.amounts[-1].value) < CENT:
            return True
        if not _TIMES.match(line.text):
            items.append(line.amounts[-1].value)
    return False


_TIMES = re.compile(r"\d+(?:[.,]\d+)?\s*(?:x|×|@|à|\*)\s", re.IGNORECASE)


# ── lines and amounts ────────────────────────────────────────────────────────────────────────────────────────────────

_MARK = r"(?:(?:RM|MYR|USD|EUR|GBP|SGD|AUD|CAD|INR|CHF|Rs\.?|[$€£¥₹])\s{0,3})"
_CENTS = r"\d{1,3}(?:[,.'\s]\d{3})+[.,]\d{2}|\d+[.,]\d{2}|\.\d{2}"
_AMOUNT = re.compile(
    rf"(?<![\w.,/:-])(?:{_MARK})?[-(]?{_MARK}?(?:{_CENTS})(?![\d%:/]|[.,]\d|\s?%|-\d)|(?<!\w){_MARK}-?\d+(?![\d.,/%:])",
    re.IGNORECASE,
)
_SUMMARY = re.compile(
    r"\b(?:gst|tax|vat|g\.s\.t)\b\W*(?:summary|analysis|code|rate|breakdown|details?)|\bsummary\b", re.IGNORECASE
)
_SUMMARY_LINES = 7


def _lines(text: str) -> Iterator[Line]:
    start, left = 0, 0
    for raw in text.split("\n")[:MOST_LINES]:
        stripped = raw.strip()
        at = start + len(raw) - len(raw.lstrip())
        start += len(raw) + 1
        if not stripped:
            continue
        left = _SUMMARY_LINES if _SUMMARY.search(stripped) else max(0, left - 1)
        amounts = tuple(_amounts(stripped, at))
        label = stripped[: amounts[0].start - at] if amounts else stripped
        yield Line(text=stripped, start=at, label=label.strip(" :.-=*"), amounts=amounts, in_summary=left > 0)


def _amounts(line: str, start: int) -> Iterator[Amount]:
    for match in _AMOUNT.finditer(line):
        digits = re.sub(r"[^\d.,]", "", match[0].rstrip())
        whole, cents = (digits[:-3], digits[-2:]) if re.search(r"[.,]\d{2}$", digits) else (digits, "00")
        value = float(f"{re.sub(r'[^0-9]', '', whole) or '0'}.{cents}")
        negative = "-" in match[0] or "(" in match[0]
        yield Amount(written=match[0].strip(), value=-value if negative else value, start=start + match.start())


# ── the total ────────────────────────────────────────────────────────────────────────────────────────────────────────

_NO_TOTAL = re.compile(
    r"\b(?:qty|quantity|quantities|items?|pcs|units|gst|vat|tax(?:es|able)?|exclu\w*|excl|discounts?|disc|savings?|"
    r"saved|"
    r"change|rounding|roundlng|tender(?:ed)?|points?|before|sst|deposit|count|service)\b|w/o|without",
    re.IGNORECASE,
)
_UNTAXED = re.compile(r"\buntaxed\b|\bnet (?:amount|value|price)\b|\bpre.?tax\b|\bsub.?total\b", re.IGNORECASE)
_WITH_TAX = re.compile(r"\binclu\w*|\bincl?\b|\bwith (?:gst|tax|vat)|\bafter\b|\bround\w*|\bw/", re.IGNORECASE)
_SUBTOTAL = re.compile(r"\bsub\W?\s?total|\bs/total", re.IGNORECASE)
_FINAL = re.compile(
    r"\bgrand\b|\brounded\b|\bafter (?:round|adj)\w*|\bnett?\b|\bpayable\b|\b(?:amount|amt|balance|total) due\b|"
    r"\bto pay\b|"
    r"\b(?:inv(?:oice)?|bill) (?:total|amount)\b|\bround\w* total\b|\btotal round\w*|^due$",
    re.IGNORECASE,
)
_TOTAL = re.compile(r"\bt[o0]ta[l1]\b|\bjumlah\b|\bsumme\b|\bgesamt\w*", re.IGNORECASE)
_AMOUNT_WORD = re.compile(r"^(?:amount|amt|bill|balance)\b", re.IGNORECASE)
_ROUNDING = re.compile(r"\bround\w*|\badj(?:ustment)?\b", re.IGNORECASE)
_PAID = re.compile(
    r"\b(?:cash|tender(?:ed)?|pay|paid|payment|received|accepted|visa|master(?:card)?|card|credit|"
    r"debit)\b",
    re.IGNORECASE,
)
_CHANGE = re.compile(r"\bchange\b|\bbalance returned\b", re.IGNORECASE)


def totals(document: Slip) -> Iterator[Found]:
    """Every amount that a line calls a total, or that was paid, weighed."""
    named = list(_named(document))
    sums = Sums(
        totals=tuple(amount for _, amount, _, _ in named),
        paid=_paid(document),
        rounding=_rounding(document),
        largest=max((amount.value for line in document.lines for amount in line.amounts), default=0.0),
    )
    for weight, amount, start, end in named:
        if amount.value > 0:
            yield Found(
                value=amount.written, start=start, end=max(end, amount.end), score=_weighed(weight, amount, sums)
            )


def _named(document: Slip) -> Iterator[tuple[float, Amount, int, int]]:
    lines = document.lines
    for number, line in enumerate(lines):
        weight = _label_weight(line)
        if not weight:
            continue
        if line.amounts:
            several = sum(1 for amount in line.amounts if "." in amount.written or "," in amount.written) > 1
            amount = max(line.amounts, key=lambda each: each.value) if several else line.amounts[-1]
            yield weight - 0.15 * several, amount, line.start, line.end
        elif number + 1 < len(lines) and len(lines[number + 1].amounts) == 1 and not lines[number + 1].label:
            below = lines[number + 1]
            yield weight - 0.04, below.amounts[0], line.start, below.end


def _label_weight(line: Line) -> float:
    """How much a line's name says that its amount is what has to be paid."""
    label = line.label
    rounded = bool(line.amounts) and line.amounts[-1].value >= 1 and _ROUNDING.search(label)
    if _SUBTOTAL.search(label):
        return 0.42
    if (_NO_TOTAL.search(label) and not _WITH_TAX.search(label)) or _CHANGE.search(label):
        return 0.0
    if _PAID.search(label):
        return 0.45
    if _FINAL.search(label):
        weight = 0.84
    elif _TOTAL.search(label):
        weight = 0.8 if _WITH_TAX.search(label) or normal(label) in _PLAIN else 0.76
    elif rounded:
        weight = 0.74
    elif _AMOUNT_WORD.search(label):
        weight = 0.7 if _WITH_TAX.search(label) else 0.55
    else:
        return 0.0
    return weight - 0.35 * line.in_summary


_PLAIN = frozenset(("total", "total rm", "total amount", "total sales", "total amt", "total payment"))


class Sums(Noun, frozen=True):
    """What the amounts of a slip are checked against."""

    totals: tuple[Amount, ...]
    paid: frozenset[int]
    """In cents: what was given less what was given back."""
    rounding: tuple[float, int] | None
    """By how much the total is rounded, and where the slip says so."""
    largest: float

    def agrees(self, value: float) -> bool:
        return round(value * 100) in self.paid


def _weighed(weight: float, amount: Amount, sums: Sums) -> float:
    """The line's weight, raised where the sums come out right and lowered where they do not."""
    score = weight
    others = [other.value for other in sums.totals if other.start != amount.start]
    again = any(abs(other - amount.value) < CENT for other in others)
    if sums.agrees(amount.value):
        score += 0.1
    elif any(sums.agrees(other) for other in others):
        score -= 0.12
    if sums.rounding:
        adjustment, place = sums.rounding
        if amount.start > place:
            score += 0.04
        elif adjustment and not again:
            score -= 0.12
        if adjustment and any(abs(other + adjustment - amount.value) < CENT for other in others):
            score += 0.06
    if amount.value < 0.3 * sums.largest:
        score -= 0.1  # more likely a part of it: the tax, one item
    return min(0.99, score + 0.03 * again)


def _paid(document: Slip) -> frozenset[int]:
    given = [line.amounts[-1].value for line in document.lines if line.amounts and _PAID.search(line.label)]
    change = [line.amounts[-1].value for line in document.lines if line.amounts and _CHANGE.search(line.label)]
    return frozenset(round((abs(money) - abs(back)) * 100) for money in given for back in change or (0.0,))


def _rounding(document: Slip) -> tuple[float, int] | None:
    for line in document.lines:
        named = line.amounts and _ROUNDING.search(line.label) and not _TOTAL.search(line.label)
        if named and abs(line.amounts[-1].value) < 1:
            return line.amounts[-1].value, line.start
    return None


# ── the date ─────────────────────────────────────────────────────────────────────────────────────────────────────────

_DATE_LABEL = re.compile(r"\b(?:date[d]?|datum|tarikh|fecha|data)\b", re.IGNORECASE)
_OTHER_DATE = re.compile(
    r"\b(?:due|expir\w*|exp|valid\w*|deliver\w*|ship\w*|print\w*|birth|dob|member\w*|until|till|before|effective|start|"
    r"since|promo(?:tion)?|return\w*|due|manufactur\w*|redeem\w*|terms)\b",
    re.IGNORECASE,
)
_ORDERED = re.compile(r"\b(?:order\w*|purchase order|booking)\b", re.IGNORECASE)
_CLOCK = re.compile(r"\b\d{1,2}\s?:\s?\d{2}\b|\b\d{1,2}\s?[ap]m\b", re.IGNORECASE)


def dates(document: Slip) -> Iterator[Found]:
    """Whole dates only: first those that a label calls a date, then those beside a time, then the first of the slip."""
    order = 0
    for number, line in enumerate(document.lines):
        for date in _whole_dates(line.text):
            before = line.text[: date.start]
            above = document.lines[number - 1].text if number and not before.strip(" :") else ""
            score = _date_weight(before, above, line.text) - 0.01 * min(order, 10)
            order += 1
            yield Found(value=line.text[date.start : date.end].strip(), start=line.start, end=line.end, score=score)


def _whole_dates(line: str) -> Iterator[DateText]:
    if any(character.isdigit() for character in line):
        for date in read_dates(line):
            if len(date.iso) == 10 and not date.doubtful and "1980" <= date.iso[:4] <= "2099":
                yield date


def _date_weight(before: str, above: str, line: str) -> float:
    label = before or above
    if _OTHER_DATE.search(label):
        return 0.3
    if _DATE_LABEL.search(label):
        return 0.95
    return 0.82 if _CLOCK.search(line) else 0.75


# ── who issued it ────────────────────────────────────────────────────────────────────────────────────────────────────

_LEGAL = re.compile(
    r"\b(?:sdn\.? ?bhd|bhd|s/b|ltd|limited|inc|llc|gmbh|pte|plc|corp|enterprise|trading)\b\.?", re.IGNORECASE
)
_NUMBERED = re.compile(
    r"\s*(?:\(?(?:co\.?|reg\w*\.?|company)?\W*(?:no\W*)?(?=[\w-]*\d{4})[\w-]{5,}\)?).*$", re.IGNORECASE
)
_NO_ISSUER = re.compile(
    r"\d{4,}|\b(?:invoice|receipt|tel|fax|phone|gst|tax|reg|no|date|cashier|cash|sale|welcome|thank|street|road|lot|"
    r"copy|www|posted|level|floor|jalan|jln|taman)\b|[@:#|]",
    re.IGNORECASE,
)
_TAIL_OF_NAME = re.compile(rf"(?:{_LEGAL.pattern}|\bco\b\.?|\(?[^()]*\)|\([^()]*$|[\s.,&])+", re.IGNORECASE)
_HEAD = 6


def issuers(document: Slip) -> Iterator[Found]:
    """The first lines that read like a name; one with a legal form ("Ltd") is surer than a bare name above it."""
    head = [line for line in document.lines[:_HEAD] if not line.amounts and len(line.text) <= LONGEST_HEADING]
    names = [_NUMBERED.sub("", line.text).strip(" .,-*") for line in head]
    usable = [3 <= len(name) <= 60 and not _NO_ISSUER.search(name) for name in names]
    first = 0
    while first < len(names):
        last = first
        if usable[first]:
            while last + 1 < len(names) and usable[last + 1] and _TAIL_OF_NAME.fullmatch(names[last + 1]):
                last += 1
            score = 0.85 if any(_LEGAL.search(name) for name in names[first : last + 1]) else 0.65
            value = " ".join(names[first : last + 1])
            yield Found(value=value, start=head[first].start, end=head[last].end, score=score - 0.04 * first)
        first = last + 1
