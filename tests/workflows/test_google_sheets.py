"""Tables to Google Sheets: signed in, written raw into new sheets, evidence second, and what is said where it fails."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tablewright.domain.fieldspec import parse_field
from tablewright.domain.files import FileOptions
from tablewright.errors import BadSetting, RunError, UsageError
from tablewright.interfaces.cli.main import app
from tablewright.operations.files import import_table_file, write_to_sheets
from tablewright.operations.fill import plan_fill
from tablewright.services import Services
from tablewright.settings import Settings
from tests.google import ACCOUNT, LINK, SHARED, FakeGoogle, running_google

ROWS = "Name,Price,Note\nTea,2.5,=1+1\nSalt,3,+49 30\nRice,,@home\n"


@pytest.fixture
def google(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGoogle]:
    with running_google(monkeypatch) as running:
        yield running


async def send(google: FakeGoogle, home: Path, to: str, key: str | None = None) -> str:
    settings = Settings(home=str(home), google_sheets_key=google.key if key is None else key)
    path = home.parent / "prices.csv"
    path.write_text(ROWS, encoding="utf-8")
    async with Services.open(settings, actor="test") as services:
        table = (await import_table_file(services, path, FileOptions(name="Tea's prices"))).table
        fill = await plan_fill(services, table.id, [parse_field("Double:number={Price} * 2")])
        await services.changes.apply((await fill.run()).proposal_id)
        return (await write_to_sheets(services, table.id, to)).link


async def test_values_then_evidence_go_raw_to_new_sheets_of_a_spreadsheet(google: FakeGoogle, tmp_path: Path) -> None:
    google.busy = 1
    assert SHARED in await send(google, tmp_path / "home", LINK)
    old, values, evidence = google.spreadsheets[SHARED].values()
    assert old == (10, 2, [["mine"]])
    assert values[2] == [
        ["Name", "Price", "Note", "Double"],
        ["Tea", 2.5, "=1+1", 5.0],
        ["Salt", 3, "+49 30", 6],
        ["Rice", "", "@home", ""],
    ]
    assert evidence[2][0][:4] == ["row", "name", "field", "value"]
    assert evidence[2][-1][1:3] == ["Rice", "Double"]
    assert google.claims["iss"] == ACCOUNT
    assert google.claims["aud"] == f"{google.url}/token"
    assert "auth/spreadsheets" in google.claims["scope"]
    assert 0 < google.claims["exp"] - time.time() <= 3_600
    await send(google, tmp_path / "home", SHARED)
    assert list(google.spreadsheets[SHARED])[3:] == ["Tea's prices (2)", "Tea's prices (2) evidence"]


async def test_for_an_address_a_spreadsheet_is_made_and_shared(google: FakeGoogle, tmp_path: Path) -> None:
    assert "made-for-somebody" in await send(google, tmp_path / "home", "ann@example.com")
    assert google.editors == {"made-for-somebody": "ann@example.com"}
    assert len(google.spreadsheets["made-for-somebody"]["Tea's prices"][2]) == 4


async def test_what_google_refuses_is_said_in_its_words(
    google: FakeGoogle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    with pytest.raises(RunError, match="The caller does not have permission") as refused:
        await send(google, home, "1NobodySharedThisSpreadsheet")
    assert ACCOUNT in refused.value.advice
    with pytest.raises(RunError, match="Invalid JWT Signature"):
        await send(google, home, LINK, FakeGoogle().key.replace('"/token"', f'"{google.url}/token"'))
    monkeypatch.setattr("tablewright.web.google_sheets.MOST_BYTES", 60)
    google.fails_at_write = 2
    with pytest.raises(RunError, match="Internal limits were exceeded") as half:
        await send(google, home, LINK)
    written = len(google.spreadsheets[SHARED]["Tea's prices"][2]) - 1
    assert 0 < written < 3
    assert f"has {written} of 3 lines" in half.value.kept


@pytest.mark.parametrize("key", ["", "nowhere.json", "{}", '{"client_email": 1}', "[1]"])
async def test_without_a_usable_key_it_is_said_how_to_get_one(google: FakeGoogle, tmp_path: Path, key: str) -> None:
    with pytest.raises(BadSetting) as missing:
        await send(google, tmp_path / "home", LINK, key)
    assert "service account" in missing.value.advice
    assert google.claims == {}


async def test_what_is_no_spreadsheet_is_refused_before_anything_is_sent(google: FakeGoogle, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="neither a link"):
        await send(google, tmp_path / "home", "my sheet")
    assert google.claims == {}


def test_the_command_writes_there_and_says_where(
    google: FakeGoogle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "key.json").write_text(google.key)
    (tmp_path / "prices.csv").write_text(ROWS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TABLEWRIGHT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TABLEWRIGHT_GOOGLE_SHEETS_KEY", str(tmp_path / "key.json"))
    run = CliRunner().invoke
    assert run(app, ["tables", "import", "prices.csv"]).exit_code == 0
    done = run(app, ["tables", "export", "prices", "--to-sheets", LINK, "--json"])
    assert json.loads(done.stdout)["sheets"] == ["prices"]
    assert len(google.spreadsheets[SHARED]["prices"][2]) == 4
