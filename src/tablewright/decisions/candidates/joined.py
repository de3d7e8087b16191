"""One candidate from all the places that name it: the best evidence stays, every further place adds to the score."""

from __future__ import annotations

import re
from collections.abc import Iterable

from tablewright.decisions.candidates.kind import Kind, singular
from tablewright.decisions.candidates.names import begins, compact, owns, spellings
from tablewright.decisions.candidates.seen import Seen, domain_of, host_of, label_of
from tablewright.table.dedupe import Names
from tablewright.table.evidence import evidence_for, stands_in
from tablewright.table.research import Named
from tablewright.table.retrieved import Retrieved
from tablewright.table.rowkey import row_key, words
from tablewright.table.untrusted import is_tainted

MOST_SURE = 0.99
_ADDED = words("co cooperative operative group holding holdings")


def joined(kind: Kind, seen: Iterable[Seen], sources: tuple[Retrieved, ...], most: int) -> tuple[Named, ...]:
    """The surest first. What does not stand in its text, or stands where a text speaks to machines, is left out."""
    groups: list[list[Seen]] = []
    names = Names()
    for each in seen:
        text = sources[each.source].text
        if not stands_in(each.name, text[each.start : each.end]) or is_tainted(text, each.start, each.end):
            continue
        known = names.find(each.name)
        if known is None and kind.organisation:
            known = next((at for at, group in enumerate(groups) if any(_same_house(each, one) for one in group)), None)
        if known is None:
            known = len(groups)
            groups.append([])
        names.add(known, each.name)
        groups[known].append(each)
    groups = _without_short_forms(kind, groups)
    named = [_named(kind, group, sources) for group in groups]
    return tuple(sorted(named, key=lambda each: -each.score)[:most])


def _same_house(one: Seen, other: Seen) -> bool:
    """ "Halden & Rourke" and "Halden & Rourke Logistics plc", where a site is known that is both."""
    first, second = row_key(one.name).split(), row_key(other.name).split()
    short = min(len(first), len(second))
    if not short or first[:short] != second[:short]:
        return False
    if set(first[short:] + second[short:]) <= _ADDED:
        return True
    origin = one.origin or other.origin
    return bool(origin) and all(
        owns(each.name, label_of(host_of(origin))) or begins(each.name, label_of(host_of(origin)))
        for each in (one, other)
    )


def _without_short_forms(kind: Kind, groups: list[list[Seen]]) -> list[list[Seen]]:
    """ "Homestead kettle" is the "Prairie Kettleworks Homestead", if there is only one Homestead."""
    if kind.organisation:
        return groups
    kept: list[list[Seen]] = []
    short: list[tuple[list[str], list[Seen]]] = []
    for group in groups:
        said = [word for word in row_key(group[0].name).split() if word != "by" and singular(word) != kind.head]
        if len(said) < len(row_key(group[0].name).split()) and said:
            short.append((said, group))
        else:
            kept.append(group)
    for said, group in short:
        longer = [other for other in kept if _ends_with(row_key(other[0].name).split(), said)]
        if len(longer) == 1:
            longer[0].extend(group)
        else:
            kept.append(group)
    return kept


def _ends_with(name: list[str], said: list[str]) -> bool:
    return name[-len(said) :] == said or set(name) == set(said)


def _named(kind: Kind, group: list[Seen], sources: tuple[Retrieved, ...]) -> Named:
    best = max(group, key=lambda each: each.score)
    by_domain: dict[str, float] = {}
    for each in group:
        domain = domain_of(sources[each.source]) or sources[each.source].origin
        by_domain[domain] = max(by_domain.get(domain, 0.0), each.score)
    doubt = 1.0
    for score in by_domain.values():
        doubt *= 1 - score
    return Named(
        name=best.name,
        evidence=evidence_for(sources[best.source], best.start, best.end),
        url=next((each.origin for each in group if each.origin), "") or own_address(kind, best.name, sources),
        score=round(min(MOST_SURE, 1 - doubt), 3),
    )


def own_address(kind: Kind, name: str, sources: tuple[Retrieved, ...]) -> str:
    """The site that is called like it, or for a thing that is no organisation the page: only what was retrieved or is
    linked from a page that was."""
    known = dict.fromkeys(
        (*(source.origin for source in sources), *(link for source in sources for link in source.links))
    )
    known = dict.fromkeys(url for url in known if "://" in url)
    homes = [url for url in known if owns(name, label_of(host_of(url)))]
    if homes and (kind.organisation or len(name.split()) == 1):
        return min(homes, key=lambda url: (url.rstrip("/").count("/"), len(url)))
    if kind.organisation:
        return ""
    keys = spellings(name)
    pages = []
    for url in known:
        last = re.sub(r"\.\w{2,5}$", "", url.split("?")[0].rstrip("/").rsplit("/", 1)[-1])
        slug = compact(last.replace("-", " ").replace("_", " "))
        own = owns(name, label_of(host_of(url)))
        if slug and (slug in keys or (own and len(slug) > 1 and any(key.endswith(slug) for key in keys))):
            pages.append((not own, len(url), url))
    return min(pages)[2] if pages else ""
