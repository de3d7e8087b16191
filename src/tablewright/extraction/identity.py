"""Which of several texts are about the row, and which about another thing of the same name.

A page may say what a cell of the row says, say something else, or say nothing of it. Pages are seen beside each other:
where one of them is about a namesake, the site that it names as its own is the namesake's too, and a page that does not
say which of them it is about is not sure.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, TypeAlias

from tablewright.arrays import np
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.rowkey import fold
from tablewright.extraction.about import ABOUT, Subject, about, names_of, titles_of
from tablewright.extraction.meaning import RELATED, content, likeness
from tablewright.extraction.spans import spans
from tablewright.values.countries import COUNTRIES, COUNTRY_OF, PEOPLE

HEAD = 700
"""Characters of a page in which it says what it is."""
NAMESAKE = -1.0
"""Of a page about another thing of that name: nothing on it is read, not even where it says the name."""
UNCLEAR = 0.55
"""What is left where pages of several things of that name were found, and this one does not say which it is."""
APART = 0.34
"""How much less of the row's cells one page must know than another, to be about another thing."""

Verdict: TypeAlias = Literal["same", "other", "unclear"]


def fits(subject: Subject, sources: Sequence[Retrieved]) -> list[float]:
    """For each source how surely it is about the subject: 1 is its own page, below `ABOUT` it is another's."""
    found = [about(subject, source.title, source.text) for source in sources]
    own = [number for number, fit in enumerate(found) if fit >= ABOUT]
    if not subject.name.strip() or not own:
        return found
    pages = [sources[number] for number in own]
    verdicts = dict(zip(own, _verdicts(subject, pages), strict=True))
    parted = "other" in verdicts.values() or _namesakes(subject, pages)
    known = "same" in verdicts.values()
    for number, verdict in verdicts.items():
        if verdict == "other":
            found[number] = NAMESAKE if known else min(UNCLEAR, found[number])
        elif verdict == "unclear" and parted:
            found[number] = min(UNCLEAR, found[number])
    return found


def _verdicts(subject: Subject, pages: Sequence[Retrieved]) -> list[Verdict]:
    verdicts: list[Verdict] = [_by_country(subject, page) or _by_site(subject, page) or "unclear" for page in pages]
    shelves = _shelves(pages)
    if "other" in verdicts or _namesakes(subject, pages):
        knows = [_knows(subject, page) for page in pages]
        for number, knowing in enumerate(knows):
            if verdicts[number] == "unclear" and knowing >= APART and knowing > max(knows) - APART / 2:
                verdicts[number] = "same"
    # A site that keeps things of one name apart has one page for each.
    for number, shelf in enumerate(shelves):
        beside = {verdicts[other] for other, each in enumerate(shelves) if each == shelf and other != number}
        if verdicts[number] == "unclear" and "same" in beside:
            verdicts[number] = "other"
    return _by_link(subject, pages, verdicts)


def _by_link(subject: Subject, pages: Sequence[Retrieved], verdicts: list[Verdict]) -> list[Verdict]:
    """Sites that only pages about the row, or only pages about a namesake, name or belong to, are theirs."""
    named: dict[str, set[Verdict]] = {}
    for page, verdict in zip(pages, verdicts, strict=True):
        for site in _sites(subject, page):
            named.setdefault(site, set()).add(verdict)
    linked: list[Verdict] = []
    for page, verdict in zip(pages, verdicts, strict=True):
        says = {said for site in _sites(subject, page) for said in named[site]} - {"unclear"}
        linked.append(next(iter(says)) if len(says) == 1 and verdict == "unclear" else verdict)
    return linked


_HOST = re.compile(r"(?:https?://)?(?:www\.)?((?:[a-z0-9-]+\.)+[a-z]{2,10})(?::\d+)?(?:[/?#]|$)")


def _host(address: str) -> str:
    found = _HOST.match(address.strip().lower())
    return found[1] if found else ""


# ── what one page says ───────────────────────────────────────────────────────────────────────────────────────────────

_PARTS = {"English": "British", "Scottish": "British", "Welsh": "British", "Northern Irish": "British"}
_SITE = re.compile(r"(?<![\w-])(?<![\w-]\.)(?:[a-z0-9-]+\.)+[a-z]{2,10}\b")


def contradiction(subject: Subject, page: Retrieved) -> str:
    """What the page plainly says of itself that the row's cells do not: another country, or another site of its own."""
    if _by_country(subject, page) == "other":
        return "it names another country than the row"
    return "it belongs to another site than the row names" if _by_site(subject, page) == "other" else ""


def _by_country(subject: Subject, page: Retrieved) -> Verdict | None:
    """Whether the page names the country of the row, or only others."""
    row = {people for value in subject.context.values() if (people := _people(value.strip()))}
    said = _countries(f"{page.title}. {page.text[:HEAD]}")
    if not row or not said:
        return None
    return "same" if row & said else "other"


@lru_cache(maxsize=512)
def _countries(text: str) -> frozenset[str]:
    return frozenset(people for span in spans("country", text) if (people := _people(span.value)))


def _people(name: str) -> str:
    """One name for a country and what comes from it: "American" for "USA" and "United States"."""
    people = PEOPLE[name][0] if name in COUNTRIES else name if name in COUNTRY_OF else ""
    return _PARTS.get(people, people)


def _by_site(subject: Subject, page: Retrieved) -> Verdict | None:
    """Where the row gives its site: that site is its own, and another that is called like the row is a namesake's."""
    given = {_host(value) for value in subject.context.values() if "." in value and " " not in value.strip()} - {""}
    site = _host(page.origin)
    if not given or not site:
        return None
    if site in given or given & _sites(subject, page):
        return "same"
    return "other" if is_own_site(subject, site) or _sites(subject, page) else None


def _sites(subject: Subject, page: Retrieved) -> set[str]:
    """The sites called like the row that the page belongs to or names."""
    named = {_host(match[0]) for match in _SITE.finditer(page.text.lower())} | {_host(page.origin)}
    return {site for site in named if site and is_own_site(subject, site)}


def is_own_site(subject: Subject, site: str) -> bool:
    """Whether a site is called like the row: by its whole name, or by its first word and something else."""
    label = re.sub(r"[^a-z0-9]", "", site.split(".")[0])
    return any(
        name and len(name[0]) > 3 and label.startswith(re.sub(r"\W", "", name[0])) for name in names_of(subject.name)
    )


def _namesakes(subject: Subject, pages: Sequence[Retrieved]) -> bool:
    """Whether the pages are about several things of one name: of two sites called so, or kept apart by one site."""
    shelves = _shelves(pages)
    sites = {site.split(".")[0] for page in pages if is_own_site(subject, site := _host(page.origin))}
    return len(set(shelves)) < len(shelves) or len(sites) > 1


def _shelves(pages: Sequence[Retrieved]) -> list[str]:
    """The site and the name of each page; those of one site and one name are about several things of that name. A
    site that is called so itself has many pages about one thing."""
    found = []
    for page in pages:
        names, site = titles_of(page.title), _host(page.origin)
        name = min((" ".join(words) for words in names), key=len, default="")
        own = not site or re.sub(r"\W", "", site.split(".")[0]).startswith(name.split(" ")[0][:4] or "?")
        found.append(page.origin if own or not name else f"{site} {name}")
    return found


def _knows(subject: Subject, page: Retrieved) -> float:
    """The share of the row's cells that the page says too, in these words or in words like them."""
    own = {word for name in names_of(subject.name) for word in name}
    cells = [words for value in subject.context.values() if (words := _telling(value, own))]
    if not cells:
        return 0.0
    head = content(f"{page.title} {page.text[:HEAD]}")
    given = tuple(word for word in head if word not in own)
    return sum(_coverage(words, given) for words in cells[:8]) / len(cells[:8])


def _coverage(words: tuple[str, ...], given: tuple[str, ...]) -> float:
    alike = likeness(words, given)
    best = np.max(alike, axis=1) if alike.size else np.zeros(len(words))
    return float(np.where(best >= RELATED, best, 0.0).mean())


def _telling(value: str, own: set[str]) -> tuple[str, ...]:
    return tuple(word for word in content(value[:80]) if fold(word) not in own and len(word) > 2)
