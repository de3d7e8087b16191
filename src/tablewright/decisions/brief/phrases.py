"""The wording of research questions: lists in them, the words that carry nothing, and queries made of them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from tablewright.table.untrusted import clean

LONGEST = 1_500
LONGEST_QUERY = 160

_SAME = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "\u00a0": " "})
_BULLET = re.compile(r"\s*\n\s*(?:[-*•◦‣▪–]|\(?\d{1,2}[.)])?\s*")
_AFTER_COLON = re.compile(r":\s*;+")
_IN_PARENTHESES = re.compile(r"\s*\([^()]*\)")
_SEPARATOR = re.compile(
    r"\s*[,;•|]\s*|\s+(?:and(?:/or)?|&|plus|as well as|along with|together with|or)\s+", re.IGNORECASE
)
_LEADING_AND = re.compile(
    r"^(?:(?:and|or|plus|also|with|including|include|as well as|the|its|their|his|her|a|an|any|each|all|some|both|"
    r"details? (?:of|on|about)|"
    r"information (?:on|about)|data on)\s+)+(?=\w)",
    re.IGNORECASE,
)
_ONE_THING = re.compile(
    r"\b(pros|terms|research|questions|ease|health|arts|food|bed|wear|rise|supply)\s+and\s+"
    r"(cons|conditions|development|answers|safety|crafts|drinks?|breakfast|tear|fall|demand)\b",
    re.IGNORECASE,
)
_CARRIES_NOTHING = frozenset(
    """what which who whom whose when where why how is are was were be been being am do does did has have had can could
    should would will shall may might must the a an it its they their them this that these those there i me my we us
    our you your please tell give explain describe""".split()
)
_WORD = re.compile(r"\"[^\"]+\"|[^\s?!,;:()\[\]{}\"]+")


def tidy(question: str) -> str:
    """On one line; the points of a list are parted by semicolons."""
    text = unicodedata.normalize("NFC", clean(question[:LONGEST])).translate(_SAME).strip()
    text = _BULLET.sub("; ", text)
    return " ".join(_AFTER_COLON.sub(":", text).split())


def items(text: str) -> list[str]:
    """The parts of "pricing, case studies and the website", each once."""
    text = _IN_PARENTHESES.sub("", text)
    parts = _SEPARATOR.split(_ONE_THING.sub("\\1\ue000\\2", text))
    kept_parts: dict[str, str] = {}
    for part in parts:
        part = _LEADING_AND.sub("", part.replace("\ue000", " and ").strip(" .?!:-–—\"'")).strip()
        if re.search(r"[^\W\d_]", part):
            kept_parts.setdefault(part.casefold(), part)
    return list(kept_parts.values())


def as_query(text: str) -> str:
    """The words that a search engine needs: no question words, articles or marks. A capital letter in the middle shows
    a word of a name ("How I Met Your Mother"), which stays."""
    kept = [
        word
        for place, word in enumerate(_WORD.findall(tidy(text)))
        if (small := re.sub(r"'s?$", "", word.strip("'.…").casefold())) not in _CARRIES_NOTHING
        or (place and word[0].isupper() and small != "i")
    ]
    return short_query(" ".join(word.rstrip(".…") if len(word) > 4 else word.rstrip("…") for word in kept) or text)


def short_query(text: str) -> str:
    """On one line, without question marks, cut at a word."""
    text = " ".join(re.sub(r"[?¿？!]+", " ", tidy(text)).split())
    if len(text) <= LONGEST_QUERY:
        return text
    cut = text[:LONGEST_QUERY].rpartition(" ")[0] or text[:LONGEST_QUERY]
    return cut.rstrip('" ') if cut.count('"') % 2 else cut


def same_words(query: str) -> frozenset[str]:
    """What a search engine sees of a query: its words, whatever their order and marks."""
    return frozenset(re.findall(r"[^\W_]+", query.casefold()))


def sentence_case(text: str) -> str:
    return text[:1].upper() + text[1:]


def names_in(question: str) -> Iterator[str]:
    """The names and numbers of a question: what the page that answers it is likely to be about."""
    for match in _NAME.finditer(tidy(question)):
        if match.start() or " " in match[0]:
            yield _BEFORE_NAME.sub("", match[0]).replace('"', "")


_BEFORE_NAME = re.compile(r"^(?:(?:Who|What|When|Where|Which|How|In|The|As|On|Of)\s+)?(?:[A-Z]{2,4}\s+of\s+)?")
_NAME = re.compile(
    r"\"[^\"]+\"|[A-ZÀ-Þ][\w'.&-]*(?:\s+(?:(?:of|the|de|la|von|van|and|for|in|at|on|&)\s+){0,2}[A-ZÀ-Þ\d][\w'.&-]*)*|"
    r"\b\d{4}\b"
)
