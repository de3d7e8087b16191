"""The adviser without a model: a form, buttons and commands, on the sample web. Nothing claims to understand words."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tablewright.domain.condition import describe_condition
from tablewright.domain.model import Money
from tablewright.domain.shortlist import (
    CONFIRM,
    EDIT,
    ENRICH,
    FRESH,
    GO_ON,
    MEETS_FIELD,
    MODIFY,
    PRODUCT_COLUMN,
    TRY_AGAIN,
    ShortlistLimits,
)
from tablewright.errors import EditConflict, OverBudget, TablewrightError, UsageError
from tablewright.operations.operation import TableRequest
from tablewright.operations.tables import remove_table
from tablewright.settings import Settings
from tablewright.workflows.shortlist.context import TurnContext
from tablewright.workflows.shortlist.research import Explored, ProductExploration
from tablewright.workflows.shortlist.shortlist import Shortlist
from tablewright.workflows.shortlist.wording import describe_step
from tests.llm.endpoint import Reply, answer, running_endpoint
from tests.operating import shortlist_turn
from tests.pages import Page, small_web
from tests.workflows.chatting import FORM, Chat, chatting, counted, on_sample

MENTIONS = {"/": Page("Weather", "<p>Rain is expected in the north.</p>")}

# ── what is wanted ───────────────────────────────────────────────────────────────────────────────────────────────────


async def test_typed_words_are_search_words_and_nothing_else(chat: Chat) -> None:
    reply = await chat.say("a quiet kettle under £50, please")
    assert "were not read as a wish" in reply.text
    assert chat.state.requirements.product_type == "a quiet kettle under £50, please"
    assert chat.state.requirements.wishes == ()
    assert reply.buttons == (CONFIRM, EDIT)


async def test_a_form_shows_each_wish_with_its_condition_or_that_it_is_not_checked(chat: Chat) -> None:
    reply = await chat.say(FORM)
    assert "1. 50 GBP: Price <= 50 GBP (must)" in reply.text
    assert "3. Capacity >= 1 l (must)" in reply.text
    assert "4. Weight < 1.2 kg (counts)" in reply.text
    assert "5. quiet: cannot be checked from specifications" in reply.text
    assert chat.state.table_id == "", "nothing is searched before it is confirmed"


async def test_wishes_are_edited_before_anything_is_spent(chat: Chat) -> None:
    await chat.say(FORM, EDIT, "/drop 5", "/soft 2", "/must Price > 20 GBP")
    wishes = chat.state.requirements.wishes
    assert [describe_condition(wish) for wish in wishes if wish.words == "quiet"] == []
    assert (wishes[1].column, wishes[1].hard) == ("Variable temperature", False)
    assert describe_condition(wishes[-1]) == "Price > 20 GBP"
    assert chat.buttons == (CONFIRM, EDIT)
    for wrong in ("/drop 17", "/must", "/form budget: 5 GBP", "/form product: kettle | budget: cheap", "/sing"):
        before = chat.state.requirements
        assert (await chat.say(wrong)).text
        assert chat.state.requirements == before, wrong
    assert "/links N" in (await chat.say("/help")).text


async def test_a_message_that_is_too_long_is_refused_and_not_cut(chat: Chat) -> None:
    with pytest.raises(UsageError, match="nothing was done"):
        await chat.say("kettle " * 1_000)


async def test_a_button_of_another_step_does_nothing(chat: Chat) -> None:
    await chat.say(FORM)
    assert "another step" in (await chat.say(ENRICH)).text
    assert chat.buttons == (CONFIRM, EDIT)
    assert (await chat.say(FRESH)).text == "What are you looking for?"
    assert chat.state.requirements.product_type == ""


# ── research ─────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_columns_are_confirmed_before_they_are_filled(confirmed: Chat) -> None:
    assert confirmed.state.waiting == "fields"
    reply = await confirmed.say(MODIFY, "/add Power:number(W)", "/hide Weight")
    assert "Filling" in reply.text
    names = [field.name for field in confirmed.state.proposed]
    assert "Power" in names
    table = await confirmed.table()
    assert len(table.rows) >= 20
    assert all(row.cell(PRODUCT_COLUMN).evidence and row.cell("Page").value for row in table.rows)
    assert [field.name for field in table.fields] == [PRODUCT_COLUMN, "Page"], (
        "nobody can tell makers and official pages"
    )
    assert table.field("Price") is None


async def test_nothing_found_is_said_and_leads_back_to_the_requirements(tmp_path: Path) -> None:
    async with small_web({}) as web, chatting(web.settings(tmp_path)) as chat:
        await chat.say("/form product: zorbler | budget: 50 GBP")
        reply = await chat.say(CONFIRM)
        assert "No product was found" in reply.text
        assert (chat.state.phase, reply.buttons) == ("intake", (TRY_AGAIN, EDIT))


async def test_a_search_that_fails_is_said_and_can_be_tried_again(tmp_path: Path) -> None:
    async with small_web({"/": Page("Zorbler 3", "<p>The Zorbler 3 costs £20.</p>")}) as web:
        web.search_status = 403
        async with chatting(web.settings(tmp_path)) as chat:
            await chat.say("/form product: zorbler")
            reply = await chat.say(CONFIRM)
            assert "The search failed" in reply.text
            assert "requirements are kept" in reply.text
            web.search_status = 200
            assert (await chat.say(TRY_AGAIN)).buttons == (ENRICH, MODIFY)


def test_what_a_search_may_take_is_a_setting_within_its_bounds() -> None:
    assert ShortlistLimits(**Settings().part("shortlist_")) == ShortlistLimits(
        products=30, queries=12, seconds=300, search_seconds=30, retries=2
    )
    chosen = Settings(shortlist_products=50, shortlist_queries=15, shortlist_retries=2)
    assert (chosen.shortlist_products, chosen.shortlist_queries, chosen.shortlist_retries) == (50, 15, 2)
    for too_many in ({"shortlist_products": "51"}, {"shortlist_queries": "16"}, {"shortlist_retries": "3"}):
        with pytest.raises(TablewrightError):
            Settings(**too_many)


async def test_limits_on_candidates_and_on_the_time_of_a_search_hold(tmp_path: Path) -> None:
    pages = {f"/{number}": Page(f"Zorbler {number}", "<p>The zorbler costs £20.</p>") for number in (3, 4)}
    async with small_web(pages) as web, chatting(web.settings(tmp_path)) as chat:
        await chat.say("/form product: zorbler")
        tools = await chat.app.open_tools(("web", "model"))

        async def confirmed(limits: ShortlistLimits) -> str:
            return (await Shortlist(TurnContext(chat.app.store, tools, limits=limits)).turn(chat.state.id, CONFIRM))[
                1
            ].text

        assert "The search failed: the search took longer than 0 s" in await confirmed(
            ShortlistLimits(search_seconds=0)
        )
        await chat.say("/form product: zorbler")
        text = await confirmed(ShortlistLimits(products=1))
        assert "2 pages found.\n1 of them is compared; the limit allows no more." in text
        assert "Only" not in text, "one was asked for"


async def test_what_filling_one_cell_takes_is_said_in_the_singular(tmp_path: Path) -> None:
    pages = {"/": Page("Zorbler 3", "<p>The Zorbler 3 costs £20.</p>")}
    async with small_web(pages) as web, chatting(replace(web.settings(tmp_path), shortlist_retries=0)) as chat:
        reply = await chat.say("/form product: zorbler | budget: 50 GBP", CONFIRM)
        assert "Filling 1 cell takes at most 1 search and " in reply.text


async def test_few_that_are_found_and_none_that_meets_are_said_with_the_reason_and_a_way_on(tmp_path: Path) -> None:
    pages = {"/": Page("Zorbler 3", "<p>The Zorbler 3 costs £20.</p>")}
    async with small_web(pages) as web, chatting(web.settings(tmp_path)) as chat:
        await chat.say("/form product: zorbler | budget: 10 GBP | nice: Shininess >= 3 lm")
        assert "Only 1 was found: there may be few of them." in (await chat.say(CONFIRM)).text
        reply = await chat.say(ENRICH)
        assert "The only page does not meet the requirements:" in reply.text
        assert "Zorbler 3: Price is 20 GBP, wanted <= 10 GBP." in reply.text
        assert reply.buttons == (EDIT,)
        reply = await chat.say("/drop 1", CONFIRM)
        assert "Shininess was found for none of the pages." in reply.text


async def test_candidates_of_which_nothing_could_be_found_out_are_a_problem_of_the_data(tmp_path: Path) -> None:
    pages = {"/": Page("Zorbler 3", "<p>Our best one.</p>"), "/4": Page("Zorbler 4", "<p>Our new one.</p>")}
    async with small_web(pages) as web, chatting(web.settings(tmp_path)) as chat:
        reply = await chat.say("/form product: zorbler | budget: 10 GBP | must: Height <= 3 cm", CONFIRM, ENRICH)
        assert "Nothing could be found out about any of the 2 pages" in reply.text
        assert reply.cards == ()
        assert reply.buttons == (TRY_AGAIN, EDIT)
        assert len((await chat.table()).rows) == 2
        assert chat.state.phase == "advise"


async def test_personal_data_does_not_reach_the_search(tmp_path: Path) -> None:
    async with small_web(MENTIONS) as web, chatting(web.settings(tmp_path)) as chat:
        await chat.say("/form product: kettle for jo@example.org, call 020 7946 0958", CONFIRM)
        assert chat.state.messages
        sent = " ".join(web.queries)
    assert "kettle" in sent
    assert "jo@" not in sent
    assert "7946" not in sent


async def test_a_turn_that_fails_is_taken_again_with_the_same_table(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(*_args: object, **_how: object) -> Explored:
        raise OverBudget("The budget is spent.")

    await chat.say(FORM)
    with monkeypatch.context() as patch:
        patch.setattr(ProductExploration, "run", fails)
        with pytest.raises(OverBudget):
            await chat.say(CONFIRM)
    assert (await chat.say(CONFIRM)).buttons == (ENRICH, MODIFY)
    assert [table.id for table in await chat.app.tables()] == [chat.state.table_id]


async def test_two_turns_at_once_are_not_taken(chat: Chat, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def waits(*_args: object, **_how: object) -> Explored:
        begun.set()
        await go_on.wait()
        return Explored(products=(), queries=())

    await chat.say(FORM)
    monkeypatch.setattr(ProductExploration, "run", waits)
    first = asyncio.create_task(shortlist_turn(chat.app, chat.state.id, CONFIRM))
    await begun.wait()
    with pytest.raises(EditConflict, match="still under way"):
        await shortlist_turn(chat.app.acting("ann"), chat.state.id, CONFIRM)
    go_on.set()
    assert "No product was found" in (await first)[1].text


async def test_cells_that_were_not_looked_for_in_time_can_be_gone_on_with(confirmed: Chat) -> None:
    app = confirmed.app
    tools = await app.open_tools(("web", "model"))
    hurried = Shortlist(TurnContext(app.store, tools, limits=ShortlistLimits(seconds=0)))
    _, reply = await hurried.turn(confirmed.state.id, ENRICH)
    assert reply.text.endswith("cells were not looked for yet."), "what was not looked for is not called absent"
    assert (reply.cards, reply.buttons) == ((), (GO_ON,))
    confirmed.state = await app.store.shortlists.get(confirmed.state.id)
    assert "agreeing goes on" in describe_step(confirmed.state, 0)
    before = counted(await confirmed.table(), "Price")
    reply = await confirmed.say(GO_ON)
    assert counted(await confirmed.table(), "Price") > before
    assert "not looked for yet" not in reply.text
    assert reply.cards


# ── advice ───────────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_the_first_five_meet_every_hard_wish_as_far_as_it_is_known(advised: Chat) -> None:
    (said,) = [message.text for message in advised.state.messages if message.role == "advisor"][-1:]
    assert said.index("pages compared") < said.index("1. ") < said.index("Not checked: “quiet”")
    table = await advised.table()
    top = [row for row_id in advised.state.shown for row in table.rows if row.id == row_id]
    assert len(top) == 5
    for row in top:
        price, capacity = row.cell("Price").value, row.cell("Capacity").value
        assert price is None or (isinstance(price, Money) and (price.currency != "GBP" or price.amount <= 50))
        assert capacity is None or (isinstance(capacity, int | float) and capacity >= 1)
        assert row.cell("Variable temperature").value is not False
    verdicts = {row.cell(MEETS_FIELD.name).value for row in table.rows}
    assert {True, False} <= verdicts
    assert all(
        row.cell(MEETS_FIELD.name).basis == "computed"
        for row in table.rows
        if row.cell(MEETS_FIELD.name).value is not None
    )


async def test_a_hard_wish_that_no_cell_decides_is_said_on_the_card(advised: Chat) -> None:
    reply = await advised.say("/soft 4", CONFIRM)
    doubted = [card for card in reply.cards if any("Not known whether it meets" in said.text for said in card.said)]
    assert doubted
    assert [card for card in reply.cards if card.is_open] == doubted
    assert all(card.heading().endswith(", not known to meet every must") for card in doubted)
    assert re.search(r"; of \d+ it is not known whether they meet every must\.", reply.text)
    for one, other in itertools.pairwise(reply.cards):
        assert (one.is_open, one.row_id) < (other.is_open, other.row_id), "known to meet every must, then as found"


async def test_without_a_model_nothing_is_ranked_or_called_a_candidate(advised: Chat) -> None:
    text = "\n".join(reply.whole() for reply in (await advised.say("/all"), await advised.say("/soft 4", CONFIRM)))
    assert "pages compared" in text
    assert "Nothing is ranked without a model" in text
    assert "candidate" not in text
    assert [card.score for card in advised.replies[-1].cards] == [None] * 5
    names = [row.cell(PRODUCT_COLUMN).value for row in (await advised.table()).rows]
    products = [place for place, name in enumerate(names) if str(name).startswith("Ollivant Vario")]
    assert max(products) < names.index("Electric kettles at Larderly – Larderly"), "product pages come first"


async def test_words_without_a_model_lead_to_the_form_and_to_the_settings_of_the_model(chat: Chat) -> None:
    text = (await chat.say("a quiet kettle under £50, please")).text
    assert text.index("/form product:") < text.index("choose a model in the settings") < text.index("search words")


async def test_personal_data_is_neither_kept_nor_sent(chat: Chat) -> None:
    reply = await chat.say(
        "a kettle; write to jo@example.org, or 12 High Street, London SW1A 1AA, card 4111 1111 1111 1111"
    )
    assert "replaced by “…”; it is neither kept nor sent" in reply.text
    kept = msgspec.json.encode(await chat.app.store.shortlists.get(chat.state.id)).decode()
    assert "a kettle; write to …, or …, card …" in kept
    for private in ("jo@", "High Street", "SW1A", "4111"):
        assert private not in kept
    assert "replaced by" not in (await chat.say("Apple M2 8GB, 12 Speed Road bike, EN 60335, 1,500 GBP")).text


async def test_a_value_that_only_one_unsure_source_states_is_flagged_on_the_card(advised: Chat) -> None:
    reply = await advised.say("/soft 4", CONFIRM)
    flagged = [said.text for card in reply.cards for said in card.said if said.text.startswith("Less sure: ")]
    assert "Less sure: Price 34.00 GBP (only ollivant.example says so)." in flagged


async def test_words_about_the_comparison_are_not_pretended_to_be_understood(advised: Chat) -> None:
    reply = await advised.say("which one is the lightest?")
    assert "were not read, and nothing was done" in reply.text
    assert reply.cards == ()


async def test_sorting_sources_doubts_links_and_files_are_commands(advised: Chat, tmp_path: Path) -> None:
    table = await advised.table()
    reply = await advised.say("/sort Weight")
    assert len(reply.rows) == len(table.rows)
    weights = [float(row[list(reply.columns).index("Weight")].split()[0]) for row in reply.rows[:5]]
    assert weights == sorted(weights)
    source = (await advised.say("/source 1 Capacity")).text
    assert "Source: https://" in source or "Source: http://" in source
    assert "looked for again: the source still says 1.7 L (" in (await advised.say("/wrong 1 Capacity")).text
    listing = (await advised.say("/links 1")).listings[0]
    assert listing.evidence is not None
    assert listing.price is not None
    folder = tmp_path / "exports"
    folder.mkdir()
    _, reply = await shortlist_turn(advised.app, advised.state.id, "/export ../../kettles.csv", exports=folder)
    assert Path(reply.file) == folder / "kettles.csv"
    lines = Path(reply.file).read_text(encoding="utf-8-sig").splitlines()
    assert len(lines) == len(table.rows) + 1
    assert [field.unit for field in table.fields if field.name in ("Capacity", "Weight")] == ["L", "kg"]
    assert {"Capacity (L)", "Weight (kg)", "Price", "Material"} <= set(lines[0].split(","))


async def test_a_new_column_fills_only_itself(advised: Chat) -> None:
    before = await advised.table()
    reply = await advised.say("/add Power:number(W)")
    assert "Now part of the comparison: Power" in reply.text
    assert reply.columns[:2] == (PRODUCT_COLUMN, "Power"), "what was just asked for is shown"
    assert set(reply.columns[2:7]) == {"Price", "Variable temperature", "Capacity", "Weight", "Material"}
    after = await advised.table()
    assert counted(after, "Power") > 5
    assert [row.cell("Capacity") for row in after.rows] == [row.cell("Capacity") for row in before.rows]
    assert "No longer shown: Power" in (await advised.say("/hide Power")).text
    assert "Power" not in [field.name for field in (await advised.table()).shown_fields]


async def test_relaxing_a_wish_ranks_what_is_there_before_anything_is_searched(advised: Chat) -> None:
    tried = advised.state.tried
    reply = await advised.say("/drop 1", "/must Power >= 3 kW")
    assert "Power would be looked up for them; if fewer than five are left then" in reply.text
    reply = await advised.say(f"/drop {len(advised.state.requirements.wishes)}")
    assert "pages meet" in reply.text
    assert reply.buttons == (CONFIRM, EDIT)
    reply = await advised.say(CONFIRM)
    assert "nothing new was searched" in reply.text
    assert advised.state.tried == tried
    assert advised.state.refinements[-1].changed == "requirements"


async def test_more_options_are_only_new_ones_and_a_product_can_be_taken_out(advised: Chat) -> None:
    before = {row.key for row in (await advised.table()).rows}
    first = advised.state.shown[0]
    await advised.say("/remove 1")
    assert first not in [row.id for row in (await advised.table()).rows]
    await advised.say("/more 3")
    after = [row.key for row in (await advised.table()).rows]
    assert len(after) == len(set(after))
    assert len(set(after) - before) <= 3


async def test_another_product_starts_over_and_the_table_is_kept(advised: Chat) -> None:
    before = advised.state.table_id
    reply = await advised.say("/form product: desk lamp | budget: 60 GBP")
    assert f"The table {before} is kept" in reply.text
    assert (advised.state.table_id, advised.state.phase) == ("", "intake")
    assert (await advised.say("/done")).text == ""
    assert advised.state.phase == "end"


async def test_a_table_that_is_gone_is_said_and_the_conversation_starts_afresh(advised: Chat) -> None:
    await remove_table(advised.app, TableRequest(table=advised.state.table_id))
    state = await advised.app.store.shortlists.start()
    gone = msgspec.structs.replace(advised.state, id=state.id)
    await advised.app.store.shortlists.save(gone)
    _, reply = await shortlist_turn(advised.app, state.id, "/all")
    assert "not there any more" in reply.text


GLADLY = "Gladly. What are you looking for?"
TURN = {
    "intent": "agree",
    "product_type": "",
    "region": "",
    "wishes": [],
    "columns": [],
    "drop_columns": [],
    "about_columns": [],
    "products": [],
    "like": 0,
    "count": 0,
    "path": "",
    "ready": False,
    "language": "en",
    "reply": [{"text": GLADLY, "cells": [], "calculation": ""}],
}


@asynccontextmanager
async def with_turn(home: Path, turn: dict[str, Any], **pages: Page) -> AsyncIterator[Chat]:
    """A conversation with a model that answers everything with this turn."""
    async with small_web({f"/{name}": page for name, page in pages.items()}) as web, running_endpoint() as endpoint:
        endpoint.otherwise = answer(turn)
        asked = replace(web.settings(home), model="openai:gpt-4o-mini", model_base_url=endpoint.url, model_api_key="k")
        async with chatting(asked) as chat:
            yield chat


async def test_agreeing_presses_the_button_that_goes_on_and_nothing_where_there_is_none(tmp_path: Path) -> None:
    async with with_turn(tmp_path, TURN) as chat:
        assert (await chat.say("yes")).text == GLADLY
        await chat.say("/form product: zorbler")
        assert "No product was found" in (await chat.say("yes")).text


async def test_who_goes_back_to_an_earlier_product_gets_it_and_not_the_columns_of_the_other(tmp_path: Path) -> None:
    back = TURN | {"intent": "take back", "product_type": "kettle", "ready": True}
    async with with_turn(tmp_path, back, one=Page("Zorbler 3", "<p>The Zorbler 3 costs £20.</p>")) as chat:
        assert (await chat.say("/form product: zorbler", CONFIRM)).buttons == (ENRICH, MODIFY)
        reply = await chat.say("no, back to the kettle, as before")
        assert "Looking for: kettle." in reply.text
        assert "The table zorbler is kept." in reply.text
        assert reply.buttons == (CONFIRM, EDIT)


async def test_what_the_model_says_beside_a_source_is_not_lost(tmp_path: Path) -> None:
    source = TURN | {"intent": "source", "product_type": "zorbler"}
    async with with_turn(tmp_path, source, one=Page("Zorbler 3", "<p>The Zorbler 3 costs £20.</p>")) as chat:
        await chat.say("/form product: zorbler", CONFIRM)
        reply = await chat.say("says who?")
        assert reply.text == f"{GLADLY}\nWhich value of which product is meant?"


async def test_our_own_words_and_the_buttons_are_in_the_language_of_the_person(tmp_path: Path) -> None:
    said = [{"text": "Verstanden.", "cells": [], "calculation": ""}]
    budget = {"words": "bis 20 Euro", "kind": "budget", "hard": True, "column": "Price", "operator": "<="}
    quiet = {"words": "leise", "kind": "nice", "hard": False, "column": "Leise", "operator": "=", "values": ["yes"]}
    column = {"name": "Leise", "type": "boolean", "unit": "", "options": [], "question": "Is {Product} quiet?"}
    wish = TURN | {"intent": "wish", "product_type": "Zorbler", "ready": True, "language": "de", "reply": said}
    wish |= {"wishes": [budget | {"values": ["20 EUR"]}, quiet], "columns": [column]}
    async with with_turn(tmp_path, wish) as chat:
        reply = await chat.say("Ich suche einen Zorbler.")
        assert "Gesucht: Zorbler." in reply.text
        assert "1. bis 20 Euro: Preis <= 20 EUR (muss)" in reply.text
        assert "2. leise: Leise = ja (zählt)" in reply.text
        assert reply.buttons == chat.state.buttons == ("Anforderungen bestätigen", "Anforderungen ändern")
        reply = await chat.say("Anforderungen bestätigen")
        assert "Es wurde kein Produkt gefunden." in reply.text
        assert reply.buttons == ("Noch einmal versuchen", "Anforderungen ändern")
        assert "Es wurde kein Produkt gefunden." in (await chat.say(TRY_AGAIN)).text, "the English label works, too"


async def test_an_unreachable_model_is_said_and_changes_nothing(tmp_path: Path) -> None:
    async with running_endpoint() as endpoint:
        endpoint.otherwise = Reply(status=401)
        settings = on_sample(tmp_path, model="openai:gpt-4o-mini", model_base_url=endpoint.url, model_api_key="k")
        async with chatting(settings) as chat:
            reply = await chat.say("I want a kettle")
            assert "I could not read your message" in reply.text
            assert chat.state.requirements.product_type == ""
            reply = await chat.say("/form product: electric kettle", CONFIRM)
            assert "Without the model, pages stand for products" in reply.text
            assert "The columns are those of your wishes alone" in reply.text
