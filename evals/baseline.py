"""What was measured before, kept in `baselines/`: figures by group, where more is better."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path

FOLDER = Path(__file__).parent / "baselines"


def settle(name: str, measured: Mapping[str, Mapping[str, float]], *, record: bool, tolerance: float) -> int:
    """Keeps the figures, or compares them with those kept for the same groups; the exit code of the evaluation."""
    file = FOLDER / f"{name}.json"
    known: dict[str, dict[str, float]] = json.loads(file.read_text()) if file.is_file() else {}
    rounded = {group: {what: round(value, 4) for what, value in row.items()} for group, row in measured.items()}
    if record:
        file.write_text(json.dumps(known | rounded, indent=2, sort_keys=True) + "\n")
        print(f"Recorded in {file}.")
        return 0
    compared = [group for group in rounded if group in known]
    if not compared:
        print("No baseline is recorded yet: run with --record.", file=sys.stderr)
        return 1
    fallen = [
        f"{group} {what}: {rounded[group].get(what, 0.0):.3f}, was {was:.3f}"
        for group in compared
        for what, was in known[group].items()
        if rounded[group].get(what, 0.0) < was - tolerance
    ]
    for line in fallen:
        print(f"FELL {line}", file=sys.stderr)
    return 1 if fallen else 0
