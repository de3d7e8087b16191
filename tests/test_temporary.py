"""What a process that was killed leaves is removed at the next start; what a living process uses stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import xlsxwriter

from tablewright.temporary import INCOMING_PREFIX, PART_SUFFIX, remove_abandoned_folders, temporary_folder
from tablewright.workflows.files import replace_file
from tests.patience import PATIENCE

TABLEWRIGHT = str(Path(sys.executable).with_name("tablewright"))
HOLD = """
import sys, time
from pathlib import Path
from tablewright.workflows.files import replace_file
from tablewright.temporary import INCOMING_PREFIX, temporary_folder
uploads, export = Path(sys.argv[1]), Path(sys.argv[2])
with temporary_folder() as spool, temporary_folder(INCOMING_PREFIX, uploads), replace_file(export, kept="") as stream:
    (spool / "rows").write_bytes(b"x" * 1000)
    stream.write(b"half")
    stream.flush()
    print("there", flush=True)
    time.sleep(600)
"""


def until(ready: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not ready():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def environ(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    (tmp_path / "tmp").mkdir()
    (tmp_path / "home" / "uploads").mkdir(parents=True)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("TABLEWRIGHT_")}
    return kept | {"TMPDIR": str(tmp_path / "tmp"), "TABLEWRIGHT_HOME": str(tmp_path / "home")}


def run(environ: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [TABLEWRIGHT, *arguments], check=False, env=environ, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_import_that_is_killed_leaves_no_file_and_no_table_after_the_next_start(
    environ: dict[str, str], tmp_path: Path
) -> None:
    book = xlsxwriter.Workbook(tmp_path / "large.xlsx", {"constant_memory": True})
    sheet = book.add_worksheet()
    for line in range(60_000):
        sheet.write_row(line, 0, [f"name {line}" if line else "Name", line])
    book.close()
    importing = subprocess.Popen(
        [TABLEWRIGHT, "tables", "import", str(tmp_path / "large.xlsx")],
        env=environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    until(lambda: importing.poll() is not None or any((tmp_path / "tmp").glob("tablewright-*/.in-use")))
    os.kill(importing.pid, signal.SIGKILL)
    assert importing.wait(PATIENCE) == -signal.SIGKILL
    left = set((tmp_path / "tmp").glob("tablewright-*"))
    assert left
    with temporary_folder() as ours:

        def is_removed() -> bool:
            """The worker process of the import may take a moment to notice that it is alone."""
            assert "large" not in run(environ, "tables", "list")
            return not any(folder.exists() for folder in left)

        until(is_removed)
        assert ours.exists(), "its process lives"
    assert list((tmp_path / "tmp").glob("tablewright-*")) == []


def test_uploads_and_exports_that_were_killed_are_removed_and_living_ones_stay(
    environ: dict[str, str], tmp_path: Path
) -> None:
    uploads, export = tmp_path / "home" / "uploads", tmp_path / "out [1].csv"
    export.write_text("old")
    (uploads / "0123456789abcdef").mkdir()
    arguments = [sys.executable, "-c", HOLD, str(uploads), str(export)]
    living, killed = (subprocess.Popen(arguments, env=environ, stdout=subprocess.PIPE, text=True) for _ in range(2))
    try:
        for process in (living, killed):
            assert process.stdout is not None
            assert process.stdout.readline() == "there\n"
        os.kill(killed.pid, signal.SIGKILL)
        killed.wait(PATIENCE)
        assert len(list(uploads.glob(f"{INCOMING_PREFIX}*"))) == len(list((tmp_path / "tmp").iterdir())) == 2
        run(environ, "tables", "list")
        assert len(list(uploads.glob(f"{INCOMING_PREFIX}*"))) == len(list((tmp_path / "tmp").iterdir())) == 1
        assert (uploads / "0123456789abcdef").exists(), "what has arrived stays"
        assert len(list(tmp_path.glob(f".*{PART_SUFFIX}"))) == 2
        with replace_file(export, kept="") as stream:
            stream.write(b"new")
        assert len(list(tmp_path.glob(f".*{PART_SUFFIX}"))) == 1, "the living export's"
        assert export.read_text() == "new"
    finally:
        for process in (living, killed):
            process.kill()
            process.communicate(timeout=PATIENCE)


def test_folders_of_others_are_left_alone(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "tmp" / "tablewright-notes").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / ".in-use").touch()
    (tmp_path / "tmp" / "tablewright-link").symlink_to(tmp_path / "elsewhere")
    assert remove_abandoned_folders() == 0
    assert (tmp_path / "tmp" / "tablewright-notes").exists()
    assert (tmp_path / "elsewhere" / ".in-use").exists()
