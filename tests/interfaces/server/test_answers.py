"""What every answer has, and what no answer and no log line ever tells."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import pytest
from fastapi import FastAPI
from pydantic import BaseModel

from tablewright import errors
from tablewright.interfaces.server.errors import STATUS_CODES, http_status
from tablewright.logs import RedactingFormatter
from tablewright.settings import Settings
from tests.interfaces.server.serving import TOKEN, error_of, served

SECRET = "sk-very-secret"


class Brought(BaseModel):
    number: int


def with_routes(app: FastAPI) -> None:
    @app.get("/api/v1/boom")
    async def boom() -> None:
        raise RuntimeError(f"could not reach https://api.example/?key={SECRET}")

    @app.get("/api/v1/conflict")
    async def conflict() -> None:
        raise errors.EditConflict("Somebody was faster.", kept="Nothing was written.", advice="Look again.")

    @app.post("/api/v1/brought")
    async def brought(body: Brought) -> int:
        return body.number


def test_what_goes_wrong_inside_is_not_told_outside(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with served(tmp_path, more=with_routes) as server, server.client() as client:
        answer = client.get("/api/v1/boom")
    assert (answer.status_code, error_of(answer)["type"]) == (500, "InternalError")
    assert not re.search(r"secret|Runtime|Traceback|\.py", answer.text)
    assert "GET /api/v1/boom failed: RuntimeError" in caplog.text
    assert "test_answers.py" in caplog.text
    assert SECRET not in caplog.text


def test_our_errors_say_all_they_have_to_say(tmp_path: Path) -> None:
    with served(tmp_path, more=with_routes) as server, server.client() as client:
        answer = client.get("/api/v1/conflict")
        assert answer.status_code == 409
        assert error_of(answer) == {
            "type": "EditConflict",
            "message": "Somebody was faster.",
            "kept": "Nothing was written.",
            "advice": "Look again.",
        }


def test_errors_of_the_framework_have_the_same_shape(tmp_path: Path) -> None:
    with served(tmp_path, more=with_routes) as server, server.client() as client:
        assert error_of(client.get("/api/v1/nowhere"))["type"] == "NotFound"
        assert error_of(client.delete("/api/v1/brought"))["type"] == "MethodNotAllowed"
        wrong = client.post("/api/v1/brought", json={"number": SECRET})
        assert (wrong.status_code, error_of(wrong)["type"]) == (422, "InvalidRequest")
        assert "body.number" in wrong.text
        assert SECRET not in wrong.text
        broken = client.post("/api/v1/brought", content=b"{", headers={"Content-Type": "application/json"})
        assert (broken.status_code, error_of(broken)["type"]) == (422, "InvalidRequest")


def all_errors(kind: type[errors.TablewrightError]) -> set[type[errors.TablewrightError]]:
    return {kind}.union(*(all_errors(below) for below in kind.__subclasses__()))


def test_every_error_has_a_status_and_the_more_special_comes_first() -> None:
    kinds = [kind for kind, _ in STATUS_CODES]
    for place, kind in enumerate(kinds):
        assert not [earlier for earlier in kinds[:place] if issubclass(kind, earlier)], kind
    for kind in all_errors(errors.TablewrightError):
        if not kind.__module__.startswith("tablewright.interfaces.library"):  # whose errors never come here
            assert 400 <= http_status(kind("It failed.")) < 600
    said = {errors.NotFound: 404, errors.Forbidden: 403, errors.EditConflict: 409, errors.BadField: 422}
    said |= {errors.StoreError: 503, errors.ModelUnavailable: 503, errors.OverBudget: 409, errors.UsageError: 400}
    assert {kind: http_status(kind("It failed.")) for kind in said} == said


def test_every_answer_protects_itself(tmp_path: Path) -> None:
    answers = []
    with served(tmp_path, more=with_routes) as server, server.client() as client:
        for path in ("/login", "/api/v1/boom", "/api/v1/nowhere"):
            assert "script" not in client.get(path).headers["content-security-policy"]
            assert client.get(path).headers["content-security-policy"].startswith("default-src 'none'")
        for path in ("/login", "/api/v1/boom", "/api/v1/nowhere", "/nowhere"):
            answers += [client.get(path).headers, client.get(path, headers={"Host": "evil.example"}).headers]
    for each in answers:
        assert each["x-content-type-options"] == "nosniff"
        assert each["x-frame-options"] == "DENY"
        assert each["referrer-policy"] == "same-origin"
        assert each["cache-control"] == "no-store"
        policy = dict(part.strip().split(" ", 1) for part in each["content-security-policy"].split(";"))
        assert policy["frame-ancestors"] == "'none'"
        assert policy["default-src"] in ("'self'", "'none'")
        assert policy.get("script-src-attr", "'none'") == "'none'"
        assert "http" not in each["content-security-policy"]
        assert "access-control-allow-origin" not in each


def test_a_request_is_logged_without_its_query_or_token(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "tablewright.server")
    with served(tmp_path, token=TOKEN, more=with_routes) as server:
        with server.client(TOKEN) as client:
            client.get(f"/api/v1/conflict?token={SECRET}&line=%0Afeed")
            client.get("/api/v1/a%0Ab")
        with server.browser() as browser:
            browser.post("/login", data={"token": TOKEN})
    lines = [record.getMessage() for record in caplog.records if record.name == "tablewright.server"]
    assert any(re.fullmatch(r"127\.0\.0\.1 owner GET /api/v1/conflict 409 \d+ ms", line) for line in lines)
    assert any("/api/v1/a%0Ab" in line for line in lines)
    assert SECRET not in caplog.text
    assert TOKEN not in caplog.text


def test_secrets_are_left_out_of_what_libraries_log() -> None:
    settings = Settings(token=TOKEN, model_api_key=SECRET, database_url="postgresql://u:p@h/d")
    shown = RedactingFormatter(settings)
    record = logging.LogRecord("x", 40, "", 1, "%s %s %s", (TOKEN, SECRET, "postgresql://u:p@h/d"), None)
    assert shown.format(record).endswith("x: … … …")
    record = logging.LogRecord("x", 40, "", 1, "Authorization: Bearer abc.def, /x?token=abc&y=1", (), None)
    assert shown.format(record).endswith("Authorization: Bearer …, /x?token=…&y=1")
