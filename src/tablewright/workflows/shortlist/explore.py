"""Explore: find candidates for the requirements, with their makers and official pages.

Ten to fifteen queries, the results worth opening, and whole pages read for products; a second round searches for what
they leave open. The model decides each step; code proves its quotes and addresses and enforces the limits. Nothing is
stored here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

from msgspec.structs import replace

from tablewright.domain.model import Evidence, Row, Step, Struct, Table
from tablewright.domain.retrieved import Retrieved
from tablewright.domain.rowkey import row_key
from tablewright.domain.shortlist import (
    FEW_CANDIDATES,
    MAX_CANDIDATES,
    OFFERED_AS_COLUMN,
    STANDING_FIELDS,
    Product,
    Requirements,
    ShortlistLimits,
)
from tablewright.domain.text import count_noun
from tablewright.llm.tasks.choose_pages import pages_for_products
from tablewright.llm.tasks.decision import Tell
from tablewright.llm.tasks.shortlist.products import (
    FindProducts,
    FoundProducts,
    PagesForProducts,
    merge_products,
    one_quote_per_page,
)
from tablewright.llm.tasks.shortlist.searches import PlanSearches, SearchesToPlan
from tablewright.llm.text_budget import TEXT_LIMITS, split_batches
from tablewright.messages.catalogue import translate
from tablewright.strategies.gathering import Gathering, make_offer
from tablewright.strategies.strategy import Tools
from tablewright.strategies.subject import allow_queries, require_web
from tablewright.text import remove_personal_data
from tablewright.values.money import BUNDLED_RATES
from tablewright.web.fetch.guard import registrable_domain
from tablewright.web.provenance import Provenance, track_provenance
from tablewright.web.source import Hit
from tablewright.workflows.shortlist.comparison import MAX_PAGES_PER_PRODUCT, make_product_cells
from tablewright.workflows.shortlist.ranking import rank_products

# The second round only closes what the first left open.
EXPLORATION_ROUNDS = 2
# Pages opened in the first round; the second opens half as many.
MAX_FIRST_ROUND_PAGES = 30


class Explored(Struct, frozen=True, gc=True):
    """The result of an exploration. `notes` tell the user that few were found or a search failed; `failed` says why no
    search worked at all."""

    products: tuple[Product, ...]
    queries: tuple[str, ...]
    pages: tuple[Retrieved, ...] = ()
    notes: tuple[str, ...] = ()
    failed: str = ""
    left_out: int = 0
    """Number of products that were found but exceed the limit."""


class ProductExploration(Gathering):
    """Everything searched and opened for one exploration, so that its limits hold for all of it."""

    def __init__(
        self,
        requirements: Requirements,
        tools: Tools,
        limits: ShortlistLimits,
        *,
        known: Sequence[str] = (),
        tried: Sequence[str] = (),
        language: str = "",
        tell: Tell,
    ) -> None:
        super().__init__(require_web(tools), tools.model, tell)
        self.search_seconds = limits.search_seconds
        self.products: list[Product] = []
        self._requirements = requirements
        self._limits = limits
        self._known = {row_key(name): name for name in known}
        self._tried = tried
        self._language = language
        self._degraded: dict[str, None] = {}
        self._places: dict[str, int] = {}
        """The best rank of each product among those read in the same batch of pages."""
        self._mentions: dict[str, list[tuple[Evidence, ...]]] = {}
        """The passages that name each product, per batch."""
        self._states = {
            value for wish in requirements.wishes if wish.column == OFFERED_AS_COLUMN for value in wish.values
        }

    async def run(self, like: str = "", most: int = 0) -> Explored:
        """Find products that are not known yet; search once more and more broadly if none is found."""
        with track_provenance(Provenance(self._requirements, list(self._known.values()), list(self._tried), like)):
            await self._plan(like, broader=False)
            if not self.products:
                await self._plan(like, broader=True)
            products = self._most_suitable(min(most or self._limits.products, self._limits.products, MAX_CANDIDATES))
            # Opened now, so that the first cells are read from pages that are already there.
            await self.open([each.official_url for each in products if each.official_url])
        return self._outcome(products, most)

    async def _plan(self, like: str, *, broader: bool) -> None:
        most = self._limits.queries - len(self.queries) if broader else self._limits.queries
        asked = SearchesToPlan(
            requirements=self._requirements,
            # The exploration is planned for ten to fifteen queries; fewer only if the limit says so.
            least=min(10, max(1, most)),
            most=max(most, 3),
            sent=(*self._tried, *self.queries),
            known=tuple(self._known.values()),
            like=like,
            broader=broader,
        )
        self._tell(Step(type="thinking", detail="Planning the searches."))
        planned = await self.decide(PlanSearches(), asked, ())
        queries: Sequence[str] = planned.decided
        allow_queries(queries, is_replanned=True)
        self._note(planned.degraded)
        for round in range(EXPLORATION_ROUNDS):
            # Results that earlier queries had found count again: they may fit these queries better.
            hits = await self.search_all(list(filter(None, map(remove_personal_data, queries))))
            pages = await self._open_best(hits, MAX_FIRST_ROUND_PAGES if round == 0 else MAX_FIRST_ROUND_PAGES // 2)
            queries = await self._read(pages, is_last=round == EXPLORATION_ROUNDS - 1)
            if self.model is None or not queries or self._is_enough:
                break

    def _note(self, degraded: str) -> None:
        if degraded:
            self._degraded[self.translate("Without the model, pages stand for products: {why}", why=degraded)] = None

    @property
    def _is_enough(self) -> bool:
        return len(self.products) >= self._limits.products and all(each.official_url for each in self.products)

    def _too_slow(self) -> str:
        seconds = round(self._limits.search_seconds)
        return self.translate("the search took longer than {seconds} s", seconds=seconds)

    def translate(self, text: str, /, **values: Any) -> str:
        """Return a text of ours in the language of the conversation."""
        return translate("shortlist", text, self._language, **values)

    async def _open_best(self, hits: Sequence[Hit], most: int) -> tuple[Retrieved, ...]:
        lacking = tuple(each.name for each in self.products if not each.official_url)
        chosen = await self.choose(pages_for_products(self._requirements, lacking), most, hits)
        return await self.open(chosen.decided)

    async def _read(self, pages: Sequence[Retrieved], *, is_last: bool) -> tuple[str, ...]:
        """Read the pages in batches that fit the model, each knowing the products found before; return its further
        queries."""
        queries: list[str] = []
        room = self.model.text_room if self.model is not None else TEXT_LIMITS.default_room
        left = max(0, self._limits.queries - 2)
        for batch in split_batches(
            # A long page counts as half the room, so that at least two pages share a batch.
            pages,
            lambda page: min(len(page.text), room // 2) + TEXT_LIMITS.around_page,
            room=room,
        ):
            detail = f"Looking for products in {count_noun(len(batch), 'page')}."
            self._tell(Step(type="thinking", detail=detail))
            # Further searches that the model may request while it reads pages.
            asked = PagesForProducts(
                requirements=self._requirements,
                sources=batch,
                known=(*self._known.values(), *(each.name for each in self.products)),
                room=room,
                queries=0 if is_last else 6,
                closed=tuple(make_offer(self.hits[origin]) for origin in self.refusals if origin in self.hits),
                addresses=frozenset(self.hits),
            )
            outcome = await self.decide(FindProducts(), asked, [page.origin for page in batch])
            found: FoundProducts = outcome.decided
            self._note(outcome.degraded)
            new = [each for each in found.products if row_key(each.name) not in self._known]
            for place, each in enumerate(new):
                key = row_key(each.name)
                # The best rank counts, because each batch ranks only its own products.
                self._places[key] = min(place, self._places.get(key, place))
                self._mentions.setdefault(key, []).append(each.evidence)
            pages_of = ({each.origin for reading in of for each in reading} for of in self._mentions.values())
            named = Counter(origin for pages_named in pages_of for origin in pages_named)
            self.products = [
                replace(each, evidence=spread(self._mentions[row_key(each.name)], each.official_url, named))
                for each in merge_products(self.products, new, self._states)
            ]
            queries += found.queries
        return tuple(dict.fromkeys(queries))[:left]

    def _most_suitable(self, most: int) -> list[Product]:
        """Return the most suitable products, in the order found. The model ranks them within each batch; those that
        surely fail, such as discontinued ones, come last."""
        if len(self.products) <= most:
            return self.products
        rows = [Row(id=number, cells=make_product_cells(each)) for number, each in enumerate(self.products)]
        table = Table(id="", name="", fields=STANDING_FIELDS, rows=tuple(rows))
        out = {each.row_id for each in rank_products(table, self._requirements, BUNDLED_RATES).excluded}
        places = [self._places[row_key(each.name)] for each in self.products]
        order = sorted(range(len(self.products)), key=lambda number: (number in out, places[number]))
        return [self.products[number] for number in sorted(order[:most])]

    def _outcome(self, products: Sequence[Product], most: int) -> Explored:
        notes = list(self._degraded)
        problems = list(self.problems(self.queries).values())
        failed = problems[0] if problems and not self.hits else ""
        if problems and not failed:
            count = len(problems)
            of, why = len(self.queries), problems[0]
            notes.append(self.translate("{count} of {all} searches failed: {why}", count=count, all=of, why=why))
        left_out = len(self.products) - len(products)
        if left_out and not most:
            further = self.translate(
                "{count} more was found and left out; the limit allows no more at once.|"
                "{count} more were found and left out; the limit allows no more at once.",
                count=left_out,
            )
            limited = self.translate(
                "{count} of them is compared; the limit allows no more.|"
                "{count} of them are compared; the limit allows no more.",
                count=len(products),
            )
            notes.append(further if self._known else limited)
        if 0 < len(products) < min(FEW_CANDIDATES, most or self._limits.products) and not self._known:
            few = self.translate(
                "Only {count} was found: there may be few of them.|Only {count} were found: there may be few of them.",
                count=len(products),
            )
            notes.append(few)
        return Explored(
            products=tuple(products),
            queries=tuple(self.queries),
            pages=tuple(self.pages.values()),
            notes=tuple(notes),
            failed=failed,
            left_out=left_out,
        )


def spread(readings: Sequence[Sequence[Evidence]], official: str, named: Mapping[str, int]) -> tuple[Evidence, ...]:
    """Return the evidence with the pages worth opening first: the official page, then per site the page that names the
    fewest products (`named` counts them), since it says most about this one. The first of each reading comes before the
    second of any."""
    found = one_quote_per_page([each for reading in readings for each in reading])
    turns = [each.origin for turn in zip_longest(*readings) for each in turn if each is not None]
    origins = sorted(dict.fromkeys(turns), key=lambda origin: named.get(origin, 0))
    first = {registrable_domain(origin): origin for origin in reversed(origins)}
    looked_at = sorted(origins, key=lambda origin: (origin != official, origin not in first.values()))[
        :MAX_PAGES_PER_PRODUCT
    ]
    return tuple(sorted(found, key=lambda each: each.origin not in looked_at))
