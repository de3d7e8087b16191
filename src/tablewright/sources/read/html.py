"""A web page as text: its main text, and what its markup says for machines that the text does not say."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import unescape
from itertools import accumulate, groupby
from typing import Any
from urllib.parse import urljoin, urlsplit

from lxml import etree
from lxml.etree import _Element

from tablewright.sources.read.blocks import PageBlock, PageBlocks, Zone, visible_page
from tablewright.sources.read.elements import CENTRE, Region, pair
from tablewright.sources.read.reading import MAX_CHARS, MAX_LINKS, Reading, UnreadablePage
from tablewright.text import broken, one_line

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
    """Return True if the zone is what it calls itself."""
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
    """Return what the page itself marks as its main text, where that is most of it; the title of the page may stand
    above."""
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


MAX_FACTS = 60
MAX_FACT_CHARS = 200
MAX_META_CHARS = 500
_JSON_CHARS = 300_000
_JSON_NODES = 5_000
_FEW = 3
_LONGEST_URL = 2048

_DAY = re.compile(r"\b(\d{4})-(\d{2})-(\d{2})")
_JSON_PUBLISHED = re.compile(r'"datePublished"\s*:\s*"([^"]{4,40})"')
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?=$|[-_])")
_PUBLISHED = (
    *(
        "article:published_time",
        "og:published_time",
        "datepublished",
        "date",
        "dc.date",
        "dc.date.issued",
        "dcterms.date",
    ),
    *("dcterms.issued", "pubdate", "publishdate", "publish-date", "publication_date", "citation_publication_date"),
    *("sailthru.date", "parsely-pub-date"),
)
_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|[_-]+")

# What a product, an organisation, a place, a person, a work, an event or a job states of itself. Articles, breadcrumbs,
# images and ratings of others are not facts about the page's subject.
_FACTS = frozenset(
    "brand manufacturer model mpn sku gtin gtin8 gtin12 gtin13 gtin14 isbn productID color material size "
    "weight width height depth price lowPrice highPrice availability itemCondition priceValidUntil ratingValue "
    "reviewCount ratingCount category legalName foundingDate founder foundingLocation numberOfEmployees telephone "
    "email faxNumber vatID duns streetAddress addressLocality addressRegion postalCode addressCountry openingHours "
    "priceRange servesCuisine birthDate birthPlace deathDate nationality jobTitle worksFor affiliation alumniOf "
    "director actor author publisher datePublished duration contentRating genre inLanguage numberOfPages bookFormat "
    "startDate endDate location organizer performer hiringOrganization employmentType datePosted validThrough "
    "baseSalary recipeYield cookTime prepTime totalTime calories operatingSystem softwareVersion "
    "applicationCategory fuelType vehicleEngine mileageFromOdometer vehicleTransmission driveWheelConfiguration "
    "productionDate releaseDate".split()
)
_NO_SUBJECT = frozenset(
    "BreadcrumbList ListItem WebSite WebPage SearchAction ImageObject SiteNavigationElement WPHeader WPFooter "
    "Review Rating Comment UserComments ReadAction CollectionPage ItemList EntryPoint Question Answer FAQPage QAPage "
    "HowTo HowToStep DiscussionForumPosting SocialMediaPosting VideoObject InteractionCounter".split()
)
_OTHERS = frozenset(
    "review reviews comment isPartOf publisher author image seller offeredBy isRelatedTo isSimilarTo".split()
)
_LABELS = {"sku": "SKU", "mpn": "MPN", "isbn": "ISBN", "productID": "Product ID", "vatID": "VAT ID", "duns": "DUNS"}


@dataclass(slots=True)
class Markup:
    title: str = ""
    canonical: str = ""
    language: str = ""
    published: str = ""
    description: str = ""
    base: str = ""
    """What relative addresses are relative to."""
    facts: list[tuple[str, str]] = field(default_factory=list)


def markup_of(root: _Element, url: str) -> Markup:
    metas = _metas(root)
    base = _first(root.iter("base"), "href")
    found = Markup(base=absolute(base, url) or url if base else url)
    title = next((element for element in root.iter("title") if not _inside_svg(element)), None)
    found.title = one_line(title.text or "") if title is not None else ""
    found.title = (found.title or metas.get("og:title", "") or _heading(root))[:500]
    canonical = next(
        (link.get("href") for link in root.iter("link") if "canonical" in (link.get("rel") or "").lower()), ""
    )
    found.canonical = absolute(canonical or metas.get("og:url", ""), found.base)
    found.language = _language(root, metas)
    found.description = metas.get("description") or metas.get("og:description", "")
    statements = [*_json_facts(root), *_microdata(root), *_meta_facts(metas)]
    found.facts = _few_of_each(statements)
    found.published = _published(root, metas)
    return found


def _few_of_each(statements: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """A page about one thing says a thing once or twice; what comes more often is about the items of a list."""
    by_key: dict[str, dict[str, None]] = {}
    for key, value in statements:
        if value:
            by_key.setdefault(key, {})[value] = None
    few = (
        (key if " " in key else _label(key), value)
        for key, values in by_key.items()
        if len(values) <= _FEW
        for value in values
    )
    return list(few)[:MAX_FACTS]


def absolute(href: str | None, base: str) -> str:
    """The http(s) address without its fragment, or nothing."""
    href = (href or "").strip()
    if not href or href.startswith("#") or len(href) > _LONGEST_URL:
        return ""
    try:
        href = "".join(href.split())
        joined = href if href.startswith(("https://", "http://")) else urljoin(base, href)
        parts = urlsplit(joined)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            return ""
    except ValueError:
        return ""
    return one_line(parts._replace(fragment="").geturl())


def _metas(root: _Element) -> dict[str, str]:
    """By lower-case name; the first of a name counts."""
    found: dict[str, str] = {}
    for meta in root.iter("meta"):
        name = meta.get("property") or meta.get("name") or meta.get("http-equiv")
        content = meta.get("content")
        if name and content:
            found.setdefault(name.strip().lower(), one_line(content[:MAX_META_CHARS]))
    return found


def _heading(root: _Element) -> str:
    heading = next(root.iter("h1"), None)
    return one_line("".join(str(text) for text in heading.itertext())) if heading is not None else ""


def _language(root: _Element, metas: dict[str, str]) -> str:
    html = next(root.iter("html"), root)
    said = html.get("lang") or html.get("xml:lang") or metas.get("content-language") or metas.get("og:locale") or ""
    found = _LANGUAGE.match(said.strip())
    return found[0].lower() if found else ""


def _published(root: _Element, metas: dict[str, str]) -> str:
    marked = (
        time
        for time in root.iter("time", "meta")
        if time.get("itemprop") == "datePublished" or "pubdate" in time.attrib
    )
    said = (
        *(metas.get(name, "") for name in _PUBLISHED),
        *(found[1] for script in _json_scripts(root) if (found := _JSON_PUBLISHED.search(script))),
        *(time.get("datetime") or time.get("content") or "" for time in marked),
    )
    return next((day for text in said if (day := _day(text))), "")


def _day(text: str) -> str:
    found = _DAY.search(text)
    return (
        found[0]
        if found and "1900" <= found[1] <= "2100" and 1 <= int(found[2]) <= 12 and 1 <= int(found[3]) <= 31
        else ""
    )


def _json_scripts(root: _Element) -> Iterator[str]:
    for script in root.iter("script"):
        if "ld+json" in (script.get("type") or "") and script.text and len(script.text) <= _JSON_CHARS:
            yield script.text


def _json_facts(root: _Element) -> Iterator[tuple[str, str]]:
    for script in _json_scripts(root):
        try:
            yield from _stated(json.loads(script, strict=False))
        except (ValueError, RecursionError):
            continue


def _stated(data: Any) -> Iterator[tuple[str, str]]:
    """The facts in schema.org data; breadth first, without recursion."""
    queue = [data]
    specified: list[Any] = []
    for visited, node in enumerate(queue):
        if visited > _JSON_NODES:
            return
        if isinstance(node, list):
            queue.extend(node)
        elif isinstance(node, dict) and not _NO_SUBJECT.intersection(_types(node)):
            for key, value in node.items():
                if key in _FACTS:
                    yield from ((key, text) for text in _texts(key, value, node))
                if key == "additionalProperty":
                    specified.append(value)
                elif isinstance(value, dict | list) and key not in _OTHERS:
                    queue.append(value)
    if len(specified) == 1:  # of several things nobody could say whose property it is
        yield from _properties(specified[0])


def _properties(given: Any) -> Iterator[tuple[str, str]]:
    """A schema.org PropertyValue names what it states: {"name": "Volume", "value": 30, "unitText": "l"}."""
    for each in given if isinstance(given, list) else [given]:
        if isinstance(each, dict) and isinstance(name := each.get("name"), str):
            value, unit = each.get("value"), each.get("unitText") or ""
            value = ("no", "yes")[value] if isinstance(value, bool) else value
            if isinstance(value, str | int | float) and isinstance(unit, str):
                yield one_line(unescape(name))[:MAX_FACT_CHARS], one_line(unescape(f"{value} {unit}"))[:MAX_FACT_CHARS]


def _types(node: dict[str, Any]) -> Iterable[str]:
    kind = node.get("@type")
    return [each for each in (kind if isinstance(kind, list) else [kind]) if isinstance(each, str)]


def _texts(key: str, value: Any, node: dict[str, Any]) -> Iterator[str]:
    for each in value[:5] if isinstance(value, list) else [value]:
        if isinstance(each, dict):
            each = each.get("name") or each.get("value")
            unit = value.get("unitText") or value.get("unitCode") if isinstance(value, dict) else None
            each = f"{each} {unit}" if isinstance(each, int | float | str) and isinstance(unit, str) else each
        if isinstance(each, bool) or not isinstance(each, str | int | float):
            continue
        text = one_line(unescape(str(each)))[:MAX_FACT_CHARS]
        if key in ("availability", "itemCondition"):
            text = _WORDS.sub(" ", text.rpartition("/")[2])
        currency = node.get("priceCurrency")
        if key in ("price", "lowPrice", "highPrice") and isinstance(currency, str) and text:
            text = f"{text} {one_line(currency)[:8]}"
        if text and not text.startswith(("http:", "https:", "{")):
            yield text


def _microdata(root: _Element) -> Iterator[tuple[str, str]]:
    """Only what is in attributes: text between tags is on the page already. Sizes are those of pictures."""
    for element in root.iter("meta", "data", "time", "span", "link"):
        key = element.get("itemprop")
        if key in _FACTS and key not in ("width", "height", "depth"):
            value = element.get("content") or element.get("datetime") or ""
            if not value.startswith(("http:", "https:")):
                yield key, one_line(value[:MAX_FACT_CHARS])


def _meta_facts(metas: dict[str, str]) -> Iterator[tuple[str, str]]:
    for prefix in ("product", "og"):
        if amount := metas.get(f"{prefix}:price:amount"):
            yield "price", f"{amount} {metas.get(f'{prefix}:price:currency', '')}".strip()
    for key in ("brand", "availability", "condition", "category"):
        if value := metas.get(f"product:{key}"):
            yield key, value


def _label(key: str) -> str:
    return _LABELS.get(key) or _WORDS.sub(" ", key).strip().capitalize()


def _first(elements: Iterable[_Element], attribute: str) -> str:
    return next((value for element in elements if (value := element.get(attribute))), "")


def _inside_svg(element: _Element) -> bool:
    parent = element.getparent()
    return parent is not None and parent.tag in ("svg", "symbol", "g")
