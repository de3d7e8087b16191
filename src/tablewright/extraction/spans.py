"""Find what an answer of some kind looks like, with its place in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from tablewright.domain.model import Noun
from tablewright.domain.text import normalize_words, show
from tablewright.extraction.meaning import Kind, Wanted
from tablewright.text import SMALL_WORDS
from tablewright.values.choices import NEGATIONS, plain_boolean
from tablewright.values.countries import COUNTRIES, COUNTRY_OF, STATES
from tablewright.values.currencies import SYMBOLS
from tablewright.values.dates import MONTHS, WEEKDAYS, read_date, read_dates
from tablewright.values.measures import in_unit, read_measures
from tablewright.values.money import read_amounts
from tablewright.values.numbers import read_numbers
from tablewright.values.units import parse_unit, unit_at

LONGEST_TEXT = 200
LONGEST_NAME = 9  # words
LONGEST_NUMBER = 40  # characters, with what stands beside it
UNSURE = 0.5
"""Below this a value is read so only for want of a better one: a year where a count is asked."""


def typed(want: Wanted, text: str) -> Sequence[TypedSpan]:
    """Those that have a form by which they can be told from other words, in order."""
    if want.kind == "option":
        option = option_in(want, text)
        return (option,) if option else ()
    if want.kind in ("yesno", "text"):
        return ()
    found = spans(want.kind, text, want.unit)
    if want.kind in ("count", "number"):
        ranges = [match.span() for match in _RANGE.finditer(text)]
        found = [span for span in found if not any(span.start < end and start < span.end for start, end in ranges)]
    if want.kind == "date" and not found:
        return tuple(
            TypedSpan(value=span.value, start=span.start, end=span.end, sure=0.5) for span in spans("year", text)
        )
    if want.kind == "number" and want.field.type == "text":
        return tuple(_in_groups(found, text))
    if want.bare:
        return tuple(_bare(span, want.unit) for span in found if span.sure > UNSURE)
    return found


def _in_groups(found: Sequence[TypedSpan], text: str) -> Iterator[TypedSpan]:
    """Numbers with the groups of digits behind them: a telephone number is one."""
    end = 0
    for span in found:
        if span.start < end:
            continue
        run = _GROUPS.match(text, span.start)
        end = max(span.end, run.end() if run else 0)
        yield TypedSpan(value=text[span.start : end], start=span.start, end=end, sure=span.sure)


def whole(want: Wanted, value: str) -> TypedSpan | None:
    """The answer that the value of a label or a cell is, or holds."""
    if not any(character.isalnum() for character in value):
        return None
    if want.kind == "yesno":
        verdict = plain_boolean(value)
        return None if verdict is None else TypedSpan(value="yes" if verdict else "no", start=0, end=len(value))
    if want.kind in _NAMES:
        text = value.split(" | ")[0].strip(" .;")
        if want.kind == "city":
            # A part with a number in it is of the street, or the code of a post office.
            parts = [part.strip() for part in text.split(",")]
            text = next((part for part in parts if not any(map(str.isdigit, part))), parts[0])
        if not 0 < len(text) <= LONGEST_TEXT or (want.kind == "person" and _is_no_name(text)):
            return None
        if want.kind != "text" and (len(text.split()) > LONGEST_NAME or text.islower()):
            return TypedSpan(value=text, start=0, end=len(text), sure=0.5)
        return TypedSpan(value=text, start=0, end=len(text))
    found = typed(want, value)
    if want.kind == "count" and _is_address(value):
        return None  # the number of a house
    if want.kind in ("count", "number") and (date := read_date(value)) and date.clean and len(date.iso) > 4:
        return None  # a year may be a number, a day is none
    if found and want.kind == "number" and want.field.type == "text" and len(value) <= LONGEST_NUMBER:
        return TypedSpan(value=value.strip(), start=0, end=len(value))  # a telephone number, "19 mpg in town"
    best = max(found, key=lambda span: (span.sure, -span.start), default=None)
    # A year beside the label of a count says when, not how many.
    return None if best is not None and want.kind == "count" and best.sure <= UNSURE else best


def _is_no_name(text: str) -> bool:
    """Return True if it cannot be a person: it has a digit, or is where something is."""
    return any(map(str.isdigit, text)) or _is_address(text)


def _is_address(text: str) -> bool:
    """Return True if it ends in a country or a state: "4 Mill Lane, Lyon, France"."""
    before, _, last = text.rpartition(",")
    return bool(before) and last.strip(" .") in COUNTRIES | STATES


_GROUPS = re.compile(r"\+?[\d(][\d\s()./-]*\d(?!\w)")
_RANGE = re.compile(r"\d\s?[–—-]\s?\d")  # "51–100 persons" is no number of persons
_NAMES = frozenset(
    ("text", "name", "organisation", "title", "person", "place", "country", "nationality", "city", "state")
)


# ── options ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def option_in(want: Wanted, text: str) -> TypedSpan | None:
    """The one option that the text names and does not deny; with several it is unsure."""
    words = f" {normalize_words(text)} "
    named = [
        option
        for option in want.options
        if normalize_words(option) and _other_names(words, f" {normalize_words(option)} ")
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


def _other_names(words: str, option: str) -> bool:
    """Return True if it stands there without a denial right before it: "not a charity", "no longer open"."""
    place = words.find(option)
    while place >= 0:
        if NEGATIONS.isdisjoint(words[:place].split()[-2:]):
            return True
        place = words.find(option, place + 1)
    return False


def _bare(span: TypedSpan, unit: str) -> TypedSpan:
    """The number alone, in the unit that the field's name gives."""
    measure = next(iter(read_measures(span.value, unit)), None)
    fit = in_unit(measure, unit) if measure else None
    return span if fit is None else TypedSpan(value=show(fit.value), start=span.start, end=span.end, sure=span.sure)


class TypedSpan(Noun, frozen=True):
    """`value` is the answer as it would be written in a cell; `text[start:end]` is what it was read from."""

    value: str
    start: int
    end: int
    sure: float = 1.0


@lru_cache(maxsize=4096)
def spans(kind: Kind, text: str, unit: str = "", likely: str = "") -> Sequence[TypedSpan]:
    """All answers of that kind in a short text, in order; `likely` is a unit like the one that is mostly given."""
    match kind:
        case "year":
            return tuple(_years(text))
        case "date":
            return tuple(_dates(text))
        case "money":
            return tuple(_amounts(text, unit))
        case "measure":
            return tuple(_measures(text, unit, likely))
        case "count" | "number":
            return tuple(_numbers(text, kind, unit))
        case "city":
            return tuple(_places(text, "city"))
        case "state":
            return tuple(_of_level(text, STATES))
        case "country":
            return tuple(_countries(text))
        case "place":
            return tuple(_places(text, "place"))
        case "nationality":
            return tuple(_nationalities(text))
        case "person":
            return tuple(_people(text))
        case "name":
            return tuple(_names(text))
        case "organisation":
            return tuple(span for span in _names(text) if span.value not in STATES and span.value not in COUNTRIES)
        case "title":
            return tuple(_titles(text))
        case "code":
            return tuple(_codes(text))
        case "url":
            return tuple(_urls(text))
        case _:
            return ()


# ── numbers, dates, money ────────────────────────────────────────────────────────────────────────────────────────────

_YEAR = re.compile(rf"(?<![\d.,/{SYMBOLS}-])(1[0-9]{{3}}|20[0-9]{{2}})(?![\d/]|[.,]\d|-\d{{4}})")


def _years(text: str) -> Iterator[TypedSpan]:
    for match in _YEAR.finditer(text):
        if not _has_unit(text, match.end()):
            yield TypedSpan(value=match[1], start=match.start(), end=match.end())


def _has_unit(text: str, end: int) -> bool:
    """Return True if a number that ends here is measured in what follows: "1200 km"."""
    return text[end : end + 1] in (" ", "-", "°") and unit_at(text, end) is not None


def _dates(text: str) -> Iterator[TypedSpan]:
    if not any(character.isdigit() for character in text):
        return
    for date in read_dates(text):
        if not date.doubtful:
            sure = (0.55, 0.8, 1.0)[min(2, date.iso.count("-"))]
            yield TypedSpan(value=text[date.start : date.end].strip(), start=date.start, end=date.end, sure=sure)


def _amounts(text: str, unit: str) -> Iterator[TypedSpan]:
    for amount in read_amounts(text, unit):
        written = text[amount.start : amount.end]
        cents = re.search(r"\d[.,]\d{2}(?!\d)", written)
        is_marked = any(each.money.currency for each in read_amounts(written))
        sure = 1.0 if is_marked else 0.8 if cents else 0.4  # a bare number is an amount only beside a label
        yield TypedSpan(value=written.strip(), start=amount.start, end=amount.end, sure=sure)


def _measures(text: str, unit: str, likely: str) -> Iterator[TypedSpan]:
    for measure in read_measures(text, unit or likely):
        written = text[measure.start : measure.end].strip()
        if not measure.unit:
            yield TypedSpan(value=written, start=measure.start, end=measure.end, sure=0.3)
        elif not unit or in_unit(measure, unit) is not None:
            odd = likely and not unit and not _alike(measure.unit, likely)  # 13 minutes are no height
            yield TypedSpan(value=written, start=measure.start, end=measure.end, sure=0.2 if odd else 1.0)


def _alike(one: str, other: str) -> bool:
    left, right = parse_unit(one), parse_unit(other)
    return left is not None and right is not None and left.kind == right.kind


_ORDER_OR_TIME = re.compile(r"th|st|nd|rd|\s?[ap]\.?m\b", re.IGNORECASE)  # "120th", "6 p.m."


def _numbers(text: str, kind: Kind, unit: str) -> Iterator[TypedSpan]:
    years = {(span.start, span.end) for span in _years(text)}
    for number in read_numbers(text):
        written = text[number.start : number.end]
        if kind == "count" and (
            number.percent or number.value < 0 or _ORDER_OR_TIME.match(text, number.end) or _has_unit(text, number.end)
        ):
            continue
        if re.search(rf"[{SYMBOLS}]\s?$", text[max(0, number.start - 2) : number.start]):
            continue
        is_year = (number.start, number.end) in years
        yield TypedSpan(value=written.strip(), start=number.start, end=number.end, sure=0.25 if is_year else 1.0)


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────────

_CAPITAL = r"[A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĖĘĚĢĪĶĻĽŁŃŅŇŌŐŒŘŚŞŠŢŤŪŮŰŹŻŽƏǍȘȚЀ-ЯḤṢṬẒ]"
_WORD = rf"(?:(?:(?:Lt|St|Mt|Ft|Dr|Sgt|Capt)\. )?{_CAPITAL}(?:[\w’'&+-]|\.(?=\w)|(?<=\b{_CAPITAL})\.)*)"
_PARTICLE = (
    r"(?:of|the|de|del|della|dell|di|da|do|dos|du|des|la|le|les|el|los|las|van|von|der|den|und|y|e|al|bin|ibn|upon|am|"
    r"an der|sur|zu|&)"
)
_NUMERAL = r" \d{1,3}(?!\d|[.,:]\d| (?!(?:in|on|and|at|as|since|until|before|from) )[a-z%])"  # Channel 4
_NAME = re.compile(
    rf"(?<![\w-]){_WORD}(?:(?: | (?:{_PARTICLE} ){{1,2}}){_WORD}|{_NUMERAL})*(?:,? (?:Inc|Corp|Ltd|Co)\.)?"
)
_PERSON = re.compile(
    rf"(?<![\w-]){_CAPITAL}[\w’'-]+(?: (?:{_CAPITAL}\.)+| {_CAPITAL}(?=\s))*"
    r"(?: (?:van|von|de|da|di|der|den|del|la|le|bin|al|el|ter|dos|Mac|St\.)){0,3}"
    rf"(?: {_CAPITAL}[\w’'-]+){{1,3}}(?: (?:Jr|Sr)\.?| I{{2,3}}| IV)?"
)
_OPENS = re.compile(r"(?:^|[.!?:;]\s|[\"“(])$")
_ARTICLES = frozenset({"the", "a", "an"})
_JOINING = frozenset({"of", "de", "la", "&"})
_OPENING = (SMALL_WORDS - {"will"}) | frozenset(
    """after although among before between both despite during each following however like over since though under
    unlike until upon while""".split()
)
"""Pronouns, prepositions and conjunctions: at the beginning of a sentence they are capital like a name. "Will" is more
often a name there."""


def _trim(match: re.Match[str]) -> tuple[str, int]:
    """Without what is no part of the name: the month of a date, an article, and a small word that is capital only
    because a sentence starts with it."""
    name, start = match[0], match.start()
    while name:
        first, _, rest = name.partition(" ")
        word, end = first.casefold(), start + len(first)
        opens = word in _OPENING and first.istitle() and bool(_OPENS.search(match.string, 0, start))
        left_over = start > match.start() and word in _JOINING
        if not (opens or left_over or word in _ARTICLES or _is_dated(word, match.string, end)):
            break
        start, name = start + len(name) - len(rest), rest
    return name, start


def _is_dated(word: str, text: str, end: int) -> bool:
    """Return True if a word is the month or the day of a date: a number follows it."""
    return (word in MONTHS or word in WEEKDAYS) and bool(_NUMBER_NEXT.match(text, end))


_NUMBER_NEXT = re.compile(r",? \d")


def _names(text: str) -> Iterator[TypedSpan]:
    for match in _NAME.finditer(text):
        name, start = _trim(match)
        name = _unowned(name, text, start).rstrip("'’-&")
        words = re.split(r"[ -]", name)
        if len(name) > 1 and name not in _NO_NAME and not all(word in COUNTRY_OF or word == "born" for word in words):
            yield TypedSpan(value=name, start=start, end=start + len(name))


_POSSESSIVE = re.compile(r"(?:'s|’s|['’])$")
_NO_NAME = frozenset("Inc Ltd Corp Co LLC Lt Dr Mr Mrs Ms St Jr Sr II III Sgt Capt".split())


def _unowned(name: str, text: str, start: int) -> str:
    """ "Vietnam" of "Vietnam's top division", but all of "St. George's"."""
    follows = text[start + len(name) : start + len(name) + 2]
    return _POSSESSIVE.sub("", name) if len(follows) == 2 and follows[0] == " " and follows[1].isalpha() else name


_HOUSE = re.compile(r"(?<![\d.,])\d{1,3}[a-z]?\s$")
"""What a street has before its name, and a person has not: "7 Mill Lane", but "in 1994 Jane Hart"."""


def _people(text: str) -> Iterator[TypedSpan]:
    for match in _PERSON.finditer(text):
        name, start = _trim(match)
        if " " in name and not _HOUSE.search(text, max(0, start - 8), start):
            yield TypedSpan(value=name, start=start, end=start + len(name))


# ── places ───────────────────────────────────────────────────────────────────────────────────────────────────────────

_PLACE_WORD = rf"{_CAPITAL}(?:[\w’'-]|\.(?=\s{_CAPITAL}))*"
_PLACE_JOIN = r"(?: | (?:of|de|del|la|le|upon|on|am|an der|sur|the|do|da|dos|y) |-)"
_PLACE_NAME = rf"(?:(?:St|Ft|Mt|Pt)\. )?{_PLACE_WORD}(?:{_PLACE_JOIN}{_PLACE_WORD}){{0,4}}"
_CHAIN = re.compile(rf"(?<![\w-]){_PLACE_NAME}(?:(?: and |, )(?:and )?(?:the )?{_PLACE_NAME}|, D\.C\.){{0,3}}")
_NOT_A_CITY = frozenset(
    "The A An January February March April May June July August September October November December".split()
)


def _places(text: str, level: str) -> Iterator[TypedSpan]:
    for match in _CHAIN.finditer(text):
        chain, start = _trim(match)
        if len(chain) < 2 or chain.split()[0] in _NOT_A_CITY or chain in COUNTRY_OF:
            continue
        if level == "place":
            if ", " not in chain and _IN_AN_ADDRESS.search(text[max(0, start - 30) : start]):
                continue
            chain = _unowned(chain, text, start)
            yield TypedSpan(value=chain, start=start, end=start + len(chain))
            continue
        if _IN_AN_ADDRESS.search(text[max(0, start - 30) : start]):  # what follows the street
            street, _, chain = chain.partition(", ")
            start += len(street) + len(", ")
        first, *rest = chain.split(", ")
        if not first:
            continue
        placed = any(part in COUNTRIES or part in STATES for part in rest)
        wide = first in COUNTRIES or first in STATES  # and seldom a city, such as Singapore
        first = _unowned(first, text, start)
        yield TypedSpan(value=first, start=start, end=start + len(first), sure=1.0 if placed else 0.5 if wide else 0.8)


_IN_AN_ADDRESS = re.compile(r"\d (?:[A-Z][\w.]* of the )?$")
_KNOWN = re.compile(rf"{_CAPITAL}[\w.’'-]*(?: (?:and |of )?{_CAPITAL}[\w.’'-]*)*")


def _of_level(text: str, known: frozenset[str]) -> Iterator[TypedSpan]:
    for match in _KNOWN.finditer(text):
        yield from _longest(match[0], match.start(), known)


def _longest(run: str, start: int, known: frozenset[str] | dict[str, str]) -> Iterator[TypedSpan]:
    """The known names inside a run of capitals: "United States" in "the United States Navy"."""
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


def _countries(text: str) -> Iterator[TypedSpan]:
    found = list(_of_level(text, COUNTRIES))
    for span in _of_level(text, frozenset(COUNTRY_OF)):
        if not any(other.start <= span.start < other.end for other in found):
            found.append(TypedSpan(value=COUNTRY_OF[span.value], start=span.start, end=span.end, sure=0.8 * span.sure))
    yield from sorted(found, key=lambda span: span.start)


def _nationalities(text: str) -> Iterator[TypedSpan]:
    yield from _of_level(text, frozenset(COUNTRY_OF))


# ── titles, codes, addresses ─────────────────────────────────────────────────────────────────────────────────────────

_QUOTED = re.compile(r"[\"“„«]([^\"”“»]{2,80})[\"”»]")
_SCRIPTS = r"\u0370-\u03ff\u0400-\u04ff\u0590-\u06ff\u0900-\u0dff\u0e00-\u0e7f\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af"
_FOREIGN = re.compile(rf"[{_SCRIPTS}][{_SCRIPTS}\u3000-\u303f\s·!?]*")
_AFTER_COLON = re.compile(r"(?<=: )[^\W\d_][^;:,()\[\]]{1,80}(?:, [^;:,()\[\]]{1,40}(?=[;)]))?")
_CODE = re.compile(r"(?<![\w-])(?:(?=[A-Z0-9-]*[A-Z])[A-Z0-9]{2,}(?:-[A-Z0-9]+)*|\d{5,}|\d+(?:-\d+){2,})(?![\w])")
_ENDINGS = r"(?:com|org|net|io|co|example|edu|gov|ai|de|fr|uk|eu|info|biz)"
_URL = re.compile(
    r"https?://[^\s<>\"')\]]+|\bwww\.[^\s<>\"')\]]+|"
    rf"(?<![\w.@-])[a-z0-9-]+(?:\.[a-z0-9-]+)*\.{_ENDINGS}(?:/[^\s<>\"')\]]*)?(?![\w@])"
)


def _titles(text: str) -> Iterator[TypedSpan]:
    for match in _AFTER_COLON.finditer(text):
        title = match[0].strip()
        yield TypedSpan(value=title, start=match.start(), end=match.start() + len(title))
    for match in _QUOTED.finditer(text):
        yield TypedSpan(value=match[1], start=match.start(1), end=match.end(1))
    for match in _FOREIGN.finditer(text):
        title = match[0].strip()
        yield TypedSpan(value=title, start=match.start(), end=match.start() + len(title))
    yield from _names(text)


def _codes(text: str) -> Iterator[TypedSpan]:
    for match in _CODE.finditer(text):
        yield TypedSpan(value=match[0], start=match.start(), end=match.end())


def _urls(text: str) -> Iterator[TypedSpan]:
    for match in _URL.finditer(text):
        address = match[0].rstrip(".,;:!?")
        yield TypedSpan(value=address, start=match.start(), end=match.start() + len(address))
