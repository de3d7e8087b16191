"""What a program may hand to the verbs, what comes back, and what is said to a slip."""

from __future__ import annotations

import asyncio
import signal
import threading
from dataclasses import fields
from enum import IntEnum
from pathlib import Path
from typing import Any, Literal

import pandas as pd
import pyarrow as pa
import pytest
from pydantic import BaseModel, Field, field_validator

import tablewright as tw
from tablewright.interfaces.library.session import Options
from tablewright.interfaces.library.verbs import run_in_thread
from tablewright.settings import DECLARED, SECRET_SETTINGS

ROWS = [{"Item": "Pen", "Price": 2}]
TWICE = "Twice:number={Price} * 2"
# Settings that none of the verbs use.
SERVERS = ("documents_unasked", "answer_", "quota_", "shortlist_", "model_concurrency", "slices")


class Rank(IntEnum):
    first = 1
    second = 2


class Rated(BaseModel):
    Item: str
    Rank: Rank
    Stars: Literal[1, 2]
    Seat: str = Field("", validation_alias="HeadQuarters")
    Price: tw.Money | None = None
    Note: str = ""


def rate(row: dict[str, Any]) -> dict[str, Any]:
    return {"Rank": "2", "Stars": "1", "Seat": "Oslo", "Price": "12 EUR"}


def test_instances_have_the_members_of_enums_and_literals_whatever_the_aliases() -> None:
    (pen,) = tw.enrich([{"Item": "Pen"}], Rated, strategy=rate).instances(Rated)
    assert pen.problem == ""
    assert pen.value is not None
    assert (pen.value.Rank, pen.value.Stars, pen.value.Seat) == (Rank.second, 1, "Oslo")
    assert pen.value.Price == tw.Money(12, "EUR")
    assert pen.value.model_dump(mode="json")["Price"] == {"amount": 12, "currency": "EUR"}


def test_an_instance_that_is_refused_says_what_was_refused_and_no_more() -> None:
    class Young(BaseModel):
        Item: str
        Founded: int
        Note: str = ""

        @field_validator("Founded")
        @classmethod
        def recent(cls, year: int) -> int:
            if year < 2000:
                raise ValueError("too old")
            return year

    old, unknown = tw.enrich(
        [{"Item": "Pen"}, {"Item": "Ink"}],
        Young,
        strategy=lambda row: {"Founded": 1999} if row["Item"] == "Pen" else {},
    ).instances(Young)
    assert (old.value, old.problem) == (None, "Founded: Value error, too old (1999)")
    assert (unknown.value, unknown.problem) == (None, "Founded: not_found")


@pytest.mark.parametrize(
    "data",
    [
        pd.DataFrame([["Pen", 2, 3]], columns=["Item", "Price", "Price"]),
        pa.Table.from_arrays([pa.array(["Pen"]), pa.array([2]), pa.array([3])], names=["Item", "Price", "Price"]),
    ],
)
def test_two_columns_of_one_name_are_refused(data: Any) -> None:
    with pytest.raises(tw.UsageError, match="More than one column is called 'Price'"):
        tw.transform(data, TWICE)


def test_a_series_is_refused_as_rows() -> None:
    with pytest.raises(tw.UsageError, match="Row 1 is a str, not a dictionary"):
        tw.transform(pd.Series(["Pen"]), TWICE)  # type: ignore[arg-type]


def test_numbers_beyond_64_bits_still_become_a_frame() -> None:
    large = tw.enrich(ROWS, ["Atoms:number"], strategy=lambda row: {"Atoms": 2**70})
    assert large.to_pandas()["Atoms"][0] == float(2**70)
    assert large.to_polars()["Atoms"][0] == float(2**70)
    assert large.to_arrow()["Atoms"][0].as_py() == float(2**70)


@pytest.mark.parametrize(
    ("slip", "said"),
    [
        ({"max_row": 1}, "Did you mean max_rows"),
        ({"strategi": "lookup"}, "Did you mean strategy"),
        ({"model": 5}, "5 is not a model"),
        ({"search": 5}, "5 does not search"),
        ({"settings": {"attempts": 2}}, "`settings` is a dict"),
        ({"strategy": 5}, "5 is not a strategy"),
        ({"strategy": tw.Strategy}, "is not a strategy"),
        ({"key_field": "Itm"}, "There is no column 'Itm'"),
        ({"max_rows": "2"}, "'2' rows cannot be filled"),
        ({"parsers": {"log": 5}}, "`parsers` must be functions"),
        ({"strategy": "research", "params": {"max_steps": 0}}, "max_steps must be a whole number from 1"),
    ],
)
def test_a_wrong_argument_is_named(slip: dict[str, Any], said: str) -> None:
    with pytest.raises(tw.TablewrightError, match=said):
        tw.enrich(ROWS, TWICE, **slip)


@pytest.mark.parametrize("path", ["nothing", "."])
def test_a_path_without_a_file_is_called_one(path: str) -> None:
    with pytest.raises(tw.BadFile, match="There is no file"):
        tw.transform(path, TWICE)


def test_a_search_function_that_returns_no_hits_is_named() -> None:
    def addresses(words: str) -> list[Any]:
        return ["https://pens.example"]

    with pytest.raises(tw.Stopped, match="addresses returned a str where a Hit is needed"):
        tw.enrich(ROWS, {"Maker": "Who makes {Item}?"}, search=addresses)


def test_a_search_function_that_raises_is_a_search_that_failed() -> None:
    def intranet(words: str) -> list[tw.Hit]:
        raise OSError("no route")

    with pytest.raises(tw.Stopped, match="intranet failed: OSError: no route"):
        tw.enrich(ROWS, {"Maker": "Who makes {Item}?"}, search=intranet)


def test_an_empty_cell_says_what_a_strategy_returned_instead() -> None:
    table = tw.enrich(ROWS, "Maker", strategy=lambda row: {"Makr": "Quill & Co"})
    assert table.evidence()[0]["note"] == "<lambda> returned Makr for this row."


def test_a_value_of_the_wrong_type_is_named() -> None:
    with pytest.warns(tw.TablewrightWarning, match="'a great many': no number"):
        tw.enrich(ROWS, "Stock:number", strategy=lambda row: {"Stock": "a great many"})


def test_columns_without_anything_to_fill_are_noted() -> None:
    with pytest.warns(tw.TablewrightWarning, match="these columns have no cells left to fill"):
        tw.enrich(ROWS, "Item=1")


def test_parsers_that_are_objects_read_documents(tmp_path: Path) -> None:
    (tmp_path / "north.log").write_text("10:00 | Harbour: Port Vell\n")
    (tmp_path / "south.log").write_text("broken\n")

    def parse_log(content: bytes, name: str) -> str:
        if b"|" not in content:
            raise ValueError("no time")
        return "\n".join(line.partition(" | ")[2] for line in content.decode().splitlines())

    with pytest.warns(tw.TablewrightWarning, match=r"^south\.log could not be read \(ValueError: no time\)"):
        table = tw.extract(tmp_path, "Harbour", parsers={".LOG": parse_log})
    assert [each["quote"] for each in table.evidence()] == ["Harbour: Port Vell"]


def test_settings_take_numbers_truth_values_and_paths(tmp_path: Path) -> None:
    settings = tw.Settings(attempts=2, offline=True, home=tmp_path)  # type: ignore[arg-type]
    assert (settings.attempts, settings.offline, settings.home) == (2, True, str(tmp_path))
    assert tw.transform(ROWS, TWICE, settings=settings).column("Twice") == [4]
    with pytest.raises(tw.BadSetting, match="attempts must be"):
        tw.Settings(attempts=[2])  # type: ignore[arg-type]


def test_every_setting_of_a_verb_is_a_typed_option() -> None:
    own = {name for name, declared in DECLARED.items() if declared.is_own and not declared.is_secret}
    shared = {each.name for each in fields(tw.Settings) if not each.name.startswith(SERVERS)} - own
    secret = SECRET_SETTINGS - {"model_api_key", "search_api_key", "embedder_api_key"}
    assert shared - secret - set(Options.__annotations__) == set()


@pytest.mark.parametrize("in_a_loop", [False, True])
def test_ctrl_c_does_not_wait_for_a_function_that_blocks(in_a_loop: bool) -> None:
    begun, released = threading.Event(), threading.Event()

    def slow(row: dict[str, Any]) -> dict[str, Any]:
        begun.set()
        released.wait()
        return {}

    def interrupt() -> None:
        begun.wait()
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    async def main() -> None:
        tw.enrich(ROWS, "Maker", strategy=slow)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts what it puts aside without it
    try:
        threading.Thread(target=interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(main()) if in_a_loop else tw.enrich(ROWS, "Maker", strategy=slow)
        assert not released.is_set()
    finally:
        released.set()
        signal.signal(signal.SIGINT, before)


def test_an_interrupted_wait_ends_with_the_work() -> None:
    begun, tidied = threading.Event(), []

    async def work() -> None:
        try:
            begun.set()
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.2)
            tidied.append(True)

    def interrupt() -> None:
        begun.wait()
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell starts what it puts aside without it
    try:
        threading.Thread(target=interrupt).start()
        with pytest.raises(KeyboardInterrupt):
            run_in_thread(work())
    finally:
        signal.signal(signal.SIGINT, before)
    assert tidied == [True]
