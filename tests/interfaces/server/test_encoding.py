"""Texts in requests are UTF-8 and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.interfaces.server.serving import Served, error_of, served

TABLE = '{"name": "towns", "rows": [{"Town": "Zürich"}]}'
JSON = "application/json"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("home")) as started:
        yield started


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (TABLE.encode("utf-16"), JSON),
        (TABLE.encode("utf-16-le"), JSON),
        (TABLE.encode("utf-32"), JSON),
        (TABLE.encode("latin-1"), JSON),
        (TABLE.encode("cp500"), JSON),  # EBCDIC
        (TABLE.encode()[:-3] + b"\xc0\xaf" + TABLE.encode()[-3:], JSON),  # overlong
        (TABLE.encode().replace(b"towns", b"\xed\xa0\x80"), JSON),  # half a character
        (TABLE.encode(), f"{JSON}; charset=utf-7"),
        (TABLE.encode("utf-16"), f"{JSON}; charset=utf-16"),
        (TABLE.encode(), f'{JSON}; charset="EBCDIC-CP-US"'),
        (TABLE.encode(), f"{JSON}; charset=no-such-thing"),
    ],
)
def test_a_body_in_another_encoding_is_refused_with_a_sentence(server: Served, body: bytes, kind: str) -> None:
    with server.client() as client:
        answer = client.post("/api/v1/tables", content=body, headers={"Content-Type": kind})
        assert (answer.status_code, error_of(answer)["type"]) == (415, "BadEncoding")
        assert "UTF-8" in error_of(answer)["message"] + error_of(answer)["advice"]
        assert client.get("/api/v1/tables").json()["tables"] == []


def test_a_compressed_body_is_refused(server: Served) -> None:
    with server.client() as client:
        headers = {"Content-Type": JSON, "Content-Encoding": "gzip"}
        answer = client.post("/api/v1/tables", content=b"\x1f\x8b", headers=headers)
        assert (answer.status_code, error_of(answer)["type"]) == (415, "BadEncoding")


def test_utf_8_is_taken_whole_in_pieces_and_by_name_and_utf_7_for_the_characters_it_is_made_of(tmp_path: Path) -> None:
    whole = TABLE.encode()
    cut = whole.index("ü".encode()) + 1
    pieces = iter([whole[:cut], whole[cut:]])
    with served(tmp_path) as server, server.client() as client:
        for content, kind, town in (
            (whole, JSON, "Zürich"),
            (pieces, f"{JSON}; charset=UTF-8", "Zürich"),
            (TABLE.encode("utf-7"), JSON, "Z+APw-rich"),
        ):
            answer = client.post("/api/v1/tables", content=content, headers={"Content-Type": kind})
            assert answer.status_code == 201, answer.text
            rows = client.get(f"/api/v1/tables/{answer.json()['table_id']}/rows").json()["rows"]
            assert rows[0]["cells"]["Town"]["value"] == town
