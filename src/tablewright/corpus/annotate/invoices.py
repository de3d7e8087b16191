"""Invoices in the languages and layouts that the reader of slips does not know: what it left open is filled here."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise

from tablewright.corpus.annotate.lines import Line, cell_at, lines_in
from tablewright.corpus.annotate.receipts import LONGEST
from tablewright.corpus.annotate.taxes import AMOUNT, amount_of, iban, net_amount, tax_amount, tax_number
from tablewright.table.corpus import Annotation, Property, Typed
from tablewright.table.dates import read_dates
from tablewright.table.typed import dated, typed

LONGEST_PASSAGE = 160

_INVOICE = re.compile(r"\b(?:invoice|rechnung\w*|facture|factura|fattura|factuur\w*)\b", re.IGNORECASE)


def is_invoice(text: str) -> bool:
    """Whether it calls itself one near its beginning, and gives amounts."""
    return len(text) <= LONGEST and bool(
        _INVOICE.search(text, 0, 2_000) and (AMOUNT.search(text) or _WHOLE.search(text))
    )


def invoice_facts(
    text: str, known: Iterable[Annotation], day_first: bool | None, currency: str
) -> Iterator[Annotation]:
    """The facts that `known` lacks, under the labels of slips."""
    known = list(known)
    labels = {each.properties[0].label for each in known if each.by == "slip" and each.shape == "fact"}
    lines = [line for line in lines_in(text, 0, len(text)) if line.text]
    stated = [each for annotation in known if annotation.by == "slip" for each in annotation.properties]
    total = next((each for each in stated if each.label == "Total"), None) or _total(lines, currency)
    net = net_amount(lines, known, total) if total else None
    facts = (
        total if "Total" not in labels else None,
        net,
        tax_amount(lines, net, total) if net and total else None,
        tax_number(text) if total else None,
        iban(text) if total else None,
        _date(lines, known, day_first) if "Date" not in labels else None,
        _number(lines, known) if "Invoice number" not in labels else None,
        _merchant(text, lines, known) if "Merchant" not in labels else None,
    )
    for fact in facts:
        if fact is not None:
            start, end = _passage(text, fact)
            yield Annotation(shape="fact", properties=(fact,), start=start, end=end, by="slip")


def _passage(text: str, fact: Property) -> tuple[int, int]:
    """The line that says it, which tells more than the value alone; of a long one, the value."""
    start = text.rfind("\n", 0, fact.start) + 1
    end = text.find("\n", fact.end)
    line = cell_at(text, start, end if end >= 0 else len(text))
    return (line.start, line.end) if len(line.text) <= LONGEST_PASSAGE else (fact.start, fact.end)


_WHOLE = re.compile(r"(?:\bRs\.?|\bINR|\bEUR|\bUSD|[€$£₹])\s?\d", re.IGNORECASE)
_TOTAL = re.compile(
    r"\b(?P<final>total\s+ttc|grand total|gesamtbetrag|rechnungsbetrag|endbetrag|zu zahlen\w*|(?:à|a) payer|te betalen|"
    r"factuur\s?totaal|total facture|(?:amount|balance|total) due|invoice total)\b"
    r"|\b(?:total|totaal|totale|summe|gesamt|importe total)\b",
    re.IGNORECASE,
)
_NO_TOTAL = re.compile(
    r"\bsub|\b(?:ht|excl\w*|exclusief|netto|net|ohne|tva|btw|mwst|ust|vat|tax|iva|zwischensumme|hors)\b", re.IGNORECASE
)


def _total(lines: list[Line], currency: str) -> Property | None:
    """The largest amount behind the surest words for what is to be paid."""
    best: tuple[bool, float, Property] | None = None
    for line in lines:
        named = _TOTAL.search(line.text)
        if named is None or (_NO_TOTAL.search(line.text, 0, named.end() + 4) and not named["final"]):
            continue
        for amount in AMOUNT.finditer(line.text, named.end()):
            value = amount_of(amount[0])
            start = line.start + amount.start()
            read = Typed(raw=amount[0], number=value, currency=currency)
            found = Property(label="Total", value=read, start=start, end=start + len(amount[0]))
            if best is None or (bool(named["final"]), value) > best[:2]:
                best = bool(named["final"]), value, found
    return best[2] if best else None


_DATE_LABEL = re.compile(
    r"(?:invoice|factuur|rechnungs?|bill|issue)\s?-?(?:date|datum)|\bdate (?:de|of) (?:la )?(?:facturation|"
    r"facture|issue|invoice)"
    r"|\bfacture n°\s?\S+ du\b|\bfecha\b|\bdata fattura\b|\bdate\b(?!\s*(?:limite|d'éch))|\bdatum\b",
    re.IGNORECASE,
)
_OTHER_DATE = re.compile(
    r"\b(?:due|order|orderdatum|verval\w*|delivery|liefer\w*|limite|échéance|ship\w*|check)", re.IGNORECASE
)


def _date(lines: list[Line], known: list[Annotation], day_first: bool | None) -> Property | None:
    for each in (each for annotation in known for each in annotation.properties):
        if each.value.date and _DATE_LABEL.search(each.label) and not _OTHER_DATE.search(each.label):
            return Property(label="Date", value=each.value, start=each.start, end=each.end)
    for line in lines:
        label = _DATE_LABEL.search(line.text)
        if label is None or _OTHER_DATE.search(line.text, 0, label.end()):
            continue
        written = next((date for date in read_dates(line.text[label.end() :]) if len(date.iso) == 10), None)
        if written:
            start, end = line.start + label.end() + written.start, line.start + label.end() + written.end
            raw = line.text[start - line.start : end - line.start]
            return Property(label="Date", value=dated(raw, written, day_first), start=start, end=end)
    return None


_NUMBER_LABEL = re.compile(
    r"(?:invoice|factuur|rechnungs?|facture|factura|fattura|bill)[\s.-]*(?:no|nr|number|nummer|num|n°|nº|#|id)\b\.?"
    r"|\bfacture\s+n°|^(?:invoice|factuur|facture|rechnung)$|\bbooking id\b",
    re.IGNORECASE,
)
_NUMBER_IN_LINE = re.compile(
    r"(?:\b(?:invoice|factuur|rechnungs?|facture)\s*(?:no|nr|number|nummer|n°|nº|#)?|\bbooking id|^#)[\s.:#|]*"
    r"(?P<value>(?=[\w/-]*\d)[A-Z\d][\w/-]{3,})",
    re.IGNORECASE,
)


def _number(lines: list[Line], known: list[Annotation]) -> Property | None:
    for each in (each for annotation in known for each in annotation.properties):
        has_digit = any(character.isdecimal() for character in each.value.raw)
        if _NUMBER_LABEL.search(each.label) and has_digit and not each.value.date and " " not in each.value.raw:
            value = Typed(raw=each.value.raw)
            return Property(label="Invoice number", value=value, start=each.start, end=each.end)
    for line in lines:
        if (match := _NUMBER_IN_LINE.search(line.text)) and not typed(match["value"]).date:
            start = line.start + match.start("value")
            value = Typed(raw=match["value"])
            return Property(label="Invoice number", value=value, start=start, end=start + len(value.raw))
    return None


_COMPANY = re.compile(
    r"(?:[A-Z][\w&'-]*|e-[A-Z]\w+)(?: (?:[A-Z&][\w&'-]*|de|of|and|und|et)){0,4},? "
    r"(?:B\.V\.|N\.V\.|GmbH|AG|SAS|SARL|S\.A\.(?:S\.)?|S\.r\.l\.|Ltd\.?|Limited|Inc\.?|LLC|PLC|Corp\.?|"
    r"Pvt\. Ltd\.?)(?!\w)"
)
_TO = re.compile(
    r"(?:bill(?:ed)?|ship|sold|invoice|deliver\w*)\s*to\b|\battn\b|\bcustomer\b|\bt\.a\.v\b|addres|adres", re.IGNORECASE
)
_BEFORE_NAME = 60


_SELLER = re.compile(
    r"^(?:sold by|seller|supplier|vendor|merchant|issued by|from|company|verkäufer|vendeur)$", re.IGNORECASE
)


_SEAT = re.compile(
    r"(?:siège social|(?:registered|regd\.?) office|sitz der gesellschaft|sede (?:legale|social)|statutaire zetel)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"[^\W\d_][^\d|:;@]{2,50}")


def _merchant(text: str, lines: list[Line], known: list[Annotation]) -> Property | None:
    """Who is called the seller, else whose seat is given, else the company that is named most often, but not as the
    one it is sent to."""
    for each in (each for annotation in known for each in annotation.properties):
        if _SELLER.match(each.label) and each.value.number is None:
            raw = each.value.raw.rstrip(" ,;")
            return Property(label="Merchant", value=Typed(raw=raw), start=each.start, end=each.start + len(raw))
    for above, line in pairwise(lines):
        if _SEAT.match(line.text) and _NAME.fullmatch(above.text):
            return Property(label="Merchant", value=Typed(raw=above.text), start=above.start, end=above.end)
    named = [
        match
        for match in _COMPANY.finditer(text)
        if not _TO.search(text, max(0, match.start() - _BEFORE_NAME), match.start())
    ]
    if not named:
        return None
    counts = Counter(match[0] for match in named)
    first = max(named, key=lambda match: (counts[match[0]], -match.start()))
    return Property(label="Merchant", value=Typed(raw=first[0]), start=first.start(), end=first.end())
