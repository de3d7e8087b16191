"""Security headers of every response, and HEAD requests.

NiceGUI writes its start-up as inline scripts and compiles Vue templates in the browser, so both must be allowed
(`unsafe-inline`, `unsafe-eval`). What that would allow is forbidden where hostile text would use it: handlers in
attributes (`onerror=…`) never run, no other host can be loaded from or sent to, and no page can show ours in a frame.
"""

from __future__ import annotations

import re

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

# 'unsafe-inline' and 'unsafe-eval' are what NiceGUI's scripts need; everything else comes from this server alone.
PAGE_POLICY = "; ".join(
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
# For responses without scripts: the login, the page about the API, and data that a browser might take for a page.
PLAIN_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

# On every answer, also on errors: a browser judges each one by its own headers.
SECURITY_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not "no-referrer": with it a browser says "null" instead of the origin when it sends a form.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
}
# Answers below it are data: they get the strict policy, as no page is built of them.
API_PREFIX = "/api/"


def set_security_headers(headers: MutableHeaders, path: str) -> None:
    for name, value in SECURITY_HEADERS.items():
        headers[name] = value
    plain = path.startswith((API_PREFIX, "/login/")) or path in ("/login", "/docs")
    headers["Content-Security-Policy"] = PLAIN_POLICY if plain else PAGE_POLICY
    # Everything else may hold a person's data, which a shared cache must not keep.
    if not is_library_path(path):
        headers["Cache-Control"] = "no-store"


def is_library_path(path: str) -> bool:
    """Return True for a file of the page's libraries, which may be cached: its address has the version, and it is the
    same for every person. The other files under /_nicegui/ are made for one person."""
    return re.match(r"/_nicegui/\d[^/]*/", path) is not None


class HeadRequests:
    """Answer HEAD wherever GET is answered: the same status and headers, without the body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_head = scope["type"] == "http" and scope["method"] == "HEAD"
        # An event stream never ends and has no length.
        if not is_head or scope["path"].endswith("/events"):
            await self._app(scope, receive, send)
            return

        async def without_body(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await self._app({**scope, "method": "GET"}, receive, without_body)
