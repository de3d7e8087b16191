"""Google as far as an export needs it, on loopback: it checks the signature of who asks for a token, knows who may edit
which spreadsheet, and refuses values that are not RAW or lie beyond the grid."""

from __future__ import annotations

import base64
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

ACCOUNT = "tables@example-project.iam.gserviceaccount.com"
SHARED = "1AbCdEfGhIjKlMnOpQrStUvWxYz012345"
LINK = f"https://docs.google.com/spreadsheets/d/{SHARED}/edit#gid=0"


class FakeGoogle:
    """`spreadsheets` are by id, their sheets by title: the size of the grid, and the lines from A1 on."""

    def __init__(self) -> None:
        self.private = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
        self.claims: dict[str, Any] = {}
        self.spreadsheets: dict[str, dict[str, tuple[int, int, list[list[Any]]]]] = {
            SHARED: {"Old": (10, 2, [["mine"]])}
        }
        self.editors: dict[str, str] = {}
        self.busy = 0
        """So many requests are answered with 429 first."""
        self.fails_at_write = 0
        """The write with this number is refused."""
        self.writes = 0
        self.url = ""

    @property
    def key(self) -> str:
        pem = self.private.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        account = {"type": "service_account", "client_email": ACCOUNT, "private_key": pem.decode()}
        return json.dumps({**account, "token_uri": f"{self.url}/token"}, indent=2)

    def answer(self, method: str, url: str, body: bytes, authorization: str) -> tuple[int, dict[str, Any]]:
        address = urlsplit(url)
        if address.path == "/token":
            return self._token(parse_qs(body.decode()))
        if authorization != "Bearer the-token":
            return refusal(401, "Request had invalid authentication credentials.")
        if self.busy:
            self.busy -= 1
            return refusal(429, "Quota exceeded.")
        content = json.loads(body or b"{}")
        match method, address.path.removeprefix("/sheets").removeprefix("/"):
            case "POST", "":
                self.spreadsheets["made-for-somebody"] = {}
                return self._add("made-for-somebody", [each["properties"] for each in content["sheets"]])
            case "POST", path if shared := re.fullmatch(r"drive/([\w-]+)/permissions", path):
                self.editors[shared[1]] = content["emailAddress"]
                return 200, {"id": "1"}
            case _, path:
                id = re.split(r"[:/]", path)[0]
                if id not in self.spreadsheets:
                    return refusal(403, "The caller does not have permission")
                if path.endswith(":batchUpdate"):
                    return self._add(id, [each["addSheet"]["properties"] for each in content["requests"]])
                if method == "GET":
                    return 200, {"sheets": [{"properties": {"title": title}} for title in self.spreadsheets[id]]}
                return self._write(id, unquote(path.rpartition("/")[2]), parse_qs(address.query), content["values"])

    def _token(self, form: dict[str, list[str]]) -> tuple[int, dict[str, Any]]:
        head, claims, signature = form["assertion"][0].split(".")
        try:
            self.private.public_key().verify(
                plain(signature), f"{head}.{claims}".encode(), padding.PKCS1v15(), hashes.SHA256()
            )
        except InvalidSignature:
            return 400, {"error": "invalid_grant", "error_description": "Invalid JWT Signature."}
        assert form["grant_type"] == ["urn:ietf:params:oauth:grant-type:jwt-bearer"]
        assert json.loads(plain(head)) == {"alg": "RS256", "typ": "JWT"}
        self.claims = json.loads(plain(claims))
        return 200, {"access_token": "the-token", "expires_in": 3599, "token_type": "Bearer"}

    def _add(self, id: str, properties: list[dict[str, Any]]) -> tuple[int, dict[str, Any]]:
        for each in properties:
            if each["title"] in self.spreadsheets[id]:
                return refusal(400, "A sheet with that name already exists.")
            size = each["gridProperties"]
            self.spreadsheets[id][each["title"]] = (size["rowCount"], size["columnCount"], [])
        return 200, {"spreadsheetId": id}

    def _write(
        self, id: str, where: str, query: dict[str, list[str]], lines: list[list[Any]]
    ) -> tuple[int, dict[str, Any]]:
        self.writes += 1
        if self.writes == self.fails_at_write:
            return refusal(400, "Internal limits were exceeded.")
        found = re.fullmatch(r"'(.+)'!A(\d+)", where)
        assert found
        assert query["valueInputOption"] == ["RAW"]
        rows, columns, there = self.spreadsheets[id][found[1].replace("''", "'")]
        start = int(found[2]) - 1
        if start + len(lines) > rows or any(len(line) > columns for line in lines):
            return refusal(400, "Range exceeds grid limits.")
        assert len(there) == start
        there += lines
        return 200, {"updatedRows": len(lines)}


def refusal(status: int, message: str) -> tuple[int, dict[str, Any]]:
    return status, {"error": {"code": status, "message": message, "status": "REFUSED"}}


def plain(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


@contextmanager
def running_google(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeGoogle]:
    google = FakeGoogle()

    class Handler(BaseHTTPRequestHandler):
        def do(self) -> None:
            body = self.rfile.read(int(self.headers.get("content-length") or 0))
            status, said = google.answer(self.command, self.path, body, self.headers.get("authorization", ""))
            content = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do

        def log_message(self, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    google.url = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr("tablewright.web.google_sheets.SHEETS", f"{google.url}/sheets")
    monkeypatch.setattr("tablewright.web.google_sheets.DRIVE", f"{google.url}/drive")
    monkeypatch.setattr("tablewright.web.google_sheets.PAUSES", (0.01, 0.01))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield google
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
