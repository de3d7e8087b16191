"""Which tools share their limits with the other processes on the database."""

from __future__ import annotations

from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

import pytest
from pydantic import BaseModel
from sqlalchemy import select

from tablewright.errors import BadSetting
from tablewright.services import Services
from tablewright.settings import Settings
from tablewright.store import schema
from tablewright.store.store import Store
from tablewright.strategies.toolbox import Toolbox
from tablewright.web import web
from tablewright.web.fetch.fetcher import Fetcher
from tablewright.web.source import Query
from tests.llm.endpoint import running_endpoint
from tests.pages import Page, small_web
from tests.web.fetch.site import PAGE, Site, Wire, everything_is_public


class Founded(BaseModel):
    year: int


async def shared_keys(store: Store) -> set[str]:
    return set(await store.database.read(lambda connection: connection.scalars(select(schema.limits.c.key)).all()))


async def test_model_search_and_domain_have_one_limit_for_all_on_one_postgresql(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with (
        running_endpoint() as endpoint,
        small_web({"/acme": Page(title="Acme", body="<p>Acme was founded in 1987.</p>")}) as found,
        Site({"/": PAGE}).open() as site,
        AsyncExitStack() as stack,
    ):
        monkeypatch.setattr(web, "Fetcher", partial(Fetcher, resolve=everything_is_public, wire=Wire(site)))
        settings = Settings(
            home=str(tmp_path),
            model="openai:gpt-4o-mini",
            model_base_url=endpoint.url,
            model_requests_per_minute="6000",
            model_tokens_per_minute="1000000",
            search=f"searxng:http://{found.address}",
            search_requests_per_second="100",
            fetch_delay="0.1",
        )
        tools = await Toolbox(settings, store, stack).open(("web", "model"))
        assert tools.web is not None
        assert tools.model is not None
        await tools.web.search(Query(text="acme"))
        await tools.web.open("http://www.example.com/")
        await tools.model.ask(instructions="Read.", prompt="Founded in 1987.", output=Founded, max_tokens=100)
    assert (len(site.asked), len(endpoint.asked), found.requests["/search"]) == (2, 1, 1)
    shared = {"model openai", "model openai tokens", "search searxng", "domain example.com"}
    assert await shared_keys(store) == (shared if store.shared_limits else set())


async def test_a_run_that_goes_on_elsewhere_is_as_strict_as_it_was_begun(tmp_path: Path) -> None:
    async with Services.open(Settings(home=str(tmp_path))) as services, AsyncExitStack() as stack:
        for evidence, strict in (("judged", False), ("strict", True)):
            tools = await (await services.jobs.open_run({"evidence": evidence}, stack)).open(("documents",))
            assert tools.strict is strict
        with pytest.raises(BadSetting, match="evidence in the record of the run must be judged or strict"):
            await services.jobs.open_run({"evidence": "lax"}, stack)
