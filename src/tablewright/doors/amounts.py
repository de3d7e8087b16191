"""Counts, money and time in words, the same in a terminal and on a page."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

PRICE_UNKNOWN = "price not known"
ON_THIS_MACHINE = ("builtin", "local", "ollama")


def tokens(usage: Mapping[str, float]) -> str:
    """Of all calls of a run; "" where no model was asked."""
    if not usage["input_tokens"]:
        return ""
    cached = f", {usage['cached_tokens']:,} of them cached" if usage["cached_tokens"] else ""
    return f"{usage['input_tokens']:,} tokens in{cached}, {usage['output_tokens']:,} out"


def dollars(amount: float) -> str:
    """In cents; what is less than ten of them with the first two digits that matter, at least four."""
    if amount >= 0.1 or amount == 0:
        return f"${amount:,.2f}"
    return f"${amount:.{max(4, 1 - math.floor(math.log10(amount)))}f}"


def spent(usage: Mapping[str, float], spec: Mapping[str, Any], model: str) -> str:
    """What a run of this spec cost; `model` is what is set, where the spec names none. A model elsewhere is paid for:
    where no price came with its tokens, none is known."""
    name = str(spec.get("settings", {}).get("model") or model)
    is_here = name.partition(":")[0].strip().lower() in ON_THIS_MACHINE
    if usage["input_tokens"] and not usage["cost_usd"] and not is_here:
        return PRICE_UNKNOWN
    return dollars(usage["cost_usd"])


def duration(seconds: float) -> str:
    """In the unit that says it best: 40 s, 12 min, 3.5 h."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5_400 else f"{seconds / 3_600:.1f} h"
