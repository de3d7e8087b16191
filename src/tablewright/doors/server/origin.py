"""From where a request comes: this server's own pages, a program, or somebody else's page.

Somebody's page must not act in the name of whoever looks at it: neither with their cookie nor, on a server that asks
for no token, because it runs in a browser on the same machine. Nor may it come by a host name that its owner points at
this machine (DNS rebinding), so the names that are answered for are known.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
READS = frozenset({"GET", "HEAD", "OPTIONS"})
FORWARDED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def name_and_port(netloc: str, default: int | None = None) -> tuple[str, int | None]:
    """Of a Host header or an origin; an empty name where it is neither."""
    try:
        parts = urlsplit(f"//{netloc}")
        name, port = parts.hostname or "", parts.port
    except ValueError:
        return "", None
    if "@" in netloc or parts.path or parts.query or parts.fragment:
        return "", None
    return name.rstrip("."), port or default


class Hosts:
    """The names that a server answers for. `public` are those of a reverse proxy before it, with its port where that is
    not the usual one."""

    def __init__(self, bound: str, public: Collection[str] = ()) -> None:
        self._public = frozenset(map(name_and_port, public))
        self._names = frozenset(name for name, _ in self._public)
        own = LOOPBACK | {bound.strip("[]").lower()} | self._names
        self._known = own if is_loopback(bound) or public else None

    @property
    def are_known(self) -> bool:
        return self._known is not None

    def answers(self, asked: HTTPConnection) -> bool:
        given = asked.headers.getlist("host")
        if len(given) != 1:
            return False
        name = name_and_port(given[0])[0]
        return bool(name) and (self._known is None or name in self._known)

    def is_own(self, asked: HTTPConnection) -> bool | None:
        """Whether it was sent by one of this server's pages; None where it was not sent by a browser's page at all."""
        said = asked.headers.get("origin") or asked.headers.get("referer")
        if said is None:
            return None if "sec-fetch-site" not in asked.headers else asked.headers["sec-fetch-site"] == "same-origin"
        scheme, _, rest = said.partition("://")
        default = {"http": 80, "https": 443}.get(scheme)
        if default is None:
            return False
        name, port = name_and_port(re.split(r"[/?#]", rest)[0], default)
        asked_name, asked_port = name_and_port(asked.headers["host"])
        if name in self._names and (name, port) != (asked_name, asked_port):
            # What a proxy passes on as `Host` may lack the port, or be a name of this machine.
            return (name, port) in {(public, its_port or default) for public, its_port in self._public}
        return bool(name) and (name, port) == (asked_name, asked_port or default)


def is_embedded_elsewhere(asked: HTTPConnection) -> bool:
    """A script, image, frame, event stream or fetch of somebody else's page; following a link is not."""
    site = asked.headers.get("sec-fetch-site", "none")
    linked = asked.headers.get("sec-fetch-mode") == "navigate"
    whole = asked.headers.get("sec-fetch-dest", "document") == "document"
    return site in ("cross-site", "same-site") and not (linked and whole)


def address(asked: HTTPConnection) -> str:
    return asked.client.host if asked.client else "unknown"


def was_forwarded(asked: HTTPConnection) -> bool:
    return any(header in asked.headers for header in FORWARDED)
