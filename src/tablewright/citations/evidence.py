"""Prove that a value follows from its quote, and by which rule; decide which sources are independent.

The rules are the same for models' answers and for the built-in reader. They fail closed: a value that they cannot find
in the quote does not follow from it. No I/O.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from urllib.parse import urlsplit

from tablewright.citations.figures import find_quantity, list_sizes
from tablewright.domain.model import Basis, Field, Money, Value
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.rowkey import fold_text, split_folded_words, split_words
from tablewright.domain.text import format_value
from tablewright.text import contains_word_run
from tablewright.values.choices import NEGATIONS, find_exact_option, read_plain_boolean
from tablewright.values.coerce import coerce_value
from tablewright.values.countries import COUNTRY_BY_DEMONYM, DEMONYMS
from tablewright.values.currencies import CURRENCY_CODES, currency_meanings
from tablewright.values.dates import find_possible_dates, read_dates
from tablewright.values.measures import (
    Measure,
    convert_measure,
    read_measures,
    read_worded_measures,
    round_like_source,
)
from tablewright.values.money import read_amounts
from tablewright.values.numbers import FOREIGN_NUMBER_WORDS, read_numbers
from tablewright.values.same_value import same_value
from tablewright.values.units import list_units_of_kind, parse_unit, read_unit_at

# With these rules, the quote has the value's own words. With any other the value is converted, and the cell names the
# rule, so that a reader sees why the quote reads otherwise.
STATED_RULES = frozenset({"verbatim", "number", "amount", "stated", "each item", "option", "address", "words"})


DATE_RULE = "date in another format"


def basis_for_rule(rule: str) -> Basis:
    return "stated" if rule in STATED_RULES else "converted"


def conversion_rule(rule: str) -> str:
    """Return the rule if it converts, else ""."""
    return "" if rule in STATED_RULES else rule


def find_proving_rule(value: str, quote: str, field: Field) -> str:
    """Return the name of the rule by which the value follows from the quote, or ""."""
    if not value.strip():
        return ""
    wanted = coerce_value(value, field).value
    if wanted is None:
        return ""
    last_line = quote.strip().rpartition("\n")[2]
    # A label and its value may be on two lines.
    quote = " ".join(quote.split())
    match field.type:
        case "number":
            return _prove_number(wanted, quote, field) or (
                "none, as 0" if wanted == 0 and _denies_field(quote, field, last_line) else ""
            )
        case "money":
            return _prove_money(wanted, quote, field)
        case "date":
            return "verbatim" if str(wanted) in quote else DATE_RULE if names_date(str(wanted), quote) else ""
        case "boolean":
            return _prove_boolean(wanted, quote, field, last_line)
        case "list":
            return "each item" if all(contains_words(item, quote) for item in wanted) else ""  # type: ignore[union-attr]
        case "url":
            return "address" if _site_host(str(wanted)) in quote.casefold() else ""
        case "select" if field.options:
            return "option" if _names_option(str(wanted), value, quote, field) else _prove_period(str(wanted), quote)
        case _:
            return _prove_text(format_value(wanted), quote)


def contains_words(value: str, quote: str) -> bool:
    """Return True if the quote has the value word for word, ignoring case, accents and punctuation, and endings and
    elisions with an apostrophe: "Annecy" in "Annecy's" and "d'Annecy"."""
    words, said = split_words(value), fold_text(quote)
    # Of a possessive or a case ("Annecy's", "Ankara'da"), not of "don't".
    bare = re.sub(r"(?<=[^\W_]{2})['’](?!t\b)[^\W\d_]{1,3}\b", "", said)
    return bool(words) and any(
        contains_word_run(split_folded_words(text), words)
        for text in dict.fromkeys((said, bare, re.sub(r"\b[^\W\d_]{1,2}['’](?=[^\W_]{3})", "", bare)))
    )


def _prove_text(value: str, quote: str) -> str:
    if contains_words(value, quote) or value.casefold() in quote.casefold():
        return "verbatim"
    if any(names_date(iso, quote) for iso in (value, *[date.iso for date in read_dates(value) if date.clean][:1])):
        return DATE_RULE
    number = read_numbers(value)
    if len(number) == 1 and number[0].clean and _prove_equal_number(number[0].value, quote, ""):
        return "number"
    measure = read_measures(value)
    if len(measure) == 1 and measure[0].unit and (measure[0].start, measure[0].end) == (0, len(value)):
        unit = measure[0].unit
        if stated := find_quantity(measure[0].value, unit, read_worded_measures(quote)):
            return "measure in another form" if stated.unit == unit else f"unit, {stated.unit} to {unit}"
    if rule := _prove_period(value, quote):
        return rule
    if value in CURRENCY_CODES and any(value in currency_meanings(mark) for mark in quote.split()):
        return "currency sign and code"
    if any(contains_words(name, quote) for name in _country_synonyms(value)):
        return "country and nationality"
    if _is_abbreviation(value, quote):
        return "abbreviation"
    words, said = set(split_words(value)), set(split_words(quote))
    return "words" if len(words) > 1 and words <= said else ""


def _prove_period(value: str, quote: str) -> str:
    """Return the rule if a year of the quote is in the decade or century that the value names: "1980s", "siglo XVI"."""
    number = r"(?P<{}>\d{{1,2}}|[IVX]+)"
    ordinal = rf"{number.format('before')}(?:st|nd|rd|th|\.|e|ème)?[ -](?:century|jahrhundert|siècle|eeuw)"
    period = re.fullmatch(
        rf"(?:the )?(?:(?P<decade>\d{{3}}0)(?:['’]?s|er(?: jahre)?)|{ordinal}"
        rf"|(?:siglo|século|secolo) {number.format('after')})",
        value.strip(),
        re.IGNORECASE,
    )
    if period is None:
        return ""
    years = [int(date[:4]) for date in find_possible_dates(quote)]
    if period["decade"]:
        return "decade of a year" if any(year // 10 * 10 == int(period["decade"]) for year in years) else ""
    named = (period["before"] or period["after"]).upper()
    digits = [{"I": 1, "V": 5, "X": 10}.get(letter, 0) for letter in named]
    # A smaller digit before a larger one is subtracted: XIV is 14.
    roman = sum(-a if a < b else a for a, b in pairwise([*digits, 0]))
    century = int(named) if named.isdigit() else roman
    # The year 1600 is the last of the 16th century.
    return "century of a year" if any((year - 1) // 100 + 1 == century for year in years) else ""


def names_date(iso: str, text: str) -> bool:
    """Return True if a date of the text may be this day, or be in this month or year."""
    return any(date.startswith(iso) for date in find_possible_dates(text))


def _country_synonyms(value: str) -> set[str]:
    """Return other names of a country, its people and its things: "Danish" for "Denmark"."""
    name = value.strip()
    people = set(DEMONYMS.get(name, ())) or ({name} if name in COUNTRY_BY_DEMONYM else set())
    return {*people, *(country for country, names in DEMONYMS.items() if people & set(names))}


def _is_abbreviation(value: str, quote: str) -> bool:
    """Return True if one of the two has the initials of what the other spells out: "WHO", "World Health
    Organization"."""
    return any(_spells_initials(value, quote[place:]) for place in _word_starts(quote)) or any(
        word.isupper() and _spells_initials(word, value, whole=True) for word in re.findall(r"[^\W\d_]{2,10}", quote)
    )


def _word_starts(text: str) -> list[int]:
    # As long as the longest quote. Each start costs a reading of the rest, so the time grows with the square of this.
    return [match.start() for match in re.finditer(r"[^\W\d_]+", text[:1_000])]


def _spells_initials(short: str, long: str, *, whole: bool = False) -> bool:
    letters = short.replace(".", "").strip()
    if not (2 <= len(letters) <= 10 and letters.isalpha() and letters.isupper()):
        return False
    # An abbreviation passes over the "and" of "Food and Drug Administration", FDA.
    small = {"of", "the", "and", "for", "in", "de", "der", "für", "und", "la", "du", "des"}
    names = [word for word in re.findall(r"[^\W\d_]+", long) if word.casefold() not in small]
    if whole and len(names) != len(letters):
        return False
    return "".join(word[0] for word in names[: len(letters)]) == letters and len(names) >= len(letters)


def _prove_number(wanted: Value, quote: str, field: Field) -> str:
    if isinstance(wanted, bool) or not isinstance(wanted, int | float):
        return ""
    return _prove_equal_number(wanted, quote, field.unit)


def _prove_equal_number(wanted: int | float, quote: str, unit: str) -> str:
    if unit:
        rule, is_other = _prove_measure(wanted, _find_measures(quote, unit), unit)
        if rule or is_other:
            return rule
    for number in read_numbers(quote):
        if same_value(number.value, wanted, "proving") or (
            number.high is not None and same_value(number.high, wanted, "proving")
        ):
            return "number" if any(map(str.isdigit, quote[number.start : number.end])) else "number in words"
    if any(FOREIGN_NUMBER_WORDS.get(word) == wanted for word in _SPOKEN.findall(quote.casefold())):
        return "number in words"
    if any(date[:4] == str(wanted) for date in find_possible_dates(quote)):
        return "year of a date"
    # Last, because quantities take longest to read, and most figures are plain numbers.
    sizes = (size for measure in _find_measures(quote, unit) for size in list_sizes(measure))
    if any(same_value(size, wanted, "proving") for size in sizes):
        return "number"
    return _prove_foreign_unit(wanted, quote, unit) if unit else ""


def _find_measures(quote: str, unit: str) -> Sequence[Measure]:
    # A figure and its unit may be in two cells of a row.
    return (*read_worded_measures(re.sub(r" ?\| ?", " ", quote), unit), *_measures_after_unit(quote))


def _prove_measure(wanted: int | float, measures: Sequence[Measure], unit: str) -> tuple[str, bool]:
    """Return the rule by which a quantity is the wanted one, or "", and True if one has its figure in another unit."""
    is_other = False
    for measure in measures:
        fit = convert_measure(measure, unit) if measure.unit else None
        if fit is None:
            continue
        if parse_unit(measure.unit) == parse_unit(unit):  # "l" and "litres" are one unit
            if any(same_value(size, wanted, "proving") for size in list_sizes(measure)):
                return "number", False
        elif any(same_value(size, wanted, "converting") for size in list_sizes(fit)):
            return f"unit, {measure.unit} to {unit}", False
        elif not measure.note:  # a gallon may be US or imperial
            is_other = is_other or any(same_value(size, wanted, "proving") for size in list_sizes(measure))
    return "", is_other


def _prove_foreign_unit(wanted: int | float, quote: str, unit: str) -> str:
    """Return the rule if a number before an unknown word is the wanted one in some unit of the kind: "14,5 nœuds" is
    26.9 km/h. The reader of the page vouches for the meaning of the word."""
    known = parse_unit(unit)
    if known is None or not known.kind:
        return ""
    for number in read_numbers(quote):
        if not re.match(r"\s?[^\W\d_]{2}", quote[number.end :]) or read_unit_at(quote, number.end):
            continue
        others = (
            Measure(value=number.value, start=0, end=0, unit=other.symbol) for other in list_units_of_kind(known.kind)
        )
        if stated := find_quantity(wanted, unit, others):
            return f"unit, {stated.unit} to {unit}"
    return ""


def _measures_after_unit(quote: str) -> Iterator[Measure]:
    """Yield numbers with the unit of their label: "Height (cm) | 84"."""
    for mark in re.finditer(r"[(\[]([^()\[\]]{1,12})[)\]]", quote):
        if unit := parse_unit(mark[1]):
            for number in read_numbers(quote[mark.end() :])[:1]:
                yield Measure(value=number.value, start=0, end=0, unit=unit.symbol, high=number.high)


def _prove_money(wanted: Value, quote: str, field: Field) -> str:
    if not isinstance(wanted, Money):
        return ""
    rule = ""
    for amount in read_amounts(quote, field.unit):
        ends = (Money(amount=end, currency=amount.money.currency) for end in amount.ends)
        if any(same_value(end, wanted, "proving") for end in ends):
            if amount.high is None:
                return "amount"
            # What looks like a range may be a name and its price ("Alm 24 – 119,95 €"): neither end is simply stated.
            rule = "one end of a range"
    return rule


_SPOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
# Separators of a label and its value: "Waterproof? No", "RAIN COVER ....... NO".
_CELL = re.compile(r"[:|?]|\.{3,}")
FROM_STATEMENT = "yes or no from a statement"


def _prove_boolean(wanted: Value, quote: str, field: Field, last_line: str) -> str:
    """Prove a written yes or no, or one from a quote that names the field's words and denies nothing, or only them:
    "gooseneck spout" is a yes to "Gooseneck", "not dimmable" a no to "Dimmable". What denies something else as well
    proves neither."""
    said = read_plain_boolean(_CELL.split(last_line)[-1])
    if said is not None:
        return "stated" if said is wanted else ""
    said_words = list(_SPOKEN.finditer(folded := fold_text(quote)))
    # The first five letters, since a text inflects: "rechargeable" and "recharging". Words of two letters are fillers.
    named = {word[:5] for word in split_words(field.name) if len(word) > 2}
    places = [word for word in said_words if word[0][:5] in named]
    if not named or {word[0][:5] for word in places} != named:
        return ""
    denials = [word for word in said_words if word[0] in NEGATIONS or word[0].endswith(("n't", "n’t"))]
    if not denials:
        return FROM_STATEMENT if wanted is True else ""
    between = [folded[denials[0].end() : word.start()] for word in places if word.start() > denials[0].end()]
    # At most two words may come between a denial and what it denies, as in "does not have a lid".
    denied = len(denials) == 1 and any(re.fullmatch(r"\s(?:[^\W_]+\s){0,2}", words) for words in between)
    return FROM_STATEMENT if denied and wanted is False else ""


def states_labelled_boolean(quote: str, field: Field) -> bool:
    """Return True if the quote is the column's name with a yes or no, and nothing else: "Dimmable: Yes"."""
    label, *answers = [part for part in _CELL.split(" ".join(quote.split())) if part.strip()] or [""]
    return (
        field.type == "boolean"
        and len(answers) == 1
        and read_plain_boolean(answers[0]) is not None
        and split_words(label) == split_words(field.name)
    )


def _denies_field(quote: str, field: Field, last_line: str) -> bool:
    """Return True if the quote says that there is nothing to count or measure: "Keep warm: no", "Presets: none"."""
    is_none = _CELL.split(last_line)[-1].strip(" .").casefold() in NEGATIONS
    return is_none or bool(_prove_boolean(False, quote, field, last_line))


def limit_to_source_precision(value: str, quote: str, field: Field) -> str:
    """Return the value with no more digits than the quantity that it is converted from."""
    wanted = coerce_value(value, field).value
    if field.type != "number" or not isinstance(wanted, float):
        return value
    for measure in read_measures(quote, field.unit):
        fit = convert_measure(measure, field.unit) if measure.unit else None
        if fit is not None and fit.value != measure.value and same_value(fit.value, wanted, "converting"):
            precise = round_like_source(fit.value, quote[measure.start : measure.end])
            return min(value, f"{format_value(precise)} {field.unit}", key=lambda text: len(text.split()[0]))
    return value


def _names_option(option: str, value: str, quote: str, field: Field) -> bool:
    return contains_words(option, quote) or (
        find_exact_option(value, field.options) is None and contains_words(value, quote)
    )


def is_address_of(url: str, origin: str) -> bool:
    """Return True if it is the address that a page was retrieved from, or the front page of its site."""
    path = urlsplit(url).path.rstrip("/")
    return _site_host(url) == _site_host(origin) and path in ("", urlsplit(origin).path.rstrip("/"))


def _site_host(url: str) -> str:
    return url.casefold().split("//")[-1].split("/")[0].removeprefix("www.")


# ── two sources or one ───────────────────────────────────────────────────────────────────────────────────────────────


def are_independent(one: Retrieved, other: Retrieved) -> bool:
    """Return True for sources of different registrable domains that are not copies of each other."""
    if one.origin == other.origin or (one.domain and one.domain == other.domain):
        return False
    return not is_copy(one.text, other.text)


def is_copy(one: str, other: str) -> bool:
    """Return True if the longer text contains most of the shorter one: a syndicated article, a reprinted release."""
    first, second = _hash_shingles(one), _hash_shingles(other)
    shorter = min(len(first), len(second))
    # A copy keeps most of its words even if it is shortened and edited.
    return shorter > 0 and len(first & second) / shorter >= 0.6


def _hash_shingles(text: str) -> set[int]:
    words = split_words(text[:20_000])
    # So many words in a row are rarely equal by chance.
    width = 6
    return {hash(tuple(words[place : place + width])) for place in range(len(words) - width + 1)}
