"""Receipts and invoices: who issued them, when, the total, their number, the address, and the currency."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import structs

from tablewright.corpus.annotate.items import items_of, money
from tablewright.corpus.annotate.receipts import Amount, Found, Line, Slip, dates, issuers, totals
from tablewright.table.corpus import Annotation, Property, Typed
from tablewright.table.currencies import CODES, currency_of, meanings_of
from tablewright.table.dates import read_dates
from tablewright.table.typed import dated

MOST_ITEMS = 200


def plain_slip(text: str) -> str:
    """The text, character for character, without the bars of tables."""
    return text.replace("|", " ")


def slip_annotations(text: str, slip: Slip, day_first: bool | None) -> Iterator[Annotation]:
    """What the slip says, which was read from `plain_slip(text)`; the values as the text itself writes them."""
    for each in _annotations(plain_slip(text), slip, day_first):
        own = (
            structs.replace(one, value=structs.replace(one.value, raw=text[one.start : one.end]))
            for one in each.properties
        )
        yield structs.replace(each, properties=tuple(own))


def _annotations(text: str, slip: Slip, day_first: bool | None) -> Iterator[Annotation]:
    currency = currency_in(text)
    facts = [_merchant(text, slip), _date(text, slip, day_first), _total(text, slip, currency)]
    facts += [_number(slip), _address(text, slip, facts[0]), currency]
    for fact in facts:
        if fact is not None:
            yield Annotation(shape="fact", properties=(fact,), start=fact.start, end=fact.end, by="slip")
    code = currency.value.currency if currency else ""
    for row in items_of(slip, code)[:MOST_ITEMS]:
        start, end = min(each.start for each in row), max(each.end for each in row)
        yield Annotation(shape="row", properties=row, start=start, end=end, by="slip", table=1)


# ── the facts ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _merchant(text: str, slip: Slip) -> Property | None:
    if own := _called_like_its_site(text, slip):
        return own
    best = max(issuers(slip), key=lambda answer: answer.score, default=None)
    if best is not None and _NO_MERCHANT.search(best.value):
        best = None
    for line in slip.lines[:2]:
        named = _LEGAL_NAME.match(line.text)
        if named and not line.amounts and (best is None or line.start < best.start):
            return Property(label="Merchant", value=Typed(raw=named[0]), start=line.start, end=line.start + named.end())
    if best is None:
        return None
    words = [re.escape(word) for word in _OPEN_BRACKET.sub("", best.value).split()]
    place = re.compile(r"\s+".join(words)).search(text, best.start, best.end)
    if place is None:  # a number stood at the end of its first line
        place = re.compile(r"\S[^\n]*\S").search(text, best.start, best.end)
    if place is None:
        return None
    start, end = place.span()
    if text[start:end].endswith("&"):
        below = re.compile(r"\s*[^\d\n]+").match(text, end)
        end = below.end() if below else end
    end = start + len(text[start:end].rstrip())
    return Property(label="Merchant", value=Typed(raw=text[start:end]), start=start, end=end)


_SITE = re.compile(r"(?:https?://(?:www\.)?|\bwww\.)(?P<name>[\w-]{5,40})\.[a-z]{2,}", re.IGNORECASE)


def _called_like_its_site(text: str, slip: Slip) -> Property | None:
    """ "Azure Interior" of an invoice that gives www.azure-interior.com."""
    sites = {_letters(site["name"]) for site in _SITE.finditer(text)}
    for line in slip.lines if sites else ():
        name = _LEGAL_FORM.sub("", line.text)
        if _letters(name) in sites and not _SITE.search(line.text) and "." not in name:
            return Property(label="Merchant", value=Typed(raw=line.text), start=line.start, end=line.end)
    return None


def _letters(name: str) -> str:
    return "".join(character for character in name.casefold() if character.isalnum())


_LEGAL_FORM = re.compile(
    r",?\s(?:sdn\.? ?bhd|bhd|ltd|limited|inc|llc|gmbh|ag|plc|pty ltd|b\.v|n\.v|sas|sarl|s\.a)\b\.?$", re.IGNORECASE
)
_LEGAL_NAME = re.compile(
    r"[^\W_][^:\n]{2,60}\b(?:sdn\.? ?bhd|bhd|s/b|ltd|limited|inc|llc|gmbh|plc|pty ltd)\b\.?(?=\s*(?:$|[(\d]))",
    re.IGNORECASE,
)
_OPEN_BRACKET = re.compile(r"\s*\([^()]{0,6}$")
_NO_MERCHANT = re.compile(r"\b(?:invoices?|bills?|receipts?|details|check ?(?:in|out))\b", re.IGNORECASE)
_OWN_DATE = re.compile(
    r"\b(?:(?:invoice|bill|receipt|transaction)\s?date|(?:factuur|rechnungs?)[\s-]?datum|data fattura)\b"
    r"|\bfacture\s+n°\s?\S+\s+du\b|\bdate de (?:la )?factur",
    re.IGNORECASE,
)
_DEADLINE = re.compile(
    r"\b(?:due|date limite|échéance|pay(?:ment|able)? (?:by|before)|fällig|zahlungsziel|verval|scadenza|vencimiento)",
    re.IGNORECASE,
)


def _date(text: str, slip: Slip, day_first: bool | None) -> Property | None:
    found = dates(slip)
    best = max(found, key=lambda each: _date_worth(text[each.start : each.end], each.score), default=None)
    start = text.find(best.value, best.start, best.end) if best else -1
    date = next(iter(read_dates(best.value)), None) if best else None
    if best is None or date is None or start < 0:
        return None
    value = dated(best.value, date, day_first)
    return Property(label="Date", value=value, start=start, end=start + len(best.value))


def _date_worth(line: str, score: float) -> tuple[bool, bool, float]:
    return bool(_OWN_DATE.search(line)), not _DEADLINE.search(line), score


def _total(text: str, slip: Slip, currency: Property | None) -> Property | None:
    found = sorted(totals(slip), key=lambda answer: -answer.score)
    amounts = [amount for line in slip.lines for amount in line.amounts]
    named = [_amount_in(each, amounts) for each in found]
    labelled = [amount for amount in named if amount is not None]
    if not labelled or named[0] is None:
        return None
    best = labelled[0]
    if _NET.search(text, found[0].start, found[0].end):
        taxes = [line for line in slip.lines if _TAX.search(line.label) and not _NO_TAX.search(line.label)]
        stated = {round(amount.value, 2) for line in taxes for amount in line.amounts if amount.value > 0}
        taxed = (each for each in labelled if each.value > best.value and round(each.value - best.value, 2) in stated)
        best = next(taxed, best)
    return money("Total", best, currency.value.currency if currency else "")


_TAX = re.compile(r"\b(?:vat|tax|gst|sst|mwst|ust|tva|btw|iva)\b", re.IGNORECASE)
_NO_TAX = re.compile(r"\b(?:total|nett?|exclu\w*|inclu\w*|change|cash)\b", re.IGNORECASE)
_NET = re.compile(r"\bnett?\b", re.IGNORECASE)
"""On a till the last word; on an invoice with a tax below it, what stands before the tax."""


def _amount_in(answer: Found, amounts: Sequence[Amount]) -> Amount | None:
    inside = [each for each in amounts if answer.start <= each.start < answer.end and each.written == answer.value]
    return inside[-1] if inside else None


# The surest first.
_NUMBERS = tuple(
    re.compile(rf"\b{label}(?![^\W\d_])[\s:.#]*(?P<value>(?=[\w/#.-]*\d)[\w#][\w/.#-]{{2,}})", re.IGNORECASE)
    for label in (
        r"(?:tax\s+)?(?:invoice|inv|rechnungs?|facture|factura|fattura|factuur)[\s.-]*(?:no|number|num|nummer|"
        r"nr|n°|nº|#|id|(?=:|\s[A-Z/]*\d))",
        r"(?:receipt|rcpt|bon)\s*(?:no|number|nr|#|id)",
        r"(?:cash\s+)?bill\s*(?:no\b|number|nr|#|:)",
        r"(?:booking|reservation)\s*(?:no\b|number|nr|#|id\b)",
        r"(?:doc(?:ument)?|slip|ref(?:erence)?|order|trans(?:action)?|trn|chk|check)\s*(?:no\b|number|nr|#|id\b|:)?",
    )
)


def _number(slip: Slip) -> Property | None:
    """The invoice's own number, else that of the receipt, the bill, the document."""
    for pattern in _NUMBERS:
        for number, line in enumerate(slip.lines):
            for text, start in _with_next(slip, number, line):
                if match := pattern.search(text):
                    place, written = start + match.start("value"), match["value"].rstrip(".-/")
                    value = Typed(raw=written)
                    return Property(label="Invoice number", value=value, start=place, end=place + len(written))
    return None


def _with_next(slip: Slip, number: int, line: Line) -> Iterator[tuple[str, int]]:
    yield line.text, line.start
    if number + 1 < len(slip.lines):
        below = slip.lines[number + 1]
        if re.search(r"(?:no|number|#|nummer)\.?\s*:?$", line.text, re.IGNORECASE) and below.start == line.end + 1:
            yield f"{line.text} {below.text}", line.start


_NOT_ADDRESS = re.compile(
    r"\b(?:tel|fax|phone|hp|gst|vat|tax|sst|invoice|receipt|date|cashier|email|e-mail|www|http\w*|reg|co\.? ?no|roc|"
    r"table|counter|bill|order|doc|customer|operator|cash|welcome|company|member|siret|iban|due)\b|@|\bno\W{0,3}\d{6,}",
    re.IGNORECASE,
)
_COMPANY_NUMBER = re.compile(r"^\W*[A-Z]{0,4}-?\d{4,}[-\s]?[A-Z]?\W*$", re.IGNORECASE)
_STREET = re.compile(
    r"\d|\b(?:jalan|jln|lot|taman|lorong|street|st|road|rd|avenue|ave|floor|block|bandar|plaza|mall|rue|straße|str|weg|"
    r"lane|drive|square|johor|selangor|kuala lumpur)\b",
    re.IGNORECASE,
)
_STREET_BEGINS = re.compile(
    r"^\W*(?:\d|(?:no|lot|unit|block|blk|hq|level|suite|ground|kampung|batu)\b)|(?:[^\d:]{2,}|^)"
    r"\b(?:jalan|jln|taman|lorong|street|st|road|rd|avenue|ave|floor|plaza|mall|rue|straße|str|weg|lane|drive|"
    r"square|\d{5})\b",
    re.IGNORECASE,
)
_POSTCODE = re.compile(
    r"\b\d{5}\b,?\s+[A-Z]|\b[A-Z]{2}\s+\d{5}\b|\b\d{4}\s?[A-Z]{2}\b|\b[A-Z]{1,2}\d{1,2}\s\d[A-Z]{2}\b"
)
_MOST_ADDRESS_LINES = 6


def _address(text: str, slip: Slip, merchant: Property | None) -> Property | None:
    """The lines under the name, until the telephone or the tax number; else a block with a postcode elsewhere."""
    under = [line for line in slip.lines if merchant and line.start > merchant.start and line.start >= merchant.end]
    block = _block(under)
    if not block or not any(_STREET.search(line.text) for line in block):
        block = _around_postcode(slip.lines)
    if not block:
        return None
    start, end = block[0].start, block[-1].end
    return Property(label="Address", value=Typed(raw=text[start:end]), start=start, end=end)


def _block(lines: Sequence[Line]) -> list[Line]:
    block: list[Line] = []
    for line in lines[: _MOST_ADDRESS_LINES + 3]:
        is_other = bool(_NOT_ADDRESS.search(line.text) or _COMPANY_NUMBER.match(line.text))
        if not block and (is_other or not _STREET_BEGINS.search(line.text)):
            continue
        if is_other or len(block) == _MOST_ADDRESS_LINES or (line.amounts and not _POSTCODE.search(line.text)):
            break
        block.append(line)
    return block


def _around_postcode(lines: Sequence[Line]) -> list[Line]:
    for number, line in enumerate(lines):
        if _POSTCODE.search(line.text) and not line.amounts and not _NOT_ADDRESS.search(line.text):
            first = number
            while first and number - first < 3 and _is_address_line(lines[first - 1]):
                first -= 1
            return list(lines[first : number + 1])
    return []


def _is_address_line(line: Line) -> bool:
    return bool(_STREET.search(line.text)) and not line.amounts and not _NOT_ADDRESS.search(line.text)


_MARK = re.compile(
    r"(?<![A-Za-z])(?:RM|MYR|USD|EUR|GBP|SGD|AUD|CAD|INR|CHF|US\$|S\$|Rs|[$€£₹¥])(?![A-Za-z])", re.IGNORECASE
)


_NAMED = re.compile(
    rf"\b(?:totals?|amount|due|balance|sum|currency|prices)\b[\s:(]{{1,4}}(?:due|in|amount)?[\s:(]{{0,3}}"
    rf"(?P<code>{'|'.join(sorted(CODES))})\b",
    re.IGNORECASE,
)
"""A code beside what it is the currency of: elsewhere PEN and ALL are words."""


def currency_in(text: str) -> Property | None:
    """What the total or the slip itself names; else the mark that stands most often, at its first place."""
    if named := _NAMED.search(text):
        value = Typed(raw=named["code"], currency=currency_of(named["code"]))
        return Property(label="Currency", value=value, start=named.start("code"), end=named.end("code"))
    marks = Counter(mark[0].upper() for mark in _MARK.finditer(text))
    if not marks:
        return None
    mark = marks.most_common(1)[0][0]
    first = next(each for each in _MARK.finditer(text) if each[0].upper() == mark)
    code = currency_of(mark) or currency_of(first[0])
    others = meanings_of(first[0])
    doubt = f"{first[0]} may be {', '.join(others[:3])}" if len(others) > 1 and not _at_home(code, text) else ""
    value = Typed(raw=first[0], currency=code, ambiguity=doubt)
    return Property(label="Currency", value=value, start=first.start(), end=first.end()) if code else None


_HOME = {
    "USD": re.compile(r"\bUS dollars?\b|\bUnited States\b|\bUSA\b|, US\b|\b[A-Z]{2},? \d{5}(?:-\d{4})?\b"),
    "GBP": re.compile(r"\bUnited Kingdom\b|\bEngland\b|\bUK\b|\b[A-Z]{1,2}\d{1,2}[A-Z]? \d[A-Z]{2}\b"),
    "INR": re.compile(r"\bIndia\b|\bGSTIN\b|\bPvt\b|\bMumbai\b|\bDelhi\b|\bBangalore\b|\bChennai\b"),
    "JPY": re.compile(r"\bJapan\b|\bTokyo\b|[円税]"),
}


def _at_home(code: str, text: str) -> bool:
    """Whether the text speaks of the country where the sign means this currency."""
    return code in _HOME and _HOME[code].search(text) is not None
