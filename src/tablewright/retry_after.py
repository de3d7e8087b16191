"""The time that a server asks its clients to wait."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a server asks to wait, given as milliseconds, seconds or an HTTP date."""
    if re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", asked := headers.get("retry-after-ms", "").strip()):
        return float(asked) / 1000
    if re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", asked := headers.get("retry-after", "").strip()):
        return float(asked)
    try:
        when = parsedate_to_datetime(asked)
        return max(0.0, (when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):
        return None
