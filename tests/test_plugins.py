"""Files in the folders of TABLEWRIGHT_PLUGINS."""

from __future__ import annotations

from pathlib import Path

import httpx2
import pytest

from tablewright.documents.parse.parser import find_parser
from tablewright.documents.parse.pool import parse_files
from tablewright.errors import BadSetting
from tablewright.extraction.layout.draft import Parsed
from tablewright.llm.spec import Access, ModelSpec, create_provider_model
from tablewright.settings_sources import load_settings
from tablewright.strategies.strategy import find_strategy, list_installed_strategies
from tablewright.web.search.provider import find_search_provider
from tablewright.web.source import Query

PLUGIN = """
from tablewright import Strategy


class Shout(Strategy):
    name, display_name = "shout", "Shout"


class Shelf:
    def __init__(self, argument, api_key, client):
        self.name = f"shelf {argument}"


def loudness(row):
    return {"Volume": 11}


def attic(words):
    return []


strategies = {"shout": Shout, "loud": loudness}
search = {"shelf": Shelf, "attic": attic}
models = {"echo": lambda argument, access: argument}
parsers = {"shouted": lambda content, name: content}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TABLEWRIGHT_PLUGINS", str(tmp_path))
    return tmp_path


async def test_a_file_adds_a_strategy_a_search_provider_a_model_and_a_parser(folder: Path) -> None:
    (folder / "ours.py").write_text(PLUGIN)
    assert find_strategy("shout").display_name == "Shout"
    assert find_strategy("loud").name == "loud"
    assert {"shout", "lookup"} <= list_installed_strategies().keys()
    async with httpx2.AsyncClient() as client:
        assert find_search_provider("shelf:three", api_key="", client=client).name == "shelf three"
        assert await find_search_provider("attic", api_key="", client=client).search(Query(text="hat")) == []
    assert create_provider_model(ModelSpec(provider="echo", argument="hello"), Access()) == "hello"
    assert find_parser("shouted")(b"HEY", "a.shouted") == b"HEY"


async def test_a_parser_of_a_file_reads_what_its_name_says_and_may_return_text(folder: Path, tmp_path: Path) -> None:
    (folder / "ours.py").write_text("parsers = {'log': lambda content, name: 'Harbour: Port Vell'}\n")
    (tmp_path / "ship.log").write_text("not what counts\n")
    ((_, parsed),) = [each async for each in parse_files([tmp_path / "ship.log"])]
    assert isinstance(parsed, Parsed)
    assert (parsed.text, parsed.media) == ("Harbour: Port Vell", "log")


@pytest.mark.parametrize("name", [".", "ours.py"])
def test_what_everybody_can_write_to_is_not_loaded(folder: Path, name: str) -> None:
    (folder / "ours.py").write_text("raise AssertionError('loaded')\n")
    (folder / name).chmod(0o707)
    with pytest.raises(BadSetting, match="Everyone on this machine can write to"):
        find_strategy("lookup")


def test_a_file_that_cannot_be_loaded_is_named(folder: Path) -> None:
    (folder / "broken.py").write_text("1 / 0\n")
    with pytest.raises(BadSetting, match=r"broken\.py cannot be loaded \(ZeroDivisionError"):
        find_strategy("lookup")


def test_a_folder_that_is_not_there_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLEWRIGHT_PLUGINS", str(tmp_path / "none"))
    with pytest.raises(BadSetting, match="there is none"):
        list_installed_strategies()


def test_the_settings_of_a_folder_cannot_bring_code(tmp_path: Path) -> None:
    (tmp_path / "tablewright.toml").write_text('plugins = "evil"\n')
    with pytest.raises(BadSetting, match="cannot have its own code run"):
        load_settings(environ={}, file=tmp_path / "tablewright.toml")
