"""The advisor's advice, turn by turn: every intent and where it leads, with no model."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest
from openpyxl import load_workbook

from tablewright.errors import NotFound, UsageError
from tablewright.journeys.research.worker import Library
from tablewright.journeys.shortlist.explorer import Explored
from tablewright.journeys.shortlist.shelf import Shelf
from tablewright.store.records import now
from tablewright.table.shortlist import (
    CONFIRM,
    EDIT,
    ENRICH,
    FRESH,
    GO_ON,
    NO,
    YES,
    PriceRange,
)

from ..models.endpoint import Endpoint
from .chatting import FIRST, SECOND, Chat, chatting, counted, on_sample


async def test_brightness_is_judged_by_the_brightness(chat: Chat) -> None:
    shown = await chat.say("a desk lamp under £100", "brightness", CONFIRM, ENRICH)
    assert {part.field for card in shown.cards for part in card.parts} == {"Brightness", "Price"}


async def test_the_score_of_a_card_is_the_sum_of_its_parts(advised: Chat) -> None:
    shown = await advised.say("find me 5 more")
    for card in shown.cards:
        assert card.score == pytest.approx(sum(part.score * part.weight for part in card.parts), abs=0.02)
        assert all(part.why for part in card.parts)


async def test_more_like_one_but_cheaper_searches_again_with_the_new_limit(advised: Chat) -> None:
    before = len((await advised.table()).rows)
    await advised.say("Find me 5 more like the Hearthline Degree 15 but under £40")
    assert advised.state.requirements.budget == PriceRange(most=40.0, currency="GBP")
    assert before <= len((await advised.table()).rows) <= before + 5
    assert advised.state.refinements[-1].loop == 1
    assert advised.state.phase == "advise"


async def test_a_new_field_fills_its_column_and_touches_no_other_cell(advised: Chat) -> None:
    before = await advised.table()
    await advised.say("add noise level to the comparison")
    after = await advised.table()
    (new,) = [each.name for each in after.fields if before.field(each.name) is None]
    assert "noise" in new.lower()
    assert all(row.cell(new).status != "PENDING" for row in after.rows)
    for row in before.rows:
        again = next(each for each in after.rows if each.id == row.id)
        assert all(again.cell(name) == cell for name, cell in row.cells.items())


async def test_a_field_that_is_there_or_cannot_be_verified_is_not_added(advised: Chat) -> None:
    before = (await advised.table()).fields
    assert "already" in (await advised.say("add warranty to the comparison")).text
    await advised.say("add a design rating out of 10 to the comparison")
    assert (await advised.table()).fields == before


async def test_a_value_that_is_called_wrong_is_flagged_and_looked_for_again_alone(advised: Chat) -> None:
    before = await advised.table()
    reply = await advised.say("the capacity of the Hearthline Degree 15 is wrong")
    assert "looked for again" in reply.text
    after = await advised.table()
    changed = [
        (row.id, name)
        for row, again in zip(before.rows, after.rows, strict=True)
        for name in again.cells
        if row.cell(name) != again.cell(name)
    ]
    (row_id, name) = changed[0]
    assert changed == [(row_id, "Capacity")]
    assert name == "Capacity"
    notes = [change.note for change in await advised.app.history(advised.state.table_id)]
    assert any("flagged" in note for note in notes)


async def test_which_value_is_wrong_is_asked_where_it_is_not_said(advised: Chat) -> None:
    assert "?" in (await advised.say("that is wrong")).text


async def test_links_are_of_shops_with_price_stock_and_time(advised: Chat) -> None:
    before = now()
    reply = await advised.say("where can I buy the Hearthline Degree 15?")
    assert all(before <= offer.at <= now() for offer in reply.listings), "asked now, also where the page was known"
    hosts = [urlsplit(offer.url).hostname for offer in reply.listings]
    assert len(hosts) == len(set(hosts))
    shops = {offer.shop: offer for offer in reply.listings}
    assert {"Copperpot", "Larderly"} <= set(shops)
    assert shops["Copperpot"].price is not None
    assert shops["Copperpot"].price.amount == 44.95
    assert shops["Copperpot"].stock
    assert not any("hearthline.example" in offer.url for offer in reply.listings)


@pytest.mark.parametrize("name", ["kettles.csv", "kettles.xlsx"])
async def test_an_export_has_all_candidates_and_all_fields(advised: Chat, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    reply = await advised.say(f"export to {path}")
    assert reply.file == str(path)
    table = await advised.table()
    if name.endswith("csv"):
        assert len(path.read_text(encoding="utf-8-sig").splitlines()) >= len(table.rows) + 1
    else:
        assert load_workbook(path).worksheets[0].max_row == len(table.rows) + 1


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("which is the lightest?", "lightest"),
        ("what is the capacity of the Hearthline Degree 15?", "1.5"),
        ("compare the Hearthline Degree 15 and the Ollivant Vario 17", "Ollivant Vario 17"),
        ("tell me more about the Ollivant Vario 17", "Ollivant Vario 17"),
        ("is the Hearthline Degree 15 dishwasher safe?", ""),
    ],
)
async def test_a_question_is_answered_from_the_table_or_not_at_all(advised: Chat, question: str, expected: str) -> None:
    reply = await advised.say(question)
    assert expected in reply.text
    assert advised.state.phase == "advise"
    assert reply.text


async def test_why_one_is_not_on_the_list_is_told_with_its_reason(advised: Chat) -> None:
    table = await advised.table()
    shown = {row.id for row in table.rows if row.id in advised.state.shown}
    other = next(str(row.cell("Product").value) for row in table.rows if row.id not in shown)
    assert other in (await advised.say(f"why not the {other}?")).text
    assert (await advised.say("why not the Zorbler 3000?")).text


async def test_a_changed_budget_goes_back_to_intake_and_asks_for_confirmation(advised: Chat) -> None:
    reply = await advised.say("actually my budget is £30")
    assert (advised.state.phase, advised.state.waiting) == ("intake", "requirements")
    assert reply.buttons == (CONFIRM, EDIT)
    assert "£30" in reply.text
    shown = await advised.say(CONFIRM)
    assert advised.state.phase == "advise"
    assert shown.text


async def test_changed_requirements_are_applied_where_nothing_new_is_found(
    advised: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def none(*_: object, **__: object) -> Explored:
        return Explored(products=(), queries=(), library=Library())

    monkeypatch.setattr("tablewright.journeys.shortlist.shortlist.explore", none)
    await advised.say("actually my budget is £35")
    reply = await advised.say(CONFIRM)
    assert "No further product was found." in reply.text
    assert reply.cards
    assert advised.state.phase == "advise"


async def test_the_comparison_still_answers_while_a_change_waits_for_confirmation(advised: Chat) -> None:
    await advised.say("actually my budget is £30")
    reply = await advised.say("which is the lightest?")
    assert "is the lightest" in reply.text
    assert reply.buttons == (CONFIRM, EDIT)
    assert advised.state.waiting == "requirements"


async def test_another_product_is_never_compared_in_the_same_table(advised: Chat) -> None:
    before = advised.state
    asked = await advised.say("I want a desk lamp under £100")
    assert asked.buttons == (YES, NO)
    await advised.say("stay with the kettle")
    assert (advised.state.phase, advised.state.requirements) == ("advise", before.requirements)
    await advised.say("I want a desk lamp under £100", YES)
    assert advised.state.requirements.product_type == "desk lamp"
    assert advised.state.table_id == ""


async def test_a_conversation_is_removed_with_its_table(advised: Chat) -> None:
    await advised.app.remove_table(advised.state.table_id)
    with pytest.raises(NotFound, match="no shortlist"):
        await advised.say("which is the lightest?")


async def test_a_column_can_be_hidden_and_shown_again(advised: Chat) -> None:
    before = counted(await advised.table(), "Weight")
    await advised.say("remove the weight column")
    assert "Weight" not in [each.name for each in (await advised.table()).shown_fields]
    await advised.say("add weight to the comparison")
    table = await advised.table()
    assert "Weight" in [each.name for each in table.shown_fields]
    assert counted(table, "Weight") == before


async def test_what_must_not_be_sold_is_refused_in_advice_too(advised: Chat) -> None:
    reply = await advised.say("where can I buy a pistol?")
    assert "weapons" in reply.text
    assert reply.listings == ()


async def test_an_export_that_cannot_be_written_is_said(advised: Chat, tmp_path: Path) -> None:
    reply = await advised.say(f"export to {tmp_path}/no such folder/my kettles.xlsx")
    assert "Nothing was written" in reply.text
    assert reply.file == ""


async def test_one_that_is_named_by_its_place_is_told(advised: Chat) -> None:
    third = next(row for row in (await advised.table()).rows if row.id == advised.state.shown[2])
    assert str(third.cell("Product").value) in (await advised.say("the third one")).text
    assert "does not say" not in advised.replies[-1].text


async def test_why_not_one_that_is_not_there(advised: Chat) -> None:
    assert "not among the candidates" in (await advised.say("why not Fellow Stagg?")).text


async def test_show_all_has_every_candidate(advised: Chat) -> None:
    reply = await advised.say("show me the whole table")
    assert len(reply.rows) == len((await advised.table()).rows)


@pytest.mark.parametrize("said", ["hmm", "this is useless", "asdf qwer"])
async def test_what_is_unclear_is_asked_about_before_anything_is_done(advised: Chat, said: str) -> None:
    before = await advised.table()
    reply = await advised.say(said)
    assert "?" in reply.text
    assert await advised.table() == before
    assert advised.state.phase == "advise"


async def test_off_topic_is_declined_and_the_comparison_goes_on(advised: Chat) -> None:
    reply = await advised.say("what's the capital of France?")
    assert reply.text
    assert advised.state.phase == "advise"


async def test_done_ends_it_and_keeps_the_table(advised: Chat) -> None:
    reply = await advised.say("thanks, I'll take the Ollivant Vario 17")
    assert advised.state.phase == "end"
    assert advised.state.table_id in reply.text
    assert len((await advised.table()).rows) >= 20
    again = await advised.say("I need a desk lamp under £100")
    assert advised.state.phase == "intake"
    assert again.text


async def test_starting_fresh_forgets_the_requirements_and_keeps_the_old_table(advised: Chat) -> None:
    table_id = advised.state.table_id
    await advised.say(FRESH)
    assert advised.state.requirements.product_type == ""
    assert advised.state.table_id == ""
    assert len((await advised.app.load(table_id)).rows) >= 20


async def test_a_state_that_broke_starts_afresh_with_its_table_kept(advised: Chat) -> None:
    broken = msgspec.structs.replace(advised.state, error="The conversation could not be read any more.")
    await advised.app._store.shortlists.save(broken)
    reply = await advised.say("which is the lightest?")
    assert advised.state.phase == "intake"
    assert "kept" in reply.text


async def test_it_goes_on_in_another_process(advised_home: tuple[Path, str], tmp_path: Path) -> None:
    home, state_id = advised_home
    shutil.copytree(home, tmp_path / "home")
    for question in ("which is the lightest?", "and the cheapest?"):
        async with chatting(on_sample(tmp_path / "home"), state_id) as again:
            assert (await again.say(question)).text


async def test_messages_are_cleaned_and_long_ones_refused(chat: Chat) -> None:
    await chat.say("a kettle\u202e under £50\x00")
    assert "\x00" not in chat.state.messages[0].text
    with pytest.raises(UsageError, match="at most 4,000 are read, and nothing was done"):
        await chat.say("x" * 100_000)


async def test_what_was_not_filled_in_time_can_be_gone_on_with(
    confirmed: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tablewright.journeys.shortlist.shelf.LONGEST_FILL", 0.0)
    shown = await confirmed.say(ENRICH)
    assert shown.buttons == (GO_ON,)
    assert "not looked for in time" in shown.text
    monkeypatch.undo()
    done = await confirmed.say(GO_ON)
    assert done.buttons == ()
    assert counted(await confirmed.table(), "Capacity") >= 20


# ── taken back, refused, said later ──────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("said", ["never mind", "no, keep it", "forget it"])
async def test_a_change_that_waits_for_confirmation_can_be_taken_back(advised: Chat, said: str) -> None:
    before = advised.state
    await advised.say("actually my budget is £30", "and no plastic")
    reply = await advised.say(said)
    assert (advised.state.phase, advised.state.waiting) == ("advise", "")
    assert advised.state.requirements == before.requirements
    assert advised.state.refinements == before.refinements
    assert reply.buttons == ()
    assert "is the lightest" in (await advised.say("which is the lightest?")).text


async def test_a_column_that_nobody_can_verify_is_refused_with_its_reason(advised: Chat) -> None:
    before = (await advised.table()).fields
    assert "matter of opinion" in (await advised.say("add happiness")).text
    assert (await advised.table()).fields == before
    assert "matter of opinion" in (await advised.say("add vibes and noise level")).text
    assert [each.name for each in (await advised.table()).fields if each not in before] == ["Noise level"]


@pytest.mark.parametrize("name", ["kettles.docx", "kettles", "nowhere/kettles.json"])
async def test_an_export_to_a_name_that_cannot_be_written_writes_nothing(
    advised: Chat, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    reply = await advised.say(f"export to {work}/{name}")
    assert "Nothing was written" in reply.text
    assert reply.file == ""
    assert list(work.iterdir()) == []


async def test_a_must_have_that_is_added_later_gets_a_column_of_its_own(advised: Chat) -> None:
    await advised.say("it must have a whistle", CONFIRM)
    table = await advised.table()
    assert "Whistle" in [each.name for each in table.shown_fields]
    assert all(row.cell("Whistle").status != "PENDING" for row in table.rows)


# ── with a model ─────────────────────────────────────────────────────────────────────────────────────────────────────


async def test_what_the_rules_are_sure_of_asks_no_model(
    advised_home: tuple[Path, str], tmp_path: Path, endpoint: Endpoint
) -> None:
    home, state_id = advised_home
    shutil.copytree(home, tmp_path / "home")
    settings = replace(
        on_sample(tmp_path / "home"), model="openai:test", model_base_url=endpoint.url, model_api_key="k"
    )
    async with chatting(settings, state_id) as chat:
        await chat.say("which is the lightest?", "show me the whole table")
        assert endpoint.asked == []
        await chat.say("the Heron, hmm")
        assert endpoint.asked


async def test_what_only_its_own_page_was_read_for_is_still_to_be_looked_for(
    chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def cut_off(*_args: object, **_how: object) -> None:
        """As where the time is over before anything was searched for."""

    run = Shelf._run

    async def from_pages_only(shelf: Shelf, *args: Any, **how: Any) -> Any:
        return await (cut_off() if how.get("only") is not None else run(shelf, *args, **how))

    with monkeypatch.context() as patch:
        patch.setattr(Shelf, "_run", from_pages_only)
        reply = await chat.say(FIRST, SECOND, CONFIRM, ENRICH)
    assert reply.buttons == (GO_ON,)
    assert "cells were not looked for in time" in reply.text
    assert (await chat.say(GO_ON)).buttons == ()
