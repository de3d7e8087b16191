"""Read a profile: what a thing's own pages and others say of it in a catalog's open columns.

A single fact is read by the built-in reader. These are the columns it is not made for: which site is the thing's own,
what it costs in all its plans, what shows that it works, and what it does, in words. All are passages as they stand in
a page; nothing is put together here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import chain
from urllib.parse import urlsplit

from tablewright.decisions import answers
from tablewright.decisions.candidates.names import is_all_its_own, is_own
from tablewright.extraction.about import Subject, about, mentions
from tablewright.extraction.reader import ABOUT
from tablewright.table.model import Noun
from tablewright.table.money_text import read_amounts
from tablewright.table.research import FieldKind, Relevance, Wanted
from tablewright.table.retrieved import Retrieved
from tablewright.table.untrusted import is_tainted
from tablewright.text.sections import sentences

LONGEST = 360
SHORTEST = 12
SHORT_LINE = 40
MOST_PROOFS = 3
SURELY = 0.9
OWN, OTHER = 0.8, 0.35
"""What a passage scores on the thing's own site, and elsewhere."""

PRICING = re.compile(r"\b(?:pric(?:e|es|ing)|fees?|plans?|rates?|costs?|charges?|tariffs?|honorar\w*|preise?)\b", re.I)
PROOF = re.compile(
    r"\b(?:case[ -]?stud(?:y|ies)|cases|customers?|(?:success|customer)?[ -]?stor(?:y|ies)|testimonials?|references?|"
    r"reviews?|clients?|our[ -]work)\b",
    re.I,
)
_ABOUT_US = re.compile(r"\b(?:about|company|product|overview|home|what[ -]we[ -]do)\b", re.I)
_FIRST = re.compile(r"\b(?:we|our|us)\b", re.I)
_DOES = re.compile(
    r"\b(?:helps?|offers?|provides?|runs?|makes?|builds?|turns?|lets?|advises?|hosts?|sells?|forecasts?|routes?|"
    r"automates?|handles?|is an?|are an?|enables?|delivers?|develops?|rents?|designs?|produces?)\b",
    re.I,
)
_ORIGIN = re.compile(r"\b(?:founded|established|set up in|started in|headquarters?|offices? (?:are|is) in)\b", re.I)
_PURPOSE = re.compile(r"\b(?:what (?:is|does|do|are)|problems?|solves?|descri\w+|purpose|offers?|about)\b", re.I)


class Said(Noun, frozen=True):
    """`value` as it stands at `start:end` of the source, white space aside; of a site it is the address."""

    value: str
    source: int
    start: int
    end: int
    score: float


def read_profile(subject: Subject, wanted: Wanted, sources: Sequence[Retrieved]) -> tuple[Said, ...]:
    """What the pages about the subject say for the column, the best first."""
    readers = {"site": _sites, "price": _prices, "proof": _proofs, "prose": _prose}
    reader = readers.get(wanted.kind)
    if reader is None:
        return ()
    found = [
        said
        for said in reader(subject, wanted, sources)
        if said.end - said.start >= SHORTEST and not is_tainted(sources[said.source].text, said.start, said.end)
    ]
    return tuple(sorted(found, key=lambda said: -said.score))


def relevance_of(url: str, title: str) -> Relevance:
    """What a page is good for, judged by its address and title."""
    words = f"{urlsplit(url).path.replace('/', ' ').replace('-', ' ')} {title}"
    if PRICING.search(words):
        return "pricing"
    if PROOF.search(words):
        return "case_study"
    return "overview" if urlsplit(url).path in ("", "/") or _ABOUT_US.search(words) else "other"


def likely_links(kinds: Sequence[FieldKind], page: Retrieved) -> list[str]:
    """Where a page's own links may lead to what is missing, judged by their words; of its own site only."""
    host = urlsplit(page.origin).netloc
    wanted: list[Relevance] = [{"price": "pricing", "proof": "case_study"}.get(kind, "overview") for kind in kinds]  # type: ignore[misc]
    links = [link for link in dict.fromkeys(page.links) if urlsplit(link).netloc == host and link != page.origin]
    ranked = [(wanted.index(kind), link) for link in links if (kind := relevance_of(link, "")) in wanted]
    return [link for _, link in sorted(ranked, key=lambda entry: entry[0])]


# ── the columns ──────────────────────────────────────────────────────────────────────────────────────────────────────


def _of_subject(subject: Subject, page: Retrieved) -> float:
    """How much a page counts for the subject: its own site, a page about it, one that only names it, or not at all."""
    own = page.kind == "page" and is_own(subject.name, page.domain)
    if own and is_all_its_own(subject.name, page.domain):
        return OWN
    if about(subject, page.title, page.text) >= ABOUT:
        return OWN if own else (OWN + OTHER) / 2 if page.kind != "snippet" else OTHER
    return 0.0


def _sites(subject: Subject, wanted: Wanted, sources: Sequence[Retrieved]) -> Iterator[Said]:
    for number, page in enumerate(sources):
        if page.kind != "page" or not is_own(subject.name, page.domain):
            continue
        parts = urlsplit(page.origin)
        for start, end in sentences(page.text):
            if mentions(subject, page.text[start:end]):
                home = OWN + (0.1 if parts.path in ("", "/") else 0.0)
                end = min(end, start + LONGEST)
                yield Said(value=f"{parts.scheme}://{parts.netloc}", source=number, start=start, end=end, score=home)
                break


def _prices(subject: Subject, wanted: Wanted, sources: Sequence[Retrieved]) -> Iterator[Said]:
    for number, page in enumerate(sources):
        weight = _of_subject(subject, page)
        if weight == OWN:
            is_for_prices = (
                relevance_of(page.origin, page.title) == "pricing" or about(subject, page.title, "") >= SURELY
            )
            lines = () if _is_of_it_alone(subject, page) else _lines_on(subject, page.text)
            spans: Iterator[tuple[int, int]] = chain(lines, _priced(page.text))
            weight = weight if is_for_prices else 0.75 * weight
        else:
            spans = _lines_on(subject, page.text)
            own = page.kind == "page" and is_own(subject.name, page.domain)
            weight = weight or (0.75 * OWN if own else OTHER)
        for start, end in spans:
            yield _said(page, number, start, end, weight)
            break


def _is_of_it_alone(subject: Subject, page: Retrieved) -> bool:
    """Whether all that a page of its maker says is said of the subject, and of no other product."""
    return is_all_its_own(subject.name, page.domain) or about(subject, page.title, "") >= SURELY


def price_lines(passage: str) -> list[str]:
    """What states a price in a passage: sentences and lines, before rows of a table."""
    parts = [line[start:end] for line in passage.splitlines() for start, end in sentences(line)]
    lines = [" ".join(part.split()) for part in parts if _has_price(part)]
    return sorted(lines, key=lambda line: "|" in line)


def _lines_on(subject: Subject, text: str) -> Iterator[tuple[int, int]]:
    """On a page that speaks of others too: a sentence or a row with a price that names the subject."""
    for line in re.finditer(r"[^\n]+", text):
        if not (_has_price(line[0]) and mentions(subject, line[0])):
            continue
        if "|" in line[0]:
            yield line.span()
            continue
        for start, end in sentences(line[0]):
            if _has_price(line[0][start:end]) and mentions(subject, line[0][start:end]):
                yield line.start() + start, line.start() + end


def _priced(text: str) -> Iterator[tuple[int, int]]:
    """Lines with an amount and a currency that follow each other, with the line above that says what they are."""
    lines = [match.span() for match in re.finditer(r"[^\n]+", text)]
    place = 0
    while place < len(lines):
        if not _has_price(text[slice(*lines[place])]):
            place += 1
            continue
        first = place
        while place + 1 < len(lines) and _has_price(text[slice(*lines[place + 1])]):
            place += 1
        above = lines[first - 1] if first and _is_head(text[slice(*lines[first - 1])]) else lines[first]
        start, end = above[0], lines[place][1]
        if end - start > LONGEST:
            end = next((stop for _, stop in reversed(lines[first : place + 1]) if stop - start <= LONGEST), 0)
            if not end:
                start, end = _sentence_with_price(text, *lines[first])
        yield start, end
        place += 1


@lru_cache(maxsize=8_192)
def _has_price(line: str) -> bool:
    return any(amount.money.currency for amount in read_amounts(line))


def _is_head(line: str) -> bool:
    return (
        "|" in line
        or line.lstrip().startswith("#")
        or line.rstrip().endswith(":")
        or (len(line) < SHORT_LINE and ":" not in line)
    )


def _sentence_with_price(text: str, start: int, end: int) -> tuple[int, int]:
    for first, last in sentences(text[start:end]):
        if _has_price(text[start + first : start + last]):
            return start + first, start + min(last, first + LONGEST)
    return start, min(end, start + LONGEST)


def _proofs(subject: Subject, wanted: Wanted, sources: Sequence[Retrieved]) -> Iterator[Said]:
    for number, page in enumerate(sources):
        weight = _of_subject(subject, page)
        if relevance_of(page.origin, page.title) != "case_study" or page.kind == "snippet":
            continue
        if not weight and mentions(subject, page.text):
            weight = (OWN + OTHER) / 2
        if not weight:
            continue
        told = [(start, end) for start, end in sentences(page.text) if end - start >= SHORTEST]
        telling = [span for span in told if any(map(str.isdigit, page.text[slice(*span)]))]
        if told:
            start, end = (telling or told)[0]
            yield _said(page, number, start, end, weight)


def _prose(subject: Subject, wanted: Wanted, sources: Sequence[Retrieved]) -> Iterator[Said]:
    pages = [(number, page, _of_subject(subject, page)) for number, page in enumerate(sources)]
    pages = [entry for entry in pages if entry[2]]
    question = re.sub(r"\{[^{}]*\}", subject.name, wanted.field.question or wanted.field.name)
    dates_it = bool(_ORIGIN.search(question))
    for told in answers.tell(question, [(page.title, page.text) for _, page, _ in pages]):
        number, page, weight = pages[told.text]
        of_it = weight == OWN or mentions(subject, page.text[told.start : told.end])
        if of_it and (dates_it or not _ORIGIN.search(page.text, told.start, told.end)):
            yield _said(page, number, told.start, told.end, weight)
    if not _PURPOSE.search(question):
        return
    for number, page, weight in pages:
        told_here = [span for span in sentences(page.text)[:12] if not _ORIGIN.search(page.text, *span)]
        does = [span for span in told_here if _tells_purpose(subject, page.text[slice(*span)], own=weight == OWN)]
        if does:
            yield _said(page, number, *does[0], weight * 0.9)
        elif weight == OWN and urlsplit(page.origin).path in ("", "/"):
            whole = [span for span in told_here if page.text[slice(*span)].rstrip().endswith((".", "!"))]
            yield from (_said(page, number, *span, weight * 0.4) for span in whole[:1])


def _tells_purpose(subject: Subject, sentence: str, *, own: bool) -> bool:
    speaks_of_it = mentions(subject, sentence) or (own and bool(_FIRST.search(sentence)))
    return speaks_of_it and bool(_DOES.search(sentence))


def _said(page: Retrieved, number: int, start: int, end: int, score: float) -> Said:
    end = min(end, start + LONGEST)
    lines = (" ".join(line.split()) for line in page.text[start:end].splitlines())
    return Said(value=" · ".join(filter(None, lines)), source=number, start=start, end=end, score=score)
