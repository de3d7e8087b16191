"""As `tests/doors/launcher.py`, with what workers and models stand on loaded too: `python forks.py` starts commands."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "doors"))

import launcher  # which says first what must be said before numpy is loaded

import tablewright.jobs.executor
import tablewright.jobs.queue
import tablewright.jobs.worker
import tablewright.models.build
import tablewright.models.providers

LOADED = (launcher, tablewright)

if __name__ == "__main__":
    launcher.serve()
