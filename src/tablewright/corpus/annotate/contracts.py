"""What an agreement says of itself in sentences: who made it, from when, for how long, and under which law."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import structs

from tablewright.table.corpus import Annotation, Property, Typed
from tablewright.table.countries import COUNTRIES, STATES
from tablewright.table.dates import read_dates
from tablewright.table.measures import read_measures
from tablewright.table.typed import typed

HEAD = 3_000  # characters, in which the parties and the date stand
LONGEST_CHUNK = 900
LONGEST_NAME, MOST_WORDS = 80, 9

_WORD = re.compile(r"\b(?:hereby|hereto|herein|hereof|whereas|party|parties|governing law|witnesseth)\b", re.IGNORECASE)
_AGREEMENT = re.compile(r"\b(?:agreement|contract|covenant)\b", re.IGNORECASE)


def is_contract(text: str) -> bool:
    """Whether it calls itself one near its beginning, and speaks like one."""
    early = text[:20_000]
    if not _AGREEMENT.search(text, 0, HEAD // 2):
        return False
    speaks = len(_WORD.findall(early))
    return speaks >= 5 or (speaks >= 2 and len(_AGREEMENT.findall(early)) >= 5)


def contract_facts(text: str) -> Iterator[Annotation]:
    yield from _parties(text)
    for fact in (_effective(text), _term(text), _law(text)):
        if fact is not None:
            yield Annotation(shape="fact", properties=(fact[0],), start=fact[1], end=fact[2], by="contract")


def _stated(label: str, value: Typed, found: re.Match[str], group: str) -> tuple[Property, int, int]:
    start, end = found.span(group)
    return Property(label=label, value=value, start=start, end=end), found.start(), found.end()


# ── the law ──────────────────────────────────────────────────────────────────────────────────────────────────────────

_PLACES = "|".join(re.escape(name).replace(r"\ ", r"\s+") for name in sorted(STATES | COUNTRIES, key=len, reverse=True))
_OF_PLACE = (
    r"(?:the\s+)?(?:united\s+states(?:\s+of\s+america)?,?\s+(?:and\s+)?(?=state))?"
    rf"(?:(?:state|commonwealth|province|republic)\s+of\s+)?(?P<place>(?:{_PLACES})\b)"
)
_LAWS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b(?:govern|constru|interpret|enforce|determin|resolv)\w*[^.;]{{0,160}}?\blaws?\s+of\s+{_OF_PLACE}",
        rf"\blaws?\s+of\s+{_OF_PLACE}[^.;]{{0,120}}?\b(?:shall|will)\s+(?:govern|control|apply)",
        rf"\b(?:governed|construed|interpreted)[^.;]{{0,80}}?\b(?P<place>(?:{_PLACES})\b)\s+law\b",
    )
)


def _law(text: str) -> tuple[Property, int, int] | None:
    for pattern in _LAWS:
        if found := pattern.search(text):
            return _stated("Governing law", Typed(raw=found["place"]), found, "place")
    return None


# ── how long ─────────────────────────────────────────────────────────────────────────────────────────────────────────

_COUNT = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|fifteen|eighteen|twenty[\s-]four|thirty[\s-]six"
    r"|twenty|thirty|forty|sixty)"
)
_DURATION = rf"(?P<term>(?:{_COUNT}\s+\(\d{{1,3}}\)|\d{{1,3}}|{_COUNT})[\s-]+(?:years?|months?)\b)"
_ITSELF = (
    r"(?:(?:the\s+term\s+of\s+)?this\s+(?:\w+\s+)?agreement|obligations\s+(?:hereunder|under\s+this\s+agreement)"
    r"|covenants\s+(?:set\s+forth\s+)?herein)"
)
_LASTS = r"(?:expires?|terminates?|remain|continue|cease|is\s+effective|in\s+effect|govern)"
_TERMS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_ITSELF}\b[^.;]{{0,120}}?\b{_LASTS}\b(?:(?!surviv|renew|notice)[^.;]){{0,110}}?\b{_DURATION}",
        rf"\bterm\s+of\s+(?:this\s+(?:\w+\s+)?agreement\s+(?:shall\s+be|will\s+be|is)\s+[^.;]{{0,40}}?)?{_DURATION}",
    )
)


def _term(text: str) -> tuple[Property, int, int] | None:
    for pattern in _TERMS:
        if found := pattern.search(text):
            raw = found["term"]
            said = re.sub(r"^.*\((\d+)\)", r"\1", " ".join(raw.split()))
            measure = next(iter(read_measures(re.sub(r"^one\b", "1", said, flags=re.IGNORECASE))), None)
            value = typed(f"{measure.value} {measure.unit}") if measure else Typed(raw=raw)
            return _stated("Term", structs.replace(value, raw=raw), found, "term")
    return None


# ── from when ────────────────────────────────────────────────────────────────────────────────────────────────────────

_DATING = re.compile(r"\b(?:dated|as\s+of|effective|entered\s+into|made|executed)\b[^.;]{0,100}$", re.IGNORECASE)
_SALUTATION = re.compile(r"^\s*(?:dear\b|ladies and gentlemen|gentlemen|to whom)", re.IGNORECASE | re.MULTILINE)
_READ_AT_ONCE = 2_000


def _effective(text: str) -> tuple[Property, int, int] | None:
    """The date that the first sentences give it; of a letter, the one above the salutation."""
    head = text[:_READ_AT_ONCE]
    dates = [date for date in read_dates(head) if len(date.iso) == 10 and not date.doubtful]
    letter = _SALUTATION.search(head)
    for date in dates:
        dating = _DATING.search(head, 0, date.start)
        is_line = head[head.rfind("\n", 0, date.start) + 1 :].partition("\n")[0].strip() == head[date.start : date.end]
        if dating or is_line or (letter and date.end <= letter.start()):
            raw = head[date.start : date.end]
            value = Typed(raw=raw, date=date.iso)
            start = dating.start() if dating else date.start
            return Property(label="Effective date", value=value, start=date.start, end=date.end), start, date.end
    return None


# ── who ──────────────────────────────────────────────────────────────────────────────────────────────────────────────

_BETWEEN = re.compile(
    r"\b(?:by\s+and\s+)?(?:between|among)\b\s*(?:and\s+among\s+)?:?\s*|\bparties\s*:\s*", re.IGNORECASE
)
_CALLED = re.compile(r"\((?=[^()]{0,160}[\"“”])(?:[^()]|\([^()]*\)){1,200}\)")
_CHUNK_ENDS = re.compile(
    r"\b(?:WHEREAS|RECITALS?|WITNESSETH|BACKGROUND)\b|\bas follows\b|\bagrees?\b|(?<=[a-z)\"”])\.\s+(?=[A-Z])"
)
_DESCRIBED = re.compile(
    r"(?:,|(?<![\s,]))\s+(?:an?\s+(?:\w+\s+){0,4}(?:corporation|company|partnership|individual|limited|llc|association|trust|resident)"
    r"|with\s+(?:its|an?|offices)|having\b|including\b|its\s|whose\b|located\b|residing\b|on\s+behalf|together\b|organized"
    r"|for\s+itself|formerly\b|and\s+(?:its|their|all|each|any)\b|by\s+and\b|acting\b|effective\b|as\s+of\b|dated\b).*",
    re.IGNORECASE | re.DOTALL,
)
_AND = re.compile(r"(?:[,;]\s*|\s+)and\s+(?=[A-Z0-9])")
_LEADING = re.compile(r"^(?:[\s,;:)(]|and\b|between\b|by\b|the\s+(?=[A-Z]\w+\s+[A-Z]))+", re.IGNORECASE)
_NO_NAME = re.compile(
    r"_{2,}|\d{4}|^\d+\.\s|\b(?:undersigned|individual|person|employee|executive|agreement|party|parties|information|date|each|either"
    r"|you|your|recipient|certain|board|shall|will|is|are|was|has|have|that|this|which)\b",
    re.IGNORECASE,
)


def _parties(text: str) -> Iterator[Annotation]:
    """The names of the first sentence that says between whom it is made; else those that are given a short name."""
    found: list[tuple[int, int]] = []
    for between in _BETWEEN.finditer(text, 0, HEAD):
        ends = _CHUNK_ENDS.search(text, between.end(), between.end() + LONGEST_CHUNK)
        end = ends.start() if ends else min(len(text), between.end() + LONGEST_CHUNK)
        found = list(dict.fromkeys(_names(text, between.end(), end)))
        if len(found) >= 2 or (found and _CALLED.search(text, between.end(), end)):
            break
        found = []
    found = found or list(dict.fromkeys((*_addressee(text), *_defined(text))))
    if not found:
        return
    start, end = found[0][0], found[-1][1]
    for first, last in found:
        name = Property(label="Party", value=Typed(raw=text[first:last]), start=first, end=last)
        yield Annotation(shape="fact", properties=(name,), start=start, end=end, by="contract")


def _names(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """A name ends where it is described, or is given a short one; the next begins behind "and"."""
    place = start
    found: list[tuple[int, int]] = []
    for called in _CALLED.finditer(text, start, end):
        found += _split(text, place, called.start())
        place = called.end()
    return found if len(found) > 1 else [*found, *_split(text, place, end)]


def _split(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    place = start
    for joint in [*_AND.finditer(text, start, end), None]:
        stop = joint.start() if joint else end
        if joint and not _ends_name(text[place:stop], text[joint.end() : end]):
            continue
        if name := _name(text, place, stop) or _below_address(text, place, stop):
            yield name
        place = joint.end() if joint else end


def _below_address(text: str, start: int, end: int) -> tuple[int, int] | None:
    """Where the parties stand below each other, each with its address: the name is the last line."""
    line = text.rfind("\n", start, end) + 1
    return _name(text, line, end) if line and _ADDRESS.search(text, start, line) else None


_ADDRESS = re.compile(r"\d{3}")


def _ends_name(before: str, behind: str) -> bool:
    """ "Leggett and Platt" is one: what stands before "and" is described, or has a legal form, or is a whole name."""
    words = before.split()
    if _DESCRIBED.search(before) or "," in before or re.search(r"\b(?:Inc|LLC|Ltd|Corp\w*|Company|L\.P)\b", before):
        return True
    return len(words) >= 2 and len(behind.split()) >= 2


def _name(text: str, start: int, end: int) -> tuple[int, int] | None:
    written = text[start:end]
    lead = _LEADING.match(written)
    first = lead.end() if lead else 0
    described = _DESCRIBED.search(written, first)
    last = described.start() if described else len(written)
    name = written[first:last].rstrip(" ,;:\n(")
    if not 2 <= len(name) <= LONGEST_NAME or _NO_NAME.search(name):
        return None
    begins = name if name[0].isdigit() else name.split()[0]
    if not any(letter.isupper() for letter in begins) or len(name.split()) > MOST_WORDS or name.count(",") > 2:
        return None
    return start + first, start + first + len(name)


_BEFORE_CALLED = re.compile(
    r"(?P<name>(?:[A-Z][\w&.'’-]*|\d[\w-]*)(?:,?\s+(?:[A-Z&][\w&.'’-]*|of|and|de))*)\s*"
    r"(?:\((?:(?:together|collectively|including|with)[^()\"“]{0,80})?(?:hereinafter\s+)?(?:the\s+)?[\"“]"
    r"(?:(?:[Tt]he\s+)?(?:Company|COMPANY)|[Yy]ou|[Ww]e|Employee|Executive|Recipient)[\"”])"
)


def _addressee(text: str) -> Iterator[tuple[int, int]]:
    """Of a letter, the first line below its date."""
    letter = _SALUTATION.search(text, 0, HEAD)
    dates = [date for date in read_dates(text[: letter.start()]) if len(date.iso) == 10] if letter else []
    if letter is None or not dates:
        return
    place = text.find("\n", dates[0].end, letter.start())
    for line in text[place : letter.start()].split("\n") if place > 0 else ():
        start = place + len(line) - len(line.lstrip())
        place += len(line) + 1
        if line.strip() and not line.isupper() and (name := _name(text, start, start + len(line.strip()))):
            yield name
            return


def _defined(text: str) -> Iterator[tuple[int, int]]:
    for found in _BEFORE_CALLED.finditer(text, 0, HEAD):
        if name := _name(text, *found.span("name")):
            yield name
