"""Words as the search of documents compares them: lower case, without accents, cut to their stem."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from tablewright.text.words import stem

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


def count_common_words(texts: Sequence[str]) -> list[Counter[str]]:
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


def holds_phrase(text: list[str], phrase: list[str]) -> bool:
    if len(phrase) == 1:
        return phrase[0] in text
    first, length = phrase[0], len(phrase)
    return any(word == first and text[at : at + length] == phrase for at, word in enumerate(text))
