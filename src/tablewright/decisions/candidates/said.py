"""What sentences say: "Acme is a provider of …", "providers such as Acme and Borealis"; and pages about one thing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from tablewright.decisions.candidates.kind import (
    ANY_ORGANISATION,
    MAKES,
    ORGANISATION,
    PUBLISHER,
    Kind,
    about_topic,
    akin,
    names_all,
    says,
    singulars,
)
from tablewright.decisions.candidates.names import first_name, fits, is_some_name, unmarked
from tablewright.decisions.candidates.seen import Seen, around, places, tells_more
from tablewright.decisions.candidates.sites import Site, subject_of
from tablewright.table.retrieved import Retrieved
from tablewright.table.untrusted import gives_orders
from tablewright.text.sections import sentences

DEFINED = 0.85
DESCRIBED = 0.75
ENUMERATED = 0.7
HALF = 0.5
ENOUGH = 0.6
FAINT = 0.6
"""What is left of the score where the page has none of the words that tell the kind apart."""
LOOKED_AT = 40_000
HEAD = 900
LONGEST_SENTENCE = 1_500
LEAST_LABELS = 3

_IS = re.compile(
    r"(?:\s*\([^)]{0,120}\))?,?(?:[^.;]{0,80}?,)?\s(?:is|was|are|were)\s(?:an?|the|one of)\s", re.IGNORECASE
)
_NOUN_ENDS = re.compile(
    r"[;:.]|\s(?:that|which|who|whose|by|from|in|of|for|at|on|with|to|based|located|where)\s|\s\w{3,}ed\s"
)
_LABEL = re.compile(r"^([^|:\n]{2,40}):\s+\S", re.MULTILINE)
_TRADE = re.compile(
    r"^(?:industry|trade|line of business|headquarters|head office|registered office|seat of the company|founders?|"
    r"number of employees|employees|type|company name|traded as|company):\s+\S.*$",
    re.IGNORECASE | re.MULTILINE,
)
_SORT = re.compile(r"^(?:category|type|kind|product type|genre|department):\s+\S.*$", re.IGNORECASE | re.MULTILINE)
_SUCH_AS = re.compile(
    r"\b([\w-]{2,40}),?\s(?:such as|like|including|e\.g\.,?|for example|for instance|namely|among them)\s"
)
_AND_OTHER = re.compile(r",?\s(?:and|or)\s(?:many\s)?other\s((?:[\w-]{1,30}\s){0,3}?[\w-]{1,30}s)\b")
_WORD = r"[^\W_a-z][\w'’.&+-]{0,40}"
_NAME = re.compile(
    rf"{_WORD}(?:(?::?\s|\s[-–]\s)(?:(?:&|of|de|van|von|the)\s)?{_WORD}){{0,7}}(?<!\.)|{_WORD}(?:\s{_WORD}){{0,5}}"
)
_LAST_NAME = re.compile(rf"{_WORD}(?:\s(?:&\s)?{_WORD}){{0,5}}$")
REACH = 300
"""Characters of a sentence that an enumeration may take."""
_LIST_ENDS = re.compile(r"(?:;|:(?!\s[A-Z])|(?<!\b[A-Z])\.)(?:\s|$)")
_BETWEEN = re.compile(r"\s*,\s*(?:and\s+|or\s+)?|\s+(?:and|or)\s+")


def about_one(kind: Kind, source: Retrieved, place: int, site: Site | None) -> Iterator[Seen]:
    """A page whose title is the name of one thing, and which says that it is of the kind."""
    title = subject_of(source, site)
    name = re.sub(r"\s*\([^)]*\)$", "", first_name(title)[0]).strip()
    if site and site.publisher and name == site.name and not kind.publisher:
        return
    if len(name) < 2 or not is_some_name(name, kind) or not (fits(name, kind) or _begins(source.text, name)):
        return
    name = _in_full(name, source.text)
    stands = places(name, source.text)
    if not stands or gives_orders(source.title):
        return
    defined = [span for span in stands if _is_a(kind, source.text, *span)]
    head = f"{title}\n{source.text[:HEAD]}"
    if defined and _tells(kind, head):
        score = DEFINED * (FAINT + (1 - FAINT) * about_topic(head, kind))
        yield _seen(name, source, place, defined[0], score)
    elif _described(kind, source, name, title) and _tells(kind, head):
        yield _seen(name, source, place, max(stands, key=lambda span: tells_more(source.text, *span)), DESCRIBED)


def _in_full(name: str, text: str) -> str:
    """ "Susan Boyle", where the page begins with "Susan Magdalane Boyle (born 1961) is …"."""
    first, last = name.split()[0], name.split()[-1]
    full = re.match(rf"{re.escape(first)}(?: [^\W\d_][\w.'’-]*){{0,4}} {re.escape(last)}(?=\W)", text)
    return full[0] if full and first != last and name not in text[: full.end() + 200] else name


def in_sentences(kind: Kind, source: Retrieved, place: int) -> Iterator[Seen]:
    """Names that a sentence gives as things of the kind."""
    text = source.text[:LOOKED_AT]
    for start, end in sentences(text):
        sentence = text[start:end]
        if len(sentence) > LONGEST_SENTENCE or " | " in sentence or gives_orders(sentence):
            continue
        told = f"{source.title} {sentence}"
        for noun, names, offset in _enumerated(sentence):
            if not _is_noun(noun, kind) or not names_all(told, kind) or about_topic(told, kind) < HALF:
                continue
            at = offset
            for name in names:
                at = sentence.find(name, at)
                name_start = start + at
                if at >= 0 and fits(unmarked(name), kind):
                    yield _seen(unmarked(name), source, place, (name_start, name_start + len(name)), ENUMERATED)


def _enumerated(sentence: str) -> Iterator[tuple[str, list[str], int]]:
    """The noun, the names, and where they begin: "hosts such as A, B and C", "A, B and other hosts"."""
    for match in _SUCH_AS.finditer(sentence):
        names = []
        for part in _BETWEEN.split(_LIST_ENDS.split(sentence[match.end() : match.end() + REACH])[0]):
            name = _NAME.match(part)
            if name is None:
                break
            names.append(name[0])
            if name.end() < len(part) and part[name.end()] != "(":
                break
        yield match[1], names, match.end()
    for match in _AND_OTHER.finditer(sentence):
        begin = max(0, match.start() - REACH)
        names = []
        for part in reversed(_BETWEEN.split(sentence[begin : match.start()])):
            name = _LAST_NAME.search(part)
            if name is None:
                break
            names.insert(0, name[0])
            if name.start():
                break
        yield match[1].split()[-1], names, begin


def _is_noun(noun: str, kind: Kind) -> bool:
    said = singulars(noun)
    if not said:
        return False
    return any(akin(word, kind.head) for word in said) or (
        kind.organisation and any(word in (ANY_ORGANISATION | MAKES) for word in said)
    )


def _is_a(kind: Kind, text: str, start: int, end: int) -> bool:
    """Whether the words after the name say that it is one: "is a Japanese maker of miniature bearings"."""
    match = _IS.match(text, end, min(len(text), end + 260))
    if match is None or text[max(0, start - 1) : start].strip():
        return False
    said = text[match.end() : match.end() + 160].split("\n")[0]
    ends = _NOUN_ENDS.search(said)
    phrases = re.split(r",\s|\sand\s", said[: ends.start()] if ends else said)
    return any(_is_one(kind, words[-1]) for words in map(singulars, phrases) if words)


def _is_one(kind: Kind, noun: str) -> bool:
    if akin(noun, kind.head) or (kind.head in MAKES and noun in MAKES):
        return True
    return kind.head in ANY_ORGANISATION and noun in ORGANISATION - PUBLISHER


def _described(kind: Kind, source: Retrieved, name: str, title: str) -> bool:
    """A page of facts: what it does and where it sits, of a company; the data of a product of that noun."""
    if not _begins(source.text, name):
        return False
    if kind.organisation:
        labels = {match[0].split(":")[0].casefold() for match in _TRADE.finditer(source.text)}
        made = kind.head not in MAKES or any(says(source.text, word) for word in MAKES)
        return made and bool(labels & {"industry", "trade", "line of business"})
    labels = {match[1].casefold() for match in _LABEL.finditer(source.text)}
    return len(labels) >= LEAST_LABELS and says(f"{title} {_path(source.origin)} {_sorts(source.text)}", kind.head)


def _path(origin: str) -> str:
    return re.sub(r"[^a-z]+", " ", urlsplit(origin).path.casefold())


def _sorts(text: str) -> str:
    """What a page of facts says that the thing is: "Category: Kettles"."""
    return " ".join(match[0] for match in _SORT.finditer(text))


def _begins(text: str, name: str) -> bool:
    """The name heads the text: one of its first lines is nothing else, or begins with it."""
    return any(line.startswith(name) for line in text[:400].split("\n")[:4])


def _tells(kind: Kind, head: str) -> bool:
    return names_all(head, kind) and (not kind.organisation or about_topic(head, kind) >= ENOUGH)


def _seen(name: str, source: Retrieved, place: int, span: tuple[int, int], score: float) -> Seen:
    start, end = around(source.text, *span)
    return Seen(name=name, source=place, start=start, end=end, score=score)
