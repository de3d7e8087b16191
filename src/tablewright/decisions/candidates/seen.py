"""A name as it was seen in one of the texts, before it is known who else names it."""

from __future__ import annotations

import re

from tablewright.table.model import Noun
from tablewright.table.retrieved import Retrieved
from tablewright.table.untrusted import is_tainted
from tablewright.text.sections import sentences

LONGEST_QUOTE = 280


class Seen(Noun, frozen=True):
    """`start:end` of the text of `source` are the words around the name. `origin`: the page or site that is its own."""

    name: str
    source: int
    start: int
    end: int
    score: float
    origin: str = ""


def places(name: str, text: str) -> list[tuple[int, int]]:
    """Where the name stands as words of its own, as it is written there, outside what speaks to machines."""
    pattern = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    return [match.span() for match in pattern.finditer(text) if not is_tainted(text, *match.span())]


def around(text: str, start: int, end: int) -> tuple[int, int]:
    """The sentence, or the line, that `start:end` stands in, cut to what can be quoted."""
    line = text.rfind("\n", 0, start) + 1
    stop = text.find("\n", end)
    stop = stop if stop >= 0 else len(text)
    if stop - line <= LONGEST_QUOTE:
        first, last = line, stop
        for low, high in sentences(text[line:stop]):
            if line + low <= start and end <= line + high:
                first, last = line + low, line + high
    else:
        first, last = max(line, start - 80), min(stop, end + 180)
        for low, high in sentences(text[line:stop]):
            if line + low <= start and end <= line + high and high - low <= LONGEST_QUOTE:
                first, last = line + low, line + high
    while first < start and text[first].isspace():
        first += 1
    while last > end and text[last - 1].isspace():
        last -= 1
    return first, last


_DOES = re.compile(
    r"\s(?:is|are|offers?|runs?|helps?|hosts?|makes?|builds?|provides?|sells?|develops?|turns?|routes?|advises?|"
    r"designs?|produces?|manufactures?|has|have|was|were|plans?|serves?|operates?)\b"
)


def before_verb(sentence: str) -> str:
    """Who it is that "runs" or "is" something: what stands before the verb."""
    does = _DOES.search(sentence)
    return sentence[: does.start()].strip() if does else ""


def tells_more(text: str, start: int, end: int) -> int:
    """How much the words around a name say of it: what it does; something; or only its name."""
    if _DOES.match(text, end):
        return 3
    first, last = around(text, start, end)
    return 2 if text[last - 1 : last] in (".", "!") and last - first > 2 * (end - start) else 1


def by_domain(sources: tuple[Retrieved, ...]) -> dict[str, list[int]]:
    held: dict[str, list[int]] = {}
    for place, source in enumerate(sources):
        if domain := domain_of(source):
            held.setdefault(domain, []).append(place)
    return held


def domain_of(source: Retrieved) -> str:
    return source.domain or host_of(source.origin)


def host_of(url: str) -> str:
    return url.split("://", 1)[1].split("/")[0].split(":")[0].casefold().removeprefix("www.") if "://" in url else ""


def label_of(domain: str) -> str:
    """The part of a domain that carries the name: "acme" of "acme.co.uk"."""
    return domain.split(".")[0] if domain else ""
