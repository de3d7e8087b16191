"""Which values follow from a quote, and by which rule; and which sources are independent.

The rules are the same for a model's answer and for the built-in reader. They fail closed: a value that they cannot see
in the quote does not follow from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from tablewright.citations.figures import find_quantity, sizes_of
from tablewright.domain.model import Basis, Field, Money, Value
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.rowkey import fold, split_words, tokenize
from tablewright.domain.text import show
from tablewright.values.choices import NEGATIONS, exact_option, plain_boolean
from tablewright.values.coerce import coerce
from tablewright.values.countries import COUNTRY_OF, PEOPLE
from tablewright.values.currencies import CODES, meanings_of
from tablewright.values.dates import find_possible_dates, read_dates
from tablewright.values.measures import Measure, as_precise_as, in_unit, read_measures
from tablewright.values.money import read_amounts
from tablewright.values.numbers import OTHER_LANGUAGES, read_numbers, with_fractions
from tablewright.values.same_value import same_value
from tablewright.values.units import parse_unit, unit_at, units_of

STATED = frozenset({"verbatim", "number", "amount", "stated", "each item", "option", "address", "words"})
"""Rules by which the value's own words stand in the quote; by any other it is converted from them, and the cell names
the rule, so that a reader sees why the quote reads otherwise."""


DATE = "date in another format"
NONE_IS_ZERO = "none, as 0"
RANGE_END = "one end of a range"
"""What looks like a range may be a name and its price ("Alm 24 – 119,95 €"): neither end is simply stated."""


def basis_of(rule: str) -> Basis:
    return "stated" if rule in STATED else "converted"


def conversion(rule: str) -> str:
    """The rule, where it is one that converts."""
    return "" if rule in STATED else rule


def follows(value: str, quote: str, field: Field) -> str:
    """The name of the rule by which the value follows from the quote, or "" where none does."""
    if not value.strip():
        return ""
    wanted = coerce(value, field).value
    if wanted is None:
        return ""
    last_line = quote.strip().rpartition("\n")[2]
    quote = " ".join(quote.split())  # a label and its value may stand on two lines
    match field.type:
        case "number":
            return _number_follows(wanted, quote, field) or (
                NONE_IS_ZERO if wanted == 0 and _denies(quote, field, last_line) else ""
            )
        case "money":
            return _money_follows(wanted, quote, field)
        case "date":
            return "verbatim" if str(wanted) in quote else DATE if names_date(str(wanted), quote) else ""
        case "boolean":
            return _boolean_follows(wanted, quote, field, last_line)
        case "list":
            return "each item" if all(stands_in(item, quote) for item in wanted) else ""  # type: ignore[union-attr]
        case "url":
            return "address" if _host(str(wanted)) in quote.casefold() else ""
        case "select" if field.options:
            return "option" if _names_option(str(wanted), value, quote, field) else ""
        case _:
            return _text_follows(show(wanted), quote)


def stands_in(value: str, quote: str) -> bool:
    """Word for word, whatever the case, the accents and the punctuation; also before an ending or after an elision that
    an apostrophe sets off: "Annecy" in "Annecy's" and "d'Annecy"."""
    words, said = split_words(value), fold(quote)
    bare = _ENDING.sub("", said)
    return bool(words) and any(
        _in_order(words, tokenize(text)) for text in dict.fromkeys((said, bare, _ELISION.sub("", bare)))
    )


_ENDING = re.compile(r"(?<=[^\W_]{2})['’](?!t\b)[^\W\d_]{1,3}\b")
"""Of a possessive or a case ("Annecy's", "Ankara'da"), not of "don't"."""
_ELISION = re.compile(r"\b[^\W\d_]{1,2}['’](?=[^\W_]{3})")


def _in_order(words: list[str], said: list[str]) -> bool:
    width = len(words)
    return any(said[place : place + width] == words for place in range(len(said) - width + 1))


def _text_follows(value: str, quote: str) -> str:
    if stands_in(value, quote) or value.casefold() in quote.casefold():
        return "verbatim"
    if any(names_date(iso, quote) for iso in (value, *[date.iso for date in read_dates(value) if date.clean][:1])):
        return DATE
    number = read_numbers(value)
    if len(number) == 1 and number[0].clean and _equal_number(number[0].value, quote, ""):
        return "number"
    measure = read_measures(value)
    if len(measure) == 1 and measure[0].unit and (measure[0].start, measure[0].end) == (0, len(value)):
        unit = measure[0].unit
        if stated := find_quantity(measure[0].value, unit, read_measures(_ONE.sub("1", quote))):
            return "measure in another form" if stated.unit == unit else f"unit, {stated.unit} to {unit}"
    if value in CODES and any(value in meanings_of(mark) for mark in quote.split()):
        return "currency sign and code"
    if any(stands_in(name, quote) for name in _same_country(value)):
        return "country and nationality"
    if _abbreviated(value, quote):
        return "abbreviation"
    words, said = set(split_words(value)), set(split_words(quote))
    return "words" if len(words) > 1 and words <= said else ""


def names_date(iso: str, text: str) -> bool:
    """Return True if a date of the text may be this day, or be in this month or year."""
    return any(date.startswith(iso) for date in find_possible_dates(text))


def _same_country(value: str) -> set[str]:
    """Other names of a country and what its people and things are called: "Denmark" and "Danish"."""
    name = value.strip()
    people = set(PEOPLE.get(name, ())) or ({name} if name in COUNTRY_OF else set())
    return {*people, *(country for country, names in PEOPLE.items() if people & set(names))}


SPELLED_OUT = 1_000
"""Characters of a quote in which a name may be spelled out."""
_SMALL_WORDS = frozenset({"of", "the", "and", "for", "in", "de", "der", "für", "und", "la", "du", "des"})


def _abbreviated(value: str, quote: str) -> bool:
    """Return True if one of the two has the initials of what the other spells out: "WHO", "World Health
    Organization"."""
    return any(_spells(value, quote[place:]) for place in _word_starts(quote)) or any(
        word.isupper() and _spells(word, value, whole=True) for word in re.findall(r"[^\W\d_]{2,10}", quote)
    )


def _word_starts(text: str) -> list[int]:
    return [match.start() for match in re.finditer(r"[^\W\d_]+", text[:SPELLED_OUT])]


def _spells(short: str, long: str, *, whole: bool = False) -> bool:
    letters = short.replace(".", "").strip()
    if not (2 <= len(letters) <= 10 and letters.isalpha() and letters.isupper()):
        return False
    names = [word for word in re.findall(r"[^\W\d_]+", long) if word.casefold() not in _SMALL_WORDS]
    if whole and len(names) != len(letters):
        return False
    return "".join(word[0] for word in names[: len(letters)]) == letters and len(names) >= len(letters)


_ONE = re.compile(r"\bone\b", re.IGNORECASE)


def _number_follows(wanted: Value, quote: str, field: Field) -> str:
    if isinstance(wanted, bool) or not isinstance(wanted, int | float):
        return ""
    return _equal_number(wanted, quote, field.unit)


def _equal_number(wanted: int | float, quote: str, unit: str) -> str:
    quantities = with_fractions(_BETWEEN_CELLS.sub(" ", quote))
    measures = (*read_measures(quantities, unit), *_measures_after_unit(quote))
    if unit:
        rule, is_other = _measured(wanted, measures, unit)
        if rule or is_other:
            return rule
    for number in read_numbers(quote):
        if same_value(number.value, wanted, "proving") or (
            number.high is not None and same_value(number.high, wanted, "proving")
        ):
            return "number" if any(map(str.isdigit, quote[number.start : number.end])) else "number in words"
    if any(OTHER_LANGUAGES.get(word) == wanted for word in _SPOKEN.findall(quote.casefold())):
        return "number in words"
    if any(date[:4] == str(wanted) for date in find_possible_dates(quote)):
        return "year of a date"
    if any(same_value(size, wanted, "proving") for measure in measures for size in sizes_of(measure)):
        return "number"
    return _in_foreign_unit(wanted, quote, unit) if unit else ""


def _measured(wanted: int | float, measures: Sequence[Measure], unit: str) -> tuple[str, bool]:
    """The rule by which a quantity is the wanted one, and else whether one has its figure in another unit."""
    is_other = False
    for measure in measures:
        fit = in_unit(measure, unit) if measure.unit else None
        if fit is None:
            continue
        if parse_unit(measure.unit) == parse_unit(unit):  # "l" and "litres" are one unit
            if any(same_value(size, wanted, "proving") for size in sizes_of(measure)):
                return "number", False
        elif any(same_value(size, wanted, "converting") for size in sizes_of(fit)):
            return f"unit, {measure.unit} to {unit}", False
        elif not measure.note:  # a gallon may be US or imperial
            is_other = is_other or any(same_value(size, wanted, "proving") for size in sizes_of(measure))
    return "", is_other


def _in_foreign_unit(wanted: int | float, quote: str, unit: str) -> str:
    """The rule, where a number stands before a word that is no unit in a language known here, and is the wanted one in
    some unit of the kind: "14,5 nœuds" are 26.9 km/h. What the word means, whoever read it has said."""
    known = parse_unit(unit)
    if known is None or not known.kind:
        return ""
    for number in read_numbers(quote):
        if not _WORD_BEHIND.match(quote, number.end) or unit_at(quote, number.end):
            continue
        others = (Measure(value=number.value, start=0, end=0, unit=other.symbol) for other in units_of(known.kind))
        if stated := find_quantity(wanted, unit, others):
            return f"unit, {stated.unit} to {unit}"
    return ""


def _measures_after_unit(quote: str) -> Iterator[Measure]:
    """A label may have the unit of its value: "Height (cm) | 84"."""
    for mark in _IN_BRACKETS.finditer(quote):
        if unit := parse_unit(mark[1]):
            for number in read_numbers(quote[mark.end() :])[:1]:
                yield Measure(value=number.value, start=0, end=0, unit=unit.symbol, high=number.high)


def _money_follows(wanted: Value, quote: str, field: Field) -> str:
    if not isinstance(wanted, Money):
        return ""
    rule = ""
    for amount in read_amounts(quote, field.unit):
        ends = (Money(amount=end, currency=amount.money.currency) for end in amount.ends)
        if any(same_value(end, wanted, "proving") for end in ends):
            if amount.high is None:
                return "amount"
            rule = RANGE_END
    return rule


_IN_BRACKETS = re.compile(r"[(\[]([^()\[\]]{1,12})[)\]]")
_WORD_BEHIND = re.compile(r"\s?[^\W\d_]{2}")
_BETWEEN_CELLS = re.compile(r" ?\| ?")
"""A figure and its unit may stand in two cells of a row."""
_SPOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_CELL = re.compile(r"[:|?]|\.{3,}")
"""What parts a label from its value: "Waterproof? No", "RAIN COVER ....... NO"."""
FROM_STATEMENT = "yes or no from a statement"
_BESIDE = re.compile(r"\s(?:[^\W_]+\s){0,2}")
"""What may stand between a denial and what it denies: two words, as in "does not have a lid"."""


def _boolean_follows(wanted: Value, quote: str, field: Field, last_line: str) -> str:
    """A yes or no that is written, or a quote that names the field's own words and denies nothing, or only them:
    "gooseneck spout" is a yes to "Gooseneck", "not dimmable" a no to "Dimmable". What denies something else as well
    proves neither."""
    said = plain_boolean(_CELL.split(last_line)[-1])
    if said is not None:
        return "stated" if said is wanted else ""
    said_words = list(_SPOKEN.finditer(folded := fold(quote)))
    named = {word[:5] for word in split_words(field.name) if len(word) > 2}
    places = [word for word in said_words if word[0][:5] in named]
    if not named or {word[0][:5] for word in places} != named:
        return ""
    denials = [word for word in said_words if word[0] in NEGATIONS or word[0].endswith(("n't", "n’t"))]
    if not denials:
        return FROM_STATEMENT if wanted is True else ""
    between = [folded[denials[0].end() : word.start()] for word in places if word.start() > denials[0].end()]
    denied = len(denials) == 1 and any(_BESIDE.fullmatch(words) for words in between)
    return FROM_STATEMENT if denied and wanted is False else ""


def _denies(quote: str, field: Field, last_line: str) -> bool:
    """Return True if it says that there is none of what the field counts or measures: "Keep warm: no", "Presets:
    none"."""
    is_none = _CELL.split(last_line)[-1].strip(" .").casefold() in NEGATIONS
    return is_none or bool(_boolean_follows(False, quote, field, last_line))


def in_source_precision(value: str, quote: str, field: Field) -> str:
    """The value, with no more digits than the quantity that it is converted from has."""
    wanted = coerce(value, field).value
    if field.type != "number" or not isinstance(wanted, float):
        return value
    for measure in read_measures(quote, field.unit):
        fit = in_unit(measure, field.unit) if measure.unit else None
        if fit is not None and fit.value != measure.value and same_value(fit.value, wanted, "converting"):
            precise = as_precise_as(fit.value, quote[measure.start : measure.end])
            return min(value, f"{show(precise)} {field.unit}", key=lambda text: len(text.split()[0]))
    return value


def _names_option(option: str, value: str, quote: str, field: Field) -> bool:
    return stands_in(option, quote) or (exact_option(value, field.options) is None and stands_in(value, quote))


def is_address_of(url: str, origin: str) -> bool:
    """Return True if it is the address that a page was retrieved from, or the front page of its site."""
    path = urlsplit(url).path.rstrip("/")
    return _host(url) == _host(origin) and path in ("", urlsplit(origin).path.rstrip("/"))


def _host(url: str) -> str:
    return url.casefold().split("//")[-1].split("/")[0].removeprefix("www.")


# ── two sources or one ───────────────────────────────────────────────────────────────────────────────────────────────

SHINGLE = 6  # words
COPIED = 0.6


def independent(one: Retrieved, other: Retrieved) -> bool:
    """Of different registrable domains, and not copies of each other."""
    if one.origin == other.origin or (one.domain and one.domain == other.domain):
        return False
    return not copies(one.text, other.text)


def copies(one: str, other: str) -> bool:
    """Return True if the shorter text stands, for the most part, in the longer: a syndicated article, a reprinted
    release."""
    first, second = _shingles(one), _shingles(other)
    shorter = min(len(first), len(second))
    return shorter > 0 and len(first & second) / shorter >= COPIED


def _shingles(text: str) -> set[int]:
    words = split_words(text[:20_000])
    return {hash(tuple(words[place : place + SHINGLE])) for place in range(len(words) - SHINGLE + 1)}
