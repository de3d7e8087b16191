"""Origin of a request: this server's own pages, a program, or another site's page.

Another site's page must not act for the person who views it: neither with their cookie nor, on a server without tokens,
because it runs in a browser on the same machine. Nor may it use a host name that its owner points at this machine (DNS
rebinding), so a server answers only to known names.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

# Names that only this machine answers to, so no foreign page can have them.
LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "::1"})
# Methods that change nothing, and so need no proof of their origin.
READ_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def parse_host_header(netloc: str, default: int | None = None) -> tuple[str, int | None]:
    """Return the name and port of a Host header or an origin; the name is empty if it is neither."""
    try:
        parts = urlsplit(f"//{netloc}")
        name, port = parts.hostname or "", parts.port
    except ValueError:
        return "", None
    if "@" in netloc or parts.path or parts.query or parts.fragment:
        return "", None
    return name.rstrip("."), port or default


class ServedHosts:
    """The host names that the server answers to. `public` are those of a reverse proxy before it, with its port unless
    it is the default one."""

    def __init__(self, bound: str, public: Collection[str] = ()) -> None:
        self._public = frozenset(map(parse_host_header, public))
        self._names = frozenset(name for name, _ in self._public)
        # A server bound to all interfaces without a public name cannot know its names; then any is accepted.
        own = LOOPBACK_NAMES | {bound.strip("[]").lower()} | self._names
        self._known = own if is_loopback(bound) or public else None

    @property
    def are_known(self) -> bool:
        return self._known is not None

    def includes_host_of(self, request: HTTPConnection) -> bool:
        given = request.headers.getlist("host")
        if len(given) != 1:
            return False
        name = parse_host_header(given[0])[0]
        return bool(name) and (self._known is None or name in self._known)

    def is_own_page(self, request: HTTPConnection) -> bool | None:
        """Return True if one of this server's pages sent the request, None if no page in a browser did."""
        source = request.headers.get("origin") or request.headers.get("referer")
        if source is None:
            site = request.headers.get("sec-fetch-site")
            return None if site is None else site == "same-origin"
        scheme, _, rest = source.partition("://")
        default = {"http": 80, "https": 443}.get(scheme)
        if default is None:
            return False
        name, port = parse_host_header(re.split(r"[/?#]", rest)[0], default)
        host_name, host_port = parse_host_header(request.headers["host"])
        if name in self._names and (name, port) != (host_name, host_port):
            # The `Host` that a proxy passes on may lack the port, or be a name of this machine.
            return (name, port) in {(public, its_port or default) for public, its_port in self._public}
        return bool(name) and (name, port) == (host_name, host_port or default)


def is_embedded_elsewhere(request: HTTPConnection) -> bool:
    """Return True for a script, image, frame, event stream or fetch of another site's page; not for a followed link."""
    site = request.headers.get("sec-fetch-site", "none")
    linked = request.headers.get("sec-fetch-mode") == "navigate"
    # A frame navigates too, so the destination must be a document.
    whole = request.headers.get("sec-fetch-dest", "document") == "document"
    return site in ("cross-site", "same-site") and not (linked and whole)


def client_address(request: HTTPConnection) -> str:
    return request.client.host if request.client else "unknown"


def was_forwarded(request: HTTPConnection) -> bool:
    """Return True if a proxy passed the request on: then its client is not on this machine, whatever its address."""
    headers = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")
    return any(header in request.headers for header in headers)
