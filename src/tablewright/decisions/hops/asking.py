"""What a question asks for, and the words that it says it with: "which army" wants a name of an army, "when" a date."""

from __future__ import annotations

import re
from functools import lru_cache

from tablewright.extraction.wanted import Kind
from tablewright.table.model import Noun
from tablewright.text.words import roots

LONGEST_NOUN = 4
"""Words that a question names the wanted thing with: "what high ranking politician"."""


class Asking(Noun, frozen=True):
    """`kinds` are tried in order; with none, the answer is a phrase. `noun` is what is asked for ("minister position"),
    `head` the root of its last word. `several`: more than one thing may be the answer."""

    kinds: tuple[Kind, ...] = ()
    noun: str = ""
    head: str = ""
    several: bool = False
    month: bool = False
    colour: bool = False
    occupation: bool = False
    translated: bool = False
    life: str = ""
    """ "birth" or "death", where the question is when or where somebody was born or died."""

    @property
    def at_the_top(self) -> bool:
        """Whether a page says it at its beginning, and seldom with a word for it."""
        return bool(self.life or self.occupation or self.translated)


# ── words ────────────────────────────────────────────────────────────────────────────────────────────────────────────

_ORDINALS = {
    word: str(number)
    for number, word in enumerate(
        """first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth
        fifteenth sixteenth seventeenth eighteenth nineteenth twentieth""".split(),
        start=1,
    )
}
_ORDINAL = re.compile(r"\b(\d+)(?:st|nd|rd|th)\b", re.IGNORECASE)
_ORDINAL_WORD = re.compile(rf"\b(?:{'|'.join(_ORDINALS)})\b", re.IGNORECASE)


_GROUPED = re.compile(r"(?<=\d)[.,](?=\d)")
_ZEROS = re.compile(r"(?<!\d)0+(?=\d)")
_DOUBLED = re.compile(r"(?<=..)([^\W\d])\1$")
_UNIT = re.compile(r"(?<=\d)(?=[^\W\d_])")


@lru_cache(maxsize=65_536)
def telling(text: str) -> tuple[str, ...]:
    """The telling words of a text without their endings. "27th" and "third" are numbers, "3,000" is one word, and the
    unit of "1500m" is another."""
    plain = _ORDINAL_WORD.sub(lambda found: _ORDINALS[found[0].lower()], _ORDINAL.sub(r"\1", text))
    plain = _UNIT.sub(" ", _ZEROS.sub("", _GROUPED.sub("", plain)))
    return tuple(_DOUBLED.sub(r"\1", root) for root in roots(plain, telling=True))


# ── what is asked for ────────────────────────────────────────────────────────────────────────────────────────────────

_OPENINGS: tuple[tuple[str, tuple[Kind, ...]], ...] = (
    (r"\bhow (?:much money|much did \w+ cost|much (?:was|were|is) (?:\w+ )?(?:paid|spent))\b", ("money",)),
    (r"\bhow (?:many|much)\b|\b(?:what|which) (?:number|percentage|percent|proportion) of\b", ("count", "number")),
    (r"\bhow (?:long)\b", ("measure", "date", "number")),
    (r"\bhow (?:far|tall|wide|deep|heavy|fast|large|big)\b", ("measure", "number")),
    (r"\bhow (?:old|high|often)\b", ("number", "measure")),
    (r"\b(?:what|which)(?: \w+)? years?\b|\bin what year\b|\bwhat (?:is|was) the year\b", ("year",)),
    (r"\bwhen\b|\b(?:what|which) (?:\w+ )?(?:date|day|month)\b|\bwhat (?:is|was) the (?:\w+ ){0,2}date\b", ("date",)),
    (r"\bwho(?:m|se)?\b", ("person", "name")),
    (r"\bwhere\b", ("place",)),
)
_OF_NOUN: tuple[tuple[str, tuple[Kind, ...]], ...] = (
    ("city town village capital birthplace hometown", ("city", "place")),
    ("country nation", ("country",)),
    ("state province", ("state", "place")),
    ("nationality", ("nationality",)),
    ("population inhabitants attendance capacity total count score rank number seats members", ("number",)),
    ("area height length distance elevation size width depth weight altitude radius diameter", ("measure", "number")),
    ("earnings cost price gross revenue budget salary income prize profit fee worth", ("money", "number")),
    (
        """person author writer director politician founder singer actor actress player coach president wife husband
        father mother brother sister son daughter nephew niece aunt uncle composer winner owner man woman artist driver
        architect manager captain king queen emperor prince princess musician scientist designer producer chairman
        chairwoman leader governor mayor minister character teammate opponent predecessor successor spouse partner child
        children parent grandfather grandson boxer golfer cyclist swimmer athlete footballer drummer guitarist
        vocalist""",
        ("person", "name"),
    ),
)
_NOUN_KINDS: dict[str, tuple[Kind, ...]] = {
    telling(word)[0]: kinds for listed, kinds in _OF_NOUN for word in listed.split()
}
_STOPS = r"(?:is|are|was|were|be|been|did|does|do|has|have|had|can|could|will|would|that|who|which|whose|when|where|s)"
_PREPOSITIONS = (
    r"(?:of|in|on|at|by|for|from|to|with|as|into|about|after|before|during|under|over|between|held|used|given|played|"
    r"called|named|born|serves?|flows?|contains?|lies|runs|formed|won|made)"
)
_NAMED = re.compile(rf"\b(?:what|which)\s+(?!{_STOPS}\b)(?P<noun>[^?,;]+)", re.IGNORECASE)
_SAID_OF = re.compile(
    r"\b(?:what|which)(?:\s+(?:is|are|was|were)|['’]s)\s+(?:the|its|his|her|their|an?)\s+(?P<noun>[^?,;]+)",
    re.IGNORECASE,
)
_OPENS = re.compile(
    r"(?:(?:in|at|on|to|of|for|from|by|with|after|under|during) )?(?P<word>who(?:m|se)?|what|which|when|where|how)\b",
    re.IGNORECASE,
)
_END = re.compile(rf"(?<!\s)\s+(?:{_STOPS}|{_PREPOSITIONS}|the|this|these|an?)\b|['’]s?\b", re.IGNORECASE)
_SEVERAL = re.compile(
    r"\bwho (?:are|were|starred|wrote|directed|founded|built)\b|\b(?:which|what) \w+s (?:are|were)\b|"
    r"\b(?:which|what) (?:two|three|four)\b",
    re.IGNORECASE,
)


@lru_cache(maxsize=64)
def asking(question: str) -> Asking:
    noun = _noun(question)
    roots = telling(noun)
    head = roots[-1] if roots else ""
    kinds = next((kinds for form, kinds in _OPENINGS if re.search(form, question, re.IGNORECASE)), None)
    if kinds is None or (noun and head in _NOUN_KINDS and not re.search(r"\bhow\b", question, re.IGNORECASE)):
        kinds = _NOUN_KINDS.get(head, kinds or ())
    if noun and head not in _NOUN_KINDS and not re.search(r"\bhow\b", question[:4], re.IGNORECASE):
        kinds = kinds if kinds in (("year",), ("date",), ("count", "number")) else ()
    month = bool(re.search(r"\b(?:what|which) month\b", question, re.IGNORECASE))
    lived = _LIVED.search(question)
    life = "" if lived is None else "birth" if lived["born"] else "death"
    return Asking(
        kinds=kinds,
        noun=noun,
        head=head,
        several=bool(_SEVERAL.search(question)),
        month=month,
        colour=head in ("color", "colour"),
        occupation=head in _OCCUPATIONS,
        translated=bool(_TRANSLATED.search(question)),
        life=life if month or kinds[:1] in _OF_A_LIFE else "",
    )


_LIVED = re.compile(r"\b(?:(?P<born>born|birth\w*)|die[ds]?|death|passed away)\b", re.IGNORECASE)
_OCCUPATIONS = frozenset(telling("occupation profession job career"))
_TRANSLATED = re.compile(
    r"\b(?:what|which)\b.*\b(?:english (?:title|name|translation|meaning)|translat\w+|mean(?:s|ing)?)\b", re.IGNORECASE
)
_OF_A_LIFE: tuple[tuple[Kind, ...], ...] = (("year",), ("date",), ("city",), ("place",), ("country",), ("state",))


def _noun(question: str) -> str:
    """ "chemical series" of "What chemical series does …", "land area" of "What is the land area of …"."""
    opening = _OPENS.match(question)
    if opening and opening["word"].lower() not in ("what", "which"):
        return ""
    place = opening.start("word") if opening else 0
    found = (_NAMED.match(question, place) or _SAID_OF.match(question, place)) if opening else _NAMED.search(question)
    if found is None:
        return ""
    named = re.sub(r"^(?:kind|type|sort|form|style|name)s? of (?:the )?", "", found["noun"])
    return " ".join(_END.split(named)[0].split()[:LONGEST_NOUN])


_ASKED_OF_ACT = re.compile(r"\b(?:does|do|did)\b(?P<rest>.*)", re.IGNORECASE)
_ASKED_OF_DONE = re.compile(
    r"\b(?:is|are|was|were|been) (?:\w+ )?(?P<done>\w+(?:ed|en|wn|ught|ade|eld)) by\b", re.IGNORECASE
)


def verbs(question: str, asks: frozenset[str]) -> list[str]:
    """The root of the verb whose object is asked for: "use" of "What does the winner use as …?", "parody" of "What is
    parodied by …?". `asks` are the roots that do not describe: the first of them behind "does" is taken for it."""
    if done := _ASKED_OF_DONE.search(question):
        return list(telling(done["done"]))
    act = _ASKED_OF_ACT.search(question)
    return [word for word in telling(act["rest"]) if word in asks][:1] if act else []
