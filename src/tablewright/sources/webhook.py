"""A message to an address that an admin has set: signed, and never into a private network."""

from __future__ import annotations

import hashlib
import hmac
import json
import time
from collections.abc import Iterable, Mapping
from typing import Any

import httpcore2
import httpx2

from tablewright.errors import Unreachable
from tablewright.keys import as_key, trusted_certificates
from tablewright.sources.fetch.guard import FAILURES, AddressGuard, ForbiddenAddress, GuardedNetwork, explain, read_url

SECONDS = 10.0
SIGNATURE, TIMESTAMP = "x-tablewright-signature", "x-tablewright-timestamp"


async def post_signed(address: str, secret: str, content: Mapping[str, Any], *, allow: Iterable[str] = ()) -> None:
    """As JSON. `allow` are private hosts that the user has named. Raises Unreachable where nobody takes it; where a
    request leads elsewhere it is not followed. Raises KeyWithheld if the secret belongs to another address."""
    as_key(secret, "webhook_secret", {"webhook_url": address}).check(address)
    body = json.dumps(content, ensure_ascii=False).encode()
    guard = AddressGuard(allow=allow)
    try:
        url = read_url(address)
        guard.check(url)
        async with httpcore2.AsyncConnectionPool(
            ssl_context=trusted_certificates(), network_backend=GuardedNetwork(guard, httpcore2.AnyIOBackend())
        ) as pool:
            answer = await pool.request(
                "POST",
                httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                headers=headers_for(url, secret, body),
                content=body,
                extensions={"timeout": dict.fromkeys(("connect", "read", "write", "pool"), SECONDS)},
            )
    except ForbiddenAddress as error:
        raise Unreachable(
            f"Nothing was sent to {address}: {error}.",
            advice="A private host has to be allowed by whoever runs the server (fetch_allow).",
        ) from None
    except FAILURES as error:
        raise Unreachable(f"{address} cannot be reached: {explain(error)}.") from None
    if not 200 <= answer.status < 300:
        raise Unreachable(f"{address} answered {answer.status}.", advice="A webhook has to answer with 200 or 204.")


def headers_for(url: httpx2.URL, secret: str, body: bytes) -> list[tuple[str, str]]:
    at = str(int(time.time()))
    headers = [
        ("host", url.netloc.decode("ascii")),
        ("content-type", "application/json"),
        ("content-length", str(len(body))),
        ("user-agent", "Tablewright"),
        (TIMESTAMP, at),
    ]
    return [*headers, (SIGNATURE, f"sha256={signature(secret, at, body)}")] if secret else headers


def signature(secret: str, at: str, body: bytes) -> str:
    """Over when it was sent and what it says, so that an old message cannot be sent again as a new one."""
    return hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
