"""The log of a server or a worker: one line per record on stderr, as text or as JSON, with its time, level and run, and
never with a secret."""

from __future__ import annotations

import json
import logging
import re
import sys
from datetime import UTC, datetime

from tablewright.domain.text import escape_unsafe_characters
from tablewright.observe import current_run
from tablewright.secrets import MASK, mask_secrets
from tablewright.settings import Settings

# Enough for a message and its traceback; a library may log whole pages.
MAX_RECORD_CHARACTERS = 8_000


def set_up_logging(settings: Settings) -> logging.Handler:
    """Log our own records from `log_level` up; of libraries only warnings, unless everything is requested."""
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter(settings) if settings.log_format == "json" else RedactingFormatter(settings))
    # Libraries log each request at the level of information, with addresses; at the level of debugging even contents.
    libraries = logging.INFO if level == logging.DEBUG else max(level, logging.WARNING)
    logging.basicConfig(handlers=[handler], level=libraries)
    logging.getLogger("tablewright").setLevel(level)
    return handler


def hide_secrets_of(settings: Settings) -> None:
    """Hide these secrets too from now on: a key may be saved while a server runs."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler.formatter, RedactingFormatter):
            handler.formatter.hide(settings)


class RedactingFormatter(logging.Formatter):
    """A line of text. Secrets of the settings, credentials inside addresses and what looks like a token are hidden,
    whichever library logs them; a value can neither control a terminal nor look like another line."""

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._secrets = settings.secrets

    def hide(self, settings: Settings) -> None:
        self._secrets = sorted({*self._secrets, *settings.secrets}, key=len, reverse=True)

    def format(self, record: logging.LogRecord) -> str:
        run = run_of_record(record)
        place = f"{record.name} run={run}" if run else record.name
        return f"{format_log_time(record)} {record.levelname} {place}: {self.message_of(record)}"

    def message_of(self, record: logging.LogRecord) -> str:
        """Return the message and, indented below it, the traceback of an error."""
        text = record.getMessage()
        if record.exc_info:
            text = f"{text}\n{self.formatException(record.exc_info)}"
        # The longest first: a shorter one may be a part of it and would leave the rest readable.
        for secret in self._secrets:
            text = text.replace(secret, MASK)
        # Tokens of users are not among the settings, so they are known only by where they are written.
        text = re.sub(
            r"(?i)(bearer\s+|token=|tablewright_session=)[^\s\"'&;,]+", rf"\1{MASK}", mask_secrets(text)
        ).rstrip("\n")
        if len(text) > MAX_RECORD_CHARACTERS:
            text = f"{text[:MAX_RECORD_CHARACTERS]}… ({len(text) - MAX_RECORD_CHARACTERS:,} characters more)"
        return escape_unsafe_characters(text).replace("\n", "\n    ")


class JsonFormatter(RedactingFormatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {"at": format_log_time(record), "level": record.levelname.lower(), "logger": record.name}
        if run := run_of_record(record):
            line["run"] = run
        return json.dumps(line | {"message": self.message_of(record)}, ensure_ascii=False)


def run_of_record(record: logging.LogRecord) -> str:
    """Return the run that the record names, or the current one."""
    return str(getattr(record, "run", "") or current_run())


def format_log_time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
