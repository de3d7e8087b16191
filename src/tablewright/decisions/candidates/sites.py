"""Whose site it is: a domain, the titles of its pages and what they say of themselves. And whether that is a thing of
the asked kind, or somebody who writes about such things or sells them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from tablewright.decisions.candidates.kind import MAKES, Kind, about_topic, names_all, singulars
from tablewright.decisions.candidates.names import begins, compact, owns, unmarked
from tablewright.decisions.candidates.seen import Seen, around, before_verb, by_domain, label_of, places, tells_more
from tablewright.table.model import Noun
from tablewright.table.retrieved import Retrieved
from tablewright.table.rowkey import row_key, words
from tablewright.table.untrusted import gives_orders
from tablewright.text.sections import sentences

SURE = 0.9
LIKELY = 0.7
ENOUGH = 0.6
"""Of the words that tell the kind."""
WITH_WANTS = 0.5

_PARTS = re.compile(r"\s+[|·–—•›»/]\s+|\s+-\s+|\s*::\s*|:\s+|\s+»\s+")
_WRITES = words("""
    encyclopedia encyclopaedia wikipedia wiki register registry directory courier gazette herald times tribune chronicle
    news newspaper magazine journal wire post daily weekly forum board marketplace blog review reviews yearbook observer
    bulletin press yellowpages
""")
_PUBLISHES = re.compile(
    r"share this article|most read\b|anyone can (?:add|edit|write)|posts are the words|subscribe to our newsletter|"
    r"^by [^\n·|]{3,50} · \d{4}|^news for\b|the encyclopedia|is listed under|add to (?:basket|cart)|incl\. vat|"
    r"in stock\b|delivery and returns|^\d+ products$|^seller:|all (?:entries|businesses|listings|stalls)|"
    r"this article is for subscribers|editor-in-chief|our reviewers",
    re.IGNORECASE | re.MULTILINE,
)
_TAKES_OTHERS = re.compile(
    r"\b(?:we|our team) (?:use|used|rely|bought|chose|work with)\b|\bcustomer of\b", re.IGNORECASE
)
_OURS = re.compile(r"^(?:we|our|us)\b|\b(?:we are|we have|our)\b", re.IGNORECASE)
_MAKING = words("make build manufacture produce develop craft weave grind assemble laminate made built woven crafted")


_BEFORE_NAMES = frozenset("The At With Of By In About Why Our Welcome From To For Inside Meet When".split())


class Site(Noun, frozen=True):
    domain: str
    name: str
    sources: tuple[int, ...]
    publisher: bool = False


def read_sites(sources: tuple[Retrieved, ...]) -> dict[str, Site]:
    found = {}
    for domain, members in by_domain(sources).items():
        pages = [sources[place] for place in members]
        name = _name_of(label_of(domain), pages)
        found[domain] = Site(
            domain=domain, name=name, sources=tuple(members), publisher=_is_publisher(name, label_of(domain), pages)
        )
    return found


def title_parts(title: str) -> list[str]:
    return [part for part in (unmarked(part) for part in _PARTS.split(title)) if part]


def subject_of(source: Retrieved, site: Site | None) -> str:
    """What a page is about, by its title: the part that is not the site's name."""
    parts = title_parts(source.title)
    own = [part for part in parts if site is None or not site.name or compact(part) != compact(site.name)]
    return own[0] if own else parts[0] if parts else ""


def _name_of(label: str, pages: Sequence[Retrieved]) -> str:
    """The part of the titles that the domain spells, or that ends them all and begins like it; else who the text says
    that it is."""
    counts: Counter[str] = Counter()
    for title in {page.title for page in pages}:
        parts = dict.fromkeys(title_parts(title))
        ends = (list(parts)[:1], list(parts)[-1:])
        for part in parts:
            if owns(part, label) and not gives_orders(part):
                counts[part] += 3
            elif [part] in ends and len(parts) > 1 and label.startswith(compact(part.split()[0])[:40] or "?"):
                counts[part] += 1
    best = max(counts.items(), key=lambda item: (item[1], -len(item[0])), default=("", 0))
    if best[1] >= 2:
        return best[0]
    for page in pages:
        for start, end in sentences(page.text[:2_000]):
            said = page.text[start:end]
            before = before_verb(said)
            if before and len(before.split()) <= 5 and owns(before, label) and not gives_orders(said):
                return before
    return ""


def _is_publisher(name: str, label: str, pages: Sequence[Retrieved]) -> bool:
    """By its name; or because most of its pages look like articles, entries or offers, and are not headed with its own
    name, as those of a maker are that sells its things itself."""
    if _WRITES.intersection(singulars(name)) or any(label.endswith(word) for word in ("pedia", "wiki", "news")):
        return True
    marked = [page for page in pages if _PUBLISHES.search(page.text)]
    first = compact(name.split()[0]) if name else ""
    own = [
        page
        for page in pages
        if first and any(part != name and compact(part).startswith(first) for part in title_parts(page.title))
    ]
    return 2 * len(marked) >= len(pages) and 2 * len(own) <= len(pages)


def own_sites(
    kind: Kind, sites: dict[str, Site], sources: tuple[Retrieved, ...], wants: frozenset[str] = frozenset()
) -> Iterator[Seen]:
    """Organisations whose own site is among the texts, and is about what was asked. One that has a page for what is to
    be found out of each (`wants`: "pricing") need say a little less."""
    if not kind.organisation:
        return
    for site in sites.values():
        if not site.name or site.publisher != kind.publisher:
            continue
        told = _of_itself(site, sources)
        prominent = about_topic(told, kind)
        need = WITH_WANTS if _has_page_for(wants, site, sources) else ENOUGH
        if prominent < need or not _makes(kind, site.name, told) or not names_all(told, kind):
            continue
        if place := _stands(site, sources):
            name, source, start, end = place
            several = len(site.sources) > 1 or prominent >= 1.0
            yield Seen(
                name=name,
                source=source,
                start=start,
                end=end,
                score=(SURE if several else LIKELY) * min(1.0, 0.7 + 0.3 * prominent),
                origin=_home(site, sources),
            )


def _has_page_for(wants: frozenset[str], site: Site, sources: tuple[Retrieved, ...]) -> bool:
    return any(
        wants.intersection(singulars(f"{sources[place].title} {urlsplit(sources[place].origin).path}"))
        for place in site.sources
    )


def _makes(kind: Kind, name: str, told: str) -> bool:
    """A maker says that it makes something, or heads a page with its name and what it makes: "Ollivant kettles"."""
    if kind.head not in MAKES or (_MAKING | MAKES).intersection(singulars(told)):
        return True
    return any(line.startswith(name) and about_topic(line, kind) >= ENOUGH for line in told.split("\n"))


def _of_itself(site: Site, sources: tuple[Retrieved, ...]) -> str:
    """The titles and first lines of the site, and the sentences in which it speaks of itself; no tables, no
    customers' doings."""
    first = site.name.split()[0]
    said = []
    for place in site.sources:
        source = sources[place]
        if gives_orders(source.title):
            continue
        said.append(source.title)
        for start, end in sentences(source.text[:6_000]):
            sentence = source.text[start:end]
            if " | " in sentence or gives_orders(sentence) or _TAKES_OTHERS.search(sentence):
                continue
            if start == 0 or first in sentence or _OURS.search(sentence):
                said.append(sentence)
    return "\n".join(said)


def _stands(site: Site, sources: tuple[Retrieved, ...]) -> tuple[str, int, int, int] | None:
    """Where the site's texts name it, a sentence that says what it does first; else its first words, as they stand."""
    parts = site.name.split()
    shorter = [" ".join(parts[:count]) for count in range(len(parts) - 1, 0, -1)]
    bare = [part.rstrip(",") for part in shorter if row_key(part) == row_key(site.name)]
    for names in ([site.name, *bare], *([part] for part in shorter if begins(part, label_of(site.domain)))):
        best: tuple[int, str, int, int, int] | None = None
        for order, place in enumerate(site.sources):
            text = sources[place].text
            for name, (start, end) in ((each, span) for each in names for span in places(each, text)):
                if site.name not in names and _within_a_name(text, start, end):
                    continue
                rank = tells_more(text, start, end) * 1_000 - order
                if best is None or rank > best[0]:
                    best = (rank, name, place, *around(text, start, end))
        if best:
            return best[1:]
    return None


def _within_a_name(text: str, start: int, end: int) -> bool:
    """ "Brückner" in "Friedlinde Brückner" is not the house."""
    before = re.search(r"(\w+) $", text[max(0, start - 30) : start])
    after = re.match(r" [^\W\d_]", text[end : end + 2])
    longer = bool(after and after[0][-1].isupper())
    return longer or bool(before and before[1][:1].isupper() and before[1] not in _BEFORE_NAMES)


def _home(site: Site, sources: tuple[Retrieved, ...]) -> str:
    """Its front page, if that was read or a page links to it; else the page that was read."""
    known = [sources[place].origin for place in site.sources]
    linked = [link for place in site.sources for link in sources[place].links]
    roots = [
        url for url in (*known, *linked) if site.domain in url and url.split("://", 1)[-1].strip("/").count("/") == 0
    ]
    return min(roots or known, key=len)
