"""A web page as text: its main text, and what its markup states that the text does not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, groupby

from lxml import etree
from lxml.etree import _Element

from tablewright.sources.read.blocks import PageBlock, PageBlocks, Zone, visible_page
from tablewright.sources.read.elements import CENTRE, Region, pair
from tablewright.sources.read.markup import Markup, absolute, markup_of
from tablewright.sources.read.reading import MAX_CHARS, MAX_LINKS, Reading, UnreadablePage
from tablewright.text import broken

MAX_HTML_CHARS = 12_000_000
_WORD = re.compile(r"\w+")
_TELLING = 4
"""A shorter value ("5", "XL") stands somewhere in any text; that does not mean that the text says it."""


def read_html(html: str, url: str) -> Reading:
    root = _parse(html)
    markup = markup_of(root, url)
    page = visible_page(root)
    main = main_blocks(page)
    lines = [part for block in main for line in block.text.split("\n") for part in broken(line)]
    text = "\n".join([*lines, *_stated_beside(markup, "\n".join(lines))])[:MAX_CHARS].rstrip()
    if not text:
        raise UnreadablePage("holds no text (it may be built by scripts)")
    chosen = {id(block) for block in main}
    rest = (href for block in page.blocks if id(block) not in chosen for href in block.links)
    return Reading(
        text=text,
        title=markup.title,
        links=_links([*(href for block in main for href in block.links), *rest], markup.base),
        canonical=markup.canonical,
        language=markup.language,
        published=markup.published,
    )


def _parse(html: str) -> _Element:
    # Built per page: a parser keeps what it has seen of the last document. Its own limit of depth (2,048) stays.
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    source = html[:MAX_HTML_CHARS].replace("\x00", "").encode("utf-8", "replace")
    try:
        root = etree.fromstring(source, parser) if source.strip() else None
    except etree.XMLSyntaxError:
        root = None
    if root is None:
        raise UnreadablePage("holds no text")
    return root


def _stated_beside(markup: Markup, text: str) -> Iterator[str]:
    """Facts of the markup that the text does not have, as "Label: value" lines at the end."""
    known = f" {' '.join(_WORD.findall(text.casefold()))} "
    for label, value in markup.facts:
        words = " ".join(_WORD.findall(value.casefold()))
        if words and (f" {words} " not in known or (len(words) < _TELLING and label.casefold() not in known)):
            yield pair(label, value)
    if markup.description and " ".join(_WORD.findall(markup.description.casefold())) not in known:
        yield pair("Description", markup.description)


def _links(hrefs: Iterable[str], base: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for href in dict.fromkeys(hrefs):
        if len(found) == MAX_LINKS:
            break
        if url := absolute(href, base):
            found[url] = None
    return tuple(found)


# ── the main text: facts come first, so in doubt a block stays ───────────────────────────────────────────────────────

_KINDS = (
    *(Region.NAV, Region.HEADER, Region.FOOTER, Region.ASIDE),
    *(Region.OVERLAY, Region.PROMOTION, Region.CONTROLS),
)
_ENOUGH = 400
_MOST = 0.6
_PROSE = 80
_REPEATED = 3
_BOX = 2
_TEASER = re.compile(
    r"\W*(?:(?:you|customers|people|others|viewers|readers|shoppers)\b.{0,30}\b(?:also|like|love|bought|viewed)"
    r"|(?:related|similar|recommended|suggested|trending|recently viewed|popular|latest|featured|more)\b.{0,20}"
    r"\b(?:products?|items?|articles?|posts?|stories|news|content|topics?|threads?|videos?|pages?|reads?|for you)"
    r"|(?:recently viewed|recommended|related|read next|up next|see also|more (?:from|in|on)\b.{0,40})\W*$)",
    re.IGNORECASE,
)


def main_blocks(page: PageBlocks) -> list[PageBlock]:
    total = _size(page.blocks)
    out = _furniture(page, total)
    kept = [block for block, left_out in zip(page.blocks, out, strict=True) if not left_out or block.tag == "h1"]
    if _size(kept) < min(_ENOUGH, total / 3):
        kept = page.blocks
    text = list(_without_teasers(_centre(kept)))
    body = list(_without_link_runs(text))
    if _size(body) < min(_ENOUGH, _size(text) / 3):  # an index: its links are what it says
        body = text
    return list(_without_repeated_links(body))


def _furniture(page: PageBlocks, total: int) -> list[bool]:
    """For each block whether it stands around the main text.

    A kind that would take most of the page takes nothing; what holds the main text, or a box of facts, is kept.
    """
    mains = [0, *accumulate(block.region & Region.MAIN for block in page.blocks)]
    facts = [0, *accumulate(block.is_fact for block in page.blocks)]
    kept = {
        zone
        for zone in page.zones
        if (not zone.inside & Region.MAIN and mains[zone.end] > mains[zone.start])
        or (
            zone.region == Region.ASIDE and facts[zone.end] - facts[zone.start] >= _BOX and zone.linked < zone.chars / 2
        )
    }
    out = [False] * len(page.blocks)
    for kind in _KINDS:
        zones = [zone for zone in page.zones if zone.region & kind and zone not in kept]
        covered = _covered(len(page.blocks), [zone for zone in zones if _is_furniture(zone, kind)])
        size = sum(len(block.text) for block, inside in zip(page.blocks, covered, strict=True) if inside)
        if kind == Region.NAV or size <= _MOST * total:
            out = [a or b for a, b in zip(out, covered, strict=True)]
    return out


def _is_furniture(zone: Zone, kind: int) -> bool:
    """Whether the zone is what it calls itself."""
    linked = zone.linked / max(1, zone.chars)
    if kind == Region.NAV:
        return linked >= 0.5
    if kind == Region.HEADER:
        return not zone.inside & CENTRE
    if kind == Region.ASIDE:
        return linked >= 0.3 or not zone.inside & CENTRE
    if kind in (Region.PROMOTION, Region.CONTROLS):
        return linked >= 0.2 or zone.chars < _PROSE * (zone.end - zone.start)
    return True


def _covered(length: int, zones: Sequence[Zone]) -> list[bool]:
    depth = [0] * (length + 1)
    for zone in zones:
        depth[zone.start] += 1
        depth[zone.end] -= 1
    return [level > 0 for level in accumulate(depth[:length])]


def _centre(blocks: Sequence[PageBlock]) -> Sequence[PageBlock]:
    """What the page itself marks as its main text, where that is most of it; the title of the page may stand above."""
    total = _size(blocks)
    for region, share in ((Region.MAIN, 0.5), (Region.ARTICLE, 0.8)):
        if _size([block for block in blocks if block.region & region]) >= share * total:
            return [block for block in blocks if block.region & region or block.tag == "h1"]
    return blocks


def _without_link_runs(blocks: Sequence[PageBlock]) -> Iterator[PageBlock]:
    """A run of short lines that are nothing but links is a menu."""
    for is_link, run in groupby(blocks, key=_is_menu_item):
        lines = list(run)
        if not is_link or len(lines) < 4:
            yield from lines


def _without_repeated_links(blocks: Sequence[PageBlock]) -> Iterator[PageBlock]:
    """ "Read more", "Reply" and their like: the same link at every item."""
    counts = Counter(block.text for block in blocks if _is_link(block))
    return (block for block in blocks if not _is_link(block) or counts[block.text] < _REPEATED)


def _without_teasers(blocks: Sequence[PageBlock]) -> Iterator[PageBlock]:
    """Leaves out the links under a heading such as "Related products", up to the next heading or paragraph."""
    rank = ""
    for block in blocks:
        if block.is_heading and (not rank or block.tag <= rank):
            rank = block.tag if _TEASER.match(block.text) else ""
        elif rank and len(block.text) >= _PROSE and block.linked < 0.3 * len(block.text):
            rank = ""
        if not rank:
            yield block


def _is_link(block: PageBlock) -> bool:
    return block.linked >= 0.8 * len(block.text) and len(block.text) < _PROSE and not block.is_heading


def _is_menu_item(block: PageBlock) -> bool:
    return _is_link(block) and not block.region & CENTRE


def _size(blocks: Sequence[PageBlock]) -> int:
    return sum(len(block.text) for block in blocks)
