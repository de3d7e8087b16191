"""Gathering: a page is opened once, whatever it is called, and what failed is remembered with the reason."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

import pytest

from tablewright.domain.model import Step
from tablewright.domain.retrieved import Refusal, Retrieved
from tablewright.errors import OverBudget, SearchError
from tablewright.strategies.gathering import NO_TEXT, Gathering
from tablewright.strategies.investigation import RowInvestigation
from tablewright.web.source import Hit, Query, SearchResponse
from tablewright.workflows.find.gather import ListGatherer
from tablewright.workflows.research.library import Library
from tablewright.workflows.shortlist.research import ProductExploration

HOME, OLD, SHOP, COPY = (f"https://{name}.example/" for name in ("home", "old", "shop", "copy"))


class Shelf:
    """A source of these results and pages; an address that leads to another is one whose page has its own origin."""

    def __init__(self, results: Mapping[str, Sequence[Hit] | Exception], pages: Mapping[str, Retrieved]) -> None:
        self.results = results
        self.pages = pages
        self.opened: list[str] = []
        self.waits = 0.0
        self.refused = ""

    async def search(self, query: Query) -> SearchResponse:
        await asyncio.sleep(self.waits)
        found = self.results.get(query.text, ())
        if isinstance(found, Exception):
            raise found
        return SearchResponse(hits=tuple(found), queries=() if self.refused else (query.text,), refused=self.refused)

    async def open(self, origin: str) -> Retrieved | Refusal:
        self.opened.append(origin)
        return self.pages.get(origin) or Refusal(origin=origin, reason="blocked", detail="it wants a login", status=403)

    async def open_again(self, origin: str) -> Retrieved | Refusal:
        return await self.open(origin)

    async def keep(self, snippet: Retrieved) -> Retrieved:
        return snippet


def hit(origin: str, said: str = "") -> Hit:
    return Hit(origin=origin, title=origin, snippet=said)


def page(origin: str, text: str = "Acme makes turbines.") -> Retrieved:
    return Retrieved(origin=origin, text=text, title="Acme")


def gathering(shelf: Shelf, steps: list[Step] | None = None) -> Gathering:
    return Gathering(shelf, None, (steps if steps is not None else []).append)


def offered(work: Gathering) -> list[str]:
    return [offer.origin for offer in work.offers()]


@pytest.mark.parametrize("work", [RowInvestigation, Library, ListGatherer, ProductExploration])
def test_rows_research_lists_and_products_gather_in_the_same_way(work: type[Gathering]) -> None:
    for name in ("search", "search_all", "problems", "offers", "choose", "decide", "open", "page_of", "result_of"):
        assert getattr(work, name) is getattr(Gathering, name), name


async def test_a_page_is_opened_and_noted_once_under_all_its_addresses() -> None:
    steps: list[Step] = []
    shelf = Shelf({"acme": [hit(OLD), hit(HOME)]}, {OLD: page(HOME), HOME: page(HOME)})
    work = gathering(shelf, steps)
    await work.search("acme")
    assert [each.origin for each in await work.open([OLD])] == [HOME]
    assert (offered(work), await work.open([HOME, OLD])) == ([], ())
    assert (shelf.opened, work.opened, list(work.pages)) == ([OLD], 1, [HOME])
    assert (work.page_of(OLD), work.page_of(HOME)) == (page(HOME), page(HOME))
    assert [step.type for step in steps] == ["search", "fetch"]


async def test_two_addresses_opened_at_once_that_lead_to_one_page_bring_it_once() -> None:
    work = gathering(Shelf({}, {OLD: page(HOME), SHOP: page(HOME)}))
    first, second = await asyncio.gather(work.open([OLD]), work.open([SHOP]))
    assert len((*first, *second)) == len(work.pages) == 1


async def test_copies_of_what_was_opened_avoided_or_refused_are_not_offered() -> None:
    said = "Acme makes turbines."
    results = [hit(HOME, said), Hit(origin=COPY, title=HOME, snippet=said), hit(SHOP, "Buy turbines.")]
    for leave in ("open", "avoid", "refuse"):
        work = gathering(Shelf({"acme": results}, {HOME: page(HOME)} if leave == "open" else {}))
        await work.search("acme")
        if leave == "avoid":
            work.avoid([HOME])
        else:
            await work.open([HOME])
        assert offered(work) == [SHOP]


async def test_what_could_not_be_read_is_not_asked_for_again() -> None:
    steps: list[Step] = []
    shelf = Shelf({}, {HOME: page(HOME, " \n")})
    work = gathering(shelf, steps)
    for _ in range(2):
        assert await work.open([SHOP, HOME]) == ()
    assert (shelf.opened, work.opened, work.pages) == ([SHOP, HOME], 2, {})
    assert [each.detail for each in work.refusals.values()] == ["it wants a login", NO_TEXT]
    assert not work.refusals[HOME].is_outage
    assert [step.detail for step in steps] == [
        f"Could not read {SHOP}: it wants a login",
        f"Could not read {HOME}: {NO_TEXT}",
    ]


async def test_results_come_in_the_order_of_the_queries_each_once() -> None:
    shelf = Shelf({"one": [hit(HOME), hit(OLD)], "two": [hit(SHOP), hit(HOME, "again")]}, {})
    work = gathering(shelf)
    assert [each.origin for each in await work.search_all(["one", "two"])] == [HOME, OLD, SHOP]
    assert [each.origin for each in await work.search("two")] == [SHOP, HOME]
    assert (work.queries, work.hits[HOME].snippet) == (["one", "two", "two"], "")


@pytest.mark.parametrize("why", ["it failed", "the budget", "too slow", "private"])
async def test_a_search_that_brought_nothing_says_why_and_may_be_made_again(why: str) -> None:
    failures = {"it failed": SearchError("It is down."), "the budget": OverBudget("The cap was reached.")}
    shelf = Shelf({"acme": failures.get(why, [hit(HOME)])}, {})
    steps: list[Step] = []
    work = gathering(shelf, steps)
    if why == "too slow":
        shelf.waits, work.search_seconds = 5.0, 0.01
    if why == "private":
        shelf.refused = "it has private words."
    assert await work.search("acme") == []
    (told,) = steps
    assert work.problems(["acme", "other"])["acme"] in told.detail
    assert (work.over_budget, set(work.problems(work.queries))) == (why == "the budget", {"acme"})
    assert told.data.get("refused_query") == ("acme" if why == "private" else None)
    shelf.results, shelf.waits, shelf.refused = {"acme": [hit(HOME)]}, 0.0, ""
    assert await work.search("acme") == [hit(HOME)]
    assert work.problems(work.queries) == {}
