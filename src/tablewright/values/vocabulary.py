"""Normalize words of texts to one spelling and the singular, so that labels and questions match. Reads text only."""

from __future__ import annotations

import re
from functools import lru_cache

from tablewright.domain.rowkey import fold_text

_TOKEN = re.compile(r"[^\W\d_]+|\d+(?:[.,]\d+)*")


def split_tokens(text: str) -> list[str]:
    """Return the words and numbers of a text in order, folded; "P_max" is one word."""
    return _TOKEN.findall(re.sub(r"\b([a-z])_(?=[a-z])", r"\1", fold_text(text)))


@lru_cache(maxsize=1 << 16)
def stem_word(word: str) -> str:
    """Return the word in the singular and in American spelling: "tire" for "tyres"."""
    return normalize_spelling(_singular_form(word))


def _singular_form(word: str) -> str:
    # "glass", "status" and "analysis" are singular.
    if len(word) < 4 or word[-1] != "s" or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zes")):
        return word[:-2]
    return word[:-1]


def normalize_spelling(word: str) -> str:
    if word in _AMERICAN:
        return _AMERICAN[word]
    return re.sub(r"is(ation|e|ed|ing|er)$", r"iz\1", word) if len(word) > 6 else word


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


def spelling_variants(text: str) -> tuple[str, ...]:
    """Return the spellings to search for in an index of stems: "tire" also as "tyre", "multicoloured" also as "multi
    coloured"."""
    words = [stem_word(word) for word in split_tokens(text)]
    apart = re.sub(
        r"\b(mono|multi|poly|micro|nano|anti|non|semi|super|ultra|over|under|self|bi|tri|photo|thermo|electro|hydro|turbo)"
        r"([a-z]{4,})\b",
        r"\1 \2",
        " ".join(words),
    )
    found = [" ".join(split_tokens(text)), " ".join(words), apart, " ".join(_BRITISH.get(word, word) for word in words)]
    return tuple(dict.fromkeys(filter(None, found)))


def stem_text(text: str) -> tuple[str, ...]:
    """Return the stems of a text. Those of short texts are cached: values repeat, passages do not."""
    # Larger: passages, which do not repeat, push values out of the cache; smaller: long values are stemmed each time.
    return _stem_short_text(text) if len(text) <= 200 else _stem_tokens(text)


@lru_cache(maxsize=1 << 16)
def _stem_short_text(text: str) -> tuple[str, ...]:
    return _stem_tokens(text)


def _stem_tokens(text: str) -> tuple[str, ...]:
    return tuple(map(stem_word, split_tokens(text)))


def contains_phrase(text: str, asked: str) -> bool:
    """Return True if the text contains the asked words in sequence, joined or separate: "Multi-coloured tiles" contains
    "multicoloured"."""
    wanted = "".join(stem_text(asked))
    return bool(wanted) and _joins_to_word(stem_text(text), wanted)


def _joins_to_word(words: tuple[str, ...], wanted: str) -> bool:
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


def normalize_name(text: str) -> str:
    """Return a name without case, punctuation, spaces and a registration number at its end."""
    folded = fold_text(text)
    unregistered = re.sub(r"(?<!\s)\s*+\((?=[^()]*\d{4})[\w\s./:-]{4,24}\)\W*$", "", folded)
    return re.sub(r"[\W_]+", "", unregistered) or folded.strip()
