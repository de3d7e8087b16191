"""Words that press a button: "looks good", "not yet", "let's start over", "stay with the kettle".

Only whole messages count: what says anything besides is a wish, and is read as one.
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from tablewright.decisions.intake.guard import tidy
from tablewright.decisions.shopping.phrasings import OF_REQUIREMENTS
from tablewright.table.shortlist import NO, YES
from tablewright.text.words import roots

Choice: TypeAlias = Literal["old", "new", ""]

LONGEST = 60
"""Characters of a message that can be nothing but a yes or a no."""

_AGREES = re.compile(
    r"(?:\b(?:yes|yeah|yep|yup|ok|okay|sure|correct|confirm(?:ed)?|go(?: ahead| on| for it)?|perfect|great|fine|please"
    r"|(?:(?:that|it|this|all) )?(?:looks|sounds|is) (?:good|great|right|fine|correct|perfect)|that's (?:right|it|fine)"
    r"|(?:please )?do it|do that|proceed|continue|i confirm|(?:confirm|enrich)(?: it| them| now)?"
    r"|(?:search|start)(?: now)?)\b[\s,.!]*)+",
    re.IGNORECASE,
)
_DECLINES = re.compile(
    r"(?:\b(?:no|nope|nah|not yet|wait|hold on|stop|don't|not now|not quite|that's wrong|no thanks?)\b[\s,.!]*)+",
    re.IGNORECASE,
)
_TAKES_BACK = re.compile(
    r"(?:(?:no|nope|nah|ok|okay|oh|well|wait|sorry|actually|hmm+|please|let's)[\s,.!]+)*"
    r"(?:never ?mind(?: (?:it|that|then))?|forget (?:it|that|about (?:it|that))|cancel(?: (?:it|that))?|"
    r"undo(?: (?:it|that))?|scrap (?:it|that)|(?:go )?back to (?:how|what) it was|as (?:it was|before)|"
    r"(?:please )?(?:don't|do not) change (?:it|anything)|no changes?|"
    r"(?:keep|leave) (?:it|that|them|everything|things|all|the (?:old |previous |original |current )?"
    r"(?:one|ones|budget|requirements))(?: (?:as (?:it|they|that) (?:was|is|were|are)|as before|the same|unchanged|"
    r"alone|then))?)[\s,.!]*(?:please|thanks|thank you)?[\s.!]*",
    re.IGNORECASE,
)
_RESTARTS = re.compile(
    r"(?:(?:forget (?:it|that|everything|all that)|ok|okay|please|no|let's|let us|can we|i want to|i'd like to|just|"
    r"actually)[\s,.!]+)*(?:start (?:over|afresh|fresh|again|anew|from scratch|a new search)|new search|reset|"
    r"begin again)(?:[\s,]+(?:please|now))?(?:(?:\s+(?:with|for)\s+|\s*[,:.]\s*)(?P<rest>\S.*))?",
    re.IGNORECASE,
)
_STAYS = re.compile(r"\b(?:stay|stick|keep|remain|go back|back to|never ?mind|forget (?:it|that))\b", re.IGNORECASE)
_ASKS = re.compile(r"(?:which|why|where|who|when|whose|how(?! about))\b|what(?:'s| is| are| does| do)\b", re.IGNORECASE)

_OF_COLUMNS = re.compile(r"(?:please )?(?:add|include|drop|remove|leave out|without|only)\b", re.IGNORECASE)

_DROPS = re.compile(r"(?:please )?(?:drop|remove|hide|leave out)\b", re.IGNORECASE)


def agrees(said: str) -> bool:
    return said == YES or (len(said) <= LONGEST and bool(_AGREES.fullmatch(tidy(said))))


def declines(said: str) -> bool:
    return said == NO or (len(said) <= LONGEST and bool(_DECLINES.fullmatch(tidy(said))))


def takes_back(said: str) -> bool:
    """ "Never mind", "no, keep it as it was"."""
    return len(said) <= LONGEST and bool(_TAKES_BACK.fullmatch(tidy(said)))


def restarts(said: str) -> str | None:
    """What it shall be now, often "", where somebody wants to start over; else None."""
    found = _RESTARTS.fullmatch(tidy(said).rstrip(" .!?"))
    return None if found is None else found["rest"] or ""


def asks(said: str) -> bool:
    """A question about what there is, which is no wish: "which is the lightest?"."""
    return bool(_ASKS.match(tidy(said)))


def of_columns(said: str) -> bool:
    """ "Drop …" and "add …", which are about the columns where the columns are asked about."""
    return bool(_OF_COLUMNS.match(tidy(said)))


def drops(said: str) -> bool:
    """ "Remove the weight column", "drop warranty"."""
    return bool(_DROPS.match(tidy(said))) and not OF_REQUIREMENTS.search(said)


def chosen(said: str, old: str, new: str) -> Choice:
    """Which product "Shall we start over with a bike, or stay with a kettle?" was answered with."""
    words = set(roots(said))
    of_old, of_new = (set(roots(product)[-1:]) & words for product in (old, new))
    if of_old != of_new and (of_old or of_new):
        return "old" if of_old else "new"
    if declines(said) or _STAYS.search(said):
        return "old"
    return "new" if agrees(said) or restarts(said) == "" else ""
