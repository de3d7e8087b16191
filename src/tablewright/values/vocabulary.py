"""Words as texts use them, in one spelling and in the singular."""

from __future__ import annotations

import re
from functools import lru_cache

from tablewright.domain.rowkey import fold

_TOKEN = re.compile(r"[^\W\d_]+|\d+(?:[.,]\d+)*")
_SUBSCRIPT = re.compile(r"\b([a-z])_(?=[a-z])")
_KEPT_S = ("ss", "us", "is")


def tokens(text: str) -> list[str]:
    """The words and numbers of a text in order, folded; "P_max" is one word."""
    return _TOKEN.findall(_SUBSCRIPT.sub(r"\1", fold(text)))


@lru_cache(maxsize=1 << 16)
def stem(word: str) -> str:
    """In the singular and in one spelling: "tyres" is "tire"."""
    return spelt(_singular(word))


def _singular(word: str) -> str:
    if len(word) < 4 or word[-1] != "s" or word.endswith(_KEPT_S):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    return word[:-1]


def spelt(word: str) -> str:
    if word in _AMERICAN:
        return _AMERICAN[word]
    return _ISE.sub(r"iz\1", word) if len(word) > 6 else word


_ISE = re.compile(r"is(ation|e|ed|ing|er)$")
_AMERICAN = dict(
    pair.split(":")
    for pair in (
        "tyre:tire colour:color litre:liter metre:meter kilometre:kilometer centimetre:centimeter "
        "millimetre:millimeter centre:center fibre:fiber theatre:theater grey:gray aluminium:aluminum cheque:check "
        "licence:license programme:program catalogue:catalog mould:mold jewellery:jewelry kerb:curb defence:defense "
        "labour:labor honour:honor harbour:harbor neighbour:neighbor flavour:flavor behaviour:behavior "
        "vapour:vapor armour:armor favour:favor rumour:rumor odour:odor plough:plow pyjama:pajama "
        "sulphur:sulfur whisky:whiskey yoghurt:yogurt cosy:cozy storey:story moulding:molding dialogue:dialog "
        "analogue:analog ageing:aging enrolment:enrollment fulfilment:fulfillment instalment:installment "
        "skilful:skillful travelled:traveled travelling:traveling modelling:modeling labelled:labeled "
        "labelling:labeling cancelled:canceled doughnut:donut draught:draft"
    ).split()
)
_BRITISH = {american: british for british, american in _AMERICAN.items()}


def writings(text: str) -> tuple[str, ...]:
    """Return how words may be written in a text whose index knows stems but no spellings: "tire" also as "tyre",
    "multicoloured" also as "multi coloured"."""
    words = [stem(word) for word in tokens(text)]
    apart = _PREFIXED.sub(r"\1 \2", " ".join(words))
    found = [" ".join(tokens(text)), " ".join(words), apart, " ".join(_BRITISH.get(word, word) for word in words)]
    return tuple(dict.fromkeys(filter(None, found)))


_PREFIXED = re.compile(
    r"\b(mono|multi|poly|micro|nano|anti|non|semi|super|ultra|over|under|self|bi|tri|photo|thermo|electro|hydro|turbo)"
    r"([a-z]{4,})\b"
)


def text_stems(text: str) -> tuple[str, ...]:
    """Values come again and again; whole passages do not, and are not kept."""
    return _known_stems(text) if len(text) <= LONGEST_VALUE else _stems(text)


LONGEST_VALUE = 200


@lru_cache(maxsize=1 << 16)
def _known_stems(text: str) -> tuple[str, ...]:
    return _stems(text)


def _stems(text: str) -> tuple[str, ...]:
    return tuple(map(stem, tokens(text)))


def holds(text: str, asked: str) -> bool:
    """Return True if the asked words stand in the text side by side, written together or apart: "Multi-coloured tiles"
    holds "multicoloured"."""
    wanted = "".join(text_stems(asked))
    return bool(wanted) and _stands_in(text_stems(text), wanted)


def _stands_in(words: tuple[str, ...], wanted: str) -> bool:
    if wanted in words:
        return True
    for start, word in enumerate(words):
        end = start
        while word and wanted.startswith(word) and end + 1 < len(words):
            end += 1
            word += words[end]
            if word == wanted:
                return True
    return False


def squeezed(text: str) -> str:
    """Return what is left of a name without case, punctuation and spaces, and without a registration number behind
    it."""
    folded = fold(text)
    return _NO_LETTERS.sub("", _REGISTRATION.sub("", folded)) or folded.strip()


_NO_LETTERS = re.compile(r"[\W_]+")
_REGISTRATION = re.compile(r"(?<!\s)\s*+\((?=[^()]*\d{4})[\w\s./:-]{4,24}\)\W*$")
