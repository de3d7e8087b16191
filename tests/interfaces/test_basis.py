"""How a value relates to its evidence is said wherever the value is."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

from openpyxl import load_workbook

from tablewright.interfaces.page.table.evidence_panel import explain_confidence
from tablewright.services import Services
from tablewright.settings import Settings
from tests.interfaces.api.using import Api, served_api
from tests.interfaces.conftest import Shell
from tests.interfaces.judging import converted_table, judged_table
from tests.interfaces.mcp.talking import within


async def filled(home: Path, folder: Path) -> tuple[str, str]:
    """A table with a judged value that is in it, and the proposal that brought it."""
    async with Services.open(Settings(home=str(home))) as services:
        table_id, run = await judged_table(services, folder)
        await services.changes.apply(run.proposal_id)
        await services.changes.write_values(table_id, {}, [{"Company": "Bolt", "Segment": "B2C"}])
    return table_id, run.proposal_id


async def test_a_judged_value_is_marked_in_the_grid_the_cell_and_the_proposal(shell: Shell) -> None:
    table_id, proposal_id = await filled(shell.folder / "home", shell.folder)
    shown = shell("tables", "show", table_id).stdout
    assert "B2B (judged)" in shown
    assert "B2C (judged)" not in shown
    cell = shell("tables", "show", table_id, "--row", "1", "--field", "Segment").stdout
    assert "0.70 (medium, judged)" in cell
    assert "Judged by the model from these quotes" in cell
    assert "Given by a person" in shell("tables", "show", table_id, "--row", "1", "--field", "Company").stdout
    assert "B2B (judged)" in shell("proposals", "show", proposal_id).stdout
    assert shell.json("proposals", "show", proposal_id)["operations"][0]["cell"]["basis"] == "judged"


async def test_json_names_the_basis_also_where_it_is_not_stored(shell: Shell) -> None:
    table_id, _ = await filled(shell.folder / "home", shell.folder)
    rows = shell.json("tables", "show", table_id)["rows"]
    assert [{name: cell["basis"] for name, cell in row["cells"].items()} for row in rows] == [
        {"Company": "given", "Segment": "judged"},
        {"Company": "given", "Segment": "given"},
    ]
    shell.json("enrich", table_id, "--field", "Shout={Company} + '!'", "--yes")
    assert shell.json("tables", "show", table_id, "--row", "1", "--field", "Shout")["cell"]["basis"] == "computed"


async def test_the_api_and_an_assistant_are_told_the_basis(tmp_path: Path) -> None:
    table_id, proposal_id = await filled(tmp_path / "home", tmp_path)
    with served_api(tmp_path / "home") as api:
        assert basis_over_http(api, table_id) == ["judged", "given"]
    async with within(tmp_path) as talk:
        page = await talk("show_table", table=table_id)
        assert [page["notes"][f"{row}.Segment"].split("; ")[1] for row in (1, 2)] == ["judged", "given"]
        proposal = await talk("show_table", table=table_id, proposal_id=proposal_id)
        assert "judged" in proposal["notes"]["1.Segment"]
        evidence = await talk("show_table", table=table_id, row_id=1, field="Company")
        assert evidence["cell"]["basis"] == "given"


def basis_over_http(api: Api, table_id: str) -> list[str]:
    return [api.get(f"/tables/{table_id}/rows/{row}/cells/Segment")["cell"]["basis"] for row in (1, 2)]


RULE = "country and nationality"


async def test_a_converted_value_names_its_rule_at_every_door_and_in_every_export(shell: Shell) -> None:
    home = shell.folder / "home"
    async with Services.open(Settings(home=str(home))) as services:
        table_id, run = await converted_table(services, shell.folder)
        await services.changes.apply(run.proposal_id)
    cell = shell("tables", "show", table_id, "--row", "1", "--field", "Country").stdout
    assert f"Converted from what the source states: {RULE}" in cell
    assert "Danish" in cell
    assert (
        f"Denmark (by {RULE})"
        in shell.json("proposals", "show", run.proposal_id)["operations"][0]["steps"][-1]["detail"]
    )
    shell("tables", "export", table_id, str(shell.folder / "firms.md"), "--evidence")
    assert f"converted: {RULE}" in (shell.folder / "firms.md").read_text()
    shell("tables", "export", table_id, str(shell.folder / "firms.xlsx"))
    book = load_workbook(BytesIO((shell.folder / "firms.xlsx").read_bytes()))
    assert book["Evidence"]["H2"].value == f"converted: {RULE}"
    assert RULE in book["Table"]["B2"].comment.text
    async with Services.open(Settings(home=str(home))) as services:
        assert f"Converted from what the source states: {RULE}." in explain_confidence(
            (await services.load(table_id)).rows[0].cell("Country")
        )
    with served_api(home) as api:
        shown = api.get(f"/tables/{table_id}/rows/1/cells/Country")["cell"]
        assert (shown["basis"], shown["converted_by"]) == ("converted", RULE)
    async with within(shell.folder) as talk:
        evidence = await talk("show_table", table=table_id, row_id=1, field="Country")
        assert evidence["cell"]["converted_by"] == RULE
        assert f"converted ({RULE})" in (await talk("show_table", table=table_id))["notes"]["1.Country"]


async def test_what_comes_back_from_an_export_still_names_its_rule(shell: Shell) -> None:
    async with Services.open(Settings(home=str(shell.folder / "home"))) as services:
        table_id, run = await converted_table(services, shell.folder)
        await services.changes.apply(run.proposal_id)
    shell("tables", "export", table_id, str(shell.folder / "back.json"))
    back = shell.json("tables", "import", str(shell.folder / "back.json"))["table_id"]
    assert shell.json("tables", "show", back, "--row", "1", "--field", "Country")["cell"]["converted_by"] == RULE
