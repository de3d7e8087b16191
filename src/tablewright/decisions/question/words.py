"""The words of questions: which say nothing, which end a name, and what a plural is the plural of."""

from __future__ import annotations

import re

STOP = frozenset(
    """a an and are as at be been being both but by can could did do does done each every for from get give given
    had has have having here how i if in into is it its itself just let like list many me more most much my name no nor
    of on only or other our out please s shall should show so some such tell than that the their them then there these
    they this those to too us very want was we were what when where which while who whom whose why will with would you
    your all any also am find display enumerate search look need ids id not without""".split()
)
ENDS_A_NAME = frozenset(
    """with without from in that which whose who where when for at by to on under over above below between within into
    and or but is are was were be been has have had do does did can could will would should must may not no of per than
    carry carries carried contain contains cost costs weigh weighs measure measures mention mentions include includes
    use uses fit fits expire expires list lists show shows state states say says come comes need needs require
    requires support supports cover covers earn earns exceed exceeds belong belongs run runs live lives work works
    made issued dated signed sent located based paid written published produced manufactured priced bought sold ordered
    delivered hired born founded registered valid due containing mentioning including costing weighing measuring having
    using showing listing exceeding regarding concerning starting expiring ending fitting being dating carrying about
    involving covering describing discussing excluding except lacking since until before after during more less fewer
    greater at-most each if there exist exists only please using made grouped sorted ordered offer offers deliver have
    wider narrower longer shorter taller higher lower heavier lighter thicker thinner deeper larger bigger smaller
    cheaper older younger newer faster slower stronger weaker better worse hotter colder louder quieter brighter
    exactly among amongst across throughout versus past outside against via through near like as""".split()
)
_NOT_PLURAL = re.compile(r"(?:ss|us|is|news|series|species|lens|gas|bus|always|yes|perhaps|sometimes|his|hers)$")
_PLURALS = {"people": "person", "men": "man", "women": "woman", "children": "child", "criteria": "criterion",
            "shelves": "shelf", "knives": "knife", "halves": "half", "leaves": "leaf", "wolves": "wolf"}  # fmt: skip
_SAME_IN_BOTH = frozenset("sales goods series species logistics electronics news works premises data".split())
_WORD = re.compile(r"[^\W_]+(?:[-'&./+][^\W_]+)*")


def words(text: str) -> list[str]:
    return _WORD.findall(text)


def is_plural(word: str) -> bool:
    word = word.casefold()
    if "'" in word:
        return False
    if word in _PLURALS:
        return True
    return len(word) > 3 and word.endswith("s") and not _NOT_PLURAL.search(word) and word not in _SAME_IN_BOTH


def singular(phrase: str) -> str:
    """The phrase with its last word in the singular."""
    before, space, word = phrase.rpartition(" ")
    small = word.casefold()
    if not is_plural(word):
        return phrase
    if small in _PLURALS:
        one = _PLURALS[small]
    elif small.endswith("ies") and len(small) > 4:
        one = word[:-3] + "y"
    elif re.search(r"(?:ch|sh|x|ss|zz)es$", small):
        one = word[:-2]
    else:
        one = word[:-1]
    return f"{before}{space}{one}"


def content(text: str) -> tuple[str, ...]:
    """The words that say something, each once, in the order of the text."""
    found = (word for word in words(text) if word.casefold() not in STOP)
    return tuple({word.casefold(): word for word in found if len(word) > 1 or word.isdecimal()}.values())


def same(one: str, other: str) -> bool:
    """Whether two labels are one, but for case, punctuation and number."""
    return _plain(one) == _plain(other)


def _plain(text: str) -> str:
    return " ".join(singular(word.casefold()) for word in re.findall(r"[^\W_]+", text))
