"""Score how surely a text is about a row, and tell the row from other things of the same name.

A fact on a page about something else is no answer, however well it fits. Pages are compared with each other: if one of
them is about a namesake, the site that it names as its own belongs to the namesake too, and a page that does not say
which of them it is about is uncertain. Only texts and cells are compared; nothing is fetched and no model is asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal, TypeAlias

from rapidfuzz import fuzz

from tablewright.arrays import np
from tablewright.domain.model import Struct
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.rowkey import fold_text, split_folded_words, split_words, strip_legal_forms
from tablewright.extraction.meaning import LIKENESS, content_words, word_similarity
from tablewright.extraction.spans import find_spans
from tablewright.text import contains_word_run
from tablewright.values.countries import COUNTRY_BY_DEMONYM, DEMONYMS


class SubjectScores(Struct, frozen=True):
    """How surely a page is about the row: 1 is its own page."""

    # From here on everything on a page is read as said of the row; below it, only sentences that name the row.
    about: float = 0.5
    # A search result below it is about something else, if any other is not: to open or show it would be a waste.
    possible: float = 0.35
    # A heading that is exactly the name, on a page whose title is only that of its site.
    heading: float = 0.75
    # Answers are sure only on a page that is about the row as surely as this.
    surely_own: float = 0.85
    # A page about another thing of that name: nothing on it is read, not even sentences with the name.
    namesake: float = -1.0


SUBJECT_SCORES = SubjectScores()


class Subject(Struct, frozen=True):
    """The thing that a row is about: its name, and the other cells, which tell it from namesakes.

    Without a name every text is about it: one document, asked about itself.
    """

    name: str
    context: Mapping[str, str] = {}
    column: str = ""
    """The column of the name, if any."""


def score_subject_match(subject: Subject, title: str, text: str) -> float:
    """Return how surely the page is about the subject: 1 is its own page, below 0.5 it is another's."""
    if not subject.name.strip():
        return 1.0
    cells = frozenset(words for value in subject.context.values() if (words := _name_words(value[:80])))
    best = max((_score_name_match(name, title, text, cells) for name in row_name_forms(subject.name)), default=0.0)
    if best < SUBJECT_SCORES.heading:
        best = max([best, *(_score_heading(name, title, text) for name in row_name_forms(subject.name))])
    if 0 < best < 1:
        # The other cells can lift an uncertain page over the threshold, but do not decide on their own.
        best += 0.12 * score_shared_context(subject, title, text)
    return min(1.0, best)


def _score_name_match(name: tuple[str, ...], title: str, text: str, cells: frozenset[tuple[str, ...]]) -> float:
    """Return the best score of the title's parts and of the opening.

    A part that is another cell of the row, such as the maker, does not tell which row the page is about."""
    best = 0.0
    for own in page_title_forms(title):
        if own == name or own not in cells:
            best = max(best, _score_title(name, own))
    if best < 0.9:
        best = max(best, _score_opening(name, text, bool(title)))
    return best


def _score_title(name: tuple[str, ...], title: tuple[str, ...]) -> float:
    if not title or not name:
        return 0.0
    if name == title:
        return 1.0
    joined, whole = " ".join(name), " ".join(title)
    if joined.replace(" ", "") == whole.replace(" ", ""):
        return 1.0
    if _spells_out(name, title) or _spells_out(title, name):
        return 0.9
    if contains_word_run(title, name):
        extra = len(title) - len(name)
        leads = title[: len(name)] == name
        # "Daimler" on "Daimler AG", "Albacete" on "Albacete Balompié"; "Paris" is not "Treaty of Paris".
        return max(0.3, (0.78 if leads else 0.62) - 0.07 * (extra - 1))
    # A typing error or another transcription; in short names one letter more makes another name.
    if len(joined) >= 8 and fuzz.ratio(joined, whole) >= 92 and _words_with_digits(name) == _words_with_digits(title):
        return 0.88
    if (
        len(title) >= 2
        and contains_word_run(name, title)
        and len(title) / len(name) >= (0.6 if name[: len(title)] == title else 0.66)
        and _words_with_digits(name) <= _words_with_digits(title)
    ):
        return 0.62
    return 0.0


def _score_heading(name: tuple[str, ...], title: str, text: str) -> float:
    """Return the score of a line near the top that is the name alone: the heading of a page with its site's title."""
    if len("".join(name)) < 6:
        return 0.0
    in_title = any(contains_word_run(own, name) for own in page_title_forms(title))
    # A heading can follow a long menu.
    for line in _split_top_lines(text[:1_500]):
        if line == name:
            return SUBJECT_SCORES.heading if len(name) > 1 or in_title else 0.6
        if in_title and line[: len(name)] == name and len(line) <= len(name) + 3:
            return 0.66
    return 0.0


@lru_cache(maxsize=256)
def _split_top_lines(text: str) -> tuple[tuple[str, ...], ...]:
    lines = (line for part in text.split("\n") for line in part.split(" | "))
    return tuple(_name_words(line) for line in lines if 0 < len(line) <= 120)


def _score_opening(name: tuple[str, ...], text: str, titled: bool) -> float:
    """Return the score of a name in the first sentence: "Red Star Stadium, also known as Rajko Mitić Stadium"."""
    head = _split_head_words(text[:400])
    if len(" ".join(name)) < 4:
        return 0.0
    for place in range(len(head) - len(name) + 1):
        if head[place : place + len(name)] == name:
            subject_part = place <= 2 or any(word in head[:place] for word in ("known", "called", "formerly", "named"))
            verb = next((at for at, word in enumerate(head) if word in ("is", "was", "are", "were", "has")), len(head))
            if place < verb and subject_part:
                return 0.85 if len(name) > 1 or not titled else 0.6
            return 0.55 if len(name) > 1 and place < verb else 0.35
    return 0.0


def names_subject(subject: Subject, sentence: str) -> bool:
    """Return True if the sentence names the subject in full."""
    words = _split_head_words(sentence)
    for name in row_name_forms(subject.name):
        if (len(" ".join(name)) < 4 and len(name) < 2) or all(word.isdigit() for word in name):
            continue
        if contains_word_run(words, name):
            return True
    return False


def has_name_words(subject: Subject, text: str) -> bool:
    """Return True if the text has all words of a form of the subject's name, in any order."""
    words = {*split_words(text)}
    return any(words.issuperset(name) for name in row_name_forms(subject.name))


def collect_short_names(subject: Subject, title: str) -> frozenset[str]:
    """Return the words that name the subject in running text: significant words of its name and of the page's title."""
    words = {word for name in row_name_forms(subject.name) for word in name}
    words |= {word for own in page_title_forms(title)[:2] for word in own}
    words |= {"".join(word[0] for word in name) for name in row_name_forms(subject.name) if len(name) > 2}
    stop = "the and for with from not inc ltd corp company list new".split()
    return frozenset(word for word in words if len(word) > 2 and word not in stop)


def score_shared_context(subject: Subject, title: str, text: str) -> float:
    """Return the share of the row's other cells that the page mentions too."""
    known = 0.0
    cells = [value for value in subject.context.values() if len(value) >= 3 and len(value) <= 80][:8]
    if not cells:
        return 0.0
    page = fold_text(f"{title} {text[:4000]}")
    own = {word for name in row_name_forms(subject.name) for word in name}
    for value in cells:
        folded = fold_text(value)
        significant = [word for word in split_folded_words(folded) if len(word) > 4 and word not in own]
        known += folded in page or (any(word in page for word in significant) and 0.5)
    # Three cells in common are as good as all: long rows have cells that no page mentions.
    return min(1.0, known / max(1, min(3, len(cells))))


# ── names ────────────────────────────────────────────────────────────────────────────────────────────────────────────

_PARENTHESES = re.compile(r"\s{0,20}[(\[]([^()\[\]]*)[)\]]\s*")


@lru_cache(maxsize=2048)
def row_name_forms(name: str) -> tuple[tuple[str, ...], ...]:
    """Return the forms of a row's name: "10 Fort Cass", "Calling, The", "The Little Prince (Le Petit Prince)"."""
    # Marks of lists and footnotes around a cell's text.
    name = re.sub(r"^[^\w(]+|[†‡*§#^]+|[^\w)!?.'’]+$", "", name.strip()) or name
    forms = [name]
    # Libraries sort titles without their article.
    if inverted := re.match(r"^(.+), (The|A|An|Le|La|Les|Los|El|Die|Der|Das)$", name, re.IGNORECASE):
        forms.append(f"{inverted[2]} {inverted[1]}")
    if "(" in name:
        outside = _PARENTHESES.sub(" ", name).strip()
        forms.append(outside)
        forms.extend(inside for inside in _PARENTHESES.findall(name) if len(inside) > 6 and not inside[0].isdigit())
    # A rank before the name, as in "12. Halden".
    if numbered := re.match(r"^\d{1,3}[.)]?\s+(?=\D)", name):
        forms.append(name[numbered.end() :])
    return tuple(dict.fromkeys(words for form in forms if (words := _name_words(form))))


@lru_cache(maxsize=2048)
def page_title_forms(title: str) -> tuple[tuple[str, ...], ...]:
    """Return a page's title, the title without brackets, and its parts: "About us | Acme"."""
    forms = [title]
    if "(" in title:
        forms.append(_PARENTHESES.sub(" ", title).strip())
    # Between the title of a page and the name of its site.
    forms.extend(part for part in re.split(r"(?<!\s)\s+[-|·–—»:]\s+", title) if part != title)
    if ", " in title:
        forms.append(title.split(", ")[0])
    return tuple(dict.fromkeys(words for form in forms if (words := _name_words(form))))


def _name_words(text: str) -> tuple[str, ...]:
    return tuple(strip_legal_forms(split_words(text)))


@lru_cache(maxsize=1024)
def _split_head_words(text: str) -> tuple[str, ...]:
    return tuple(split_words(text))


def _words_with_digits(words: tuple[str, ...]) -> frozenset[str]:
    return frozenset(word for word in words if any(character.isdigit() for character in word))


def _spells_out(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    """Return True if a word of the short name is an acronym of the long: "IIT Madras", "Indian Institute of …"."""
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
        without_small = "".join(part[0] for part in middle if part not in ("of", "the", "and", "for", "in"))
        if len(middle) >= 2 and word in (initials, without_small):
            return True
    return False


# The opening of a page says what it is: the first two or three sentences of an article.
SELF_DESCRIPTION_CHARACTERS = 700

Verdict: TypeAlias = Literal["same", "other", "unclear"]


def score_sources(subject: Subject, sources: Sequence[Retrieved]) -> list[float]:
    """Return for each source how surely it is about the subject: 1 is its own page, below `about` another's."""
    found = [score_subject_match(subject, source.title, source.text) for source in sources]
    own = [number for number, fit in enumerate(found) if fit >= SUBJECT_SCORES.about]
    if not subject.name.strip() or not own:
        return found
    pages = [sources[number] for number in own]
    verdicts = dict(zip(own, _judge_pages(subject, pages), strict=True))
    parted = "other" in verdicts.values() or _has_namesakes(subject, pages)
    known = "same" in verdicts.values()
    # Pages about several things of that name were found, and this one does not say which of them it is about.
    unclear = 0.55
    for number, verdict in verdicts.items():
        if verdict == "other":
            found[number] = SUBJECT_SCORES.namesake if known else min(unclear, found[number])
        elif verdict == "unclear" and parted:
            found[number] = min(unclear, found[number])
    return found


def _judge_pages(subject: Subject, pages: Sequence[Retrieved]) -> list[Verdict]:
    verdicts: list[Verdict] = [
        _judge_by_country(subject, page) or _judge_by_site(subject, page) or "unclear" for page in pages
    ]
    shelves = _shelf_keys(pages)
    if "other" in verdicts or _has_namesakes(subject, pages):
        knows = [_score_known_cells(subject, page) for page in pages]
        # A page that mentions a third less of the row's cells than another one is about another thing.
        margin = 0.34
        for number, knowing in enumerate(knows):
            if verdicts[number] == "unclear" and knowing >= margin and knowing > max(knows) - margin / 2:
                verdicts[number] = "same"
    # A site that keeps things of one name apart has one page for each.
    for number, shelf in enumerate(shelves):
        neighbours = {verdicts[other] for other, each in enumerate(shelves) if each == shelf and other != number}
        if verdicts[number] == "unclear" and "same" in neighbours:
            verdicts[number] = "other"
    return _judge_by_links(subject, pages, verdicts)


def _judge_by_links(subject: Subject, pages: Sequence[Retrieved], verdicts: list[Verdict]) -> list[Verdict]:
    """Decide unclear pages by their sites: a site named only by pages about the row, or about a namesake, is theirs."""
    named: dict[str, set[Verdict]] = {}
    for page, verdict in zip(pages, verdicts, strict=True):
        for site in _find_own_sites(subject, page):
            named.setdefault(site, set()).add(verdict)
    linked: list[Verdict] = []
    for page, verdict in zip(pages, verdicts, strict=True):
        others = {other for site in _find_own_sites(subject, page) for other in named[site]} - {"unclear"}
        linked.append(next(iter(others)) if len(others) == 1 and verdict == "unclear" else verdict)
    return linked


def _parse_host(address: str) -> str:
    found = re.match(
        r"(?:https?://)?(?:www\.)?((?:[a-z0-9-]+\.)+[a-z]{2,10})(?::\d+)?(?:[/?#]|$)", address.strip().lower()
    )
    return found[1] if found else ""


# ── what one page says ───────────────────────────────────────────────────────────────────────────────────────────────


def find_contradiction(subject: Subject, page: Retrieved) -> str:
    """Return how the page contradicts the row's cells, or "": it names another country, or has another site."""
    if _judge_by_country(subject, page) == "other":
        return "it names another country than the row"
    return "it belongs to another site than the row names" if _judge_by_site(subject, page) == "other" else ""


def _judge_by_country(subject: Subject, page: Retrieved) -> Verdict | None:
    """Return the verdict by country: the page names that of the row, or only others."""
    of_row = {people for value in subject.context.values() if (people := _normalize_people(value.strip()))}
    of_page = _find_peoples(f"{page.title}. {page.text[:SELF_DESCRIPTION_CHARACTERS]}")
    if not of_row or not of_page:
        return None
    return "same" if of_row & of_page else "other"


@lru_cache(maxsize=512)
def _find_peoples(text: str) -> frozenset[str]:
    return frozenset(people for span in find_spans("country", text) if (people := _normalize_people(span.value)))


def _normalize_people(name: str) -> str:
    """Return one name for a country and its people, or "": "American" for "USA" and "United States"."""
    people = DEMONYMS[name][0] if name in DEMONYMS else name if name in COUNTRY_BY_DEMONYM else ""
    # Rows name a part of the United Kingdom, pages the whole, or the other way round.
    return "British" if people in ("English", "Scottish", "Welsh", "Northern Irish") else people


def _judge_by_site(subject: Subject, page: Retrieved) -> Verdict | None:
    """Return the verdict by the site in the row's cells: another site with the same name belongs to a namesake."""
    given = {_parse_host(value) for value in subject.context.values() if "." in value and " " not in value.strip()} - {
        ""
    }
    site = _parse_host(page.origin)
    if not given or not site:
        return None
    if site in given or given & _find_own_sites(subject, page):
        return "same"
    return "other" if is_own_site(subject, site) or _find_own_sites(subject, page) else None


def _find_own_sites(subject: Subject, page: Retrieved) -> set[str]:
    """Return the sites with the row's name that the page belongs to or mentions."""
    named = {
        _parse_host(match[0])
        for match in re.finditer(r"(?<![\w-])(?<![\w-]\.)(?:[a-z0-9-]+\.)+[a-z]{2,10}\b", page.text.lower())
    } | {_parse_host(page.origin)}
    return {site for site in named if site and is_own_site(subject, site)}


def is_own_site(subject: Subject, site: str) -> bool:
    """Return True if a site has the row's name: the whole of it, or its first word and something else."""
    label = re.sub(r"[^a-z0-9]", "", site.split(".")[0])
    return any(
        name and len(name[0]) > 3 and label.startswith(re.sub(r"\W", "", name[0]))
        for name in row_name_forms(subject.name)
    )


def _has_namesakes(subject: Subject, pages: Sequence[Retrieved]) -> bool:
    """Return True if the pages are about several things of one name: two sites have it, or one site has two pages."""
    shelves = _shelf_keys(pages)
    sites = {site.split(".")[0] for page in pages if is_own_site(subject, site := _parse_host(page.origin))}
    return len(set(shelves)) < len(shelves) or len(sites) > 1


def _shelf_keys(pages: Sequence[Retrieved]) -> list[str]:
    """Return site and name of each page: two pages with the same key are about two things of that name.

    A site that has the name itself has many pages about one thing, so its pages keep their addresses as keys."""
    found = []
    for page in pages:
        names, site = page_title_forms(page.title), _parse_host(page.origin)
        name = min((" ".join(words) for words in names), key=len, default="")
        # Four letters are enough to see the name in the site's: "acme-group.example" is Acme's own.
        own = not site or re.sub(r"\W", "", site.split(".")[0]).startswith(name.split(" ")[0][:4] or "?")
        found.append(page.origin if own or not name else f"{site} {name}")
    return found


def _score_known_cells(subject: Subject, page: Retrieved) -> float:
    """Return the share of the row's cells that the page states too, in these words or in similar ones."""
    own = {word for name in row_name_forms(subject.name) for word in name}
    cells = [words for value in subject.context.values() if (words := _distinguishing_words(value, own))]
    if not cells:
        return 0.0
    head = content_words(f"{page.title} {page.text[:SELF_DESCRIPTION_CHARACTERS]}")
    given = tuple(word for word in head if word not in own)
    return sum(_score_word_overlap(words, given) for words in cells[:8]) / len(cells[:8])


def _score_word_overlap(words: tuple[str, ...], given: tuple[str, ...]) -> float:
    similarity = word_similarity(words, given)
    best = np.max(similarity, axis=1) if similarity.size else np.zeros(len(words))
    return float(np.where(best >= LIKENESS.related, best, 0.0).mean())


def _distinguishing_words(value: str, own: set[str]) -> tuple[str, ...]:
    return tuple(word for word in content_words(value[:80]) if fold_text(word) not in own and len(word) > 2)
