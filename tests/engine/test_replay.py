"""A second run over the same rows asks nobody anything and comes to the same cells; so does one without any servers."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from tablewright.domain.fieldspec import parse_field
from tablewright.operations.files import import_table_file
from tablewright.operations.fill import FillOptions, load_fill_report, plan_fill
from tablewright.sample.server import SampleWeb
from tablewright.services import Services
from tablewright.settings import Settings
from tests.answering import Answering, Cells, answers, call, offered, said, sent
from tests.llm.endpoint import Asked, Endpoint, Reply, running_endpoint
from tests.pages import Page, small_web
from tests.replaying import essence

FIELDS = ("Founded:number=What year was {Company} founded?", "CEO=Who is the chief executive of {Company}?")


async def run(settings: Settings, table: str, strategy: str, **params: str) -> dict[str, Any]:
    """In an app of its own, with the table imported anew."""
    file = settings.home_folder / "companies.csv"
    file.write_text(table, encoding="utf-8")
    async with Services.open(settings) as services:
        imported = await import_table_file(services, file)
        fields = [parse_field(text) for text in FIELDS]
        fill = await plan_fill(services, imported.table.id, fields, strategy, how=FillOptions(params=params or {}))
        return await load_fill_report(services, await fill.run())


def bought(report: dict[str, Any]) -> tuple[int, int, int]:
    usage = report["usage"]
    return usage["llm_calls"], usage["searches"], usage["fetches"]


# ── the webs ─────────────────────────────────────────────────────────────────────────────────────────────────────────

COMPANIES = ("Acme Turbines", "Borealis Looms", "Cobalt Kilns", "Dunmore Mills", "Elmfield Pumps", "Zephyr Boats")
FILLER = "<p>" + "The works stand by the river and make things of every size. " * 40 + "</p>"
PAGES = {
    "/acme": Page(
        title="Acme Turbines", body="<p>Acme Turbines was founded in 1987. Ann Lee runs Acme Turbines as its chief.</p>"
    ),
    "/acme/register": Page(title="Acme Turbines | Register", body="<p>Founded: 1978</p>", snippet="A record."),
    "/borealis": Page(
        title="Borealis Looms",
        body=f"{FILLER}<p>Borealis Looms was founded in 1921. Bo Dahl runs Borealis Looms as its chief.</p>",
        snippet="A weaver of Skagerby.",
        headers={"ETag": '"b1"'},
    ),
    "/cobalt": Page(
        title="Cobalt Kilns", body="<p>no</p>", status=403, snippet="Cobalt Kilns was founded in 1956, in Aske."
    ),
    "/cobalt/blog": Page(title="Cobalt Kilns: a visit", body="<p>Verify you are human to continue.</p>"),
    "/dunmore": Page(title="Dunmore Mills", body="gone", status=404, snippet="All about Dunmore Mills."),
    "/elmfield": Page(title="Elmfield Pumps", body="<p>Elmfield Pumps makes pumps, in Aske.</p>"),
}


@dataclass(frozen=True)
class World:
    """A web to search, rows to look for there, and how often it was asked."""

    settings: Settings
    table: str
    asked: Callable[[], int]


@asynccontextmanager
async def loopback(home: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    async with small_web(PAGES) as site:
        yield World(site.settings(home), "\n".join(["Company", *COMPANIES, ""]), site.requests.total)


@asynccontextmanager
async def sample(home: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    asked = []
    count = SampleWeb.count
    monkeypatch.setattr(SampleWeb, "count", lambda self, *what: (asked.append(what), count(self, *what)))
    names = ("Kestrelworks", "Halden & Rourke Logistics", "Zwaluwmolen Papier", "Thistledown Aeronautics")
    settings = Settings(home=str(home), search="sample")
    yield World(settings, "\n".join(["Company", *names, ""]), lambda: len(asked))


# ── the model ────────────────────────────────────────────────────────────────────────────────────────────────────────


def clerk(asked: Asked) -> Reply:
    """Answers from what it is shown and nothing else, so the same question has the same answer."""
    if offered(asked):
        return next_step(offered(asked), sent(asked))
    again = re.search(r"RETRY ATTEMPT (\d)", sent(asked))
    patterns = [f"%entity report {again[1]}"] if again else ["%entity founded", "%entity chief"]
    return Answering(read, patterns=patterns, numbers=[1])(asked)


def next_step(tools: list[str], shown: str) -> Reply:
    company = re.search(r"^Company: (.+)$", shown, re.MULTILINE)
    assert company, shown
    if "search_web" in tools and f"{company[1]} river" not in shown:
        return call("search_web", query=f"{company[1]} river")
    if "fetch_page" in tools and "could not be read" not in shown and "runs" not in shown:
        return call("fetch_page", number=1)
    return answers(*read(shown).get("Founded" if "- Founded (" in shown else "CEO", ()))


def read(text: str) -> Cells:
    """What the lines say that name the row."""
    company = re.search(r"^Company: (.+)$", text, re.MULTILINE)
    assert company, text
    own = "\n".join(line for line in text.splitlines() if company[1].split()[0] in line)
    patterns = {"Founded": r"[Ff]ounded\D{0,20}(\d{4})", "CEO": r"([A-Z]\w+ [A-Z]\w+) (?:runs|leads) "}
    found = {field: re.search(pattern, own) for field, pattern in patterns.items()}
    return {field: [said(match[1], match[0].strip())] for field, match in found.items() if match}


def thinking(settings: Settings, model: Endpoint) -> Settings:
    return replace(settings, model="openai:gpt-4o-mini", model_base_url=model.url, model_api_key="k")


# ── the runs ─────────────────────────────────────────────────────────────────────────────────────────────────────────

WAYS = [
    pytest.param("pipeline", {}, id="pipeline"),
    pytest.param("lookup", {}, id="lookup"),
    pytest.param("research", {}, id="research"),
    pytest.param("research", {"thoroughness": "comprehensive"}, id="comprehensive"),
]


WEBS = [
    *[pytest.param(loopback, *way.values, id=str(way.id)) for way in WAYS],
    pytest.param(sample, "pipeline", {}, id="sample"),
]


@pytest.mark.parametrize("model", ["rules", "model"])
@pytest.mark.parametrize(("web", "strategy", "params"), WEBS)
async def test_a_second_run_buys_nothing_and_finds_the_same_also_when_all_servers_are_gone(
    web: Any, model: str, strategy: str, params: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with AsyncExitStack() as servers:
        world = await servers.enter_async_context(web(tmp_path, monkeypatch))
        endpoint = await servers.enter_async_context(running_endpoint())
        endpoint.otherwise = clerk
        settings = world.settings if model == "rules" else thinking(world.settings, endpoint)
        first = await run(settings, world.table, strategy, **params)
        asked = len(endpoint.asked), world.asked()
        second = await run(settings, world.table, strategy, **params)
        assert bought(second) == (0, 0, 0)
        assert (len(endpoint.asked), world.asked()) == asked
    third = await run(replace(settings, offline="yes"), world.table, strategy, **params)
    assert bought(third) == (0, 0, 0)
    assert world.asked() == asked[1]
    assert (bought(first)[0] > 0) == (model == "model")
    assert bought(first)[1] > 0
    assert any(cell["value"] for row in first["rows"] for cell in row["cells"].values())
    assert any(not cell["value"] for row in first["rows"] for cell in row["cells"].values())
    assert essence(second) == essence(first)
    assert essence(third) == essence(first)
    assert second["usage"]["cost_usd"] == 0


@pytest.mark.parametrize("strategy", ["pipeline", "lookup", "research"])
async def test_offline_also_what_failed_is_played_again(
    strategy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = {
        "/acme": Page(title="Acme Turbines", body="oops", status=500, snippet="A company."),
        "/elmfield": Page(title="Elmfield Pumps", body="later", status=503, snippet="A company."),
    }
    async with small_web(PAGES | broken) as site:
        reply = site.reply

        def refuse(head: str) -> Any:
            return (401, b"no", "text/plain", {}) if "/search" in head and "Dunmore" in head else reply(head)

        monkeypatch.setattr(site, "reply", refuse)
        settings, table = site.settings(tmp_path), "\n".join(["Company", *COMPANIES, ""])
        first = await run(settings, table, strategy)
    again = await run(replace(settings, offline="yes"), table, strategy)
    assert first["unasked"] == len(first["fields"])
    assert "401" in first["cause"]
    assert "Dunmore" not in json.dumps([row["key"] for row in first["rows"]]), "it is looked for by the next run"
    assert essence(again) == essence(first)


async def test_what_differs_between_two_runs_would_be_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with loopback(tmp_path, monkeypatch) as world:
        first = await run(world.settings, world.table, "lookup")
        again = json.loads(json.dumps(first))
        assert essence(again) == essence(first)
        again["rows"][0]["cells"]["Founded"]["evidence"][0]["retrieved_at"] = "2026-01-01T00:00:00Z"
        assert essence(again) != essence(first)
