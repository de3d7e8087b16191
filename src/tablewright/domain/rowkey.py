"""The key of a row: its normalized name. Rows with equal keys are the same row.

Keys are stored, so a change here changes which imported rows meet the rows that are already kept: it needs a migration.
A key is a list of words and numbers joined by single spaces. Letters and digits are always apart ("QV40B550",
"QV-40B550" and "QV 40B550" are all "ln 40 a 550"), which keeps every digit significant and every spelling equal.
"""

from __future__ import annotations

import re
import unicodedata
from hashlib import blake2b

# Keys are indexed columns of the database; longer names get a hash at the end.
MAX_KEY_CHARACTERS = 300


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Every form is written as the words that are left of it here: "S.A. de C.V." is "sa de cv", "Sp. z o.o." is "sp z oo".
LEGAL_FORMS = word_set("""
    inc incorporated corp corporation co company ltd limited llc llp plc pllc pty pte pvt
    gmbh ggmbh mbh ag kg kgaa ohg se sa sas sasu sarl eurl snc spa srl srls sapa bv nv bvba ab as asa oy oyj aps
    kk ooo oao zao pao ооо оао зао пао тоо тов sro zrt kft nyrt doo ood eood jsc ojsc pjsc ltda eireli sia uab
    bhd sdn tbk fze fzco
    """)
# Keyed by their last word; the longest phrase first, since the first match is used.
_LEGAL_PHRASES: dict[str, tuple[list[str], ...]] = {
    "co": (["and", "co"],),
    "company": (["and", "company"],),
    "ltd": (["private", "ltd"], ["proprietary", "ltd"]),
    "limited": (["private", "limited"], ["proprietary", "limited"]),
    "kg": (["and", "co", "kg"],),
    "kgaa": (["and", "co", "kgaa"],),
    "cv": (["s", "de", "rl", "de", "cv"], ["sapi", "de", "cv"], ["sab", "de", "cv"], ["sa", "de", "cv"]),
    "oo": (["sp", "z", "oo"],),
    "zoo": (["sp", "zoo"],),
    "ro": (["spol", "s", "ro"], ["s", "ro"]),
    "rl": (["s", "de", "rl"], ["sa", "rl"], ["s", "a", "rl"]),
}
# Words after which the same letters belong to the name: "iPhone SE" is not "iPhone", "Resort & Spa" is not a company.
_NOT_AFTER = {
    "se": word_set("iphone ipad watch galaxy pixel macbook windows mac mini edition cooper xperia"),
    "spa": word_set("and day nail health hotel resort beauty med medical wellness thermal the"),
    "as": word_set("such known"),
}
# Forms that stand before the name as well as after it. No Russian word is written like these abbreviations.
_CJK_LEGAL = word_set("株式会社 有限会社 合同会社 股份有限公司 有限责任公司 有限責任公司 有限公司 주식회사 유한회사")
_LEGAL_FIRST = word_set("ооо оао зао пао ао тоо 株 주") | _CJK_LEGAL
_LEGAL_LAST = LEGAL_FORMS | _LEGAL_FIRST
# The longest first, since some of the forms end in another one.
_CJK_FORM = re.compile("|".join(sorted(_CJK_LEGAL, key=len, reverse=True)))

_TOKEN = re.compile(r"\d+(?:\.\d+)*|[^\s\d.]+")
# Most names have none of these, and are spared all the patterns above.
_NEEDS_CARE = re.compile(r"[.,'’`´/#(]")


def row_key(name: str) -> str:
    """Return the normalized name; "" only for a name without visible characters."""
    tokens = strip_legal_forms(split_words(name))
    key = " ".join(tokens) if tokens else _symbol_key(name)
    return key if len(key) <= MAX_KEY_CHARACTERS else _shorten_key(key, bool(tokens))


def fold_text(name: str) -> str:
    """Return the text in lower case, with compatible forms made equal and no accents on Latin letters. Punctuation is
    kept."""
    if name.isascii():
        return name.lower()
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name.translate(_APART)).casefold())
    # Case folding can expand, and what it expands to can compose: one more round settles it.
    text = unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text.casefold()))
    return unicodedata.normalize("NFC", _LATIN_ACCENTS.sub(r"\1", text).translate(_LATIN_LETTERS))


def split_words(text: str) -> list[str]:
    """Return the words and numbers of any text, folded, in order."""
    return split_folded_words(fold_text(text))


def split_folded_words(text: str) -> list[str]:
    """Return the words and numbers of a folded text, in order."""
    if not text.isascii():
        text = _CJK_FORM.sub(r" \g<0> ", text)
    if _NEEDS_CARE.search(text):
        text = _settle_punctuation(text)
    return _TOKEN.findall(text.translate(_SPACED))


def strip_legal_forms(tokens: list[str]) -> list[str]:
    """Return the words without "the" at either end and legal forms at the end, as long as a word is left."""
    while len(tokens) > 1:
        if tokens[0] == "the" or tokens[0] in _LEGAL_FIRST:
            tokens = tokens[1:]
        elif tokens[-1] == "the":
            tokens = tokens[:-1]
        elif (tokens[-1] in _LEGAL_LAST or tokens[-1] in _LEGAL_PHRASES) and (drop := _legal_length(tokens)):
            tokens = tokens[:-drop]
        else:
            break
    return tokens


def _legal_length(tokens: list[str]) -> int:
    last, before = tokens[-1], tokens[-2]
    for phrase in _LEGAL_PHRASES.get(last, ()):
        if len(phrase) < len(tokens) and tokens[-len(phrase) :] == phrase:
            return len(phrase)
    if last not in _LEGAL_LAST or before in _NOT_AFTER.get(last, ()):
        return 0
    # Also units, trims and editions, so they are kept after a number ("Rice 5 kg", "Windows 98 SE").
    return 0 if last in {"kg", "se", "as", "ag", "sa", "ab", "co", "spa"} and before[-1].isdigit() else 1


def _settle_punctuation(text: str) -> str:
    if "(" in text:
        text = re.sub(r"\(\s*(?:r|tm)\s*\)", " ", text)
    if "." in text:
        # Each begins with its literal character, which `re` finds at the speed of `str.find`.
        text = re.sub(r"\.(?<=\b[^\W\d_]\.)(?:(?=[^\W\d_]\b)|\s+(?=[^\W\d_]\.))", "", text)
        text = re.sub(r"\.(?<![\w.]\.)(?=\d)", "0.", text)
    if "," in text:
        # Thousands first: a comma that groups digits would else be taken for a decimal comma.
        text = re.sub(r",(?<=\d,)(?=\d{3}(?!\d))", "", text)
        text = re.sub(r",(?<=\d,)(?=\d)", ".", text)
    if "#" in text:
        text = re.sub(r"(?<=[a-z])#(?![a-z0-9])", " sharp ", text)
    if "/" in text:
        text = re.sub(r"\b([aks])/([sa])\b", r"\1\2", text)
    return re.sub(r"['’`´](?<=[^\W\d_].)(?=[^\W\d_])", "", text)


def _symbol_key(name: str) -> str:
    """Return the key of a name without a letter or digit ("!!!", an emoji): its visible characters."""
    visible = "".join(" " if char.isspace() else char for char in name if unicodedata.category(char) not in _INVISIBLE)
    return " ".join(visible.casefold().split())


def _shorten_key(key: str, has_words: bool) -> str:
    """Cut a long key and add a hash of the whole, so that long names that begin alike differ. The hash is in digits, so
    the key of a key is itself."""
    if not has_words:
        return key[:MAX_KEY_CHARACTERS].rstrip()
    digest = int.from_bytes(blake2b(key.encode(), digest_size=8).digest(), "big")
    # The hash has 20 digits, for 8 bytes, and a space before it.
    return f"{key[: MAX_KEY_CHARACTERS - 21].rstrip(' .')} {digest:020d}"


_INVISIBLE = frozenset({"Cc", "Cf", "Cs"})
_LATIN_ACCENTS = re.compile(r"([a-zæœøłđðþħŧıſ])[\u0300-\u036f]+")
_LATIN_LETTERS = str.maketrans(dict(zip("ʼæœøłđðþħŧıß", "' ae oe o l d d th h t i ss".split(), strict=True)))


class _Apart(dict[int, str]):
    """Set apart, before compatible forms are made equal, characters that would merge with their neighbours."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        category = unicodedata.category(char)
        # A fraction or a raised digit is a number of its own: "10½" must not become "101/2".
        kept = f" {char} " if category == "No" else "" if category in _INVISIBLE and category != "Cc" else char
        self[code] = kept
        return kept


class _Spaced(dict[int, str]):
    """Maps each character to what a key keeps of it: letters, marks, digits, dots and emoji; all else becomes space."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        category = unicodedata.category(char)
        if category == "Nd":
            kept = str(unicodedata.decimal(char))
        # Marks are letters in Indic scripts; emoji from U+1F000 tell names apart, older symbols only decorate them.
        elif category[0] in "LM" or char.isalnum() or (category == "So" and code >= 0x1F000):
            kept = char
        else:
            kept = {"&": " and ", "+": " plus ", ".": "."}.get(char, " ")
        self[code] = kept
        return kept


_APART = _Apart(str.maketrans({"™": " ", "®": " ", "©": " ", "℠": " ", "ʼ": "'"}))
_SPACED = _Spaced()
