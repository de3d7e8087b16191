"""Numbers as people write them: "1.234,56", "12,34,567", "(1,200)", "1.2 × 10^5", "2 ½", "about 5 million", "10–20".

`read_numbers` finds every number of a text with its place; `read_first_number` gives the first. The readers of measures
and money build on the parts: `normalize_digits` (one alphabet of digits and signs), `find_plain_numbers` (no ranges and
no one-letter multipliers, because "5 m" may be metres), `apply_letter_scale` and `spans_range`. Reads text only.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TypeVar

from msgspec import structs

from tablewright.domain.model import Struct
from tablewright.values.currencies import CURRENCY_AFTER, CURRENCY_BEFORE, CURRENCY_SYMBOLS, MAX_MARK_CHARACTERS

Item = TypeVar("Item")

_WORD_VALUES: dict[str, int] = {
    word: value
    for value, word in (
        *enumerate(
            "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
            " seventeen eighteen nineteen".split()
        ),
        *zip(range(20, 100, 10), "twenty thirty forty fifty sixty seventy eighty ninety".split(), strict=True),
    )
}
# Small numbers in German, French, Spanish, Dutch, Italian and Portuguese, as in counts, periods and shares.
FOREIGN_NUMBER_WORDS: dict[str, int] = {
    word: value
    for words in (
        "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn"
        " achtzehn neunzehn zwanzig",
        "deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize - - - vingt",
        "dos tres cuatro cinco seis siete ocho nueve diez - doce trece catorce quince dieciséis diecisiete dieciocho"
        " diecinueve veinte",  # "once" is also English
        "twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien vijftien zestien zeventien achttien"
        " negentien twintig",
        "- tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici diciassette"
        " diciotto diciannove venti",  # "due" is also English
        "dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezesseis dezessete dezoito"
        " dezenove vinte",
    )
    for value, word in enumerate(words.split(), start=2)
    if word != "-"
}


def _compile_number_phrase() -> re.Pattern[str]:
    names = list(_WORD_VALUES)
    units, teens, tens = ("|".join(part) for part in (names[1:10], ["zero", *names[10:20]], names[20:]))
    up_to_99 = rf"(?:(?:{tens})(?:[ -](?:{units}))?|{teens}|{units})\b"
    group = rf"(?:(?:{up_to_99}|an?)[ -](?:hundred|dozen)\b(?: (?:and )?{up_to_99})?|{up_to_99})(?: and a half\b)?"
    closer = r"(?:thousand|million|billion|trillion)\b"
    return re.compile(
        rf"\b(?:(?:{group}|(?:half )?an?)[ -]{closer}"
        rf"(?:,? (?:and )?{group}[ -]{closer}){{0,4}}(?:,? (?:and )?{group})?"
        rf"|half a (?:dozen|hundred)\b|{group}|(?:dozen|hundred)\b|{closer})",
        re.IGNORECASE,
    )


_NUMBER_PHRASE = _compile_number_phrase()


def replace_fraction_words(text: str, is_unit_at: Callable[[int], bool]) -> str:
    """Return the text with fractions of a unit in digits: "0.25 minute" for "a quarter of a minute"."""
    return re.sub(
        r"\b(half|(?:an? |one )?quarter|three[ -]quarters)(?: of)? an?(?= )",
        lambda found: (
            {"h": "0.5", "t": "0.75"}.get(found[1][0].lower(), "0.25") if is_unit_at(found.end()) else found[0]
        ),
        text,
        flags=re.IGNORECASE,
    )


def find_number_words(text: str, most: int) -> Iterator[tuple[int | float, int, int]]:
    """Yield the value, start and end of up to `most` numbers written in words."""
    whole = text.strip(" .!").casefold().removeprefix("minus ").removeprefix("negative ")
    for count, phrase in enumerate(_NUMBER_PHRASE.finditer(text)):
        if count == most:
            return
        words = re.findall("[a-z]+", phrase[0].casefold())
        # "one of the largest" and "the million people" count nothing, while "one" alone is an answer.
        if len(words) > 1 or (words[0] != "one" and words[0] in _WORD_VALUES) or phrase[0].casefold() == whole:
            yield _sum_number_words(words), phrase.start(), phrase.end()


def _sum_number_words(words: list[str]) -> int | float:
    half_of, words = words[0] == "half", words[1:] if words[0] == "half" else words
    total: int | float = 0
    current: int | float = 0
    for word in words:
        if word in _WORD_VALUES:
            current += _WORD_VALUES[word]
        elif word == "half":
            current += 0.5
        # These multiply the number right before them; the others close a group of thousands.
        elif word in ("dozen", "hundred"):
            current = (current or 1) * (12 if word == "dozen" else 100)
        elif word in SCALE_WORDS:
            total, current = total + (current or 1) * SCALE_WORDS[word], 0
    value = total + current
    value = value / 2 if half_of else value
    return int(value) if value == int(value) else value


# Later parts of a text are no answer any more.
MAX_TEXT_CHARACTERS = 4000
# Longer numbers exceed floats and measure nothing.
MAX_NUMBER_DIGITS = 300


class Number(Struct, frozen=True):
    """A number at `start:end`. In a range, `value` is the lower bound and `high` the upper.

    `clean`: the text has nothing else but a currency. `ambiguous`: the digits can be read in two ways.
    """

    value: int | float
    start: int
    end: int
    high: int | float | None = None
    clean: bool = False
    ambiguous: bool = False
    approximate: bool = False
    percent: bool = False
    glued: bool = False
    scale: int = 1
    note: str = ""


def read_first_number(text: str) -> Number | None:
    """Return the first number or range of numbers of the text, or None."""
    return next(iter(read_numbers(text)), None)


# A text is proved for several values, and read for each.
@lru_cache(maxsize=128)
def read_numbers(text: str) -> tuple[Number, ...]:
    """Return all numbers of the text in order, with ranges joined, and multipliers and signs applied."""
    text = normalize_digits(text[:MAX_TEXT_CHARACTERS])
    found = (apply_letter_scale(text, number) for number in find_plain_numbers(text))
    return tuple(
        _finish_number(text, number)
        for number in join_adjacent_items(found, lambda *pair: _join_number_range(text, *pair))
    )


def join_adjacent_items(items: Iterable[Item], join: Callable[[Item, Item], Item | None]) -> list[Item]:
    """Return the items, with neighbours replaced by their union wherever `join` returns one."""
    joined: list[Item] = []
    for item in items:
        if joined and (whole := join(joined[-1], item)) is not None:
            joined[-1] = whole
        else:
            joined.append(item)
    return joined


# ── one alphabet ─────────────────────────────────────────────────────────────────────────────────────────────────────

_SAME_CHARACTERS = str.maketrans(
    dict.fromkeys("\u00a0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u3000", " ")
    | dict.fromkeys("−﹣－‐‑", "-")
    | dict.fromkeys("⁄∕／", "/")
    | dict.fromkeys("’٬＇", "'")
    | {"٫": ".", "．": ".", "，": ",", "％": "%", "٪": "%", "＄": "$", "（": "(", "）": ")", "＋": "+", "：": ":"}
)


def normalize_digits(text: str) -> str:
    """Return the text with ASCII digits, spaces, minus signs and separators, of the same length."""
    if text.isascii():
        return text
    return re.sub(r"[^\D0-9]", lambda digit: str(unicodedata.decimal(digit[0])), text.translate(_SAME_CHARACTERS))


# ── single numbers ───────────────────────────────────────────────────────────────────────────────────────────────────

FRACTION_CHARACTERS = "½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑⅒"
_TOKEN = re.compile(
    rf"(?<!\d)(?:\d{{1,3}}(?: \d{{3}})+(?!\d)(?:[.,]\d+(?![.,']?\d))?|\d+(?:[.,']\d+)*|[{FRACTION_CHARACTERS}])"
    r"|(?<![\d.\w])\.\d+(?![.\d])"
)
_NAME_BEFORE = re.compile(r"(?<![^\W\d_])([^\W\d_]+)[-_]?$|_$")
_SIGN_BEFORE = re.compile(r"(?:^|(?<=[\s(\[:=,;/~≈<>]))([-+–])$")
_MINUS_WORD = re.compile(r"\b(?:minus|negative)\s$", re.IGNORECASE)
_EXPONENT = re.compile(r"[eE]([-+]?\d{1,4})(?!\w)")
_POWER = re.compile(
    r"(?P<times>\s?[×xX*·⋅]\s?10\s?)?(?:(?:\^|\*\*)\s?\(?(?P<power>[-+–]?\d{1,3})\)?"
    r"|(?P<raised>[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}))(?!\d)"
)
_MIXED = re.compile(rf"(?:[ -]| and )(\d{{1,3}})/(\d{{1,3}})(?![\d/.,])|[ -]?([{FRACTION_CHARACTERS}])")
_OVER = re.compile(r" ?/ ?(\d{1,3})(?![\d/]|[.,]\d)")
_PERCENT = re.compile(r"\s?(?:%|(?:percent|per cent|pct|prozent|pour cent|por ciento|per cento)\b)", re.IGNORECASE)

SCALE_WORDS: dict[str, int] = {
    **dict.fromkeys(("hundred", "hundreds"), 100),
    **dict.fromkeys(("thousand", "thousands", "tausend", "tsd", "mille", "duizend"), 10**3),
    **dict.fromkeys(("lakh", "lakhs", "lac", "lacs"), 10**5),
    **dict.fromkeys(("million", "millions", "mn", "mln", "mio", "millionen", "millones", "millón"), 10**6),
    **dict.fromkeys(("milhão", "milhões", "milione", "milioni", "miljoen", "miljoner", "millioner", "млн"), 10**6),
    **dict.fromkeys(("crore", "crores", "cr"), 10**7),
    **dict.fromkeys(("billion", "billions", "bn", "bln", "milliard", "milliards", "milliarden", "mrd"), 10**9),
    **dict.fromkeys(("miliardi", "miliardo", "miljard", "млрд"), 10**9),
    **dict.fromkeys(("trillion", "trillions", "tn", "trn"), 10**12),
}
# Longest first, since the first alternative that matches is taken: "billion" before "bn".
_SCALE = re.compile(rf"[\s-]?({'|'.join(sorted(SCALE_WORDS, key=len, reverse=True))})\b\.?(?!\w)", re.IGNORECASE)
SCALE_LETTERS = {"k": 10**3, "K": 10**3, "m": 10**6, "M": 10**6, "MM": 10**6, "b": 10**9, "B": 10**9, "T": 10**12}
_LETTER = re.compile(r"(?:(MM|[kKmMbBT])| ([kKMB]))(?![\w²³/'\"])")


def find_plain_numbers(text: str) -> Iterator[Number]:
    """Yield the single numbers of a text with normalized digits; number words count only if there are no digits."""
    # A text with more numbers is a table.
    place, done, count, most = 0, 0, 0, 40
    while count < most and (token := _TOKEN.search(text, place)):
        number = _read_number_at(text, token, done)
        place = token.end()
        if number is None:
            continue
        is_tolerance = count > 0 and text[max(0, number.start - 5) : number.start].rstrip().endswith(("±", "+-", "+/-"))
        place = done = number.end
        if not is_tolerance:
            count += 1
            yield number
    if not count:
        for value, start, end in find_number_words(text, most):
            if minus := _MINUS_WORD.search(text, done, start):
                value, start = -value, minus.start()
            percent, done = _PERCENT.match(text, end), end
            yield Number(value=value, start=start, end=percent.end() if percent else end, percent=bool(percent))


def _read_number_at(text: str, token: re.Match[str], done: int) -> Number | None:
    start = token.start()
    if _is_part_of_a_name(text, start, done):
        return None
    read = _parse_digits(token[0], text)
    if read is None:
        return None
    value, length, note = read
    end = start + length
    start, negative = _read_sign(text, start, done)
    value, end, fraction_note = _read_fraction(text, value, end)
    value, end = _read_exponent(text, value, end, token[0])
    scale = 1
    while (word := _SCALE.match(text, end)) and scale < 10**12:
        scale *= SCALE_WORDS[word[1].casefold()]
        end = word.end()
    scaled = multiply_exactly(-value if negative else value, scale)
    percent = _PERCENT.match(text, end)
    end = percent.end() if percent else end
    if not _is_representable(scaled):
        return None
    note = note or fraction_note
    return Number(
        value=scaled, start=start, end=end, ambiguous=bool(note), percent=bool(percent), scale=scale, note=note
    )


def _parse_digits(token: str, text: str) -> tuple[int | float, int, str] | None:
    """Return the value of digits and separators, its length in characters, and a note on what is doubtful; or None."""
    if token in FRACTION_CHARACTERS:
        return unicodedata.numeric(token), 1, ""
    if len(token) > MAX_NUMBER_DIGITS:
        return None
    if token.isdecimal():
        return int(token), len(token), ""
    kinds = [mark for mark in dict.fromkeys(token) if not mark.isdecimal()]
    if len(kinds) == 1 and kinds[0] != " ":
        return _parse_single_separator(token, kinds[0], text)
    mark = kinds[-1]
    whole, _, rest = token.rpartition(mark)
    if mark != " " and len(kinds) == 2 and rest.isdecimal() and _is_digit_grouping(whole.split(kinds[0])):
        return float(f"{_strip_separators(whole)}.{rest}"), len(token), ""
    if kinds == [" "]:
        return int(_strip_separators(token)), len(token), ""
    return None


def _parse_single_separator(token: str, mark: str, text: str) -> tuple[int | float, int, str] | None:
    parts = token.split(mark)
    first, last = parts[0], parts[-1]
    if len(parts) > 2 or mark == "'":
        if _is_digit_grouping(parts):
            return int("".join(parts)), len(token), ""
        # 1.2.3 is a version, 1,2,3 a list.
        return None if mark == "." else (int(first), len(first), "")
    if not first:
        return float(f"0.{last}"), len(token), ""
    if mark == "," and len(first) == len(last) == 4:
        # 2010,2012.
        return int(first), len(first), ""
    fraction = float(f"{first}.{last}")
    if len(last) != 3 or first[0] == "0":
        return fraction, len(token), ""
    if len(first) > 3:
        return fraction, len(token), "" if mark == "." else f"{token} has its comma at an odd place"
    style = _decimal_mark(text) if text != token else ""
    if mark == ",":
        return (
            (fraction, len(token), f"{token} may be {first}{last}")
            if style == ","
            else (int(first + last), len(token), "")
        )
    if style == ",":
        return int(first + last), len(token), f"{token} may be a fraction"
    return fraction, len(token), "" if style == "." else f"{token} may be {first}{last}"


def _decimal_mark(text: str) -> str:
    """Return how the other numbers of the text write fractions: "1.234 kg, 0.5 m" settles what the first point
    means."""
    text = text[:800]
    point = re.search(
        r"(?<![\d.,'])\d+(?:,\d{3})*\.(?!\d{3}(?!\d))\d+(?![.,']?\d)|(?<!\d)\d{1,3}(?:,\d{3})+(?![.,]?\d)", text
    )
    comma = re.search(
        r"(?<![\d.,'])\d+(?:\.\d{3})*,(?!\d{3}(?!\d))\d+(?![.,']?\d)|(?<!\d)\d{1,3}(?:\.\d{3}){2,}(?![.,]?\d)", text
    )
    return "" if bool(point) == bool(comma) else "." if point else ","


def _is_digit_grouping(parts: list[str]) -> bool:
    """Return True for groups of thousands, or of lakhs and crores: 12,34,567."""
    first, *middle, last = parts
    sizes = {len(part) for part in middle}
    return 1 <= len(first) <= 3 and len(last) == 3 and (sizes <= {3} or (sizes == {2} and len(first) <= 2))


def _strip_separators(text: str) -> str:
    return re.sub(r"\D", "", text)


def _is_part_of_a_name(text: str, start: int, done: int) -> bool:
    """Return True for digits of a name: COVID-19, H2O, CS0003, but not USD5, 10x20, mid-2010 and the 30 of 1h30."""
    name = _NAME_BEFORE.search(text, max(done, start - 16), start)
    if name is None:
        return False
    word = (name[1] or "").casefold()
    if name.start() == done and done > 0:
        return False
    # These are no part of a name: "x20", "mid-2010", "FY2021", "no5".
    if word in "x mid pre post early late ca circa approx approximately sub fy no nr".split():
        return False
    if name[0].endswith("-") and word in SCALE_WORDS:
        return False
    return not (word and CURRENCY_BEFORE.search(text, max(0, start - MAX_MARK_CHARACTERS), start))


def _read_sign(text: str, start: int, done: int) -> tuple[int, bool]:
    """Return the start of the number with its sign, which may come before or after a currency (-$5, $-5), and True if
    it is negative."""
    if word := _MINUS_WORD.search(text, max(done, start - 10), start):
        return word.start(), True
    sign = _SIGN_BEFORE.search(text, max(done, start - 8), start)
    if sign is None and start > done:
        currency = CURRENCY_BEFORE.search(text, max(done, start - MAX_MARK_CHARACTERS), start)
        if currency:
            sign = _SIGN_BEFORE.search(text, max(done, currency.start() - 8), currency.start())
        elif start - done >= 2 and text[start - 1] == "-" and text[start - 2] in CURRENCY_SYMBOLS:
            return start - 1, True
    if sign is None or (done and not text[done : sign.start(1)].strip() and sign.start(1) - done <= 2):
        # The dash of "10 -20" joins, it does not negate.
        return start, False
    return sign.start(1), sign[1] != "+"


def _read_fraction(text: str, value: int | float, end: int) -> tuple[int | float, int, str]:
    if not isinstance(value, int) or value > 10**9:
        return value, end, ""
    if (mixed := _MIXED.match(text, end)) and (mixed[3] or 0 < int(mixed[1]) < int(mixed[2])):
        if mixed[3]:
            return value + unicodedata.numeric(mixed[3]), mixed.end(), ""
        return (value * int(mixed[2]) + int(mixed[1])) / int(mixed[2]), mixed.end(), ""
    over = _OVER.match(text, end)
    # Other denominators, and larger numbers before the stroke, belong to dates and part numbers.
    if over is None or int(over[1]) not in {2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 16, 20, 32, 64, 100} or value > 999:
        return value, end, ""
    bottom = int(over[1])
    # More than one is written so in inches, as 17/16, and in thirds.
    if value >= bottom and bottom not in {2, 3, 4, 8, 16, 32, 64}:
        # 24/7.
        return value, end, ""
    # Marks are given out of these: "4/5" stars, "85/100".
    doubtful = value >= bottom or bottom in {5, 10, 20, 100}
    return value / bottom, over.end(), f"{value}/{bottom} may be a score or a date" if doubtful else ""


def _read_exponent(text: str, value: int | float, end: int, token: str) -> tuple[int | float, int]:
    """Return the value and end with a power of ten applied: 1.2e5, 1.2 × 10^5, 10⁵."""
    found = _EXPONENT.match(text, end) or _POWER.match(text, end)
    is_power = found is not None and found.re is _POWER
    if found is None or (is_power and not found["times"] and value != 10):
        return value, end
    # Rounded once, not twice.
    mantissa = token if re.fullmatch(r"[0-9]+\.[0-9]+", token) else repr(value)
    if not is_power:
        return float(f"{mantissa}e{found[1]}"), found.end()
    value = value if found["times"] else 1
    exponent = int((found["power"] or found["raised"]).translate(str.maketrans("⁻⁺⁰¹²³⁴⁵⁶⁷⁸⁹–", "-+0123456789-")))
    exact = isinstance(value, int) and 0 <= exponent < MAX_NUMBER_DIGITS
    return value * 10**exponent if exact else float(f"{1 if value == 1 else mantissa}e{exponent}"), found.end()


def multiply_exactly(value: int | float, scale: int) -> int | float:
    """Return the product without the noise of binary fractions: 1.1 million is 1100000."""
    if scale == 1:
        return value
    if isinstance(value, int):
        return value * scale
    product = float(f"{value * scale:.15g}")
    return int(product) if product.is_integer() and abs(product) < 1e15 else product


def _is_representable(value: int | float) -> bool:
    return math.isfinite(value) if isinstance(value, float) else abs(value) <= 10**MAX_NUMBER_DIGITS


def apply_letter_scale(text: str, number: Number) -> Number:
    """Return the number with a multiplier of one letter applied: 5k, 1.2M, 3 B. A small m may also be metres."""
    letter = None if number.percent or number.scale > 1 else _LETTER.match(text, number.end)
    if letter is None:
        return number
    name = letter[1] or letter[2]
    scale = SCALE_LETTERS[name]
    note = (
        "m read as million" if name == "m" else "" if number.note.endswith("may be a score or a date") else number.note
    )
    value = multiply_exactly(number.value, scale)
    if not _is_representable(value):
        return number
    return structs.replace(number, value=value, end=letter.end(), scale=scale, ambiguous=bool(note), note=note)


# ── around a number ──────────────────────────────────────────────────────────────────────────────────────────────────

_ABOUT_BEFORE = re.compile(
    r"(?:[~≈∼<>≤≥±⩽⩾]=?|\b(?:about|around|approx(?:imately)?|roughly|circa|ca|c|some|nearly|almost|over|above|under|below"
    r"|beyond|exceed(?:s|ing)|(?:more|less|fewer|greater) than|at least|at most|up to|as (?:many|much|low|high) as"
    r"|no (?:more|less|fewer) than|an? (?:estimated|average of)|estimated(?: at)?|est|starting (?:at|from)|from|min|max"
    r"|minimum|maximum|mid|early|late|etwa|rund|ungefähr|environ|env|cerca de|casi|unos|più di|plus de|mehr als|über)"
    r"\.?)[\s-]*(?:of )?$",
    re.IGNORECASE,
)
_ABOUT_AFTER = re.compile(
    r"\s?(?:\+(?!\d)|±|\+/-|\(?(?:approx|est|or (?:so|more|less|fewer))\b|plus\b|ish\b)", re.IGNORECASE
)


def is_approximate(text: str, start: int, end: int) -> bool:
    """Return True if the number at `start:end` is given with a margin: about 500, >500, 500+, over $500."""
    currency = CURRENCY_BEFORE.search(text, max(0, start - MAX_MARK_CHARACTERS), start)
    start = currency.start() if currency else start
    return bool(_ABOUT_BEFORE.search(text, max(0, start - 24), start) or _ABOUT_AFTER.match(text, end))


def spans_range(text: str, before: int, end: int, start: int) -> bool:
    """Return True if the text between `end` of one number and `start` of the next makes them the two ends of a range.

    `before` is where the first number starts: "between 10 and 20" is a range, "10 and 20" is not.
    """
    if start - end > MAX_MARK_CHARACTERS:
        return False
    between = text[end:start]
    if currency := CURRENCY_AFTER.match(between):
        between = between[currency.end() :]
    if currency := CURRENCY_BEFORE.search(between):
        between = between[: currency.start()]
    between = between.strip()
    if re.fullmatch(r"[-–—−~…]|\.{2,3}|to|through|thru|until|till|up to|bis|à|tot|hasta", between):
        return True
    currency = CURRENCY_BEFORE.search(text, max(0, before - MAX_MARK_CHARACTERS), before)
    before = currency.start() if currency else before
    if not re.fullmatch(r"and|und|et|y|e|&", between, re.IGNORECASE):
        return False
    said = text[max(0, before - 12) : before].rstrip()
    return re.search(r"\b(?:between|zwischen|entre|tra)$", said, re.IGNORECASE) is not None


def shared_scale(low: Number, high: Number) -> int:
    """Return the multiplier that the low end takes from the high end: for "10 to 20 million", not "500 to 2
    million"."""
    return high.scale if low.scale == 1 and multiply_exactly(low.value, high.scale) < high.value else 1


def scale_lower_end(low: Number, high: Number) -> int | float | None:
    """Return the first of two numbers as the lower end of their range; None if it is not below the second."""
    bottom = multiply_exactly(low.value, shared_scale(low, high))
    return bottom if bottom < high.value else None


def _join_number_range(text: str, low: Number, high: Number) -> Number | None:
    bottom = scale_lower_end(low, high)
    if low.high is not None or bottom is None or not spans_range(text, low.start, low.end, high.start):
        return None
    doubt = low.ambiguous or high.ambiguous
    percent = low.percent or high.percent
    scale = max(low.scale, shared_scale(low, high))
    return structs.replace(
        low, value=bottom, high=high.value, end=high.end, percent=percent, scale=scale, ambiguous=doubt
    )


def _finish_number(text: str, number: Number) -> Number:
    """Return the number with what depends on the whole text: accounting parentheses, a trailing minus, a margin, and
    whether it is clean."""
    before, after = text[: number.start], text[number.end :]
    left = _strip_currency_around(before, after)
    if number.high is None and left in ("()", "-") and number.value > 0 and not before.strip().endswith("-"):
        return structs.replace(number, value=-number.value, clean=True)
    approximate = is_approximate(text, number.start, number.end)
    glued = (
        (after[:1].isalpha() or after[:1] == "_")
        and not re.match(r"(?:st|nd|rd|th)\b", after, re.IGNORECASE)
        and not CURRENCY_AFTER.match(after)
    )
    return structs.replace(number, clean=left in ("", "."), approximate=approximate, glued=glued)


def _strip_currency_around(before: str, after: str) -> str:
    """Return what is left around a number, once the currency is away; only as much of it as tells clean from not."""
    if len(before) + len(after) > 60:
        return "…"
    before, after = before.strip(), after.strip()
    if currency := CURRENCY_BEFORE.search(before.rstrip("( ")):
        before = before[: currency.start()] + ("(" if before.endswith("(") else "")
    if currency := CURRENCY_AFTER.match(after):
        after = after[currency.end() :]
    return (before + after).replace(" ", "")
