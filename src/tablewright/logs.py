"""The log of a server or a worker: one line a record on stderr, as text or as JSON, with its time, level and run, and
never with a secret."""

from __future__ import annotations

import json
import logging
import re
import sys
from datetime import UTC, datetime

from tablewright.domain.printable import escaped
from tablewright.observe import current_run
from tablewright.secrets import HIDDEN, masked
from tablewright.settings import Settings

OURS = "tablewright"
LONGEST = 8_000
"""Characters of one record, its traceback included."""
BEARER = re.compile(r"(?i)(bearer\s+|token=|tablewright_session=)[^\s\"'&;,]+")


def set_up(settings: Settings) -> logging.Handler:
    """Ours from `log_level` up; of libraries only what is wrong, unless everything is asked for."""
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter(settings) if settings.log_format == "json" else Discreet(settings))
    libraries = logging.INFO if level == logging.DEBUG else max(level, logging.WARNING)
    logging.basicConfig(handlers=[handler], level=libraries)
    logging.getLogger(OURS).setLevel(level)
    return handler


def hide_secrets_of(settings: Settings) -> None:
    """From now on also these: a key may be saved while a server runs."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler.formatter, Discreet):
            handler.formatter.hide(settings)


class Discreet(logging.Formatter):
    """A line of text. Whatever a library logs: the settings' secrets, credentials inside addresses and what looks like
    a token are left out, and nothing in it commands a terminal or passes for another line."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._secrets = settings.secrets

    def hide(self, settings: Settings) -> None:
        self._secrets = sorted({*self._secrets, *settings.secrets}, key=len, reverse=True)

    def format(self, record: logging.LogRecord) -> str:
        run = run_of(record)
        place = f"{record.name} run={run}" if run else record.name
        return f"{moment(record)} {record.levelname} {place}: {self.message_of(record)}"

    def message_of(self, record: logging.LogRecord) -> str:
        """The message, and below it, set in, where an error came from."""
        text = record.getMessage()
        if record.exc_info:
            text = f"{text}\n{self.formatException(record.exc_info)}"
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        text = BEARER.sub(rf"\1{HIDDEN}", masked(text)).rstrip("\n")
        if len(text) > LONGEST:
            text = f"{text[:LONGEST]}… ({len(text) - LONGEST:,} characters more)"
        return escaped(text).replace("\n", "\n    ")


class JsonFormatter(Discreet):
    def format(self, record: logging.LogRecord) -> str:
        line = {"at": moment(record), "level": record.levelname.lower(), "logger": record.name}
        if run := run_of(record):
            line["run"] = run
        return json.dumps(line | {"message": self.message_of(record)}, ensure_ascii=False)


def run_of(record: logging.LogRecord) -> str:
    """The run that the record names itself, else the one under way."""
    return str(getattr(record, "run", "") or current_run())


def moment(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
