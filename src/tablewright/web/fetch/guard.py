"""Refuse addresses that must not be fetched, open connections only to checked ones, and read responses within limits.

Everything above TCP uses names: connections are pooled by name, TLS verifies the name, and the Host header has it. Only
the connect itself gets an IP address, which the guard has just checked. (With the address in the URL instead, two sites
behind one address could share a TLS connection that only one of them was verified for.) Proxies from the environment
are not used, because they look names up themselves, without the guard.
"""

from __future__ import annotations

import codecs
import re
import socket
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import cache
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TypeAlias

import httpcore2
import httpx2
import tldextract

from tablewright.keys import SCHEME_PORTS, trusted_certificates
from tablewright.threads import name_lookups

# All addresses of a host, given it and a port; raises OSError if it has none.
Resolve: TypeAlias = Callable[[str, int], Awaitable[list[str]]]


class ForbiddenAddress(Exception):
    """Our own rules forbid the address. The text is a clause for people: "10.0.0.1 is a private address"."""


class AddressGuard:
    def __init__(
        self, *, allow: Iterable[str] = (), names: Mapping[str, str] | None = None, resolve: Resolve | None = None
    ) -> None:
        self._allow = frozenset(entry.strip().lower() for entry in allow)
        self._names = {f".{suffix.strip('.').lower()}": served_at for suffix, served_at in (names or {}).items()}
        self._resolve = resolve or resolve_by_system

    def check(self, url: httpx2.URL) -> None:
        """Raise `ForbiddenAddress` for everything that can be decided without a lookup."""
        if url.scheme not in SCHEME_PORTS:
            raise ForbiddenAddress(
                f"only http and https are fetched, not {url.scheme or 'an address without a scheme'}"
            )
        if url.userinfo:
            raise ForbiddenAddress("an address with a user name or a password in it is not fetched")
        host, port = split_host_port(url)
        if not host:
            raise ForbiddenAddress("the address names no host")
        if not 0 < port < 65536:
            raise ForbiddenAddress(f"{port} is no port")
        if self.is_trusted(host, port):
            return
        if port < 1024 and port not in SCHEME_PORTS.values():
            raise ForbiddenAddress(f"port {port} is not one of the web")
        check_host(host)

    async def addresses(self, host: str, port: int) -> list[tuple[str, int]]:
        """Return the addresses of `host` in order of preference.

        Raise `ForbiddenAddress`, or `OSError` if it has no address."""
        if served_at := self._served_at(host):
            address, _, its_port = served_at.rpartition(":")
            return [(address, int(its_port))]
        found = [host] if is_ip_address(host) else await self._resolve(host, port)
        if not self._is_allowed(host, port):
            for address in found:
                refuse_private_address(address, host)
        return [(address, port) for address in found]

    def is_trusted(self, host: str, port: int) -> bool:
        """Return True if the user allowed it, or the program serves it itself."""
        return self.is_served_here(host) or self._is_allowed(host, port)

    def is_served_here(self, host: str) -> bool:
        return self._served_at(host) is not None

    def _is_allowed(self, host: str, port: int) -> bool:
        spellings = {host, f"{host}:{port}"} if ":" not in host else {host, f"[{host}]", f"[{host}]:{port}"}
        return not spellings.isdisjoint(self._allow)

    def _served_at(self, host: str) -> str | None:
        fitting = [suffix for suffix in self._names if f".{host}".endswith(suffix)]
        return self._names[max(fitting, key=len)] if fitting else None


def parse_fetch_url(text: str) -> httpx2.URL:
    try:
        return httpx2.URL(text)
    except (httpx2.InvalidURL, ValueError) as error:
        raise ForbiddenAddress(f"it is no web address ({error})") from None


def split_host_port(url: httpx2.URL) -> tuple[str, int]:
    """Return host and port; the host in lower case and ASCII, an IPv6 address without its brackets."""
    return url.raw_host.decode("ascii"), url.port if url.port is not None else SCHEME_PORTS.get(url.scheme, 0)


def check_host(host: str) -> None:
    if ":" in host:
        refuse_private_address(host)
        return
    name = host.removesuffix(".")
    if len(name) > 253 or not re.fullmatch(
        r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?", name
    ):
        raise ForbiddenAddress(f"{host} is no host name")
    # The last label of a host name that a system's resolver may read as a part of an IPv4 address.
    if re.fullmatch(r"[0-9]+|0x[0-9a-f]*", name.rpartition(".")[2]):
        # 2130706433, 0x7f.1 and 127.1 are all 127.0.0.1 to a system's resolver; no honest page links to those.
        if not is_ip_address(host):
            raise ForbiddenAddress(f"{host} is an IP address in an unusual spelling")
        refuse_private_address(host)
    # Endings that resolve only inside a network (RFC 6761, RFC 8375, ICANN).
    elif f".{name}".endswith(
        tuple(f".{private}" for private in ("localhost", "localdomain", "local", "internal", "lan", "home.arpa"))
    ):
        raise ForbiddenAddress(f"{host} is a name of a private network")
    elif "." not in name:
        raise ForbiddenAddress(f"{host} is a name without a domain, so of a private network")


def refuse_private_address(address: str, host: str = "") -> None:
    if why := explain_not_public(address):
        subject = f"{host} leads to {address}, which" if host and host != address else address
        raise ForbiddenAddress(f"{subject} is {why}")


def is_ip_address(host: str) -> bool:
    """Return True for an IP address in its usual spelling, which every resolver reads in the same way."""
    if ":" in host:
        return True
    try:
        return str(IPv4Address(host)) == host
    except ValueError:
        return False


async def resolve_by_system(host: str, port: int) -> list[str]:
    found = await name_lookups().look_up(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


# A list of our own instead of `ipaddress.is_global`, which changes between patch releases of Python and calls
# 2002:7f00:1:: (127.0.0.1 as 6to4), 64:ff9b:1::1 and 3fff::1 global on 3.11.7. The list follows the IANA registries of
# special-purpose addresses; the smallest network that contains the address gives the reason shown to people.
_NOT_PUBLIC = sorted(
    (
        (ip_network(network), what)
        for what, networks in (
            ("a loopback address", "127.0.0.0/8 ::1/128"),
            ("an address of this machine", "0.0.0.0/8 ::/128"),
            ("a private address", "10.0.0.0/8 172.16.0.0/12 192.168.0.0/16 fc00::/7 fec0::/10"),
            # 169.254.169.254 hands out a cloud machine's credentials.
            ("a link-local address", "169.254.0.0/16 fe80::/10"),
            # Azure's, although it looks public.
            ("an address of a cloud's own services", "168.63.129.16/32"),
            ("an address inside a provider's network", "100.64.0.0/10"),
            ("an address for documentation", "192.0.2.0/24 198.51.100.0/24 203.0.113.0/24 2001:db8::/32 3fff::/20"),
            ("an address for benchmarks", "198.18.0.0/15 2001:2::/48"),
            ("a multicast address", "224.0.0.0/4 ff00::/8"),
            # 2001::/32 is Teredo, 2002::/16 is 6to4.
            (
                "an IPv4 address inside an IPv6 address",
                "::/96 ::ffff:0:0/96 ::ffff:0:0:0/96 64:ff9b:1::/48 2001::/32 2002::/16",
            ),
            ("a reserved address", "192.0.0.0/24 192.88.99.0/24 240.0.0.0/4 2001::/23"),
        )
        for network in networks.split()
    ),
    key=lambda each: -each[0].prefixlen,
)


def explain_not_public(address: str) -> str:
    """Return the kind of a non-public address; "" for a public one."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return "no IP address"
    if isinstance(parsed, IPv6Address):
        if parsed.scope_id is not None:
            return "an address of one network interface"
        if parsed in IPv6Network("64:ff9b::/96"):
            # In an IPv6-only network every IPv4 site looks like this, so the address inside decides.
            parsed = IPv4Address(int(parsed) & 0xFFFFFFFF)
    if why := next((what for network, what in _NOT_PUBLIC if parsed in network), ""):
        return why
    # The only block of IPv6 that IANA has allocated to public networks.
    return "" if parsed.version == 4 or parsed in IPv6Network("2000::/3") else "a reserved address"


def registrable_domain(url: str) -> str:
    """Return the domain of a page's owner: example.co.uk for https://www.example.co.uk/page, "" for no web address.

    An IP address and a name without a domain are returned with their port: 127.0.0.1:8000. Names at a shared host
    (alice.github.io) belong to the host, github.io: rather one source too few than one too many.
    """
    try:
        parsed = httpx2.URL(url)
        host = parsed.raw_host.decode("ascii").removesuffix(".")
    except (httpx2.InvalidURL, ValueError):
        return ""
    labels = host.split(".")
    if ":" in host or len(labels) == 1 or labels[-1].isdecimal():
        shown = f"[{host}]" if ":" in host else host
        return shown if parsed.port is None else f"{shown}:{parsed.port}"
    found = _load_suffix_list().extract_str(host)
    # An unlisted ending, such as .example, is a suffix like com.
    if not found.suffix:
        return ".".join(labels[-2:])
    return found.top_domain_under_public_suffix or host


@cache
def _load_suffix_list() -> tldextract.TLDExtract:
    """Return the list that comes with the package: nothing is downloaded, nothing written."""
    return tldextract.TLDExtract(cache_dir=None, suffix_list_urls=())


# ── connections ──────────────────────────────────────────────────────────────────────────────────────────────────────


# The connection was lost, or what it carried was not HTTP.
CUT = (httpcore2.ReadError, httpcore2.WriteError, httpcore2.RemoteProtocolError)
# Everything that can go wrong between us and a site.
FAILURES = (
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.TimeoutException,
    httpx2.DecodingError,
    # TimeoutError is one of these.
    OSError,
)


class Transport:
    def __init__(self, guard: AddressGuard, wire: httpcore2.AsyncNetworkBackend | None = None) -> None:
        self._guard = guard
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=trusted_certificates(),
            max_connections=None,
            max_keepalive_connections=20,
            # Seconds; longer than the pause between two requests to a site.
            keepalive_expiry=5.0,
            network_backend=GuardedNetwork(guard, wire or httpcore2.AnyIOBackend()),
        )

    async def send(self, request: httpx2.Request) -> httpx2.Response:
        """Return the response with its body unread; the caller closes it."""
        self._guard.check(request.url)
        answer = await self._pool.handle_async_request(
            httpcore2.Request(request.method, self._wire_url(request.url), headers=request.headers.raw)
        )
        assert isinstance(answer.stream, AsyncIterable)
        return httpx2.Response(
            answer.status, headers=answer.headers, stream=ResponseStream(answer.stream), request=request
        )

    def _wire_url(self, url: httpx2.URL) -> httpcore2.URL:
        """Return the URL to connect to: pages that the program serves itself have no certificates, so use http."""
        host, _ = split_host_port(url)
        scheme = b"http" if self._guard.is_served_here(host) else url.raw_scheme
        return httpcore2.URL(scheme=scheme, host=url.raw_host, port=url.port, target=url.raw_path)

    async def aclose(self) -> None:
        await self._pool.aclose()


class GuardedNetwork(httpcore2.AsyncNetworkBackend):
    """Open TCP connections to checked addresses only, through `wire`."""

    def __init__(self, guard: AddressGuard, wire: httpcore2.AsyncNetworkBackend) -> None:
        self._guard = guard
        self._wire = wire

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109  # the signature is httpcore2's
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        failure: Exception = httpcore2.ConnectError(f"{host} has no address")
        try:
            addresses = await self._guard.addresses(host, port)
        except OSError:
            raise failure from None
        # A host can list hundreds.
        for address, its_port in addresses[:4]:
            try:
                # For one address; the next address of the host is tried after it.
                return await self._wire.connect_tcp(address, its_port, timeout=5.0)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure


class ResponseStream(httpx2.AsyncByteStream):
    """Adapt a stream of httpcore2 to httpx2, so that it can decompress it."""

    def __init__(self, stream: AsyncIterable[bytes]) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()  # type: ignore[attr-defined]  # httpcore2 declares less than it gives


def describe_failure(failure: Exception) -> str:
    """Return a failure as a clause for people."""
    if isinstance(failure, CUT):
        return "the connection was cut"
    if isinstance(failure, httpcore2.ConnectError | httpcore2.ConnectTimeout):
        return f"no connection ({failure})" if str(failure) else "no connection"
    if isinstance(failure, TimeoutError | httpcore2.TimeoutException):
        return "no answer in time"
    return f"its answer could not be read ({failure})"


# ── answers ──────────────────────────────────────────────────────────────────────────────────────────────────────────

REDIRECTS = frozenset({301, 302, 303, 307, 308})
# Types that say nothing, so that the first bytes of the body decide.
_UNSPECIFIED = frozenset({"", "application/octet-stream", "binary/octet-stream"})


@dataclass(frozen=True)
class FetchResponse:
    status: int
    headers: httpx2.Headers
    body: bytes = b""
    content_type: str = ""

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @property
    def location(self) -> str:
        """Return the target of a redirect, or ""."""
        return str(self.headers.get("location", "")) if self.status in REDIRECTS else ""

    @property
    def charset(self) -> str:
        """Return the encoding in the header if it is known, else ""."""
        for parameter in self.headers.get("content-type", "").split(";")[1:]:
            name, _, value = parameter.partition("=")
            if name.strip().lower() == "charset":
                return normalize_charset(value.strip(" \t\"'"))
        return ""


async def read_response_start(response: httpx2.Response, most: int) -> FetchResponse:
    """Return the response with at most `most` bytes of its body; the rest is not read."""
    body = b"" if response.status_code in REDIRECTS else (await read_limited_body(response, most))[:most]
    return FetchResponse(response.status_code, response.headers, body)


async def read_page_response(response: httpx2.Response, most: int) -> FetchResponse:
    """Return the response with its whole body. Raise `ForbiddenAddress` if it is too large or of an unreadable type."""
    declared = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if declared not in _UNSPECIFIED and not is_readable_type(declared):
        raise ForbiddenAddress(f"its type is {declared}, which is not read")
    length = response.headers.get("content-length", "")
    too_large = f"it is larger than {most / 1_000_000:g} MB"
    if length.isdecimal() and int(length) > most:
        raise ForbiddenAddress(too_large)
    body = await read_limited_body(response, most)
    if len(body) > most:
        raise ForbiddenAddress(too_large)
    content_type = sniff_content_type(body) if declared in _UNSPECIFIED else declared
    if not content_type:
        raise ForbiddenAddress(f"its type is {declared or 'not given'}, and it looks like neither a page nor a PDF")
    return FetchResponse(response.status_code, response.headers, body, content_type)


async def read_limited_body(response: httpx2.Response, most: int) -> bytes:
    """Return the body, or a little more than `most` bytes of it, counted after decompression piece by piece."""
    encoding = response.headers.get("content-encoding", "").strip().lower()
    # Only what is decompressed piece by piece, so that a bomb is noticed, and no two of them: the bytes in between
    # would not be counted.
    if encoding not in {"", "identity", "gzip", "x-gzip", "deflate"}:
        raise httpx2.DecodingError(f"it is compressed as {encoding}, which was not asked for")
    body = bytearray()
    async with aclosing(response.aiter_bytes()) as pieces:
        async for piece in pieces:
            body += piece
            if len(body) > most:
                break
    return bytes(body)


def is_readable_type(content_type: str) -> bool:
    if content_type.startswith("text/") or content_type in ("application/pdf", "application/json", "application/xml"):
        return True
    return content_type.startswith("application/") and content_type.endswith(("+json", "+xml"))


def sniff_content_type(body: bytes) -> str:
    """Return the content type by the first bytes; "" if it is neither PDF nor text."""
    start = body[:1024]
    if b"%PDF-" in start:
        return "application/pdf"
    if b"\0" in start:
        return ""
    return "text/html" if b"<html" in start.lower() or b"<!doctype html" in start.lower() else "text/plain"


def normalize_charset(name: str) -> str:
    try:
        return codecs.lookup(name).name
    except (LookupError, ValueError):
        return ""
