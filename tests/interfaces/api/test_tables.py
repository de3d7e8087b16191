"""Tables, rows, cells, columns and their history, over the wire."""

from __future__ import annotations

import io
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx2
import openpyxl
import pytest

from tablewright.domain.complete_json import encode_complete
from tablewright.domain.proposal import ProposedCell
from tablewright.interfaces.api import adapter, answers
from tablewright.operations import rows
from tablewright.operations.rows import RowPageLimits, RowShown
from tests.interfaces.api.using import COMPANIES, Api
from tests.patience import PATIENCE


def values(api: Api, table_id: str, field: str) -> list[Any]:
    return [row["cells"][field]["value"] for row in api.get(f"/tables/{table_id}/rows")["rows"]]


def test_a_file_becomes_a_table_that_can_be_read_page_by_page(api: Api) -> None:
    table_id = api.bring_in("Name,Price\n" + "".join(f"Thing {number},{number}\n" for number in range(1, 8)))
    head = api.get(f"/tables/{table_id}")
    assert (head["row_count"], head["key_field"]) == (7, "Name")
    assert [(field["name"], field["type"]) for field in head["fields"]] == [("Name", "text"), ("Price", "number")]
    seen: list[list[int]] = []
    after: int | None = 0
    while after is not None:
        page = api.get(f"/tables/{table_id}/rows", limit=3, after=after)
        seen.append([row["row_id"] for row in page["rows"]])
        after = page["next"]
    assert seen == [[1, 2, 3], [4, 5, 6], [7]]


def test_rows_and_files_are_found_by_the_name_of_the_table(api: Api) -> None:
    table_id = api.bring_in()
    api.send("PATCH", f"/tables/{table_id}", json={"name": "Firms"})
    assert api.get("/tables/Firms/rows") == api.get(f"/tables/{table_id}/rows")
    exported = api.send("GET", "/tables/Firms/export")
    assert exported.content == api.send("GET", f"/tables/{table_id}/export").content
    assert "Firms.csv" in exported.headers["content-disposition"]
    assert api.refused(404, "GET", "/tables/nothing/rows")["type"] == "NotFound"


def test_a_reply_that_the_client_has_already_is_not_sent_again(api: Api) -> None:
    table_id = api.bring_in()
    first = api.send("GET", f"/tables/{table_id}/rows")
    tag = {"If-None-Match": f'"other", {first.headers["etag"]}'}
    again = api.send("GET", f"/tables/{table_id}/rows", headers=tag)
    assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])
    api.send("PUT", f"/tables/{table_id}/rows/1/cells/Company", json={"value": "Another"})
    changed = api.send("GET", f"/tables/{table_id}/rows", headers=tag)
    assert (changed.status_code, changed.json()["rows"][0]["cells"]["Company"]["value"]) == (200, "Another")
    assert "etag" not in api.send("PUT", f"/tables/{table_id}/rows/1/cells/Company", json={"value": "Third"}).headers


@pytest.mark.parametrize(
    ("accepted", "encoding"), [("gzip", "gzip"), ("br, gzip;q=0.5", "gzip"), ("gzip;q=0", None), ("identity", None)]
)
def test_large_replies_and_files_are_compressed_for_clients_that_take_it(
    api: Api, accepted: str, encoding: str | None
) -> None:
    table_id = api.bring_in("Name,Price\n" + "".join(f"Thing {number},{number}\n" for number in range(100)))
    headers = {"Accept-Encoding": accepted}
    plain = {"Accept-Encoding": "identity"}
    for path in (f"/tables/{table_id}/rows", f"/tables/{table_id}/export"):
        found = api.send("GET", path, headers=headers)
        assert found.headers.get("content-encoding") == encoding
        assert found.headers["vary"] == "Accept-Encoding"
        assert found.content == api.send("GET", path, headers=plain).content
    workbook = api.send("GET", f"/tables/{table_id}/export", params={"format": "xlsx"}, headers=headers)
    assert "content-encoding" not in workbook.headers
    assert "content-encoding" not in api.send("GET", f"/tables/{table_id}", headers=headers).headers


def test_a_page_of_long_rows_is_bounded_by_bytes_and_loses_none(api: Api) -> None:
    lengths = [900_000] * 12 + [9_000_000, 10]
    table_id = api.bring_in("Name,Text\n" + "".join(f"Thing {at},{'x' * long}\n" for at, long in enumerate(lengths)))
    for asked in ({}, {"status": "ENRICHED"}):
        seen: list[int] = []
        shortened: list[bool] = []
        after: int | None = 0
        while after is not None:
            answer = api.send("GET", f"/tables/{table_id}/rows", params={"limit": 1_000, "after": after, **asked})
            page = answer.json()
            assert len(answer.content) < rows.ROW_PAGE.reply_bytes + 1_000 or len(page["rows"]) == 1
            seen += [row["row_id"] for row in page["rows"]]
            shortened.append(page["shortened"])
            after = page["next"]
        assert seen == list(range(1, 15))
        assert shortened[0]
        assert not shortened[-1]


def test_a_page_of_a_wide_table_has_all_rows_that_fit(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "ROW_PAGE", RowPageLimits(read_cells=5))
    table_id = api.bring_in("Name,Price\n" + "".join(f"Thing {number},{number}\n" for number in range(1, 6)))
    for asked in ({}, {"status": "ENRICHED"}):
        page = api.get(f"/tables/{table_id}/rows", **asked)
        assert [row["row_id"] for row in page["rows"]] == [1, 2, 3, 4, 5]
        assert (page["next"], page["shortened"]) == (None, False)


def test_rows_of_a_request_become_a_table(api: Api) -> None:
    rows = [{"Name": "Ann", "Age": 31}, {"Name": "Bo", "Age": None, "Likes": ["tea", "rain"]}]
    made = api.post("/tables", {"name": "people", "rows": rows}, 201)
    assert (made["row_count"], made["key_field"]) == (2, "Name")
    assert values(api, made["table_id"], "Age") == [31, None]


def test_what_is_left_out_of_a_file_is_said_in_the_words_of_the_api(api: Api) -> None:
    def warnings(name: str, content: bytes) -> Any:
        answer = api.send("POST", "/tables/import", files={"file": (name, content)})
        assert answer.status_code == 201, answer.text
        return answer.json()["warnings"]

    rows = b'[{"n": "x", "a": 1e999999999, "b": NaN}, {"n": null}]'
    assert warnings("odd.json", rows) == [
        "Left out: 1 object without a value; the first is object 2.",
        "Left empty: 1 number (NaN, Infinity) of 'b'.",
    ]
    assert values(api, "odd", "a") == ["1e999999999"]
    book = openpyxl.Workbook()
    for sheet in (book.active, book.create_sheet("Hidden")):
        sheet.append(["Name"])
        sheet.append(["Ann"])
    book["Hidden"].sheet_state = "hidden"
    file = io.BytesIO()
    book.save(file)
    hidden = "The hidden sheet 'Hidden' was not read. Name a sheet with `sheet` to read it."
    assert warnings("book.xlsx", file.getvalue()) == [hidden]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("deep.json", b'[{"a":' + b"[" * 100_000),
        ("twice.jsonl", b'{"a": 1, "a": 2}'),
        ("lying.xlsx", b"a,b\n1,2\n"),
        ("cut.parquet", b"PAR1" + bytes(40) + b"PAR1"),
        ("quote.csv", b'a,b\n1,"2\n'),
        ("nul.tsv", b"name\tcity\n" + b"Ada\tLon\0don\n" * 30),
        ("cut.ods", b"PK\x03\x04" + bytes(60)),
        ("old.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)),
    ],
)
def test_a_file_that_is_no_table_is_refused_and_leaves_nothing(api: Api, name: str, content: bytes) -> None:
    error = api.refused(422, "POST", "/tables/import", files={"file": (name, content)})
    assert error["type"] == "BadFile"
    assert name in error["message"]
    assert api.get("/tables")["tables"] == []


@pytest.mark.parametrize("option", [{"encoding": "undefined"}, {"encoding": "utf-16"}, {"delimiter": "ab"}])
def test_an_option_that_cannot_read_the_file_is_refused(api: Api, option: dict[str, str]) -> None:
    file = {"file": ("t.csv", "a,b\nx,é\n".encode())}
    assert api.refused(422, "POST", "/tables/import", files=file, data=option)["type"] == "BadFile"


def test_lists_go_on_after_what_was_seen_also_when_that_is_gone(api: Api) -> None:
    for name in ("a.csv", "b.csv", "c.csv"):
        api.bring_in(name=name)
    first = api.get("/tables", limit=2)
    second = api.get("/tables", limit=2, after=first["next"])
    assert [[table["id"] for table in page["tables"]] for page in (first, second)] == [["a", "b"], ["c"]]
    assert second["next"] is None
    api.delete("/tables/b")
    assert api.get("/tables", limit=2, after=first["next"]) == second
    for nonsense in ("b", ",", "2026-11-16T09:30:00Z,", "yesterday,b"):
        assert "`next`" in api.refused(400, "GET", "/tables", params={"after": nonsense})["message"]


@pytest.mark.parametrize("kind", [RowShown, ProposedCell])
def test_while_a_page_of_many_cells_is_written_down_others_are_answered(
    api: Api, monkeypatch: pytest.MonkeyPatch, kind: type
) -> None:
    table_id = api.bring_in()
    proposal_id = api.run(table_id, "Twice:number=1+1")["proposal_id"]
    path = f"/tables/{table_id}/rows" if kind is RowShown else f"/proposals/{proposal_id}/operations"
    begun, go_on = threading.Event(), threading.Event()

    def slowly(value: Any) -> Any:
        if isinstance(value, kind):
            begun.set()
            assert go_on.wait(PATIENCE)
        return encode_complete(value)

    monkeypatch.setattr(adapter, "MAX_ENTRIES_IN_LOOP", 2)
    monkeypatch.setattr(answers, "encode_complete", slowly)
    with ThreadPoolExecutor(1) as pool:
        page = pool.submit(api.get, path)
        try:
            assert begun.wait(PATIENCE)
            assert httpx2.get(f"{api.server.url}/api/v1/health", timeout=PATIENCE, trust_env=False).status_code == 200
        finally:
            go_on.set()
        assert [len(many) for many in page.result(PATIENCE).values() if many] == [3]


def test_rows_are_found_by_what_became_of_their_cells(api: Api) -> None:
    table_id = api.bring_in()
    api.post(f"/tables/{table_id}/rows/2/flags/Country", {"note": "is it?"})
    flagged = api.get(f"/tables/{table_id}/rows", status="FLAGGED")
    assert [row["row_id"] for row in flagged["rows"]] == [2]
    assert api.get(f"/tables/{table_id}/rows", status="FLAGGED", field="Company")["rows"] == []


def test_what_people_write_is_typed_and_can_be_undone(api: Api) -> None:
    table_id = api.bring_in("Name,Price\nKettle,12\n")
    written = api.put(f"/tables/{table_id}/rows/1/cells/Price", {"value": "14.50"})
    assert written["cell"]["value"] == 14.5
    refused = api.refused(400, "PUT", f"/tables/{table_id}/rows/1/cells/Price", json={"value": "a lot"})
    assert "number" in refused["message"]
    api.post(f"/tables/{table_id}/undo", {"change": written["change"]["number"]})
    assert values(api, table_id, "Price") == [12]
    history = api.get(f"/tables/{table_id}/rows/1/history/Price")["versions"]
    assert [version["cell"]["value"] for version in history] == [12, 14.5, 12]
    changes = api.get(f"/tables/{table_id}/history", limit=2)
    assert [change["number"] for change in changes["changes"]] == [3, 2]
    assert [each["number"] for each in api.get(f"/tables/{table_id}/history", before=changes["next"])["changes"]] == [1]


def test_rows_and_columns_come_and_go(api: Api) -> None:
    table_id = api.bring_in("Name,Price\nKettle,12\n")
    api.post(f"/tables/{table_id}/rows", {"rows": [{"Name": "Lamp", "price": "30"}, {"Name": "Rug"}]}, 201)
    assert values(api, table_id, "Price") == [12, 30, None]
    assert api.refused(400, "POST", f"/tables/{table_id}/rows", json={"rows": [{"Name": "Bed", "Price": "dear"}]})
    api.delete(f"/tables/{table_id}/rows/2")
    assert values(api, table_id, "Name") == ["Kettle", "Rug"]
    api.post(f"/tables/{table_id}/fields", {"name": "Made/by", "type": "text"}, 201)
    api.put(f"/tables/{table_id}/rows/1/cells/Made%2Fby", {"value": "Ann"})
    api.put(f"/tables/{table_id}/fields/Made%2Fby", {"name": "Maker", "type": "text"})
    assert values(api, table_id, "Maker") == ["Ann", None]
    api.delete(f"/tables/{table_id}/fields/Maker")
    assert [field["name"] for field in api.get(f"/tables/{table_id}")["fields"]] == ["Name", "Price"]
    assert api.refused(422, "DELETE", f"/tables/{table_id}/fields/Name")["type"] == "BadField"


def test_a_table_is_renamed_and_removed(api: Api) -> None:
    table_id = api.bring_in()
    assert api.send("PATCH", f"/tables/{table_id}", json={"name": "Firms"}).json()["name"] == "Firms"
    assert api.get("/tables")["tables"][0]["name"] == "Firms"
    assert api.delete(f"/tables/{table_id}") == {"removed": table_id}
    assert api.get("/tables") == {"tables": [], "next": None}


def test_exports_hold_the_table_and_no_formula(api: Api) -> None:
    hostile = '=HYPERLINK("http://evil.example","x")'
    table_id = api.bring_in(json.dumps([{"Name": hostile}, {"Name": "@SUM(A1)"}]), name="a.json")
    answer = api.send("GET", f"/tables/{table_id}/export", params={"format": "csv"})
    assert answer.headers["content-disposition"].startswith("attachment")
    lines = answer.text.splitlines()
    assert lines[0] == "Name"
    assert all(line.lstrip('"').startswith("'") for line in lines[1:])
    book = openpyxl.load_workbook(io.BytesIO(api.send("GET", f"/tables/{table_id}/export?format=xlsx").content))
    cell = book.worksheets[0]["A2"]
    assert (cell.data_type, cell.value) == ("s", hostile)
    whole = json.loads(api.send("GET", f"/tables/{table_id}/export?format=json").content)
    assert whole["rows"][0]["cells"]["Name"]["value"] == hostile


def test_what_is_no_table_is_refused_and_leaves_nothing(api: Api) -> None:
    refused = api.refused(422, "POST", "/tables/import", files={"file": ("a.xlsx", b"\x00\xff" * 100)})
    assert refused["type"] == "BadFile"
    assert "/tmp" not in refused["message"]
    assert api.refused(422, "POST", "/tables/import", files={"file": ("empty.csv", b"")})["type"] == "BadFile"
    assert api.get("/tables")["tables"] == []


def test_a_file_whose_name_has_folders_or_unseen_characters_is_refused_with_a_sentence(api: Api) -> None:
    for name, why in (
        ("../../../etc/passwd.csv", "folders"),
        ("..\\..\\boot.csv", "folders"),
        ("..", "folders"),
        ("\u202evsc.evil", "U+202E"),
        ("a\x1b[2J.csv", "U+001B"),
        ("a\u2028b.csv", "U+2028"),
    ):
        refused = api.refused(400, "POST", "/tables/import", files={"file": (name, COMPANIES)})
        assert why in refused["message"], name
    assert api.get("/tables")["tables"] == []


def test_the_name_of_a_table_has_no_unseen_characters(api: Api) -> None:
    table_id = api.bring_in(COMPANIES)
    for name in ("\u202eseinapmoc", "a\nb", "a\x00b", "a\u2066b"):
        refused = [
            api.refused(400, "POST", "/tables", json={"name": name, "rows": [{"A": "x"}]}),
            api.refused(400, "PATCH", f"/tables/{table_id}", json={"name": name}),
            api.refused(400, "POST", "/tables/import", files={"file": ("a.csv", COMPANIES)}, data={"name": name}),
        ]
        assert all("cannot be seen" in each["message"] for each in refused), name
    for name in ("Größen 2024", "می\u200cخواهم", "表/二", "👩\u200d🔬"):
        api.post("/tables", {"name": name, "rows": [{"A": "x"}]}, 201)


def test_a_file_may_be_called_anything_else(api: Api) -> None:
    for name in ("n" * 400 + ".csv", ".csv", "<b>.csv"):
        table_id = api.bring_in(COMPANIES, name=name)
        assert not {"/", "\\"} & set(api.get(f"/tables/{table_id}")["name"])
        answer = api.send("GET", f"/tables/{table_id}/export")
        assert answer.status_code == 200


async def home(services: Any) -> Any:
    return services.settings.home_folder


@pytest.mark.parametrize("rows", [1, 2_000])
def test_a_key_that_appears_twice_is_refused_and_leaves_nothing(api: Api, rows: int) -> None:
    """Whichever value were taken, the other would be lost."""
    listed = ['{"Name": "Hill", "City": "Bergen"}'] * rows + ['{"Name": "Vale", "City": "Bergen", "City": "Molde"}']
    body = f'{{"name": "twice", "rows": [{", ".join(listed)}]}}'
    headers = {"Content-Type": "application/json"}
    refused = api.refused(422, "POST", "/tables", content=body, headers=headers)
    assert "'City' appears twice" in refused["message"]
    assert api.get("/tables")["tables"] == []


def test_a_form_in_place_of_json_is_told_so(api: Api) -> None:
    refused = api.refused(422, "POST", "/tables", data={"name": "firms"})
    assert refused["advice"] == "Send the body as JSON, with the header `Content-Type: application/json`."
