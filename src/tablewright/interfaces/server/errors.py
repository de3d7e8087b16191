"""Errors as HTTP responses: one shape for the API and the guard, and a status for each kind of error.

The server's own errors, in addition to those of `tablewright.errors`:

UsageError
├── NotLoggedIn     no token, or an unknown one (401)
├── Misdirected     a request to a host that this server does not answer for (421)
├── TooLarge        more than a request may bring (413)
├── TooSlow         a request that did not arrive in time (408)
├── BadEncoding     a text that is not UTF-8 (415)
└── TooMany         more requests, or more open streams, than one person may have (429)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from starlette.responses import JSONResponse

from tablewright.errors import (
    BadField,
    BadFile,
    BadFormula,
    BadSetting,
    Cancelled,
    DiskFull,
    EditConflict,
    Forbidden,
    ModelError,
    NotFound,
    OverBudget,
    RunEnded,
    RunError,
    SearchError,
    StoreError,
    Superseded,
    TablewrightError,
    Unreachable,
    Unreadable,
    UsageError,
)
from tablewright.interfaces.wording import REST, reword_advice


class NotLoggedIn(UsageError):
    pass


class Misdirected(UsageError):
    pass


class TooLarge(UsageError):
    pass


class TooSlow(UsageError):
    pass


class BadEncoding(UsageError):
    pass


class TooMany(UsageError):
    def __init__(self, what: str, *, kept: str = "", advice: str = "", retry_after: float = 1) -> None:
        super().__init__(what, kept=kept, advice=advice)
        self.retry_after = retry_after


# The first class that fits decides, so subclasses come before their bases.
STATUS_CODES: tuple[tuple[type[TablewrightError], int], ...] = (
    (NotLoggedIn, 401),
    (Misdirected, 421),
    (TooLarge, 413),
    (TooSlow, 408),
    (BadEncoding, 415),
    (TooMany, 429),
    (Forbidden, 403),
    (NotFound, 404),
    (BadFile, 422),
    (BadFormula, 422),
    (BadField, 422),
    (Unreadable, 422),
    (RunEnded, 409),
    (BadSetting, 503),
    (UsageError, 400),
    (EditConflict, 409),
    (Superseded, 409),
    (Cancelled, 409),
    (OverBudget, 409),
    (DiskFull, 507),
    (StoreError, 503),
    (ModelError, 503),
    (SearchError, 503),
    (RunError, 500),
    (TablewrightError, 500),
)

# Sent as Retry-After, and used by the page that reloads itself; a restarting database is back in about this time.
RETRY_AFTER_OUTAGE_SECONDS = "5"
# One object, compared by identity: its answer hides what happened, and the log says it.
UNEXPECTED_ERROR = TablewrightError(
    "Something went wrong in the server.",
    kept="What was committed before is kept.",
    advice="Try again; the server's log says where it happened.",
)


def http_status(error: TablewrightError) -> int:
    return next(status for kind, status in STATUS_CODES if isinstance(error, kind))


def error_body(error: TablewrightError, name: str = "", hide: Callable[[str], str] = str) -> dict[str, Any]:
    kind = name or type(error).__name__
    what, kept, advice = map(hide, (public_message(error), error.kept, reword_advice(REST, error.advice)))
    return {"error": {"type": kind, "message": what, "kept": kept, "advice": advice}}


def public_message(error: TablewrightError) -> str:
    return (error.public if isinstance(error, StoreError) else "") or error.what


def error_response(error: TablewrightError, hide: Callable[[str], str] = str) -> JSONResponse:
    """Return the response for an error; `hide` removes paths and secrets from its texts."""
    if error is UNEXPECTED_ERROR:
        return JSONResponse(error_body(error, "InternalError"), 500)
    headers = {}
    if isinstance(error, NotLoggedIn):
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, TooMany):
        headers["Retry-After"] = str(max(1, round(error.retry_after)))
    if isinstance(error, Unreachable):
        headers["Retry-After"] = RETRY_AFTER_OUTAGE_SECONDS
    return JSONResponse(error_body(error, hide=hide), http_status(error), headers)
