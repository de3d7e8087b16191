"""How long it takes somebody new, in Chromium alone: from `tablewright serve` with no settings to a filled column.

    python bench/newcomer.py [--hands 1500]

The steps are those of tests/interfaces/page/newcomer.py: a model with its key, tested and saved, a search, a pasted
list, two columns described in a sentence, filled and accepted. The model is a server on loopback with recorded answers.
Measured twice: as fast as the program allows, and with a pause of `--hands` milliseconds before each click and each
field, for a person who reads and points; texts are pasted, not typed. A real model and the real web add their own time.

Ends with 1 where the second takes more than two minutes. Needs Chromium (apt install chromium).
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import async_playwright, expect

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.chromium import CHROMIUM, FLAGS
from tests.interfaces.page.newcomer import first_column, model_with_key

HOLD = 120
PATIENCE = 60_000


@asynccontextmanager
async def serving_without_settings(home: Path) -> AsyncIterator[str]:
    """Its folder is the one thing that is set, so that nothing of this machine's own is touched."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("TABLEWRIGHT_")}
    process = await asyncio.create_subprocess_exec(
        *(str(Path(sys.executable).with_name("tablewright")), "serve", "--port", "0"),
        stderr=asyncio.subprocess.PIPE,
        env={**environ, "TABLEWRIGHT_HOME": str(home)},
        cwd=home,
    )
    assert process.stderr is not None
    try:
        said = ""
        while not (address := re.search(r"http://[\d.]+:\d+", said)):
            line = await asyncio.wait_for(process.stderr.readline(), 60)
            if not line:
                raise RuntimeError(f"The server did not start: {said}")
            said += line.decode()
        draining = asyncio.create_task(process.stderr.read())
        yield address[0]
    finally:
        process.terminate()
        await asyncio.wait_for(process.wait(), 30)
    await draining


async def measure(hands: int) -> float:
    """Prints the seconds of each step; returns those of all."""
    print("as fast as the program allows" if not hands else f"with {hands} ms before each click and each field")
    begun = before = time.monotonic()

    def tell(step: str) -> None:
        nonlocal before
        now = time.monotonic()
        print(f"  {now - before:6.1f} s  {step}")
        before = now

    with tempfile.TemporaryDirectory(prefix="tablewright-bench-") as folder:
        async with model_with_key() as model, serving_without_settings(Path(folder)) as address:
            tell("start the server")
            async with async_playwright() as driver:
                chromium = await driver.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS), slow_mo=hands)
                page = await chromium.new_page(viewport={"width": 1280, "height": 800})
                page.set_default_timeout(PATIENCE)
                tell("start the browser")
                async for step in first_column(page, address, model.url):
                    tell(step)
                await chromium.close()
    print(f"  {before - begun:6.1f} s  in all")
    return before - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--hands", type=int, default=1_500)
    arguments = parser.parse_args()
    if CHROMIUM is None:
        sys.exit("Chromium is not installed (apt install chromium).")
    expect.set_options(timeout=PATIENCE)
    asyncio.run(measure(0))
    seconds = asyncio.run(measure(arguments.hands))
    print("It holds." if seconds <= HOLD else f"It does not hold: {HOLD} s.")
    sys.exit(0 if seconds <= HOLD else 1)


if __name__ == "__main__":
    main()
