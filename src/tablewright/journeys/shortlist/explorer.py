"""The explorer: from requirements to candidates, with their makers and official pages.

Ten to fifteen queries over eight angles, the makers' catalogs they lead to, and every page read for products. Shops,
marketplaces, reviews and forums are told apart: they name candidates and sell them, but are never the official page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tablewright.decisions.candidates.names import is_own
from tablewright.decisions.decision import decide, fall_back
from tablewright.decisions.find_products import FindProducts, FindThem
from tablewright.decisions.plan_exploration import Explore, ExploreQuery, PlanExploration
from tablewright.decisions.site_kind import kinds, maker_links, product_links
from tablewright.journeys.research.purse import Purse
from tablewright.journeys.research.worker import PAGES, Library, Workers
from tablewright.strategies.tools import Tools
from tablewright.table.dedupe import Names
from tablewright.table.model import Noun, Step
from tablewright.table.research import Brief, Note, ResearchTask
from tablewright.table.shortlist import FEW, MOST, TARGET, Product, Requirements

QUERIES = 15
MAKERS = 10
CATALOG_PAGES = 60
"""Product pages of makers' sites that are opened because a page that was read links to them."""
MOST_QUERIES = QUERIES + MAKERS
"""Where the search is widened, it has what is left of them."""
MOST_SEARCHES = 2 * MOST_QUERIES
"""The web is asked once more, in fewer words, for a query that finds nothing."""
MOST_PAGES = MOST_QUERIES * PAGES + MAKERS + CATALOG_PAGES + TARGET


class Explored(Noun, frozen=True, gc=True):
    products: tuple[Product, ...]
    queries: tuple[str, ...]
    library: Library
    notes: tuple[str, ...] = ()
    """What the person should know: few were found, the search was widened, a search failed."""


async def explore(
    requirements: Requirements,
    tools: Tools,
    *,
    known: Sequence[str] = (),
    tried: Sequence[str] = (),
    like: str = "",
    most: int = MOST,
    tell: Callable[[Step], None],
) -> Explored:
    """New ones only: what is `known` is left out. Where nothing is found it is looked for once more, in fewer words."""
    search = _Search(requirements, tools, tried, tell)
    products: tuple[Product, ...] = ()
    notes: list[str] = []
    for broader in (False, True):
        await search.plan(known=tuple(known), like=like, broader=broader)
        await search.open_makers()
        products = unknown(await search.products(), known)[:most]
        if products:
            break
        if not broader:
            notes.append("Nothing was found, so the search was widened.")
    await search.open_official(products)
    if search.failed and len(search.failed) == len(search.sent):
        notes.append(f"The search failed: {search.failed[0]}")
    elif 0 < len(products) < min(FEW, most):
        was = "was" if len(products) == 1 else "were"
        notes.append(f"Only {len(products)} {was} found: there may be few of them.")
    return Explored(products=products, queries=tuple(search.sent), library=search.library, notes=tuple(notes))


class _Search:
    """What was sent and opened so far, so that all of it together stays within its limits."""

    def __init__(
        self, requirements: Requirements, tools: Tools, tried: Sequence[str], tell: Callable[[Step], None]
    ) -> None:
        self.library = Library()
        self.sent: list[str] = []
        self.failed: list[str] = []
        self._requirements = requirements
        self._tools = tools
        self._tried = tried
        self._tell = tell
        self._workers = Workers(tools, self.library, Purse(tools.budget, None), lambda task: tell(searched(task)))
        self._makers: list[str] = []
        self._catalogs: list[str] = []

    @property
    def _left(self) -> int:
        return MOST_QUERIES - len(self.sent)

    async def plan(self, *, known: tuple[str, ...], like: str, broader: bool) -> None:
        """A wider search uses half of what is left: the makers it leads to are searched for too."""
        asked = PlanExploration(
            requirements=self._requirements,
            known=known,
            tried=(*self._tried, *self.sent),
            like=like,
            broader=broader,
            most=self._left // 2 if broader else QUERIES,
        )
        self._tell(Step(type="thinking", detail="Planning the searches."))
        planned: Sequence[ExploreQuery] = (await decide(Explore(), asked, self._tools.model, self._tell)).decided
        notes = await self._run([each.text for each in planned], "x")
        self.failed += [note.error for note in notes if note.error]

    async def open_makers(self) -> None:
        """The sites of makers whose products have no official page yet, found by links or else by their names; then
        the product pages that makers' sites link to."""
        sources = tuple(self.library.pages.values())
        asked = FindProducts(requirements=self._requirements, sources=sources, most=MOST)
        seen = await fall_back(FindThem(), asked)
        makers = maker_links(seen, sources)[: MAKERS - len(self._makers)]
        self._makers += makers
        await self._workers.read("x_makers", makers)
        read = {page.domain for page in self.library.pages.values()}
        lacking = dict.fromkeys(each.maker for each in seen if each.maker and not each.official_url)
        unread = [maker for maker in lacking if not any(is_own(maker, domain) for domain in read)]
        queries = [f"{maker} {self._requirements.product_type}" for maker in unread]
        await self._run(queries[: min(MAKERS, self._left)], "m")
        pages = list(self.library.pages.values())
        of = kinds(pages)
        links: dict[str, None] = {}
        for page in pages:
            if of.get(page.domain) == "maker":
                links |= dict.fromkeys(product_links(page, self._requirements.product_type))
        wanted = [link for link in links if link not in self.library.pages][: CATALOG_PAGES - len(self._catalogs)]
        self._catalogs += wanted
        await self._workers.read("x_catalogs", wanted)

    async def products(self) -> Sequence[Product]:
        asked = FindProducts(requirements=self._requirements, sources=tuple(self.library.pages.values()), most=MOST)
        self._tell(Step(type="thinking", detail=f"Looking for products in {len(self.library.pages)} pages."))
        found: Sequence[Product] = (await decide(FindThem(), asked, self._tools.model, self._tell)).decided
        return found

    async def open_official(self, products: Sequence[Product]) -> None:
        unread = dict.fromkeys(each.official_url for each in products if each.official_url not in self.library.pages)
        await self._workers.read("x_official", [url for url in unread if url])

    async def _run(self, queries: Sequence[str], prefix: str) -> list[Note]:
        self.sent += queries
        tasks = [
            ResearchTask(id=f"{prefix}_{number}", kind="discover", search_query=query)
            for number, query in enumerate(queries, start=1)
        ]
        product_type = self._requirements.product_type
        brief = Brief(question=product_type, report_type="catalog", things=product_type)
        return await self._workers.run(tasks, brief=brief)


def unknown(products: Sequence[Product], known: Sequence[str]) -> tuple[Product, ...]:
    names = Names()
    for number, name in enumerate(known):
        names.add(number, name)
    return tuple(product for product in products if names.find(product.name) is None)


def searched(task: ResearchTask) -> Step:
    return Step(type="search", detail=f"Searched “{task.search_query}”.", data={"query": task.search_query})
