"""What an invoice says of taxes: the amount before them, and the number under which its issuer pays them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from tablewright.corpus.annotate.lines import Line
from tablewright.table.corpus import Annotation, Property, Typed

AMOUNT = re.compile(
    r"(?<![\d.,/-])\d{1,3}(?:[.,' ]\d{3})*[.,]\d{2}(?![\d.,]\d|\d|\s?%)|(?<![\d.,/-])\d+[.,]\d{2}(?![\d.,%])"
)
CENT = 0.006


def amount_of(written: str) -> float:
    return float(re.sub(r"\D", "", written[:-3]) + "." + written[-2:])


# ── the amount before taxes ──────────────────────────────────────────────────────────────────────────────────────────

_TAX = r"(?:vat|tax(?:es)?|gst|btw|tva|mwst|ust|iva|moms)"
_NET = re.compile(
    rf"\b(?:total|montant)(?: total)?(?: eur)? (?:ht|h\.t\.)(?!\w)|\bhors (?:taxes?|tva)\b"
    rf"|\b(?:exclusief|excl\.?|excluding|exclusive of|before|without|ohne|zzgl\.?|hors|sin|senza|ex\.?) ?{_TAX}\b"
    r"|\bnetto(?:betrag|summe|bedrag)?\b|\bnet (?:amount|total|value)\b|\btaxable (?:amount|value)\b|\bgrondslag\b"
    r"|\bbase imponible\b|\bimponibile\b",
    re.IGNORECASE,
)
_SUBTOTAL = re.compile(r"\bsub[\s-]?tota+l\b|\bzwischensumme\b|\bsous[\s-]?total\b|\bsubtotale\b", re.IGNORECASE)
_TOTAL = re.compile(r"\b(?:total|totaal|totale|summe|gesamt)\b", re.IGNORECASE)
_TAX_LINE = re.compile(rf"^\W*(?:\w+ )?{_TAX}\b(?! (?:number|no|id|nr|nummer)\b)", re.IGNORECASE)
_DAYS = re.compile(r"\b(?:days?|tage|jours|dagen)\b", re.IGNORECASE)


def net_amount(lines: Sequence[Line], known: Sequence[Annotation], total: Property) -> Property | None:
    """The surest amount that is called so; the sums must not speak against it. Without any tax it is the total."""
    whole = total.value.number
    if whole is None:
        return None
    amounts = {round(amount_of(each[0]), 2) for line in lines for each in AMOUNT.finditer(line.text)}
    best: tuple[bool, int, int] | None = None
    chosen: tuple[int, str] | None = None
    for plainly, start, written in (*_named(lines), *_added(lines, whole), *_in_columns(known)):
        value = amount_of(written)
        if value > whole + CENT:
            continue
        tax = round(whole - value, 2)
        worth = (tax in amounts and tax < value, plainly, start)
        if (tax > CENT or plainly > 1) and (best is None or worth > best):
            best, chosen = worth, (start, written)
    if chosen is None and _is_untaxed(lines):
        chosen = total.start, total.value.raw
    if chosen is None:
        return None
    start, written = chosen
    number = whole if start == total.start else amount_of(written)
    value_read = Typed(raw=written, number=number, currency=total.value.currency)
    return Property(label="Net amount", value=value_read, start=start, end=start + len(written))


def _named(lines: Sequence[Line]) -> Iterator[tuple[int, int, str]]:
    """The first amount behind the words."""
    for line in lines:
        if _DAYS.search(line.text):
            continue
        for plainly, pattern in ((2, _NET), (1, _SUBTOTAL)):
            for label in pattern.finditer(line.text):
                amount = AMOUNT.search(line.text, label.end())
                if amount and not re.search(r"[^\W\d_]{4,}", line.text[label.end() : amount.start()]):
                    yield plainly, line.start + amount.start(), amount[0]


def _added(lines: Sequence[Line], total: float) -> Iterator[tuple[int, int, str]]:
    """ "Total 24.99 5.00 29.99": what is left without the tax stands before it."""
    for line in lines:
        found = list(AMOUNT.finditer(line.text))
        for (net, tax), (_, whole) in pairwise(pairwise(found)):
            values = [amount_of(each[0]) for each in (net, tax, whole)]
            if (
                abs(values[0] + values[1] - values[2]) < CENT
                and abs(values[2] - total) < CENT
                and values[1] < values[0]
            ):
                yield 2, line.start + net.start(), net[0]


def _in_columns(known: Sequence[Annotation]) -> Iterator[tuple[int, int, str]]:
    """The sum of a column that is called so."""
    for row in (each for each in known if each.shape == "row"):
        if any(_TOTAL.search(each.value.raw) for each in row.properties):
            for each in row.properties:
                amount = AMOUNT.search(each.value.raw)
                if amount and _NET.search(each.label):
                    yield 2, each.start + amount.start(), amount[0]


def _is_untaxed(lines: Sequence[Line]) -> bool:
    taxes = [
        amount_of(amount[0])
        for line in lines
        if (label := _TAX_LINE.match(line.text)) and (amount := AMOUNT.search(line.text, label.end()))
    ]
    return bool(taxes) and not any(taxes)


def tax_amount(lines: Sequence[Line], net: Property, total: Property) -> Property | None:
    """What is between the two, where a line gives it; best one that speaks of taxes."""
    if net.value.number is None or total.value.number is None or net.start == total.start:
        return None
    tax = total.value.number - net.value.number
    for line in sorted(lines, key=lambda line: _TAX_LINE.match(line.text) is None):
        for amount in AMOUNT.finditer(line.text):
            if tax > CENT and abs(amount_of(amount[0]) - tax) < CENT:
                value = Typed(raw=amount[0], number=round(tax, 2), currency=total.value.currency)
                start = line.start + amount.start()
                return Property(label="Tax amount", value=value, start=start, end=start + len(amount[0]))
    return None


# ── the number of the issuer ─────────────────────────────────────────────────────────────────────────────────────────

_LABEL = r"\b(?:btw|ust[\s.-]?id\w*|ust|umsatzsteuer\S*|tva|vat|iva|moms|mwst|gst)\b"
_EUROPEAN = re.compile(
    rf"{_LABEL}[^\n|]{{0,40}}?(?P<value>(?-i:\b[A-Z]{{2}}[ .-]?[0-9A-Z]{{0,2}}?(?:[ .]?\d){{7,12}}"
    r"(?:[ .]?B\d{2}|[A-Z]{1,2})?)(?!\w|[ .]\d))",
    re.IGNORECASE,
)
_INDIAN = re.compile(r"\b(?P<value>\d{2}[A-Z]{5}\d{4}[A-Z]\d[A-Z\d]{2})\b")
_PLAIN = re.compile(
    r"\b(?:vat|gst|tax)(?:\s*/\s*tin|\s*(?:reg(?:istration|n)?\.?)?\s*(?:id|no|nr|number|#))[.:\s#]*"
    r"(?P<value>(?=[A-Z]{0,4}(?:[ -]?\d){6})[\dA-Z](?:[ -]?[\dA-Z]){6,15})",
    re.IGNORECASE,
)
_YOURS = re.compile(r"\b(?:uw|your|ihre?|votre|su|customer'?s?|client|kunden?|klant)\b", re.IGNORECASE)


def tax_number(text: str) -> Property | None:
    """Not that of the customer."""
    for pattern in (_EUROPEAN, _INDIAN, _PLAIN):
        for found in pattern.finditer(text):
            line = text[text.rfind("\n", 0, found.start()) + 1 : found.start("value")]
            if not _YOURS.search(line):
                value = Typed(raw=found["value"])
                return Property(label="VAT number", value=value, start=found.start("value"), end=found.end("value"))
    return None


_IBAN = re.compile(r"\bIBAN\b[\s:.|]{0,5}(?P<value>[A-Z]{2}\d{2}(?: ?[A-Z\d]{4}){2,7}(?: ?[A-Z\d]{1,3})?)(?!\w)")


def iban(text: str) -> Property | None:
    found = _IBAN.search(text)
    if found is None:
        return None
    return Property(label="IBAN", value=Typed(raw=found["value"]), start=found.start("value"), end=found.end("value"))
