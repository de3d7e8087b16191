"""Find values of a kind (a year, an amount, a person, a place …) in a short text, with their offsets.

Values are recognised by form and by lists of countries and states; what they mean is decided elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from tablewright.domain.model import Struct
from tablewright.domain.text import format_value, normalize_words
from tablewright.extraction.meaning import AnswerKind, FieldQuery
from tablewright.text import SMALL_WORDS
from tablewright.values.choices import NEGATIONS, read_plain_boolean
from tablewright.values.countries import COUNTRY_BY_DEMONYM, DEMONYMS, STATES
from tablewright.values.currencies import CURRENCY_SYMBOLS
from tablewright.values.dates import MONTHS, WEEKDAYS, read_date, read_dates
from tablewright.values.measures import convert_measure, read_measures
from tablewright.values.money import read_amounts
from tablewright.values.numbers import read_numbers
from tablewright.values.units import parse_unit, read_unit_at

# Below this a value is only a last resort: a year if a count is asked.
UNSURE = 0.5


def find_typed_spans(query: FieldQuery, text: str) -> Sequence[TypedSpan]:
    """Return the values that can be recognised by their form, in order."""
    if query.kind == "option":
        option = find_option(query, text)
        return (option,) if option else ()
    if query.kind in ("yesno", "text"):
        return ()
    found = find_spans(query.kind, text, query.unit)
    if query.kind in ("count", "number"):
        # "51–100 persons" does not say how many.
        ranges = [match.span() for match in re.finditer(r"\d\s?[–—-]\s?\d", text)]
        found = [span for span in found if not any(span.start < end and start < span.end for start, end in ranges)]
    if query.kind == "date" and not found:
        return tuple(
            TypedSpan(value=span.value, start=span.start, end=span.end, sure=0.5) for span in find_spans("year", text)
        )
    if query.kind == "number" and query.field.type == "text":
        return tuple(_join_digit_groups(found, text))
    if query.number_only:
        return tuple(_convert_to_number(span, query.unit) for span in found if span.sure > UNSURE)
    return found


def _join_digit_groups(found: Sequence[TypedSpan], text: str) -> Iterator[TypedSpan]:
    """Yield numbers together with the digit groups after them, such as a telephone number."""
    end = 0
    for span in found:
        if span.start < end:
            continue
        run = _GROUPS.match(text, span.start)
        end = max(span.end, run.end() if run else 0)
        yield TypedSpan(value=text[span.start : end], start=span.start, end=end, sure=span.sure)


def read_whole_value(query: FieldQuery, value: str) -> TypedSpan | None:
    """Return the answer that a label's value or a cell is or contains, if any."""
    if not any(character.isalnum() for character in value):
        return None
    if query.kind == "yesno":
        verdict = read_plain_boolean(value)
        return None if verdict is None else TypedSpan(value="yes" if verdict else "no", start=0, end=len(value))
    if query.kind in {
        "text",
        "name",
        "organisation",
        "title",
        "person",
        "place",
        "country",
        "nationality",
        "city",
        "state",
    }:
        text = value.split(" | ")[0].strip(" .;")
        if query.kind == "city":
            # A part with a number in it is a street or a postal code.
            parts = [part.strip() for part in text.split(",")]
            text = next((part for part in parts if not any(map(str.isdigit, part))), parts[0])
        # A longer text is a paragraph, a longer name a sentence.
        if not 0 < len(text) <= 200 or (
            query.kind == "person" and (any(map(str.isdigit, text)) or _ends_in_place_name(text))
        ):
            return None
        if query.kind != "text" and (len(text.split()) > 9 or text.islower()):
            return TypedSpan(value=text, start=0, end=len(text), sure=0.5)
        return TypedSpan(value=text, start=0, end=len(text))
    found = find_typed_spans(query, value)
    if query.kind == "count" and _ends_in_place_name(value):
        # The number of a house.
        return None
    if query.kind in ("count", "number") and (date := read_date(value)) and date.clean and len(date.iso) > 4:
        # A year may be a number, a day may not.
        return None
    if found and query.kind == "number" and query.field.type == "text" and len(value) <= 40:
        # A telephone number, "19 mpg in town".
        return TypedSpan(value=value.strip(), start=0, end=len(value))
    best = max(found, key=lambda span: (span.sure, -span.start), default=None)
    # A year next to the label of a count says when, not how many.
    return None if best is not None and query.kind == "count" and best.sure <= UNSURE else best


def _ends_in_place_name(text: str) -> bool:
    """Return True if it ends in a country or a state: "4 Mill Lane, Lyon, France"."""
    before, _, last = text.rpartition(",")
    return bool(before) and last.strip(" .") in STATES | DEMONYMS.keys()


_GROUPS = re.compile(r"\+?[\d(][\d\s()./-]*\d(?!\w)")


# ── options ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def find_option(query: FieldQuery, text: str) -> TypedSpan | None:
    """Return the only option that the text names and does not deny; None if it names several."""
    words = f" {normalize_words(text)} "
    named = [
        option
        for option in query.options
        if normalize_words(option) and _is_named_undenied(words, f" {normalize_words(option)} ")
    ]
    longest = [
        option
        for option in named
        if not any(normalize_words(option) in normalize_words(other) and option != other for other in named)
    ]
    if len(longest) != 1:
        return None
    written = re.search(r"[\W_]+".join(map(re.escape, normalize_words(longest[0]).split())), text, re.IGNORECASE)
    start, end = written.span() if written else (0, len(text))
    return TypedSpan(value=longest[0], start=start, end=end)


def _is_named_undenied(words: str, option: str) -> bool:
    """Return True if an option occurs without a denial right before it: "not a charity", "no longer open"."""
    place = words.find(option)
    while place >= 0:
        if NEGATIONS.isdisjoint(words[:place].split()[-2:]):
            return True
        place = words.find(option, place + 1)
    return False


def _convert_to_number(span: TypedSpan, unit: str) -> TypedSpan:
    """Return the number alone, in the unit of the field's name."""
    measure = next(iter(read_measures(span.value, unit)), None)
    fit = convert_measure(measure, unit) if measure else None
    return (
        span
        if fit is None
        else TypedSpan(value=format_value(fit.value), start=span.start, end=span.end, sure=span.sure)
    )


class TypedSpan(Struct, frozen=True):
    """`value` is the answer as a cell shows it; it was read from `text[start:end]`. `sure` is below 1 in doubt."""

    value: str
    start: int
    end: int
    sure: float = 1.0


@lru_cache(maxsize=4096)
def find_spans(kind: AnswerKind, text: str, unit: str = "", likely: str = "") -> Sequence[TypedSpan]:
    """Return all values of that kind in a short text, in order; `likely` is a unit of the usual dimension."""
    match kind:
        case "year":
            return tuple(_find_years(text))
        case "date":
            return tuple(_find_dates(text))
        case "money":
            return tuple(_find_amounts(text, unit))
        case "measure":
            return tuple(_find_measure_spans(text, unit, likely))
        case "count" | "number":
            return tuple(_find_number_spans(text, kind, unit))
        case "city":
            return tuple(_find_places(text, "city"))
        case "state":
            return tuple(_find_known_places(text, STATES))
        case "country":
            return tuple(_find_countries(text))
        case "place":
            return tuple(_find_places(text, "place"))
        case "nationality":
            return tuple(_find_known_places(text, COUNTRY_BY_DEMONYM))
        case "person":
            return tuple(_find_people(text))
        case "name":
            return tuple(_find_names(text))
        case "organisation":
            return tuple(span for span in _find_names(text) if span.value not in STATES and span.value not in DEMONYMS)
        case "title":
            return tuple(_find_titles(text))
        case "code":
            return tuple(_find_codes(text))
        case "url":
            return tuple(_find_urls(text))
        case _:
            return ()


# ── numbers, dates, money ────────────────────────────────────────────────────────────────────────────────────────────


def _find_years(text: str) -> Iterator[TypedSpan]:
    # Not an amount of money, a part of a decimal or of a range of years.
    for match in re.finditer(
        rf"(?<![\d.,/{CURRENCY_SYMBOLS}-])(1[0-9]{{3}}|20[0-9]{{2}})(?![\d/]|[.,]\d|-\d{{4}})", text
    ):
        if not _has_unit(text, match.end()):
            yield TypedSpan(value=match[1], start=match.start(), end=match.end())


def _has_unit(text: str, end: int) -> bool:
    """Return True if a number that ends here is measured in what follows: "1200 km"."""
    return text[end : end + 1] in (" ", "-", "°") and read_unit_at(text, end) is not None


def _find_dates(text: str) -> Iterator[TypedSpan]:
    if not any(character.isdigit() for character in text):
        return
    for date in read_dates(text):
        if not date.doubtful:
            sure = (0.55, 0.8, 1.0)[min(2, date.iso.count("-"))]
            yield TypedSpan(value=text[date.start : date.end].strip(), start=date.start, end=date.end, sure=sure)


def _find_amounts(text: str, unit: str) -> Iterator[TypedSpan]:
    for amount in read_amounts(text, unit):
        written = text[amount.start : amount.end]
        cents = re.search(r"\d[.,]\d{2}(?!\d)", written)
        is_marked = any(each.money.currency for each in read_amounts(written))
        # A bare number needs a label to be an amount.
        sure = 1.0 if is_marked else 0.8 if cents else 0.4
        yield TypedSpan(value=written.strip(), start=amount.start, end=amount.end, sure=sure)


def _find_measure_spans(text: str, unit: str, likely: str) -> Iterator[TypedSpan]:
    for measure in read_measures(text, unit or likely):
        written = text[measure.start : measure.end].strip()
        if not measure.unit:
            yield TypedSpan(value=written, start=measure.start, end=measure.end, sure=0.3)
        elif not unit or convert_measure(measure, unit) is not None:
            # A height is not 13 minutes.
            odd = likely and not unit and not _same_dimension(measure.unit, likely)
            yield TypedSpan(value=written, start=measure.start, end=measure.end, sure=0.2 if odd else 1.0)


def _same_dimension(one: str, other: str) -> bool:
    left, right = parse_unit(one), parse_unit(other)
    return left is not None and right is not None and left.kind == right.kind


def _find_number_spans(text: str, kind: AnswerKind, unit: str) -> Iterator[TypedSpan]:
    years = {(span.start, span.end) for span in _find_years(text)}
    for number in read_numbers(text):
        written = text[number.start : number.end]
        if kind == "count" and (number.percent or number.value < 0 or _has_unit(text, number.end)):
            continue
        # "120th", "6 p.m."
        if kind == "count" and re.match(r"th|st|nd|rd|\s?[ap]\.?m\b", text[number.end :], re.IGNORECASE):
            continue
        if re.search(rf"[{CURRENCY_SYMBOLS}]\s?$", text[max(0, number.start - 2) : number.start]):
            continue
        is_year = (number.start, number.end) in years
        yield TypedSpan(value=written.strip(), start=number.start, end=number.end, sure=0.25 if is_year else 1.0)


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────────


class _CapitalPatterns(NamedTuple):
    """Patterns of capitalised words: a name, a person, a chain of places, and a run in which known names are looked
    up."""

    name: re.Pattern[str]
    person: re.Pattern[str]
    chain: re.Pattern[str]
    known: re.Pattern[str]


def _compile_capitals() -> _CapitalPatterns:
    # Capitals of Latin scripts with accents, and of Cyrillic.
    capital = r"[A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĖĘĚĢĪĶĻĽŁŃŅŇŌŐŒŘŚŞŠŢŤŪŮŰŹŻŽƏǍȘȚЀ-ЯḤṢṬẒ]"
    word = rf"(?:(?:(?:Lt|St|Mt|Ft|Dr|Sgt|Capt)\. )?{capital}(?:[\w’'&+-]|\.(?=\w)|(?<=\b{capital})\.)*)"
    particle = (
        r"(?:of|the|de|del|della|dell|di|da|do|dos|du|des|la|le|les|el|los|las|van|von|der|den|und|y|e|al|bin|ibn|upon|am|"
        r"an der|sur|zu|&)"
    )
    # "Channel 4", but not "Acme 12 employees".
    numeral = r" \d{1,3}(?!\d|[.,:]\d| (?!(?:in|on|and|at|as|since|until|before|from) )[a-z%])"
    name = re.compile(
        rf"(?<![\w-]){word}(?:(?: | (?:{particle} ){{1,2}}){word}|{numeral})*(?:,? (?:Inc|Corp|Ltd|Co)\.)?"
    )
    person = re.compile(
        rf"(?<![\w-]){capital}[\w’'-]+(?: (?:{capital}\.)+| {capital}(?=\s))*"
        r"(?: (?:van|von|de|da|di|der|den|del|la|le|bin|al|el|ter|dos|Mac|St\.)){0,3}"
        rf"(?: {capital}[\w’'-]+){{1,3}}(?: (?:Jr|Sr)\.?| I{{2,3}}| IV)?"
    )
    place_word = rf"{capital}(?:[\w’'-]|\.(?=\s{capital}))*"
    join = r"(?: | (?:of|de|del|la|le|upon|on|am|an der|sur|the|do|da|dos|y) |-)"
    place_name = rf"(?:(?:St|Ft|Mt|Pt)\. )?{place_word}(?:{join}{place_word}){{0,4}}"
    chain = re.compile(rf"(?<![\w-]){place_name}(?:(?: and |, )(?:and )?(?:the )?{place_name}|, D\.C\.){{0,3}}")
    # A run of capitalised words, in which known names are looked up.
    known = re.compile(rf"{capital}[\w.’'-]*(?: (?:and |of )?{capital}[\w.’'-]*)*")
    return _CapitalPatterns(name, person, chain, known)


_CAPITALS = _compile_capitals()
# The beginning of a sentence or of a quotation, where every word is capitalised.
_OPENS = re.compile(r"(?:^|[.!?:;]\s|[\"“(])$")
# Pronouns, prepositions and conjunctions are capitalised like a name at the beginning of a sentence. "Will" is more
# often a name there.
_OPENING = (SMALL_WORDS - {"will"}) | frozenset(
    """after although among before between both despite during each following however like over since though under
    unlike until upon while""".split()
)


def _trim_name(match: re.Match[str]) -> tuple[str, int]:
    """Return the name and its start without the month of a date, an article, or a capitalised first word."""
    name, start = match[0], match.start()
    while name:
        first, _, rest = name.partition(" ")
        word, end = first.casefold(), start + len(first)
        opens = word in _OPENING and first.istitle() and bool(_OPENS.search(match.string, 0, start))
        left_over = start > match.start() and word in ("of", "de", "la", "&")
        if not (opens or left_over or word in ("the", "a", "an") or _precedes_number(word, match.string, end)):
            break
        start, name = start + len(name) - len(rest), rest
    return name, start


def _precedes_number(word: str, text: str, end: int) -> bool:
    """Return True if a word is the month or the day of a date: a number follows it."""
    return (word in MONTHS or word in WEEKDAYS) and bool(re.match(r",? \d", text[end:]))


def _find_names(text: str) -> Iterator[TypedSpan]:
    for match in _CAPITALS.name.finditer(text):
        name, start = _trim_name(match)
        name = _strip_possessive(name, text, start).rstrip("'’-&")
        words = re.split(r"[ -]", name)
        if (
            len(name) > 1
            # What remains of a name that was cut at a full stop.
            and name not in "Inc Ltd Corp Co LLC Lt Dr Mr Mrs Ms St Jr Sr II III Sgt Capt".split()
            and not all(word in COUNTRY_BY_DEMONYM or word == "born" for word in words)
        ):
            yield TypedSpan(value=name, start=start, end=start + len(name))


def _strip_possessive(name: str, text: str, start: int) -> str:
    """Return "Vietnam" for "Vietnam's top division", but all of "St. George's"."""
    follows = text[start + len(name) : start + len(name) + 2]
    return (
        re.sub(r"(?:'s|’s|['’])$", "", name)
        if len(follows) == 2 and follows[0] == " " and follows[1].isalpha()
        else name
    )


# A house number before a name makes it a street: "7 Mill Lane", but "in 1994 Jane Hart".
_HOUSE = re.compile(r"(?<![\d.,])\d{1,3}[a-z]?\s$")


def _find_people(text: str) -> Iterator[TypedSpan]:
    for match in _CAPITALS.person.finditer(text):
        name, start = _trim_name(match)
        if " " in name and not _HOUSE.search(text, max(0, start - 8), start):
            yield TypedSpan(value=name, start=start, end=start + len(name))


# ── places ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def _find_places(text: str, level: str) -> Iterator[TypedSpan]:
    others = "The A An January February March April May June July August September October November December"
    for match in _CAPITALS.chain.finditer(text):
        chain, start = _trim_name(match)
        if len(chain) < 2 or chain.split()[0] in others.split() or chain in COUNTRY_BY_DEMONYM:
            continue
        if level == "place":
            if ", " not in chain and _IN_AN_ADDRESS.search(text[max(0, start - 30) : start]):
                continue
            chain = _strip_possessive(chain, text, start)
            yield TypedSpan(value=chain, start=start, end=start + len(chain))
            continue
        # The city follows the street.
        if _IN_AN_ADDRESS.search(text[max(0, start - 30) : start]):
            street, _, chain = chain.partition(", ")
            start += len(street) + len(", ")
        first, *rest = chain.split(", ")
        if not first:
            continue
        placed = any(part in DEMONYMS or part in STATES for part in rest)
        # Seldom a city as well, such as Singapore.
        wide = first in DEMONYMS or first in STATES
        first = _strip_possessive(first, text, start)
        yield TypedSpan(value=first, start=start, end=start + len(first), sure=1.0 if placed else 0.5 if wide else 0.8)


# A house number before the name: the name is that of a street.
_IN_AN_ADDRESS = re.compile(r"\d (?:[A-Z][\w.]* of the )?$")


def _find_known_places(text: str, known: Container[str]) -> Iterator[TypedSpan]:
    for match in _CAPITALS.known.finditer(text):
        yield from _longest_known_names(match[0], match.start(), known)


def _longest_known_names(run: str, start: int, known: Container[str]) -> Iterator[TypedSpan]:
    """Yield the longest known names inside a run of capitals: "United States" in "the United States Navy"."""
    words = [(word.group(), word.start()) for word in re.finditer(r"\S+", run)]
    place = 0
    while place < len(words):
        for stop in range(len(words), place, -1):
            begin, end = words[place][1], words[stop - 1][1] + len(words[stop - 1][0])
            name = run[begin:end]
            found = name if name in known else name.rstrip(".'’") if name.rstrip(".'’") in known else ""
            if found:
                whole = begin == 0 and end == len(run)
                yield TypedSpan(
                    value=found, start=start + begin, end=start + begin + len(found), sure=1.0 if whole else 0.7
                )
                place = stop
                break
        else:
            place += 1


def _find_countries(text: str) -> Iterator[TypedSpan]:
    found = list(_find_known_places(text, DEMONYMS))
    for span in _find_known_places(text, COUNTRY_BY_DEMONYM):
        if not any(other.start <= span.start < other.end for other in found):
            found.append(
                TypedSpan(value=COUNTRY_BY_DEMONYM[span.value], start=span.start, end=span.end, sure=0.8 * span.sure)
            )
    yield from sorted(found, key=lambda span: span.start)


# ── titles, codes, addresses ─────────────────────────────────────────────────────────────────────────────────────────


def _find_titles(text: str) -> Iterator[TypedSpan]:
    for match in re.finditer(r"(?<=: )[^\W\d_][^;:,()\[\]]{1,80}(?:, [^;:,()\[\]]{1,40}(?=[;)]))?", text):
        title = match[0].strip()
        yield TypedSpan(value=title, start=match.start(), end=match.start() + len(title))
    for match in re.finditer(r"[\"“„«]([^\"”“»]{2,80})[\"”»]", text):
        yield TypedSpan(value=match[1], start=match.start(1), end=match.end(1))
    # Scripts other than Latin: a title in one is recognised by the script alone.
    for match in re.finditer(
        r"[\u0370-\u03ff\u0400-\u04ff\u0590-\u06ff\u0900-\u0dff\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]"
        r"[\u0370-\u03ff\u0400-\u04ff\u0590-\u06ff\u0900-\u0dff\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
        r"\u3000-\u303f\s·!?]*",
        text,
    ):
        title = match[0].strip()
        yield TypedSpan(value=title, start=match.start(), end=match.start() + len(title))
    yield from _find_names(text)


def _find_codes(text: str) -> Iterator[TypedSpan]:
    # Capitals with digits, five digits or more, or groups of digits.
    for match in re.finditer(
        r"(?<![\w-])(?:(?=[A-Z0-9-]*[A-Z])[A-Z0-9]{2,}(?:-[A-Z0-9]+)*|\d{5,}|\d+(?:-\d+){2,})(?![\w])", text
    ):
        yield TypedSpan(value=match[0], start=match.start(), end=match.end())


# Common endings only: "Inc.The" is not an address.
_URL = re.compile(
    r"https?://[^\s<>\"')\]]+|\bwww\.[^\s<>\"')\]]+|"
    r"(?<![\w.@-])[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|org|net|io|co|example|edu|gov|ai|de|fr|uk|eu|info|biz)(?:/[^\s<>\"')\]]*)?(?![\w@])"
)


def _find_urls(text: str) -> Iterator[TypedSpan]:
    for match in _URL.finditer(text):
        address = match[0].rstrip(".,;:!?")
        yield TypedSpan(value=address, start=match.start(), end=match.start() + len(address))
