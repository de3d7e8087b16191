"""Find products: which products of the asked type do these pages name, who makes them, and which page is their own?

A product is a model that somebody makes: no brand, no category, no spare part. It must stand in a retrieved text, and
its official page is one of its maker's site that was retrieved or that a retrieved page links to. One that costs too
much stays: it is excluded later, with the reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec

from tablewright.decisions.candidates.kind import Kind, read_kind, says, singular, singulars
from tablewright.decisions.candidates.names import begins, compact, fits, owns, spellings
from tablewright.decisions.candidates.seen import around, domain_of, host_of, label_of, places
from tablewright.decisions.candidates.sites import Site, read_sites, subject_of
from tablewright.decisions.decision import Prompt, Unusable
from tablewright.decisions.find_candidates import MOST_SHOWN, SHOWN, Find, FindCandidates, Listing
from tablewright.decisions.plan_exploration import several
from tablewright.decisions.site_kind import (
    Kinds,
    brands_in,
    house_key,
    kinds,
    known_kind,
    model_of,
    official_page,
    site_of,
)
from tablewright.table.dedupe import Names
from tablewright.table.evidence import evidence_for
from tablewright.table.model import Noun
from tablewright.table.money_text import read_amounts
from tablewright.table.namewords import ACCESSORY, COLOUR, GENERIC
from tablewright.table.research import Named
from tablewright.table.retrieved import Retrieved
from tablewright.table.rowkey import fold, tokenize, words
from tablewright.table.shortlist import MOST, Product, Requirements, SiteKind
from tablewright.table.untrusted import WARNING, block, clean, gives_orders, is_tainted
from tablewright.text.sections import sentences

EVERY = 400
"""Names that are looked at, before they are joined and judged."""
ON_ITS_OWN_PAGE = 0.7
IN_PROSE = 0.45
MOST_SURE = 0.99
LEAST_LABELS = 3
LONGEST_DESCRIPTION = 300
HEAD = 500
LONGEST_LINE = 2_000
SHORTEST_SENTENCE = 7
"""Words, where it has a colon: less is a label with its value."""

INSTRUCTIONS = (
    "You list the products of one type that the texts below name. For each give `text`, the number of the text; "
    "`name`, the product's name as it stands there: maker and model, nothing more; and `quote`, a few words of that "
    "text with the name in them, copied exactly. Only single products of the type: no brands or makers alone, no "
    "categories, no accessories or spare parts, no shops. Each product once. If no text names one, give an empty list. "
    + WARNING
)


class FindProducts(Noun, frozen=True):
    requirements: Requirements
    sources: tuple[Retrieved, ...]
    most: int = MOST


class FindThem:
    name = "find products"

    def prompt(self, asked: FindProducts) -> Prompt:
        shown = "\n".join(
            block(number, source.text[:SHOWN], source.title)
            for number, source in enumerate(_shown(asked)[:MOST_SHOWN], start=1)
        )
        many = several(clean(asked.requirements.product_type))
        return Prompt(
            instructions=INSTRUCTIONS,
            text=f"{shown}\n\nList the {many} that these texts name.",
            reply=Listing,
            max_tokens=900,
        )

    def check(self, asked: FindProducts, reply: Any) -> tuple[Product, ...]:
        """What the texts bear of its names, and what the rule finds: a model is shown only the beginnings of some."""
        try:
            named = Find().check(_candidates(asked, _shown(asked)), reply)
        except Unusable as problem:
            raise Unusable(str(problem), usable=self.fallback(asked)) from None
        return _products(asked, named)

    def fallback(self, asked: FindProducts) -> tuple[Product, ...]:
        return _products(asked, ())


def _candidates(asked: FindProducts, sources: Sequence[Retrieved]) -> FindCandidates:
    """Without their links: which page is a product's own is judged here, and every name against every link is slow."""
    things = several(asked.requirements.product_type)
    unlinked = tuple(msgspec.structs.replace(source, links=()) for source in sources)
    return FindCandidates(things=things, question=things, sources=unlinked, most=EVERY)


def _shown(asked: FindProducts) -> list[Retrieved]:
    """First what is hard for a rule: pages in prose that speak of such things and are not their makers'."""
    head = read_kind(several(asked.requirements.product_type)).head
    who = kinds(asked.sources)
    return sorted(
        asked.sources,
        key=lambda page: (not says(f"{page.title} {page.text[:SHOWN]}", head), who.get(domain_of(page)) == "maker"),
    )


# ── who makes it ─────────────────────────────────────────────────────────────────────────────────────────────────────


class _Field:
    """What is known of the pages: who runs them, and which makers there are."""

    def __init__(self, asked: FindProducts) -> None:
        self.type = asked.requirements.product_type
        self.kind: Kind = read_kind(several(self.type))
        self.sources = asked.sources
        self.kinds: Kinds = kinds(asked.sources)
        self.sites: Mapping[str, Site] = read_sites(asked.sources)
        linked = dict.fromkeys(site_of(link, self.kinds) for page in asked.sources for link in page.links)
        self.houses = {
            label_of(domain).replace("-", "")
            for domain in (*self.kinds, *linked)
            if (self.kinds.get(domain) or known_kind(domain) or "maker") in ("maker", "other")
        }
        self._site_at = {page.origin: self.sites.get(domain_of(page)) for page in asked.sources}
        self.brands = dict.fromkeys(brand for page in asked.sources for brand in brands_in(page))
        self.not_products = {
            compact(name) for name in (*(site.name for site in self.sites.values()), *self.brands) if name
        }

    def maker_in(self, name: str) -> str:
        """The words of the name that a site or a label says are its maker: at the beginning, or after "by"."""
        starts = [0, *(match.end() for match in re.finditer(r"\b(?:by|from)\s+", name))]
        for start in reversed(starts):
            said = name[start:].split()
            for count in range(min(4, len(said)), 0, -1):
                house = " ".join(said[:count]).rstrip(",;:")
                if (start or count < len(said)) and self._makes(house):
                    return house
        return ""

    def _makes(self, house: str) -> bool:
        if any(compact(house) == compact(brand) for brand in self.brands) or self.houses & spellings(house):
            return True
        return any(
            begins(house, label_of(domain)) and _is_house(house, self.sites[domain])
            for domain, kind in self.kinds.items()
            if kind == "maker"
        )

    def maker_at(self, origin: str) -> str:
        """The maker whose own site a page is on."""
        site = self._site_at.get(origin)
        return site.name if site and self.kinds.get(site.domain) == "maker" else ""


def _is_house(house: str, site: Site) -> bool:
    return not site.name or owns(site.name, compact(house)) or begins(house, compact(site.name))


_FIRST = re.compile(r"\S+(?: (?:&|and|\+) \S+)?")


def _first(name: str) -> str:
    """ "Hearthline", "Tinker & Steep"."""
    found = _FIRST.match(name)
    return found[0] if found and found[0][:1].isupper() else ""


def _shared(names: Iterable[str]) -> Counter[str]:
    """First words that begin several names: a maker, where nothing else says who it is."""
    return Counter(_first(name) for name in dict.fromkeys(names) if _first(name) != name)


# ── more places where products are named ─────────────────────────────────────────────────────────────────────────────

_LABEL = re.compile(r"^[^|:\n]{2,40}:\s+\S", re.MULTILINE)
_MODEL_WORD = r"[^\W_a-z][\w'’+-]*(?:[.,]\d+)*|\d[\w-]*(?:[.,]\d+\w*)*"


def _on_own_pages(field: _Field) -> Iterator[Named]:
    """Pages of makers that are headed with one product and have its data or its price."""
    for page in field.sources:
        site = field.sites.get(domain_of(page))
        if page.kind != "page" or site is None or field.kinds.get(site.domain) != "maker":
            continue
        name = _short(subject_of(page, site), field.kind)
        stands = places(name, page.text[:HEAD]) if name and fits(name, field.kind) else []
        data = len(set(_LABEL.findall(page.text))) >= LEAST_LABELS or bool(_prices(page.text[:HEAD]))
        path = " ".join(re.findall(r"[a-z]+", urlsplit(page.origin).path.casefold()))
        of_type = says(f"{page.title} {path} {page.text}", field.kind.head)
        if stands and data and of_type and not gives_orders(page.title):
            start, end = around(page.text, *stands[0])
            yield Named(name=name, evidence=evidence_for(page, start, end), score=ON_ITS_OWN_PAGE)


def _in_prose(field: _Field, known: Sequence[str]) -> Iterator[Named]:
    """A maker's name with a model after it, on a page that is about such things."""
    makers = {maker for name in known if (maker := field.maker_in(name))} | set(field.brands)
    if not makers:
        return
    house = "|".join(re.escape(maker) for maker in sorted(makers, key=len, reverse=True))
    named = re.compile(rf"(?<!\w)(?:{house})(?: (?:{_MODEL_WORD})){{1,4}}(?!\w|[.,]\d)")
    for page in field.sources:
        if not says(page.title, field.kind.head) or gives_orders(page.title):
            continue
        for match in named.finditer(page.text):
            name = _short(match[0], field.kind)
            longer = any(name != each and name.startswith(f"{each} ") for each in known)
            if longer or is_tainted(page.text, *match.span()) or not fits(name, field.kind):
                continue
            start, end = around(page.text, match.start(), match.start() + len(name))
            yield Named(name=name, evidence=evidence_for(page, start, end), score=IN_PROSE)


def _prices(text: str) -> list[str]:
    return [amount.money.currency for amount in read_amounts(text) if amount.money.currency]


_AFTER_A_NAME = re.compile(r"\s+(?:Review|Test|Tested|Vs|VS|And|The|It|I|In|At|For|With|But|We|Our)(?:\s.*)?$")


def _short(name: str, kind: Kind) -> str:
    """ "Hearthline Degree 15" of "Hearthline Degree 15 Electric Kettle 1.5 L, black": what stands before the noun."""
    name = _AFTER_A_NAME.sub("", " ".join(name.split()))
    before = name
    for match in re.finditer(r"[^\W_]+", name):
        if match.start() and singular(match[0]) == kind.head:
            before = name[: match.start()].strip(" -–,")
            break
    type_words = {kind.head, *kind.topic}
    while len(before.split()) > 1 and singular(before.split()[-1]) in type_words:
        before = before.rsplit(None, 1)[0]
    return before if len(before.split()) > 1 else name


# ── what is no product ───────────────────────────────────────────────────────────────────────────────────────────────

_PARTS = ACCESSORY | words("""
    adapter adaptor base bracket bulb cable cord cradle descaler filter gasket handle lid lids plug replacement seal
    shade spare spares bundle voucher gift manual warranty
""")
_PRAISE = words("""
    best cheapest value budget overall premium top pick choice winner runner up our editors good better quietest
    fastest popular new stainless steel plastic ceramic copper variable temperature models model all other compare
""")
_APART: tuple[tuple[frozenset[str], ...], ...] = (
    (words("electric"), words("stovetop stove manual gas hob")),
    (words("desk table"), words("floor standing"), words("wall"), words("ceiling pendant")),
    (words("wireless bluetooth"), words("wired")),
    (words("inkjet"), words("laser")),
    (words("road"), words("mountain"), words("gravel"), words("folding")),
    (words("front"), words("rear")),
    (words("upright"), words("robot"), words("handheld"), words("canister")),
    (words("men man"), words("women woman"), words("kid child children")),
)
"""Words that tell sorts of one thing apart: a floor lamp is no desk lamp."""


def _is_product(name: str, model: tuple[str, ...], maker: str, field: _Field) -> bool:
    if not model or compact(name) in field.not_products or (maker and compact(name) == compact(maker)):
        return False
    said = [singular(word) for word in model]
    own = {field.kind.head, *field.kind.topic}
    if said[-1] in _PARTS - own or {"replacement", "spare"} & (set(said) - own):
        return False
    if re.search(r"\bfor (?:the |your |all )?[A-Z]|\?|^(?:Which|What|How|Why|Is|Are|Who|Where|Should)\b", name):
        return False
    if not maker and not any(any(map(str.isdigit, word)) for word in model) and set(said) <= _PRAISE | GENERIC | COLOUR:
        return False
    return not _is_another_sort(singulars(name), own)


def _is_another_sort(said: Sequence[str], own: set[str]) -> bool:
    for sorts in _APART:
        asked = [sort for sort in sorts if sort & own]
        if asked and not any(sort & set(said) for sort in asked) and any(sort & set(said) for sort in sorts):
            return True
    return False


def _is_called_another(group: _Group, field: _Field) -> bool:
    """ "The floor lamp Velo Terra", "Velo Terra floor lamp": a page says that it is another sort."""
    own = set(field.kind.topic)
    if not any(sort & own for sorts in _APART for sort in sorts):
        return False
    maker, noun = re.escape(group.maker), rf"([\w-]+)[ -]{re.escape(field.kind.head)}"
    names = {re.sub(rf"^{maker}\s+|\s+by {maker}$", "", each.name) for each in group.named}
    called = "|".join(re.escape(name) for name in names)
    before = rf"\b{noun},? (?:{maker} )?(?:{called})(?!\w|(?-i: [A-Z\d]))"
    after = rf"(?<!\w)(?:{called})(?:,| is)?(?: an?| the| our)? {noun}\b"
    said = re.compile(rf"{before}|{after}", re.IGNORECASE)
    lines = [line for page in field.sources for line in page.text.split("\n") if any(name in line for name in names)]
    sorts = [singular(word) for line in lines for found in said.findall(line[:LONGEST_LINE]) for word in found if word]
    return _is_another_sort(sorts, own)


def _is_described_as_another(page: Retrieved | None, field: _Field) -> bool:
    """Its own page never says the noun, or begins with another sort of it: "a floor lamp for tall ceilings"."""
    if page is None:
        return False
    path = " ".join(re.findall(r"[a-z]+", urlsplit(page.origin).path.casefold()))
    if not says(f"{page.title} {path} {page.text}", field.kind.head):
        return True
    said = singulars(f"{page.title}\n{page.text[:HEAD]}")
    before = [said[at - 1] for at, word in enumerate(said) if at and word == field.kind.head]
    return _is_another_sort(before, {*field.kind.topic}) and not any(word in field.kind.topic for word in before)


# ── one product of all its names ─────────────────────────────────────────────────────────────────────────────────────


class _Group:
    """The names of one product. `model` is what tells it apart from others of its maker."""

    def __init__(self, maker: str, model: tuple[str, ...]) -> None:
        self.maker = maker
        self.model = model
        self.named: list[Named] = []


def _products(asked: FindProducts, said: Sequence[Named]) -> tuple[Product, ...]:
    field = _Field(asked)
    if not field.kind.head:
        return ()
    named = [*said, *Find().fallback(_candidates(asked, asked.sources)), *_on_own_pages(field)]
    named += _in_prose(field, [each.name for each in named])
    groups = _grouped(named, field)
    pages = {page.origin: page for page in asked.sources}
    mentions = _mentions(groups, field)
    models: dict[str, list[tuple[str, ...]]] = {}
    for group in groups:
        models.setdefault(house_key(group.maker), []).append(group.model)
    found = []
    likely = sorted(groups, key=lambda group: -sum(each.score for each in group.named))[: 2 * max(asked.most, MOST)]
    for group in likely:
        best = _best(group, field)
        official = official_page(
            best.name,
            group.maker,
            asked.sources,
            field.kinds,
            product_type=field.type,
            others=models[house_key(group.maker)],
        )
        if not official and _is_vague(group, models[house_key(group.maker)], field):
            continue
        if _is_described_as_another(pages.get(official), field) or _is_called_another(group, field):
            continue
        doubt = 0.5 if official else 1.0
        for each in {each.evidence.domain or each.evidence.origin: each for each in group.named}.values():
            doubt *= 1 - each.score
        seen = dict.fromkeys((*mentions.get(id(group), ()), *(each.evidence.origin for each in group.named)))
        found.append(
            Product(
                name=best.name,
                evidence=best.evidence,
                maker=group.maker,
                official_url=official,
                description=_description(pages.get(official), best.name),
                seen_at=tuple(origin for origin in seen if origin != official),
                score=round(min(MOST_SURE, 1 - doubt), 3),
            )
        )
    return _each_page_once(sorted(found, key=lambda each: -each.score))[: asked.most]


def _each_page_once(products: Sequence[Product]) -> tuple[Product, ...]:
    """Two names with one official page are one product: the surer one stays, with the places of both."""
    kept: dict[str, Product] = {}
    for each in products:
        key = each.official_url or each.name
        if known := kept.get(key):
            seen = dict.fromkeys((*known.seen_at, *each.seen_at))
            each = msgspec.structs.replace(known, seen_at=tuple(seen))
        kept[key] = each
    return tuple(kept.values())


def _grouped(named: Sequence[Named], field: _Field) -> list[_Group]:
    names = [_trimmed(each, field) for each in named]
    shared = _shared(each.name for each in names)
    groups: list[_Group] = []
    alike = Names()
    homeless = []
    for each in names:
        maker = field.maker_in(each.name) or field.maker_at(each.evidence.origin)
        first = _first(each.name)
        if not maker and first and shared[first] > 1 and singular(first) not in _PRAISE | GENERIC:
            maker = first
        model = _key(each.name, maker, field)
        if not _is_product(each.name, model, maker, field):
            continue
        if not maker:
            homeless.append((each, model))
            continue
        known = next((group for group in groups if _same(group, maker, model)), None)
        if known is None and (place := alike.find(_spelt(maker, model))) is not None:
            known = groups[place] if _numbers(groups[place].model) == _numbers(model) else None
        if known is None:
            known = _Group(maker, model)
            alike.add(len(groups), _spelt(maker, model))
            groups.append(known)
        known.named.append(each)
    for each, model in sorted(homeless, key=lambda entry: -len(entry[1])):
        fitting = [
            group for group in groups if group.model[-len(model) :] == model or sorted(group.model) == sorted(model)
        ]
        if len(fitting) != 1:
            fitting = [_Group("", model)]
            groups.append(fitting[0])
        fitting[0].named.append(each)
    return groups


def _is_vague(group: _Group, models: Sequence[tuple[str, ...]], field: _Field) -> bool:
    """A family of products that somebody mentions ("Yoizora Hoshi", of which there are two); or a word on a maker's
    site that has neither its name, nor a price, nor a page."""
    if all(each.score <= IN_PROSE for each in group.named) and any(set(group.model) < set(model) for model in models):
        return True
    return all(
        field.maker_at(each.evidence.origin) and not field.maker_in(each.name) and not _prices(each.evidence.quote)
        for each in group.named
    )


def _trimmed(named: Named, field: _Field) -> Named:
    name = _short(named.name, field.kind) if " by " not in named.name else named.name
    return Named(name=name, evidence=named.evidence, url=named.url, score=named.score)


def _key(name: str, maker: str, field: _Field) -> tuple[str, ...]:
    model = model_of(name, maker, field.type)
    return tuple(word for word in model if word not in COLOUR) or model


def _same(group: _Group, maker: str, model: tuple[str, ...]) -> bool:
    return house_key(group.maker) == house_key(maker) and sorted(group.model) == sorted(model)


def _spelt(maker: str, model: Sequence[str]) -> str:
    return f"{maker} {' '.join(model)}"


def _numbers(model: Sequence[str]) -> list[str]:
    return sorted(word for word in model if any(map(str.isdigit, word)))


_TRUST: dict[SiteKind, int] = {"maker": 0, "review": 1, "retailer": 2, "other": 3, "forum": 4, "marketplace": 5}


def _best(group: _Group, field: _Field) -> Named:
    """The name that says maker and model and nothing more, where it stands best."""

    def rank(each: Named) -> tuple[bool, int, bool, int, float]:
        whole = sorted(_key(each.name, group.maker, field)) == sorted(group.model)
        maker_first = whole and (not group.maker or fold(each.name).startswith(fold(group.maker)))
        kind = field.kinds.get(each.evidence.domain or host_of(each.evidence.origin), "other")
        return (not maker_first, len(tokenize(fold(each.name))), "-" in each.name, _TRUST[kind], -each.score)

    return min(group.named, key=rank)


def _mentions(groups: Sequence[_Group], field: _Field) -> dict[int, list[str]]:
    """The pages that name each: "Zephyrine Z1 Alpine" does not name the Zephyrine Z1."""
    named = {each.name: group for group in groups for each in group.named}
    found: dict[int, list[str]] = {}
    for page in field.sources:
        text = f"{page.title}\n{page.text}"
        here = sorted((name for name in named if name in text), key=len, reverse=True)
        if here:
            pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, here))})(?!\w)")
            for group in {id(named[match[0]]) for match in pattern.finditer(text)}:
                found.setdefault(group, []).append(page.origin)
    return found


def _description(page: Retrieved | None, name: str) -> str:
    """The first sentence of its own page that says something of it."""
    if page is None:
        return ""
    for start, end in sentences(page.text):
        said = page.text[start:end].strip()
        if len(said.split()) < 3 or said[-1:] not in ".!" or len(said) > LONGEST_DESCRIPTION or " | " in said:
            continue
        label = _LABEL.match(said) and len(said.split()) < SHORTEST_SENTENCE
        if said.rstrip(".!") != name and not label and not is_tainted(page.text, start, end):
            return said
    return ""
