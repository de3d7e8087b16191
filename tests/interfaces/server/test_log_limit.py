"""A log that cannot be flooded."""

from __future__ import annotations

import io
import logging

from tablewright.interfaces.server.limits import LogLimits, RepeatedLogFilter
from tablewright.logs import MAX_RECORD_CHARACTERS, RedactingFormatter
from tablewright.settings import Settings


class Log:
    def __init__(self) -> None:
        self.now = 0.0
        self._stream = io.StringIO()
        handler = logging.StreamHandler(self._stream)
        handler.setFormatter(RedactingFormatter(Settings(token="hush-hush")))
        handler.addFilter(RepeatedLogFilter(lambda: self.now))
        self.log = logging.Logger("tablewright.test")
        self.log.addHandler(handler)

    @property
    def lines(self) -> list[str]:
        return self._stream.getvalue().splitlines()


def test_what_repeats_is_counted_instead_of_shown() -> None:
    log = Log()
    for _ in range(10_000):
        log.log.warning("Invalid HTTP request received.")
    log.log.warning("Something else.")
    assert len(log.lines) == LogLimits().burst + 1
    log.now = 1.0
    log.log.warning("Invalid HTTP request received.")
    assert log.lines[-1].endswith(f"received. ({10_000 - LogLimits().burst:,} more like this before it)")


def test_lines_that_differ_in_what_they_say_are_still_of_one_kind() -> None:
    log = Log()
    for number in range(1_000):
        log.log.info("%s asked %s", "10.0.0.1", number, extra={"repeats": "10.0.0.1 401"})
    log.log.info("%s asked %s", "10.0.0.2", 1, extra={"repeats": "10.0.0.2 200"})
    assert len(log.lines) == LogLimits().burst + 1
    assert "10.0.0.2" in log.lines[-1]


def test_all_kinds_together_are_limited() -> None:
    log = Log()
    for number in range(20_000):
        log.log.warning("x", extra={"repeats": str(number)})
    assert len(log.lines) == LogLimits().total_burst


def test_a_record_is_cut() -> None:
    log = Log()
    log.log.warning("%s", "x" * 1_000_000)
    assert len(log.lines[0]) < MAX_RECORD_CHARACTERS + 200
