"""What somebody wants to spend: "under £50", "£30-50", "max 40 quid", "my budget is 1.5k", "money is no object"."""

from __future__ import annotations

import re

from tablewright.table.model import Noun
from tablewright.table.money_text import MoneyText, read_amounts
from tablewright.table.shortlist import PriceRange

STRUCK = "|"
"""Stands where something was read already: nothing is read across it."""


class Spending(Noun, frozen=True):
    """`text` is the message without the words that said it. `is_open`: every price is fine, it says."""

    text: str
    budget: PriceRange | None = None
    is_open: bool = False


def read_spending(text: str, *, is_asked: bool = False, currency: str = "") -> Spending:
    """`is_asked`: the message answers a question about the budget, so that a bare number is one."""
    text = _GRAND.sub(lambda found: f"{_FEW.get(found['number'].casefold(), found['number'])}k", text)
    if found := _OPEN.search(text):
        return Spending(text=_without(text, found.start(), found.end()), is_open=True)
    most: float | None = None
    least: float | None = None
    for amount in reversed(read_amounts(text, currency)):
        if not _is_spending(text, amount, is_asked=is_asked):
            continue
        before, after = _before(text, amount), _AFTER.match(text, amount.end)
        if amount.high is not None:
            least, most = float(amount.money.amount), float(amount.high)
        elif _is_floor(text, before, amount, after):
            least = float(amount.money.amount)
        else:
            most = float(amount.money.amount)
        currency = amount.money.currency or currency
        text = _without(text, before, after.end() if after else amount.end)
    if most is None and least is None:
        return Spending(text=text)
    if most is not None and least is not None and least >= most:
        least = None
    return Spending(text=text, budget=PriceRange(most=most, least=least, currency=currency))


def _is_spending(text: str, amount: MoneyText, *, is_asked: bool) -> bool:
    is_less = bool(re.search(r"\bby\s*$", text[: amount.start]))  # "lower it by £10" is no amount to spend
    is_code = bool(_ONE_LETTER.fullmatch(text[amount.start : amount.end]))
    if amount.money.amount <= 0 or is_less or is_code or _is_weight(text, amount):
        return False
    if amount.money.currency:
        return True
    said = text[_before(text, amount) : amount.start]
    figure = text[amount.start : amount.end]
    alone = bool(_ENDS.match(text, amount.end))
    if (_MONEY_WORD.search(said) and alone) or _MONEY_AFTER.match(text, amount.end):
        return True
    if _is_year(amount) and not is_asked:
        return False
    return alone and (is_asked or bool(_LIMIT.search(said))) and bool(re.fullmatch(r"[\w.,\s–-]+", figure))


def _is_weight(text: str, amount: MoneyText) -> bool:
    """ "Weighs under 5 pounds", in the same clause."""
    before = re.split(r"[,;|]", text[max(0, amount.start - 25) : amount.start])[-1]
    after = re.split(r"[,;|.]", text[amount.end : amount.end + 12])[0]
    return amount.money.currency == "GBP" and bool(_WEIGHT.search(f"{before} {after}"))


def _is_year(amount: MoneyText) -> bool:
    return isinstance(amount.money.amount, int) and 1900 <= amount.money.amount <= 2100


def _is_floor(text: str, before: int, amount: MoneyText, after: re.Match[str] | None) -> bool:
    said = text[before : amount.start]
    negated = _NEGATED.search(text[max(0, before - 30) : amount.start])
    if _FLOOR.search(said):
        return not negated
    if _NO_LESS.search(text[max(0, before - 30) : amount.start]):
        return True
    return bool(after and _UPWARDS.search(after[0]))


def _before(text: str, amount: MoneyText) -> int:
    """Where the small words start that say what the amount is: "my budget is at most"."""
    start = amount.start
    while (word := _LAST_WORD.search(text, 0, start)) and word["word"].casefold() in _SMALL:
        start = word.start("word")
    return start


def _without(text: str, start: int, end: int) -> str:
    return f"{text[:start]} {STRUCK} {text[end:]}"


_GRAND = re.compile(r"(?P<number>\d+(?:\.\d+)?|one|two|three|four|five|ten)\s*(?:grand|thousand)\b", re.IGNORECASE)
_FEW = {"one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "ten": "10"}
_OPEN = re.compile(
    r"\b(?:(?:i have |there is |there's |with )?no (?:budget|price|spending|upper)(?: limits?| constraints?|"
    r" in mind)*(?! (?:brand|model|one|option|phone|line)s?\b)|"
    r"(?:money|price|budget|cost)(?:'s| is| are)? (?:no object|no issue|not an issue|not a problem|open|flexible|"
    r"irrelevant)|"
    r"(?:the )?(?:budget|price|cost|money) (?:does ?n[o']t|doesn't|does not) (?:really )?matter|any (?:price|budget)|"
    r"(?:i )?(?:do ?n[o']t|don't|do not) (?:care|mind) (?:about )?(?:the |what it )?(?:price|cost|costs|budget)|"
    r"(?:drop|remove|forget|ignore|scrap|lift) (?:the |my )?(?:budget|price limit|price cap)(?: limit|"
    r" cap)?)\b(?! to\b)",
    re.IGNORECASE,
)
_SMALL = frozenset(
    """with on my our the a an total max maximum min minimum budget budget's price prices cost costs costing priced
    range limit limited is was be now of to spend spending pay can could i i'd i'll we we'd am i'm like want would
    willing limit's around about roughly approximately approx circa ca some up under below less than more most
    least at over above beyond exceeding from between for no not nothing only just maybe perhaps say it it's its
    should must that which keep within cap capped sub starting upwards max. anything don't do cannot can't exceed
    also have has got i've hoping preferably ideally somewhere in region looking near nearer cheaper make set go
    going = change raise lower increase reduce update bump adjust cut push drop""".split()
)
_LAST_WORD = re.compile(r"(?P<word>[\w'’.=]+)[\s:]*$")
_AFTER = re.compile(
    r"\s*(?:max(?:imum)?|tops|at (?:the )?(?:very )?most|or (?:less|under|below|cheaper|more|over|above|so)|"
    r"and (?:up|above|over)|at least|minimum|budget|limit|ish|is (?:my|the) (?:max(?:imum)?|limit|budget)|"
    r"(?:in )?total|each|\+)(?!\w)|-?ish\b",
    re.IGNORECASE,
)
_FLOOR = re.compile(r"\b(?:at least|min(?:imum)?|more than|over|above|from|starting|upwards|beyond)\b", re.IGNORECASE)
_NEGATED = re.compile(
    r"\b(?:no|not|nothing|n't|don't|cannot|can't|won't|never|wouldn't)\b[\w\s']{0,25}\b(?:more|over|above|beyond|"
    r"exceed)",
    re.IGNORECASE,
)
_NO_LESS = re.compile(r"\b(?:no|not|nothing) (?:less|under|below|cheaper)\b", re.IGNORECASE)
_UPWARDS = re.compile(r"more|over|above|up|at least|minimum|\+", re.IGNORECASE)
_MONEY_WORD = re.compile(r"\b(?:budget|spend|spending|pay|cost|costs|costing|price|priced|cheaper)\b", re.IGNORECASE)
_MONEY_AFTER = re.compile(r"\s*(?:(?:is (?:my|the) )?(?:budget|limit)|tops|max)\b", re.IGNORECASE)
_LIMIT = re.compile(
    r"\b(?:under|below|less than|up to|at most|max(?:imum)?|no more than|not more than|within|around|about|"
    r"between|over|at least)\b",
    re.IGNORECASE,
)
_ENDS = re.compile(
    r"\s*(?:$|[,;!?|]|\.(?!\d)|(?:max|tops|or less|or so|please|for|with|without|and|but|that|which|if|ideally)\b)"
)
_ONE_LETTER = re.compile(r"[\d.,\s]+[A-JL-Z]")
"""A tyre's "55 R16" is not in rand."""
_WEIGHT = re.compile(r"\b(?:weigh(?:s|ing|t)?|heav(?:y|ier)|lighter|load)\b", re.IGNORECASE)
