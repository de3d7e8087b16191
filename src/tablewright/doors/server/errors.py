"""What goes wrong, as an answer: one shape for the API and the guard, and a status for each kind of error.

Refused by the server itself, beside the errors of `tablewright.errors`:

UsageError
├── NotLoggedIn     no token, or one that is nobody's (401)
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

from tablewright.doors.wording import REST, in_words_of
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


STATUS: tuple[tuple[type[TablewrightError], int], ...] = (
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
"""The first that fits."""

AWAY_SECONDS = "5"
"""After which whoever found the database away tries again."""
UNEXPECTED = TablewrightError(
    "Something went wrong in the server.",
    kept="What was committed before is kept.",
    advice="Try again; the server's log says where it happened.",
)


def status_of(error: TablewrightError) -> int:
    return next(status for kind, status in STATUS if isinstance(error, kind))


def error_body(error: TablewrightError, name: str = "", hide: Callable[[str], str] = str) -> dict[str, Any]:
    kind = name or type(error).__name__
    said = (public_words(error), error.kept, in_words_of(REST, error.advice))
    what, kept, advice = map(hide, said)
    return {"error": {"type": kind, "message": what, "kept": kept, "advice": advice}}


def public_words(error: TablewrightError) -> str:
    return (error.public if isinstance(error, StoreError) else "") or error.what


def error_response(error: TablewrightError, hide: Callable[[str], str] = str) -> JSONResponse:
    """`hide` takes out what is not for others."""
    if error is UNEXPECTED:
        return JSONResponse(error_body(error, "InternalError"), 500)
    headers = {}
    if isinstance(error, NotLoggedIn):
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, TooMany):
        headers["Retry-After"] = str(max(1, round(error.retry_after)))
    if isinstance(error, Unreachable):
        headers["Retry-After"] = AWAY_SECONDS
    return JSONResponse(error_body(error, hide=hide), status_of(error), headers)
