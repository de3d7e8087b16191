"""Read a web page as text: its main text, and facts that its markup states for machines and the text does not."""

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

from tablewright.text import break_long_line, clean_one_line
from tablewright.web.read.blocks import PageBlock, PageBlocks, Zone, read_visible_page
from tablewright.web.read.elements import CENTRE, Region, format_pair
from tablewright.web.read.reading import PAGE_LIMITS, Reading, UnreadablePage

_WORD = re.compile(r"\w+")


def read_html(html: str, url: str) -> Reading:
    root = _parse_markup(html)
    markup = read_markup(root, url)
    page = read_visible_page(root)
    main = choose_main_blocks(page)
    lines = [part for block in main for line in block.text.split("\n") for part in break_long_line(line)]
    text = "\n".join([*lines, *_facts_missing_in_text(markup, "\n".join(lines))])[: PAGE_LIMITS.characters].rstrip()
    if not text:
        raise UnreadablePage("holds no text (it may be built by scripts)")
    chosen = {id(block) for block in main}
    rest = (href for block in page.blocks if id(block) not in chosen for href in block.links)
    return Reading(
        text=text,
        title=markup.title,
        links=_absolute_links([*(href for block in main for href in block.links), *rest], markup.base),
        canonical=markup.canonical,
        language=markup.language,
        published=markup.published,
        is_product=markup.is_product,
    )


def _parse_markup(html: str) -> _Element:
    # One for each page, because a parser keeps state of the last document. Its own depth limit (2,048) remains.
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    source = html[: PAGE_LIMITS.html_characters].replace("\x00", "").encode("utf-8", "replace")
    try:
        root = etree.fromstring(source, parser) if source.strip() else None
    except etree.XMLSyntaxError:
        root = None
    if root is None:
        raise UnreadablePage("holds no text")
    return root


def _facts_missing_in_text(markup: PageMarkup, text: str) -> Iterator[str]:
    """Yield facts of the markup that the text does not have, as "Label: value" lines for its end."""
    known = f" {' '.join(_WORD.findall(text.casefold()))} "
    for label, value in markup.facts:
        words = " ".join(_WORD.findall(value.casefold()))
        # A short value ("5", "XL") occurs in any text, which does not mean that the text states it.
        if words and (f" {words} " not in known or (len(words) < 4 and label.casefold() not in known)):
            yield format_pair(label, value)
    if markup.description and " ".join(_WORD.findall(markup.description.casefold())) not in known:
        yield format_pair("Description", markup.description)


def _absolute_links(hrefs: Iterable[str], base: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for href in dict.fromkeys(hrefs):
        if len(found) == 200:
            break
        if url := absolute_url(href, base):
            found[url] = None
    return tuple(found)


# ── the main text: facts come first, so in doubt a block stays ───────────────────────────────────────────────────────

_TEASER = re.compile(
    r"\W*(?:(?:you|customers|people|others|viewers|readers|shoppers)\b.{0,30}\b(?:also|like|love|bought|viewed)"
    r"|(?:related|similar|recommended|suggested|trending|recently viewed|popular|latest|featured|more)\b.{0,20}"
    r"\b(?:products?|items?|articles?|posts?|stories|news|content|topics?|threads?|videos?|pages?|reads?|for you)"
    r"|(?:recently viewed|recommended|related|read next|up next|see also|more (?:from|in|on)\b.{0,40})\W*$)",
    re.IGNORECASE,
)


def choose_main_blocks(page: PageBlocks) -> list[PageBlock]:
    total = _total_size(page.blocks)
    out = _mark_furniture(page, total)
    kept = [block for block, left_out in zip(page.blocks, out, strict=True) if not left_out or block.tag == "h1"]
    # 400 characters make a main text; with less, something was dropped that should have stayed.
    if _total_size(kept) < min(400, total / 3):
        kept = page.blocks
    text = list(_drop_teasers(_marked_main_blocks(kept)))
    body = list(_drop_link_runs(text))
    # An index: its links are its content.
    if _total_size(body) < min(400, _total_size(text) / 3):
        body = text
    # Links that occur at every item, such as "Read more" or "Reply".
    counts = Counter(block.text for block in body if _is_link_block(block))
    return [block for block in body if not _is_link_block(block) or counts[block.text] < 3]


def _mark_furniture(page: PageBlocks, total: int) -> list[bool]:
    """Return for each block True if it is furniture: a menu, a header, a sidebar … around the main text.

    A kind that would remove most of the page removes nothing; a zone with the main text or a box of facts is kept.
    """
    mains = [0, *accumulate(block.region & Region.MAIN for block in page.blocks)]
    facts = [0, *accumulate(block.is_fact for block in page.blocks)]
    kept = {
        zone
        for zone in page.zones
        if (not zone.inside & Region.MAIN and mains[zone.end] > mains[zone.start])
        or (zone.region == Region.ASIDE and facts[zone.end] - facts[zone.start] >= 2 and zone.linked < zone.chars / 2)
    }
    out = [False] * len(page.blocks)
    kinds = (Region.NAV, Region.HEADER, Region.FOOTER, Region.ASIDE, Region.OVERLAY, Region.PROMOTION, Region.CONTROLS)
    for kind in kinds:
        zones = [zone for zone in page.zones if zone.region & kind and zone not in kept]
        covered = _cover_zones(len(page.blocks), [zone for zone in zones if _is_furniture(zone, kind)])
        size = sum(len(block.text) for block, inside in zip(page.blocks, covered, strict=True) if inside)
        if kind == Region.NAV or size <= 0.6 * total:
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
        return linked >= 0.2 or zone.chars < PAGE_LIMITS.block_characters * (zone.end - zone.start)
    return True


def _cover_zones(length: int, zones: Sequence[Zone]) -> list[bool]:
    depth = [0] * (length + 1)
    for zone in zones:
        depth[zone.start] += 1
        depth[zone.end] -= 1
    return [level > 0 for level in accumulate(depth[:length])]


def _marked_main_blocks(blocks: Sequence[PageBlock]) -> Sequence[PageBlock]:
    """Return the blocks that the page marks as its main text if they are most of it, and its title above them."""
    total = _total_size(blocks)
    for region, share in ((Region.MAIN, 0.5), (Region.ARTICLE, 0.8)):
        if _total_size([block for block in blocks if block.region & region]) >= share * total:
            return [block for block in blocks if block.region & region or block.tag == "h1"]
    return blocks


def _drop_link_runs(blocks: Sequence[PageBlock]) -> Iterator[PageBlock]:
    """Yield the blocks without menus: runs of at least four short lines that are only links."""
    for is_link, run in groupby(blocks, key=lambda block: _is_link_block(block) and not block.region & CENTRE):
        lines = list(run)
        if not is_link or len(lines) < 4:
            yield from lines


def _drop_teasers(blocks: Sequence[PageBlock]) -> Iterator[PageBlock]:
    """Yield the blocks without those under a heading such as "Related products", up to the next heading or text."""
    rank = ""
    for block in blocks:
        if block.is_heading and (not rank or block.tag <= rank):
            rank = block.tag if _TEASER.match(block.text) else ""
        elif rank and len(block.text) >= PAGE_LIMITS.block_characters and block.linked < 0.3 * len(block.text):
            rank = ""
        if not rank:
            yield block


def _is_link_block(block: PageBlock) -> bool:
    return (
        block.linked >= 0.8 * len(block.text)
        and len(block.text) < PAGE_LIMITS.block_characters
        and not block.is_heading
    )


def _total_size(blocks: Sequence[PageBlock]) -> int:
    return sum(len(block.text) for block in blocks)


# A page about one thing states fewer facts, and shorter ones.
MAX_FACTS, MAX_FACT_CHARACTERS = 60, 200
# Larger data is that of an application.
MAX_JSON_CHARACTERS, MAX_JSON_NODES = 300_000, 5_000

_WORDS = re.compile(r"(?<=[a-z])(?=[A-Z])|[_-]+")

# Properties of products, organisations, places, people, works, events and jobs. Articles, breadcrumbs, images and
# ratings of others are not facts about the page's subject.
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
# Types that describe the site, or things other than the page's subject.
_NO_SUBJECT = frozenset(
    "BreadcrumbList ListItem WebSite WebPage SearchAction ImageObject SiteNavigationElement WPHeader WPFooter "
    "Review Rating Comment UserComments ReadAction CollectionPage ItemList EntryPoint Question Answer FAQPage QAPage "
    "HowTo HowToStep DiscussionForumPosting SocialMediaPosting VideoObject InteractionCounter".split()
)
# Properties whose values are about other things than the page's subject.
_OTHERS = frozenset(
    "review reviews comment isPartOf publisher author image seller offeredBy isRelatedTo isSimilarTo".split()
)


@dataclass(slots=True)
class PageMarkup:
    title: str = ""
    canonical: str = ""
    language: str = ""
    published: str = ""
    description: str = ""
    base: str = ""
    """The address that relative ones refer to."""
    is_product: bool = False
    facts: list[tuple[str, str]] = field(default_factory=list)


def read_markup(root: _Element, url: str) -> PageMarkup:
    metas = _read_metas(root)
    base = next((href for each in root.iter("base") if (href := each.get("href"))), "")
    found = PageMarkup(base=absolute_url(base, url) or url if base else url)
    title = next((element for element in root.iter("title") if not _is_inside_svg(element)), None)
    found.title = clean_one_line(title.text or "") if title is not None else ""
    found.title = (found.title or metas.get("og:title", "") or _first_heading(root))[:500]
    canonical = next(
        (link.get("href") for link in root.iter("link") if "canonical" in (link.get("rel") or "").lower()), ""
    )
    found.canonical = absolute_url(canonical or metas.get("og:url", ""), found.base)
    found.language = _find_language(root, metas)
    found.description = metas.get("description") or metas.get("og:description", "")
    found.is_product = metas.get("og:type", "").partition(".")[0] == "product" or _count_products(root) == 1
    statements = [*_read_json_facts(root), *_read_microdata(root), *_meta_facts(metas)]
    found.facts = _limit_repeats(statements)
    found.published = _find_publication_date(root, metas)
    return found


def _limit_repeats(statements: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the statements that occur at most three times: more frequent ones are about the items of a list."""
    by_key: dict[str, dict[str, None]] = {}
    for key, value in statements:
        if value:
            by_key.setdefault(key, {})[value] = None
    few = (
        (key if " " in key else _key_label(key), value)
        for key, values in by_key.items()
        if len(values) <= 3
        for value in values
    )
    return list(few)[:MAX_FACTS]


def absolute_url(href: str | None, base: str) -> str:
    """Return the http(s) address without its fragment, or ""."""
    href = (href or "").strip()
    # Longer ones are data.
    if not href or href.startswith("#") or len(href) > 2_048:
        return ""
    try:
        href = "".join(href.split())
        joined = href if href.startswith(("https://", "http://")) else urljoin(base, href)
        parts = urlsplit(joined)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            return ""
    except ValueError:
        return ""
    return clean_one_line(parts._replace(fragment="").geturl())


def _read_metas(root: _Element) -> dict[str, str]:
    """Return the meta elements by lower-case name; the first of a name counts."""
    found: dict[str, str] = {}
    for meta in root.iter("meta"):
        name = meta.get("property") or meta.get("name") or meta.get("http-equiv")
        content = meta.get("content")
        if name and content:
            found.setdefault(name.strip().lower(), clean_one_line(content[:500]))
    return found


def _first_heading(root: _Element) -> str:
    heading = next(root.iter("h1"), None)
    return clean_one_line("".join(str(text) for text in heading.itertext())) if heading is not None else ""


def _find_language(root: _Element, metas: dict[str, str]) -> str:
    html = next(root.iter("html"), root)
    said = html.get("lang") or html.get("xml:lang") or metas.get("content-language") or metas.get("og:locale") or ""
    found = re.match(r"[A-Za-z]{2,3}(?=$|[-_])", said.strip())
    return found[0].lower() if found else ""


def _find_publication_date(root: _Element, metas: dict[str, str]) -> str:
    marked = (
        time
        for time in root.iter("time", "meta")
        if time.get("itemprop") == "datePublished" or "pubdate" in time.attrib
    )
    # Most reliable first.
    said = (
        *(
            metas.get(name, "")
            for name in (
                "article:published_time og:published_time datepublished date dc.date dc.date.issued "
                "dcterms.date dcterms.issued pubdate publishdate publish-date publication_date "
                "citation_publication_date sailthru.date parsely-pub-date"
            ).split()
        ),
        *(
            found[1]
            for script in _json_scripts(root)
            if (found := re.search(r'"datePublished"\s*:\s*"([^"]{4,40})"', script))
        ),
        *(time.get("datetime") or time.get("content") or "" for time in marked),
    )
    return next((day for text in said if (day := _read_iso_day(text))), "")


def _read_iso_day(text: str) -> str:
    # Dates in markup are ISO dates, perhaps with a time.
    found = re.search(r"\b(\d{4})-(\d{2})-(\d{2})", text)
    return (
        found[0]
        if found and "1900" <= found[1] <= "2100" and 1 <= int(found[2]) <= 12 and 1 <= int(found[3]) <= 31
        else ""
    )


def _json_scripts(root: _Element) -> Iterator[str]:
    for script in root.iter("script"):
        if "ld+json" in (script.get("type") or "") and script.text and len(script.text) <= MAX_JSON_CHARACTERS:
            yield script.text


def _count_products(root: _Element) -> int:
    """Count the products that schema.org data describe at its top level: a list of offers has many, or has them inside
    of a list."""
    kinds = [element.get("itemtype", "") for element in root.iterfind(".//*[@itemtype]")]
    count = sum(kind.endswith("//schema.org/Product") for kind in kinds)
    for script in _json_scripts(root):
        try:
            data = json.loads(script, strict=False)
        except (ValueError, RecursionError):
            continue
        data = data.get("@graph", data) if isinstance(data, dict) else data
        nodes = data if isinstance(data, list) else [data]
        count += sum("Product" in _schema_types(node) for node in nodes if isinstance(node, dict))
    return count


def _read_json_facts(root: _Element) -> Iterator[tuple[str, str]]:
    for script in _json_scripts(root):
        try:
            yield from _schema_facts(json.loads(script, strict=False))
        except (ValueError, RecursionError):
            continue


def _schema_facts(data: Any) -> Iterator[tuple[str, str]]:
    """Yield the facts in schema.org data, breadth first and without recursion."""
    queue = [data]
    specified: list[Any] = []
    for visited, node in enumerate(queue):
        if visited > MAX_JSON_NODES:
            return
        if isinstance(node, list):
            queue.extend(node)
        elif isinstance(node, dict) and not _NO_SUBJECT.intersection(_schema_types(node)):
            for key, value in node.items():
                if key in _FACTS:
                    yield from ((key, text) for text in _value_texts(key, value, node))
                if key == "additionalProperty":
                    specified.append(value)
                elif isinstance(value, dict | list) and key not in _OTHERS:
                    queue.append(value)
    # With several things it is unclear whose property it is.
    if len(specified) == 1:
        yield from _property_values(specified[0])


def _property_values(given: Any) -> Iterator[tuple[str, str]]:
    """Yield the facts of schema.org PropertyValues: {"name": "Volume", "value": 30, "unitText": "l"}."""
    for each in given if isinstance(given, list) else [given]:
        if isinstance(each, dict) and isinstance(name := each.get("name"), str):
            value, unit = each.get("value"), each.get("unitText") or ""
            value = ("no", "yes")[value] if isinstance(value, bool) else value
            if isinstance(value, str | int | float) and isinstance(unit, str):
                yield (
                    clean_one_line(unescape(name))[:MAX_FACT_CHARACTERS],
                    clean_one_line(unescape(f"{value} {unit}"))[:MAX_FACT_CHARACTERS],
                )


def _schema_types(node: dict[str, Any]) -> Iterable[str]:
    kind = node.get("@type")
    return [each for each in (kind if isinstance(kind, list) else [kind]) if isinstance(each, str)]


def _value_texts(key: str, value: Any, node: dict[str, Any]) -> Iterator[str]:
    for each in value[:5] if isinstance(value, list) else [value]:
        if isinstance(each, dict):
            each = each.get("name") or each.get("value")
            unit = value.get("unitText") or value.get("unitCode") if isinstance(value, dict) else None
            each = f"{each} {unit}" if isinstance(each, int | float | str) and isinstance(unit, str) else each
        if isinstance(each, bool) or not isinstance(each, str | int | float):
            continue
        text = clean_one_line(unescape(str(each)))[:MAX_FACT_CHARACTERS]
        if key in ("availability", "itemCondition"):
            text = _WORDS.sub(" ", text.rpartition("/")[2])
        currency = node.get("priceCurrency")
        if key in ("price", "lowPrice", "highPrice") and isinstance(currency, str) and text:
            text = f"{text} {clean_one_line(currency)[:8]}"
        if text and not text.startswith(("http:", "https:", "{")):
            yield text


def _read_microdata(root: _Element) -> Iterator[tuple[str, str]]:
    """Yield facts in attributes; text between tags is already on the page, and sizes are those of pictures."""
    for element in root.iter("meta", "data", "time", "span", "link"):
        key = element.get("itemprop")
        if key in _FACTS and key not in ("width", "height", "depth"):
            value = element.get("content") or element.get("datetime") or ""
            if not value.startswith(("http:", "https:")):
                yield key, clean_one_line(value[:MAX_FACT_CHARACTERS])


def _meta_facts(metas: dict[str, str]) -> Iterator[tuple[str, str]]:
    for prefix in ("product", "og"):
        if amount := metas.get(f"{prefix}:price:amount"):
            yield "price", f"{amount} {metas.get(f'{prefix}:price:currency', '')}".strip()
    for key in ("brand", "availability", "condition", "category"):
        if value := metas.get(f"product:{key}"):
            yield key, value


def _key_label(key: str) -> str:
    known = {"sku": "SKU", "mpn": "MPN", "isbn": "ISBN", "productID": "Product ID", "vatID": "VAT ID", "duns": "DUNS"}
    return known.get(key) or _WORDS.sub(" ", key).strip().capitalize()


def _is_inside_svg(element: _Element) -> bool:
    parent = element.getparent()
    return parent is not None and parent.tag in ("svg", "symbol", "g")
