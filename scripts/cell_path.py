"""Follow two cells of the sample world through the code and print what the way looks like.

    python scripts/cell_path.py             the figures; fails where one is above its limit
    python scripts/cell_path.py --files     also every file on the way, and every call that goes up
    python scripts/cell_path.py --calls     every function on the way, also of a question, a search for rows, research
                                            and a shortlist; docs/how-a-cell-is-filled.md is checked against them

A file counts once one of its functions runs. A call goes up if the called package is above the calling one in the
layers of pyproject.toml. The built-in reader answers, so nothing but the code decides which files are on the way.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import sys
import tempfile
import threading
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "tablewright"
COMPANIES = "Company,Country\nBrightwater Foods,United Kingdom\nKestrelworks,Germany\n"
QUESTION = "Founded:number=What year was {Company} founded?"
LEASE = "# Lease\n\nTenant: Kestrelworks\nRent: 1,200 EUR\nEnds: 2027-03-31\n"
PRODUCT = "electric kettle"
# What stands for the web here.
OUTSIDE = {"sample"}
# Limits that only go down.
MOST_FILES, MOST_UPWARD, MOST_MUTUAL = 90, 0, 0


class CallRecorder:
    """The files whose functions run, and the calls between packages, of all threads of this process."""

    def __init__(self) -> None:
        self.files: set[str] = set()
        self.functions: set[tuple[str, str]] = set()
        """Each with its file."""
        self.calls: dict[tuple[str, str], set[str]] = defaultdict(set)
        """By calling and called package: the calls, as places in files."""
        self._seen: set[tuple[str, str, str]] = set()
        self._is_recording = False
        threading.setprofile(self._note)  # from the start: a thread of a pool is only noted if it begins later
        sys.setprofile(self._note)

    @contextlib.contextmanager
    def recording(self) -> Iterator[None]:
        for noted in (self.files, self.functions, self.calls, self._seen):
            noted.clear()
        self._is_recording = True
        try:
            yield
        finally:
            self._is_recording = False

    def _note(self, frame: FrameType, event: str, argument: Any) -> None:
        if event != "call" or not self._is_recording:
            return
        called = file_of(frame)
        if not called or package_of(called) in OUTSIDE:
            return
        calling = file_of(frame.f_back) if frame.f_back is not None else ""
        place = (calling, called, frame.f_code.co_qualname)
        if place in self._seen or is_importing(frame):
            return
        self._seen.add(place)
        self.files.add(called)
        self.functions.add((called, frame.f_code.co_qualname))
        if calling and package_of(calling) != package_of(called):
            assert frame.f_back is not None
            said = f"{calling}:{frame.f_back.f_code.co_qualname} -> {called}:{frame.f_code.co_qualname}"
            self.calls[package_of(calling), package_of(called)].add(said)


def is_importing(frame: FrameType | None) -> bool:
    """True if the frame, or what called it, is the body of a module."""
    while frame is not None:
        if frame.f_code.co_name == "<module>" and file_of(frame):
            return True
        frame = frame.f_back
    return False


def file_of(frame: FrameType) -> str:
    """The path below the package, "" for code of others."""
    name = frame.f_code.co_filename
    return name[len(str(SOURCE)) + 1 :] if name.startswith(f"{SOURCE}/") else ""


def package_of(file: str) -> str:
    """The layer of a file: its package, or the nested package that is a layer of its own."""
    return "llm.tasks" if file.startswith("llm/tasks/") else file.partition("/")[0].removesuffix(".py")


def layers() -> dict[str, int]:
    """The packages by height; those of one layer have the same."""
    configuration = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contract = configuration["tool"]["importlinter"]["contracts"][0]
    heights = {}
    for height, layer in enumerate(reversed(contract["layers"])):
        for name in re.split("[|:]", layer.strip("()")):
            name = name.strip().removeprefix("tablewright.")
            heights[name if name == "llm.tasks" else name.partition(".")[0]] = height
    return heights


async def fill_two_cells(folder: Path, recorder: CallRecorder) -> list[Any]:
    from tablewright.domain.fieldspec import parse_field
    from tablewright.operations.files import import_table_file
    from tablewright.operations.fill import plan_fill
    from tablewright.services import Services
    from tablewright.settings import Settings

    table = folder / "companies.csv"
    table.write_text(COMPANIES)
    async with Services.open(Settings(**options(folder))) as services:
        table_id = (await import_table_file(services, table)).table.id
        with recorder.recording():
            run = await plan_fill(services, table_id, [parse_field(QUESTION)])
            filled = await services.jobs.run(run)
            await services.changes.apply(filled.proposal_id)
        return [row.cell("Founded").value for row in (await services.load(table_id)).rows]


async def ask_one_question(folder: Path, recorder: CallRecorder) -> object:
    from tablewright.interfaces.library import aio

    lease = folder / "lease.md"
    lease.write_text(LEASE)
    with recorder.recording():
        return await aio.ask([lease], "leases", kind="lease", **options(folder))


async def find_two_rows(folder: Path, recorder: CallRecorder) -> object:
    from tablewright.interfaces.library import aio

    with recorder.recording():
        return await aio.find(f"{PRODUCT}s", ["Capacity:number(l)"], rows=2, **options(folder))


async def research_one_question(folder: Path, recorder: CallRecorder) -> object:
    from tablewright.interfaces.library import aio

    with recorder.recording():
        return await aio.research("When was Brightwater Foods founded?", max_searches=1, **options(folder))


async def advise_on_one_product(folder: Path, recorder: CallRecorder) -> object:
    """Send a form, then press the first button of each reply."""
    from tablewright.operations.operation import NoInput
    from tablewright.operations.shortlist import TakeTurn, start_shortlist, take_turn
    from tablewright.services import Services
    from tablewright.settings import Settings

    async with Services.open(Settings(**options(folder))) as services:
        shortlist = (await start_shortlist(services, NoInput())).id
        message = f"/form product: {PRODUCT} | budget: 50 GBP"
        with recorder.recording():
            while message:
                reply = (await take_turn(services, TakeTurn(shortlist=shortlist, message=message))).reply
                message = next(iter(reply.buttons), "")
            return reply


def options(folder: Path) -> Any:
    return {"home": str(folder / "home"), "search": "sample", "model": "builtin"}


JOURNEYS = {
    "enrich": fill_two_cells,
    "ask": ask_one_question,
    "find": find_two_rows,
    "research": research_one_question,
    "shortlist": advise_on_one_product,
}


def print_calls(recorder: CallRecorder) -> int:
    for name, follow in JOURNEYS.items():
        with tempfile.TemporaryDirectory(prefix="tablewright-path-") as folder:
            asyncio.run(follow(Path(folder), recorder))
        print(*(f"{name} {file} {function}" for file, function in sorted(recorder.functions)), sep="\n")
    return 0


def main() -> int:
    recorder = CallRecorder()
    if "--calls" in sys.argv:
        return print_calls(recorder)
    with tempfile.TemporaryDirectory(prefix="tablewright-path-") as folder:
        values = asyncio.run(fill_two_cells(Path(folder), recorder))
    heights = layers()
    upward = sorted(
        call
        for (calling, called), calls in recorder.calls.items()
        if calling in heights and heights[calling] < heights.get(called, -1)
        for call in calls
    )
    mutual = sorted({tuple(sorted(pair)) for pair in recorder.calls if pair[::-1] in recorder.calls})
    if "--files" in sys.argv:
        print(*sorted(recorder.files), *upward, *(" and ".join(pair) for pair in mutual), sep="\n")
    figures = {
        "files": (len(recorder.files), MOST_FILES),
        "upward calls": (len(upward), MOST_UPWARD),
        "pairs of packages that call each other": (len(mutual), MOST_MUTUAL),
    }
    print(f"Two cells ({', '.join(map(str, values))}) take:")
    for name, (figure, most) in figures.items():
        print(f"  {name}: {figure} (at most {most})")
    return int(None in values or any(figure > most for figure, most in figures.values()))


if __name__ == "__main__":
    sys.exit(main())
