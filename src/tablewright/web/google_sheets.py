"""Write to Google Sheets through its REST API as a service account: a signed JWT buys a token for all requests.

Values are written RAW, so text that looks like a formula stays text. Nothing in a spreadsheet is overwritten: a table
goes to new sheets of it."""

from __future__ import annotations

import asyncio
import base64
import json
import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeAlias
from urllib.parse import quote, urlsplit

import httpx2

from tablewright.errors import BadSetting, RunError, UsageError
from tablewright.extras import require_extra
from tablewright.keys import Key, guard_client, origin_of, trusted_certificates

SHEETS = "https://sheets.googleapis.com/v4/spreadsheets"
DRIVE = "https://www.googleapis.com/drive/v3/files"
LINK = "https://docs.google.com/spreadsheets/d/{id}/edit"
# Seconds before a refused request is sent again: Google counts requests by the minute.
PAUSES = (2.0, 8.0, 30.0)
# Worth another try; other statuses stay the same.
BUSY = (429, 500, 502, 503, 504)
# Google's limit for one spreadsheet.
MOST_CELLS = 10_000_000
# For one request; Google recommends at most 2 MB.
MOST_BYTES = 1_500_000
HOW_TO_GET_A_KEY = (
    "In the Google Cloud console, enable the Google Sheets API and the Google Drive API, create a service account and "
    "a JSON key for it, and save that key on the settings page, or set TABLEWRIGHT_GOOGLE_SHEETS_KEY to it or to its "
    "path."
)


Line: TypeAlias = Sequence[str | float | bool]


@dataclass(frozen=True, repr=False)
class ServiceKey:
    email: str
    private_key: str
    token_uri: str


@dataclass(frozen=True)
class SheetTarget:
    """An existing spreadsheet, or the address of the person for whom a new one is made."""

    id: str = ""
    email: str = ""


def read_service_key(setting: str) -> ServiceKey:
    """Return the key from its JSON or from the path of its file. No message repeats its content."""
    text = setting.strip()
    if not text:
        raise BadSetting("No key for Google Sheets is set.", advice=HOW_TO_GET_A_KEY)
    if not text.startswith("{"):
        try:
            text = Path(text).expanduser().read_text(encoding="utf-8")
        except (OSError, ValueError):
            raise BadSetting("The file of the Google Sheets key cannot be read.", advice=HOW_TO_GET_A_KEY) from None
    try:
        values = json.loads(text)
        key = ServiceKey(*(str(values[name]) for name in ("client_email", "private_key", "token_uri")))
    except (ValueError, KeyError, TypeError):
        raise BadSetting(
            "The Google Sheets key is not the JSON key of a service account.", advice=HOW_TO_GET_A_KEY
        ) from None
    address = urlsplit(key.token_uri)
    if address.scheme != "https" and address.hostname not in ("127.0.0.1", "localhost", "::1"):
        raise BadSetting("The token_uri of the Google Sheets key must begin with https://.", advice=HOW_TO_GET_A_KEY)
    return key


def parse_sheet_target(text: str) -> SheetTarget:
    text = text.strip()
    if found := re.search(r"/spreadsheets/d/([\w-]+)", text):
        return SheetTarget(id=found[1])
    if re.fullmatch(r"[^@\s/]+@[^@\s/]+\.[^@\s/]+", text):
        return SheetTarget(email=text)
    if re.fullmatch(r"[\w-]{20,}", text):
        return SheetTarget(id=text)
    raise UsageError(
        f"“{text[:200]}” is neither a link to a Google spreadsheet nor an e-mail address.",
        advice="Paste the link of a spreadsheet from the browser, or enter your Google address to get a new one.",
    )


def sign_jwt(key: ServiceKey, now: int) -> str:
    """Return a JWT with the account, the scopes and an expiry of an hour, signed by RSA-SHA256."""
    require_extra("server", "Writing to Google Sheets")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import padding, rsa

    # Only spreadsheets, and only files that this account creates.
    claims = {
        "iss": key.email,
        "scope": "https://www.googleapis.com/auth/spreadsheets https://www.googleapis.com/auth/drive.file",
        "aud": key.token_uri,
        "iat": now,
        "exp": now + 3_600,
    }
    head = ".".join(encode_url_base64(json.dumps(part).encode()) for part in ({"alg": "RS256", "typ": "JWT"}, claims))
    try:
        private = serialization.load_pem_private_key(key.private_key.encode(), password=None)
    except (ValueError, TypeError):
        private = None
    if not isinstance(private, rsa.RSAPrivateKey):
        raise BadSetting("The private key inside the Google Sheets key cannot be read.", advice=HOW_TO_GET_A_KEY)
    return f"{head}.{encode_url_base64(private.sign(head.encode(), padding.PKCS1v15(), hashes.SHA256()))}"


def encode_url_base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


class GoogleSheets:
    """A client, used as `async with GoogleSheets(key) as google`, with one token for all requests inside."""

    def __init__(self, key: ServiceKey) -> None:
        self._key = key
        origins = map(origin_of, (key.token_uri, SHEETS, DRIVE))
        bound = Key(key.private_key, name="google_sheets_key", origins=origins)
        # Google takes up to a minute for a large sheet.
        self._client = guard_client(
            httpx2.AsyncClient(timeout=httpx2.Timeout(60.0, connect=10.0), verify=trusted_certificates()), bound
        )

    async def __aenter__(self) -> Self:
        try:
            form = {
                "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
                "assertion": sign_jwt(self._key, int(time.time())),
            }
            answer = await self._ask("POST", self._key.token_uri, data=form)
            self._client.headers["authorization"] = f"Bearer {answer['access_token']}"
        except KeyError:
            await self._client.aclose()
            raise RunError("Google gave no token for the Google Sheets key.", kept="Nothing was written.") from None
        except BaseException:
            await self._client.aclose()
            raise
        return self

    async def __aexit__(self, *raised: Any) -> None:
        await self._client.aclose()

    async def create(self, title: str, sheets: Sequence[tuple[str, Sequence[Line]]], email: str) -> str:
        """Create a spreadsheet with these sheets, still empty, share it with the address, and return its id."""
        properties = [{"properties": sheet_properties(name, lines)} for name, lines in sheets]
        made = await self._ask("POST", SHEETS, json={"properties": {"title": title}, "sheets": properties})
        id = str(made["spreadsheetId"])
        share = {"type": "user", "role": "writer", "emailAddress": email}
        try:
            await self._ask("POST", f"{DRIVE}/{quote(id)}/permissions?sendNotificationEmail=false", json=share)
        except RunError as error:
            raise RunError(
                error.what,
                kept="A new spreadsheet was created, but it is empty and not shared with you.",
                advice="Enable the Google Drive API in the project of the key, or give a link of your own.",
            ) from None
        return id

    async def titles(self, id: str) -> list[str]:
        """Return the titles of a spreadsheet's sheets."""
        found = await self._ask("GET", f"{SHEETS}/{quote(id)}?fields=sheets.properties.title")
        return [str(each["properties"]["title"]) for each in found.get("sheets", ())]

    async def add(self, id: str, sheets: Sequence[tuple[str, Sequence[Line]]]) -> None:
        requests = [{"addSheet": {"properties": sheet_properties(name, lines)}} for name, lines in sheets]
        await self._ask("POST", f"{SHEETS}/{quote(id)}:batchUpdate", json={"requests": requests})

    async def write(self, id: str, title: str, lines: Sequence[Line], *, start: int) -> None:
        """Write the lines from line number `start` on, which counts from 1."""
        name = title.replace("'", "''")
        where = quote(f"'{name}'!A{start}", safe="")
        address = f"{SHEETS}/{quote(id)}/values/{where}?valueInputOption=RAW"
        await self._ask("PUT", address, json={"majorDimension": "ROWS", "values": lines})

    async def _ask(self, method: str, url: str, **content: Any) -> dict[str, Any]:
        for pause in (*PAUSES, None):
            try:
                answer = await self._client.request(method, url, **content)
            except httpx2.HTTPError as error:
                raise RunError(
                    f"Google cannot be reached: {str(error) or type(error).__name__}.", kept="Nothing was written."
                ) from None
            if answer.status_code not in BUSY or pause is None:
                break
            await asyncio.sleep(pause)
        try:
            found = answer.json()
        except ValueError:
            found = None
        if answer.is_success and isinstance(found, dict):
            return found
        reason = describe_google_error(found) or answer.reason_phrase or "no reason given"
        raise RunError(
            f"Google refused: {reason} ({answer.status_code}).",
            kept="Nothing was written.",
            advice=self._advice(answer.status_code, is_token=url == self._key.token_uri),
        )

    def _advice(self, status: int, *, is_token: bool) -> str:
        if is_token:
            return "The key may have been deleted: create a new one in the Google Cloud console and save it."
        if status in (403, 404):
            return (
                f"Share the spreadsheet with {self._key.email} as an editor, and see that the Google Sheets API is "
                "enabled in the project of the key."
            )
        return "Try again in a minute." if status in BUSY else ""


def describe_google_error(answer: object) -> str:
    """Return Google's message: an API has `error.message`, the token endpoint `error_description`."""
    if not isinstance(answer, dict):
        return ""
    error = answer.get("error")
    said = error.get("message") if isinstance(error, dict) else answer.get("error_description") or error
    return str(said or "").strip().rstrip(".")[:1_000]


def sheet_properties(title: str, lines: Sequence[Line]) -> dict[str, Any]:
    """Return the properties of a sheet that is large enough: Google refuses values beyond the grid."""
    size = {"rowCount": max(2, len(lines)), "columnCount": max(1, len(lines[0])), "frozenRowCount": 1}
    return {"title": title, "gridProperties": size}


def find_free_titles(name: str, taken: Sequence[str]) -> tuple[str, str]:
    """Return unused titles for the sheets of values and of evidence; Google compares titles without case."""
    used = {each.casefold() for each in taken}
    # Google takes 100 characters; " (2) evidence" follows.
    name = name.strip()[:90] or "Table"
    for number in range(1, len(used) + 2):
        title = name if number == 1 else f"{name} ({number})"
        pair = (title, f"{title} evidence")
        if not {each.casefold() for each in pair} & used:
            return pair
    raise AssertionError("there are more names than sheets")


def batch_sheet_lines(lines: Sequence[Line]) -> Iterator[tuple[int, Sequence[Line]]]:
    """Yield the lines in parts that fit into one request, each with the number of its first line, from 1."""
    start = size = 0
    for index, line in enumerate(lines):
        length = len(json.dumps(line))
        if size and size + length > MOST_BYTES:
            yield start + 1, lines[start:index]
            start, size = index, 0
        size += length
    yield start + 1, lines[start:]
