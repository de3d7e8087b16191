"""What is asked for: "films directed by John Hillcoat" are films; that it is John Hillcoat's, a page must say too."""

from __future__ import annotations

import re
from functools import lru_cache
from math import ceil

from tablewright.decisions.candidates.kin import KIN
from tablewright.table.model import Noun
from tablewright.table.rowkey import fold, tokenize, words

# What is known to be run by people and to have a site of its own. The first tell nothing of the trade.
ANY_ORGANISATION = words("""
    business company corporation enterprise firm organisation organization provider startup supplier vendor
    service platform brand employer tool app solution software
""")
MAKES = words("maker manufacturer producer builder developer")
ORGANISATION = (
    ANY_ORGANISATION
    | MAKES
    | words("""
    agency airline association bakery bank brewery broker builder charity clinic club consultancy consultant contractor
    cooperative creamery dealer distillery distributor foundation haulier hospital hotel institute insurer
    lab laboratory library mill museum newspaper nonprofit operator publisher restaurant retailer school shop
    specialist store studio university utility webshop winery workshop carrier magazine wholesaler
""")
)
# Those that write about others or sell what others make.
PUBLISHER = words("""
    blog board directory encyclopedia encyclopaedia forum journal magazine marketplace newspaper outlet paper portal
    publication publisher register registry reseller retailer shop store webshop wholesaler wire
""")
_FLUFF = words("""
    a all an any best biggest current different famous five four good great greatest important interesting largest
    leading list lists main major many more most name names new notable of other popular possible recommended several
    six seven eight nine ten some ten the these those three top two typical various well-known
""")
_LEADING_IN = words("of for in by from at on near about around across within out against to into")
# Conditions, and what is to be found out about each: not what the things are.
_WITH = words("with without including that which who whose under between below above over cheaper less where when")
_STOP = words("a an and or the of for in by from at on near to its their is are was were be as into about")
_PARTICIPLE = re.compile(r"[a-z]{2,}(?:ed|ught|ade|old|uilt|own|tten|ung)$")


class Kind(Noun, frozen=True):
    """`head` is the noun ("film"), `topic` the words that say which ("direct"), `names` the names among them, each as
    its words. `listed` is how a list of them is headed ("films")."""

    head: str
    topic: tuple[str, ...] = ()
    names: tuple[tuple[str, ...], ...] = ()
    listed: tuple[str, ...] = ()
    organisation: bool = False
    publisher: bool = False


_BUSINESS = re.compile(r"\bbusiness(?:es)? (?:models?|ideas?|cases?)\b", re.IGNORECASE)
"""Nobody is called a business model: those that are in the business are."""


@lru_cache(maxsize=256)
def read_kind(things: str) -> Kind:
    things = _BUSINESS.sub("companies", things)
    said = re.findall(r"[^\s,;:()\[\]\"“”]+", things)
    while len(said) > 1 and (said[0].casefold() in _FLUFF or (said[0].isdigit() and len(said[0]) < 4)):
        said = said[1:]
    place = next((at for at in range(1, len(said)) if _ends_noun(*said[at : at + 2])), len(said))
    phrase, rest = said[:place], said[place:]
    dropped = next((at for at, word in enumerate(rest) if word.casefold() in _WITH), len(rest))
    rest = rest[:dropped]
    head = singular(phrase[-1]) if phrase else ""
    telling = [word for word in (*phrase[:-1], *rest) if word.casefold() not in _STOP]
    names = tuple(_names(rest))
    topic = tuple(dict.fromkeys(singular(word) for word in telling if singular(word)))
    organisation = head in ORGANISATION or head in PUBLISHER
    if organisation and head not in ANY_ORGANISATION | MAKES:
        topic = (*topic, head)
    return Kind(
        head=head,
        topic=topic,
        names=names,
        listed=tuple(tokenize(fold(phrase[-1]))) if phrase else (),
        organisation=organisation,
        publisher=head in PUBLISHER,
    )


def _ends_noun(word: str, after: str = "") -> bool:
    """ "directed by" ends "films", where "heated" of "heated blankets" ends nothing."""
    low = word.casefold()
    if low in _LEADING_IN or low in _WITH:
        return True
    return bool(_PARTICIPLE.fullmatch(low)) and after.casefold() in _LEADING_IN | {"as", "with"}


def _names(rest: list[str]) -> list[tuple[str, ...]]:
    """Runs of words with capitals, or years: "John Hillcoat", "2012 Summer Paralympics"."""
    found: list[list[str]] = []
    run: list[str] = []
    for word in (*rest, "."):
        if word[:1].isupper() or (word.isdigit() and len(word) == 4):
            run.append(word)
        elif run:
            found.append(run)
            run = []
    return [tuple(tokenize(fold(" ".join(run)))) for run in found]


# ── words that mean the same ─────────────────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=16384)
def singular(word: str) -> str:
    token = fold(word).strip(".,;:!?'’\"“”()[]")
    token = re.sub(r"['’]s$", "", token)
    if len(token) > 4 and token.endswith("ies"):
        return f"{token[:-3]}y"
    if len(token) > 4 and re.search(r"(?:ch|sh|x|ss|zz)es$", token):
        return token[:-2]
    return token[:-1] if len(token) > 3 and token.endswith("s") and not token.endswith(("ss", "us", "is")) else token


def akin(one: str, other: str) -> bool:
    """Two singular words of one stem: "robot" and "robotics", "electric" and "electricity"."""
    if one == other:
        return True
    short = min(len(one), len(other))
    need = max(5, ceil(0.8 * short))
    return short >= need and one[:need] == other[:need]


@lru_cache(maxsize=1024)
def singulars(text: str) -> tuple[str, ...]:
    return tuple(singular(word) for word in re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text))


def says(text: str, word: str) -> bool:
    return any(akin(each, word) for each in singulars(text))


def contains(said: tuple[str, ...], part: tuple[str, ...]) -> bool:
    return any(said[at : at + len(part)] == part for at in range(len(said) - len(part) + 1))


def heads(text: str, kind: Kind) -> bool:
    """Whether the text has the noun, or for companies another noun for them, in any number."""
    said = singulars(text)
    if any(akin(word, kind.head) for word in said):
        return True
    return kind.organisation and any(word in ORGANISATION and word not in PUBLISHER for word in said)


def heads_a_list(text: str, kind: Kind) -> bool:
    """Whether a heading announces several: "The best electric kettles", "All businesses", "List of towns"."""
    said = re.findall(r"[^\W_]+", fold(text))
    if not said or not heads(text, kind):
        return False
    many = [word for word in said if singular(word) != word or word in kind.listed]
    if any(akin(singular(word), kind.head) for word in many):
        return True
    return kind.organisation and any(singular(word) in ORGANISATION - PUBLISHER for word in many)


def about_topic(text: str, kind: Kind) -> float:
    """How much of what tells the kind apart the text says, from 0 to 1; 1 where nothing does."""
    if not kind.topic:
        return 1.0
    scores = [_said(text, word) for word in kind.topic]
    return sum(scores) / len(scores)


def _said(text: str, word: str) -> float:
    if says(text, word):
        return 1.0
    known = KIN.get(word) or next((kin for name, kin in KIN.items() if len(name) > 4 and akin(name, word)), None)
    if known is None:
        return 0.0
    said = singulars(text)
    if any(contains(said, singulars(phrase)) for phrase in known.strong):
        return 1.0
    return min(1.0, 0.5 * sum(1 for phrase in known.weak if contains(said, singulars(phrase))))


def names_all(text: str, kind: Kind) -> bool:
    """Whether the names that the question gives stand there: all of their words, for a page may put them otherwise."""
    said = set(tokenize(fold(text)))
    return all(set(name) <= said for name in kind.names)
