"""A web page as text: what a visitor reads there, and what its markup states beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lxml import etree
from lxml.etree import _Element

from tablewright.sources.read.blocks import visible_page
from tablewright.sources.read.choice import main_blocks
from tablewright.sources.read.markup import Markup, absolute, markup_of
from tablewright.sources.read.pairs import pair
from tablewright.sources.read.reading import MAX_CHARS, MAX_LINKS, Reading, UnreadablePage
from tablewright.text.characters import broken

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
