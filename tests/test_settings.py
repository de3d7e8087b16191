from __future__ import annotations

from pathlib import Path

import pytest

from tablewright.errors import BadSetting
from tablewright.settings import Settings, load_settings, number


def test_flags_win_over_the_environment_over_the_file_over_the_default(tmp_path: Path) -> None:
    file = tmp_path / "tablewright.toml"
    file.write_text('home = "from file"\ndatabase_url = "postgresql://file/x"\n')
    environ = {"TABLEWRIGHT_HOME": "from environment"}
    assert load_settings({"home": "from flag"}, environ, file).home == "from flag"
    assert load_settings({}, environ, file).home == "from environment"
    assert load_settings({}, {}, file).home == "from file"
    assert load_settings({}, {}, tmp_path / "missing.toml") == Settings()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("homes = 'x'", "unknown setting 'homes'"), ("home = 3", "must be a text"), ("home = ", "cannot be read")],
)
def test_a_mistake_in_the_file_is_said(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "tablewright.toml"
    file.write_text(text)
    with pytest.raises(BadSetting, match=sentence):
        load_settings({}, {}, file)


def test_data_is_in_sqlite_in_the_home_folder_unless_a_database_is_named(tmp_path: Path) -> None:
    assert Settings(home=str(tmp_path)).database == f"sqlite:///{tmp_path / 'tablewright.db'}"
    assert Settings(database_url="postgresql://x/y").database == "postgresql://x/y"


@pytest.mark.parametrize("text", ["-1", "inf", "much"])
def test_an_amount_is_a_number_from_0_up(text: str) -> None:
    with pytest.raises(BadSetting, match="budget must be a number from 0 up"):
        number(text, "budget")
    assert number("0", "budget") == 0
