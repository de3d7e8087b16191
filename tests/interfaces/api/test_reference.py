"""The page about the API is what the API is."""

from __future__ import annotations

import html
import re
import runpy
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI

from tablewright.interfaces.api.routes import router
from tests.interfaces.api.using import Api

ROOT = Path(__file__).parents[3]


@cache
def openapi() -> dict[str, Any]:
    app = FastAPI()
    app.include_router(router)
    return app.openapi()


def test_the_page_about_the_api_is_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["api_reference.py", "--check"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(ROOT / "scripts" / "api_reference.py"), run_name="__main__")
    assert ended.value.code == 0, "run scripts/api_reference.py"


def test_every_route_says_what_it_does_what_it_answers_and_how_it_fails() -> None:
    found = openapi()
    problem = {"$ref": "#/components/schemas/Problem"}
    for path, methods in found["paths"].items():
        for method, operation in methods.items():
            where = f"{method} {path}"
            assert operation["description"], where
            assert operation["responses"]["4XX"]["content"]["application/json"]["schema"] == problem, where
            (good,) = [each for status, each in operation["responses"].items() if status.startswith("2")]
            schema = next(iter(good["content"].values()))
            assert (
                "$ref" in schema.get("schema", {})
                or "application/json" not in good["content"]
                or len(good["content"]) > 1
            ), where


def test_media_types_have_only_what_this_version_of_openapi_knows() -> None:
    for path, methods in openapi()["paths"].items():
        for operation in methods.values():
            for answer in operation["responses"].values():
                for media, content in answer.get("content", {}).items():
                    assert content.keys() <= {"schema", "example", "examples", "encoding"}, (path, media)


def test_what_costs_money_can_be_asked_for_once() -> None:
    """Everything that starts work, or asks a model; and nothing else needs it."""
    keyed = {
        path
        for path, methods in openapi()["paths"].items()
        for operation in methods.values()
        if any(each["name"] == "Idempotency-Key" for each in operation.get("parameters", []))
    }
    assert keyed == {
        "/tables/{table}/runs",
        "/tables/{table}/recheck",
        "/tables/{table}/refresh",
        "/tables/{table}/schedules",
        "/tables/{table}/fields/plan",
        "/runs/{run_id}/cancel",
        "/runs/{run_id}/pause",
        "/runs/{run_id}/resume",
        "/ask",
        "/find",
        "/find/plan",
        "/tables/{table}/found",
        "/research",
        "/research/plan",
        "/research/{research}/questions",
        "/research/{research}/resume",
        "/shortlists",
        "/shortlists/{shortlist}/turns",
    }


def test_every_server_has_the_page_about_its_api(api: Api) -> None:
    assert api.get("/openapi.json")["info"]["version"] == version("tablewright")
    answer = api.client.get("/docs")
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert "script" not in answer.headers["content-security-policy"]
    for path in openapi()["paths"]:
        assert html.escape(path) in answer.text
    targets = set(re.findall(r'id="([\w-]+)"', answer.text))
    assert set(re.findall(r'href="#([\w-]+)"', answer.text)) <= targets
