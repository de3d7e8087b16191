"""Send a signed message to the address that an admin has set, never into a private network."""

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
from tablewright.keys import bind_key, trusted_certificates
from tablewright.web.fetch.guard import (
    FAILURES,
    AddressGuard,
    ForbiddenAddress,
    GuardedNetwork,
    describe_failure,
    parse_fetch_url,
)

SIGNATURE, TIMESTAMP = "x-tablewright-signature", "x-tablewright-timestamp"


async def post_signed(address: str, secret: str, content: Mapping[str, Any], *, allow: Iterable[str] = ()) -> None:
    """Send the content as JSON. `allow` are private hosts that the user has named; redirects are not followed.

    Raise `Unreachable` if it is not accepted, and `KeyWithheld` if the secret belongs to another address."""
    bind_key(secret, "webhook_secret", {"webhook_url": address}).check(address)
    body = json.dumps(content, ensure_ascii=False).encode()
    guard = AddressGuard(allow=allow)
    try:
        url = parse_fetch_url(address)
        guard.check(url)
        async with httpcore2.AsyncConnectionPool(
            ssl_context=trusted_certificates(), network_backend=GuardedNetwork(guard, httpcore2.AnyIOBackend())
        ) as pool:
            # For connecting, sending and receiving each; a webhook should answer at once.
            answer = await pool.request(
                "POST",
                httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                headers=webhook_headers(url, secret, body),
                content=body,
                extensions={"timeout": dict.fromkeys(("connect", "read", "write", "pool"), 10.0)},
            )
    except ForbiddenAddress as error:
        raise Unreachable(
            f"Nothing was sent to {address}: {error}.",
            advice="The administrator of the server can allow a private host (fetch_allow).",
        ) from None
    except FAILURES as error:
        raise Unreachable(f"{address} cannot be reached: {describe_failure(error)}.") from None
    if not 200 <= answer.status < 300:
        raise Unreachable(f"{address} answered {answer.status}.", advice="A webhook has to answer with 200 or 204.")


def webhook_headers(url: httpx2.URL, secret: str, body: bytes) -> list[tuple[str, str]]:
    at = str(int(time.time()))
    headers = [
        ("host", url.netloc.decode("ascii")),
        ("content-type", "application/json"),
        ("content-length", str(len(body))),
        ("user-agent", "Tablewright"),
        (TIMESTAMP, at),
    ]
    return [*headers, (SIGNATURE, f"sha256={sign_message(secret, at, body)}")] if secret else headers


def sign_message(secret: str, at: str, body: bytes) -> str:
    """Return the signature of time and body together, so that an old message cannot be replayed as a new one."""
    return hmac.new(secret.encode(), f"{at}.".encode() + body, hashlib.sha256).hexdigest()
