"""The sides of a subject that a question can ask for (its challenges, its costs, its history, what it is), and the
words by which a sentence tells them."""

from __future__ import annotations

import re

from tablewright.table.model import Noun
from tablewright.text.words import roots


class Side(Noun, frozen=True, gc=True):
    """`asks` are the words by which a question or a heading names it; `names` are the same in a sentence and `says`
    those with other words that tell it: in small letters only, because "Merit Network" is no merit."""

    asks: re.Pattern[str]
    names: re.Pattern[str]
    says: re.Pattern[str]


class Asked(Noun, frozen=True, gc=True):
    """A question: its subject, as roots, and the sides of it that are asked for. `phrases` are the words of the subject
    that stand together in the question."""

    question: str
    subject: frozenset[str]
    phrases: tuple[tuple[str, ...], ...]
    names: frozenset[str]
    sides: tuple[Side, ...]
    side: frozenset[str]
    """The question's own words for the sides that it asks for."""
    what: bool
    """What the subject is, is asked."""


def read_asked(question: str, topic: str) -> Asked:
    what = bool(_ASKS_WHAT.match(question)) and not any(
        side.asks.fullmatch(question.split()[-1].rstrip("?")) for side in _SIDES
    )
    asking, subject_of = (question, "") if what else _parted(question)
    sides = () if what else tuple(side for side in _SIDES if side.asks.search(asking))
    sides = sides or tuple(side for side in _SIDES if not what and side.asks.search(topic))
    if not (sides or what) and (named := _ASKS_OF.match(question)):
        asking, subject_of = question[: named.end("side")], question[named.end("side") :]
        sides = (_side("_".join(named["side"].lower().split()).rstrip("s") + "~", ""),)
    own: list[str] = []
    for side in sides:
        own += side.asks.findall(asking) or side.asks.findall(topic)
        asking = side.asks.sub(" | ", asking)
    bare = asking + subject_of
    phrases = _phrases(_GENERAL.sub(" ", bare)) or _phrases(_GENERAL.sub(" ", topic))
    subject = frozenset(word for phrase in phrases for word in phrase)
    names = frozenset(root for match in _NAME.finditer(question) for root in roots(match[0])) & subject
    asked_for = frozenset(roots(" ".join(own), telling=True))
    return Asked(
        question=question, subject=subject, phrases=phrases, names=names, sides=sides, side=asked_for, what=what
    )


def _parted(question: str) -> tuple[str, str]:
    """Before and after the "of" that follows what is asked for: in "the benefits of risk management" no risks are."""
    first = min((match.end() for side in _SIDES if (match := side.asks.search(question))), default=len(question))
    parting = _OF.search(question, first)
    place = parting.start() if parting else len(question)
    return question[:place], question[place:]


def _phrases(text: str) -> tuple[tuple[str, ...], ...]:
    made: list[list[str]] = [[]]
    for word in re.findall(r"[^\W_]+(?:['’][^\W_]+)?|\S", text):
        if root := roots(word, telling=True):
            made[-1].extend(root)
        elif word != "-" and made[-1]:
            made.append([])
    return tuple(tuple(phrase) for phrase in made if phrase)


# ── words ─────────────────────────────────────────────────────────────────────────────────────────────────────────────

_ASKS_WHAT = re.compile(
    r"\s*(?:what (?:is|are|was|were)|what's|define|definition(?: of)?|overview(?: of)?|introduction(?: to)?|"
    r"basics(?: of)?)(?: an?| the)?(?: (?!(?:of|for|in|between|on|main|key|major|best|most)\b)[\w’'-]+){1,4}\s*\??$",
    re.IGNORECASE,
)
_ASKS_OF = re.compile(
    r"\s*what (?:is|are|was|were) the (?P<side>[a-z]+(?: [a-z]+)?) of (?=[^?]*[^\W\d_])", re.IGNORECASE
)
"""A side that has no words of its own here: then the question's must be said."""
_GENERAL = re.compile(
    r"\b(?:main|key|major|current\w*|common\w*|important|biggest|primary|typical\w*|different|various|most|latest|"
    r"recent\w*|overview|introduction|definition|basics|significant|possible|potential|today|face[sd]?|facing|there|"
    r"associated|related|involved|exactly|mean|means|give|list|summari[sz]e|discuss|about|and|or|explain|describe)\b",
    re.IGNORECASE,
)
_OF = re.compile(r"\b(?:of|for|in|with|on|to|facing|behind)\b", re.IGNORECASE)
_NAME = re.compile(r"(?<=\s)[A-ZÀ-Þ][\w’'-]*")


def _side(asks: str, says: str) -> Side:
    """Words, "~" for any ending and "_" for a space."""
    names, told = (
        rf"\b(?:{'|'.join(words.split())})(?!\w)".replace("~", r"\w*").replace("_", " ")
        for words in (asks, f"{asks} {says}")
    )
    return Side(asks=re.compile(names, re.IGNORECASE), names=re.compile(names), says=re.compile(told))


_SIDES = (
    _side(
        """challeng~ problem~ difficult~ barriers? obstacles? limitations? limits? drawbacks? disadvantages? downsides?
        risks? concerns? issues? criticisms? weakness~ threats? dangers? pitfalls? hurdles? cons""",
        """limited limiting costly expensive lacks? lacking hard_to struggl~ fail(?:s|ed|ing|ures?)? shortages? harm~
        worse~ critics? criti[cq]~ constrain~ uncertain~ vulnerab~ burdens? inefficien~ high~_(?:[a-z]+_)?costs? cannot
        unable insufficient too_(?:high|low|few|much|many|slow) suffer~ oppos(?:ed|ition) unprofitable bankrupt~
        disorders? diseases? declin~ loss(?:es)? damag~ accus~ controvers~""",
    ),
    _side(
        "benefits? advantages? strengths? merits? upsides? pros promises? gains? opportunit~",
        """improv~ enhanc~ reduc~ sav(?:es?|ed|ings?) better increas~ efficien~ help~ enabl~ faster fewer less(?!_than)
        lower~ cheaper protect~ boost~ without higher allow~ success~""",
    ),
    _side(
        "costs? prices? pricing fees? charges? expenses? economics? affordab~",
        r"""expensive cheap~ pay~ paid budgets? invest~ profit~ revenues? dollars? euros? pounds?
        per_(?:month|year|user|unit|hour) free (?<=[$€£¥])\d[\d.,]~""",
    ),
    _side(
        "history origins? evolution backgrounds? timeline beginnings?",
        r"""(?:1[5-9]|20)\d\d centur~ first began begun started founded established set_up invented introduced developed
        early_(?:days|years|1\d|20) earliest originally pioneer~ coined renamed released merged acquired
        bought_by opened""",
    ),
    _side(
        r"""products? services offerings? goods brands? (?:make|sell|offer|produce)(?=\s*\??$)""",
        """makes? mak(?:es|ing) produc~ manufactur~ sells? offers? provid(?:es?|ed|ing) distribut~ designs? builds?
        suppl(?:y|ies) publish(?:es|ing) services? hosts? speciali[sz]~""",
    ),
    _side(
        "careers? biograph~ filmograph~ discograph~",
        r"""(?:1[5-9]|20)\d\d began debut~ appeared directed played became joined won starred released worked known_for
        award~ graduated retired elected appointed recorded""",
    ),
    _side(
        "future trends? outlook forecasts? predictions? prospects? developments? next_steps?",
        r"""expect~ predict~ project(?:ed|ions?) will growth grow~ emerging by_20\d\d plan(?:s|ned)? upcoming likely
        increasingly new""",
    ),
    _side(
        "examples? applications? uses used_for use_cases? case_stud~ adoption implementations?",
        "such_as for_instance including used using applied deployed company companies customers? adopted include[sd]?",
    ),
    _side(
        "customers? clients? buyers? users? audience target_groups?",
        "us(?:es?|ed|ing) chose~ serv(?:es?|ed|ing) works?_with sells?_to bought relies? trust(?:s|ed) for_[a-z]+s",
    ),
    _side(
        "caus(?:es?|ed|ing) reasons? why drivers? factors?",
        """because due_to led_to leads?_to result(?:s|ed|ing)?_(?:in|from) driven owing contribut~ thanks_to
        stem(?:s|med) attribut~ triggered sparked prompted""",
    ),
    _side(
        "effects? impacts? consequences? influences? affects? implications? outcomes? results?",
        """led_to leads?_to increas~ decreas~ reduc~ chang~ caus~ affected improv~ harm~ rose fell contribut~ destroy~
        create[sd]? makes? allow~""",
    ),
    _side(
        "solutions? remed(?:y|ies) mitigat~ address(?:ed)? prevention treatments? overcome strateg~",
        "solv~ reduc~ prevent~ treat~ improv~ avoid~ overcom~ by_[a-z]+ing help~ require[sd]?",
    ),
    _side(
        "regulations? laws? legal legislation polic(?:y|ies) rules? governance compliance standards?",
        """regulat~ require[sd]? bans? banned licen[cs]~ government~ authorit~ must court~ approv~ permit~ prohibit~
        illegal""",
    ),
    _side(
        "comparisons? compared? versus vs differences? differ alternatives? trade-?offs?",
        "than unlike whereas while in_contrast instead rather both similar~",
    ),
    _side(
        "evidence research stud(?:y|ies) statistics data findings markets? numbers figures",
        r"""found showed shown survey~ report~ estimat~ percent per_cent billion million \d[\d.,]*\s?% researchers?
        according_to trial~""",
    ),
    _side(
        r"""how(?=\b[^?]*\bworks?\b) works?(?=\s*\??$) mechanisms? process(?:es)? methods? techniques?
        technolog(?:y|ies)""",
        """us(?:es?|ed|ing) by_[a-z]+ing through steps? systems? operat~ function~ consists? convert~ produc~ controll?~
        provid~""",
    ),
)
