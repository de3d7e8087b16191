"""The words of a text, as they are looked for: lower case, without accents, cut to their stem.

Both databases have an index of their own for that. They cut texts and stem words each in its way, and PostgreSQL's
ranking does not know which words are rare; so that an answer does not depend on the database, the words are ours.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from zlib import crc32

# Chinese and Japanese are written without spaces: each character is a word, and words that belong together a phrase.
_UNSPACED = "\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_ACCENTS = re.compile("[\u0300-\u036f]")
_QUOTED = re.compile(r'["“”„«»]([^"“”„«»]+)["“”„«»]')

FUNCTION_WORDS = frozenset(
    """a about above after again all also am an and any are as at be because been before being below between both but
    by can could did do does doing down during each few for from further had has have having he her here hers him his
    how i if in into is it its itself just me more most my myself no nor not of off on once only or other our ours out
    over own same she should so some such than that the their theirs them then there these they this those through to
    too under until up very was we were what when where which while who whom why will with would you your
    yours""".split()
)


def words_of(text: str) -> list[str]:
    """Each word by its stem, in order."""
    return [stem(word) for word in _WORD.findall(folded(text))]


def folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", text))).casefold()


def weighty_words(text: str) -> list[str]:
    """Without those that only hold a sentence together, unless there are no others."""
    plain = _WORD.findall(folded(text))
    return [stem(word) for word in plain if word not in FUNCTION_WORDS] or [stem(word) for word in plain]


def in_common(texts: Sequence[str]) -> list[Counter[str]]:
    """How often each text has the stems of the words that another of them has too. What is only in one is passed over
    before it costs a stem."""
    plain = [Counter(_WORD.findall(folded(text))) for text in texts]
    shared = {word for word, count in Counter(word for each in plain for word in each).items() if count > 1}
    found = []
    for each in plain:
        stems: Counter[str] = Counter()
        for word in each.keys() & shared:
            stems[stem(word)] += each[word]
        found.append(stems)
    return found


def phrases_of(words: str) -> list[list[str]]:
    """What a text must hold, each a run of words: what is quoted; and every other word, for "SRP-375" is two."""
    quoted = [words_of(match) for match in _QUOTED.findall(words)]
    return [phrase for phrase in (*quoted, *map(words_of, _QUOTED.sub(" ", words).split())) if phrase]


def holds(text: list[str], phrase: list[str]) -> bool:
    if len(phrase) == 1:
        return phrase[0] in text
    first, length = phrase[0], len(phrase)
    return any(word == first and text[at : at + length] == phrase for at, word in enumerate(text))


def code_of(word: str) -> int:
    """32 bits that stand for a word in the index. Two words of one code are rare, and told apart by reading."""
    return crc32(word.encode("utf-8", "replace"))


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """Porter's rules (1980): "connected", "connecting" and "connections" are all "connect"."""
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return word
    return _without_ending(_without_suffixes(_with_plain_end(word)))


_LONG = {
    "ational": "ate", "tional": "tion", "enci": "ence", "anci": "ance", "izer": "ize", "bli": "ble", "alli": "al",
    "entli": "ent", "eli": "e", "ousli": "ous", "ization": "ize", "ation": "ate", "ator": "ate", "alism": "al",
    "iveness": "ive", "fulness": "ful", "ousness": "ous", "aliti": "al", "iviti": "ive", "biliti": "ble", "logi": "log",
}  # fmt: skip
_MIDDLE = {"icate": "ic", "ative": "", "alize": "al", "iciti": "ic", "ical": "ic", "ful": "", "ness": ""}
_LAST = dict.fromkeys("ement ance ence able ible ment ant ent ism ate iti ous ive ize ion al er ic ou".split(), "")


def _ending(word: str, of: dict[str, str]) -> str:
    """The longest that the word has."""
    return next((word[-size:] for size in range(7, 1, -1) if word[-size:] in of), "")


def _shape(word: str) -> str:
    """ "syzygy" → "cvcvcv": y is a vowel after a consonant."""
    shape = ""
    for letter in word:
        vowel = letter in "aeiou" or (letter == "y" and shape[-1:] == "c")
        shape += "v" if vowel else "c"
    return shape


def _measure(word: str) -> int:
    return _shape(word).count("vc")


def _is_short(word: str) -> bool:
    """Ends like "hop": consonant, vowel, consonant other than w, x, y."""
    return _shape(word)[-3:] == "cvc" and word[-1] not in "wxy"


def _is_doubled(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and word[-1] not in "aeiou"


def _with_plain_end(word: str) -> str:
    """Plurals, past tenses and -ing."""
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    if word.endswith("eed"):
        if _measure(word[:-3]) > 0:
            word = word[:-1]
    elif (end := next((end for end in ("ed", "ing") if word.endswith(end)), "")) and "v" in _shape(word[: -len(end)]):
        word = word[: -len(end)]
        if word.endswith(("at", "bl", "iz")):
            word += "e"
        elif _is_doubled(word) and word[-1] not in "lsz":
            word = word[:-1]
        elif _measure(word) == 1 and _is_short(word):
            word += "e"
    if word.endswith("y") and "v" in _shape(word[:-1]):
        word = word[:-1] + "i"
    return word


def _without_suffixes(word: str) -> str:
    for endings in (_LONG, _MIDDLE):
        end = _ending(word, endings)
        if end and _measure(word[: -len(end)]) > 0:
            word = word[: -len(end)] + endings[end]
    end = _ending(word, _LAST)
    rest = word[: -len(end)] if end else ""
    if _measure(rest) > 1 and (end != "ion" or rest.endswith(("s", "t"))):
        return rest
    return word


def _without_ending(word: str) -> str:
    if word.endswith("e"):
        rest = word[:-1]
        size = _measure(rest)
        if size > 1 or (size == 1 and not _is_short(rest)):
            word = rest
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word
