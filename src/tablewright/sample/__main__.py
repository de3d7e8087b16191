"""`python -m tablewright.sample [--port 8899]`: the sample web, to look at with a browser."""

from __future__ import annotations

import argparse
import sys
import threading

from tablewright.sample.server import SampleWeb


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tablewright.sample", description="Serves the sample web.")
    parser.add_argument("--port", type=int, default=8899, help="0 takes a free one (default: %(default)s)")
    web = SampleWeb(port=parser.parse_args().port)
    web.open()
    sys.stdout.write(f"The sample web is at http://127.0.0.1:{web.port}/ (its search: /search?q=…). Ctrl-C ends it.\n")
    sys.stdout.flush()
    try:
        threading.Event().wait()
    except KeyboardInterrupt:
        web.close()


if __name__ == "__main__":
    main()
