"""The explorer: from requirements to candidates, with their makers and official pages.

Ten to fifteen queries over eight angles, the makers' catalogs they lead to, and every page read for products. Shops,
marketplaces, reviews and forums are told apart: they name candidates and sell them, but are never the official page.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tablewright.decisions.decision import decide
from tablewright.decisions.find_products import FindProducts, FindThem
from tablewright.decisions.plan_exploration import Explore, ExploreQuery, PlanExploration
from tablewright.decisions.read_profile import is_own
from tablewright.decisions.site_kind import kinds, maker_links, product_links
from tablewright.journeys.research.purse import Purse
from tablewright.journeys.research.worker import Library, Workers
from tablewright.strategies.tools import Tools
from tablewright.table.dedupe import Names
from tablewright.table.model import Noun, Step
from tablewright.table.research import Brief, Note, ResearchTask
from tablewright.table.retrieved import Retrieved
from tablewright.table.shortlist import FEW, MOST, Product, Requirements

MAKERS = 10
CATALOG_PAGES = 60
"""Product pages of makers' sites that are opened because a page that was read links to them."""


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
    library = Library()
    purse = Purse(tools.budget, None)
    workers = Workers(tools, library, purse, lambda task: tell(searched(task)))
    sent: list[str] = list(tried)
    failed: list[str] = []
    products: tuple[Product, ...] = ()
    notes: list[str] = []
    for broader in (False, True):
        asked = PlanExploration(
            requirements=requirements, known=tuple(known), tried=tuple(sent), like=like, broader=broader
        )
        planned: Sequence[ExploreQuery] = (await decide(Explore(), asked, tools.model, tell)).decided
        queries = [each.text for each in planned]
        sent += queries
        failed += [note.error for note in await _search(workers, queries, requirements) if note.error]
        sent += await _open_makers(workers, library, requirements)
        found = FindProducts(requirements=requirements, sources=tuple(library.pages.values()), most=MOST)
        products = unknown((await decide(FindThem(), found, tools.model, tell)).decided, known)[:most]
        unread = [each.official_url for each in products if each.official_url not in library.pages]
        await workers.read("x_official", [url for url in dict.fromkeys(unread) if url])
        if products:
            break
        if not broader:
            notes.append("Nothing was found, so the search was widened.")
    if failed and len(failed) == len(sent) - len(tried):
        notes.append(f"The search failed: {failed[0]}")
    elif 0 < len(products) < FEW:
        was = "was" if len(products) == 1 else "were"
        notes.append(f"Only {len(products)} {was} found: there may be few of them.")
    new = tuple(query for query in sent if query not in tried)
    return Explored(products=products, queries=new, library=library, notes=tuple(notes))


async def _search(
    workers: Workers, queries: Sequence[str], requirements: Requirements, prefix: str = "x"
) -> list[Note]:
    tasks = [
        ResearchTask(id=f"{prefix}_{number}", kind="discover", search_query=query)
        for number, query in enumerate(queries, start=1)
    ]
    brief = Brief(question=requirements.product_type, report_type="catalog", things=requirements.product_type)
    return await workers.run(tasks, brief=brief)


async def _open_makers(workers: Workers, library: Library, requirements: Requirements) -> list[str]:
    """The sites of makers whose products have no official page yet, found by links or else by their names; then the
    product pages that makers' sites link to. The queries that were sent for it."""
    sources = tuple(library.pages.values())
    seen = FindThem().rule(FindProducts(requirements=requirements, sources=sources, most=MOST))
    if makers := maker_links(seen, sources)[:MAKERS]:
        await workers.read("x_makers", makers)
    read = {page.domain for page in library.pages.values()}
    lacking = dict.fromkeys(each.maker for each in seen if each.maker and not each.official_url)
    queries = [
        f"{maker} {requirements.product_type}" for maker in lacking if not any(is_own(maker, domain) for domain in read)
    ][:MAKERS]
    await _search(workers, queries, requirements, prefix="m")
    pages = list(library.pages.values())
    of = kinds(pages)
    links: dict[str, None] = {}
    for page in pages:
        if of.get(page.domain) == "maker":
            links |= dict.fromkeys(product_links(page, requirements.product_type))
    if wanted := [link for link in links if link not in library.pages][:CATALOG_PAGES]:
        await workers.read("x_catalogs", wanted)
    return queries


def unknown(products: Sequence[Product], known: Sequence[str]) -> tuple[Product, ...]:
    names = Names()
    for number, name in enumerate(known):
        names.add(number, name)
    return tuple(product for product in products if names.find(product.name) is None)


def searched(task: ResearchTask) -> Step:
    return Step(type="search", detail=f"Searched “{task.search_query}”.", data={"query": task.search_query})


def pages_about(product: Product, library: Library) -> tuple[Retrieved, ...]:
    """Its official page first, then the others that name it."""
    origins = dict.fromkeys((product.official_url, product.evidence.origin, *product.seen_at))
    return tuple(library.pages[origin] for origin in origins if origin in library.pages)
