"""What each answer tells the browser it may do with it.

NiceGUI writes its start-up as inline scripts and compiles Vue templates in the browser, so both must be allowed
(`unsafe-inline`, `unsafe-eval`). What that would open is closed again where hostile text would use it: handlers in
attributes (`onerror=…`) never run, no other host can be loaded from or sent to, and no page can show ours in a frame.
"""

from __future__ import annotations

import re

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

PAGES = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
        "script-src-attr 'none'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
PLAIN = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
"""For what has no scripts: the login, the page about the API, and data that a browser might take for a page."""

ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not "no-referrer": with it a browser says "null" instead of the origin when it sends a form.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}
LIBRARIES = re.compile(r"/_nicegui/\d[^/]*/")
"""Files of the page's own libraries, the same for everybody, under their version: they may be cached. Beside them are
files that were made for one person."""
API = "/api/"


def protect(headers: MutableHeaders, path: str) -> None:
    for name, value in ALWAYS.items():
        headers[name] = value
    plain = path.startswith((API, "/login/")) or path in ("/login", "/docs")
    headers["Content-Security-Policy"] = PLAIN if plain else PAGES
    if not is_library(path):
        headers["Cache-Control"] = "no-store"


def is_library(path: str) -> bool:
    return LIBRARIES.match(path) is not None


# ── HEAD requests ───────────────────────────────────────────────────────────────────────────────────────────────────
# HEAD for whatever is answered to GET: the same status and headers, without the body.


STREAMS = "/events"
"""What never ends has no length that could be asked for."""


class HeadRequests:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        asked = scope["type"] == "http" and scope["method"] == "HEAD"
        if not asked or scope["path"].endswith(STREAMS):
            await self._app(scope, receive, send)
            return

        async def without_body(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await self._app({**scope, "method": "GET"}, receive, without_body)
