"""Whether a question wants one short answer, and whether it is several questions in one."""

from __future__ import annotations

import re

from tablewright.decisions.brief.catalog import ABSTRACT
from tablewright.decisions.brief.phrases import tidy

_BEFORE = (
    r"^(?:(?:currently|today|historically|along|as of|in|on|at|by|for|from|during|since|after|before|until|to|under|"
    r"of|with|besides|according to)\b[^?]{0,60}?,?\s+)?"
)
_MEASURED = (
    r"how (?:many|much|high|old|tall|long|far|big|large|deep|wide|fast|heavy|often|late|early|hot|cold|close|few|"
    r"wealthy|rich|thick|strong|near|soon|popular|expensive)\b"
)
_IS = r"(?:is|are|was|were|did|does|do|has|have|had|will)\b"
_ADVISES = re.compile(
    r"\b(?:should|ought|better|worse|affect|influence|explain|recommend|why|how (?:do|does|did|can|could|to|has|have|"
    r"is|are))\b",
    re.IGNORECASE,
)
_ASKS_ONE = tuple(
    re.compile(_BEFORE + pattern, re.IGNORECASE)
    for pattern in (
        r"(?:who|whom|whose)\b",
        rf"(?:when|where)\s+(?:{_IS}|(?:can|would|could)\s)",
        r"(?:in|on|at|by|to|from|for|of|after|under|with|during) (?:which|what|whom|whose)\b|(?:after|by|for|to|"
        r"with) whom\b",
        _MEASURED,
        r"which\s+\w+",
        r"what\s+(?!is\b|are\b|was\b|were\b|happens|happened|causes?\b|caused\b|makes?\b|led\b|drives?\b|explains?\b|"
        r"if\b|can\b|about\b|it\b|we\b|would\b|could\b|do\s|should\b)[\w'-]+",
        r"(?:what|what's)\s+(?:(?:is|was|are|were)\s+)?(?:the|his|her|its|their|another|"
        r"other)?\s*(?:[\w'-]+\s+){1,7}?(?:of|in|"
        r"that|where|which|for|at|by|on|to|held|used|known|called|with|from|when|who|whose|between)\s",
        r"what(?:'s|\s+is|\s+was)\s+[^?]*'s\s+[\w-]+(?:\s+[\w-]+)?\s*\??$",
        r"what(?:'s|\s+is|\s+was)\s+the\s+(?:only|first|last|most|least|main|[a-z]{3,}est|name|capital|population|"
        r"year|date|birthplace|nickname|title|height|age|currency)\b",
    )
)
_IN_THE_MIDDLE = re.compile(
    r"^(?!how\b|why\b|what\b|if\b)\S.*\s(?:what|which|whom|whose|who|when|where|how many|"
    r"how much)\b(?:\s+[^\s?]+){0,6}\s*\?\s*$",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(
    r"^(?:explain|describe|discuss|write|compare|analy[sz]e|summari[sz]e|outline|tell|give|research|investigate|"
    r"examine|evaluate|assess|explore|show|find|identify|list)\b",
    re.IGNORECASE,
)
_NOT_ONE = frozenset(
    """impact effect role difference relationship future history state way significance importance influence background
    approach outlook process mechanism theory philosophy context consensus debate controversy comparison best case
    status science evolution purpose meaning problem evidence potential explanation career biography legacy reception
    plot""".split()
)  # fmt: skip


def asks_a_fact(question: str) -> bool:
    """Whether one short answer is wanted: who, when, where, how many; not how it works, why, or what it means."""
    text = tidy(question)
    if _IMPERATIVE.match(text) or _ADVISES.search(text) or len(clauses(text)) > 1:
        return False
    if _IN_THE_MIDDLE.search(text):
        return True
    opened = next((match for pattern in _ASKS_ONE if (match := pattern.match(text))), None)
    if not opened:
        return False
    return not _is_abstract(text)


def _is_abstract(text: str) -> bool:
    """ "What is the role of …", "What is known about …", "Which factors …": no answer of a few words."""
    if _KNOWN_ABOUT.match(text):
        return True
    if of := re.match(
        r"what(?: is|'s| are| was| were)\s++(?:the\s++)?(?P<noun>[\w' -]+?)(?<!\s)\s+"
        r"(?:of|in|on|for|to|between|behind|about)\b",
        text,
        re.IGNORECASE,
    ):
        last = of["noun"].casefold().split()[-1]
        return last in _NOT_ONE or last in ABSTRACT
    noun = re.match(
        r"(?:what|which)\s+(?:(?:main|key|other|major|new|different)\s+)*(?P<noun>[\w-]+)", text, re.IGNORECASE
    )
    return noun is not None and (
        noun["noun"].casefold() in ABSTRACT | {"impact", "effect", "influence", "evidence", "difference"}
    )


_KNOWN_ABOUT = re.compile(
    r"what(?: is|'s| was| has been)\s+(?:known|said|written|reported|believed)\s+(?:about|of|on)\b", re.IGNORECASE
)


def clauses(text: str) -> list[str]:
    """The questions of "What is X and how does it work?"."""
    parts = re.split(
        r"\?\s+(?=\w)|;\s+|,?\s+and\s+(?=(?:how|why|what)\s+(?:is|are|was|were|did|does|do|has|have|can|could|should|"
        r"will|causes?|makes?|it|they|to)\b)|,\s+(?:and\s+)?(?=(?:how|why|what|when|where|who)\s+(?:is|are|was|were|"
        r"did|does|do|has|have|can|could|should|will)\b)",
        text,
    )
    if not _ASKS.search(parts[0]):
        return [text]
    return [part.strip(" ?.,;") for part in parts if re.search(r"[^\W\d_]", part)]


_ASKS = re.compile(r"\b(?:who|what|how|why|when|where|which|explain|describe|is|are|does|do)\b", re.IGNORECASE)
