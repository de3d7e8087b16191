"""The items of a receipt or an invoice: what was bought, how many, at which price; over one line or two."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tablewright.corpus.annotate.lines import Cell, cell_at
from tablewright.corpus.annotate.receipts import Amount, Line, Slip
from tablewright.table.corpus import Property, Typed
from tablewright.table.typed import typed

CENT = 0.011

_HEAD_WORD = re.compile(
    r"\b(?:items?|desc(?:ription)?s?|qty|quantity|u/?p(?:rice)?|s/?price|unit price|price|amount|amt|total|product|"
    r"code|model|disc|tax|rm|menge|preis|artikel|bezeichnung|betrag|omschrijving|aantal|prijs)\b\.?",
    re.IGNORECASE,
)
_NO_ITEM = re.compile(
    r"\b(?:sub\W?\s?total|t[o0]ta[l1]|ttl|roundlng|round\w*|rnd|adj(?:ustment)?|cash|change|tender\w*|payment|paid|pay|"
    r"balance|due|gst|vat|sst|tax(?:able)?|visa|master(?:card)?|card|credit|debit|discounts?|disc|service|svr|srv|"
    r"nett?|saving\w*|deposit|points?|summary|amount|qty|quantity|item count|approval|btw|mwst|tva|netto|brutto|"
    r"gesamt\w*|summe|montant|prix)\b|^\W*\d{1,3}\s?%",
    re.IGNORECASE,
)
_END = re.compile(
    r"\bsub\W?\s?total|^\W*(?:grand |net |nett )?t[o0]ta[l1]\b|^\W*amt due\b|^\W*amount due\b|^\W*ttl\b", re.IGNORECASE
)
_WORDS = re.compile(r"[^\W\d_]{2,}")
_LETTER = re.compile(r"[^\W\d_]")
_UNITS_ONLY = re.compile(
    r"^(?:pcs?|units?|ea(?:ch)?|nos?|kg|pkt|ctn|btl|botol|bag|box|set|roll|peti|tin|sr|zr|zrl|srs?|x)$", re.IGNORECASE
)
_COUNT = re.compile(
    r"(?<![\w.,/@-])(\d{1,4}(?:\.\d{3})?)(?=\s|[xX*@]|$|\s?(?:PCS?|UNITS?|BAG|BOX|EA|KG|BOTOL|PETI|PKT)\b|"
    r"[A-Z]{2,6}\b)"
)
_STARRED = re.compile(r"[*xX]\s?(\d{1,4})(?![\d.,])")
_TAIL = re.compile(
    r"(?<![\s@*xX:=-])[\s@*xX:=-]*(?:\s{2,}\d{1,4}|(?<=[*xX])\d{1,4}|\b\d{1,4}\s?(?:pcs?|units?|x|\*|@))?[\s@*:=-]*$",
    re.IGNORECASE,
)
_LEADING_COUNT = re.compile(r"^(\d{1,3})(?:\s?[xX*])?\s+(?=\D)")
_CODE = re.compile(r"^(?=[\w-]*\d)[\w-]{4,}\s+|^\W+")


def items_of(slip: Slip, currency: str) -> list[tuple[Property, ...]]:
    """A row for each thing that is bought. Its name stands in the line of its amount, or above it, or below it."""
    region = _region(slip)
    is_above = bool(region) and not region[0].amounts
    rows: list[tuple[Property, ...]] = []
    name: Line | None = None
    number = 0
    while number < len(region):
        line, own, price = region[number], None, None
        following = region[number + 1] if number + 1 < len(region) else None
        number += 1
        if not line.amounts:
            name = line
            continue
        own = _own_name(line)
        if own and following is not None and following.amounts and _goes_on(line, following):
            line, price = following, line.amounts[-1]
            number += 1
        elif own is None and is_above and name is not None:
            own = Cell(text=name.text, start=name.start)
        elif own is None and following is not None and not following.amounts and _LETTER.search(following.text):
            own = Cell(text=following.text, start=following.start)
            number += 1
        name = None
        if own is not None:
            rows.append(_item(own, line, price, currency))
    return rows


def _region(slip: Slip) -> list[Line]:
    """The lines from the names of the columns, or from the first amount, to the first total."""
    end = next((n for n, line in enumerate(slip.lines) if line.amounts and _END.search(line.text)), len(slip.lines))
    first = next((n for n, line in enumerate(slip.lines[:end]) if _is_head(line)), None)
    if first is None:
        named = (n for n, line in enumerate(slip.lines) if line.amounts and not _NO_ITEM.search(line.label))
        first = next(named, len(slip.lines)) - 1
        if 0 < first < len(slip.lines) - 1 and _own_name(slip.lines[first + 1]) is None:
            first -= 1  # its name stands above it
    else:
        while first + 1 < len(slip.lines) and _is_head(slip.lines[first + 1]):
            first += 1
    region: list[Line] = []
    for line in slip.lines[first + 1 :]:
        if _END.search(line.text) and region:
            break
        if region and _TAX_HEAD.search(line.text):
            break
        if line.amounts and (_NO_ITEM.search(line.label) or not any(each.value > 0 for each in line.amounts)):
            continue
        region.append(line)
    return region


_TAX_HEAD = re.compile(r"\bsummary|\btaxable|^\W*(?:gst|vat|tax)\b|\bgst\b.*\bgst\b", re.IGNORECASE)


def _is_head(line: Line) -> bool:
    words = _HEAD_WORD.findall(line.text)
    if _TAX_HEAD.search(line.text):
        return False
    return (
        len(words) >= 2
        and not line.amounts
        and ":" not in line.text
        and 2 * sum(map(len, words)) >= len(line.text.replace(" ", ""))
    )


def _own_name(line: Line) -> Cell | None:
    """What the line itself says is bought: words before its amounts, without the count and the code."""
    text = _TAIL.sub("", line.text[: line.amounts[0].start - line.start])
    start = 0
    for pattern in (_LEADING_COUNT, _CODE):
        lead = pattern.match(text[start:])
        if lead and _WORDS.search(text, start + lead.end()):
            start += lead.end()
    name = cell_at(text, start, len(text)).moved(line.start)
    words = [word for word in _WORDS.findall(name.text) if not _UNITS_ONLY.match(word)]
    is_code = " " not in name.text and len(words) == 1 and any(character.isdecimal() for character in name.text)
    return name if words and not is_code else None


def _goes_on(line: Line, following: Line) -> bool:
    """Whether the line below gives the count and the sum of the price here: "SOAP @8.50" and "*2  17.00"."""
    if _own_name(following) is not None:
        return False
    price, total = line.amounts[-1].value, following.amounts[-1].value
    return any(abs(count * price - total) < CENT for count, _ in _counts(following))


def _item(name: Cell, line: Line, price: Amount | None, currency: str) -> tuple[Property, ...]:
    total = [amount for amount in line.amounts if amount.value > 0][-1]
    quantity: Property | None = None
    prices = [price] if price else [each for each in reversed(line.amounts) if each.start < total.start]
    for candidate in prices:
        for count, cell in _counts(line):
            if quantity is None and abs(count * candidate.value - total.value) < CENT:
                price, quantity = candidate, _count(count, cell)
    if quantity is None and (lead := _LEADING_COUNT.match(line.text)):
        quantity = _count(float(lead[1]), Cell(text=lead[1], start=line.start))
    if price is None and line.amounts[0].start < total.start:
        price = line.amounts[0]
    found = [Property(label="Description", value=Typed(raw=name.text), start=name.start, end=name.end)]
    if quantity is not None:
        found.append(quantity)
    if price is not None:
        found.append(money("Unit price", price, currency))
    found.append(money("Amount", total, currency))
    return tuple(found)


def _counts(line: Line) -> Iterator[tuple[float, Cell]]:
    for pattern in (_COUNT, _STARRED):
        for match in pattern.finditer(line.text):
            yield float(match[1]), Cell(text=match[1], start=line.start + match.start(1))


def _count(number: float, cell: Cell) -> Property:
    return Property(label="Quantity", value=Typed(raw=cell.text, number=number), start=cell.start, end=cell.end)


def money(label: str, amount: Amount, currency: str) -> Property:
    value = Typed(raw=amount.written, number=amount.value, currency=typed(amount.written).currency or currency)
    return Property(label=label, value=value, start=amount.start, end=amount.end)
