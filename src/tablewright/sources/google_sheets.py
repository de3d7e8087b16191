"""Google Sheets through its REST API, as a service account: a signed JWT buys a token, and the token writes values.

Values are written RAW, so a text that looks like a formula stays a text. Nothing that is in a spreadsheet already is
written over: a table goes to new sheets of it."""

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
from tablewright.extras import need
from tablewright.keys import Key, guard_client, origin_of, trusted_certificates

SHEETS = "https://sheets.googleapis.com/v4/spreadsheets"
DRIVE = "https://www.googleapis.com/drive/v3/files"
SCOPES = "https://www.googleapis.com/auth/spreadsheets https://www.googleapis.com/auth/drive.file"
GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer"
LINK = "https://docs.google.com/spreadsheets/d/{id}/edit"
WAIT = httpx2.Timeout(60.0, connect=10.0)
PAUSES = (2.0, 8.0, 30.0)
"""Seconds before a request that Google had no time for is sent again: it counts requests by the minute."""
BUSY = (429, 500, 502, 503, 504)
MOST_CELLS = 10_000_000
"""Of one spreadsheet."""
MOST_BYTES = 1_500_000
"""Of one request; Google recommends at most 2 MB."""
LONGEST_TITLE = 90
HOW_TO_GET_A_KEY = (
    "In the Google Cloud console, enable the Google Sheets API and the Google Drive API, create a service account and "
    "a JSON key for it, and save that key on the settings page, or set TABLEWRIGHT_GOOGLE_SHEETS_KEY to it or to its "
    "path."
)

_IN_LINK = re.compile(r"/spreadsheets/d/([\w-]+)")
_ID = re.compile(r"[\w-]{20,}")
_EMAIL = re.compile(r"[^@\s/]+@[^@\s/]+\.[^@\s/]+")

Line: TypeAlias = Sequence[str | float | bool]


@dataclass(frozen=True, repr=False)
class ServiceKey:
    email: str
    private_key: str
    token_uri: str


@dataclass(frozen=True)
class Target:
    """A spreadsheet that is there, or somebody for whom a new one is made."""

    id: str = ""
    email: str = ""


def read_key(setting: str) -> ServiceKey:
    """The key itself or the path of its file. No message repeats what is in it."""
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


def read_target(text: str) -> Target:
    text = text.strip()
    if found := _IN_LINK.search(text):
        return Target(id=found[1])
    if _EMAIL.fullmatch(text):
        return Target(email=text)
    if _ID.fullmatch(text):
        return Target(id=text)
    raise UsageError(
        f"“{text[:200]}” is neither a link to a Google spreadsheet nor an e-mail address.",
        advice="Paste the link of a spreadsheet from the browser, or enter your Google address to get a new one.",
    )


def signed_jwt(key: ServiceKey, now: int) -> str:
    """Says who asks, for what, and until when; by RSA-SHA256 with the private key."""
    need("server", "Writing to Google Sheets")
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import padding, rsa

    claims = {"iss": key.email, "scope": SCOPES, "aud": key.token_uri, "iat": now, "exp": now + 3_600}
    head = ".".join(url_base64(json.dumps(part).encode()) for part in ({"alg": "RS256", "typ": "JWT"}, claims))
    try:
        private = serialization.load_pem_private_key(key.private_key.encode(), password=None)
    except (ValueError, TypeError):
        private = None
    if not isinstance(private, rsa.RSAPrivateKey):
        raise BadSetting("The private key inside the Google Sheets key cannot be read.", advice=HOW_TO_GET_A_KEY)
    return f"{head}.{url_base64(private.sign(head.encode(), padding.PKCS1v15(), hashes.SHA256()))}"


def url_base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


class GoogleSheets:
    """`async with GoogleSheets(key) as google`: one token for all requests inside."""

    def __init__(self, key: ServiceKey) -> None:
        self._key = key
        origins = map(origin_of, (key.token_uri, SHEETS, DRIVE))
        bound = Key(key.private_key, name="google_sheets_key", origins=origins)
        self._client = guard_client(httpx2.AsyncClient(timeout=WAIT, verify=trusted_certificates()), bound)

    async def __aenter__(self) -> Self:
        try:
            form = {"grant_type": GRANT, "assertion": signed_jwt(self._key, int(time.time()))}
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
        """A new spreadsheet with these sheets, still empty, that this address may edit; its id."""
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
        """Of the sheets of a spreadsheet."""
        found = await self._ask("GET", f"{SHEETS}/{quote(id)}?fields=sheets.properties.title")
        return [str(each["properties"]["title"]) for each in found.get("sheets", ())]

    async def add(self, id: str, sheets: Sequence[tuple[str, Sequence[Line]]]) -> None:
        requests = [{"addSheet": {"properties": sheet_properties(name, lines)}} for name, lines in sheets]
        await self._ask("POST", f"{SHEETS}/{quote(id)}:batchUpdate", json={"requests": requests})

    async def write(self, id: str, title: str, lines: Sequence[Line], *, start: int) -> None:
        """From the line with this number on, which counts from 1."""
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
        raise RunError(
            f"Google refused: {words_of(found) or answer.reason_phrase or 'no reason given'} ({answer.status_code}).",
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


def words_of(answer: object) -> str:
    """Return what Google says: an API has `error.message`, the token endpoint `error_description`."""
    if not isinstance(answer, dict):
        return ""
    error = answer.get("error")
    said = error.get("message") if isinstance(error, dict) else answer.get("error_description") or error
    return str(said or "").strip().rstrip(".")[:1_000]


def sheet_properties(title: str, lines: Sequence[Line]) -> dict[str, Any]:
    """Large enough from the start: values beyond the grid are refused."""
    size = {"rowCount": max(2, len(lines)), "columnCount": max(1, len(lines[0])), "frozenRowCount": 1}
    return {"title": title, "gridProperties": size}


def free_titles(name: str, taken: Sequence[str]) -> tuple[str, str]:
    """For the sheet of values and that of evidence; sheets of one spreadsheet have different names, whatever their
    case."""
    used = {each.casefold() for each in taken}
    name = name.strip()[:LONGEST_TITLE] or "Table"
    for number in range(1, len(used) + 2):
        title = name if number == 1 else f"{name} ({number})"
        pair = (title, f"{title} evidence")
        if not {each.casefold() for each in pair} & used:
            return pair
    raise AssertionError("there are more names than sheets")


def chunks(lines: Sequence[Line]) -> Iterator[tuple[int, Sequence[Line]]]:
    """As many lines as go into one request, with the number of the first, from 1."""
    start = size = 0
    for index, line in enumerate(lines):
        length = len(json.dumps(line))
        if size and size + length > MOST_BYTES:
            yield start + 1, lines[start:index]
            start, size = index, 0
        size += length
    yield start + 1, lines[start:]
