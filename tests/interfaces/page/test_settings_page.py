"""Setting up on the page: a model, a search, a first table, saved without a restart, keys never shown again; and what
is said where they cannot be reached."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import pytest_asyncio

from tablewright.domain.files import FileOptions
from tablewright.llm.pull import CatalogModel, HubFile
from tablewright.operations.files import import_table_file
from tablewright.services import Services
from tablewright.settings import Settings
from tablewright.settings_sources import load_settings
from tests.google import ACCOUNT, LINK, SHARED, running_google
from tests.interfaces.page.conftest import PATIENCE, NewPage, playwright
from tests.interfaces.page.test_tables_page import FOUNDED, cell
from tests.interfaces.server.serving import TOKEN, Served, served
from tests.llm.endpoint import Asked, Endpoint, Reply, answer, json_reply, running_endpoint
from tests.operating import save_settings

expect = playwright.expect
expect.set_options(timeout=PATIENCE)

KEY = "sk-only-the-admin-knows"
NOBODY = "searxng:http://127.0.0.1:9"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("home"), token=TOKEN, pages=True, works=True, attempts="1") as running:
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def endpoint() -> AsyncIterator[Endpoint]:
    def reply(asked: Asked) -> Reply:
        if asked.path.endswith("/models"):
            return json_reply({"object": "list", "data": [{"id": "small"}, {"id": "large"}]})
        return answer({"year": 2019})

    async with running_endpoint() as running:
        running.otherwise = reply
        yield running


async def log_in(page: playwright.Page, server: Served, path: str) -> None:
    await page.goto(f"{server.url}{path}")
    await page.get_by_label("Your token").fill(TOKEN)
    await page.get_by_role("button", name="Log in").click()
    await page.wait_for_url(f"**{path}")


def part(page: playwright.Page, name: str) -> playwright.Locator:
    return page.get_by_role("region", name=name, exact=True)


async def choose(page: playwright.Page, box: playwright.Locator, option: str) -> None:
    await box.click()
    await page.get_by_role("option", name=option).click()
    await expect(page.locator("[id^=q-portal--menu]")).to_have_count(0)  # while one list closes, no other opens


async def test_the_first_steps_lead_from_a_model_on_this_computer_to_a_table(
    server: Served, browser: NewPage, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_BASE_URL", endpoint.url)
    async with browser() as page:
        await log_in(page, server, "/")
        await page.get_by_role("button", name="Set up in three steps").click()
        await expect(page.get_by_text("Ollama is running on this computer, with 2 models.")).to_be_visible()
        await page.get_by_role("button", name="Use Ollama").click()
        await page.get_by_role("button", name="Test").click()
        await expect(part(page, "Model").get_by_role("status")).to_contain_text("ollama:large answered")
        await page.get_by_role("button", name="Save").click()

        await choose(page, page.get_by_role("combobox", name="Search with"), "SearXNG")
        await page.get_by_label("Address").fill("http://127.0.0.1:9")
        await page.get_by_role("button", name="Test").click()
        await expect(part(page, "Web search").get_by_role("status")).to_contain_text("problem")
        await expect(part(page, "Web search").get_by_role("status")).to_contain_text("SearXNG cannot be reached")
        await page.get_by_role("button", name="Skip").click()
        await expect(page.get_by_role("button", name="Open a filled sample")).to_be_visible()
        await expect(page.get_by_role("button", name="Paste a list")).to_be_visible()
    settings = server.do(current)
    assert (settings.model, settings.search) == ("ollama:large", "sample")


async def test_a_key_is_saved_encrypted_used_at_once_and_never_shown_again(
    server: Served, browser: NewPage, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TABLEWRIGHT_BUDGET", "2.50")
    async with browser() as page:
        await log_in(page, server, "/settings")
        model = part(page, "Model")
        await choose(page, page.get_by_role("combobox", name="Language model"), "Another OpenAI-compatible")
        await model.get_by_label("Address").fill(endpoint.url)
        await model.get_by_label("Key").fill(KEY)
        await model.get_by_role("button", name="Show available models").click()
        await page.get_by_role("option", name="small").click()
        await model.get_by_role("button", name="Save").click()
        await expect(page.get_by_text("Saved and in use.")).to_be_visible()
        await expect(model.get_by_label("Key")).to_have_value("")

        await page.reload()
        await expect(model.get_by_label("Key")).to_have_attribute("placeholder", "Saved. Type to replace it.")
        assert KEY not in await page.content()
        await model.get_by_role("button", name="Test").click()
        await expect(model.get_by_role("status")).to_contain_text("openai:small answered")
        assert endpoint.asked[-1].headers["authorization"] == f"Bearer {KEY}"

        endpoint.somebody_waits.clear()
        await model.get_by_label("Address").fill(f"{endpoint.url}/elsewhere")
        await model.get_by_role("button", name="Test").click()
        await asyncio.wait_for(endpoint.somebody_waits.wait(), PATIENCE / 1_000)
        assert endpoint.asked[-1].path.startswith("/v1/elsewhere")
        assert KEY not in endpoint.asked[-1].headers.get("authorization", "")

        budget = part(page, "Budget")
        await expect(budget).to_contain_text("Set by TABLEWRIGHT_BUDGET. Change it there.")
        await expect(budget.get_by_label("Spending limit per run, in dollars")).to_be_disabled()
    settings = server.do(current)
    assert (settings.model, settings.model_api_key) == ("openai:small", KEY)
    saved = settings.home_folder / "settings.json"
    assert KEY not in saved.read_text()
    assert [each.stat().st_mode & 0o077 for each in (saved, saved.with_name("settings.key"))] == [0, 0]
    loaded = load_settings({}, {"TABLEWRIGHT_HOME": settings.home}, Path("nothing.toml"))
    assert (loaded.model, loaded.model_base_url, loaded.model_api_key) == ("openai:small", endpoint.url, KEY)
    (entry, *_) = server.do(lambda services: services.store.audit.entries(action="settings"))
    assert "model = openai:small" in entry.detail
    assert KEY not in entry.detail


async def test_a_model_is_downloaded_and_checked_and_a_webhook_cannot_lead_into_a_private_network(
    server: Served, browser: NewPage, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = b"GGUF" + bytes(100_000)
    hub = HubFile(url=f"{endpoint.url}/tiny.gguf")
    tiny = CatalogModel(name="tiny", file="tiny.gguf", size=1, licence="MIT", sha256="", origins=(hub,), memory=1)
    monkeypatch.setattr("tablewright.llm.pull.CATALOG", (tiny,))
    stated = {"x-linked-etag": hashlib.sha256(content).hexdigest(), "x-linked-size": str(len(content))}
    endpoint.replies = [Reply(302, headers=stated), Reply(body=content)]
    async with browser() as page:
        await log_in(page, server, "/settings")
        model = part(page, "Model")
        await choose(page, page.get_by_role("combobox", name="Language model"), "A model downloaded")
        await model.get_by_role("button", name="Download").click()
        await expect(model.get_by_text("downloaded", exact=True)).to_be_visible()
        await model.get_by_role("button", name="Use this model").click()
        await expect(model.get_by_role("button", name="Chosen")).to_be_visible()
        hook = part(page, "Webhook")
        before = len(endpoint.asked)
        await hook.get_by_label("Address").fill(f"{endpoint.url}/hook")
        await hook.get_by_role("button", name="Test").click()
        await expect(hook.get_by_role("status")).to_contain_text("Nothing was sent")
        assert len(endpoint.asked) == before
    home = server.do(current).home_folder
    assert (home / "models" / "tiny.gguf").read_bytes() == content


async def test_a_google_key_is_tested_and_saved_and_a_table_goes_to_a_spreadsheet(
    server: Served, browser: NewPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    table_id = server.do(companies)
    with running_google(monkeypatch) as google:
        async with browser() as page:
            await log_in(page, server, f"/tables/{table_id}")
            await page.get_by_role("button", name="Export").click()
            await page.get_by_text("Google Sheets…").click()
            await expect(page.get_by_text("No key for Google Sheets is set.")).to_be_visible()
            await page.goto(f"{server.url}/settings")
            sheets = part(page, "Google Sheets")
            await sheets.get_by_label("JSON key").fill(google.key)
            await sheets.get_by_role("button", name="Test").click()
            await expect(sheets.get_by_role("status")).to_contain_text(f"Google accepted the key of {ACCOUNT}.")
            await sheets.get_by_role("button", name="Save").click()
            await expect(sheets.get_by_label("JSON key")).to_have_value("")
            await page.goto(f"{server.url}/tables/{table_id}")
            await page.get_by_role("button", name="Export").click()
            await page.get_by_text("Google Sheets…").click()
            dialog = page.get_by_role("dialog")
            await dialog.get_by_label("Link to a spreadsheet").fill(LINK)
            await dialog.get_by_role("button", name="Export").click()
            await expect(dialog.get_by_role("link", name="Open the spreadsheet")).to_be_visible()
        assert google.spreadsheets[SHARED]["Companies"][2] == [["Company"], ["Kestrelworks"]]


def test_only_an_admin_sees_the_settings(server: Served) -> None:
    with server.browser(server.add_user("ed", "editor")) as client:
        page = client.get("/settings").text
    assert "Only admins can see and change the settings." in page
    assert "Language model" not in page


# ── failures speak ───────────────────────────────────────────────────────────────────────────────────────────────────


async def companies(services: Services) -> str:
    path = services.settings.home_folder / "rows.csv"
    path.write_text("Company\nKestrelworks\n", encoding="utf-8")
    return (await import_table_file(services, path, FileOptions(name="Companies"))).table.id


async def ask(page: playwright.Page, name: str, question: str) -> None:
    await page.get_by_role("button", name="Add columns").click()
    await page.get_by_label("Column name").fill(name)
    await page.get_by_label("Question or formula").fill(question)
    await page.get_by_role("button", name="Start").click()


async def test_a_search_that_cannot_be_reached_is_said_until_a_retry_reaches_another(
    server: Served, browser: NewPage
) -> None:
    table_id = server.do(companies)
    server.do(lambda services: save_settings(services, {"search": NOBODY, "model": "", "model_base_url": ""}))
    async with browser() as page:
        await log_in(page, server, f"/tables/{table_id}")
        await ask(page, "Founded", FOUNDED)
        banner = page.get_by_role("alert", name="Last run")
        await expect(banner).to_contain_text("The run is paused.")
        await expect(banner).to_contain_text("SearXNG cannot be reached")
        await expect(banner).to_contain_text("Check the search and the model under Settings, then press Retry.")
        await page.reload()
        await expect(banner).to_contain_text("SearXNG cannot be reached")

        server.do(lambda services: save_settings(services, {"search": "sample"}))
        await banner.get_by_role("button", name="Retry").click()
        await expect(cell(page, 1, "Founded")).to_contain_text("2009")
        await expect(banner).to_be_hidden()
        await page.get_by_role("button", name="Accept all").click()
        await expect(page.locator(".tw-waiting")).to_be_hidden()

        await ask(page, "Shoe size", "What shoe size has the auditor of {Company}?")
        await expect(banner).to_contain_text("No value was found.")
        await expect(banner).to_contain_text("1 cell: no source states it.")
        await expect(banner).to_contain_text("No model is set")


async def test_health_really_asks_when_pressed_and_the_page_speaks_german(server: Served, browser: NewPage) -> None:
    server.do(lambda services: save_settings(services, {"search": NOBODY}))
    async with browser() as page:
        await log_in(page, server, "/status")
        await page.get_by_role("button", name="Test now").click()
        await expect(page.get_by_role("region", name="Checks")).to_contain_text("SearXNG cannot be reached")

        await page.goto(f"{server.url}/settings")
        await choose(page, page.get_by_role("combobox", name="Language of the page"), "Deutsch")
        await part(page, "Language").get_by_role("button", name="Save").click()
        await expect(page.get_by_role("heading", name="Einstellungen")).to_be_visible()
        await page.goto(server.url)
        await expect(page.get_by_role("heading", name="Tabellen", exact=True)).to_be_visible()

        await page.get_by_role("button", name="Leere Tabelle").click()
        await page.get_by_label("Tabellenname").fill("Türme")
        await page.get_by_role("button", name="Anlegen").click()
        await page.get_by_role("button", name="Menü von Name").click()
        await page.get_by_role("menuitem", name="Filtern…").click()
        await page.get_by_label("Wert").fill("Turm")
        await page.get_by_role("button", name="Filtern", exact=True).click()
        await expect(page.locator(".q-chip")).to_contain_text("Name enthält Turm")
        await page.get_by_role("button", name="Menü von Name").click()
        await page.get_by_role("menuitem", name="Spalte bearbeiten…").click()
        await choose(page, page.get_by_role("combobox", name="Typ"), "ja oder nein")
    server.do(lambda services: save_settings(services, {"language": ""}))


async def current(services: Services) -> Settings:
    return services.settings
