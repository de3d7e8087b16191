"""Two runs over the same rows, compared."""

from __future__ import annotations

import json
from typing import Any

# What differs between two runs that found the same: which run it was, when, and what it paid.
NOT_OF_THE_ROW = ("run_id", "updated_at", "cost")


def essence(report: dict[str, Any]) -> str:
    """The rows of `enrich --json`, cells and traces, byte for byte but for what is not of the row."""
    rows = [
        {
            **row,
            "cells": {
                field: {name: value for name, value in cell.items() if name not in NOT_OF_THE_ROW}
                for field, cell in row["cells"].items()
            },
        }
        for row in report["rows"]
    ]
    return json.dumps([report["reasoning"], rows], indent=1)
