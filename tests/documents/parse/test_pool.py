"""Files in worker processes: what one of them does, however bad, is its own affair."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

import pytest

from tablewright.documents.parse.pool import parse_files
from tablewright.extraction.layout.draft import Parsed
from tablewright.sandbox.limits import SandboxLimits
from tests.documents.parse import making
from tests.patience import PATIENCE

MB = 1024**2
# A package of somebody else, announced as any other; its parsers do what broken ones do.
MISBEHAVING = """
import os, signal, time
from pathlib import Path
from tablewright.extraction.layout.draft import Parsed

def crash(content, name):
    os.kill(os.getpid(), signal.SIGSEGV)

def leave(content, name):
    os._exit(7)

def hang(content, name):
    Path(content.decode()).write_text(str(os.getpid()))
    while True:
        time.sleep(60)

def swell(content, name):
    return Parsed(text="x" * 4_000_000_000, media="swell")

def err(content, name):
    raise KeyError("no such thing")

def noisy(content, name):
    print("this goes into no answer" * 1000)
    return Parsed(text="noisy", media="noisy")

def spill(content, name):
    return Parsed(text=" ".join(os.environ.values()), media="spill")
"""
ENTRY_POINTS = "[tablewright.parsers]\n" + "".join(
    f"{name} = misbehaving:{name}\n" for name in ("crash", "leave", "hang", "swell", "err", "noisy", "spill")
)


async def outcomes(paths: Sequence[Path], *, workers: int = 1, limits: SandboxLimits | None = None) -> dict[str, str]:
    """By name: the text, or why there is none."""
    found = {}
    async for path, outcome in parse_files(paths, workers=workers, limits=limits or SandboxLimits(seconds=60)):
        found[path.name] = outcome.text if isinstance(outcome, Parsed) else f"! {outcome}"
    return found


def written(folder: Path, **files: bytes) -> list[Path]:
    """`a_txt=b"…"` is the file a.txt."""
    paths = []
    for name, content in files.items():
        path = folder / name.replace("_", ".")
        path.write_bytes(content)
        paths.append(path)
    return paths


@pytest.fixture
def misbehaving(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path_factory.mktemp("package")
    (package / "misbehaving.py").write_text(MISBEHAVING)
    about = package / "misbehaving-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: misbehaving\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(ENTRY_POINTS)
    monkeypatch.setenv("PYTHONPATH", str(package), prepend=os.pathsep)


async def test_several_workers_give_every_file_once(tmp_path: Path) -> None:
    paths = written(tmp_path, **{f"f{number}_txt": f"text {number}".encode() for number in range(7)})
    found = await outcomes(paths, workers=2)
    assert found == {f"f{number}.txt": f"text {number}" for number in range(7)}


async def test_no_files_need_no_worker() -> None:
    assert await outcomes([]) == {}


@pytest.mark.usefixtures("misbehaving")
async def test_a_parser_that_crashes_leaves_or_errs_costs_its_file_only(tmp_path: Path) -> None:
    paths = written(tmp_path, a_crash=b"x", b_leave=b"x", c_err=b"x", d_noisy=b"x", e_txt=b"still here")
    found = await outcomes(paths)
    assert "a.crash made its reader crash (SIGSEGV)" in found["a.crash"]
    assert "b.leave made its reader crash (exit code 7)" in found["b.leave"]
    assert "KeyError" in found["c.err"]
    assert found["d.noisy"] == "noisy"
    assert found["e.txt"] == "still here"


@pytest.mark.usefixtures("misbehaving")
async def test_a_file_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    paths = written(tmp_path, a_hang=str(tmp_path / "pid").encode(), b_txt=b"still here")
    found = await outcomes(paths, limits=SandboxLimits(seconds=5))
    assert "took longer than 5 s" in found["a.hang"]
    assert found["b.txt"] == "still here"
    assert not is_running(int((tmp_path / "pid").read_text()))


@pytest.mark.usefixtures("misbehaving")
async def test_a_file_that_takes_too_much_memory_is_given_up(tmp_path: Path) -> None:
    paths = written(tmp_path, a_swell=b"x", b_txt=b"still here")
    found = await outcomes(paths, limits=SandboxLimits(memory=1000 * MB))
    assert "needs more memory to be read than the 1.0 GB" in found["a.swell"]
    assert found["b.txt"] == "still here"


@pytest.mark.usefixtures("misbehaving")
async def test_ending_the_iteration_ends_the_workers_at_once(tmp_path: Path) -> None:
    paths = written(tmp_path, a_txt=b"first", b_hang=str(tmp_path / "pid").encode(), c_txt=b"never reached")
    async with aclosing(parse_files(paths, workers=1)) as results:
        async for path, _ in results:
            assert path.name == "a.txt"
            await until_there(tmp_path / "pid")
            break
    assert not is_running(int((tmp_path / "pid").read_text()))


@pytest.mark.usefixtures("misbehaving")
async def test_cancelling_ends_the_workers_at_once(tmp_path: Path) -> None:
    waiting = asyncio.create_task(outcomes(written(tmp_path, b_hang=str(tmp_path / "pid").encode())))
    await until_there(tmp_path / "pid")
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert not is_running(int((tmp_path / "pid").read_text()))


@pytest.mark.usefixtures("misbehaving")
async def test_a_parser_is_given_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TABLEWRIGHT_MODEL_API_KEY", "sk-in-the-environment")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-provider")
    found = await outcomes(written(tmp_path, **{"a.spill": b"x"}))
    assert found["a.spill"]
    assert "sk-" not in found["a.spill"]


async def test_a_module_in_the_current_folder_is_never_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "msgspec.py").write_text("raise SystemExit('run')")
    monkeypatch.chdir(tmp_path)
    assert await outcomes(written(tmp_path, a_txt=b"fine")) == {"a.txt": "fine"}


async def test_what_is_no_readable_file_says_so(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe.txt")
    (tmp_path / "link.txt").symlink_to(tmp_path / "link.txt")
    (large,) = written(tmp_path, large_txt=b"x" * 2_000_000)
    names = ("folder", "pipe.txt", "link.txt", "gone.txt")
    found = await outcomes([*(tmp_path / name for name in names), large], limits=SandboxLimits(size=MB))
    assert "is a folder" in found["folder"]
    assert "a pipe, a socket or a device" in found["pipe.txt"]
    assert "cannot be read" in found["link.txt"]
    assert "is not there any more" in found["gone.txt"]
    assert "too large: 2 MB of at most 1 MB" in found["large.txt"]


@pytest.mark.skipif(os.geteuid() == 0, reason="whoever may do everything is refused nothing")
async def test_a_file_without_permission_says_so(tmp_path: Path) -> None:
    (path,) = written(tmp_path, secret_txt=b"x")
    path.chmod(0)
    assert "may not be read by you" in (await outcomes([path]))["secret.txt"]


async def test_bombs_are_not_unpacked(tmp_path: Path) -> None:
    laughs = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]><w:document>&b;</w:document>'
    sheet = b"<worksheet><sheetData>" + b" " * (120 * MB)
    corner = b'<worksheet><sheetData><row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData></worksheet>'
    paths = written(
        tmp_path,
        bomb_docx=making.zipped({"word/document.xml": b" " * (101 * MB)}),
        laughs_docx=making.zipped({"word/document.xml": laughs.encode()}),
        bomb_xlsx=making.zipped({"xl/workbook.xml": b"<x/>", "xl/worksheets/sheet1.xml": sheet}),
        corner_xlsx=making.zipped({"xl/workbook.xml": b"<x/>", "xl/worksheets/sheet1.xml": corner}),
    )
    found = await outcomes(paths)
    assert "zip bomb" in found["bomb.docx"]
    assert "declares entities" in found["laughs.docx"]
    assert "zip bomb" in found["bomb.xlsx"]
    assert "too large to open" in found["corner.xlsx"]


async def test_a_swollen_pdf_and_a_broken_one_stop_nothing(tmp_path: Path) -> None:
    good = making.pdf([(72, 72, "good")])
    paths = written(tmp_path, swollen_pdf=making.pdf_with_a_swollen_stream(400), cut_pdf=good[:100], good_pdf=good)
    found = await outcomes(paths, limits=SandboxLimits(seconds=60, memory=700 * MB))
    assert found["swollen.pdf"].startswith("! swollen.pdf")
    assert "cut short" in found["cut.pdf"]
    assert found["good.pdf"] == "good"


async def until_there(path: Path) -> None:
    """Another process writes it, so nobody can tell us."""
    async with asyncio.timeout(PATIENCE):
        while not path.exists() or not path.read_text():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
