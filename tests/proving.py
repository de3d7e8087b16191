"""Proofs that fail, as tests compare them: by what is wrong."""

from __future__ import annotations

from typing import Any

from tablewright.citations.quotes import Unproved
from tablewright.extraction.reader import Candidate
from tablewright.llm.tasks.cell_answer import prove_answer


def prove_or_fault(*args: Any, **how: Any) -> tuple[list[Candidate], str]:
    """Return what `prove_answer` proves, and the fault, "" where there is none."""
    try:
        return prove_answer(*args, **how), ""
    except Unproved as fault:
        return [], str(fault)
