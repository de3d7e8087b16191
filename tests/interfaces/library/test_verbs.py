"""`import tablewright as tw`: the verbs, what they take and what they give back."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from msgspec import structs
from pydantic import BaseModel
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

import tablewright as tw
from tablewright.interfaces.library import progress
from tablewright.operations.rows import RowShown

TOTAL = "Total:number={Price} * {Quantity}"
SALES = [{"Item": "Pen", "Price": 2, "Quantity": 3}, {"Item": "Ink", "Price": None, "Quantity": 1}]


class Scores(tw.Strategy):
    """Knows some rows by heart."""

    name, display_name = "scores", "Scores"

    def prepare(self, task: tw.Task, tools: tw.Tools) -> tw.Answer:
        async def answer(row: tw.Row, tell: tw.Tell) -> Sequence[tw.Finding]:
            if row.cell("Item").value != "Pen":
                return [tw.Finding(field=field.name, reason="not_found") for field in task.fields]
            proof = tw.Evidence(
                origin="https://scores.example/pen", title="Scores", quote="<b>Pen</b> & others: 5", page=2
            )
            return [tw.Finding(field=field.name, value="5", confidence=0.9, evidence=(proof,)) for field in task.fields]

        return answer


@pytest.fixture(scope="module")
def scored() -> tw.TableResult:
    return tw.enrich(SALES, {"Score:number": "How good is {Item}?"}, strategy=Scores())


def test_a_table_has_the_shape_that_the_other_interfaces_give_it(scored: tw.TableResult) -> None:
    whole = scored.to_dict()
    assert (whole["row_count"], whole["key_field"]) == (2, "Item")
    assert [each["name"] for each in whole["fields"]] == ["Item", "Price", "Quantity", "Score"]
    assert set(whole["rows"][0]) == set(RowShown.__struct_fields__)
    assert (whole["rows"][0]["key"], whole["rows"][0]["cells"]["Score"]["value"]) == ("pen", 5)
    assert whole["rows"][1]["cells"]["Score"]["reason"] == "not_found"


def test_every_public_name_is_visible_and_there() -> None:
    assert [name for name in dir(tw) if not name.startswith("__")] == tw.__all__
    assert tw.__all__ == sorted(tw._HOME_OF)
    assert [name for name in tw.__all__ if getattr(tw, name) is None] == []
    with pytest.raises(AttributeError, match="no attribute 'enrichh'"):
        tw.enrichh  # noqa: B018


def test_what_is_left_out_of_the_data_is_in_the_notes_and_missing_values_are_not(tmp_path: Path) -> None:
    odd = "Left empty: 1 number (NaN, Infinity) of 'Price'."
    file = tmp_path / "sales.json"
    file.write_text('[{"Item": "Pen", "Price": 1e5, "Quantity": 3}, {"Item": "Ink", "Price": NaN, "Quantity": 1}]')
    with pytest.warns(UserWarning, match="Left empty: 1 number"):
        assert tw.enrich(file, TOTAL).notes == (odd,)
    with pytest.warns(UserWarning, match="Left empty: 1 number"):
        assert tw.enrich([SALES[0], {**SALES[1], "Price": float("inf")}], TOTAL).notes == (odd,)
    assert tw.enrich(pd.DataFrame(SALES), TOTAL).notes == ()


def test_importing_the_package_loads_nothing_else() -> None:
    loaded = (
        "import sys, tablewright; dir(tablewright); print(*(name for name in sys.modules if 'tablewright' in name))"
    )
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["tablewright"]


def test_a_strategy_that_is_an_object_fills_rows_in_memory(scored: tw.TableResult) -> None:
    assert [(row["Item"], row["Score"]) for row in scored] == [("Pen", 5), ("Ink", None)]
    assert (scored.cell(0, "score").confidence, scored.cell(1, "Score").reason) == (0.9, "not_found")
    assert (scored.status, scored.columns, len(scored)) == ("done", ["Item", "Price", "Quantity", "Score"], 2)
    assert scored.report["fields"][0]["name"] == "Score"


def test_a_plain_function_is_a_strategy() -> None:
    async def prices(row: dict[str, object]) -> object:
        known = {"Pen": {"Net:": 1, "Net": "2.50 EUR"}, "Ink": [tw.Finding(field="Net", value=3, confidence=0.5)]}
        return known.get(str(row["Item"]), "dear")

    rows = [*SALES, {"Item": "Nib"}]
    with pytest.warns(tw.TablewrightWarning, match=r"Net: 1 of 3 cells failed, .* prices returned str") as warned:
        table = tw.enrich(rows, ["Net:number"], strategy=prices, attempts=1, progress=False)  # type: ignore[arg-type]
    assert [each.filename for each in warned] == [__file__]
    assert table.column("Net") == [2.5, 3, None]
    assert table.cell(1, "Net").confidence == 0.5
    refused = table.cell(2, "Net")
    assert refused.reason == "error"
    assert "prices returned str for a row" in (refused.error or "")
    assert table.evidence()[2]["note"] == refused.error


def test_evidence_is_a_row_for_each_source_and_says_why_a_cell_is_empty(scored: tw.TableResult) -> None:
    pen, ink = scored.evidence()
    assert (pen["key"], pen["column"], pen["value"], pen["page"]) == ("Pen", "Score", 5, 2)
    assert pen["quote"] == "<b>Pen</b> & others: 5"
    assert (ink["key"], ink["value"], ink["status"], ink["reason"], ink["source"]) == (
        "Ink",
        None,
        "FAILED",
        "not_found",
        "",
    )


def test_a_notebook_shows_colours_and_quotes_and_runs_no_markup(scored: tw.TableResult) -> None:
    html = scored._repr_html_()
    assert "&lt;b&gt;Pen&lt;/b&gt; &amp; others: 5" in html
    assert "<b>" not in html
    assert "#1b7f3b" in html
    assert 'title="not found' in html


def test_a_column_that_is_not_there_is_an_error(scored: tw.TableResult) -> None:
    with pytest.raises(tw.NotFound, match="no column 'Scores'"):
        scored.column("Scores")


def test_a_pandas_frame_keeps_its_index_its_other_columns_and_its_empty_rows() -> None:
    frame = pd.DataFrame(
        {
            "Item": ["Pen", None, "Ink"],
            "Price": [2.0, np.nan, 4.5],
            "Quantity": [3, None, 1],
            "At": pd.Timestamp("2026-01-02"),
        },
        index=["a", "b", "c"],
    )
    frame.loc["b", "At"] = pd.NaT
    found = tw.transform(frame, TOTAL).to_pandas()
    assert list(found.columns) == ["Item", "Price", "Quantity", "At", "Total"]
    assert found["At"].dtype == frame["At"].dtype
    assert list(found.index) == ["a", "b", "c"]
    assert found["Total"].tolist()[::2] == [6.0, 4.5]
    assert pd.isna(found.loc["b", "Total"])
    assert "Total" not in frame


def test_a_polars_frame_and_an_arrow_table_come_back_as_such() -> None:
    frame = pl.DataFrame(SALES)
    done = tw.transform(frame, TOTAL)
    assert done.to_polars().equals(frame.with_columns(Total=pl.Series([6, None], dtype=pl.Int64)))
    assert done.to_arrow().column("Total").to_pylist() == [6, None]
    assert tw.transform(pa.Table.from_pylist(SALES), TOTAL).to_pandas()["Total"].tolist()[0] == 6


def test_dates_money_and_lists_have_the_nearest_type() -> None:
    rows = [{"Day": date(2026, 1, 2), "Cost": tw.Money(amount=3, currency="EUR"), "Tags": ["a", "b"], "Ok": True}]
    done = tw.transform(rows, "Next=upper('x')")
    frame = done.to_pandas()
    assert frame["Day"][0] == pd.Timestamp("2026-01-02")
    assert (frame["Cost"][0], frame["Tags"][0], frame["Ok"][0]) == ("3 EUR", ["a", "b"], True)
    assert done.to_arrow().schema.field("Day").type == pa.date32()


def test_what_one_verb_returns_another_takes_with_its_evidence(scored: tw.TableResult) -> None:
    more = tw.transform(scored, "Double:number={Score} * 2")
    assert more.column("Double") == [10, None]
    assert more.cell(0, "Score").evidence[0].quote == "<b>Pen</b> & others: 5"


def test_rows_come_back_as_objects_with_their_evidence() -> None:
    class Rated(BaseModel):
        Item: str
        Score: int

    pen, ink = tw.enrich(SALES, ["Score:number=How good?"], strategy=Scores()).instances(Rated)
    assert pen.value == Rated(Item="Pen", Score=5)
    assert pen.evidence["Score"][0].page == 2
    assert (ink.value, ink.problem) == (None, "Score: not_found")


async def test_the_verbs_work_where_a_loop_runs_already_and_can_be_awaited() -> None:
    assert tw.transform(SALES, TOTAL).column("Total") == [6, None]
    one, two = await asyncio.gather(tw.aio.transform(SALES, TOTAL), tw.aio.transform(SALES, TOTAL))
    assert one.rows == two.rows
    with pytest.raises(tw.BadField):
        tw.transform(SALES, "Total:number={Price} * {Nothing}")


def test_a_named_home_is_kept_and_a_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "sales.csv").write_text("Item,Price\nPen,2\n")
    assert tw.transform(tmp_path / "sales.csv", "Twice:number={Price}*2", home=tmp_path / "home").rows[0]["Twice"] == 4
    again = tw.transform("sales", "Thrice:number={Price}*3", home=tmp_path / "home")
    assert again.rows == [{"Item": "Pen", "Price": 2, "Twice": 4, "Thrice": 6}]
    with pytest.raises(tw.BadFile, match="no file"):
        tw.transform("nothing.csv", TOTAL)


def test_nothing_is_left_behind_without_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TABLEWRIGHT_HOME", str(tmp_path / "mine"))
    tw.transform(SALES, TOTAL)
    assert list(tmp_path.iterdir()) == []


def test_a_result_is_saved_with_its_sources(scored: tw.TableResult, tmp_path: Path) -> None:
    scored.save(tmp_path / "scores.csv", evidence=True)
    written = (tmp_path / "scores.csv").read_text(encoding="utf-8")
    assert "Score status" in written
    assert "https://scores.example/pen" in written
    (row, *others) = scored.table.rows
    doubted = structs.replace(row, cells={**row.cells, "Score": structs.replace(row.cell("Score"), status="FLAGGED")})
    flagged = replace(scored, table=structs.replace(scored.table, rows=(doubted, *others)))
    with pytest.warns(UserWarning, match="1 exported value is flagged as doubtful"):
        flagged.save(tmp_path / "scores.json")
    with pytest.raises(tw.BadFile):
        scored.save(tmp_path / "scores.xyz")


def test_advice_names_arguments_instead_of_options() -> None:
    with pytest.raises(tw.UsageError, match="TABLEWRIGHT_MODEL, or say `model=`"):
        tw.transform(SALES, {"German": "Translate {Item} into German"})


def test_an_error_is_shown_alone() -> None:
    with pytest.raises(tw.UsageError, match=r"There is no strategy 'pipline'\. Did you mean pipeline\?") as raised:
        tw.enrich(SALES, "Score", strategy="pipline")
    assert raised.value.__context__ is None


def test_what_is_not_an_option_is_refused_with_the_nearest() -> None:
    with pytest.raises(tw.BadSetting, match="Did you mean search"):
        tw.transform(SALES, TOTAL, serch="sample")  # type: ignore[call-arg]


@pytest.mark.parametrize("rows", [{"Item": 1}, 7, ["Pen"], []])
def test_what_has_no_rows_is_refused(rows: object) -> None:
    with pytest.raises(tw.UsageError, match=r"dictionary|Rows cannot be taken|no rows"):
        tw.transform(rows, TOTAL)  # type: ignore[arg-type]


def test_a_model_that_is_an_object_is_asked() -> None:
    asked: list[str] = []

    def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        asked.append(str(messages[-1]))
        return ModelResponse(parts=[TextPart('{"rows": []}')])

    with pytest.warns(tw.TablewrightWarning, match="without the model|1 of 1 cells failed"):
        done = tw.transform([{"Title": "Bonjour"}], "English=Translate {Title}", model=FunctionModel(reply))
    assert "Bonjour" in asked[0]
    assert done.cell(0, "English").status == "FAILED"


def test_documents_become_rows_and_evidence_names_their_files(tmp_path: Path) -> None:
    (tmp_path / "lease.txt").write_text("Lease\n\nTenant: Ilse Brandt\nRent: 840 EUR\n", encoding="utf-8")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 broken")
    with pytest.warns(tw.TablewrightWarning, match="^broken.pdf is a broken PDF"):
        table = tw.extract(tmp_path, ["Tenant", "Rent:money(EUR)"])
    tenant, rent = table.evidence()
    assert (tenant["value"], tenant["quote"]) == ("Ilse Brandt", "Tenant: Ilse Brandt")
    assert {tenant["source"], rent["source"]} == {str(tmp_path / "lease.txt")}
    table.save(tmp_path / "leases.csv", evidence=True)
    assert f",lease ({tmp_path / 'lease.txt'})" in (tmp_path / "leases.csv").read_text(encoding="utf-8")
    assert table.cell(0, "Tenant").evidence[0].origin == str(tmp_path / "lease.txt")
    assert "doc_" not in str(table.report["rows"][0]["cells"])


def test_asking_documents_gives_passages_with_citations(tmp_path: Path) -> None:
    (tmp_path / "lease.txt").write_text("Lease of the old mill\n\nThe lease of the old mill ends on 30 June 2027.\n")
    found = tw.ask(tmp_path / "lease.txt", "When does the lease of the mill end?")
    assert "30 June 2027" in found.evidence()[0]["quote"]
    assert found.to_dict()["completeness"] == found.reply.completeness
    assert "30 June 2027" in found._repr_html_()
    with pytest.raises(tw.UsageError, match="no file or folder"):
        tw.ask(str(tmp_path / "missing"), "When?")


def test_a_long_list_from_documents_is_whole_and_names_them(tmp_path: Path) -> None:
    for number in range(1, 54):
        (tmp_path / f"r{number}.txt").write_text(f"Receipt\n\nShop: Corner {number}\nTotal: {number} EUR\n")
    found = tw.ask(tmp_path, "all receipts with Total > 1")
    assert len(found.rows) == found.reply.count == 52
    assert {row["Document"] for row in found.rows} == {f"r{number}" for number in range(2, 54)}
    assert [each.source for each in found.reply.rows] == [each.number for each in found.citations]
    assert "Document" in found.to_pandas()
    summed = tw.ask(tmp_path, where="kind = receipt", figure="sum", of="Total", kind="receipt")
    assert "1431" in summed.answer.replace(",", "")
    with pytest.raises(tw.UsageError, match="figure"):
        tw.ask(tmp_path, where="kind = receipt", figure="median", of="Total")  # type: ignore[arg-type]


def test_find_gives_a_table_whose_rows_meet_the_conditions() -> None:
    found = tw.find("electric kettles", ["Product", "Price:money"], where="Price < 35 GBP", fill=False, search="sample")
    pounds = [row["Price"].amount for row in found if row["Price"].currency == "GBP"]
    assert found.status == "done"
    assert pounds
    assert max(pounds) < 35
    assert any("estimated" in note for note in found.notes)


def test_a_notebook_shows_progress_without_widgets_and_clears_it(monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[dict[str, str]] = []

    class Handle:
        def update(self, content: dict[str, str], *, raw: bool) -> None:
            shown.append(content)

    def display(content: dict[str, str], *, raw: bool, display_id: bool) -> Handle:
        shown.append(content)
        return Handle()

    notebook = ModuleType("IPython.display")
    notebook.display = display  # type: ignore[attr-defined]
    for name, module in (("ipykernel", ModuleType("ipykernel")), ("IPython.display", notebook)):
        monkeypatch.setitem(sys.modules, name, module)
    monkeypatch.setattr(progress, "UPDATE_SECONDS", 0)
    tw.enrich([{"Item": f"Pen {number}"} for number in range(3)], "Stock:number", strategy=lambda row: {"Stock": 1})
    assert shown[0]["text/plain"] == "Filling"
    assert {"text/html": 'Filling <progress value="3" max="3"></progress>  3/3', "text/plain": "Filling 3/3"} in shown
    assert shown[-1] == {"text/html": "", "text/plain": ""}
