"""What a route raises, and what the framework does, as answers. Apart from the errors themselves, which MCP has too: it
need not wait for the framework."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from tablewright.doors.server.errors import error_body, error_response
from tablewright.errors import TablewrightError, UsageError, disk_full


def answer_errors(app: FastAPI, hide: Callable[[str], str]) -> None:
    """Whatever a route raises becomes an answer of the one shape."""

    async def answer_ours(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, TablewrightError)
        return error_response(error, hide)

    async def answer_system(_: Request, error: Exception) -> JSONResponse:
        if (full := disk_full(error)) is None:
            raise error
        return error_response(full, hide)

    async def answer_http(_: Request, error: Exception) -> JSONResponse:
        """Of the framework: no such route, no such method, a body that is not JSON or did not fit on the disk."""
        assert isinstance(error, HTTPException)
        if full := disk_full(error.__cause__ or error.__context__):
            return error_response(full, hide)
        phrase = HTTPStatus(error.status_code).phrase
        told = TablewrightError(f"{error.detail or phrase}".rstrip(".") + ".")
        return JSONResponse(error_body(told, phrase.title().replace(" ", "")), error.status_code, error.headers)

    app.add_exception_handler(TablewrightError, answer_ours)
    app.add_exception_handler(OSError, answer_system)
    app.add_exception_handler(RequestValidationError, answer_invalid)
    app.add_exception_handler(HTTPException, answer_http)


async def answer_invalid(request: Request, error: Exception) -> JSONResponse:
    """Says where it is wrong and how, never what was sent: that may be a secret."""
    assert isinstance(error, RequestValidationError)
    wrong = [f"{'.'.join(str(part) for part in each['loc'])}: {each['msg']}" for each in error.errors()[:5]]
    is_form = request.headers.get("content-type", "").startswith("application/x-www-form-urlencoded")
    advice = "Send the body as JSON, with the header `Content-Type: application/json`." if is_form else ""
    told = UsageError("The request is not of the expected form: " + "; ".join(wrong) + ".", advice=advice)
    return JSONResponse(error_body(told, "InvalidRequest"), 422)
