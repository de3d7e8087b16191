"""Which blocks of a page are its main text. Facts come first: in doubt a block stays."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from collections import Counter
from itertools import accumulate, groupby

from tablewright.sources.read.blocks import Block, Page, Zone
from tablewright.sources.read.regions import CENTRE, Region

_ENOUGH = 400
_PROSE = 80
_REPEATED = 3
_TEASER = re.compile(
    r"\W*(?:(?:you|customers|people|others|viewers|readers|shoppers)\b.{0,30}\b(?:also|like|love|bought|viewed)"
    r"|(?:related|similar|recommended|suggested|trending|recently viewed|popular|latest|featured|more)\b.{0,20}"
    r"\b(?:products?|items?|articles?|posts?|stories|news|content|topics?|threads?|videos?|pages?|for you|from|like this|reads?)"
    r"|(?:recently viewed|recommended|related|read next|up next|see also|more (?:from|in|on)\b.{0,40})\W*$)",
    re.IGNORECASE,
)


def main_blocks(page: Page) -> list[Block]:
    total = _size(page.blocks)
    left_out = _covered(len(page.blocks), [zone for zone in page.zones if _is_furniture(zone, total)])
    kept = [block for block, out in zip(page.blocks, left_out, strict=True) if not out or block.tag == "h1"]
    if _size(kept) < min(_ENOUGH, total / 3):
        kept = page.blocks
    kept = _centre(kept)
    return list(_without_repeated_links(list(_without_link_runs(list(_without_teasers(kept))))))


def _is_furniture(zone: Zone, total: int) -> bool:
    """Whether the zone is what it calls itself."""
    if zone.chars > 0.6 * total:
        return False
    links = zone.linked / max(1, zone.chars)
    if zone.region & (Region.FOOTER | Region.OVERLAY | Region.PROMOTION | Region.CONTROLS):
        return True
    if zone.region & Region.NAV and links >= 0.5:
        return True
    if zone.region & Region.HEADER and not zone.inside & CENTRE:
        return True
    return bool(zone.region & Region.ASIDE) and (links >= 0.3 or not zone.inside & CENTRE)


def _covered(length: int, zones: Sequence[Zone]) -> list[bool]:
    depth = [0] * (length + 1)
    for zone in zones:
        depth[zone.start] += 1
        depth[zone.end] -= 1
    return [level > 0 for level in accumulate(depth[:length])]


def _centre(blocks: Sequence[Block]) -> Sequence[Block]:
    total = _size(blocks)
    for region, share in ((Region.MAIN, 0.5), (Region.ARTICLE, 0.8)):
        inside = [block for block in blocks if block.region & region or block.tag == "h1"]
        if _size(inside) >= share * total:
            return inside
    return blocks


def _without_link_runs(blocks: Sequence[Block]) -> Iterator[Block]:
    """A run of short lines that are nothing but links is a menu."""
    for is_link, run in groupby(blocks, key=_is_menu_item):
        lines = list(run)
        if not is_link or len(lines) < 4:
            yield from lines


def _without_repeated_links(blocks: Sequence[Block]) -> Iterator[Block]:
    """ "Read more", "Reply" and their like: the same link at every item."""
    counts = Counter(block.text for block in blocks if _is_link(block))
    return (block for block in blocks if not _is_link(block) or counts[block.text] < _REPEATED)


def _without_teasers(blocks: Sequence[Block]) -> Iterator[Block]:
    """From a heading such as "Related products" to the next heading of its rank, where that section is mostly links."""
    position = 0
    while position < len(blocks):
        block = blocks[position]
        if block.is_heading and _TEASER.match(block.text):
            end = next((at for at in range(position + 1, len(blocks)) if blocks[at].is_heading and blocks[at].tag <= block.tag), len(blocks))
            section = blocks[position + 1 : end]
            if sum(each.linked for each in section) >= 0.3 * _size(section) and _size(section) < 0.5 * _size(blocks):
                position = end
                continue
        yield block
        position += 1


def _is_link(block: Block) -> bool:
    return block.linked >= 0.8 * len(block.text) and len(block.text) < _PROSE and not block.is_heading


def _is_menu_item(block: Block) -> bool:
    return block.linked >= 0.8 * len(block.text) and len(block.text) < 80 and not block.is_heading and not block.region & CENTRE


def _size(blocks: Sequence[Block]) -> int:
    return sum(len(block.text) for block in blocks)
