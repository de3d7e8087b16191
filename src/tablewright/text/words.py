"""Words of a text, made comparable: names in one form, words without their endings."""

from __future__ import annotations

import re
import threading
from functools import lru_cache
from typing import cast

from Stemmer import Stemmer

from tablewright.domain.rowkey import fold

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
SMALL_WORDS = frozenset(
    """a an and any about also are as at be been being but by can could did do does for from had has have he her his how
    i if in into is it its many me much my not of on or our s she should so some such than that the their them then
    there these they this those to t us was we were what when where which who whom whose why will with would you your
    please find give list show tell explain describe""".split()
)
_ENDINGS = tuple(
    (ending, len(ending) + least)
    for ending, least in (
        ("ations", 4), ("ation", 4), ("ities", 4), ("ments", 4), ("ings", 4), ("ment", 4), ("ness", 4), ("ing", 4),
        ("ity", 4), ("age", 4), ("ies", 3), ("ied", 3), ("ion", 4), ("ers", 4), ("ed", 3), ("es", 3), ("er", 4),
        ("ly", 4), ("al", 4), ("s", 3), ("e", 3), ("y", 3),
    )
)  # fmt: skip
_FORMS = dict(
    form.split("=")
    for form in """began=begin begun=begin wrote=writ written=writ built=build made=mak led=lead held=hold won=win
    lost=los left=leav became=becom took=tak taken=tak gave=giv given=giv fought=fight grew=grow grown=grow knew=know
    known=know sold=sell told=tell said=say went=go gone=go came=com fell=fall fallen=fall died=di death=di dead=di
    chose=choos chosen=choos spoke=speak spoken=speak born=birth ran=run saw=see seen=see men=man women=woman
    children=child people=person paid=pay bought=buy kept=keep sent=send spent=spend meant=mean met=meet brought=bring
    taught=teach thought=think caught=catch drew=draw drawn=draw flew=fly broke=break broken=break rose=ris risen=ris
    stood=stand feet=foot""".split()
)


_LOCAL = threading.local()


@lru_cache(maxsize=200_000)
def stem(word: str) -> str:
    """ "connected", "connecting" and "connections" are all "connect"; words of other alphabets stay as they are."""
    if len(word) < 3 or not (word.isascii() and word.isalpha()):
        return word
    if not hasattr(_LOCAL, "porter"):  # a stemmer is for one thread alone
        _LOCAL.porter = Stemmer("porter")
    return cast("str", _LOCAL.porter.stemWord(word))


def roots(text: str, *, telling: bool = False) -> list[str]:
    """The words of a text in order, without their endings; with `telling` only those that say something."""
    return [root(word) for word in _WORD.findall(fold(text)) if not (telling and word in SMALL_WORDS)]


@lru_cache(maxsize=65_536)
def root(word: str) -> str:
    """A word without its ending, so that its forms are equal: "founded", "founding" and "founder".

    A stemmer keeps "founder" apart, as a search should; a reader that matches "Founder" to "was founded by" must not.
    With `stem` in its place the built-in reader finds a twentieth less of what is asked in other words.
    """
    word = re.sub(r"['’]s?$", "", word)
    if word in _FORMS:
        return _FORMS[word]
    return next(
        (word[: -len(ending)] for ending, least in _ENDINGS if word.endswith(ending) and len(word) >= least), word
    )
