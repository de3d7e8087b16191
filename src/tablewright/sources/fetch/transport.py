"""How requests leave: over connections that only the guard can open.

The names stay names for everything above TCP: connections are pooled by name, TLS asks for and verifies the name, and
the Host header carries it. Only the connect itself is given an IP address, one that the guard has just checked. (To put
the address into the URL instead would let two sites behind one address share a TLS connection that only one of them was
verified for.) Proxies from the environment are not used: they look names up themselves, behind the guard's back.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable

import httpcore2
import httpx2

from tablewright.certificates import trusted_certificates
from tablewright.sources.fetch.guard import AddressGuard, host_and_port

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
