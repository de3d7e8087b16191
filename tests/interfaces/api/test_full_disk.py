"""Uploads to a server whose disk is full: a real one, small enough to be filled."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interfaces.api.using import served_api

# Bytes that are left on the disk.
FREE = 300_000
LARGE = b"word " * 400_000


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 8 MB in memory."""
    place = tmp_path / "disk"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(place)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("only root can mount a small file system")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill(disk: Path) -> None:
    free = os.statvfs(disk)
    (disk / "ballast").write_bytes(bytes(free.f_bavail * free.f_frsize - FREE))


def left_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("path", ["/documents", "/tables/import"])
def test_an_upload_that_does_not_fit_among_temporary_files_says_so(
    disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    with served_api(tmp_path / "home") as api:
        monkeypatch.setattr(tempfile, "tempdir", str(disk))
        fill(disk)
        name = "files" if path == "/documents" else "file"
        error = api.refused(507, "POST", path, files={name: ("large.txt", LARGE)})
        assert (error["type"], error["message"]) == (
            "DiskFull",
            "The disk of the server is full, so the upload was not taken.",
        )
        assert "Nothing of this upload was kept" in error["kept"]
        assert "Free some space" in error["advice"]
        assert left_in(disk) == ["ballast"]
        (disk / "ballast").unlink()
        assert api.send("POST", path, files={name: ("large.txt", LARGE)}).status_code == 201


def test_documents_that_do_not_fit_leave_nothing_behind(disk: Path, tmp_path: Path) -> None:
    """The first of two would have fitted; nobody would know of it."""
    home = tmp_path / "home"
    with served_api(home) as api:
        uploads = home / "uploads"
        uploads.symlink_to(disk)
        fill(disk)
        files = [("files", ("small.txt", b"a small one")), ("files", ("large.txt", LARGE))]
        error = api.refused(507, "POST", "/documents", files=files)
        assert error["type"] == "DiskFull"
        assert left_in(disk) == ["ballast"]
        assert api.get("/documents")["documents"] == []
