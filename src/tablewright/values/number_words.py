"""English numbers in words: "twelve", "twenty-five", "two hundred and five", "half a million", "two dozen"."""

from __future__ import annotations

import re
from collections.abc import Iterator

_SMALL_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen"
)
_VALUES: dict[str, int] = {word: value for value, word in enumerate(_SMALL_WORDS.split())}
_VALUES |= {
    word: 10 * (place + 2) for place, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split())
}
_TIMES: dict[str, int] = {
    "dozen": 12, "hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12
}  # fmt: skip
_WITHIN = ("dozen", "hundred")  # they multiply what stands right before them; the others close a group of thousands

OTHER_LANGUAGES: dict[str, int] = {
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
"""Small numbers in German, French, Spanish, Dutch, Italian and Portuguese, as in counts, periods and shares."""

_UNIT = "|".join(list(_VALUES)[1:10])
_TEENS = "|".join(["zero", *list(_VALUES)[10:20]])
_TENS = "|".join(list(_VALUES)[20:])
_UP_TO_99 = rf"(?:(?:{_TENS})(?:[ -](?:{_UNIT}))?|{_TEENS}|{_UNIT})\b"
_GROUP = rf"(?:(?:{_UP_TO_99}|an?)[ -](?:hundred|dozen)\b(?: (?:and )?{_UP_TO_99})?|{_UP_TO_99})(?: and a half\b)?"
_CLOSER = r"(?:thousand|million|billion|trillion)\b"
_PHRASE = re.compile(
    rf"\b(?:(?:{_GROUP}|(?:half )?an?)[ -]{_CLOSER}"
    rf"(?:,? (?:and )?{_GROUP}[ -]{_CLOSER}){{0,4}}(?:,? (?:and )?{_GROUP})?"
    rf"|half a (?:dozen|hundred)\b|{_GROUP}|(?:dozen|hundred)\b|{_CLOSER})",
    re.IGNORECASE,
)


_FRACTION = re.compile(r"\b(half|(?:an? |one )?quarter|three[ -]quarters)(?: of)? an? ", re.IGNORECASE)
_FRACTIONS = {"h": "0.5", "t": "0.75"}


def with_fractions(text: str) -> str:
    """ "a quarter of a minute" as "0.25 minute"."""
    return _FRACTION.sub(lambda found: f"{_FRACTIONS.get(found[1][0].lower(), '0.25')} ", text)


def numbers_in_words(text: str, most: int) -> Iterator[tuple[int | float, int, int]]:
    """Value, start and end of up to `most` of them."""
    whole = text.strip(" .!").casefold().removeprefix("minus ").removeprefix("negative ")
    for count, phrase in enumerate(_PHRASE.finditer(text)):
        if count == most:
            return
        words = re.findall("[a-z]+", phrase[0].casefold())
        # "one of the largest" and "the million people" count nothing, while "one" alone is an answer.
        if len(words) > 1 or (words[0] != "one" and words[0] in _VALUES) or phrase[0].casefold() == whole:
            yield _value(words), phrase.start(), phrase.end()


def _value(words: list[str]) -> int | float:
    half_of, words = words[0] == "half", words[1:] if words[0] == "half" else words
    total: int | float = 0
    current: int | float = 0
    for word in words:
        if word in _VALUES:
            current += _VALUES[word]
        elif word == "half":
            current += 0.5
        elif word in _WITHIN:
            current = (current or 1) * _TIMES[word]
        elif word in _TIMES:
            total, current = total + (current or 1) * _TIMES[word], 0
    value = total + current
    value = value / 2 if half_of else value
    return int(value) if value == int(value) else value
