"""Site kind: who runs a site. A maker's page is where a product's data are read; shops, marketplaces, reviews and
forums are places that name it.

A list of well-known names is a first hint. What decides of all others is what their pages look like: whose name the
products carry, baskets and stock, sellers and used things, tests and scores, threads and replies.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias
from urllib.parse import unquote, urlsplit

from tablewright.decisions.candidates.kind import read_kind, says, singular, singulars
from tablewright.decisions.candidates.names import begins, compact, first_name, owns, spellings
from tablewright.decisions.candidates.seen import by_domain, domain_of, host_of, label_of
from tablewright.decisions.candidates.sites import Site, read_sites, title_parts
from tablewright.decisions.plan_exploration import several
from tablewright.table.money_text import read_amounts
from tablewright.table.namewords import COLOUR
from tablewright.table.retrieved import Retrieved
from tablewright.table.rowkey import fold, tokenize, words
from tablewright.table.shortlist import Product, SiteKind
from tablewright.table.untrusted import gives_orders
from tablewright.text.sections import sentences

Kinds: TypeAlias = Mapping[str, SiteKind]

LOOKED_AT = 12_000
MOST_LINES = 200
ENOUGH = 1.0
BY_NAME = 4.0
CARRIES_ITS_NAME = 3.0
SAID_BY_OTHERS = 2
BRANDS_OF_A_SHOP = 3
MOST_SIGNS = 3
"""Signs of one kind on a page that count: a menu repeats itself."""

_WELL_KNOWN: dict[SiteKind, str] = {
    "retailer": """
    amazon argos johnlewis currys ao.com walmart target.com bestbuy costco homedepot lowes wayfair ikea tesco asda
    boots.com selfridges lakeland.co.uk mediamarkt saturn.de otto.de bol.com coolblue fnac darty boulanger.com
    cdiscount zalando newegg screwfix halfords decathlon rei.com thomann sweetwater.com alza galaxus digitec
    """,
    "marketplace": """
    ebay etsy gumtree craigslist vinted depop aliexpress alibaba temu wish.com leboncoin kleinanzeigen marktplaats
    backmarket autotrader mobile.de preloved shpock rakuten mercari mercadolibre allegro olx
    """,
    "review": """
    which.co.uk wirecutter consumerreports techradar cnet rtings test.de quechoisir goodhousekeeping trustedreviews
    pcmag tomsguide theverge whathifi dpreview notebookcheck gsmarena expertreviews runnersworld bikeradar
    outdoorgearlab choice.com.au trustpilot
    """,
    "forum": "reddit quora stackexchange mumsnet avforums head-fi bikeforums hotukdeals mydealz",
}
"""By the first part of a domain, which many have in several countries; or by the whole, where that part is a word."""
_KNOWN = {name: kind for kind, names in _WELL_KNOWN.items() for name in names.split()}

_LOOKS: dict[SiteKind, str] = {
    "retailer": r"add to (?:basket|cart|bag|trolley)|(?:your|shopping) (?:basket|cart|bag)\b|incl(?:\.|uding) vat|"
    r"inkl\. mwst|in den warenkorb|ajouter au panier|click (?:&|and) collect|(?:free|next[- ]day) delivery|"
    r"delivery and returns|(?:^|[|·,] ?)(?:in|out of) stock\b|\bsold out\b|(?:^|[|·] ?)\d+ left\b|^\d+ products\b|"
    r"\bsort by\b|filter by brand|shop by brand|price match|\bavailability\b",
    "marketplace": r"^(?:seller|sold by|listed by|condition|location)\b ?:|\bprivate seller|buy it now|"
    r"place (?:a )?bid|\bcurrent bid|make an offer|collection in person|\bcollect in [A-Z]|seller rating|"
    r"\b(?:used|dented|unopened|pre-owned|second[- ]hand)\b[^\n|]{0,20}\||\|\s*seller\b|used (?:once|twice)|"
    r"the marketplace for|sell (?:yours|an item)",
    "review": r"\bwe(?:['’]ve)? (?:\w+ )?(?:tested|tried|reviewed|measured|compared|rated|put)\b|\bhow we test|"
    r"\bour (?:verdict|scores?|ratings?|winner|picks?|reviewers?|tests?|favou?rite|tip)\b|\bbest (?:overall|value|"
    r"budget)\b|runner[- ]up|editor['’]?s['’]? choice|\b\d(?:[.,]\d)? ?/ ?(?:5|10)\b|\bout of (?:five|ten|5|10)\b|"
    r"^by [^\n·|]{3,50} · \d|\b(?:long|group)[- ](?:term )?test\b|^verdict\b|\|\s*verdict\b|^pros\b|"
    r"share this article|\bthe best [^\n]{3,50} of 20\d\d|^\W*(?:test|review)(?:ed)?:",
    "forum": r"\b\d+ (?:repl(?:y|ies)|upvotes?|posts)\b|^re: |^(?:posted|replied|written|asked) by\b|\bthread\b|"
    r"\blog in to (?:reply|post)|\boriginal poster\b|^joined:? |\bmember since\b|^u/\w+|^r/\w+|\blast post\b|"
    r"\bpost reply\b|\ba (?:discussion )?forum\b|\bthreads of\b|^(?-i:[a-z][\w-]{2,20}): |"
    r"^@?\w{3,20} (?:wrote|said|replied)\b ?:?|^#\d+ ",
    "maker": r"\brrp\b|\bmsrp\b|\b(?:recommended|suggested) (?:retail )?price|\bwe (?:design|make|build|"
    r"manufacture|have made)\b|\bour (?:factory|workshop|engineers|designers|craftsmen)\b|register your product|"
    r"product registration|find a (?:dealer|retailer|stockist)|\bis one of \d+ [\w-]+ made by\b|"
    r"official (?:site|store|shop)|\bhas made\b|\bspare parts\b|^(?:guarantee|warranty)\b ?:",
}
_SIGNS = {kind: re.compile(pattern, re.IGNORECASE | re.MULTILINE) for kind, pattern in _LOOKS.items()}
_HOUSE = words("""
    products home kitchen coffee electric electrics electronics appliances group international official store shop world
    audio lighting design designs usa uk eu global company brand
""")
_MAKING = words("make build manufacture produce develop craft design assemble weave forge made built assembled")
_BRAND = re.compile(r"^(?:brand|manufacturer|maker|marke|hersteller|marque)\s*:\s*([^\n|,·]{2,40})", re.I | re.M)


def kinds(sources: Sequence[Retrieved]) -> dict[str, SiteKind]:
    """Who runs each site, by its registrable domain."""
    held = tuple(sources)
    sites = read_sites(held)
    spoken_of = _spoken_of(held, sites)
    return {
        domain: _kind(site, [held[place] for place in site.sources], spoken_of[domain])
        for domain, site in sites.items()
    }


def brands_in(page: Retrieved) -> list[str]:
    """Who makes what a page offers, where a label says so: "Brand: Hearthline"."""
    return [brand.strip() for brand in _BRAND.findall(page.text[:LOOKED_AT]) if not gives_orders(brand)]


def known_kind(domain: str) -> SiteKind | None:
    """What is known of a site by its name alone: "amazon" in every country."""
    return _KNOWN.get(domain) or _KNOWN.get(label_of(domain))


def _kind(site: Site, pages: Sequence[Retrieved], spoken_of: float) -> SiteKind:
    signs = [_signs(page) for page in pages]
    telling = max(1, sum(1 for counts in signs if counts))
    scores: dict[SiteKind, float] = {kind: sum(counts[kind] for counts in signs) / telling for kind in _SIGNS}
    own, foreign = _whose_products(site, pages)
    if own > foreign:
        scores["maker"] += CARRIES_ITS_NAME
    elif foreign >= BRANDS_OF_A_SHOP and scores["review"] + scores["marketplace"] + scores["forum"] < ENOUGH:
        scores["retailer"] += CARRIES_ITS_NAME
    if any(_says_it_makes(site, page) for page in pages):
        scores["maker"] += SAID_BY_OTHERS
    scores["maker"] += spoken_of
    if hint := known_kind(site.domain):
        scores[hint] += BY_NAME
    if scores["marketplace"] >= ENOUGH:
        scores["retailer"] = 0.0  # a marketplace has a basket too
    best = max(scores, key=lambda kind: scores[kind])
    return best if scores[best] >= ENOUGH else "other"


def _signs(page: Retrieved) -> Counter[SiteKind]:
    """What a page looks like; one that looks like nothing says nothing of its site."""
    text = f"{page.title}\n{page.text[:LOOKED_AT]}"
    found: Counter[SiteKind] = Counter()
    for kind, signs in _SIGNS.items():
        if seen := {match[0].casefold() for match in signs.finditer(text)}:
            found[kind] = min(MOST_SIGNS, len(seen))
    return found


def _whose_products(site: Site, pages: Sequence[Retrieved]) -> tuple[int, int]:
    """How many products carry the site's own name, and how many first words others have: from titles, labels, and
    lines with a price."""
    own = 0
    others: set[str] = set()
    for page in pages:
        for brand in brands_in(page):
            own += _is_called(brand, site)
            others |= set() if _is_called(brand, site) else {fold(brand.split()[0])}
        if any(_carries(part, site) for part in title_parts(page.title)):
            own += 1
        for line in page.text[:LOOKED_AT].split("\n")[:MOST_LINES]:
            name = first_name(line.split(" | ")[0])[0]
            if len(name.split()) < 2 or len(name) > 80 or not _has_price(line):
                continue
            if _carries(name, site):
                own += 1
            elif name[:1].isupper() and ":" not in line[: len(name) + 2]:
                others.add(fold(name.split()[0]))
    return own, len(others)


def _has_price(line: str) -> bool:
    return any(character.isdigit() for character in line) and any(
        amount.money.currency for amount in read_amounts(line[:300])
    )


def _is_called(name: str, site: Site) -> bool:
    """Also "Fellow" at fellowproducts, whose pages are headed "Fellow Products"; not "Steam" at steamandsip."""
    label = label_of(site.domain)
    if owns(name, label) or (site.name and compact(name) == compact(site.name)):
        return True
    rest = (
        {fold(word) for word in site.name.split()[len(name.split()) :]} if begins(name, compact(site.name)) else set()
    )
    return begins(name, label) and (not site.name or bool(rest and rest <= _HOUSE))


def house_key(maker: str) -> str:
    """The same of "Fellow" and "Fellow Products"."""
    said = maker.split()
    while len(said) > 1 and fold(said[-1]) in _HOUSE:
        said = said[:-1]
    return compact(" ".join(said))


def _carries(name: str, site: Site) -> bool:
    """ "Hearthline Swift 17" and "Hearthline kettles" carry the name of hearthline.example, and more than it."""
    said = name.split()
    if compact(name) == compact(site.name) or label_of(site.domain).replace("-", "") == compact(name):
        return False
    return any(_is_called(" ".join(said[:count]), site) for count in range(1, min(5, len(said))))


def _says_it_makes(site: Site, page: Retrieved) -> bool:
    """ "Hearthline has made kettles since 1968": its own name before a verb of making."""
    for start, end in sentences(page.text[:3_000]):
        said = page.text[start:end]
        first = re.split(r"\s(?:is|has|have|makes?|builds?|develops?|designs?|of|from|in|was|began)\b", said)[0]
        if len(first.split()) <= 4 and _is_called(first, site) and _MAKING.intersection(singulars(said)):
            return not gives_orders(said)
    return False


def _spoken_of(sources: tuple[Retrieved, ...], sites: Mapping[str, Site]) -> Counter[str]:
    """Sites that others speak of as a brand: "Brand: Hearthline", or a thing in a list that begins with the name."""
    spoken: dict[str, set[str]] = {}
    for domain, places in by_domain(sources).items():
        heads = set()
        for place in places:
            heads.update(brands_in(sources[place]))
            for line in sources[place].text[:LOOKED_AT].split("\n")[:MOST_LINES]:
                said = [first_name(cell)[0].split() for cell in line.split(" | ") if len(cell) <= 200]
                heads.update(" ".join(each[:count]) for each in said for count in range(1, min(5, len(each))))
        for head in heads:
            for spelt in spellings(head):
                spoken.setdefault(spelt, set()).add(domain)
    found: Counter[str] = Counter()
    for domain, site in sites.items():
        names = {label_of(domain).replace("-", ""), compact(site.name)} - {""}
        if any(spoken.get(name, set()) - {domain} for name in names):
            found[domain] = SAID_BY_OTHERS
    return found


# ── the product's own page ───────────────────────────────────────────────────────────────────────────────────────────

_NOT_THE_PAGE = words("""
    support manual manuals review reviews press news blog spare spares part parts accessory accessories register
    registration faq download downloads warranty compare cart account login search tag
""")
_JOINING = words("by the a an and with in for of official new buy online shop store")
_SIZE = re.compile(r"\b\d+(?:[.,\s]\d+)?\s?(?:l|litres?|liters?|ml|w|watts?|kw|cm|mm|kg|g|lb|oz|inch|in)\b", re.I)


@lru_cache(maxsize=65536)
def model_of(name: str, maker: str = "", product_type: str = "") -> tuple[str, ...]:
    """What is left of a name without its maker and the word for the thing: "degree 15" of "Hearthline Degree-15
    kettle" and of "Degree 15 by Hearthline". Numbers stay."""
    said = _tokens(name)
    house = _tokens(maker)
    for at in range(len(said) - len(house) + 1):
        if house and said[at : at + len(house)] == house:
            said = said[:at] + said[at + len(house) :]
            break
    type_words = {singular(word) for word in _tokens(product_type)}
    return tuple(word for word in said if word not in _JOINING and singular(word) not in type_words)


def official_page(
    name: str,
    maker: str,
    sources: Sequence[Retrieved],
    kinds: Kinds,
    *,
    product_type: str = "",
    others: Collection[tuple[str, ...]] = (),
) -> str:
    """The page of the maker's site that is about this product, or "". Only what was retrieved, or what a page that was
    retrieved links to. `others` are the models of the maker's other products: their pages are not this one's."""
    model = model_of(name, maker, product_type)
    if not model:
        return ""
    pages = [
        (closeness, _depth(page.origin), page.origin)
        for page in sources
        if page.kind == "page" and _is_makers(page.origin, domain_of(page), name, maker, kinds)
        if (closeness := _is_about(page, model, maker, product_type, others))
    ]
    if pages:
        return min(pages)[2]
    linked = dict.fromkeys(link for page in sources for link in page.links)
    letters = max((word for word in model if word.isalpha()), key=len, default="")
    slugs = [
        (_depth(link), link)
        for link in linked
        if letters in link.casefold()
        and _is_its_label(maker or name, label_of(site_of(link, kinds)), bool(maker))
        and _is_model(_slug(link), model, maker, product_type)
        and _is_makers(link, site_of(link, kinds), name, maker, kinds)
    ]
    return min(slugs)[1] if slugs else ""


def _is_makers(url: str, domain: str, name: str, maker: str, kinds: Kinds) -> bool:
    """A site that is called like the maker, and is run by nobody else. One that was not read is judged by its name."""
    kind = kinds.get(domain) or known_kind(domain) or "maker"
    path = set(re.findall(r"[a-z]+", urlsplit(url).path.casefold()))
    if kind not in ("maker", "other") or path & _NOT_THE_PAGE:
        return False
    label = label_of(domain)
    return _is_its_label(maker or name, label, bool(maker))


@lru_cache(maxsize=8192)
def _is_its_label(house: str, label: str, is_maker: bool) -> bool:
    return owns(house, label) or (is_maker and begins(house, label))


def _is_about(
    page: Retrieved, model: tuple[str, ...], maker: str, product_type: str, others: Collection[tuple[str, ...]]
) -> int:
    """1: its title or first line is the product's name; 2: with more words that are no other product's; 0: not."""
    best = 0
    for head in (*title_parts(page.title), *page.text[:200].split("\n")[:1]):
        if gives_orders(head) or len(head) > 120:
            continue
        if _is_model(head, model, maker, product_type):
            return 1
        said = model_of(_SIZE.sub(" ", head), maker, product_type)
        more = [word for word in said if word not in model]
        if not set(model) <= set(said) or any(any(map(str.isdigit, word)) for word in more):
            continue
        names_type = any(singular(noun) in singulars(head) for noun in _tokens(product_type)[-1:])
        if names_type and not any(set(model) < set(other) <= set(said) for other in others):
            best = 2
    return best


def _is_model(text: str, model: tuple[str, ...], maker: str, product_type: str) -> bool:
    """Whether a heading or the end of an address says this model and no other: "leise-1-5" is "Leise 1,5"."""
    for said in (text, _SIZE.sub(" ", text)):
        found = list(model_of(said, maker, product_type))
        plain = [word for word in found if word not in COLOUR]
        if any(sorted(each) == sorted(model) or _joined(each) == _joined(model) for each in (found, plain) if each):
            return True
    return False


def _tokens(text: str) -> list[str]:
    return tokenize(fold(re.sub(r"(?<=\w)\+", " plus", text)))


def _joined(said: Sequence[str]) -> str:
    return "".join(said).replace(".", "")


@lru_cache(maxsize=65536)
def _slug(url: str) -> str:
    last = unquote(urlsplit(url).path).rstrip("/").rsplit("/", 1)[-1]
    return re.sub(r"\.\w{2,5}$", "", last).replace("-", " ").replace("_", " ")


def _depth(url: str) -> tuple[int, int]:
    return urlsplit(url).path.rstrip("/").count("/"), len(url)


def site_of(url: str, known: Collection[str] = ()) -> str:
    """The site that a link leads to: one of those that were read, or what its host looks like, without "shop."."""
    parts = host_of(url).split(".")
    above = [".".join(parts[at:]) for at in range(len(parts) - 1)]
    short = 3 if len(parts) > 2 and parts[-2] in _SECOND else 2
    return next((domain for domain in above if domain in known), ".".join(parts[-short:]))


_SECOND = words("co com net org ac gov ne or")


# ── where a page leads ───────────────────────────────────────────────────────────────────────────────────────────────

_MENU = words("""
    about account basket blog brand brands cart careers category categories checkout contact cookies delivery faq help
    home imprint impressum jobs legal login news newsletter press privacy returns reviews search shipping support terms
    warranty accessories accessory spares spare parts part stores register replacement lid descaler gift
""")
_SHELVES = words("product products p item items shop dp collections")


def maker_links(products: Sequence[Product], sources: Sequence[Retrieved]) -> list[str]:
    """Where retrieved pages lead to makers' sites that were not read: a shop links to the brand that it sells. Those
    whose products lack an official page come first; of a site the shortest address."""
    read = {domain_of(page) for page in sources}
    linked: dict[str, list[str]] = {}
    for link in dict.fromkeys(link for page in sources for link in page.links if "://" in link):
        if (site := site_of(link, read)) not in read and known_kind(site) is None:
            linked.setdefault(site, []).append(link)
    lacking = sorted((each for each in products if each.maker), key=lambda each: bool(each.official_url))
    found = dict.fromkeys(site for each in lacking for site in linked if owns(each.maker, label_of(site)))
    return [min(linked[site], key=len) for site in found]


def product_links(page: Retrieved, product_type: str) -> list[str]:
    """Links of a page, of its own site, that look like the page of one product of the type; after them those that look
    like a list of such products, and the front page. Judged by their addresses and by what the page itself names."""
    kind = read_kind(several(product_type))
    host = host_of(page.origin)
    lines = {compact(line.split(" | ")[0].split(", ")[0]) for line in page.text.split("\n") if len(line) < 200}
    of_type = says(f"{page.title} {urlsplit(page.origin).path}", kind.head)
    products, lists, front = [], [], []
    for link in dict.fromkeys(page.links):
        path = [part for part in urlsplit(link).path.casefold().split("/") if part]
        if host_of(link) != host or link.rstrip("/") == page.origin.rstrip("/"):
            continue
        if not path:
            front.append(link)
            continue
        if any(part in _MENU for part in path) or set(path[-1].split("-")) & _MENU - {kind.head, *kind.topic}:
            continue
        slug = _slug(link)
        named = len(slug) > 1 and any(line.endswith(compact(slug)) for line in lines)
        above = [singulars(part.replace("-", " ").replace("_", " ")) for part in path[:-1]]
        stocked = bool(_SHELVES & set(path[:-1])) and (of_type or says(slug, kind.head))
        if not named and slug.split()[-1:] in ([kind.head], [several(kind.head)]) and not re.search(r"\d", slug):
            lists.append(link)
        elif any(kind.head in part for part in above) or stocked or (named and of_type):
            products.append(link)
    return [*products, *lists, *front[:1]]
