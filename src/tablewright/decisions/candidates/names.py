"""What can be the name of a thing: not a heading, not the word of a menu, not a sentence."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from tablewright.decisions.candidates.kind import Kind, singular
from tablewright.decisions.candidates.seen import label_of
from tablewright.table.rowkey import fold, row_key, words

LONGEST = 90
LONGEST_ITEM = 300
MOST_WORDS = 12
SHORTEST_LABEL = 3
"""Letters of a domain: of fewer, too many things are called so."""
_MENU = frozenset(
    """
    about|about us|all|articles|authors|awards|blog|book a demo|buy|careers|cart|case studies|case study|cases|
    categories|checkout|clients|contact|contact us|contents|cookies|customer stories|customers|data sheets|demo|
    documentation|docs|download|downloads|email|events|external links|facebook|faq|features|fees|further reading|
    get started|help|history|home|homepage|how it works|how we test|imprint|in stock|instagram|introduction|jobs|
    learn more|leadership|legal|linkedin|links|log in|login|mail|main page|menu|mills|more|most read|news|newsletter|
    next|notes|our story|our team|overview|partners|plans|plans and prices|press|previous|price|prices|pricing|print|
    privacy|privacy policy|product|products|read more|references|register|related|related articles|resources|results|
    reviews|see also|search|service|services|share|shop|sign in|sign up|sitemap|sold out|solutions|sources|
    specifications|specs|start|summary|support|table of contents|talk to us|team|terms|terms and conditions|
    testimonials|the company|total|totals|twitter|unknown|various|verdict|welcome|what we do|who we are|why us|work|
    workshop|you tube|youtube|conclusion|methodology|our verdict|pros|cons|none|yes|no|n a|na|tba|tbd|tbc|other|others
    """.replace("\n", "")
    .replace("    ", "")
    .split("|")
)
_PLACEHOLDER = re.compile(r"[\W_]*$")
_NOTES = re.compile(r"\s*(?:\[[^\]]{0,12}\]|[†‡*§¶^#]+|\((?:\d{1,3}|[a-z])\))\s*$")
_NUMBERING = re.compile(r"^\s*(?:#{1,6}\s+)?(?:[-*•‣◦▪–—]\s+)?(?:(?:#|no\.?\s*)?\d{1,3}[.):]\s+|#\d{1,3}\s+)?", re.I)
_SMALL = words("""
    a an and as at by de del della der des di do dos du e el en et for from il in la las le les lo los nor of on or
    the to und van vs von with y zu no n o
""")
_ENDS_NAME = re.compile(
    r"\s+[–—|·]\s+|\s+-\s+|:\s|\s*[([]|,\s(?!(?:Inc|Ltd|LLC|L\.L\.C|PLC|Corp|GmbH|S\.A|Limited|Jr|Sr)\b)|;\s|\s=\s|(?<!\b\w)(?<!\bSt)(?<!\bDr)(?<!\bMr)(?<!\bJr)(?<!\bSr)(?<!\bNo)(?<!\bCo)(?<!\bMrs)\.\s|\s[£$€¥]\s?\d|\s\d[\d.,]*\s?[£$€]"
)


def unmarked(text: str) -> str:
    """Without the marks of a list, of emphasis and of notes around it."""
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", text.strip())
    text = text.strip().strip("*_`").strip()
    while _NOTES.search(text):
        text = _NOTES.sub("", text)
    pairs = {'"': '"', "“": "”", "„": "“", "«": "»", "'": "'", "‘": "’"}
    if len(text) > 2 and pairs.get(text[0]) == text[-1]:
        text = text[1:-1]
    return text.strip().rstrip(",;:").strip()


def first_name(line: str) -> tuple[str, int]:
    """The name that an item of a list begins with, and where it begins: "2. Acme (Oslo): quick" is about "Acme"."""
    marks = _NUMBERING.match(line)
    start = marks.end() if marks else 0
    rest = line[start : start + LONGEST_ITEM]
    ends = _ENDS_NAME.search(rest)
    return unmarked(rest[: ends.start()] if ends and ends.start() else rest), start


def is_numbered(line: str) -> bool:
    marks = _NUMBERING.match(line)
    return bool(marks and marks[0].strip())


def fits(name: str, kind: Kind) -> bool:
    """Whether it can be the name of one thing of the kind, where only its form tells."""
    if not is_some_name(name, kind) or (name.endswith((".", "!", "?")) and not re.search(r"\b\w{1,4}\.$|[!?]$", name)):
        return False
    said = name.split()
    big = [word for word in said if fold(word).strip(".,'’\"&+-–") not in _SMALL and re.search(r"\w", word)]
    if not big or (not _capital(said[0]) and not said[0][:1].isdigit()):
        return False
    return sum(1 for word in big if _capital(word) or re.match(r"\W*\d", word)) / len(big) >= 0.7


_RANGE = re.compile(r"(?:up to|over|under|above|below|from|at least|at most|more than|less than) \d")


def is_some_name(name: str, kind: Kind) -> bool:
    """Whether it can be a name where its place says that it is one: the cell of a column of names."""
    if not name or len(name) > LONGEST or len(name.split()) > MOST_WORDS or _PLACEHOLDER.match(name):
        return False
    plain = " ".join(re.findall(r"[^\W_]+", fold(name)))
    if _RANGE.match(plain):
        return False
    if plain in _MENU or "://" in name or "@" in name:
        return False
    return not _is_category(name, kind)


def _is_category(name: str, kind: Kind) -> bool:
    """ "Gooseneck kettles", "Kettle", "AI companies": several of them, or the noun itself."""
    said = [word for word in re.findall(r"[^\W_]+", fold(name)) if word not in _SMALL]
    if [singular(word) for word in said] == [kind.head]:
        return True
    return not kind.organisation and any(word != singular(word) == kind.head for word in said)


def _capital(word: str) -> bool:
    letters = [character for character in word if character.isalpha()]
    return bool(letters) and (
        any(character.isupper() for character in letters) or unicodedata.category(letters[0]) == "Lo"
    )


def compact(name: str) -> str:
    """The letters and digits, as a domain has them: "Halden & Rourke Ltd" is "haldenandrourke"."""
    return row_key(name).replace(" ", "").replace(".", "")


_TWO_LETTERS = {
    ord(letter): spelt
    for letter, spelt in zip("äöüøåÄÖÜØÅ", ("ae", "oe", "ue", "oe", "aa", "Ae", "Oe", "Ue", "Oe", "Aa"), strict=True)
}


@lru_cache(maxsize=8_192)
def spellings(name: str) -> frozenset[str]:
    """The ways in which a domain writes it: with "and" or without, with "ue" for "ü"."""
    made = set()
    for spelt in (name, name.translate(_TWO_LETTERS)):
        key = row_key(spelt).replace(".", "")
        made.add(key.replace(" ", ""))
        made.add("".join(word for word in key.split() if word != "and"))
    return frozenset(made)


def is_own(name: str, domain: str) -> bool:
    """Whether a site is called like the thing or its maker: "Brückner & Vale" and bruecknervale.example, "Hearthline
    Degree 15" and hearthline.example, "International Business Machines" and ibm.example."""
    label = label_of(domain)
    if len(label) < SHORTEST_LABEL:
        return False
    return owns(name, label) or begins(name, label) or _initials(name) == label


def is_all_its_own(name: str, domain: str) -> bool:
    """Whether the whole site is about the thing, so that it is not one of several products of its maker."""
    return label_of(domain).replace("-", "") in spellings(name)


def _initials(name: str) -> str:
    return "".join(word[0] for word in row_key(name).split() if word != "and")


def owns(name: str, label: str) -> bool:
    """Whether a domain's label is that name, or its first words: "Skagerby Marine" at skagerby."""
    label = label.replace("-", "")
    said = name.split()
    for count in range(len(said), 0, -1):
        part = " ".join(said[:count])
        if label in spellings(part) and (count == len(said) or len(label) >= 4):
            return True
    return False


def begins(name: str, label: str) -> bool:
    """Whether a domain's label begins with that name: "Quillon" at quillonrobotics."""
    return any(len(spelt) >= 4 and label.replace("-", "").startswith(spelt) for spelt in spellings(name))
