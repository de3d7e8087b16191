"""The first whole path: search, choose, open, read, check, propose, on small webs and on the sample world."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from tablewright.domain.fieldspec import parse_field
from tablewright.domain.model import Cell
from tablewright.domain.text import cell_text, hint_text
from tablewright.errors import UsageError
from tablewright.operations.files import import_table_rows
from tablewright.operations.fill import plan_fill
from tablewright.services import Services
from tablewright.settings import Settings
from tests.answering import Answering, Cells, columns, form, said, sent, text_of
from tests.llm.endpoint import Endpoint, running_endpoint
from tests.pages import Page, SmallWeb, small_web
from tests.strategies.running import fill, notes

FOUNDED = "Founded:number=What year was {Company} founded?"
CITY = "Headquarters=In which city is {Company} headquartered?"

OWN = Page(title="Acme Turbines", body="<p>Acme Turbines was founded in 1987. It is headquartered in Port Merrin.</p>")
REGISTER = Page(
    title="Acme Turbines | Register",
    body="<table><tr><th>Founded</th><td>1987</td></tr><tr><th>Employees</th><td>64</td></tr></table>",
)


@pytest.fixture
async def web() -> AsyncIterator[SmallWeb]:
    async with small_web({"/acme": OWN, "/register": REGISTER}) as running:
        yield running


async def test_a_row_is_filled_from_pages_that_were_found_and_fetched(web: SmallWeb, tmp_path: Path) -> None:
    cells, operations, usage = await fill(web.settings(tmp_path), tmp_path, "Company\nAcme Turbines\n", FOUNDED, CITY)
    assert (cells["Founded"].value, cells["Headquarters"].value) == (1987, "Port Merrin")
    evidence = cells["Headquarters"].evidence[0]
    assert (evidence.origin, evidence.quote) == (web.url("/acme"), "It is headquartered in Port Merrin.")
    assert usage.searches >= 1
    assert usage.fetches == 2
    kinds = [step.type for step in operations[0].steps]
    assert kinds[0] == "search"
    assert {"fetch", "coverage", "answer"} <= set(kinds)


async def test_a_value_that_is_nowhere_stays_empty_and_says_where_it_was_looked_for(
    web: SmallWeb, tmp_path: Path
) -> None:
    cells, _, _ = await fill(
        web.settings(tmp_path), tmp_path, "Company\nAcme Turbines\n", "CEO=Who is the chief executive of {Company}?"
    )
    assert (cells["CEO"].value, cells["CEO"].status, cells["CEO"].reason) == (None, "FAILED", "not_found")
    assert web.address in (cells["CEO"].error or "")


async def test_a_row_that_no_page_is_about_stays_empty(web: SmallWeb, tmp_path: Path) -> None:
    cells, _, usage = await fill(web.settings(tmp_path), tmp_path, "Company\nZephyr Looms\n", FOUNDED)
    assert (cells["Founded"].value, cells["Founded"].reason) == (None, "not_found")
    assert usage.fetches == 0, "pages about others are not worth opening"


async def test_a_page_that_refuses_leaves_a_blocked_cell(web: SmallWeb, tmp_path: Path) -> None:
    web.pages = {"/acme": Page(title="Acme Turbines", body="<p>About Acme.</p>", status=403, snippet="All about us.")}
    cells, _, _ = await fill(web.settings(tmp_path), tmp_path, "Company\nAcme Turbines\n", FOUNDED)
    assert (cells["Founded"].value, cells["Founded"].reason) == (None, "blocked")
    assert web.url("/acme") in (cells["Founded"].error or "")


async def test_a_page_whose_server_fails_is_no_sign_that_nothing_is_there(web: SmallWeb, tmp_path: Path) -> None:
    web.pages = {"/acme": Page(title="Acme Turbines", body="<p>Oops.</p>", status=503, snippet="All about us.")}
    cells, _, _ = await fill(web.settings(tmp_path), tmp_path, "Company\nAcme Turbines\n", FOUNDED)
    assert (cells["Founded"].value, cells["Founded"].reason) == (None, "error")
    web.pages = {"/acme": Page(title="Acme Turbines", body="<p>Oops.</p>", status=404, snippet="All about us.")}
    cells, _, _ = await fill(web.settings(tmp_path), tmp_path, "Company\nAcme Turbines\n", FOUNDED)
    assert (cells["Founded"].value, cells["Founded"].reason) == (None, "not_found")


async def test_what_only_a_snippet_says_is_taken_from_the_snippet_and_less_sure(web: SmallWeb, tmp_path: Path) -> None:
    told = "Acme Turbines was founded in 1987 in Port Merrin."
    web.pages = {"/acme": Page(title="Acme Turbines", body="<p>Go away.</p>", status=403, snippet=told)}
    cells, _, _ = await fill(web.settings(tmp_path), tmp_path, "Company\nAcme Turbines\n", FOUNDED)
    assert cells["Founded"].value == 1987
    assert cells["Founded"].evidence[0].quote == told
    assert (cells["Founded"].confidence or 1) < 0.85


async def test_fields_that_are_filled_already_are_left_alone(web: SmallWeb, tmp_path: Path) -> None:
    table = "Company,Founded,Headquarters\nAcme Turbines,1901,\n"
    cells, _, _ = await fill(web.settings(tmp_path), tmp_path, table, "Founded:number", CITY)
    assert list(cells) == ["Headquarters"]


async def test_a_question_is_about_the_column_it_names(web: SmallWeb, tmp_path: Path) -> None:
    table = "Product,Maker,City\nZephyr 9 fan,Acme Turbines,\nBora 2 fan,,\n"
    settings = web.settings(tmp_path)
    cells, operations, _ = await fill(settings, tmp_path, table, "Founded:number=What year was {Maker} founded?")
    assert cells["Founded"].value == 1987
    assert [operation.row_id for operation in operations] == [1], "there is nothing to ask about the second"


async def test_a_question_about_a_column_that_is_not_there_is_refused_before_anything_is_spent(
    web: SmallWeb, tmp_path: Path
) -> None:
    with pytest.raises(UsageError):
        await fill(web.settings(tmp_path), tmp_path, "Company\nAcme\n", "Founded=When was {Firm} founded?")
    assert not web.requests


# ── the sample world: every trap ─────────────────────────────────────────────────────────────────────────────────────

ASKED = (
    FOUNDED,
    CITY,
    "CEO=Who is the chief executive of {Company}?",
    "Employees:number=How many people work at {Company}?",
)
NAMES = {"Founded": "founded", "Headquarters": "headquarters", "CEO": "ceo", "Employees": "employees"}


@pytest.fixture(scope="module")
def truth() -> dict[str, Any]:
    read: dict[str, Any] = json.loads((files("tablewright.sample") / "truth.json").read_text(encoding="utf-8"))
    return read


@pytest.fixture
async def companies(tmp_path: Path) -> dict[str, dict[str, Cell]]:
    path = files("tablewright.sample") / "companies.csv"
    _, operations, _ = await fill(
        Settings(home=str(tmp_path), search="sample"), tmp_path, path.read_text(encoding="utf-8"), *ASKED
    )
    names = [line.split(",")[0] for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    cells: dict[str, dict[str, Cell]] = {name: {} for name in names}
    for operation in operations:
        cells[names[operation.row_id - 1]][operation.field] = operation.cell
    return cells


async def test_the_sample_world_is_filled_rightly(companies: dict[str, dict[str, Cell]], truth: dict[str, Any]) -> None:
    right, hinted = 0, 0
    mistakes = []
    for name, cells in companies.items():
        entities = [each for each in truth["companies"] if each["name"] == name]
        entity = next((each for each in entities if each["country"] == "United States"), entities[0])
        for field, cell in cells.items():
            known = entity["fields"][NAMES[field]]
            if cell.value is not None and str(cell.value) != str(known):
                mistakes.append((name, field, cell_text(cell), known))
            right += cell.value is not None and str(cell.value) == str(known)
            hinted += hint_text(cell) == str(known)
    assert not mistakes
    assert right >= 24, f"{right} of 42 known values"
    assert right + hinted >= 30, f"{hinted} hints"


async def test_every_quote_of_the_sample_world_stands_in_a_fetched_page(companies: dict[str, dict[str, Cell]]) -> None:
    for cells in companies.values():
        for cell in cells.values():
            assert bool(cell.evidence) == (cell.value is not None)
            for evidence in cell.evidence:
                assert evidence.domain.endswith(".example")
                assert evidence.quote


async def test_traps_of_the_sample_world(companies: dict[str, dict[str, Cell]]) -> None:
    assert companies["Zwaluwmolen Papier"]["Employees"].reason == "blocked"
    assert companies["Quillon Robotics"]["Employees"].reason == "not_found", "nobody says how many"
    assert all(cell.reason == "not_found" for cell in companies["Thistledown Aeronautics"].values())
    lantern = companies["Lanternwick Lighting"]["Founded"]
    assert [lantern.value, *(other.value for other in lantern.conflict)] in ([1994], [None, 1994]), (
        "neither the injected 1066 nor the year that a pier was opened is another value"
    )
    halden = companies["Halden & Rourke Logistics"]["Founded"]
    values = [halden.value, *(other.value for other in halden.conflict)]
    assert values in ([1962, 1964], [None, 1962, 1964]), "its own site goes before an encyclopedia that is as sure"


async def test_what_the_built_in_reader_is_not_sure_of_is_a_hint_that_a_person_may_use(tmp_path: Path) -> None:
    page = Page(title="Acme Turbines", body="<p>Acme Turbines has grown to 340 staff.</p>")
    async with small_web({"/acme": page}) as web:
        settings = web.settings(tmp_path)
        asked = parse_field("Employees:number=How many people does {Company} employ?")
        async with Services.open(settings) as services:
            table = (await import_table_rows(services, [{"Company": "Acme Turbines"}])).table
            filled = await (await plan_fill(services, table.id, [asked])).run()
            await services.changes.apply(filled.proposal_id)
            (row,) = (await services.store.tables.load(table.id)).rows
            cell = row.cell("Employees")
            assert (cell.value, cell.status, cell.reason, filled.found) == (None, "FAILED", "not_found", 0)
            assert hint_text(cell) == "340"
            assert cell.conflict[0].evidence[0].quote == "Acme Turbines has grown to 340 staff."
            await services.changes.use_other(table.id, row.id, "Employees", 0)
            (row,) = (await services.store.tables.load(table.id)).rows
            assert (row.cell("Employees").value, row.cell("Employees").basis) == (340, "given")


# ── with a model ─────────────────────────────────────────────────────────────────────────────────────────────────────


def with_model(settings: Settings, endpoint: Endpoint, **values: str) -> Settings:
    return replace(
        settings,
        model="openai:gpt-4o-mini",
        model_base_url=endpoint.url,
        model_api_key="k",
        model_timeout="10",
        **values,
    )


@pytest.fixture
async def endpoint() -> AsyncIterator[Endpoint]:
    async with running_endpoint() as running:
        running.otherwise = Answering(boss, patterns=["%entity leadership"])
        yield running


def boss(text: str) -> Cells:
    return {"CEO": [said("Ann Lee", "Ann Lee runs the show")]} if "Ann Lee" in text else {}


CEO = "CEO=Who is the chief executive of {Company}?"
SHOW = Page(title="Acme Turbines", body="<p>Acme Turbines makes rotors. Ann Lee runs the show here, as ever.</p>")


async def test_a_model_plans_chooses_and_reads_and_its_cost_is_told(
    web: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    web.pages = {"/acme": SHOW}
    settings = with_model(web.settings(tmp_path), endpoint)
    cells, _, usage = await fill(settings, tmp_path, "Company\nAcme Turbines\n", CEO)
    assert cells["CEO"].value == "Ann Lee"
    assert cells["CEO"].evidence[0].quote == "Ann Lee runs the show"
    assert web.queries[0] == "Acme Turbines leadership"
    assert usage.llm_calls == len(endpoint.asked)
    assert usage.cost_usd == pytest.approx(cells["CEO"].cost)
    assert usage.cost_usd > 0


async def test_a_second_run_buys_no_answer_twice(web: SmallWeb, endpoint: Endpoint, tmp_path: Path) -> None:
    web.pages = {"/acme": SHOW}
    settings = with_model(web.settings(tmp_path), endpoint)
    for calls in (2, 0):
        cells, _, usage = await fill(settings, tmp_path, "Company\nAcme Turbines\n", CEO)
        assert (cells["CEO"].value, usage.llm_calls) == ("Ann Lee", calls)


async def test_offline_a_run_is_played_again_with_nothing_asked_of_anybody(endpoint: Endpoint, tmp_path: Path) -> None:
    async with small_web({"/acme": SHOW}) as running:
        settings = with_model(running.settings(tmp_path), endpoint)
        first, _, _ = await fill(settings, tmp_path, "Company\nAcme Turbines\n", CEO)
        asked = len(endpoint.asked)
    again, _, usage = await fill(replace(settings, offline="yes"), tmp_path, "Company\nAcme Turbines\n", CEO)
    assert again["CEO"].value == first["CEO"].value == "Ann Lee"
    assert again["CEO"].evidence == first["CEO"].evidence
    assert (usage.searches, usage.fetches, usage.llm_calls, usage.cost_usd) == (0, 0, 0, 0.0)
    assert len(endpoint.asked) == asked
    other, _, _ = await fill(replace(settings, offline="yes"), tmp_path, "Company\nBorealis\n", CEO)
    assert other == {}, "what was never looked for stays open"


async def test_cells_that_the_budget_does_not_cover_are_left_to_a_run_with_more(
    web: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    settings = with_model(web.settings(tmp_path), endpoint, budget="0.0000001")
    cells, _, usage = await fill(settings, tmp_path, "Company\nAcme Turbines\n", FOUNDED, CEO)
    # Also the year, which the built-in reader finds: a cell that is filled is not asked about again.
    assert {name: (cell.value, cell.reason) for name, cell in cells.items()} == {
        "Founded": (None, "over_budget"),
        "CEO": (None, "over_budget"),
    }
    assert usage.llm_calls == 0
    assert not endpoint.asked


async def test_with_cascade_a_model_is_asked_only_for_what_the_reader_is_not_sure_of(
    web: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    settings = with_model(web.settings(tmp_path), endpoint, cascade="yes")
    cells, _, _ = await fill(settings, tmp_path, "Company\nAcme Turbines\n", FOUNDED, CEO)
    assert cells["Founded"].value == 1987
    read = [columns(asked) for asked in endpoint.asked if columns(asked)]
    assert read
    assert all(names == ["CEO"] for names in read)


# Results enough for the model to choose from before the next pattern is searched.
FIVE = {"/acme": replace(OWN, found_by="profile")} | {
    f"/{year}": Page(title="Acme Turbines", body=f"<p>{year} in pictures.</p>", found_by="profile")
    for year in range(2001, 2005)
}


async def test_what_the_first_pages_do_not_say_is_searched_for_with_the_next_pattern(
    web: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    web.pages = FIVE | {"/people": replace(SHOW, title="Acme Turbines: people", found_by="leadership")}

    def read(text: str) -> Cells:
        founded = {"Founded": [said("1987", "was founded in 1987")]} if "1987" in text else {}
        return {**founded, **boss(text)}

    endpoint.otherwise = Answering(read, patterns=["%entity profile", "%entity leadership", "%entity jobs"])
    settings = with_model(web.settings(tmp_path), endpoint, attempts="1")
    cells, _, usage = await fill(settings, tmp_path, "Company\nAcme Turbines\n", FOUNDED, CEO)
    assert (cells["Founded"].value, cells["CEO"].value) == (1987, "Ann Lee")
    assert web.requests["/acme"] == web.requests["/people"] == 1
    readings = [columns(asked) for asked in endpoint.asked if columns(asked)]
    assert readings == [["Founded", "CEO"], ["CEO"]], "what was found is not asked for again"
    assert usage.llm_calls == len(endpoint.asked)


async def test_a_model_s_choice_is_final_and_what_it_declined_is_not_offered_again(
    web: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    copied = replace(FIVE["/acme"], found_by="leadership")
    web.pages = FIVE | {"/people": replace(SHOW, title="Acme Turbines: people", found_by="leadership"), "/copy": copied}
    endpoint.otherwise = Answering(boss, patterns=["%entity profile", "%entity leadership"], numbers=[1])
    settings = with_model(web.settings(tmp_path), endpoint, attempts="1")
    cells, _, _ = await fill(settings, tmp_path, "Company\nAcme Turbines\n", CEO)
    first, second = [text_of(asked) for asked in endpoint.asked if "numbers" in form(asked)]
    assert all(web.url(path) in first for path in FIVE)
    assert f"Read already, which left these columns missing or unsure: {web.url('/acme')}" in second
    assert not any(web.url(path) in second for path in FIVE if path != "/acme"), "they were declined"
    assert web.url("/copy") not in second, "the same title and snippet as a page that was read"
    assert [path for path in FIVE if web.requests[path]] == ["/acme"]
    assert cells["CEO"].value == "Ann Lee"


PLANT = Page(title="Acme Turbines opens a plant", body="<p>A plant in the north.</p>")
PUMPS = Page(title="Borealis Pumps", body="<p>Borealis makes pumps, not turbines.</p>")


async def test_a_model_is_not_shown_results_that_are_clearly_about_something_else(
    web: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    web.pages = {"/acme": OWN, "/show": SHOW, "/plant": PLANT, "/pumps": PUMPS}
    settings = with_model(web.settings(tmp_path), endpoint, attempts="1")
    await fill(settings, tmp_path, "Company\nAcme Turbines\n", CEO)
    (chosen,) = choices(endpoint)
    assert all(web.url(path) in chosen for path in ("/acme", "/show", "/plant"))
    assert web.url("/pumps") not in chosen
    web.pages = {"/pumps": PUMPS}
    (tmp_path / "b").mkdir()
    settings = with_model(web.settings(tmp_path / "b"), endpoint, attempts="1")
    await fill(settings, tmp_path / "b", "Company\nKent Turbines\n", CEO)
    assert web.url("/pumps") in choices(endpoint)[-1], "the row may have another name there, and nothing else was found"


async def test_the_one_result_that_is_plainly_the_row_s_page_is_opened_without_asking(
    web: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    web.pages = {"/acme": SHOW, "/plant": replace(PLANT, title="Our visit to a plant"), "/pumps": PUMPS}
    settings = with_model(web.settings(tmp_path), endpoint, attempts="1")
    cells, operations, _ = await fill(settings, tmp_path, "Company\nAcme Turbines\n", CEO)
    assert (cells["CEO"].value, choices(endpoint)) == ("Ann Lee", [])
    assert (web.requests["/acme"], web.requests["/plant"]) == (1, 0)
    assert "“Acme Turbines” is plainly the page of Acme Turbines." in notes(operations[0], "thinking")


async def test_what_the_row_s_plain_page_does_not_say_is_looked_for_in_the_other_results(
    web: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    web.pages = {"/acme": OWN, "/show": replace(SHOW, title="Rotors of today")}
    settings = with_model(web.settings(tmp_path), endpoint, attempts="1")
    cells, _, _ = await fill(settings, tmp_path, "Company\nAcme Turbines\n", CEO)
    (chosen,) = choices(endpoint)
    assert (web.url("/show") in chosen, cells["CEO"].value) == (True, "Ann Lee")


async def test_a_model_chooses_again_only_if_a_new_result_names_the_row(
    web: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.otherwise = Answering(boss, patterns=["%entity profile", "%entity leadership"])
    for title, times in (("Acme plans a plant", 1), ("A plant of Acme: turbines", 2)):
        web.pages = FIVE | {"/new": Page(title=title, body="<p>A plant.</p>", found_by="leadership")}
        endpoint.asked.clear()
        folder = tmp_path / title
        folder.mkdir()
        settings = with_model(web.settings(folder), endpoint, attempts="1")
        await fill(settings, folder, "Company\nAcme Turbines\n", CEO)
        assert len(choices(endpoint)) == times, title


def choices(endpoint: Endpoint) -> list[str]:
    return [text_of(asked) for asked in endpoint.asked if "numbers" in form(asked)]


async def test_a_model_that_chooses_nothing_has_nothing_opened_for_it(
    web: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.otherwise = Answering(boss, numbers=[])
    settings = with_model(web.settings(tmp_path), endpoint, attempts="1")
    cells, _, usage = await fill(settings, tmp_path, "Company\nAcme Turbines\n", CEO)
    assert (cells["CEO"].value, cells["CEO"].reason, usage.fetches) == (None, "not_found", 0)


SEGMENT = "Segment:select(B2B, B2C)=Whom does {Company} sell to?"
UTILITIES = Page(title="Acme Turbines", body="<p>Acme Turbines makes rotors. Utilities buy them by the dozen.</p>")


def segment(text: str) -> Cells:
    return {"Segment": [said("B2B", "Utilities buy them by the dozen", basis="judged")]}


@pytest.mark.parametrize(("verdict", "confidence"), [("yes", 0.82), ("partly", 0.7)])
async def test_a_judged_value_is_as_sure_as_its_second_judgement(
    web: SmallWeb, endpoint: Endpoint, tmp_path: Path, verdict: str, confidence: float
) -> None:
    web.pages = {"/acme": UTILITIES}
    endpoint.otherwise = Answering(segment, verdict=verdict)
    settings = with_model(web.settings(tmp_path), endpoint, attempts="1")
    cells, operations, _ = await fill(settings, tmp_path, "Company\nAcme Turbines\n", SEGMENT)
    cell = cells["Segment"]
    assert (cell.value, cell.basis, cell.confidence) == ("B2B", "judged", confidence)
    assert cell.evidence[0].quote == "Utilities buy them by the dozen"
    assert f"The quotes support 'B2B': {verdict}. so" in notes(operations[0], "thinking")
    assert cell.error == ("Its quotes support it only in part: so" if verdict == "partly" else None)
    assert sum("checked" in form(asked) for asked in endpoint.asked) == 1


async def test_a_judged_value_that_its_quotes_do_not_bear_is_left_out_and_said(
    web: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    web.pages = {"/acme": UTILITIES}
    endpoint.otherwise = Answering(segment, verdict="no")
    settings = with_model(web.settings(tmp_path), endpoint, attempts="1")
    cells, _, _ = await fill(settings, tmp_path, "Company\nAcme Turbines\n", SEGMENT)
    assert (cells["Segment"].value, cells["Segment"].reason) == (None, "not_found")
    assert "'B2B' is not supported by its quotes: so" in (cells["Segment"].error or "")


async def test_with_strict_evidence_nothing_is_judged(web: SmallWeb, endpoint: Endpoint, tmp_path: Path) -> None:
    web.pages = {"/acme": UTILITIES}
    endpoint.otherwise = Answering(segment)
    settings = with_model(web.settings(tmp_path), endpoint, attempts="1", evidence="strict")
    cells, _, _ = await fill(settings, tmp_path, "Company\nAcme Turbines\n", SEGMENT)
    assert cells["Segment"].value is None
    assert "only what is stated may be given" in (cells["Segment"].error or "")
    assert not any("checked" in form(asked) for asked in endpoint.asked)


async def test_a_page_about_a_namesake_fills_nothing_and_is_named(
    web: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    web.pages = {"/acme": SHOW}
    endpoint.otherwise = Answering(lambda text: {}, same_row="other", reason="the one of this row is in Norway")
    settings = with_model(web.settings(tmp_path), endpoint, attempts="1")
    table = "Company,Country\nAcme Turbines,Norway\n"
    cells, operations, _ = await fill(settings, tmp_path, table, CEO)
    assert (cells["CEO"].value, cells["CEO"].reason) == (None, "not_found")
    assert "About something else: 1 page" in (cells["CEO"].error or "")
    assert "the one of this row is in Norway" in (cells["CEO"].error or "")
    told = [note for note in notes(operations[0], "thinking") if "is about something else" in note]
    assert told == [f"{web.address} is about something else: the one of this row is in Norway"]
    assert "Country: Norway" in sent(endpoint.asked[-1]), "the model sees the row whole"


async def test_an_answer_that_cannot_be_verified_goes_back_once_and_is_then_left_out_and_said(
    web: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.otherwise = Answering(lambda text: {"Founded": [said("1955", "everybody knows 1955")]})
    settings = with_model(web.settings(tmp_path), endpoint, attempts="1")
    cells, operations, _ = await fill(settings, tmp_path, "Company\nAcme Turbines\n", FOUNDED)
    assert (cells["Founded"].value, cells["Founded"].reason) == (None, "not_found")
    assert "could not be verified and was left out: the quote “everybody knows 1955”" in (cells["Founded"].error or "")
    readings = [asked for asked in endpoint.asked if columns(asked)]
    assert len(readings) == 2
    assert "It fails a check: Founded: the quote “everybody knows 1955” is not in text 1." in sent(readings[1])
    assert any("not verified and left out" in note for note in notes(operations[0], "thinking"))


async def test_a_page_that_says_there_is_none_is_no_page_that_says_nothing(
    web: SmallWeb, endpoint: Endpoint, tmp_path: Path
) -> None:
    """A model's "none" with its quote: the cell says who says so, and nobody looks any further."""
    web.pages = {"/acme": Page(title="Acme Turbines", body="<p>Acme Turbines. Patron: none. Ann Lee runs it.</p>")}
    endpoint.otherwise = Answering(
        lambda text: {"Patron": [said("None", "Patron: none")]} if "Patron" in text else {}, patterns=["%entity"]
    )
    settings = with_model(web.settings(tmp_path), endpoint)
    cells, _, _ = await fill(settings, tmp_path, "Company\nAcme Turbines\n", "Patron=Who is the patron of {Company}?")
    assert (cells["Patron"].value, cells["Patron"].reason) == (None, "not_applicable")
    assert cells["Patron"].evidence[0].quote == "Patron: none"
    assert "says that there is none: “Patron: none”" in (cells["Patron"].error or "")
    assert len(web.queries) == 1
