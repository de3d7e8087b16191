"""The `curl` commands of the pages, run one after another as they stand against a server that was started with
`tablewright serve`. Only the port is another, and ids are those that the server gave."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from tests.homes import new_home
from tests.interfaces.conftest import Shell
from tests.interfaces.server.test_serve import started
from tests.patience import PATIENCE
from tests.test_doc_commands import PAGES, SHELLS, blocks

# As the pages write it.
SERVER = "http://127.0.0.1:8000"
# By placeholder: where an answer says what stands for it.
IDS = {"RUN": r'"run_id": ?"(\w+)"', "PROPOSAL": r'"(?:proposal_id": ?"|proposal": ?\{"id": ?")(\w+)"'}


def requests(page: Path) -> list[str]:
    lines = [line for body in blocks(page, *SHELLS) for line in body.replace("\\\n", " ").splitlines()]
    return [line.strip() for line in lines if line.strip().startswith("curl ")]


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize("page", [page for page in PAGES if requests(page)], ids=lambda page: page.name)
def test_the_requests_of_a_page_are_answered(page: Path, tmp_path: Path) -> None:
    new_home(tmp_path / "home")
    (tmp_path / "companies.csv").write_text("Company\nBrightwater Foods\nKestrelworks\n", encoding="utf-8")
    shell = Shell(tmp_path, TABLEWRIGHT_SEARCH="sample", TABLEWRIGHT_FETCH_DELAY="0")
    known: dict[str, str] = {}
    with started(shell) as (server, address, _):
        for request in requests(page):
            command = request.replace(SERVER, address)
            for placeholder, id in known.items():
                command = re.sub(rf"\b{placeholder}\b", id, command)
            command = command.replace("curl ", "curl --retry-connrefused --retry 9 -sS --fail-with-body ", 1)
            done = subprocess.run(
                ["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False
            )
            assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
            for placeholder, pattern in IDS.items():
                if found := re.search(pattern, done.stdout):
                    known[placeholder] = found[1]
        server.send_signal(signal.SIGTERM)
        assert server.wait(PATIENCE) == 0
    assert known.keys() == named_ids(page)
    if known:
        assert (tmp_path / "companies.xlsx").read_bytes().startswith(b"PK")
        assert "1987" in shell("tables", "show", "companies").stdout


def test_a_page_shows_how_to_start_a_run_and_to_decide_on_its_proposal() -> None:
    assert [page.name for page in PAGES if named_ids(page) == IDS.keys()]


def named_ids(page: Path) -> set[str]:
    """Return the placeholders in the requests of a page."""
    return {name for name in IDS if any(re.search(rf"\b{name}\b", each) for each in requests(page))}
