"""How requests leave, over connections that only the guard can open, and how answers are read, within limits.

The names stay names for everything above TCP: connections are pooled by name, TLS asks for and verifies the name, and
the Host header carries it. Only the connect itself is given an IP address, one that the guard has just checked. (To put
the address into the URL instead would let two sites behind one address share a TLS connection that only one of them was
verified for.) Proxies from the environment are not used: they look names up themselves, behind the guard's back.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpcore2
import httpx2

from tablewright.certificates import trusted_certificates
from tablewright.sources.fetch.guard import AddressGuard, ForbiddenAddress, host_and_port

CONNECT_SECONDS = 5.0
"""For one address; a host with several gets another try at the next."""
MOST_ADDRESSES = 4
IDLE_SECONDS = 5.0

CUT = (httpcore2.ReadError, httpcore2.WriteError, httpcore2.RemoteProtocolError)
"""The connection was lost, or what came over it was no HTTP."""
FAILURES = (
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.TimeoutException,
    httpx2.DecodingError,
    OSError,  # TimeoutError is one
)
"""Everything that can go wrong between us and a site."""


class Transport:
    def __init__(self, guard: AddressGuard, wire: httpcore2.AsyncNetworkBackend | None = None) -> None:
        self._guard = guard
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=trusted_certificates(),
            max_connections=None,
            max_keepalive_connections=20,
            keepalive_expiry=IDLE_SECONDS,
            network_backend=GuardedNetwork(guard, wire or httpcore2.AnyIOBackend()),
        )

    async def send(self, request: httpx2.Request) -> httpx2.Response:
        """The answer with its body still to be read; the caller closes it."""
        self._guard.check(request.url)
        answer = await self._pool.handle_async_request(
            httpcore2.Request(request.method, self._wire_url(request.url), headers=request.headers.raw)
        )
        assert isinstance(answer.stream, AsyncIterable)
        return httpx2.Response(
            answer.status, headers=answer.headers, stream=ResponseStream(answer.stream), request=request
        )

    def _wire_url(self, url: httpx2.URL) -> httpcore2.URL:
        """A world that the program serves itself has no certificates: its https pages come over plain http."""
        host, _ = host_and_port(url)
        scheme = b"http" if self._guard.is_served_here(host) else url.raw_scheme
        return httpcore2.URL(scheme=scheme, host=url.raw_host, port=url.port, target=url.raw_path)

    async def aclose(self) -> None:
        await self._pool.aclose()


class GuardedNetwork(httpcore2.AsyncNetworkBackend):
    """Opens TCP connections, to checked addresses only; `wire` is what opens them in the end."""

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
        for address, its_port in addresses[:MOST_ADDRESSES]:
            try:
                return await self._wire.connect_tcp(address, its_port, timeout=CONNECT_SECONDS)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failure = error
        raise failure


class ResponseStream(httpx2.AsyncByteStream):
    """What httpx2 wants around a stream of httpcore2, so that it can decompress it."""

    def __init__(self, stream: AsyncIterable[bytes]) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._stream:
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()  # type: ignore[attr-defined]  # httpcore2 declares less than it gives


def explain(failure: Exception) -> str:
    """A failure as a clause for people."""
    if isinstance(failure, CUT):
        return "the connection was cut"
    if isinstance(failure, httpcore2.ConnectError | httpcore2.ConnectTimeout):
        return f"no connection ({failure})" if str(failure) else "no connection"
    if isinstance(failure, TimeoutError | httpcore2.TimeoutException):
        return "no answer in time"
    return f"its answer could not be read ({failure})"


REDIRECTS = frozenset({301, 302, 303, 307, 308})
ENCODINGS = frozenset({"", "identity", "gzip", "x-gzip", "deflate"})
_READABLE = frozenset({"application/xhtml+xml", "application/pdf", "application/json", "application/xml"})
_UNTOLD = frozenset({"", "application/octet-stream", "binary/octet-stream"})
"""Types that say nothing; the first bytes of the body do."""
_SNIFFED = 1024


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
        """Where it redirects to; empty if it does not."""
        return str(self.headers.get("location", "")) if self.status in REDIRECTS else ""

    @property
    def charset(self) -> str:
        """What the header says of the encoding, if that is one we know."""
        for parameter in self.headers.get("content-type", "").split(";")[1:]:
            name, _, value = parameter.partition("=")
            if name.strip().lower() == "charset":
                return known_charset(value.strip(" \t\"'"))
        return ""

    @property
    def retry_after(self) -> float | None:
        """The seconds after which it may be asked again, if it says so."""
        return read_retry_after(self.headers)


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that a Retry-After header asks for; it holds seconds or an HTTP date."""
    asked = headers.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]+(?:\.[0-9]+)?", asked):
        return float(asked)
    try:
        when = parsedate_to_datetime(asked)
        return max(0.0, (when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
    except (ValueError, OverflowError):
        return None


async def read_start(response: httpx2.Response, most: int) -> FetchResponse:
    """As much of the body as is of use; the rest is left where it is."""
    body = b"" if response.status_code in REDIRECTS else (await read_body(response, most))[:most]
    return FetchResponse(response.status_code, response.headers, body)


async def read_page(response: httpx2.Response, most: int) -> FetchResponse:
    """The whole body of a page. Raises Forbidden if it is too large or of a type that is not read."""
    told = response.headers.get("content-type", "").partition(";")[0].strip().lower()
    if told not in _UNTOLD and not is_readable(told):
        raise ForbiddenAddress(f"its type is {told}, which is not read")
    length = response.headers.get("content-length", "")
    too_large = f"it is larger than {most / 1_000_000:g} MB"
    if length.isdecimal() and int(length) > most:
        raise ForbiddenAddress(too_large)
    body = await read_body(response, most)
    if len(body) > most:
        raise ForbiddenAddress(too_large)
    content_type = sniff(body) if told in _UNTOLD else told
    if not content_type:
        raise ForbiddenAddress(f"its type is {told or 'not told'}, and it looks like neither a page nor a PDF")
    return FetchResponse(response.status_code, response.headers, body, content_type)


async def read_body(response: httpx2.Response, most: int) -> bytes:
    """Stops as soon as there are more than `most` bytes, counted after decompression, which goes piece by piece."""
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in ENCODINGS:  # and not two of them either: the bytes between the two would go uncounted
        raise httpx2.DecodingError(f"it is compressed as {encoding}, which was not asked for")
    body = bytearray()
    async with aclosing(response.aiter_bytes()) as pieces:
        async for piece in pieces:
            body += piece
            if len(body) > most:
                break
    return bytes(body)


def is_readable(content_type: str) -> bool:
    if content_type.startswith("text/") or content_type in _READABLE:
        return True
    return content_type.startswith("application/") and content_type.endswith(("+json", "+xml"))


def sniff(body: bytes) -> str:
    """The type of a body whose sender does not tell; empty if it is neither PDF nor text."""
    start = body[:_SNIFFED]
    if b"%PDF-" in start:
        return "application/pdf"
    if b"\0" in start:
        return ""
    return "text/html" if b"<html" in start.lower() or b"<!doctype html" in start.lower() else "text/plain"


def known_charset(name: str) -> str:
    try:
        return codecs.lookup(name).name
    except (LookupError, ValueError):
        return ""
