"""What nobody should send is refused, in the one shape, and never breaks anything."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.interfaces.api.using import Api, served_api
from tests.interfaces.server.serving import error_of

HUGE = "9" * 400
DEEP = '{"name": "x", "rows": ' + "[" * 100_000 + "]" * 100_000 + "}"


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """For all that is refused: nothing comes into it."""
    with served_api(tmp_path_factory.mktemp("home")) as used:
        yield used


@pytest.mark.parametrize(
    "body",
    [
        b'{"name": "a\\u0000b", "rows": [{"A": "x"}]}',
        b'{"name": "x", "rows": [{"A\\u0000": "x"}]}',
        b'{"name": "\\ud800", "rows": [{"A": "x"}]}',
        b'{"name": "x", "rows": [{"\\ud800": "x"}]}',
        b'{"name": "\xff\xfe", "rows": [{"A": "x"}]}',
        b'{"name": "x", "rows": [{"A": NaN}]}',
        b'{"name": "x", "rows": [{"A": 1e999}]}',
        b'{"name": "x", "rows": [{"A": "a\\u0000b"}]}',
        b'{"name": "x", "rows": [{"A": ["\\ud800"]}]}',
        b'{"name": "x", "rows": [{"A": ' + b"9" * 5_000 + b"}]}",
        b'{"name": "x", "rows": []}',
        b'{"name": "x", "rows": [{"A": "x"}], "extra": 1}',
        b'{"name": "x", "rows": [{"A": {"$ne": null}}]}',
        b"[]",
        b"",
        b"\x00",
        DEEP.encode(),
        ('{"name": "' + "x" * 3_000_000 + '"}').encode(),
    ],
    ids=lambda body: repr(body[:40]),
)
def test_a_table_of_nonsense_is_refused(empty: Api, body: bytes) -> None:
    answer = empty.send("POST", "/tables", content=body, headers={"Content-Type": "application/json"})
    assert 400 <= answer.status_code < 500, answer.text
    error_of(answer)
    assert empty.get("/tables")["tables"] == []


@pytest.mark.parametrize(
    "path",
    [
        f"/tables/x/rows/{HUGE}",
        "/tables/x/rows/-1",
        f"/tables/x/rows?after={HUGE}",
        "/tables/x/rows?limit=100000",
        "/tables/%00",
        "/tables/%ff%fe",
        "/tables/..%2f..%2fetc%2fpasswd",
        "/tables/" + "x" * 5_000,
        f"/runs/x/events?after={HUGE}",
        "/proposals/x/operations?after=%00",
        "/results/..%2f..%2fx/export",
        "/shortlists/..%2f..%2fx/files/..%2fx",
        "/documents/%00",
        "/tables?after=%00",
    ],
)
def test_a_path_to_nowhere_is_refused(empty: Api, path: str) -> None:
    answer = empty.send("GET", path)
    assert 400 <= answer.status_code < 500, answer.text
    error_of(answer)


def test_numbers_that_no_database_takes_are_kept_as_they_can_be(api: Api) -> None:
    table_id = api.bring_in(f"Name,Size\nbig,{HUGE}\nsmall,-{HUGE}\nodd,1e400\nfine,3\n")
    rows = api.get(f"/tables/{table_id}/rows")["rows"]
    assert len(rows) == 4
    assert api.put(f"/tables/{table_id}/rows/4/cells/Size", {"value": "5"})["cell"]["value"] in (5, "5")


def test_an_idempotency_key_is_a_short_plain_text(api: Api) -> None:
    for key in ("k" * 300, "a b", ""):
        answer = api.send("POST", "/ask", json={"question": "Who?"}, headers={"Idempotency-Key": key})
        assert answer.status_code == 422


def test_a_column_cannot_be_called_anything(api: Api) -> None:
    table_id = api.bring_in()
    for name in ("", " ", "{Company}", "a\u0000b", "a\nb", "x" * 301, "company"):
        status = 400 if "\0" in name else 422  # which no text of any request may have
        assert api.refused(status, "POST", f"/tables/{table_id}/fields", json={"name": name})


def test_hostile_text_comes_back_as_it_was_and_as_data_only(api: Api) -> None:
    hostile = '<script>alert(1)</script>"><svg onload=alert(1)> \x1b[31m =1+1'
    assert (
        "cannot be seen" in api.refused(400, "POST", "/tables", json={"name": hostile, "rows": [{"A": "b"}]})["message"]
    )
    made = api.post("/tables", {"name": hostile.replace("\x1b", ""), "rows": [{"A": hostile}]}, 201)
    answer = api.send("GET", f"/tables/{made['table_id']}/rows")
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "<script>" in answer.json()["rows"][0]["cells"]["A"]["value"]
    export = api.send("GET", f"/tables/{made['table_id']}/export?format=md")
    assert "attachment" in export.headers["content-disposition"]
    assert "<script>" not in export.headers["content-disposition"]
