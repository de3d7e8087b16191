"""Which row a text is about, and which of several texts are about another thing of the same name.

A fact on a page about something else is no answer, however well it fits. Pages are compared with each other: where one
of them is about a namesake, the site that it names as its own is the namesake's too, and a page that does not say which
of them it is about is not sure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal, TypeAlias

from rapidfuzz import fuzz

from tablewright.arrays import np
from tablewright.domain.model import Noun
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.rowkey import fold, split_words, tokenize, trim
from tablewright.extraction.meaning import RELATED, content, likeness
from tablewright.extraction.spans import spans
from tablewright.values.countries import COUNTRIES, COUNTRY_OF, PEOPLE

HEAD = 400  # characters of a page in which it says what it is about
TOP = 1500  # characters of a page in which its heading stands, after a menu
ANYTHING = 1.0
ABOUT = 0.5
"""How surely a page must be about the row, for all that it says to be read as said of the row."""
HEADED = 0.75


class Subject(Noun, frozen=True):
    """What a row is about: its name, and the other cells that tell it from others of the same name.

    Without a name every text is about it: one document, asked about itself.
    """

    name: str
    context: Mapping[str, str] = {}
    column: str = ""
    """The column that the name stands in, if any."""


def about(subject: Subject, title: str, text: str) -> float:
    """Return how surely the page is about the subject: 1 is its own page, below 0.5 it is another's."""
    if not subject.name.strip():
        return ANYTHING
    cells = frozenset(words for value in subject.context.values() if (words := _words(value[:80])))
    best = max((_match(name, title, text, cells) for name in names_of(subject.name)), default=0.0)
    if best < HEADED:
        best = max([best, *(_headed(name, title, text) for name in names_of(subject.name))])
    if 0 < best < 1:
        best += 0.12 * shared_context(subject, title, text)
    return min(1.0, best)


def _match(name: tuple[str, ...], title: str, text: str, cells: frozenset[tuple[str, ...]]) -> float:
    """A part of the title that is another cell of the row, such as the maker, does not tell which row it is."""
    best = 0.0
    for own in titles_of(title):
        if own == name or own not in cells:
            best = max(best, _alike(name, own))
    if best < 0.9:
        best = max(best, _in_head(name, text, bool(title)))
    return best


def _alike(name: tuple[str, ...], title: tuple[str, ...]) -> float:
    if not title or not name:
        return 0.0
    if name == title:
        return 1.0
    joined, whole = " ".join(name), " ".join(title)
    if joined.replace(" ", "") == whole.replace(" ", ""):
        return 1.0
    if _spells_out(name, title) or _spells_out(title, name):
        return 0.9
    if _contains(title, name):
        extra = len(title) - len(name)
        leads = title[: len(name)] == name
        # "Daimler" on "Daimler AG", "Albacete" on "Albacete Balompié"; "Paris" is not "Treaty of Paris".
        return max(0.3, (0.78 if leads else 0.62) - 0.07 * (extra - 1))
    if len(joined) >= 8 and fuzz.ratio(joined, whole) >= 92 and _numbers(name) == _numbers(title):
        return 0.88
    if (
        len(title) >= 2
        and _contains(name, title)
        and len(title) / len(name) >= (0.6 if name[: len(title)] == title else 0.66)
        and _numbers(name) <= _numbers(title)
    ):
        return 0.62
    return 0.0


def _headed(name: tuple[str, ...], title: str, text: str) -> float:
    """A line near the top that is the name alone: the heading of a page whose title is only that of its site."""
    if len("".join(name)) < 6:
        return 0.0
    in_title = any(_contains(own, name) for own in titles_of(title))
    for line in _top_lines(text[:TOP]):
        if line == name:
            return HEADED if len(name) > 1 or in_title else 0.6
        if in_title and line[: len(name)] == name and len(line) <= len(name) + 3:
            return 0.66
    return 0.0


@lru_cache(maxsize=256)
def _top_lines(text: str) -> tuple[tuple[str, ...], ...]:
    lines = (line for part in text.split("\n") for line in part.split(" | "))
    return tuple(_words(line) for line in lines if 0 < len(line) <= 120)


def _in_head(name: tuple[str, ...], text: str, titled: bool) -> float:
    """A page may carry another title: "Red Star Stadium, also known as Rajko Mitić Stadium, is …"."""
    head = _head_words(text[:HEAD])
    if len(" ".join(name)) < 4:
        return 0.0
    for place in range(len(head) - len(name) + 1):
        if head[place : place + len(name)] == name:
            subject_part = place <= 2 or any(word in head[:place] for word in ("known", "called", "formerly", "named"))
            verb = next((at for at, word in enumerate(head) if word in _VERBS), len(head))
            if place < verb and subject_part:
                return 0.85 if len(name) > 1 or not titled else 0.6
            return 0.55 if len(name) > 1 and place < verb else 0.35
    return 0.0


_VERBS = frozenset(("is", "was", "are", "were", "has"))


def mentions(subject: Subject, sentence: str) -> bool:
    """Return True if the sentence names the subject in full."""
    words = _head_words(sentence)
    for name in names_of(subject.name):
        if (len(" ".join(name)) < 4 and len(name) < 2) or all(word.isdigit() for word in name):
            continue
        if _contains(words, name):
            return True
    return False


def short_names(subject: Subject, title: str) -> frozenset[str]:
    """Words that stand for the subject in running text: any telling word of its name or of the page's title."""
    words = {word for name in names_of(subject.name) for word in name}
    words |= {word for own in titles_of(title)[:2] for word in own}
    words |= {"".join(word[0] for word in name) for name in names_of(subject.name) if len(name) > 2}
    return frozenset(word for word in words if len(word) > 2 and word not in _STOP)


_STOP = frozenset("the and for with from not inc ltd corp company list new".split())


def shared_context(subject: Subject, title: str, text: str) -> float:
    """The share of the row's other cells that the page knows too."""
    known = 0.0
    cells = [value for value in subject.context.values() if len(value) >= 3 and len(value) <= 80][:8]
    if not cells:
        return 0.0
    page = fold(f"{title} {text[:4000]}")
    own = {word for name in names_of(subject.name) for word in name}
    for value in cells:
        folded = fold(value)
        telling = [word for word in tokenize(folded) if len(word) > 4 and word not in own]
        known += folded in page or (any(word in page for word in telling) and 0.5)
    return min(1.0, known / max(1, min(3, len(cells))))


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────────

_BULLET = re.compile(r"^[^\w(]+|[†‡*§#^]+|[^\w)!?.'’]+$")
_NUMBERED = re.compile(r"^\d{1,3}[.)]?\s+(?=\D)")
_PARENTHESES = re.compile(r"\s{0,20}[(\[]([^()\[\]]*)[)\]]\s*")
_SITE = re.compile(r"(?<!\s)\s+[-|·–—»:]\s+")
_INVERTED = re.compile(r"^(.+), (The|A|An|Le|La|Les|Los|El|Die|Der|Das)$", re.IGNORECASE)


@lru_cache(maxsize=2048)
def names_of(name: str) -> tuple[tuple[str, ...], ...]:
    """The ways a cell names its row: "10 Fort Cass", "Calling, The", "The Little Prince (Le Petit Prince)"."""
    name = _BULLET.sub("", name.strip()) or name
    forms = [name]
    if inverted := _INVERTED.match(name):
        forms.append(f"{inverted[2]} {inverted[1]}")
    if "(" in name:
        outside = _PARENTHESES.sub(" ", name).strip()
        forms.append(outside)
        forms.extend(inside for inside in _PARENTHESES.findall(name) if len(inside) > 6 and not inside[0].isdigit())
    if numbered := _NUMBERED.match(name):
        forms.append(name[numbered.end() :])
    return tuple(dict.fromkeys(words for form in forms if (words := _words(form))))


@lru_cache(maxsize=2048)
def titles_of(title: str) -> tuple[tuple[str, ...], ...]:
    """A page's title, without what is in brackets, and its parts: "About us | Acme"."""
    forms = [title]
    if "(" in title:
        forms.append(_PARENTHESES.sub(" ", title).strip())
    forms.extend(part for part in _SITE.split(title) if part != title)
    if ", " in title:
        forms.append(title.split(", ")[0])
    return tuple(dict.fromkeys(words for form in forms if (words := _words(form))))


def _words(text: str) -> tuple[str, ...]:
    return tuple(trim(split_words(text)))


@lru_cache(maxsize=1024)
def _head_words(text: str) -> tuple[str, ...]:
    return tuple(split_words(text))


def _contains(words: tuple[str, ...], part: tuple[str, ...]) -> bool:
    width = len(part)
    return any(words[place : place + width] == part for place in range(len(words) - width + 1))


def _numbers(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word for word in words if any(character.isdigit() for character in word))


def _spells_out(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    """ "IIT Madras" and "Indian Institute of Technology Madras"."""
    if len(short) >= len(long):
        return False
    for place, word in enumerate(short):
        if not 2 <= len(word) <= 6 or not word.isalpha():
            continue
        rest = short[:place], short[place + 1 :]
        middle = long[len(rest[0]) : len(long) - len(rest[1])]
        if long[: len(rest[0])] != rest[0] or (rest[1] and long[len(long) - len(rest[1]) :] != rest[1]):
            continue
        initials = "".join(part[0] for part in middle)
        telling = "".join(part[0] for part in middle if part not in ("of", "the", "and", "for", "in"))
        if len(middle) >= 2 and word in (initials, telling):
            return True
    return False


SAYS_WHAT_IT_IS = 700
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
_ANY_SITE = re.compile(r"(?<![\w-])(?<![\w-]\.)(?:[a-z0-9-]+\.)+[a-z]{2,10}\b")


def contradiction(subject: Subject, page: Retrieved) -> str:
    """Return what the page plainly says of itself that the row's cells do not: another country, or another site of its
    own."""
    if _by_country(subject, page) == "other":
        return "it names another country than the row"
    return "it belongs to another site than the row names" if _by_site(subject, page) == "other" else ""


def _by_country(subject: Subject, page: Retrieved) -> Verdict | None:
    """Whether the page names the country of the row, or only others."""
    row = {people for value in subject.context.values() if (people := _people(value.strip()))}
    said = _countries(f"{page.title}. {page.text[:SAYS_WHAT_IT_IS]}")
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
    """Return the verdict by the site that the row names: that site is its own, another one of the same name is a
    namesake's."""
    given = {_host(value) for value in subject.context.values() if "." in value and " " not in value.strip()} - {""}
    site = _host(page.origin)
    if not given or not site:
        return None
    if site in given or given & _sites(subject, page):
        return "same"
    return "other" if is_own_site(subject, site) or _sites(subject, page) else None


def _sites(subject: Subject, page: Retrieved) -> set[str]:
    """The sites called like the row that the page belongs to or names."""
    named = {_host(match[0]) for match in _ANY_SITE.finditer(page.text.lower())} | {_host(page.origin)}
    return {site for site in named if site and is_own_site(subject, site)}


def is_own_site(subject: Subject, site: str) -> bool:
    """Return True if a site is called like the row: by its whole name, or by its first word and something else."""
    label = re.sub(r"[^a-z0-9]", "", site.split(".")[0])
    return any(
        name and len(name[0]) > 3 and label.startswith(re.sub(r"\W", "", name[0])) for name in names_of(subject.name)
    )


def _namesakes(subject: Subject, pages: Sequence[Retrieved]) -> bool:
    """Return True if the pages are about several things of one name: of two sites called so, or kept apart by one
    site."""
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
    head = content(f"{page.title} {page.text[:SAYS_WHAT_IT_IS]}")
    given = tuple(word for word in head if word not in own)
    return sum(_coverage(words, given) for words in cells[:8]) / len(cells[:8])


def _coverage(words: tuple[str, ...], given: tuple[str, ...]) -> float:
    alike = likeness(words, given)
    best = np.max(alike, axis=1) if alike.size else np.zeros(len(words))
    return float(np.where(best >= RELATED, best, 0.0).mean())


def _telling(value: str, own: set[str]) -> tuple[str, ...]:
    return tuple(word for word in content(value[:80]) if fold(word) not in own and len(word) > 2)
