"""The way of somebody who has never seen Tablewright, in a browser alone: from a server with no settings to a filled
column, with a model key. A test goes it (test_newcomer.py), and bench/newcomer.py tells how long each step takes.

The model is a server on loopback that gives recorded answers (tests/recordings/first_table.json)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from playwright.async_api import Page, expect

from tests.llm.endpoint import Asked, Endpoint, Reply, json_reply, refusal, running_endpoint
from tests.recorded import Recording, answered, known_by
from tests.scenarios import FIRST_TABLE, WANTED

KEY = "sk-newcomer"
SEARCH = "Sample web: fictional, on this computer, to try things out"


@asynccontextmanager
async def model_with_key() -> AsyncIterator[Endpoint]:
    """It lists one model and wants the key. Rows that are asked for together are refused: they are asked one by one
    then, and those answers are recorded."""
    recording = Recording.load("first_table")

    def respond(asked: Asked) -> Reply:
        if asked.headers.get("authorization") != f"Bearer {KEY}":
            return refusal(401, "Incorrect API key provided.")
        if asked.path.endswith("/models"):
            return json_reply({"object": "list", "data": [{"id": "recorded"}]})
        key = known_by(asked.body)
        known = recording.exchanges.get(key)
        return answered(key, asked.body, known.reply) if known else refusal(404, "This was not recorded.")

    async with running_endpoint() as endpoint:
        endpoint.otherwise = respond
        yield endpoint


async def first_column(page: Page, site: str, model: str) -> AsyncIterator[str]:
    """Says what was done after each step."""
    await page.goto(site)
    await page.get_by_role("button", name="Set up in three steps").click()
    await expect(page.get_by_role("combobox", name="Language model")).to_be_visible()
    yield "open the page and the guide"

    await choose(page, "Language model", "Another OpenAI-compatible server")
    await page.get_by_label("Address").fill(model)
    await page.get_by_label("Key").fill(KEY)
    await page.get_by_role("button", name="Show available models").click()
    await page.get_by_role("option", name="recorded").click()
    yield "choose the model: address, key, name from the list"

    await page.get_by_role("button", name="Test").click()
    await expect(page.get_by_role("status").filter(has_text="works")).to_be_visible()
    yield "test the model"

    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("combobox", name="Search with")).to_be_visible()
    yield "save the model"

    await choose(page, "Search with", SEARCH)
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("button", name="Paste a list")).to_be_visible()
    yield "choose and save the search"

    await page.get_by_role("button", name="Paste a list").click()
    await page.get_by_label("Rows").fill(FIRST_TABLE)
    await page.get_by_role("button", name="Preview").click()
    await page.get_by_role("button", name="Import").click()
    await page.wait_for_url("**/tables/*")
    await expect(page.locator(".ag-row .tw-value").first).to_be_visible()
    yield "paste a list, look at the preview, import it"

    await page.get_by_role("button", name="Add columns").click()
    await page.get_by_label("Describe what you want to know").fill(WANTED)
    await page.get_by_role("button", name="Suggest columns").click()
    await expect(page.get_by_label("Question or formula").first).not_to_have_value("")
    yield "describe the columns in a sentence"

    await page.get_by_role("button", name="Start").click()
    await expect(page.locator(".tw-waiting")).to_contain_text("proposed")
    await page.locator(".tw-run").wait_for(state="hidden")
    yield "fill them"

    await page.get_by_role("button", name="Accept all").click()
    await expect(page.locator(".tw-waiting")).to_have_count(0)
    yield "accept them"


async def choose(page: Page, box: str, option: str) -> None:
    await page.get_by_role("combobox", name=box).click()
    await page.get_by_role("option", name=option).click()
    await expect(page.locator("[id^=q-portal--menu]")).to_have_count(0)
