"""Exception handlers of the application: errors of our routes and of the framework become responses of one shape.

Separate from `errors.py`, which MCP imports too: it should not wait for the import of FastAPI."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from tablewright.errors import TablewrightError, UsageError, disk_full
from tablewright.interfaces.server.errors import error_body, error_response


def add_error_handlers(app: FastAPI, hide: Callable[[str], str]) -> None:
    """Register a handler for each kind of error that a route can raise."""

    async def answer_ours(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, TablewrightError)
        return error_response(error, hide)

    async def answer_system(_: Request, error: Exception) -> JSONResponse:
        if (full := disk_full(error)) is None:
            raise error
        return error_response(full, hide)

    async def answer_http(_: Request, error: Exception) -> JSONResponse:
        """Answer the framework's errors, such as an unknown route, a body that is not JSON, or a full disk."""
        assert isinstance(error, HTTPException)
        # The framework reports a failed upload as a bad request; the cause may be a full disk.
        if full := disk_full(error.__cause__ or error.__context__):
            return error_response(full, hide)
        phrase = HTTPStatus(error.status_code).phrase
        shaped = TablewrightError(f"{error.detail or phrase}".rstrip(".") + ".")
        return JSONResponse(error_body(shaped, phrase.title().replace(" ", "")), error.status_code, error.headers)

    app.add_exception_handler(TablewrightError, answer_ours)
    app.add_exception_handler(OSError, answer_system)
    app.add_exception_handler(RequestValidationError, answer_invalid_request)
    app.add_exception_handler(HTTPException, answer_http)


async def answer_invalid_request(request: Request, error: Exception) -> JSONResponse:
    """Answer with where and how the request is wrong, never with what was sent: that may be a secret."""
    assert isinstance(error, RequestValidationError)
    # Five are enough to correct a request; a long list of rows can have thousands.
    wrong = [f"{'.'.join(str(part) for part in each['loc'])}: {each['msg']}" for each in error.errors()[:5]]
    is_form = request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded")
    advice = "Send the body as JSON, with the header `Content-Type: application/json`." if is_form else ""
    invalid = UsageError("The request is not of the expected form: " + "; ".join(wrong) + ".", advice=advice)
    return JSONResponse(error_body(invalid, "InvalidRequest"), 422)
