"""The explorer: from requirements to candidates, with their makers and official pages.

Ten to fifteen queries, the results worth opening, and whole pages read for products; what the pages leave open is
searched for once more. The model decides each step, code proves its quotes and addresses and keeps the limits.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from msgspec.structs import replace

from tablewright.decisions.choose_pages import Offer
from tablewright.decisions.decision import Tell, decide
from tablewright.decisions.shortlist.products import FindProducts, FoundProducts, PagesForProducts, merged, one_a_page
from tablewright.decisions.shortlist.searches import PickResults, PlanSearches, ResultsToPick, SearchesToPlan
from tablewright.decisions.shortlist.turn import standing_fields
from tablewright.domain.model import Evidence, Noun, Row, Step, Table
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.rowkey import row_key
from tablewright.domain.shortlist import FEW, MOST, OFFERED_AS, Product, Requirements, ShortlistLimits
from tablewright.domain.text import plural
from tablewright.errors import SearchError
from tablewright.journeys.shortlist.comparison import OWN_PAGES, cells_of
from tablewright.journeys.shortlist.ranking import rank
from tablewright.messages.messages import message
from tablewright.sources.fetch.domain import registrable_domain
from tablewright.sources.provenance import Provenance, telling
from tablewright.sources.source import Hit, Query
from tablewright.strategies.subject import allow_queries, web_of
from tablewright.strategies.tools import Tools
from tablewright.text.personal import without_personal_data
from tablewright.values.money import BUNDLED

ROUNDS = 2
PAGES = 30
"""Opened in the first round; a further one opens half as many."""
AT_ONCE = 4
MOST_QUERIES = 6
"""Further searches that a reader of pages may ask for."""
WITHOUT_MODEL = 20_000
"""Characters of pages that are read at once where there is no model."""


class Explored(Noun, frozen=True, gc=True):
    """`notes` are what the person should know: few were found, a search failed. `failed`: no search worked at all."""

    products: tuple[Product, ...]
    queries: tuple[str, ...]
    pages: tuple[Retrieved, ...] = ()
    notes: tuple[str, ...] = ()
    failed: str = ""
    left_out: int = 0
    """Products that were found and are not among them."""


async def explore(
    requirements: Requirements,
    tools: Tools,
    limits: ShortlistLimits,
    *,
    known: Sequence[str] = (),
    tried: Sequence[str] = (),
    like: str = "",
    most: int = 0,
    language: str = "",
    tell: Tell,
) -> Explored:
    """New ones only: what is `known` is left out. Where nothing is found it is looked for once more, more broadly."""
    search = _Search(requirements, tools, limits, known, tried, language, tell)
    with telling(Provenance(requirements, list(known), list(tried), like)):
        await search.plan(like=like, broader=False)
        if not search.products:
            await search.plan(like=like, broader=True)
        products = search.most_suitable(min(most or limits.products, limits.products, MOST))
        await search.open_official(products)
    return search.outcome(products, most)


class _Search:
    """What was sent and opened so far, so that all of it together stays within its limits."""

    def __init__(
        self,
        requirements: Requirements,
        tools: Tools,
        limits: ShortlistLimits,
        known: Sequence[str],
        tried: Sequence[str],
        language: str,
        tell: Tell,
    ) -> None:
        self.products: list[Product] = []
        self._requirements = requirements
        self._tools = tools
        self._limits = limits
        self._known = {row_key(name): name for name in known}
        self._tried = tried
        self._language = language
        self._tell = tell
        self._web = web_of(tools)
        self._sent: list[str] = []
        self._failed: list[str] = []
        self._hits: dict[str, Hit] = {}
        self._pages: dict[str, Retrieved] = {}
        self._news: dict[str, Hit] = {}
        """What the last queries found, also where earlier ones had found it: it may be wanted now."""
        self._closed: dict[str, Hit] = {}
        """Pages that could not be opened; the maker's own may be among them."""
        self._degraded: dict[str, None] = {}
        self._places: dict[str, int] = {}
        """The best place of each product among those of the pages that were read with it."""
        self._mentions: dict[str, list[tuple[Evidence, ...]]] = {}
        """Of each product, the passages that name it, by reading."""
        self._states = {value for wish in requirements.wishes if wish.column == OFFERED_AS for value in wish.values}

    async def plan(self, *, like: str, broader: bool) -> None:
        most = self._limits.queries - len(self._sent) if broader else self._limits.queries
        asked = SearchesToPlan(
            requirements=self._requirements,
            least=min(10, max(1, most)),
            most=max(most, 3),
            sent=(*self._tried, *self._sent),
            known=tuple(self._known.values()),
            like=like,
            broader=broader,
        )
        self._tell(Step(type="thinking", detail="Planning the searches."))
        planned = await decide(PlanSearches(), asked, self._tools.model, self._tell)
        queries: Sequence[str] = planned.decided
        allow_queries(queries, planned_anew=True)
        self._note(planned.degraded)
        for round in range(ROUNDS):
            await self._send(queries)
            pages = await self._open(PAGES if round == 0 else PAGES // 2)
            queries = await self._read(pages, is_last=round == ROUNDS - 1)
            if self._tools.model is None or not queries or self._is_enough:
                break

    def _note(self, degraded: str) -> None:
        if degraded:
            self._degraded[self._message("pages for products", why=degraded)] = None

    def _message(self, key: str, **values: Any) -> str:
        return message(f"shortlist: {key}", self._language, **values)

    @property
    def _is_enough(self) -> bool:
        return len(self.products) >= self._limits.products and all(each.official_url for each in self.products)

    async def _send(self, queries: Sequence[str]) -> None:
        """Side by side; what they find is taken in the order of the queries."""
        turns = asyncio.Semaphore(AT_ONCE)

        async def one(query: str) -> tuple[Hit, ...] | str:
            async with turns:
                try:
                    async with asyncio.timeout(self._limits.search_seconds):
                        found = await self._web.search(Query(text=query))
                except SearchError as error:
                    return error.what
                except TimeoutError:
                    return self._message("too slow", seconds=round(self._limits.search_seconds))
                if found.refused:
                    detail = f"Did not send the search “{query}” to the web: {found.refused}"
                    self._tell(Step(type="thinking", detail=detail, data={"refused_query": query}))
                    if not found.hits:
                        return found.refused
                count = len(found.hits)
                detail = f"Searched “{query}”: {count} {plural('result', count)}."
                self._tell(Step(type="search", detail=detail, data={"query": query, "results": count}))
                return found.hits

        sent = list(filter(None, map(without_personal_data, queries)))
        self._sent += sent
        self._news = {}
        for found in await asyncio.gather(*map(one, sent)):
            if isinstance(found, str):
                self._failed.append(found)
            else:
                self._news |= {hit.origin: hit for hit in found if hit.origin not in self._news}
        self._hits |= {origin: hit for origin, hit in self._news.items() if origin not in self._hits}

    async def _open(self, most: int) -> list[Retrieved]:
        seen = self._pages.keys() | self._closed.keys()
        offers = tuple(offered(hit) for origin, hit in self._news.items() if origin not in seen)
        if not offers:
            return []
        lacking = tuple(each.name for each in self.products if not each.official_url)
        asked = ResultsToPick(requirements=self._requirements, offers=offers, most=most, lacking=lacking)
        origins: Sequence[str] = (await decide(PickResults(), asked, self._tools.model, self._tell)).decided
        return await self._opened(origins)

    async def _opened(self, origins: Sequence[str]) -> list[Retrieved]:
        new = [origin for origin in dict.fromkeys(origins) if origin not in self._pages]
        opened = await asyncio.gather(*map(self._web.open, new))
        pages = [page for page in opened if isinstance(page, Retrieved) and page.text.strip()]
        self._pages |= {page.origin: page for page in pages}
        shut = [origin for origin, page in zip(new, opened, strict=True) if page not in pages]
        self._closed |= {origin: self._hits[origin] for origin in shut if origin in self._hits}
        return pages

    async def _read(self, pages: Sequence[Retrieved], *, is_last: bool) -> tuple[str, ...]:
        """As many whole pages at once as the model takes in; the next ones know what was found before."""
        queries: list[str] = []
        room = self._tools.model.text_room if self._tools.model is not None else WITHOUT_MODEL
        left = max(0, self._limits.queries - 2)
        for batch in batches(pages, room):
            detail = f"Looking for products in {len(batch)} {plural('page', len(batch))}."
            self._tell(Step(type="thinking", detail=detail))
            asked = PagesForProducts(
                requirements=self._requirements,
                sources=tuple(batch),
                known=(*self._known.values(), *(each.name for each in self.products)),
                room=room,
                queries=0 if is_last else MOST_QUERIES,
                closed=tuple(map(offered, self._closed.values())),
                addresses=frozenset(self._hits),
            )
            outcome = await decide(FindProducts(), asked, self._tools.model, self._tell)
            found: FoundProducts = outcome.decided
            self._note(outcome.degraded)
            new = [each for each in found.products if row_key(each.name) not in self._known]
            for place, each in enumerate(new):
                key = row_key(each.name)
                self._places[key] = min(place, self._places.get(key, place))
                self._mentions.setdefault(key, []).append(each.evidence)
            pages_of = ({each.origin for reading in of for each in reading} for of in self._mentions.values())
            named = Counter(origin for pages_named in pages_of for origin in pages_named)
            self.products = [
                replace(each, evidence=spread(self._mentions[row_key(each.name)], each.official_url, named))
                for each in merged(self.products, new, self._states)
            ]
            queries += found.queries
        return tuple(dict.fromkeys(queries))[:left]

    def most_suitable(self, most: int) -> list[Product]:
        """Whoever read the pages put the most suitable first, whichever pages were read first; what is surely out, such
        as a discontinued one, comes after all others."""
        if len(self.products) <= most:
            return self.products
        rows = [Row(id=number, cells=cells_of(each)) for number, each in enumerate(self.products)]
        table = Table(id="", name="", fields=standing_fields(), rows=tuple(rows))
        out = {each.row_id for each in rank(table, self._requirements, BUNDLED).excluded}
        places = [self._places[row_key(each.name)] for each in self.products]
        order = sorted(range(len(self.products)), key=lambda number: (number in out, places[number]))
        return [self.products[number] for number in sorted(order[:most])]

    async def open_official(self, products: Sequence[Product]) -> None:
        await self._opened([each.official_url for each in products if each.official_url])

    def outcome(self, products: Sequence[Product], most: int) -> Explored:
        notes = list(self._degraded)
        failed = self._failed[0] if self._failed and not self._hits else ""
        if self._failed and not failed:
            count = len(self._failed)
            notes.append(self._message("searches failed", count=count, all=len(self._sent), why=self._failed[0]))
        left_out = len(self.products) - len(products)
        if left_out and not most:
            further = self._message("limited further", count=left_out)
            notes.append(further if self._known else self._message("limited", count=len(products)))
        if 0 < len(products) < min(FEW, most or self._limits.products) and not self._known:
            notes.append(self._message("only found", count=len(products)))
        return Explored(
            products=tuple(products),
            queries=tuple(self._sent),
            pages=tuple(self._pages.values()),
            notes=tuple(notes),
            failed=failed,
            left_out=left_out,
        )


def spread(readings: Sequence[Sequence[Evidence]], official: str, named: Mapping[str, int]) -> tuple[Evidence, ...]:
    """In the order in which they were found, but those that are looked at come first: the official page, then of each
    site the page that names the fewest products, and of these the ones that are about fewest; `named` counts them. The
    first of each reading comes before the second of any."""
    found = one_a_page([each for reading in readings for each in reading])
    turns = [each.origin for turn in zip_longest(*readings) for each in turn if each is not None]
    origins = sorted(dict.fromkeys(turns), key=lambda origin: named.get(origin, 0))
    first = {registrable_domain(origin): origin for origin in reversed(origins)}
    looked_at = sorted(origins, key=lambda origin: (origin != official, origin not in first.values()))[:OWN_PAGES]
    return tuple(sorted(found, key=lambda each: each.origin not in looked_at))


def offered(hit: Hit) -> Offer:
    return Offer(origin=hit.origin, title=hit.title, snippet=hit.snippet)


def batches(pages: Sequence[Retrieved], room: int) -> list[list[Retrieved]]:
    found: list[list[Retrieved]] = []
    left = 0
    for page in pages:
        size = min(len(page.text), room // 2) + 1_500
        if not found or left < size:
            found.append([])
            left = room
        found[-1].append(page)
        left -= size
    return found
