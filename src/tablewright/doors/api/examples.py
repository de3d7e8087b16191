"""Examples for the OpenAPI document. Those of nouns that are shared stand here; modules add those of their own."""

from __future__ import annotations

from typing import Any

from tablewright.app import Applied, Change
from tablewright.domain.model import Cell, Evidence, Field

COMPANY = {
    "name": "Company",
    "type": "text",
    "question": "",
    "description": "",
    "unit": "",
    "options": [],
    "required": False,
    "role": "standard",
    "depends_on": [],
}
QUOTED = {
    "origin": "https://northwind.example/about",
    "title": "About us",
    "quote": "Founded in 1987 in Leeds",
    "start": 120,
    "end": 144,
    "page": None,
    "domain": "northwind.example",
    "retrieved_at": "2026-11-16T09:30:00Z",
    "content_hash": "5f2c",
    "stance": "supports",
}
FILLED = {
    "value": 1987,
    "raw_value": "1987",
    "status": "ENRICHED",
    "reason": None,
    "confidence": 0.86,
    "basis": "stated",
    "converted_by": "",
    "evidence": [QUOTED],
    "conflict": [],
    "stale": False,
    "cost": 0.0004,
    "attempt": 1,
    "run_id": "r7kq2mwx3p",
    "updated_at": "2026-11-16T09:30:04Z",
    "error": None,
    "confidence_label": "high",
}
CHANGE = {
    "number": 7,
    "at": "2026-11-16T09:30:00.000000Z",
    "actor": "ann",
    "kind": "edit",
    "run_id": None,
    "note": "flagged row 3, Founded",
    "edits": 1,
}
APPLIED = {
    "change": CHANGE,
    "cells": 12,
    "conflicts": 0,
    "edited": 0,
    "refused": 0,
    "gone": 0,
    "too_late": 0,
    "kept": 0,
}

EXAMPLES: dict[type, Any] = {Field: COMPANY, Evidence: QUOTED, Cell: FILLED, Change: CHANGE, Applied: APPLIED}
