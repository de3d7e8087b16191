"""A verb that runs again with the same home: the table it made before is updated, and only what changed is filled."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import tablewright as tw

GOODS = [{"Item": "Pen", "Maker": "Quarrow"}, {"Item": "Ink", "Maker": "Tindle"}]


class Score:
    """A function that is a strategy, and counts the rows that it was asked for."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, row: Mapping[str, Any]) -> dict[str, Any]:
        self.asked.append(row["Item"])
        return {"Score": len(row["Maker"])}


def fill(home: Path, data: Any, score: Score, **options: Any) -> tw.TableResult:
    return tw.enrich(data, {"Score:number": "How good is {Item} of {Maker}?"}, strategy=score, home=home, **options)


def tables_of(home: Path) -> list[str]:
    async def listed() -> list[str]:
        async with tw.Services.open(tw.Settings(home=str(home))) as services:
            return [each.id for each in await services.tables()]

    return asyncio.run(listed())


def test_the_same_rows_again_are_the_same_table_and_nothing_is_filled_twice(tmp_path: Path) -> None:
    score = Score()
    first = fill(tmp_path, GOODS, score)
    again = fill(tmp_path, GOODS, score)
    assert again.table.id == first.table.id
    assert again.column("Score") == first.column("Score") == [7, 6]
    assert sorted(score.asked) == ["Ink", "Pen"]
    assert tables_of(tmp_path) == [first.table.id]
    assert not again.notes


def test_a_changed_value_and_a_new_row_are_filled_and_the_result_has_the_rows_of_the_data(tmp_path: Path) -> None:
    score = Score()
    fill(tmp_path, GOODS, score)
    changed = [{"Item": "Cap", "Maker": "Ox"}, {"Item": "Pen", "Maker": "Brindlewick"}]
    again = fill(tmp_path, changed, score)
    assert again.column("Item") == ["Cap", "Pen"]
    assert again.column("Score") == [2, 11]
    assert sorted(score.asked) == ["Cap", "Ink", "Pen", "Pen"]
    both = fill(tmp_path, [*changed, GOODS[1]], score)
    assert both.column("Score") == [2, 11, 6]
    assert len(score.asked) == 4
    assert len(tables_of(tmp_path)) == 1


def test_an_empty_value_of_the_data_clears_nothing_that_was_found(tmp_path: Path) -> None:
    score = Score()
    rows = [dict(row, Score=None) for row in GOODS]
    assert fill(tmp_path, rows, score).column("Score") == [7, 6]
    assert fill(tmp_path, rows, score).column("Score") == [7, 6]
    assert len(score.asked) == 2


def test_a_file_that_changed_updates_its_table(tmp_path: Path) -> None:
    score, home, file = Score(), tmp_path / "home", tmp_path / "goods.csv"
    file.write_text("Item,Maker\nPen,Quarrow\nInk,Tindle\n", encoding="utf-8")
    fill(home, file, score)
    file.write_text("Item,Maker\nPen,Quarrow\nInk,Tin\nCap,Ox\n", encoding="utf-8")
    assert fill(home, file, score).column("Score") == [7, 3, 2]
    assert sorted(score.asked) == ["Cap", "Ink", "Ink", "Pen"]
    assert len(tables_of(home)) == 1


def test_rows_whose_keys_repeat_are_matched_only_if_nothing_changed(tmp_path: Path) -> None:
    score = Score()
    twins = [GOODS[0], GOODS[0]]
    first = fill(tmp_path, twins, score)
    assert fill(tmp_path, twins, score).table.id == first.table.id
    other = fill(tmp_path, [GOODS[0], GOODS[0], GOODS[1]], score)
    assert other.table.id != first.table.id
    assert other.column("Score") == [7, 7, 6]


def test_other_columns_are_another_table(tmp_path: Path) -> None:
    score = Score()
    first = fill(tmp_path, GOODS, score)
    other = fill(tmp_path, [dict(row, Colour="blue") for row in GOODS], score)
    assert other.table.id != first.table.id


def test_without_a_home_each_call_is_on_its_own() -> None:
    score = Score()
    for _ in range(2):
        tw.enrich(GOODS, {"Score:number": "How good is {Item}?"}, strategy=score)
    assert len(score.asked) == 4


def test_documents_that_come_again_are_the_same_table_and_a_new_one_is_a_row(tmp_path: Path) -> None:
    home, papers = tmp_path / "home", tmp_path / "papers"
    papers.mkdir()
    (papers / "mill.txt").write_text("Lease\n\nTenant: Ilse Brandt\n", encoding="utf-8")
    first = tw.extract(papers, ["Tenant"], home=home)
    (papers / "barn.txt").write_text("Lease\n\nTenant: Odo Finch\n", encoding="utf-8")
    again = tw.extract(papers, ["Tenant"], home=home)
    assert again.table.id == first.table.id
    assert sorted(map(str, again.column("Tenant"))) == ["Ilse Brandt", "Odo Finch"]
    (tmp_path / "other.txt").write_text("Lease\n\nTenant: Una Vale\n", encoding="utf-8")
    other = tw.extract(tmp_path / "other.txt", ["Tenant"], home=home)
    assert other.column("Tenant") == ["Una Vale"]


def test_a_function_is_called_with_the_progress() -> None:
    told: list[tw.Progress] = []
    tw.enrich(GOODS, {"Score:number": "How good is {Item}?"}, strategy=Score(), progress=told.append)
    assert {each.stage for each in told} == {"Filling"}
    assert (told[-1].done, told[-1].total) == (2, 2)
    assert [each.done for each in told] == sorted(each.done for each in told)


def test_progress_that_cannot_be_called_is_refused() -> None:
    with pytest.raises(tw.TablewrightError, match="`progress` is 'yes'"):
        tw.enrich(GOODS, {"Score:number": "?"}, strategy=Score(), progress="yes")  # type: ignore[arg-type]


def test_an_answer_that_is_not_exact_says_so_and_a_named_kind_makes_it_exact(tmp_path: Path) -> None:
    for number, item in enumerate(("4 summer tires", "1 Bell", "Repair of a flat tyre")):
        (tmp_path / f"{number}.txt").write_text(f"Receipt\n\nShop: Wheel {number}\n{item} 20.00\n", encoding="utf-8")
    guessed = tw.ask(tmp_path, "all receipts that contain tires")
    named = tw.ask(tmp_path, "all receipts that contain tires", kind="receipt")
    assert len(guessed.rows) == len(named.rows) == 2
    assert "approximate (the kind of 3 of these 3 is a guess from titles and folders)" in guessed.answer, "said once"
    assert "Completeness: approximate" in str(guessed)
    assert named.to_dict()["completeness"] == "exact"
    assert "Completeness" not in named.answer
