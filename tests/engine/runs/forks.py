"""`tests/interfaces/launcher.py`, with workers and models loaded too: `python forks.py` starts commands."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "interfaces"))

import launcher  # which says first what must be said before numpy is loaded

import tablewright.engine.runs.executor
import tablewright.engine.runs.queue
import tablewright.engine.runs.worker
import tablewright.llm.build
import tablewright.llm.providers

LOADED = (launcher, tablewright)

if __name__ == "__main__":
    launcher.serve()
