"""A message taken apart at the words that say how something is meant: must, ideally, matters most, no, for, drop."""

from __future__ import annotations

import re
from functools import partial
from typing import Literal, TypeAlias

from tablewright.decisions.intake.budget import STRUCK
from tablewright.decisions.intake.product import COLOUR, MATERIAL
from tablewright.table.model import Noun

Mode: TypeAlias = Literal["bare", "must", "nice", "priority", "avoid", "use", "place", "drop", "allow"]


class Clause(Noun, frozen=True):
    """`cue` are the words that set the mode: how a negative is to be put depends on them."""

    mode: Mode
    text: str
    cue: str = ""


def clauses(text: str) -> tuple[Clause, ...]:
    """Of a text that was `turned`."""
    found: list[Clause] = []
    for sentence in _SENTENCES.split(text):
        mode: Mode = "bare"
        cue = ""
        at = 0
        for match in _CUE.finditer(sentence):
            if _belongs(match, mode, cue, sentence[at : match.start()]):
                continue
            found += _listed(mode, sentence[at : match.start()], cue)
            mode, cue = _mode_of(match, mode, sentence[at : match.start()]), match[0].strip().casefold()
            at = match.end()
        found += _listed(mode, sentence[at:], cue)
    return tuple(found)


def _belongs(match: re.Match[str], mode: Mode, cue: str, between: str) -> bool:
    """Whether the words are part of the item before: "a slot for a card", "not from Acme", "dishes with a lid"."""
    if match[0].casefold() == "with" and _VERB_FOLLOWS.search(cue) and between.strip(" ,"):
        return True
    if not (match["use"] or match["place"]) or mode in ("bare", "use", "place") or between.rstrip().endswith(","):
        return False
    return not (match["use"] and cue == "with" and between.strip())


def _mode_of(match: re.Match[str], before: Mode, between: str) -> Mode:
    """ "Ideally with a timer" stays a wish; a negative is one in any company."""
    mode: Mode = next(name for name in _MODES if match[name])
    is_with = mode == "must" and bool(_WITH.fullmatch(match[0].strip(" ,")))
    return before if is_with and not between.strip() and before in ("nice", "priority", "avoid", "drop") else mode


def _listed(mode: Mode, text: str, cue: str) -> list[Clause]:
    """The items of a list. One after a comma belongs to it; after a negative only if the list goes on with "or"."""
    found: list[Clause] = []
    commas = re.split(r"\s*,\s*|\s*/\s+|\s+(?:then|plus|as well as)\s+|\s*&\s*", text)
    is_short = all(len(part.split()) <= 4 for part in commas)
    is_alike = len({_kind(item) for part in commas for item in re.split(r"\s+(?:or|nor)\s+", part)}) == 1
    ends_in_or = is_short and is_alike and bool(re.search(r"\b(?:or|nor)\b", commas[-1]))
    for number, part in enumerate(commas):
        here = mode
        if number and (mode in ("use", "place", "drop", "allow") or (mode == "avoid" and not ends_in_or)):
            here = "bare"
        if here == "avoid":
            pieces = re.split(r"\s+(?:or|nor)\s+|^(?:or|nor)\s+", part)
            first, *rest = re.split(r"\s+and\s+", pieces[-1], maxsplit=1)
            maker = "from " if re.match(r"\s*(?:anything |something )?(?:from|by)\b", commas[0]) else ""
            named = [each if at == number == 0 else f"{maker}{each}" for at, each in enumerate((*pieces[:-1], first))]
            found += [Clause(mode=here, text=each, cue=cue) for each in named if each.strip()]
            found += [Clause(mode="avoid" if len(each.split()) < 2 else "bare", text=each, cue=cue) for each in rest]
        elif here == "drop":
            found += [Clause(mode=here, text=each, cue=cue) for each in re.split(r"\s+(?:and|or)\s+", part)]
        else:
            found += [Clause(mode=here, text=each, cue=cue) for each in _ands(part)]
    return [each for each in found if each.text.strip(" ,.:;!?-")]


def _kind(item: str) -> str:
    """In "no wool, blue or grey" the colours are wanted: a list is of one kind."""
    words = item.strip().casefold()
    return "colour" if re.fullmatch(COLOUR, words) else "material" if re.fullmatch(MATERIAL, words) else ""


def _ands(text: str) -> list[str]:
    parts = re.split(r"(?:^|\s+)and\s+(?:also\s+|then\s+)?|^\s*(?:but|or|then)\s+|\s+but\s+", text)
    return [part for part in parts if part.strip()]


# ── what follows is turned around: "a timer would be nice" is "ideally a timer" ───────────────────────────────────────

_X = r"(?P<x>(?!\s)[^,;.!?|]{2,60}?)"
_START = r"(?:(?<=[,;.!?|])|^|(?<=\bbut\b)|(?<=\band\b)|(?<=\bwith\b))\s*(?:(?:but|and|the|an?) ){0,3}"
_IS = (
    r"(?:\s+(?:is|are|would be|'d be|will be|being)|'s|'d be)\s+(?:definitely |really |absolutely |also |still |just )*"
)
_TURNED = (
    (rf"{_START}{_X}\s+(?:isn't|is not|doesn't|does not|aren't|don't)\s+(?:so |that |really )?(?:important|"
     rf"matter)(?: much)?"
     r"(?:,| but|, but)\s+(?P<y>[\w -]{2,30}?) (?:is|does|are|do)\b", r" , drop \g<x> | priority is \g<y> | "),
    (rf"{_START}{_X}\s+(?:doesn't|does not|doesnt|don't|isn't|is not|are not|aren't|is no longer)\s+(?:really |so |"
     rf"that )?"
     r"(?:matter|needed|important|necessary|required|a must)(?: any ?more| after all| to me)?\b", r" , drop \g<x> | "),
    (r"\bwithout the (?P<x>[\w -]{2,40}?) (?:constraint|requirement|condition)s?\b", r" , drop \g<x> | "),
    (rf"{_START}{_X}\s+first(?:,? (?:and )?then (?P<y>[\w -]{{2,30}}))?(?=\s*(?:[,.;!|]|"
     rf"$))", r" , priority is \g<x>, \g<y> | "),
    (rf"{_START}{_X}\s+a must(?:-have)?(?=\s*(?:[,.;!|]|$))", r" , must have \g<x> | "),
    (rf"{_START}{_X}(?:\s+(?:matters?|is|are)\s+(?:much |far |way )?more(?: important)?(?: to me)?\s+than|"
     r"(?<!prefer)\s+(?:over|takes priority over|comes before|trumps))\s+(?!the\b|\d|\|)(?P<y>[\w -]{2,30})",
     r" , priority is \g<x>, \g<y> | "),
    (rf"{_START}{_X}{_IS}(?:the )?(?:most important|key|crucial|(?:very |really |quite )?important|(?:my )?(?:top |"
     rf"main |number "
     r"one )?priority|what matters|the main thing|paramount)(?: thing)?(?: to me| for me|"
     r" here)?\b(?:,? (?:and )?then (?P<y>[\w -]{2,30}))?",
     r" , priority is \g<x>, \g<y> | "),
    (rf"{_START}{_X}\s+(?:matters?(?: the)?(?: most| a lot| more)?|comes? first)(?: to me|"
     rf" for me)?\b(?:,? (?:and )?then (?P<y>[\w -]{2,30}))?",
     r" , priority is \g<x>, \g<y> | "),
    (rf"{_START}{_X}{_IS}(?:a )?(?:must(?:-have)?|essential|non-?negotiable|mandatory|necessary|required|needed|"
     r"indispensable)\b", r" , must have \g<x> | "),
    (rf"{_START}{_X}\s+(?:required|essential|(?<!not )needed)(?=\s*(?:[,.;|]|$))", r" , must have \g<x> | "),
    (rf"{_START}{_X}{_IS}(?:a |an )?(?:nice|great|lovely|good to have|nice to have|nice[- ]to[- ]have|bonus|plus|"
     rf"welcome|"
     r"preferred|preferable|optional|handy|ideal)(?: to have| too| as well| though| but not essential)?\b",
     r" , ideally \g<x> | "),
    (rf"{_START}{_X}(?<!\s)(?:\s*+,)?\s+(?:if possible|if at all possible|preferred|optional|preferably|ideally|"
     r"for preference)"
     r"(?=\s*(?:[,.;!|]|$|and\b|but\b))", r" , ideally \g<x> | "),
    (rf"{_START}{_X}{_IS}(?:ok(?:ay)?|fine|all right|alright|acceptable|allowed)(?: after all| too| now| as well|"
     rf" with me)*"
     r"(?=\s*(?:[,.;!|]|$))", r" , allow \g<x> | "),
)  # fmt: skip
_TURNS = tuple((re.compile(pattern, re.IGNORECASE), into) for pattern, into in _TURNED)
_NEVER_TURNED = re.compile(
    r"^(?:it|that|this|they|which|what|i|we|you|most important|the most important)\b|\b(?:i want|i need|looking for)\b",
    re.IGNORECASE,
)
_SWAP = re.compile(
    r"\b(?:swap|replace|exchange|change)\s++(?:the |my )?(?P<y>[\w -]{2,30}?)(?<!\s)\s+(?:for|with|by|"
    r"to)\s++(?P<x>[\w -]{2,30})",
    re.I,
)
_LIMITS = (
    (
        re.compile(r"\b(?:no|not|nothing) (?:more than|over|above|exceeding|greater than)\s+(?=\d)", re.IGNORECASE),
        "at most ",
    ),
    (re.compile(r"\b(?:no|not|nothing) (?:less than|fewer than|under|below)\s+(?=\d)", re.IGNORECASE), "at least "),
)


def turned(text: str) -> str:
    """With the word that says how something is meant before it, wherever it stood."""
    for pattern, into in _LIMITS:
        text = pattern.sub(into, text)
    text = _SWAP.sub(r" , drop \g<y> | must have \g<x> | ", text)
    text = re.sub(
        r"\b(?P<x>[\w-]+(?: [\w-]+)?) (?:instead of|in place of) (?P<y>[\w -]{2,30})(?=\s*(?:[,.;!|]|$))",
        r"\g<x> | drop \g<y> | ", text, flags=re.IGNORECASE,
    )  # fmt: skip
    for pattern, into in _TURNS:
        text = pattern.sub(partial(_turn, into), text)
    return text


def _turn(into: str, found: re.Match[str]) -> str:
    return found[0] if _NEVER_TURNED.search(found["x"]) else found.expand(into)


# ── the words that set a mode ────────────────────────────────────────────────────────────────────────────────────────

_HARD = r"(?: (?:also|definitely|really|absolutely|always))*"
_HAVE = r"(?: (?:to )?(?:have|be|include|come with|feature|offer|be able to|contain|support))?"
_CUES: tuple[tuple[Mode, str], ...] = (
    ("drop",
     r"(?:drop|remove|forget(?: about)?|scrap|ditch|delete|never ?mind|take (?:off|out)|leave out|no longer (?:need|"
     r"want)s?|"
     r"(?:do not|don't|dont|does not|doesn't|needn't|need not) (?:really |necessarily |actually |even )*(?:need|"
     r"require|have to|care about|mind)"
     r"(?: to)?(?: be| have)?)"),
    ("allow", r"(?:allow|i(?:'m| am) (?:fine|ok|okay|happy) with)"),
    ("avoid",
     r"(?:(?:i |we )?(?:do not|don't|dont|does not|doesn't|won't|wouldn't|would not|would never|never) (?:want|like|"
     r"buy|wish|accept|consider)"
     r"(?: (?:it|one|them))?(?: to (?:be|have))?|(?:it |they )?(?:must|should|can|may|shall)(?: ?not|n't|'t)(?: be|"
     r" have| contain| include)?|"
     r"(?:must|should)(?: be)? never(?: be)?|mustn't(?: be| have)?|can't stand|cannot stand|"
     r"(?:please )?avoid(?:ing)?|without|"
     r"hates?|dislike|except(?: for)?|excluding|exclude|anything but|anything except|other than|allergic to|"
     r"(?:(?:that|which|it) )?(?:doesn't|does not|won't|will not|cannot|can't)|"
     r"nothing|never|nor|no|isn't|is not|aren't|not(?! (?:only|just|necessarily|sure|really)\b))"),
    ("priority",
     r"(?:(?:the |my )?(?:most important|main|key|biggest|number one)(?: (?:thing|priority|factor|criterion|point|"
     r"concern)s?)?"
     r"(?: (?:to|for) me)?(?: is| are|:|'s)|(?:what )?matters? most(?: to me)?(?: is| are|:)?|"
     r"what matters(?: to me)? (?:is|are)|"
     r"(?:my )?(?:top |main |first |second )?priorit(?:y|ies)(?: is| are|:|'s)?|prioriti[sz]e|"
     r"(?:i |we )?(?:mostly |mainly |really |only |also |just )*(?:do )?care (?:most |mostly |mainly |more |"
     r"a lot )?about|"
     r"i (?:really )?value|focus(?:ing)? on|above all(?: else)?|most importantly|especially|optimi[sz]e for|"
     r"first and foremost)"),
    ("nice",
     r"(?:ideally|preferably|(?:i |we |i'd |i would |we'd )?(?:also )?(?:would )?prefer(?:red)?|preference (?:for|"
     r"is)|nice[- ]to[- ]haves?:?"
     r"(?: (?:is|are|would be))?|(?:a )?bonus(?: points)?(?: if| for)?(?: it (?:has|had|is|was))?|if possible|"
     r"hopefully|optionally|"
     r"(?:it |that )?(?:would|'d) be (?:nice|great|good|lovely|cool) (?:if (?:it|they) (?:had|has|have|was|were|is|"
     r"are|could be|came with)|to have)|"
     r"(?:i'd|i would|we'd|we would) (?:like|love|rather have)(?: (?:it|one|them))?(?: (?:to (?:be|have)|with))?)"),
    ("must",
     rf"(?:(?:it |they |that |which |one )?(?:also )?(?:needs?|must|has to|have to|should|ought to|had to|"
     rf"got to){_HARD}(?:[- ]have{_HARD}s?:?|{_HAVE})"
     rf"|must[- ]haves?:?|make sure (?:it|that it|they) (?:has|have|is|are|can|comes with)|"
     rf"(?:i |we )(?:also |really |do |definitely )*(?:need|want|require)(?: (?:it|one|them|something))?{_HAVE}|"
     r"(?:that|which|it|they)(?:'s| is| are| has| have| can| can be| comes with| come with| includes?| supports?)|"
     r"make it|with|featuring|including|includes?|having|(?<!i )(?<!we )(?<!you )ha(?:s|ve)|essential:?|required:?|"
     r"add|that|which)"),
    ("use", r"(?:for use (?:in|on|as|at)|to be used (?:for|in|as|at)|(?:it is |it's )?for)"),
    ("place", r"(?:available in|in|near|located in|made in|made by|made of|made from|from|by)"),
)  # fmt: skip
_MODES: tuple[Mode, ...] = tuple(mode for mode, _ in _CUES)
_CUE = re.compile("|".join(rf"(?<![\w'-])(?P<{mode}>{pattern})(?![\w'-])" for mode, pattern in _CUES), re.IGNORECASE)
_VERB_FOLLOWS = re.compile(r"(?:must|should|has to|have to|needs?(?: to)?|that|which)$", re.IGNORECASE)
_WITH = re.compile(r"with|having|has|have|make it|including|featuring|(?:that|which|it|they) .*", re.IGNORECASE)
_SENTENCES = re.compile(rf"[;\n{STRUCK}]+|[.!?]+(?=\s|$)")
