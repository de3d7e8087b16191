"""`python -m tablewright.sample [--port 8899]`: the sample web, to look at with a browser; or, with `--papers FOLDER`,
the sample papers as files."""

from __future__ import annotations

import argparse
import sys
import threading
from pathlib import Path

from tablewright.sample.documents import sample_files
from tablewright.sample.server import SampleWeb


def run_sample_web() -> None:
    about = "Serves the sample web, or writes the sample papers."
    parser = argparse.ArgumentParser(prog="python -m tablewright.sample", description=about)
    parser.add_argument("--port", type=int, default=8899, help="0 takes a free one (default: %(default)s)")
    parser.add_argument("--papers", type=Path, metavar="FOLDER", help="write the sample papers there, and end")
    options = parser.parse_args()
    if options.papers is not None:
        sys.stdout.write(f"Wrote {write_papers(options.papers)} files to {options.papers}.\n")
        return
    web = SampleWeb(port=options.port)
    web.open()
    sys.stdout.write(f"The sample web is at http://127.0.0.1:{web.port}/ (its search: /search?q=…). Ctrl-C ends it.\n")
    sys.stdout.flush()
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        web.close()


def write_papers(folder: Path) -> int:
    for paper in sample_files():
        path = folder / paper.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(paper.content)
    return len(sample_files())


if __name__ == "__main__":
    run_sample_web()
